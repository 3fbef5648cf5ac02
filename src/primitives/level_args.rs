//! Dispatch arguments of the levels of tiles, for indirect counts: one small dispatch writes them for the indirect
//! dispatches and their kernels.

use ash::vk;

use super::{Count, ScratchCursor, striding_workgroups};
use crate::device::{
    AddressRange, Barrier, BufferRange, Device, Pipeline, PipelineOptions, PushConstants, Recorder, push,
};
use crate::error::Result;
use crate::kernels;

/// Bytes that `level_args.comp` writes for a level.
const LEVEL_SIZE: u64 = 32;
/// Its parts: a `VkDispatchIndirectCommand`, then the tiles of the level.
const INDIRECT_SIZE: u64 = 12;
const TILES_SIZE: u64 = 8;

/// Workgroup size of kernels with little work.
const SMALL_WORKGROUP: u32 = 32;

/// Workgroup size of kernels with little work: at least one full subgroup.
pub(super) fn small_workgroup(device: &Device) -> u32 {
    SMALL_WORKGROUP.max(device.capabilities().max_subgroup_size)
}

/// The pipeline that writes the arguments.
#[derive(Debug)]
pub(super) struct LevelArgsWriter {
    pipeline: Pipeline,
    count_size: u64,
}

/// Division of elements into levels of tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelGrid {
    /// A larger count is treated as this, but for one of 64 bits.
    pub max_count: u32,
    pub tile_items: u32,
    pub level_count: u32,
    /// Workgroups per tile.
    pub column_count: u32,
}

impl LevelArgsWriter {
    /// The writer of a plan; `None` for a plan without indirect counts.
    pub(super) fn new(
        device: &Device,
        subgroup_size: Option<u32>,
        has_indirect_count: bool,
    ) -> Result<Option<Self>> {
        Self::with_min_tiles(device, subgroup_size, has_indirect_count, 0)
    }

    /// As [`Self::new`], for kernels that have a result of no elements: a count of 0 has `min_tiles` tiles, 0 or 1.
    pub(super) fn with_min_tiles(
        device: &Device,
        subgroup_size: Option<u32>,
        has_indirect_count: bool,
        min_tiles: u32,
    ) -> Result<Option<Self>> {
        let writer = || Self::always(device, subgroup_size, min_tiles, false);
        has_indirect_count.then(writer).transpose()
    }

    /// The writer of a plan that always counts on the device; with `is_wide` by a count of 64 bits, for one level.
    pub(super) fn always(
        device: &Device,
        subgroup_size: Option<u32>,
        min_tiles: u32,
        is_wide: bool,
    ) -> Result<Self> {
        let constants = [("MIN_TILES", min_tiles), ("WIDE_OFFSETS", is_wide.into())];
        let options =
            PipelineOptions { workgroup_size: small_workgroup(device), constants: &constants, subgroup_size };
        let pipeline = Pipeline::declare(device, kernels::SCAN_LEVEL_ARGS.module(&[]), options)?;
        Ok(Self { pipeline, count_size: if is_wide { 8 } else { 4 } })
    }

    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Records the dispatch, and a barrier to the indirect dispatches.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        count: vk::DeviceAddress,
        levels: LevelArgs,
        grid: LevelGrid,
    ) -> Result<()> {
        self.dispatch(recorder, count, levels, grid)?;
        recorder.barrier(Barrier::COMPUTE_TO_INDIRECT);
        Ok(())
    }

    /// Records the dispatch alone.
    pub(super) fn dispatch(
        &self,
        recorder: &mut Recorder<'_>,
        count: vk::DeviceAddress,
        levels: LevelArgs,
        grid: LevelGrid,
    ) -> Result<()> {
        let push = push::ScanLevelArgs {
            count: AddressRange::new(count, self.count_size),
            levels: levels.0.addresses(),
            max_count: grid.max_count,
            tile_items: grid.tile_items,
            level_count: grid.level_count,
            column_count: grid.column_count,
            max_row: recorder.device().capabilities().max_workgroup_count[0],
        };
        recorder.dispatch(&self.pipeline, &push, 1)
    }
}

/// The range of the arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelArgs(pub BufferRange);

impl LevelArgs {
    /// Bytes for `level_count` levels.
    pub(super) const fn size(level_count: u64) -> u64 {
        level_count * LEVEL_SIZE
    }

    /// Allocates the arguments of one level, where there is a writer.
    pub(super) fn take(cursor: &mut ScratchCursor, writer: Option<&LevelArgsWriter>) -> u64 {
        cursor.take("level arguments", if writer.is_some() { Self::size(1) } else { 0 })
    }

    /// The indirect arguments of a level.
    pub(super) fn workgroups(self, level: usize) -> BufferRange {
        self.0.slice(level as u64 * LEVEL_SIZE, INDIRECT_SIZE)
    }

    /// The tiles of a level.
    pub(super) fn tiles(self, level: usize) -> AddressRange {
        self.0.slice(level as u64 * LEVEL_SIZE + INDIRECT_SIZE, TILES_SIZE).addresses()
    }
}

/// Workgroups of a dispatch over tiles: a direct number, or indirect arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum Workgroups {
    Host(u64),
    Device(LevelArgs),
}

/// Tiles of a dispatch.
#[derive(Debug, Clone, Copy)]
pub(super) struct TileGrid {
    pub tile_items: u32,
    /// Workgroups per tile.
    pub column_count: u32,
}

impl Workgroups {
    /// The workgroups for `count` elements. For an indirect count, records the dispatch that writes the arguments at
    /// `offset` in `scratch`, and a barrier to their use.
    pub(super) fn new(
        recorder: &mut Recorder<'_>,
        level_args: Option<&LevelArgsWriter>,
        count: Count,
        grid: TileGrid,
        (scratch, offset): (BufferRange, u64),
    ) -> Result<Self> {
        let TileGrid { tile_items, column_count } = grid;
        match (count, level_args) {
            (Count::Indirect { address, max }, Some(level_args)) => {
                let levels = LevelArgs(scratch.slice(offset, LevelArgs::size(1)));
                let grid = LevelGrid { max_count: max, tile_items, level_count: 1, column_count };
                level_args.record(recorder, address, levels, grid)?;
                Ok(Self::Device(levels))
            }
            (Count::Direct(count), _) => {
                Ok(Self::Host(count.div_ceil(tile_items.into()) * u64::from(column_count)))
            }
            (Count::Indirect { .. }, None) => unreachable!("`Count::check_supported` was called"),
        }
    }

    /// The workgroups of kernels that have a result of no elements: a direct count of 0 has a tile as well.
    pub(super) fn at_least_one(self) -> Self {
        match self {
            Self::Host(tile_count) => Self::Host(tile_count.max(1)),
            on_device @ Self::Device(_) => on_device,
        }
    }

    /// The workgroups that stride over the tiles, at most `max`; an indirect count has more, which return.
    pub(super) fn striding(self, max: Option<u32>) -> Self {
        match self {
            Self::Host(tile_count) => Self::Host(striding_workgroups(max, tile_count)),
            on_device @ Self::Device(_) => on_device,
        }
    }

    /// The tiles of an indirect count; empty for a direct one.
    pub(super) fn indirect_tiles(self) -> AddressRange {
        match self {
            Self::Host(_) => AddressRange::NONE,
            Self::Device(levels) => levels.tiles(0),
        }
    }

    /// Records the direct or indirect dispatch.
    pub(super) fn dispatch<P: PushConstants>(
        self,
        recorder: &mut Recorder<'_>,
        pipeline: &Pipeline,
        push: &P,
    ) -> Result<()> {
        match self {
            Self::Host(workgroup_count) => recorder.dispatch(pipeline, push, workgroup_count),
            Self::Device(levels) => recorder.dispatch_indirect(pipeline, push, levels.workgroups(0)),
        }
    }
}
