//! What is told about a device. The fields' names are those of `--json`: a promise to scripts.

use std::fmt::Display;

use serde::Serialize;
use subsweep::Choice;
use subsweep::ash::vk;
use subsweep::gather::{GatherConfig, GatherPolicy};
use subsweep::harness::SelfTest;
use subsweep::headless::{Candidate, Gpu, WorkOptions};
use subsweep::scan::ScanConfig;
use subsweep::sort::SegmentedSortPolicy;
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
    /// The names of what the driver is known to do wrong.
    pub workarounds: Vec<&'static str>,
    /// Subgroup sizes and operations.
    pub subgroups: Subgroups,
    /// The limits that matter here.
    pub limits: Limits,
    /// Whether it keeps the rules that every kernel stands on, where it is usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_test: Option<String>,
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
    /// `shaderFloat64`.
    pub shader_float64: bool,
}

/// The policies that `--algorithm` and `--policy` lead to.
#[derive(Debug, Serialize)]
pub struct Policies {
    /// Of a scan of single numbers, which may be in place.
    pub scan: Policy,
    /// Of one that is promised never to be.
    pub scan_out_of_place: Policy,
    /// Of a sort.
    pub sort: Policy,
    /// Of a gather of single numbers.
    pub gather: Policy,
    /// Of a sort in segments, which no option leads to.
    pub segmented_sort: Policy,
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
        let requirements = candidate.requirements();
        Self {
            index: device.index,
            name: candidate.name().to_owned(),
            usable: requirements.is_ok(),
            reason: requirements.as_ref().err().map(|error| match error {
                subsweep::Error::MissingFeature { missing, .. } => format!("it lacks {missing}"),
                error => error.to_string(),
            }),
            details: candidate.capabilities().map(|capabilities| {
                let mut details = Details::new(capabilities, candidate.timestamp_valid_bits());
                details.self_test = requirements.is_ok().then(|| self_test(candidate));
                if requirements.is_ok() {
                    details.features = Some(Features {
                        buffer_device_address: true,
                        subgroup_size_control: capabilities.enabled.subgroup_size_control,
                        compute_full_subgroups: capabilities.enabled.compute_full_subgroups,
                        shader_float64: capabilities.enabled.shader_float64,
                    });
                    let scan = |config| Policy::new(policy::of_scan(common, capabilities, &config));
                    details.policies = Some(Policies {
                        scan: scan(ScanConfig::inclusive()),
                        scan_out_of_place: scan(ScanConfig::inclusive().out_of_place()),
                        sort: Policy::new(policy::of_sort(common, capabilities)),
                        segmented_sort: Policy::new(SegmentedSortPolicy::choose(capabilities)),
                        gather: Policy::new(GatherPolicy::choose(capabilities, &GatherConfig::elements(1))),
                    });
                }
                details
            }),
        }
    }
}

/// Opens the device and lets it show that it keeps the rules.
fn self_test(candidate: &Candidate) -> String {
    match Gpu::open_candidate(candidate.clone(), WorkOptions::default()).and_then(|gpu| SelfTest::run(&gpu)) {
        Ok(verdict) => verdict.to_string(),
        Err(error) => format!("could not run: {error}"),
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
            workarounds: capabilities.workarounds.names().collect(),
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
            self_test: None,
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
