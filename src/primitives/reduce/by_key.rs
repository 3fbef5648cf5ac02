//! Reduction of runs of equal keys in a single pass with decoupled look-back.
//!
//! A tile looks back at the number of runs of earlier tiles, and at the reduction so far of the last one, which may go
//! on in the tile. A waiting tile reduces a stalled tile itself (fallback). Only for operators whose results do not
//! depend on the order of operations.

use super::config::{ReduceConfig, ReduceRuns};
use super::policy::ReducePolicy;
use super::{Reduce, Strategy};
use crate::device::{Access, Device, Pipeline, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::ScratchCursor;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::single_pass::{SinglePass, SinglePassLayout};
use crate::sort::TileShape;

#[derive(Debug)]
pub(super) struct ByKey(SinglePass);

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
        let operator = config.modules()?.constants;
        let keys = [("KEY_NUMBERS", runs.key_numbers())];
        let constants = [&operator[..], &keys, &policy.look_back.constants()].concat();
        let kernel = kernels::REDUCE_BY_KEY.module(&defines);
        let pipeline = policy.heads_pipeline(tile, device, kernel, &constants)?;
        let levels = (policy.subgroup_size, config.has_indirect_count);
        // Tiles look back at a count, and a value.
        Ok(Self(SinglePass::new(device, pipeline, tile.tile_items(), 1 + value_words, levels)?))
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
    type Layout = SinglePassLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.0.pipelines()
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> SinglePassLayout {
        self.0.layout(cursor, count)
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        given: Checked<'_, Reduce, SinglePassLayout>,
    ) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        self.0.record(recorder, (buffers.scratch, layout), count, c"by key", |tiles| push::ReduceByKey {
            keys: buffers.segments,
            source: buffers.source,
            unique_keys: buffers.unique_keys,
            destination: buffers.destination,
            state: tiles.state,
            run_count: buffers.run_count,
            indirect_tiles: tiles.indirect_tiles,
            tile_count: tiles.tile_count,
            last_extent: tiles.last_extent,
        })
    }
}
