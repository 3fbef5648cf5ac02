//! Which plans there are, as far as their pipelines go.

use crate::ElementType;
use crate::error::{Error, Result};
use crate::gather::{GatherConfig, GatherPlan, GatherPolicy};
use crate::harness::cases::{CountFrom, Effort, PolicyName, ScanCase, Work, verify_cases};
use crate::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanPlan, WorkgroupScan};
use crate::sort::{
    SegmentedSortConfig, SegmentedSortPlan, SegmentedSortPolicy, SortAlgorithm, SortConfig, SortPlan,
    ValueSize,
};
use crate::vk::{Capabilities, Device, Pipeline};

/// What a plan is made for: a piece of work when memory and elements are of no matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanConfig {
    /// Of a scan.
    Scan(ScanConfig),
    /// Of a sort.
    Sort(SortConfig),
    /// Of a sort in segments.
    SegmentedSort(SegmentedSortConfig),
    /// Of a gather.
    Gather(GatherConfig),
}

impl PlanConfig {
    /// Those of the case table's scans and gathers, and of every sort by the width of its keys and values, in subgroups of
    /// `lanes`, or of what the driver takes by itself: together they have every pipeline that a policy can choose.
    ///
    /// The policies for small tiles are left out: nobody can choose them.
    pub fn every(capabilities: &Capabilities, lanes: Option<u32>) -> Vec<Self> {
        let mut plans = Vec::new();
        for case in verify_cases(Effort::Full, capabilities) {
            let plan = Self::of_work(case.work, capabilities, lanes);
            plans.extend(plan.filter(|plan| !plans.contains(plan)));
        }
        plans.extend(Self::sorts(capabilities, lanes));
        plans
    }

    /// Compiles the plan's pipelines, and shows each of them.
    ///
    /// # Errors
    /// Those of the plan, and those of `visit`.
    pub fn for_each_pipeline<E: From<Error>>(
        &self,
        device: &Device,
        visit: impl FnMut(&Pipeline) -> Result<(), E>,
    ) -> Result<(), E> {
        match *self {
            Self::Scan(config) => ScanPlan::new(device, config)?.pipelines().try_for_each(visit),
            Self::Sort(config) => SortPlan::new(device, config)?.pipelines().try_for_each(visit),
            Self::SegmentedSort(config) => {
                SegmentedSortPlan::new(device, config)?.pipelines().try_for_each(visit)
            }
            Self::Gather(config) => GatherPlan::new(device, config)?.pipelines().try_for_each(visit),
        }
    }

    fn of_work(work: Work, capabilities: &Capabilities, lanes: Option<u32>) -> Option<Self> {
        match work {
            Work::Scan(scan) if scan.policy != PolicyName::Small && !is_like_another(&scan) => {
                let mut policy = scan.policy(capabilities);
                if let Some(lanes) = lanes {
                    policy = policy.with_subgroup_size(lanes);
                }
                Some(Self::Scan(scan.config().policy(policy)))
            }
            Work::Gather(gather) if !gather.has_small_tiles => {
                let config = gather.config();
                let mut policy = GatherPolicy::choose(capabilities, &config).policy;
                if let Some(lanes) = lanes {
                    policy = policy.with_subgroup_size(lanes);
                }
                Some(Self::Gather(config.policy(policy)))
            }
            Work::Scan(_) | Work::Sort(_) | Work::SegmentedSort(_) | Work::Gather(_) => None,
        }
    }

    fn sorts(capabilities: &Capabilities, lanes: Option<u32>) -> Vec<Self> {
        let mut in_segments = SegmentedSortPolicy::choose(capabilities).policy;
        if let Some(lanes) = lanes {
            in_segments = in_segments.with_subgroup_size(lanes);
        }
        let sort = |config: SortConfig, algorithm, policy: PolicyName| {
            let mut policy = policy.sort(capabilities, algorithm, &config);
            if let Some(lanes) = lanes {
                policy = policy.with_subgroup_size(lanes);
            }
            Self::Sort(config.policy(policy))
        };
        let mut sorts = Vec::new();
        let widths = [ElementType::U32, ElementType::U64].map(|key| {
            let pairs = ValueSize::ALL.map(|size| SortConfig::pairs(key, size));
            [SortConfig::keys(key)].into_iter().chain(pairs)
        });
        for config in widths.iter().cloned().flatten() {
            sorts.push(Self::SegmentedSort(SegmentedSortConfig::new(config).policy(in_segments)));
        }
        for algorithm in SortAlgorithm::ALL {
            let policies = [PolicyName::Default, PolicyName::Seed, PolicyName::SeedBinByBin];
            for policy in policies {
                if policy == PolicyName::Default || algorithm.is_of_seed() {
                    sorts.extend(
                        widths.iter().cloned().flatten().map(|config| sort(config, algorithm, policy)),
                    );
                }
            }
        }
        for config in widths.iter().cloned().flatten().map(SortConfig::wide_counts) {
            sorts.push(sort(config, SortAlgorithm::Onesweep, PolicyName::Default));
        }
        // The most that a key is turned around.
        let doubles = SortConfig::keys(ElementType::F64).descending();
        sorts.push(sort(doubles, SortAlgorithm::Radix4Bit, PolicyName::Default));
        sorts
    }
}

/// Whether a compiler makes of a scan's kernels what it makes of another's: of the textbooks' scans of either kind, and of
/// the single pass wherever its count is.
fn is_like_another(scan: &ScanCase) -> bool {
    match scan.algorithm {
        ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup) => false,
        ScanAlgorithm::Chained => scan.count_from != CountFrom::Host,
        _ => scan.kind == ScanKind::Exclusive,
    }
}
