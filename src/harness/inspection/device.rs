//! What `inspect --json` writes of a device, and reading it back.

use serde::{Deserialize, Serialize};

use super::Inspection;
use crate::harness::{Description, ReportError};

/// One device. The fields' names are those of `--json`: a promise to scripts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedDevice {
    /// What `--device` takes; 0 of a compile-only GPU.
    pub index: usize,
    /// What `--device gpu:` takes, for a compile-only GPU.
    #[serde(default)]
    pub gpu: Option<String>,
    /// `deviceName`.
    pub name: String,
    /// Why nothing is told, where it is not.
    pub reason: Option<String>,
    /// Who it is and what it has, where it has Vulkan 1.2.
    #[serde(flatten)]
    pub description: Option<Description>,
    /// What is told.
    #[serde(flatten)]
    pub inspection: Inspection,
}

impl InspectedDevice {
    /// Reads the devices that `inspect --json` wrote, in this build or in an earlier one: fields that it did not have are
    /// null.
    ///
    /// # Errors
    /// [`ReportError::Json`], [`ReportError::NotInspection`].
    pub fn all_from_json(json: &[u8]) -> Result<Vec<Self>, ReportError> {
        serde_json::from_slice(json).map_err(|error| match ReportError::of_parser(error) {
            ReportError::NotReport { what, line, column } => {
                ReportError::NotInspection { what, line, column }
            }
            error => error,
        })
    }

    /// Its name, with the name that `--device` takes where that is no number.
    pub fn title(&self) -> String {
        match &self.gpu {
            Some(gpu) => format!("gpu:{gpu}, {}", self.name.trim()),
            None => self.name.clone(),
        }
    }

    /// Whether both are of one device and driver, whatever their versions.
    pub fn is_like(&self, other: &Self) -> bool {
        if self.gpu.is_some() || other.gpu.is_some() {
            return self.gpu == other.gpu;
        }
        let driver = |one: &Self| one.description.as_ref().map(|it| it.driver.id.clone());
        self.name == other.name && driver(self) == driver(other)
    }
}
