//! Sort of few keys: one dispatch of one workgroup that holds all keys.

use super::Sort;
use super::config::{SortBuffers, SortConfig};
use super::policy::{SortAlgorithm, SortPolicy, TileShape};
use crate::device::{Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{ScratchCursor, has_quads};

#[derive(Debug)]
pub(super) struct SingleWorkgroup {
    config: SortConfig,
    max_count: u32,
    mixed_access: bool,
    by_quads: Option<Pipeline>,
    by_words: Pipeline,
}

impl SingleWorkgroup {
    pub(super) fn new(
        device: &Device,
        config: &SortConfig,
        shape: TileShape,
        policy: &SortPolicy,
    ) -> Result<Self> {
        let kernel = config.kernel(kernels::SORT_SINGLE_WORKGROUP.module(&config.defines()))?;
        let pipeline = |quad_access: bool| {
            let [numbers, descending] = config.constants();
            let constants = [
                numbers,
                descending,
                ("RADIX_BITS", SortAlgorithm::SingleWorkgroup.radix_bits()),
                ("ITEMS_PER_INVOCATION", shape.items_per_invocation),
                ("EXCHANGE_PARTS", shape.exchange_parts(device.capabilities())),
                ("QUAD_ACCESS", quad_access.into()),
                ("MIXED_ACCESS", policy.mixed_access.into()),
            ];
            // Packed keys have no quads.
            let constants = if config.packed_bits().is_some() { &constants[..5] } else { &constants };
            let (workgroup_size, subgroup_size) = (shape.workgroup_size, policy.subgroup_size);
            Pipeline::declare(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
        };
        Ok(Self {
            config: *config,
            max_count: shape.tile_items(),
            mixed_access: policy.mixed_access,
            by_quads: config.packed_bits().is_none().then(|| pipeline(true)).transpose()?,
            by_words: pipeline(false)?,
        })
    }

    /// Maximum number of keys.
    pub(super) fn max_count(&self) -> u64 {
        self.max_count.into()
    }
}

impl Algorithm<Sort> for SingleWorkgroup {
    type Layout = ();

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.by_quads.iter().chain([&self.by_words])
    }

    fn layout(&self, _: &mut ScratchCursor, _: u64) {}

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Sort, ()>) -> Result<()> {
        let Checked { buffers, count, .. } = given;
        let SortBuffers { keys, .. } = *buffers;
        let (begin_bit, end_bit) = (self.config.begin_bit, self.config.end_bit);
        let [sorted, values, sorted_values] = buffers.of_one_pass(&self.config);
        let push = push::SortSingleWorkgroup {
            keys,
            sorted,
            values,
            sorted_values,
            indirect_count: count.indirect(),
            element_count: count.max() as u32,
            begin_bit,
            end_bit,
        };
        let has_quads = has_quads([(keys, 16)], self.mixed_access, count, 4);
        let pipeline = self.by_quads.as_ref().filter(|_| has_quads).unwrap_or(&self.by_words);
        recorder.dispatch(pipeline, &push, 1)
    }
}
