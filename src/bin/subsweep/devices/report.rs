//! What is told about a device. The fields' names are those of `--json`: a promise to scripts.

use std::fmt::Display;

use serde::Serialize;
use subsweep::gather::{GatherConfig, GatherPolicy};
use subsweep::harness::{Description, SelfTest};
use subsweep::headless::{Candidate, Gpu, WorkOptions};
use subsweep::scan::ScanConfig;
use subsweep::sort::{SegmentedSortPolicy, SortConfig};
use subsweep::{Choice, ElementType};

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
            details: device.description().zip(candidate.capabilities()).map(|(description, capabilities)| {
                let is_usable = requirements.is_ok();
                let scan = |config| Policy::new(policy::of_scan(common, capabilities, &config));
                let policies = || Policies {
                    scan: scan(ScanConfig::inclusive()),
                    scan_out_of_place: scan(ScanConfig::inclusive().out_of_place()),
                    sort: Policy::new(policy::of_sort(
                        common,
                        capabilities,
                        &SortConfig::keys(ElementType::U32),
                    )),
                    segmented_sort: Policy::new(SegmentedSortPolicy::choose(
                        capabilities,
                        &SortConfig::keys(ElementType::U32).into(),
                    )),
                    gather: Policy::new(GatherPolicy::choose(capabilities, &GatherConfig::elements(1))),
                };
                Details {
                    description,
                    self_test: is_usable.then(|| self_test(candidate)),
                    policies: is_usable.then(policies),
                }
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
