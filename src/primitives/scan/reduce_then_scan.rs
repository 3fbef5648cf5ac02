//! Reduce-then-scan: an up-sweep reduces tiles, a down-sweep scans them from their carry-in.
//!
//! ```text
//!   elements ── reduce ──► sums of tiles ── reduce ──► sums of sums …   until one tile holds a level
//!      │                       │                          │
//!      └──── downsweep ◄───────┴─────── downsweep ◄───────┴── downsweep (that tile, with no carry-in)
//! ```
//!
//! Every level above the elements is scanned exclusively in place, in scratch. It then holds the carry-ins of the tiles
//! of the level below.
//!
//! Preparation: the initial value is written to scratch, as the carry-in of the top tile; offsets of segments are
//! converted to one bit per row; and for an indirect count a dispatch writes the dispatch arguments of every level. A
//! segmented scan pairs elements with head flags (see `glsl/common/segmented.glsl`), and starts each segment from the
//! initial value.

use std::mem::size_of;

use super::algorithm::WorkgroupScan;
use super::config::{Direction, Ranges, ScanBuffers, ScanConfig, ScanKind, SegmentsBy};
use super::levels::{Levels, sweep};
use super::operator::Modules;
use super::policy::ScanPolicy;
use super::{Scan, Strategy, TileDepth};
use crate::device::{AddressRange, Barrier, BufferRange, Device, Pipeline, Recorder, push};
use crate::error::{Result, at_most};
use crate::kernels::{self, Kernel};
use crate::primitives::arguments::size_if;
use crate::primitives::level_args::{
    LevelArgs, LevelArgsWriter, LevelGrid, TileGrid, Workgroups, small_workgroup,
};
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{Count, ElementType, ScratchCursor, Tiles, has_quads};

#[derive(Debug)]
pub(super) struct ReduceThenScan {
    kind: ScanKind,
    direction: Direction,
    segments: Option<SegmentsBy>,
    /// Rows of the levels above the elements.
    sums: LevelRows,
    shape: ScratchShape,
    /// Workgroups per tile: one per column for rows that are too wide.
    column_count: u32,
    ranges: Ranges,
    mixed_access: bool,
    /// Elements per pack of quads.
    pack_items: u32,
    /// Bytes of which the addresses of the caller's ranges are multiples where tiles are accessed by quads.
    quad_alignments: [u64; 2],
    reduces: Vec<(Reduce, Pipeline)>,
    downsweeps: Vec<(Downsweep, Pipeline)>,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
    /// For segments by offsets.
    mark_segments: Option<Pipeline>,
}

/// Parameters of the scratch layout, besides the count.
#[derive(Debug, Clone, Copy, Default)]
struct ScratchShape {
    row_size: u64,
    tile_items: u32,
    is_segmented: bool,
    by_offsets: bool,
    has_initial: bool,
    has_indirect_count: bool,
}

/// Key of the up-sweep's pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reduce {
    rows: LevelRows,
    quad_access: bool,
}

/// Key of the down-sweep's pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Downsweep {
    rows: LevelRows,
    kind: ScanKind,
    quad_access: bool,
}

/// Rows of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LevelRows {
    /// The caller's rows, in their direction.
    Callers { direction: Direction, segments: Option<SegmentsBy> },
    /// Tile aggregates, from the first tile on.
    Sums,
}

impl LevelRows {
    fn constants(self) -> [(&'static str, u32); 2] {
        // The constants of `scan/segments.glsl`.
        let (is_reverse, heads) = match self {
            Self::Callers { direction, segments } => (
                direction == Direction::Reverse,
                match segments {
                    None | Some(SegmentsBy::Flags) => 0,
                    Some(SegmentsBy::Keys32) => 1,
                    Some(SegmentsBy::Keys64) => 2,
                    Some(SegmentsBy::Offsets) => 3,
                    Some(SegmentsBy::FixedSize(_)) => unreachable!("`AlongRows` scans these"),
                },
            ),
            Self::Sums => (false, 4),
        };
        [("REVERSE", is_reverse.into()), ("HEADS", heads)]
    }
}

/// Offsets of the arrays in scratch: the levels above the elements, then the optional inputs.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    levels: Levels,
    /// Offsets of the levels' head flags, with segments.
    heads: [u64; Levels::MAX],
    /// Offset of the initial value.
    initial: u64,
    /// Offset of the output of `level_args.comp`.
    level_args: u64,
    /// Offset of the head bits, one per row.
    head_bits: u64,
}

impl ScratchLayout {
    fn new(shape: &ScratchShape, cursor: &mut ScratchCursor, count: u64) -> Self {
        let levels = Levels::new(cursor, count, shape.tile_items, shape.row_size);
        let mut heads = [0; Levels::MAX];
        if shape.is_segmented {
            let above = heads.iter_mut().zip(levels.counts).take(levels.len).skip(1);
            above
                .for_each(|(offset, count)| *offset = cursor.take("heads of tiles", count.saturating_mul(4)));
        }
        let initial = cursor.take("initial value", size_if(shape.has_initial, shape.row_size));
        let args_size = size_if(shape.has_indirect_count, LevelArgs::size(levels.len as u64));
        let level_args = cursor.take("level arguments", args_size);
        let bits_size = size_if(shape.by_offsets, count.div_ceil(32).saturating_mul(4));
        let head_bits = cursor.take("head bits", bits_size);
        Self { levels, heads, initial, level_args, head_bits }
    }
}

impl ReduceThenScan {
    pub(super) fn new(device: &Device, config: &ScanConfig, policy: &ScanPolicy) -> Result<Self> {
        let Modules { reduce, downsweep, constants: operator, result_constants, shape, .. } =
            config.modules()?;
        let of_sums = config.of_sums().modules()?;
        let has_packed = config.packed().is_some();
        let (reduce, downsweep) = match policy.algorithm.workgroup_scan() {
            None | Some(WorkgroupScan::Subgroup) => (reduce, downsweep),
            Some(WorkgroupScan::Sklansky) if config.rounds() => fixed_tree(config),
            Some(scan) => (reduce, downsweep_by(scan)),
        };
        let tile = policy.tile_constants(shape);
        let pipeline = |kernel: &'static Kernel, rows: LevelRows, extra: &[(&'static str, u32)]| {
            let constants = rows.constants();
            // Only segmented kernels have HEADS.
            let constants = &constants[..if config.segments.is_some() { 2 } else { 1 }];
            let operator = if rows == LevelRows::Sums { &of_sums.constants } else { &operator };
            let constants = operator.iter().chain(&tile).chain(constants).chain(extra).copied();
            let stages = config.stages().filter(|_| rows != LevelRows::Sums);
            policy.pipeline(device, kernel, &constants.chain(stages).collect::<Vec<_>>())
        };

        let callers = LevelRows::Callers { direction: config.direction, segments: config.segments };
        let plain = LevelRows::Callers { direction: Direction::Forward, segments: None };
        // Without head flags, aggregates are rows like the caller's.
        let is_like_sums = callers == plain && config.stages().is_none() && !has_packed;
        let sums = if is_like_sums { callers } else { LevelRows::Sums };
        // The caller's level, by quads and by words, and the levels above it, which are aligned in scratch but of any
        // length. Strided elements of a column are never accessed by quads.
        let mut levels = vec![(callers, config.kind, true), (sums, ScanKind::Exclusive, policy.mixed_access)];
        if config.ranges == Ranges::AnyAddress {
            levels.push((callers, config.kind, false));
        }
        let mut reduces: Vec<(Reduce, Pipeline)> = Vec::new();
        let mut downsweeps: Vec<(Downsweep, Pipeline)> = Vec::new();
        for (rows, kind, quad_access) in levels {
            let quad_access = quad_access && !shape.is_strided;
            let [reduce, downsweep] = match rows {
                LevelRows::Sums if has_packed => [of_sums.reduce, of_sums.downsweep],
                _ => [reduce, downsweep],
            };
            let [quads, mixed] =
                [("QUAD_ACCESS", quad_access.into()), ("MIXED_ACCESS", policy.mixed_access.into())];
            let key = Reduce { rows, quad_access };
            if reduces.iter().all(|(other, _)| *other != key) {
                reduces.push((key, pipeline(reduce, rows, &[quads, mixed])?));
            }
            let key = Downsweep { rows, kind, quad_access };
            if downsweeps.iter().all(|(other, _)| *other != key) {
                let of_results = if rows == LevelRows::Sums { &[] } else { &result_constants[..] };
                let exclusive = ("EXCLUSIVE", (kind == ScanKind::Exclusive).into());
                let constants = [&[quads, mixed, exclusive], of_results].concat();
                downsweeps.push((key, pipeline(downsweep, rows, &constants)?));
            }
        }
        let small = ScanPolicy { workgroup_size: small_workgroup(device), ..*policy };
        let mark_segments = || small.pipeline(device, kernels::SCAN_MARK_SEGMENTS.module(&[]), &[]);
        let sizes = ScratchShape {
            row_size: config.row_size(),
            tile_items: policy.tile_items(),
            is_segmented: config.segments.is_some(),
            by_offsets: config.segments == Some(SegmentsBy::Offsets),
            has_initial: config.has_initial,
            has_indirect_count: config.has_indirect_count,
        };
        Ok(Self {
            kind: config.kind,
            direction: config.direction,
            segments: config.segments,
            sums,
            shape: sizes,
            column_count: if shape.is_strided { config.column_count() } else { 1 },
            ranges: config.ranges,
            mixed_access: policy.mixed_access,
            pack_items: shape.items_per_pack(),
            quad_alignments: config.quad_alignments(),
            reduces,
            downsweeps,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
            mark_segments: sizes.by_offsets.then(mark_segments).transpose()?,
        })
    }
}

impl Strategy for ReduceThenScan {
    fn rounding_depth(&self, count: u64, tile: &TileDepth) -> u64 {
        // Up-sweep and down-sweep.
        2 * self.layout(&mut ScratchCursor::default(), count).levels.len as u64 * tile.operations
    }

    fn moved_rows(&self, count: u64) -> u64 {
        // The reduction reads all rows, the down-sweep reads and writes them.
        let is_swept_once = count <= self.shape.tile_items.into();
        count.saturating_mul(if is_swept_once { 2 } else { 3 })
    }
}

impl Algorithm<Scan> for ReduceThenScan {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let Self { reduces, downsweeps, level_args, mark_segments, .. } = self;
        let reduces = reduces.iter().map(|(_, pipeline)| pipeline);
        let downsweeps = downsweeps.iter().map(|(_, pipeline)| pipeline);
        reduces
            .chain(downsweeps)
            .chain(level_args.as_ref().map(LevelArgsWriter::pipeline))
            .chain(mark_segments)
    }

    fn layout(&self, cursor: &mut ScratchCursor, max_count: u64) -> ScratchLayout {
        ScratchLayout::new(&self.shape, cursor, max_count)
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let mut recording = Recording::new(self, buffers, layout, count)?;
        recorder.check_workgroups(u64::from(recording.tiles(0)?.count) * u64::from(self.column_count))?;
        recording.prepare(recorder)?;
        sweep(
            recorder,
            recording.layout.levels.len,
            |recorder, level| recording.reduce(recorder, level),
            |recorder, level| recording.downsweep(recorder, level),
        )
    }
}

/// One recording and its ranges.
struct Recording<'a> {
    scan: &'a ReduceThenScan,
    buffers: &'a ScanBuffers,
    count: Count,
    layout: &'a ScratchLayout,
    /// The initial value, if any.
    initial: AddressRange,
    /// The representation of segments for kernels, if any.
    heads: AddressRange,
    /// Number of offsets of segments.
    offset_count: u32,
    /// Arguments of the levels for an indirect count, once they are recorded.
    args: Option<LevelArgs>,
}

impl<'a> Recording<'a> {
    fn new(
        scan: &'a ReduceThenScan,
        buffers: &'a ScanBuffers,
        layout: &'a ScratchLayout,
        count: Count,
    ) -> Result<Self> {
        let max_count = count.max();
        if scan.segments.is_some() {
            at_most(max_count, u32::MAX.into(), "a scan of segments")?;
        }
        Tiles::of_workgroups(max_count, scan.shape.tile_items, scan.column_count.into())?;
        let initial = buffers.initial_row(layout.initial, scan.shape.row_size);
        let (heads, offset_count) = (buffers.segments, 0);
        let mut recording = Self { scan, buffers, count, layout, initial, heads, offset_count, args: None };
        if scan.mark_segments.is_some() {
            let offset_count = buffers.segments.size / size_of::<u32>() as u64;
            at_most(offset_count, u32::MAX.into(), "a scan of segments, in offsets")?;
            recording.offset_count = offset_count as u32;
            recording.heads = recording.head_bits().addresses();
        }
        Ok(recording)
    }

    fn head_bits(&self) -> BufferRange {
        let size = self.layout.levels.counts[0].div_ceil(32) * 4;
        self.buffers.scratch.slice(self.layout.head_bits, size)
    }

    /// Records the preparation.
    fn prepare(&mut self, recorder: &mut Recorder<'_>) -> Result<()> {
        let Self { scan, buffers, count, layout, .. } = *self;
        recorder.phase(c"level args");
        let mut has_transfers = buffers.write_initial(recorder, layout.initial, scan.shape.row_size);
        if scan.mark_segments.is_some() {
            recorder.fill(self.head_bits(), 0);
            has_transfers = true;
        }
        if has_transfers {
            recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        }
        let mut has_dispatches = false;
        if let Some(pipeline) = &scan.mark_segments
            && self.offset_count > 0
        {
            let offset_count = self.offset_count;
            let row_count = layout.levels.counts[0] as u32;
            let push = push::ScanMarkSegments {
                offsets: buffers.segments,
                heads: self.heads,
                offset_count,
                row_count,
            };
            let workgroup_size = pipeline.specialization().workgroup_size;
            recorder.dispatch(pipeline, &push, offset_count.div_ceil(workgroup_size).into())?;
            has_dispatches = true;
        }
        let tiles = TileGrid { tile_items: scan.shape.tile_items, column_count: scan.column_count };
        let grid = LevelGrid { tiles, level_count: layout.levels.len, offset: layout.level_args };
        [self.args] = LevelArgs::write(recorder, scan.level_args.as_ref(), count, buffers.scratch, [grid])?;
        if has_dispatches && self.args.is_none() {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        Ok(())
    }

    fn reduce(&self, recorder: &mut Recorder<'_>, level: usize) -> Result<()> {
        let tiles = self.tiles(level)?;
        let workgroups = self.workgroups(level, tiles);
        let push = push::ScanReduce {
            source: self.source(level),
            sums: self.array(level + 1),
            heads: self.heads(level),
            sum_heads: self.heads(level + 1),
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            column_count: self.scan.column_count,
        };
        let key = Reduce { rows: self.rows(level), quad_access: self.quad_access(level, &[push.source]) };
        workgroups.dispatch(recorder, pipeline_of(&self.scan.reduces, key), &push)
    }

    fn downsweep(&self, recorder: &mut Recorder<'_>, level: usize) -> Result<()> {
        let scan = self.scan;
        let tiles = self.tiles(level)?;
        let workgroups = self.workgroups(level, tiles);
        let is_top = level + 1 == self.layout.levels.len;
        // The carry-in of the top level is the initial value; with segments, each segment starts from it instead.
        let (initial, top_carry) = match scan.segments {
            Some(_) => (self.initial, AddressRange::NONE),
            None => (AddressRange::NONE, self.initial),
        };
        let push = push::ScanDownsweep {
            source: self.source(level),
            destination: if level == 0 { self.buffers.destination } else { self.array(level) },
            carries: if is_top { top_carry } else { self.array(level + 1) },
            heads: self.heads(level),
            initial: if level == 0 { initial } else { AddressRange::NONE },
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            column_count: scan.column_count,
        };
        let key = Downsweep {
            rows: self.rows(level),
            kind: if level == 0 { scan.kind } else { ScanKind::Exclusive },
            quad_access: self.quad_access(level, &[push.source, push.destination]),
        };
        workgroups.dispatch(recorder, pipeline_of(&scan.downsweeps, key), &push)
    }

    /// A workgroup for each tile of `level`, or for each column of a tile.
    fn workgroups(&self, level: usize, tiles: Tiles) -> Workgroups {
        Workgroups::of_level(self.args, level, u64::from(tiles.count) * u64::from(self.scan.column_count))
    }

    fn tiles(&self, level: usize) -> Result<Tiles> {
        Tiles::new(self.layout.levels.counts[level], self.scan.shape.tile_items)
    }

    fn array(&self, level: usize) -> AddressRange {
        let size = self.layout.levels.counts[level] * self.scan.shape.row_size;
        self.buffers.scratch.slice(self.layout.levels.offsets[level], size).addresses()
    }

    fn source(&self, level: usize) -> AddressRange {
        if level == 0 { self.buffers.source } else { self.array(level) }
    }

    fn heads(&self, level: usize) -> AddressRange {
        match (self.scan.segments, level) {
            (None, _) => AddressRange::NONE,
            (Some(_), 0) => self.heads,
            (Some(_), _) => {
                let size = self.layout.levels.counts[level] * size_of::<u32>() as u64;
                self.buffers.scratch.slice(self.layout.heads[level], size).addresses()
            }
        }
    }

    fn rows(&self, level: usize) -> LevelRows {
        let ReduceThenScan { direction, segments, sums, .. } = *self.scan;
        if level == 0 { LevelRows::Callers { direction, segments } } else { sums }
    }

    /// Whether kernels access a level with these ranges, the source first, by quads.
    fn quad_access(&self, level: usize, ranges: &[AddressRange]) -> bool {
        let ReduceThenScan { ranges: callers, column_count, mixed_access, pack_items, .. } = *self.scan;
        let ranges = ranges.iter().copied().zip(self.scan.quad_alignments);
        let is_quads = match (level, callers) {
            (0, Ranges::Scratch) => true,
            (0, Ranges::AnyAddress) => has_quads(ranges, mixed_access, self.count, pack_items),
            // A level of aggregates has any length.
            _ => mixed_access,
        };
        column_count == 1 && is_quads
    }
}

/// The downsweep kernel of sums of u32 by a workgroup scan other than the scan by subgroups.
fn downsweep_by(scan: WorkgroupScan) -> &'static Kernel {
    let name = format!("scan/downsweep:{}", scan.name().replace('-', "_"));
    let mut modules = kernels::SCAN_DOWNSWEEP.modules().iter();
    modules.find(|kernel| kernel.name == name).expect("a variant for each workgroup scan")
}

/// The kernels of sums and products of floats whose order of operations does not depend on the subgroup size.
fn fixed_tree(config: &ScanConfig) -> (&'static Kernel, &'static Kernel) {
    let of_operator = match config.element_type() {
        Some(ElementType::F64) => "OPERATOR_FLOAT64",
        _ => "OPERATOR_WORDS32",
    };
    let defines = [(of_operator, 1), ("COLUMNS", 1), ("WORKGROUP_SCAN_SKLANSKY", 1)];
    (kernels::SCAN_REDUCE.module(&defines), kernels::SCAN_DOWNSWEEP.module(&defines))
}

/// The pipeline of `key`, created in `new`.
pub(super) fn pipeline_of<K: PartialEq>(pipelines: &[(K, Pipeline)], key: K) -> &Pipeline {
    let (_, pipeline) =
        pipelines.iter().find(|(other, _)| *other == key).expect("`new` creates the pipeline of every key");
    pipeline
}

#[cfg(test)]
mod tests;
