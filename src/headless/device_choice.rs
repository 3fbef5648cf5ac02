//! Selection of a device.

use std::fmt;
use std::str::FromStr;

use super::instance::Candidate;
use crate::error::{Error, Result};

/// Selector of a device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DeviceSelector {
    /// The best suitable device: the first of the list.
    #[default]
    Best,
    /// By index in the list.
    Index(usize),
    /// By a part of its name, case-insensitive.
    Name(String),
    /// By a prefix of its `deviceUUID` in hexadecimal digits.
    Uuid(String),
    /// By a part of its driver's name, case-insensitive.
    Driver(String),
}

impl FromStr for DeviceSelector {
    type Err = std::convert::Infallible;

    /// Parses `INDEX`, `NAME`, `uuid:…` or `driver:…`, ignoring surrounding white space. A blank selector matches no
    /// device.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        Ok(if let Some(uuid) = text.strip_prefix("uuid:") {
            Self::Uuid(uuid.trim().to_lowercase().replace('-', ""))
        } else if let Some(driver) = text.strip_prefix("driver:") {
            Self::Driver(driver.trim().to_lowercase())
        } else if let Ok(index) = text.parse() {
            Self::Index(index)
        } else {
            Self::Name(text.to_lowercase())
        })
    }
}

impl fmt::Display for DeviceSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Best => write!(f, "best"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "{name}"),
            Self::Uuid(uuid) => write!(f, "uuid:{uuid}"),
            Self::Driver(driver) => write!(f, "driver:{driver}"),
        }
    }
}

impl DeviceSelector {
    /// Index of the first matching candidate.
    ///
    /// # Errors
    /// [`Error::NoDevice`], [`Error::NoMatchingDevice`].
    pub fn position(&self, candidates: &[Candidate]) -> Result<usize> {
        if candidates.is_empty() {
            return Err(Error::NoDevice);
        }
        let matching =
            candidates.iter().enumerate().position(|(index, candidate)| self.matches(index, candidate));
        matching.ok_or_else(|| {
            let found = candidates.iter().enumerate();
            let found: Vec<_> =
                found.map(|(index, candidate)| format!("{index} ({})", candidate.name())).collect();
            Error::NoMatchingDevice { wanted: self.to_string(), found: found.join(", ") }
        })
    }

    fn matches(&self, index: usize, candidate: &Candidate) -> bool {
        let identity = candidate.capabilities().map(|capabilities| &capabilities.identity);
        match self {
            // The list is sorted best first.
            Self::Best => true,
            Self::Index(wanted) => *wanted == index,
            Self::Name(wanted) => contains(candidate.name(), wanted),
            Self::Uuid(wanted) => identity.is_some_and(|identity| {
                let uuid = identity.device_uuid_text().replace('-', "");
                !wanted.is_empty() && uuid.starts_with(wanted)
            }),
            Self::Driver(wanted) => identity.is_some_and(|identity| contains(&identity.driver_name, wanted)),
        }
    }

    /// Whether the selector is blank and matches no device.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Best | Self::Index(_) => false,
            Self::Name(text) | Self::Uuid(text) | Self::Driver(text) => text.trim().is_empty(),
        }
    }
}

/// Whether `text` contains `wanted`, which is in lower case; false for a blank `wanted`.
fn contains(text: &str, wanted: &str) -> bool {
    !wanted.trim().is_empty() && text.to_lowercase().contains(wanted)
}

#[cfg(test)]
mod tests;
