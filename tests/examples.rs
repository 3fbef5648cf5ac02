//! What the short examples print.

#![cfg(feature = "headless")]

#[path = "common/examples.rs"]
mod examples;

#[test]
fn minimal_sorts() {
    let output = examples::example("minimal").output().expect("the example starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[1, 1, 2, 3, 4, 5, 6, 9]\n");
}
