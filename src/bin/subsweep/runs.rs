//! `subsweep runs`: run-length encoding and decoding.

use std::ffi::OsString;
use std::io::Read;

use anyhow::Result;
use clap::Args;
use subsweep::headless::RunLengths;
use subsweep::run_length::{RunLengthConfig, RunLengthPlan, RunLengthPolicy};
use subsweep::table::{ElementType, Table, TableReader, TableShape, Taken};

use crate::args::Common;
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::device;
use crate::error::Ended;
use crate::files::input::InputError;
use crate::files::{self, Destination, Output, Source};
use crate::policy;
use crate::words::Progress;

/// Encode runs of equal elements as values and counts, or decode them
///
/// The runs begin where numpy.flatnonzero(a[1:] != a[:-1]) + 1 says, and at 0; floats are equal as in numpy.unique: -0
/// equals 0, and nan equals nan. The value of a run is its first element. --decode equals numpy.repeat(values, counts).
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// The elements: an .npy file, or raw little-endian elements with --type; - is standard input
    #[arg(required_unless_present = "decode", conflicts_with = "decode")]
    input: Option<OsString>,

    /// The output file of the values, or with --decode of the elements; an existing one is replaced once the result is
    /// complete; - is standard output [default: -]
    #[arg(short, long)]
    output: Option<OsString>,

    /// The type of the elements, which an .npy file states itself: u32, i32, f32, u64, i64 or f64
    #[arg(long = "type", value_name = "TYPE", value_enum, hide_possible_values = true)]
    element: Option<ElementType>,

    /// Write the number of elements of each run, u32; with --decode read it: u32, i32, u64 or i64
    #[arg(long, value_name = "FILE", required = true)]
    counts: OsString,

    /// Write the index of the first element of each run as well, as u32
    #[arg(long, value_name = "FILE", conflicts_with = "decode")]
    offsets: Option<OsString>,

    /// Leave out the runs of one element
    #[arg(long, conflicts_with = "decode")]
    non_trivial: bool,

    /// Decode runs of the values in VALUES, in place of INPUT
    #[arg(long, value_name = "VALUES")]
    decode: Option<OsString>,
}

impl Run for RunsArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "runs")?;
        match (&self.input, &self.decode) {
            (_, Some(values)) => self.decode(values.clone().into(), common),
            (Some(input), None) => self.encode(input.clone().into(), common),
            (None, None) => unreachable!("clap requires one of them"),
        }
    }
}

/// Elements of a single column.
const fn taken(max_count: u64) -> Taken<'static> {
    Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count }
}

impl RunsArgs {
    fn destination(&self) -> Destination {
        self.output.clone().unwrap_or_else(|| "-".into()).into()
    }

    fn encode(&self, source: Source, common: &Common) -> Result<()> {
        let offsets = self.offsets.clone().map(|file| ("--offsets", Destination::from(file)));
        let destinations: Vec<_> = [("-o", self.destination()), ("--counts", self.counts.clone().into())]
            .into_iter()
            .chain(offsets)
            .collect();
        files::output::check_distinct(&destinations)?;
        device::check_inputs(common, &[Some(&source)])?;
        let table = files::read(&source, self.element, &taken(RunLengthPlan::MAX_COUNT))?;
        let config = RunLengthConfig::encode(table.element);
        let config = if self.offsets.is_some() { config.offsets() } else { config };
        let config = if self.non_trivial { config.non_trivial() } else { config };
        let outputs = destinations
            .iter()
            .map(|(option, destination)| Ok(Output::prepare(destination, option, &[&source])?))
            .collect::<Result<Vec<_>>>()?;

        let gpu = device::open(common)?;
        let mut runs = RunLengths::default();
        {
            let _spinner = Progress::of_one(format_args!("encoding {source}"));
            let encoding = gpu.prepare_run_length_encode(config, &table.words, &mut runs)?;
            device::check_memory(&gpu, encoding.device_size(), "the elements, the runs and their scratch")?;
            encoding.run()?;
        }
        let RunLengths { values, counts, offsets } = runs;
        let shape = TableShape::Flat { count: counts.len() };
        let of = |element, words| Table { format: table.format, element, shape, words };
        let tables = [of(table.element, values), of(ElementType::U32, counts), of(ElementType::U32, offsets)];
        Ok(files::commit_all(outputs.into_iter().zip(tables).collect())?)
    }

    fn decode(&self, source: Source, common: &Common) -> Result<()> {
        let counts_source = Source::from(self.counts.clone());
        if source == Source::Stdin && counts_source == Source::Stdin {
            return Err(Ended::usage("standard input is one table; name a file for --counts").into());
        }
        device::check_inputs(common, &[Some(&source)])?;
        let table = files::read(&source, self.element, &taken(RunLengthPlan::MAX_DECODED_RUNS))?;
        let counts = read_counts(&counts_source)?;
        let value_count = table.shape.rows();
        if counts.len() != value_count {
            let count_count = counts.len();
            return Err(Ended::usage(format!(
                "{counts_source}: has {count_count} counts, and {source} has {value_count} values; give a count for each"
            ))
            .into());
        }
        let count: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if count > RunLengthPlan::MAX_COUNT {
            let max = RunLengthPlan::MAX_COUNT;
            return Err(Ended::usage(format!(
                "{counts_source}: the counts sum to {count}, and {max} elements are decoded at most; split the runs"
            ))
            .into());
        }
        let output = Output::prepare(&self.destination(), "-o", &[&source, &counts_source])?;

        let gpu = device::open(common)?;
        let mut words = Vec::new();
        {
            let _spinner = Progress::of_one(format_args!("decoding {source}"));
            let config = RunLengthConfig::decode(table.element);
            let decoding = gpu.prepare_run_length_decode(config, &table.words, &counts, &mut words)?;
            device::check_memory(&gpu, decoding.device_size(), "the runs, the elements and their scratch")?;
            decoding.run()?;
        }
        let shape = TableShape::Flat { count: count as usize };
        Ok(output.commit(&Table { shape, words, ..table })?)
    }
}

/// Reads the counts of runs: integers of any type in an .npy file, or raw u32.
fn read_counts(source: &Source) -> Result<Vec<u32>> {
    use ElementType::{I32, I64, U32, U64};
    let max_count = RunLengthPlan::MAX_DECODED_RUNS;
    let taken = Taken { elements: &[U32, I32, U64, I64], max_dimensions: 1, max_count };
    let opened =
        files::open_table(source, None, |file, size| TableReader::with_raw(file, size, U32, &taken))?;
    let mut table = opened.table;
    let mut bytes = Vec::new();
    table.read_to_end(&mut bytes).map_err(|error| InputError::of(source, error))?;
    let number = |(index, bytes): (usize, &[u8])| {
        let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        let number = match table.element {
            I32 => (bits as i32).into(),
            I64 => (bits as i64).into(),
            _ => i128::from(bits),
        };
        u32::try_from(number).map_err(|_| {
            Ended::usage(format!("{source}: count {index} is {number}; counts are from 0 to {}", u32::MAX))
        })
    };
    let counts = bytes.chunks_exact(table.element.size()).enumerate().map(number);
    Ok(counts.collect::<Result<_, _>>()?)
}

/// What `devices` and `inspect` show of encodings and decodings; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = RunLengthPolicy::choose(capabilities, &RunLengthConfig::encode(ElementType::U32));
        vec![ShownPolicy::new("run_length", "run length policy", choice)]
    },
    plans: |common, _| {
        let configs = [
            RunLengthConfig::encode(ElementType::U32),
            RunLengthConfig::encode(ElementType::U32).non_trivial(),
            RunLengthConfig::decode(ElementType::U32),
            RunLengthConfig::decode(ElementType::U64),
        ];
        plain_plans(common, configs)
    },
};
