//! `subsweep diff`: differences of adjacent rows or columns.

use anyhow::Result;
use clap::Args;
use subsweep::ElementType;
use subsweep::difference::{DifferenceConfig, DifferencePolicy};
use subsweep_tool::table::{TableReader, TableShape, Taken, header};

use crate::args::{Common, Files, MemoryLimit};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::{self, Source};
use crate::policy;

/// Subtract from each element the one before it
///
/// Equals numpy.diff(a, axis=0), also down the columns of a table, whose last axis numpy takes by default: --axis 1. Integers
/// wrap; a device may flush denormals to 0. The output has the format and type of the input, and one element, row or column
/// less.
#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub files: Files,

    /// The axis of a table along which neighbours are subtracted: 0 down the columns, 1 along the rows
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=1))]
    pub axis: u32,

    /// Begin with the first element, row or column itself, so that the output is as large as the input; a sum then gives
    /// the input back
    #[arg(long)]
    pub keep_first: bool,

    #[command(flatten)]
    pub memory: MemoryLimit,
}

const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

impl Run for DiffArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "diff")?;
        let source = &self.files.input;
        let job = self.files.job().checked()?;
        let opened = self.files.open(None, &TAKEN)?;
        let TableReader { element, format, shape, .. } = opened.table;
        files::check_numbers(source, format)?;
        // A stream of raw elements has no header, and is flat.
        let of_table = shape.unwrap_or(TableShape::Flat { count: 0 });
        let config = self.config(source, element, of_table)?;
        let (columns, row_size) = (of_table.columns(), config.row_size() as usize);
        let outputs = job.prepare()?;
        let mut chunks =
            opened.chunks(source, columns, files::ROWS_AND_RESULTS, "subtracting rows of", &self.memory)?;

        let gpu = device::open(common)?;
        let rows = config.result_count(of_table.rows() as u64) as usize;
        let shape = match of_table.is_flat() {
            true => TableShape::Flat { count: rows },
            false => TableShape::Grid { rows, columns: config.result_column_count() as usize },
        };
        // Before anything is written: the device may lack the type.
        gpu.declared(config)?;
        let [mut output] = outputs.begin()?;
        output.header = header(format, element, shape);
        // Later chunks begin with the last row of the one before, whose difference has been written.
        let (next, kept_size) = match self.axis {
            0 => (DifferenceConfig::new(element).columns(columns as u32), row_size),
            _ => (config, 0),
        };
        let mut config = config;
        while let Some(rows) = chunks.next(kept_size)? {
            let size = config.result_size((rows.len() / row_size) as u64);
            let mut results = files::zeroed(size as usize, "the result")?;
            device::run(&gpu, gpu.prepare_difference(config, rows, &mut results)?)?;
            output.write_bytes(&results)?;
            config = next;
        }
        Ok(output.finish()?)
    }
}

impl DiffArgs {
    /// The configuration for a table.
    fn config(
        &self,
        source: &Source,
        element: ElementType,
        shape: TableShape,
    ) -> Result<DifferenceConfig, CommandError> {
        let (columns, max) = (shape.columns(), DifferenceConfig::MAX_COLUMNS);
        if columns > max as usize {
            return Err(usage!(
                "{source}: has {columns} columns, and up to {max} are subtracted; save parts of them"
            ));
        }
        let config = DifferenceConfig::new(element).columns(columns as u32);
        let config = if self.keep_first { config.keeps_first() } else { config };
        match (self.axis, shape.is_flat(), columns) {
            (0, ..) => Ok(config),
            (_, true, _) => Err(usage!("{source}: has one axis; leave out --axis 1")),
            (_, false, 1) if !self.keep_first => {
                Err(usage!("{source}: has one column, and --axis 1 leaves none; leave it out"))
            }
            _ => Ok(config.along_rows()),
        }
    }
}

/// What `devices` and `inspect` show of differences; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = DifferencePolicy::choose(capabilities, &DifferenceConfig::new(ElementType::U32));
        vec![ShownPolicy::new("difference", "difference policy", choice)]
    },
    plans: |common, _| {
        plain_plans(
            common,
            [DifferenceConfig::new(ElementType::F32), DifferenceConfig::new(ElementType::I64)],
        )
    },
};
