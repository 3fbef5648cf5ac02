//! A covering set of segmented sorts: every pair of parameters in small tiles, since the default ones compile slowly.

use super::super::ordered_types;
use super::super::pairwise::{Axis, Covering, CoveringSet, Value, axis};
use super::{Case, CountFrom, PrimitiveCase, SegmentMix, SegmentedSortCase, SortKeys, SortValues, pairs};
use crate::harness::inputs::Input;
use subsweep::FloatOrder;
use subsweep::device::Capabilities;

const ELEMENTS: usize = 0;
const VALUES: usize = 1;
const DESCENDING: usize = 2;

fn axes() -> [Axis<SegmentedSortCase>; 7] {
    [
        axis(&ordered_types(FloatOrder::Total), |sort: &mut SegmentedSortCase, (element, order)| {
            sort.keys =
                SortKeys { order, ..SortKeys::new(element, sort.keys.values, sort.keys.is_descending) };
        }),
        axis(&SortValues::ALL, |sort, values| sort.keys.values = values),
        axis(&[false, true], |sort, is_descending| sort.keys.is_descending = is_descending),
        axis(&[false, true], |sort, is_part| {
            let width = sort.keys.element.bits();
            // An odd number of passes with any radix, and an even one.
            sort.keys.bits = if is_part { width / 3..width / 3 + 18 } else { 0..width };
        }),
        axis(&CountFrom::ALL, |sort, count_from| sort.count_from = count_from),
        axis(&[0, 4, 8, 12], |sort, misalignment| sort.misalignment = misalignment),
        axis(&[0, 4, 8, 12], |sort, misalignment| sort.values_misalignment = misalignment),
    ]
}

/// A sort of each module: keys of one and two words, with values of none, one and two; the types of each size in turn. Then
/// descending floats in the order of numpy, whose padding is known by its index.
fn required() -> Vec<Vec<Value>> {
    let kinds = (0..2).flat_map(|words| (0..3).map(move |values| (words, values)));
    let sorts = kinds.map(|(words, values)| vec![(ELEMENTS, 3 * words + values), (VALUES, values)]);
    sorts.chain([6, 7].map(|element| vec![(ELEMENTS, element), (DESCENDING, 1)])).collect()
}

/// The inputs of the covering set.
const INPUTS: [Input; 4] = [Input::EdgeValues, Input::ConstantDigit, Input::Uniform, Input::TwoValued];

/// Every module and every pair of parameters.
pub(in crate::harness::cases) fn covering_sets(_: &Capabilities) -> [CoveringSet<SegmentedSortCase>; 1] {
    let is_valid =
        |sort: &SegmentedSortCase| sort.keys.values != SortValues::None || sort.values_misalignment == 0;
    // Every work has cases with all distributions, which are no axis.
    let of_case = |sort: SegmentedSortCase| SegmentedSortCase { segments: SegmentMix::Boundaries, ..sort };
    [CoveringSet::new(pairs(SegmentMix::Boundaries, true), axes(), is_valid)
        .with(required())
        .on(&INPUTS)
        .of_cases(of_case)]
}

/// The covering set, each work with every distribution of segments.
pub(in crate::harness::cases) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let required = required();
    let [set] = covering_sets(capabilities);
    let plain = pairs(SegmentMix::Boundaries, true);
    let [_, small, large] = plain.policy(capabilities).max_extents().map(u64::from);
    let mut cases = Vec::new();
    for (index, Covering { work: sort, .. }) in set.works().into_iter().enumerate() {
        // All size classes in one sort of each module. Policies for few keys compile faster.
        let counts = if index < required.len() {
            [20_011, 9 * large + 7, large + 1, 1000]
        } else {
            [small, small - 1, small / 2 + 1, small / 3]
        };
        for (step, segments) in SegmentMix::ALL.into_iter().enumerate() {
            let (turn, sort) = (index + step, SegmentedSortCase { segments, ..sort.clone() });
            cases.push(sort.case(counts[turn % 4], INPUTS[(turn + index / 4) % 4]));
        }
        // Rows that are not long are few keys as well.
        let rows = SegmentMix::rows(&plain.policy(capabilities));
        let segments = if index < required.len() { rows[index % rows.len()] } else { rows[index % 2] };
        let sort_of_rows = SegmentedSortCase { segments, ..sort.clone() };
        cases.push(sort_of_rows.case(counts[index % 4], INPUTS[index / 8 % 4]));
        // An indirect count has a maximum above 0.
        let few = if sort.count_from == CountFrom::DeviceBeyond { 2 } else { [0, 1, 2][index % 3] };
        cases.push(sort.case(few, Input::Uniform));
        if index < required.len() {
            cases.push(SegmentedSortCase { by_counting: true, ..sort }.case(1000, Input::EdgeValues));
        }
    }
    cases
}
