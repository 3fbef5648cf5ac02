//! What is told about a device. The fields' names are those of `--json`: a promise to scripts.

use std::fmt::Display;

use serde::Serialize;
use subsweep::Choice;
use subsweep::ash::vk;
use subsweep::vk::Capabilities;

use crate::args::Common;
use crate::device::Numbered;
use crate::policy;

/// One device.
#[derive(Debug, Serialize)]
pub struct DeviceReport {
    /// What `--device` takes.
    pub index: usize,
    /// `deviceName`.
    pub name: String,
    /// Whether it can run the kernels.
    pub usable: bool,
    /// Why not, where it cannot.
    pub reason: Option<String>,
    /// The rest, for a device with Vulkan 1.2.
    #[serde(flatten)]
    pub details: Option<Details>,
}

/// What a device with Vulkan 1.2 tells.
#[derive(Debug, Serialize)]
pub struct Details {
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub device_type: &'static str,
    /// PCI vendor id, or one from Khronos's registry.
    pub vendor_id: u32,
    /// The vendor's own id of the device.
    pub device_id: u32,
    /// The Vulkan version: `1.3.230`.
    pub api_version: String,
    /// The conformance suite that the driver passed: `1.3.1.1`, or `0.0.0.0`.
    pub conformance_version: String,
    /// In hexadecimal groups of 8-4-4-4-12 digits.
    pub device_uuid: String,
    /// As `device_uuid`.
    pub driver_uuid: String,
    /// Who drives it.
    pub driver: Driver,
    /// Subgroup sizes and operations.
    pub subgroups: Subgroups,
    /// The limits that matter here.
    pub limits: Limits,
    /// The features that are used, for a usable device.
    pub features: Option<Features>,
    /// How it would be used, for a usable device.
    pub policies: Option<Policies>,
}

/// A driver.
#[derive(Debug, Serialize)]
pub struct Driver {
    /// From Khronos's list, without `VK_DRIVER_ID_`: `MESA_LLVMPIPE`.
    pub id: String,
    /// `driverName`.
    pub name: String,
    /// `driverInfo`: the version in the vendor's words.
    pub info: String,
    /// `driverVersion`, unpacked as this driver packs it.
    pub version: String,
}

/// Subgroups in compute shaders.
#[derive(Debug, Serialize)]
pub struct Subgroups {
    /// Lanes, where no size is asked for.
    pub size: u32,
    /// The fewest lanes that may be asked for.
    pub min_size: u32,
    /// The most lanes that may be asked for.
    pub max_size: u32,
    /// The most subgroups in a workgroup; null where the device does not limit them.
    pub max_per_workgroup: Option<u32>,
    /// Kinds of operations.
    pub operations: Vec<&'static str>,
}

/// Limits; sizes in bytes.
#[derive(Debug, Serialize)]
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
    /// The largest bound buffer. Nothing here binds one.
    pub max_storage_buffer_range: u64,
    /// Nanoseconds of one timestamp tick.
    pub timestamp_period_ns: f32,
    /// Bits of a timestamp; 0 where GPU time cannot be told.
    pub timestamp_valid_bits: u32,
}

/// Features that are used where they are there.
#[derive(Debug, Serialize)]
pub struct Features {
    /// `bufferDeviceAddress`, which is needed.
    pub buffer_device_address: bool,
    /// `subgroupSizeControl`.
    pub subgroup_size_control: bool,
    /// `computeFullSubgroups`.
    pub compute_full_subgroups: bool,
}

/// The policies that `--algorithm` and `--policy` lead to.
#[derive(Debug, Serialize)]
pub struct Policies {
    /// Of a scan of single numbers.
    pub scan: Policy,
    /// Of a sort.
    pub sort: Policy,
}

/// A policy in words.
#[derive(Debug, Serialize)]
pub struct Policy {
    /// What it does.
    pub policy: String,
    /// Why it is chosen.
    pub reason: &'static str,
}

impl DeviceReport {
    /// Of a device, with the policies that the options lead to.
    pub fn new(device: &Numbered, common: &Common) -> Self {
        let candidate = &device.candidate;
        let requirements = candidate.requirements.as_ref();
        Self {
            index: device.index,
            name: candidate.name.clone(),
            usable: requirements.is_ok(),
            reason: requirements.err().map(|error| match error {
                subsweep::Error::MissingFeature { missing, .. } => format!("it lacks {missing}"),
                error => error.to_string(),
            }),
            details: candidate.capabilities.as_ref().map(|capabilities| {
                let mut details = Details::new(capabilities, candidate.timestamp_valid_bits);
                if requirements.is_ok() {
                    details.features = Some(Features {
                        buffer_device_address: true,
                        subgroup_size_control: capabilities.enabled.subgroup_size_control,
                        compute_full_subgroups: capabilities.enabled.compute_full_subgroups,
                    });
                    details.policies = Some(Policies {
                        scan: Policy::new(policy::of_scan(common, capabilities, 1)),
                        sort: Policy::new(policy::of_sort(common, capabilities)),
                    });
                }
                details
            }),
        }
    }
}

impl Policy {
    fn new(choice: Choice<impl Display>) -> Self {
        Self { policy: choice.policy.to_string(), reason: choice.reason }
    }
}

impl Details {
    fn new(capabilities: &Capabilities, timestamp_valid_bits: u32) -> Self {
        let identity = &capabilities.identity;
        let api = identity.api_version;
        Self {
            device_type: match identity.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
                vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
                vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
                vk::PhysicalDeviceType::CPU => "cpu",
                _ => "other",
            },
            vendor_id: identity.vendor_id,
            device_id: identity.device_id,
            api_version: dotted([
                vk::api_version_major(api),
                vk::api_version_minor(api),
                vk::api_version_patch(api),
            ]),
            conformance_version: dotted(identity.conformance_version),
            device_uuid: uuid(&identity.device_uuid),
            driver_uuid: uuid(&identity.driver_uuid),
            driver: Driver {
                id: format!("{:?}", identity.driver_id),
                name: identity.driver_name.clone(),
                info: identity.driver_info.clone(),
                version: driver_version(identity.driver_id, identity.driver_version),
            },
            subgroups: Subgroups {
                size: capabilities.subgroup_size,
                min_size: capabilities.min_subgroup_size,
                max_size: capabilities.max_subgroup_size,
                max_per_workgroup: Some(capabilities.max_workgroup_subgroups)
                    .filter(|count| *count < u32::MAX),
                operations: OPERATIONS
                    .iter()
                    .filter(|(flag, _)| capabilities.subgroup_operations.contains(*flag))
                    .map(|(_, name)| *name)
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
            features: None,
            policies: None,
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

/// `driverVersion` in the numbers that its vendor would give. Most drivers pack it as Vulkan packs its own.
fn driver_version(driver: vk::DriverId, packed: u32) -> String {
    match driver {
        vk::DriverId::NVIDIA_PROPRIETARY => {
            let numbers = [packed >> 22, packed >> 14 & 0xff, packed >> 6 & 0xff, packed & 0x3f];
            // NVIDIA writes two digits after the first number, and no last numbers that are 0.
            match numbers {
                [major, minor, 0, 0] => format!("{major}.{minor:02}"),
                [major, minor, patch, 0] => format!("{major}.{minor:02}.{patch:02}"),
                numbers => dotted(numbers),
            }
        }
        vk::DriverId::INTEL_PROPRIETARY_WINDOWS => dotted([packed >> 14, packed & 0x3fff]),
        _ => dotted([packed >> 22, packed >> 12 & 0x3ff, packed & 0xfff]),
    }
}

fn dotted<T: Display>(numbers: impl IntoIterator<Item = T>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(".")
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use subsweep::Error;
    use subsweep::headless::Candidate;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn a_uuid_is_written_in_groups() {
        let bytes = std::array::from_fn(|at| at as u8 * 17);
        assert_eq!(uuid(&bytes), "00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn driver_versions_are_unpacked_as_their_vendors_pack_them() {
        for (driver, packed, version) in [
            (vk::DriverId::NVIDIA_PROPRIETARY, 550 << 22 | 54 << 14 | 14 << 6, "550.54.14"),
            (vk::DriverId::NVIDIA_PROPRIETARY, 535 << 22 | 104 << 14 | 5 << 6, "535.104.05"),
            (vk::DriverId::NVIDIA_PROPRIETARY, 531 << 22 | 9 << 14, "531.09"),
            (vk::DriverId::NVIDIA_PROPRIETARY, 470 << 22 | 62 << 14 | 6 << 6 | 1, "470.62.6.1"),
            (vk::DriverId::INTEL_PROPRIETARY_WINDOWS, 101 << 14 | 5186, "101.5186"),
            (vk::DriverId::MESA_RADV, 25 << 22 | 1 << 12 | 7, "25.1.7"),
        ] {
            assert_eq!(driver_version(driver, packed), version);
        }
    }

    #[test]
    fn a_device_below_the_floor_is_reported_with_what_it_lacks() {
        let missing = Error::MissingFeature { device: "Old GPU".into(), missing: "Vulkan 1.2".into() };
        let candidate = Candidate {
            physical_device: vk::PhysicalDevice::null(),
            capabilities: None,
            name: "Old GPU".into(),
            timestamp_valid_bits: 0,
            requirements: Err(missing),
        };
        let common = Cli::parse_from(["subsweep", "devices"]).common;
        let report = DeviceReport::new(&Numbered { index: 3, candidate }, &common);
        assert_eq!(
            serde_json::to_value(&report).unwrap(),
            serde_json::json!({
                "index": 3, "name": "Old GPU", "usable": false, "reason": "it lacks Vulkan 1.2"
            })
        );
    }
}
