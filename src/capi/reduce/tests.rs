use super::*;

#[test]
fn every_kind_of_runs_has_a_number() {
    let of = |runs| {
        let struct_size = size_of::<SubsweepReducePlanCreateInfo>() as u32;
        let info = SubsweepReducePlanCreateInfo {
            struct_size,
            flags: 0,
            element_type: 0,
            scan_operator: 0,
            column_count: 0,
            runs,
            row_length: 0,
            functions: 0,
        };
        reduce_config(&info).ok().map(|config| config.reduced_runs())
    };
    let known = [None].into_iter().chain(ReduceRuns::ALL.map(Some));
    for (number, runs) in (0..).zip(known) {
        assert_eq!(of(number), Some(runs));
    }
    assert_eq!(of(11), None);
}
