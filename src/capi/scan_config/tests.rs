use super::*;

fn known<T>(of: impl Fn(u32) -> Result<T>) -> u32 {
    assert!(matches!(of(u32::MAX), Err(Failure::UnknownValue { value: u32::MAX, .. })));
    (0..).find(|&value| matches!(of(value), Err(Failure::UnknownValue { .. }))).unwrap()
}

#[test]
fn every_operator_and_every_kind_of_segments_has_a_number() {
    assert_eq!(known(operator), ScanOperator::ALL.len() as u32);
    for (value, expected) in (0..).zip(ScanOperator::ALL) {
        assert_eq!(operator(value).unwrap(), expected);
    }
    assert_eq!(known(segments_by), 1 + SegmentsBy::ALL.len() as u32);
    for (value, expected) in (1..).zip(SegmentsBy::ALL) {
        assert_eq!(segments_by(value).unwrap(), Some(expected));
    }
}

#[test]
fn sums_are_monotone_on_request() {
    // SAFETY: numbers and a null pointer.
    let info: SubsweepScanPlanCreateInfo = unsafe { std::mem::zeroed() };
    let floats = SubsweepScanPlanCreateInfo { element_type: crate::capi::SUBSWEEP_ELEMENT_TYPE_F32, ..info };
    assert!(!numbers(&floats).unwrap().is_monotone());
    let monotone = SubsweepScanPlanCreateInfo { flags: SUBSWEEP_SCAN_MONOTONE_BIT, ..floats };
    assert!(numbers(&monotone).unwrap().is_monotone());
}

#[test]
fn the_header_names_every_algorithm() {
    let source = include_str!("../scan_config.rs");
    for algorithm in ScanAlgorithm::ALL {
        assert!(source.contains(&format!("\"{algorithm}\"")), "{algorithm}");
    }
}
