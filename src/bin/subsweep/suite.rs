//! What `verify` and `bench` share: devices one after the other, the cases that are asked for, counts, and the report.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use anyhow::Result;
use subsweep::Error;
use subsweep::device::Capabilities;
use subsweep::harness::{Case, DeviceReport, Effort, Report};
use subsweep::headless::{Candidate, Gpu};

use crate::args::{Common, PolicyKind, SuiteArgs};
use crate::cache::CachedGpu;
use crate::device::{self, Numbered};
use crate::error::Ended;
use crate::files::memory;
use crate::files::output::{OutputError, print, tell};
use crate::pattern::matches;
use crate::reports::{Format, Reports};
use crate::words::{self, escaped};

/// How cases ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// As they should.
    pub right: u64,
    /// With a wrong result.
    pub wrong: u64,
    /// Not at all, because the device cannot do them.
    pub not_supported: u64,
}

/// A run over devices and cases.
#[derive(Debug)]
pub struct Suite {
    effort: Effort,
    patterns: Patterns,
    report: Report,
    reports: Reports,
    /// Whether a case has ended: before that a report says nothing, and an older one stays.
    has_results: bool,
    /// When the report was written last, and how long that took.
    last_save: Option<(Instant, Duration)>,
    /// Whether pipelines are kept from run to run.
    is_cached: bool,
}

/// A device at work.
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

    /// Opens the device once more, with a queue and plans of its own.
    ///
    /// # Errors
    /// Those of [`Gpu::open_candidate`].
    pub fn again(&self) -> Result<CachedGpu, Error> {
        CachedGpu::open(self.candidate.clone(), self.is_cached)
    }
}

/// Runs `on_device` for each device that is asked for, sums up, and writes the report to its `places`.
///
/// # Errors
/// That no device will do; the first failure of a device, once all have been tried; a wrong result.
pub fn run(
    args: &SuiteArgs,
    places: &[(Format, &Option<OsString>)],
    common: &Common,
    mut on_device: impl FnMut(&mut Suite, &Opened) -> Result<Tally>,
) -> Result<()> {
    let mut suite = Suite::new(args, places, common)?;
    let instance = device::instance()?;
    let devices = device::choose(&instance, &common.device)?;
    let is_alone = devices.len() == 1;
    let (mut total, mut first_error) = (Tally::default(), None);
    for (at, device) in devices.into_iter().enumerate() {
        let blank = if at > 0 { "\n" } else { "" };
        suite.print(&format!("{blank}{}\n", device.heading()))?;
        match suite.run_device(device, &mut on_device) {
            Ok(tally) => total = total.and(tally),
            // A place that cannot be written is the same for every device.
            Err(error) if error.is::<OutputError>() => return Err(error),
            Err(error) if is_alone => {
                // Of two errors the first one is told.
                let _ = suite.finish(false);
                return Err(error);
            }
            Err(error) => {
                suite.print(&format!("  {}\n", escaped(&error.to_string())))?;
                first_error.get_or_insert(error);
            }
        }
    }
    // With `all`, a device below the floor, or without a case that is asked for, is listed and takes nothing from the others.
    let is_harmless = |error: &anyhow::Error| is_missing_feature(error) || error.is::<Ended>();
    suite.finish(first_error.as_ref().is_none_or(is_harmless))?;
    match (total, first_error) {
        (Tally { wrong: 1.., .. }, _) => {
            let count = total.wrong + total.right + total.not_supported;
            Err(Ended::wrong(format!("{} of {count} cases gave a wrong result", total.wrong)).into())
        }
        (Tally { right: 1.., .. }, Some(error)) if is_harmless(&error) => Ok(()),
        (_, Some(error)) => Err(error),
        (Tally { right: 0, .. }, None) => {
            Err(Ended::unable("the device can do none of these cases; choose another, or other cases").into())
        }
        (_, None) => Ok(()),
    }
}

/// Whether the device is below what the command needs, which is no failure of it.
pub fn is_missing_feature(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Error>(), Some(Error::MissingFeature { .. }))
}

impl Suite {
    fn new(args: &SuiteArgs, places: &[(Format, &Option<OsString>)], common: &Common) -> Result<Self> {
        Ok(Self {
            effort: args.effort(),
            patterns: Patterns::new(args, common),
            report: Report::new(
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            ),
            reports: Reports::prepare(places, &[])?,
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

    /// How much is to be done.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// The command line with which `command` does the case with this id on this device, and nothing else.
    pub fn again(&self, command: &str, gpu: &Gpu, id: &str) -> String {
        let effort = match self.effort {
            Effort::Quick => " --quick",
            Effort::Normal => "",
            Effort::Full => " --full",
        };
        let uuid = gpu.identity().device_uuid_text();
        format!("subsweep {command}{effort} --device uuid:{uuid} --filter '{id}'")
    }

    /// The cases that are asked for, at least one; `has_default_plans_only` where --quick has left out others.
    ///
    /// # Errors
    /// That there is none.
    pub fn select(&self, cases: Vec<Case>, has_default_plans_only: bool) -> Result<Vec<Case>, Ended> {
        self.patterns.select(cases, has_default_plans_only)
    }

    /// What is written down about the device at hand.
    pub fn device_report(&mut self) -> &mut DeviceReport {
        self.report.devices.last_mut().expect("a device's section is begun before its cases")
    }

    /// Words, by [`tell`].
    ///
    /// # Errors
    /// Those of standard output.
    pub fn print(&self, text: &str) -> Result<(), OutputError> {
        tell(text, self.reports.have_stdout())
    }

    /// Writes the report as it is by now, after a case; unless it was written so lately that writing would take more than
    /// a tenth of the time, as that of a long report does.
    ///
    /// # Errors
    /// Those of its place.
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

/// What must be in a case's id.
#[derive(Debug)]
struct Patterns {
    filter: Option<String>,
    /// Of other options: the pattern, and the option as it is given.
    options: Vec<(String, String)>,
}

impl Patterns {
    fn new(args: &SuiteArgs, common: &Common) -> Self {
        let option = |option: &str, name: &str| (format!(";{option}={name};"), format!("--{option} {name}"));
        let algorithm = common.algorithm.map(|algorithm| option("algorithm", algorithm.name()));
        let policy = common.policy.map(|policy| match policy {
            PolicyKind::Default => option("policy", "default"),
            PolicyKind::Seed => option("policy", "seed"),
            PolicyKind::SeedBinByBin => option("policy", "seed-bin-by-bin"),
        });
        Self { filter: args.filter.clone(), options: algorithm.into_iter().chain(policy).collect() }
    }

    fn select(&self, mut cases: Vec<Case>, has_default_plans_only: bool) -> Result<Vec<Case>, Ended> {
        let example = cases.first().map(Case::id).unwrap_or_default();
        cases.retain(|case| {
            let id = case.id();
            self.options.iter().all(|(pattern, _)| matches(pattern, &id))
        });
        let is_of_options = !cases.is_empty();
        if let Some(filter) = &self.filter {
            cases.retain(|case| matches(filter, &case.id()));
        }
        if !cases.is_empty() {
            return Ok(cases);
        }
        let given: Vec<_> = self.options.iter().map(|(_, given)| given.as_str()).collect();
        let what = match (&self.filter, given.join(" and ")) {
            (Some(filter), given) if given.is_empty() => format!("no case has '{filter}' in its id"),
            (Some(filter), given) if is_of_options => format!("no case of {given} has '{filter}' in its id"),
            (_, given) => format!("there is no case of {given}"),
        };
        Err(Ended::usage(match is_of_options || !has_default_plans_only {
            true => format!("{what}; ids are like {example}"),
            false => format!("{what}; leave out --quick, which takes default plans only"),
        }))
    }
}

/// Prints the ids of the cases that are asked for, a line each, and opens no device. The devices are named beside them where
/// there are several.
///
/// # Errors
/// That no device will do, or that there is no such case.
pub fn list(
    args: &SuiteArgs,
    common: &Common,
    cases: impl Fn(Effort, &Capabilities) -> Vec<Case>,
) -> Result<()> {
    let devices = device::choose(&device::instance()?, &common.device)?;
    let are_many = devices.len() > 1;
    let (mut is_listed, mut first_error) = (false, None);
    for device in devices {
        if are_many {
            words::print(&format!("{}\n", device.heading()));
        }
        let selected = device.candidate.requirements().map_err(anyhow::Error::from).and_then(|_| {
            // Whoever has the requirements has them, too.
            let capabilities = device.candidate.capabilities().ok_or(Error::NoDevice)?;
            Ok(Patterns::new(args, common).select(cases(args.effort(), capabilities), args.quick)?)
        });
        match selected {
            Ok(cases) => {
                print(&cases.iter().map(|case| case.id() + "\n").collect::<String>())?;
                is_listed = true;
            }
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    // As with running them, a device without such a case takes nothing from the others.
    first_error.filter(|_| !is_listed).map_or(Ok(()), Err)
}

impl Tally {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            not_supported: self.not_supported + other.not_supported,
        }
    }
}

/// How often this machine's memory holds the elements of a case: the input, the expected output and an image of the
/// device's memory, which holds the pristine input, source, destination and scratch; a CPU's driver holds that memory in
/// the same place.
fn copies(gpu: &Gpu) -> u64 {
    if gpu.capabilities().is_cpu() { 12 } else { 7 }
}

/// Bytes of elements that this machine has memory for, where it tells.
pub fn room_for_elements(gpu: &Gpu) -> Option<u64> {
    Some(memory::available()? / copies(gpu))
}

/// Why this machine has too little memory for a case, where it has: the process would be killed.
pub fn lacking_memory(gpu: &Gpu, case: &Case) -> Option<String> {
    let needed = case.size() * copies(gpu);
    let available = memory::available()?;
    (needed > available)
        .then(|| format!("it needs about {needed} bytes of memory, and there are {available}"))
}
