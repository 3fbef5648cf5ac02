//! `subsweep topk`: the largest or smallest elements of each row.

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;
use subsweep::ElementType;
use subsweep::headless::TopKWords;
use subsweep::table::{Table, TableShape, Taken};
use subsweep::top_k::{TopKConfig, TopKPolicy};

use crate::args::{Common, Files};
use crate::command::{Run, Shown, ShownPolicy};
use crate::device;
use crate::error::Ended;
use crate::files::{self, Destination, Output, Source};
use crate::words::Progress;

/// Select the k largest or smallest elements of an array, or of each row of a table
///
/// With --smallest these are np.take_along_axis(a, i, axis=-1) for i = np.argsort(a, axis=-1, kind='stable')[..., :k];
/// otherwise of the descending order, the largest first. Of equal elements that of the lowest index comes first; -0
/// equals 0, and nan is greater than all others. The output has k elements for each row.
#[derive(Debug, Args)]
pub struct TopKArgs {
    #[command(flatten)]
    pub files: Files,

    /// The number of elements to select of each row
    #[arg(short, value_name = "N", allow_hyphen_values = true)]
    pub k: u32,

    /// Select the smallest, the smallest first
    #[arg(long)]
    pub smallest: bool,

    /// Keep the order of the row, which is faster
    #[arg(long)]
    pub unsorted: bool,

    /// Write the indices in the row as well, as u32
    #[arg(long, value_name = "FILE")]
    pub indices: Option<OsString>,
}

// The device's memory limits the count; it is checked once the device is open.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

impl Run for TopKArgs {
    fn run(&self, common: &Common) -> Result<()> {
        check(common)?;
        let source = self.files.source();
        let destination = self.files.destination();
        let indices_destination = self.indices.clone().map(Destination::from);
        if let Some(indices) = &indices_destination {
            if destination == Destination::Stdout && *indices == Destination::Stdout {
                let what = "standard output takes one table; name a file with -o or --indices";
                return Err(Ended::usage(what).into());
            }
            if destination.is_same_file_as(indices) {
                let what = "-o and --indices name the same file; give each its own";
                return Err(Ended::usage(what).into());
            }
        }
        let table = files::read(&source, self.files.element, &TAKEN)?;
        let config = self.config(&source, &table)?;
        let output = Output::prepare(&destination, "-o", &[&source])?;
        let indices_output = indices_destination
            .map(|destination| Output::prepare(&destination, "--indices", &[&source]))
            .transpose()?;

        let gpu = device::open(common)?;
        let mut top = TopKWords::default();
        {
            let _spinner = Progress::of_one(format_args!("selecting from {source}"));
            let prepared = gpu.prepare_top_k(config, &table.words, &mut top)?;
            device::check_memory(&gpu, prepared.device_size(), "the table, the result and their scratch")?;
            prepared.run()?;
        }
        let columns = config.k() as usize;
        let shape = match table.shape {
            TableShape::Flat { .. } => TableShape::Flat { count: columns },
            TableShape::Grid { rows, .. } => TableShape::Grid { rows, columns },
        };
        let mut outputs = vec![(output, Table { shape, words: top.keys, ..table })];
        if let Some(output) = indices_output {
            let indices =
                Table { shape, element: ElementType::U32, words: top.indices, format: table.format };
            outputs.push((output, indices));
        }
        files::commit_all(outputs)?;
        Ok(())
    }
}

impl TopKArgs {
    /// The configuration for a table; an array is one row.
    fn config(&self, source: &Source, table: &Table) -> Result<TopKConfig, Ended> {
        let columns = match table.shape {
            TableShape::Flat { count } => count,
            TableShape::Grid { columns, .. } => columns,
        };
        let max = TopKConfig::MAX_COLUMNS;
        let columns = u32::try_from(columns).ok().filter(|&columns| columns <= max).ok_or_else(|| {
            Ended::usage(format!(
                "{source}: has rows of {columns} elements, and up to {max} are taken; split it"
            ))
        })?;
        let k = self.k;
        if k == 0 || k > columns {
            return Err(match columns {
                0 => Ended::usage(format!("{source}: is empty, and -k {k} selects of a row")),
                _ => Ended::usage(format!("-k {k}: a row of {source} has {columns}; give 1 to {columns}")),
            });
        }
        let config = match self.smallest {
            true => TopKConfig::smallest(table.element, columns, k),
            false => TopKConfig::largest(table.element, columns, k),
        };
        let config = if self.unsorted { config.unsorted() } else { config };
        Ok(if self.indices.is_some() { config } else { config.without_indices() })
    }
}

/// Refuses options without meaning for a top-k.
fn check(common: &Common) -> Result<(), Ended> {
    device::check_one(&common.device, "topk")?;
    if let Some(algorithm) = common.algorithm {
        let name = algorithm.name();
        return Err(Ended::usage(format!("topk has no algorithms to choose from; leave out {name}")));
    }
    if common.seed().is_some() {
        return Err(Ended::usage("the seed has no topk; leave out --policy"));
    }
    Ok(())
}

/// What `devices` and `inspect` show of top-k; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = TopKPolicy::choose(capabilities, &TopKConfig::largest(ElementType::F32, 1 << 16, 32));
        vec![ShownPolicy::new("top_k", "top-k policy", choice)]
    },
    plans: |common, _| match common.is_plain() {
        true => [
            TopKConfig::largest(ElementType::F32, 1 << 16, 32),
            TopKConfig::largest(ElementType::F32, 40, 8),
            TopKConfig::largest(ElementType::F32, 1 << 16, 2048),
            TopKConfig::largest(ElementType::U64, 1 << 16, 2048).unsorted(),
        ]
        .map(Into::into)
        .into(),
        false => Vec::new(),
    },
};
