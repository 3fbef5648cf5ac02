//! `examples/splats` on every CPU driver of this machine: its frames equal the frames of a stable sort on the CPU to
//! the bit, and no validation layer reports anything.

#[path = "common/children.rs"]
#[allow(dead_code, reason = "the example is the process of a row")]
mod children;
#[path = "common/examples.rs"]
mod examples;
#[path = "common/software.rs"]
mod software;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};
use children::{Missing, is_gate_on, mesa25};
use libtest_mimic::{Arguments, Failed, Trial};
use software::{Environment, lavapipe, missing, path_in, swiftshader};

/// A driver, and the size of its pictures.
struct DriverRow {
    name: &'static str,
    environment: fn() -> Environment,
    /// The start of the device's name.
    device: &'static str,
    /// Splats in the full suite; the short one draws a third.
    splat_count: u32,
    size: &'static str,
}

const ROWS: [DriverRow; 4] = [
    DriverRow {
        name: "lavapipe-8",
        environment: lavapipe,
        device: "llvmpipe",
        splat_count: 500_000,
        size: "480x270",
    },
    DriverRow {
        name: "lavapipe-25-8",
        environment: || mesa25("lvp"),
        device: "llvmpipe",
        splat_count: 120_000,
        size: "333x187",
    },
    DriverRow {
        name: "swiftshader-4",
        environment: swiftshader,
        device: "SwiftShader",
        splat_count: 120_000,
        size: "333x187",
    },
    // GPU-assisted validation checks every address that a shader accesses.
    DriverRow {
        name: "lavapipe-8-bounds",
        environment: bounds,
        device: "llvmpipe",
        splat_count: 30_000,
        size: "160x90",
    },
];

fn main() -> ExitCode {
    let mut trials: Vec<_> = ROWS.iter().map(DriverRow::trial).collect();
    trials.push(Trial::test("wrong arguments are refused in one line", || Ok(refusals()?)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

impl DriverRow {
    fn trial(&'static self) -> Trial {
        match (self.environment)() {
            Ok(environment) => Trial::test(self.name, move || self.run(&environment).map_err(failure)),
            Err(Missing { what, is_failure: true }) => Trial::test(self.name, || Err(what.into())),
            Err(Missing { what, is_failure: false }) => {
                Trial::test(format!("{} SKIPPED: {what}", self.name), || Ok(())).with_ignored_flag(true)
            }
        }
    }

    fn run(&self, environment: &[(&'static str, OsString)]) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let draw = |name: &str, arguments: &[&str]| {
            let to = folder.path().join(name);
            let mut command = examples::example("splats");
            command
                // Mesa's shader cache does not distinguish vector widths.
                .env("MESA_SHADER_CACHE_DIR", folder.path())
                .envs(environment.iter().cloned())
                // Three frames in two slots, so that one slot is reused.
                .args([
                    "--frames",
                    "3",
                    "--size",
                    self.size,
                    "--splats",
                    &(self.splat_count / if children::is_full() { 1 } else { 3 }).to_string(),
                    "--out",
                ])
                .arg(&to)
                .args(arguments);
            self.finish(command).with_context(|| name.to_owned())?;
            pictures(&to)
        };
        let drawn = draw("sorted", &[])?;
        ensure!(drawn.len() == 3, "{} frames", drawn.len());
        for (frame, next) in drawn.iter().zip(&drawn[1..]) {
            ensure!(difference(frame, next) > 0.05, "consecutive frames are equal");
        }
        ensure!(drawn == draw("reference", &["--reference"])?, "the CPU draws another picture");
        ensure!(drawn == draw("computed", &["--computed"])?, "depths of the sort draw another picture");
        // The comparison is meaningful only if the order changes the picture.
        let unsorted = draw("unsorted", &["--unsorted"])?;
        let share = difference(&drawn[0], &unsorted[0]);
        ensure!(share > 0.05, "the order changes only {share} of the picture");
        Ok(())
    }

    /// Runs the example under validation; it must use the row's device and report nothing.
    fn finish(&self, mut command: Command) -> Result<()> {
        let mut output = command.arg("--validate").output()?;
        let mut stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        if stderr.contains("the validation layer is not installed") && !is_ci {
            eprintln!("NOT VALIDATED: the validation layer is missing; tools/setup test installs it");
            let arguments: Vec<_> = command.get_args().map(OsString::from).collect();
            let mut again = Command::new(command.get_program());
            again.args(&arguments[..arguments.len() - 1]);
            again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            output = again.output()?;
            stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        }
        ensure!(output.status.success(), "{stderr}");
        if let Some(message) = complaint(&stderr) {
            anyhow::bail!("{message}");
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        ensure!(stdout.contains(&format!(", on {}", self.device)), "on another device: {stdout}");
        Ok(())
    }
}

/// The first error on standard error. GPU-assisted validation also reports its own settings.
fn complaint(stderr: &str) -> Option<&str> {
    let about_itself = ["validation: VALIDATION-SETTINGS", "validation: WARNING-Setting"];
    let starts: Vec<_> = stderr.match_indices("validation: ").map(|(at, _)| at).collect();
    if starts.first() != Some(&0) {
        return Some(stderr).filter(|stderr| !stderr.is_empty());
    }
    let ends = starts.iter().skip(1).copied().chain([stderr.len()]);
    let mut messages = starts.iter().zip(ends).map(|(&start, end)| &stderr[start..end]);
    messages.find(|message| !about_itself.iter().any(|name| message.starts_with(name)))
}

/// The pixels of each frame of a folder, in order.
fn pictures(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    let decode = |path: &PathBuf| {
        let mut reader = png::Decoder::new(BufReader::new(File::open(path)?)).read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().context("the picture is too large")?];
        reader.next_frame(&mut bytes)?;
        Ok(bytes)
    };
    paths.iter().map(decode).collect()
}

/// The fraction of bytes that differ by more than 4.
fn difference(a: &[u8], b: &[u8]) -> f64 {
    let differing = a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 4).count();
    differing as f64 / a.len() as f64
}

fn refusals() -> Result<()> {
    for (arguments, words) in [
        (&["--frames", "0"][..], "--frames takes whole numbers from 1 to"),
        (&["--frames"], "--frames takes a value"),
        (&["--out", ""], "--out takes a folder"),
        (&["--size", "640"], "--size takes pixels such as 1200x675"),
        (&["--size", "640x-1"], "--size takes whole numbers from 1 to"),
        (&["--splats", "many"], "--splats takes whole numbers from 1 to"),
        (&["--reference", "--unsorted"], "--computed, --reference and --unsorted exclude each other"),
        (&["--fast"], "is no option"),
    ] {
        expect_refusal(examples::example("splats").args(arguments), 2, words)?;
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let strange = std::ffi::OsStr::from_bytes(b"--\xff");
        expect_refusal(examples::example("splats").arg(strange), 2, "is no option")?;
        expect_refusal(examples::example("splats").arg("--frames").arg(strange), 2, "--frames takes text")?;
    }
    let folder = tempfile::tempdir()?;
    let to = folder.path().join("frames");
    let mut without_drivers = examples::example("splats");
    without_drivers.env("VK_DRIVER_FILES", "/nowhere").env("VK_ICD_FILENAMES", "/nowhere");
    expect_refusal(without_drivers.arg("--out").arg(&to), 1, "there is no Vulkan")?;
    ensure!(!to.exists(), "a refusal creates the folder");
    Ok(())
}

fn expect_refusal(command: &mut Command, code: i32, words: &str) -> Result<()> {
    let output = command.output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(code), "{:?}: {stderr}", output.status);
    ensure!(stderr.starts_with("splats: ") && stderr.contains(words), "{stderr}");
    ensure!(stderr.lines().count() == 1 && output.stdout.is_empty(), "{stderr}");
    Ok(())
}

fn failure(error: anyhow::Error) -> Failed {
    format!("{error:#}").into()
}

fn bounds() -> Environment {
    let layer = path_in("SUBSWEEP_VALIDATION_DIR");
    let layer = layer.ok_or_else(|| missing("the newer validation layer", is_gate_on(&["debian 12"])))?;
    let settings = match children::is_full() {
        true => concat!(env!("CARGO_MANIFEST_DIR"), "/tool/tests/drivers/races_settings.txt"),
        false => concat!(env!("CARGO_MANIFEST_DIR"), "/tool/tests/drivers/bounds_settings.txt"),
    };
    let mut environment = lavapipe()?;
    environment.push(("VK_LAYER_PATH", layer.into()));
    environment.push(("VK_LAYER_SETTINGS_PATH", settings.into()));
    Ok(environment)
}
