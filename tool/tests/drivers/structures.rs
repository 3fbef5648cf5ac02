//! The parts of structure sorts, and their results, counts and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::ElementType::{F16, F32, F64, I8, I64, U8, U16, U32, U64};
use subsweep::device::{AddressRange, Capabilities, Device};
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::sort::{
    Direction, Field, Key, StructureSortBuffers, StructureSortConfig, StructureSortPlan, StructureSortPolicy,
};
use subsweep::{Count, Error, FloatOrder};
use subsweep_tool::harness::{PlanConfig, StructureShape, StructureSortCase};
use subsweep_tool::reference::passes::field_keys::field_keys;
use subsweep_tool::reference::passes::merge_runs::sorted_runs;

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, WHOLE, cold, warm};
use super::passes::Check;
use super::passes::rig::{
    Alignment, Memory, POISON, Rig, Selection, Value, compare, key_words, random, sizes, small_workgroup,
};
use super::primitive::{Primitive, outcome, run};
use super::refused::{Refused, assert_unsupported};
use Direction::{Ascending, Descending};

pub const PRIMITIVE: Primitive = Primitive {
    check: |stem, _| match stem {
        "sort/field_keys" => Some(pass as Check),
        "sort/merge_runs" => Some(merge_runs as Check),
        _ => None,
    },
    default_plans,
    subjects,
    phases: &[
        cold("planning a structure sort", |opened| {
            let config = StructureSortConfig::structures(16, of_128_bits());
            Ok(opened.gpu.plan(config.indirect_count()).map(drop))
        }),
        warm("sorting structures", WHOLE, sorting),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "structures");
    vec![
        trial("mismatched ranges and keys are refused", refusals),
        trial("slices of structures are sorted", slices),
        trial("any count on the device sorts as many structures", counts),
        trial("passes over bits that all keys share are skipped", constant_bits),
    ]
}

fn of_128_bits() -> Key {
    Key::fields([(I64, 8, Ascending), (U64, 0, Ascending)])
}

fn default_plans(_: &Capabilities) -> Vec<PlanConfig> {
    let narrow = Key::fields([(F32, 0, Ascending)]);
    let configs = [
        StructureSortConfig::structures(16, of_128_bits()),
        StructureSortConfig::structures(12, of_80_bits()),
        StructureSortConfig::argsort(4, narrow),
    ];
    configs.into_iter().flat_map(|config| [config, config.indirect_count()]).map(PlanConfig::from).collect()
}

/// 80 bits: a part of 64 and one of 16.
fn of_80_bits() -> Key {
    Key::fields([(F16, 2, Descending), (F64, 4, Ascending)])
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let key = of_128_bits();
    let [structures, sorted, indices] = [0, 1, 2].map(|index| room.array(index));
    let buffers = StructureSortBuffers::new(structures, room.scratch);
    let (direct, indirect) = (Count::Direct(u64::from(COUNT) / 4), room.count_up_to(COUNT / 4));
    let in_place = StructureSortConfig::structures(16, key);
    let mut subjects = Vec::new();
    for (name, config, buffers) in [
        ("a structure sort in place", in_place, buffers),
        ("a structure sort out of place", in_place.out_of_place(), buffers.sorted(sorted)),
        ("an argsort of structures", StructureSortConfig::argsort(16, key), buffers.indices(indices)),
    ] {
        let recordings = [(config, direct), (config.indirect_count(), indirect)];
        subjects.extend(Subject::all(device, name, buffers, recordings)?);
    }
    Ok(subjects)
}

fn sorting(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let given: [[u32; 2]; 4] = [[3, 1], [1, 9], [3, 0], [1, 9]];
    let mut structures = given;
    let key = Key::fields([(U32, 0, Ascending), (U32, 4, Ascending)]);
    let sorted = opened.gpu.sort_structures(StructureSortConfig::structures(8, key), &mut structures);
    let sorted = sorted.map(|()| structures);
    if sorted.is_err() && structures != given {
        return Err("an error changed the structures".into());
    }
    outcome(sorted, &[[1, 9], [1, 9], [3, 0], [3, 1]])
}

/// The first bits of a part, and the constants of its fields, of which the kernel has those from the last on.
fn part(fields: &[Field], first_bit: u32) -> Vec<(&'static str, u32)> {
    const NAMES: [&str; 8] =
        ["FIELD_0", "FIELD_1", "FIELD_2", "FIELD_3", "FIELD_4", "FIELD_5", "FIELD_6", "FIELD_7"];
    let (mut constants, mut begin) = (Vec::new(), 0);
    for field in fields.iter().rev() {
        let element = field.element_type();
        let end = begin + element.bits();
        if end > first_bit && begin < first_bit + 64 {
            if constants.is_empty() {
                constants.push(("SKIPPED_BITS", first_bit - begin));
            }
            let is_descending = u32::from(field.sort_direction() == Descending);
            let form = element.bits() | element.key_numbers(field.float_order()) << 7;
            let form = form | is_descending << 10 | field.offset() << 12;
            constants.push((NAMES[constants.len() - 1], form));
        }
        begin = end;
    }
    constants
}

/// A field of every type, in both directions and orders, and keys of several fields in parts.
fn shapes() -> Vec<(usize, Vec<Field>, u32)> {
    let of_key = |shape: StructureShape, first_bit| (shape.words(), shape.fields(), first_bit);
    let several = [
        of_key(StructureShape::Across, 64),
        of_key(StructureShape::Across, 0),
        of_key(StructureShape::Eight, 64),
        of_key(StructureShape::Eight, 0),
        of_key(StructureShape::Bits40, 0),
        of_key(StructureShape::Large, 64),
    ];
    let of_form = |is_descending: bool, order: FloatOrder| {
        subsweep::ElementType::ALL.into_iter().rev().map(move |element| {
            let field = Field::new(element, 4 - (element.size() as u32).min(4)).order(order);
            (3, vec![if is_descending { field.descending() } else { field }], 0)
        })
    };
    let forms = [(true, FloatOrder::Numpy), (false, FloatOrder::Total)].into_iter();
    let forms = forms.chain([(false, FloatOrder::Numpy), (true, FloatOrder::Total)]);
    several
        .into_iter()
        .chain(forms.flat_map(|(is_descending, order)| of_form(is_descending, order)))
        .collect()
}

/// Words of which many have zeros, infinities and NaNs of either sign, in their halves as well.
fn words(seed: usize, count: usize) -> Vec<u32> {
    const SPECIAL: [u32; 8] =
        [0, 0x8000_0000, 0x7fff_7fff, 0xff80_7f81, 0x7f80_0000, 0x7c00_fc01, 0x7ff0_0000, 0xfff0_8000];
    let special = |word: u32| if word.is_multiple_of(3) { SPECIAL[(word >> 5) as usize % 8] } else { word };
    random(seed, count).into_iter().map(special).collect()
}

fn pass(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu) as usize;
    let key_words = key_words(kernel) as usize;
    let bits = |fields: &[Field]| fields.iter().map(|field| field.element_type().bits()).sum::<u32>();
    let fits = |shape: &(usize, Vec<Field>, u32)| (bits(&shape.1) - shape.2 <= 32) == (key_words == 1);
    for (structure_words, fields, first_bit) in selection.first(18, shapes().into_iter().filter(fits)) {
        let items = 3;
        let shape = [("ITEMS_PER_INVOCATION", items), ("STRUCTURE_WORDS", structure_words as u32)];
        let constants = [&shape[..], &part(&fields, first_bit)].concat();
        let rig = Rig::new(gpu, kernel, workgroup_size as u32, &constants)?;
        let tile = workgroup_size * items as usize;
        for (index, count) in sizes(tile).into_iter().enumerate() {
            let input = words(count, (count + 2) * structure_words);
            let order: Vec<u32> =
                random(count + 1, count).iter().map(|word| word % (count as u32 + 2)).collect();
            let (has_order, is_counted) = (index % 2 == 0, index % 3 == 0);
            let bytes: Vec<&[u8]> = bytemuck::cast_slice(&input).chunks_exact(4 * structure_words).collect();
            let structure = |i: usize| bytes[if has_order { order[i] as usize } else { i }];
            let keys = field_keys(&fields, first_bit, (0..count).map(structure));
            let expected: Vec<u32> = match key_words {
                1 => keys.iter().map(|&key| key as u32).collect(),
                _ => bytemuck::cast_slice(&keys).to_vec(),
            };
            let max = if is_counted { count + 1 } else { count };
            let values = [
                ("structures", Value::input(&input)),
                ("indices", Value::input(&order).only_if(has_order)),
                ("keys", Value::output(expected)),
                ("indirect_count", Value::input(vec![count as u32]).only_if(is_counted)),
                ("structure_count", Value::Number(max)),
            ];
            let case = format!("{}, {count} structures of {fields:?} from bit {first_bit}", kernel.name);
            rig.check(&case, values, max.div_ceil(tile))?;
        }
    }
    Ok(())
}

/// Words that the kernel's own `less` compares: tiles, and runs of one, two and four tiles, whose indices are in any order.
fn merge_runs(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu) as usize;
    for items in selection.first(2, [4, 1, 8, 2]) {
        let rig = Rig::new(gpu, kernel, workgroup_size as u32, &[("ITEMS_PER_INVOCATION", items as u32)])?;
        let tile = workgroup_size * items;
        for (index, count) in sizes(tile).into_iter().chain([9 * tile + 5]).enumerate() {
            // Few words, so that many are equal, or any.
            let few = if index % 2 == 0 { 5 } else { u32::MAX };
            let input: Vec<u32> = random(count, count).iter().map(|word| word % few).collect();
            let reversed: Vec<u32> = (0..count as u32).rev().collect();
            let is_counted = index % 3 == 0;
            let max = if is_counted { count + 1 } else { count };
            for run_tiles in [0, 1, 2, 4] {
                let given = match run_tiles {
                    0 => (0..count as u32).collect(),
                    _ => sorted_runs(&input, &reversed, run_tiles * tile),
                };
                let expected = sorted_runs(&input, &given, (2 * run_tiles).max(1) * tile);
                let values = [
                    ("elements", Value::input(&input)),
                    ("source", Value::input(given).only_if(run_tiles > 0)),
                    ("destination", Value::output(expected)),
                    ("indirect_count", Value::input(vec![count as u32]).only_if(is_counted)),
                    ("element_count", Value::Number(max)),
                    ("run_tiles", Value::Number(run_tiles)),
                ];
                let case = format!("{}, {count} words, {items} items, runs of {run_tiles}", kernel.name);
                rig.check(&case, values, max.div_ceil(tile))?;
            }
        }
    }
    Ok(())
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let key = Key::fields([(U8, 1, Descending), (U16, 2, Ascending)]);
    let bytes = [[9u8, 1, 0, 2], [8, 7, 3, 0], [7, 1, 255, 1], [6, 7, 3, 0]];
    let mut sorted = bytes;
    let config = StructureSortConfig::structures(4, key);
    gpu.sort_structures(config, &mut sorted)?;
    assert_eq!(sorted, [[8, 7, 3, 0], [6, 7, 3, 0], [7, 1, 255, 1], [9, 1, 0, 2]]);
    let argsort = StructureSortConfig::argsort(4, key);
    assert_eq!(gpu.argsort_structures(argsort, &bytes)?, [1, 3, 2, 0]);
    let mut elsewhere = bytes;
    gpu.sort_structures(config.out_of_place(), &mut elsewhere)?;
    assert_eq!(elsewhere, sorted);

    let wide = StructureSortConfig::structures(16, of_128_bits());
    let mut integers = [0i128, i128::MIN, -1, i128::MAX, 1 << 64, 1];
    gpu.sort_structures(wide, &mut integers)?;
    assert_eq!(integers, [i128::MIN, -1, 0, 1, 1 << 64, i128::MAX]);
    gpu.sort_structures(wide, &mut [] as &mut [i128])?;
    let mut one = [7i128];
    gpu.sort_structures(wide, &mut one)?;
    assert_eq!(
        (one, gpu.argsort_structures(StructureSortConfig::argsort(16, of_128_bits()), &one)?),
        ([7], vec![0])
    );

    assert_unsupported(gpu.sort_structures(wide, &mut [0u64; 2]), "size_of");
    assert_unsupported(gpu.argsort_structures(argsort, &[0u64; 2]), "size_of");
    assert_unsupported(gpu.argsort_structures(config, &bytes), "StructureSortConfig::argsort");
    assert_unsupported(gpu.sort_structures(argsort, &mut sorted), "argsort_structures");
    let mut seven = [0u8; 28];
    let ragged = gpu.prepare_structure_sort(wide, &mut seven).err();
    assert_eq!(ragged, Some(Error::PartialElement { size: 28, element_size: 16 }));
    let mut few = [0; 3];
    let short = gpu.prepare_structure_argsort(argsort, bytes.as_flattened(), &mut few).err();
    assert_eq!(short, Some(Error::RangeTooSmall { what: "the indices", needed: 16, got: 12 }));
    Ok(())
}

fn counts(gpu: &Gpu) -> Result<(), Failed> {
    let shape = StructureShape::Across;
    let (fields, words) = (shape.fields(), shape.words());
    let input: Vec<_> = random(9, 5000 * words).into_iter().map(|word| word % 5).collect();
    let rows: Vec<&[u8]> = bytemuck::cast_slice(&input).chunks_exact(4 * words).collect();
    let (size, key) = (4 * words as u32, Key::fields(fields.iter().copied()));
    let in_place = StructureSortConfig::structures(size, key);
    let configs = [in_place, in_place.out_of_place(), StructureSortConfig::argsort(size, key)];
    let order = |count: usize| StructureSortCase::sorted(&fields, &rows[..count]);
    sorts_of_counts(gpu, configs, (&input, words), AddressRange::NONE, order)
}

/// Sorts in place, out of place, and of indices, with counts on the device from 0 to more than the maximum, which is all
/// structures of `input`, of so many words each. `order` gives the sorted indices of the first ones.
pub fn sorts_of_counts(
    gpu: &Gpu,
    configs: [StructureSortConfig; 3],
    (input, words): (&[u32], usize),
    functions_data: AddressRange,
    order: impl Fn(usize) -> Vec<u32>,
) -> Result<(), Failed> {
    let max = input.len() / words;
    let small = StructureSortPolicy::tiled(small_workgroup(gpu), 2);
    for (kind, config) in configs.into_iter().enumerate() {
        let plan = StructureSortPlan::new(gpu.device(), config.indirect_count().policy(small))?;
        let scratch = gpu.allocate(plan.scratch_requirements(max as u64).size)?;
        for stored in [0, 1, 2, 77, 777, max, max + 1] {
            let count = stored.min(max);
            let order = order(count);
            let sorted = order.iter().flat_map(|&index| &input[index as usize * words..][..words]);
            let sorted: Vec<u32> = sorted.copied().collect();
            let (after, mut expected) = match kind {
                0 => ([&sorted, &input[count * words..]].concat(), Vec::new()),
                1 => (input.to_vec(), sorted),
                _ => (input.to_vec(), order),
            };
            expected.resize(max * [0, words, 1][kind], POISON);
            let counted = Memory::with_words(gpu, &[stored as u32], Alignment::Words)?;
            let structures = Memory::with_words(gpu, input, Alignment::Words)?;
            let result = Memory::poisoned(gpu, expected.len(), Alignment::Words)?;
            let buffers = StructureSortBuffers::new(structures.range(), scratch.range());
            let buffers = buffers.functions_data(functions_data);
            let buffers = match kind {
                0 => buffers,
                1 => buffers.sorted(result.range()),
                _ => buffers.indices(result.range()),
            };
            let indirect = Count::Indirect { address: counted.range().address, max: max as u32 };
            run(gpu, &plan, &buffers, indirect)?;
            let case = format!("{config:?}, {stored}");
            compare(&case, "structures", &structures, &after)?;
            compare(&case, "result", &result, &expected)?;
        }
    }
    Ok(())
}

/// Keys of which all bits but some are the same: whole digits, and whole parts.
fn constant_bits(gpu: &Gpu) -> Result<(), Failed> {
    let key = of_128_bits();
    for (high, low) in [(0, 0xff00_u64), (0xff_0000, 0), (0, 0), (1 << 63, 1)] {
        let structures: Vec<[u64; 2]> = random(3, 20_000)
            .chunks(2)
            .map(|words| {
                let word = u64::from(words[0]) << 32 | u64::from(words[1]);
                [word & low | 5, word.rotate_left(7) & high | 9]
            })
            .collect();
        let mut sorted = structures.clone();
        gpu.sort_structures(StructureSortConfig::structures(16, key), &mut sorted)?;
        let mut expected = structures;
        expected.sort_by_key(|&[low, high]| (high as i64, low));
        assert_eq!(sorted, expected, "{high:#x}, {low:#x}");
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let key = Key::fields([(U32, 8, Ascending), (I8, 3, Descending)]);
    let in_place = StructureSortConfig::structures(12, key);
    let argsort = StructureSortConfig::argsort(12, key);
    let counted = refused.count(4096, 10);
    let scratch_size =
        |config: StructureSortConfig| gpu.plan(config).map(|plan| plan.scratch_requirements(10).size);
    for (config, sorted, indices, structures) in
        [(in_place, 0, 0, 120), (in_place.out_of_place(), 120, 0, 120), (argsort, 0, 40, 120)]
    {
        let config = config.indirect_count();
        let needed = scratch_size(config)?;
        let buffers = StructureSortBuffers::new(at(0, structures), refused.scratch(1024, needed))
            .sorted(at(256, sorted))
            .indices(at(512, indices));
        let sizes = [
            ("count", 4),
            ("structures", structures),
            ("sorted", sorted),
            ("indices", indices),
            ("functions_data", 0),
            ("scratch", needed),
        ];
        refused.expect_sizes(config, buffers, counted, &sizes);
    }
    let scratch = refused.scratch(1024, 2048);
    let buffers = StructureSortBuffers::new(at(0, 120), scratch);
    refused.expect_direct_only(in_place, buffers, counted);
    assert_unsupported(refused.record(in_place, buffers.sorted(at(256, 120)), 10), "out_of_place");
    assert_unsupported(refused.record(in_place, buffers.indices(at(256, 40)), 10), "argsort");
    let overlapping = refused.record(in_place.out_of_place(), buffers.sorted(at(60, 120)), 10);
    assert_eq!(overlapping, Err(Error::Overlap { first: "structures", second: "sorted" }));

    let wide = StructureSortConfig::MAX_STRUCTURE_SIZE;
    for size in [0, wide + 4] {
        let config = StructureSortConfig::argsort(size, key);
        refused.expect([config], |error| matches!(error, Error::OutOfRange { .. }));
    }
    assert_unsupported(refused.plan(StructureSortConfig::structures(14, key)), "align=True");
    let outside = Key::fields([(U64, 8, Ascending)]);
    let none = Key::fields([] as [Field; 0]);
    for key in [outside, none, Key::fields([(U8, 0, Ascending); 9]), Key::fields([(U64, 0, Ascending); 3])] {
        let config = StructureSortConfig::structures(12, key);
        refused.expect([config], |error| matches!(error, Error::OutOfRange { .. }));
    }
    let policies =
        [(0, 4), (33, 4), (64, 0), (64, 33)].map(|(size, items)| StructureSortPolicy::tiled(size, items));
    let configs = policies.map(|policy| in_place.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    let too_wide = in_place.policy(StructureSortPolicy::tiled(1 << 16, 4));
    refused.expect([too_wide], |error| matches!(error, Error::PolicyExceedsLimits { .. }));
    let many = refused.record(in_place, buffers, Count::Direct(1 << 32));
    assert!(matches!(many, Err(Error::TooManyElements { .. })), "{many:?}");
    assert_eq!(refused.record(in_place, buffers, Count::Direct(0)), Ok(()));
    Ok(())
}
