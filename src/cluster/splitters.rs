//! Exact splitters of keys that are sorted on each rank, by rounds of counting.
//!
//! A splitter is the position in the order of all keys at which a rank's result begins. Its key is found from the highest
//! digit to the lowest: every rank counts its keys below each candidate, and the sums give the digit. Keys that are equal to
//! it are divided by rank, and then by index, so that the result is that of a stable sort.
//!
//! Kalé and Krishnan, "A comparison based parallel sorting algorithm", ICPP 1993, refine splitters by counting likewise.

/// Bits of a digit: 15 candidates of a splitter a round.
const DIGIT_BITS: u32 = 4;

/// The keys of this rank, sorted by their order.
pub(super) struct SortedKeys<F> {
    pub(super) count: usize,
    /// The order of the key at an index.
    pub(super) order: F,
    /// Bits of an order.
    pub(super) bits: u32,
}

/// What the ranks exchange.
pub(super) trait Counts {
    /// The sums over all ranks.
    fn sum(&mut self, own: &[u64]) -> Vec<u64>;
    /// The sums over the ranks before this one.
    fn sum_before(&mut self, own: &[u64]) -> Vec<u64>;
}

/// A splitter, as far as its key is known.
struct Splitter {
    /// Keys of all ranks before it.
    target: u64,
    /// The digits that are known.
    key: u64,
    /// Own keys below `key`, and below the next that its digits leave open.
    below: usize,
    below_next: usize,
    /// Keys of all ranks below `key`.
    total_below: u64,
}

impl<F: Fn(usize) -> u64> SortedKeys<F> {
    /// Number of keys in the range below `key`.
    fn below(&self, key: u64, mut first: usize, mut last: usize) -> usize {
        while first < last {
            let middle = first + (last - first) / 2;
            if (self.order)(middle) < key {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        first
    }

    /// The indices at which the keys are divided, so that `target` keys of all ranks lie before each, and the number of
    /// rounds. Targets ascend and are the same on all ranks.
    pub(super) fn divided(&self, targets: &[u64], counts: &mut impl Counts) -> (Vec<usize>, u32) {
        let mut splitters: Vec<_> = targets
            .iter()
            .map(|&target| Splitter { target, key: 0, below: 0, below_next: self.count, total_below: 0 })
            .collect();
        if splitters.is_empty() {
            return (Vec::new(), 0);
        }
        let rounds = self.bits.div_ceil(DIGIT_BITS);
        for round in 0..rounds {
            let shift = (rounds - 1 - round) * DIGIT_BITS;
            self.refine(&mut splitters, shift, counts);
        }
        // The keys that are equal to a splitter's.
        let equal: Vec<_> =
            splitters.iter().map(|splitter| (splitter.below_next - splitter.below) as u64).collect();
        let equal_before = counts.sum_before(&equal);
        let index = |((splitter, equal), equal_before): ((&Splitter, u64), u64)| {
            let taken = splitter.target - splitter.total_below;
            splitter.below + taken.saturating_sub(equal_before).min(equal) as usize
        };
        (splitters.iter().zip(equal).zip(equal_before).map(index).collect(), rounds)
    }

    /// Finds the digit of every splitter's key at bit `shift`.
    fn refine(&self, splitters: &mut [Splitter], shift: u32, counts: &mut impl Counts) {
        // The highest digit may have fewer bits.
        let digits = 1u64 << DIGIT_BITS.min(self.bits - shift);
        let mut below = Vec::with_capacity(splitters.len() * digits as usize);
        for splitter in &*splitters {
            let mut first = splitter.below;
            for digit in 1..digits {
                first = self.below(splitter.key | digit << shift, first, splitter.below_next);
                below.push(first as u64);
            }
        }
        let sums = counts.sum(&below);
        let candidates = digits as usize - 1;
        for (splitter, (below, sums)) in
            splitters.iter_mut().zip(below.chunks(candidates).zip(sums.chunks(candidates)))
        {
            // The greatest candidate with at most `target` keys below it.
            let digit = sums.partition_point(|&sum| sum <= splitter.target);
            if let Some(next) = below.get(digit) {
                splitter.below_next = *next as usize;
            }
            if let Some(last) = digit.checked_sub(1) {
                splitter.key |= (digit as u64) << shift;
                (splitter.below, splitter.total_below) = (below[last] as usize, sums[last]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier, Mutex};

    use super::*;

    /// Ranks in threads.
    struct Threads {
        rank: usize,
        barrier: Arc<Barrier>,
        all: Arc<Mutex<Vec<Vec<u64>>>>,
    }

    impl Threads {
        fn exchange(&mut self, own: &[u64], size: usize) -> Vec<u64> {
            self.all.lock().unwrap()[self.rank] = own.to_vec();
            self.barrier.wait();
            let all = self.all.lock().unwrap().clone();
            self.barrier.wait();
            (0..own.len()).map(|i| all[..size].iter().map(|of_rank| of_rank[i]).sum()).collect()
        }
    }

    impl Counts for Threads {
        fn sum(&mut self, own: &[u64]) -> Vec<u64> {
            let size = self.all.lock().unwrap().len();
            self.exchange(own, size)
        }

        fn sum_before(&mut self, own: &[u64]) -> Vec<u64> {
            self.exchange(own, self.rank)
        }
    }

    /// Divides the keys of each rank, and checks that every part holds what a stable sort puts there.
    fn check(mut keys: Vec<Vec<u64>>, bits: u32) {
        keys.iter_mut().for_each(|keys| keys.sort());
        let counts: Vec<_> = keys.iter().map(|keys| keys.len() as u64).collect();
        let targets: Vec<u64> = (1..keys.len()).map(|rank| counts[..rank].iter().sum()).collect();
        let barrier = Arc::new(Barrier::new(keys.len()));
        let all = Arc::new(Mutex::new(vec![Vec::new(); keys.len()]));
        let divided: Vec<_> = std::thread::scope(|scope| {
            let threads = keys.iter().enumerate().map(|(rank, keys)| {
                let mut threads = Threads { rank, barrier: Arc::clone(&barrier), all: Arc::clone(&all) };
                let targets = &targets;
                scope.spawn(move || {
                    let sorted = SortedKeys { count: keys.len(), order: |index: usize| keys[index], bits };
                    sorted.divided(targets, &mut threads).0
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut expected: Vec<(u64, usize, usize)> = keys
            .iter()
            .enumerate()
            .flat_map(|(rank, keys)| keys.iter().enumerate().map(move |(index, &key)| (key, rank, index)))
            .collect();
        expected.sort();
        let mut expected = &expected[..];
        for (part, &count) in counts.iter().enumerate() {
            let mut found = Vec::new();
            for (rank, divided) in divided.iter().enumerate() {
                let start = part.checked_sub(1).map_or(0, |before| divided[before]);
                let end = divided.get(part).copied().unwrap_or(keys[rank].len());
                found.extend((start..end).map(|index| (keys[rank][index], rank, index)));
            }
            found.sort();
            let (mine, others) = expected.split_at(count as usize);
            assert_eq!(found, mine);
            expected = others;
        }
    }

    #[test]
    fn each_part_has_exactly_its_keys() {
        let random = |count: u64, modulus: u64| {
            let hash = move |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7) % modulus;
            (0..count).map(hash).collect::<Vec<_>>()
        };
        check(vec![random(1000, 1 << 32)], 32);
        check(vec![random(1000, 1 << 32), random(998, 1 << 31), random(3, 9)], 32);
        check(vec![random(500, u64::MAX), random(500, u64::MAX)], 64);
        check(vec![vec![7; 100], vec![7; 99], vec![7; 3]], 5);
        check(vec![vec![], vec![1, 2, 3], vec![], vec![0; 10]], 3);
        check(vec![vec![], vec![]], 32);
        check(vec![vec![0; 4], vec![0; 4]], 0);
        check(vec![vec![u64::MAX; 9], vec![0, u64::MAX, u64::MAX]], 64);
        check(vec![(0..100).rev().collect(), (100..150).collect(), vec![50; 64]], 17);
    }
}
