//! Segmented sort: sorts many segments at once, each by the method of its size class.
//!
//! ```text
//!   segments ── classify ──► lists of short, small, large and long segments, and indirect dispatch arguments
//!   short:  a cluster of lanes holds each         small, large:  a workgroup holds each
//!   long:   a queue of the tiles of all, in passes as of a plain sort
//! ```
//!
//! Later dispatches depend only on the lists; only `classify` reads the counts of keys and segments. For indirect
//! counts, scratch is sized for the maximum, and the dispatch arguments are initialised to 0, since without segments no
//! workgroup writes them.
//!
//! Results do not depend on the order of a list, since segments are independent. Along the rows of a table all segments
//! are of one class: lists of the others, and their kernels, are left out.

mod config;
mod held;
mod long;
mod policy;

pub use config::{SegmentedSortBuffers, SegmentedSortConfig};
pub use policy::{ClusterShape, SegmentedSortPolicy};

use std::ffi::CStr;

use super::by_indices::{ValueMover, ValueMoverLayout};
use super::config::SortConfig;
use super::dispatch_args::DispatchArgs;
use super::policy::TileShape;
use crate::device::{Access, Barrier, BufferRange, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::{Result, at_most};
use crate::kernels;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked, Plan, Primitive, Recordable};
use crate::primitives::{CountPair, ScratchCursor};
use held::{CLASS_COUNT, Held};
use long::Long;

/// Bytes of an entry in the list of a size class that a cluster or a workgroup holds.
const LIST_SIZE: u64 = 8;
/// Bytes of the kernel's counters, initialised to 0.
const STATE_SIZE: u64 = 32;
/// Dispatches with indirect arguments: one per size class that is held, one for long segments and one for their tiles.
const DISPATCHES: u64 = CLASS_COUNT as u64 + 2;

/// Plan of a segmented sort.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::sort::{SegmentedSortBuffers, SegmentedSortPlan, SortBuffers, SortConfig};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (keys, segments) = (gpu.allocate_with(&[3, 2, 9, 1, 4])?, gpu.allocate_with(&[0, 2])?);
/// let plan = SegmentedSortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32))?;
/// // Counts are of keys and of segments.
/// let scratch = gpu.allocate(plan.scratch_requirements((5, 2)).size)?;
/// let sort = SortBuffers::new(keys.addresses(), scratch.range());
/// let buffers = SegmentedSortBuffers::new(sort, segments.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, (5, 2))) }?;
/// assert_eq!(gpu.read(&keys, 5)?, [2, 3, 1, 4, 9]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type SegmentedSortPlan = Plan<SegmentedSort>;

/// The primitive of a [`SegmentedSortPlan`], and its only algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `keys` | `count * key_size` | COMPUTE_SHADER read | COMPUTE_SHADER write; of an argsort or an input that is kept read |
/// | `values` | `count * value_size` | COMPUTE_SHADER read; of indices write | COMPUTE_SHADER write; of an input that is kept read |
/// | `keys_alt`, `values_alt`: double buffer, output | as `keys`, `values` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `segments`, unless along rows; `segment_ends` of ranges | 4 per segment | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | an indirect count of keys, of segments | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | below | TRANSFER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// | scratch for | bytes |
/// |---|---|
/// | segments | at most 40 per segment, and 192; along rows 8, or 16 of long ones |
/// | segments that may exceed a workgroup | alternate buffers as of a [sort](super::Sort); a word per tile and digit with the scratch of their scan |
/// | values of more than 8 bytes | what keys with indices have, and 4 for each key, of a double buffer 8; in place, or of a double buffer, the values |
/// | indirect counts | 32; with values of more than 8 bytes 64, in place 96 |
///
/// | commands | |
/// |---|---|
/// | classification | a fill, a barrier, a dispatch, a barrier; for an indirect count of segments a dispatch and a barrier more |
/// | short segments | up to three indirect dispatches, one per size class, with barriers; along rows one |
/// | if `count` exceeds a workgroup | a dispatch that queues tiles; for each pass count, a scan and scatter, all indirect, with barriers, without workgroups if no segment is so long |
/// | values of more than 8 bytes | the commands of keys with indices, and a fill more; then a barrier and a gather; in place, or of a double buffer, a copy before the first |
///
/// No keys, no segments, a single key and an empty bit range record nothing; except that a sort of at least one key in a
/// segment writes indices, and a sort out of place its output. At most [`SegmentedSortPlan::max_count`] keys and
/// [`SegmentedSortPlan::MAX_SEGMENT_COUNT`] segments. A segment that begins at or beyond `count` is empty. If segments
/// do not begin in ascending order, or ranges overlap, any may be left unsorted, and keys in overlapping ones may be lost,
/// duplicated or mixed; no other memory is accessed.
///
/// The result is in `keys` and `values`, also of a double buffer; out of place in `keys_alt` and `values_alt`; of an
/// argsort in `values`, with `keys` unchanged: indices into all keys, not into the segment, but along rows into the row. Where a result would have keys
/// that are [discarded](SortConfig::discards_keys), the contents are undefined. Stable: keys that agree in the bits of the
/// configuration keep their order. Where a result has keys and values, or an argsort's indices, of no segment,
/// its memory is unchanged.
#[derive(Debug)]
pub struct SegmentedSort {
    /// The configuration of the kernels.
    config: SegmentedSortConfig,
    /// Length of the shortest segment that is sorted.
    min_extent: u32,
    /// For values that move once.
    values: Option<ValueMover>,
    classify_workgroup_size: u32,
    max_extents: [u32; CLASS_COUNT],
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
    classify: Pipeline,
    held: Held,
    /// Where segments may be long.
    long: Option<Long>,
}

/// Offsets of the arrays in scratch.
#[derive(Debug, Clone, Copy)]
pub struct ScratchLayout {
    /// Arrays initialised to 0 come first: the state and the dispatch arguments.
    zeroed_size: u64,
    state: u64,
    dispatch_args: u64,
    /// Offset of the output of `level_args.comp`.
    level_args: u64,
    /// Capacities of the lists of these classes, in entries, and their offsets.
    capacities: [u64; CLASS_COUNT],
    lists: [u64; CLASS_COUNT],
    long: long::ScratchLayout,
    values: Option<ValueMoverLayout>,
}

impl ScratchLayout {
    fn dispatch_args(&self, scratch: BufferRange) -> DispatchArgs {
        DispatchArgs::new(scratch, self.dispatch_args, DISPATCHES)
    }
}

impl SegmentedSort {
    /// Whether there is nothing to record: the order cannot change, and neither indices nor an output are written.
    fn records_nothing(&self, config: &SegmentedSortConfig, count: u64, segment_count: u64) -> bool {
        let SegmentedSortConfig { sort, row_length, .. } = config;
        let is_in_order = sort.bit_count() == 0 && !sort.must_write();
        let is_short = |extent: u64| extent < self.min_extent.into();
        let are_short = is_short(count) || row_length.is_some_and(|length| is_short(length.into()));
        are_short || segment_count == 0 || is_in_order
    }

    fn max_count(&self) -> u64 {
        self.long.as_ref().map_or(u32::MAX.into(), Long::max_count)
    }
}

impl Primitive for SegmentedSort {
    type Config = SegmentedSortConfig;
    type Policy = SegmentedSortPolicy;
    type Buffers = SegmentedSortBuffers;
    type Count = CountPair;

    const LABEL: &'static CStr = c"subsweep segmented sort";

    fn declare(device: &Device, config: &SegmentedSortConfig, policy: &SegmentedSortPolicy) -> Result<Self> {
        let values = config.sort.moves_values_once();
        let values = values.then(|| ValueMover::new(device, &config.sort, config.sort.form)).transpose()?;
        let min_extent = min_extent(&config.sort);
        let config = &config.of_kernels();
        let sort = &config.sort;
        let SegmentedSortPolicy { cluster, tile, subgroup_size, .. } = *policy;
        let max_extents = policy.max_extents();
        let [max_short, max_small, max_large] = max_extents;
        let constants = [
            ("MIN_EXTENT", min_extent),
            ("MAX_SHORT", max_short),
            ("MAX_SMALL", max_small),
            ("MAX_LARGE", max_large),
            ("SHORT_PER_WORKGROUP", cluster.segments_per_workgroup()),
            ("TILE_ITEMS", tile.tile_items()),
            ("RADIX", 1 << SegmentedSortPolicy::TILE_RADIX_BITS),
        ];
        // The workgroup size of large segments: fewer workgroups reserve queue entries.
        let [_, TileShape { workgroup_size, .. }] = policy.workgroups;
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        Ok(Self {
            config: *config,
            min_extent,
            values,
            classify_workgroup_size: workgroup_size,
            max_extents,
            level_args: LevelArgsWriter::new(device, subgroup_size, sort.has_indirect_count)?,
            classify: Pipeline::declare(device, kernels::SORT_CLASSIFY.module(&[]), options)?,
            held: Held::new(device, config, policy)?,
            long: policy
                .has_class(config, CLASS_COUNT)
                .then(|| Long::new(device, config, policy))
                .transpose()?,
        })
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _)
    }

    fn algorithm(
        &self,
        config: &SegmentedSortConfig,
        (count, segment_count): (u64, u64),
    ) -> Option<&dyn Recordable<Self>> {
        (!self.records_nothing(config, count, segment_count)).then_some(self)
    }

    fn is_empty((count, segment_count): (u64, u64)) -> bool {
        count == 0 || segment_count == 0
    }

    fn check_count(&self, _: &SegmentedSortConfig, (count, segment_count): (u64, u64)) -> Result<()> {
        let what = "one segmented sort of this policy";
        at_most(count, self.max_count(), what)?;
        at_most(segment_count, SegmentedSortPlan::MAX_SEGMENT_COUNT, what)
    }

    fn first_access(&self, _: &SegmentedSortConfig) -> Access {
        Access::COMPUTE.and(Access::TRANSFER_WRITE)
    }
}

impl Algorithm<SegmentedSort> for SegmentedSort {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let level_args = self.level_args.as_ref().map(LevelArgsWriter::pipeline);
        level_args
            .into_iter()
            .chain([&self.classify])
            .chain(self.held.pipelines())
            .chain(self.long.iter().flat_map(Long::pipelines))
            .chain(self.values.iter().flat_map(ValueMover::pipelines))
    }

    fn layout(&self, cursor: &mut ScratchCursor, (count, segment_count): (u64, u64)) -> ScratchLayout {
        let [short, small, large] = self.max_extents.map(u64::from);
        let min_extents = [self.min_extent.into(), short + 1, small + 1, large + 1];
        // Segments are disjoint.
        let capacity = |class: usize| match self.config.row_length {
            Some(length) => segment_count.min(count / u64::from(length)),
            None => segment_count.min(count / min_extents[class]),
        };
        let capacities = std::array::from_fn(|class| if self.held.has(class) { capacity(class) } else { 0 });
        let state = cursor.take("counters of segments and tiles", STATE_SIZE);
        let dispatch_args = cursor.take("dispatch arguments", DispatchArgs::size(DISPATCHES));
        let zeroed_size = cursor.size;
        let level_args = LevelArgs::take(cursor, self.level_args.as_ref());
        let mut list = |class: usize, name| cursor.take(name, capacities[class].saturating_mul(LIST_SIZE));
        let lists = [
            list(0, "list of short segments"),
            list(1, "list of small segments"),
            list(2, "list of large segments"),
        ];
        let long = self.long.as_ref();
        let long = long.map_or(Default::default(), |long| long.layout(cursor, count, capacity(CLASS_COUNT)));
        let values = self.values.as_ref().map(|values| values.layout(cursor, count));
        ScratchLayout { zeroed_size, state, dispatch_args, level_args, capacities, lists, long, values }
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        given: Checked<'_, SegmentedSort, ScratchLayout>,
    ) -> Result<()> {
        let Checked { buffers, layout, count: CountPair { first: count, second: segment_count } } = given;
        let values = self.values.as_ref().zip(layout.values.as_ref());
        if let Some((values, layout)) = values {
            values.begin(recorder, (&buffers.sort, layout), count)?;
        }
        let sort =
            &values.map_or(buffers.sort, |(values, layout)| values.sort_buffers(&buffers.sort, layout));
        let (max_count, max_segment_count) = (count.max(), segment_count.max());
        let scratch = buffers.sort.scratch;
        let dispatch_args = layout.dispatch_args(scratch);
        recorder.phase(c"classify");
        recorder.fill(scratch.slice(0, layout.zeroed_size), 0);
        if let Some((_, layout)) = values {
            // The indices of keys that are in no segment are beyond all.
            recorder.fill(layout.indices(scratch), u32::MAX);
        }
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let list = |class: usize| {
            let (offset, size) = (layout.lists[class], layout.capacities[class] * LIST_SIZE);
            scratch.slice(offset, size).addresses()
        };
        let [short_capacity, small_capacity, large_capacity] = layout.capacities.map(|count| count as u32);
        let push = push::SortClassify {
            segments: buffers.segments,
            state: scratch.slice(layout.state, STATE_SIZE).addresses(),
            dispatch_args: dispatch_args.words(),
            short_segments: list(0),
            small_segments: list(1),
            large_segments: list(2),
            long_segments: layout.long.segments(scratch),
            indirect_segment_count: segment_count.indirect(),
            indirect_element_count: count.indirect(),
            segment_ends: buffers.segment_ends,
            segment_count: max_segment_count as u32,
            element_count: max_count as u32,
            short_capacity,
            small_capacity,
            large_capacity,
            long_capacity: layout.long.capacity as u32,
            tile_capacity: layout.long.tile_capacity as u32,
            max_row: recorder.device().capabilities().max_workgroup_count[0],
            row_length: self.config.row_length.unwrap_or(0),
        };
        let grid = TileGrid { tile_items: self.classify_workgroup_size, column_count: 1 };
        let levels = (scratch, layout.level_args);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), segment_count, grid, levels)?;
        workgroups.dispatch(recorder, &self.classify, &push)?;
        recorder.barrier(Barrier::COMPUTE_TO_INDIRECT);
        let long = self.long.as_ref().filter(|_| layout.long.capacity > 0);
        if let Some(long) = long {
            long.queue_tiles(recorder, &layout.long, scratch, dispatch_args)?;
        }
        for class in 0..CLASS_COUNT {
            // Segments are disjoint, but the hazard checker tracks whole arrays.
            if layout.capacities[class] > 0 {
                if class > 0 && layout.capacities[0] > 0 {
                    recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                }
                self.held.record(recorder, sort, class, list(class), dispatch_args)?;
            }
        }
        if let Some(long) = long {
            // The first pass reads keys, which may have been sorted in place since the barriers above; along rows there was none
            // after the queue of tiles.
            let SegmentedSortConfig { sort: config, row_length, .. } = &self.config;
            if row_length.is_some() || !config.has_no_last_keys() && !config.has_output() {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            long.record(recorder, sort, &layout.long, dispatch_args, max_count)?;
        }
        match values {
            Some((values, layout)) => values.end(recorder, (&buffers.sort, layout), count),
            None => Ok(()),
        }
    }
}

impl SegmentedSortPlan {
    /// Maximum number of segments: indices in their lists are 32-bit numbers.
    pub const MAX_SEGMENT_COUNT: u64 = u32::MAX as u64;

    /// Maximum number of keys of a recording: 2^32 - 1, or fewer if the policy's tiles are small.
    pub fn max_count(&self) -> u64 {
        self.primitive.max_count()
    }

    /// Bytes of keys and values that a recording of segments of these lengths reads and writes; without lists and
    /// counts of tiles.
    pub fn traffic_size(&self, extents: impl IntoIterator<Item = u64>) -> u64 {
        let SegmentedSort { config, max_extents: [.., large], long, .. } = &self.primitive;
        let long_size = long.as_ref().map_or(0, |long| long.traffic_size(&config.sort));
        let of_segment = |extent: u64| match extent {
            _ if self.primitive.records_nothing(self.unpacked_config(), extent, 1) => 0,
            _ if extent <= u64::from(*large) => extent.saturating_mul(config.sort.moved_once()),
            _ => extent.saturating_mul(long_size),
        };
        let of_values =
            |extent| self.primitive.values.as_ref().map_or(0, |values| values.traffic_size(extent));
        let of_segment = |extent| of_segment(extent).saturating_add(of_values(extent));
        extents.into_iter().map(of_segment).fold(0, u64::saturating_add)
    }
}

/// Length of the shortest segment whose indices or output are written, or whose order may change.
fn min_extent(sort: &SortConfig) -> u32 {
    if sort.must_write() { 1 } else { 2 }
}
