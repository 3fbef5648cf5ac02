//! What a caller says to a segmented sort: the configuration of a plan, and the memory of a recording.

use super::policy::SegmentedSortPolicy;
use crate::device::{AddressRange, BufferRange};
use crate::error::{Error, Result};
use crate::primitives::sort::config::{SortBuffers, SortConfig};
use crate::primitives::{Count, ScratchRequirements, check_apart};

/// What a [`SegmentedSortPlan`](super::SegmentedSortPlan) is to do: a sort, for each segment by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentedSortConfig {
    pub(super) sort: SortConfig,
    pub(super) policy: Option<SegmentedSortPolicy>,
}

impl From<SortConfig> for SegmentedSortConfig {
    fn from(sort: SortConfig) -> Self {
        Self::new(sort)
    }
}

impl SegmentedSortConfig {
    /// `sort` in segments, which no policy of a plain sort goes with.
    pub const fn new(sort: SortConfig) -> Self {
        Self { sort, policy: None }
    }

    /// With this policy, not the one that [`SegmentedSortPolicy::choose`] would take.
    pub const fn policy(mut self, policy: SegmentedSortPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Recordings may take a [`Count::Device`](crate::Count::Device) for the keys, for the segments, or for both; so may
    /// those of a `sort` with [`SortConfig::counts_on_device`].
    pub const fn counts_on_device(mut self) -> Self {
        self.sort = self.sort.counts_on_device();
        self
    }

    /// What is done with each segment.
    pub const fn sort(&self) -> &SortConfig {
        &self.sort
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.sort.policy.is_some() {
            return Err(Error::Unsupported {
                reason: "a segmented sort has policies of its own: leave out that of its SortConfig",
            });
        }
        if self.sort.is_anywhere {
            return Err(Error::Unsupported {
                reason: "the result of a segmented sort is where the keys were",
            });
        }
        if self.sort.has_large_counts {
            return Err(Error::Unsupported {
                reason: "a segmented sort has no wide counts: segments begin at 32-bit places",
            });
        }
        self.sort.check()
    }
}

/// The memory of one recording.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SegmentedSortBuffers {
    /// The keys, before and, but for an argsort, after.
    pub keys: AddressRange,
    /// The values, before and after, or an argsort's places, after; nothing of a sort of keys alone.
    pub values: AddressRange,
    /// Where segments begin, a u32 for each of them, in rising order. A segment ends where the next begins, and the last
    /// with the keys; of two that begin at the same key, the first is empty. Keys before the first are in none.
    pub segments: AddressRange,
    /// As [`SegmentedSortPlan::scratch_requirements`](super::SegmentedSortPlan::scratch_requirements) says.
    pub scratch: BufferRange,
}

impl SegmentedSortBuffers {
    /// Keys that are sorted where they are.
    pub const fn new(keys: AddressRange, segments: AddressRange, scratch: BufferRange) -> Self {
        Self { keys, values: AddressRange::new(0, 0), segments, scratch }
    }

    /// With their values, or where their places are to go.
    pub const fn values(mut self, values: AddressRange) -> Self {
        self.values = values;
        self
    }

    /// The same memory, cut to what `count` keys in `segment_count` segments take, if it will do, also beside counts on
    /// the device.
    pub(super) fn checked(
        &self,
        config: &SortConfig,
        count: Count,
        segment_count: Count,
        scratch: ScratchRequirements,
    ) -> Result<Self> {
        let sort = SortBuffers::new(self.keys, self.scratch).values(self.values);
        let SortBuffers { keys, values, scratch } = sort.checked(config, count, scratch)?;
        let size = segment_count.max().saturating_mul(4);
        let segments = self.segments.prefix("segments", size)?.aligned("segments", 4)?;
        let on_device = segment_count.checked_on_device("the count of segments")?;
        for range in [("keys", keys), ("values", values), ("scratch", scratch.addresses())] {
            check_apart(range, &[("segments", segments), ("the count of segments", on_device)])?;
        }
        Ok(Self { keys, values, segments, scratch })
    }
}
