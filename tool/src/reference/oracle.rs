//! Oracles: a naive loop, or the standard library's sort, for each primitive.

use std::cmp::Ordering;
use std::ops::Range;
use std::thread;

use subsweep::FloatOrder;

/// `result[i] = values[0] + … + values[i]` in every column of a table of rows, wrapping.
pub fn inclusive_scan(values: &[u32], columns: usize) -> Vec<u32> {
    inclusive_scan_by(values, columns, u32::wrapping_add)
}

/// `result[i] = values[0] + … + values[i - 1]` in every column of a table of rows, wrapping.
pub fn exclusive_scan(values: &[u32], columns: usize) -> Vec<u32> {
    exclusive_scan_by(values, columns, 0, u32::wrapping_add)
}

/// `result[i] = (values[0] ⊕ values[1]) ⊕ … ⊕ values[i]` in every column of a table of rows.
pub fn inclusive_scan_by<T: Copy>(values: &[T], columns: usize, combine: impl Fn(T, T) -> T) -> Vec<T> {
    let mut results = values.to_vec();
    for i in columns..results.len() {
        results[i] = combine(results[i - columns], results[i]);
    }
    results
}

/// `result[i] = (identity ⊕ values[0]) ⊕ … ⊕ values[i - 1]` in every column of a table of rows.
pub fn exclusive_scan_by<T: Copy>(
    values: &[T],
    columns: usize,
    identity: T,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut results = vec![identity; values.len()];
    for i in columns..results.len() {
        results[i] = combine(results[i - columns], values[i - columns]);
    }
    results
}

/// The keys, stably sorted by the bits in `bits`, ascending.
pub fn sort(keys: &[u32], bits: Range<u32>) -> Vec<u32> {
    let mut sorted = keys.to_vec();
    sorted.sort_by_key(|&key| (u64::from(key) & ((1 << bits.end) - 1)) >> bits.start);
    sorted
}

/// A sort key.
pub trait Key: Copy + Send {
    /// The width in bits.
    const BITS: u32;

    /// Compares keys, of floats by `total_cmp` or as numpy does.
    fn compare(self, other: Self, order: FloatOrder) -> Ordering;

    /// The number of values of the type that precede it, of equal ones the last.
    fn rank(self, order: FloatOrder) -> u64;
}

/// Stably sorts keys, each with a value, by the bits in `bits` of their rank. Pairs whose keys are equal in
/// these bits keep their order, in either direction.
pub fn sort_pairs<K: Key, V: Send>(
    pairs: &mut [(K, V)],
    bits: Range<u32>,
    is_descending: bool,
    order: FloatOrder,
) {
    let bits = &bits;
    let compare = move |a: K, b: K| {
        if *bits == (0..K::BITS) {
            // By the standard library's comparison, not by this file's `rank`.
            return a.compare(b, order);
        }
        let part = |key: K| ((u128::from(key.rank(order)) & ((1 << bits.end) - 1)) >> bits.start) as u64;
        part(a).cmp(&part(b))
    };
    if is_descending {
        sort_by(pairs, |a, b| compare(b.0, a.0));
    } else {
        sort_by(pairs, |a, b| compare(a.0, b.0));
    }
}

/// The standard library's stable sort, by all cores.
pub fn sort_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    // To count the cores takes longer than to sort a few items.
    let is_short = items.len() < MIN_COUNT;
    let threads = if is_short { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
    sort_by_threads(items, &compare, threads);
}

/// Items that pay a thread.
const MIN_COUNT: usize = 1 << 16;

/// Halves are sorted in threads of their own first: the sort of the whole merges the two runs that they are.
fn sort_by_threads<T: Send>(items: &mut [T], compare: &(impl Fn(&T, &T) -> Ordering + Sync), threads: usize) {
    if threads > 1 && items.len() >= MIN_COUNT {
        let (first, second) = items.split_at_mut(items.len() / 2);
        thread::scope(|scope| {
            scope.spawn(|| sort_by_threads(first, compare, threads / 2));
            sort_by_threads(second, compare, threads - threads / 2);
        });
    }
    items.sort_by(compare);
}

macro_rules! whole_keys {
    ($($key:ident),+) => {
        $(
            impl Key for $key {
                const BITS: u32 = $key::BITS;

                fn compare(self, other: Self, _: FloatOrder) -> Ordering {
                    self.cmp(&other)
                }

                fn rank(self, _: FloatOrder) -> u64 {
                    (i128::from(self) - i128::from($key::MIN)) as u64
                }
            }
        )+
    };
}

macro_rules! float_keys {
    ($($key:ident of $bits:ident),+) => {
        $(
            impl Key for $key {
                const BITS: u32 = $bits::BITS;

                fn compare(self, other: Self, order: FloatOrder) -> Ordering {
                    match order {
                        FloatOrder::Total => self.total_cmp(&other),
                        FloatOrder::Numpy => {
                            self.partial_cmp(&other).unwrap_or(self.is_nan().cmp(&other.is_nan()))
                        }
                    }
                }

                /// Sign and magnitude: negative signs first, larger magnitudes before smaller ones.
                fn rank(self, order: FloatOrder) -> u64 {
                    let half = 1 << ($bits::BITS - 1);
                    let magnitude = u64::from(self.to_bits()) % half;
                    match order {
                        FloatOrder::Numpy if self.is_nan() => half - 1 + half,
                        FloatOrder::Numpy if self == 0.0 => half,
                        _ if self.is_sign_negative() => half - 1 - magnitude,
                        _ => half + magnitude,
                    }
                }
            }
        )+
    };
}

whole_keys!(u32, i32, u64, i64);
float_keys!(f32 of u32, f64 of u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_are_of_columns_and_wrap() {
        assert_eq!(inclusive_scan(&[1, 2, 3], 1), [1, 3, 6]);
        assert_eq!(exclusive_scan(&[1, 2, 3], 1), [0, 1, 3]);
        assert_eq!(inclusive_scan(&[1, u32::MAX, 3, 2, 5, 0], 2), [1, u32::MAX, 4, 1, 9, 1]);
        assert_eq!(exclusive_scan(&[1, u32::MAX, 3, 2, 5, 0], 2), [0, 0, 1, u32::MAX, 4, 1]);
        assert_eq!(inclusive_scan(&[], 3), [0; 0]);
    }

    #[test]
    fn a_sort_compares_its_bits_alone_and_is_stable() {
        assert_eq!(sort(&[0x80000000, 3, u32::MAX, 0], 0..32), [0, 3, 0x80000000, u32::MAX]);
        assert_eq!(sort(&[0x13, 0x02, 0x21, 0x11], 4..5), [0x02, 0x21, 0x13, 0x11]);
        assert_eq!(sort(&[3, 1, 2], 7..7), [3, 1, 2]);
        assert_eq!(sort(&[3 << 30, 1 << 30, 5], 31..32), [1 << 30, 5, 3 << 30]);
    }

    /// Whole keys are sorted by `compare`, and parts of keys by `rank`.
    fn ranks_are_in_order<K: Key + std::fmt::Debug>(ascending: &[K]) {
        for pair in ascending.windows(2) {
            assert_eq!(pair[0].compare(pair[1], FloatOrder::Total), Ordering::Less, "{pair:?}");
            let ranks = [0, 1].map(|side| pair[side].rank(FloatOrder::Total));
            assert!(ranks[0] < ranks[1], "{pair:?}");
            let ranks = [0, 1].map(|side| pair[side].rank(FloatOrder::Numpy));
            assert_eq!(pair[0].compare(pair[1], FloatOrder::Numpy), ranks[0].cmp(&ranks[1]), "{pair:?}");
        }
        assert_eq!(ascending[0].rank(FloatOrder::Total), 0);
        assert_eq!(ascending[ascending.len() - 1].rank(FloatOrder::Total), u64::MAX >> (64 - K::BITS));
    }

    #[test]
    fn ranks_agree_with_comparisons() {
        ranks_are_in_order(&[0u32, 1, 1 << 31, u32::MAX]);
        ranks_are_in_order(&[i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX]);
        ranks_are_in_order(&[0u64, 1, 1 << 32, 1 << 63, u64::MAX]);
        ranks_are_in_order(&[i64::MIN, -(1 << 32), -1, 0, 1, 1 << 32, i64::MAX]);
        let floats = [f32::from_bits(u32::MAX), -f32::NAN, f32::NEG_INFINITY, f32::MIN, -1.0];
        let small = [-f32::MIN_POSITIVE, -f32::from_bits(1), -0.0, 0.0, f32::from_bits(1), f32::MIN_POSITIVE];
        let positive = [1.0, f32::MAX, f32::INFINITY, f32::from_bits(0x7f80_0001), f32::NAN];
        let greatest = [f32::from_bits(u32::MAX >> 1)];
        ranks_are_in_order(&[&floats[..], &small, &positive, &greatest].concat());
        let doubles =
            [f64::from_bits(u64::MAX), -f64::NAN, f64::NEG_INFINITY, -1.5, -f64::from_bits(1), -0.0];
        let positive = [0.0, f64::from_bits(1), 1.0, f64::INFINITY, f64::NAN, f64::from_bits(u64::MAX >> 1)];
        ranks_are_in_order(&[doubles, positive].concat());
    }

    #[test]
    fn a_sort_by_threads_is_stable() {
        for (count, threads) in [(0, 4), (3, 4), (1 << 16, 1), ((1 << 17) + 5, 3), (1 << 17, 8)] {
            let mut items: Vec<_> =
                (0..count).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24, i)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_threads(&mut items, &|a, b| a.0.cmp(&b.0), threads);
            assert!(items == expected, "{count} by {threads}");
        }
    }

    #[test]
    fn equal_keys_keep_their_order_in_either_direction() {
        let sorted = |bits, is_descending| {
            let mut pairs = [(2i32, 'a'), (-1, 'b'), (2, 'c'), (-1, 'd'), (0, 'e')];
            sort_pairs(&mut pairs, bits, is_descending, FloatOrder::Total);
            pairs.map(|(_, value)| value).iter().collect::<String>()
        };
        assert_eq!(sorted(0..32, false), "bdeac");
        assert_eq!(sorted(0..32, true), "acebd");
        assert_eq!(sorted(31..32, false), "bdace");
        assert_eq!(sorted(31..32, true), "acebd");
        assert_eq!(sorted(0..1, true), "bdace");
        assert_eq!(sorted(7..7, true), "abcde");
        let mut doubles = [(0.0, 0), (f64::NAN, 1), (-0.0, 2), (-f64::NAN, 3), (-0.0, 4)];
        sort_pairs(&mut doubles, 0..64, false, FloatOrder::Total);
        assert_eq!(doubles.map(|(_, value)| value), [3, 2, 4, 0, 1]);
        sort_pairs(&mut doubles, 32..64, true, FloatOrder::Total);
        assert_eq!(doubles.map(|(_, value)| value), [1, 0, 2, 4, 3]);
    }
}
