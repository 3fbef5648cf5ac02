//! `subsweep reduce`: sums of an array, of a table's columns, of segments or of runs of keys.

mod partial;

use std::fmt;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use subsweep::headless::ReducedBytes;
use subsweep::reduce::{ReduceConfig, ReducePolicy, ReduceRuns};
use subsweep::scan::ScanOperator;
use subsweep::{Bf16, ElementType, F16, FloatOrder};
use subsweep_tool::table::{self, Format, Table, TableReader, TableShape, Taken};

use crate::args::{Common, Files, MemoryLimit, float_order};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::error::{CommandError, usage};
use crate::files::input::InputError;
use crate::files::{self, Destination, Job, Outputs, Source};
use crate::policy;
use crate::{device, number, scan, segments};
use partial::Partial;

/// Reduce an array, or each column or row of a table: a sum, or another operation
///
/// Equals numpy.add.reduce(a, axis=0, dtype=a.dtype); --op selects another operation, as ufunc.reduce does, or the index
/// of the first minimum or maximum, as numpy.argmin does, or a row of the former and one of the latter. Sums of floats are rounded in another order than numpy's, which
/// is the same on every device. A table has 1 to 64 columns, and each is reduced by itself; with --axis 1 each row is, of any
/// length. Without -o the result is
/// printed, a row on a line; otherwise the output has the format and the type of the input, and indices are u32. Sums of whole
/// numbers wrap, of u8 at 256: see --unpacked.
#[derive(Debug, Args)]
pub struct ReduceArgs {
    #[command(flatten)]
    pub files: Files,

    /// The operation; and, or and xor take integers only
    #[arg(long, default_value_t, value_parser = operations())]
    pub op: Operation,

    /// Give results of 32 bits, u32, i32 or f32, of elements of 8 or 16 bits, which are computed so and then wrapped or rounded
    /// to the type of the elements
    #[arg(long)]
    pub unpacked: bool,

    /// The axis of a table along which it is reduced: 0 gives a result for each column, 1 for each row
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(..=1))]
    pub axis: u32,

    /// Reduce each segment by itself: FILE has the first row of each, ascending, as whole numbers, raw ones as u32; an empty one gives the identity,
    /// such as 0
    #[arg(long, value_name = "FILE", conflicts_with = "by_key")]
    pub segments: Option<Source>,

    /// Let each of --segments end where FILE says, the row after its last: segments may then overlap, leave out rows, and be in any
    /// order
    #[arg(long, value_name = "FILE", requires = "segments")]
    pub segment_ends: Option<Source>,

    /// Reduce each run of equal keys by itself: KEYS has a key of any type for each row; raw keys are equal if their bits are
    #[arg(long, value_name = "KEYS", requires = "keys_output")]
    pub by_key: Option<Source>,

    /// The output file of --by-key: the key of each run
    #[arg(long, value_name = "FILE", requires = "by_key")]
    pub keys_output: Option<Destination>,

    /// The order of floats in an .npy file of --by-key, by which keys are equal
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Numpy, requires = "by_key")]
    pub order: FloatOrder,

    #[command(flatten)]
    pub memory: MemoryLimit,
}

/// What is computed of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A combination of all rows.
    Operator(ScanOperator),
    /// The index of the first minimum.
    ArgMin,
    /// The index of the first maximum.
    ArgMax,
    /// Both.
    ArgMinMax,
}

impl Default for Operation {
    fn default() -> Self {
        Self::Operator(ScanOperator::Add)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Operation {
    const fn name(self) -> &'static str {
        match self {
            Self::Operator(operator) => operator.name(),
            Self::ArgMin => "argmin",
            Self::ArgMax => "argmax",
            Self::ArgMinMax => "argminmax",
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        ScanOperator::ALL.into_iter().map(Self::Operator).chain([Self::ArgMin, Self::ArgMax, Self::ArgMinMax])
    }
}

/// Parses the name of an operation.
fn operations() -> impl TypedValueParser<Value = Operation> {
    let value = |operation: Operation| {
        let help = match operation {
            Operation::Operator(ScanOperator::Add) => "The sum",
            Operation::Operator(ScanOperator::Mul) => "The product",
            Operation::Operator(ScanOperator::Min) => "The minimum; NaN propagates",
            Operation::Operator(ScanOperator::Max) => "The maximum; NaN propagates",
            Operation::Operator(ScanOperator::And) => "Bitwise and",
            Operation::Operator(ScanOperator::Or) => "Bitwise or",
            Operation::Operator(_) => "Bitwise exclusive or",
            Operation::ArgMin => "The index of the first minimum, or of the first NaN",
            Operation::ArgMax => "The index of the first maximum, or of the first NaN",
            Operation::ArgMinMax => "A row of argmin and one of argmax, by one pass",
        };
        PossibleValue::new(operation.name()).help(help)
    };
    PossibleValuesParser::new(Operation::all().map(value).collect::<Vec<_>>()).try_map(|name| {
        Operation::all().find(|operation| operation.name() == name).ok_or("it is no operation")
    })
}

// The device's memory limits the count; it is checked once the device is open.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

impl Run for ReduceArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "reduce")?;
        if self.memory.is_given() && self.has_runs() {
            bail!(usage!(
                "segments and runs may be of any length and are reduced in memory; leave out --segments or --by-key, or \
                 --memory"
            ));
        }
        let source = &self.files.input;
        let job = self.files.job().row_numbers("--segments", &self.segments);
        let job = job.row_numbers("--segment-ends", &self.segment_ends);
        let job = job.input("--by-key", &self.by_key).output("--keys-output", &self.keys_output);
        let job = job.checked()?;
        let job = if self.files.output.is_none() { job.prints("-o") } else { job };
        if !self.has_runs() {
            return self.run_in_chunks(common, &job);
        }
        device::check_inputs(common, &job)?;
        let table = self.files.read(&TAKEN)?;
        self.check_format(source, table.format)?;
        let mut config = self.config(source, table.element, table.shape)?;
        let rows = table.shape.rows();
        let mut offsets = Vec::new();
        if let Some(begins) = &self.segments {
            config = config.runs(ReduceRuns::Offsets);
            if let Some(ends) = &self.segment_ends {
                offsets = segments::read_ranges([begins, ends], "reduce", rows, "rows")?;
                config = config.runs(ReduceRuns::Ranges);
            } else {
                offsets = segments::read(begins, "reduce", rows, "rows")?;
            }
        }
        let keys = self.by_key.as_ref().map(|keys| files::read_values(keys, rows as u64)).transpose()?;
        if let Some(keys) = &keys {
            config = config.runs(ReduceRuns::keys_in(keys.element, self.order));
        }
        let outputs = job.prepare()?;

        let gpu = device::open(common)?;
        let mut reduced = ReducedBytes::default();
        device::run_whole(&gpu, format_args!("reducing {rows} rows"), || {
            let segments = keys.as_ref().map_or(bytemuck::cast_slice(&offsets), |keys| &keys.payload[..]);
            gpu.prepare_reduce(config, &table.payload, segments, &mut reduced)
        })?;
        let columns = table.shape.columns();
        let (element, payload) = self.results(table.element, reduced.results);
        let shape = table.shape.with_rows(payload.len() / (columns * element.size()));
        let results = Table { shape, element, payload, ..table };
        let unique = keys.map(|keys| {
            let count = reduced.unique_keys.len() / keys.element.size();
            Table { shape: TableShape::Flat { count }, payload: reduced.unique_keys, ..keys }
        });
        self.commit(outputs, results, unique, columns)
    }
}

impl ReduceArgs {
    /// Whether segments, or runs of keys, are reduced.
    fn has_runs(&self) -> bool {
        self.segments.is_some() || self.by_key.is_some()
    }

    /// Refuses bool where a result is one, and not an index or of 32 bits.
    fn check_format(&self, source: &Source, format: Format) -> Result<(), InputError> {
        let holds = self.unpacked || !matches!(self.op, Operation::Operator(_));
        if holds { Ok(()) } else { files::check_numbers(source, format) }
    }

    /// Reduces all rows, or each row, of a table of any size.
    fn run_in_chunks(&self, common: &Common, job: &Job<'_>) -> Result<()> {
        let source = &self.files.input;
        let opened = self.files.open(None, &TAKEN)?;
        let TableReader { element, format, shape, .. } = opened.table;
        self.check_format(source, format)?;
        let shape = shape.unwrap_or(TableShape::Flat { count: 0 });
        let config = self.config(source, element, shape)?;
        let outputs = job.prepare()?;
        let columns = shape.columns();
        let mut chunks = opened.chunks(source, columns, files::ROWS_AND_RESULTS, "reducing", &self.memory)?;

        let gpu = device::open(common)?;
        let of_chunks = if config.is_index() || self.axis == 1 {
            config
        } else {
            self.config(source, element.unpacked(), shape)?
        };
        let mut partial = Partial::new(&gpu, source, [config, of_chunks], element, self.axis == 1);
        while let Some(rows) = chunks.next(0)? {
            partial.add(rows)?;
        }
        let results = partial.end()?;
        drop(chunks);
        let (element, payload) = self.results(element, results);
        let count = payload.len() / element.size();
        let has_both = self.op == Operation::ArgMinMax;
        let shape = match self.axis == 1 || !shape.is_flat() {
            true if has_both => TableShape::Grid { rows: 2, columns: count / 2 },
            true => TableShape::Flat { count },
            false => shape.with_rows(count),
        };
        let results = Table { format, element, shape, payload };
        let columns = match self.axis {
            1 if has_both => (count / 2).max(1),
            1 => 1,
            _ => columns,
        };
        self.commit(outputs, results, None, columns)
    }

    /// The type of the results that are given, and the results, from results of 32 bits of elements that have fewer bits.
    fn results(&self, element: ElementType, results: Vec<u8>) -> (ElementType, Vec<u8>) {
        match self.op {
            Operation::ArgMin | Operation::ArgMax | Operation::ArgMinMax => (ElementType::U32, results),
            Operation::Operator(_) if self.unpacked => (element.unpacked(), results),
            Operation::Operator(_) if self.has_runs() || !element.is_packed() => (element, results),
            Operation::Operator(operator) => (element, packed(operator, element, &results)),
        }
    }

    /// Writes the keys of runs, and the results, or prints these in rows of `columns`.
    fn commit(&self, outputs: Outputs, results: Table, keys: Option<Table>, columns: usize) -> Result<()> {
        if self.files.output.is_some() {
            return Ok(outputs.commit([results].into_iter().chain(keys))?);
        }
        outputs.commit(keys)?;
        Ok(files::output::print(&text_of(&results, columns))?)
    }

    /// The configuration without runs.
    fn config(
        &self,
        source: &Source,
        element: ElementType,
        shape: TableShape,
    ) -> Result<ReduceConfig, CommandError> {
        if self.axis == 1 {
            return self.config_of_rows(source, element, shape);
        }
        let columns = files::column_count(source, shape, ReduceConfig::MAX_COLUMNS, "reduced")?;
        Ok(self.config_of(element)?.columns(columns))
    }

    /// The configuration of a result for each row.
    fn config_of_rows(
        &self,
        source: &Source,
        element: ElementType,
        shape: TableShape,
    ) -> Result<ReduceConfig, CommandError> {
        if self.has_runs() {
            return Err(usage!("--segments and --by-key are of rows down the columns; leave out --axis 1"));
        }
        let columns = files::row_length(source, shape)?;
        match u32::try_from(columns) {
            Ok(length) if length <= u32::MAX / element.size() as u32 => {
                Ok(self.config_of(element)?.along_rows(length))
            }
            _ => Err(usage!(
                "{source}: has rows of {columns} columns, and rows of less than 4 GiB are reduced; split them"
            )),
        }
    }

    /// The operation on elements.
    fn config_of(&self, element: ElementType) -> Result<ReduceConfig, CommandError> {
        let has_runs = self.has_runs();
        if let Operation::Operator(operator) = self.op {
            scan::check_operator(operator, element)?;
        }
        Ok(match self.op {
            // Of chunks they are packed once, after these have been combined.
            Operation::Operator(operator) if element.is_packed() && (self.unpacked || !has_runs) => {
                ReduceConfig::new(operator, element).unpacked_results()
            }
            Operation::Operator(operator) => ReduceConfig::new(operator, element),
            operation if has_runs => {
                return Err(usage!(
                    "--op {operation} is of all rows; leave out one of it and --segments or --by-key"
                ));
            }
            Operation::ArgMin => ReduceConfig::argmin(element),
            Operation::ArgMax => ReduceConfig::argmax(element),
            Operation::ArgMinMax => ReduceConfig::argminmax(element),
        })
    }
}

/// Results of 32 bits in an element type of fewer: floats are rounded, whole numbers wrap. The identity of a minimum or maximum
/// is the greatest or least number of the type.
fn packed(operator: ScanOperator, element: ElementType, results: &[u8]) -> Vec<u8> {
    let saturates = matches!(operator, ScanOperator::Min | ScanOperator::Max);
    let bits = |number: &[u8]| match element {
        ElementType::F16 => F16::from_f64(table::real(number, ElementType::F32)).0,
        ElementType::Bf16 => Bf16::from_f64(table::real(number, ElementType::F32)).0,
        _ => {
            let number = table::whole(number, element.unpacked());
            let (least, greatest) = number::range(element);
            (if saturates { number.clamp(least, greatest) } else { number }) as u16
        }
    };
    results
        .chunks_exact(4)
        .flat_map(|number| bits(number).to_le_bytes().into_iter().take(element.size()))
        .collect()
}

/// The results as text, a row on a line.
fn text_of(results: &Table, columns: usize) -> String {
    let size = results.element.size();
    let line = |row: &[u8]| {
        let numbers: Vec<_> = row.chunks(size).map(|number| number::text(number, results.element)).collect();
        numbers.join(" ") + "\n"
    };
    results.payload.chunks(columns * size).map(line).collect()
}

/// What `devices` and `inspect` show of reductions; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = ReducePolicy::choose(capabilities, &ReduceConfig::sum(ElementType::U32));
        vec![ShownPolicy::new("reduce", "reduce policy", choice)]
    },
    plans: |common, _| {
        let sum = ReduceConfig::sum(ElementType::F32);
        let by_key = ReduceConfig::sum(ElementType::U64).runs(ReduceRuns::Keys32);
        let index = ReduceConfig::argmin(ElementType::F32);
        let rows = [sum.along_rows(128), sum.along_rows(1 << 16), index.along_rows(128)];
        let both = ReduceConfig::argminmax(ElementType::F32);
        plain_plans(common, [sum, sum.columns(3), index, both, by_key].into_iter().chain(rows))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_packed_once() {
        let of = |operator, element, words: &[u32]| packed(operator, element, bytemuck::cast_slice(words));
        let (add, min, max) = (ScanOperator::Add, ScanOperator::Min, ScanOperator::Max);
        assert_eq!(of(add, ElementType::U8, &[300, u32::MAX]), [44, 255]);
        assert_eq!(of(min, ElementType::U8, &[3, u32::MAX]), [3, 255]);
        assert_eq!(of(max, ElementType::I8, &[u32::MAX, i32::MIN as u32]), [255, 128]);
        assert_eq!(of(add, ElementType::I16, &[40_000]), 40_000_u16.to_le_bytes());
        // Beyond the type, and between two of its numbers.
        let floats = [1e5, 2049.0].map(f32::to_bits);
        assert_eq!(of(add, ElementType::F16, &floats), [0, 0x7c, 0, 0x68]);
        assert_eq!(of(add, ElementType::Bf16, &[257f32.to_bits()]), [0x80, 0x43]);
    }
}
