//! The expected result of a sort.

use std::ops::Range;

use super::keys::{SortValues, by_type, value};
use crate::reference::{oracle, packed};
use subsweep::sort::{SortConfig, ValueSize};
use subsweep::{ElementType, FloatOrder, Number};

/// What is sorted, and by what: a sort to plan, and to compute on the CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKeys {
    /// The type of the keys.
    pub element: ElementType,
    /// The values.
    pub values: SortValues,
    /// Whether the order is descending.
    pub is_descending: bool,
    /// The order of floats.
    pub order: FloatOrder,
    /// The bit range.
    pub bits: Range<u32>,
}

/// The memory after a sort, as words.
#[derive(Debug, PartialEq)]
pub(super) struct Sorted {
    pub keys: Vec<u32>,
    /// Empty for a sort of keys alone.
    pub values: Vec<u32>,
}

impl SortKeys {
    /// Keys with values, by all bits, in either order.
    pub(super) const fn new(element: ElementType, values: SortValues, is_descending: bool) -> Self {
        Self { element, values, is_descending, order: FloatOrder::Total, bits: 0..element.bits() }
    }

    /// Each type of keys with each kind of values, in either order.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let kinds = ElementType::ALL.into_iter().flat_map(|element| SortValues::ALL.map(|of| (element, of)));
        kinds.flat_map(|(element, values)| [false, true].map(|is| Self::new(element, values, is)))
    }

    /// The configuration of a sort by its policy.
    pub(super) fn config(&self) -> SortConfig {
        let config = match self.values {
            SortValues::None => SortConfig::keys(self.element),
            SortValues::B4 => SortConfig::pairs(self.element, ValueSize::B4),
            SortValues::B8 => SortConfig::pairs(self.element, ValueSize::B8),
            SortValues::Indices => SortConfig::argsort(self.element),
            SortValues::Indexed => SortConfig::keys_and_indices(self.element),
            SortValues::B20 => SortConfig::pairs(self.element, ValueSize::of::<[u32; 5]>()),
        };
        let config = if self.is_descending { config.descending() } else { config };
        config.order(self.order).bits(self.bits.clone())
    }

    /// Sorts `keys`, given as words. The values prove stability: each is its key's index, so that equal keys in the
    /// wrong order show.
    pub(super) fn sort(&self, keys: &[u32]) -> Sorted {
        self.of_segment(keys, 0)
    }

    /// Sorts the segments of `keys`, in any order. Keys outside of all segments are unchanged, and their argsort indices are
    /// `outside`.
    pub(super) fn of_segments(&self, keys: &[u32], segments: &[Range<u32>], outside: u32) -> Sorted {
        let key_words = self.element.words() as usize;
        let mut all = self.unsorted(keys, 0, outside);
        let value_words = all.values.len() * key_words / keys.len().max(1);
        for segment in segments.iter().filter(|segment| !segment.is_empty()) {
            let words = |size: usize| segment.start as usize * size..segment.end as usize * size;
            let sorted = self.of_segment(&keys[words(key_words)], segment.start);
            all.keys[words(key_words)].copy_from_slice(&sorted.keys);
            all.values[words(value_words)].copy_from_slice(&sorted.values);
        }
        all
    }

    /// Sorts the whole rows of `length` keys, whose argsort indices are those within a row. The keys after them are unchanged,
    /// and their argsort indices are `outside`.
    pub(super) fn of_rows(&self, keys: &[u32], length: u32, outside: u32) -> Sorted {
        let key_words = self.element.words() as usize;
        let row_count = keys.len() / key_words / length as usize;
        let (rows, rest) = keys.split_at(row_count * length as usize * key_words);
        let segments: Vec<_> = (0..row_count as u32).map(|row| row * length..(row + 1) * length).collect();
        let mut all = self.of_segments(rows, &segments, outside);
        if matches!(self.values, SortValues::Indices | SortValues::Indexed) {
            all.values.iter_mut().for_each(|index| *index %= length);
        }
        let rest = self.unsorted(rest, row_count as u32 * length, outside);
        all.keys.extend(rest.keys);
        all.values.extend(rest.values);
        all
    }

    /// Keys of no segment, which begin at `first_index`.
    fn unsorted(&self, keys: &[u32], first_index: u32, outside: u32) -> Sorted {
        match self.values {
            SortValues::Indices | SortValues::Indexed => {
                let count = keys.len() / self.element.words() as usize;
                Sorted { keys: keys.to_vec(), values: vec![outside; count] }
            }
            // An empty bit range keeps the order.
            _ => Self { bits: 0..0, is_descending: false, ..self.clone() }.of_segment(keys, first_index),
        }
    }

    /// Sorts a segment whose first key has the index `first_index`.
    fn of_segment(&self, keys: &[u32], first_index: u32) -> Sorted {
        if self.element.is_packed() && self.bits != (0..self.element.bits()) {
            return self.of_packed_bits(keys, first_index);
        }
        by_type!(self.element, sorted_segment(self, keys, first_index))
    }

    /// A segment of packed keys, by some bits of their ranks.
    fn of_packed_bits(&self, words: &[u32], first_index: u32) -> Sorted {
        let part = |word: u32| {
            let mask = (1u32 << self.bits.end) - 1;
            let bits = packed::packed(self.element, false, word);
            let rank = packed::rank(self.element, self.order == FloatOrder::Numpy, bits);
            (rank & mask) >> self.bits.start
        };
        let mut pairs: Vec<_> = words.iter().copied().zip(first_index..).collect();
        pairs.sort_by(|a, b| {
            let order = part(a.0).cmp(&part(b.0));
            if self.is_descending { order.reverse() } else { order }
        });
        self.moved(words, pairs, |keys| keys)
    }

    /// The memory of keys in this order.
    fn moved<K>(&self, words: &[u32], pairs: Vec<(K, u32)>, to_words: impl Fn(Vec<K>) -> Vec<u32>) -> Sorted {
        let indices = pairs.iter().map(|(_, index)| *index);
        let values = match self.values {
            SortValues::Indices | SortValues::Indexed => indices.collect(),
            given => indices.flat_map(|index| value(given, index)).collect(),
        };
        let keys = match self.values {
            SortValues::Indices => words.to_vec(),
            _ => to_words(pairs.into_iter().map(|(key, _)| key).collect()),
        };
        Sorted { keys, values }
    }
}

fn sorted_segment<K: oracle::Key + Number>(sort: &SortKeys, words: &[u32], first_index: u32) -> Sorted {
    let keys: Vec<K> = bytemuck::pod_collect_to_vec(words);
    let mut pairs: Vec<_> = keys.into_iter().zip(first_index..).collect();
    let bits = if sort.element.is_packed() { 0..K::BITS } else { sort.bits.clone() };
    oracle::sort_pairs(&mut pairs, bits, sort.is_descending, sort.order);
    sort.moved(words, pairs, |keys| bytemuck::pod_collect_to_vec(&keys))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::keys::values;

    fn sorted(values: SortValues, is_descending: bool, bits: Range<u32>, keys: &[i64]) -> Sorted {
        let sort = SortKeys { bits, ..SortKeys::new(ElementType::I64, values, is_descending) };
        sort.sort(bytemuck::cast_slice(keys))
    }

    #[test]
    fn segments_are_sorted_by_themselves() {
        let words = |keys: &[i64]| bytemuck::cast_slice::<_, u32>(keys).to_vec();
        let of = |values, segments: &[Range<u32>]| {
            let sort = SortKeys::new(ElementType::I64, values, false);
            sort.of_segments(&words(&[9, 5, -1, 5, 0, -2]), segments, 77)
        };
        let sorted = words(&[9, -1, 5, 5, -2, 0]);
        let got = of(SortValues::B4, &[4..6, 1..4, 4..4]);
        assert_eq!(got, Sorted { keys: sorted.clone(), values: vec![0, 2, 1, 3, 5, 4] });
        let got = of(SortValues::Indices, &[1..4, 4..6, 6..6]);
        let unsorted = words(&[9, 5, -1, 5, 0, -2]);
        assert_eq!(got, Sorted { keys: unsorted.clone(), values: vec![77, 2, 1, 3, 5, 4] });
        assert_eq!(of(SortValues::None, &[]), Sorted { keys: unsorted, values: vec![] });
        let in_rows = |values, keys: &[i64]| {
            let sort = SortKeys::new(ElementType::I64, values, false);
            sort.of_rows(&words(keys), 2, 77)
        };
        let rows = Sorted { keys: words(&[5, 9, -1, 3, 4]), values: vec![1, 0, 2, 3, 4] };
        assert_eq!(in_rows(SortValues::B4, &[9, 5, -1, 3, 4]), rows);
        assert_eq!(in_rows(SortValues::Indices, &[9, 5, -1, 3, 4]).values, [1, 0, 0, 1, 77]);
        let wide: Vec<_> =
            [0, 2, 1, 3, 5, 4].into_iter().flat_map(|index| value(SortValues::B8, index)).collect();
        assert_eq!(of(SortValues::B8, &[1..4, 4..6]), Sorted { keys: sorted, values: wide });
    }

    #[test]
    fn values_go_where_their_keys_go() {
        let keys = [5, -1, 5, 0];
        let words = |keys: &[i64]| bytemuck::cast_slice::<_, u32>(keys).to_vec();
        let got = sorted(SortValues::B4, false, 0..64, &keys);
        assert_eq!(got, Sorted { keys: words(&[-1, 0, 5, 5]), values: vec![1, 3, 0, 2] });
        let got = sorted(SortValues::Indices, true, 0..64, &keys);
        assert_eq!(got, Sorted { keys: words(&keys), values: vec![0, 2, 3, 1] });
        let got = sorted(SortValues::None, true, 63..64, &keys);
        assert_eq!(got, Sorted { keys: words(&[5, 5, 0, -1]), values: vec![] });
        let before = values(SortValues::B8, 4);
        let got = sorted(SortValues::B8, false, 0..64, &keys);
        let moved = [1, 3, 0, 2].into_iter().flat_map(|index| [before[2 * index], before[2 * index + 1]]);
        assert_eq!(got.values, moved.collect::<Vec<_>>());
    }
}
