//! Merge of sorted runs on the host, on all cores.
//!
//! A thread takes the next block, reads its part of each run, sorts the keys by a stable radix sort, and writes them when it
//! is its turn. The parts are sorted already, but a block's keys have most of their highest bits in common: a pass for each
//! digit in which they differ takes less time than comparing the keys of up to 64 parts.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use bytemuck::{Pod, Zeroable};

use super::blocks::{Blocks, Parts, count};
use super::order::{KeyBits, KeyOrder};
use super::runs::{KEYS, Run, VALUES};
use crate::error::Error;
use crate::headless::{lock, zeroed};

const RADIX_BITS: u32 = 8;
const RADIX: usize = 1 << RADIX_BITS;
/// Copies of a block that its thread has: one for each side of a pass.
pub(super) const BLOCK_COPIES: u64 = 2;

/// Receives a merged result: keys from index `first` on, and after them their values, as bytes.
pub(super) trait Sink<K>: Send {
    fn keys(&mut self, first: u64, keys: &[K]) -> io::Result<()>;
    fn values(&mut self, first: u64, values: &[u8]) -> io::Result<()>;
}

/// Why a merge ended early.
#[derive(Debug)]
pub(super) enum MergeError {
    Read(io::Error),
    Write(io::Error),
    Failed(Error),
}

impl From<Error> for MergeError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Merges `runs` into `sink`, with a block of up to `max_count` keys in each of up to `thread_count` threads.
pub(super) fn merge<K: KeyBits, V: Pod + Send + Sync>(
    runs: &[Run<'_>],
    order: &KeyOrder,
    max_count: u64,
    thread_count: usize,
    sink: &mut impl Sink<K>,
) -> Result<(), MergeError> {
    let total: u64 = runs.iter().map(Run::count).sum();
    let max_count = max_count.min(total).max(1);
    let blocks = Mutex::new(Blocks::new(runs, order, max_count));
    let turn = Turn::default();
    let sink = Mutex::new((sink, 0));
    let work = || -> Result<(), MergeError> {
        let mut sides = [Side::<K, V>::new(max_count)?, Side::new(max_count)?];
        while !turn.has_failed() {
            // The blocks are locked until the others know of an error: none takes the parts of a lost block.
            let next = lock(&blocks).next::<K>().inspect_err(|_| turn.fail()).map_err(MergeError::Read)?;
            let Some((block, parts)) = next else { break };
            let (keys, values) = read_sorted(&mut sides, runs, &parts, order).map_err(MergeError::Read)?;
            if !turn.wait(block) {
                break;
            }
            let mut sink = lock(&sink);
            let (sink, first) = &mut *sink;
            let written = sink.keys(*first, keys).and_then(|()| match size_of::<V>() {
                0 => Ok(()),
                _ => sink.values(*first, bytemuck::cast_slice(values)),
            });
            written.map_err(MergeError::Write)?;
            *first += keys.len() as u64;
            turn.end();
        }
        Ok(())
    };
    thread::scope(|scope| {
        // Blocks take their turns: a thread that cannot be made is no more than slower.
        let work = || {
            let failing = FailOnDrop(&turn);
            let ended = work();
            if ended.is_ok() {
                std::mem::forget(failing);
            }
            ended
        };
        let count = (thread_count as u64).min(total.div_ceil(max_count)).max(1) - 1;
        let threads: Vec<_> =
            (0..count).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut ended = work();
        for thread in threads {
            let of_thread = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ended = ended.and(of_thread);
        }
        ended
    })
}

/// Ends the other threads' waiting when it is dropped: at an error or a panic.
struct FailOnDrop<'a>(&'a Turn);

impl Drop for FailOnDrop<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

/// A block's keys and values, before or after a pass.
struct Side<K, V> {
    keys: Vec<K>,
    values: Vec<V>,
}

impl<K: KeyBits, V: Pod> Side<K, V> {
    fn new(count: u64) -> Result<Self, MergeError> {
        let count = count as usize;
        let needed = Some((count * (size_of::<K>() + size_of::<V>())) as u64);
        let no_memory = |_| MergeError::Failed(Error::OutOfHostMemory { needed, what: "a block of a merge" });
        Ok(Self { keys: zeroed(count).map_err(no_memory)?, values: zeroed(count).map_err(no_memory)? })
    }
}

/// Reads a block and sorts it, by passes from one side to the other and back.
fn read_sorted<'a, K: KeyBits, V: Pod>(
    [from, to]: &'a mut [Side<K, V>; 2],
    runs: &[Run<'_>],
    parts: &Parts,
    order: &KeyOrder,
) -> io::Result<(&'a [K], &'a [V])> {
    let count = count(parts) as usize;
    let (mut from, mut to) = (from, to);
    let (mut least, mut most, mut start) = (u64::MAX, 0, 0);
    let mut part_count = 0;
    for (run, part) in runs.iter().zip(parts).filter(|(_, part)| !part.is_empty()) {
        let range = start..start + (part.end - part.start) as usize;
        start = range.end;
        let keys = &mut from.keys[range.clone()];
        run.read(KEYS, part.start, bytemuck::cast_slice_mut(keys))?;
        if size_of::<V>() > 0 {
            run.read(VALUES, part.start, bytemuck::cast_slice_mut(&mut from.values[range]))?;
        }
        (least, most) = (least.min(order.rank(keys[0])), most.max(order.rank(keys[keys.len() - 1])));
        part_count += 1;
    }
    // Above these bits all keys agree. A single part is sorted.
    let bits = if part_count > 1 { u64::BITS - (least ^ most).leading_zeros() } else { 0 };
    for shift in (0..bits).step_by(RADIX_BITS as usize) {
        scatter(from, to, count, order, shift);
        (from, to) = (to, from);
    }
    Ok((&from.keys[..count], &from.values[..count]))
}

/// Sorts a block by the digit at `shift`, from one side to the other.
fn scatter<K: KeyBits, V: Pod>(
    from: &Side<K, V>,
    to: &mut Side<K, V>,
    count: usize,
    order: &KeyOrder,
    shift: u32,
) {
    let digit = |key: K| (order.rank(key) >> shift) as usize % RADIX;
    let mut offsets = [0; RADIX];
    from.keys[..count].iter().for_each(|&key| offsets[digit(key)] += 1);
    let mut next = 0;
    for offset in &mut offsets {
        next += std::mem::replace(offset, next);
    }
    for (&key, &value) in from.keys[..count].iter().zip(&from.values) {
        let offset = &mut offsets[digit(key)];
        to.keys[*offset] = key;
        to.values[*offset] = value;
        *offset += 1;
    }
}

/// Lets threads write in the order of their blocks.
#[derive(Default)]
struct Turn {
    block: Mutex<usize>,
    changed: Condvar,
    has_failed: AtomicBool,
}

impl Turn {
    /// Waits for a block's turn. Returns false if another thread has failed.
    fn wait(&self, block: usize) -> bool {
        let mut current = lock(&self.block);
        while *current != block && !self.has_failed() {
            current = self.changed.wait(current).unwrap_or_else(PoisonError::into_inner);
        }
        !self.has_failed()
    }

    fn end(&self) {
        *lock(&self.block) += 1;
        self.changed.notify_all();
    }

    fn fail(&self) {
        // Under the lock, so that no thread begins to wait meanwhile.
        let _current = lock(&self.block);
        self.has_failed.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }
}

/// No value.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Nothing;

#[cfg(test)]
mod tests;
