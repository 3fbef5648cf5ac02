//! `subsweep runs`: run-length encoding and decoding.

mod decode;
mod encode;

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;
use subsweep::FloatOrder;
use subsweep::run_length::{RunLengthConfig, RunLengthPolicy};
use subsweep_tool::table::{ElementType, TableReader, Taken};

use crate::args::{Common, MemoryLimit, RawType, float_order};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::files::input::{InputError, OpenTable};
use crate::files::{self, Destination, Source};
use crate::policy;

/// Encode runs of equal elements as values and counts, or decode them
///
/// A run begins at 0, and where an element differs from the one before it; floats are equal as in numpy.unique, or by
/// --order. The value of a run is its first element. --decode equals numpy.repeat(values, counts).
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// The elements: an .npy file, or raw little-endian elements with --type; - is standard input
    #[arg(required_unless_present = "decode", conflicts_with = "decode")]
    input: Option<Source>,

    /// The output file of the values, or with --decode of the elements; an existing one is replaced once the result is
    /// complete; - is standard output [default: -]
    #[arg(short, long)]
    output: Option<Destination>,

    #[command(flatten)]
    raw: RawType,

    /// Write the number of elements of each run, u32; with --decode read it: u32, i32, u64 or i64
    #[arg(long, value_name = "FILE", required = true)]
    counts: OsString,

    /// Write the index of the first element of each run as well, as u32
    #[arg(long, value_name = "FILE", conflicts_with = "decode")]
    offsets: Option<Destination>,

    /// Leave out the runs of one element
    #[arg(long, conflicts_with = "decode")]
    non_trivial: bool,

    /// The order of floats, by which elements are equal
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Numpy, conflicts_with = "decode")]
    order: FloatOrder,

    /// Decode runs of the values in VALUES, in place of INPUT
    #[arg(long, value_name = "VALUES")]
    decode: Option<Source>,

    #[command(flatten)]
    memory: MemoryLimit,
}

impl Run for RunsArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "runs")?;
        match (&self.input, &self.decode) {
            (_, Some(values)) => self.decode(values, common),
            (Some(input), None) => self.encode(input, common),
            (None, None) => unreachable!("clap requires one of them"),
        }
    }
}

impl RunsArgs {
    /// Opens elements or values of a single column.
    fn open(&self, source: &Source, max_count: u64) -> Result<OpenTable, InputError> {
        let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count };
        files::open_table(source, None, |file, size| TableReader::new(file, size, self.raw.element, &taken))
    }
}

/// Arrays of the size of a chunk, of an encoding: elements, values, counts and scratch on the device; elements on the host, and
/// values and counts before they are joined, and with their offsets after.
const ARRAY_COUNT: u64 = 10;

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
