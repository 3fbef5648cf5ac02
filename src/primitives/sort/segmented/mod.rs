//! Sort of many segments at once, each by what suits its length.
//!
//! ```text
//!   segments ── classify ──► lists of short, small, large and long segments, and how far each dispatch goes
//!   short:  some lanes of a subgroup hold each         small, large:  a workgroup holds each
//!   long:   tiles of all of them together, pass by pass as in a sort of everything
//! ```
//!
//! What follows the lists goes by them alone, so that only `classify` needs to know how many keys and segments there are.
//! Where the device alone knows that, there is room for the most, and the dispatch arguments begin as 0, for of no segments nobody
//! writes it.
//!
//! Nothing depends on the order in which a list is filled: each segment is sorted by itself.

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

/// Bytes of an entry in the list of a class that one dispatch sorts.
const LIST_SIZE: u64 = 8;
/// Bytes of what the kernel counts, which begins as 0.
const STATE_SIZE: u64 = 32;
/// In the dispatch_args: one of each class in place, one of long segments and one of their tiles.
const DISPATCHES: u64 = IN_PLACE as u64 + 2;

/// A sort of segments, ready to be recorded any number of times. Immutable; holds pipelines and no memory.
#[derive(Debug)]
pub struct SegmentedSortPlan {
    device: Device,
    config: SegmentedSortConfig,
    policy: SegmentedSortPolicy,
    /// For counts on the device.
    level_args: Option<LevelArgsWriter>,
    classify: Pipeline,
    in_place: InPlace,
    long: Long,
}

/// What a recording of so many keys and segments needs.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// What begins as 0 comes first: the state and the dispatch arguments.
    zeroed_size: u64,
    state: u64,
    dispatch_args: u64,
    /// Of what `level_args.comp` writes.
    levels_on_device: u64,
    /// Entries of the lists in place, and where they lie.
    capacities: [u64; IN_PLACE],
    lists: [u64; IN_PLACE],
    long: long::Layout,
    size: u64,
}

impl Layout {
    fn dispatch_args(&self, scratch: BufferRange) -> DispatchArgs {
        DispatchArgs::new(scratch, self.dispatch_args, DISPATCHES)
    }
}

impl SegmentedSortPlan {
    /// The most segments of one sort: places in their lists are 32-bit numbers.
    pub const MAX_SEGMENT_COUNT: u64 = u32::MAX as u64;

    /// Makes every pipeline that any recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a bit range outside of the key, and for what a plain sort alone has: its policy,
    /// results anywhere, and wide counts;
    /// [`Error::InvalidPolicy`] and [`Error::PolicyExceedsLimits`] for a policy that fits neither itself nor the device,
    /// and whatever the driver's compiler says.
    pub fn new(device: &Device, config: impl Into<SegmentedSortConfig>) -> Result<Self> {
        let plan = Self::declare(device, config.into())?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], with pipelines that are not compiled yet.
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
            classify: Pipeline::declare(device, &kernels::SORT_CLASSIFY, options)?,
            in_place: InPlace::new(device, sort, &policy)?,
            long: Long::new(device, sort, &policy)?,
        })
    }

    /// What the plan was made for.
    pub fn config(&self) -> &SegmentedSortConfig {
        &self.config
    }

    /// How it goes about it.
    pub fn policy(&self) -> &SegmentedSortPolicy {
        &self.policy
    }

    /// Every pipeline that a recording may bind, those of the counts' scan too: for what a compiler made of them.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let level_args = self.level_args.as_ref().map(LevelArgsWriter::pipeline);
        level_args
            .into_iter()
            .chain([&self.classify])
            .chain(self.in_place.pipelines())
            .chain(self.long.pipelines())
    }

    /// The most keys of a recording: 2^32 - 1, or fewer where the policy's tiles are small.
    pub fn max_count(&self) -> u64 {
        self.long.max_count()
    }

    /// An error for more keys than [`Self::max_count`], or more segments than [`Self::MAX_SEGMENT_COUNT`].
    pub(crate) fn check_counts(&self, count: u64, segment_count: u64) -> Result<()> {
        let what = "one segmented sort of this policy";
        for (count, max) in [(count, self.max_count()), (segment_count, Self::MAX_SEGMENT_COUNT)] {
            if count > max {
                return Err(Error::TooManyElements { count, max, what });
            }
        }
        Ok(())
    }

    /// Whether nothing moves: what is in order already stays as it is, but its places are to be told.
    fn records_nothing(&self, count: u64, segment_count: u64) -> bool {
        let sort = &self.config.sort;
        let is_in_order = sort.bit_count() == 0 && !sort.is_argsort();
        count < min_extent(sort).into() || segment_count == 0 || is_in_order
    }

    fn layout(&self, count: u64, segment_count: u64) -> Layout {
        let max_extents = self.policy.max_extents().map(u64::from);
        let [short, small, large] = max_extents;
        let min_extents = [min_extent(&self.config.sort).into(), short + 1, small + 1];
        // Segments that do not overlap share the keys.
        let capacities = min_extents.map(|extent| segment_count.min(count / extent));
        let mut cursor = ScratchCursor::default();
        let state = cursor.take(STATE_SIZE);
        let dispatch_args = cursor.take(DispatchArgs::size(DISPATCHES));
        let zeroed_size = cursor.size;
        let levels_on_device = cursor.take(if self.level_args.is_some() { LevelArgs::size(1) } else { 0 });
        let lists = capacities.map(|capacity| cursor.take(capacity.saturating_mul(LIST_SIZE)));
        let long = self.long.layout(&mut cursor, count, segment_count.min(count / (large + 1)));
        let size = cursor.size;
        Layout { zeroed_size, state, dispatch_args, levels_on_device, capacities, lists, long, size }
    }

    /// The scratch that [`Self::cmd_sort`] needs for up to `max_count` keys in up to `max_segment_count` segments: at most
    /// 40 bytes for each segment; and where one may be longer than a workgroup holds, as many keys again, values too of
    /// pairs, of an argsort twice as many keys and their places, and a word for each tile and digit with what their scan
    /// needs. A plan for counts on the device takes 32 bytes more.
    pub fn scratch_requirements(&self, max_count: u64, max_segment_count: u64) -> ScratchRequirements {
        let size = match self.records_nothing(max_count, max_segment_count) {
            true => 0,
            false => self.layout(max_count, max_segment_count).size,
        };
        ScratchRequirements::new(size)
    }

    /// Bytes of keys and values that a recording of segments of these lengths reads and writes; what is kept of segments
    /// and tiles is not counted.
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

    /// Records the sort of `count` keys, each of `segment_count` segments by itself, by the bits of the configuration.
    ///
    /// 1. **Device**: what [`DeviceRequirements`](crate::device::DeviceRequirements) asks for; a queue that can compute.
    /// 2. **Memory**: `keys` of at least `count * SortConfig::key_size()` bytes, `values` of `count *
    ///    SortConfig::value_size()` and `segments` of `segment_count * 4`, at multiples of 4, in buffers with
    ///    `SHADER_DEVICE_ADDRESS`, apart from one another; a count on the device is 4 bytes at a multiple of 4, apart from
    ///    all that is written, and sizes are those of its maximum. `scratch` as [`Self::scratch_requirements`] says, its
    ///    content of no matter, and used by nothing else until the work is done.
    /// 3. **Commands**: a fill, a transfer-to-compute barrier, a dispatch that looks at the segments, and a barrier to
    ///    indirect dispatches; up to three of these, for what one dispatch sorts. Where `count` is more than a
    ///    workgroup holds, one that lists tiles, and for each pass one that counts, those of a scan, and one that
    ///    scatters, all indirect: of no workgroups where no segment is so long. Between them are compute-to-compute barriers,
    ///    and the scan's own. Where the device has the count of segments, what looks at them is an indirect dispatch, too,
    ///    behind one dispatch and such a barrier more. The first access is COMPUTE_SHADER / SHADER_READ of `keys`, `values`, `segments` and
    ///    counts, of an argsort SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of `scratch`, which COMPUTE_SHADER and
    ///    DRAW_INDIRECT / INDIRECT_COMMAND_READ are the last to access; ends with COMPUTE_SHADER / SHADER_WRITE of `keys`
    ///    (but for an argsort) and `values`, with no barrier before or after. Leaves a compute pipeline and push
    ///    constants bound, and touches no other state.
    /// 4. **Limits**: no keys, no segments, a single key and an empty bit range record nothing; but an argsort tells the
    ///    places of keys that stay. A count on the device that is 0 moves nothing, and one above its maximum is taken as
    ///    that. At most [`Self::max_count`] keys and [`Self::MAX_SEGMENT_COUNT`] segments. A segment that begins at or
    ///    beyond `count` is empty. Of segments that do not begin in rising order, any may be left unsorted, and what they
    ///    share be lost, come twice or be mixed of two; no other memory is touched for it.
    /// 5. **Result**: in `keys` and `values`; of an argsort in `values`, and `keys` are as they were. A place is one among
    ///    all keys, not those of its segment. Keys that agree in the bits of the configuration keep their order. What is in
    ///    no segment stays as it is, an argsort's places as well.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] if a count on the device is given to a plan that was not made
    /// for it. Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no
    /// other thread meanwhile. The ranges are live memory of the device, made with the usage named above, when the
    /// commands run, and the plan outlives them. The caller orders their accesses with what comes before and after.
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

    /// Who touches memory before the first barrier of a recording: what comes `after` in the caller's barrier before it.
    pub fn first_access(&self) -> Access {
        Access::COMPUTE.and(Access::TRANSFER_WRITE)
    }

    /// Who touches memory behind the last barrier of a recording: what comes `before` in the caller's barrier behind it. What
    /// an indirect dispatch has read is read by then, too.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// The commands that [`Self::cmd_sort`] records of the same memory and counts, and nothing besides: each dispatch
    /// with its pipeline and push constants; labels and timestamps where they are asked for.
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

    /// [`Self::cmd_sort`] by a recorder of the caller's, which was promised what that asks for: with timestamps, for one,
    /// or beside other plans.
    ///
    /// # Errors
    /// Those of `cmd_sort`; [`Error::ForeignDevice`] if the recorder is another device's.
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
            count.check_place(self.config.sort.counts_on_device)?;
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
            // No two segments share keys, but barriers are of whole arrays.
            if layout.capacities[class] > 0 {
                if class > 0 {
                    recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                }
                self.in_place.record(recorder, &buffers, class, list(class), dispatch_args)?;
            }
        }
        if layout.long.capacity > 0 {
            // What an argsort's first pass reads, nothing has written since the barriers above.
            if !self.config.sort.is_argsort() {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            self.long.record(recorder, &buffers, &layout.long, dispatch_args, max_count)?;
        }
        Ok(())
    }
}

/// Keys of the shortest segment of which there is something to do.
fn min_extent(sort: &SortConfig) -> u32 {
    if sort.is_argsort() { 1 } else { 2 }
}
