//! Sort of structures by a function of the caller that compares two of them: tiles, then merges of runs, of indices.

use crate::device::{AddressRange, Barrier, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::level_args::Workgroups;
use crate::primitives::{Count, Functions};

use super::StructureSortPolicy;

#[derive(Debug)]
pub(super) struct MergeSort {
    tile_items: u32,
    merge_runs: Pipeline,
}

impl MergeSort {
    pub(super) fn new(
        device: &Device,
        functions: &'static Functions,
        policy: &StructureSortPolicy,
    ) -> Result<Self> {
        let constants = [("ITEMS_PER_INVOCATION", policy.items_per_invocation)];
        let workgroup_size = policy.workgroup_size;
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
        let kernel = functions.kernel(kernels::SORT_MERGE_RUNS.module(&[]))?;
        let merge_runs = Pipeline::declare(device, kernel, options)?;
        Ok(Self { tile_items: policy.tile_items(), merge_runs })
    }

    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.merge_runs
    }

    /// Merges of runs that make one of up to `max` elements.
    pub(super) fn merge_count(&self, max: u64) -> u32 {
        max.div_ceil(self.tile_items.into()).next_power_of_two().ilog2()
    }

    /// Records the sort of `structures` into `indices`, by way of as many in `others`.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        workgroups: Workgroups,
        [structures, indices, others]: [AddressRange; 3],
        count: Count,
    ) -> Result<()> {
        let merge_count = self.merge_count(count.max());
        let is_odd = merge_count % 2 == 1;
        let (mut source, mut destination) = if is_odd { (indices, others) } else { (others, indices) };
        for merges in 0..=merge_count {
            if merges > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            recorder.phase(if merges == 0 { c"sort tiles" } else { c"merge runs" });
            let push = push::SortMergeRuns {
                elements: structures,
                source: if merges == 0 { AddressRange::NONE } else { source },
                destination,
                indirect_count: count.indirect(),
                // Fits: `check_count` has found it.
                element_count: count.max() as u32,
                run_tiles: (1 << merges) >> 1,
            };
            workgroups.dispatch(recorder, &self.merge_runs, &push)?;
            (source, destination) = (destination, source);
        }
        Ok(())
    }

    /// Bytes of indices that a recording reads and writes.
    pub(super) fn traffic_size(&self, count: u64) -> u64 {
        let merge_count = self.merge_count(count);
        count.saturating_mul(u64::from(4 + 8 * merge_count))
    }
}
