use super::*;

#[test]
fn every_comparison_has_its_number() {
    let numbers: [u32; Comparison::ALL.len()] = [
        SUBSWEEP_COMPARISON_LESS,
        SUBSWEEP_COMPARISON_LESS_EQUAL,
        SUBSWEEP_COMPARISON_EQUAL,
        SUBSWEEP_COMPARISON_NOT_EQUAL,
        SUBSWEEP_COMPARISON_GREATER_EQUAL,
        SUBSWEEP_COMPARISON_GREATER,
        SUBSWEEP_COMPARISON_RANGE,
    ];
    for (value, expected) in numbers.into_iter().zip(Comparison::ALL) {
        assert_eq!(comparison("comparison", value).unwrap(), expected);
        assert_eq!(expected as u32, value);
    }
    assert!(comparison("comparison", numbers.len() as u32).is_err());
}
