//! Configuration of a segmented sort plan, and the memory of a recording.

use super::SegmentedSort;
use super::policy::SegmentedSortPolicy;
use crate::device::{AddressRange, Capabilities};
use crate::error::{Error, Result, in_range};
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
        Self { sort, row_length: None, policy: None }
    }

    /// Sorts along the rows of a table of `length` columns, 1 or more, as segments of so many keys: there are no
    /// [`segments`](SegmentedSortBuffers::segments). Counts are of keys and of rows; of rows as many are sorted as the keys fill,
    /// and other keys are in none. Indices, such as an argsort's, are those within a row, so that results are those of
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
        self
    }

    /// Sets the policy; by default that of [`SegmentedSortPolicy::choose`].
    pub const fn policy(mut self, policy: SegmentedSortPolicy) -> Self {
        self.policy = Some(policy);
        self
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

    /// The sort of each segment.
    pub const fn sort(&self) -> &SortConfig {
        &self.sort
    }

    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        if self.sort.policy.is_some() {
            return Err(Error::Unsupported {
                reason: "a segmented sort has policies of its own: leave out that of its SortConfig",
            });
        }
        if self.sort.functions().is_some() {
            return Err(Error::Unsupported {
                reason: "a segmented sort computes no keys: store them by a kernel before it",
            });
        }
        if self.sort.has_large_counts {
            return Err(Error::Unsupported {
                reason: "a segmented sort has no large counts: segments begin at 32-bit indices",
            });
        }
        if let Some(length) = self.row_length {
            in_range("keys of a row that is sorted", length, 1..=u32::MAX)?;
        }
        self.sort.check(capabilities)
    }
}

impl SegmentedSortConfig {
    /// What is added to an index in a segment, as a mask of the index of its first key.
    pub(super) const fn begin_mask(&self) -> u32 {
        if self.row_length.is_some() { 0 } else { u32::MAX }
    }

    /// The same sort of unpacked keys.
    const fn of_unpacked(mut self) -> Self {
        self.sort = self.sort.of_unpacked();
        self
    }
}

configuration!(SegmentedSortConfig, SegmentedSortPolicy of SegmentedSort: sort.has_indirect_count);

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
}

impl SegmentedSortBuffers {
    /// The buffers of a sort, and the segments.
    pub const fn new(sort: SortBuffers, segments: AddressRange) -> Self {
        Self { sort, segments }
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
        table.read("segments", &mut self.segments, segments_size)?;
        self.sort.rows(&config.sort, &mut count.first, table, Role::ReadWrite)
    }
}
