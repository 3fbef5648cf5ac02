//! Output of `tune`: rows for the table's file, and JSON.

use std::fmt;

use serde::Serialize;
use subsweep::device::Capabilities;
use subsweep::harness::units::scaled;
use subsweep::harness::{TunedInput, TunedShape, has_single_pass};

use super::plan::Plan;
use super::rows::{Figure, Numbers, RankedRow, ReportFigure, Rows};
use super::sweep::{Measure, Refusal, Tally, Wrong};
use crate::device::{Numbered, name_with_driver};
use crate::words::{counted, escaped};

/// The report. The field names are those of `--json`, and stable.
#[derive(Debug, Serialize)]
pub struct TuneReport<'a> {
    device: String,
    primitive: &'static str,
    /// The table's source file.
    table: &'static str,
    clock: &'static str,
    tried: usize,
    wrong: &'a [Wrong],
    refused: &'a [Refusal],
    rows: Vec<ReportRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    has_single_pass: Option<bool>,
}

#[derive(Debug, Serialize)]
struct ReportRow {
    /// The row in the syntax of the table.
    row: String,
    is_current: bool,
    /// Percent of the copy's speed; without a run, keys or elements per instruction.
    score: f64,
    best: Vec<ReportFigure>,
    others: Vec<ReportFigure>,
    #[serde(skip)]
    figures: String,
}

impl<'a> TuneReport<'a> {
    /// The report of a sweep.
    pub fn new(device: &Numbered, measure: Measure<'_>, plan: &Plan, tally: &'a Tally, rows: &Rows) -> Self {
        let capabilities = measure.capabilities();
        let current = plan.current(capabilities).family();
        let row = |row: &RankedRow| ReportRow::new(row, row.family == current, &plan.inputs, capabilities);
        Self {
            device: device.heading(),
            primitive: if plan.is_sort { "sort" } else { "scan" },
            table: if plan.is_sort {
                "src/primitives/sort/tuning.rs"
            } else {
                "src/primitives/scan/tuning.rs"
            },
            clock: match measure {
                Measure::Run(gpu, _) if gpu.has_timestamps() => "GPU time",
                Measure::Run(..) => "wall-clock time",
                Measure::Compile(_) => NOTHING_RAN,
            },
            tried: tally.tried(),
            wrong: &tally.wrong,
            refused: &tally.refused,
            rows: rows.0.iter().map(row).collect(),
            has_single_pass: (!plan.is_sort).then(|| has_single_pass(capabilities)),
        }
    }
}

/// Stands for the clock of a static sweep.
const NOTHING_RAN: &str = "nothing ran";

impl ReportRow {
    fn new(row: &RankedRow, is_current: bool, inputs: &[TunedInput], capabilities: &Capabilities) -> Self {
        let best: Vec<_> =
            row.best.iter().map(|figures| (inputs[figures[0].input], figures[0].shape)).collect();
        let report_figure = |figure: &Figure| {
            let input = &inputs[figure.input];
            ReportFigure::new(figure, input, policy(&figure.shape, input, capabilities))
        };
        let figures = row.best.iter().flatten();
        Self {
            row: TunedShape::row(&best, capabilities, &source(row, inputs, capabilities)),
            is_current,
            score: row.score,
            best: figures.clone().map(report_figure).collect(),
            others: row.others.iter().map(report_figure).collect(),
            figures: figures.chain(others(row)).map(|figure| line(figure, inputs)).collect(),
        }
    }
}

/// Figures of the other algorithm of a scan; for sorts they would be too many.
fn others(row: &RankedRow) -> impl Iterator<Item = &Figure> {
    row.others.iter().filter(|figure| matches!(figure.shape, TunedShape::Scan { .. }))
}

/// The policy as text; its case was valid before.
fn policy(shape: &TunedShape, input: &TunedInput, capabilities: &Capabilities) -> String {
    shape.case(input, capabilities).map(|case| case.policy(capabilities)).unwrap_or_default()
}

/// Source of a row: the device, and its figures there.
fn source(row: &RankedRow, inputs: &[TunedInput], capabilities: &Capabilities) -> String {
    let name = escaped(&name_with_driver(&capabilities.identity));
    let kind = |figure: &Figure| kind(&inputs[figure.input]);
    let of = row.best.iter().flatten().map(|figure| match figure.numbers {
        Numbers::Measured { copy_percent, .. } => {
            format!("{} at {} {copy_percent:.1} % of the copy", kind(figure), inputs[figure.input].count)
        }
        Numbers::Compiled { instructions, .. } => {
            format!("{} {instructions:.0} instructions a pass", kind(figure))
        }
    });
    let of: Vec<_> = of.collect();
    let known = match row.best[0][0].numbers {
        Numbers::Measured { .. } => "measured",
        Numbers::Compiled { .. } => "derived",
    };
    let is_whole = matches!(row.family, TunedShape::Scan { .. }) || row.best.len() == KINDS_OF_KEYS;
    let rest = if is_whole { "" } else { "; items of other keys and values not tried" };
    format!("{known}: {name}, by subsweep tune: {}{rest}", of.join(", "))
}

/// Kinds of keys: one or two words, without values and with values of one or two words.
const KINDS_OF_KEYS: usize = 6;

fn kind(input: &TunedInput) -> String {
    match input.words()[1] {
        0 => input.element.to_string(),
        words => format!("{} with {} bytes", input.element, 4 * words),
    }
}

fn line(figure: &Figure, inputs: &[TunedInput]) -> String {
    let input = &inputs[figure.input];
    let what = format!("    //   {:20}  {:16}", kind(input), figure.shape.algorithm());
    match figure.numbers {
        Numbers::Measured { copy_percent, elements_per_second, median_ns, iqr_ns } => format!(
            "{what}  {:>10}  {:>7}elements/s  {copy_percent:>6.1} % of copy  IQR {:.1} %\n",
            input.count,
            scaled(elements_per_second),
            100.0 * iqr_ns / median_ns,
        ),
        Numbers::Compiled { instructions, workgroups, registers } => {
            let or_dash = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
            format!(
                "{what}  {:>2} items  {instructions:>6.1} instructions a pass  {} workgroups  {} registers\n",
                figure.shape.items(input),
                or_dash(workgroups),
                or_dash(registers)
            )
        }
    }
}

impl fmt::Display for TuneReport<'_> {
    /// Rows with comments between them; all of it can be pasted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused: u64 = self.refused.iter().map(|refusal| refusal.count).sum();
        writeln!(f, "    // {}", self.device)?;
        let is_static = self.clock == NOTHING_RAN;
        let by = if is_static {
            "by instructions of the code, twice as many where no two workgroups fit"
        } else {
            "% of the speed of copying the elements in the same run"
        };
        writeln!(f, "    // {}; {by}", self.clock)?;
        let tried = counted(self.tried, "shape");
        writeln!(f, "    // {tried} tried, {} wrong, {refused} refused", self.wrong.len())?;
        for Refusal { reason, count } in self.refused {
            writeln!(f, "    //   {count} refused: {reason}")?;
        }
        for Wrong { id, outcome } in self.wrong {
            writeln!(f, "    //   WRONG, and left out: {id}: {}", escaped(outcome))?;
        }
        if let Some(has_single_pass) = self.has_single_pass {
            let is = if has_single_pass { "is" } else { "is not" };
            writeln!(
                f,
                "    // chained {is} this driver's default out of place, by Progress::of in {}",
                self.table
            )?;
        }
        for (at, row) in self.rows.iter().enumerate() {
            let now = if row.is_current { ", as it is now but for items" } else { "" };
            let score = if is_static {
                format!("as {:.1} instructions", 1.0 / row.score)
            } else {
                format!("{:.1} % of copy", row.score)
            };
            writeln!(f, "\n    // {}: {score}{now}; for {}", at + 1, self.table)?;
            f.write_str(&row.figures)?;
            f.write_str(&row.row)?;
        }
        Ok(())
    }
}
