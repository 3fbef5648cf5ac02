use std::sync::Arc;

use super::*;
use crate::ElementType;
use crate::sort::SortConfig;

/// The result, and the numbers of keys that were written at a time.
#[derive(Default)]
struct Merged {
    pairs: Vec<(u32, u32)>,
    counts: Vec<u64>,
}

impl Sink<u32> for Merged {
    fn keys(&mut self, first: u64, keys: &[u32]) -> io::Result<()> {
        assert_eq!(first, self.pairs.len() as u64);
        self.counts.push(keys.len() as u64);
        self.pairs.extend(keys.iter().map(|&key| (key, u32::MAX)));
        Ok(())
    }

    fn values(&mut self, first: u64, values: &[u8]) -> io::Result<()> {
        let values: &[u32] = bytemuck::cast_slice(values);
        self.pairs[first as usize..].iter_mut().zip(values).for_each(|(pair, &value)| pair.1 = value);
        Ok(())
    }
}

/// Sorted runs of these keys, with values that count all keys.
fn runs(keys: &[Vec<u32>], order: &KeyOrder) -> (Vec<Run<'static>>, Vec<(u32, u32)>) {
    let file = Arc::new(tempfile::tempfile().unwrap());
    let (mut all, mut runs) = (Vec::<(u32, u32)>::new(), Vec::<Run<'_>>::new());
    for keys in keys {
        let first = all.len() as u32;
        let mut pairs: Vec<_> = keys.iter().copied().zip(first..).collect();
        all.extend(&pairs);
        pairs.sort_by_key(|pair| order.rank(pair.0));
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
    all.sort_by_key(|pair| order.rank(pair.0));
    (runs, all)
}

fn random(count: usize, seed: u32) -> Vec<u32> {
    let mixed = (0..count as u32).map(|i| (i ^ seed << 16).wrapping_mul(0x9e37_79b9));
    mixed.map(|word| (word ^ word >> 15).wrapping_mul(0x85eb_ca6b)).collect()
}

#[test]
fn blocks_are_bounded_and_the_merge_is_stable() {
    let order = KeyOrder::new(&SortConfig::keys(ElementType::I32).descending());
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
            merge::<u32, u32>(&runs, &order, max_count, threads, &mut merged).unwrap();
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
    impl Sink<u32> for Full {
        fn keys(&mut self, _: u64, _: &[u32]) -> io::Result<()> {
            self.0 += 1;
            if self.0 < 5 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
        }

        fn values(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
            Ok(())
        }
    }
    let order = KeyOrder::new(&SortConfig::keys(ElementType::U32));
    let (runs, _) = runs(&[random(5_000, 1), random(5_000, 2)], &order);
    for threads in [1, 2, 8] {
        let ended = merge::<u32, u32>(&runs, &order, 100, threads, &mut Full(0));
        assert!(matches!(ended, Err(MergeError::Write(_))), "{ended:?}");
    }
}
