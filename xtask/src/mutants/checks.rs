//! Runs checks in the copy, each until its first failure.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use super::copy::Copy;
use super::table::{Check, Target};
use crate::Stop;
use crate::cargo::{self, Features, test_programs};
use crate::process::{Group, output, pause};

/// Of a check of some trials, of a row or program, and of the suite.
const TRIALS_LIMIT: Duration = Duration::from_secs(240);
const CHECK_LIMIT: Duration = Duration::from_secs(900);
const SUITE_LIMIT: Duration = Duration::from_secs(7200);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Passed,
    Failed,
    TimedOut,
    /// No trial has the words of the check, which finds nothing.
    NoTrial,
}

pub struct Checker {
    pub copy: Copy,
    pub features: Features,
    /// Modules that the tests load in place of the embedded ones.
    pub kernels: Option<PathBuf>,
}

impl Checker {
    /// What the last command has printed.
    pub fn log(&self) -> PathBuf {
        self.copy.cache.join("log")
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.copy.command(program);
        match &self.kernels {
            Some(folder) => command.env("SUBSWEEP_KERNELS", folder),
            None => command.env_remove("SUBSWEEP_KERNELS"),
        };
        command
    }

    fn cargo_test(&self, target: Target) -> Command {
        let mut test = self.command("cargo");
        test.args(["test", &self.features.0]).args(match target {
            Target::Row(_) => &["--test", "drivers"],
            Target::Test(arguments) => arguments,
        });
        test
    }

    /// Whether the program of a target builds.
    pub fn builds(&self, target: Target) -> Result<bool> {
        let log = File::create(self.log())?;
        let mut test = self.cargo_test(target);
        let test = test.args(["--quiet", "--no-run"]).stdout(log.try_clone()?).stderr(log);
        Ok(Group::start(test)?.wait()?.success())
    }

    /// Builds the program of rows, and returns Cargo's messages.
    pub fn build_rows(&self) -> Result<Vec<Value>> {
        let mut test = self.cargo_test(Target::Row(""));
        let built = cargo::build(test.args(["--quiet", "--no-run"]).stderr(File::create(self.log())?));
        built.map_err(|error| match error.downcast_ref() {
            Some(Stop::Command(_)) => anyhow!("the sources do not build: {}", self.log().display()),
            _ => error,
        })
    }

    /// The process of a row, without the one that starts it and judges what it prints.
    fn row(&self, row: &str) -> Result<Command> {
        let programs = test_programs(&self.build_rows()?);
        let path = &programs.first().context("Cargo has built no test drivers")?.path;
        let Ok(environment) = output(self.command(path).args(["--environment", row])) else {
            bail!("row {row} cannot run here");
        };
        let shaders = self.copy.cache.join("shaders").join(row);
        fs::create_dir_all(&shaders)?;
        let mut child = self.command(path);
        child.env("MESA_SHADER_CACHE_DIR", shaders);
        child.envs(environment.lines().filter_map(|line| line.split_once('=')));
        child.args(["--child", row]);
        Ok(child)
    }

    pub fn check(&self, check: &Check) -> Result<Outcome> {
        let mut command = match check.target {
            Target::Row(row) => self.row(row)?,
            Target::Test(_) => self.cargo_test(check.target),
        };
        if let Target::Test(_) = check.target {
            command.arg("--");
        }
        let limit = if check.words.is_some() { TRIALS_LIMIT } else { CHECK_LIMIT };
        match self.watch(limit, command.args(&check.words))? {
            Outcome::Passed if !self.log_has(is_pass)? => Ok(Outcome::NoTrial),
            outcome => Ok(outcome),
        }
    }

    pub fn suite(&self) -> Result<Outcome> {
        self.watch(SUITE_LIMIT, &mut self.command(self.copy.folder().join("tools/test")))
    }

    /// Runs a command until it ends, a trial fails or its time is up.
    fn watch(&self, limit: Duration, command: &mut Command) -> Result<Outcome> {
        let log = File::create(self.log())?;
        let mut group = Group::start(command.stdout(log.try_clone()?).stderr(log))?;
        let start = Instant::now();
        loop {
            match group.try_wait()? {
                _ if self.log_has(is_failure)? => return Ok(Outcome::Failed),
                Some(status) if status.success() => return Ok(Outcome::Passed),
                Some(_) => return Ok(Outcome::Failed),
                None if start.elapsed() > limit => return Ok(Outcome::TimedOut),
                None => pause()?,
            }
        }
    }

    fn log_has(&self, is_meant: fn(&str) -> bool) -> Result<bool> {
        Ok(String::from_utf8_lossy(&fs::read(self.log())?).lines().any(is_meant))
    }
}

/// Whether a line tells of a trial that has failed.
fn is_failure(line: &str) -> bool {
    line.starts_with("test ") && line.contains("... FAILED")
}

/// Whether a line tells of trials that have passed.
fn is_pass(line: &str) -> bool {
    let count = || line.split_once(" ok: ")?.1.split_once(" passed")?.0.rsplit(' ').next()?.parse().ok();
    match line.split_once(' ') {
        Some(("test", rest)) => rest.contains("... ok"),
        Some(("row", _)) => count().is_some_and(|count: u64| count > 0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_found_in_a_log() {
        let passes =
            ["test policy::tests::default ... ok", "row lavapipe-8 ok: 3 s, 12 passed", "test a ... ok, 2 s"];
        let others =
            ["row lavapipe-8 ok: 3 s, 0 passed", "running 0 tests", "test result: ok. 0 passed; 0 failed"];
        assert!(passes.into_iter().all(is_pass) && !others.into_iter().any(is_pass));
        assert!(is_failure("test scan/reduce ... FAILED") && !is_failure("test a_FAILED ... ok"));
    }
}
