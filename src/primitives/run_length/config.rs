//! Configuration of run-length encoding and decoding, and the memory of a recording.

use super::RunLength;
use super::policy::RunLengthPolicy;
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{Result, refuse_if};
use crate::primitives::arguments::{Arguments, Role, size_if};
use crate::primitives::packed::{Extent, PackedForm};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::{Count, ElementType, FloatOrder};

/// What a plan computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Coding {
    /// Values and counts of all runs.
    Encode,
    /// Values and counts of runs of more than one element.
    EncodeNonTrivial,
    /// Elements.
    Decode,
}

/// Configuration of a [`RunLengthPlan`](super::RunLengthPlan).
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::run_length::RunLengthConfig;
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let runs = gpu.run_length_encode(RunLengthConfig::encode(ElementType::U32), &[7u32, 7, 8, 7])?;
/// assert_eq!((runs.values::<u32>()?, &runs.counts[..]), (vec![7, 8, 7], &[2, 1, 1][..]));
/// assert_eq!(gpu.run_length_decode(&[7u32, 8, 7], &runs.counts)?, [7, 7, 8, 7]);
///
/// // Runs of more than one element: where they begin, and their counts.
/// let long = RunLengthConfig::encode(ElementType::U32).non_trivial().without_values();
/// let runs = gpu.run_length_encode(long, &[7u32, 8, 8, 8])?;
/// assert_eq!((runs.offsets, runs.counts), (vec![1], vec![3]));
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunLengthConfig {
    pub(super) coding: Coding,
    pub(super) element: ElementType,
    pub(super) order: FloatOrder,
    pub(super) has_values: bool,
    pub(super) has_offsets: bool,
    pub(super) has_large_counts: bool,
    pub(super) has_indirect_count: bool,
    pub(super) policy: Option<RunLengthPolicy>,
}

impl RunLengthConfig {
    const fn new(coding: Coding, element: ElementType) -> Self {
        let (has_values, has_offsets, order) = (true, false, FloatOrder::Numpy);
        let (has_large_counts, has_indirect_count) = (false, false);
        Self {
            coding,
            element,
            order,
            has_values,
            has_offsets,
            has_large_counts,
            has_indirect_count,
            policy: None,
        }
    }

    /// Writes the value and the number of elements of each run of equal ones.
    pub const fn encode(element: ElementType) -> Self {
        Self::new(Coding::Encode, element)
    }

    /// Writes the elements of runs: each value as often as its count says, as `np.repeat` does.
    pub const fn decode(element: ElementType) -> Self {
        Self::new(Coding::Decode, element)
    }

    /// As [`Self::decode`], with the index of its run in place of each value, as u32: to
    /// [gather](crate::gather::GatherPlan) values of any size.
    pub const fn decode_indices() -> Self {
        Self { has_values: false, ..Self::new(Coding::Decode, ElementType::U32) }
    }

    /// Encodes the runs of more than one element alone, which CUB calls non-trivial, and writes their offsets as well.
    pub const fn non_trivial(mut self) -> Self {
        self.has_offsets = true;
        self.coding = match self.coding {
            Coding::Encode | Coding::EncodeNonTrivial => Coding::EncodeNonTrivial,
            Coding::Decode => Coding::Decode,
        };
        self
    }

    /// Writes no values, only counts and offsets. Decodes as [`Self::decode_indices`] does.
    pub const fn without_values(mut self) -> Self {
        self.has_values = false;
        if self.is_decoding() {
            self.element = ElementType::U32;
        }
        self
    }

    setters! {
        /// Writes the index of the first element of each run as well, as u32.
        offsets() => has_offsets = true;
        /// Sets the order of floats, by which elements are equal; by default [`FloatOrder::Numpy`].
        order(order: FloatOrder) => order = order;
        /// Supports encodings of 2^32 elements and more; counts, offsets and the number of runs are u64. Requires
        /// [`RunLengthAlgorithm::Selection`](super::RunLengthAlgorithm). Not for runs of more than one element alone, nor
        /// for values of 8 and 16 bits.
        large_counts() => has_large_counts = true;
        /// Supports indirect counts, [`Count::Indirect`].
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`RunLengthPolicy::choose`] chooses it.
        policy(policy: RunLengthPolicy) => policy = Some(policy);
    }

    /// The type of elements and values; u32 of indices.
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Size of an element, bytes.
    pub const fn element_size(&self) -> u64 {
        self.element.size() as u64
    }

    /// Size of a count, of an offset, and of the number of runs, bytes: 4, with [`Self::large_counts`] 8.
    pub const fn index_size(&self) -> u64 {
        if self.has_large_counts { 8 } else { 4 }
    }

    /// Whether values are written or read.
    pub const fn has_values(&self) -> bool {
        self.has_values
    }

    /// Whether offsets are written.
    pub const fn has_offsets(&self) -> bool {
        self.has_offsets
    }

    /// Whether runs are decoded.
    pub const fn is_decoding(&self) -> bool {
        matches!(self.coding, Coding::Decode)
    }

    /// The same configuration of unpacked elements. Those that are decoded stay as they are: how many fit is not known before
    /// a recording.
    const fn of_unpacked(mut self) -> Self {
        if !self.is_decoding() {
            self.element = self.element.unpacked();
        }
        self
    }

    pub(super) fn check(&self, _: &Capabilities) -> Result<()> {
        let is_large = self.coding == Coding::Encode && !(self.has_values && self.element.is_packed());
        let reason = "large counts are for encodings of all runs, with values of 32 or 64 bits or none";
        refuse_if(self.has_large_counts && !is_large, reason)?;
        let reason = "a decoding of runs writes no offsets; encode them";
        refuse_if(self.is_decoding() && self.has_offsets, reason)
    }
}

configuration!(RunLengthConfig, RunLengthPolicy of RunLength, |config| config.of_unpacked());

/// The memory of one recording. Ranges that the configuration does not use are ignored.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RunLengthBuffers {
    /// The elements. A decoding writes as many as fit, at most 2^32 - 1, or of 8 and 16 bits up to 3 fewer.
    pub elements: AddressRange,
    /// The value of each run. To encode: room for one for each element.
    pub values: AddressRange,
    /// The number of elements of each run, u32, or with [`RunLengthConfig::large_counts`] u64; likewise.
    pub counts: AddressRange,
    /// The index of the first element of each run, of the same size; likewise.
    pub offsets: AddressRange,
    /// The number of runs that an encoding writes, of the same size; of a decoding the number of elements, also if not all fit.
    pub result_count: AddressRange,
    /// Scratch of [`RunLengthPlan::scratch_requirements`](super::RunLengthPlan::scratch_requirements).
    pub scratch: BufferRange,
}

impl RunLengthBuffers {
    /// Elements, and values and counts of their runs.
    pub fn new(
        elements: AddressRange,
        values: AddressRange,
        counts: AddressRange,
        result_count: AddressRange,
        scratch: BufferRange,
    ) -> Self {
        Self { elements, values, counts, offsets: AddressRange::NONE, result_count, scratch }
    }

    /// Sets the memory of the offsets.
    pub const fn offsets(mut self, offsets: AddressRange) -> Self {
        self.offsets = offsets;
        self
    }
}

impl Buffers<RunLength> for RunLengthBuffers {
    fn arguments(
        &mut self,
        config: &RunLengthConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let (max, element_size) = (count.max(), config.element_size());
        let (size, counts_size) = (max.saturating_mul(element_size), max.saturating_mul(config.index_size()));
        let (elements, elements_size, runs) = match config.is_decoding() {
            // As many as fit.
            true => (Role::Write, self.elements.size / element_size * element_size, Role::Read),
            false => (Role::Read, size, Role::Write),
        };
        table.count("count", count)?;
        let form = PackedForm::numbers(config.element);
        table.up_to(form, Extent::new(*count)).addresses(
            "elements",
            elements,
            &mut self.elements,
            elements_size,
        )?;
        let written = Extent::written(self.result_count, max);
        table.up_to(form, written).addresses(
            "values",
            runs,
            &mut self.values,
            size_if(config.has_values, size),
        )?;
        table.addresses("counts", runs, &mut self.counts, counts_size)?;
        table.addresses("offsets", runs, &mut self.offsets, size_if(config.has_offsets, counts_size))?;
        table.write("result_count", &mut self.result_count, config.index_size())?;
        table.scratch(&mut self.scratch)
    }
}
