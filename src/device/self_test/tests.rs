use super::*;

#[test]
fn a_verdict_names_every_check_that_failed() {
    assert!(SelfTestVerdict::new(0, true).is_passed());
    let failed = SelfTestVerdict::new(1 << 1 | 1 << 6, false);
    assert_eq!(failed.failed(), ["lane order", "shared memory", "atomics across workgroups"]);
    assert!(failed.to_string().starts_with("FAILED: lane order, shared memory"));
}
