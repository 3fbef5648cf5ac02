//! The example on CPU drivers, under the validation layer, which the loader inserts.

#[path = "../../../tests/common/children.rs"]
#[allow(dead_code, reason = "the example is no matrix of rows")]
mod children;
#[path = "../../../tests/common/software.rs"]
mod software;
#[path = "../../../tests/common/validated.rs"]
mod validated;

use std::ffi::OsString;
use std::process::Command;

use software::Environment;

#[test]
fn points_are_sorted_on_lavapipe() {
    let is_right =
        |stdout: &str| stdout.contains(": 100000 points sorted by depth ") && stdout.lines().count() == 1;
    if let Some(environment) = found(software::lavapipe()) {
        validated::run(example, &environment, is_right).unwrap_or_else(|problem| panic!("{problem}"));
    }
}

/// SwiftShader has the feature of the core, but not the extension.
#[test]
fn a_missing_extension_is_reported_in_one_line() {
    if let Some(environment) = found(software::swiftshader()) {
        check_refusal(environment, "the driver lacks VK_KHR_buffer_device_address\n");
    }
}

#[test]
fn a_missing_device_is_reported_in_one_line() {
    check_refusal(children::only_driver("/nonexistent".as_ref()), "");
}

fn check_refusal(environment: Vec<(&'static str, OsString)>, reason: &str) {
    let output = example().envs(environment).output().expect("the example starts");
    let [stdout, stderr] = validated::texts(&output);
    assert_eq!((output.status.code(), stdout.as_str()), (Some(3), ""), "{stderr}");
    assert!(stderr.starts_with("no suitable device: ") && stderr.ends_with(reason), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

/// The environment of the driver. None if it is missing and may be.
fn found(environment: Environment) -> Option<Vec<(&'static str, OsString)>> {
    environment
        .inspect_err(|missing| {
            assert!(!missing.is_failure, "{}", missing.what);
            eprintln!("SKIPPED: {}", missing.what);
        })
        .ok()
}

fn example() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_subsweep-wgpu"));
    // Without wgpu's messenger, the layer reports on standard output. Without a folder, libwayland complains.
    command
        .envs([("WGPU_DEBUG", "0"), ("WGPU_VALIDATION", "0")])
        .env("XDG_RUNTIME_DIR", std::env::temp_dir());
    command
}
