//! `subsweep-mpi scan`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use anyhow::{Result, bail};
use clap::Args;
use subsweep::ElementType;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{Cluster, ClusterError, ScanSlice, share};
use subsweep_tool::table::{self, Format, TableReader, TableShape, Taken, UNPACKED, header};

use super::sort::IN_SLICES;
use super::{
    Agreed, FileWindow, SharedOutput, check_same, identity, memory_of_rank, of_device, open_device,
    prepare_outputs,
};
use crate::args::Common;
use crate::command::Run;
use crate::error::{of_stream, usage};
use crate::files::input::InputError;
use crate::files::{self, Source, TemporaryFolder};
use crate::policy;
use crate::scan::{self, ScanArgs, TAKEN};
use crate::segments;

/// Scan a file over all ranks: prefix sums, or another operation
///
/// Each rank reads a slice of the file, reduces it, takes the carry of the ranks before, and writes the same slice of the result.
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
        let source = &args.files.input;
        let open = || -> Result<_> {
            scan::check(args, common)?;
            if args.axis == 1 {
                bail!(usage!("ranks scan down the columns of a table; leave out --axis 1"));
            }
            if args.by_key.is_some() {
                bail!(usage!("runs of keys are scanned on one device; leave out --by-key, or take subsweep"));
            }
            if args.monotone {
                bail!(usage!("ranks have no --monotone; scan the result by --op max"));
            }
            let job = args.files.job().row_numbers("--segments", &args.segments).checked()?;
            let opened = args.files.open(Some(IN_SLICES), &Taken { elements: &UNPACKED, ..TAKEN })?;
            let (config, initial) = args.config(common, &opened.table)?;
            // Of words, as the elements are.
            let initial = initial.map(|row| bytemuck::pod_collect_to_vec::<u8, u32>(&row));
            Ok((job, opened, config, initial))
        };
        let (job, opened, mut config, initial) = open().agreed(&world)?;
        let TableReader { format, element, shape, payload_size, .. } = opened.table;
        let (row_count, size) = (shape.map_or(0, TableShape::rows) as u64, payload_size.unwrap_or(0));
        let mut prepared = prepare_outputs(&world, &job)?;
        let (_, destination) = &job.outputs()[0];
        let slice = share(row_count, world.rank(), world.size());
        let mut offsets = args.segments.as_ref().map(OffsetFile::open).transpose().agreed(&world)?;
        let (file, start) = opened.into_file(source).agreed(&world)?;
        let identities = || -> Result<_> {
            let of = |source, file| identity(file).map_err(|error| InputError::from_read(source, error));
            let segments = offsets.as_ref().zip(args.segments.as_ref());
            let segments = segments.map(|(offsets, source)| of(source, offsets.file.get_ref().file()));
            Ok((of(source, &file)?, segments.transpose()?))
        };
        let options = format!(
            "{config:?} {initial:?} {shape:?} {format:?} {destination:?} {:?} {:?}",
            common.algorithm, common.policy
        );
        check_same(&world, &(identities().agreed(&world)?, options))?;
        let begins = offsets.as_mut().map(|offsets| offsets.begins_in(row_count, &slice)).transpose();
        let begins = begins.agreed(&world)?;

        let gpu = open_device(&world, common)?;
        if !common.is_plain() {
            config = config.policy(policy::of_scan(common, gpu.capabilities(), &config).policy);
        }
        let header = shape.map_or(Vec::new(), |shape| header(format, element, shape));
        let output = SharedOutput::begin(&world, destination, prepared.pop().flatten(), &header, size)?;
        let begins_size = begins.as_ref().map_or(0, |begins| 8 * begins.len() as u64);
        let scanned = ScanSlice {
            initial: initial.as_deref(),
            segments: begins.as_deref(),
            row_count: slice.end - slice.start,
            memory_size: memory_of_rank(&world, &args.memory).map(|size| size.saturating_sub(begins_size)),
            chunk_size: None,
        };
        let first = slice.start * config.row_size();
        let (from, to) = (FileWindow::new(file, start + first), output.at(header.len() as u64 + first));
        match Cluster::new(&world, &gpu).scan_stream(config, scanned, from, to) {
            Ok(_) => SharedOutput::finish(&world, vec![output]),
            Err(ClusterError::Local(error)) => {
                let of_output = |error| output.error(error);
                Err(of_stream(error, source, of_output, &TemporaryFolder::default(), &args.memory))
            }
            Err(error) => Err(of_device(error)),
        }
    }
}

/// Segment offsets in a file, of whole numbers.
struct OffsetFile {
    source: Source,
    file: io::BufReader<FileWindow<File>>,
    element: ElementType,
    count: u64,
}

impl OffsetFile {
    fn open(source: &Source) -> Result<Self> {
        let opened = files::open_table(source, Some(IN_SLICES), |file, size| {
            TableReader::with_raw(file, size, ElementType::U32, &files::ROW_NUMBERS)
        })?;
        let TableReader { element, format, shape, .. } = opened.table;
        let count = shape.map_or(0, TableShape::rows) as u64;
        if count == 0 && format == Format::Raw {
            return Err(segments::none(source).into());
        }
        let (file, start) = opened.into_file(source)?;
        let file = io::BufReader::new(FileWindow::new(file, start));
        Ok(Self { source: source.clone(), file, element, count })
    }

    /// The segments that begin in a slice of the rows, from its first row on. Reads those alone, and a few to find them.
    fn begins_in(&mut self, row_count: u64, rows: &Range<u64>) -> Result<Vec<u64>> {
        let source = self.source.clone();
        let read = |error| InputError::from_read(&source, error);
        let first = if rows.start == 0 { 0 } else { self.lower_bound(rows.start).map_err(read)? };
        // The last rank also checks what begins at the end, and beyond.
        let is_last = rows.end == row_count;
        let end = if is_last { self.count } else { self.lower_bound(rows.end).map_err(read)? };
        let mut begins = Vec::new();
        let count = end.saturating_sub(first);
        begins.try_reserve_exact(count as usize).map_err(|_| subsweep::Error::OutOfHostMemory {
            needed: Some(8 * count),
            what: "the segments of a rank",
        })?;
        let mut before = if first > 0 { Some(self.at(first - 1).map_err(read)?) } else { None };
        self.seek(first).map_err(read)?;
        for index in first..end {
            let begin = self.next().map_err(read)?;
            if let Some(before) = before.filter(|&before| before > begin) {
                return Err(segments::not_ascending(&source, index, before, begin).into());
            }
            before = Some(begin);
            let Ok(begin) = u64::try_from(begin) else {
                return Err(segments::negative(&source, begin, index, "rows").into());
            };
            if begin > row_count {
                return Err(segments::beyond(&source, begin, row_count, "rows").into());
            }
            if rows.contains(&begin) {
                begins.push(begin - rows.start);
            }
        }
        Ok(begins)
    }

    fn seek(&mut self, index: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(index * self.element.size() as u64)).map(|_| ())
    }

    fn next(&mut self) -> io::Result<i128> {
        let bytes = &mut [0; 8][..self.element.size()];
        self.file.read_exact(bytes)?;
        Ok(table::whole(bytes, self.element))
    }

    fn at(&mut self, index: u64) -> io::Result<i128> {
        self.seek(index)?;
        self.next()
    }

    /// The index of the first offset that is not below `row`.
    fn lower_bound(&mut self, row: u64) -> io::Result<u64> {
        let (mut first, mut last) = (0, self.count);
        while first < last {
            let middle = first + (last - first) / 2;
            if self.at(middle)? < row.into() {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        Ok(first)
    }
}
