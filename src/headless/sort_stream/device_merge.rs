//! Merge of sorted runs on the device: blocks stream through it, each of which is merged pair by pair.
//!
//! ```text
//!   a part of each run ─► [ a │ b │ c ] ─► [ ab │ c ] ─► [ abc ] ─► sink
//! ```

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::blocks::Blocks;
use super::merge::{MergeError, Sink};
use super::order::{KeyBits, KeyOrder};
use super::room::CHUNKS;
use super::runs::{KEYS, Run, VALUES};
use super::{Arrays, allocate_arrays};
use crate::device::{AddressRange, BufferRange, Recorder};
use crate::error::Result;
use crate::headless::stages::Stages;
use crate::headless::{Gpu, scratch_range};
use crate::merge::{MergeBuffers, MergeConfig, MergePlan};
use crate::sort::SortConfig;

/// Most bytes of the keys or values of a block: larger ones would overlap less.
const MAX_BLOCK: u64 = 1 << 28;
/// The least keys of a block: of fewer, submissions take more time than the host.
const MIN_BLOCK: u64 = 1 << 14;

/// Bytes of scratch for each key of 8 or 16 bits: unpacked, before a merge and after it.
const SCRATCH_SIZE: u64 = 8;
/// Bytes of scratch for each merge of two parts, besides the scratch of its keys.
const MERGE_SCRATCH: u64 = 256;

/// A merge on the device.
pub(super) struct DeviceMerge<'g> {
    gpu: &'g Gpu,
    plan: Arc<MergePlan>,
    /// Bytes of a key, and of a value.
    sizes: [u64; 2],
    /// Most keys of a block.
    capacity: u64,
}

/// Whether keys become words in scratch.
fn unpacks(plan: &MergePlan) -> bool {
    plan.scratch_requirements((1, 1)).size > 0
}

struct MergeChunk {
    arrays: Arrays,
    /// Numbers of keys of the sorted parts, one after the other.
    counts: Vec<u64>,
}

impl<'g> DeviceMerge<'g> {
    /// A merge of runs of `config`, of elements of `sizes` bytes, within `memory_size` bytes on host and device; `None` where the
    /// host merges: unless `is_on_device`, of keys that are compared by some of their bits, and in little memory.
    pub(super) fn new(
        gpu: &'g Gpu,
        config: &SortConfig,
        sizes: [u64; 2],
        memory_size: u64,
        is_on_device: bool,
    ) -> Result<Option<Self>> {
        let key_type = config.key_type();
        let has_all_bits = config.bit_range() == (0..key_type.bits());
        if !has_all_bits || !is_on_device {
            return Ok(None);
        }
        // Blocks, and one that a round writes.
        let size = memory_size.min(gpu.free_memory() / 4 * 3);
        let merge =
            MergeConfig::keys(key_type).order(config.float_order()).values((sizes[VALUES] / 4) as u32);
        let plan = gpu.plan(if config.is_descending() { merge.descending() } else { merge })?;
        let scratch_size = if unpacks(&plan) { SCRATCH_SIZE } else { 0 };
        let largest = gpu.capabilities().max_allocation_size.min(MAX_BLOCK);
        let of_largest = largest / sizes[KEYS].max(sizes[VALUES]).max(scratch_size);
        let of_all = (CHUNKS + 1) * (sizes[KEYS] + sizes[VALUES]) + scratch_size;
        let capacity = (size / of_all).min(of_largest);
        if capacity < MIN_BLOCK {
            return Ok(None);
        }
        Ok(Some(Self { gpu, plan, sizes, capacity }))
    }

    /// The memory of a merge of `runs`: of its blocks, and of what a round writes.
    pub(super) fn allocate(&self, runs: &[Run<'_>]) -> Result<Vec<Arrays>> {
        let capacity = self.capacity.min(runs.iter().map(Run::count).sum());
        (0..=CHUNKS).map(|_| allocate_arrays(self.gpu, self.sizes, capacity)).collect()
    }

    /// Merges `runs` into `sink`, in memory that was allocated for them.
    pub(super) fn merge<K: KeyBits>(
        &self,
        mut memory: Vec<Arrays>,
        runs: &[Run<'_>],
        order: &KeyOrder,
        sink: &mut impl Sink<K>,
    ) -> Result<(), MergeError> {
        let mut spare = memory.pop().expect("it was allocated");
        let scratch = match unpacks(&self.plan) {
            true => {
                Some(self.gpu.allocate(SCRATCH_SIZE * self.capacity + MERGE_SCRATCH * runs.len() as u64)?)
            }
            false => None,
        };
        let chunks = memory.into_iter().map(|arrays| MergeChunk { arrays, counts: Vec::new() }).collect();
        let [mut uploads, mut downloads] = [self.gpu.copies(true)?, self.gpu.copies(true)?];
        let mut blocks = Blocks::new(runs, order, self.capacity);
        let mut first = 0;
        Stages {
            fill: |chunk: &mut MergeChunk| {
                let next = blocks.next::<K>().map_err(MergeError::Read)?;
                let Some((_, parts)) = next else { return Ok(false) };
                let counts = parts.iter().map(|part| part.end - part.start);
                chunk.counts = counts.filter(|&count| count > 0).collect();
                for array in [KEYS, VALUES] {
                    let mut parts = PartsReader::new(runs, &parts, array, self.sizes[array]);
                    let size = parts.size();
                    let read = |bytes: &mut [u8]| parts.read(bytes).map_err(MergeError::Read);
                    // SAFETY: the chunk is this device's, and nothing else uses it.
                    unsafe { uploads.upload(&mut chunk.arrays[array], size, read) }?;
                }
                Ok(true)
            },
            // Long work is split into submissions, each of which is waited for.
            start: |_: &mut MergeChunk| Ok(()),
            wait: |chunk: &mut MergeChunk| self.merge_block(chunk, &mut spare, scratch_range(&scratch)),
            drain: |chunk: &mut MergeChunk| {
                let count = chunk.counts[0];
                let [keys, values] = &mut chunk.arrays;
                let write_keys = |offset: u64, bytes: &[u8]| {
                    let written = sink.keys(first + offset / self.sizes[KEYS], bytemuck::cast_slice(bytes));
                    written.map_err(MergeError::Write)
                };
                // SAFETY: the chunk is this device's, and its merge was waited for.
                unsafe { downloads.download(keys, self.sizes[KEYS] * count, write_keys) }?;
                let write_values = |offset: u64, bytes: &[u8]| {
                    let written = sink.values(first + offset / self.sizes[VALUES], bytes);
                    written.map_err(MergeError::Write)
                };
                // SAFETY: as above.
                unsafe { downloads.download(values, self.sizes[VALUES] * count, write_values) }?;
                first += count;
                Ok(())
            },
        }
        .run(chunks)
    }

    /// Merges the parts of a block in rounds, from its arrays to the spare ones and back.
    fn merge_block(&self, chunk: &mut MergeChunk, spare: &mut Arrays, scratch: BufferRange) -> Result<()> {
        while chunk.counts.len() > 1 {
            let counts = std::mem::take(&mut chunk.counts);
            let record = |recorder: &mut Recorder<'_>| {
                let (mut first, mut rest) = (0, scratch);
                for pair in counts.chunks(2) {
                    // The last part alone is copied: it is merged with none.
                    let (a, b) = (pair[0], pair.get(1).copied().unwrap_or(0));
                    let needed = self.plan.scratch_requirements((a, b)).size;
                    let own = rest.slice(0, needed);
                    rest = rest.slice(needed, rest.size - needed);
                    self.record(recorder, [&chunk.arrays, spare], first, (a, b), own)?;
                    first += a + b;
                }
                Ok(())
            };
            // SAFETY: the arrays are this device's, live until `submit` has waited, and used by nothing else.
            unsafe { self.gpu.submit(record) }?;
            chunk.counts = counts.chunks(2).map(|pair| pair.iter().sum()).collect();
            std::mem::swap(&mut chunk.arrays, spare);
        }
        Ok(())
    }

    /// Records the merge of two parts, of which the first begins at the key `first`.
    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        [from, to]: [&Arrays; 2],
        first: u64,
        (a, b): (u64, u64),
        scratch: BufferRange,
    ) -> Result<()> {
        let range = |arrays: &Arrays, array: usize, first, count| -> AddressRange {
            let size = self.sizes[array];
            arrays[array].range().slice(first * size, count * size).addresses()
        };
        let ranges = |array| {
            (range(from, array, first, a), range(from, array, first + a, b), range(to, array, first, a + b))
        };
        let ((a_keys, b_keys, keys), (a_values, b_values, values)) = (ranges(KEYS), ranges(VALUES));
        let buffers =
            MergeBuffers::new(a_keys, b_keys, keys).values(a_values, b_values, values).scratch(scratch);
        self.plan.record(recorder, &buffers, (a, b))
    }
}

/// Reads an array of the parts of runs, one after the other.
struct PartsReader<'a> {
    rest: VecDeque<(&'a Run<'a>, Range<u64>)>,
    array: usize,
    element_size: u64,
}

impl<'a> PartsReader<'a> {
    fn new(runs: &'a [Run<'a>], parts: &[Range<u64>], array: usize, element_size: u64) -> Self {
        let parts = runs.iter().zip(parts.iter().cloned());
        Self { rest: parts.filter(|(_, part)| !part.is_empty()).collect(), array, element_size }
    }

    /// Bytes that are left.
    fn size(&self) -> u64 {
        self.rest.iter().map(|(_, part)| part.end - part.start).sum::<u64>() * self.element_size
    }

    /// Fills `bytes`, which are whole elements, of which so many are left.
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let (run, part) = self.rest.front_mut().expect("as many elements are left");
            let count = (part.end - part.start).min((bytes.len() - done) as u64 / self.element_size);
            let size = (count * self.element_size) as usize;
            run.read(self.array, part.start, &mut bytes[done..][..size])?;
            done += size;
            part.start += count;
            if part.is_empty() {
                self.rest.pop_front();
            }
        }
        Ok(done)
    }
}
