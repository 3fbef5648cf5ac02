//! Description of a device in a report and in `devices --json`. Field names are stable.

use serde::{Deserialize, Serialize};

use subsweep::ash::vk;
use subsweep::device::Capabilities;

/// A Vulkan 1.2 device, as far as it matters when devices are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub device_type: String,
    /// `vendorID`: of PCI, or from Khronos's registry.
    pub vendor_id: u32,
    /// `deviceID`: the vendor's own.
    pub device_id: u32,
    /// `apiVersion`: `1.3.230`.
    pub api_version: String,
    /// `conformanceVersion`, of the suite that the driver passed: `1.3.1.1`, or `0.0.0.0`.
    pub conformance_version: String,
    /// `deviceUUID`, in hexadecimal groups of 8-4-4-4-12 digits.
    pub device_uuid: String,
    /// `driverUUID`, as `device_uuid`.
    pub driver_uuid: String,
    /// The driver.
    pub driver: Driver,
    /// Names of the driver workarounds in effect.
    pub workarounds: Vec<String>,
    /// Subgroup sizes and operations.
    pub subgroups: Subgroups,
    /// The relevant limits.
    pub limits: Limits,
    /// Memory heaps.
    pub heaps: Vec<Heap>,
    /// The enabled features; null for an unusable device.
    pub features: Option<Features>,
}

/// A driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Driver {
    /// `driverID` without `VK_DRIVER_ID_`: `MESA_LLVMPIPE`.
    pub id: String,
    /// `driverName`.
    pub name: String,
    /// `driverInfo`: the version as the vendor writes it.
    pub info: String,
    /// `driverVersion`, unpacked as this driver packs it.
    pub version: String,
}

/// Subgroups of compute shaders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subgroups {
    /// Lanes of a subgroup without a requested size.
    pub size: u32,
    /// Minimum subgroup size that can be requested.
    pub min_size: u32,
    /// Maximum subgroup size that can be requested.
    pub max_size: u32,
    /// Maximum subgroups in a workgroup; null if the device sets no limit.
    pub max_per_workgroup: Option<u32>,
    /// Supported kinds of subgroup operations.
    pub operations: Vec<String>,
}

/// Limits; sizes in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Invocations in a workgroup.
    pub max_workgroup_invocations: u32,
    /// Shared memory of a workgroup.
    pub shared_memory_size: u32,
    /// Workgroups of a dispatch, per dimension.
    pub max_workgroup_count: [u32; 3],
    /// The largest memory heap.
    pub largest_heap_size: u64,
    /// The largest single allocation.
    pub max_allocation_size: u64,
    /// `maxStorageBufferRange`. The kernels bind no buffers.
    pub max_storage_buffer_range: u64,
    /// Nanoseconds of one timestamp tick.
    pub timestamp_period_ns: f32,
    /// Valid bits of a timestamp; 0 if the queue has no timestamps.
    pub timestamp_valid_bits: u32,
}

/// A memory heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heap {
    /// Bytes.
    pub size: u64,
    /// Whether it is device-local.
    pub device_local: bool,
}

/// Features that the library uses if present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// `bufferDeviceAddress`. Required.
    pub buffer_device_address: bool,
    /// `subgroupSizeControl`.
    pub subgroup_size_control: bool,
    /// `computeFullSubgroups`.
    pub compute_full_subgroups: bool,
    /// `shaderFloat64`.
    pub shader_float64: bool,
    /// `storageBuffer8BitAccess`.
    #[serde(default)]
    pub storage_buffer8_bit_access: bool,
    /// `storageBuffer16BitAccess`.
    #[serde(default)]
    pub storage_buffer16_bit_access: bool,
}

impl Driver {
    /// Name and version, as far as they are known.
    pub fn text(&self) -> String {
        [self.name.trim(), self.info.trim()].join(", ").trim_end_matches(", ").to_owned()
    }
}

impl Description {
    /// Describes a device with these capabilities, whose queue has timestamps of so many valid bits.
    pub fn new(capabilities: &Capabilities, timestamp_valid_bits: u32) -> Self {
        let identity = &capabilities.identity;
        let enabled = capabilities.enabled;
        Self {
            device_type: match identity.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
                vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
                vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
                vk::PhysicalDeviceType::CPU => "cpu",
                _ => "other",
            }
            .to_owned(),
            vendor_id: identity.vendor_id,
            device_id: identity.device_id,
            api_version: identity.api_version_text(),
            conformance_version: identity.conformance_version_text(),
            device_uuid: identity.device_uuid_text(),
            driver_uuid: identity.driver_uuid_text(),
            driver: Driver {
                id: format!("{:?}", identity.driver_id),
                name: identity.driver_name.clone(),
                info: identity.driver_info.clone(),
                version: identity.driver_version_text(),
            },
            workarounds: capabilities.workarounds.names().map(str::to_owned).collect(),
            subgroups: Subgroups {
                size: capabilities.subgroup_size,
                min_size: capabilities.min_subgroup_size,
                max_size: capabilities.max_subgroup_size,
                max_per_workgroup: Some(capabilities.max_workgroup_subgroups)
                    .filter(|count| *count < u32::MAX),
                operations: OPERATIONS
                    .iter()
                    .filter(|(flag, _)| capabilities.subgroup_operations.contains(*flag))
                    .map(|(_, name)| (*name).to_owned())
                    .collect(),
            },
            limits: Limits {
                max_workgroup_invocations: capabilities.max_workgroup_invocations,
                shared_memory_size: capabilities.shared_memory_size,
                max_workgroup_count: capabilities.max_workgroup_count,
                largest_heap_size: capabilities.largest_heap_size,
                max_allocation_size: capabilities.max_allocation_size,
                max_storage_buffer_range: capabilities.max_storage_buffer_range,
                timestamp_period_ns: capabilities.timestamp_period_ns,
                timestamp_valid_bits,
            },
            heaps: capabilities
                .memory_heaps
                .iter()
                .map(|heap| Heap { size: heap.size, device_local: heap.is_device_local })
                .collect(),
            features: enabled.buffer_device_address.then_some(Features {
                buffer_device_address: enabled.buffer_device_address,
                subgroup_size_control: enabled.subgroup_size_control,
                compute_full_subgroups: enabled.compute_full_subgroups,
                shader_float64: enabled.shader_float64,
                storage_buffer8_bit_access: enabled.storage_buffer8_bit_access,
                storage_buffer16_bit_access: enabled.storage_buffer16_bit_access,
            }),
        }
    }
}

const OPERATIONS: [(vk::SubgroupFeatureFlags, &str); 9] = [
    (vk::SubgroupFeatureFlags::BASIC, "basic"),
    (vk::SubgroupFeatureFlags::VOTE, "vote"),
    (vk::SubgroupFeatureFlags::ARITHMETIC, "arithmetic"),
    (vk::SubgroupFeatureFlags::BALLOT, "ballot"),
    (vk::SubgroupFeatureFlags::SHUFFLE, "shuffle"),
    (vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE, "shuffle_relative"),
    (vk::SubgroupFeatureFlags::CLUSTERED, "clustered"),
    (vk::SubgroupFeatureFlags::QUAD, "quad"),
    (vk::SubgroupFeatureFlags::PARTITIONED_NV, "partitioned"),
];
