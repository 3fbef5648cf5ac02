//! Scan of segments of a fixed size, such as the rows of a table: reduce-then-scan within each segment.
//!
//! ```text
//!   elements            | segment: tile, tile, … | segment: tile, tile, … | …
//!   sums of tiles       | segment: sum, sum, …   | segment: sum, sum, …   | …     the same, of shorter segments
//! ```
//!
//! A level whose segments fit a tile is scanned by one dispatch, several segments to a tile. The order of operations depends
//! on the length of a segment and the position in it alone (see `glsl/scan/segments.glsl`), so that equal rows of floats have
//! equal results in bits. This needs tiles of a power of two.

use super::config::{Direction, Ranges, ScanBuffers, ScanConfig, ScanKind};
use super::levels::sweep;
use super::operator::Modules;
use super::policy::ScanPolicy;
use super::{Scan, Strategy, TileDepth};
use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::{Error, Result, at_most};
use crate::kernels::Kernel;
use crate::primitives::arguments::size_if;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{Count, ScratchCursor, Tiles, has_quads};

#[derive(Debug)]
pub(super) struct AlongRows {
    row_size: u64,
    tile_items: u32,
    /// Workgroups per tile: one per column for rows of more than one.
    column_count: u32,
    mixed_access: bool,
    /// Elements per pack of quads.
    pack_items: u32,
    has_initial: bool,
    /// The elements, then the sums of tiles.
    levels: Vec<Level>,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// A level, and its pipelines; an up-sweep where segments do not fit a tile.
#[derive(Debug)]
struct Level {
    /// Elements of a segment.
    length: u32,
    reduce: Option<ByAccess>,
    downsweep: ByAccess,
}

/// The pipelines of a kernel. A level has one of both at least.
#[derive(Debug)]
struct ByAccess {
    quads: Option<Pipeline>,
    words: Option<Pipeline>,
}

impl ByAccess {
    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.quads.iter().chain(&self.words)
    }

    fn pipeline(&self, has_quads: bool) -> &Pipeline {
        let quads = self.quads.as_ref().filter(|_| has_quads);
        quads.or(self.words.as_ref()).or(self.quads.as_ref()).expect("a level has a pipeline")
    }
}

impl Level {
    /// The length of the segments of tile sums; none where a segment fits a tile.
    fn length_above(length: u32, tile_items: u32) -> Option<u32> {
        (length > tile_items).then(|| length.div_ceil(tile_items))
    }

    /// Slots from one segment to the next in a tile that has whole ones.
    fn step(length: u32) -> u32 {
        length.checked_next_power_of_two().unwrap_or(1)
    }

    fn tiles_per_segment(&self, tile_items: u32) -> u32 {
        Self::length_above(self.length, tile_items).unwrap_or(1)
    }

    /// Elements from one tile to the next where tiles have whole segments, or else from one segment to the next.
    fn tile_step(&self, tile_items: u32) -> u32 {
        match self.reduce {
            None => tile_items / Self::step(self.length) * self.length,
            Some(_) => self.length,
        }
    }
}

impl AlongRows {
    pub(super) fn new(
        device: &Device,
        config: &ScanConfig,
        policy: &ScanPolicy,
        length: u32,
    ) -> Result<Self> {
        let Modules { reduce, downsweep, constants: operator, shape, .. } = config.modules()?;
        let (tile_items, pack_items) = (policy.tile_items(), shape.items_per_pack());
        let tile = policy.tile_constants(shape);
        let mut levels = Vec::new();
        let mut next = Some(length);
        while let Some(length) = next {
            let is_callers = levels.is_empty();
            let is_reverse = is_callers && config.direction == Direction::Reverse;
            let kind = if is_callers { config.kind } else { ScanKind::Exclusive };
            next = Level::length_above(length, tile_items);
            let is_whole = next.is_none();
            // Where a segment begins, so does a pack.
            let is_of_packs = length.is_multiple_of(pack_items) || is_whole && length == Level::step(length);
            let takes_quads = !shape.is_strided && is_of_packs && (is_callers || policy.mixed_access);
            let takes_words = !takes_quads || is_callers && config.ranges == Ranges::AnyAddress;
            let segments = [
                ("REVERSE", is_reverse.into()),
                ("HEADS", 5),
                ("SEGMENT_ROWS", length),
                ("SEGMENT_STEP", if is_whole { Level::step(length) } else { 1 }),
            ];
            let pipelines = |kernel: &'static Kernel, extra: &[(&'static str, u32)]| {
                let pipeline = |by_quads: bool| {
                    let access =
                        [("QUAD_ACCESS", by_quads.into()), ("MIXED_ACCESS", policy.mixed_access.into())];
                    let constants = operator.iter().chain(&tile).chain(&segments).chain(&access).chain(extra);
                    let stages = config.stages().filter(|_| is_callers);
                    policy.pipeline(device, kernel, &constants.copied().chain(stages).collect::<Vec<_>>())
                };
                Ok::<_, Error>(ByAccess {
                    quads: takes_quads.then(|| pipeline(true)).transpose()?,
                    words: takes_words.then(|| pipeline(false)).transpose()?,
                })
            };
            levels.push(Level {
                length,
                reduce: (!is_whole).then(|| pipelines(reduce, &[])).transpose()?,
                downsweep: pipelines(downsweep, &[("EXCLUSIVE", (kind == ScanKind::Exclusive).into())])?,
            });
        }
        Ok(Self {
            row_size: config.row_size(),
            tile_items,
            column_count: if shape.is_strided { config.column_count() } else { 1 },
            mixed_access: policy.mixed_access,
            pack_items,
            has_initial: config.has_initial,
            levels,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }

    /// Segments of `count` elements.
    fn segment_count(&self, count: u64) -> u64 {
        count.div_ceil(self.levels[0].length.into())
    }

    /// Elements of a level: of those above the lowest, all segments are whole.
    fn element_count(&self, level: usize, count: u64) -> u64 {
        match level {
            0 => count,
            _ => self.segment_count(count).saturating_mul(self.levels[level].length.into()),
        }
    }

    /// The tiles of a level with whole segments, or the segments of one without.
    fn tiles(&self, level: usize, count: u64) -> Result<Tiles> {
        Tiles::new(self.element_count(level, count), self.levels[level].tile_step(self.tile_items))
    }

    /// Workgroups of each of [`Self::tiles`].
    fn workgroups_per_tile(&self, level: usize) -> u64 {
        u64::from(self.column_count) * u64::from(self.levels[level].tiles_per_segment(self.tile_items))
    }
}

impl Strategy for AlongRows {
    fn rounding_depth(&self, _: u64, tile: &TileDepth) -> u64 {
        // Up-sweep and down-sweep.
        2 * self.levels.len() as u64 * tile.operations
    }

    fn moved_rows(&self, count: u64) -> u64 {
        // The reduction reads all rows, the down-sweep reads and writes them.
        count.saturating_mul(if self.levels.len() == 1 { 2 } else { 3 })
    }
}

/// Offsets in scratch.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    /// Of the sums of tiles, by level; none of the caller's level.
    sums: [u64; ScratchLayout::MAX_LEVELS],
    initial: u64,
    level_args: u64,
}

impl ScratchLayout {
    /// Lengths have 32 bits, and a tile has 32 elements at least.
    const MAX_LEVELS: usize = 8;
}

impl Algorithm<Scan> for AlongRows {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let reduces = self.levels.iter().filter_map(|level| level.reduce.as_ref());
        let downsweeps = self.levels.iter().map(|level| &level.downsweep);
        reduces
            .chain(downsweeps)
            .flat_map(ByAccess::pipelines)
            .chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, max_count: u64) -> ScratchLayout {
        let mut sums = [0; ScratchLayout::MAX_LEVELS];
        for (level, offset) in sums.iter_mut().enumerate().take(self.levels.len()).skip(1) {
            let size = self.element_count(level, max_count).saturating_mul(self.row_size);
            *offset = cursor.take("aggregates of tiles", size);
        }
        let initial = cursor.take("initial value", size_if(self.has_initial, self.row_size));
        let level_args = LevelArgs::take(cursor, self.level_args.as_ref());
        ScratchLayout { sums, initial, level_args }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let max = count.max();
        at_most(max, u32::MAX.into(), "a scan of segments")?;
        let (step, per_tile) = (self.levels[0].tile_step(self.tile_items), self.workgroups_per_tile(0));
        let tiles = Tiles::of_workgroups(max, step, per_tile)?;
        recorder.check_workgroups(u64::from(tiles.count) * per_tile)?;
        recorder.phase(c"level args");
        if buffers.write_initial(recorder, layout.initial, self.row_size) {
            recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        }
        let grid = TileGrid { tile_items: step, column_count: per_tile as u32 };
        let level_args = (buffers.scratch, layout.level_args);
        let lowest = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?;
        let recording = Recording { scan: self, buffers, layout, count, lowest };
        sweep(
            recorder,
            self.levels.len(),
            |recorder, level| recording.reduce(recorder, level),
            |recorder, level| recording.downsweep(recorder, level),
        )
    }
}

/// One recording and its ranges.
struct Recording<'a> {
    scan: &'a AlongRows,
    buffers: &'a ScanBuffers,
    layout: &'a ScratchLayout,
    count: Count,
    /// Workgroups of the level of elements.
    lowest: Workgroups,
}

impl Recording<'_> {
    fn reduce(&self, recorder: &mut Recorder<'_>, level: usize) -> Result<()> {
        let tiles = self.scan.tiles(level, self.count.max())?;
        let workgroups = self.workgroups(level, tiles);
        let push = push::ScanReduce {
            source: self.source(level),
            sums: self.sums(level + 1),
            heads: AddressRange::NONE,
            sum_heads: AddressRange::NONE,
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            column_count: self.scan.column_count,
        };
        let reduce = self.scan.levels[level].reduce.as_ref().expect("a level below the top");
        workgroups.dispatch(recorder, reduce.pipeline(self.has_quads(level, &[push.source])), &push)
    }

    fn downsweep(&self, recorder: &mut Recorder<'_>, level: usize) -> Result<()> {
        let Self { scan, buffers, layout, .. } = self;
        let tiles = scan.tiles(level, self.count.max())?;
        let workgroups = self.workgroups(level, tiles);
        // The initial value of each segment.
        let initial = buffers.initial_row(layout.initial, scan.row_size);
        let is_top = level + 1 == scan.levels.len();
        let push = push::ScanDownsweep {
            source: self.source(level),
            destination: if level == 0 { buffers.destination } else { self.sums(level) },
            carries: if is_top { AddressRange::NONE } else { self.sums(level + 1) },
            heads: AddressRange::NONE,
            initial: if level == 0 { initial } else { AddressRange::NONE },
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            column_count: scan.column_count,
        };
        let has_quads = self.has_quads(level, &[push.source, push.destination]);
        workgroups.dispatch(recorder, scan.levels[level].downsweep.pipeline(has_quads), &push)
    }

    /// The workgroups of a level. Of an indirect count, the levels above the elements have the workgroups of the
    /// maximum: results of segments that do not exist are not used.
    fn workgroups(&self, level: usize, tiles: Tiles) -> Workgroups {
        match level {
            0 => self.lowest,
            _ => Workgroups::Host(u64::from(tiles.count) * self.scan.workgroups_per_tile(level)),
        }
    }

    fn sums(&self, level: usize) -> AddressRange {
        let size = self.scan.element_count(level, self.count.max()) * self.scan.row_size;
        self.buffers.scratch.slice(self.layout.sums[level], size).addresses()
    }

    fn source(&self, level: usize) -> AddressRange {
        if level == 0 { self.buffers.source } else { self.sums(level) }
    }

    /// Whether a level with these ranges may be accessed by quads. Arrays in scratch are aligned, and each segment of them is
    /// whole.
    fn has_quads(&self, level: usize, ranges: &[AddressRange]) -> bool {
        let AlongRows { mixed_access, pack_items, .. } = *self.scan;
        level > 0 || has_quads(ranges.iter().map(|&range| (range, 16)), mixed_access, self.count, pack_items)
    }
}

#[cfg(test)]
mod tests;
