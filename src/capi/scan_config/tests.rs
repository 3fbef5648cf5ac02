use super::*;

fn known<T>(of: impl Fn(u32) -> Result<T>) -> u32 {
    assert!(matches!(of(u32::MAX), Err(Failure::UnknownValue { value: u32::MAX, .. })));
    (0..).find(|&value| matches!(of(value), Err(Failure::UnknownValue { .. }))).unwrap()
}

#[test]
fn every_operator_and_every_kind_of_segments_has_a_number() {
    let operators = [
        (SUBSWEEP_SCAN_OPERATOR_ADD, ScanOperator::Add),
        (SUBSWEEP_SCAN_OPERATOR_MUL, ScanOperator::Mul),
        (SUBSWEEP_SCAN_OPERATOR_MIN, ScanOperator::Min),
        (SUBSWEEP_SCAN_OPERATOR_MAX, ScanOperator::Max),
        (SUBSWEEP_SCAN_OPERATOR_AND, ScanOperator::And),
        (SUBSWEEP_SCAN_OPERATOR_OR, ScanOperator::Or),
        (SUBSWEEP_SCAN_OPERATOR_XOR, ScanOperator::Xor),
    ];
    assert_eq!(known(operator), operators.len() as u32);
    for (value, expected) in operators {
        assert_eq!(operator(value).unwrap(), expected);
    }
    let segments = [
        (SUBSWEEP_SEGMENTS_BY_NONE, None),
        (SUBSWEEP_SEGMENTS_BY_FLAGS, Some(SegmentsBy::Flags)),
        (SUBSWEEP_SEGMENTS_BY_KEYS32, Some(SegmentsBy::Keys32)),
        (SUBSWEEP_SEGMENTS_BY_KEYS64, Some(SegmentsBy::Keys64)),
        (SUBSWEEP_SEGMENTS_BY_OFFSETS, Some(SegmentsBy::Offsets)),
    ];
    assert_eq!(known(segments_by), segments.len() as u32);
    for (value, expected) in segments {
        assert_eq!(segments_by(value).unwrap(), expected);
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
