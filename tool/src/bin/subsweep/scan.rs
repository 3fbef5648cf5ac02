//! `subsweep scan`: scans of an array or of a table's columns.

mod keys;

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use subsweep::device::Capabilities;
use subsweep::headless::{Backward, ScanStream, StreamError};
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanOperator, ScanPolicy, SegmentsBy};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::harness::{PlanConfig, PolicyName};
use subsweep_tool::table::{TableReader, TableShape, Taken, header};

use crate::args::{Common, Files, MemoryLimit, PolicyKind, float_order, one_of};
use crate::command::{Run, Shown, ShownPolicy};
use crate::error::{CommandError, of_stream, usage};
use crate::files::{self, BegunOutput, Source, TemporaryFolder};
use crate::policy::{self, Algorithm};
use crate::segments::{self, Offsets};
use crate::terminal::Progress;
use crate::{device, number};
use keys::Heads;

/// Scan an array, or each column or row of a table: prefix sums, or another operation
///
/// Equals numpy.cumsum(a, axis=0, dtype=a.dtype): element i becomes the sum of elements 0 to i. --op selects another
/// operation, as ufunc.accumulate does. Integer sums and products wrap; floats are rounded in another order than
/// numpy's, so that sums of numbers that are not negative may decrease, as numpy's do not: see --monotone, which equals
/// scan --op max of the result. The input may be larger than any memory. --reverse gives the scan of a[::-1], reversed again, of a file. A
/// table has 1 to 64 columns, and each is scanned by itself; with --axis 1 each row of up to 2^32 - 1 elements is. The output
/// has the format, type and shape of the input.
#[derive(Debug, Args)]
pub struct ScanArgs {
    #[command(flatten)]
    pub files: Files,

    /// The operation; and, or and xor take integers only
    #[arg(long, default_value_t, value_parser = operators())]
    pub op: ScanOperator,

    /// Exclude each element from its own result: the first result is the identity, such as 0 for a sum
    #[arg(long)]
    pub exclusive: bool,

    /// The initial value of every column, segment or row: a number of the elements' type
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub init: Option<String>,

    /// Scan from the last element to the first
    #[arg(long)]
    pub reverse: bool,

    /// Keep sums of non-negative floats from decreasing, by a second scan: rounding may make one less than the one before it
    #[arg(long)]
    pub monotone: bool,

    /// The axis of a table along which it is scanned: 0 for each column, 1 for each row
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(..=1))]
    pub axis: u32,

    /// Scan each segment by itself: FILE has the first row of each, ascending, as whole numbers, raw ones as u32; row 0 always begins a
    /// segment
    #[arg(long, value_name = "FILE", conflicts_with = "by_key")]
    pub segments: Option<Source>,

    /// Scan each run of equal keys by itself: KEYS has a key of any type for each row, raw ones as unsigned numbers
    #[arg(long, value_name = "KEYS")]
    pub by_key: Option<Source>,

    /// The order of floats in an .npy file of --by-key, by which keys are equal
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Numpy, requires = "by_key")]
    pub order: FloatOrder,

    #[command(flatten)]
    pub memory: MemoryLimit,
}

/// The tables that are scanned.
pub const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

impl Run for ScanArgs {
    fn run(&self, common: &Common) -> Result<()> {
        device::check_one(&common.device, "scan")?;
        check(self, common)?;
        let source = &self.files.input;
        let job = self.files.job().row_numbers("--segments", &self.segments);
        let job = job.row_numbers("--by-key", &self.by_key).checked()?;
        let mut opened = self.files.open(self.reverse.then_some(segments::BACKWARD), &TAKEN)?;
        // The size of raw keys follows from the number of rows, and a program may write the values to a pipe before the keys to
        // another.
        if self.by_key.is_some() && !opened.table.is_file() {
            opened = opened.spooled(source, &TemporaryFolder::default())?;
        }
        let TableReader { element, format, shape, payload_size, .. } = opened.table;
        files::check_numbers(source, format)?;
        let (mut config, initial) = self.config(common, &opened.table)?;
        // Along rows, every element is a row of the scan.
        let rows_of = |shape: TableShape| if self.axis == 1 { shape.element_count() } else { shape.rows() };
        let row_count = shape.map(rows_of);
        let row_count = row_count.map(|count| count as u64);
        let offsets = |source| Offsets::open(source, self.reverse, row_count);
        let mut segments = self.segments.as_ref().map(offsets).transpose()?;
        let heads = |source| Heads::open(source, self.order, self.reverse, row_count.unwrap_or(0));
        let mut heads = self.by_key.as_ref().map(heads).transpose()?;
        let (reader, row_count): (Box<dyn Read + Send>, _) = if self.reverse {
            (Box::new(opened.backward(source)?), row_count)
        } else {
            // A stream is of one column, unless its header states the rows.
            let (reader, count) = opened.forward(source)?;
            (Box::new(reader), row_count.or(count))
        };
        let outputs = job.prepare()?;

        let gpu = device::open(common)?;
        if !common.is_plain() {
            config = config.policy(policy::of_scan(common, gpu.capabilities(), &config).policy);
        }
        let stream = ScanStream {
            initial: initial.as_deref(),
            carry: None,
            segments: segments.as_mut().map(|begins| begins as _).or(heads.as_mut().map(|heads| heads as _)),
            row_count,
            memory_size: self.memory.size(),
            chunk_size: None,
        };
        let header = shape.map_or(Vec::new(), |shape| header(format, element, shape));
        let progress = Progress::of_bytes(format_args!("scanning {source}"), payload_size);
        let [mut output] = outputs.begin()?;
        let reader = progress.reads(reader);
        let scanned = if self.reverse {
            let size = payload_size.unwrap_or(0);
            write_backward(&mut output, &header, size, |sink| gpu.scan_stream(config, stream, reader, sink))
        } else {
            output.header = header;
            gpu.scan_stream(config, stream, reader, &mut output)
        };
        match scanned {
            Ok(()) => Ok(output.finish()?),
            Err(StreamError::SegmentBeyond { begin, row_count }) => {
                let source = self.segments.as_ref().unwrap_or(source);
                Err(segments::beyond(source, begin, row_count, "rows").into())
            }
            // A source of segments names itself.
            Err(error) => {
                let of_output = |error| output.error(error);
                Err(of_stream(error, source, of_output, &TemporaryFolder::default(), &self.memory))
            }
        }
    }
}

impl ScanArgs {
    /// The kind of the scan.
    pub fn kind(&self) -> ScanKind {
        if self.exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive }
    }

    /// The configuration of the scan of an opened table, and the initial row.
    ///
    /// # Errors
    /// The operator, the shape or the initial value is not one for the elements, or the algorithm does not support it.
    pub fn config(
        &self,
        common: &Common,
        table: &TableReader<File>,
    ) -> Result<(ScanConfig, Option<Vec<u8>>), CommandError> {
        let (source, element) = (&self.files.input, table.element);
        check_operator(self.op, element)?;
        // A stream of raw elements has no header, and is flat.
        let shape = table.shape.unwrap_or(TableShape::Flat { count: 0 });
        let (columns, row_length) = match self.axis {
            1 => (1, Some(row_length(source, shape)?)),
            _ => (files::column_count(source, shape, ScanConfig::MAX_COLUMNS, "scanned")?, None),
        };
        check_seed(common, self.op, element, columns)?;
        let initial = self.init.as_deref().map(|text| initial_row(text, element, columns)).transpose()?;
        let mut config = ScanConfig::new(self.kind(), element).operator(self.op).columns(columns);
        // The seed's scan is in place.
        if common.seed().is_none() {
            config = config.out_of_place();
        }
        if self.reverse {
            config = config.reverse();
        }
        if self.segments.is_some() || self.by_key.is_some() {
            config = config.segments(SegmentsBy::Offsets);
        }
        if let Some(length) = row_length {
            config = config.along_rows(length);
        }
        if self.init.is_some() {
            config = config.with_initial();
        }
        if self.monotone {
            if self.op != ScanOperator::Add || !element.is_float() {
                return Err(usage!("--monotone is for sums of floats; other scans are exact"));
            }
            config = config.monotone();
        }
        policy::check_config(common, &config)?;
        Ok((config, initial))
    }
}

/// Writes a header, and calls `write` with the place of the `size` bytes after it, which are written from the last to the
/// first; for a stream in a temporary file.
fn write_backward(
    output: &mut BegunOutput,
    header: &[u8],
    size: u64,
    write: impl FnOnce(Backward<&mut File>) -> Result<(), StreamError>,
) -> Result<(), StreamError> {
    let start = header.len() as u64;
    let into = |file: &mut File| {
        file.write_all(header).map_err(StreamError::Write)?;
        write(Backward::new(file, start, start + size))
    };
    if let Some(file) = output.file() {
        return into(file);
    }
    let mut file = tempfile::tempfile().map_err(StreamError::Temporary)?;
    into(&mut file).map_err(|error| match error {
        StreamError::Write(error) => StreamError::Temporary(error),
        error => error,
    })?;
    file.rewind().map_err(StreamError::Temporary)?;
    io::copy(&mut file, output).map(|_| ()).map_err(StreamError::Write)
}

/// Refuses options that contradict each other.
pub fn check(args: &ScanArgs, common: &Common) -> Result<(), CommandError> {
    policy::check_scan(common)?;
    let is_seed = common.policy == Some(PolicyKind::Seed);
    for (is_given, option) in [
        (args.reverse, "--reverse"),
        (args.init.is_some(), "--init"),
        (args.segments.is_some(), "--segments"),
        (args.by_key.is_some(), "--by-key"),
        (args.axis == 1, "--axis 1"),
        (args.monotone, "--monotone"),
    ] {
        if is_seed && is_given {
            return Err(usage!("--policy seed has no {option}; leave out one of the two"));
        }
    }
    if args.axis == 1 && (args.segments.is_some() || args.by_key.is_some()) {
        return Err(usage!("--segments and --by-key are of rows down the columns; leave out --axis 1"));
    }
    let is_of_seed = matches!(common.policy, Some(PolicyKind::Seed | PolicyKind::SeedBinByBin));
    if is_of_seed && args.exclusive {
        return Err(usage!("--policy seed scans inclusively only; leave out one of it and --exclusive"));
    }
    args.files.raw.element.map_or(Ok(()), |element| check_operator(args.op, element))
}

/// The initial value `text` for every column.
fn initial_row(text: &str, element: ElementType, columns: u32) -> Result<Vec<u8>, CommandError> {
    let number = number::parse(text, element).map_err(|why| usage!("--init: {why}"))?;
    Ok(number.repeat(columns as usize))
}

/// Refuses an operation of whole numbers on floats.
pub fn check_operator(operator: ScanOperator, element: ElementType) -> Result<(), CommandError> {
    if operator.takes(element) {
        return Ok(());
    }
    Err(usage!(
        "--op {operator} is of whole numbers, and the elements are {element}; save a.view('<u{}')",
        element.size()
    ))
}

fn check_seed(
    common: &Common,
    operator: ScanOperator,
    element: ElementType,
    columns: u32,
) -> Result<(), CommandError> {
    let max = ScanPolicy::MAX_SEED_COLUMNS;
    let is_seed = common.policy == Some(PolicyKind::Seed);
    let is_its_own = operator == ScanOperator::Add && element == ElementType::U32 && columns <= max;
    if is_seed && !is_its_own {
        return Err(usage!("--policy seed sums up u32 in up to {max} columns only; leave it out"));
    }
    Ok(())
}

/// Elements of a row.
fn row_length(source: &Source, shape: TableShape) -> Result<u32, CommandError> {
    let columns = files::row_length(source, shape)?;
    u32::try_from(columns).map_err(|_| {
        let max = u32::MAX;
        usage!("{source}: has rows of {columns} elements, and up to {max} are scanned")
    })
}

/// Parses the name of an operator.
fn operators() -> impl TypedValueParser<Value = ScanOperator> {
    let value = |operator: ScanOperator| {
        let help = match operator {
            ScanOperator::Add => "Sums",
            ScanOperator::Mul => "Products",
            ScanOperator::Min => "Minima; NaN propagates",
            ScanOperator::Max => "Maxima; NaN propagates",
            ScanOperator::And => "Bitwise and",
            ScanOperator::Or => "Bitwise or",
            ScanOperator::Xor => "Bitwise exclusive or",
        };
        PossibleValue::new(operator.name()).help(help)
    };
    one_of(ScanOperator::ALL, ScanOperator::name, value)
}

/// What `devices` and `inspect` show of scans.
pub const SHOWN: Shown = Shown { policies, plans };

fn policies(common: &Common, capabilities: &Capabilities) -> Vec<ShownPolicy> {
    let shown =
        |key, label, config| ShownPolicy::new(key, label, policy::of_scan(common, capabilities, &config));
    let plain = ScanConfig::inclusive(ElementType::U32);
    vec![
        shown("scan", "scan policy", plain),
        shown("scan_out_of_place", "out of place", plain.out_of_place()),
        shown("scan_u64", "scan of u64", ScanConfig::inclusive(ElementType::U64)),
    ]
}

/// Configurations that `inspect` shows; the simplest first.
const INSPECTED: [ScanConfig; 9] = [
    ScanConfig::inclusive(ElementType::U32),
    ScanConfig::exclusive(ElementType::U32),
    ScanConfig::inclusive(ElementType::U32).reverse(),
    ScanConfig::inclusive(ElementType::U32).out_of_place(),
    ScanConfig::inclusive(ElementType::U32).columns(4),
    ScanConfig::inclusive(ElementType::F32),
    ScanConfig::inclusive(ElementType::U64),
    ScanConfig::inclusive(ElementType::U32).segments(SegmentsBy::Offsets),
    ScanConfig::inclusive(ElementType::U32).along_rows(40),
];

fn plans(common: &Common, capabilities: &Capabilities) -> Vec<PlanConfig> {
    let asked = match common.algorithm {
        Some(Algorithm::Scan(algorithm)) => Some(algorithm),
        Some(Algorithm::Sort(_)) => return Vec::new(),
        None => None,
    };
    let plan = |algorithm, policy: PolicyName, config: ScanConfig| {
        PlanConfig::from(config.policy(policy.scan(capabilities, algorithm, &config)))
    };
    let plainest = INSPECTED[0];
    match (common.policy_name(), asked) {
        // The variant without packed counters is one of sorts only.
        (PolicyName::SeedBinByBin, _) => Vec::new(),
        // The seed's scan takes rows of few columns only, and has one algorithm.
        (PolicyName::Seed, _) => {
            let of = |columns| plan(ScanAlgorithm::ALL[0], PolicyName::Seed, plainest.columns(columns));
            [1, 4].map(of).into()
        }
        (policy, Some(algorithm)) => {
            let taken = INSPECTED.into_iter().filter(|config| algorithm.refusal(config).is_none());
            taken.map(|config| plan(algorithm, policy, config)).collect()
        }
        (policy, None) => {
            let chosen = INSPECTED.map(|config| plan(ScanAlgorithm::ALL[0], PolicyName::Chosen, config));
            let algorithms = ScanAlgorithm::ALL.map(|algorithm| plan(algorithm, policy, plainest));
            chosen.into_iter().chain(algorithms).collect()
        }
    }
}
