//! Rounds of merges: of up to 64 runs each into a longer run, and of the last ones into the sinks.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use bytemuck::Pod;

use super::merge::{BLOCK_COPIES, MergeError, Sink, merge};
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
pub(super) struct Merging {
    pub order: KeyOrder,
    /// Bytes of a key and of a value in runs.
    pub sizes: [u64; 2],
    /// Memory of blocks, bytes.
    pub memory_size: u64,
    /// Whether indices of u64 become u32.
    pub is_narrowed: bool,
}

impl Merging {
    pub(super) fn run<'a, K: KeyBits, V: Pod + Send + Sync>(
        &self,
        mut runs: Vec<Run>,
        sorted_keys: Option<&'a mut (dyn Write + Send)>,
        sorted_values: Option<&'a mut (dyn Write + Send)>,
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
            let mut merged = Vec::<Run>::new();
            for group in runs.chunks(FAN_IN) {
                let count = group.iter().map(Run::count).sum();
                let start = merged.last().map_or(0, Run::end);
                let run = Run::new(&file, start, count, self.sizes, group[0].distance());
                let mut sink = RunSink { run, order: &self.order, meter };
                self.merge::<K, V>(group, &mut sink, of_temporary)?;
                merged.push(sink.run);
            }
            runs = merged;
        }
        begin(meter);
        let is_narrowed = self.is_narrowed;
        let mut sink = FinalSink { sorted_keys, sorted_values, is_narrowed, meter };
        self.merge::<K, V>(&runs, &mut sink, StreamError::Write)
    }

    fn merge<K: KeyBits, V: Pod + Send + Sync>(
        &self,
        runs: &[Run],
        sink: &mut impl Sink<K, V>,
        of_sink: fn(io::Error) -> StreamError,
    ) -> Result<(), StreamError> {
        let (max_count, threads) = self.blocks(thread::available_parallelism().map_or(1, usize::from));
        merge(runs, &self.order, max_count, threads, sink).map_err(|error| match error {
            MergeError::Read(error) => of_temporary(error),
            MergeError::Write(error) => of_sink(error),
            MergeError::Memory(error) => StreamError::Device(error),
        })
    }

    /// Most keys of a block, and number of threads: of fewer threads than cores where the blocks would be small.
    fn blocks(&self, core_count: usize) -> (u64, usize) {
        let keys = self.memory_size / (BLOCK_COPIES * (self.sizes[0] + self.sizes[1]));
        let threads = (keys / MIN_BLOCK).clamp(1, core_count as u64);
        ((keys / threads).min(MAX_BLOCK), threads as usize)
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
    run: Run,
    order: &'a KeyOrder,
    meter: &'a mut Meter<'m>,
}

impl<K: KeyBits, V: Pod> Sink<K, V> for RunSink<'_, '_> {
    fn write(&mut self, first: u64, keys: &[K], values: &[V]) -> io::Result<()> {
        self.run.write_keys(first, keys, self.order)?;
        self.run.write_values(first, bytes_of(values))?;
        self.meter.add((size_of_val(keys) + size_of_val(values)) as u64);
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

impl<K: KeyBits, V: Pod> Sink<K, V> for FinalSink<'_, '_, '_> {
    fn write(&mut self, _: u64, keys: &[K], values: &[V]) -> io::Result<()> {
        write_to(&mut self.sorted_keys, bytemuck::cast_slice(keys))?;
        if self.is_narrowed {
            let wide: &[u64] = bytemuck::cast_slice(bytes_of(values));
            for block in wide.chunks(NARROWED_COUNT) {
                let narrow: Vec<u32> = block.iter().map(|&index| index as u32).collect();
                write_to(&mut self.sorted_values, bytemuck::cast_slice(&narrow))?;
            }
        } else {
            write_to(&mut self.sorted_values, bytes_of(values))?;
        }
        self.meter.add((size_of_val(keys) + size_of_val(values)) as u64);
        Ok(())
    }
}

/// The bytes of values; none of [`Nothing`](super::merge::Nothing).
fn bytes_of<V: Pod>(values: &[V]) -> &[u8] {
    if size_of::<V>() == 0 { &[] } else { bytemuck::cast_slice(values) }
}

pub(super) fn write_to(sink: &mut Option<&mut (dyn Write + Send)>, bytes: &[u8]) -> io::Result<()> {
    match sink {
        Some(sink) => sink.write_all(bytes),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
