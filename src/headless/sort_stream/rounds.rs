//! Rounds of merges: of up to 64 runs each into a longer run, and of the last ones into the sinks.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use super::Sinks;
use super::device_merge::DeviceMerge;
use super::merge::{BLOCK_COPIES, MergeError, Nothing, Sink, merge};
use super::order::{KeyBits, KeyOrder};
use super::progress::{Meter, SortPhase};
use super::runs::Run;
use crate::error::Error;
use crate::headless::scan_stream::StreamError;

/// Runs that are merged at a time.
pub(super) const FAN_IN: usize = 64;
/// Keys of a block of a merge: the most, and those below which fewer threads take part.
const MAX_BLOCK: u64 = 1 << 20;
const MIN_BLOCK: u64 = 1 << 16;
/// Indices that are made narrow at a time.
const NARROWED_COUNT: usize = 1 << 14;

/// Merges of runs.
pub(super) struct Merging<'g> {
    /// Where the device merges.
    pub on_device: Option<DeviceMerge<'g>>,
    pub order: KeyOrder,
    /// Bytes of a key and of a value in runs.
    pub sizes: [u64; 2],
    /// Memory of blocks, bytes.
    pub memory_size: u64,
    /// Whether indices of u64 become u32.
    pub is_narrowed: bool,
}

impl Merging<'_> {
    pub(super) fn run<'a, K: KeyBits>(
        &self,
        mut runs: Vec<Run<'_>>,
        [sorted_keys, sorted_values]: Sinks<'a>,
        temporary: &mut (dyn FnMut() -> io::Result<File> + Send),
        meter: &mut Meter<'_>,
    ) -> Result<(), StreamError> {
        let size = runs.iter().map(Run::count).sum::<u64>() * (self.sizes[0] + self.sizes[1]);
        let round_count = round_count(runs.len());
        let mut rounds = (1..).map(|round| SortPhase::Merging { round, round_count });
        let mut begin = |meter: &mut Meter<'_>| meter.begin(rounds.next().expect("rounds do not end"), size);
        while runs.len() > FAN_IN {
            begin(meter);
            // The file of these runs is freed once they are merged.
            let file = Arc::new(temporary().map_err(of_temporary)?);
            let mut merged = Vec::<Run<'_>>::new();
            for group in runs.chunks(FAN_IN) {
                let count = group.iter().map(Run::count).sum();
                let start = merged.last().map_or(0, Run::end);
                let run = Run::new(&file, start, count, self.sizes, group[0].distance());
                let mut sink = RunSink { run, order: &self.order, meter };
                self.merge::<K>(group, &mut sink).map_err(|error| of_merge(error, of_temporary))?;
                merged.push(sink.run);
            }
            runs = merged;
        }
        begin(meter);
        let is_narrowed = self.is_narrowed;
        let mut sink = FinalSink { sorted_keys, sorted_values, is_narrowed, meter };
        self.merge::<K>(&runs, &mut sink).map_err(|error| of_merge(error, StreamError::Write))
    }

    /// Merges any number of runs.
    pub(super) fn merge<K: KeyBits>(
        &self,
        runs: &[Run<'_>],
        sink: &mut impl Sink<K>,
    ) -> Result<(), MergeError> {
        if let Some(device) = self.on_device.as_ref().filter(|_| runs.len() > 1) {
            match device.allocate(runs) {
                Ok(memory) => return device.merge(memory, runs, &self.order, sink),
                // Other programs have taken it since.
                Err(Error::OutOfDeviceMemory { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let (max_count, threads) = self.blocks(thread::available_parallelism().map_or(1, usize::from));
        match self.sizes[1] {
            0 => merge::<K, Nothing>(runs, &self.order, max_count, threads, sink),
            4 => merge::<K, u32>(runs, &self.order, max_count, threads, sink),
            _ => merge::<K, u64>(runs, &self.order, max_count, threads, sink),
        }
    }

    /// Most keys of a block, and number of threads: of fewer threads than cores where the blocks would be small.
    fn blocks(&self, core_count: usize) -> (u64, usize) {
        let keys = self.memory_size / (BLOCK_COPIES * (self.sizes[0] + self.sizes[1]));
        let threads = (keys / MIN_BLOCK).clamp(1, core_count as u64);
        ((keys / threads).min(MAX_BLOCK), threads as usize)
    }
}

/// The error of a merge, whose sink has errors of its own.
fn of_merge(error: MergeError, of_sink: fn(io::Error) -> StreamError) -> StreamError {
    match error {
        MergeError::Read(error) => of_temporary(error),
        MergeError::Write(error) => of_sink(error),
        MergeError::Failed(error) => StreamError::Device(error),
    }
}

/// The error of a run that cannot be written or read.
pub(super) fn of_temporary(error: io::Error) -> StreamError {
    match error.kind() {
        io::ErrorKind::OutOfMemory => {
            StreamError::Device(Error::OutOfHostMemory { needed: None, what: "a run of keys" })
        }
        _ => StreamError::Temporary(error),
    }
}

/// Rounds that merge `run_count` runs into one.
fn round_count(mut run_count: usize) -> u32 {
    let mut rounds = 1;
    while run_count > FAN_IN {
        run_count = run_count.div_ceil(FAN_IN);
        rounds += 1;
    }
    rounds
}

/// Writes a merged run.
struct RunSink<'a, 'm> {
    run: Run<'static>,
    order: &'a KeyOrder,
    meter: &'a mut Meter<'m>,
}

impl<K: KeyBits> Sink<K> for RunSink<'_, '_> {
    fn keys(&mut self, first: u64, keys: &[K]) -> io::Result<()> {
        self.run.write_keys(first, keys, self.order)?;
        self.meter.add(size_of_val(keys) as u64);
        Ok(())
    }

    fn values(&mut self, first: u64, values: &[u8]) -> io::Result<()> {
        self.run.write_values(first, values)?;
        self.meter.add(values.len() as u64);
        Ok(())
    }
}

/// Writes the result.
struct FinalSink<'a, 's, 'm> {
    sorted_keys: Option<&'s mut (dyn Write + Send)>,
    sorted_values: Option<&'s mut (dyn Write + Send)>,
    is_narrowed: bool,
    meter: &'a mut Meter<'m>,
}

impl<K: KeyBits> Sink<K> for FinalSink<'_, '_, '_> {
    fn keys(&mut self, _: u64, keys: &[K]) -> io::Result<()> {
        write_to(&mut self.sorted_keys, bytemuck::cast_slice(keys))?;
        self.meter.add(size_of_val(keys) as u64);
        Ok(())
    }

    fn values(&mut self, _: u64, values: &[u8]) -> io::Result<()> {
        if self.is_narrowed {
            let wide: &[u64] = bytemuck::cast_slice(values);
            for block in wide.chunks(NARROWED_COUNT) {
                let narrow: Vec<u32> = block.iter().map(|&index| index as u32).collect();
                write_to(&mut self.sorted_values, bytemuck::cast_slice(&narrow))?;
            }
        } else {
            write_to(&mut self.sorted_values, values)?;
        }
        self.meter.add(values.len() as u64);
        Ok(())
    }
}

pub(super) fn write_to(sink: &mut Option<&mut (dyn Write + Send)>, bytes: &[u8]) -> io::Result<()> {
    match sink {
        Some(sink) => sink.write_all(bytes),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
