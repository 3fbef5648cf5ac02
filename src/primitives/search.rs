//! Search: for each needle its position in a sorted array, a lower or an upper bound.
//!
//! Equals `numpy.searchsorted(sorted, needles, side)`, for u32 positions, or u64 ones with [`SearchConfig::large_counts`]: the
//! lower bound, or `left`, is the number of keys that are less than the needle, and the upper bound, or `right`, the number
//! of those that are not greater. Floats are in [`SearchConfig::order`], by default numpy's; a sort's default is
//! [`FloatOrder::Total`]. That the array is sorted is not checked: otherwise a position is any from 0 to the number of keys.

use std::ffi::CStr;
use std::fmt;

use super::arguments::Arguments;
use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::packed::{self, Extent, PackedForm};
use super::plan::{Algorithm, Buffers, Checked, Counts, Plan, Primitive, Recordable, configuration};
use super::tuning::{self, KernelShape, TunedPart};
use super::{
    Choice, CountPair, ElementType, FloatOrder, Functions, ScratchCursor, Tiles, check_workgroup, wide,
    write_subgroups,
};
use crate::device::{
    AddressRange, BufferRange, Capabilities, Device, Pipeline, PipelineOptions, Recorder, push,
};
use crate::error::{PolicyConflict, Result, at_most, in_range, refuse_if, within};
use crate::kernels;

/// Plan of a search.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::search::{SearchBuffers, SearchConfig, SearchPlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (sorted, needles) = (gpu.allocate_with(&[1, 3, 3, 7])?, gpu.allocate_with(&[3, 0, 8])?);
/// let positions = gpu.allocate(12)?;
/// let plan = SearchPlan::new(gpu.device(), SearchConfig::lower_bound(ElementType::U32))?;
/// // Direct counts need no scratch.
/// let buffers = SearchBuffers::new(sorted.addresses(), needles.addresses(), positions.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, (4, 3))) }?;
/// assert_eq!(gpu.read(&positions, 3)?, [1, 0, 4]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type SearchPlan = Plan<Search>;

/// Configuration of a [`SearchPlan`].
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::search::SearchConfig;
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (sorted, needles) = ([1u32, 3, 3, 7], [3u32, 0, 8]);
/// assert_eq!(gpu.search(SearchConfig::lower_bound(ElementType::U32), &sorted, &needles)?, [1, 0, 4]);
/// assert_eq!(gpu.search(SearchConfig::upper_bound(ElementType::U32), &sorted, &needles)?, [3, 0, 4]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SearchConfig {
    element: ElementType,
    /// That compare elements of theirs, words of any type.
    functions: Option<&'static Functions>,
    order: FloatOrder,
    is_upper_bound: bool,
    /// Sorted keys and needles of a row.
    rows: Option<[u32; 2]>,
    has_large_counts: bool,
    has_indirect_count: bool,
    policy: Option<SearchPolicy>,
}

impl SearchConfig {
    /// Maximum number of sorted keys of a [row](Self::along_rows).
    pub const MAX_ROW_LENGTH: u32 = (1 << 30) - 1;

    /// The number of keys that are less than each needle: the first position at which it keeps the order.
    pub const fn lower_bound(element: ElementType) -> Self {
        let (functions, order) = (None, FloatOrder::Numpy);
        let (is_upper_bound, rows, has_large_counts) = (false, None, false);
        let (has_indirect_count, policy) = (false, None);
        Self { element, functions, order, is_upper_bound, rows, has_large_counts, has_indirect_count, policy }
    }

    /// The number of keys that are not greater than each needle: the last position at which it keeps the order.
    pub const fn upper_bound(element: ElementType) -> Self {
        Self { is_upper_bound: true, ..Self::lower_bound(element) }
    }

    /// As [`Self::lower_bound`], of elements that a function of the caller compares: `bool less(Words a, Words b, Words data)`.
    /// Sorted ones and needles are elements, words of any type on slices.
    pub const fn custom_lower_bound(functions: &'static Functions) -> Self {
        Self { functions: Some(functions), ..Self::lower_bound(ElementType::U32) }
    }

    /// As [`Self::upper_bound`], likewise.
    pub const fn custom_upper_bound(functions: &'static Functions) -> Self {
        Self { is_upper_bound: true, ..Self::custom_lower_bound(functions) }
    }

    setters! {
        /// Sets the order of floats, in which the keys are sorted; by default [`FloatOrder::Numpy`].
        order(order: FloatOrder) => order = order;
        /// Searches for the needles of each row of a table, of `needle_length` keys, in the row of the same index of another, of
        /// `sorted_length` keys, 1 to [`Self::MAX_ROW_LENGTH`], and 1 or more needles. Positions are those in the row. Counts
        /// are of all keys, and of at most 2^32 - 1 needles. Needles of more rows than sorted ones are searched for in the last
        /// of these. Sorted keys after the last whole row are in none; fewer than a row are one, of so many keys.
        ///
        #[doc = example!()]
        /// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
        /// use subsweep::search::SearchConfig;
        ///
        /// let gpu = Gpu::open(GpuOptions::default())?;
        /// let in_rows = SearchConfig::lower_bound(ElementType::U32).along_rows(3, 2);
        /// assert_eq!(gpu.search(in_rows, &[1u32, 3, 7, 2, 4, 6], &[3, 9, 5, 0])?, [1, 3, 2, 0]);
        /// # Ok::<(), subsweep::Error>(())
        /// ```
        along_rows(sorted_length: u32, needle_length: u32) => rows = Some([sorted_length, needle_length]);
        /// Takes 2^32 sorted keys and more: positions are u64. Not along rows.
        ///
        #[doc = example!()]
        /// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
        /// use subsweep::search::{SearchBuffers, SearchConfig};
        ///
        /// let gpu = Gpu::open(GpuOptions::default())?;
        /// let (sorted, needles) = (gpu.allocate_with(&[1, 3, 3, 7])?, gpu.allocate_with(&[3, 0, 8])?);
        /// let plan = gpu.plan(SearchConfig::lower_bound(ElementType::U32).large_counts())?;
        /// // Three positions of 64 bits.
        /// let positions = gpu.allocate(24)?;
        /// let buffers = SearchBuffers::new(sorted.addresses(), needles.addresses(), positions.addresses());
        /// // SAFETY: the memory is this device's, and alive until `submit` has waited.
        /// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, (4, 3))) }?;
        /// let mut found = [0u64; 3];
        /// gpu.download(&positions, &mut found)?;
        /// assert_eq!(found, [1, 0, 4]);
        /// # Ok::<(), subsweep::Error>(())
        /// ```
        large_counts() => has_large_counts = true;
        /// Supports indirect counts, [`Count::Indirect`](crate::Count::Indirect), of sorted keys, needles or both, which need
        /// scratch.
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`SearchPolicy::choose`] chooses it.
        policy(policy: SearchPolicy) => policy = Some(policy);
    }

    /// Sets [`Self::large_counts`] if `count` sorted keys require it; not along rows.
    pub const fn large_counts_for(self, count: u64) -> Self {
        let is_large = count > SearchPlan::MAX_SORTED_COUNT && self.rows.is_none();
        if is_large { self.large_counts() } else { self }
    }

    /// Type of the keys and needles; none of elements of functions.
    pub const fn element_type(&self) -> Option<ElementType> {
        if self.functions.is_some() { None } else { Some(self.element) }
    }

    /// Size of a key, or of an element of functions, bytes.
    pub const fn key_size(&self) -> u64 {
        match self.functions {
            Some(functions) => functions.element_size(),
            None => self.element.size() as u64,
        }
    }

    /// Size of a position, bytes.
    pub const fn position_size(&self) -> u64 {
        if self.has_large_counts { 8 } else { 4 }
    }

    /// The order of floats.
    pub const fn float_order(&self) -> FloatOrder {
        self.order
    }

    /// Whether positions are upper bounds.
    pub const fn is_upper_bound(&self) -> bool {
        self.is_upper_bound
    }

    /// Sorted keys and needles of a row; none where all needles are searched for in all keys.
    pub const fn row_lengths(&self) -> Option<[u32; 2]> {
        self.rows
    }

    fn check(&self, _: &Capabilities) -> Result<()> {
        let reason = "a search by a function has the order of its less";
        refuse_if(self.functions.is_some() && self.order != FloatOrder::Numpy, reason)?;
        let reason = "positions along rows have 32 bits; leave out large counts";
        refuse_if(self.has_large_counts && self.rows.is_some(), reason)?;
        let [sorted_length, needle_length] = self.rows.unwrap_or([1; 2]);
        in_range("sorted keys of a row", sorted_length, 1..=Self::MAX_ROW_LENGTH)?;
        in_range("needles of a row", needle_length, 1..=u32::MAX)
    }
}

configuration!(
    SearchConfig,
    SearchPolicy of Search,
    |config| Self { element: config.element.unpacked(), ..*config }
);

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SearchBuffers {
    /// Sorted keys.
    pub sorted: AddressRange,
    /// The keys to search for.
    pub needles: AddressRange,
    /// The position of each needle, u32, or u64 with [`SearchConfig::large_counts`].
    pub positions: AddressRange,
    /// What a function of the caller reads besides, of any size; none by default.
    pub functions_data: AddressRange,
    /// Scratch of [`SearchPlan::scratch_requirements`].
    pub scratch: BufferRange,
}

impl SearchBuffers {
    /// Buffers without scratch, which an indirect count of needles needs, and keys of 8 and 16 bits without the feature.
    pub fn new(sorted: AddressRange, needles: AddressRange, positions: AddressRange) -> Self {
        Self { sorted, needles, positions, functions_data: AddressRange::NONE, scratch: BufferRange::NONE }
    }

    setters! {
        /// Sets what a function of the caller reads besides, its `data`.
        functions_data(data: AddressRange) => functions_data = data;
        /// Sets the scratch.
        scratch(scratch: BufferRange) => scratch = scratch;
    }
}

impl Buffers<Search> for SearchBuffers {
    fn arguments(
        &mut self,
        config: &SearchConfig,
        count: &mut CountPair,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let (sorted_count, needle_count) = count.max();
        let key_size = config.key_size();
        table.count("sorted_count", &mut count.first)?;
        table.count("needle_count", &mut count.second)?;
        let form = PackedForm::numbers(config.element);
        table.up_to(form, Extent::new(count.first)).read(
            "sorted",
            &mut self.sorted,
            sorted_count.saturating_mul(key_size),
        )?;
        table.up_to(form, Extent::new(count.second)).read(
            "needles",
            &mut self.needles,
            needle_count.saturating_mul(key_size),
        )?;
        table.write("positions", &mut self.positions, needle_count.saturating_mul(config.position_size()))?;
        Functions::read_data(config.functions, &mut self.functions_data, table)?;
        table.scratch_if(count.second.is_indirect(), &mut self.scratch)
    }
}

/// Policy of a search. A tile is `workgroup_size * items_per_invocation` needles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SearchPolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Needles per invocation, a multiple of 4 up to 256: four of them are searched for at a time.
    pub items_per_invocation: u32,
    /// Steps of a search, 1 to 12, whose keys each workgroup copies to shared memory: 2 to this power. No steps along rows, with
    /// large counts, or with a function of the caller.
    pub shared_steps: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
}

impl SearchPolicy {
    /// Chooses the policy for a device.
    pub fn choose(capabilities: &Capabilities, config: &SearchConfig) -> Choice<Self> {
        let tuned = tuning::shape_of(capabilities, TunedPart::Search, [config.element.words(), 0]);
        Choice {
            policy: Self::of_shape(&tuned, capabilities),
            reason: "a tile of many needles shares the keys of the first steps",
        }
    }

    /// The policy with a shape, whose items are needles.
    pub(crate) fn of_shape(tuned: &KernelShape, capabilities: &Capabilities) -> Self {
        let workgroup_size = capabilities.max_workgroup_invocations.min(tuned.workgroup_size);
        let policy = Self::tiled(workgroup_size, tuned.items, tuned.shared_steps);
        Self { subgroup_size: tuned.subgroup_size, ..policy }
    }

    /// A policy with `workgroup_size` invocations, `items_per_invocation` needles for each, and the keys of `shared_steps`
    /// steps in shared memory.
    pub const fn tiled(workgroup_size: u32, items_per_invocation: u32, shared_steps: u32) -> Self {
        Self { workgroup_size, items_per_invocation, shared_steps, subgroup_size: None }
    }

    setters! {
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
    }

    /// Needles per tile.
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    fn check(&self, config: &SearchConfig, capabilities: &Capabilities) -> Result<()> {
        check_workgroup(self.workgroup_size, capabilities)?;
        capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 4..=256)?;
        PolicyConflict::check_multiple(
            "items_per_invocation",
            self.items_per_invocation,
            4,
            "the needles at a time",
        )?;
        PolicyConflict::check_range("shared_steps", self.shared_steps, 1..=12)?;
        // None with functions.
        let key_size = if config.functions.is_some() { 0 } else { config.element.size() as u32 };
        let shared_size = key_size << self.shared_steps;
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)
    }
}

impl fmt::Display for SearchPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, items_per_invocation, shared_steps, subgroup_size } = self;
        write!(f, "search: workgroup {workgroup_size}, {items_per_invocation} items per invocation, ")?;
        write!(f, "{shared_steps} steps in shared memory")?;
        write_subgroups(f, *subgroup_size)
    }
}

/// The primitive of a [`SearchPlan`], and its only algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `sorted` | `sorted_count * key_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `needles` | `needle_count * key_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `positions` | `needle_count * position_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | indirect counts | 4 each | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | 32 for an indirect count of needles, else none; [more](Plan::cmd_record) for 8 and 16 bits without the feature | COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// Keys of 8 and 16 bits are taken as they are where the device has enabled `storageBuffer8BitAccess` or
/// `storageBuffer16BitAccess`. Ranges that are only read may overlap each other. One dispatch; for an indirect count of needles, another one and a
/// barrier before it. No needles record nothing; in no keys every position is 0. At most 2^32 - 1 sorted keys, or any
/// number with large counts; 2^32 - 1 tiles of needles, and the workgroups of a two-dimensional dispatch. Needles may be in
/// any order, and neighbours that are close to each other, such as sorted ones, read the same cache lines. The result is in
/// `positions`.
#[derive(Debug)]
pub struct Search {
    tile_items: u32,
    row_lengths: [u32; 2],
    search: Pipeline,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

impl Primitive for Search {
    type Config = SearchConfig;
    type Policy = SearchPolicy;
    type Buffers = SearchBuffers;
    type Count = CountPair;

    const LABEL: &'static CStr = c"subsweep search";

    fn declare(device: &Device, config: &SearchConfig, policy: &SearchPolicy) -> Result<Self> {
        let SearchPolicy { workgroup_size, subgroup_size, .. } = *policy;
        let constants = [
            ("ITEMS_PER_INVOCATION", policy.items_per_invocation),
            ("KEY_NUMBERS", config.element.key_numbers(config.order)),
            ("UPPER", config.is_upper_bound.into()),
            ("SHARED_STEPS", policy.shared_steps),
            ("ALONG_ROWS", config.rows.is_some().into()),
            ("WIDE_OFFSETS", config.has_large_counts.into()),
        ];
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        let kernel = kernels::SEARCH_SEARCH.module(&[packed::key_define(config.element)]);
        let kernel = Functions::kernel_with(config.functions, kernel)?;
        Ok(Self {
            tile_items: policy.tile_items(),
            row_lengths: config.rows.unwrap_or_default(),
            search: Pipeline::declare(device, kernel, options)?,
            level_args: LevelArgsWriter::new(device, subgroup_size, config.has_indirect_count)?,
        })
    }

    fn takes_packed(capabilities: &Capabilities, config: &SearchConfig, _: &SearchPolicy) -> bool {
        packed::has_access(capabilities, config.element)
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _)
    }

    fn is_empty((_, needle_count): (u64, u64)) -> bool {
        needle_count == 0
    }

    fn check_count(&self, config: &SearchConfig, (count, needle_count): (u64, u64)) -> Result<()> {
        if !config.has_large_counts {
            at_most(count, SearchPlan::MAX_SORTED_COUNT, "positions of 32 bits")?;
        }
        if config.rows.is_some() {
            at_most(needle_count, u32::MAX.into(), "a search along rows")?;
        }
        Ok(())
    }
}

impl Algorithm<Search> for Search {
    /// Offset of the arguments of an indirect dispatch.
    type Layout = u64;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::once(&self.search).chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, _: (u64, u64)) -> u64 {
        LevelArgs::take(cursor, self.level_args.as_ref())
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Search, u64>) -> Result<()> {
        let Checked { buffers, layout: levels, count } = given;
        let SearchBuffers { sorted, needles, positions, scratch, .. } = *buffers;
        let [sorted_length, needle_length] = self.row_lengths;
        let tiles = Tiles::new(count.second.max(), self.tile_items)?;
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        recorder.phase(c"level args");
        let workgroups =
            Workgroups::new(recorder, self.level_args.as_ref(), count.second, grid, (scratch, *levels))?;
        let push = push::SearchSearch {
            sorted,
            needles,
            positions,
            indirect_tiles: workgroups.indirect_tiles(),
            indirect_sorted_count: count.first.indirect(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            sorted_count: wide(count.first.max()),
            sorted_length,
            needle_length,
        };
        recorder.phase(c"search");
        workgroups.dispatch(recorder, &self.search, &push)
    }
}

impl SearchPlan {
    /// Maximum number of sorted keys without [`SearchConfig::large_counts`]: a position is a u32.
    pub const MAX_SORTED_COUNT: u64 = u32::MAX as u64;

    /// Bytes that a recording reads and writes: needles and positions once, and each sorted key once, or as many as the
    /// steps of all searches, if these are fewer. Does not include the rest of cache lines.
    pub fn traffic_size(&self, sorted_count: u64, needle_count: u64) -> u64 {
        let key_size = self.unpacked_config().key_size();
        let searched_count =
            self.unpacked_config().rows.map_or(sorted_count, |[length, _]| sorted_count.min(length.into()));
        let steps = u64::from(u64::BITS - searched_count.leading_zeros());
        let read_count = sorted_count.min(needle_count.saturating_mul(steps));
        let of_needle = key_size + self.config().position_size();
        let own = needle_count.saturating_mul(of_needle).saturating_add(read_count.saturating_mul(key_size));
        own.saturating_add(self.packing_size((sorted_count, needle_count)))
    }
}
