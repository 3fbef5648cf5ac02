//! What a caller says to a scan: the configuration of a plan, and the memory of a recording.

use super::policy::ScanPolicy;
use crate::error::{Error, Result};
use crate::primitives::ScratchRequirements;
use crate::vk::{AddressRange, BufferRange};

/// Whether an element's sum counts the element itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// It does.
    Inclusive,
    /// It does not: the first result is 0.
    Exclusive,
}

/// What a [`ScanPlan`](super::ScanPlan) is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanConfig {
    pub(super) kind: ScanKind,
    pub(super) columns: u32,
    pub(super) policy: Option<ScanPolicy>,
}

impl ScanConfig {
    /// The most columns that a row may have.
    pub const MAX_COLUMNS: u32 = 4;

    /// A scan of `kind` over single numbers.
    pub const fn new(kind: ScanKind) -> Self {
        Self { kind, columns: 1, policy: None }
    }

    /// An inclusive scan over single numbers.
    pub const fn inclusive() -> Self {
        Self::new(ScanKind::Inclusive)
    }

    /// An exclusive scan over single numbers.
    pub const fn exclusive() -> Self {
        Self::new(ScanKind::Exclusive)
    }

    /// Over rows of `columns` numbers, 1 to 4, each column for itself.
    pub const fn columns(mut self, columns: u32) -> Self {
        self.columns = columns;
        self
    }

    /// With this policy, not the one that [`ScanPolicy::choose`] would take.
    pub const fn policy(mut self, policy: ScanPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Bytes of an element.
    pub const fn element_size(&self) -> u64 {
        self.columns as u64 * 4
    }
}

/// The memory of one recording.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ScanBuffers {
    /// What is scanned.
    pub source: AddressRange,
    /// Where the sums go; the same range as `source` to scan in place.
    pub destination: AddressRange,
    /// As [`ScanPlan::scratch_requirements`](super::ScanPlan::scratch_requirements) says.
    pub scratch: BufferRange,
}

impl ScanBuffers {
    /// A scan from one range to another.
    pub const fn new(source: AddressRange, destination: AddressRange, scratch: BufferRange) -> Self {
        Self { source, destination, scratch }
    }

    /// A scan over `elements` where they are.
    pub const fn in_place(elements: AddressRange, scratch: BufferRange) -> Self {
        Self::new(elements, elements, scratch)
    }

    /// The same memory, cut to what `count` elements take, if it will do.
    pub(super) fn checked(&self, columns: u32, count: u64, scratch: ScratchRequirements) -> Result<Self> {
        let size = count.checked_mul(u64::from(columns) * 4).ok_or(Error::TooManyElements {
            count,
            max: u64::MAX / (u64::from(columns) * 4),
            what: "64-bit sizes in bytes",
        })?;
        let source = self.source.prefix("source", size)?.aligned("source", 4)?;
        let destination = self.destination.prefix("destination", size)?.aligned("destination", 4)?;
        if source != destination && source.overlaps(&destination) {
            return Err(Error::Overlap { first: "source", second: "destination" });
        }
        let scratch = scratch.check(self.scratch)?;
        for (range, name) in [(source, "source"), (destination, "destination")] {
            if scratch.addresses().overlaps(&range) {
                return Err(Error::Overlap { first: name, second: "scratch" });
            }
        }
        Ok(Self { source, destination, scratch })
    }
}
