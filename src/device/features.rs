//! Merges required features into a `VkDeviceCreateInfo` and its `pNext` chain.

use std::ffi::c_void;

use ash::vk;

use super::requirements::EnabledFeatures;

/// Feature structures of [`DeviceRequirements`](super::DeviceRequirements), to be merged into `VkDeviceCreateInfo`.
/// Owns the structures that it chains.
#[derive(Debug, Clone)]
pub struct FeatureChain {
    enabled: EnabledFeatures,
    core: vk::PhysicalDeviceFeatures,
    address: vk::PhysicalDeviceBufferDeviceAddressFeatures<'static>,
    size_control: vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>,
    executables: vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR<'static>,
}

/// Feature structures found in a caller's chain.
#[derive(Debug, Default)]
struct Found {
    core: bool,
    address: bool,
    size_control: bool,
    executables: bool,
}

impl FeatureChain {
    pub(super) fn new(enabled: EnabledFeatures) -> Self {
        Self {
            enabled,
            core: vk::PhysicalDeviceFeatures::default(),
            address: vk::PhysicalDeviceBufferDeviceAddressFeatures::default(),
            size_control: vk::PhysicalDeviceSubgroupSizeControlFeatures::default(),
            executables: vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default(),
        }
    }

    /// Enables the features in `info`, and disables none. A structure of its chain that has a feature
    /// (`VkPhysicalDeviceFeatures2`, `VkPhysicalDeviceVulkan12Features`, `VkPhysicalDeviceVulkan13Features`, or the
    /// feature's own) is changed; for the others, structures of this chain are put in front. Core features of
    /// `pEnabledFeatures` are copied first. The caller enables the extensions.
    ///
    /// # Safety
    /// `info.p_next` is a valid chain that may be written to, as are structures passed to
    /// [`push_next`](vk::DeviceCreateInfo::push_next). `info.p_enabled_features` is valid or null. Neither points into
    /// this chain, from an earlier merge; the result of an earlier merge is no longer used.
    pub unsafe fn merge_into<'a>(
        &'a mut self,
        mut info: vk::DeviceCreateInfo<'a>,
    ) -> vk::DeviceCreateInfo<'a> {
        // An earlier merge left pointers into another chain.
        *self = Self::new(self.enabled);
        // SAFETY: as the caller promises.
        let found = unsafe { self.merge_into_chain(info.p_next.cast_mut()) };
        if (self.enabled.shader_float64 || self.enabled.sparse_binding) && !found.core {
            if !info.p_enabled_features.is_null() {
                // SAFETY: as the caller promises.
                self.core = unsafe { *info.p_enabled_features };
            }
            self.core.shader_float64 |= vk::Bool32::from(self.enabled.shader_float64);
            self.core.sparse_binding |= vk::Bool32::from(self.enabled.sparse_binding);
            info.p_enabled_features = &self.core;
        }
        if self.enabled.buffer_device_address && !found.address {
            self.address.buffer_device_address = vk::TRUE;
            info = info.push_next(&mut self.address);
        }
        if self.enabled.has_size_control() && !found.size_control {
            self.size_control.subgroup_size_control = self.enabled.subgroup_size_control.into();
            self.size_control.compute_full_subgroups = self.enabled.compute_full_subgroups.into();
            info = info.push_next(&mut self.size_control);
        }
        if self.enabled.pipeline_executable_info && !found.executables {
            self.executables.pipeline_executable_info = vk::TRUE;
            info = info.push_next(&mut self.executables);
        }
        info
    }

    /// Enables the features in the structures from `next` on.
    ///
    /// # Safety
    /// Those of [`Self::merge_into`].
    unsafe fn merge_into_chain(&self, mut next: *mut c_void) -> Found {
        let EnabledFeatures {
            buffer_device_address,
            subgroup_size_control,
            compute_full_subgroups,
            pipeline_executable_info,
            shader_float64,
            sparse_binding,
            debug_utils: _,
        } = self.enabled;
        let turn_on = |feature: &mut vk::Bool32, is_wanted: bool| *feature |= vk::Bool32::from(is_wanted);
        let mut found = Found::default();
        while !next.is_null() {
            // SAFETY: every structure in a chain begins with its type and a pointer to the next, as the caller promises.
            let base = unsafe { &*next.cast::<vk::BaseOutStructure<'_>>() };
            let (structure, behind) = (next, base.p_next.cast());
            // SAFETY, of every `cast` below: `s_type` is the type of the structure.
            match base.s_type {
                vk::StructureType::PHYSICAL_DEVICE_FEATURES_2 => {
                    found.core = true;
                    // SAFETY: as above.
                    let features = unsafe { &mut *structure.cast::<vk::PhysicalDeviceFeatures2<'_>>() };
                    turn_on(&mut features.features.shader_float64, shader_float64);
                    turn_on(&mut features.features.sparse_binding, sparse_binding);
                }
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                    found.address = true;
                    // SAFETY: as above.
                    let features =
                        unsafe { &mut *structure.cast::<vk::PhysicalDeviceVulkan12Features<'_>>() };
                    turn_on(&mut features.buffer_device_address, buffer_device_address);
                }
                vk::StructureType::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES => {
                    found.address = true;
                    let features = structure.cast::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>>();
                    // SAFETY: as above.
                    turn_on(unsafe { &mut (*features).buffer_device_address }, buffer_device_address);
                }
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                    found.size_control = true;
                    // SAFETY: as above.
                    let features =
                        unsafe { &mut *structure.cast::<vk::PhysicalDeviceVulkan13Features<'_>>() };
                    turn_on(&mut features.subgroup_size_control, subgroup_size_control);
                    turn_on(&mut features.compute_full_subgroups, compute_full_subgroups);
                }
                vk::StructureType::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES => {
                    found.size_control = true;
                    let features = structure.cast::<vk::PhysicalDeviceSubgroupSizeControlFeatures<'_>>();
                    // SAFETY: as above.
                    let features = unsafe { &mut *features };
                    turn_on(&mut features.subgroup_size_control, subgroup_size_control);
                    turn_on(&mut features.compute_full_subgroups, compute_full_subgroups);
                }
                vk::StructureType::PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR => {
                    found.executables = true;
                    let features =
                        structure.cast::<vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR<'_>>();
                    // SAFETY: as above.
                    turn_on(unsafe { &mut (*features).pipeline_executable_info }, pipeline_executable_info);
                }
                _ => {}
            }
            next = behind;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: EnabledFeatures = EnabledFeatures {
        buffer_device_address: true,
        subgroup_size_control: true,
        compute_full_subgroups: true,
        pipeline_executable_info: true,
        shader_float64: true,
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
        assert_eq!(types(&info).len(), 3);
        // SAFETY: it is that of `all`.
        let core = unsafe { &*info.p_enabled_features };
        assert_eq!([core.shader_float64, core.sparse_binding], [vk::TRUE; 2]);
        assert_eq!(all.size_control.compute_full_subgroups, vk::TRUE);
        assert_eq!(all.executables.pipeline_executable_info, vk::TRUE);
    }

    #[test]
    fn structures_of_the_caller_are_taken_and_keep_what_they_have() {
        let core = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
        let mut features2 = vk::PhysicalDeviceFeatures2::default().features(core);
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut chain = FeatureChain::new(ALL);
        let info = vk::DeviceCreateInfo::default()
            .push_next(&mut features2)
            .push_next(&mut vulkan12)
            .push_next(&mut vulkan13)
            .push_next(&mut executables);
        // SAFETY: the chain is valid, and nothing else is borrowed from it.
        let info = unsafe { chain.merge_into(info) };
        assert_eq!(types(&info).len(), 4);
        assert!(info.p_enabled_features.is_null());
        let core = features2.features;
        assert_eq!([core.robust_buffer_access, core.shader_float64, core.sparse_binding], [vk::TRUE; 3]);
        assert_eq!([vulkan12.timeline_semaphore, vulkan12.buffer_device_address], [vk::TRUE; 2]);
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
        assert_eq!(types(&unsafe { chain.merge_into(first) }).len(), 3);
        // SAFETY: there is no chain; the first is used no more.
        let info = unsafe { chain.merge_into(vk::DeviceCreateInfo::default()) };
        assert_eq!(types(&info).len(), 3);
        // SAFETY: it is that of `chain`.
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
        let enabled = EnabledFeatures { compute_full_subgroups: false, ..ALL };
        let mut chain = FeatureChain::new(enabled);
        let info = vk::DeviceCreateInfo::default()
            .enabled_features(&core)
            .push_next(&mut address)
            .push_next(&mut size_control);
        // SAFETY: the chain is valid, and nothing else is borrowed from it.
        let info = unsafe { chain.merge_into(info) };
        assert_eq!(types(&info).len(), 3);
        // SAFETY: it is that of `chain`.
        let merged = unsafe { &*info.p_enabled_features };
        assert_eq!([merged.geometry_shader, merged.shader_float64], [vk::TRUE; 2]);
        assert_eq!(
            [address.buffer_device_address, address.buffer_device_address_multi_device],
            [vk::TRUE; 2]
        );
        assert_eq!([size_control.subgroup_size_control, size_control.compute_full_subgroups], [vk::TRUE; 2]);
    }
}
