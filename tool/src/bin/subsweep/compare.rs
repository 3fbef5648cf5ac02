//! `subsweep compare`: reports case by case, inspections pipeline by pipeline.

mod inspections;
mod peers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use subsweep_tool::harness::page::{Titled, page, verdicts};
use subsweep_tool::harness::units::{duration, interval};
use subsweep_tool::harness::{
    CaseComparison, Comparison, DeviceReport, Difference, Report, Section, Side, Verdict, pair_devices,
    without_count,
};

use crate::args::{Common, parse_percent};
use crate::command::{Need, Run};
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::output::{print_text, to_json};
use crate::files::{Compared, Destination, Job, Source, read_compared};
use crate::reports::{Format, Reports};
use crate::terminal::escaped;

/// Compare reports of bench, case by case, or inspections, pipeline by pipeline
///
/// Files that `inspect --json` wrote are compared pipeline by pipeline: registers, spills, occupancy, instructions and
/// cycles that differ. All that follows is about reports.
///
/// The first report is the base of every other; with a single report its first device is the base. Differences in
/// device, driver, machine, build, policies and samples are printed first. A case is FASTER or SLOWER where its time
/// differs by more than the tolerance, SAME where it differs by less, and AMBIGUOUS where the samples leave both open:
/// by a bootstrap interval, at 95 %, of the ratio of medians. UNSTEADY are cases whose clock changed while they were
/// measured: they are not judged. A group is judged alike by its geometric mean. After our report, the report of a peer such
/// as benches/peers/cub ends with a table of the peer's times over ours. Between
/// runs on one machine, device and driver, the median change of the copies' times is attributed to the machine. compare
/// opens no device, and refuses --device, --algorithm and --policy.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Reports of bench or inspections of inspect, written with --json; - is standard input
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<Source>,

    /// The difference of times, in percent, that still counts as the same [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,

    /// Exit with 1 if a case has become wrong, or a case, a group or all together are slower by more than PERCENT;
    /// with 2 if a report is incomplete, lacks a device or a case of the base, or has too few samples or no steady case
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true)]
    pub fail_on_regression: Option<f64>,

    /// Write the comparison as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<Destination>,

    /// Write a page with the verdicts, and all reports in the same figures; - is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<Destination>,
}

/// The document of `--json`. Its field names are stable.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// The version of this layout.
    comparison_schema: u32,
    /// One for each pair of devices.
    comparisons: &'a [Comparison],
    /// Devices without a counterpart in the other report.
    unpaired: Vec<String>,
}

/// A device without a counterpart in the other report.
#[derive(Debug)]
struct Unpaired<'r> {
    section: Section<'r>,
    /// The new report that lacks this device of the base; none where the device is of a new report itself.
    lacking: Option<&'r str>,
}

impl Unpaired<'_> {
    fn name(&self) -> String {
        format!("{}: {}", self.section.title, self.section.device.name)
    }
}

impl Run for CompareArgs {
    fn run(&self, common: &Common) -> Result<()> {
        device::check_none("compare")?;
        if common.algorithm.is_some() || common.policy.is_some() {
            bail!(usage!("compare takes reports as they are; leave --algorithm and --policy out"));
        }
        let job =
            self.reports.iter().fold(Job::default(), |job, source| job.input("REPORT", source)).checked()?;
        let (mut reports, mut inspections) = (Vec::new(), Vec::new());
        for source in &self.reports {
            let title = source.to_string();
            match read_compared(source)? {
                Compared::Report(report) => reports.push(Named { title, report: *report }),
                Compared::Inspection(devices) => inspections.push(inspections::Named { title, devices }),
            }
        }
        match (&reports[..], &inspections[..]) {
            (_, []) => compare_reports(&reports, self, job),
            ([], _) => inspections::run(&inspections, self, job),
            ([report, ..], [inspection, ..]) => {
                let (report, inspection) = (&report.title, &inspection.title);
                bail!(usage!("{report} is a report and {inspection} an inspection; compare like with like"))
            }
        }
    }

    fn need(&self) -> Need {
        Need::Nothing
    }
}

/// The default tolerance in percent.
const TOLERANCE: f64 = 5.0;

/// Compares reports of bench.
fn compare_reports(reports: &[Named], args: &CompareArgs, job: Job<'_>) -> Result<()> {
    let outputs = Reports::prepare(job, &[(Format::Json, &args.json), (Format::Html, &args.html)])?;
    let (comparisons, unpaired) = compare(reports, args.tolerance.unwrap_or(TOLERANCE))?;
    let with_peers = |comparison: &Comparison| text(comparison) + &peers_of(comparison, reports);
    let mut text = comparisons.iter().map(with_peers).collect::<Vec<_>>().join("\n");
    for device in &unpaired {
        let _ = writeln!(text, "\n  nothing to compare with: {}", escaped(&device.name()));
    }
    print_text(&text, outputs.have_stdout())?;
    outputs.commit_rendered(|format| match format {
        Format::Html => {
            let short = short_titles(reports);
            let mut comparisons = comparisons.clone();
            for side in comparisons.iter_mut().flat_map(|one| [&mut one.base, &mut one.new]) {
                let at = reports.iter().position(|report| report.title == side.report);
                side.report = at.map_or_else(String::new, |at| short[at].clone());
            }
            let titled =
                reports.iter().zip(short).map(|(Named { report, .. }, title)| Titled { title, report });
            Ok(page(&titled.collect::<Vec<_>>(), Some(verdicts(&comparisons))).into_bytes())
        }
        _ => {
            let unpaired = unpaired.iter().map(Unpaired::name).collect();
            let document = Document { comparison_schema: 1, comparisons: &comparisons, unpaired };
            Ok(to_json(&document)?.into_bytes())
        }
    })?;
    match args.fail_on_regression {
        Some(percent) => refuse_regressions(&comparisons, &unpaired, percent),
        None => Ok(()),
    }
}

/// The table of a peer's times over ours; empty where the comparison is not of ours with a peer's.
fn peers_of(comparison: &Comparison, reports: &[Named]) -> String {
    let implementation = |side: &Side| {
        let report = reports.iter().find(|report| report.title == side.report);
        report.and_then(|named| peers::implementation(&named.report))
    };
    match (implementation(&comparison.base), implementation(&comparison.new)) {
        (None, Some(name)) => peers::table(comparison, name),
        _ => String::new(),
    }
}

/// A report and its title.
#[derive(Debug)]
struct Named {
    title: String,
    report: Report,
}

impl Named {
    /// Devices with measurements, which a base must have.
    fn base_sections(&self) -> Result<Vec<Section<'_>>, CommandError> {
        self.sections(|device| !device.measured.is_empty())
    }

    /// Devices with measurements or wrong results.
    fn new_sections(&self) -> Result<Vec<Section<'_>>, CommandError> {
        let is_wrong = |device: &DeviceReport| device.verified.iter().any(|case| case.outcome == "fail");
        self.sections(|device| !device.measured.is_empty() || is_wrong(device))
    }

    fn sections(&self, is_one: impl Fn(&DeviceReport) -> bool) -> Result<Vec<Section<'_>>, CommandError> {
        let Self { title, report } = self;
        let devices = report.devices.iter().filter(|device| is_one(device));
        let sections: Vec<_> = devices.map(|device| Section { title, report, device }).collect();
        if sections.is_empty() {
            return Err(usage!("{title}: has no measurements; name a report that bench wrote"));
        }
        Ok(sections)
    }
}

/// Titles for figures: file names without folder and extension where those differ.
fn short_titles(reports: &[Named]) -> Vec<String> {
    let stem = |report: &Named| {
        Path::new(&report.title).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into())
    };
    let stems: Vec<String> = reports.iter().map(stem).collect();
    if stems.iter().collect::<BTreeSet<_>>().len() == stems.len() {
        stems
    } else {
        reports.iter().map(|report| report.title.clone()).collect()
    }
}

/// Compares the base with each other report, device by device; a single report's first device with its others.
///
/// The second result holds the devices without a counterpart.
fn compare(reports: &[Named], tolerance: f64) -> Result<(Vec<Comparison>, Vec<Unpaired<'_>>), CommandError> {
    let [base, others @ ..] = reports else { return Ok((Vec::new(), Vec::new())) };
    let (mut pairs, mut unpaired) = (Vec::new(), Vec::new());
    let of_base = base.base_sections()?;
    if others.is_empty() {
        let first = of_base[0];
        let sections = base.new_sections()?;
        let rest = sections.into_iter().filter(|section| !std::ptr::eq(section.device, first.device));
        pairs.extend(rest.map(|new| [first, new]));
        if pairs.is_empty() {
            return Err(usage!("there is one report of one device; name another report to compare it with"));
        }
    }
    for new in others {
        let of_new = new.new_sections()?;
        let [base_devices, new_devices] = [&of_base, &of_new]
            .map(|sections| sections.iter().map(|section| section.device).collect::<Vec<_>>());
        let indices = pair_devices(&base_devices, &new_devices);
        for (side, sections) in [&of_base, &of_new].into_iter().enumerate() {
            let alone = (0..sections.len()).filter(|at| indices.iter().all(|pair| pair[side] != *at));
            let lacking = (side == 0).then_some(&new.title[..]);
            unpaired.extend(alone.map(|at| Unpaired { section: sections[at], lacking }));
        }
        pairs.extend(indices.into_iter().map(|[a, b]| [of_base[a], of_new[b]]));
    }
    let comparisons: Vec<_> =
        pairs.into_iter().map(|[base, new]| Comparison::new(base, new, tolerance)).collect();
    let is_empty = |one: &Comparison| one.cases.is_empty() && one.wrong_in_new.is_empty();
    if comparisons.iter().all(is_empty) {
        return Err(usage!("the reports have no case in common; measure both with the same options"));
    }
    Ok((comparisons, unpaired))
}

/// Fails on regressions: every case of the base must be there, right, and no slower. The most certain failure is
/// reported.
fn refuse_regressions(comparisons: &[Comparison], unpaired: &[Unpaired<'_>], percent: f64) -> Result<()> {
    let wrong: Vec<_> = comparisons.iter().flat_map(|comparison| &comparison.wrong_in_new).collect();
    if let [first, ..] = wrong[..] {
        let text = format!("{} of the base's cases gave a wrong result, such as {first}", wrong.len());
        return Err(CommandError::wrong(text).into());
    }
    refuse_unequal(comparisons, unpaired)?;
    let all = || comparisons.iter().flat_map(|one| one.regressions(percent).map(move |case| (one, case)));
    if let Some((one, worst)) = all().max_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio)) {
        let total = comparisons.iter().map(|comparison| comparison.cases.len()).sum::<usize>();
        return Err(CommandError::wrong(format!(
            "{} of {total} cases are slower by more than {percent} %, at most {:.2} times: {} in {}",
            all().count(),
            worst.ratio,
            worst.id,
            one.new.report
        ))
        .into());
    }
    let rows = comparisons.iter().flat_map(|one| one.regressed_rows(percent).map(move |row| (one, row)));
    match rows.max_by(|(_, a), (_, b)| a.geometric_mean_ratio.total_cmp(&b.geometric_mean_ratio)) {
        Some((one, worst)) => Err(CommandError::wrong(format!(
            "{} cases are slower together by more than {percent} %, though none for certain, {:.2} times: {} in {}",
            worst.verdicts.values().sum::<u32>(),
            worst.geometric_mean_ratio,
            worst.name,
            one.new.report
        ))
        .into()),
        None => Ok(()),
    }
}

/// Refuses reports that leave a case of the base undecided.
fn refuse_unequal(comparisons: &[Comparison], unpaired: &[Unpaired<'_>]) -> Result<(), CommandError> {
    let sides = comparisons.iter().flat_map(|comparison| [&comparison.new, &comparison.base]);
    if let Some(Side { report, .. }) = sides.into_iter().find(|side| !side.complete) {
        return Err(usage!("{report}: is not complete, so a regression may be missing; measure again"));
    }
    let lacking = unpaired.iter().find_map(|device| Some((device.lacking?, &device.section.device.name)));
    if let Some((report, device)) = lacking {
        return Err(usage!("{report}: lacks the base's device {device}; measure it as well"));
    }
    // A single device may be compared with any other; several devices only with devices of the same driver.
    let is_of_another_driver = |one: &&Comparison| {
        one.base.report != one.new.report && one.differences.iter().any(|it| it.what == "driver")
    };
    let shares_a_report =
        |one: &Comparison| comparisons.iter().filter(|other| other.new.report == one.new.report).count() > 1;
    if let Some(one) = comparisons.iter().filter(is_of_another_driver).find(|one| shares_a_report(one)) {
        let (report, base, new) = (&one.new.report, &one.base.device, &one.new.device);
        return Err(usage!(
            "{report}: has no device of the driver of {base}, but {new}; compare one device at a time"
        ));
    }
    let missing: Vec<_> = comparisons.iter().flat_map(|one| &one.only_in_base).collect();
    if let [first, ..] = missing[..] {
        return Err(usage!(
            "the new report has no time for {} of the base's cases, such as {first}; measure the same in both",
            missing.len()
        ));
    }
    let case_count: usize = comparisons.iter().map(|one| one.cases.len()).sum();
    let unsteady: usize = comparisons.iter().map(Comparison::unsteady_count).sum();
    if unsteady > 0 && unsteady == case_count {
        return Err(usage!(
            "the clock was steady for none of the cases in both reports; measure again while nothing else runs"
        ));
    }
    let few: Vec<_> = comparisons.iter().flat_map(Comparison::undecidable).collect();
    if let [first, ..] = few[..] {
        return Err(usage!(
            "{} of the cases, such as {}, have too few samples for a verdict; measure both in six blocks or more",
            few.len(),
            first.id
        ));
    }
    Ok(())
}

/// A comparison as text.
fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (label, side) in [("base", &comparison.base), ("new", &comparison.new)] {
        let Side { report, device, driver, lanes, complete } = side;
        let end = if *complete { "" } else { "; NOT COMPLETE: it was ended before its last case" };
        let [report, device, driver] = [report, device, driver].map(|name| escaped(name));
        let _ = writeln!(text, "{label:4}  {report}: {device}, driver {driver}, {lanes} lanes{end}");
    }
    differences(&mut text, comparison);
    let mut works = BTreeMap::<String, Vec<&CaseComparison>>::new();
    for case in &comparison.cases {
        works.entry(escaped(&without_count(&case.id))).or_default().push(case);
    }
    for (work, mut cases) in works {
        cases.sort_by_key(|case| case.element_count);
        let _ = writeln!(text, "\n  {work}\n{}", columns());
        cases.into_iter().for_each(|case| text += &row(case));
    }
    groups(&mut text, comparison);
    text
}

/// Writes the differences in device, driver and setup, before any number.
fn differences(text: &mut String, comparison: &Comparison) {
    let differences = &comparison.differences;
    if differences.is_empty() {
        *text += "\n  the same device, driver, machine, build, policies and samples\n";
    } else {
        let width = differences.iter().map(|difference| difference.what.len()).max().unwrap_or(0);
        *text += "\n  they differ in\n";
        for Difference { what, base, new } in differences {
            let [base, new] = [base, new].map(|fact| escaped(fact));
            let _ = writeln!(text, "  {what:width$}   base  {base}\n  {:width$}   new   {new}", "");
        }
    }
    if let Some(drift) = comparison.drift {
        let _ = writeln!(
            text,
            "\n  on this machine the copies took {drift:.2} times as long in the new run; verdicts allow for that"
        );
    }
}

const COUNT_WIDTH: usize = 10;

/// Column headings of [`row`].
fn columns() -> String {
    format!(
        "  {:>COUNT_WIDTH$}  {:>8}  {:>8}  {:>6}  {:>14}  verdict",
        "elements", "base", "new", "ratio", "95 % interval"
    )
}

/// A case on one line.
fn row(case: &CaseComparison) -> String {
    format!(
        "  {:>COUNT_WIDTH$}  {:>8}  {:>8}  {:>6.3}  {:>14}  {}\n",
        case.element_count,
        duration(case.base_ns),
        duration(case.new_ns),
        case.ratio,
        interval(case.ratio_interval),
        case.verdict.name()
    )
}

/// Writes the verdicts of each group, and a legend.
fn groups(text: &mut String, comparison: &Comparison) {
    let Comparison { wrong_in_new, only_in_base, only_in_new, tolerance_percent, .. } = comparison;
    let rows = comparison.rows();
    let width = rows.clone().map(|group| escaped(&group.name).len()).max().unwrap_or(0).max("group".len());
    let _ = write!(text, "\n  {:width$}", "group");
    Verdict::ALL.iter().for_each(|verdict| {
        let _ = write!(text, "  {:>9}", verdict.name());
    });
    let _ = writeln!(text, "  {:>14}  {:>14}  verdict", "geometric mean", "95 % interval");
    for group in rows {
        let _ = write!(text, "  {:width$}", escaped(&group.name));
        for verdict in Verdict::ALL {
            let _ = write!(text, "  {:>9}", group.verdicts.get(&verdict).unwrap_or(&0));
        }
        let mean = group.geometric_mean_ratio;
        let _ = writeln!(
            text,
            "  {mean:>14.3}  {:>14}  {}",
            interval(group.ratio_interval),
            group.verdict.name()
        );
    }
    let _ = writeln!(
        text,
        "  ratio = new time / base time; SAME is within {tolerance_percent} %, AMBIGUOUS what could be either, and UNSTEADY not judged"
    );
    if let [first, ..] = &wrong_in_new[..] {
        let _ =
            writeln!(text, "  {} WRONG in the new report, such as {}", wrong_in_new.len(), escaped(first));
    }
    let few = comparison.undecidable().count();
    if few > 0 {
        let _ =
            writeln!(text, "  {few} with too few samples for a verdict: six blocks of them, in both reports");
    }
    let unsteady = comparison.unsteady_count();
    if unsteady > 0 {
        let _ = writeln!(
            text,
            "  {unsteady} UNSTEADY, which are not judged: the clock changed while they were measured"
        );
    }
    for (ids, label) in [(only_in_base, "base"), (only_in_new, "new report")] {
        if let [first, ..] = &ids[..] {
            let _ = writeln!(text, "  {} in the {label} alone, such as {}", ids.len(), escaped(first));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_ratio_interval_and_verdict() {
        let case = CaseComparison {
            id: "a:n=8".into(),
            element_count: 8,
            base_ns: 1e6,
            new_ns: 1.25e6,
            ratio: 1.25,
            ratio_interval: [1.2, 1.3],
            enough_samples: true,
            verdict: Verdict::Slower,
        };
        assert_eq!(row(&case), "           8   1.00 ms   1.25 ms   1.250  1.200 to 1.300  SLOWER\n");
    }
}
