//! Report of a device. The field names are the keys of `--json`, and stable.

use serde::{Serialize, Serializer};
use subsweep::headless::{Candidate, Gpu, WorkOptions};
use subsweep_tool::harness::Description;
use subsweep_tool::harness::gpus::CompileOnlyGpu;

use crate::SHOWN;
use crate::args::Common;
use crate::command::ShownPolicy;
use crate::device::Numbered;

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
    #[serde(serialize_with = "by_key")]
    pub policies: Option<Vec<ShownPolicy>>,
}

fn by_key<S: Serializer>(policies: &Option<Vec<ShownPolicy>>, serializer: S) -> Result<S::Ok, S::Error> {
    match policies {
        Some(policies) => serializer.collect_map(policies.iter().map(|policy| (policy.key, policy))),
        None => serializer.serialize_none(),
    }
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
                let policies =
                    || SHOWN.iter().flat_map(|shown| (shown.policies)(common, capabilities)).collect();
                Details {
                    description,
                    // A compile-only GPU cannot run the self-test.
                    self_test: (is_usable && device.gpu.is_none()).then(|| self_test(candidate)),
                    policies: is_usable.then(policies),
                }
            }),
        }
    }

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
    match Gpu::open_candidate(candidate.clone(), WorkOptions::default()).and_then(|gpu| gpu.self_test()) {
        Ok(verdict) => verdict.to_string(),
        Err(error) => format!("could not run: {error}"),
    }
}
