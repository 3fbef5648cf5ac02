//! Merge of sorted runs, on all cores.
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
use super::runs::Run;
use crate::error::Error;
use crate::headless::{lock, zeroed};

const RADIX_BITS: u32 = 8;
const RADIX: usize = 1 << RADIX_BITS;
/// Copies of a block that its thread has: one for each side of a pass.
pub(super) const BLOCK_COPIES: u64 = 2;

/// Receives a merged result: a block of keys, and their values, one after the other.
pub(super) trait Sink<K, V>: Send {
    fn write(&mut self, first: u64, keys: &[K], values: &[V]) -> io::Result<()>;
}

/// Why a merge ended early.
#[derive(Debug)]
pub(super) enum MergeError {
    Read(io::Error),
    Write(io::Error),
    Memory(Error),
}

/// Merges `runs` into `sink`, with a block of up to `max_count` keys in each of up to `thread_count` threads.
pub(super) fn merge<K: KeyBits, V: Pod + Send + Sync>(
    runs: &[Run],
    order: &KeyOrder,
    max_count: u64,
    thread_count: usize,
    sink: &mut impl Sink<K, V>,
) -> Result<(), MergeError> {
    let total: u64 = runs.iter().map(Run::count).sum();
    let max_count = max_count.min(total).max(1);
    let blocks = Mutex::new(Blocks::new(runs, order, max_count));
    let turn = Turn::default();
    let sink = Mutex::new((sink, 0));
    let work = || -> Result<(), MergeError> {
        let mut sides = [Side::new(max_count)?, Side::new(max_count)?];
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
            sink.write(*first, keys, values).map_err(MergeError::Write)?;
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
        let no_memory = |_| MergeError::Memory(Error::OutOfHostMemory { needed, what: "a block of a merge" });
        Ok(Self { keys: zeroed(count).map_err(no_memory)?, values: zeroed(count).map_err(no_memory)? })
    }
}

/// Reads a block and sorts it, by passes from one side to the other and back.
fn read_sorted<'a, K: KeyBits, V: Pod>(
    [from, to]: &'a mut [Side<K, V>; 2],
    runs: &[Run],
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
        run.read_keys(part.start, keys)?;
        if size_of::<V>() > 0 {
            run.read_values(part.start, bytemuck::cast_slice_mut(&mut from.values[range]))?;
        }
        (least, most) = (least.min(order.of(keys[0])), most.max(order.of(keys[keys.len() - 1])));
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
    let digit = |key: K| (order.of(key) >> shift) as usize % RADIX;
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
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ElementType;

    /// The result, and the numbers of keys that were written at a time.
    #[derive(Default)]
    struct Merged {
        pairs: Vec<(u32, u32)>,
        counts: Vec<u64>,
    }

    impl Sink<u32, u32> for Merged {
        fn write(&mut self, first: u64, keys: &[u32], values: &[u32]) -> io::Result<()> {
            assert_eq!(first, self.pairs.len() as u64);
            self.counts.push(keys.len() as u64);
            self.pairs.extend(keys.iter().copied().zip(values.iter().copied()));
            Ok(())
        }
    }

    /// Sorted runs of these keys, with values that count all keys.
    fn runs(keys: &[Vec<u32>], order: &KeyOrder) -> (Vec<Run>, Vec<(u32, u32)>) {
        let file = Arc::new(tempfile::tempfile().unwrap());
        let (mut all, mut runs) = (Vec::<(u32, u32)>::new(), Vec::<Run>::new());
        for keys in keys {
            let first = all.len() as u32;
            let mut pairs: Vec<_> = keys.iter().copied().zip(first..).collect();
            all.extend(&pairs);
            pairs.sort_by_key(|pair| order.of(pair.0));
            let (keys, values): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
            let start = runs.last().map_or(0, Run::end);
            let mut run = Run::new(&file, start, keys.len() as u64, [4, 4], 64);
            // As a merge writes: part by part.
            for (first, keys) in (0..).step_by(100).zip(keys.chunks(100)) {
                run.write_keys(first, keys, order).unwrap();
            }
            run.write_values(0, bytemuck::cast_slice(&values)).unwrap();
            runs.push(run);
        }
        all.sort_by_key(|pair| order.of(pair.0));
        (runs, all)
    }

    fn random(count: usize, seed: u32) -> Vec<u32> {
        let mixed = (0..count as u32).map(|i| (i ^ seed << 16).wrapping_mul(0x9e37_79b9));
        mixed.map(|word| (word ^ word >> 15).wrapping_mul(0x85eb_ca6b)).collect()
    }

    #[test]
    fn blocks_are_bounded_and_the_merge_is_stable() {
        let order = KeyOrder::new(ElementType::I32, true, 0..32);
        let of_runs = |count: u32, keys: fn(u32) -> Vec<u32>| (0..count).map(keys).collect::<Vec<_>>();
        let inputs = [
            vec![random(1_000, 7)],
            of_runs(65, |run| random(100 + run as usize * 10, run)),
            of_runs(64, |_| vec![5; 300]),
            // Few keys, many times; one run after the other; a long run beside short and empty ones.
            of_runs(5, |run| random(2_000, run).iter().map(|key| key >> 31).collect()),
            of_runs(9, |run| (run * 1_000..(run + 1) * 1_000).collect()),
            of_runs(9, |run| random(if run == 3 { 20_000 } else { run as usize % 3 }, run)),
        ];
        for (index, keys) in inputs.iter().enumerate() {
            let (mut runs, expected) = runs(keys, &order);
            let total = expected.len() as u64;
            // Blocks of a single key take as many cuts as there are keys.
            let tiny = if total <= 1_000 { 1 } else { 50 };
            for (max_count, threads) in [(tiny, 2), (700, 3), (total, 2), (u64::MAX, 2)] {
                let mut merged = Merged::default();
                merge(&runs, &order, max_count, threads, &mut merged).unwrap();
                assert!(merged.pairs == expected, "input {index}, blocks of up to {max_count}");
                let counts = merged.counts;
                let least = if max_count > 100 { (max_count / 8).min(total) } else { 1 };
                let range = least..=max_count;
                assert!(counts.iter().all(|count| range.contains(count)), "input {index}: {counts:?}");
                runs.iter_mut().for_each(Run::halve_samples);
            }
        }
    }

    #[test]
    fn the_error_of_a_sink_ends_all_threads() {
        struct Full(u32);
        impl Sink<u32, u32> for Full {
            fn write(&mut self, _: u64, _: &[u32], _: &[u32]) -> io::Result<()> {
                self.0 += 1;
                if self.0 < 5 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
            }
        }
        let order = KeyOrder::new(ElementType::U32, false, 0..32);
        let (runs, _) = runs(&[random(5_000, 1), random(5_000, 2)], &order);
        for threads in [1, 2, 8] {
            let ended = merge(&runs, &order, 100, threads, &mut Full(0));
            assert!(matches!(ended, Err(MergeError::Write(_))), "{ended:?}");
        }
    }
}
