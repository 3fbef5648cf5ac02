use super::*;

const ALL: EnabledFeatures = EnabledFeatures {
    buffer_device_address: true,
    subgroup_size_control: true,
    compute_full_subgroups: true,
    pipeline_executable_info: true,
    shader_float64: true,
    storage_buffer8_bit_access: true,
    storage_buffer16_bit_access: true,
    sparse_binding: true,
    debug_utils: true,
};

/// The types of a chain's structures.
fn types(info: &vk::DeviceCreateInfo<'_>) -> Vec<vk::StructureType> {
    let mut next = info.p_next.cast::<vk::BaseInStructure<'_>>();
    let mut types = Vec::new();
    while !next.is_null() {
        // SAFETY: the tests' chains are valid.
        let base = unsafe { &*next };
        types.push(base.s_type);
        next = base.p_next;
    }
    types
}

#[test]
fn what_no_structure_has_is_chained() {
    let mut needed = FeatureChain::new(EnabledFeatures::REQUIRED);
    // SAFETY: there is no chain.
    let info = unsafe { needed.merge_into(vk::DeviceCreateInfo::default()) };
    assert_eq!(types(&info), [vk::StructureType::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES]);
    assert!(info.p_enabled_features.is_null());

    let mut all = FeatureChain::new(ALL);
    // SAFETY: there is no chain.
    let info = unsafe { all.merge_into(vk::DeviceCreateInfo::default()) };
    assert_eq!(types(&info).len(), 5);
    // SAFETY: it points into `all`.
    let core = unsafe { &*info.p_enabled_features };
    assert_eq!([core.shader_float64, core.sparse_binding], [vk::TRUE; 2]);
    assert_eq!(all.size_control.compute_full_subgroups, vk::TRUE);
    assert_eq!(all.storage8.storage_buffer8_bit_access, vk::TRUE);
    assert_eq!(all.storage16.storage_buffer16_bit_access, vk::TRUE);
    assert_eq!(all.executables.pipeline_executable_info, vk::TRUE);
}

#[test]
fn structures_of_the_caller_are_taken_and_keep_what_they_have() {
    let core = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
    let mut features2 = vk::PhysicalDeviceFeatures2::default().features(core);
    let mut vulkan11 = vk::PhysicalDeviceVulkan11Features::default().multiview(true);
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
    let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
    let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
    let mut chain = FeatureChain::new(ALL);
    let info = vk::DeviceCreateInfo::default()
        .push_next(&mut features2)
        .push_next(&mut vulkan11)
        .push_next(&mut vulkan12)
        .push_next(&mut vulkan13)
        .push_next(&mut executables);
    // SAFETY: the chain is valid, and nothing else is borrowed from it.
    let info = unsafe { chain.merge_into(info) };
    assert_eq!(types(&info).len(), 5);
    assert!(info.p_enabled_features.is_null());
    let core = features2.features;
    assert_eq!([core.robust_buffer_access, core.shader_float64, core.sparse_binding], [vk::TRUE; 3]);
    assert_eq!([vulkan11.multiview, vulkan11.storage_buffer16_bit_access], [vk::TRUE; 2]);
    assert_eq!([vulkan12.timeline_semaphore, vulkan12.buffer_device_address], [vk::TRUE; 2]);
    assert_eq!(vulkan12.storage_buffer8_bit_access, vk::TRUE);
    assert_eq!([vulkan13.synchronization2, vulkan13.subgroup_size_control], [vk::TRUE; 2]);
    assert_eq!([vulkan13.compute_full_subgroups, executables.pipeline_executable_info], [vk::TRUE; 2]);
}

#[test]
fn a_chain_is_merged_again_as_if_for_the_first_time() {
    let mut chain = FeatureChain::new(ALL);
    let core = vk::PhysicalDeviceFeatures::default().geometry_shader(true);
    let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
    let first = vk::DeviceCreateInfo::default().enabled_features(&core).push_next(&mut vulkan12);
    // SAFETY: the chain is valid, and nothing else is borrowed from it.
    assert_eq!(types(&unsafe { chain.merge_into(first) }).len(), 4);
    // SAFETY: there is no chain; the first is used no more.
    let info = unsafe { chain.merge_into(vk::DeviceCreateInfo::default()) };
    assert_eq!(types(&info).len(), 5);
    // SAFETY: it points into `chain`.
    let merged = unsafe { &*info.p_enabled_features };
    assert_eq!([merged.geometry_shader, merged.shader_float64], [vk::FALSE, vk::TRUE]);
}

#[test]
fn features_of_their_own_are_taken_and_nothing_is_turned_off() {
    let core = vk::PhysicalDeviceFeatures::default().geometry_shader(true);
    let mut address =
        vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address_multi_device(true);
    let mut size_control =
        vk::PhysicalDeviceSubgroupSizeControlFeatures::default().compute_full_subgroups(true);
    let mut storage8 = vk::PhysicalDevice8BitStorageFeatures::default().storage_push_constant8(true);
    let mut storage16 = vk::PhysicalDevice16BitStorageFeatures::default().storage_input_output16(true);
    let enabled = EnabledFeatures { compute_full_subgroups: false, ..ALL };
    let mut chain = FeatureChain::new(enabled);
    let info = vk::DeviceCreateInfo::default()
        .enabled_features(&core)
        .push_next(&mut address)
        .push_next(&mut storage8)
        .push_next(&mut storage16)
        .push_next(&mut size_control);
    // SAFETY: the chain is valid, and nothing else is borrowed from it.
    let info = unsafe { chain.merge_into(info) };
    assert_eq!(types(&info).len(), 5);
    // SAFETY: it points into `chain`.
    let merged = unsafe { &*info.p_enabled_features };
    assert_eq!([merged.geometry_shader, merged.shader_float64], [vk::TRUE; 2]);
    assert_eq!([address.buffer_device_address, address.buffer_device_address_multi_device], [vk::TRUE; 2]);
    assert_eq!([storage8.storage_buffer8_bit_access, storage8.storage_push_constant8], [vk::TRUE; 2]);
    assert_eq!([storage16.storage_buffer16_bit_access, storage16.storage_input_output16], [vk::TRUE; 2]);
    assert_eq!([size_control.subgroup_size_control, size_control.compute_full_subgroups], [vk::TRUE; 2]);
}
