//! Plans by their configuration, for their pipelines.

use crate::device::{Capabilities, Device, Pipeline};
use crate::error::{Error, Result};
use crate::gather::GatherConfig;
use crate::harness::cases::{Case, Work, selectable_works};
use crate::primitives::{Config, Plan};
use crate::scan::ScanConfig;
use crate::sort::{SegmentedSortConfig, SortConfig};

/// Configuration of a plan: work without buffers and elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanConfig {
    /// A scan.
    Scan(ScanConfig),
    /// A sort.
    Sort(SortConfig),
    /// A segmented sort.
    SegmentedSort(SegmentedSortConfig),
    /// A gather.
    Gather(GatherConfig),
}

impl PlanConfig {
    /// Configurations that cover every kernel by the selectable policies, and the specializations that change control
    /// flow; not the products of operators, types and directions.
    pub fn every(capabilities: &Capabilities) -> Vec<Self> {
        selectable_works(capabilities).iter().map(|work| Self::of_work(work, capabilities)).collect()
    }

    /// The configuration of a case.
    pub fn of_case(case: &Case, capabilities: &Capabilities) -> Self {
        Self::of_work(&case.work, capabilities)
    }

    /// Compiles the plan's pipelines, and calls `visit` with each.
    ///
    /// # Errors
    /// Those of the plan, and those of `visit`.
    pub fn for_each_pipeline<E: From<Error>>(
        &self,
        device: &Device,
        visit: impl FnMut(&Pipeline) -> Result<(), E>,
    ) -> Result<(), E> {
        let pipelines = self.declare(device)?;
        Pipeline::compile_all(device, &pipelines)?;
        pipelines.iter().try_for_each(visit)
    }

    /// The plan's pipelines, not compiled.
    ///
    /// # Errors
    /// Those of the plan, except the compiler's.
    pub(super) fn declare(&self, device: &Device) -> Result<Vec<Pipeline>> {
        fn pipelines<C: Config>(device: &Device, config: C) -> Result<Vec<Pipeline>> {
            Ok(Plan::<C::Primitive>::declare(device, config)?.pipelines().cloned().collect())
        }
        match *self {
            Self::Scan(config) => pipelines(device, config),
            Self::Sort(config) => pipelines(device, config),
            Self::SegmentedSort(config) => pipelines(device, config),
            Self::Gather(config) => pipelines(device, config),
        }
    }

    fn of_work(work: &Work, capabilities: &Capabilities) -> Self {
        match work {
            Work::Scan(scan) => Self::Scan(scan.config().policy(scan.policy(capabilities))),
            Work::Sort(sort) => Self::Sort(sort.config().policy(sort.policy(capabilities))),
            Work::SegmentedSort(sort) => Self::SegmentedSort(sort.config().policy(sort.policy(capabilities))),
            Work::Gather(gather) => Self::Gather(gather.config().policy(gather.policy(capabilities))),
        }
    }
}
