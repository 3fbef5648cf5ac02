use super::*;

#[test]
fn a_name_is_of_the_algorithm_and_the_workgroup_scan() {
    for scan in WorkgroupScan::ALL {
        let algorithm = ScanAlgorithm::ReduceThenScan(scan);
        assert!(ScanAlgorithm::ALL.contains(&algorithm), "{algorithm}");
        let name = format!("reduce-then-scan/{}", scan.name());
        assert_eq!(ScanAlgorithm::from_name(&name), Some(algorithm));
    }
    for algorithm in ScanAlgorithm::ALL {
        assert_eq!(ScanAlgorithm::from_name(algorithm.name()), Some(algorithm));
    }
    for name in ["strided", "scan-then-propagate", "reduce-then-scan/brent-kung"] {
        assert_eq!(ScanAlgorithm::from_name(name).is_some(), cfg!(feature = "textbook"), "{name}");
    }
    for name in ["", "subgroup", "kogge-stone", "chained/subgroup", "reduce-then-scan/"] {
        assert_eq!(ScanAlgorithm::from_name(name), None, "{name}");
    }
}
