use super::*;
use crate::primitives::{ElementType, Functions, tuning};
use Direction::Ascending;
use ElementType::{I64, U32, U64};

fn plan(config: StructureSortConfig) -> StructureSortPlan {
    StructureSortPlan::declare(&Device::absent(tuning::h200()), config).unwrap()
}

#[test]
fn a_sort_compares_the_bits_of_its_fields_alone() {
    let fields = [(ElementType::U8, 0, Ascending), (U64, 8, Ascending), (U32, 4, Ascending)];
    let sort = plan(StructureSortConfig::argsort(16, Key::fields(fields)));
    let bits = |step: &Step| step.sort.config().bit_range();
    let compared: Vec<_> = sort.primitive.steps.iter().map(bits).collect();
    assert_eq!(compared, [0..64, 0..40]);
}

#[test]
fn bytes_are_those_of_keys_sorts_and_structures() {
    let two = Key::fields([(I64, 8, Ascending), (U64, 0, Ascending)]);
    let (count, size) = (1 << 20, 48);
    let [in_place, elsewhere, argsort] = [
        StructureSortConfig::structures(size, two),
        StructureSortConfig::structures(size, two).out_of_place(),
        StructureSortConfig::argsort(size, two),
    ]
    .map(plan);
    let sorts: u64 = argsort.primitive.steps.iter().map(|step| step.sort.traffic_size(count)).sum();
    let keys = count * (8 + 8 + 4 + 8 + 8);
    let moved = count * (4 + 2 * 48);
    assert_eq!(argsort.traffic_size(count), keys + sorts);
    assert_eq!(elsewhere.traffic_size(count), keys + sorts + moved);
    assert_eq!(in_place.traffic_size(count), keys + sorts + moved + count * 2 * 48);
    // In place, an array of the structures.
    let scratch = |plan: &StructureSortPlan| plan.scratch_requirements(count).size;
    assert_eq!(scratch(&in_place) - scratch(&elsewhere), count * 48);
    assert_eq!(scratch(&elsewhere) - scratch(&argsort), count * 4);
}

#[test]
fn few_structures_record_no_more_than_they_need() {
    let two = Key::fields([(I64, 8, Ascending), (U64, 0, Ascending)]);
    let sort = plan(StructureSortConfig::structures(16, two));
    assert!(sort.primitive.algorithm(sort.config(), 1).is_none());
    let argsort = plan(StructureSortConfig::argsort(16, two));
    let steps = |count| argsort.primitive.steps(count).len();
    assert_eq!((steps(1), steps(2)), (1, 2));
}

#[test]
fn tiles_of_a_merge_sort_fit_in_shared_memory() {
    // SAFETY: it has no modules.
    static NONE: Functions = unsafe { Functions::new("none", 3, &[]) };
    let config = StructureSortConfig::custom(&NONE);
    assert_eq!((config.structure_size(), config.key()), (12, None));
    for (shared_memory_size, items) in [(16 << 10, 4), (48 << 10, 8)] {
        let capabilities = crate::device::Capabilities { shared_memory_size, ..tuning::h200() };
        let policy = StructureSortPolicy::choose(&capabilities, &config).policy;
        assert_eq!(policy, StructureSortPolicy::tiled(256, items));
    }
}
