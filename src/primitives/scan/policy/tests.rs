use super::*;
use crate::primitives::ElementType;
use crate::primitives::scan::{ScanKind, ScanOperator};

fn of_four_lanes(max_workgroup_invocations: u32, shared_memory_size: u32) -> Capabilities {
    Capabilities {
        subgroup_size: 4,
        min_subgroup_size: 4,
        max_subgroup_size: 4,
        max_workgroup_invocations,
        shared_memory_size,
        ..Capabilities::default()
    }
}

#[test]
fn rows_of_three_words_take_the_shared_memory_of_four() {
    for (columns, row_size) in [(1, 4), (2, 8), (3, 16), (4, 16)] {
        let needed = (64 / 4 + 1) * row_size;
        let check = |shared_memory_size| {
            let capabilities = of_four_lanes(128, shared_memory_size);
            let config = ScanConfig::inclusive(ElementType::U32).columns(columns);
            ScanPolicy::tiled(64, 4, 4).check(&config, &capabilities)
        };
        assert_eq!(check(needed), Ok(()), "{columns}");
        assert!(matches!(check(needed - 1), Err(Error::PolicyExceedsLimits { .. })), "{columns}");
    }
}

#[test]
fn an_algorithm_takes_what_it_needs_and_nothing_else() {
    let capabilities = of_four_lanes(192, 16 << 10);
    let config = ScanConfig::inclusive(ElementType::U32);
    for algorithm in ScanAlgorithm::ALL {
        let policy = ScanPolicy::tuned(algorithm, &capabilities, &config);
        assert_eq!(policy.check(&config, &capabilities), Ok(()), "{policy}");
        let is_refused = |policy: ScanPolicy| {
            matches!(policy.check(&config, &capabilities), Err(Error::InvalidPolicy { .. }))
        };
        let uneven = ScanPolicy { workgroup_size: 96, ..policy };
        assert_eq!(is_refused(uneven), algorithm.needs_power_of_two(), "{uneven}");
        let runs = ScanPolicy { items_per_invocation: 2 * policy.items_per_invocation, ..policy };
        assert_eq!(is_refused(runs), algorithm.has_one_run(), "{runs}");
        #[cfg(feature = "textbook")]
        {
            let in_last_row = ScanPolicy { sums: SumsPlacement::LastRow, ..policy };
            assert!(is_refused(in_last_row), "{in_last_row}");
        }
    }
}

#[test]
fn an_algorithm_refuses_what_it_does_not_scan() {
    let capabilities = of_four_lanes(128, 16 << 10);
    let (sums, exclusive) =
        (ScanConfig::inclusive(ElementType::U32), ScanConfig::exclusive(ElementType::U32));
    let others = [
        sums.columns(2),
        ScanConfig::inclusive(ElementType::I32),
        ScanConfig::inclusive(ElementType::U64),
        sums.operator(ScanOperator::Max),
    ];
    for algorithm in ScanAlgorithm::ALL {
        let is_refused = |config: &ScanConfig| {
            let checked = ScanPolicy::tuned(algorithm, &capabilities, config).check(config, &capabilities);
            assert!(matches!(checked, Ok(()) | Err(Error::InvalidPolicy { .. })), "{checked:?}");
            checked.is_err()
        };
        let is_general = algorithm == ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
        let is_chained = algorithm == ScanAlgorithm::Chained;
        assert_eq!(is_refused(&others[0]), !is_general, "{algorithm}");
        for config in &others[1..] {
            assert_eq!(is_refused(config), !is_general && !is_chained, "{algorithm}");
        }
        let is_inclusive = algorithm.workgroup_scan().is_none();
        assert_eq!(is_refused(&exclusive), is_inclusive, "{algorithm}");
    }
}

#[cfg(feature = "textbook")]
#[test]
fn two_buffers_take_twice_the_shared_memory() {
    let check = |scan, shared_memory_size| {
        let capabilities = of_four_lanes(128, shared_memory_size);
        let policy = ScanPolicy::tiled(128, 4, 4).with_algorithm(ScanAlgorithm::ReduceThenScan(scan));
        policy.check(&ScanConfig::inclusive(ElementType::U32), &capabilities)
    };
    for (scan, needed) in [(WorkgroupScan::KoggeStone, 512), (WorkgroupScan::KoggeStoneDoubleBuffered, 1024)]
    {
        assert_eq!(check(scan, needed), Ok(()));
        assert!(matches!(check(scan, needed - 1), Err(Error::PolicyExceedsLimits { .. })));
    }
}

#[test]
fn senseless_numbers_give_a_policy_that_is_refused_and_no_panic() {
    let capabilities = Capabilities::default();
    for columns in [0, 5, u32::MAX] {
        let config = ScanConfig::inclusive(ElementType::U32).columns(columns);
        let policy = ScanPolicy::choose(&capabilities, &config).policy;
        assert!(policy.check(&config, &capabilities).is_err());
    }
    let policy = ScanPolicy::tiled(u32::MAX, 3, 1);
    assert_eq!(policy.tile_items(), u32::MAX);
    assert!(policy.check(&ScanConfig::new(ScanKind::Inclusive, ElementType::U32), &capabilities).is_err());
}
