//! Reduction of segments, and of runs of equal keys whose heads are found first.
//!
//! ```text
//!   rows ── reduce ──► sums of groups of 32 and of 1024 rows ── reduce ──► of 2^15 and 2^20 …
//!   keys ── heads ──► heads per tile ── scan heads ──► heads before each tile ── heads ──► offsets, unique keys
//!   rows, sums, offsets ── segments ──► destination
//! ```
//!
//! Runs of keys become segments by offsets in scratch, whose number only the device knows. The sums do not depend on
//! segments: a long one takes a few sums of each level, so that long and short ones mix well.

use super::config::{ReduceBuffers, ReduceConfig, ReduceRuns};
use super::modules::{Modules, RowShape};
use super::policy::ReducePolicy;
use super::{Reduce, Strategy};
use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::{Result, at_most};
use crate::kernels;
use crate::primitives::arguments::size_if;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, LevelGrid, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{Count, ScratchCursor, ScratchRange, Tiles, has_quads, quad_alignment};
use crate::sort::TileShape;

/// Rows of a group: `GROUP_ROWS` of `segments.comp`.
const GROUP_ROWS: u64 = 32;
/// Rows of a tile: a group for each 4 of its 128 invocations.
const TILE_ROWS: u32 = 1024;
/// Rows of a level that a segment takes: fewer than a group before its whole groups, and after them.
const MAX_LEVEL_ROWS: u64 = 2 * GROUP_ROWS;
/// Rounds of the workgroup of `scan_heads.comp`, each of as many tiles as a tile has keys: `Workarounds::LOOPS_END_AT_65535`.
const MAX_ROUNDS: u64 = 65_535;

#[derive(Debug)]
pub(super) struct Segmented {
    runs: ReduceRuns,
    shape: RowShape,
    mixed_access: bool,
    row_size: u64,
    /// By quads and by words.
    by_quads: Option<Pipeline>,
    quad_alignment: u64,
    by_words: Pipeline,
    /// Of the levels above a source whose elements are packed, or that functions compute elements from.
    of_sums: Option<Pipeline>,
    segments: Pipeline,
    heads: Option<Heads>,
    level_args: Option<LevelArgsWriter>,
}

/// Pipelines that find the runs of keys.
#[derive(Debug)]
struct Heads {
    count: Pipeline,
    scan: Pipeline,
    store: Pipeline,
    /// Keys of a tile.
    tile_items: u32,
}

/// Numbers of rows by level, and offsets in scratch.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    /// Dispatches that sum groups, two levels each.
    dispatch_count: usize,
    /// Rows of each level; level 0 is the source.
    counts: [u64; Self::MAX_LEVELS],
    sums: ScratchRange,
    tile_heads: ScratchRange,
    offsets: ScratchRange,
    grid: ScratchRange,
    level_args: u64,
    head_args: u64,
}

impl ScratchLayout {
    /// Exceeds the levels of 2^32 rows.
    const MAX_LEVELS: usize = 9;

    fn new(
        cursor: &mut ScratchCursor,
        row_count: u64,
        row_size: u64,
        head_tile: Option<u32>,
        has_args: bool,
    ) -> Self {
        let mut counts = [0; Self::MAX_LEVELS];
        // A larger count is refused.
        counts[0] = row_count.min(u32::MAX.into());
        let mut dispatch_count = 0;
        // Wherever there is a whole group, so that the bits of a segment do not depend on the other rows.
        while counts[2 * dispatch_count] >= GROUP_ROWS {
            let level = 2 * dispatch_count;
            counts[level + 1] = counts[level].div_ceil(GROUP_ROWS);
            counts[level + 2] = counts[level].div_ceil(TILE_ROWS.into());
            dispatch_count += 1;
        }
        let sums_size = counts[1..].iter().sum::<u64>() * row_size;
        let (has_keys, head_tile) = (head_tile.is_some(), head_tile.unwrap_or(1));
        Self {
            dispatch_count,
            counts,
            sums: cursor.array("sums of groups", sums_size),
            tile_heads: cursor
                .array("heads of tiles", size_if(has_keys, counts[0].div_ceil(head_tile.into()) * 4)),
            offsets: cursor.array("offsets of runs", size_if(has_keys, counts[0] * 4)),
            grid: cursor.array("workgroups of runs", size_if(has_keys, 12)),
            level_args: cursor
                .take("level arguments", size_if(has_args, LevelArgs::size(dispatch_count as u64))),
            head_args: cursor
                .take("arguments of the heads", size_if(has_args && has_keys, LevelArgs::size(1))),
        }
    }
}

impl Segmented {
    pub(super) fn new(
        device: &Device,
        config: &ReduceConfig,
        policy: &ReducePolicy,
        runs: ReduceRuns,
    ) -> Result<Self> {
        let (modules, shape) = (config.modules()?, config.row_shape());
        let packs = TILE_ROWS / shape.tile_rows(1);
        let (stages, packed) = (config.stages(true, false), config.packed_source());
        let is_other = stages > 0 || packed.is_some();
        let upper = is_other.then(|| config.of_results().modules()).transpose()?;
        let tiles = |modules: &Modules, by_quads: bool, stages: u32| {
            let mut constants = shape.constants(packs, 4);
            constants.extend(&modules.constants);
            constants.extend((stages > 0).then_some(("OPERATOR", stages)));
            let mixed = policy.mixed_access.into();
            constants.extend([("QUAD_ACCESS", by_quads.into()), ("MIXED_ACCESS", mixed)]);
            policy.pipeline(device, modules.reduce, &constants)
        };
        let segments = modules.segments.expect("`check` refuses indices");
        let unpacked = packed.map(|_| ("UNPACKED_RESULTS", config.packed_results().is_none().into()));
        let of_segments = [&modules.constants[..], unpacked.as_slice()].concat();
        let key_words = (runs.key_size() / 4) as u32;
        let heads = |tile: TileShape| {
            let step = |stores: bool| {
                let constants = [("KEY_NUMBERS", runs.key_numbers()), ("STORES_HEADS", stores.into())];
                let kernel = kernels::REDUCE_HEADS.module(&[("KEY_WORDS", key_words)]);
                policy.heads_pipeline(tile, device, kernel, &constants)
            };
            let scan = policy.heads_pipeline(tile, device, kernels::REDUCE_SCAN_HEADS.module(&[]), &[])?;
            Ok(Heads { count: step(false)?, scan, store: step(true)?, tile_items: tile.tile_items() })
        };
        Ok(Self {
            runs,
            shape,
            mixed_access: policy.mixed_access,
            row_size: config.row_size(),
            by_quads: shape.takes_quads().then(|| tiles(&modules, true, 0)).transpose()?,
            quad_alignment: quad_alignment(packed),
            by_words: tiles(&modules, false, stages)?,
            of_sums: upper.as_ref().map(|upper| tiles(upper, false, 0)).transpose()?,
            segments: policy.pipeline(device, segments, &of_segments)?,
            heads: policy.heads.filter(|_| key_words > 0).map(heads).transpose()?,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }
}

impl Strategy for Segmented {
    fn rounding_depth(&self, count: u64) -> u64 {
        let ScratchLayout { dispatch_count, .. } = self.layout(&mut ScratchCursor::default(), count);
        // On each level fewer than two groups, one after the other, and the sums of a group.
        (2 * dispatch_count as u64 + 1) * (MAX_LEVEL_ROWS + 10)
    }
}

impl Algorithm<Reduce> for Segmented {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let Self { by_quads, by_words, of_sums, segments, heads, level_args, .. } = self;
        let heads = heads.iter().flat_map(|heads| [&heads.count, &heads.scan, &heads.store]);
        let args = level_args.as_ref().map(LevelArgsWriter::pipeline);
        by_quads.iter().chain([by_words, segments]).chain(of_sums).chain(heads).chain(args)
    }

    fn layout(&self, cursor: &mut ScratchCursor, max: u64) -> ScratchLayout {
        let head_tile = self.heads.as_ref().map(|heads| heads.tile_items);
        ScratchLayout::new(cursor, max, self.row_size, head_tile, self.level_args.is_some())
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Reduce, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let recording = Recording { reduction: self, buffers, layout, count };
        recording.check(recorder)?;
        recording.record(recorder)
    }
}

/// One recording.
struct Recording<'a> {
    reduction: &'a Segmented,
    buffers: &'a ReduceBuffers,
    layout: &'a ScratchLayout,
    count: Count,
}

impl Recording<'_> {
    /// Segments, or the maximum number of runs.
    fn max_segment_count(&self) -> u64 {
        match self.reduction.runs {
            ReduceRuns::Offsets | ReduceRuns::Ranges => self.buffers.segments.size / 4,
            ReduceRuns::FixedSize(_) => unreachable!("rows have an algorithm of their own"),
            _ => self.count.max(),
        }
    }

    fn check(&self, recorder: &Recorder<'_>) -> Result<()> {
        let columns = u64::from(self.reduction.shape.column_count);
        let count = self.max_segment_count();
        at_most(count, u64::from(u32::MAX) / columns, "2^32 - 1 columns of segments")?;
        let workgroup_size = u64::from(ReducePolicy::WORKGROUP_SIZE);
        recorder.check_workgroups((count * columns).div_ceil(workgroup_size))?;
        recorder.check_workgroups(self.count.max().div_ceil(TILE_ROWS.into()) * columns)?;
        let Some(Heads { tile_items, .. }) = self.reduction.heads else { return Ok(()) };
        let (count, tile_items) = (self.count.max(), u64::from(tile_items));
        at_most(count, MAX_ROUNDS * tile_items * tile_items, "keys with so small a tile of heads")?;
        recorder.check_workgroups(count.div_ceil(tile_items))
    }

    fn record(&self, recorder: &mut Recorder<'_>) -> Result<()> {
        let Self { reduction, layout, count, .. } = self;
        if reduction.heads.is_none() && self.max_segment_count() == 0 {
            return Ok(());
        }
        let [args, head_args] = self.write_args(recorder)?;
        // Steps of groups and of heads do not depend on each other.
        let step_count = layout.dispatch_count.max(if reduction.heads.is_some() { 3 } else { 0 });
        for step in 0..step_count {
            recorder.phase(match step {
                _ if step >= layout.dispatch_count => c"heads",
                0 => c"groups",
                _ => c"upper groups",
            });
            let mut is_recorded = step < layout.dispatch_count;
            if is_recorded {
                self.sum_groups(recorder, step, args)?;
            }
            if let Some(heads) = &reduction.heads {
                is_recorded |= self.find_heads(recorder, heads, step, head_args)?;
            }
            let is_last = step + 1 == step_count;
            match (is_recorded, is_last && reduction.heads.is_some()) {
                (true, true) if count.max() > 0 => recorder.barrier(Barrier::COMPUTE_TO_INDIRECT),
                (true, false) if count.max() > 0 => recorder.barrier(Barrier::COMPUTE_TO_COMPUTE),
                _ => {}
            }
        }
        recorder.phase(c"segments");
        self.reduce_segments(recorder)
    }

    /// Records the arguments of the groups and of the heads, for an indirect count.
    fn write_args(&self, recorder: &mut Recorder<'_>) -> Result<[Option<LevelArgs>; 2]> {
        let Self { reduction, layout, count, .. } = self;
        let tiles = TileGrid { tile_items: TILE_ROWS, column_count: reduction.shape.column_count };
        let groups = LevelGrid { tiles, level_count: layout.dispatch_count, offset: layout.level_args };
        let heads = reduction.heads.as_ref().filter(|_| count.max() > 0);
        let heads = LevelGrid {
            tiles: TileGrid { tile_items: heads.map_or(1, |heads| heads.tile_items), column_count: 1 },
            level_count: heads.iter().len(),
            offset: layout.head_args,
        };
        recorder.phase(c"level args");
        let (writer, scratch) = (reduction.level_args.as_ref(), self.buffers.scratch);
        LevelArgs::write(recorder, writer, *count, scratch, [groups, heads])
    }

    /// The tiles of level `level` for a count on the host.
    fn tiles(&self, level: usize) -> Result<Tiles> {
        Tiles::new(self.layout.counts[level], TILE_ROWS)
    }

    /// A level of sums, from the first on.
    fn sums(&self, level: usize) -> AddressRange {
        let Self { reduction, buffers, layout, .. } = self;
        let before: u64 = layout.counts[1..level].iter().sum();
        let [begin, size] = [before, layout.counts[level]].map(|rows| rows * reduction.row_size);
        layout.sums.range(buffers.scratch).slice(begin, size).addresses()
    }

    /// Sums the groups of level `2 * step`, and groups of these.
    fn sum_groups(&self, recorder: &mut Recorder<'_>, step: usize, args: Option<LevelArgs>) -> Result<()> {
        let Self { reduction, buffers, count, .. } = self;
        let (shape, none) = (reduction.shape, AddressRange::NONE);
        let source = if step == 0 { buffers.source } else { self.sums(2 * step) };
        let Tiles { count: tile_count, last_extent } = self.tiles(2 * step)?;
        let workgroups =
            Workgroups::of_level(args, step, u64::from(tile_count) * u64::from(shape.column_count));
        let push = push::ReduceReduce {
            source,
            source_rows: none,
            sums: self.sums(2 * step + 2),
            sum_rows: none,
            groups: self.sums(2 * step + 1),
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count,
            last_extent,
            column_count: shape.column_count,
        };
        // The levels of sums follow each other without padding.
        let ranges = [(source, reduction.quad_alignment)];
        let is_quads = step == 0 && has_quads(ranges, reduction.mixed_access, *count, shape.pack_rows());
        let quads = reduction.by_quads.as_ref().filter(|_| is_quads);
        let of_sums = reduction.of_sums.as_ref().filter(|_| step > 0);
        let pipeline = quads.or(of_sums).unwrap_or(&reduction.by_words);
        workgroups.dispatch(recorder, pipeline, &push)
    }

    /// Records step `step` of finding the runs of keys, if there is one.
    fn find_heads(
        &self,
        recorder: &mut Recorder<'_>,
        heads: &Heads,
        step: usize,
        args: Option<LevelArgs>,
    ) -> Result<bool> {
        let Self { reduction, buffers, layout, count } = self;
        let none = AddressRange::NONE;
        let is_empty = count.max() == 0;
        let tiles = match is_empty {
            true => Tiles { count: 0, last_extent: 0 },
            false => Tiles::new(layout.counts[0], heads.tile_items)?,
        };
        let array = |array: ScratchRange| array.range(buffers.scratch).addresses();
        let tile_heads = array(layout.tile_heads);
        let workgroups = Workgroups::of_level(args, 0, tiles.count.into());
        let push = push::ReduceHeads {
            keys: buffers.segments,
            tile_heads,
            offsets: if step == 2 { array(layout.offsets) } else { none },
            unique_keys: if step == 2 { buffers.unique_keys } else { none },
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
        };
        match step {
            0 | 2 if !is_empty => {
                let pipeline = if step == 0 { &heads.count } else { &heads.store };
                workgroups.dispatch(recorder, pipeline, &push)?;
            }
            1 => {
                let push = push::ReduceScanHeads {
                    tile_heads,
                    run_count: buffers.run_count,
                    grid: array(layout.grid),
                    indirect_tiles: workgroups.indirect_tiles(),
                    tile_count: tiles.count,
                    column_count: reduction.shape.column_count,
                    run_invocations: ReducePolicy::WORKGROUP_SIZE,
                    max_row: recorder.device().capabilities().max_workgroup_count[0],
                };
                recorder.dispatch(&heads.scan, &push, 1)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn reduce_segments(&self, recorder: &mut Recorder<'_>) -> Result<()> {
        let Self { reduction, buffers, layout, count } = self;
        let (scratch, none) = (buffers.scratch, AddressRange::NONE);
        let segment_count = self.max_segment_count();
        if segment_count == 0 {
            return Ok(());
        }
        let has_heads = reduction.heads.is_some();
        let push = push::ReduceSegments {
            source: buffers.source,
            sums: layout.sums.range(scratch).addresses(),
            offsets: match has_heads {
                true => layout.offsets.range(scratch).addresses(),
                false => buffers.segments,
            },
            // Null without ranges.
            ends: buffers.segment_ends,
            results: buffers.destination,
            indirect_count: count.indirect(),
            indirect_segments: if has_heads { buffers.run_count } else { none },
            row_count: count.max() as u32,
            segment_count: segment_count as u32,
            column_count: reduction.shape.column_count,
            level_count: 2 * layout.dispatch_count as u32,
        };
        let invocations = segment_count * u64::from(reduction.shape.column_count);
        let workgroup_count = invocations.div_ceil(ReducePolicy::WORKGROUP_SIZE.into());
        if has_heads {
            return recorder.dispatch_indirect(&reduction.segments, &push, layout.grid.range(scratch));
        }
        recorder.dispatch(&reduction.segments, &push, workgroup_count)
    }
}

#[cfg(test)]
mod tests;
