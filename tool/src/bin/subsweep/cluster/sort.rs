//! `subsweep-mpi sort`.

use std::fs::File;
use std::hash::Hash;
use std::io::{self, Read, Seek, SeekFrom, Write};

use anyhow::{Result, bail};
use clap::Args;
use subsweep::ElementType;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{Cluster, ClusterError, Indices, share};
use subsweep::headless::StreamError;
use subsweep::sort::SortConfig;
use subsweep_tool::table::{self, TableReader, TableShape, Taken, UNPACKED};

use super::{
    Agreed, FileWindow, SharedOutput, check_same, identity, memory_of_rank, of_device, open_device,
    prepare_outputs,
};
use crate::args::{Common, MemoryLimit};
use crate::command::Run;
use crate::error::{CommandError, Exit, usage};
use crate::files::input::{InputError, OpenTable};
use crate::files::{self, Job, Source};
use crate::policy;
use crate::sort::{self, SortArgs};

/// Sort a file over all ranks, stable, keys alone or with values
///
/// Each rank reads a slice of the file, sorts it on its device, and gets the same slice of the result, which does not depend on
/// the number of ranks. Keys are in numeric order, floats in the order of --order. All files are regular ones that every rank
/// can open.
#[derive(Debug, Args)]
pub struct Sort {
    #[command(flatten)]
    sort: SortArgs,
}

/// Why inputs are files.
pub const IN_SLICES: &str = "each rank reads a slice of it";

/// A table of which this rank takes a slice.
struct Input {
    source: Source,
    file: File,
    /// Byte of the first element.
    start: u64,
    element: ElementType,
    header: Vec<u8>,
    count: u64,
}

impl Input {
    fn new(source: Source, opened: OpenTable) -> Result<Self> {
        let TableReader { format, element, shape, .. } = opened.table;
        // A file has a shape.
        let count = shape.map_or(0, TableShape::rows);
        let header = table::header(format, element, TableShape::Flat { count });
        let (file, start) = opened.into_file(&source)?;
        Ok(Self { source, file, start, element, header, count: count as u64 })
    }

    /// What is the same on all ranks.
    fn identity(&self) -> Result<impl Hash + use<>> {
        let file = identity(&self.file).map_err(|error| InputError::from_read(&self.source, error))?;
        Ok((file, self.count, self.element, self.header.clone()))
    }

    /// The header of a table of other elements.
    fn header_of(&self, element: ElementType) -> Vec<u8> {
        let shape = TableShape::Flat { count: self.count as usize };
        if self.header.is_empty() { Vec::new() } else { table::header(table::Format::Npy, element, shape) }
    }

    /// Reads a slice, as words.
    fn read(&mut self, slice: std::ops::Range<u64>) -> Result<Vec<u32>> {
        let size = self.element.size() as u64;
        let word_count = ((slice.end - slice.start) * size / 4) as usize;
        let mut words = files::zeroed(word_count, "this rank's slice")?;
        let mut file = FileWindow::new(&self.file, self.start);
        let read = file
            .seek(SeekFrom::Start(slice.start * size))
            .and_then(|_| file.read_exact(bytemuck::cast_slice_mut(&mut words)))
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it has become shorter"),
                _ => error,
            });
        read.map_err(|error| InputError::from_read(&self.source, error))?;
        Ok(words)
    }
}

impl Run for Sort {
    fn run(&self, common: &Common) -> Result<()> {
        let (args, world) = (&self.sort, super::world());
        let (job, mut keys, mut values_input) = self.open(common).agreed(&world)?;
        let mut prepared = prepare_outputs(&world, &job)?.into_iter();
        let element = values_input.as_ref().map(|input| input.element);
        let config = sort::config(args, keys.element, element.map(ElementType::size)).agreed(&world)?;
        let identities = || -> Result<_> {
            Ok((keys.identity()?, values_input.as_ref().map(Input::identity).transpose()?))
        };
        let options = format!("{config:?} {:?} {:?} {:?}", job.outputs(), common.algorithm, common.policy);
        check_same(&world, &(identities().agreed(&world)?, options))?;

        let slice = share(keys.count, world.rank(), world.size());
        let memory_size = memory_of_rank(&world, &args.memory);
        let check_memory = || -> Result<()> {
            let needed = needed_memory(&config, slice.end - slice.start, keys.count);
            match memory_size.filter(|&given| given < needed) {
                Some(given) => Err(too_little(&args.memory, needed, given).into()),
                None => Ok(()),
            }
        };
        check_memory().agreed(&world)?;
        let gpu = open_device(&world, common)?;
        let config = match common.is_plain() {
            true => config,
            false => config.policy(policy::of_sort(common, gpu.capabilities(), &config).policy),
        };
        let mut read = || -> Result<_> {
            let values = values_input.as_mut().map(|input| input.read(slice.clone())).transpose()?;
            Ok((keys.read(slice.clone())?, values.unwrap_or_default()))
        };
        let (mut words, mut read_values) = read().agreed(&world)?;

        let cluster = Cluster::new(&world, &gpu);
        let failed = |error| match error {
            ClusterError::Local(StreamError::Device(error)) => sort::too_many(common, error),
            error => of_device(error),
        };
        let mut indices = None;
        if args.argsort {
            indices = Some(cluster.sort_with_indices(config, &mut words).map_err(failed)?.0);
        } else {
            cluster.sort_words(config, &mut words, &mut read_values).map_err(failed)?;
        }
        let (result, element): (&[u8], _) = match &indices {
            None => (bytemuck::cast_slice(&words), keys.element),
            Some(Indices::U32(indices)) => (bytemuck::cast_slice(indices), ElementType::U32),
            Some(Indices::U64(indices)) => (bytemuck::cast_slice(indices), ElementType::U64),
        };

        let mut written = Vec::new();
        let mut tables = vec![(result, keys.header_of(element), element)];
        if let Some(input) = &values_input {
            tables.push((bytemuck::cast_slice(&read_values), input.header.clone(), input.element));
        }
        for ((_, destination), (bytes, header, element)) in job.outputs().iter().zip(tables) {
            let size = element.size() as u64;
            let output = prepared.next().flatten();
            let output = SharedOutput::begin(&world, destination, output, &header, keys.count * size)?;
            let mut at = output.at(0);
            let first = header.len() as u64 + slice.start * size;
            let write = at
                .seek(SeekFrom::Start(first))
                .and_then(|_| at.write_all(bytes))
                .map_err(|error| output.error(error));
            write.agreed(&world)?;
            written.push(output);
        }
        SharedOutput::finish(&world, written)
    }
}

impl Sort {
    /// Checks the options, and opens the inputs.
    fn open(&self, common: &Common) -> Result<(Job<'_>, Input, Option<Input>)> {
        const TAKEN: Taken = Taken { elements: &UNPACKED, max_dimensions: 1, max_count: u64::MAX };
        let args = &self.sort;
        policy::check_sort(common)?;
        if args.segments.is_some() {
            bail!(usage!("segments are sorted on one device; leave out --segments, or take subsweep"));
        }
        if args.axis == 1 {
            bail!(usage!("ranks sort one array; leave out --axis 1, or take subsweep"));
        }
        if args.by.is_some() {
            bail!(usage!("rows are sorted on one device; leave out --by, or take subsweep"));
        }
        if args.temp_dir.is_some() {
            bail!(usage!("a rank's slice is sorted in memory; leave out --temp-dir"));
        }
        args.check_values()?;
        let job = args.job().checked()?;
        let opened = args.files.open(Some(IN_SLICES), &TAKEN)?;
        sort::check_bits(args, opened.table.element)?;
        let keys = Input::new(args.files.input.clone(), opened)?;
        let open_values = |values: &Source| -> Result<_> {
            let opened = files::open_table(values, Some(IN_SLICES), |file, size| {
                let taken = Taken { elements: &UNPACKED, max_dimensions: 1, max_count: u64::MAX };
                TableReader::values(file, size.unwrap_or(0), keys.count, &taken)
            })?;
            Input::new(values.clone(), opened)
        };
        let values_input = args.values.as_ref().map(open_values).transpose()?;
        Ok((job, keys, values_input))
    }
}

/// The refusal of a limit below what a rank's slice needs.
fn too_little(memory: &MemoryLimit, needed: u64, given: u64) -> CommandError {
    let text = format!("a rank needs {needed} bytes of memory, and may use {given}; start more ranks");
    if memory.is_given() { CommandError::usage(text) } else { CommandError::with(Exit::Failed, text) }
}

/// Bytes that a rank needs for its `count` keys of `total`: those that are sorted, those that have come, the device's copies or
/// the blocks of a merge, and what does not depend on the number.
fn needed_memory(config: &SortConfig, count: u64, total: u64) -> u64 {
    const FIXED_SIZE: u64 = 40 << 20;
    let has_wide_indices = config.is_argsort() && total > 1 << 32;
    let value_size = if has_wide_indices { 8 } else { config.value_size() };
    let pair_size = config.key_size() + value_size;
    count.saturating_mul(4 * pair_size).saturating_add(FIXED_SIZE)
}
