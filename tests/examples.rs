//! The short examples give the right output on every CPU driver, and the validation layer, which the loader inserts,
//! reports nothing.

#[path = "common/children.rs"]
#[allow(dead_code, reason = "an example is the process of a row")]
mod children;
#[path = "common/examples.rs"]
mod examples;
#[path = "common/software.rs"]
mod software;

use std::ffi::OsString;
use std::process::{ExitCode, Output};

use children::Missing;
use libtest_mimic::{Arguments, Failed, Trial};
use software::Environment;

/// A driver's name and environment.
type Driver = (&'static str, fn() -> Environment);

const DRIVERS: [Driver; 2] = [("lavapipe-8", software::lavapipe), ("swiftshader-4", software::swiftshader)];

/// An example, and a check of its output.
type Example = (&'static str, fn(&str) -> bool);

const EXAMPLES: &[Example] = &[
    #[cfg(feature = "headless")]
    ("minimal", |stdout| stdout == "[1, 1, 2, 3, 4, 5, 6, 9]\n"),
    ("embedded", |stdout| stdout.contains(": 100000 keys from ") && stdout.lines().count() == 1),
];

fn main() -> ExitCode {
    let pairs = DRIVERS.iter().flat_map(|driver| EXAMPLES.iter().map(move |example| (driver, *example)));
    let trials = pairs.map(|(&(driver, environment), example)| {
        let name = format!("{} on {driver}", example.0);
        match environment() {
            Ok(environment) => Trial::test(name, move || run(example, &environment)),
            Err(Missing { what, is_failure: true }) => Trial::test(name, || Err(what.into())),
            Err(Missing { what, is_failure: false }) => {
                Trial::test(format!("{name} SKIPPED: {what}"), || Ok(())).with_ignored_flag(true)
            }
        }
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn run((name, is_right): Example, environment: &[(&'static str, OsString)]) -> Result<(), Failed> {
    let start = |more: &[(&'static str, &str)]| {
        examples::example(name)
            .envs(environment.iter().cloned())
            // The loader inserts the layer, which reports on standard output.
            .env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation")
            .env("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT")
            .envs(more.iter().copied())
            .output()
    };
    let output = start(&[])?;
    let [stdout, stderr] = texts(&output);
    if !output.status.success() || !stderr.is_empty() || !is_right(&stdout) {
        return Err(format!("{}: {stdout}{stderr}", output.status).into());
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

fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
