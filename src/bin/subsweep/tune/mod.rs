//! `subsweep tune`: rows of the tuning tables by measurement or compilation.

mod plan;
mod rows;
mod static_rank;
mod sweep;
mod text;

use anyhow::Result;
use clap::{Args, ValueEnum};
use subsweep::ElementType;
use subsweep::harness::CopyRoof;

use crate::args::Common;
use crate::cache::CachedGpu;
use crate::command::{Need, Run};
use crate::device::{self, DeviceChoice, Numbered};
use crate::error::Ended;
use crate::files::output::{print, to_json};
use crate::gpus;
use plan::{Plan, check};
use sweep::{Measure, Sweep};
use text::TuneReport;

/// Sweep the tile shapes of a sort or a scan on a device, and print rows for its tuning table
///
/// Every shape is verified first; a wrong one is named and excluded, and the command exits with 1. Each is measured
/// briefly on the first kind of keys or elements, beside a copy of as many bytes. The best are measured alternately in
/// rounds, and the best of their rows on all other kinds. The output is rows for src/primitives/sort/tuning.rs or
/// src/primitives/scan/tuning.rs, ready to be pasted, the fastest first. A kind that is not measured keeps its value of
/// the table. --algorithm selects the shapes of one.
///
/// With --static, and always with --device gpu:NAME, nothing runs. Shapes are ranked by compiled instructions per key
/// or element and pass, doubled where a compute unit cannot hold two workgroups; shapes that spill to memory are
/// excluded. Rare branches count as all others. The static ranking does not compare algorithms, nor variants of the tile
/// scatter: the table or --algorithm decides those. Exits with 3 where a driver reports nothing.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The primitive to tune
    #[arg(value_enum)]
    pub primitive: TunedPrimitive,

    /// Types of the keys or elements, separated by commas; a row serves one word and two [default: u32, and u64 for
    /// a sort without --quick]
    #[arg(long, value_name = "TYPES", value_enum, value_delimiter = ',', hide_possible_values = true)]
    pub element: Vec<ElementType>,

    /// Bytes of the values of each key: 0, 4 or 8, separated by commas [default: 0,4,8; with --quick 0]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse_value_size)]
    pub values: Vec<u32>,

    /// Counts of keys or elements, separated by commas, such as 65536 or 2^24; the first selects the shapes that
    /// are measured in rounds; --static takes only one [default: 2^24; on a CPU 2^20; with --quick 2^16]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_count)]
    pub count: Vec<u64>,

    /// Workgroup sizes to try, separated by commas [default: 128 to 1024; with --quick 128, 256 and 512]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub workgroup: Vec<u32>,

    /// Keys per invocation to try, or words for a scan, separated by commas [default: 4 to 24, for a scan 8 to 64;
    /// with --quick two of them]
    #[arg(long, value_name = "ITEMS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub items: Vec<u32>,

    /// Rounds in which the best shapes are measured alternately [default: 5; with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,

    /// Rows to print at most, besides the row in use
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rows: u32,

    /// Fewer shapes, of u32 keys alone: less than a minute on a CPU driver
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// More shapes, and every subgroup size of the device; takes much longer
    #[arg(long)]
    pub full: bool,

    /// Run nothing: rank by the code that the driver's compiler produces
    #[arg(long = "static")]
    pub is_static: bool,

    /// Print a JSON object with every measurement, times in nanoseconds
    #[arg(long)]
    pub json: bool,
}

/// A primitive with a tuning table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TunedPrimitive {
    /// Sorts
    Sort,
    /// Scans
    Scan,
}

impl Run for TuneArgs {
    fn run(&self, common: &Common) -> Result<()> {
        check(self, common)?;
        device::check_one(&common.device, "tune")?;
        let device = device::choose_one(common, "tune")?;
        if self.is_static || device.gpu.is_some() {
            let opened = device.candidate.open_to_compile()?;
            opened.set_pipeline_threads(gpus::compiler_threads());
            return sweep(self, common, &device, Measure::Compile(&opened));
        }
        let gpu = CachedGpu::open(device.candidate.clone(), !common.no_pipeline_cache)?;
        let roof = CopyRoof::new(&gpu)?;
        sweep(self, common, &device, Measure::Run(&gpu, &roof))
    }

    fn need(&self) -> Need {
        Need::Compiler
    }

    fn check_for_children(&self, common: &Common) -> Result<Vec<u8>> {
        if matches!(&common.device, DeviceChoice::Gpus(gpus) if gpus.len() > 1) {
            let origin = device::choice_origin();
            return Err(
                Ended::usage(format!("tune takes one device, and {origin} lists several; name one")).into()
            );
        }
        Ok(check(self, common).map(|()| Vec::new())?)
    }
}

fn sweep(args: &TuneArgs, common: &Common, device: &Numbered, measure: Measure<'_>) -> Result<()> {
    let plan = Plan::new(args, common, measure.capabilities(), matches!(measure, Measure::Compile(_)));
    plan.check_asked(args, measure.capabilities())?;
    let mut sweep = Sweep::new(measure, &plan);
    let rows = sweep.run()?;
    let report = TuneReport::new(device, measure, &plan, &sweep.tally, &rows);
    let text = if args.json { to_json(&report)? } else { report.to_string() };
    print(&text)?;
    Ok(sweep.tally.verdict(&rows)?)
}

/// The items without duplicates, in order.
fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut distinct, item| {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
        distinct
    })
}

fn parse_value_size(text: &str) -> Result<u32, String> {
    let size = text.trim().parse().ok().filter(|size| [0, 4, 8].contains(size));
    size.ok_or_else(|| "values have 0, 4 or 8 bytes".into())
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
