//! Condition of a tuning row: devices, lanes, and words of keys or elements and of values.

use crate::device::{Architecture, Capabilities, Generation};

/// Devices that a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Devices {
    /// A generation of an architecture.
    Generation(Generation),
    /// An architecture.
    Architecture(Architecture),
    /// CPU drivers.
    Cpu,
    /// Every device.
    All,
}

impl Devices {
    fn include(self, capabilities: &Capabilities) -> bool {
        match self {
            Self::Generation(generation) => capabilities.generation() == Some(generation),
            Self::Architecture(architecture) => capabilities.architecture() == Some(architecture),
            Self::Cpu => capabilities.is_cpu(),
            Self::All => true,
        }
    }
}

/// Condition of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) devices: Devices,
    /// Maximum lanes of a subgroup where a pipeline requires no size; `None` for any number.
    pub(super) max_lanes: Option<u32>,
    /// Words of a key or element, and of a value; `None` for any number.
    pub(super) words: [Option<u32>; 2],
}

impl Condition {
    pub(super) const fn new(devices: Devices) -> Self {
        Self { devices, max_lanes: None, words: [None; 2] }
    }

    /// Whether it is met by a device, for keys or elements and values of so many words.
    pub(super) fn is_met(&self, capabilities: &Capabilities, words: [u32; 2]) -> bool {
        let has_words = |(row, words): (&Option<u32>, u32)| row.is_none_or(|row| row == words);
        self.devices.include(capabilities)
            && self.max_lanes.is_none_or(|max| capabilities.subgroup_size <= max)
            && self.words.iter().zip(words).all(has_words)
    }
}
