//! What a device is and can do, read once.

use std::ffi::CStr;

use ash::vk;

use super::requirements::EnabledFeatures;

/// Who made the device and its driver: what a report must name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceIdentity {
    /// `deviceName`.
    pub name: String,
    /// Discrete, integrated, virtual or CPU.
    pub device_type: vk::PhysicalDeviceType,
    /// PCI vendor id, or one from Khronos's registry.
    pub vendor_id: u32,
    /// The vendor's own id of the device.
    pub device_id: u32,
    /// The Vulkan version of the device, packed.
    pub api_version: u32,
    /// Packed as the vendor likes.
    pub driver_version: u32,
    /// Which driver, from Khronos's list.
    pub driver_id: vk::DriverId,
    /// The driver's name.
    pub driver_name: String,
    /// The driver's version in words.
    pub driver_info: String,
    /// The version of the conformance suite that the driver passed, `0.0.0.0` if none.
    pub conformance_version: [u8; 4],
    /// The same for the same device under every driver and process.
    pub device_uuid: [u8; 16],
    /// The same for the same driver build.
    pub driver_uuid: [u8; 16],
}

/// The properties and limits that policies choose by.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Who made it.
    pub identity: DeviceIdentity,
    /// Lanes of a subgroup where no size is asked for.
    pub subgroup_size: u32,
    /// The smallest size that may be asked for.
    pub min_subgroup_size: u32,
    /// The largest size that may be asked for.
    pub max_subgroup_size: u32,
    /// `maxComputeWorkgroupSubgroups`; unlimited where the device has no subgroup size control.
    pub max_workgroup_subgroups: u32,
    /// Subgroup operations of the device.
    pub subgroup_operations: vk::SubgroupFeatureFlags,
    /// The optional features that the device was created with.
    pub enabled: EnabledFeatures,
    /// `maxComputeWorkGroupInvocations`, and no more than `maxComputeWorkGroupSize[0]`.
    pub max_workgroup_invocations: u32,
    /// `maxComputeSharedMemorySize`, bytes.
    pub shared_memory_size: u32,
    /// `maxComputeWorkGroupCount`, per dimension.
    pub max_workgroup_count: [u32; 3],
    /// `maxMemoryAllocationSize`, bytes.
    pub max_allocation_size: u64,
    /// The size of the largest memory heap, bytes.
    pub largest_heap_size: u64,
    /// `maxStorageBufferRange`, bytes. Nothing here binds a descriptor, so it limits nothing; it is for reports.
    pub max_storage_buffer_range: u64,
    /// Nanoseconds of one timestamp tick.
    pub timestamp_period_ns: f32,
}

impl Capabilities {
    /// Reads everything.
    ///
    /// # Safety
    /// `instance` is alive and made for Vulkan 1.2, `physical_device` is one of its devices and has Vulkan 1.2, and
    /// it has the extensions that `enabled` implies.
    pub unsafe fn read(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        enabled: EnabledFeatures,
    ) -> Self {
        // SAFETY: as the caller promises.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical_device) };
        let has_size_control = enabled.subgroup_size_control || enabled.compute_full_subgroups;
        let mut vulkan11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut size_control = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut chain =
            vk::PhysicalDeviceProperties2::default().push_next(&mut vulkan11).push_next(&mut vulkan12);
        if has_size_control {
            chain = chain.push_next(&mut size_control);
        }
        // SAFETY: as the caller promises.
        unsafe { instance.get_physical_device_properties2(physical_device, &mut chain) };
        let properties = chain.properties;
        let limits = properties.limits;
        if !has_size_control {
            size_control.min_subgroup_size = vulkan11.subgroup_size;
            size_control.max_subgroup_size = vulkan11.subgroup_size;
            size_control.max_compute_workgroup_subgroups = u32::MAX;
        }
        let conformance = vulkan12.conformance_version;
        Self {
            identity: DeviceIdentity {
                name: text(properties.device_name_as_c_str()),
                device_type: properties.device_type,
                vendor_id: properties.vendor_id,
                device_id: properties.device_id,
                api_version: properties.api_version,
                driver_version: properties.driver_version,
                driver_id: vulkan12.driver_id,
                driver_name: text(vulkan12.driver_name_as_c_str()),
                driver_info: text(vulkan12.driver_info_as_c_str()),
                conformance_version: [
                    conformance.major,
                    conformance.minor,
                    conformance.subminor,
                    conformance.patch,
                ],
                device_uuid: vulkan11.device_uuid,
                driver_uuid: vulkan11.driver_uuid,
            },
            subgroup_size: vulkan11.subgroup_size,
            min_subgroup_size: size_control.min_subgroup_size,
            max_subgroup_size: size_control.max_subgroup_size,
            max_workgroup_subgroups: size_control.max_compute_workgroup_subgroups,
            subgroup_operations: vulkan11.subgroup_supported_operations,
            enabled,
            max_workgroup_invocations: limits
                .max_compute_work_group_invocations
                .min(limits.max_compute_work_group_size[0]),
            shared_memory_size: limits.max_compute_shared_memory_size,
            max_workgroup_count: limits.max_compute_work_group_count,
            max_allocation_size: vulkan11.max_memory_allocation_size,
            largest_heap_size: memory.memory_heaps_as_slice().iter().map(|heap| heap.size).max().unwrap_or(0),
            max_storage_buffer_range: limits.max_storage_buffer_range.into(),
            timestamp_period_ns: limits.timestamp_period,
        }
    }

    /// The most workgroups that one dispatch can have, in two dimensions.
    pub fn max_dispatch_workgroups(&self) -> u64 {
        u64::from(self.max_workgroup_count[0]) * u64::from(self.max_workgroup_count[1])
    }

    /// Whether a CPU runs the kernels: lanes are then loop iterations, and long runs per invocation pay.
    pub fn is_cpu(&self) -> bool {
        self.identity.device_type == vk::PhysicalDeviceType::CPU
    }
}

/// A driver's text, whatever it holds.
pub(super) fn text(text: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
