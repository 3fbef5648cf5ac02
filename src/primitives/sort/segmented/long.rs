//! Long segments, which no workgroup holds: passes of a radix sort over a queue of the tiles of all of them.
//!
//! Counts are stored by segment, in the order of a plain sort within each, and are scanned at once. The offset of a
//! tile's digit in its segment is its prefix less the first prefix of the segment.

use super::config::SegmentedSortConfig;
use super::policy::SegmentedSortPolicy;
use crate::device::{AddressRange, Barrier, BufferRange, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::scan::{ScanBuffers, ScanPlan};
use crate::primitives::sort::arrays::{AltLayout, Arrays, PassArrays};
use crate::primitives::sort::config::{Form, SortBuffers, SortConfig};
use crate::primitives::sort::digit::Digit;
use crate::primitives::sort::dispatch_args::DispatchArgs;
use crate::primitives::sort::policy::COUNT_SCAN;
use crate::primitives::{Count, ScratchCursor, ScratchRange};

/// Bytes of an entry of the list of long segments.
const LONG_SIZE: u64 = 16;
const RADIX: u64 = 1 << SegmentedSortPolicy::TILE_RADIX_BITS;
/// Kernels index the counts of all tiles by 31 bits.
const MAX_TILE_COUNT: u64 = (1 << 31) / RADIX;
/// Indices of the dispatch arguments of long segments and of their tiles.
const SEGMENTS: u64 = 3;
const TILES: u64 = 4;

#[derive(Debug)]
pub(super) struct Long {
    config: SortConfig,
    begin_mask: u32,
    tile_items: u32,
    /// Keys of the shortest long segment.
    min_extent: u64,
    pass_count: u32,
    queue_tiles: Pipeline,
    count: Pipeline,
    scatter: Pipeline,
    scan: ScanPlan,
}

/// Offsets of the arrays in scratch; empty if no segment can be long.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScratchLayout {
    /// Capacities of the list of long segments and of the tile queue, in entries.
    pub(super) capacity: u64,
    pub(super) tile_capacity: u64,
    segments: ScratchRange,
    tiles: ScratchRange,
    counts: ScratchRange,
    scan: ScratchRange,
    alt: AltLayout,
}

impl ScratchLayout {
    /// The list of long segments.
    pub(super) fn segments(&self, scratch: BufferRange) -> AddressRange {
        self.segments.range(scratch).addresses()
    }

    fn count_count(&self) -> u64 {
        self.tile_capacity * RADIX
    }
}

impl Long {
    pub(super) fn new(
        device: &Device,
        of_segments: &SegmentedSortConfig,
        policy: &SegmentedSortPolicy,
    ) -> Result<Self> {
        let config = &of_segments.sort;
        let [keys, values] = config.defines();
        let count = kernels::SORT_COUNT_BINS_SEGMENTED.module(&[keys]);
        let scatter = kernels::SORT_SCATTER_SEGMENTED.module(&[("RANK_BY_MATCH", 1), keys, values]);
        let SegmentedSortPolicy { cluster, tile, matching, has_exchange, subgroup_size, .. } = *policy;
        let pipeline = |kernel, workgroup_size, constants: &[(&'static str, u32)]| {
            Pipeline::declare(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
        };
        let [numbers, descending] = config.constants();
        let radix_bits = SegmentedSortPolicy::TILE_RADIX_BITS;
        let subgroups = tile.max_subgroups(subgroup_size, device.capabilities());
        let [masks, early, packed] = matching.constants();
        let constants = [
            numbers,
            descending,
            ("RADIX_BITS", radix_bits),
            ("ITEMS_PER_INVOCATION", tile.items_per_invocation),
            ("MAX_SUBGROUPS", subgroups),
            masks,
            early,
            packed,
            ("EXCHANGE", has_exchange.into()),
            config.last_keys_constant(),
        ];
        let scan = COUNT_SCAN.indirect_count().policy(policy.scan);
        let [.., max_large] = policy.max_extents();
        Ok(Self {
            config: *config,
            begin_mask: of_segments.begin_mask(),
            tile_items: tile.tile_items(),
            min_extent: u64::from(max_large) + 1,
            pass_count: pass_count(config),
            queue_tiles: pipeline(kernels::SORT_QUEUE_TILES.module(&[]), cluster.workgroup_size, &[])?,
            // The count kernel has only the first four constants.
            count: pipeline(count, tile.workgroup_size, &constants[..4])?,
            scatter: pipeline(scatter, tile.workgroup_size, &constants)?,
            scan: ScanPlan::declare(device, scan.in_scratch())?,
        })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        [&self.queue_tiles, &self.count, &self.scatter].into_iter().chain(self.scan.pipelines())
    }

    /// Keys before and after a pass, and values before and after it. No pass is skipped, so that the host knows them also
    /// in place. Keys that are not written have address 0.
    fn route(&self, arrays: PassArrays, pass: u32) -> [AddressRange; 4] {
        let PassArrays { keys, keys_alt, keys_alt2, values, values_alt } = arrays;
        let is_back = self.config.form == Form::InPlace && !pass.is_multiple_of(2);
        let [keys, sorted] = match (self.config.is_argsort(), is_back) {
            (true, true) => [keys_alt, keys_alt2],
            (true, false) if pass > 0 => [keys_alt2, keys_alt],
            (false, true) => [keys_alt, keys],
            (_, false) => [keys, keys_alt],
        };
        let is_last = pass + 1 == self.pass_count;
        let sorted = if is_last && self.config.has_no_last_keys() { AddressRange::NONE } else { sorted };
        match is_back {
            true => [keys, sorted, values_alt, values],
            // The first pass generates indices.
            false if self.config.begins_as_indices() && pass == 0 => {
                [keys, sorted, AddressRange::NONE, values_alt]
            }
            false => [keys, sorted, values, values_alt],
        }
    }

    /// Maximum number of keys for any segments: the counts of their tiles must fit.
    pub(super) fn max_count(&self) -> u64 {
        let (tile, segment) = (u64::from(self.tile_items), self.min_extent);
        // Each segment may have a partial tile.
        (MAX_TILE_COUNT.saturating_mul(tile).saturating_mul(segment) / (tile + segment)).min(u32::MAX.into())
    }

    /// The layout for `count` keys in up to `capacity` long segments.
    pub(super) fn layout(&self, cursor: &mut ScratchCursor, count: u64, capacity: u64) -> ScratchLayout {
        if capacity == 0 {
            return ScratchLayout::default();
        }
        let tile_capacity = (count / u64::from(self.tile_items)).saturating_add(capacity);
        let alt = AltLayout::take(cursor, &self.config, self.pass_count, count);
        let segments = cursor.array("list of long segments", capacity.saturating_mul(LONG_SIZE));
        let tiles = cursor.array("segments of tiles", tile_capacity.saturating_mul(4));
        let count_count = tile_capacity.saturating_mul(RADIX);
        let counts = cursor.array("counts", count_count.saturating_mul(4));
        let scan_size = self.scan.scratch_requirements(count_count).size;
        let scan = cursor.array("scratch of the scan of the counts", scan_size);
        ScratchLayout { capacity, tile_capacity, segments, tiles, counts, scan, alt }
    }

    /// Bytes read and written per key.
    pub(super) fn traffic_size(&self, config: &SortConfig) -> u64 {
        let (keys, values) = (config.key_size(), config.value_size());
        u64::from(self.pass_count) * (3 * keys + 2 * values) - config.omitted_size()
    }

    pub(super) fn queue_tiles(
        &self,
        recorder: &mut Recorder<'_>,
        layout: &ScratchLayout,
        scratch: BufferRange,
        dispatch_args: DispatchArgs,
    ) -> Result<()> {
        let push = push::SortQueueTiles {
            long_segments: layout.segments(scratch),
            tiles: layout.tiles.range(scratch).addresses(),
            dispatch_args: dispatch_args.nth(SEGMENTS).words(),
        };
        recorder.dispatch_indirect(&self.queue_tiles, &push, dispatch_args.nth(SEGMENTS).workgroups())
    }

    /// Records all passes over up to `max_count` keys, after [`Self::queue_tiles`] and a barrier.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SortBuffers,
        layout: &ScratchLayout,
        dispatch_args: DispatchArgs,
        max_count: u64,
    ) -> Result<()> {
        let scratch = buffers.scratch;
        let counts = layout.counts.range(scratch).addresses();
        let scan_buffers = ScanBuffers::in_place(counts, layout.scan.range(scratch));
        let pass_args = dispatch_args.nth(TILES);
        let scan_count =
            Count::Indirect { address: pass_args.count_of_counts(), max: layout.count_count() as u32 };
        let (long_segments, tiles) = (layout.segments(scratch), layout.tiles.range(scratch).addresses());
        let (dispatch_args, workgroups) = (pass_args.words(), pass_args.workgroups());
        let arrays = Arrays::new(&self.config, self.pass_count, buffers, &layout.alt, max_count);
        for pass in 0..self.pass_count {
            let [keys, sorted, values, sorted_values] = self.route(arrays.of_pass(pass), pass);
            let Digit { shift, mask: digit_mask } = Digit::nth(&self.config, self.pass_count, pass);
            recorder.phase(c"count");
            if pass > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            let push = push::SortCountBinsSegmented {
                keys,
                counts,
                tiles,
                long_segments,
                dispatch_args,
                shift,
                digit_mask,
            };
            recorder.dispatch_indirect(&self.count, &push, workgroups)?;
            // A scan with an indirect count has a barrier of its own before it reads the counts.
            self.scan.record(recorder, &scan_buffers, scan_count)?;
            recorder.phase(c"scatter");
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            let push = push::SortScatterSegmented {
                keys,
                sorted,
                values,
                sorted_values,
                offsets: counts,
                tiles,
                long_segments,
                dispatch_args,
                shift,
                digit_mask,
                begin_mask: self.begin_mask,
            };
            recorder.dispatch_indirect(&self.scatter, &push, workgroups)?;
        }
        Ok(())
    }
}

/// Number of passes, after which the result is where the results of shorter segments are.
fn pass_count(config: &SortConfig) -> u32 {
    // Without bits, indices or an output must be written nevertheless.
    let needed = config.pass_count(SegmentedSortPolicy::TILE_RADIX_BITS);
    match config.form {
        Form::InPlace | Form::DoubleBuffer => needed.next_multiple_of(2),
        Form::OutOfPlace => needed,
        Form::DestroysInput => needed | 1,
    }
}
