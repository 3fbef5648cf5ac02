//! The C ABI: programs in C, linked with the libraries that `tools/capi` installs, run on each driver under validation.
//!
//! Each driver runs in its own process: see `tests/common/children.rs`. `header.rs` tests the header.

#[path = "../common/children.rs"]
mod children;
mod libraries;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use children::{Missing, is_gate_on, only_driver};
use libraries::{Libraries, Linking};
use libtest_mimic::{Arguments, Failed, Trial};

/// A driver.
struct DriverRow {
    name: &'static str,
    /// The start of its devices' names.
    device: &'static str,
}

impl children::MatrixRow for DriverRow {
    type Together = ();

    const ALL: &'static [Self] = &[
        DriverRow { name: "lavapipe-8", device: "llvmpipe" },
        DriverRow { name: "swiftshader-4", device: "SwiftShader" },
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    /// The C ABI does not depend on the driver, and compilation takes long.
    fn is_of_suite(&self) -> bool {
        children::is_full() || self.device != "SwiftShader"
    }

    fn command(&self, executable: &Path) -> Result<Command, Missing> {
        if !cfg!(target_os = "linux") {
            return Err(Missing { what: "the programs are built only on Linux".into(), is_failure: false });
        }
        let (manifest, is_failure) = match self.device {
            "llvmpipe" => (children::mesa_manifest("lvp"), is_gate_on(&["debian 12", "ubuntu"])),
            _ => {
                let manifest = std::env::var_os("SUBSWEEP_SWIFTSHADER_ICD").map(PathBuf::from);
                (manifest.filter(|path| path.exists()), is_gate_on(&["debian 12"]))
            }
        };
        let what = "the driver is missing; tools/setup test installs it".to_owned();
        let mut command = Command::new(executable);
        command.envs(only_driver(&manifest.ok_or(Missing { what, is_failure })?));
        command.env("LP_NATIVE_VECTOR_WIDTH", "256");
        // The loader inserts the layer, which reports on standard output.
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
        command.env("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT");
        Ok(command)
    }

    fn ending(&self) -> String {
        format!(" on {}", self.device)
    }

    fn run(&self, arguments: &Arguments) -> ExitCode {
        match trials() {
            Ok(trials) => {
                let arguments = Arguments { test_threads: Some(1), ..arguments.clone() };
                libtest_mimic::run(&arguments, trials).exit_code()
            }
            Err(failed) => {
                eprintln!("{}", failed.message().unwrap_or_default());
                ExitCode::FAILURE
            }
        }
    }
}

fn main() -> ExitCode {
    children::main::<DriverRow>()
}

const EXAMPLE: &str = "examples/c/scan_and_sort.c";

fn trials() -> Result<Vec<Trial>, Failed> {
    let libraries = Arc::new(Libraries::install()?);
    let output = libraries.run(&libraries.build(EXAMPLE, Linking::Shared)?, Linking::Shared)?;
    let name = output.split(": ").next().unwrap_or_default();
    children::announce(&format!("{name}, on {}", name.split(' ').next().unwrap_or_default()));

    let mut trials = programs(&libraries)?;
    let trial = |name, run| trial(&libraries, name, run);
    trials.extend([
        trial("the example, with the shared library", |all| example(all, Linking::Shared)),
        trial("the example, with the static library", |all| example(all, Linking::Static)),
        trial("the libraries that cargo built are installed", |_| libraries::installs_what_was_built()),
        trial("validation reports a missing transfer barrier of a program in C", mistake),
    ]);
    Ok(trials)
}

/// A trial for each program of this folder, which prints what is wrong.
fn programs(libraries: &Arc<Libraries>) -> Result<Vec<Trial>, Failed> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/capi"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // The canary has a trial of its own.
        names.extend(name.strip_suffix(".c").filter(|stem| *stem != "mistake").map(str::to_owned));
    }
    names.sort();
    let trial = |name: String| {
        let libraries = Arc::clone(libraries);
        // Allocations are counted by means of glibc.
        let is_left_out = name == "allocations" && !cfg!(target_env = "gnu");
        let source = format!("tests/capi/{name}.c");
        Trial::test(format!("c: {name}"), move || expect_no_output(&libraries, &source))
            .with_ignored_flag(is_left_out)
    };
    Ok(names.into_iter().map(trial).collect())
}

fn trial(libraries: &Arc<Libraries>, name: &str, run: fn(&Libraries) -> Result<(), Failed>) -> Trial {
    let libraries = Arc::clone(libraries);
    Trial::test(format!("c: {name}"), move || run(&libraries))
}

/// Fails if a program or the layer prints anything.
fn expect_no_output(libraries: &Libraries, source: &str) -> Result<(), Failed> {
    let output = libraries.run(&libraries.build(source, Linking::Static)?, Linking::Static)?;
    if output.is_empty() { Ok(()) } else { Err(output.into()) }
}

/// The example must print its policies and its result for one device, and the layer nothing.
fn example(libraries: &Libraries, linking: Linking) -> Result<(), Failed> {
    let output = libraries.run(&libraries.build(EXAMPLE, linking)?, linking)?;
    let name = output.split(": ").next().unwrap_or_default();
    let rests: Vec<_> = output.lines().map(|line| line.strip_prefix(name)).collect();
    match rests[..] {
        [Some(scan), Some(sort), Some(": both are right")]
            if scan.starts_with(": scan by ") && sort.starts_with(": sort by ") =>
        {
            Ok(())
        }
        _ => Err(output.into()),
    }
}

/// The canary: the layer must report a deliberate mistake.
fn mistake(libraries: &Libraries) -> Result<(), Failed> {
    let output =
        libraries.run(&libraries.build("tests/capi/mistake.c", Linking::Shared)?, Linking::Shared)?;
    if output.contains("SYNC-HAZARD-WRITE-AFTER-WRITE") {
        return Ok(());
    }
    if output.is_empty() && !std::env::var("CI").is_ok_and(|ci| ci == "true") {
        children::note("NOT VALIDATED: the validation layer is missing; tools/setup test installs it");
        return Ok(());
    }
    Err(format!("validation has not reported the mistake: {output}").into())
}
