//! Properties and limits of a device, read once.

use std::ffi::CStr;

use ash::vk;

use super::identity::DeviceIdentity;
use super::requirements::EnabledFeatures;
use super::workarounds::Workarounds;
use crate::error::{Error, PolicyConflict, Result, within};

/// Properties and limits of a device, from which policies are derived.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Device, driver and versions.
    pub identity: DeviceIdentity,
    /// Workarounds for bugs of its driver.
    pub workarounds: Workarounds,
    /// `subgroupSize`: lanes of a subgroup where a pipeline requires no size.
    pub subgroup_size: u32,
    /// `minSubgroupSize`: the smallest size that a pipeline may require.
    pub min_subgroup_size: u32,
    /// `maxSubgroupSize`: the largest size that a pipeline may require.
    pub max_subgroup_size: u32,
    /// `maxComputeWorkgroupSubgroups`; unlimited where the device has no subgroup size control.
    pub max_workgroup_subgroups: u32,
    /// `subgroupSupportedOperations`.
    pub subgroup_operations: vk::SubgroupFeatureFlags,
    /// Optional features that the device was created with.
    pub enabled: EnabledFeatures,
    /// The lesser of `maxComputeWorkGroupInvocations` and `maxComputeWorkGroupSize[0]`.
    pub max_workgroup_invocations: u32,
    /// `maxComputeSharedMemorySize`, bytes.
    pub shared_memory_size: u32,
    /// `maxComputeWorkGroupCount`, per dimension.
    pub max_workgroup_count: [u32; 3],
    /// `maxMemoryAllocationSize`, bytes.
    pub max_allocation_size: u64,
    /// `maxBufferSize`, bytes; unlimited where the device has no Vulkan 1.3, which has that limit.
    pub max_buffer_size: u64,
    /// `sparseAddressSpaceSize`, bytes: of all buffers together that are bound to several allocations.
    pub sparse_address_space_size: u64,
    /// Size of the largest memory heap, bytes.
    pub largest_heap_size: u64,
    /// All memory heaps.
    pub memory_heaps: Vec<MemoryHeap>,
    /// `maxStorageBufferRange`, bytes. For reports: without descriptors it limits no plan.
    pub max_storage_buffer_range: u64,
    /// Nanoseconds of one timestamp tick; 0 if the device has no timestamps.
    pub timestamp_period_ns: f32,
    /// Numbers of policies, in place of the numbers of the tables: none, unless `tuning::with_shape` has set them.
    pub tuned: Vec<TunedNumber>,
}

/// A number of a policy, in place of the number of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TunedNumber {
    /// The kernels that are tuned together, by name.
    pub part: &'static str,
    /// The number's name.
    pub axis: &'static str,
    /// The number.
    pub value: u32,
}

/// A memory heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryHeap {
    /// Size, bytes.
    pub size: u64,
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`.
    pub is_device_local: bool,
}

impl MemoryHeap {
    fn new(heap: &vk::MemoryHeap) -> Self {
        Self { size: heap.size, is_device_local: heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL) }
    }
}

impl Capabilities {
    /// Reads the properties of `physical_device`.
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
        // SAFETY: as the caller promises.
        let api_version = unsafe { instance.get_physical_device_properties(physical_device) }.api_version;
        let mut vulkan11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut size_control = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut maintenance4 =
            vk::PhysicalDeviceMaintenance4Properties { max_buffer_size: u64::MAX, ..Default::default() };
        let mut chain =
            vk::PhysicalDeviceProperties2::default().push_next(&mut vulkan11).push_next(&mut vulkan12);
        if has_size_control {
            chain = chain.push_next(&mut size_control);
        }
        if api_version >= vk::API_VERSION_1_3 {
            chain = chain.push_next(&mut maintenance4);
        }
        // SAFETY: as the caller promises.
        unsafe { instance.get_physical_device_properties2(physical_device, &mut chain) };
        let properties = chain.properties;
        let limits = properties.limits;
        // `requiredSubgroupSizeStages` lists the stages in which a size may be required.
        let in_compute = size_control.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
        if !has_size_control {
            size_control.max_compute_workgroup_subgroups = u32::MAX;
        }
        if !in_compute {
            size_control.min_subgroup_size = vulkan11.subgroup_size;
            size_control.max_subgroup_size = vulkan11.subgroup_size;
        }
        let conformance = vulkan12.conformance_version;
        let identity = DeviceIdentity {
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
            pipeline_cache_uuid: properties.pipeline_cache_uuid,
        };
        Self {
            workarounds: Workarounds::for_driver(&identity, vulkan11.subgroup_size),
            identity,
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
            max_buffer_size: maintenance4.max_buffer_size,
            sparse_address_space_size: limits.sparse_address_space_size,
            largest_heap_size: memory.memory_heaps_as_slice().iter().map(|heap| heap.size).max().unwrap_or(0),
            memory_heaps: memory.memory_heaps_as_slice().iter().map(MemoryHeap::new).collect(),
            max_storage_buffer_range: limits.max_storage_buffer_range.into(),
            timestamp_period_ns: limits.timestamp_period,
            tuned: Vec::new(),
        }
    }

    /// Applies `limit`, and undoes its changes to limits that it raised and to fields that are no limits.
    #[cfg(feature = "headless")]
    pub(crate) fn narrow(&mut self, limit: impl FnOnce(&mut Self)) {
        let was = self.clone();
        limit(self);
        let now = self.clone();
        let mut enabled = was.enabled;
        enabled.narrow(now.enabled);
        *self = Self {
            max_workgroup_subgroups: now.max_workgroup_subgroups.min(was.max_workgroup_subgroups),
            max_workgroup_invocations: now.max_workgroup_invocations.min(was.max_workgroup_invocations),
            shared_memory_size: now.shared_memory_size.min(was.shared_memory_size),
            max_workgroup_count: std::array::from_fn(|dimension| {
                now.max_workgroup_count[dimension].min(was.max_workgroup_count[dimension])
            }),
            largest_heap_size: now.largest_heap_size.min(was.largest_heap_size),
            max_allocation_size: now.max_allocation_size.min(was.max_allocation_size),
            max_buffer_size: now.max_buffer_size.min(was.max_buffer_size),
            sparse_address_space_size: now.sparse_address_space_size.min(was.sparse_address_space_size),
            max_storage_buffer_range: now.max_storage_buffer_range.min(was.max_storage_buffer_range),
            // 0: no timestamps.
            timestamp_period_ns: if now.timestamp_period_ns > 0.0 { was.timestamp_period_ns } else { 0.0 },
            enabled,
            ..was
        };
    }

    /// The subgroup size to require of a pipeline for `asked`; `None` where the device has that size by default.
    ///
    /// # Errors
    /// [`Error::InvalidPolicy`] and [`Error::PolicyExceedsLimits`] for a size that the device does not support.
    #[doc(hidden)]
    pub fn requested_subgroup_size(&self, asked: Option<u32>, workgroup_size: u32) -> Result<Option<u32>> {
        let Some(size) = asked else { return Ok(None) };
        let has_choice =
            self.enabled.subgroup_size_control && self.min_subgroup_size != self.max_subgroup_size;
        if size == self.subgroup_size && !has_choice {
            return Ok(None);
        }
        if !size.is_power_of_two() || size < self.min_subgroup_size || !has_choice {
            let (min, max) = match has_choice {
                true => (self.min_subgroup_size, self.max_subgroup_size),
                false => (self.subgroup_size, self.subgroup_size),
            };
            return Err(Error::InvalidPolicy(PolicyConflict::SubgroupSize { value: size, min, max }));
        }
        within("lanes in a subgroup", size, self.max_subgroup_size)?;
        within("subgroups in a workgroup", workgroup_size.div_ceil(size), self.max_workgroup_subgroups)?;
        Ok(Some(size))
    }

    /// The largest subgroup size that a pipeline with the required size `asked` can run at.
    ///
    /// # Errors
    /// Errors of [`Self::requested_subgroup_size`].
    pub(crate) fn widest_subgroup(&self, asked: Option<u32>, workgroup_size: u32) -> Result<u32> {
        self.requested_subgroup_size(asked, workgroup_size)?;
        Ok(asked.unwrap_or(self.max_subgroup_size))
    }

    /// Whether a pipeline may require subgroups of `size` lanes, in workgroups of any size.
    pub(crate) fn can_have_subgroups_of(&self, size: u32) -> bool {
        self.requested_subgroup_size(Some(size), size).is_ok()
    }

    /// The largest array that `headless` allocates, bytes: one allocation, or, with the feature `sparseBinding`, several.
    pub fn max_array_size(&self) -> u64 {
        let bound = match self.enabled.sparse_binding {
            true => self.max_allocation_size.max(self.sparse_address_space_size),
            false => self.max_allocation_size,
        };
        bound.min(self.max_buffer_size).min(self.largest_heap_size)
    }

    /// Whether the device is a CPU. Lanes are then loop iterations, and many items per invocation pay.
    pub fn is_cpu(&self) -> bool {
        self.identity.device_type == vk::PhysicalDeviceType::CPU
    }
}

/// A driver's text, converted lossily to UTF-8, without surrounding blanks.
pub(crate) fn text(text: std::result::Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    text.map(|text| text.to_string_lossy().trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
