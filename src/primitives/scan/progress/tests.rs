use super::*;
use crate::primitives::ElementType;
use crate::scan::{ScanAlgorithm, ScanConfig, ScanOperator, ScanPolicy, WorkgroupScan};

fn device(driver_id: vk::DriverId, device_type: vk::PhysicalDeviceType) -> Capabilities {
    let mut capabilities = Capabilities { max_workgroup_invocations: 1024, ..Capabilities::default() };
    capabilities.identity.driver_id = driver_id;
    capabilities.identity.device_type = device_type;
    capabilities
}

#[test]
fn a_single_pass_is_chosen_where_it_is_supported_and_faster() {
    let (discrete, integrated) =
        (vk::PhysicalDeviceType::DISCRETE_GPU, vk::PhysicalDeviceType::INTEGRATED_GPU);
    for (driver, kind, is_known) in [
        (vk::DriverId::NVIDIA_PROPRIETARY, discrete, true),
        (vk::DriverId::MESA_RADV, integrated, true),
        (vk::DriverId::INTEL_OPEN_SOURCE_MESA, discrete, true),
        (vk::DriverId::INTEL_OPEN_SOURCE_MESA, integrated, false),
        (vk::DriverId::MOLTENVK, integrated, false),
        (vk::DriverId::ARM_PROPRIETARY, integrated, false),
        (vk::DriverId::MESA_LLVMPIPE, vk::PhysicalDeviceType::CPU, true),
        // Progress is known there, too, and two passes are faster.
        (vk::DriverId::GOOGLE_SWIFTSHADER, vk::PhysicalDeviceType::CPU, false),
    ] {
        let device = device(driver, kind);
        let algorithm = |config: ScanConfig| ScanPolicy::choose(&device, &config).policy.algorithm;
        let apart = ScanConfig::inclusive(ElementType::U32).out_of_place();
        let two_passes = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
        let expected = if is_known { ScanAlgorithm::Chained } else { two_passes };
        assert_eq!(algorithm(apart), expected, "{driver:?}");
        assert_eq!(algorithm(ScanConfig::inclusive(ElementType::F64).out_of_place()), expected, "{driver:?}");
        assert_eq!(algorithm(apart.indirect_count()), expected, "{driver:?}");
        for other in [ScanConfig::inclusive(ElementType::U32), apart.columns(2), apart.columns(0)] {
            assert_eq!(algorithm(other), two_passes, "{driver:?}, {other:?}");
        }
    }
}

#[test]
fn only_rounded_results_use_the_fixed_tree() {
    let device = device(vk::DriverId::NVIDIA_PROPRIETARY, vk::PhysicalDeviceType::DISCRETE_GPU);
    for element in ElementType::ALL {
        for operator in ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element)) {
            let config = ScanConfig::exclusive(element).operator(operator).out_of_place();
            let is_rounded = element.is_float() && [ScanOperator::Add, ScanOperator::Mul].contains(&operator);
            assert_eq!(ScanPolicy::choose(&device, &config).policy.fixed_tree, is_rounded);
        }
    }
}
