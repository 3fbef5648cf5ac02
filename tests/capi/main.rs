//! The C ABI: programs in C and C++, linked with the libraries that `tools/capi` installs, run on each driver under
//! validation.
//!
//! Each driver runs in its own process: see `tests/common/children.rs`. `header.rs` tests the header.

#[path = "../common/children.rs"]
mod children;
mod libraries;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use children::{Missing, ShaderCache, is_gate_on, only_driver};
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
        let mut command = Command::new(executable);
        command.envs(only_driver(&manifest.ok_or(Missing { what: MISSING.to_owned(), is_failure })?));
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
        match trials(self) {
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

/// Examples on a device of the library's own, their names by CMake, and what they print after the device's name.
const HEADLESS_EXAMPLES: [(&str, &str, &str); 2] = [
    ("examples/c/sort.c", "sort", ": -1 0.5 2.5 3\n"),
    ("examples/c/sort.cpp", "sort_cpp", ": 3 2.5 0.5 -1, sum 5, from 2 0 3 1, before each 0 3 5.5 6\n"),
];

const MISSING: &str = "the driver is missing; tools/setup test installs it";

/// Subgroup sizes at which functions of a user run besides, on lavapipe alone: a process of its own for each.
const LANES: [u32; 5] = [4, 16, 32, 64, 128];

fn trials(row: &DriverRow) -> Result<Vec<Trial>, Failed> {
    let libraries = Arc::new(Libraries::install()?);
    libraries.compile_functions()?;
    let output = libraries.run(&libraries.build(EXAMPLE, Linking::Shared)?, Linking::Shared)?;
    let name = output.split(": ").next().unwrap_or_default();
    children::announce(&format!("{name}, on {}", name.split(' ').next().unwrap_or_default()));

    let mut trials = programs(&libraries)?;
    let trial = |name, run| trial(&libraries, name, run);
    trials.extend([
        trial("the example, with the shared library", |all| example(all, Linking::Shared)),
        trial("the example, with the static library", |all| example(all, Linking::Static)),
        trial("the examples without a device", headless),
        trial("the examples by CMake, with the static library", |all| by_cmake(all, Linking::Static)),
        trial("the examples by CMake, with the shared library", |all| by_cmake(all, Linking::Shared))
            .with_ignored_flag(!children::is_full()),
        trial("CMake refuses what is not installed", refused_by_cmake),
        trial("the shared library exports the functions of the header", libraries::exports_are_the_functions),
        trial("the libraries that cargo built are installed", |_| libraries::installs_what_was_built()),
        trial("validation reports a missing transfer barrier of a program in C", mistake),
    ]);
    for lanes in LANES.into_iter().filter(|_| row.device == "llvmpipe") {
        let libraries = Arc::clone(&libraries);
        let trial =
            Trial::test(format!("c: functions.c at {lanes} lanes"), move || functions(&libraries, lanes));
        trials.push(trial.with_ignored_flag(lanes > 16 && !children::is_full()));
    }
    Ok(trials)
}

/// A trial for each program of this folder, which prints what is wrong.
fn programs(libraries: &Arc<Libraries>) -> Result<Vec<Trial>, Failed> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/capi"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_program = name.ends_with(".c") || name.ends_with(".cpp");
        // The canary has a trial of its own.
        names.extend(Some(name).filter(|name| is_program && name != "mistake.c"));
    }
    names.sort();
    let trial = |name: String| {
        let libraries = Arc::clone(libraries);
        // Allocations are counted by means of glibc.
        let is_left_out = name == "allocations.c" && !cfg!(target_env = "gnu");
        let source = format!("tests/capi/{name}");
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

/// Runs the functions of a user on lavapipe at a subgroup size.
fn functions(libraries: &Libraries, lanes: u32) -> Result<(), Failed> {
    let manifest = match lanes {
        // The build by tools/setup has more lanes than 16.
        32.. => std::env::var_os("SUBSWEEP_WIDE_DIR").map(|folder| Path::new(&folder).join("lvp_icd.json")),
        _ => children::mesa_manifest("lvp"),
    };
    let Some(manifest) = manifest.filter(|manifest| manifest.exists()) else {
        children::note(&format!("NOT RUN at {lanes} lanes: {MISSING}"));
        return if is_gate_on(&["debian 12"]) { Err(MISSING.into()) } else { Ok(()) };
    };
    let mut command = Command::new(libraries.build("tests/capi/functions.c", Linking::Static)?);
    command.arg(lanes.to_string()).envs(only_driver(&manifest));
    command.env("LP_NATIVE_VECTOR_WIDTH", (32 * lanes).to_string());
    let cache = ShaderCache::new(&command);
    command.env("MESA_SHADER_CACHE_DIR", cache.path());
    let output = libraries.run_command(command, Linking::Static)?;
    if output.is_empty() { Ok(()) } else { Err(output.into()) }
}

fn example(libraries: &Libraries, linking: Linking) -> Result<(), Failed> {
    check_example(libraries.run(&libraries.build(EXAMPLE, linking)?, linking)?)
}

/// The example must print its policies and its result for one device, and the layer nothing.
fn check_example(output: String) -> Result<(), Failed> {
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

fn headless(libraries: &Libraries) -> Result<(), Failed> {
    for ((source, _, expected), linking) in
        HEADLESS_EXAMPLES.into_iter().zip([Linking::Shared, Linking::Static])
    {
        check_line(libraries.run(&libraries.build(source, linking)?, linking)?, expected)?;
    }
    Ok(())
}

/// One line: a device's name, and what is expected.
fn check_line(output: String, expected: &str) -> Result<(), Failed> {
    let is_right = output.ends_with(expected) && output.len() > expected.len() && output.lines().count() == 1;
    if is_right { Ok(()) } else { Err(output.into()) }
}

fn by_cmake(libraries: &Libraries, linking: Linking) -> Result<(), Failed> {
    let folder = libraries.build_by_cmake(linking)?;
    // CMake tells a program where the shared library is.
    let run = |name| libraries.run(&folder.join(name), Linking::Static);
    check_example(run("scan_and_sort")?)?;
    HEADLESS_EXAMPLES.iter().try_for_each(|(_, name, expected)| check_line(run(name)?, expected))
}

/// Another version, other pointers, and a component that is not there; what is there is found, also by a project with
/// old policies.
fn refused_by_cmake(libraries: &Libraries) -> Result<(), Failed> {
    // From 4.0 on CMake has no policies so old.
    let old = "if(CMAKE_VERSION VERSION_LESS 4)\ncmake_policy(VERSION 3.1)\nendif()\n";
    let chosen =
        "get_target_property(it subsweep::subsweep INTERFACE_LINK_LIBRARIES)\nmessage(FATAL_ERROR \"${it}\")";
    let of_old = format!("{old}find_package(subsweep REQUIRED COMPONENTS static)\n{chosen}");
    let of_others = format!("find_package(subsweep REQUIRED OPTIONAL_COMPONENTS other)\n{chosen}");
    for (lines, expected) in [
        (of_old.as_str(), Some("subsweep::static")),
        (&of_others, Some("subsweep::shared")),
        ("find_package(subsweep 0 REQUIRED)", None),
        ("find_package(subsweep 0.0...0.2 REQUIRED)", None),
        ("find_package(subsweep 0.2...0.3 REQUIRED)", Some("with requested version")),
        ("find_package(subsweep 0.0...<0.1 REQUIRED)", Some("with requested version")),
        ("set(CMAKE_SIZEOF_VOID_P 8)\nfind_package(subsweep 0.1 REQUIRED)", None),
        ("set(CMAKE_SIZEOF_VOID_P 4)\nfind_package(subsweep REQUIRED)", Some("for pointers of 8 bytes")),
        ("find_package(subsweep 0.1 REQUIRED COMPONENTS shared static)", None),
        ("find_package(subsweep 99 REQUIRED)", Some("compatible with requested version \"99\"")),
        ("find_package(subsweep REQUIRED COMPONENTS other)", Some("component 'other' is not in ")),
    ] {
        let output = libraries.configure(lines)?;
        let words = libraries::words(&output);
        if output.status.success() != expected.is_none() || !words.contains(expected.unwrap_or_default()) {
            return Err(format!("{lines}: {words}").into());
        }
    }
    Ok(())
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
