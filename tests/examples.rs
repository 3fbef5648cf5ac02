//! What the short examples print.

#[path = "common/examples.rs"]
mod examples;

/// Runs an example to its end, and returns what it prints.
#[track_caller]
fn printed(name: &str) -> String {
    let output = examples::example(name).output().expect("the example starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("words are UTF-8")
}

#[cfg(feature = "headless")]
#[test]
fn minimal_sorts() {
    assert_eq!(printed("minimal"), "[1, 1, 2, 3, 4, 5, 6, 9]\n");
}

#[test]
fn embedded_sorts() {
    let told = printed("embedded");
    assert!(told.contains(": 100000 keys from "), "{told}");
}
