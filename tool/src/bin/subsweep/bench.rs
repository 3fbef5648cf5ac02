//! `subsweep bench`.

mod comparison;
mod host_time;
mod scaling;

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use subsweep::device::Capabilities;
use subsweep::headless::Gpu;
use subsweep_tool::harness::units::{duration, scaled};
use subsweep_tool::harness::{
    BenchGroup, BenchOptions, BenchScale, Case, CopyRoof, DeviceReport, Effort, Measured, Measurement,
    Outcome, RecordedCounts, SortValues, Summary, VerifiedCase, Work, bench_cases, first_look_cases,
    peer_bench_cases, scaling_bench_cases, textbook_bench_cases, tutorial_13_bench_cases,
};

use crate::args::{Common, parse_percent};
use crate::command::Run;
use crate::files::Destination;
use crate::reports::Format;
use crate::suite::{self, Suite, SuiteArgs, Tally};
use crate::terminal::Progress;
use comparison::{Comparison, TEXTBOOK, TUTORIAL_13};
use scaling::Scaling;

/// Measure devices, each case beside a copy of as many bytes
///
/// Each case is verified first and last, and is not measured if its result is wrong. Times are medians of GPU time, or of
/// wall-clock time where a device has no timestamps, with the interquartile range. Bytes count the elements that
/// the algorithm has to read and write. A GPU's clock is warmed by copies before the runs; a case is marked unsteady if
/// copies before and after its runs differ.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

    /// Measure the cases of a preset instead, and answer its question
    #[arg(long, value_name = "NAME", value_enum)]
    pub preset: Option<Preset>,

    /// Also write the measurements as CSV, one on a line, times in nanoseconds; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<Destination>,

    /// Also write tables as Markdown; - is standard output
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<Destination>,

    /// Also write a self-contained HTML page with figures and tables; - is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<Destination>,

    /// Empty the device's caches before each run, by a copy of a larger range
    #[arg(long)]
    pub cold_cache: bool,

    /// Leave the samples out of the reports, which keep their medians and intervals
    #[arg(long)]
    pub summary: bool,

    /// Print the cases, their bytes and the expected time on the host, and measure nothing
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown", "html"])]
    pub dry_run: bool,

    /// Increase every time by PERCENT, to try a comparison
    #[arg(long, value_name = "PERCENT", hide = true, default_value_t = 0.0, value_parser = parse_percent, allow_hyphen_values = true)]
    pub slow_down: f64,
}

/// A set of cases that answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Every algorithm on u32: which scan is fastest? Do fewer operations, wider digits or a single pass pay?
    Textbook,
    /// The claims of tutorial 13 about its sort: are 4 bits faster than 2, and packed counters than bin by bin?
    #[value(name = "tutorial-13")]
    Tutorial13,
    /// Every algorithm from 2^8 elements on: what are the fixed cost and the cost of each element?
    Scaling,
    /// What the programs of benches/peers measure as well, for `compare`
    Peers,
}

impl BenchArgs {
    /// The cases of the preset, or the cases of all primitives.
    fn cases(&self, effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
        match self.preset {
            None => bench_cases(BenchScale::new(effort, capabilities)),
            Some(Preset::Textbook) => textbook_bench_cases(effort),
            Some(Preset::Tutorial13) => tutorial_13_bench_cases(effort),
            Some(Preset::Scaling) => scaling_bench_cases(effort),
            Some(Preset::Peers) => peer_bench_cases(BenchScale::new(effort, capabilities)),
        }
    }

    fn options(&self, effort: Effort) -> BenchOptions {
        BenchOptions {
            has_cold_cache: self.cold_cache,
            slow_down: 1.0 + self.slow_down / 100.0,
            ..options(effort)
        }
    }
}

impl Run for BenchArgs {
    fn run(&self, common: &Common) -> Result<()> {
        if self.dry_run {
            return host_time::print(self, common);
        }
        let outputs = [
            (Format::Json, &self.suite.json),
            (Format::Csv, &self.csv),
            (Format::Markdown, &self.markdown),
            (Format::Html, &self.html),
        ];
        suite::run(&self.suite, &outputs, common, |suite, opened| on_device(suite, &opened.gpu, self))
    }
}

/// Admits cases that fit into the machine's memory, and reports others as not supported.
pub fn admit(gpu: &Gpu) -> impl Fn(&Case) -> Result<(), Outcome> + Copy {
    |case| match suite::lacking_memory(gpu, case) {
        Some(reason) => Err(Outcome::NotSupported(reason)),
        None => Ok(()),
    }
}

/// Options of an effort.
fn options(effort: Effort) -> BenchOptions {
    let (samples_per_block, end_to_end_count, budget) = match effort {
        Effort::Quick => (1, 3, Duration::from_millis(400)),
        Effort::Normal => (3, 5, Duration::from_secs(3)),
        Effort::Full => (10, 10, Duration::from_secs(20)),
    };
    BenchOptions {
        block_count: 10,
        samples_per_block,
        end_to_end_count,
        min_sample: Duration::from_millis(2),
        budget,
        has_cold_cache: false,
        slow_down: 1.0,
    }
}

/// Memory budget in bytes of the elements of a batch. A larger case is measured alone. Each case has several arrays
/// of its elements.
pub fn room(gpu: &Gpu) -> u64 {
    let of_device = batch_size(gpu.capabilities());
    // Bounded by free memory, so that the arrays of earlier cases leave room for later ones.
    suite::room_for_elements(gpu).map_or(of_device, |of_machine| of_device.min(of_machine))
}

/// Bytes of the elements of a batch, where the host has memory enough.
fn batch_size(capabilities: &Capabilities) -> u64 {
    (capabilities.largest_heap_size / 64).max(128 << 20)
}

/// Groups of cases that are measured alternately: the same work on the same elements, up to `max_size` bytes.
fn groups(cases: Vec<Case>, max_size: u64) -> Vec<Vec<Case>> {
    let mut groups: Vec<Vec<Case>> = Vec::new();
    for case in cases {
        let variants = case.variants();
        let fits = |group: &&mut Vec<Case>| {
            group[0].variants() == variants
                && group.iter().map(Case::size).sum::<u64>() + case.size() <= max_size
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(case),
            None => groups.push(vec![case]),
        }
    }
    groups
}

/// Groups of a batch, so that the first are reported soon.
const MAX_GROUPS: usize = 32;

/// Batches of groups that are measured in rounds, one block of each group a round, up to `max_size` bytes: the
/// blocks of a group are far apart in time. A batch is reported at its end.
fn batches(groups: Vec<Vec<Case>>, max_size: u64) -> Vec<Vec<Vec<Case>>> {
    let size = |group: &[Case]| group.iter().map(Case::size).sum::<u64>();
    let mut batches: Vec<Vec<Vec<Case>>> = Vec::new();
    let mut last_size = u64::MAX;
    for group in groups {
        let size = size(&group);
        match batches.last_mut() {
            Some(batch) if batch.len() < MAX_GROUPS && last_size.saturating_add(size) <= max_size => {
                last_size += size;
                batch.push(group);
            }
            _ => {
                last_size = size;
                batches.push(vec![group]);
            }
        }
    }
    batches
}

/// The answer to a preset's question, from the cases measured so far.
enum Answer {
    /// Compares algorithms.
    Comparison(Comparison),
    /// Fits time against the count.
    Scaling(Scaling),
}

fn on_device(suite: &mut Suite, gpu: &Gpu, args: &BenchArgs) -> Result<Tally> {
    let effort = suite.effort();
    let preset = args.preset.and_then(|preset| preset.to_possible_value());
    let command = preset.map_or("bench".to_owned(), |preset| format!("bench --preset {}", preset.get_name()));
    let mut answer = args.preset.and_then(|preset| match preset {
        Preset::Textbook => Some(Answer::Comparison(Comparison::new(TEXTBOOK))),
        Preset::Tutorial13 => Some(Answer::Comparison(Comparison::new(TUTORIAL_13))),
        Preset::Scaling => Some(Answer::Scaling(Scaling::default())),
        Preset::Peers => None,
    });
    let cases = suite.select(args.cases(effort, gpu.capabilities()), &[])?;
    let options = args.options(effort);
    suite.device_report().cold_cache = args.cold_cache;
    let roof = CopyRoof::new(gpu)?;
    let clock =
        if gpu.has_timestamps() { "GPU time" } else { "wall-clock time: the queue has no timestamps" };
    let caches = if args.cold_cache { ", with empty caches" } else { "" };
    suite.print(&format!("  {clock}{caches}; % of the speed of copying the elements in the same run\n"))?;
    let (mut tally, mut heading) = (Tally::default(), String::new());
    let progress = Progress::new(cases.len() * options.block_count as usize);
    let admit = admit(gpu);
    let room = room(gpu);
    for batch in batches(groups(cases, room), room) {
        let DeviceReport { measured, verified, .. } = suite.device_report();
        let before = [measured.len(), verified.len()];
        progress.begin_all("computing expected results", 0);
        let begin = |cases: &[Case]| progress.begin_all(&format!("verifying {}", cases[0].variants()), 0);
        let mut groups = BenchGroup::verified(&roof, &batch, options, admit, begin)?;
        for round in 1..=options.block_count {
            for (cases, group) in batch.iter().zip(&mut groups) {
                let name = format!("round {round} of {}: {}", options.block_count, cases[0].variants());
                progress.begin_all(&name, cases.len());
                group.measure_block()?;
            }
        }
        // Only what is verified after its last block is reported, and intervals are computed while no clock is to stay warm.
        groups.iter_mut().try_for_each(BenchGroup::finish)?;
        let outcomes: Vec<Measured> = groups.iter().flat_map(BenchGroup::measured).collect();
        note(suite, gpu, &command, before, batch.iter().flatten().zip(&outcomes), args.summary);
        suite.save()?;
        for (case, outcome) in batch.iter().flatten().zip(outcomes) {
            match &mut answer {
                Some(Answer::Comparison(comparison)) => comparison.add(case, &outcome),
                Some(Answer::Scaling(scaling)) => scaling.add(case, &outcome),
                None => {
                    let mut text = String::new();
                    let new_heading = self::heading(case, gpu.capabilities());
                    if new_heading != heading {
                        text += &new_heading;
                        text += &columns();
                        heading = new_heading;
                    }
                    text += &lines(case, &outcome);
                    progress.suspend(|| suite.print(&text))?;
                }
            }
            count(&mut tally, &outcome);
        }
    }
    drop(progress);
    match answer {
        Some(Answer::Comparison(comparison)) => suite.print(&comparison.to_string())?,
        Some(Answer::Scaling(scaling)) => suite.print(&scaling.to_string())?,
        None => {}
    }
    let Tally { right, wrong, not_supported, .. } = tally;
    suite.print(&format!("\n  {right} measured, {wrong} wrong, {not_supported} not supported\n"))?;
    Ok(tally)
}

fn count(tally: &mut Tally, measured: &Measured) {
    match measured {
        Ok(_) => tally.right += 1,
        Err(Outcome::NotSupported(_)) => tally.not_supported += 1,
        Err(Outcome::Fail(_) | Outcome::Pass) => tally.wrong += 1,
    }
}

/// Writes the current outcomes of cases to the report. `before` counts its measured and verified cases of earlier
/// groups; all after them are replaced.
fn note<'a>(
    suite: &mut Suite,
    gpu: &Gpu,
    command: &str,
    before: [usize; 2],
    known: impl Iterator<Item = (&'a Case, &'a Measured)>,
    is_summary: bool,
) {
    let [measured_before, verified_before] = before;
    let (mut measured, mut verified) = (Vec::new(), Vec::new());
    for (case, outcome) in known {
        match outcome {
            Ok(measurement) if is_summary => measured.push(measurement.summarised()),
            Ok(measurement) => measured.push(measurement.clone()),
            Err(outcome) => {
                let again = suite.again(command, gpu, &case.id());
                verified.push(VerifiedCase::new(case.id(), outcome, &again));
            }
        }
    }
    let report = suite.device_report();
    report.measured.splice(measured_before.., measured);
    report.verified.splice(verified_before.., verified);
}

/// Measures a scan and sorts for some seconds, and returns the tally and a table with a line for each.
///
/// # Errors
/// Errors of the device.
pub fn first_look(suite: &mut Suite, gpu: &Gpu) -> Result<(Tally, String)> {
    let mut tally = Tally::default();
    let roof = CopyRoof::new(gpu)?;
    let mut text = format!("  {:16}  elements  elements/s  % of copy  copy bytes/s\n", "");
    for case in first_look_cases(gpu.capabilities()) {
        let options = options(Effort::Quick);
        let groups = [vec![case.clone()]];
        let mut group = BenchGroup::verified(&roof, &groups, options, admit(gpu), |_| ())?.remove(0);
        for _ in 0..options.block_count {
            group.measure_block()?;
        }
        group.finish()?;
        let measured = group.measured().remove(0);
        let what = match &case.work {
            Work::Sort(sort) if sort.keys.values != SortValues::None => "sort, u32 pairs",
            Work::Sort(_) => "sort, u32 keys",
            _ => "scan, u32 sums",
        };
        let what = format!("{what:16}  {:>8}", case.count);
        let _ = match &measured {
            Ok(measurement) => {
                let [elements, copied] =
                    [measurement.elements_per_second, measurement.copy_bytes_per_second].map(scaled);
                let percent = measurement.copy_percent;
                let mark = unsteady_mark(measurement);
                writeln!(text, "  {what}  {elements:>10}  {percent:>9.1}  {copied:>12}{mark}")
            }
            Err(outcome) => writeln!(text, "  {what}  {outcome}"),
        };
        count(&mut tally, &measured);
        let DeviceReport { measured: before, verified, .. } = suite.device_report();
        let before = [before.len(), verified.len()];
        note(suite, gpu, "bench", before, std::iter::once((&case, &measured)), false);
    }
    suite.save()?;
    Ok((tally, text))
}

/// Stands after a measurement whose clock was not steady.
fn unsteady_mark(measurement: &Measurement) -> &'static str {
    if measurement.steady { "" } else { "  unsteady" }
}

const COUNT_WIDTH: usize = 10;

/// Column headings of [`row`].
fn columns() -> String {
    format!(
        "  {:>COUNT_WIDTH$}  {:>7}  {:>7}  {:>6}  {:>7}  {:>6}  {:>7}  {:>10}  {:>10}  {:>8}\n",
        "elements",
        "median",
        "IQR",
        "elem/s",
        "bytes/s",
        "% copy",
        "record",
        "end to end",
        "dispatches",
        "barriers"
    )
}

/// The lines of a case under its heading.
fn lines(case: &Case, outcome: &Measured) -> String {
    match outcome {
        Ok(measurement) => {
            let look_back =
                measurement.look_back.map(|counts| format!("  {:>COUNT_WIDTH$}   look-back: {counts}\n", ""));
            row(measurement) + &look_back.unwrap_or_default()
        }
        Err(outcome) => format!("  {:>COUNT_WIDTH$}  {outcome}\n", case.count),
    }
}

/// A measurement on one line.
fn row(measurement: &Measurement) -> String {
    let time = measurement.time;
    let spread = 100.0 * time.iqr_ns / time.median_ns;
    let [dispatches, barriers] = match measurement.recorded {
        Some(RecordedCounts { dispatches, barriers, .. }) => {
            [dispatches, barriers].map(|count| count.to_string())
        }
        None => [(); 2].map(|()| "-".to_owned()),
    };
    let median = |time: Option<Summary>| time.map_or("-".to_owned(), |time| duration(time.median_ns));
    format!(
        "  {:>COUNT_WIDTH$}  {:>7}  {spread:>5.1} %  {:>6}  {:>7}  {:>6.1}  {:>7}  {:>10}  {dispatches:>10}  {barriers:>8}{}\n",
        measurement.element_count,
        duration(time.median_ns),
        scaled(measurement.elements_per_second),
        scaled(measurement.bytes_per_second),
        measurement.copy_percent,
        median(measurement.record),
        median(measurement.end_to_end),
        unsteady_mark(measurement)
    )
}

/// The heading of cases that differ only in size: work, input and policy.
fn heading(case: &Case, capabilities: &Capabilities) -> String {
    format!("\n  {};input={}\n  {}\n", case.work, case.input, case.policy(capabilities))
}
