//! Exact splitters of keys that are sorted on each rank, by rounds of counting.
//!
//! A splitter is the position in the order of all keys at which a rank's result begins. Its key is found from the highest
//! digit to the lowest: every rank counts its keys below each candidate, and the sums give the digit. Keys that are equal to
//! it are divided by rank, and then by index, so that the sort is stable.
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
mod tests;
