//! Cases of merges: types, values, orders, and the division into two arrays.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, axis};
use super::{
    BenchScale, Case, CountFrom, Known, Needs, Prepared, PrimitiveCase, SortValues, UNPACKED, in_memory,
    ordered_types, small_workgroup, uniform_cases,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::Input;
use crate::harness::keys::{self, by_type};
use crate::reference::oracle::{self, Key};
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::internal::named;
use subsweep::merge::{MergeConfig, MergePlan, MergePolicy};
use subsweep::{ElementType, FloatOrder};

/// Parameters of a merge. The case's count and input are of all keys: the first part is sorted to be `a`, and the rest to be
/// `b`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeCase {
    /// Type of the keys.
    pub element: ElementType,
    /// Words of a value; 0 without values.
    pub values: u32,
    /// Whether the order is descending.
    pub is_descending: bool,
    /// The order of floats.
    pub order: FloatOrder,
    /// The part of the keys that is `a`.
    pub part: MergePart,
    /// Whether the plan takes 2^32 keys and more.
    pub has_large_counts: bool,
    /// Host or indirect count of `a`.
    pub count_from: CountFrom,
    /// Host or indirect count of `b`.
    pub b_count_from: CountFrom,
    /// Whether tiles are small, so that few keys take many.
    pub has_small_tiles: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

named! {
    /// The part of all keys that is the first array.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MergePart {
        /// Half of them.
        Half = "half",
        /// One in 16.
        Few = "few",
        /// None.
        None = "none",
        /// All.
        All = "all",
        /// The lesser half, so that nothing of `b` precedes a key of `a`.
        Less = "less",
    }
}

impl MergePart {
    const fn count(self, count: u64) -> u64 {
        match self {
            Self::Half | Self::Less => count / 2,
            Self::Few => count / 16,
            Self::None => 0,
            Self::All => count,
        }
    }
}

/// The sorted arrays of a case, and their values, in as much memory as the counts may need: what is beyond the counts must not
/// be read.
struct Arrays {
    counts: [u64; 2],
    keys: [Arc<Vec<u32>>; 2],
    values: [Arc<Vec<u32>>; 2],
}

impl Arrays {
    /// The elements of two arrays, of some words each, without what is beyond the counts.
    fn counted<'a>(&self, arrays: &'a [Arc<Vec<u32>>; 2], words: usize) -> [&'a [u32]; 2] {
        [0, 1].map(|index| &arrays[index][..self.counts[index] as usize * words])
    }
}

impl MergeCase {
    /// Halves of keys in ascending order, by the policy of the device.
    pub const fn keys(element: ElementType) -> Self {
        Self {
            element,
            values: 0,
            is_descending: false,
            order: FloatOrder::Total,
            part: MergePart::Half,
            has_large_counts: false,
            count_from: CountFrom::Host,
            b_count_from: CountFrom::Host,
            has_small_tiles: false,
            misalignment: 0,
        }
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> MergeConfig {
        let config = MergeConfig::keys(self.element).values(self.values).order(self.order);
        let config = if self.is_descending { config.descending() } else { config };
        let config = if self.has_large_counts { config.large_counts() } else { config };
        let is_indirect = self.count_from.is_indirect() || self.b_count_from.is_indirect();
        if is_indirect { config.indirect_count() } else { config }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> MergePolicy {
        match self.has_small_tiles {
            true => {
                let mut policy = MergePolicy::tiled(small_workgroup(capabilities), 8);
                policy.loads_in_flight = 8;
                policy
            }
            false => MergePolicy::choose(capabilities, &self.config()).policy,
        }
    }

    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_items().into()
    }

    /// Keys with their values, stably sorted, as words.
    fn sorted(&self, keys: &[u32], values: &[u32]) -> [Vec<u32>; 2] {
        by_type!(self.element, sorted_pairs(self, keys, values))
    }

    /// The arrays of `keys`.
    fn arrays(&self, keys: &[u32]) -> Arrays {
        let (words, value_words) = (self.element.words() as usize, self.values as usize);
        let count = keys.len() / words;
        let values = Input::Uniform.generate(count * value_words, count as u64 + 3);
        let sorted = match self.part {
            MergePart::Less => self.sorted(keys, &values)[0].clone(),
            _ => keys.to_vec(),
        };
        let a_count = self.part.count(count as u64) as usize;
        let (a, b) = sorted.split_at(a_count * words);
        let (a_values, b_values) = values.split_at(a_count * value_words);
        let [a, a_values] = self.sorted(a, a_values);
        let [b, b_values] = self.sorted(b, b_values);
        let counts = [a_count, count - a_count].map(|count| count as u64);
        let rooms = [self.count_from.room(counts[0]), self.b_count_from.room(counts[1])];
        let pad = |[mut a, mut b]: [Vec<u32>; 2], words: usize| {
            a.resize(rooms[0] as usize * words, 0);
            b.resize(rooms[1] as usize * words, 0);
            [a, b].map(Arc::new)
        };
        Arrays { counts, keys: pad([a, b], words), values: pad([a_values, b_values], value_words) }
    }

    /// Keys and values of the result of a merge, by a stable sort of both arrays.
    pub fn merged(&self, keys: [&[u32]; 2], values: [&[u32]; 2]) -> [Vec<u32>; 2] {
        self.sorted(&keys.concat(), &values.concat())
    }
}

fn sorted_pairs<K: Key + bytemuck::Pod>(case: &MergeCase, keys: &[u32], values: &[u32]) -> [Vec<u32>; 2] {
    let words = case.values as usize;
    let keys: Vec<K> = bytemuck::pod_collect_to_vec(keys);
    let mut pairs: Vec<_> = keys.into_iter().zip(0..).collect();
    oracle::sort_pairs(&mut pairs, 0..K::BITS, case.is_descending, case.order);
    let values: Vec<_> =
        pairs.iter().flat_map(|&(_, index)| values[index * words..][..words].iter().copied()).collect();
    let keys: Vec<K> = pairs.into_iter().map(|(key, _)| key).collect();
    [bytemuck::pod_collect_to_vec(&keys), values]
}

impl PrimitiveCase for MergeCase {
    type Plan = MergePlan;

    fn id(&self) -> Id {
        Id::new(if self.values == 0 { "merge:keys" } else { "merge:pairs" })
            .with("type", self.element)
            .unless(0, "values", self.values)
            .flag("descending", self.is_descending)
            .unless(FloatOrder::Total, "floats", self.order)
            .with("a", self.part)
            .given("counts", self.has_large_counts.then_some("wide"))
            .unless(CountFrom::Host, "count", self.count_from)
            .unless(CountFrom::Host, "b-count", self.b_count_from)
            .tiles(self.has_small_tiles)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.element.size() as u64
    }

    fn variant(&self) -> String {
        format!("values of {} words, {} in a", self.values, self.part.name())
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        keys::keys_and_values(self.element, SortValues::None, input, count)
    }

    fn prepare(&self, plan: Arc<MergePlan>, count: u64, _: Input, known: &Known) -> Result<Prepared> {
        let data = known.data(|keys| self.arrays(keys));
        let (words, value_words) = (self.element.words() as usize, self.values as usize);
        let (a_count, mut operands) = self.count_from.operand("a_count", data.counts[0]);
        let (b_count, b_word) = self.b_count_from.operand("b_count", data.counts[1]);
        operands.extend(b_word);
        let keys = data.keys.each_ref().map(|keys| in_memory(self.element, keys));
        operands.extend(["a", "b"].into_iter().zip(keys));
        operands.extend(["a_values", "b_values"].into_iter().zip(data.values.clone()));
        let case = self.clone();
        let needs = Needs {
            values: &["destination_values"],
            ..Needs::new(a_count.max() + b_count.max(), self.misalignment, operands).elements(self.element)
        };
        let expected = move |_: &[u32]| {
            let [keys, values] =
                case.merged(data.counted(&data.keys, words), data.counted(&data.values, value_words));
            (Expected::exact(keys), vec![values])
        };
        Prepared::new(plan.traffic_size(count), plan, Default::default(), (a_count, b_count), needs, expected)
    }
}

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<MergeCase>; 1] {
    let plain = MergeCase { has_small_tiles: true, ..MergeCase::keys(ElementType::U32) };
    let axes = [
        axis(&ordered_types(FloatOrder::Total), |case: &mut MergeCase, (element, order)| {
            (case.element, case.order) = (element, order);
        }),
        axis(&[0, 1, 2, 5], |case, values| case.values = values),
        axis(&[false, true], |case, is_descending| case.is_descending = is_descending),
        axis(&MergePart::ALL, |case, part| case.part = part),
        axis(&CountFrom::ALL, |case, count_from| case.count_from = count_from),
        axis(&CountFrom::ALL, |case, count_from| case.b_count_from = count_from),
        axis(&[0, 4, 8, 12], |case, misalignment| case.misalignment = misalignment),
    ];
    let inputs = [Input::EdgeValues, Input::Uniform, Input::TwoValued, Input::Sorted];
    [CoveringSet::new(plain, axes, |_| true).on(&inputs)]
}

/// The covering set, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let [set] = covering_sets(capabilities);
    let mut cases = set.tiled_cases(|work| {
        let tile = work.tile(capabilities);
        (tile, vec![0, 1, tile, tile + 1, 5 * tile + 2])
    });
    // Keys of each width, whose kernels differ.
    for element in [ElementType::F32, ElementType::F64] {
        let default = MergeCase { values: 1, ..MergeCase::keys(element) };
        cases.extend([Input::Uniform, Input::EdgeValues].map(|input| default.case(65_537, input)));
        let large = MergeCase { has_large_counts: true, ..MergeCase::keys(element) };
        cases.push(large.case(8195, Input::EdgeValues));
    }
    cases
}

/// Plans of the default policy: keys of one word and of two, alone and with values.
fn default_works() -> [MergeCase; 4] {
    [(ElementType::F32, 0), (ElementType::F32, 1), (ElementType::U64, 0), (ElementType::U64, 2)]
        .map(|(element, values)| MergeCase { values, ..MergeCase::keys(element) })
}

/// The plans of [`default_works`], and one with an indirect count.
pub(super) fn selectable_works(_: &Capabilities) -> Vec<MergeCase> {
    let order = FloatOrder::Numpy;
    let counted = MergeCase { count_from: CountFrom::Device, order, ..MergeCase::keys(ElementType::F32) };
    default_works().into_iter().chain([counted]).collect()
}

/// Each of [`default_works`] in several tiles, with every count.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = default_works()
        .into_iter()
        .flat_map(|case| CountFrom::ALL.map(|count_from| MergeCase { count_from, ..case.clone() }));
    works.map(|case| case.case(2 * case.tile(capabilities) + 3, Input::EdgeValues)).collect()
}

/// All cases except the covering ones.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for work in default_works() {
        let tile = work.tile(capabilities);
        let edges = BTreeSet::from([0, 1, 2, tile - 1, tile, tile + 1, 3 * tile + 7]);
        cases.extend(edges.into_iter().map(|count| work.case(count, Input::Uniform)));
        for part in MergePart::ALL {
            let of = MergeCase { part, ..work.clone() };
            let inputs = [Input::EdgeValues, Input::Sorted, Input::Constant(0), Input::TwoValued];
            cases.extend(inputs.map(|input| of.case(9 * tile + 3, input)));
        }
        let wide = MergeCase { values: 301 + work.values, ..work.clone() };
        cases.push(wide.case(2 * tile + 3, Input::Uniform));
        cases.push(work.case((1 << 24) + 3, Input::Uniform));
    }
    for element in UNPACKED {
        let case = MergeCase { values: 1, ..MergeCase::keys(element) };
        cases.extend([Input::EdgeValues, Input::TwoValued].map(|input| case.case(99_991, input)));
    }
    cases
}

/// Benchmarks: keys alone and with values, of halves and of few.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let keys = MergeCase::keys(ElementType::U32);
    let works = [
        keys.clone(),
        MergeCase { values: 1, ..keys.clone() },
        MergeCase { part: MergePart::Few, ..keys },
        MergeCase::keys(ElementType::U64),
    ];
    uniform_cases(works, &scale.counts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_is_a_stable_sort_of_both() {
        let case = MergeCase { values: 1, ..MergeCase::keys(ElementType::U32) };
        let [keys, values] = case.merged([&[1, 3, 3], &[0, 3, 4]], [&[10, 11, 12], &[20, 21, 22]]);
        assert_eq!((&keys[..], &values[..]), (&[0, 1, 3, 3, 3, 4][..], &[20, 10, 11, 12, 21, 22][..]));
        let case = MergeCase { is_descending: true, ..case };
        let [keys, values] = case.merged([&[3, 3, 1], &[4, 3, 0]], [&[10, 11, 12], &[20, 21, 22]]);
        assert_eq!((&keys[..], &values[..]), (&[4, 3, 3, 3, 1, 0][..], &[20, 10, 11, 21, 12, 22][..]));
    }

    #[test]
    fn the_parts_of_a_case_are_sorted() {
        for part in MergePart::ALL {
            let case = MergeCase { part, ..MergeCase::keys(ElementType::U32) };
            let Arrays { keys: [a, b], .. } = case.arrays(&case.generate(1000, Input::Uniform)[0]);
            assert!(a.is_sorted() && b.is_sorted());
            assert_eq!((a.len() as u64, a.len() + b.len()), (part.count(1000), 1000));
            assert!(part != MergePart::Less || a.last() <= b.first());
        }
    }
}
