//! What is told about a device. The fields' names are those of `--json`: a promise to scripts.

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

/// One device.
#[derive(Debug, Serialize)]
pub struct DeviceReport {
    /// What `--device` takes; 0 of a compile-only GPU.
    pub index: usize,
    /// What `--device gpu:` takes, for a compile-only GPU.
    pub gpu: Option<&'static str>,
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
    /// Who it is and what it has.
    #[serde(flatten)]
    pub description: Description,
    /// Whether it keeps the rules that every kernel stands on, where it is usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_test: Option<String>,
    /// How it would be used, for a usable device.
    pub policies: Option<Policies>,
}

/// The policies that `--algorithm` and `--policy` lead to.
#[derive(Debug, Serialize)]
pub struct Policies {
    /// Of a scan of single numbers, which may be in place.
    pub scan: Policy,
    /// Of one that is promised never to be.
    pub scan_out_of_place: Policy,
    /// Of a scan of u64.
    pub scan_u64: Policy,
    /// Of a sort of u32 keys.
    pub sort: Policy,
    /// Of u32 keys with values of 4 bytes.
    pub sort_pairs: Policy,
    /// Of u64 keys.
    pub sort_u64: Policy,
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
                    scan: scan(ScanConfig::inclusive()),
                    scan_out_of_place: scan(ScanConfig::inclusive().out_of_place()),
                    scan_u64: scan(ScanConfig::inclusive().element(ElementType::U64)),
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
                    // A compile-only GPU would run nothing of it.
                    self_test: (is_usable && device.gpu.is_none()).then(|| self_test(candidate)),
                    policies: is_usable.then(policies),
                }
            }),
        }
    }
}

impl DeviceReport {
    /// Of a compile-only GPU of which nothing but the reason is known.
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
