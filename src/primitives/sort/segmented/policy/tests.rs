use super::*;
use crate::ElementType;
use crate::primitives::sort::config::SortConfig;

#[test]
fn senseless_numbers_give_a_policy_that_is_refused_and_no_panic() {
    let capabilities = Capabilities::default();
    let config = SegmentedSortConfig::from(SortConfig::keys(ElementType::U32));
    let chosen = SegmentedSortPolicy::choose(&capabilities, &config).policy;
    let endless = ClusterShape { lanes: u32::MAX, ..chosen.cluster };
    for policy in [chosen, SegmentedSortPolicy { cluster: endless, ..chosen }] {
        assert!(policy.check(&config, &capabilities).is_err(), "{policy}");
    }
}
