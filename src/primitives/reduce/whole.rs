//! Reduction of all rows: tiles, then the results of tiles, until one tile is left.
//!
//! ```text
//!   rows ── reduce ──► a row per tile ── reduce ──► …  ── reduce of one tile ──► destination
//! ```
//!
//! The last dispatch has one workgroup per column whatever the count is, so that no rows have a result, too.

use super::config::ReduceConfig;
use super::modules::{Modules, RowShape};
use super::policy::ReducePolicy;
use super::{Reduce, Strategy};
use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::Result;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, LevelGrid, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::scan::levels::Levels;
use crate::primitives::{ScratchCursor, Tiles, has_quads, quad_alignment};

#[derive(Debug)]
pub(super) struct Whole {
    shape: RowShape,
    tile_rows: u32,
    packs: u32,
    mixed_access: bool,
    config: ReduceConfig,
    index_count: u32,
    /// Bytes of a tile's values, and of the indices beside these.
    sizes: [u64; 2],
    pipelines: Vec<(TileAccess, Pipeline)>,
    level_args: Option<LevelArgsWriter>,
}

/// Key of the pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TileAccess {
    by_quads: bool,
    is_upper: bool,
    /// [`ReduceConfig::stages`].
    stages: u32,
}

/// Offsets in scratch.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    levels: Levels,
    level_args: u64,
}

impl Whole {
    pub(super) fn new(device: &Device, config: &ReduceConfig, policy: &ReducePolicy) -> Result<Self> {
        let (of_source, of_results) = (config.modules()?, config.of_results().modules()?);
        let shape = config.row_shape();
        let index_count = config.index_count();
        let (is_index, has_packed) = (index_count > 0, config.packed_source().is_some());
        let mut pipelines: Vec<(TileAccess, Pipeline)> = Vec::new();
        let upper_by_quads = policy.mixed_access && index_count < 2;
        let accesses = [(true, false), (false, false), (upper_by_quads, true)];
        for (by_quads, is_upper, is_last) in
            accesses.map(|(by_quads, is_upper)| [true, false].map(|last| (by_quads, is_upper, last))).concat()
        {
            let key = TileAccess {
                by_quads: by_quads && shape.takes_quads(),
                // All other kernels are the same for both.
                is_upper: is_upper && (is_index || has_packed),
                stages: config.stages(!is_upper, is_last),
            };
            if pipelines.iter().any(|(other, _)| *other == key) {
                continue;
            }
            let mut constants = shape.constants(policy.packs_per_invocation, ReducePolicy::WORKGROUP_SIZE);
            let Modules { reduce, constants: operator, .. } = if is_upper { &of_results } else { &of_source };
            constants.extend(operator);
            constants
                .extend([("QUAD_ACCESS", key.by_quads.into()), ("MIXED_ACCESS", policy.mixed_access.into())]);
            if key.stages > 0 {
                constants.push(("OPERATOR", key.stages));
            }
            if is_index {
                constants.push(("FROM_PARTIALS", is_upper.into()));
            }
            pipelines.push((key, policy.pipeline(device, reduce, &constants)?));
        }
        Ok(Self {
            shape,
            tile_rows: shape.tile_rows(policy.packs_per_invocation),
            packs: policy.packs_per_invocation,
            mixed_access: policy.mixed_access,
            config: *config,
            index_count,
            sizes: config.partial_sizes(),
            pipelines,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }

    fn pipeline(&self, key: TileAccess) -> &Pipeline {
        let found = self.pipelines.iter().find(|(other, _)| *other == key);
        &found.expect("`new` declares the pipeline of every key").1
    }
}

impl Strategy for Whole {
    fn rounding_depth(&self, count: u64) -> u64 {
        let levels = self.layout(&mut ScratchCursor::default(), count).levels.len as u64;
        // The packs of an invocation, the values of a pack, and the tree of 128 invocations.
        levels * u64::from(self.packs - 1 + self.shape.pack_rows().ilog2() + 7)
    }
}

impl Algorithm<Reduce> for Whole {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let tiles = self.pipelines.iter().map(|(_, pipeline)| pipeline);
        tiles.chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, max: u64) -> ScratchLayout {
        let levels = Levels::new(cursor, max, self.tile_rows, self.sizes.iter().sum());
        let size = if self.level_args.is_some() { LevelArgs::size(levels.len as u64) } else { 0 };
        ScratchLayout { levels, level_args: cursor.take("level arguments", size) }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Reduce, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let ScratchLayout { levels, level_args } = layout;
        let column_count = u64::from(self.shape.column_count);
        let tiles = Tiles::of_workgroups(count.max(), self.tile_rows, column_count)?;
        recorder.check_workgroups(u64::from(tiles.count) * column_count)?;
        recorder.phase(c"level args");
        let tiles = TileGrid { tile_items: self.tile_rows, column_count: self.shape.column_count };
        let grid = LevelGrid { tiles, level_count: levels.len, offset: *level_args };
        let [args] = LevelArgs::write(recorder, self.level_args.as_ref(), count, buffers.scratch, [grid])?;
        // The rows of a level above the source, and the indices beside them.
        let arrays = |level: usize| {
            let [size, rows_size] = self.sizes.map(|size| levels.counts[level] * size);
            let offset = levels.offsets[level];
            [(offset, size), (offset + size, rows_size)]
                .map(|(offset, size)| buffers.scratch.slice(offset, size).addresses())
        };
        let (none, is_index) = (AddressRange::NONE, self.index_count > 0);
        for level in 0..levels.len {
            let is_last = level + 1 == levels.len;
            let [source, source_rows] = if level == 0 { [buffers.source, none] } else { arrays(level) };
            let [sums, sum_rows] = match (is_last, is_index) {
                (true, false) => [buffers.destination, none],
                (true, true) => [none, buffers.destination],
                (false, _) => arrays(level + 1),
            };
            let Tiles { count: tile_count, last_extent } =
                Tiles::at_least_one(levels.counts[level], self.tile_rows)?;
            let host_count = u64::from(tile_count) * column_count;
            let workgroups = Workgroups::of_level(args, level, host_count);
            let push = push::ReduceReduce {
                source,
                source_rows: if is_index { source_rows } else { none },
                sums,
                sum_rows: if is_index { sum_rows } else { none },
                groups: none,
                indirect_tiles: workgroups.indirect_tiles(),
                tile_count,
                last_extent,
                column_count: self.shape.column_count * self.shape.flat_columns,
            };
            let by_quads = match level {
                0 => {
                    let ranges = [(source, quad_alignment(self.config.packed_source()))];
                    has_quads(ranges, self.mixed_access, count, self.shape.pack_rows())
                }
                // The indices of maxima begin anywhere.
                _ => self.mixed_access && self.index_count < 2,
            };
            let key = TileAccess {
                by_quads: by_quads && self.shape.takes_quads(),
                is_upper: level > 0 && (is_index || self.config.packed_source().is_some()),
                stages: self.config.stages(level == 0, is_last),
            };
            match level {
                0 => recorder.phase(c"tiles"),
                1 => recorder.phase(c"totals"),
                _ => {}
            }
            let workgroups = if is_last { Workgroups::Host(host_count) } else { workgroups };
            workgroups.dispatch(recorder, self.pipeline(key), &push)?;
            if !is_last {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
        }
        Ok(())
    }
}
