use super::*;
use crate::primitives::ElementType;
use crate::reduce::ReduceRuns;

#[test]
fn a_single_pass_reduces_runs_where_the_order_of_operations_does_not_matter() {
    let mut device = Capabilities { max_workgroup_invocations: 1024, ..Capabilities::default() };
    let algorithm = |device: &Capabilities, config: ReduceConfig| {
        ReducePolicy::choose(device, &config.runs(ReduceRuns::Keys32)).policy.algorithm
    };
    let sum = ReduceConfig::sum(ElementType::U32);
    assert_eq!(algorithm(&device, sum), ReduceByKeyAlgorithm::Segments);
    device.identity.driver_id = ash::vk::DriverId::NVIDIA_PROPRIETARY;
    let least = ReduceConfig::new(crate::scan::ScanOperator::Min, ElementType::F64);
    for config in [sum, least] {
        assert_eq!(algorithm(&device, config), ReduceByKeyAlgorithm::Chained, "{config:?}");
    }
    for config in [sum.columns(2), ReduceConfig::sum(ElementType::F32)] {
        assert_eq!(algorithm(&device, config), ReduceByKeyAlgorithm::Segments, "{config:?}");
    }
}

#[test]
fn heads_are_checked_and_printed_for_runs_of_keys_alone() {
    let capabilities = Capabilities {
        max_subgroup_size: 8,
        max_workgroup_invocations: 128,
        shared_memory_size: 16 << 10,
        ..Capabilities::default()
    };
    let sum = ReduceConfig::sum(ElementType::U32);
    let by_key = sum.runs(ReduceRuns::Keys32);
    let [whole, of_keys] = [sum, by_key].map(|config| ReducePolicy::choose(&capabilities, &config).policy);
    let text = whole.to_string();
    assert!(!text.contains("heads"), "{text}");
    let text = ReducePolicy { mixed_access: false, ..of_keys }.to_string();
    let expected = "reduce: workgroup 128, 8 packs per invocation, all tiles by quads or all by words; heads: workgroup \
                    128, 8 items per invocation";
    assert_eq!(text, expected);
    assert_eq!(of_keys.check(&by_key, &capabilities), Ok(()));
    let tile = |workgroup_size, items_per_invocation| {
        whole.with_heads(TileShape { workgroup_size, items_per_invocation })
    };
    for (policy, field) in [
        (whole, "heads are required"),
        (tile(48, 8), "heads.workgroup_size is 48"),
        (tile(128, 33), "heads.items_per_invocation is 33"),
    ] {
        assert_eq!(policy.check(&sum, &capabilities), Ok(()));
        let error = policy.check(&by_key, &capabilities).unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    }
}
