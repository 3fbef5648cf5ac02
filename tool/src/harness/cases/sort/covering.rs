//! A covering set of sorts: every pair of parameters in small tiles, and the default tiles.

use super::super::pairwise::{Axis, CoveringSet, InputTurns, Value, axis};
use super::super::{boundary_counts, ordered_types};
use super::{
    ANY_COUNT, Case, CountFrom, PolicyName, PrimitiveCase, SortCase, SortKeys, SortValues, crossover,
};
use crate::harness::inputs::Input;
use subsweep::device::Capabilities;
use subsweep::sort::SortAlgorithm;
use subsweep::{ElementType, FloatOrder};

const ELEMENTS: usize = 0;
const VALUES: usize = 1;
const ALGORITHMS: usize = 2;
const DESCENDING: usize = 3;
const BITS_AXIS: usize = 4;

/// Bit ranges: all, some in the middle, none.
const BITS: [fn(u32) -> std::ops::Range<u32>; 3] =
    [|width| 0..width, |width| width / 3..3 * width / 4, |_| 5..5];

fn axes() -> [Axis<SortCase>; 9] {
    [
        axis(&ordered_types(FloatOrder::Total), |sort: &mut SortCase, (element, order)| {
            sort.keys =
                SortKeys { order, ..SortKeys::new(element, sort.keys.values, sort.keys.is_descending) };
        }),
        axis(&SortValues::ALL, |sort, values| sort.keys.values = values),
        axis(&SortAlgorithm::ALL, |sort, algorithm| sort.algorithm = algorithm),
        axis(&[false, true], |sort, is_descending| sort.keys.is_descending = is_descending),
        axis(&BITS, |sort, bits| sort.keys.bits = bits(sort.keys.element.bits())),
        axis(&[false, true], |sort, is_double_buffered| sort.is_double_buffered = is_double_buffered),
        axis(&CountFrom::ALL, |sort, count_from| sort.count_from = count_from),
        axis(&[0, 4, 8, 12], |sort, misalignment| sort.misalignment = misalignment),
        axis(&[0, 4, 8, 12], |sort, misalignment| sort.values_misalignment = misalignment),
    ]
}

/// A sort of each module: keys of one and two words, with values of none, one and two, with each algorithm that has
/// kernels of its own; the types of each size in turn. Then descending floats in the order of numpy, whose padding is known by
/// its index, with each algorithm.
fn required() -> Vec<Vec<Value>> {
    let algorithms = SortAlgorithm::ALL.into_iter().enumerate();
    let of_own = algorithms.filter(|&(_, algorithm)| algorithm != SortAlgorithm::Radix2Bit);
    let kinds = (0..2).flat_map(|words| (0..3).map(move |values| (words, values)));
    let of = move |algorithm: usize, (words, values): (usize, usize)| {
        let element = 3 * words + (values + algorithm) % 3;
        // Not the empty bit range, which dispatches nothing.
        let bits = (words + values) % 2;
        vec![(ALGORITHMS, algorithm), (ELEMENTS, element), (VALUES, values), (BITS_AXIS, bits)]
    };
    let sorts = of_own.flat_map(|(index, _)| kinds.clone().map(move |kind| of(index, kind)));
    let floats = [6, 7].into_iter().flat_map(|element| {
        let of = move |algorithm| vec![(ALGORITHMS, algorithm), (ELEMENTS, element), (DESCENDING, 1)];
        (0..SortAlgorithm::ALL.len()).map(of)
    });
    sorts.chain(floats).collect()
}

/// Pairs of u32 in small tiles, from which the covering set varies.
fn small_pairs() -> SortCase {
    SortCase::keys_of_u32(ANY_COUNT[0], PolicyName::Small).with_types(ElementType::U32, SortValues::B4, false)
}

/// Every module and every pair of parameters, in small tiles.
pub(in crate::harness::cases) fn covering_sets(_: &Capabilities) -> [CoveringSet<SortCase>; 1] {
    let is_valid = |sort: &SortCase| {
        (sort.keys.values != SortValues::None || sort.values_misalignment == 0)
            // An argsort has no double buffer.
            && !(sort.keys.values == SortValues::Indices && sort.is_double_buffered)
    };
    [CoveringSet::new(small_pairs(), axes(), is_valid).with(required()).on(&Input::ALL)]
}

/// The covering set, and the chosen policy.
pub(in crate::harness::cases) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let [set] = covering_sets(capabilities);
    let mut cases = Vec::new();
    let mut inputs = InputTurns::new([Input::EdgeValues].into_iter().chain(Input::ALL));
    let works = set.works();
    for (index, covering) in works.iter().enumerate() {
        let sort = &covering.work;
        let tile = sort.tile(capabilities);
        let counts = match (sort.algorithm, index % 3) {
            // At most the capacity of one workgroup, which limits an indirect count's maximum as well.
            (SortAlgorithm::SingleWorkgroup, _) if sort.count_from == CountFrom::Device => {
                vec![0, 1, tile / 2, tile * 2 / 3 - 2]
            }
            (SortAlgorithm::SingleWorkgroup, 0) => vec![1, 2, tile / 3, tile],
            (SortAlgorithm::SingleWorkgroup, _) => vec![tile - 1, tile, tile / 2 + 3, 0],
            (_, 0) => vec![2, tile - 1, tile, 5 * tile + 3],
            (_, 1) => vec![1, tile + 1, 2 * tile + 3, 45 * tile + 7],
            (_, _) => vec![2 * tile, 3 * tile + 7, 0, 65_537],
        };
        for count in counts {
            // An indirect count has a maximum above 0.
            if (count, sort.count_from) != (0, CountFrom::DeviceBeyond) {
                cases.push(sort.case(count, inputs.take(covering)));
            }
        }
    }
    for covering in &works {
        let sort = &covering.work;
        let tile = sort.tile(capabilities);
        let count = if sort.algorithm == SortAlgorithm::SingleWorkgroup { tile / 2 } else { 2 * tile + 5 };
        while inputs.is_open(covering) {
            cases.push(sort.case(count, inputs.take(covering)));
        }
    }
    // 64-bit offsets, in several portions.
    let wide = SortCase { algorithm: SortAlgorithm::Onesweep, has_large_counts: true, ..small_pairs() };
    let tile = wide.tile(capabilities);
    cases.extend([0, tile + 1, 45 * tile + 7].map(|count| wide.case(count, Input::EdgeValues)));
    let windows = SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::SmallWindows);
    let packed = [ElementType::U8, ElementType::U16];
    let packed = packed.map(|key| windows.clone().with_types(key, SortValues::None, false));
    for sort in windows.kinds().into_iter().chain(packed) {
        cases.extend([tile + 1, 45 * tile + 7].map(|count| sort.case(count, Input::EdgeValues)));
    }
    let chosen = SortCase::chosen();
    let counts =
        boundary_counts(capabilities, crossover(&SortCase::chosen().policy(capabilities))).into_iter();
    cases.extend(counts.zip(Input::ALL.into_iter().cycle()).map(|(count, input)| chosen.case(count, input)));
    // The other kinds of elements, in several tiles.
    cases.extend(chosen.kinds()[1..].iter().map(|sort| sort.case(65_536, Input::Uniform)));
    cases
}
