//! Merge of sorted runs, on all cores.
//!
//! The keys that are sampled in every run divide the result into blocks. A thread reads the part of each run that belongs to a
//! block, merges them by a stable sort that recognises sorted runs, and writes the block when it is its turn.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use bytemuck::{Pod, Zeroable};

use super::order::{KeyBits, KeyOrder};
use super::runs::{Place, Run};

/// A key with its value.
#[derive(Clone, Copy)]
struct Item<K, V> {
    key: K,
    value: V,
}

/// Receives a merged result: a block of keys, and their values, one after the other.
pub(super) trait Blocks<K, V>: Send {
    fn write(&mut self, first: u64, keys: &[K], values: &[V]) -> io::Result<()>;
}

/// Merges `runs` into `blocks`, with up to `thread_count` blocks of some `block_count` keys in memory.
pub(super) fn merge<K: KeyBits, V: Pod + Send + Sync>(
    runs: &[Run],
    order: &KeyOrder,
    block_count: u64,
    thread_count: usize,
    blocks: &mut impl Blocks<K, V>,
) -> Result<(), MergeError> {
    let borders = borders(runs, block_count);
    let (next, turn) = (AtomicUsize::new(0), Turn::default());
    let blocks = Mutex::new((blocks, 0));
    let work = || -> Result<(), MergeError> {
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block > borders.len() || turn.has_failed() {
                return Ok(());
            }
            let ranges = ranges::<K>(runs, &borders, block, order).map_err(MergeError::Read)?;
            let items = read_block(runs, &ranges, order).map_err(MergeError::Read)?;
            let (keys, values) = split(items);
            if !turn.wait(block) {
                return Ok(());
            }
            let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
            let (sink, first) = &mut *blocks;
            sink.write(*first, &keys, &values).map_err(MergeError::Write)?;
            *first += keys.len() as u64;
            turn.end();
        }
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
        let count = thread_count.min(borders.len() + 1).max(1) - 1;
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

/// Why a merge ended early.
#[derive(Debug)]
pub(super) enum MergeError {
    Read(io::Error),
    Write(io::Error),
}

/// The places where blocks begin, but for the first.
fn borders(runs: &[Run], block_count: u64) -> Vec<Place> {
    let mut places: Vec<Place> = runs.iter().enumerate().flat_map(|(index, run)| run.places(index)).collect();
    places.sort_unstable();
    let total: u64 = runs.iter().map(Run::count).sum();
    let per_sample = total.div_ceil(places.len().max(1) as u64).max(1);
    let step = (block_count / per_sample).max(1) as usize;
    places.into_iter().skip(step).step_by(step).collect()
}

/// The part of each run that belongs to a block.
fn ranges<K: KeyBits>(
    runs: &[Run],
    borders: &[Place],
    block: usize,
    order: &KeyOrder,
) -> io::Result<Vec<Range<u64>>> {
    let range = |(index, run): (usize, &Run)| {
        let start = match block.checked_sub(1) {
            Some(before) => run.count_before::<K>(index, borders[before], order)?,
            None => 0,
        };
        let end = match borders.get(block) {
            Some(&border) => run.count_before::<K>(index, border, order)?,
            None => run.count(),
        };
        Ok(start..end)
    };
    runs.iter().enumerate().map(range).collect()
}

/// The sorted items of a block.
fn read_block<K: KeyBits, V: Pod>(
    runs: &[Run],
    ranges: &[Range<u64>],
    order: &KeyOrder,
) -> io::Result<Vec<Item<K, V>>> {
    let count: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let mut items = Vec::with_capacity(count as usize);
    for (run, range) in runs.iter().zip(ranges) {
        let keys: Vec<K> = run.keys(range.clone())?;
        if size_of::<V>() == 0 {
            items.extend(keys.into_iter().map(|key| Item { key, value: V::zeroed() }));
        } else {
            let values: Vec<V> = run.values(range.clone())?;
            items.extend(keys.into_iter().zip(values).map(|(key, value)| Item { key, value }));
        }
    }
    // The standard library's stable sort merges the sorted parts that it finds.
    items.sort_by_key(|item: &Item<K, V>| order.of(item.key));
    Ok(items)
}

fn split<K: Copy, V: Copy>(items: Vec<Item<K, V>>) -> (Vec<K>, Vec<V>) {
    items.into_iter().map(|Item { key, value }| (key, value)).unzip()
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
        let mut current = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        while *current != block && !self.has_failed() {
            current = self.changed.wait(current).unwrap_or_else(PoisonError::into_inner);
        }
        !self.has_failed()
    }

    fn end(&self) {
        *self.block.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    fn fail(&self) {
        // Under the lock, so that no thread begins to wait meanwhile.
        let _current = self.block.lock().unwrap_or_else(PoisonError::into_inner);
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
