//! Common code of `verify` and `bench`: iteration over devices, selection of cases, tally and report.

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use subsweep::Error;
use subsweep::device::Capabilities;
use subsweep::headless::{Candidate, Gpu};
use subsweep_tool::harness::{Case, DeviceReport, Effort, LargeCase, Report};

use crate::args::Common;
use crate::cache::CachedGpu;
use crate::device::{self, Numbered};
use crate::error::CommandError;
use crate::files::output::{OutputError, print, print_text};
use crate::files::{Destination, Job, memory};
use crate::pattern::matches;
use crate::reports::{Format, Reports};
use crate::terminal::{self, escaped};

/// A choice of cases.
#[derive(Debug, Args)]
pub struct CaseArgs {
    /// Only cases whose id contains PATTERN, in which * matches any text: sort, columns=4, radix-2bit*n=1048576
    #[arg(long, value_name = "PATTERN")]
    pub filter: Option<String>,

    /// Fewer cases: verify takes a covering set of up to 65537 elements, bench less than a minute on a CPU driver
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// All cases, including the largest; takes much longer
    #[arg(long)]
    pub full: bool,
}

/// The cases of a suite and the destination of its report.
#[derive(Debug, Args)]
pub struct SuiteArgs {
    #[command(flatten)]
    pub cases: CaseArgs,

    /// Write a report as JSON, valid while the command runs and complete at the end; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<Destination>,
}

impl CaseArgs {
    /// The effort in use.
    pub fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            (false, false) => Effort::Normal,
        }
    }
}

/// Counts of cases by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Cases with a right result.
    pub right: u64,
    /// Cases with a wrong result.
    pub wrong: u64,
    /// Cases that the device does not support.
    pub not_supported: u64,
    /// Whether a device has failed the self-test.
    pub is_unfit: bool,
}

/// A run over devices and cases.
#[derive(Debug)]
pub struct Suite {
    effort: Effort,
    patterns: Patterns,
    report: Report,
    reports: Reports,
    /// Whether a case has ended. Before the first one no report is written, so an older file stays.
    has_results: bool,
    /// The time of the last write of the report, and its duration.
    last_save: Option<(Instant, Duration)>,
    /// Whether pipeline caches are kept between runs.
    is_cached: bool,
}

/// A device that runs cases.
pub struct Opened {
    /// The device.
    pub gpu: CachedGpu,
    candidate: Candidate,
    is_cached: bool,
}

impl Opened {
    fn new(candidate: Candidate, is_cached: bool) -> Result<Self, Error> {
        let gpu = CachedGpu::open(candidate.clone(), is_cached)?;
        Ok(Self { gpu, candidate, is_cached })
    }

    /// Opens the device again, with a queue and plans of its own.
    ///
    /// # Errors
    /// Errors of [`Gpu::open_candidate`].
    pub fn again(&self) -> Result<CachedGpu, Error> {
        CachedGpu::open(self.candidate.clone(), self.is_cached)
    }
}

/// Runs `on_device` for each chosen device, sums up, and writes the report to its `destinations`.
///
/// # Errors
/// There is no suitable device; the first error of a device, once all have been tried; a wrong result.
pub fn run(
    args: &SuiteArgs,
    destinations: &[(Format, &Option<Destination>)],
    common: &Common,
    mut on_device: impl FnMut(&mut Suite, &Opened) -> Result<Tally>,
) -> Result<()> {
    let mut suite = Suite::new(args, destinations, common)?;
    let instance = device::instance()?;
    let devices = device::choose(&instance, &common.device)?;
    let is_alone = devices.len() == 1;
    let (mut total, mut first_error) = (Tally::default(), None);
    for (at, device) in devices.into_iter().enumerate() {
        let blank = if at > 0 { "\n" } else { "" };
        suite.print(&format!("{blank}{}\n", device.heading()))?;
        match suite.run_device(device, &mut on_device) {
            Ok(tally) => total = total.and(tally),
            // An output error is the same for every device.
            Err(error) if error.is::<OutputError>() => return Err(error),
            Err(error) if is_alone => {
                // The first of two errors is reported.
                let _ = suite.finish(false);
                return Err(error);
            }
            Err(error) => {
                suite.print(&format!("  {}\n", escaped(&error.to_string())))?;
                first_error.get_or_insert(error);
            }
        }
    }
    // With several devices, one that lacks a requirement or has no selected case is listed, and is no failure.
    let is_harmless = |error: &anyhow::Error| is_missing_feature(error) || error.is::<CommandError>();
    suite.finish(first_error.as_ref().is_none_or(is_harmless))?;
    match (total, first_error) {
        (Tally { wrong: 1.., .. }, _) => {
            let count = total.wrong + total.right + total.not_supported;
            Err(CommandError::wrong(format!("{} of {count} cases gave a wrong result", total.wrong)).into())
        }
        (Tally { is_unfit: true, .. }, _) => {
            Err(CommandError::wrong("a device fails the self-test, though its cases gave no wrong result")
                .into())
        }
        (Tally { right: 1.., .. }, Some(error)) if is_harmless(&error) => Ok(()),
        (_, Some(error)) => Err(error),
        (Tally { right: 0, .. }, None) => {
            Err(CommandError::unable("the device can do none of these cases; choose another, or other cases")
                .into())
        }
        (_, None) => Ok(()),
    }
}

/// Whether the device lacks a requirement of the command.
pub fn is_missing_feature(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Error>(), Some(Error::MissingFeature { .. }))
}

impl Suite {
    fn new(
        args: &SuiteArgs,
        destinations: &[(Format, &Option<Destination>)],
        common: &Common,
    ) -> Result<Self> {
        Ok(Self {
            effort: args.cases.effort(),
            patterns: Patterns::new(&args.cases, common),
            report: Report::new(
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            ),
            reports: Reports::prepare(Job::default(), destinations)?,
            has_results: false,
            last_save: None,
            is_cached: !common.no_pipeline_cache,
        })
    }

    fn run_device(
        &mut self,
        device: Numbered,
        on_device: &mut impl FnMut(&mut Self, &Opened) -> Result<Tally>,
    ) -> Result<Tally> {
        let opened = Opened::new(device.candidate, self.is_cached)?;
        self.report.devices.push(DeviceReport::new(&opened.gpu));
        on_device(self, &opened)
    }

    /// The effort of the run.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// The command line that repeats `command` for only this case on this device.
    pub fn again(&self, command: &str, gpu: &Gpu, id: &str) -> String {
        let effort = match self.effort {
            Effort::Quick => " --quick",
            Effort::Normal => "",
            Effort::Full => " --full",
        };
        let uuid = gpu.identity().device_uuid_text();
        format!("subsweep {command}{effort} --device uuid:{uuid} --filter '{id}'")
    }

    /// The selected cases, at least one. `excluding` are the command's own options that have left out others.
    ///
    /// # Errors
    /// No case is selected.
    pub fn select(&self, cases: Vec<Case>, excluding: &[&str]) -> Result<Vec<Case>, CommandError> {
        self.patterns.select(cases, Case::id, excluding)
    }

    /// As [`Self::select`], for cases that no table has.
    ///
    /// # Errors
    /// No case is selected.
    pub fn select_large(&self, cases: Vec<LargeCase>) -> Result<Vec<LargeCase>, CommandError> {
        self.patterns.select(cases, LargeCase::to_string, &[])
    }

    /// The report's section of the current device.
    pub fn device_report(&mut self) -> &mut DeviceReport {
        self.report.devices.last_mut().expect("a device's section is begun before its cases")
    }

    /// Prints text, by [`print_text`].
    ///
    /// # Errors
    /// Errors of standard output.
    pub fn print(&self, text: &str) -> Result<(), OutputError> {
        print_text(text, self.reports.have_stdout())
    }

    /// Writes the intermediate report after a case. Skipped where writing would take more than a tenth of the time.
    ///
    /// # Errors
    /// The report cannot be written.
    pub fn save(&mut self) -> Result<()> {
        self.has_results = true;
        let start = Instant::now();
        if self.last_save.is_none_or(|(end, duration)| start - end >= 9 * duration) {
            self.reports.update(&self.report)?;
            let end = Instant::now();
            self.last_save = Some((end, end - start));
        }
        Ok(())
    }

    fn finish(mut self, is_complete: bool) -> Result<()> {
        self.report.complete = is_complete;
        if self.has_results { self.reports.commit(&self.report) } else { Ok(()) }
    }
}

/// Patterns that a case's id must match.
#[derive(Debug)]
struct Patterns {
    filter: Option<String>,
    is_quick: bool,
    /// Patterns of other options, with the option as given.
    options: Vec<(String, String)>,
}

impl Patterns {
    fn new(args: &CaseArgs, common: &Common) -> Self {
        let option = |option: &str, name: &str| (format!(";{option}={name};"), format!("--{option} {name}"));
        let algorithm = common.algorithm.map(|algorithm| option("algorithm", algorithm.name()));
        let policy = common.policy.map(|policy| option("policy", policy.name().name()));
        let options = algorithm.into_iter().chain(policy).collect();
        Self { filter: args.filter.clone(), is_quick: args.quick, options }
    }

    fn select<C>(
        &self,
        mut cases: Vec<C>,
        id: fn(&C) -> String,
        excluding: &[&str],
    ) -> Result<Vec<C>, CommandError> {
        let first_id = |cases: &[C]| cases.first().map(id);
        let of_all = first_id(&cases).unwrap_or_default();
        cases.retain(|case| {
            let id = id(case);
            self.options.iter().all(|(pattern, _)| matches(pattern, &id))
        });
        let is_of_options = !cases.is_empty();
        let example = first_id(&cases).unwrap_or(of_all);
        if let Some(filter) = &self.filter {
            cases.retain(|case| matches(filter, &id(case)));
        }
        if !cases.is_empty() {
            return Ok(cases);
        }
        let is_too_quick = self.is_quick && !is_of_options;
        let quick = (self.is_quick && is_of_options).then_some("--quick");
        let options = self.options.iter().map(|(_, given)| given.as_str());
        let given: Vec<_> = quick.into_iter().chain(excluding.iter().copied()).chain(options).collect();
        let what = match (&self.filter, given.join(" and ")) {
            (Some(filter), given) if given.is_empty() => format!("no case has '{filter}' in its id"),
            (Some(filter), given) if is_of_options => format!("no case of {given} has '{filter}' in its id"),
            (_, given) => format!("there is no case of {given}"),
        };
        Err(CommandError::usage(match is_too_quick {
            true => format!("{what}; leave out --quick, which takes fewer cases"),
            false if example.is_empty() => what,
            false => format!("{what}; ids are like {example}"),
        }))
    }
}

/// Prints the selected cases by `show`, without opening a device. With several devices each list has a heading.
/// `excluding` are the command's own options that have left out other cases.
///
/// # Errors
/// There is no suitable device, or no such case.
pub fn list(
    args: &CaseArgs,
    excluding: &[&str],
    common: &Common,
    cases: impl Fn(Effort, &Capabilities) -> Vec<Case>,
    mut show: impl FnMut(&[Case], &Capabilities) -> String,
) -> Result<()> {
    let devices = device::choose(&device::instance()?, &common.device)?;
    let are_many = devices.len() > 1;
    let (mut is_listed, mut first_error) = (false, None);
    for device in devices {
        if are_many {
            terminal::print(&format!("{}\n", device.heading()));
        }
        let selected = device.candidate.requirements().map_err(anyhow::Error::from).and_then(|_| {
            // A device that meets the requirements has capabilities.
            let capabilities = device.candidate.capabilities().ok_or(Error::NoDevice)?;
            let cases = cases(args.effort(), capabilities);
            let cases = Patterns::new(args, common).select(cases, Case::id, excluding)?;
            Ok(show(&cases, capabilities))
        });
        match selected {
            Ok(text) => {
                print(&text)?;
                is_listed = true;
            }
            Err(error) => {
                if are_many {
                    terminal::print(&format!("  {}\n", escaped(&error.to_string())));
                }
                first_error = first_error.or(Some(error));
            }
        }
    }
    // With several devices, one without such a case is no failure, as in a run.
    first_error.filter(|_| !is_listed).map_or(Ok(()), Err)
}

impl Tally {
    /// The sum of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            not_supported: self.not_supported + other.not_supported,
            is_unfit: self.is_unfit || other.is_unfit,
        }
    }
}

/// Copies of a case's elements in this machine's memory: the input, the expected output and an image of the
/// device's memory, which holds the pristine input, source, destination and scratch. A CPU's driver holds the device's
/// memory as well, with the expected output and the two arrays of a copy.
fn copies(gpu: &Gpu) -> u64 {
    if gpu.capabilities().is_cpu() { 15 } else { 7 }
}

/// Bytes of elements that fit into this machine's memory, if its size is known.
pub fn room_for_elements(gpu: &Gpu) -> Option<u64> {
    Some(memory::available()? / copies(gpu))
}

/// The reason why a case does not fit into this machine's memory, if so: the process would be killed.
pub fn lacking_memory(gpu: &Gpu, case: &Case) -> Option<String> {
    let needed = case.size() * copies(gpu);
    let available = memory::available()?;
    (needed > available)
        .then(|| format!("it needs about {needed} bytes of memory, and there are {available}"))
}
