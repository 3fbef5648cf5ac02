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
    storage8: vk::PhysicalDevice8BitStorageFeatures<'static>,
    storage16: vk::PhysicalDevice16BitStorageFeatures<'static>,
    size_control: vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>,
    executables: vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR<'static>,
}

/// Feature structures found in a caller's chain.
#[derive(Debug, Default)]
struct Found {
    core: bool,
    address: bool,
    storage8: bool,
    storage16: bool,
    size_control: bool,
    executables: bool,
}

impl FeatureChain {
    pub(super) fn new(enabled: EnabledFeatures) -> Self {
        Self {
            enabled,
            core: vk::PhysicalDeviceFeatures::default(),
            address: vk::PhysicalDeviceBufferDeviceAddressFeatures::default(),
            storage8: vk::PhysicalDevice8BitStorageFeatures::default(),
            storage16: vk::PhysicalDevice16BitStorageFeatures::default(),
            size_control: vk::PhysicalDeviceSubgroupSizeControlFeatures::default(),
            executables: vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default(),
        }
    }

    /// Enables the features in `info`, and disables none. A structure of its chain that has a feature
    /// (`VkPhysicalDeviceFeatures2`, `VkPhysicalDeviceVulkan11Features`, `VkPhysicalDeviceVulkan12Features`,
    /// `VkPhysicalDeviceVulkan13Features`, or the feature's own) is changed; for the others, structures of this chain are
    /// put in front. Core features of `pEnabledFeatures` are copied first. The caller enables the extensions.
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
        if self.enabled.storage_buffer8_bit_access && !found.storage8 {
            self.storage8.storage_buffer8_bit_access = vk::TRUE;
            info = info.push_next(&mut self.storage8);
        }
        if self.enabled.storage_buffer16_bit_access && !found.storage16 {
            self.storage16.storage_buffer16_bit_access = vk::TRUE;
            info = info.push_next(&mut self.storage16);
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
    /// The conditions of [`Self::merge_into`] hold.
    unsafe fn merge_into_chain(&self, mut next: *mut c_void) -> Found {
        let EnabledFeatures {
            buffer_device_address,
            subgroup_size_control,
            compute_full_subgroups,
            pipeline_executable_info,
            shader_float64,
            storage_buffer8_bit_access,
            storage_buffer16_bit_access,
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
                    (found.address, found.storage8) = (true, true);
                    // SAFETY: as above.
                    let features =
                        unsafe { &mut *structure.cast::<vk::PhysicalDeviceVulkan12Features<'_>>() };
                    turn_on(&mut features.buffer_device_address, buffer_device_address);
                    turn_on(&mut features.storage_buffer8_bit_access, storage_buffer8_bit_access);
                }
                vk::StructureType::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES => {
                    found.storage8 = true;
                    let features = structure.cast::<vk::PhysicalDevice8BitStorageFeatures<'_>>();
                    // SAFETY: as above.
                    turn_on(
                        unsafe { &mut (*features).storage_buffer8_bit_access },
                        storage_buffer8_bit_access,
                    );
                }
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES => {
                    found.storage16 = true;
                    let features = structure.cast::<vk::PhysicalDeviceVulkan11Features<'_>>();
                    // SAFETY: as above.
                    let feature = unsafe { &mut (*features).storage_buffer16_bit_access };
                    turn_on(feature, storage_buffer16_bit_access);
                }
                vk::StructureType::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES => {
                    found.storage16 = true;
                    let features = structure.cast::<vk::PhysicalDevice16BitStorageFeatures<'_>>();
                    // SAFETY: as above.
                    let feature = unsafe { &mut (*features).storage_buffer16_bit_access };
                    turn_on(feature, storage_buffer16_bit_access);
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
mod tests;
