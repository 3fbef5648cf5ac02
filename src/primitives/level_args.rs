//! Dispatch arguments of the levels of tiles, for indirect counts: one small dispatch writes them for the indirect
//! dispatches and their kernels.

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

    /// Records the dispatches that write the arguments of `grids`, and a barrier to their use; none for a direct count or no
    /// levels.
    pub(super) fn write<const N: usize>(
        recorder: &mut Recorder<'_>,
        writer: Option<&LevelArgsWriter>,
        count: Count,
        scratch: BufferRange,
        grids: [LevelGrid; N],
    ) -> Result<[Option<Self>; N]> {
        let mut args = [None; N];
        let Count::Indirect { address, max } = count else { return Ok(args) };
        let writer = writer.expect("`Count::check_supported` was called");
        for (args, grid) in args.iter_mut().zip(grids).filter(|(_, grid)| grid.level_count > 0) {
            let levels = scratch.slice(grid.offset, Self::size(grid.level_count as u64));
            let push = push::ScanLevelArgs {
                count: AddressRange::new(address, writer.count_size),
                levels: levels.addresses(),
                max_count: max,
                tile_items: grid.tiles.tile_items,
                level_count: grid.level_count as u32,
                column_count: grid.tiles.column_count,
                max_row: recorder.device().capabilities().max_workgroup_count[0],
            };
            recorder.dispatch(&writer.pipeline, &push, 1)?;
            *args = Some(Self(levels));
        }
        if args.iter().any(Option::is_some) {
            recorder.barrier(Barrier::COMPUTE_TO_INDIRECT);
        }
        Ok(args)
    }

    /// The indirect arguments of the first level.
    fn workgroups(self) -> BufferRange {
        self.0.slice(0, INDIRECT_SIZE)
    }

    /// The tiles of the first level.
    pub(super) fn tiles(self) -> AddressRange {
        self.0.slice(INDIRECT_SIZE, TILES_SIZE).addresses()
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

/// Division of elements into levels of tiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelGrid {
    pub tiles: TileGrid,
    pub level_count: usize,
    /// Offset of the arguments in scratch.
    pub offset: u64,
}

impl Workgroups {
    /// The workgroups for `count` elements, by arguments at `offset` in `scratch` for an indirect count: see
    /// [`LevelArgs::write`].
    pub(super) fn new(
        recorder: &mut Recorder<'_>,
        level_args: Option<&LevelArgsWriter>,
        count: Count,
        tiles: TileGrid,
        (scratch, offset): (BufferRange, u64),
    ) -> Result<Self> {
        let grid = LevelGrid { tiles, level_count: 1, offset };
        let [args] = LevelArgs::write(recorder, level_args, count, scratch, [grid])?;
        let tile_count = count.max().div_ceil(tiles.tile_items.into());
        Ok(Self::of_level(args, 0, tile_count * u64::from(tiles.column_count)))
    }

    /// The workgroups of a level: of its arguments, or else `host_count`.
    pub(super) fn of_level(args: Option<LevelArgs>, level: usize, host_count: u64) -> Self {
        args.map_or(Self::Host(host_count), |LevelArgs(levels)| {
            Self::Device(LevelArgs(levels.slice(level as u64 * LEVEL_SIZE, LEVEL_SIZE)))
        })
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
            Self::Device(levels) => levels.tiles(),
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
            Self::Device(levels) => recorder.dispatch_indirect(pipeline, push, levels.workgroups()),
        }
    }
}
