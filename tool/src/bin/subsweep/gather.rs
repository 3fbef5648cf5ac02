//! `subsweep gather`: rows of a table by their indices.

use anyhow::Result;
use clap::Args;
use subsweep::ElementType;
use subsweep::gather::{GatherConfig, GatherPolicy};
use subsweep_tool::table::{Table, Taken};

use crate::args::{Common, Files};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::{self, Source};
use crate::policy;

/// Gather rows by their indices
///
/// Equals a[indices] in numpy, for an array or a table of rows: row i of the output is row indices[i] of the input. A
/// row may occur more than once, or not at all. The output has the format, type and columns of the input, and a row for
/// each index.
#[derive(Debug, Args)]
pub struct GatherArgs {
    #[command(flatten)]
    pub files: Files,

    /// The indices of the rows, from 0: an .npy file of u32, i32, u64 or i64, or raw u32; - is standard input
    #[arg(long, value_name = "FILE")]
    pub indices: Source,
}

// The device's memory limits the count; it is checked once the device is open.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

impl Run for GatherArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "gather")?;
        let job = self.files.job().row_numbers("--indices", &self.indices).checked()?;
        device::check_inputs(common, &job)?;
        let mut table = self.files.read(&TAKEN)?;
        let config = config(&self.files.input, &table)?;
        let instead = "give it indices, or an .npy file that has none";
        let rows = table.shape.rows();
        let refuse = |index, position| out_of_range(&self.indices, index, position, rows);
        let indices = files::read_row_numbers(&self.indices, instead, refuse)?;
        check_indices(&self.indices, &indices, rows)?;
        let outputs = job.prepare()?;
        // Rows of several elements are moved as words.
        let is_moved = table.shape.columns() > 1;
        if is_moved {
            table.pad();
        }

        let gpu = device::open(common)?;
        let mut payload = files::zeroed(indices.len() * config.element_size() as usize, "the result")?;
        device::run_whole(&gpu, format_args!("gathering {} rows", indices.len()), || {
            gpu.prepare_gather(config, &table.payload, &indices, &mut payload)
        })?;
        let shape = table.shape.with_rows(indices.len());
        let gathered = Table { shape, payload, ..table };
        Ok(outputs.commit([if is_moved { gathered.trimmed() } else { gathered }])?)
    }
}

/// The configuration for rows of a table, if the kernels can gather rows of their size.
fn config(source: &Source, table: &Table) -> Result<GatherConfig, CommandError> {
    match table.shape.columns() {
        1 => Ok(GatherConfig::numbers(table.element)),
        columns => {
            let max = GatherConfig::MAX_WORDS;
            files::row_words(source, table.element, columns, max, "gathered").map(GatherConfig::elements)
        }
    }
}

/// Refuses an index out of range.
fn check_indices(source: &Source, indices: &[u32], rows: usize) -> Result<(), CommandError> {
    // The device treats 2^32 - 1 as no index, however many rows there are.
    let reach = u32::try_from(rows).unwrap_or(u32::MAX);
    match indices.iter().position(|&index| index >= reach) {
        Some(position) => Err(out_of_range(source, indices[position].into(), position, rows)),
        None => Ok(()),
    }
}

fn out_of_range(source: &Source, index: i128, position: usize, rows: usize) -> CommandError {
    usage!(
        "{source}: index {index} at position {position} is out of range: the table has {rows} rows; leave it out"
    )
}

/// What `devices` and `inspect` show of gathers; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = GatherPolicy::choose(capabilities, &GatherConfig::elements(1));
        vec![ShownPolicy::new("gather", "gather policy", choice)]
    },
    plans: |common, _| plain_plans(common, [1, 4].map(GatherConfig::elements)),
};
