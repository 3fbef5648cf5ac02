//! `subsweep tune`: rows of the table of shapes, by measurement or compilation.

mod descent;
mod gauge;
mod report;
mod static_rank;
mod targets;

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use subsweep::ElementType;
use subsweep::tuning::TuningAxis;

use crate::args::{Common, element_type};
use crate::command::{Need, Run};
use crate::device::{self, DeviceChoice};
use crate::error::usage;
use crate::files::output::{Output, print_text, to_json};
use crate::files::{Destination, Job};
use crate::gpus;
use crate::policy;
use gauge::Judge;
use report::{Finding, TuneReport};

/// Search the fastest shapes of the primitives on a device, and print rows for the tuning table
///
/// Each part is searched axis by axis from the shape in use, within its share of the budget. Every shape is verified on
/// the device first; one that is wrong, or does not end in 2 s, is named and left out, and the command exits with 1. Times
/// are taken on a warm clock, beside a copy of as many bytes. The output is rows for src/primitives/tuning/rows.rs, ready
/// to be pasted, of what is faster than the shape in use.
///
/// With --static, and always with --device gpu:NAME, nothing runs. Shapes of scans and sorts are ranked by compiled
/// instructions per key or element, doubled where a compute unit cannot hold two workgroups; shapes that spill to memory
/// are left out. Rare branches count as all others. Exits with 3 where a driver reports nothing.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// What to tune: all, a primitive such as sort, or a part such as sort-onesweep
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<String>,

    /// Types of the keys or elements, separated by commas [default: u32, of hot sorts u64 as well, of histograms and
    /// scan-tree f32]
    #[arg(long, value_name = "TYPES", value_parser = element_type(), value_delimiter = ',')]
    pub element: Vec<ElementType>,

    /// Bytes of the values of each key: 0, 4 or 8, separated by commas [default: 0, of sort-onesweep 0,4,8]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_delimiter = ',', value_parser = parse_value_size)]
    pub values: Vec<u32>,

    /// Keys or elements, such as 65536 or 2^24 [default: 2^24; on a CPU 2^20; with --quick 2^16]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub count: Option<u64>,

    /// Try these values of an axis, such as items=16,20, and only axes that are named so; may be repeated
    #[arg(long = "try", value_name = "AXIS=VALUES", value_parser = targets::parse_try)]
    pub tries: Vec<(TuningAxis, Vec<u32>)>,

    /// Seconds for all parts together [default: 60; with --quick 20]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds)]
    pub budget: Option<u64>,

    /// Few elements, of one type
    #[arg(long)]
    pub quick: bool,

    /// Run nothing: rank by the code that the driver's compiler produces
    #[arg(long = "static")]
    pub is_static: bool,

    /// Write a report of every shape as JSON, valid after each part and complete at the end; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<Destination>,
}

impl Run for TuneArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "tune")?;
        let output = Job::default().output("--json", &self.json).prepare()?.0.pop();
        let device = device::choose_one(common, "tune")?;
        let is_static = self.is_static || device.gpu.is_some();
        let (judge, clock) = if is_static {
            let opened = device.candidate.open_to_compile()?;
            opened.set_pipeline_threads(gpus::compiler_threads());
            (Judge::Compile(opened), "nothing ran")
        } else {
            let candidate = Box::new(device.candidate.clone());
            let clock = if candidate.timestamp_valid_bits() > 0 { "GPU time" } else { "wall-clock time" };
            (Judge::Run { candidate, is_cached: !common.no_pipeline_cache }, clock)
        };
        // Opening a device that does not meet the requirements says why.
        let capabilities = judge.capabilities().ok_or(subsweep::Error::NoDevice)?;
        let targets = targets::targets(self, capabilities, is_static)?;
        let seconds = self.budget.unwrap_or(if self.quick { 20 } else { 60 });
        let part_count = targets.len();
        let has_stdout = output.as_ref().is_some_and(Output::is_stdout);
        print_text(&report::heading(&device, clock), has_stdout)?;
        let report =
            |findings: &[Finding]| TuneReport::new(&device, clock, findings, part_count - findings.len());
        // Text and report come at once: a search may take long, and may be cut off.
        let show = |findings: &[Finding]| {
            let text = findings.last().map_or_else(String::new, Finding::to_string);
            print_text(&text, has_stdout)?;
            let json = || Ok(to_json(&report(findings))?.into_bytes());
            output.as_ref().map_or(Ok(()), |output| output.update(json))
        };
        let findings = judge.search(targets, &self.tries, Duration::from_secs(seconds), show)?;
        let report = report(&findings).completed();
        print_text(&report.left_out_text(), has_stdout)?;
        if let Some(output) = output {
            output.commit_report(to_json(&report)?.as_bytes())?;
        }
        Ok(report.verdict()?)
    }

    fn need(&self) -> Need {
        Need::Compiler
    }

    fn check_for_children(&self, common: &Common) -> Result<Vec<u8>> {
        if matches!(&common.device, DeviceChoice::Gpus(gpus) if gpus.len() > 1) {
            let origin = device::choice_origin();
            bail!(usage!("tune takes one device, and {origin} lists several; name one"));
        }
        policy::check_none(common, "tune")?;
        Ok(Vec::new())
    }
}

fn parse_value_size(text: &str) -> Result<u32, String> {
    let size = text.trim().parse().ok().filter(|size| [0, 4, 8].contains(size));
    size.ok_or_else(|| "values have 0, 4 or 8 bytes".into())
}

fn parse_seconds(text: &str) -> Result<u64, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=86_400).contains(seconds));
    seconds.ok_or_else(|| "it is a whole number of seconds from 1 to 86400".into())
}

fn parse_count(text: &str) -> Result<u64, String> {
    let count = match text.trim().split_once('^') {
        Some(("2", bits)) => bits.parse().ok().and_then(|bits| 1u64.checked_shl(bits)),
        Some(_) => None,
        None => text.trim().parse().ok(),
    };
    let count = count.filter(|count| (1..=1 << 30).contains(count));
    count.ok_or_else(|| "it is a number from 1 to 2^30, such as 65536 or 2^24".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_numbers_or_powers_of_two() {
        assert_eq!(parse_count("65536"), Ok(1 << 16));
        assert_eq!(parse_count("2^24"), Ok(1 << 24));
        for text in ["", "0", "2^31", "2^99", "3^2", "2^", "-1", "1e6", "1073741825"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
