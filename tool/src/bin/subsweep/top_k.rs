//! `subsweep topk`: the largest or smallest elements of each row.

use anyhow::{Result, bail};
use clap::{ArgGroup, Args};
use subsweep::headless::{TopKBytes, TopKRows};
use subsweep::top_k::{TopKConfig, TopKPolicy};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::table::{Table, TableShape, Taken, padded, trimmed};

use crate::args::{Common, Files, float_order};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::error::{CommandError, usage};
use crate::files::{self, Destination, Source};
use crate::{device, policy, segments};

/// Select the k largest or smallest elements of an array, or of each row of a table
///
/// With --smallest these are np.take_along_axis(a, i, axis=-1) for i = np.argsort(a, axis=-1, kind='stable')[..., :k];
/// otherwise of the descending order, the largest first. Of equal elements, the one with the lowest index comes first.
/// The output has k elements for each row; with --segments or --ks, the results of one row after another, as many as each has.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("k or ks").required(true).args(["k", "ks"])))]
pub struct TopKArgs {
    #[command(flatten)]
    pub files: Files,

    /// The number of elements to select of each row
    #[arg(short, value_name = "N", allow_hyphen_values = true)]
    pub k: Option<u32>,

    /// Select as many of each row as FILE says, a whole number for each; raw ones are u32
    #[arg(long, value_name = "FILE")]
    pub ks: Option<Source>,

    /// Take the segments of an array as rows: FILE has the first index of each, ascending, as whole numbers, raw ones as u32; elements
    /// before the first segment are in none. One of fewer than k elements has as many results
    #[arg(long, value_name = "FILE")]
    pub segments: Option<Source>,

    /// Select the smallest, the smallest first
    #[arg(long)]
    pub smallest: bool,

    /// The order of floats
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Numpy)]
    pub order: FloatOrder,

    /// Keep the order of the row, which is faster
    #[arg(long)]
    pub unsorted: bool,

    /// Write the indices in the row as well, as u32
    #[arg(long, value_name = "FILE")]
    pub indices: Option<Destination>,

    /// Move the values in FILE along with the elements: an .npy file of the input's shape, or with one dimension more for
    /// values of several elements; or raw, 1, 2, 4 or 8 bytes for each element
    #[arg(long, value_name = "FILE")]
    pub values: Option<Source>,

    /// Write the values here, in the format and type of --values; - is standard output
    #[arg(long, value_name = "FILE")]
    pub values_output: Option<Destination>,
}

// The device's memory limits the count; it is checked once the device is open.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

impl Run for TopKArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "topk")?;
        let source = &self.files.input;
        if self.values.is_some() != self.values_output.is_some() {
            bail!(usage!("--values and --values-output go together; give both or neither"));
        }
        let job = self.files.job().input("--values", &self.values);
        let job = job.row_numbers("--segments", &self.segments).row_numbers("--ks", &self.ks);
        let job = job.output("--indices", &self.indices).output("--values-output", &self.values_output);
        let job = job.checked()?;
        device::check_inputs(common, &job)?;
        let table = self.files.read(&TAKEN)?;
        let rows = UnequalRows::read(source, &table, self.segments.as_ref(), self.ks.as_ref())?;
        let config = self.config(source, &table, &rows)?;
        let mut values =
            self.values.as_ref().map(|source| files::read_values_of(source, table.shape)).transpose()?;
        let value_size = values.as_ref().map_or(0, |values| value_size(values, table.shape));
        let config = match (&self.values, &mut values) {
            (Some(source), Some(values)) => {
                let words = value_words(source, values, value_size)?;
                values.payload = padded(std::mem::take(&mut values.payload), value_size);
                config.values(words)
            }
            _ => config,
        };
        let outputs = job.prepare()?;

        let gpu = device::open(common)?;
        let mut top = TopKBytes::default();
        device::run_whole(&gpu, format_args!("selecting from {source}"), || {
            let values = values.as_ref().map_or(&[][..], |values| &values.payload);
            gpu.prepare_top_k_rows(config, &table.payload, values, rows.given(), &mut top)
        })?;
        let columns = config.k() as usize;
        let shape = match (rows.are_equal(), table.shape.is_flat()) {
            (false, _) => TableShape::Flat { count: top.keys.len() / table.element.size() },
            (true, true) => TableShape::Flat { count: columns },
            (true, false) => TableShape::Grid { rows: table.shape.rows(), columns },
        };
        let TopKBytes { keys, indices, values: payload } = top;
        let indices = self.indices.is_some().then(|| Table::of_u32(table.format, shape, &indices));
        let keys = Table { shape, payload: keys, ..table };
        let values = values.map(|values| {
            let is_one = values.shape == table.shape;
            let shape = if is_one { shape } else { shape.of_values(values.shape.columns()) };
            Table { shape, payload: trimmed(payload, value_size), ..values }
        });
        Ok(outputs.commit([Some(keys), indices, values].into_iter().flatten())?)
    }
}

impl TopKArgs {
    /// The configuration for a table; an array is one row.
    fn config(&self, source: &Source, table: &Table, rows: &UnequalRows) -> Result<TopKConfig, CommandError> {
        let columns = match (&rows.segments, table.shape.is_flat()) {
            (Some(_), _) => rows.longest(table.shape.rows()),
            (None, true) => table.shape.rows(),
            (None, false) => table.shape.columns(),
        };
        let max = TopKConfig::MAX_COLUMNS;
        let columns = u32::try_from(columns).ok().filter(|&columns| columns <= max).ok_or_else(|| {
            usage!("{source}: has rows of {columns} elements, and up to {max} are taken; split it")
        })?;
        let all_k = rows.ks.as_ref().map(|ks| ks.iter().copied().max().unwrap_or(0));
        // Of unequal rows some may be shorter than k, or none is selected of.
        let k = match (self.k, all_k) {
            (Some(k), _) if rows.segments.is_some() => k.min(columns.max(1)),
            (Some(k), _) => k,
            (None, all_k) => all_k.unwrap_or(0).max(1),
        };
        let columns = match &rows.segments {
            // With what precedes the first one, rows of so many elements hold all.
            Some(segments) => {
                columns.max(k).max(table.shape.rows().div_ceil(segments.len().max(1)) as u32).max(1)
            }
            None => columns,
        };
        if k == 0 || k > columns {
            return Err(match columns {
                0 => usage!("{source}: has rows of no elements; -k takes 1 to as many as a row has"),
                _ => usage!("-k {k}: a row of {source} has {columns}; give 1 to {columns}"),
            });
        }
        let config = match self.smallest {
            true => TopKConfig::smallest(table.element, columns, k),
            false => TopKConfig::largest(table.element, columns, k),
        }
        .order(self.order);
        let config = if self.unsorted { config.unsorted() } else { config };
        let config = if rows.segments.is_some() { config.segments() } else { config };
        let config = if rows.ks.is_some() { config.own_k() } else { config };
        Ok(if self.indices.is_some() { config } else { config.without_indices() })
    }
}

/// Rows with lengths or a k of their own.
#[derive(Debug, Default)]
struct UnequalRows {
    segments: Option<Vec<u32>>,
    ks: Option<Vec<u32>>,
}

impl UnequalRows {
    fn read(source: &Source, table: &Table, segments: Option<&Source>, ks: Option<&Source>) -> Result<Self> {
        if segments.is_some() && !table.shape.is_flat() {
            bail!(usage!("{source}: has rows, and --segments divide one dimension; leave it out"));
        }
        let count = table.shape.rows();
        let segments =
            segments.map(|segments| segments::read(segments, "select", count, "elements")).transpose()?;
        let row_count = match &segments {
            Some(segments) => segments.len(),
            None if table.shape.is_flat() => 1,
            None => count,
        };
        let of = |ks: &Source| -> Result<Vec<u32>> {
            let refuse = |k, index| usage!("{ks}: has a k of {k} at index {index}; it is 0 to 4294967295");
            let read = files::read_row_numbers(ks, "give -k for all rows", refuse)?;
            if read.len() != row_count {
                let count = read.len();
                bail!(usage!("{ks}: has {count} numbers, and {source} {row_count} rows; give a k for each"));
            }
            Ok(read)
        };
        let all_k = ks.map(of).transpose()?;
        let columns = if table.shape.is_flat() { count } else { table.shape.columns() };
        // A segment may have fewer elements than its k, and other rows may not.
        if let (Some(ks), Some(all_k), None) = (ks, &all_k, &segments)
            && let Some(k) = all_k.iter().find(|&&k| k as usize > columns)
        {
            bail!(usage!("{ks}: has a k of {k}, and a row of {source} has {columns}; give 0 to {columns}"));
        }
        // A plan takes no rows without elements, and segments without any.
        let segments =
            if all_k.is_some() && columns == 0 { segments.or(Some(vec![0; row_count])) } else { segments };
        Ok(Self { ks: all_k, segments })
    }

    fn are_equal(&self) -> bool {
        self.segments.is_none() && self.ks.is_none()
    }

    /// Elements of the longest segment of `count` elements.
    fn longest(&self, count: usize) -> usize {
        let begins = self.segments.as_deref().unwrap_or(&[]).iter().map(|&begin| begin as usize);
        let ends = begins.clone().skip(1).chain([count]);
        begins.zip(ends).map(|(begin, end)| end - begin).max().unwrap_or(0)
    }

    fn given(&self) -> TopKRows<'_> {
        TopKRows { segments: self.segments.as_deref().unwrap_or(&[]), ks: self.ks.as_deref().unwrap_or(&[]) }
    }
}

/// Bytes of a value of a table whose shape begins with the shape of the keys.
fn value_size(values: &Table, keys: TableShape) -> usize {
    let width = if values.shape == keys { 1 } else { values.shape.columns() };
    width.saturating_mul(values.element.size())
}

/// Words of a value of `size` bytes, if the kernels can move as many.
fn value_words(source: &Source, values: &Table, size: usize) -> Result<u32, CommandError> {
    let (element, width) = (values.element, size / values.element.size());
    let max_size = TopKConfig::MAX_VALUE_WORDS as usize * 4;
    match size <= max_size {
        true => Ok(size.div_ceil(4) as u32),
        false => Err(usage!(
            "{source}: has values of {width} {element}, and values of up to {max_size} bytes are moved; \
             write --indices, and take the values by numpy.take_along_axis"
        )),
    }
}

/// What `devices` and `inspect` show of top-k; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = TopKPolicy::choose(capabilities, &TopKConfig::largest(ElementType::F32, 1 << 16, 32));
        vec![ShownPolicy::new("top_k", "top-k policy", choice)]
    },
    plans: |common, _| {
        let configs = [
            TopKConfig::largest(ElementType::F32, 1 << 16, 32),
            TopKConfig::largest(ElementType::F32, 1 << 16, 32).values(1),
            TopKConfig::largest(ElementType::F32, 40, 8),
            TopKConfig::largest(ElementType::F32, 1 << 16, 2048),
            TopKConfig::largest(ElementType::U64, 1 << 16, 2048).unsorted(),
        ];
        plain_plans(common, configs)
    },
};
