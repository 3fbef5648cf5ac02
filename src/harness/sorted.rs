//! What a sort should make of its keys and values.

use std::ops::Range;

use super::cases::SortValues;
use super::keys::wide_value;
use crate::reference::oracle;
use crate::{ElementType, Number};

/// What is sorted, and how.
#[derive(Debug, Clone)]
pub(super) struct SortExpectation {
    pub element: ElementType,
    pub values: SortValues,
    pub is_descending: bool,
    pub bits: Range<u32>,
}

/// What should be in memory after a sort, as words.
#[derive(Debug, PartialEq)]
pub(super) struct Sorted {
    pub keys: Vec<u32>,
    /// Nothing of a sort of keys alone.
    pub values: Vec<u32>,
}

impl SortExpectation {
    /// Of `keys`, in words. Stability is proven by the values: each says where its key was, so that of two that compare
    /// equal the wrong one is seen to be first.
    pub fn of(&self, keys: &[u32]) -> Sorted {
        match self.element {
            ElementType::U32 => self.sorted::<u32>(keys),
            ElementType::I32 => self.sorted::<i32>(keys),
            ElementType::F32 => self.sorted::<f32>(keys),
            ElementType::U64 => self.sorted::<u64>(keys),
            ElementType::I64 => self.sorted::<i64>(keys),
            ElementType::F64 => self.sorted::<f64>(keys),
        }
    }

    fn sorted<K: oracle::Key + Number>(&self, words: &[u32]) -> Sorted {
        let mut keys = vec![K::zeroed(); size_of_val(words) / size_of::<K>()];
        bytemuck::cast_slice_mut(&mut keys).copy_from_slice(words);
        let mut pairs: Vec<_> = keys.into_iter().zip(0u32..).collect();
        oracle::sort_pairs(&mut pairs, self.bits.clone(), self.is_descending);
        let places = pairs.iter().map(|(_, place)| *place);
        let values = match self.values {
            SortValues::None => Vec::new(),
            SortValues::B4 | SortValues::Places => places.collect(),
            SortValues::B8 => places.flat_map(wide_value).collect(),
        };
        let keys = match self.values {
            SortValues::Places => words.to_vec(),
            SortValues::None | SortValues::B4 | SortValues::B8 => {
                let sorted: Vec<_> = pairs.into_iter().map(|(key, _)| key).collect();
                bytemuck::cast_slice(&sorted).to_vec()
            }
        };
        Sorted { keys, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::keys::values;

    fn sorted(values: SortValues, is_descending: bool, bits: Range<u32>, keys: &[i64]) -> Sorted {
        let element = ElementType::I64;
        let expectation = SortExpectation { element, values, is_descending, bits };
        expectation.of(bytemuck::cast_slice(keys))
    }

    #[test]
    fn values_go_where_their_keys_go() {
        let keys = [5, -1, 5, 0];
        let words = |keys: &[i64]| bytemuck::cast_slice::<_, u32>(keys).to_vec();
        let got = sorted(SortValues::B4, false, 0..64, &keys);
        assert_eq!(got, Sorted { keys: words(&[-1, 0, 5, 5]), values: vec![1, 3, 0, 2] });
        let got = sorted(SortValues::Places, true, 0..64, &keys);
        assert_eq!(got, Sorted { keys: words(&keys), values: vec![0, 2, 3, 1] });
        let got = sorted(SortValues::None, true, 63..64, &keys);
        assert_eq!(got, Sorted { keys: words(&[5, 5, 0, -1]), values: vec![] });
        let before = values(SortValues::B8, 4);
        let got = sorted(SortValues::B8, false, 0..64, &keys);
        let moved = [1, 3, 0, 2].into_iter().flat_map(|place| [before[2 * place], before[2 * place + 1]]);
        assert_eq!(got.values, moved.collect::<Vec<_>>());
    }
}
