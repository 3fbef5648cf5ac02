//! A device in `inspect --json`: written and read back.

use serde::{Deserialize, Serialize};

use super::Inspection;
use crate::harness::{Description, ReportError};

/// A device. The field names are the keys of `--json`, and stable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedDevice {
    /// The index that `--device` takes; 0 for a compile-only GPU.
    pub index: usize,
    /// The name that `--device gpu:` takes, for a compile-only GPU.
    #[serde(default)]
    pub gpu: Option<String>,
    /// `deviceName`.
    pub name: String,
    /// The reason of a missing inspection.
    pub reason: Option<String>,
    /// Identity, limits and features, for a device with Vulkan 1.2.
    #[serde(flatten)]
    pub description: Option<Description>,
    /// The inspection.
    #[serde(flatten)]
    pub inspection: Inspection,
}

impl InspectedDevice {
    /// Parses the output of `inspect --json` of this build or an earlier one; missing fields become null.
    ///
    /// # Errors
    /// [`ReportError::Json`], [`ReportError::NotInspection`].
    pub fn all_from_json(json: &[u8]) -> Result<Vec<Self>, ReportError> {
        serde_json::from_slice(json).map_err(|error| match ReportError::of_parser(error) {
            ReportError::NotReport(problem) => ReportError::NotInspection(problem),
            error => error,
        })
    }

    /// The device's name, after `gpu:NAME` for a compile-only GPU.
    pub fn title(&self) -> String {
        match &self.gpu {
            Some(gpu) => format!("gpu:{gpu}, {}", self.name.trim()),
            None => self.name.clone(),
        }
    }

    /// Whether both are the same device with the same driver, of any version.
    pub fn is_like(&self, other: &Self) -> bool {
        if self.gpu.is_some() || other.gpu.is_some() {
            return self.gpu == other.gpu;
        }
        let driver = |one: &Self| one.description.as_ref().map(|it| it.driver.id.clone());
        self.name == other.name && driver(self) == driver(other)
    }
}
