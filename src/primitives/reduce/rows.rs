//! Reduction of segments of one length, such as the rows of a table: tiles of each, then the results of tiles, until one is
//! left.
//!
//! ```text
//!   short rows   | 4 invocations | 4 invocations | …                    a workgroup has 32 rows
//!   rows         | workgroup | workgroup | …
//!   long rows    | workgroup | workgroup | … ── results of tiles ──► the next level, of shorter rows
//! ```

use super::config::ReduceConfig;
use super::modules::Modules;
use super::policy::ReducePolicy;
use super::{Reduce, Strategy};
use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::Result;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{Count, ScratchCursor, ScratchRange, Tiles, has_quads, quad_alignment};

/// Invocations that reduce a small segment: the smallest subgroup.
const SMALL_LANES: u32 = 4;
/// Words that one of these holds; larger segments are left to workgroups. Intel's compiler spills with 64.
const SMALL_WORDS: u32 = 32;
/// Exceeds the levels of 2^32 elements in the smallest tiles, of 128.
const MAX_LEVELS: usize = 8;

#[derive(Debug)]
pub(super) struct AlongRows {
    /// Elements of a row of the source.
    length: u32,
    /// From the rows of the source on.
    levels: Vec<Level>,
    mixed_access: bool,
    is_index: bool,
    /// Of the source, where rows are loaded by quads.
    quad_alignment: u64,
    /// Bytes of the values of a tile, and of the indices beside these.
    sizes: [u64; 2],
    pack_values: u32,
    level_args: Option<LevelArgsWriter>,
}

/// Rows of one length, and how they are reduced.
#[derive(Debug)]
struct Level {
    shape: LevelShape,
    /// Of the source, whose address may be any, and of rows that are not whole quads.
    by_words: Option<Pipeline>,
    by_quads: Option<Pipeline>,
}

/// Values and words of a pack.
#[derive(Debug, Clone, Copy)]
struct Pack {
    values: u32,
    words: u32,
}

/// How rows of `length` values are reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LevelShape {
    length: u32,
    /// Invocations of a tile.
    lanes: u32,
    packs: u32,
    /// Tiles of a row.
    tiles: u32,
}

impl LevelShape {
    fn new(length: u32, pack: Pack, max_packs: u32) -> Self {
        let packs_of = |lanes: u32| length.div_ceil(lanes * pack.values);
        let packs = packs_of(SMALL_LANES);
        if packs <= (SMALL_WORDS / pack.words).max(1) {
            return Self { length, lanes: SMALL_LANES, packs, tiles: 1 };
        }
        let lanes = ReducePolicy::WORKGROUP_SIZE;
        let packs = packs_of(lanes).min(max_packs);
        Self { length, lanes, packs, tiles: length.div_ceil(lanes * packs * pack.values) }
    }

    /// The levels of rows of `length` values.
    fn all(length: u32, pack: Pack, max_packs: u32) -> Vec<Self> {
        let first = Self::new(length, pack, max_packs);
        let next = |shape: &Self| (shape.tiles > 1).then(|| Self::new(shape.tiles, pack, max_packs));
        std::iter::successors(Some(first), next).collect()
    }

    /// Rows of a workgroup.
    const fn group_rows(self) -> u32 {
        ReducePolicy::WORKGROUP_SIZE / self.lanes
    }
}

impl AlongRows {
    pub(super) fn new(
        device: &Device,
        config: &ReduceConfig,
        policy: &ReducePolicy,
        length: u32,
    ) -> Result<Self> {
        let (of_source, of_results) = (config.modules()?, config.of_results().modules()?);
        let row_shape = config.row_shape();
        let (is_index, pack_values) = (config.is_index(), row_shape.pack_values);
        let level = |(index, shape): (usize, LevelShape)| {
            let pipeline = |by_quads: bool| {
                let mut constants = row_shape.constants(shape.packs, shape.lanes);
                let Modules { reduce, constants: operator, .. } =
                    if index > 0 { &of_results } else { &of_source };
                constants.extend(operator);
                constants.extend([
                    ("QUAD_ACCESS", by_quads.into()),
                    ("MIXED_ACCESS", policy.mixed_access.into()),
                    ("BY_ROW", 1),
                    ("CLUSTER_LANES", shape.lanes),
                    ("SEGMENT_ROWS", length),
                ]);
                let stages = config.stages(index == 0, shape.tiles == 1);
                if stages > 0 {
                    constants.push(("OPERATOR", stages));
                }
                if is_index {
                    constants.push(("FROM_PARTIALS", u32::from(index > 0)));
                }
                policy.pipeline(device, reduce, &constants)
            };
            // Rows begin at quads.
            let takes_quads = row_shape.takes_quads() && shape.length.is_multiple_of(pack_values);
            let by_quads = takes_quads.then(|| pipeline(true)).transpose()?;
            let by_words = (index == 0 || !takes_quads).then(|| pipeline(false)).transpose()?;
            Ok(Level { shape, by_words, by_quads })
        };
        let pack = Pack { values: pack_values, words: pack_values * config.partial_sizes()[0] as u32 / 4 };
        let shapes = LevelShape::all(length, pack, policy.packs_per_invocation);
        Ok(Self {
            length,
            levels: shapes.into_iter().enumerate().map(level).collect::<Result<_>>()?,
            mixed_access: policy.mixed_access,
            is_index,
            quad_alignment: quad_alignment(config.packed_source()),
            sizes: config.partial_sizes(),
            pack_values,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }
}

impl Strategy for AlongRows {
    fn rounding_depth(&self, _: u64) -> u64 {
        let of = |Level { shape, .. }: &Level| {
            u64::from(shape.packs - 1 + self.pack_values.ilog2() + shape.lanes.ilog2())
        };
        self.levels.iter().map(of).sum()
    }
}

/// Offsets in scratch: of the rows of each level above the source, and of the indices beside them; of the arguments of
/// each level.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    arrays: [[ScratchRange; 2]; MAX_LEVELS],
    level_args: u64,
}

impl Algorithm<Reduce> for AlongRows {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let levels = self.levels.iter().flat_map(|level| level.by_words.iter().chain(&level.by_quads));
        levels.chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, max: u64) -> ScratchLayout {
        let row_count = max.div_ceil(self.length.into());
        let mut arrays = [[ScratchRange::default(); 2]; MAX_LEVELS];
        for (array, level) in arrays.iter_mut().zip(&self.levels).filter(|(_, level)| level.shape.tiles > 1) {
            *array = self.sizes.map(|size| {
                let size = row_count.saturating_mul(u64::from(level.shape.tiles) * size);
                cursor.array("results of tiles", size)
            });
        }
        let args_size = LevelArgs::size(self.levels.len() as u64);
        let size = if self.level_args.is_some() { args_size } else { 0 };
        ScratchLayout { arrays, level_args: cursor.take("level arguments", size) }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Reduce, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        if count.max() == 0 {
            return Ok(());
        }
        // 2^32 - 1 elements have fewer workgroups than that, at every level.
        let [first, ..] = &self.levels[..] else { return Ok(()) };
        let rows = count.max().div_ceil(self.length.into());
        recorder.check_workgroups(
            rows.div_ceil(first.shape.group_rows().into()) * u64::from(first.shape.tiles),
        )?;
        let none = AddressRange::NONE;
        let arrays =
            |level: usize| layout.arrays[level].map(|array| array.range(buffers.scratch).addresses());
        for (index, Level { shape, by_words, by_quads }) in self.levels.iter().enumerate() {
            let [source, source_rows] = if index == 0 { [buffers.source, none] } else { arrays(index - 1) };
            let [sums, sum_rows] = match (index + 1 == self.levels.len(), self.is_index) {
                (true, false) => [buffers.destination, none],
                (true, true) => [none, buffers.destination],
                (false, _) => arrays(index),
            };
            // Elements of the source of which a workgroup reduces the rows.
            let group_items = u64::from(shape.group_rows()) * u64::from(self.length);
            let tile_items = u32::try_from(group_items).unwrap_or(u32::MAX);
            let tiles = Tiles::new(count.max(), tile_items)?;
            recorder.phase(if index == 0 { c"level args" } else { c"totals" });
            let grid = TileGrid { tile_items, column_count: shape.tiles };
            let levels = (buffers.scratch, layout.level_args + LevelArgs::size(index as u64));
            let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, levels)?;
            // The arguments have a barrier of their own, which orders the results of tiles as well.
            if index > 0 && matches!(count, Count::Direct(_)) {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            let push = push::ReduceReduce {
                source,
                source_rows,
                sums,
                sum_rows,
                groups: none,
                indirect_tiles: workgroups.indirect_tiles(),
                tile_count: tiles.count,
                last_extent: tiles.last_extent,
                column_count: shape.length,
            };
            let ranges = [(source, self.quad_alignment)];
            let is_aligned = index > 0 || has_quads(ranges, self.mixed_access, count, self.pack_values);
            let pipeline = by_quads.as_ref().filter(|_| is_aligned).or(by_words.as_ref());
            let pipeline = pipeline.expect("`new` declares one for every address of the source");
            if index == 0 {
                recorder.phase(c"tiles");
            }
            workgroups.dispatch(recorder, pipeline, &push)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
