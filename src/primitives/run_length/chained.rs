//! Encoding in a single pass with decoupled look-back.
//!
//! A tile looks back at two numbers: the runs that earlier tiles keep, and the last head among them, with which the run
//! ends that goes on in the tile. A waiting tile tests a stalled tile itself (fallback).

use super::RunLength;
use super::config::{Coding, RunLengthConfig};
use super::policy::RunLengthPolicy;
use crate::device::{AddressRange, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::single_pass::{SinglePass, SinglePassLayout};
use crate::primitives::{ScratchCursor, packed};

/// Words of what tiles look back at: `ELEMENT_WORDS` of `operator/runs.glsl`.
const ELEMENT_WORDS: u64 = 2;

#[derive(Debug)]
pub(super) struct Chained {
    pass: SinglePass,
    has_values: bool,
    has_offsets: bool,
}

impl Chained {
    pub(super) fn new(device: &Device, config: &RunLengthConfig, policy: &RunLengthPolicy) -> Result<Self> {
        let RunLengthPolicy { workgroup_size, subgroup_size, items_per_invocation, .. } = *policy;
        let words = config.element.words();
        let own = [
            ("ITEMS_PER_INVOCATION", items_per_invocation),
            ("KEY_NUMBERS", config.element.key_numbers(config.order)),
            ("KEPT_WORDS", if config.has_values { words } else { 0 }),
            ("KEPT_INDICES", config.has_offsets.into()),
            ("NON_TRIVIAL", (config.coding == Coding::EncodeNonTrivial).into()),
        ];
        let constants = [&own[..], &policy.look_back.constants()].concat();
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        let kernel = kernels::RUN_LENGTH_ENCODE.module(&[packed::key_define(config.element)]);
        let pipeline = Pipeline::declare(device, kernel, options)?;
        let levels = (subgroup_size, config.has_indirect_count);
        Ok(Self {
            pass: SinglePass::new(device, pipeline, policy.tile_items(), ELEMENT_WORDS, levels)?,
            has_values: config.has_values,
            has_offsets: config.has_offsets,
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
    type Layout = SinglePassLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.pass.pipelines()
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> SinglePassLayout {
        self.pass.layout(cursor, count)
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        given: Checked<'_, RunLength, SinglePassLayout>,
    ) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let if_written = |range, is_written: bool| if is_written { range } else { AddressRange::NONE };
        self.pass.record(recorder, (buffers.scratch, layout), count, c"encode", |tiles| {
            push::RunLengthEncode {
                elements: buffers.elements,
                values: if_written(buffers.values, self.has_values),
                offsets: if_written(buffers.offsets, self.has_offsets),
                lengths: buffers.counts,
                state: tiles.state,
                run_count: buffers.result_count,
                indirect_tiles: tiles.indirect_tiles,
                tile_count: tiles.tile_count,
                last_extent: tiles.last_extent,
            }
        })
    }
}
