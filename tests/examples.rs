//! The short examples give the right output on every CPU driver, and the validation layer, which the loader inserts,
//! reports nothing.

#[path = "common/children.rs"]
#[allow(dead_code, reason = "an example is the process of a row")]
mod children;
#[path = "common/examples.rs"]
mod examples;
#[path = "common/software.rs"]
mod software;
#[path = "common/validated.rs"]
mod validated;

use std::process::ExitCode;

use children::Missing;
use libtest_mimic::{Arguments, Trial};
use software::Environment;

/// A driver's name and environment.
type Driver = (&'static str, fn() -> Environment);

const DRIVERS: [Driver; 2] = [("lavapipe-8", software::lavapipe), ("swiftshader-4", software::swiftshader)];

/// An example, and a check of its output.
type Example = (&'static str, fn(&str) -> bool);

const EXAMPLES: &[Example] = &[
    #[cfg(feature = "headless")]
    ("minimal", |stdout| stdout == "[1, 1, 2, 3, 4, 5, 6, 9]\n"),
    #[cfg(feature = "headless")]
    ("particles", |stdout| stdout.contains(": 40 steps of 6000 particles equal the CPU's; ")),
    #[cfg(feature = "headless")]
    ("fused", |stdout| stdout.contains(": 12 steps of 100000 particles equal the CPU's; ")),
    ("embedded", |stdout| stdout.contains(": 100000 keys from ") && stdout.lines().count() == 1),
];

fn main() -> ExitCode {
    let pairs = DRIVERS.iter().flat_map(|driver| EXAMPLES.iter().map(move |example| (driver, *example)));
    let trials = pairs.map(|(&(driver, environment), (example, is_right))| {
        let name = format!("{example} on {driver}");
        match environment() {
            Ok(environment) => Trial::test(name, move || {
                Ok(validated::run(|| examples::example(example), &environment, is_right)?)
            }),
            Err(Missing { what, is_failure: true }) => Trial::test(name, || Err(what.into())),
            Err(Missing { what, is_failure: false }) => {
                Trial::test(format!("{name} SKIPPED: {what}"), || Ok(())).with_ignored_flag(true)
            }
        }
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
