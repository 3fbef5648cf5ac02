//! Configuration of a gather plan, and the memory of a recording.

use super::Gather;
use super::policy::GatherPolicy;
use crate::device::{AddressRange, BufferRange};
use crate::error::{Result, in_range};
use crate::primitives::plan::{Buffers, Config};
use crate::primitives::{Count, ScratchRequirements, check_disjoint};

/// Configuration of a [`GatherPlan`](super::GatherPlan).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatherConfig {
    words_per_element: u32,
    pub(super) has_indirect_count: bool,
    pub(super) policy: Option<GatherPolicy>,
}

impl GatherConfig {
    /// Maximum size of an element, words: 1 GiB.
    pub const MAX_WORDS: u32 = 1 << 28;

    /// Elements of `words_per_element` 32-bit words, 1 to [`Self::MAX_WORDS`]: numbers, rows of a table, or any structs
    /// of a multiple of 4 bytes.
    pub const fn elements(words_per_element: u32) -> Self {
        Self { words_per_element, has_indirect_count: false, policy: None }
    }

    /// Supports indirect counts, [`Count::Indirect`](crate::Count::Indirect), which need scratch.
    pub const fn indirect_count(mut self) -> Self {
        self.has_indirect_count = true;
        self
    }

    /// Sets the policy; by default that of [`GatherPolicy::choose`].
    pub const fn policy(mut self, policy: GatherPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Size of an element, words.
    pub const fn words_per_element(&self) -> u32 {
        self.words_per_element
    }

    /// Size of an element, bytes.
    pub const fn element_size(&self) -> u64 {
        self.words_per_element as u64 * 4
    }

    pub(super) fn check(&self) -> Result<()> {
        in_range("words per element of a gather", self.words_per_element, 1..=Self::MAX_WORDS)
    }
}

impl Config for GatherConfig {
    type Primitive = Gather;

    fn has_indirect_count(&self) -> bool {
        self.has_indirect_count
    }
}

/// The memory of one recording.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GatherBuffers {
    /// Source elements: as many whole elements as the range holds.
    pub source: AddressRange,
    /// Indices into `source`, u32.
    pub indices: AddressRange,
    /// Gathered elements.
    pub destination: AddressRange,
    /// Scratch of [`GatherPlan::scratch_requirements`](super::GatherPlan::scratch_requirements).
    pub scratch: BufferRange,
}

impl GatherBuffers {
    /// Buffers without scratch, which only indirect counts need.
    pub fn new(source: AddressRange, indices: AddressRange, destination: AddressRange) -> Self {
        Self { source, indices, destination, scratch: BufferRange::NONE }
    }

    /// Sets the scratch.
    pub const fn scratch(mut self, scratch: BufferRange) -> Self {
        self.scratch = scratch;
        self
    }
}

impl Buffers<Gather> for GatherBuffers {
    fn checked(&self, config: &GatherConfig, count: Count, scratch: ScratchRequirements) -> Result<Self> {
        let scratch = match count {
            Count::Direct(_) => ScratchRequirements::new(0),
            Count::Indirect { .. } => scratch,
        };
        let indirect = count.checked_indirect("the count")?;
        let (count, element_size) = (count.max(), config.element_size());
        let source = AddressRange::new(self.source.address, self.source.size / element_size * element_size);
        let source = source.prefix("source", source.size)?.aligned("source", 4)?;
        let indices = self.indices.prefix("indices", count.saturating_mul(4))?.aligned("indices", 4)?;
        let destination = self.destination.prefix("destination", count.saturating_mul(element_size))?;
        let destination = destination.aligned("destination", 4)?;
        let scratch = scratch.check(self.scratch)?;
        let written = [("destination", destination), ("scratch", scratch.addresses())];
        for read in [("source", source), ("indices", indices), ("the count", indirect)] {
            check_disjoint(read, &written)?;
        }
        check_disjoint(written[0], &written[1..])?;
        Ok(Self { source, indices, destination, scratch })
    }
}
