use ash::vk;

use super::*;
use crate::difference::{DifferenceConfig, DifferencePolicy};
use crate::histogram::{HistogramConfig, HistogramPolicy};
use crate::merge::{MergeConfig, MergePolicy};
use crate::primitives::{ElementType, Functions};
use crate::reduce::{ReduceByKeyAlgorithm, ReduceConfig, ReducePolicy, ReduceRuns};
use crate::run_length::{RunLengthAlgorithm, RunLengthConfig, RunLengthPolicy};
use crate::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanPolicy, SegmentsBy, WorkgroupScan};
use crate::search::{SearchConfig, SearchPolicy};
use crate::select::{SelectAlgorithm, SelectConfig, SelectPolicy};
use crate::sort::{
    Direction, Key, SegmentedSortConfig, SegmentedSortPolicy, SortAlgorithm, SortConfig, SortPolicy,
    StructureSortConfig, StructureSortPolicy, ValueSize,
};
use crate::top_k::{TopKConfig, TopKPolicy};

/// What plans need to know of an NVIDIA H200.
pub(in crate::primitives) fn h200() -> Capabilities {
    let mut capabilities = Capabilities {
        subgroup_size: 32,
        min_subgroup_size: 32,
        max_subgroup_size: 32,
        max_workgroup_subgroups: 32,
        max_workgroup_invocations: 1024,
        max_workgroup_count: [i32::MAX as u32, 65_535, 65_535],
        shared_memory_size: 48 << 10,
        ..Capabilities::default()
    };
    let identity = &mut capabilities.identity;
    identity.device_type = vk::PhysicalDeviceType::DISCRETE_GPU;
    identity.driver_id = vk::DriverId::NVIDIA_PROPRIETARY;
    (identity.vendor_id, identity.device_id) = (0x10de, 0x2335);
    capabilities
}

#[test]
fn the_last_row_of_a_part_is_for_every_device() {
    for part in TunedPart::ALL {
        let last = rows::ROWS.iter().rfind(|row| row.parts.contains(&part)).expect("a part has rows");
        assert_eq!(last.condition, Condition::new(Devices::All), "{part:?}");
        assert!(!last.source().is_empty());
    }
}

#[test]
fn an_h200_has_what_was_measured_on_it() {
    let sort = |config: SortConfig| {
        let policy = SortPolicy::choose(&h200(), &config).policy;
        assert_eq!(policy.check(&config, &h200()), Ok(()), "{policy}");
        policy
    };
    let keys = sort(SortConfig::keys(ElementType::U32));
    let pairs = sort(SortConfig::pairs(ElementType::U32, ValueSize::B4));
    let expected = "onesweep: workgroup 448, 20 items per invocation, ranked by matching lanes by shared masks, \
                    early counts, the first pass in any order, statuses by loads and stores, look-back window 8, \
                    up to 256 tiles without a copy; up to 262144 keys: workgroup 256, 8 items per invocation, \
                    look-back window 8; histogram of digits: at most 132 workgroups, 8 loads in flight, 2 × the counters";
    assert!(keys.to_string().ends_with(expected), "{keys}");
    assert_eq!((pairs.workgroup_size, pairs.items_per_invocation), (320, 18));
    assert_eq!((keys.histogram.max_workgroups, keys.histogram.loads_in_flight), (Some(132), 8));
    sort(SortConfig::pairs(ElementType::U64, ValueSize::B8).large_counts());
    let config = ScanConfig::inclusive(ElementType::U32).out_of_place();
    let scan = ScanPolicy::choose(&h200(), &config).policy;
    let expected = "chained: workgroup 256, 16 items per invocation in runs of 4, sums in status words, statuses by loads; \
                    up to 65536 elements without look-back: workgroup 1024, 4 items per invocation";
    assert_eq!((scan.to_string().as_str(), scan.check(&config, &h200())), (expected, Ok(())));
    // Reduce-then-scan has a shape of its own.
    let in_place = ScanPolicy::choose(&h200(), &ScanConfig::inclusive(ElementType::U32)).policy;
    assert_eq!(in_place.items_per_invocation, 16);
    // A device with less memory takes the formula.
    let small = Capabilities { shared_memory_size: 16 << 10, ..h200() };
    let config = SortConfig::keys(ElementType::U32);
    let policy = SortPolicy::choose(&small, &config).policy;
    assert_eq!(policy.check(&config, &small), Ok(()), "{policy}");
}

#[test]
fn a_policy_takes_the_shape_of_a_trial() {
    let shape = KernelShape::tile(128, 8).window(2).status_stores();
    let with = with_shape(&h200(), TunedPart::ChainedScan, &shape);
    let config = ScanConfig::inclusive(ElementType::U32).out_of_place();
    let policy = ScanPolicy::choose(&with, &config).policy;
    assert_eq!((policy.workgroup_size, policy.items_per_invocation), (128, 8));
    assert_eq!(policy.look_back, shape.look_back);
    assert_eq!(shape_of(&with, TunedPart::Scan, [1, 0]), shape_of(&h200(), TunedPart::Scan, [1, 0]));
}

#[test]
fn policies_are_chosen_for_configurations_that_plans_refuse() {
    let small = Capabilities { shared_memory_size: 16 << 10, ..h200() };
    let cpu = Capabilities {
        max_workgroup_invocations: 128,
        max_subgroup_size: 8,
        min_subgroup_size: 8,
        ..small.clone()
    };
    for device in &[h200(), small, cpu] {
        for number in [0, 1, 1 << 16, 1 << 28, 1 << 31, u32::MAX - 1, u32::MAX] {
            for element in ElementType::ALL {
                choose_all(device, element, number);
            }
        }
    }
}

/// Chooses every policy for configurations whose numbers are `n`.
fn choose_all(device: &Capabilities, element: ElementType, n: u32) {
    for (bins, columns) in [(n, 1), (1, n), (n, n)] {
        for config in [HistogramConfig::even(element, bins), HistogramConfig::by_edges(element, bins)] {
            HistogramPolicy::choose(device, &config.columns(columns));
        }
    }
    for (columns, k) in [(n, 1), (1, n), (n, n)] {
        for words in [0, n] {
            let config = TopKConfig::largest(element, columns, k).values(words);
            TopKPolicy::choose(device, &config);
            TopKPolicy::choose(device, &config.unsorted());
        }
    }
    for config in [
        ScanConfig::inclusive(element).columns(n),
        ScanConfig::inclusive(element).columns(n).out_of_place(),
        ScanConfig::inclusive(element).columns(n).along_rows(n),
        ScanConfig::inclusive(element).columns(n).out_of_place().segments(SegmentsBy::FixedSize(n)),
    ] {
        ScanPolicy::choose(device, &config);
        ScanPolicy::deterministic_across_devices(device, &config);
        for scan in WorkgroupScan::ALL {
            ScanPolicy::tuned(ScanAlgorithm::ReduceThenScan(scan), device, &config);
        }
        ScanPolicy::tuned(ScanAlgorithm::Chained, device, &config);
    }
    let sum = ReduceConfig::sum(element).columns(n);
    let of_runs = ReduceRuns::keys(element);
    for config in
        [sum, sum.along_rows(n), sum.runs(of_runs), ReduceConfig::argminmax(element).columns(n).along_rows(n)]
    {
        ReducePolicy::choose(device, &config);
        for algorithm in ReduceByKeyAlgorithm::ALL {
            ReducePolicy::tuned(algorithm, device, &config);
        }
    }
    for config in
        [SelectConfig::flags8(n), SelectConfig::flags32(n).values(n), SelectConfig::unique(element).values(n)]
    {
        for config in [config, config.partition(), config.large_counts()] {
            SelectPolicy::choose(device, &config);
            for algorithm in SelectAlgorithm::ALL {
                SelectPolicy::tuned(algorithm, device, &config);
            }
        }
    }
    for config in [RunLengthConfig::encode(element), RunLengthConfig::decode(element)] {
        RunLengthPolicy::choose(device, &config);
        for algorithm in RunLengthAlgorithm::ALL {
            RunLengthPolicy::tuned(algorithm, device, &config);
        }
    }
    for sort in [
        SortConfig::keys(element).bits(0..n),
        SortConfig::argsort(element).bits(n..0),
        SortConfig::pairs(element, ValueSize::MAX).bits(n..n),
    ] {
        SortPolicy::choose(device, &sort);
        for algorithm in SortAlgorithm::ALL {
            SortPolicy::tuned(algorithm, device, &sort);
        }
        SegmentedSortPolicy::choose(device, &SegmentedSortConfig::new(sort).along_rows(n));
    }
    let key = Key::fields([(element, n, Direction::Descending)]);
    let structures = StructureSortConfig::structures(n, key);
    StructureSortPolicy::choose(device, &structures);
    // SAFETY: nothing is compiled or run.
    static FUNCTIONS: Functions = unsafe { Functions::new("none", 3, &[]) };
    ScanPolicy::choose(device, &ScanConfig::custom(ScanKind::Inclusive, &FUNCTIONS).columns(n));
    ReducePolicy::choose(device, &ReduceConfig::custom(&FUNCTIONS).columns(n));
    SelectPolicy::choose(device, &SelectConfig::custom(&FUNCTIONS).values(n));
    MergePolicy::choose(device, &MergeConfig::custom(&FUNCTIONS).values(n));
    MergePolicy::choose(device, &MergeConfig::keys(element).values(n));
    SearchPolicy::choose(device, &SearchConfig::lower_bound(element).along_rows(n, n));
    DifferencePolicy::choose(device, &DifferenceConfig::new(element).columns(n).along_rows());
}
