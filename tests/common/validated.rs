//! Runs of programs under the validation layer, which the loader inserts.

use std::ffi::OsString;
use std::process::{Command, Output};

/// Runs a program in this environment: it succeeds, with a right standard output and no standard error.
///
/// The layer, with synchronization validation, reports on standard output.
pub fn run(
    program: impl Fn() -> Command,
    environment: &[(&'static str, OsString)],
    is_right: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let start = |more: &[(&'static str, &str)]| {
        program()
            .envs(environment.iter().cloned())
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation")
            .env("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT")
            .envs(more.iter().copied())
            .output()
            .map_err(|error| error.to_string())
    };
    let output = start(&[])?;
    let [stdout, stderr] = texts(&output);
    if !output.status.success() || !stderr.is_empty() || !is_right(&stdout) {
        return Err(format!("{}: {stdout}{stderr}", output.status));
    }
    // The loader's log shows whether the layer was inserted.
    let [_, stderr] = texts(&start(&[("VK_LOADER_DEBUG", "layer")])?);
    let is_validated = stderr
        .lines()
        .any(|line| line.contains("Insert instance layer") && line.contains("VK_LAYER_KHRONOS_validation"));
    match is_validated {
        true => Ok(()),
        false if std::env::var_os("CI").is_some_and(|ci| ci == "true") => {
            Err("the validation layer is missing".into())
        }
        false => {
            eprintln!("NOT VALIDATED: the validation layer is missing; tools/setup test installs it");
            Ok(())
        }
    }
}

/// Standard output and standard error.
pub fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
