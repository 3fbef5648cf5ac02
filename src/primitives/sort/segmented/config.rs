//! Configuration of a segmented sort plan, and the memory of a recording.

use super::SegmentedSort;
use super::policy::SegmentedSortPolicy;
use crate::device::{AddressRange, Capabilities};
use crate::error::{Result, in_range, refuse_if};
use crate::primitives::CountPair;
use crate::primitives::arguments::{Arguments, Role, size_if};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::sort::config::{SortBuffers, SortConfig};

/// Configuration of a [`SegmentedSortPlan`](super::SegmentedSortPlan), which sorts each segment independently.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::sort::{SegmentedSortConfig, SortConfig};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let config = SegmentedSortConfig::new(SortConfig::keys(ElementType::U32));
/// // Two keys, none, and the others.
/// let mut lists = [3u32, 2, 9, 1, 4];
/// gpu.segmented_sort(config, &mut lists, &[0, 2, 2])?;
/// assert_eq!(lists, [2, 3, 1, 4, 9]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentedSortConfig {
    pub(super) sort: SortConfig,
    pub(super) row_length: Option<u32>,
    /// Whether segments have ends of their own.
    pub(super) has_ends: bool,
    /// Whether indices are those within a row.
    has_row_indices: bool,
    pub(super) policy: Option<SegmentedSortPolicy>,
}

impl From<SortConfig> for SegmentedSortConfig {
    fn from(sort: SortConfig) -> Self {
        Self::new(sort)
    }
}

impl SegmentedSortConfig {
    /// A segmented `sort`, which must have no policy. The result of a [double buffer](SortConfig::double_buffer) is always
    /// in the primary one.
    pub const fn new(sort: SortConfig) -> Self {
        Self { sort, row_length: None, has_ends: false, has_row_indices: false, policy: None }
    }

    /// Sorts along the rows of a table of `length` columns, 1 or more, as segments of so many keys: there are no
    /// [`segments`](SegmentedSortBuffers::segments). Counts are of keys and of rows; of rows as many are sorted as the keys fill,
    /// and other keys are in none. Indices, such as an argsort's, are indices within a row, so that results equal
    /// `np.sort` and `np.argsort(table, axis=1, kind='stable')`. Of the kernels, only those for this length are compiled.
    ///
    #[doc = example!()]
    /// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
    /// use subsweep::sort::{SegmentedSortConfig, SortConfig};
    ///
    /// let gpu = Gpu::open(GpuOptions::default())?;
    /// let rows_of_three = |sort| SegmentedSortConfig::new(sort).along_rows(3);
    /// let mut table = [3u32, 2, 9, 8, 1, 4];
    /// let argsort = rows_of_three(SortConfig::argsort(ElementType::U32));
    /// assert_eq!(gpu.segmented_argsort(argsort, &table, &[])?, [1, 0, 2, 1, 2, 0]);
    /// gpu.segmented_sort(rows_of_three(SortConfig::keys(ElementType::U32)), &mut table, &[])?;
    /// assert_eq!(table, [2, 3, 9, 1, 4, 8]);
    /// # Ok::<(), subsweep::Error>(())
    /// ```
    pub const fn along_rows(mut self, length: u32) -> Self {
        self.row_length = Some(length);
        self.has_row_indices = true;
        self
    }

    setters! {
        /// Segments end where [`SegmentedSortBuffers::segment_ends`] says, not where the next begins: they may be in any order, and
        /// leave out keys, which are in no segment. They do not overlap; one that ends before it begins is empty.
        ///
        #[doc = example!()]
        /// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
        /// use subsweep::sort::{SegmentedSortConfig, SortConfig};
        ///
        /// let gpu = Gpu::open(GpuOptions::default())?;
        /// let config = SegmentedSortConfig::new(SortConfig::keys(ElementType::U32)).ranges();
        /// let mut keys = [3u32, 2, 9, 8, 7, 1];
        /// // From 4 to 6, and from 0 to 2: the begins of all, then their ends.
        /// gpu.segmented_sort(config, &mut keys, &[4, 0, 6, 2])?;
        /// assert_eq!(keys, [2, 3, 9, 8, 1, 7]);
        /// # Ok::<(), subsweep::Error>(())
        /// ```
        ranges() => has_ends = true;
        /// Sets the policy; by default [`SegmentedSortPolicy::choose`] chooses it.
        policy(policy: SegmentedSortPolicy) => policy = Some(policy);
    }

    /// Supports indirect counts, [`Count::Indirect`](crate::Count::Indirect), of keys, segments or both; as does a
    /// `sort` with [`SortConfig::indirect_count`].
    pub const fn indirect_count(mut self) -> Self {
        self.sort = self.sort.indirect_count();
        self
    }

    /// The result replaces the input, whatever the form of the `sort`.
    pub const fn in_place(mut self) -> Self {
        self.sort = self.sort.in_place();
        self
    }

    /// Keys of a row; none of segments by offsets.
    pub const fn row_length(&self) -> Option<u32> {
        self.row_length
    }

    /// Whether segments have [ends](Self::ranges) of their own.
    pub const fn has_ranges(&self) -> bool {
        self.has_ends
    }

    /// The sort of each segment.
    pub const fn sort(&self) -> &SortConfig {
        &self.sort
    }

    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        let reason = "a segmented sort has policies of its own: leave out the policy of its SortConfig";
        refuse_if(self.sort.policy.is_some(), reason)?;
        let reason = "a segmented sort computes no keys: store them by a kernel before it";
        refuse_if(self.sort.functions().is_some(), reason)?;
        let reason = "a segmented sort has no large counts: segments begin at 32-bit indices";
        refuse_if(self.sort.has_large_counts, reason)?;
        let reason = "rows end where the next begin: leave out the ranges";
        refuse_if(self.has_ends && self.row_length.is_some(), reason)?;
        if let Some(length) = self.row_length {
            in_range("keys of a row that is sorted", length, 1..=u32::MAX)?;
        }
        self.sort.check(capabilities)
    }
}

impl SegmentedSortConfig {
    /// What is added to an index in a segment, as a mask of the index of its first key.
    pub(super) const fn begin_mask(&self) -> u32 {
        if self.has_row_indices { 0 } else { u32::MAX }
    }

    /// The segmented sort that kernels do: of keys and indices, where values move once.
    pub(super) const fn of_kernels(mut self) -> Self {
        self.has_row_indices &= !self.sort.moves_values_once();
        self.sort = self.sort.of_kernels();
        self
    }
}

configuration!(
    SegmentedSortConfig,
    SegmentedSortPolicy of SegmentedSort: sort.has_indirect_count,
    |config| Self { sort: config.sort.of_unpacked(), ..*config }
);

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SegmentedSortBuffers {
    /// Keys and values, as of a sort of all keys, and scratch of
    /// [`SegmentedSortPlan::scratch_requirements`](super::SegmentedSortPlan::scratch_requirements).
    pub sort: SortBuffers,
    /// Indices at which segments begin, u32, in ascending order. A segment ends where the next begins, and the last
    /// with the keys; of two that begin at the same key, the first is empty. Keys before the first are in no segment. None
    /// [along rows](SegmentedSortConfig::along_rows).
    pub segments: AddressRange,
    /// The indices after the last key of each segment, u32, for a plan with [ranges](SegmentedSortConfig::ranges).
    pub segment_ends: AddressRange,
}

impl SegmentedSortBuffers {
    /// The buffers of a sort, and the segments.
    pub const fn new(sort: SortBuffers, segments: AddressRange) -> Self {
        Self { sort, segments, segment_ends: AddressRange::NONE }
    }

    /// The buffers of a sort, and the begins and ends of segments.
    pub const fn ranges(sort: SortBuffers, begins: AddressRange, ends: AddressRange) -> Self {
        Self { sort, segments: begins, segment_ends: ends }
    }
}

impl Buffers<SegmentedSort> for SegmentedSortBuffers {
    fn arguments(
        &mut self,
        config: &SegmentedSortConfig,
        count: &mut CountPair,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        table.count("segment_count", &mut count.second)?;
        let segments_size = size_if(config.row_length.is_none(), count.second.max().saturating_mul(4));
        let reason = "the plan takes no ends of segments; make it with ranges";
        refuse_if(!config.has_ends && self.segment_ends.size > 0, reason)?;
        table.read("segments", &mut self.segments, segments_size)?;
        table.read("segment_ends", &mut self.segment_ends, size_if(config.has_ends, segments_size))?;
        self.sort.rows(&config.sort, &mut count.first, table, Role::ReadWrite)
    }
}
