//! Report of a device. The field names are those of `--json`, and stable.

use std::fmt::Display;

use serde::Serialize;
use subsweep::gather::{GatherConfig, GatherPolicy};
use subsweep::harness::gpus::CompileOnlyGpu;
use subsweep::harness::{Description, SelfTest};
use subsweep::headless::{Candidate, Gpu, WorkOptions};
use subsweep::scan::ScanConfig;
use subsweep::sort::{SegmentedSortPolicy, SortConfig, ValueSize};
use subsweep::{Choice, ElementType};

use crate::args::Common;
use crate::device::Numbered;
use crate::policy;

/// Report of one device.
#[derive(Debug, Serialize)]
pub struct DeviceReport {
    /// The index that `--device` takes; 0 for a compile-only GPU.
    pub index: usize,
    /// The name that `--device gpu:` takes, for a compile-only GPU.
    pub gpu: Option<&'static str>,
    /// `deviceName`.
    pub name: String,
    /// Whether the device can run the kernels.
    pub usable: bool,
    /// The missing requirement of an unusable device.
    pub reason: Option<String>,
    /// Details of a device with Vulkan 1.2.
    #[serde(flatten)]
    pub details: Option<Details>,
}

/// Details of a device with Vulkan 1.2.
#[derive(Debug, Serialize)]
pub struct Details {
    /// Identity, limits and features.
    #[serde(flatten)]
    pub description: Description,
    /// The verdict of the self-test, for a usable device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_test: Option<String>,
    /// The policies, for a usable device.
    pub policies: Option<Policies>,
}

/// The policies selected by `--algorithm` and `--policy`.
#[derive(Debug, Serialize)]
pub struct Policies {
    /// A scan of single elements, which may be in place.
    pub scan: Policy,
    /// A scan that is never in place.
    pub scan_out_of_place: Policy,
    /// A scan of u64.
    pub scan_u64: Policy,
    /// A sort of u32 keys.
    pub sort: Policy,
    /// A sort of u32 keys with values of 4 bytes.
    pub sort_pairs: Policy,
    /// A sort of u64 keys.
    pub sort_u64: Policy,
    /// A gather of single elements.
    pub gather: Policy,
    /// A segmented sort; no option changes its policy.
    pub segmented_sort: Policy,
}

/// A policy as text.
#[derive(Debug, Serialize)]
pub struct Policy {
    /// The policy.
    pub policy: String,
    /// The reason of the choice.
    pub reason: &'static str,
}

impl DeviceReport {
    /// Report of a device with the policies that the options select.
    pub fn new(device: &Numbered, common: &Common) -> Self {
        let candidate = &device.candidate;
        let requirements = candidate.requirements();
        Self {
            index: device.index,
            gpu: device.gpu.map(|gpu| gpu.name),
            name: candidate.name().to_owned(),
            usable: requirements.is_ok(),
            reason: requirements.as_ref().err().map(|error| match error {
                subsweep::Error::MissingFeature { missing, .. } => format!("it lacks {missing}"),
                error => error.to_string(),
            }),
            details: device.description().zip(candidate.capabilities()).map(|(description, capabilities)| {
                let is_usable = requirements.is_ok();
                let scan = |config| Policy::new(policy::of_scan(common, capabilities, &config));
                let sort = |config| Policy::new(policy::of_sort(common, capabilities, &config));
                let policies = || Policies {
                    scan: scan(ScanConfig::inclusive(ElementType::U32)),
                    scan_out_of_place: scan(ScanConfig::inclusive(ElementType::U32).out_of_place()),
                    scan_u64: scan(ScanConfig::inclusive(ElementType::U64)),
                    sort: sort(SortConfig::keys(ElementType::U32)),
                    sort_pairs: sort(SortConfig::pairs(ElementType::U32, ValueSize::B4)),
                    sort_u64: sort(SortConfig::keys(ElementType::U64)),
                    segmented_sort: Policy::new(SegmentedSortPolicy::choose(
                        capabilities,
                        &SortConfig::keys(ElementType::U32).into(),
                    )),
                    gather: Policy::new(GatherPolicy::choose(capabilities, &GatherConfig::elements(1))),
                };
                Details {
                    description,
                    // A compile-only GPU cannot run the self-test.
                    self_test: (is_usable && device.gpu.is_none()).then(|| self_test(candidate)),
                    policies: is_usable.then(policies),
                }
            }),
        }
    }
}

impl DeviceReport {
    /// Report of a compile-only GPU that could not be inspected.
    pub fn refused(gpu: &'static CompileOnlyGpu, reason: &str) -> Self {
        Self {
            index: 0,
            gpu: Some(gpu.name),
            name: gpu.what.to_owned(),
            usable: false,
            reason: Some(reason.to_owned()),
            details: None,
        }
    }
}

/// Opens the device and runs its self-test.
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
