//! `subsweep gather`: rows of a table by their indices.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::gather::GatherConfig;
use subsweep::table::{Shape, Table, Taken};

use crate::args::{Common, GatherArgs, PolicyKind};
use crate::device;
use crate::error::Ended;
use crate::files::{self, Output, Source};
use crate::words::Spinner;

// The device's memory limits the count; it is checked once the device is open.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

/// Gathers a file's rows.
pub fn run(args: &GatherArgs, common: &Common) -> Result<()> {
    check(common)?;
    let source = args.files.source();
    let indices_source = Source::from(args.indices.clone());
    if source == Source::Stdin && indices_source == Source::Stdin {
        return Err(Ended::usage("standard input is one table; name a file for --indices").into());
    }
    let destination = args.files.destination();
    let table = {
        let _spinner = Spinner::new(format_args!("reading {source}"));
        files::read(&source, args.files.element, &TAKEN)?
    };
    let words = row_words(&source, &table)?;
    let indices = {
        let _spinner = Spinner::new(format_args!("reading {indices_source}"));
        files::read_row_numbers(&indices_source, "give it indices, or an .npy file that has none")?
    };
    check_indices(&indices_source, &indices, table.shape.rows())?;
    let output = Output::prepare(&destination, "-o", &[&source, &indices_source])?;

    let gpu = device::open(common)?;
    let gathered = {
        let _spinner = Spinner::new(format_args!("gathering {} rows", indices.len()));
        let config = GatherConfig::elements(words);
        let result_size = (indices.len() as u64).saturating_mul(config.element_size());
        let size = size_of_val(&*table.words) as u64 + size_of_val(&*indices) as u64;
        // The result is in device memory, and again in the buffer for the readback.
        let size = size.saturating_add(result_size.saturating_mul(2));
        device::check_memory(&gpu, size, "the table, its indices and the result")?;
        gpu.gather_words(config, &table.words, &indices)?
    };
    let shape = match table.shape {
        Shape::Flat { .. } => Shape::Flat { count: indices.len() },
        Shape::Grid { columns, .. } => Shape::Grid { rows: indices.len(), columns },
    };
    Ok(output.commit(&Table { shape, words: gathered, ..table })?)
}

/// Refuses options without meaning for a gather.
fn check(common: &Common) -> Result<(), Ended> {
    device::check_one(&common.device, "gather")?;
    if let Some(algorithm) = common.algorithm {
        let name = algorithm.name();
        return Err(Ended::usage(format!("gather has no algorithms to choose from; leave out {name}")));
    }
    if matches!(common.policy, Some(PolicyKind::Seed | PolicyKind::SeedBinByBin)) {
        return Err(Ended::usage("the seed has no gather; leave out --policy"));
    }
    Ok(())
}

/// Words of a row, if the kernel can gather rows of that size.
fn row_words(source: &Source, table: &Table) -> Result<u32, Ended> {
    let words = table.shape.columns().checked_mul(table.element.words() as usize);
    let words = words.and_then(|words| u32::try_from(words).ok());
    words.filter(|words| *words <= GatherConfig::MAX_WORDS).ok_or_else(|| {
        let (columns, max) = (table.shape.columns(), GatherConfig::MAX_WORDS / table.element.words());
        Ended::usage(format!(
            "{source}: has {columns} columns, and up to {max} of {} are gathered; save a[:, :{max}] and the rest apart",
            table.element
        ))
    })
}

/// Refuses an index out of range.
fn check_indices(source: &Source, indices: &[u32], rows: usize) -> Result<(), Ended> {
    // The device treats 2^32 - 1 as no index, however many rows there are.
    let reach = u32::try_from(rows).unwrap_or(u32::MAX);
    match indices.iter().position(|&index| index >= reach) {
        Some(position) => Err(Ended::usage(format!(
            "{source}: index {} at position {position} is out of range: the table has {rows} rows; leave it out",
            indices[position]
        ))),
        None => Ok(()),
    }
}
