//! The expected result of a selection or partition.

use super::keys::by_type;
use crate::reference::oracle::Key;
use subsweep::select::Comparison;
use subsweep::{ElementType, FloatOrder, Number};

/// How a selection tests its elements, to be computed on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Test {
    /// A flag for each element.
    Flags,
    /// A comparison, and of three parts another one.
    Compare(Comparison, Option<Comparison>),
    /// Difference from the element before, in an order of floats.
    Unique(FloatOrder),
}

fn typed<N: Number>(words: &[u32]) -> Vec<N> {
    bytemuck::pod_collect_to_vec(words)
}

impl Test {
    /// The part of each element, from 0. `tested` are the flags, a word each, or the keys as words; `operands` the
    /// operands of the comparisons, as words of keys.
    pub fn parts(self, element: ElementType, tested: &[u32], operands: &[u32]) -> Vec<usize> {
        match self {
            Self::Flags => tested.iter().map(|&flag| usize::from(flag == 0)).collect(),
            Self::Unique(order) => by_type!(element, parts_of_unique(tested, order)),
            Self::Compare(first, second) => {
                by_type!(element, parts_of_comparisons(tested, operands, first, second))
            }
        }
    }

    /// Operands of the comparisons as words: elements of `keys` at fixed ranks, so that a part of the keys satisfies
    /// each.
    pub fn operands(self, element: ElementType, keys: &[u32]) -> Vec<u32> {
        match self {
            Self::Compare(first, second) => by_type!(element, operands_of(keys, first, second)),
            Self::Flags | Self::Unique(_) => Vec::new(),
        }
    }
}

fn parts_of_unique<N: Number + Key>(keys: &[u32], order: FloatOrder) -> Vec<usize> {
    let keys = typed::<N>(keys);
    let same = |a: N, b: N| a.compare(b, order).is_eq();
    (0..keys.len()).map(|index| usize::from(index > 0 && same(keys[index - 1], keys[index]))).collect()
}

fn parts_of_comparisons<N: Number + PartialOrd>(
    keys: &[u32],
    operands: &[u32],
    first: Comparison,
    second: Option<Comparison>,
) -> Vec<usize> {
    let [keys, operands] = [keys, operands].map(typed::<N>);
    let (of_first, of_second) = operands.split_at(first.operand_count());
    let part = |&key: &N| match second {
        _ if holds(first, key, of_first) => 0,
        Some(second) if !holds(second, key, of_second) => 2,
        _ => 1,
    };
    keys.iter().map(part).collect()
}

/// Whether `key` satisfies a comparison with its operands.
fn holds<N: PartialOrd + Copy>(comparison: Comparison, key: N, operands: &[N]) -> bool {
    match comparison {
        Comparison::Less => key < operands[0],
        Comparison::LessEqual => key <= operands[0],
        Comparison::Equal => key == operands[0],
        Comparison::NotEqual => key != operands[0],
        Comparison::GreaterEqual => key >= operands[0],
        Comparison::Greater => key > operands[0],
        Comparison::Range => key >= operands[0] && key < operands[1],
    }
}

fn operands_of<N: Number + Key>(keys: &[u32], first: Comparison, second: Option<Comparison>) -> Vec<u32> {
    let keys = typed::<N>(keys);
    let mut sample: Vec<_> = keys.iter().step_by(keys.len() / 999 + 1).copied().collect();
    sample.sort_by(|a, b| a.compare(*b, FloatOrder::Total));
    let at = |rank: usize| sample.get(sample.len() * rank / 8).copied().unwrap_or(N::zeroed());
    let operands = |comparison: Comparison, ranks: [usize; 2]| {
        ranks.map(at).into_iter().take(comparison.operand_count())
    };
    let second = second.into_iter().flat_map(|second| operands(second, [2, 3]));
    let all: Vec<_> = operands(first, [4, 6]).chain(second).collect();
    bytemuck::cast_slice(&all).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_compare_as_numbers() {
        let keys = [-0.0f32, 0.0, f32::NAN, -f32::NAN, 1.0, -1.0];
        let words: &[u32] = bytemuck::cast_slice(&keys);
        let parts = |comparison, bounds: &[f32]| {
            Test::Compare(comparison, None).parts(ElementType::F32, words, bytemuck::cast_slice(bounds))
        };
        assert_eq!(parts(Comparison::Equal, &[0.0]), [0, 0, 1, 1, 1, 1]);
        assert_eq!(parts(Comparison::NotEqual, &[-0.0]), [1, 1, 0, 0, 0, 0]);
        assert_eq!(parts(Comparison::Less, &[0.0]), [1, 1, 1, 1, 1, 0]);
        assert_eq!(parts(Comparison::Range, &[-1.0, 0.0]), [1, 1, 1, 1, 1, 0]);
        assert_eq!(parts(Comparison::LessEqual, &[f32::NAN]), [1; 6]);
        assert_eq!(parts(Comparison::NotEqual, &[f32::NAN]), [0; 6]);
        assert_eq!(Test::Unique(FloatOrder::Numpy).parts(ElementType::F32, words, &[]), [0, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn three_parts_are_of_two_comparisons() {
        let test = Test::Compare(Comparison::Range, Some(Comparison::Greater));
        assert_eq!(test.parts(ElementType::U32, &[1, 2, 3, 4, 9], &[2, 4, 3]), [2, 0, 0, 1, 1]);
        assert_eq!(test.operands(ElementType::U32, &[7, 6, 5, 4, 3, 2, 1, 0]), [4, 6, 2]);
        assert_eq!(test.operands(ElementType::U64, &[]), [0; 6]);
    }
}
