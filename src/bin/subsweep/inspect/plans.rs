//! Plans whose pipelines are inspected, by `--algorithm` and `--policy`.

use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::gather::GatherConfig;
use subsweep::harness::{PlanConfig, PolicyName};
use subsweep::scan::{ScanAlgorithm, ScanConfig, SegmentsBy};
use subsweep::sort::{SegmentedSortConfig, SortAlgorithm, SortConfig, ValueSize};

use crate::args::{Common, PolicyKind};
use crate::error::Ended;
use crate::policy::{self, Algorithm};

/// Refuses options that contradict each other.
pub fn check(common: &Common) -> Result<(), Ended> {
    match common.algorithm {
        Some(Algorithm::Scan(_)) => policy::check_scan(common),
        Some(Algorithm::Sort(_)) => policy::check_sort(common),
        None => Ok(()),
    }
}

/// The plans to inspect: the library's choices on the device for several kinds of work, and every algorithm on the
/// simplest work. One algorithm or policy selects its own plans for the same work.
pub fn all(common: &Common, capabilities: &Capabilities) -> Vec<PlanConfig> {
    let policy = common.policy.map_or(PolicyName::Default, PolicyKind::name);
    match common.algorithm {
        Some(Algorithm::Scan(algorithm)) => scans(capabilities, Some(algorithm), policy),
        Some(Algorithm::Sort(algorithm)) => sorts(capabilities, Some(algorithm), policy),
        None => {
            let mut plans = scans(capabilities, None, policy);
            plans.extend(sorts(capabilities, None, policy));
            if policy == PolicyName::Default {
                plans.extend(SORTS.map(|config| SegmentedSortConfig::new(config).into()));
                plans.extend([1, 4].map(|words| GatherConfig::elements(words).into()));
            }
            plans
        }
    }
}

/// Scans; the simplest first.
const SCANS: [ScanConfig; 8] = [
    ScanConfig::inclusive(ElementType::U32),
    ScanConfig::exclusive(ElementType::U32),
    ScanConfig::inclusive(ElementType::U32).reverse(),
    ScanConfig::inclusive(ElementType::U32).out_of_place(),
    ScanConfig::inclusive(ElementType::U32).columns(4),
    ScanConfig::inclusive(ElementType::F32),
    ScanConfig::inclusive(ElementType::U64),
    ScanConfig::inclusive(ElementType::U32).segments(SegmentsBy::Offsets),
];

/// Sorts; the simplest first.
const SORTS: [SortConfig; 3] = [
    SortConfig::keys(ElementType::U32),
    SortConfig::keys(ElementType::U64),
    SortConfig::pairs(ElementType::U32, ValueSize::B4),
];

fn scans(capabilities: &Capabilities, asked: Option<ScanAlgorithm>, policy: PolicyName) -> Vec<PlanConfig> {
    let plan = |algorithm, policy: PolicyName, config: ScanConfig| {
        PlanConfig::from(config.policy(policy.scan(capabilities, algorithm, &config)))
    };
    let plainest = SCANS[0];
    match (policy, asked) {
        // The variant without packed counters is one of sorts only.
        (PolicyName::SeedBinByBin, _) => Vec::new(),
        // The seed's scan takes rows of few columns only, and has one algorithm.
        (PolicyName::Seed, _) => {
            [1, 4].map(|columns| plan(ScanAlgorithm::ALL[0], policy, plainest.columns(columns))).into()
        }
        (_, Some(algorithm)) => {
            let taken = SCANS.into_iter().filter(|config| algorithm.refusal(config).is_none());
            taken.map(|config| plan(algorithm, policy, config)).collect()
        }
        (_, None) => {
            let chosen = SCANS.map(|config| plan(ScanAlgorithm::ALL[0], PolicyName::Chosen, config));
            let algorithms = ScanAlgorithm::ALL.map(|algorithm| plan(algorithm, policy, plainest));
            chosen.into_iter().chain(algorithms).collect()
        }
    }
}

fn sorts(capabilities: &Capabilities, asked: Option<SortAlgorithm>, policy: PolicyName) -> Vec<PlanConfig> {
    let plan = |algorithm, policy: PolicyName, config: SortConfig| {
        PlanConfig::from(config.policy(policy.sort(capabilities, algorithm, &config)))
    };
    if let Some(algorithm) = asked {
        return SORTS.map(|config| plan(algorithm, policy, config)).into();
    }
    let is_taken = |algorithm: &SortAlgorithm| policy == PolicyName::Default || algorithm.is_of_seed();
    let algorithms = SortAlgorithm::ALL.into_iter().filter(is_taken);
    let algorithms = algorithms.map(|algorithm| plan(algorithm, policy, SORTS[0]));
    match policy {
        PolicyName::Default => {
            let chosen = SORTS.map(|config| plan(SortAlgorithm::ALL[0], PolicyName::Chosen, config));
            chosen.into_iter().chain(algorithms).collect()
        }
        _ => algorithms.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(algorithm: Option<&str>, policy: Option<PolicyKind>) -> Common {
        Common {
            device: crate::device::DeviceChoice::Unset,
            algorithm: algorithm.map(|name| name.parse().unwrap()),
            policy,
            no_pipeline_cache: false,
            list_algorithms: false,
            list_gpus: false,
        }
    }

    fn capabilities() -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.subgroup_size = 32;
        capabilities.min_subgroup_size = 32;
        capabilities.max_subgroup_size = 32;
        capabilities.max_workgroup_invocations = 1024;
        capabilities.shared_memory_size = 32 << 10;
        capabilities
    }

    #[test]
    fn options_narrow_the_plans() {
        let plans = |algorithm, policy| all(&common(algorithm, policy), &capabilities());
        let every = plans(None, None);
        assert_eq!(format!("{every:?}"), format!("{:?}", plans(None, Some(PolicyKind::Default))));
        let is_of = |plan: &PlanConfig, config: &str| format!("{plan:?}").contains(config);
        let is_scan = |plan: &PlanConfig| is_of(plan, "(ScanConfig ");
        let is_sort = |plan: &PlanConfig| is_of(plan, "(SortConfig ");
        for (algorithm, count) in [("strided", 3), ("chained", 6), ("reduce-then-scan", SCANS.len())] {
            let scans = plans(Some(algorithm), None);
            assert!(scans.len() <= SCANS.len() && scans.iter().all(is_scan), "{algorithm}");
            assert_eq!(scans.len(), count, "{algorithm}: {scans:?}");
        }
        assert!(plans(Some("onesweep"), None).iter().all(is_sort));
        assert!(plans(None, Some(PolicyKind::Seed)).iter().any(is_scan));
        assert!(plans(None, Some(PolicyKind::SeedBinByBin)).iter().all(is_sort));
        assert_eq!(plans(Some("radix-2bit"), Some(PolicyKind::Seed)).len(), SORTS.len());
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(check(&common(Some("onesweep"), Some(PolicyKind::Seed))).is_err());
        assert!(check(&common(Some("chained"), Some(PolicyKind::Seed))).is_err());
        assert!(check(&common(None, Some(PolicyKind::SeedBinByBin))).is_ok());
        assert!(check(&common(Some("radix-4bit"), Some(PolicyKind::SeedBinByBin))).is_ok());
    }
}
