//! Sums of tiles on the way up, the tiles themselves on the way down.
//!
//! ```text
//!   elements ── reduce ──► sums of tiles ── reduce ──► sums of sums …   until one tile holds a level
//!      │                       │                          │
//!      └──── downsweep ◄───────┴─────── downsweep ◄───────┴── downsweep (that tile, with no carry-in)
//! ```
//!
//! Every level above the elements is scanned exclusively, in place, in scratch: then it holds the carry-in of each
//! tile of the level below.
//!
//! Before that comes what else a plan was made for: the initial value goes to scratch, where the top tile takes it for
//! its carry-in; the offsets of segments become a bit for each row; and where the device alone knows the count, it
//! writes down how far each level goes, for indirect dispatches. Segments are elements with heads beside them (see
//! `glsl/common/segmented.glsl`), and begin with the initial value each.

use std::mem::size_of;

use super::Ranges;
use super::algorithm::WorkgroupScan;
use super::config::{Direction, InitialValue, ScanBuffers, ScanConfig, ScanKind, SegmentsBy};
use super::levels::Levels;
use super::operator::Modules;
use super::policy::ScanPolicy;
use crate::device::{
    AddressRange, Barrier, BufferRange, Device, Pipeline, PushConstants, Recorder, push_constants,
};
use crate::error::{Error, Result};
use crate::kernels::{self, Kernel};
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, LevelGrid, small_workgroup};
use crate::primitives::{Count, ScratchCursor, Tiles, has_quads};

push_constants! {
    struct ReducePush for [
        SCAN_REDUCE_U32X1,
        SCAN_REDUCE_U32X2,
        SCAN_REDUCE_U32X3,
        SCAN_REDUCE_U32X4,
        SCAN_REDUCE_WORDS32X1,
        SCAN_REDUCE_WORDS32X2,
        SCAN_REDUCE_WORDS32X3,
        SCAN_REDUCE_WORDS32X4,
        SCAN_REDUCE_WORDS32_STRIDED,
        SCAN_REDUCE_WORDS64X1,
        SCAN_REDUCE_WORDS64X2,
        SCAN_REDUCE_WORDS64_STRIDED,
        SCAN_REDUCE_FLOAT64X1,
        SCAN_REDUCE_FLOAT64X2,
        SCAN_REDUCE_FLOAT64_STRIDED,
        SCAN_REDUCE_WORDS32X1_SEGMENTED,
        SCAN_REDUCE_WORDS32_STRIDED_SEGMENTED,
        SCAN_REDUCE_WORDS64X1_SEGMENTED,
        SCAN_REDUCE_WORDS64_STRIDED_SEGMENTED,
        SCAN_REDUCE_FLOAT64X1_SEGMENTED,
        SCAN_REDUCE_FLOAT64_STRIDED_SEGMENTED,
    ] {
        source: AddressRange,
        sums: AddressRange,
        heads: AddressRange,
        sum_heads: AddressRange,
        tiles_on_device: AddressRange,
        tile_count: u32,
        last_extent: u32,
        column_count: u32,
    }
}

push_constants! {
    pub(super) struct DownsweepPush for [
        SCAN_DOWNSWEEP_U32X1,
        SCAN_DOWNSWEEP_U32X2,
        SCAN_DOWNSWEEP_U32X3,
        SCAN_DOWNSWEEP_U32X4,
        SCAN_DOWNSWEEP_WORDS32X1,
        SCAN_DOWNSWEEP_WORDS32X2,
        SCAN_DOWNSWEEP_WORDS32X3,
        SCAN_DOWNSWEEP_WORDS32X4,
        SCAN_DOWNSWEEP_WORDS32_STRIDED,
        SCAN_DOWNSWEEP_WORDS64X1,
        SCAN_DOWNSWEEP_WORDS64X2,
        SCAN_DOWNSWEEP_WORDS64_STRIDED,
        SCAN_DOWNSWEEP_FLOAT64X1,
        SCAN_DOWNSWEEP_FLOAT64X2,
        SCAN_DOWNSWEEP_FLOAT64_STRIDED,
        SCAN_DOWNSWEEP_WORDS32X1_SEGMENTED,
        SCAN_DOWNSWEEP_WORDS32_STRIDED_SEGMENTED,
        SCAN_DOWNSWEEP_WORDS64X1_SEGMENTED,
        SCAN_DOWNSWEEP_WORDS64_STRIDED_SEGMENTED,
        SCAN_DOWNSWEEP_FLOAT64X1_SEGMENTED,
        SCAN_DOWNSWEEP_FLOAT64_STRIDED_SEGMENTED,
        SCAN_DOWNSWEEP_KOGGE_STONE,
        SCAN_DOWNSWEEP_KOGGE_STONE_DOUBLE_BUFFERED,
        SCAN_DOWNSWEEP_BRENT_KUNG,
        SCAN_DOWNSWEEP_SKLANSKY,
        SCAN_DOWNSWEEP_SEQUENTIAL,
    ] {
        source: AddressRange,
        destination: AddressRange,
        carries: AddressRange,
        heads: AddressRange,
        initial: AddressRange,
        tiles_on_device: AddressRange,
        tile_count: u32,
        last_extent: u32,
        column_count: u32,
    }
}

push_constants! {
    struct MarkPush for [SCAN_MARK_SEGMENTS] {
        offsets: AddressRange,
        heads: AddressRange,
        offset_count: u32,
        row_count: u32,
    }
}

#[derive(Debug)]
pub(super) struct ReduceThenScan {
    kind: ScanKind,
    direction: Direction,
    segments: Option<SegmentsBy>,
    shape: Shape,
    /// Workgroups of a tile: one for each column where a row is too wide for one.
    column_count: u32,
    ranges: Ranges,
    mixed_access: bool,
    /// Elements in the fewest quads that hold whole ones.
    pack_items: u32,
    reduces: Vec<(Reduce, Pipeline)>,
    downsweeps: Vec<(Downsweep, Pipeline)>,
    /// For counts on the device.
    level_args: Option<LevelArgsWriter>,
    /// For segments by offsets.
    mark_segments: Option<Pipeline>,
}

/// What scratch depends on, beside the count.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    row_size: u64,
    tile_items: u32,
    is_segmented: bool,
    by_offsets: bool,
    has_initial: bool,
    counts_on_device: bool,
}

/// What tells the pipelines of the way up apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reduce {
    rows: Rows,
    quad_access: bool,
}

/// What tells the pipelines of the way down apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Downsweep {
    rows: Rows,
    kind: ScanKind,
    quad_access: bool,
}

/// Whose rows a level's are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// The caller's, in their direction.
    Callers { direction: Direction, segments: Option<SegmentsBy> },
    /// Sums of tiles, from the first tile on.
    Sums,
}

impl Rows {
    fn constants(self) -> [(&'static str, u32); 2] {
        // The numbers of `scan/heads.glsl`.
        let (is_reverse, heads) = match self {
            Self::Callers { direction, segments } => (
                direction == Direction::Reverse,
                match segments {
                    None | Some(SegmentsBy::Flags) => 0,
                    Some(SegmentsBy::Keys32) => 1,
                    Some(SegmentsBy::Keys64) => 2,
                    Some(SegmentsBy::Offsets) => 3,
                },
            ),
            Self::Sums => (false, 4),
        };
        [("REVERSE", is_reverse.into()), ("HEADS", heads)]
    }
}

/// Where things lie in scratch: the levels above the elements, and behind them what a plan was made for besides.
#[derive(Debug)]
struct Layout {
    levels: Levels,
    /// Offsets of the levels' heads, with segments.
    heads: [u64; Levels::MAX],
    /// Of the row that all begins with.
    initial: u64,
    /// Of what `level_args.comp` writes.
    levels_on_device: u64,
    /// Of a bit for each row.
    head_bits: u64,
    scratch_size: u64,
}

impl Layout {
    fn new(shape: &Shape, count: u64) -> Self {
        let mut cursor = ScratchCursor::default();
        let levels = Levels::new(&mut cursor, count, shape.tile_items, shape.row_size);
        let mut heads = [0; Levels::MAX];
        if shape.is_segmented {
            let above = heads.iter_mut().zip(levels.counts).take(levels.len).skip(1);
            above.for_each(|(offset, count)| *offset = cursor.take(count.saturating_mul(4)));
        }
        let mut take = |is_needed: bool, size: u64| if is_needed { cursor.take(size) } else { 0 };
        let initial = take(shape.has_initial, shape.row_size);
        let levels_on_device = take(shape.counts_on_device, LevelArgs::size(levels.len as u64));
        let head_bits = take(shape.by_offsets, count.div_ceil(32).saturating_mul(4));
        Self { levels, heads, initial, levels_on_device, head_bits, scratch_size: cursor.size }
    }
}

impl ReduceThenScan {
    pub(super) fn new(
        device: &Device,
        config: &ScanConfig,
        policy: &ScanPolicy,
        ranges: Ranges,
    ) -> Result<Self> {
        let Modules { reduce, downsweep, constants: operator, shape, .. } = config.modules();
        let downsweep = policy.algorithm.workgroup_scan().and_then(textbook_downsweep).unwrap_or(downsweep);
        let tile = policy.tile_constants(shape);
        let pipeline = |kernel: &'static Kernel, rows: Rows, extra: &[(&'static str, u32)]| {
            let constants = rows.constants();
            // Heads are of segmented builds.
            let constants = &constants[..if config.segments.is_some() { 2 } else { 1 }];
            let constants: Vec<_> =
                operator.iter().chain(&tile).chain(constants).chain(extra).copied().collect();
            policy.pipeline(device, kernel, &constants)
        };

        let callers = Rows::Callers { direction: config.direction, segments: config.segments };
        let plain = Rows::Callers { direction: Direction::Forward, segments: None };
        // Without heads, sums are rows like any other.
        let sums = if callers == plain { callers } else { Rows::Sums };
        // The caller's level, by quads and by words, and the levels above it, which lie aligned in scratch, but are of any
        // length. Elements of a column that lie apart are no quads, wherever they begin.
        let mut levels = vec![(callers, config.kind, true), (sums, ScanKind::Exclusive, policy.mixed_access)];
        if ranges == Ranges::AnyAddress {
            levels.push((callers, config.kind, false));
        }
        let mut reduces: Vec<(Reduce, Pipeline)> = Vec::new();
        let mut downsweeps: Vec<(Downsweep, Pipeline)> = Vec::new();
        for (rows, kind, quad_access) in levels {
            let quad_access = quad_access && !shape.is_strided;
            let [quads, mixed] =
                [("QUAD_ACCESS", quad_access.into()), ("MIXED_ACCESS", policy.mixed_access.into())];
            let key = Reduce { rows, quad_access };
            if reduces.iter().all(|(made, _)| *made != key) {
                reduces.push((key, pipeline(reduce, rows, &[quads, mixed])?));
            }
            let key = Downsweep { rows, kind, quad_access };
            if downsweeps.iter().all(|(made, _)| *made != key) {
                let constants = [quads, mixed, ("EXCLUSIVE", (kind == ScanKind::Exclusive).into())];
                downsweeps.push((key, pipeline(downsweep, rows, &constants)?));
            }
        }
        let small = ScanPolicy { workgroup_size: small_workgroup(device), ..*policy };
        let mark_segments = || small.pipeline(device, &kernels::SCAN_MARK_SEGMENTS, &[]);
        let level_args = || LevelArgsWriter::new(device, policy.subgroup_size);
        let sizes = Shape {
            row_size: config.row_size(),
            tile_items: policy.tile_items(),
            is_segmented: config.segments.is_some(),
            by_offsets: config.segments == Some(SegmentsBy::Offsets),
            has_initial: config.has_initial,
            counts_on_device: config.counts_on_device,
        };
        Ok(Self {
            kind: config.kind,
            direction: config.direction,
            segments: config.segments,
            shape: sizes,
            column_count: if shape.is_strided { config.column_count() } else { 1 },
            ranges,
            mixed_access: policy.mixed_access,
            pack_items: shape.items_per_pack(),
            reduces,
            downsweeps,
            level_args: config.counts_on_device.then(level_args).transpose()?,
            mark_segments: sizes.by_offsets.then(mark_segments).transpose()?,
        })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let Self { reduces, downsweeps, level_args, mark_segments, .. } = self;
        let reduces = reduces.iter().map(|(_, pipeline)| pipeline);
        let downsweeps = downsweeps.iter().map(|(_, pipeline)| pipeline);
        reduces
            .chain(downsweeps)
            .chain(level_args.as_ref().map(LevelArgsWriter::pipeline))
            .chain(mark_segments)
    }

    pub(super) fn level_count(&self, count: u64) -> u64 {
        Layout::new(&self.shape, count).levels.len as u64
    }

    pub(super) fn scratch_size(&self, max_count: u64) -> u64 {
        Layout::new(&self.shape, max_count).scratch_size
    }

    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ScanBuffers,
        count: Count,
    ) -> Result<()> {
        let recording = Recording::new(self, buffers, count)?;
        recorder.check_workgroups(u64::from(recording.tiles(0)?.count) * u64::from(self.column_count))?;
        recording.prepare(recorder)?;
        let top = recording.layout.levels.len - 1;
        for level in 0..top {
            match level {
                0 => recorder.phase(c"reduce"),
                1 => recorder.phase(c"spine"),
                _ => {}
            }
            recording.reduce(recorder, level)?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        if top == 1 {
            recorder.phase(c"spine");
        }
        for level in (0..=top).rev() {
            if level == 0 {
                recorder.phase(c"downsweep");
            }
            recording.downsweep(recorder, level)?;
            if level > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
        }
        Ok(())
    }
}

/// One recording, and where its ranges are.
struct Recording<'a> {
    scan: &'a ReduceThenScan,
    buffers: &'a ScanBuffers,
    count: Count,
    layout: Layout,
    /// The row that all begins with, if there is one.
    initial: AddressRange,
    /// What says where segments begin, if anything does.
    heads: AddressRange,
    /// Of segments by offsets.
    offset_count: u32,
}

impl<'a> Recording<'a> {
    fn new(scan: &'a ReduceThenScan, buffers: &'a ScanBuffers, count: Count) -> Result<Self> {
        let max_count = count.max();
        let layout = Layout::new(&scan.shape, max_count);
        if scan.segments.is_some() && max_count > u32::MAX.into() {
            let max = u32::MAX.into();
            return Err(Error::TooManyElements { count: max_count, max, what: "a scan of segments" });
        }
        let tiles = Tiles::new(max_count, scan.shape.tile_items)?;
        if u64::from(tiles.count) * u64::from(scan.column_count) > u32::MAX.into() {
            let max = u64::from(u32::MAX / scan.column_count) * u64::from(scan.shape.tile_items);
            let what = "2^32 - 1 workgroups of this policy";
            return Err(Error::TooManyElements { count: max_count, max, what });
        }
        let initial = match buffers.initial {
            InitialValue::Identity => AddressRange::default(),
            InitialValue::Host(_) => buffers.scratch.slice(layout.initial, scan.shape.row_size).addresses(),
            InitialValue::Device(range) => AddressRange::new(range.address, scan.shape.row_size),
        };
        let (heads, offset_count) = (buffers.segments, 0);
        let mut recording = Self { scan, buffers, count, layout, initial, heads, offset_count };
        if scan.mark_segments.is_some() {
            let offset_count = buffers.segments.size / size_of::<u32>() as u64;
            let (max, what) = (u32::MAX.into(), "a scan of segments, in offsets");
            recording.offset_count = u32::try_from(offset_count).map_err(|_| Error::TooManyElements {
                count: offset_count,
                max,
                what,
            })?;
            recording.heads = recording.head_bits().addresses();
        }
        Ok(recording)
    }

    fn head_bits(&self) -> BufferRange {
        let size = self.layout.levels.counts[0].div_ceil(32) * 4;
        self.buffers.scratch.slice(self.layout.head_bits, size)
    }

    /// What comes before the way up.
    fn prepare(&self, recorder: &mut Recorder<'_>) -> Result<()> {
        let Self { scan, buffers, count, layout, .. } = self;
        recorder.phase(c"level args");
        let mut has_transfers = false;
        if let InitialValue::Host(row) = &buffers.initial {
            recorder.update(buffers.scratch.slice(layout.initial, scan.shape.row_size), row.words());
            has_transfers = true;
        }
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
            let push = MarkPush { offsets: buffers.segments, heads: self.heads, offset_count, row_count };
            let workgroup_size = pipeline.specialization().workgroup_size;
            recorder.dispatch(pipeline, &push, offset_count.div_ceil(workgroup_size).into())?;
            has_dispatches = true;
        }
        if let (&Count::Device { address, max }, Some(level_args)) = (count, &scan.level_args) {
            let grid = LevelGrid {
                max_count: max,
                tile_items: scan.shape.tile_items,
                level_count: layout.levels.len as u32,
                column_count: scan.column_count,
            };
            level_args.record(recorder, address, self.levels_on_device(), grid)?;
        } else if has_dispatches {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        Ok(())
    }

    fn levels_on_device(&self) -> LevelArgs {
        let size = LevelArgs::size(self.layout.levels.len as u64);
        LevelArgs(self.buffers.scratch.slice(self.layout.levels_on_device, size))
    }

    fn reduce(&self, recorder: &mut Recorder<'_>, level: usize) -> Result<()> {
        let tiles = self.tiles(level)?;
        let push = ReducePush {
            source: self.source(level),
            sums: self.array(level + 1),
            heads: self.heads(level),
            sum_heads: self.heads(level + 1),
            tiles_on_device: self.tiles_on_device(level),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            column_count: self.scan.column_count,
        };
        let key = Reduce { rows: self.rows(level), quad_access: self.quad_access(level, &[push.source]) };
        self.dispatch(recorder, level, made(&self.scan.reduces, key), &push)
    }

    fn downsweep(&self, recorder: &mut Recorder<'_>, level: usize) -> Result<()> {
        let scan = self.scan;
        let tiles = self.tiles(level)?;
        let is_top = level + 1 == self.layout.levels.len;
        // The top level has no carry-in but an initial value, which segments begin with instead.
        let (initial, top_carry) = match scan.segments {
            Some(_) => (self.initial, AddressRange::default()),
            None => (AddressRange::default(), self.initial),
        };
        let push = DownsweepPush {
            source: self.source(level),
            destination: if level == 0 { self.buffers.destination } else { self.array(level) },
            carries: if is_top { top_carry } else { self.array(level + 1) },
            heads: self.heads(level),
            initial: if level == 0 { initial } else { AddressRange::default() },
            tiles_on_device: self.tiles_on_device(level),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            column_count: scan.column_count,
        };
        let key = Downsweep {
            rows: self.rows(level),
            kind: if level == 0 { scan.kind } else { ScanKind::Exclusive },
            quad_access: self.quad_access(level, &[push.source, push.destination]),
        };
        self.dispatch(recorder, level, made(&scan.downsweeps, key), &push)
    }

    /// A workgroup for each tile of `level`, or for each column of it.
    fn dispatch<P: PushConstants>(
        &self,
        recorder: &mut Recorder<'_>,
        level: usize,
        pipeline: &Pipeline,
        push: &P,
    ) -> Result<()> {
        match self.count {
            Count::Host(_) => {
                let tiles = u64::from(self.tiles(level)?.count);
                recorder.dispatch(pipeline, push, tiles * u64::from(self.scan.column_count))
            }
            Count::Device { .. } => {
                recorder.dispatch_indirect(pipeline, push, self.levels_on_device().workgroups(level))
            }
        }
    }

    fn tiles(&self, level: usize) -> Result<Tiles> {
        Tiles::new(self.layout.levels.counts[level], self.scan.shape.tile_items)
    }

    /// Where the device finds a level's tiles, if it alone knows them.
    fn tiles_on_device(&self, level: usize) -> AddressRange {
        match self.count {
            Count::Host(_) => AddressRange::default(),
            Count::Device { .. } => self.levels_on_device().tiles(level),
        }
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
            (None, _) => AddressRange::default(),
            (Some(_), 0) => self.heads,
            (Some(_), _) => {
                let size = self.layout.levels.counts[level] * size_of::<u32>() as u64;
                self.buffers.scratch.slice(self.layout.heads[level], size).addresses()
            }
        }
    }

    fn rows(&self, level: usize) -> Rows {
        let ReduceThenScan { direction, segments, .. } = *self.scan;
        let is_plain = direction == Direction::Forward && segments.is_none();
        if level == 0 || is_plain { Rows::Callers { direction, segments } } else { Rows::Sums }
    }

    /// Whether kernels access a level by quads, whose ranges are these.
    fn quad_access(&self, level: usize, ranges: &[AddressRange]) -> bool {
        let ReduceThenScan { ranges: callers, column_count, mixed_access, pack_items, .. } = *self.scan;
        let is_quads = match (level, callers) {
            (0, Ranges::Scratch) => true,
            (0, Ranges::AnyAddress) => has_quads(ranges, mixed_access, self.count, pack_items),
            // Sums are of any number.
            _ => mixed_access,
        };
        column_count == 1 && is_quads
    }
}

/// The way down by a textbook's workgroup scan.
fn textbook_downsweep(scan: WorkgroupScan) -> Option<&'static Kernel> {
    match scan {
        WorkgroupScan::Subgroup => None,
        WorkgroupScan::KoggeStone => Some(&kernels::SCAN_DOWNSWEEP_KOGGE_STONE),
        WorkgroupScan::KoggeStoneDoubleBuffered => Some(&kernels::SCAN_DOWNSWEEP_KOGGE_STONE_DOUBLE_BUFFERED),
        WorkgroupScan::BrentKung => Some(&kernels::SCAN_DOWNSWEEP_BRENT_KUNG),
        WorkgroupScan::Sklansky => Some(&kernels::SCAN_DOWNSWEEP_SKLANSKY),
        WorkgroupScan::Sequential => Some(&kernels::SCAN_DOWNSWEEP_SEQUENTIAL),
    }
}

/// The pipeline of `key`, which `new` has made.
pub(super) fn made<K: PartialEq>(pipelines: &[(K, Pipeline)], key: K) -> &Pipeline {
    let (_, pipeline) = pipelines.iter().find(|(made, _)| *made == key).expect("`new` makes every key's");
    pipeline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_has_room_for_what_a_plan_was_made_for() {
        let plain = Shape { row_size: 8, tile_items: 256, ..Shape::default() };
        assert_eq!(Layout::new(&plain, 256).scratch_size, 0);
        let all = Shape {
            is_segmented: true,
            by_offsets: true,
            has_initial: true,
            counts_on_device: true,
            ..plain
        };
        let layout = Layout::new(&all, 1000);
        // Four sums and their heads, a row, two levels, and a bit for each of 1000 rows.
        assert_eq!((layout.levels.offsets[1], layout.heads[1]), (0, 32));
        assert_eq!((layout.initial, layout.levels_on_device, layout.head_bits), (48, 64, 128));
        assert_eq!(layout.scratch_size, 256);
    }
}
