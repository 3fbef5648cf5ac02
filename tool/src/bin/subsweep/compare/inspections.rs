//! `subsweep compare` of inspections, pipeline by pipeline.

use std::fmt::Write;

use anyhow::{Result, bail};
use serde::Serialize;
use subsweep_tool::harness::{InspectedDevice, InspectionComparison, PipelineComparison, PipelineSummary};

use super::CompareArgs;
use crate::error::{CommandError, usage};
use crate::files::Job;
use crate::files::output::{print_text, to_json};
use crate::inspect::text::{COLUMNS, Column, number, short};
use crate::reports::{Format, Reports};
use crate::terminal::{counted, escaped};

/// The document of `--json`. Its field names are stable.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// The version of this layout.
    inspection_comparison_schema: u32,
    /// One for each pair of devices.
    comparisons: &'a [InspectionComparison],
    /// Devices without a counterpart in the other inspection.
    unpaired: &'a [String],
}

/// An inspection and its title.
#[derive(Debug)]
pub struct Named {
    /// The file.
    pub title: String,
    /// Its devices.
    pub devices: Vec<InspectedDevice>,
}

/// Compares inspections.
pub fn run(inspections: &[Named], args: &CompareArgs, job: Job<'_>) -> Result<()> {
    if args.fail_on_regression.is_some() {
        bail!(usage!("inspections have no times; leave --fail-on-regression out"));
    }
    if args.tolerance.is_some() {
        bail!(usage!("inspections have no times; leave --tolerance out"));
    }
    if args.html.is_some() {
        bail!(usage!("inspections are compared in words and as JSON; leave --html out"));
    }
    let outputs = Reports::prepare(job, &[(Format::Json, &args.json)])?;
    let (comparisons, unpaired) = compare(inspections)?;
    let mut text = comparisons.iter().map(text).collect::<Vec<_>>().join("\n");
    for device in &unpaired {
        let _ = writeln!(text, "\n  nothing to compare with: {}", escaped(device));
    }
    print_text(&text, outputs.have_stdout())?;
    outputs.commit_rendered(|_| {
        let document =
            Document { inspection_comparison_schema: 1, comparisons: &comparisons, unpaired: &unpaired };
        Ok(to_json(&document)?.into_bytes())
    })
}

/// Compares the base with each other inspection, device by device; a single inspection's first device with its
/// others. The second result holds the devices without a counterpart.
fn compare(inspections: &[Named]) -> Result<(Vec<InspectionComparison>, Vec<String>), CommandError> {
    let [base, others @ ..] = inspections else { return Ok((Vec::new(), Vec::new())) };
    let (mut pairs, mut unpaired) = (Vec::new(), Vec::new());
    let of_base = devices_with_pipelines(base)?;
    if others.is_empty() {
        let [first, rest @ ..] = &of_base[..] else { return Ok((Vec::new(), Vec::new())) };
        if rest.is_empty() {
            return Err(usage!(
                "there is one inspection of one device; name another inspection to compare it with"
            ));
        }
        pairs.extend(rest.iter().map(|new| ((&base.title, *first), (&base.title, *new))));
    }
    for new in others {
        let mut left: Vec<_> = devices_with_pipelines(new)?;
        let are_alone = of_base.len() == 1 && left.len() == 1;
        for device in &of_base {
            match left.iter().position(|other| are_alone || device.is_like(other)) {
                Some(at) => pairs.push(((&base.title, *device), (&new.title, left.remove(at)))),
                None => unpaired.push(format!("{}: {}", base.title, device.title())),
            }
        }
        unpaired.extend(left.iter().map(|device| format!("{}: {}", new.title, device.title())));
    }
    let comparisons =
        pairs.into_iter().map(|((a, base), (b, new))| InspectionComparison::new((a, base), (b, new)));
    let comparisons: Vec<_> = comparisons.collect();
    if comparisons.iter().all(|one| one.pipelines.is_empty()) {
        return Err(usage!(
            "the inspections have no pipeline in common; inspect the same kernels and devices in both"
        ));
    }
    Ok((comparisons, unpaired))
}

/// Devices with at least one pipeline.
fn devices_with_pipelines(inspection: &Named) -> Result<Vec<&InspectedDevice>, CommandError> {
    let devices: Vec<_> =
        inspection.devices.iter().filter(|device| !device.inspection.pipelines.is_empty()).collect();
    if devices.is_empty() {
        let title = &inspection.title;
        return Err(usage!("{title}: has no pipelines; inspect a device whose driver reports statistics"));
    }
    Ok(devices)
}

/// The columns of the table of `inspect` that are compared.
fn columns() -> impl Iterator<Item = Column> + Clone {
    COLUMNS.into_iter().filter(|(heading, _)| !["scalar", "code", "shared"].contains(heading))
}

/// A comparison as text.
fn text(comparison: &InspectionComparison) -> String {
    let mut text = String::new();
    for (label, side) in [("base", &comparison.base), ("new", &comparison.new)] {
        let driver = side.driver.as_ref().map(|driver| format!(", driver {driver}")).unwrap_or_default();
        let line = format!("{}: {}{driver}", side.report, side.device);
        let _ = writeln!(text, "{label:4}  {}", escaped(&line));
    }
    text.push('\n');
    table(&mut text, &comparison.pipelines);
    summary(&mut text, comparison);
    text
}

/// Writes a line for each pipeline; changed ones have a star and show the old number.
fn table(text: &mut String, pipelines: &[PipelineComparison]) {
    let headings = columns().map(|(heading, _)| heading.to_owned());
    let mut rows = vec![row("kernel".to_owned(), headings, "specialization".to_owned())];
    for one in pipelines {
        let (base, new) = (&one.base.summary, &one.new.summary);
        let numbers = columns().map(|(_, value)| change(number(value(base)), number(value(new))));
        let lanes = change(one.base.lanes.to_string(), one.new.lanes.to_string());
        let shapes = shape(&short(&one.base.specialization), &short(&one.new.specialization));
        let kernel = escaped(&change(one.base.kernel.clone(), one.kernel.clone()));
        rows.push(row(kernel, numbers, escaped(&format!("{shapes}, {lanes} lanes"))));
    }
    let last = rows[0].len() - 1;
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..last).map(width).collect();
    let marks = std::iter::once(" ")
        .chain(pipelines.iter().map(|one| if one.changed.is_empty() { " " } else { "*" }));
    for (row, mark) in rows.iter().zip(marks) {
        let _ = write!(text, "{mark} {:1$}", row[0], widths[0]);
        for column in 1..last {
            let _ = write!(text, "  {:>1$}", row[column], widths[column]);
        }
        let _ = writeln!(text, "  {}", row[last]);
    }
}

fn row(first: String, numbers: impl Iterator<Item = String>, last: String) -> Vec<String> {
    [first].into_iter().chain(numbers).chain([last]).collect()
}

fn change(base: String, new: String) -> String {
    if base == new { new } else { format!("{base} → {new}") }
}

/// The new specialization, and the parts of the old one that it lacks.
fn shape(base: &str, new: &str) -> String {
    let gone: Vec<_> = base.split(' ').filter(|word| new.split(' ').all(|other| other != *word)).collect();
    match (base == new, gone.is_empty()) {
        (true, _) => new.to_owned(),
        (false, false) => format!("{new} (was {})", gone.join(" ")),
        (false, true) => format!("{new} (was {base})"),
    }
}

/// Writes the number of changed pipelines and the change of instructions and spills.
fn summary(text: &mut String, comparison: &InspectionComparison) {
    let pipelines = &comparison.pipelines;
    let changed = pipelines.iter().filter(|one| !one.changed.is_empty()).count();
    let in_both = counted(pipelines.len(), "pipeline");
    let _ = write!(text, "  {in_both} in both, {changed} changed (*)");
    let count = |of: fn(u64, u64) -> bool| {
        let verdicts = pipelines
            .iter()
            .filter_map(|one| Some(of(one.new.summary.instructions?, one.base.summary.instructions?)));
        verdicts.filter(|is_so| *is_so).count()
    };
    if let Some(ratio) = comparison.instructions_ratio() {
        let (fewer, more) = (count(|new, base| new < base), count(|new, base| new > base));
        let _ = write!(
            text,
            "; fewer instructions in {fewer}, more in {more}, {ratio:.3} times in the geometric mean"
        );
    }
    let spilling = |side: fn(&PipelineComparison) -> &PipelineSummary| {
        let known: Vec<_> = pipelines.iter().filter_map(|one| side(one).is_spilling()).collect();
        (!known.is_empty()).then(|| known.into_iter().filter(|is_so| *is_so).count() as u64)
    };
    let (base, new) = (spilling(|one| &one.base.summary), spilling(|one| &one.new.summary));
    if base.or(new).is_some() {
        let _ = write!(text, "; {} spill", change(number(base), number(new)));
    }
    text.push('\n');
    for (list, side) in [(&comparison.only_in_base, "base"), (&comparison.only_in_new, "new")] {
        if let [first, ..] = &list[..] {
            let _ = writeln!(text, "  {} in the {side} one alone, such as {}", list.len(), escaped(first));
        }
    }
}
