//! What a search found: rows for the table, and JSON.

use std::fmt;

use serde::Serialize;
use subsweep::device::Capabilities;
use subsweep::tuning::KernelShape;
use subsweep_tool::harness::units::{duration, scaled};
use subsweep_tool::harness::{shape_name, tuning_row};

use super::static_rank::Compiled;
use super::targets::Target;
use crate::device::{Numbered, name_with_driver};
use crate::error::CommandError;
use crate::terminal::{counted, escaped};

/// What became of a shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// It was right, and took this long.
    Measured { time_ns: f64, copy_percent: f64, steady: bool },
    /// It was compiled.
    Compiled(Compiled),
    /// The library or the device takes it not.
    Refused(String),
    /// Its result was wrong.
    Wrong(String),
    /// The device was lost with it, or did not end in time.
    Hung(String),
}

/// A shape, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The shape.
    pub shape: KernelShape,
    /// What became of it.
    pub judgement: Judgement,
}

impl Judged {
    /// The cost: the time beside a copy in the same run, or compiled instructions.
    pub fn cost(&self) -> Option<f64> {
        match &self.judgement {
            Judgement::Measured { copy_percent, .. } => Some(1.0 / copy_percent),
            Judgement::Compiled(compiled) => Some(compiled.cost()),
            Judgement::Refused(_) | Judgement::Wrong(_) | Judgement::Hung(_) => None,
        }
    }

    /// Whether its time is of a steady clock.
    pub fn is_steady(&self) -> bool {
        matches!(self.judgement, Judgement::Measured { steady: true, .. })
    }

    /// The figures on a line.
    fn figures(&self, target: &Target) -> String {
        match &self.judgement {
            Judgement::Measured { time_ns, copy_percent, steady } => {
                let rate = scaled(target.case.item_count() as f64 / (time_ns / 1e9));
                let mark = if *steady { "" } else { ", unsteady" };
                format!("{}, {rate} elements/s, {copy_percent:.1} % of copy{mark}", duration(*time_ns))
            }
            Judgement::Compiled(compiled) => compiled.to_string(),
            Judgement::Refused(reason) | Judgement::Wrong(reason) | Judgement::Hung(reason) => reason.clone(),
        }
    }
}

/// What was found for a target.
pub struct Finding {
    target: Target,
    judged: Vec<Judged>,
    best: Option<KernelShape>,
    row: String,
}

impl Finding {
    /// Of a search that ended with `best`.
    pub fn new(target: Target, judged: Vec<Judged>, best: Option<(KernelShape, f64)>) -> Self {
        Self { target, judged, best: best.map(|(shape, _)| shape), row: String::new() }
    }

    /// Adds the row for the table.
    pub fn add_row(&mut self, capabilities: &Capabilities, is_static: bool) {
        let Some(best) = self.best else { return };
        let device = name_with_driver(&capabilities.identity);
        let source = match is_static {
            true => format!("derived: {device}, by subsweep tune --static"),
            false => {
                let count = self.target.case.item_count();
                let size = self.target.case.size() / count;
                format!("measured: {device}, {count} x {size} bytes, by subsweep tune")
            }
        };
        let words = self.target.words().map(Some);
        let words = match words {
            _ if self.target.part.has_words() => words,
            // One word is what parts without words are tuned for.
            [Some(1), _] => [None; 2],
            [key_words, _] => [key_words, None],
        };
        self.row = tuning_row(capabilities, self.target.part, words, &best, &source);
    }

    fn count(&self, is_counted: impl Fn(&Judgement) -> bool) -> usize {
        self.judged.iter().filter(|judged| is_counted(&judged.judgement)).count()
    }

    fn judged(&self, shape: KernelShape) -> Option<&Judged> {
        self.judged.iter().find(|judged| judged.shape == shape)
    }

    fn bad(&self) -> impl Iterator<Item = &Judged> {
        let is_bad = |judged: &&Judged| matches!(judged.judgement, Judgement::Wrong(_) | Judgement::Hung(_));
        self.judged.iter().filter(is_bad)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, judged, best, row } = self;
        let refused = self.count(|judgement| matches!(judgement, Judgement::Refused(_)));
        writeln!(f, "\n  // {target}: {}, {refused} refused", counted(judged.len(), "shape"))?;
        let mut line = |label: &str, shape: KernelShape| match self.judged(shape) {
            Some(judged) => {
                writeln!(
                    f,
                    "  // {label} {}: {}",
                    shape_name(&shape, target.part),
                    escaped(&judged.figures(target))
                )
            }
            None => Ok(()),
        };
        line("in use ", target.start)?;
        let mut reasons = Vec::new();
        for judged in &self.judged {
            if let Judgement::Refused(reason) = &judged.judgement
                && !reasons.contains(&reason)
            {
                reasons.push(reason);
                line("refused", judged.shape)?;
            }
        }
        for judged in self.bad() {
            let label = if matches!(judged.judgement, Judgement::Hung(_)) { "HANGS  " } else { "WRONG  " };
            line(label, judged.shape)?;
        }
        match best {
            Some(best) if *best == target.start => {
                let has_cost = |judgement: &Judgement| {
                    matches!(judgement, Judgement::Measured { .. } | Judgement::Compiled(_))
                };
                let others = self.count(has_cost) > 1;
                let text = if others { "no other is surely faster" } else { "no other was measured" };
                writeln!(f, "  // {text}")
            }
            Some(best) => {
                line("fastest", *best)?;
                writeln!(f, "  {row}")
            }
            None => writeln!(f, "  // no shape has a time"),
        }
    }
}

/// The first lines of the text.
pub fn heading(device: &Numbered, clock: &str) -> String {
    format!("{}\n  // {clock}; rows for src/primitives/tuning/rows.rs\n", device.heading())
}

/// The report. The field names are the keys of `--json`, and stable.
#[derive(Debug, Serialize)]
pub struct TuneReport {
    device: String,
    /// `GPU time`, `wall-clock time` or `nothing ran`.
    clock: &'static str,
    /// Whether the search has ended.
    complete: bool,
    parts: Vec<ReportPart>,
    /// Parts that were not searched, in the end for lack of time.
    left_out: usize,
    #[serde(skip)]
    bad: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ReportPart {
    part: &'static str,
    element: &'static str,
    value_size: u64,
    count: u64,
    case: String,
    in_use: String,
    /// Null if no shape has a time.
    fastest: Option<String>,
    /// The row of the fastest in the syntax of the table.
    row: String,
    shapes: Vec<ReportShape>,
}

#[derive(Debug, Default, Serialize)]
struct ReportShape {
    shape: String,
    /// `measured`, `compiled`, `refused`, `wrong` or `hung`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    median_ns: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steady: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workgroups: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ReportShape {
    fn new(judged: &Judged, target: &Target) -> Self {
        let none =
            |outcome| Self { shape: shape_name(&judged.shape, target.part), outcome, ..Self::default() };
        match judged.judgement.clone() {
            Judgement::Measured { time_ns, copy_percent, steady } => Self {
                median_ns: Some(time_ns),
                copy_percent: Some(copy_percent),
                steady: Some(steady),
                ..none("measured")
            },
            Judgement::Compiled(Compiled { instructions, workgroups, registers }) => {
                Self { instructions: Some(instructions), workgroups, registers, ..none("compiled") }
            }
            Judgement::Refused(reason) => Self { reason: Some(reason), ..none("refused") },
            Judgement::Wrong(reason) => Self { reason: Some(reason), ..none("wrong") },
            Judgement::Hung(reason) => Self { reason: Some(reason), ..none("hung") },
        }
    }
}

impl ReportPart {
    fn new(finding: &Finding) -> Self {
        let Finding { target, judged, best, row } = finding;
        Self {
            part: target.part.name(),
            element: target.element.name(),
            value_size: target.values.moved_size(),
            count: target.case.count,
            case: target.case.id(),
            in_use: shape_name(&target.start, target.part),
            fastest: best.map(|shape| shape_name(&shape, target.part)),
            row: row.clone(),
            shapes: judged.iter().map(|judged| ReportShape::new(judged, target)).collect(),
        }
    }
}

impl TuneReport {
    /// The report of searches on a device so far, which left out some parts.
    pub fn new(device: &Numbered, clock: &'static str, findings: &[Finding], left_out: usize) -> Self {
        let bad = |finding: &Finding| {
            let name = |judged: &Judged| {
                format!("{} {}", finding.target, shape_name(&judged.shape, finding.target.part))
            };
            finding.bad().map(name).collect::<Vec<_>>()
        };
        Self {
            device: device.heading(),
            clock,
            complete: false,
            parts: findings.iter().map(ReportPart::new).collect(),
            left_out,
            bad: findings.iter().flat_map(bad).collect(),
        }
    }

    /// The report of a search that has ended.
    pub fn completed(self) -> Self {
        Self { complete: true, ..self }
    }

    /// The last line of the text.
    pub fn left_out_text(&self) -> String {
        match self.left_out {
            0 => String::new(),
            count => {
                let parts = counted(count, "part");
                format!("\n  // no time was left for {parts}; give a larger --budget\n")
            }
        }
    }

    /// Fails if a shape was wrong or hung, or none has a time.
    ///
    /// # Errors
    /// As above.
    pub fn verdict(&self) -> Result<(), CommandError> {
        if let [first, ..] = &self.bad[..] {
            let count = counted(self.bad.len(), "shape");
            return Err(CommandError::wrong(format!("{count} gave a wrong result or did not end: {first}")));
        }
        if self.parts.iter().all(|part| part.fastest.is_none()) {
            let reasons = self.parts.iter().flat_map(|part| &part.shapes);
            let reason =
                reasons.filter_map(|shape| shape.reason.as_deref()).next().unwrap_or("none was tried");
            return Err(CommandError::unable(format!("the device takes none of these shapes: {reason}")));
        }
        Ok(())
    }
}
