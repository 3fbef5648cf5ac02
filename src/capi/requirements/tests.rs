use super::*;

#[test]
fn features_go_there_and_back() {
    for given in 0..=ALL_FEATURES {
        assert_eq!(feature_flags(enabled_features(given).unwrap()), given);
    }
    assert!(matches!(enabled_features(ALL_FEATURES + 1), Err(Failure::UnknownValue { .. })));
}
