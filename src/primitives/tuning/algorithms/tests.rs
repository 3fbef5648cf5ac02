use ash::vk;

use super::*;

fn check<A: PartialEq + std::fmt::Debug>(rows: &[AlgorithmRow<A>]) {
    assert!(rows.last().is_some_and(|row| row.condition == Condition::new(Devices::All)), "{rows:?}");
    for (index, row) in rows.iter().enumerate() {
        assert!(!row.reason.is_empty(), "{row:?}");
        let is_again = |other: &AlgorithmRow<A>| other.condition == row.condition;
        assert!(!rows[..index].iter().any(is_again), "{row:?} is never taken");
    }
}

#[test]
fn the_last_row_of_an_algorithm_is_for_every_device() {
    check(SCANS);
    check(SELECTIONS);
    check(ENCODINGS);
    check(REDUCTIONS_BY_KEY);
    check(SORTS);
}

fn device(driver_id: vk::DriverId, vendor_id: u32, lanes: [u32; 2]) -> Capabilities {
    let [min_subgroup_size, subgroup_size] = lanes;
    let mut capabilities = Capabilities { min_subgroup_size, subgroup_size, ..Capabilities::default() };
    let identity = &mut capabilities.identity;
    (identity.driver_id, identity.vendor_id) = (driver_id, vendor_id);
    identity.device_type = vk::PhysicalDeviceType::INTEGRATED_GPU;
    capabilities
}

#[test]
fn lanes_and_architectures_choose_the_sort() {
    let [none, intel, arm] = [0, 0x8086, 0x13b5];
    let driver = vk::DriverId::ARM_PROPRIETARY;
    for (device, expected) in [
        (device(driver, arm, [16, 16]), SortAlgorithm::Onesweep),
        (device(driver, arm, [15, 15]), SortAlgorithm::Radix4Bit),
        (device(driver, arm, [8, 8]), SortAlgorithm::Radix4Bit),
        // Its passes require 16 lanes.
        (device(vk::DriverId::INTEL_PROPRIETARY_WINDOWS, intel, [8, 8]), SortAlgorithm::Onesweep),
        (device(vk::DriverId::MESA_LLVMPIPE, none, [8, 32]), SortAlgorithm::Radix4Bit),
        (device(vk::DriverId::GOOGLE_SWIFTSHADER, none, [4, 4]), SortAlgorithm::Radix8Bit),
    ] {
        assert_eq!(algorithm_of(SORTS, &device, [1, 0]).policy, expected, "{device:?}");
    }
}
