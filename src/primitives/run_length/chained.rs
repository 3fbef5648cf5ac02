//! Encoding in a single pass with decoupled look-back.
//!
//! A tile looks back at two numbers: the runs that earlier tiles keep, and the last head among them, with which the run
//! ends that goes on in the tile. A waiting tile tests a stalled tile itself (fallback).

use super::RunLength;
use super::config::{Coding, RunLengthBuffers, RunLengthConfig};
use super::policy::RunLengthPolicy;
use crate::device::{AddressRange, Barrier, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::Algorithm;
use crate::primitives::{Count, ScratchCursor, Tiles, look_back};

/// Words of what tiles look back at: `ELEMENT_WORDS` of `operator/runs.glsl`.
const ELEMENT_WORDS: u64 = 2;

#[derive(Debug)]
pub(super) struct Chained {
    encode: Pipeline,
    tile_items: u32,
    has_values: bool,
    has_offsets: bool,
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

impl Chained {
    pub(super) fn new(device: &Device, config: &RunLengthConfig, policy: &RunLengthPolicy) -> Result<Self> {
        let RunLengthPolicy { workgroup_size, subgroup_size, items_per_invocation, .. } = *policy;
        let words = config.element.words();
        let own = [
            ("ITEMS_PER_INVOCATION", items_per_invocation),
            ("KEY_NUMBERS", config.element.numbers()),
            ("KEPT_WORDS", if config.has_values { words } else { 0 }),
            ("KEPT_INDICES", config.has_offsets.into()),
            ("NON_TRIVIAL", (config.coding == Coding::EncodeNonTrivial).into()),
        ];
        let constants = [&own[..], &policy.look_back.constants()].concat();
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        let kernel = kernels::RUN_LENGTH_ENCODE.module(&[("KEY_WORDS", words)]);
        Ok(Self {
            encode: Pipeline::declare(device, kernel, options)?,
            tile_items: policy.tile_items(),
            has_values: config.has_values,
            has_offsets: config.has_offsets,
            level_args: LevelArgsWriter::with_min_tiles(device, subgroup_size, config.has_indirect_count, 1)?,
        })
    }

    /// Bytes that a recording reads and writes.
    pub(super) fn traffic_size(&self, element_size: u64, element_count: u64, kept_count: u64) -> u64 {
        let value_size = if self.has_values { element_size } else { 0 };
        let offset_size = if self.has_offsets { 4 } else { 0 };
        element_count * element_size + kept_count * (value_size + offset_size + 4)
    }
}

impl Algorithm<RunLength> for Chained {
    type Layout = Layout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.level_args.as_ref().map(LevelArgsWriter::pipeline).into_iter().chain([&self.encode])
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> Layout {
        let tile_count = count.div_ceil(self.tile_items.into()).max(1);
        let state_size = look_back::state_size(tile_count, ELEMENT_WORDS);
        Layout {
            state: cursor.take("ticket and look-back state", state_size),
            state_size,
            level_args: LevelArgs::take(cursor, self.level_args.as_ref()),
        }
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &RunLengthBuffers,
        layout: &Layout,
        count: Count,
    ) -> Result<()> {
        let scratch = buffers.scratch;
        let tiles = Tiles::at_least_one(count.max(), self.tile_items)?;
        recorder.check_workgroups(tiles.count.into())?;
        let state = scratch.slice(layout.state, layout.state_size);
        recorder.phase(c"level args");
        recorder.fill(state, 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        let level_args = (scratch, layout.level_args);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?;
        let workgroups = workgroups.at_least_one();
        let if_written = |range, is_written: bool| if is_written { range } else { AddressRange::NONE };
        let push = push::RunLengthEncode {
            elements: buffers.elements,
            values: if_written(buffers.values, self.has_values),
            offsets: if_written(buffers.offsets, self.has_offsets),
            lengths: buffers.counts,
            state: state.addresses(),
            run_count: buffers.result_count,
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
        };
        recorder.phase(c"encode");
        workgroups.dispatch(recorder, &self.encode, &push)
    }
}
