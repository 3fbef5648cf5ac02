//! What a caller says to a sort: the configuration of a plan, and the memory of a recording.

use super::policy::SortPolicy;
use crate::error::{Error, Result};
use crate::primitives::{ElementType, ScratchRequirements};
use crate::vk::{AddressRange, BufferRange};

/// What a [`SortPlan`](super::SortPlan) is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortConfig {
    pub(super) key: ElementType,
    pub(super) begin_bit: u32,
    pub(super) end_bit: u32,
    pub(super) policy: Option<SortPolicy>,
}

impl SortConfig {
    /// Keys alone, ascending, by all of their bits. A plan takes u32 alone so far.
    pub const fn keys(key: ElementType) -> Self {
        Self { key, begin_bit: 0, end_bit: key.bits(), policy: None }
    }

    /// Only by the bits in `range`, the lowest being bit 0. Fewer bits are fewer passes.
    pub const fn bits(mut self, range: std::ops::Range<u32>) -> Self {
        self.begin_bit = range.start;
        self.end_bit = range.end;
        self
    }

    /// With this policy, not the one that [`SortPolicy::choose`] would take.
    pub const fn policy(mut self, policy: SortPolicy) -> Self {
        self.policy = Some(policy);
        self
    }
}

/// The memory of one recording.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SortBuffers {
    /// The keys, before and after.
    pub keys: AddressRange,
    /// As [`SortPlan::scratch_requirements`](super::SortPlan::scratch_requirements) says.
    pub scratch: BufferRange,
}

impl SortBuffers {
    /// Keys that are sorted where they are.
    pub const fn new(keys: AddressRange, scratch: BufferRange) -> Self {
        Self { keys, scratch }
    }

    /// The same memory, cut to what `count` keys take, if it will do.
    pub(super) fn checked(&self, count: u64, scratch: ScratchRequirements) -> Result<Self> {
        let keys = self.keys.prefix("keys", count * 4)?.aligned("keys", 4)?;
        let scratch = scratch.check(self.scratch)?;
        if scratch.addresses().overlaps(&keys) {
            return Err(Error::Overlap { first: "keys", second: "scratch" });
        }
        Ok(Self { keys, scratch })
    }
}
