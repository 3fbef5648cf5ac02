use super::*;

#[test]
fn every_comparison_has_its_number() {
    for (value, expected) in (0..).zip(Comparison::ALL) {
        assert_eq!(comparison("comparison", value).unwrap(), expected);
        assert_eq!(expected as u32, value);
    }
    assert!(comparison("comparison", 7).is_err());
}
