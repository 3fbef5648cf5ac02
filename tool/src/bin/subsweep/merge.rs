//! `subsweep merge`: two sorted arrays into one.

use anyhow::Result;
use clap::Args;
use subsweep::merge::{MergeConfig, MergePolicy};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::table::{self, Format, Table, TableShape, Taken};

use crate::args::{Common, RawType, float_order};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::{self, Destination, Job, Source};
use crate::policy;

/// Merge two sorted arrays into one, stable, keys alone or with values
///
/// Equals numpy.sort(numpy.concatenate((a, b)), kind='stable'), of floats with --order numpy: of equal keys, the keys of A
/// come first. That A and B are sorted is not checked. The output has the type of both and the format of A.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// A sorted array: an .npy file, or raw little-endian elements with --type; - is standard input
    a: Source,

    /// Another one, of the same type: likewise
    b: Source,

    /// The output file; an existing one is replaced once the result is complete; - is standard output [default: -]
    #[arg(short, long)]
    pub output: Option<Destination>,

    #[command(flatten)]
    pub raw: RawType,

    /// Both arrays are sorted from the greatest key to the least, and so is the output
    #[arg(long)]
    pub descending: bool,

    /// The order of floats, as of the sort of both arrays
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Total)]
    pub order: FloatOrder,

    /// Move the values of both arrays along with their keys: .npy files with a number for each key, or a row of up to 16 KiB; or
    /// raw, 1, 2, 4 or 8 bytes for each key
    #[arg(long, num_args = 2, value_names = ["A_VALUES", "B_VALUES"], requires = "values_output")]
    pub values: Option<Vec<Source>>,

    /// Write the values here, in the format and type of A_VALUES; - is standard output
    #[arg(long, value_name = "FILE", requires = "values")]
    pub values_output: Option<Destination>,
}

const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count: u64::MAX };

impl Run for MergeArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "merge")?;
        let keys_sources = [&self.a, &self.b];
        let job = Job::new(&self.output).input("A", &self.a).input("B", &self.b);
        let job = self.values.iter().flatten().fold(job, |job, source| job.input("--values", source));
        let job = job.output("--values-output", &self.values_output).checked()?;
        device::check_inputs(common, &job)?;
        let [a, b] = keys_sources.map(|source| files::read(source, self.raw.element, &TAKEN));
        let (a, b) = (a?, b?);
        check_types(keys_sources, &a, &b)?;
        let counts = [a.shape.rows(), b.shape.rows()];
        let mut value_words = 0;
        let values = match self.values.as_deref() {
            Some([a_source, b_source]) => {
                let mut a_values = files::read_values_of(a_source, a.shape)?;
                let mut b_values = files::read_values_of(b_source, b.shape)?;
                check_types([a_source, b_source], &a_values, &b_values)?;
                let columns = check_columns([a_source, b_source], &a_values, &b_values)?;
                let max = MergeConfig::MAX_VALUE_WORDS;
                value_words = files::row_words(a_source, a_values.element, columns, max, "moved")?;
                a_values.format = format_of(&a_values, &b_values);
                a_values.pad();
                b_values.pad();
                Some([a_values, b_values])
            }
            _ => None,
        };
        let outputs = job.prepare()?;

        let gpu = device::open(common)?;
        let config = MergeConfig::keys(a.element).values(value_words);
        let config = if self.descending { config.descending() } else { config }.order(self.order);
        let count = counts[0] + counts[1];
        let mut keys = files::zeroed(count * a.element.size(), "the result")?;
        let mut merged_values = files::zeroed(count * 4 * value_words as usize, "the result")?;
        device::run_whole(&gpu, format_args!("merging {count} keys"), || {
            let values: [&[u8]; 2] = values
                .as_ref()
                .map_or([&[], &[]], |values| values.each_ref().map(|table| &table.payload[..]));
            gpu.prepare_merge(config, [&a.payload, &b.payload], values, [&mut keys, &mut merged_values])
        })?;
        let shape = TableShape::Flat { count };
        let a = Table { format: format_of(&a, &b), ..a };
        let values = values.map(|[a_values, _]| {
            let shape = a_values.shape.with_rows(count);
            Table { shape, payload: merged_values, ..a_values }.trimmed()
        });
        Ok(outputs.commit([Table { shape, payload: keys, ..a }].into_iter().chain(values))?)
    }
}

/// The format of both: numbers and bools are numbers.
fn format_of(a: &Table, b: &Table) -> Format {
    match (a.format, b.format) {
        (Format::NpyBool, Format::Npy | Format::Raw) => Format::Npy,
        (format, _) => format,
    }
}

/// Refuses two tables of different types. Raw values have no type but a size.
fn check_types([of_a, of_b]: [&Source; 2], a: &Table, b: &Table) -> Result<(), CommandError> {
    let is_raw = a.format == Format::Raw || b.format == Format::Raw;
    if a.element == b.element || is_raw && a.element.size() == b.element.size() {
        return Ok(());
    }
    let remedy = table::one_type([(of_a, a.element), (of_b, b.element)]);
    Err(usage!("{of_b}: has elements of {}, and {of_a} of {}; {remedy}", b.element, a.element))
}

/// The elements of a value; refuses two tables of rows of different lengths.
fn check_columns([of_a, of_b]: [&Source; 2], a: &Table, b: &Table) -> Result<usize, CommandError> {
    let [columns, other] = [a, b].map(|values| values.shape.columns());
    if columns == other {
        return Ok(columns);
    }
    Err(usage!("{of_b}: has values of {other} numbers, and {of_a} of {columns}; save both with as many"))
}

/// What `devices` and `inspect` show of merges; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = MergePolicy::choose(capabilities, &MergeConfig::keys(ElementType::U32));
        vec![ShownPolicy::new("merge", "merge policy", choice)]
    },
    plans: |common, _| {
        let pairs = MergeConfig::keys(ElementType::F64).values(2);
        plain_plans(common, [MergeConfig::keys(ElementType::F32), pairs])
    },
};
