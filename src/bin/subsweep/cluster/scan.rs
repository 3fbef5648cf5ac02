//! `subsweep-mpi scan`.

use std::io;
use std::ops::Range;

use anyhow::Result;
use clap::Args;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{Cluster, ClusterError, PartOfScan, share};
use subsweep::headless::StreamError;
use subsweep::table::{TableReader, TableShape, header};

use super::sort::IN_PARTS;
use super::{
    Agreed, Part, SharedOutput, check_same, memory_of_rank, of_cluster, open_device, prepare_outputs,
};
use crate::args::Common;
use crate::command::Run;
use crate::error::Ended;
use crate::files::input::InputError;
use crate::files::{self, Source};
use crate::policy;
use crate::scan::{self, ScanArgs, TAKEN};
use crate::segments::Offsets;

/// Scan a file over all ranks: prefix sums, or another operation
///
/// Each rank reads a part of the file, reduces it, takes the carry of the ranks before, and writes the same part of the result.
/// Sums and products of floats depend on the number of ranks; all else does not. All files are regular ones that every rank can
/// open.
#[derive(Debug, Args)]
pub struct Scan {
    #[command(flatten)]
    scan: ScanArgs,
}

impl Run for Scan {
    fn run(&self, common: &Common) -> Result<()> {
        let (args, world) = (&self.scan, super::world());
        let (source, destination) = (args.files.source(), args.files.destination());
        let segments = args.segments.clone().map(Source::from);
        let open = || -> Result<_> {
            policy::check_scan(common)?;
            scan::check(args, common)?;
            let opened = files::open_table(&source, Some(IN_PARTS), |file, size| {
                TableReader::new(file, size, args.files.element, &TAKEN)
            })?;
            let (columns, initial) = args.check_table(common, &source, &opened.table)?;
            let config = args.config(common, opened.table.element, columns)?;
            Ok((opened, config, initial))
        };
        let (opened, mut config, initial) = open().agreed(&world)?;
        let TableReader { format, element, shape, payload_size, .. } = opened.table;
        let (row_count, size) = (shape.map_or(0, TableShape::rows) as u64, payload_size.unwrap_or(0));
        let inputs: Vec<_> = std::iter::once(&source).chain(&segments).collect();
        let mut prepared = prepare_outputs(&world, &[(&destination, "-o")], &inputs)?;
        check_same(
            &world,
            &(row_count, format!("{config:?} {initial:?} {:?} {:?}", common.algorithm, common.policy)),
        )?;
        let part = share(row_count, world.rank(), world.size());
        let begins = segments.as_ref().map(|source| begins_in(source, row_count, &part)).transpose();
        let begins = begins.agreed(&world)?;

        let gpu = open_device(&world, common)?;
        if !common.is_plain() {
            config = config.policy(policy::of_scan(common, gpu.capabilities(), &config).policy);
        }
        let header = shape.map_or(Vec::new(), |shape| header(format, element, shape));
        let output = SharedOutput::begin(&world, &destination, prepared.pop().flatten(), &header, size)?;
        let begins_size = begins.as_ref().map_or(0, |begins| 8 * begins.len() as u64);
        let scanned = PartOfScan {
            initial: initial.as_deref(),
            segments: begins.as_deref(),
            row_count: part.end - part.start,
            memory_size: memory_of_rank(&world, &args.memory).map(|size| size.saturating_sub(begins_size)),
        };
        let first = part.start * config.row_size();
        let (file, start) = opened.into_file();
        let (from, to) = (Part::new(file, start + first), output.at(header.len() as u64 + first));
        match Cluster::new(&world, &gpu).scan_stream(config, scanned, from, to) {
            Ok(_) => SharedOutput::finish(&world, vec![output]),
            Err(error) => Err(of_cluster(error, &source, Some(&output), &args.memory)),
        }
    }
}

/// The segments that begin in the rows of a part, from its first row on.
fn begins_in(source: &Source, row_count: u64, part: &Range<u64>) -> Result<Vec<u64>> {
    let mut begins = Vec::new();
    // Those of other ranks are checked as well.
    for begin in Offsets::open(source, false, Some(row_count))? {
        let begin = begin.map_err(|error| InputError::of(source, error))?;
        if part.contains(&begin) {
            begins.push(begin - part.start);
        }
    }
    Ok(begins)
}
