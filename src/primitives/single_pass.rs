//! A single pass over tiles with decoupled look-back: its ticket and descriptors, and its one dispatch.

use std::ffi::CStr;

use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::{Count, ScratchCursor, ScratchRange, Tiles, look_back};
use crate::device::{AddressRange, Barrier, BufferRange, Device, Pipeline, PushConstants, Recorder};
use crate::error::Result;

/// A kernel whose tiles look back. It has a result of no elements: at least one tile.
#[derive(Debug)]
pub(super) struct SinglePass {
    pipeline: Pipeline,
    tile_items: u32,
    /// Words of what tiles look back at.
    element_words: u64,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// Offsets of the arrays in scratch.
#[derive(Debug)]
pub(super) struct SinglePassLayout {
    state: ScratchRange,
    level_args: u64,
}

/// Push constants of every such kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassTiles {
    pub state: AddressRange,
    pub indirect_tiles: AddressRange,
    pub tile_count: u32,
    pub last_extent: u32,
}

impl SinglePass {
    pub(super) fn new(
        device: &Device,
        pipeline: Pipeline,
        tile_items: u32,
        element_words: u64,
        (subgroup_size, has_indirect_count): (Option<u32>, bool),
    ) -> Result<Self> {
        let level_args = LevelArgsWriter::with_min_tiles(device, subgroup_size, has_indirect_count, 1)?;
        Ok(Self { pipeline, tile_items, element_words, level_args })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.level_args.as_ref().map(LevelArgsWriter::pipeline).into_iter().chain([&self.pipeline])
    }

    pub(super) fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> SinglePassLayout {
        let tile_count = count.div_ceil(self.tile_items.into()).max(1);
        let state_size = look_back::state_size(tile_count, self.element_words);
        SinglePassLayout {
            state: cursor.array("ticket and look-back state", state_size),
            level_args: LevelArgs::take(cursor, self.level_args.as_ref()),
        }
    }

    /// Records a fill and the dispatch, as `phase`.
    pub(super) fn record<P: PushConstants>(
        &self,
        recorder: &mut Recorder<'_>,
        (scratch, layout): (BufferRange, &SinglePassLayout),
        count: Count,
        phase: &'static CStr,
        push: impl FnOnce(PassTiles) -> P,
    ) -> Result<()> {
        let tiles = Tiles::at_least_one(count.max(), self.tile_items)?;
        recorder.check_workgroups(tiles.count.into())?;
        let state = layout.state.range(scratch);
        recorder.phase(c"level args");
        recorder.fill(state, 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        let level_args = (scratch, layout.level_args);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?;
        let workgroups = workgroups.at_least_one();
        let push = push(PassTiles {
            state: state.addresses(),
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
        });
        recorder.phase(phase);
        workgroups.dispatch(recorder, &self.pipeline, &push)
    }
}
