//! Selection of short rows: a cluster of neighbouring lanes of a subgroup holds a row in registers, and ranks its keys.

use super::config::{TopKBuffers, TopKConfig};
use super::policy::TopKPolicy;
use super::{ScratchCursor, TopK};
use crate::device::{Device, Pipeline, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked};

#[derive(Debug)]
pub(super) struct ByRows {
    config: TopKConfig,
    /// Rows of a workgroup.
    group_rows: u32,
    pipeline: Pipeline,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

impl ByRows {
    pub(super) fn new(device: &Device, config: &TopKConfig, policy: &TopKPolicy) -> Result<Self> {
        let lanes = policy.cluster_lanes(config.columns);
        let shape = [
            ("CLUSTER_LANES", lanes),
            ("ITEMS_PER_INVOCATION", config.columns.div_ceil(lanes)),
            ("SORTED", config.is_sorted.into()),
            ("UNEQUAL", config.is_unequal().into()),
            config.value_constant(),
        ];
        let kernel = config.kernel(kernels::TOP_K_ROWS.module(&config.key_define()))?;
        Ok(Self {
            config: *config,
            group_rows: policy.workgroup_size / lanes,
            pipeline: policy.pipeline(device, kernel, &[&shape[..], &config.order_constants()].concat())?,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }

    pub(super) fn row_traffic_size(&self) -> u64 {
        let TopKConfig { k, .. } = self.config;
        let values_size = 2 * u64::from(k) * self.config.value_size();
        self.config.row_size() + self.config.keys_size() + self.config.indices_size() + values_size
    }
}

impl Algorithm<TopK> for ByRows {
    /// The offset of the arguments of an indirect dispatch.
    type Layout = u64;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.level_args.as_ref().map(LevelArgsWriter::pipeline).into_iter().chain([&self.pipeline])
    }

    fn layout(&self, cursor: &mut ScratchCursor, _: u64) -> u64 {
        LevelArgs::take(cursor, self.level_args.as_ref())
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, TopK, u64>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let TopKBuffers { source, destination, destination_indices, scratch, .. } = *buffers;
        recorder.check_workgroups(count.max().div_ceil(self.group_rows.into()))?;
        recorder.phase(c"select of rows");
        let grid = TileGrid { tile_items: self.group_rows, column_count: 1 };
        let level_args = (scratch, *layout);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?;
        let push = push::TopKRows {
            keys: source,
            top_keys: destination,
            top_indices: destination_indices,
            indirect_rows: count.indirect(),
            row_count: count.max() as u32,
            column_count: self.config.columns,
            k: self.config.k,
            key_count: buffers.key_count(&self.config),
            values: buffers.source_values,
            top_values: buffers.destination_values,
            segments: buffers.segments,
            ks: buffers.ks,
        };
        workgroups.dispatch(recorder, &self.pipeline, &push)
    }
}
