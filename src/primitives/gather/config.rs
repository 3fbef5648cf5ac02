//! What a caller says to a gather: the configuration of a plan, and the memory of a recording.

use super::policy::GatherPolicy;
use crate::device::{AddressRange, BufferRange};
use crate::error::{Error, Result};
use crate::primitives::{Count, ScratchRequirements, check_apart};

/// What a [`GatherPlan`](super::GatherPlan) is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatherConfig {
    words_per_element: u32,
    pub(super) counts_on_device: bool,
    pub(super) policy: Option<GatherPolicy>,
}

impl GatherConfig {
    /// The most words of an element: 1 GiB.
    pub const MAX_WORDS: u32 = 1 << 28;

    /// Elements of so many words of 32 bits, at most [`Self::MAX_WORDS`]: a number, a row of a table, or anything else
    /// whose size is a multiple of 4 bytes.
    pub const fn elements(words_per_element: u32) -> Self {
        Self { words_per_element, counts_on_device: false, policy: None }
    }

    /// Recordings may take a [`Count::Device`](crate::Count::Device), for which they need scratch.
    pub const fn counts_on_device(mut self) -> Self {
        self.counts_on_device = true;
        self
    }

    /// With this policy, not the one that [`GatherPolicy::choose`] would take.
    pub const fn policy(mut self, policy: GatherPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Words of an element.
    pub const fn words_per_element(&self) -> u32 {
        self.words_per_element
    }

    /// Bytes of an element.
    pub const fn element_size(&self) -> u64 {
        self.words_per_element as u64 * 4
    }

    pub(super) fn check(&self) -> Result<()> {
        if (1..=Self::MAX_WORDS).contains(&self.words_per_element) {
            return Ok(());
        }
        Err(Error::Unsupported { reason: "a gather takes elements of 1 to 2^28 words" })
    }
}

/// The memory of one recording.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GatherBuffers {
    /// What is gathered from: as many whole elements as the range holds.
    pub source: AddressRange,
    /// Which element of the source comes where, u32.
    pub indices: AddressRange,
    /// Where they go.
    pub destination: AddressRange,
    /// As [`GatherPlan::scratch_requirements`](super::GatherPlan::scratch_requirements) says.
    pub scratch: BufferRange,
}

impl GatherBuffers {
    /// From one range to another, with no scratch: it takes some for counts on the device alone.
    pub fn new(source: AddressRange, indices: AddressRange, destination: AddressRange) -> Self {
        Self { source, indices, destination, scratch: BufferRange::NONE }
    }

    /// With scratch.
    pub const fn scratch(mut self, scratch: BufferRange) -> Self {
        self.scratch = scratch;
        self
    }

    /// The same memory, cut to what `count` elements take, if it will do.
    pub(super) fn checked(
        &self,
        config: &GatherConfig,
        count: Count,
        scratch: ScratchRequirements,
    ) -> Result<Self> {
        let on_device = count.checked_on_device("the count")?;
        let (count, element_size) = (count.max(), config.element_size());
        let source = AddressRange::new(self.source.address, self.source.size / element_size * element_size);
        let source = source.prefix("source", source.size)?.aligned("source", 4)?;
        let indices = self.indices.prefix("indices", count.saturating_mul(4))?.aligned("indices", 4)?;
        let destination = self.destination.prefix("destination", count.saturating_mul(element_size))?;
        let destination = destination.aligned("destination", 4)?;
        let scratch = scratch.check(self.scratch)?;
        let written = [("destination", destination), ("scratch", scratch.addresses())];
        for read in [("source", source), ("indices", indices), ("the count", on_device)] {
            check_apart(read, &written)?;
        }
        check_apart(written[0], &written[1..])?;
        Ok(Self { source, indices, destination, scratch })
    }
}
