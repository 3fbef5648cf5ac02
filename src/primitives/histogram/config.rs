//! Configuration of a histogram, and the memory of a recording.

use super::{Histogram, HistogramPolicy};
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{Result, in_range, refuse_if};
use crate::kernels::Kernel;
use crate::primitives::arguments::{Arguments, size_if};
use crate::primitives::packed::{Extent, PackedForm};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::{Count, ElementType, Functions};

/// Configuration of a [`HistogramPlan`](super::HistogramPlan).
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::histogram::{HistogramConfig, even_edges};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let values = [1.0f32, 1.5, 2.0, 2.5, 3.0, 3.5];
/// let edges = even_edges(ElementType::F32, 4, [0.0, 4.0])?;
/// let counts = gpu.histogram(HistogramConfig::even(ElementType::F32, 4), &values, &edges)?;
/// assert_eq!(counts, [0, 2, 2, 2]);
///
/// // Each of two columns in bins of other widths.
/// let columns = HistogramConfig::by_edges(ElementType::F32, 2).columns(2);
/// assert_eq!(gpu.histogram(columns, &values, &[0.0, 2.25, 9.0])?, [2, 1, 1, 2]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HistogramConfig {
    pub(super) element: ElementType,
    pub(super) bins: u32,
    pub(super) is_even: bool,
    pub(super) columns: u32,
    pub(super) is_weighted: bool,
    functions: Option<&'static Functions>,
    pub(super) has_indirect_count: bool,
    pub(super) policy: Option<HistogramPolicy>,
}

impl HistogramConfig {
    /// Maximum number of bins.
    pub const MAX_BINS: u32 = 1 << 16;
    /// Maximum number of columns.
    pub const MAX_COLUMNS: u32 = 1 << 16;
    /// Maximum number of counts, bins times columns: 1 GiB.
    pub const MAX_COUNTS: u32 = 1 << 28;

    /// A histogram of one column of `element` in `bins` bins of equal widths, 1 to [`Self::MAX_BINS`]. A multiplication guesses
    /// the bin, and the edges decide: others than even ones are right as well, and slower. So are values of f64 that f32 hardly
    /// tells apart, such as times with a range of a second.
    pub const fn even(element: ElementType, bins: u32) -> Self {
        Self {
            element,
            bins,
            is_even: true,
            columns: 1,
            is_weighted: false,
            functions: None,
            has_indirect_count: false,
            policy: None,
        }
    }

    /// As [`Self::even`], with bins of any widths: a binary search finds the bin.
    pub const fn by_edges(element: ElementType, bins: u32) -> Self {
        Self { is_even: false, ..Self::even(element, bins) }
    }

    setters! {
        /// Sets the number of columns, 1 to [`Self::MAX_COLUMNS`]: the words of a row. Each has a histogram of its own; all
        /// have the same edges.
        columns(columns: u32) => columns = columns;
        /// Adds weights, u32 or i32, one for each value: a count is the sum of the weights of its bin, modulo 2^32. There are none of
        /// floats, whose sums depend on the order of additions, here another in each run: sort them with the bins that a
        /// [search](crate::search) finds, and [reduce](crate::reduce) by these as keys.
        weighted() => is_weighted = true;
        /// Counts values that a function of the caller computes from elements while they are loaded: `Key key_of(Words element,
        /// uint index, Words data)`, of the type, in one column.
        computed(functions: &'static Functions) => functions = Some(functions);
        /// Supports indirect counts, [`Count::Indirect`], which need scratch.
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`HistogramPolicy::choose`] chooses it.
        policy(policy: HistogramPolicy) => policy = Some(policy);
    }

    /// Type of the values.
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Number of bins.
    pub const fn bins(&self) -> u32 {
        self.bins
    }

    /// The configuration with another number of bins.
    #[cfg(feature = "headless")]
    pub(crate) const fn with_bins(mut self, bins: u32) -> Self {
        self.bins = bins;
        self
    }

    /// Number of columns.
    pub const fn column_count(&self) -> u32 {
        self.columns
    }

    /// Whether it adds weights.
    pub const fn is_weighted(&self) -> bool {
        self.is_weighted
    }

    /// Whether a function of the caller computes the values.
    pub const fn is_computed(&self) -> bool {
        self.functions.is_some()
    }

    /// The kernel, or in its place that with functions.
    pub(super) fn kernel(&self, kernel: &'static Kernel) -> Result<&'static Kernel> {
        Functions::kernel_with(self.functions, kernel)
    }

    /// Size of a row, bytes; of the element that its value is computed from.
    pub const fn row_size(&self) -> u64 {
        match self.functions {
            Some(functions) => functions.element_size(),
            None => self.columns as u64 * self.element.size() as u64,
        }
    }

    /// Size of the counts of all columns, bytes.
    pub const fn counts_size(&self) -> u64 {
        (self.columns as u64 * self.bins as u64).saturating_mul(4)
    }

    /// Words of a value in kernels.
    pub(super) const fn value_words(&self) -> u32 {
        self.element.words()
    }

    /// Size of the weights of a row, bytes.
    pub(super) const fn weights_size(&self) -> u64 {
        size_if(self.is_weighted, self.columns as u64 * 4)
    }

    pub(crate) fn check(&self, _: &Capabilities) -> Result<()> {
        in_range("bins of a histogram", self.bins, 1..=Self::MAX_BINS)?;
        in_range("columns of a histogram", self.columns, 1..=Self::MAX_COLUMNS)?;
        Functions::check_keys(self.functions, self.element)?;
        let reason = "functions compute the values of one column; make a histogram for each";
        refuse_if(self.is_computed() && self.columns > 1, reason)?;
        // The product of the maximums, 2^32, is beyond 32 bits.
        let counts = u32::try_from(self.counts_size() / 4).unwrap_or(u32::MAX);
        in_range("counts of a histogram, bins times columns", counts, 1..=Self::MAX_COUNTS)
    }
}

configuration!(
    HistogramConfig,
    HistogramPolicy of Histogram,
    |config| Self { element: config.element.unpacked(), ..*config }
);

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct HistogramBuffers {
    /// Rows of values.
    pub source: AddressRange,
    /// Edges of the bins, one more than bins, of the type of the values, unpacked, as [`edge_words`](super::edge_words) makes them.
    pub edges: AddressRange,
    /// The weight of each value, for a plan with [`HistogramConfig::weighted`].
    pub weights: AddressRange,
    /// Counts, u32, or sums of weights: all bins of the first column, then the bins of the next.
    pub counts: AddressRange,
    /// Scratch of [`HistogramPlan::scratch_requirements`](super::HistogramPlan::scratch_requirements).
    pub scratch: BufferRange,
    /// What a function of the caller reads besides, if it does.
    pub functions_data: AddressRange,
}

impl HistogramBuffers {
    /// Buffers without scratch, which indirect counts need.
    pub fn new(source: AddressRange, edges: AddressRange, counts: AddressRange) -> Self {
        Self { source, edges, counts, ..Self::default() }
    }

    setters! {
        /// Sets the weights.
        weights(weights: AddressRange) => weights = weights;
        /// Sets the scratch.
        scratch(scratch: BufferRange) => scratch = scratch;
        /// Sets the data of a function of the caller.
        functions_data(data: AddressRange) => functions_data = data;
    }
}

impl Buffers<Histogram> for HistogramBuffers {
    fn arguments(
        &mut self,
        config: &HistogramConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let reason = "the plan takes no weights; make it with weighted";
        refuse_if(!config.is_weighted && self.weights.size > 0, reason)?;
        table.count("count", count)?;
        let form = PackedForm::numbers(config.element);
        table.up_to(form, Extent::new(*count).rows(config.columns, 0)).read(
            "source",
            &mut self.source,
            count.max().saturating_mul(config.row_size()),
        )?;
        let edge_size = u64::from(config.element.words()) * 4;
        table.read("edges", &mut self.edges, (u64::from(config.bins) + 1) * edge_size)?;
        table.read("weights", &mut self.weights, count.max().saturating_mul(config.weights_size()))?;
        Functions::read_data(config.functions, &mut self.functions_data, table)?;
        table.write("counts", &mut self.counts, config.counts_size())?;
        table.scratch_if(count.is_indirect(), &mut self.scratch)
    }
}
