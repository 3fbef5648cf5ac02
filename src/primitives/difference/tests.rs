use ash::vk;

use super::*;

#[test]
fn the_default_has_whole_subgroups_of_any_size() {
    for device_type in [vk::PhysicalDeviceType::CPU, vk::PhysicalDeviceType::DISCRETE_GPU] {
        for lanes in [4, 8, 16, 32, 64, 128] {
            let mut device = Capabilities {
                min_subgroup_size: lanes,
                subgroup_size: lanes,
                max_subgroup_size: lanes,
                max_workgroup_invocations: 1024,
                ..Capabilities::default()
            };
            device.identity.device_type = device_type;
            let config = DifferenceConfig::new(ElementType::F32);
            let policy = DifferencePolicy::choose(&device, &config).policy;
            assert_eq!(policy.check(&config, &device), Ok(()), "{lanes} lanes, {device_type:?}, {policy}");
        }
    }
}
