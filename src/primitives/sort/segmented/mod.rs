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
//! Results do not depend on the order of a list, since segments are independent.

mod config;
mod in_place;
mod long;
mod policy;

pub use config::{SegmentedSortBuffers, SegmentedSortConfig};
pub use policy::{ClusterShape, SegmentedSortPolicy};

use ash::vk;

use super::config::SortConfig;
use super::dispatch_args::DispatchArgs;
use crate::device::{
    Access, AddressRange, Barrier, BufferRange, CommandCounts, Device, Pipeline, PipelineOptions, Recorder,
    push_constants,
};
use crate::error::{Error, Result};
use crate::kernels;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::{Count, ScratchCursor, ScratchRequirements};
use in_place::{CLASS_COUNT as IN_PLACE, InPlace};
use long::Long;

push_constants! {
    struct ClassifyPush for [SORT_CLASSIFY] {
        segments: AddressRange,
        state: AddressRange,
        dispatch_args: AddressRange,
        short_segments: AddressRange,
        small_segments: AddressRange,
        large_segments: AddressRange,
        long_segments: AddressRange,
        segment_count_on_device: AddressRange,
        element_count_on_device: AddressRange,
        segment_count: u32,
        element_count: u32,
        short_capacity: u32,
        small_capacity: u32,
        large_capacity: u32,
        long_capacity: u32,
        tile_capacity: u32,
        max_row: u32,
    }
}

/// Bytes of an entry in the list of a size class that is sorted in place.
const LIST_SIZE: u64 = 8;
/// Bytes of the kernel's counters, initialised to 0.
const STATE_SIZE: u64 = 32;
/// Dispatches with indirect arguments: one per size class in place, one for long segments and one for their tiles.
const DISPATCHES: u64 = IN_PLACE as u64 + 2;

/// Plan of a segmented sort. Immutable; holds pipelines and no memory; may be recorded any number of times.
#[derive(Debug)]
pub struct SegmentedSortPlan {
    device: Device,
    config: SegmentedSortConfig,
    policy: SegmentedSortPolicy,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
    classify: Pipeline,
    in_place: InPlace,
    long: Long,
}

/// Offsets of the arrays in scratch.
#[derive(Debug, Clone, Copy)]
struct ScratchLayout {
    /// Arrays initialised to 0 come first: the state and the dispatch arguments.
    zeroed_size: u64,
    state: u64,
    dispatch_args: u64,
    /// Offset of the output of `level_args.comp`.
    levels_on_device: u64,
    /// Capacities of the lists in place, in entries, and their offsets.
    capacities: [u64; IN_PLACE],
    lists: [u64; IN_PLACE],
    long: long::ScratchLayout,
    size: u64,
}

impl ScratchLayout {
    fn dispatch_args(&self, scratch: BufferRange) -> DispatchArgs {
        DispatchArgs::new(scratch, self.dispatch_args, DISPATCHES)
    }
}

impl SegmentedSortPlan {
    /// Maximum number of segments: indices in their lists are 32-bit numbers.
    pub const MAX_SEGMENT_COUNT: u64 = u32::MAX as u64;

    /// Creates all pipelines that a recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a bit range outside of the key, and for options of a plain sort only: its policy,
    /// double-buffered output, and large counts; [`Error::InvalidPolicy`] and [`Error::PolicyExceedsLimits`] for a
    /// policy that is inconsistent or does not fit the device; and those of `vkCreateComputePipelines`.
    pub fn new(device: &Device, config: impl Into<SegmentedSortConfig>) -> Result<Self> {
        let plan = Self::declare(device, config.into())?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], without compiling the pipelines.
    pub(crate) fn declare(device: &Device, config: SegmentedSortConfig) -> Result<Self> {
        config.check()?;
        let capabilities = device.capabilities();
        let policy =
            config.policy.unwrap_or_else(|| SegmentedSortPolicy::choose(capabilities, &config).policy);
        policy.check(capabilities)?;
        let sort = &config.sort;
        let SegmentedSortPolicy { cluster, tile, subgroup_size, .. } = policy;
        let [max_short, max_small, max_large] = policy.max_extents();
        let constants = [
            ("MIN_EXTENT", min_extent(sort)),
            ("MAX_SHORT", max_short),
            ("MAX_SMALL", max_small),
            ("MAX_LARGE", max_large),
            ("SHORT_PER_WORKGROUP", cluster.segments_per_workgroup()),
            ("TILE_ITEMS", tile.tile_items()),
            ("RADIX", 1 << SegmentedSortPolicy::TILE_RADIX_BITS),
        ];
        let workgroup_size = cluster.workgroup_size;
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        let level_args = || LevelArgsWriter::new(device, subgroup_size);
        Ok(Self {
            device: device.clone(),
            config,
            policy,
            level_args: sort.counts_on_device.then(level_args).transpose()?,
            classify: Pipeline::declare(device, kernels::SORT_CLASSIFY.module(&[]), options)?,
            in_place: InPlace::new(device, sort, &policy)?,
            long: Long::new(device, sort, &policy)?,
        })
    }

    /// The configuration of the plan.
    pub fn config(&self) -> &SegmentedSortConfig {
        &self.config
    }

    /// The policy in use.
    pub fn policy(&self) -> &SegmentedSortPolicy {
        &self.policy
    }

    /// All pipelines that a recording may bind, including those of the scan of counts, for inspection.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let level_args = self.level_args.as_ref().map(LevelArgsWriter::pipeline);
        level_args
            .into_iter()
            .chain([&self.classify])
            .chain(self.in_place.pipelines())
            .chain(self.long.pipelines())
    }

    /// Maximum number of keys of a recording: 2^32 - 1, or fewer if the policy's tiles are small.
    pub fn max_count(&self) -> u64 {
        self.long.max_count()
    }

    /// Fails for more keys than [`Self::max_count`], or more segments than [`Self::MAX_SEGMENT_COUNT`].
    pub(crate) fn check_counts(&self, count: u64, segment_count: u64) -> Result<()> {
        let what = "one segmented sort of this policy";
        for (count, max) in [(count, self.max_count()), (segment_count, Self::MAX_SEGMENT_COUNT)] {
            if count > max {
                return Err(Error::TooManyElements { count, max, what });
            }
        }
        Ok(())
    }

    /// Whether there is nothing to record: the order cannot change, and no indices are written.
    fn records_nothing(&self, count: u64, segment_count: u64) -> bool {
        let sort = &self.config.sort;
        let is_in_order = sort.bit_count() == 0 && !sort.is_argsort();
        count < min_extent(sort).into() || segment_count == 0 || is_in_order
    }

    fn layout(&self, count: u64, segment_count: u64) -> ScratchLayout {
        let max_extents = self.policy.max_extents().map(u64::from);
        let [short, small, large] = max_extents;
        let min_extents = [min_extent(&self.config.sort).into(), short + 1, small + 1];
        // Segments are disjoint.
        let capacities = min_extents.map(|extent| segment_count.min(count / extent));
        let mut cursor = ScratchCursor::default();
        let state = cursor.take(STATE_SIZE);
        let dispatch_args = cursor.take(DispatchArgs::size(DISPATCHES));
        let zeroed_size = cursor.size;
        let levels_on_device = cursor.take(if self.level_args.is_some() { LevelArgs::size(1) } else { 0 });
        let lists = capacities.map(|capacity| cursor.take(capacity.saturating_mul(LIST_SIZE)));
        let long = self.long.layout(&mut cursor, count, segment_count.min(count / (large + 1)));
        let size = cursor.size;
        ScratchLayout { zeroed_size, state, dispatch_args, levels_on_device, capacities, lists, long, size }
    }

    /// Scratch of [`Self::cmd_sort`] for up to `max_count` keys in up to `max_segment_count` segments: at most 40 bytes
    /// per segment. If a segment may exceed a workgroup, in addition the size of the keys, and of the values of pairs;
    /// for an argsort twice the size of the keys, and that of the indices; and a word per tile and digit with the
    /// scratch of their scan. 32 bytes for indirect counts.
    pub fn scratch_requirements(&self, max_count: u64, max_segment_count: u64) -> ScratchRequirements {
        let size = match self.records_nothing(max_count, max_segment_count) {
            true => 0,
            false => self.layout(max_count, max_segment_count).size,
        };
        ScratchRequirements::new(size)
    }

    /// Bytes of keys and values that a recording of segments of these lengths reads and writes; without lists and
    /// counts of tiles.
    pub fn traffic_size(&self, extents: impl IntoIterator<Item = u64>) -> u64 {
        let sort = &self.config.sort;
        let [.., large] = self.policy.max_extents();
        let moved = sort.key_size() + sort.value_size();
        let in_place = if sort.is_argsort() { moved } else { 2 * moved };
        let of_segment = |extent: u64| match extent {
            _ if self.records_nothing(extent, 1) => 0,
            _ if extent <= large.into() => extent.saturating_mul(in_place),
            _ => extent.saturating_mul(self.long.traffic_size(sort)),
        };
        extents.into_iter().map(of_segment).fold(0, u64::saturating_add)
    }

    /// Records the sort of `count` keys in `segment_count` segments by the bits of the configuration.
    ///
    /// 1. **Device**: meets [`DeviceRequirements`](crate::device::DeviceRequirements); a queue that supports compute.
    /// 2. **Memory**: `keys`: at least `count * SortConfig::key_size()` bytes; `values`:
    ///    `count * SortConfig::value_size()`; `segments`: `segment_count * 4`; aligned to 4, in buffers with
    ///    `SHADER_DEVICE_ADDRESS`, disjoint. An indirect count: 4 bytes, aligned to 4, disjoint from `keys`, `values`
    ///    and `scratch`; sizes are those of its maximum. `scratch`: of [`Self::scratch_requirements`], contents
    ///    undefined, used by nothing else until the work has completed.
    /// 3. **Commands**: a fill, a transfer-to-compute barrier, the classification of segments, and a barrier to
    ///    indirect dispatches; up to three of these, for the size classes that one dispatch sorts. If `count` exceeds a
    ///    workgroup: a dispatch that queues tiles, and for each pass a count, the dispatches of a scan, and a scatter,
    ///    all indirect, without workgroups if no segment is so long. Between them compute-to-compute barriers, and
    ///    those of the scan. For an indirect count of segments the classification is an indirect dispatch, after an
    ///    additional dispatch and barrier. The first access is COMPUTE_SHADER / SHADER_READ of `keys`, `values`,
    ///    `segments` and counts, of an argsort SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of `scratch`,
    ///    whose last accesses are COMPUTE_SHADER and DRAW_INDIRECT / INDIRECT_COMMAND_READ. Ends with COMPUTE_SHADER /
    ///    SHADER_WRITE of `keys` (but for an argsort) and `values`, with no barrier before or after. Leaves a compute
    ///    pipeline and push constants bound, and changes no other state.
    /// 4. **Limits**: no keys, no segments, a single key and an empty bit range record nothing; except that an argsort
    ///    of at least one key in a segment writes its indices. An indirect count of 0 moves nothing; one above its
    ///    maximum is treated as the maximum. At most [`Self::max_count`] keys and [`Self::MAX_SEGMENT_COUNT`] segments.
    ///    A segment that begins at or beyond `count` is empty. If segments do not begin in ascending order, any may be
    ///    left unsorted, and keys in overlapping ones may be lost, duplicated or mixed; no other memory is accessed.
    /// 5. **Result**: in `keys` and `values`; of an argsort in `values`, with `keys` unchanged. Indices of an argsort
    ///    are into all keys, not into the segment. Stable: keys that agree in the bits of the configuration keep their
    ///    order. Keys and values, or an argsort's indices, in no segment are unchanged.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] for an indirect count, if the plan was not created for it.
    /// Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no other
    /// thread meanwhile. When the commands execute, the ranges are bound memory of the device with the usage above, and
    /// the plan is alive. The caller orders their accesses with earlier and later commands.
    pub unsafe fn cmd_sort(
        &self,
        command_buffer: vk::CommandBuffer,
        buffers: &SegmentedSortBuffers,
        count: impl Into<Count>,
        segment_count: impl Into<Count>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, buffers, count, segment_count)
    }

    /// Destination scope for the caller's barrier before the recording: accesses before its first barrier.
    pub fn first_access(&self) -> Access {
        Access::COMPUTE.and(Access::TRANSFER_WRITE)
    }

    /// Source scope for the caller's barrier after the recording: accesses after its last barrier. Reads of indirect
    /// arguments have completed by then.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// Numbers of the commands that [`Self::cmd_sort`] records for the same memory and counts: each dispatch also binds
    /// its pipeline and push constants. Debug labels and timestamps are not counted.
    ///
    /// # Errors
    /// Those of `cmd_sort`.
    pub fn commands(
        &self,
        buffers: &SegmentedSortBuffers,
        count: impl Into<Count>,
        segment_count: impl Into<Count>,
    ) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count, segment_count)?;
        Ok(recorder.counts())
    }

    /// As [`Self::cmd_sort`], with a recorder of the caller: for timestamps, or to record several plans. The conditions
    /// of [`Recorder::new`] and `cmd_sort` apply.
    ///
    /// # Errors
    /// Those of `cmd_sort`; [`Error::ForeignDevice`] if the recorder is of another device.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SegmentedSortBuffers,
        count: impl Into<Count>,
        segment_count: impl Into<Count>,
    ) -> Result<()> {
        let (count, segment_count) = (count.into(), segment_count.into());
        recorder.check_device(&self.device)?;
        let (max_count, max_segment_count) = (count.max(), segment_count.max());
        self.check_counts(max_count, max_segment_count)?;
        for count in [count, segment_count] {
            count.check_supported(self.config.sort.counts_on_device)?;
        }
        if self.records_nothing(max_count, max_segment_count) {
            return Ok(());
        }
        recorder.plan(c"subsweep segmented sort", |recorder| {
            self.record_commands(recorder, buffers, count, segment_count)
        })
    }

    fn record_commands(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SegmentedSortBuffers,
        count: Count,
        segment_count: Count,
    ) -> Result<()> {
        let (max_count, max_segment_count) = (count.max(), segment_count.max());
        let requirements = self.scratch_requirements(max_count, max_segment_count);
        let buffers = buffers.checked(&self.config.sort, count, segment_count, requirements)?;
        let scratch = buffers.scratch;
        let layout = self.layout(max_count, max_segment_count);
        let dispatch_args = layout.dispatch_args(scratch);
        recorder.phase(c"classify");
        recorder.fill(scratch.slice(0, layout.zeroed_size), 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let list = |class: usize| {
            let (offset, size) = (layout.lists[class], layout.capacities[class] * LIST_SIZE);
            scratch.slice(offset, size).addresses()
        };
        let [short_capacity, small_capacity, large_capacity] = layout.capacities.map(|count| count as u32);
        let push = ClassifyPush {
            segments: buffers.segments,
            state: scratch.slice(layout.state, STATE_SIZE).addresses(),
            dispatch_args: dispatch_args.words(),
            short_segments: list(0),
            small_segments: list(1),
            large_segments: list(2),
            long_segments: layout.long.segments(scratch),
            segment_count_on_device: segment_count.on_device(),
            element_count_on_device: count.on_device(),
            segment_count: max_segment_count as u32,
            element_count: max_count as u32,
            short_capacity,
            small_capacity,
            large_capacity,
            long_capacity: layout.long.capacity as u32,
            tile_capacity: layout.long.tile_capacity as u32,
            max_row: self.device.capabilities().max_workgroup_count[0],
        };
        let grid = TileGrid { tile_items: self.policy.cluster.workgroup_size, column_count: 1 };
        let levels = (scratch, layout.levels_on_device);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), segment_count, grid, levels)?;
        workgroups.dispatch(recorder, &self.classify, &push)?;
        recorder.barrier(Barrier::COMPUTE_TO_INDIRECT);
        if layout.long.capacity > 0 {
            self.long.queue_tiles(recorder, &layout.long, scratch, dispatch_args)?;
        }
        for class in 0..IN_PLACE {
            // Segments are disjoint, but the hazard checker tracks whole arrays.
            if layout.capacities[class] > 0 {
                if class > 0 {
                    recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                }
                self.in_place.record(recorder, &buffers, class, list(class), dispatch_args)?;
            }
        }
        if layout.long.capacity > 0 {
            // The first pass of an argsort reads nothing written since the barriers above.
            if !self.config.sort.is_argsort() {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            self.long.record(recorder, &buffers, &layout.long, dispatch_args, max_count)?;
        }
        Ok(())
    }
}

/// Length of the shortest segment to sort.
fn min_extent(sort: &SortConfig) -> u32 {
    if sort.is_argsort() { 1 } else { 2 }
}
