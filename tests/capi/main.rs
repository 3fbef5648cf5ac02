//! The C ABI: programs in C, built with the libraries that `tools/capi` installs, on a driver at a time, under validation.
//!
//! Each driver is a process of its own: see `tests/common/children.rs`. The header has tests of its own, `header.rs`.

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
struct Row {
    name: &'static str,
    /// What its devices are called, at first.
    device: &'static str,
}

impl children::Row for Row {
    type Together = ();

    const ALL: &'static [Self] = &[
        Row { name: "lavapipe-8", device: "llvmpipe" },
        Row { name: "swiftshader-4", device: "SwiftShader" },
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    /// What C calls does not depend on the driver, which takes its time to compile for it.
    fn is_of_full_suite(&self) -> bool {
        self.device == "SwiftShader"
    }

    fn command(&self, executable: &Path) -> Result<Command, Missing> {
        if !cfg!(target_os = "linux") {
            return Err(Missing { what: "the programs are built on Linux alone".into(), is_failure: false });
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
        // The programs know of no layer: the loader puts it there, and what it has to say goes to the standard output.
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
    children::main::<Row>()
}

const EXAMPLE: &str = "examples/c/scan_and_sort.c";

fn trials() -> Result<Vec<Trial>, Failed> {
    let libraries = Arc::new(Libraries::install()?);
    let said = libraries.run(&libraries.build(EXAMPLE, Linking::Shared)?, Linking::Shared)?;
    let name = said.split(": ").next().unwrap_or_default();
    children::announce(&format!("{name}, on {}", name.split(' ').next().unwrap_or_default()));

    let trial = |name, run| trial(&libraries, name, run);
    Ok(vec![
        trial("the example, with the shared library", |all| example(all, Linking::Shared)),
        trial("the example, with the static library", |all| example(all, Linking::Static)),
        trial("every plan does what the header says", |all| silent(all, "tests/capi/plans.c")),
        trial("a recording asks the host for no memory", |all| match cfg!(target_env = "gnu") {
            true => silent(all, "tests/capi/allocations.c"),
            false => Ok(()),
        }),
        trial("what was built is installed", |_| libraries::installs_what_was_built()),
        trial("what is wrong is refused", |all| silent(all, "tests/capi/refusals.c")),
        trial("a missing transfer barrier of a program in C is told by validation", mistake),
    ])
}

fn trial(libraries: &Arc<Libraries>, name: &str, run: fn(&Libraries) -> Result<(), Failed>) -> Trial {
    let libraries = Arc::clone(libraries);
    Trial::test(format!("c: {name}"), move || run(&libraries))
}

/// It has nothing to say, and neither has the layer.
fn silent(libraries: &Libraries, source: &str) -> Result<(), Failed> {
    let said = libraries.run(&libraries.build(source, Linking::Static)?, Linking::Static)?;
    if said.is_empty() { Ok(()) } else { Err(said.into()) }
}

/// It says of its device what it has done, and the layer says nothing.
fn example(libraries: &Libraries, linking: Linking) -> Result<(), Failed> {
    let said = libraries.run(&libraries.build(EXAMPLE, linking)?, linking)?;
    let name = said.split(": ").next().unwrap_or_default();
    let rests: Vec<_> = said.lines().map(|line| line.strip_prefix(name)).collect();
    match rests[..] {
        [Some(scan), Some(sort), Some(": both are right")]
            if scan.starts_with(": scan by ") && sort.starts_with(": sort by ") =>
        {
            Ok(())
        }
        _ => Err(said.into()),
    }
}

/// Without this the silence of the others would say nothing.
fn mistake(libraries: &Libraries) -> Result<(), Failed> {
    let said = libraries.run(&libraries.build("tests/capi/mistake.c", Linking::Shared)?, Linking::Shared)?;
    if said.contains("SYNC-HAZARD-WRITE-AFTER-WRITE") {
        return Ok(());
    }
    if said.is_empty() && !std::env::var("CI").is_ok_and(|ci| ci == "true") {
        children::note("NOT VALIDATED: the validation layer is missing; tools/setup test installs it");
        return Ok(());
    }
    Err(format!("validation has not told the mistake: {said}").into())
}
