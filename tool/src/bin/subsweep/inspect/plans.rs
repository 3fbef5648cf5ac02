//! Plans whose pipelines are inspected, by `--algorithm` and `--policy`.

use subsweep::device::Capabilities;
use subsweep_tool::harness::PlanConfig;

use crate::SHOWN;
use crate::args::Common;

/// The plans to inspect.
pub fn all(common: &Common, capabilities: &Capabilities) -> Vec<PlanConfig> {
    SHOWN.iter().flat_map(|shown| (shown.plans)(common, capabilities)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::PolicyKind;
    use crate::policy::check;

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
        let is_select = |plan: &PlanConfig| is_of(plan, "(SelectConfig ");
        for (algorithm, count, select_count) in
            [("strided", 3, 0), ("chained", 6, 3), ("reduce-then-scan", 9, 4)]
        {
            let (selections, scans): (Vec<_>, Vec<_>) =
                plans(Some(algorithm), None).into_iter().partition(is_select);
            assert!(scans.iter().all(is_scan), "{algorithm}");
            assert_eq!((scans.len(), selections.len()), (count, select_count), "{algorithm}: {scans:?}");
        }
        assert!(plans(Some("onesweep"), None).iter().all(is_sort));
        assert!(plans(None, Some(PolicyKind::Seed)).iter().any(is_scan));
        assert!(plans(None, Some(PolicyKind::SeedBinByBin)).iter().all(is_sort));
        assert_eq!(plans(Some("radix-2bit"), Some(PolicyKind::Seed)).len(), 3);
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(check(&common(Some("onesweep"), Some(PolicyKind::Seed))).is_err());
        assert!(check(&common(Some("chained"), Some(PolicyKind::Seed))).is_err());
        assert!(check(&common(None, Some(PolicyKind::SeedBinByBin))).is_ok());
        assert!(check(&common(Some("radix-4bit"), Some(PolicyKind::SeedBinByBin))).is_ok());
    }
}
