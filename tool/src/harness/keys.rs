//! Sort keys of every type, and their values.

use super::inputs::{Input, SplitMix64};
use crate::reference::packed;
use subsweep::internal::named;
use subsweep::{ElementType, NumberKind};

/// Calls a generic function of numbers by their type; of packed ones by the type of their words.
macro_rules! by_type {
    ($element:expr, $function:ident($($argument:expr),+)) => {
        match $element {
            ElementType::U32 | ElementType::U8 | ElementType::U16 => $function::<u32>($($argument),+),
            ElementType::I32 | ElementType::I8 | ElementType::I16 => $function::<i32>($($argument),+),
            ElementType::F32 | ElementType::F16 | ElementType::Bf16 => $function::<f32>($($argument),+),
            ElementType::U64 => $function::<u64>($($argument),+),
            ElementType::I64 => $function::<i64>($($argument),+),
            ElementType::F64 => $function::<f64>($($argument),+),
        }
    };
}
pub(super) use by_type;

named! {
    /// The values of a sort.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum SortValues {
        /// Keys alone.
        None = "keys",
        /// Values of 4 bytes.
        B4 = "pairs4",
        /// Values of 8 bytes.
        B8 = "pairs8",
        /// Argsort: the permutation is the only result.
        Indices = "argsort",
        /// Keys with their indices.
        Indexed = "indexed",
        /// Values of 20 bytes, which move once.
        B20 = "pairs20",
    }
}

impl SortValues {
    /// The kinds with different numbers of words that kernels carry.
    pub(super) const SIZES: [Self; 3] = [Self::None, Self::B4, Self::B8];

    /// Bytes moved with each key.
    pub const fn moved_size(self) -> u64 {
        match self {
            Self::None | Self::Indices | Self::Indexed => 0,
            Self::B4 => 4,
            Self::B8 => 8,
            Self::B20 => 20,
        }
    }
}

/// Generates `count` keys as words, deterministic in `seed`. Keys of u32 are the input's words; keys of other types
/// have the same distribution, by rank or in each word.
fn keys(element: ElementType, input: Input, count: usize, seed: u64) -> Vec<u32> {
    let words = |bits| words_of(element, bits);
    match input {
        Input::EdgeValues if element.is_packed() => {
            let mut random = SplitMix64(seed);
            (0..count).map(|_| packed::unpacked(element, packed_edge_value(element, &mut random))).collect()
        }
        _ if element.is_packed() => {
            let draws = input.generate(count, seed).into_iter();
            draws.map(|draw| packed::unpacked(element, draw as u16)).collect()
        }
        Input::EdgeValues => {
            let mut random = SplitMix64(seed);
            (0..count).flat_map(|_| words(edge_value(element, &mut random))).collect()
        }
        Input::Sorted | Input::Reversed | Input::OrganPipe if element != ElementType::U32 => {
            let ranks = input.generate(count, seed).into_iter();
            ranks.flat_map(|rank| words(nth(element, rank, count))).collect()
        }
        // One draw per key, not per word.
        Input::TwoValued => {
            let draws = input.generate(count, seed).into_iter();
            draws.flat_map(|draw| words(u64::from(draw) << 32 | u64::from(draw))).collect()
        }
        _ => input.generate(count * element.words() as usize, seed),
    }
}

/// The words of a number, given as its bits.
pub(super) fn words_of(element: ElementType, bits: u64) -> impl Iterator<Item = u32> {
    [bits as u32, (bits >> 32) as u32].into_iter().take(element.words() as usize)
}

/// As [`edge_value`], of a packed type.
fn packed_edge_value(element: ElementType, random: &mut SplitMix64) -> u16 {
    let (draw, bits) = (random.next_u64(), random.next_u64() as u16);
    let sign: u16 = 1 << (element.bits() - 1);
    let infinity: u16 = if element == ElementType::F16 { 0x7c00 } else { 0x7f80 };
    let one = if element == ElementType::F16 { 0x3c00 } else { 0x3f80 };
    let least_normal = infinity & infinity.wrapping_neg();
    let edges = match element.is_float() {
        false => vec![0, 1, sign - 1, sign, sign.wrapping_add(1), sign | (sign - 1)],
        true => {
            let nans = [infinity + 1, infinity + least_normal / 2, sign - 1];
            let numbers = [0, 1, least_normal - 1, least_normal, one, infinity - 1, infinity];
            numbers.into_iter().chain(nans).flat_map(|magnitude| [magnitude, magnitude | sign]).collect()
        }
    };
    if draw & 1 == 0 { bits } else { edges[(draw >> 8) as usize % edges.len()] }
}

/// A key that increases with `rank`; as many are negative as positive, and all of its words vary.
fn nth(element: ElementType, rank: u32, count: usize) -> u64 {
    const SPREAD: i64 = (1 << 31) + 1;
    let centred = i64::from(rank) - count as i64 / 2;
    match (element.kind(), element.words()) {
        (NumberKind::Unsigned, 1) => rank.into(),
        (NumberKind::Unsigned, _) => u64::from(rank) * SPREAD as u64,
        (NumberKind::Signed, 1) => centred as u64,
        (NumberKind::Signed, _) => (centred * SPREAD) as u64,
        (NumberKind::Float, 1) => (centred as f32 / 3.0).to_bits().into(),
        (NumberKind::Float, _) => (centred as f64 / 3.0).to_bits(),
    }
}

/// Random bits, or every other time an edge value: the least and greatest numbers; for floats zeros, ones, infinities,
/// quiet and signalling NaNs and the bounds of the denormals, of either sign.
fn edge_value(element: ElementType, random: &mut SplitMix64) -> u64 {
    let (draw, bits) = (random.next_u64(), random.next_u64());
    if draw & 1 == 0 {
        return bits;
    }
    let sign = 1 << (element.bits() - 1);
    let pick = |from: &[u64]| from[(draw >> 8) as usize % from.len()];
    if !element.is_float() {
        return pick(&[0, 1, sign - 1, sign, sign + 1, sign | (sign - 1)]);
    }
    let [infinity, quiet_nan, one, least_normal] = if element == ElementType::F32 {
        [f32::INFINITY, f32::NAN, 1.0, f32::MIN_POSITIVE].map(|value| value.to_bits().into())
    } else {
        [f64::INFINITY, f64::NAN, 1.0, f64::MIN_POSITIVE].map(f64::to_bits)
    };
    let denormals = [1, least_normal - 1];
    let nans = [infinity + 1, quiet_nan, sign - 1];
    let magnitude = pick(&[&[0, least_normal, one, infinity - 1, infinity], &denormals[..], &nans].concat());
    if draw >> 40 & 1 == 0 { magnitude } else { magnitude | sign }
}

/// The keys of a sort and their values, before it.
pub(super) fn keys_and_values(
    element: ElementType,
    values: SortValues,
    input: Input,
    count: u64,
) -> [Vec<u32>; 2] {
    [keys(element, input, count as usize, count), self::values(values, count as usize)]
}

/// The values of `count` keys before a sort, as words. All are distinct: the permutation can be read from them.
pub(super) fn values(values: SortValues, count: usize) -> Vec<u32> {
    (0..count as u32).flat_map(|index| value(values, index)).collect()
}

/// The value of the key at `index`, as words: the index, and its hashes as the others, so that a value of which not all has
/// moved shows.
pub(super) fn value(values: SortValues, index: u32) -> impl Iterator<Item = u32> {
    let mut random = SplitMix64(index.into());
    let hashes = std::iter::repeat_with(move || random.next_u64() as u32);
    std::iter::once(index).chain(hashes).take(values.moved_size() as usize / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(input: Input, count: usize) -> Vec<f64> {
        let words = keys(ElementType::F64, input, count, 3);
        words
            .chunks_exact(2)
            .map(|pair| f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32))
            .collect()
    }

    #[test]
    fn keys_of_u32_are_the_inputs_own() {
        for input in Input::ALL {
            assert_eq!(keys(ElementType::U32, input, 1000, 5), input.generate(1000, 5));
        }
    }

    #[test]
    fn every_input_takes_every_type_and_length() {
        for input in Input::ALL.into_iter().chain([Input::EdgeValues]) {
            for element in ElementType::ALL {
                for count in [0, 1, 2, 7] {
                    let words = keys(element, input, count, 3);
                    assert_eq!(words.len(), count * element.words() as usize, "{input} {element}");
                }
            }
        }
    }

    #[test]
    fn shapes_are_those_of_numbers() {
        let sorted = floats(Input::Sorted, 1001);
        assert!(sorted.is_sorted() && sorted[0] < 0.0 && sorted[1000] > 0.0);
        assert!(floats(Input::Reversed, 1001).iter().rev().is_sorted());
        let integers = keys(ElementType::I32, Input::Sorted, 5, 0);
        assert_eq!(integers.iter().map(|&word| word as i32).collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        let mut two = floats(Input::TwoValued, 1000).iter().map(|key| key.to_bits()).collect::<Vec<_>>();
        two.sort_unstable();
        two.dedup();
        assert_eq!(two.len(), 2);
    }

    #[test]
    fn edge_values_are_of_every_kind_and_sign() {
        let kinds: [fn(f64) -> bool; 7] = [
            f64::is_nan,
            f64::is_infinite,
            f64::is_subnormal,
            f64::is_normal,
            |key| key == 0.0,
            |key| key.abs() == 1.0,
            |key| key.abs() == f64::MAX,
        ];
        let keys = floats(Input::EdgeValues, 1000);
        for (index, kind) in kinds.into_iter().enumerate() {
            for is_negative in [false, true] {
                let is_it = |key: &f64| kind(*key) && key.is_sign_negative() == is_negative;
                assert!(keys.iter().any(is_it), "{index}, {is_negative}");
            }
        }
    }

    #[test]
    fn no_two_values_agree_in_either_half() {
        let words = values(SortValues::B8, 1000);
        for half in 0..2 {
            let mut halves: Vec<_> = words.iter().skip(half).step_by(2).collect();
            halves.sort_unstable();
            halves.dedup();
            assert_eq!(halves.len(), 1000);
        }
    }
}
