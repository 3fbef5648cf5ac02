//! Reduction of runs of equal keys in a single pass with decoupled look-back.
//!
//! A tile looks back at the number of runs of earlier tiles, and at the reduction so far of the last one, which may go on
//! in the tile. A waiting tile reduces a stalled tile itself (fallback). Only for operators whose results do not depend on
//! the order of operations.

use super::config::{ReduceBuffers, ReduceConfig, ReduceRuns};
use super::policy::ReducePolicy;
use super::{Reduce, Strategy};
use crate::device::{Access, Barrier, Device, Pipeline, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::Algorithm;
use crate::primitives::{Count, ScratchCursor, Tiles, look_back};
use crate::sort::TileShape;

#[derive(Debug)]
pub(super) struct ByKey {
    by_key: Pipeline,
    tile_items: u32,
    /// Words of what tiles look back at: a count, and a value.
    element_words: u64,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// Offsets of the arrays in scratch.
#[derive(Debug)]
pub(super) struct Layout {
    state: u64,
    state_size: u64,
    level_args: u64,
}

impl ByKey {
    pub(super) fn new(
        device: &Device,
        config: &ReduceConfig,
        policy: &ReducePolicy,
        runs: ReduceRuns,
        tile: TileShape,
    ) -> Result<Self> {
        let value_words = config.row_size() / 4;
        let of_operator = if value_words == 1 { "OPERATOR_WORDS32" } else { "OPERATOR_WORDS64" };
        let key_words = (runs.key_size() / 4) as u32;
        let defines = [("KEY_WORDS", key_words), (of_operator, 1), ("COLUMNS", 1), ("HEADED", 1)];
        let operator = config.modules().constants;
        let keys = [("KEY_NUMBERS", runs.key_numbers())];
        let constants = [&operator[..], &keys, &policy.look_back.constants()].concat();
        Ok(Self {
            by_key: policy.heads_pipeline(
                tile,
                device,
                kernels::REDUCE_BY_KEY.module(&defines),
                &constants,
            )?,
            tile_items: tile.tile_items(),
            element_words: 1 + value_words,
            level_args: LevelArgsWriter::with_min_tiles(
                device,
                policy.subgroup_size,
                config.has_indirect_count,
                1,
            )?,
        })
    }
}

impl Strategy for ByKey {
    /// No result is rounded.
    fn rounding_depth(&self, count: u64) -> u64 {
        count
    }

    fn key_reads(&self) -> u64 {
        1
    }

    fn first_access(&self) -> Access {
        Access::COMPUTE.and(Access::TRANSFER_WRITE)
    }
}

impl Algorithm<Reduce> for ByKey {
    type Layout = Layout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.level_args.as_ref().map(LevelArgsWriter::pipeline).into_iter().chain([&self.by_key])
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> Layout {
        let tile_count = count.div_ceil(self.tile_items.into()).max(1);
        let state_size = look_back::state_size(tile_count, self.element_words);
        Layout {
            state: cursor.take("ticket and look-back state", state_size),
            state_size,
            level_args: LevelArgs::take(cursor, self.level_args.as_ref()),
        }
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ReduceBuffers,
        layout: &Layout,
        count: Count,
    ) -> Result<()> {
        let tiles = Tiles::at_least_one(count.max(), self.tile_items)?;
        recorder.check_workgroups(tiles.count.into())?;
        let state = buffers.scratch.slice(layout.state, layout.state_size);
        recorder.phase(c"level args");
        recorder.fill(state, 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        let level_args = (buffers.scratch, layout.level_args);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?;
        let workgroups = workgroups.at_least_one();
        let push = push::ReduceByKey {
            keys: buffers.segments,
            source: buffers.source,
            unique_keys: buffers.unique_keys,
            destination: buffers.destination,
            state: state.addresses(),
            run_count: buffers.run_count,
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
        };
        recorder.phase(c"by key");
        workgroups.dispatch(recorder, &self.by_key, &push)
    }
}
