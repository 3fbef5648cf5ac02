//! Puts deliberate faults into a copy of the sources, one after the other, and prints which check finds each.
//!
//! A fault in a kernel needs no build: the package's build script compiles the affected modules, and the tests load them in
//! place of the embedded ones (`SUBSWEEP_KERNELS`). A fault in host code takes one incremental build, and so does one that a
//! check of a caller's functions finds. Results are kept by the fault's line and the sources, so that an interrupted run can be
//! continued.

mod checks;
mod copy;
mod kernels;
mod options;
mod table;
mod trial;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::Instant;
use std::{fmt, fs};

use anyhow::{Context, Error, Result, bail, ensure};

use crate::cargo::{self, Features};
use crate::process::{git, hash};
use crate::{Stop, print};
use checks::{Checker, Outcome};
use copy::Copy;
use kernels::BuildScript;
use options::Options;
pub use options::USAGE;
use table::Fault;
use trial::Trial;

const TABLE: &str = "tools/mutants.txt";

pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    ensure!(git(&["rev-parse", "--git-dir"]).is_ok(), "a git clone is needed");
    let faults = table::parse(&fs::read_to_string(TABLE).context(TABLE)?);
    let faults = options.select(faults.map_err(Error::msg).context(TABLE)?)?;
    if options.is_list {
        for Fault { name, file, checks_text, .. } in &faults {
            print(format_args!("{name:<40} {file:<44} {checks_text}"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if faults.is_empty() {
        bail!(Stop::Refused("no fault of the table is selected".to_owned()));
    }
    let features = Features::installed()?;
    let has_shaderc = features.have("compile-shaders");
    ensure!(has_shaderc, "no shaderc library: no kernel can be compiled; tools/setup test installs it");
    let copy = Copy::make(cargo::cache()?.join("mutants"))?;
    let checker = Checker { copy, features, kernels: None };
    let script = BuildScript::find(&checker.build_rows()?, &checker.copy)?;
    if options.is_clean {
        return check_unchanged(&checker, &faults);
    }
    let sources = checker.copy.hash()?;
    fs::create_dir_all(checker.copy.cache.join("results"))?;
    Run { options, checker, script, sources, done_count: 0, count: faults.len() }.try_all(&faults)
}

/// Runs the checks of faults without the faults.
fn check_unchanged(checker: &Checker, faults: &[Fault]) -> Result<ExitCode> {
    let checks = faults.iter().flat_map(|fault| &fault.checks);
    let checks: BTreeMap<_, _> = checks.map(|check| (&check.text, check)).collect();
    let mut code = ExitCode::SUCCESS;
    for (text, check) in checks {
        let start = Instant::now();
        let has_passed = checker.check(check)? == Outcome::Passed;
        let (end, seconds) = (if has_passed { "ok" } else { "FAILED" }, start.elapsed().as_secs());
        print(format_args!("{end:<8} {seconds:>5} s  {text}"))?;
        code = if has_passed { code } else { ExitCode::FAILURE };
    }
    Ok(code)
}

struct Run {
    options: Options,
    checker: Checker,
    script: BuildScript,
    /// A hash of the sources without a fault.
    sources: String,
    done_count: usize,
    count: usize,
}

impl Run {
    fn try_all(mut self, faults: &[Fault]) -> Result<ExitCode> {
        let start = Instant::now();
        let (mut survivors, mut untried) = (Vec::new(), Vec::new());
        for fault in faults {
            let Trial { verdict, finder, seconds, .. } = self.trial(fault)?;
            self.done_count += 1;
            if io::stderr().is_terminal() {
                eprint!("\r\x1b[K");
            }
            let Fault { name, file, .. } = fault;
            print(format_args!("{verdict:<16} {name:<40} {file:<44} {seconds:>5} s  {finder}"))?;
            match verdict.as_str() {
                trial::FOUND => {}
                trial::SURVIVED => survivors.push(name),
                _ => untried.push(name),
            }
        }
        survivors.iter().try_for_each(|name| print(format_args!("survived: {name}")))?;
        untried.iter().try_for_each(|name| print(format_args!("cannot be applied: {name}")))?;
        let (all, survived, seconds) = (self.count, survivors.len(), start.elapsed().as_secs());
        let found = all - survived - untried.len();
        let percentage = 100.0 * found as f64 / all as f64;
        let survived = format!("{survived} survived, in {seconds} s");
        print(format_args!("mutants: {found} of {all} found ({percentage:.1} %), {survived}"))?;
        let is_enough = untried.is_empty() && found * 100 >= 95 * all;
        Ok(if is_enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Shows on a terminal what is done now.
    fn progress(&self, what: impl fmt::Display) {
        if io::stderr().is_terminal() {
            eprint!("\r\x1b[K[{}/{}] {what}", self.done_count, self.count);
        }
    }

    /// The kept trial of a fault, or a new one.
    fn trial(&mut self, fault: &Fault) -> Result<Trial> {
        let Fault { name, file, checks_text, line, .. } = fault;
        let key = hash(&[&self.sources, file, checks_text, line].map(String::as_str).join("\n"))?;
        let path = self.checker.copy.cache.join("results").join(name);
        let kept = Trial::read(&path).filter(|kept| kept.key == key && !self.options.is_again);
        // The suite runs on survivors of their checks, unless --checks is given.
        if let Some(kept) = kept.filter(|kept| self.options.only_checks || !kept.is_of_checks()) {
            return Ok(kept);
        }
        self.progress(name);
        let start = Instant::now();
        let (verdict, finder) = match self.apply(fault)? {
            Some(refusal) => (refusal.to_owned(), "-".to_owned()),
            None => self.find(fault)?,
        };
        self.checker.copy.restore()?;
        let trial = Trial { key, verdict, finder, seconds: start.elapsed().as_secs() };
        trial.write(&path)?;
        if trial.verdict != trial::FOUND {
            // For whoever asks why; there may be none.
            let _ = fs::copy(self.checker.log(), path.with_extension("log"));
        }
        Ok(trial)
    }

    /// Compiles a fault in a kernel, and builds one in host code. Returns why it cannot be tried.
    fn apply(&mut self, fault: &Fault) -> Result<Option<&'static str>> {
        let path = self.checker.copy.folder().join(&fault.file);
        let source = fs::read_to_string(&path).with_context(|| fault.file.clone())?;
        let faulty = fault.apply(&source).map_err(Error::msg)?;
        self.checker.kernels = None;
        let kernel = fault.file.strip_prefix("glsl/");
        // No module is loaded in place of those with functions of a caller, which the library has not: the tests have them.
        let has_functions = fault
            .checks
            .iter()
            .any(|check| check.words.as_ref().is_some_and(|words| words.starts_with("functions")));
        if let Some(kernel) = kernel {
            let (copy, log) = (&self.checker.copy, self.checker.log());
            let modules = copy.cache.join("modules");
            match self.script.compile(copy, kernel, &faulty, &modules, &log)? {
                None => return Ok(Some(trial::DOES_NOT_COMPILE)),
                Some(0) if !has_functions => return Ok(Some(trial::CHANGES_NOTHING)),
                Some(_) => self.checker.kernels = Some(modules),
            }
        }
        if kernel.is_none() || has_functions {
            fs::write(&path, faulty).with_context(|| fault.file.clone())?;
            if !self.checker.builds(fault.checks[0].target)? {
                return Ok(Some(trial::DOES_NOT_COMPILE));
            }
        }
        Ok(None)
    }

    /// Runs the checks of a fault, and returns the verdict and its finder.
    fn find(&mut self, fault: &Fault) -> Result<(String, String)> {
        let ended = |verdict: &str, finder: &str| Ok((verdict.to_owned(), finder.to_owned()));
        let mut has_run = false;
        for check in &fault.checks {
            self.progress(format_args!("{}: {}", fault.name, check.text));
            match self.checker.check(check)? {
                Outcome::Passed => has_run = true,
                Outcome::NoTrial => {}
                Outcome::Failed => return ended(trial::FOUND, &check.text),
                Outcome::TimedOut => return ended(trial::FOUND, &format!("{} (time is up)", check.text)),
            }
        }
        if !has_run {
            return ended(trial::NO_TRIAL, "-");
        }
        if self.options.only_checks {
            return ended(trial::SURVIVED, trial::CHECKS);
        }
        // A faulty source of a kernel would be found by its committed module.
        if fault.file.starts_with("glsl/") {
            self.checker.copy.restore()?;
        }
        self.progress(format_args!("{}: tools/test", fault.name));
        match self.checker.suite()? {
            Outcome::Passed => ended(trial::SURVIVED, "-"),
            _ => ended(trial::FOUND, "tools/test"),
        }
    }
}
