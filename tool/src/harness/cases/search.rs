//! Cases of searches: types, sides, and numbers of sorted keys.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, axis};
use super::{
    BenchScale, Case, CountFrom, Known, Needs, Prepared, PrimitiveCase, SortValues, UNPACKED, cases_of,
    in_memory, ordered_types, small_workgroup,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::{Input, SplitMix64};
use crate::harness::keys::{self, by_type};
use crate::harness::threads::in_threads;
use crate::reference::oracle::{self, Key};
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::search::{SearchConfig, SearchPlan, SearchPolicy};
use subsweep::{ElementType, FloatOrder, Number};

/// Parameters of a search. The case's count and input are of the needles; half of the sorted keys are needles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchCase {
    /// Type of the keys.
    pub element: ElementType,
    /// Whether positions are upper bounds.
    pub is_upper_bound: bool,
    /// The order of floats.
    pub order: FloatOrder,
    /// Number of sorted keys; `None` for as many as needles, or of rows.
    pub sorted_count: Option<u64>,
    /// Sorted keys and needles of a row, each of which is searched by itself.
    pub rows: Option<[u32; 2]>,
    /// Whether positions are u64.
    pub has_large_counts: bool,
    /// Host or indirect count of the needles.
    pub count_from: CountFrom,
    /// Host or indirect count of the sorted keys.
    pub sorted_count_from: CountFrom,
    /// Whether tiles are small, so that few needles take many.
    pub has_small_tiles: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

impl SearchCase {
    /// A lower bound by the policy of the device, in as many keys as needles.
    pub const fn lower_bound(element: ElementType) -> Self {
        Self {
            element,
            is_upper_bound: false,
            order: FloatOrder::Numpy,
            sorted_count: None,
            rows: None,
            has_large_counts: false,
            count_from: CountFrom::Host,
            sorted_count_from: CountFrom::Host,
            has_small_tiles: false,
            misalignment: 0,
        }
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> SearchConfig {
        let config = match self.is_upper_bound {
            true => SearchConfig::upper_bound(self.element),
            false => SearchConfig::lower_bound(self.element),
        };
        let config = config.order(self.order);
        let config = match self.rows {
            Some([sorted_length, needle_length]) => config.along_rows(sorted_length, needle_length),
            None => config,
        };
        let config = if self.has_large_counts { config.large_counts() } else { config };
        let is_indirect = self.count_from.is_indirect() || self.sorted_count_from.is_indirect();
        if is_indirect { config.indirect_count() } else { config }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> SearchPolicy {
        match self.has_small_tiles {
            true => SearchPolicy::tiled(small_workgroup(capabilities), 8, 3),
            false => SearchPolicy::choose(capabilities, &self.config()).policy,
        }
    }

    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_items().into()
    }

    fn sorted_count(&self, needle_count: u64) -> u64 {
        match self.rows {
            Some([sorted_length, needle_length]) => {
                needle_count.div_ceil(needle_length.into()) * u64::from(sorted_length)
            }
            None => self.sorted_count.unwrap_or(needle_count),
        }
    }

    /// The sorted keys of a search for `needles`, as words.
    fn sorted(&self, needles: &[u32], input: Input) -> Vec<u32> {
        let words = self.element.words() as usize;
        let count = self.sorted_count((needles.len() / words) as u64);
        let [mut keys, _] = keys::keys_and_values(self.element, SortValues::None, input, count + 1);
        keys.truncate(count as usize * words);
        let mut random = SplitMix64(count);
        let found: Vec<_> = needles.chunks_exact(words).collect();
        for key in keys.chunks_exact_mut(words).step_by(2).filter(|_| !found.is_empty()) {
            key.copy_from_slice(found[random.next_u64() as usize % found.len()]);
        }
        let row_words = self.rows.map_or(keys.len(), |[length, _]| length as usize * words);
        keys.chunks(row_words.max(1)).flat_map(|row| Self::sorted_keys(&self.config(), row)).collect()
    }

    /// The keys, sorted for a search.
    pub fn sorted_keys(config: &SearchConfig, keys: &[u32]) -> Vec<u32> {
        by_type!(element_type(config), sorted_words(keys, config.float_order()))
    }

    /// The position of each needle by numpy's definition, in all keys or in its row, as words.
    pub fn positions(config: &SearchConfig, sorted: &[u32], needles: &[u32]) -> Vec<u32> {
        let of = |(sorted, needles): (&[u32], &[u32])| -> Vec<u32> {
            by_type!(element_type(config), positions_of(config, sorted, needles))
        };
        let Some(lengths) = config.row_lengths() else { return of((sorted, needles)) };
        let [sorted_words, needle_words] =
            lengths.map(|length| (length * element_type(config).words()) as usize);
        sorted.chunks(sorted_words).zip(needles.chunks(needle_words)).flat_map(of).collect()
    }
}

fn element_type(config: &SearchConfig) -> ElementType {
    config.element_type().expect("no case has functions of a caller")
}

fn sorted_words<N: Number + Key>(keys: &[u32], order: FloatOrder) -> Vec<u32> {
    let mut keys: Vec<N> = bytemuck::pod_collect_to_vec(keys);
    oracle::sort_by(&mut keys, |a, b| a.compare(*b, order));
    bytemuck::pod_collect_to_vec(&keys)
}

fn positions_of<N: Number + Key + Sync>(config: &SearchConfig, sorted: &[u32], needles: &[u32]) -> Vec<u32> {
    let [sorted, needles]: [Vec<N>; 2] = [sorted, needles].map(bytemuck::pod_collect_to_vec);
    let counts = |key: &N, needle: &N| match key.compare(*needle, config.float_order()) {
        Ordering::Less => true,
        Ordering::Equal => config.is_upper_bound(),
        Ordering::Greater => false,
    };
    let high_words: &[u32] = if config.position_size() == 8 { &[0] } else { &[] };
    let position = |needle: &N| {
        let position = sorted.partition_point(|key| counts(key, needle)) as u32;
        std::iter::once(position).chain(high_words.iter().copied())
    };
    let positions = |needles: &[N]| needles.iter().flat_map(position).collect::<Vec<_>>();
    in_threads(needles.chunks(1 << 16).collect(), positions).concat()
}

impl PrimitiveCase for SearchCase {
    type Plan = SearchPlan;

    fn id(&self) -> Id {
        let sorted_count = self.sorted_count.map_or("n".to_owned(), |count| count.to_string());
        Id::new(if self.is_upper_bound { "search:upper" } else { "search:lower" })
            .with("type", self.element)
            .unless(FloatOrder::Numpy, "floats", self.order)
            .given("rows", self.rows.map(|[sorted, needles]| format!("{sorted}:{needles}")))
            .given("sorted", self.rows.is_none().then_some(sorted_count))
            .given("counts", self.has_large_counts.then_some("wide"))
            .unless(CountFrom::Host, "sorted-count", self.sorted_count_from)
            .unless(CountFrom::Host, "count", self.count_from)
            .tiles(self.has_small_tiles)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.element.size() as u64
    }

    fn variant(&self) -> String {
        let side = if self.is_upper_bound { "upper" } else { "lower" };
        let sorted = self.sorted_count.map_or("as many".to_owned(), |count| count.to_string());
        format!("{side} bound in {sorted} keys")
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        keys::keys_and_values(self.element, SortValues::None, input, count)
    }

    fn prepare(&self, plan: Arc<SearchPlan>, count: u64, input: Input, known: &Known) -> Result<Prepared> {
        let words = self.element.words() as usize;
        let sorted_count = self.sorted_count(count);
        let (needle_count, mut operands) = self.count_from.operand("needle_count", count);
        let (counted, sorted_word) = self.sorted_count_from.operand("sorted_count", sorted_count);
        // Keys beyond the count must not be read: they are the least of all.
        let sorted = known.data(|needles| {
            let mut sorted = self.sorted(needles, input);
            sorted.resize(counted.max() as usize * words, 0);
            sorted
        });
        operands.extend(sorted_word);
        operands.push(("sorted", in_memory(self.element, &sorted)));
        let config = self.config();
        let needs = Needs {
            // The needles are only read: they stay as they are, and the positions are the values.
            source: "needles",
            in_place: true,
            values: &["positions"],
            ..Needs::new(needle_count.max(), self.misalignment, operands).elements(self.element)
        };
        let expected = move |needles: &[u32]| {
            let sorted = &sorted[..sorted_count as usize * words];
            let positions = Self::positions(&config, sorted, needles);
            (Expected::exact(needles.to_vec()), vec![positions])
        };
        let traffic_size = plan.traffic_size(sorted_count, count);
        Prepared::new(traffic_size, plan, Default::default(), (counted, needle_count), needs, expected)
    }
}

/// Numbers of sorted keys, and lengths of rows.
const KEYS: [(Option<u64>, Option<[u32; 2]>); 9] = [
    (Some(0), None),
    (Some(1), None),
    (Some(5), None),
    (Some(8), None),
    (Some(1000), None),
    (Some(4099), None),
    (None, Some([1, 1])),
    (None, Some([7, 3])),
    (None, Some([300, 40])),
];

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<SearchCase>; 1] {
    let plain = SearchCase { has_small_tiles: true, ..SearchCase::lower_bound(ElementType::U32) };
    let axes = [
        axis(&ordered_types(FloatOrder::Numpy), |case: &mut SearchCase, (element, order)| {
            (case.element, case.order) = (element, order);
        }),
        axis(&[false, true], |case, is_upper_bound| case.is_upper_bound = is_upper_bound),
        axis(&KEYS, |case, (count, rows)| (case.sorted_count, case.rows) = (count, rows)),
        axis(&CountFrom::ALL, |case, count_from| case.count_from = count_from),
        axis(&CountFrom::ALL, |case, count_from| case.sorted_count_from = count_from),
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
        (tile, vec![0, 1, tile, tile + 1, 3 * tile + 2])
    });
    let default = SearchCase::lower_bound(ElementType::F32);
    cases.extend([Input::Uniform, Input::EdgeValues].map(|input| default.case(65_537, input)));
    // Keys of each width, whose kernels differ.
    for (element, is_upper_bound) in [(ElementType::F32, false), (ElementType::U64, true)] {
        let large = SearchCase { is_upper_bound, has_large_counts: true, ..SearchCase::lower_bound(element) };
        cases.push(large.case(4099, Input::EdgeValues));
    }
    cases
}

/// Plans of the default policy: both sides, for keys of one word and of two.
pub(super) fn selectable_works(_: &Capabilities) -> [SearchCase; 4] {
    let [a, b] = both_sides(SearchCase::lower_bound(ElementType::F32));
    let [c, d] = both_sides(SearchCase::lower_bound(ElementType::U64));
    [a, b, c, d]
}

/// Each of [`selectable_works`] in several tiles, with every count.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities)
        .into_iter()
        .flat_map(|case| CountFrom::ALL.map(|count_from| SearchCase { count_from, ..case.clone() }));
    works.map(|case| case.case(2 * case.tile(capabilities) + 3, Input::EdgeValues)).collect()
}

/// All cases except the covering ones.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for work in selectable_works(capabilities) {
        let tile = work.tile(capabilities);
        let edges = BTreeSet::from([0, 1, 2, tile - 1, tile, tile + 1, 3 * tile + 7]);
        cases.extend(edges.into_iter().map(|count| work.case(count, Input::Uniform)));
        let inputs = [Input::EdgeValues, Input::Sorted, Input::Constant(0), Input::TwoValued];
        cases.extend(inputs.map(|input| work.case(2 * tile + 3, input)));
        for sorted_count in [0, 1, 2, 127, 128, 255, 256, 257, 65_535, 65_536, 1_000_003] {
            let of = SearchCase { sorted_count: Some(sorted_count), ..work.clone() };
            cases.extend([Input::EdgeValues, Input::Uniform].map(|input| of.case(5003, input)));
        }
        for rows in [[1, 5], [5, 1], [256, 1000], [100_003, 2501]] {
            let of = SearchCase { rows: Some(rows), ..work.clone() };
            cases.extend([Input::EdgeValues, Input::Uniform].map(|input| of.case(5003, input)));
        }
        // Several rows of workgroups; as many sorted keys would take minutes on a CPU.
        let large = SearchCase { sorted_count: Some(1_000_003), ..work.clone() };
        cases.push(large.case((1 << 24) + 3, Input::Uniform));
    }
    for element in UNPACKED {
        let case = SearchCase::lower_bound(element);
        let cases_of =
            |case: SearchCase| [Input::EdgeValues, Input::Uniform].map(|input| case.case(99_991, input));
        cases.extend(both_sides(case).into_iter().flat_map(cases_of));
    }
    cases
}

fn both_sides(case: SearchCase) -> [SearchCase; 2] {
    [SearchCase { is_upper_bound: true, ..case.clone() }, case]
}

/// Benchmarks: needles in any order and sorted ones, in as many keys and in few.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let lower = SearchCase::lower_bound;
    let few = SearchCase { sorted_count: Some(1 << 12), ..lower(ElementType::U32) };
    let works = [lower(ElementType::U32), lower(ElementType::F64), few];
    cases_of(works, &scale.counts(), &[Input::Uniform, Input::Sorted])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nans_are_last_and_zeros_are_equal() {
        let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
        let sorted =
            bits(&[f32::NEG_INFINITY, -1.0, -0.0, 0.0, 0.0, 2.0, f32::INFINITY, -f32::NAN, f32::NAN]);
        let needles = bits(&[-0.0, 0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0]);
        let positions = |is_upper_bound| {
            SearchCase::positions(
                &SearchCase { is_upper_bound, ..SearchCase::lower_bound(ElementType::F32) }.config(),
                &sorted,
                &needles,
            )
        };
        assert_eq!(positions(false), [2, 2, 7, 7, 6, 0, 5]);
        assert_eq!(positions(true), [5, 5, 9, 9, 7, 1, 5]);
    }

    #[test]
    fn half_of_the_sorted_keys_are_needles() {
        for case in selectable_works(&Capabilities::default()) {
            let [needles, _] = case.generate(1000, Input::Uniform);
            let sorted = case.sorted(&needles, Input::Uniform);
            let words = case.element.words() as usize;
            let needles: BTreeSet<_> = needles.chunks(words).collect();
            let found = sorted.chunks(words).filter(|key| needles.contains(key)).count();
            assert!(sorted.len() == 1000 * words && (490..520).contains(&found), "{case}: {found}");
        }
    }
}
