//! Cases of top-k: types, orders, rows of one tile and of several, results, and algorithms.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, InputTurns, axis};
use super::{
    BenchScale, Case, CountFrom, Effort, Known, Needs, Prepared, PrimitiveCase, SortValues, ordered_types,
    small_workgroup,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::{Input, SplitMix64};
use crate::harness::keys::{self, by_type};
use crate::reference::oracle::Key;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::internal::named;
use subsweep::top_k::{TopKAlgorithm, TopKConfig, TopKPlan, TopKPolicy};
use subsweep::{ElementType, FloatOrder, Number};

/// Parameters of a top-k. The case's count is of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopKCase {
    /// Type of the keys.
    pub element: ElementType,
    /// Keys of a row.
    pub columns: u32,
    /// Keys that are selected of a row.
    pub k: u32,
    /// Whether the smallest keys are selected.
    pub is_smallest: bool,
    /// The order of floats.
    pub order: FloatOrder,
    /// Whether the result is in the order of the keys.
    pub is_sorted: bool,
    /// Arrays of the result.
    pub output: TopKOutput,
    /// Words of a value; 0 without values.
    pub values: u32,
    /// What differs from row to row.
    pub unequal: Unequal,
    /// The algorithm, in small tiles; `None` for the policy of the device.
    pub algorithm: Option<TopKAlgorithm>,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

named! {
    /// Arrays that a [`TopKCase`] writes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TopKOutput {
        /// Keys and columns.
        Both = "both",
        /// Keys.
        Keys = "keys",
        /// Columns.
        Indices = "indices",
        /// Neither: values alone.
        Values = "values",
    }
}

named! {
    /// What differs from row to row of a [`TopKCase`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Unequal {
        /// Nothing.
        None = "none",
        /// The length: rows are segments.
        Lengths = "lengths",
        /// The k.
        Ks = "ks",
        /// Both.
        Both = "both",
    }
}

impl Unequal {
    const fn has_segments(self) -> bool {
        matches!(self, Self::Lengths | Self::Both)
    }

    const fn has_own_k(self) -> bool {
        matches!(self, Self::Ks | Self::Both)
    }
}

impl TopKCase {
    /// The largest keys, sorted, and their columns, by the policy of the device.
    pub const fn largest(element: ElementType, columns: u32, k: u32) -> Self {
        Self {
            element,
            columns,
            k,
            is_smallest: false,
            order: FloatOrder::Numpy,
            is_sorted: true,
            output: TopKOutput::Both,
            values: 0,
            unequal: Unequal::None,
            algorithm: None,
            count_from: CountFrom::Host,
            misalignment: 0,
        }
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> TopKConfig {
        let config = match self.is_smallest {
            true => TopKConfig::smallest(self.element, self.columns, self.k),
            false => TopKConfig::largest(self.element, self.columns, self.k),
        };
        let config = if self.is_sorted { config } else { config.unsorted() };
        let config = config.values(self.values).order(self.order);
        let config = if self.unequal.has_segments() { config.segments() } else { config };
        let config = if self.unequal.has_own_k() { config.own_k() } else { config };
        let config = match self.output {
            TopKOutput::Both => config,
            TopKOutput::Keys => config.without_indices(),
            TopKOutput::Indices => config.without_keys(),
            TopKOutput::Values => config.without_keys().without_indices(),
        };
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> TopKPolicy {
        match self.algorithm {
            Some(algorithm) => {
                // Of the fewest lanes.
                let items = if algorithm == TopKAlgorithm::Subgroups { 8 } else { 2 };
                TopKPolicy::new(algorithm, small_workgroup(capabilities), items)
            }
            None => TopKPolicy::choose(capabilities, &self.config()).policy,
        }
    }

    /// Compares two keys, each as words.
    pub fn compare(element: ElementType, order: FloatOrder, a: &[u32], b: &[u32]) -> Ordering {
        by_type!(element, compare_words(a, b, order))
    }

    /// The columns that are selected of a row, by a stable sort.
    pub fn selected(&self, row: &[u32]) -> Vec<usize> {
        self.selected_of(row, self.k)
    }

    /// The first key of each of `count` rows, which have up to `columns` keys; the last has as many.
    fn begins(&self, count: u64) -> Vec<u32> {
        let mut random = SplitMix64(count + 1);
        let mut begin = 0;
        let next = |_| {
            let this = begin;
            begin += match random.next_u64() % 4 {
                0 => self.columns,
                1 => self.k.min(self.columns),
                _ => (random.next_u64() % (u64::from(self.columns) + 1)) as u32,
            };
            this
        };
        (0..count).map(next).collect()
    }

    /// The k of each of `count` rows.
    fn ks(&self, count: u64) -> Vec<u32> {
        let mut random = SplitMix64(count + 2);
        (0..count).map(|_| (random.next_u64() % (u64::from(self.k) + 1)) as u32).collect()
    }

    fn selected_of(&self, row: &[u32], k: u32) -> Vec<usize> {
        let words = self.element.words() as usize;
        let key = |column: usize| &row[column * words..][..words];
        let mut columns: Vec<_> = (0..row.len() / words).collect();
        columns.sort_by(|&a, &b| {
            let order = Self::compare(self.element, self.order, key(a), key(b));
            if self.is_smallest { order } else { order.reverse() }
        });
        columns.truncate(k as usize);
        if !self.is_sorted {
            columns.sort_unstable();
        }
        columns
    }

    /// Whether rows have enough keys, and something is written.
    fn is_valid(&self) -> bool {
        self.k <= self.columns
            && (self.output != TopKOutput::Values || self.values > 0)
            && (self.columns <= 32 || self.algorithm != Some(TopKAlgorithm::Subgroups))
    }
}

fn compare_words<K: Key + Number>(a: &[u32], b: &[u32], order: FloatOrder) -> Ordering {
    let [a, b] = [a, b].map(|words| bytemuck::pod_read_unaligned::<K>(bytemuck::cast_slice(words)));
    a.compare(b, order)
}

impl PrimitiveCase for TopKCase {
    type Plan = TopKPlan;

    fn id(&self) -> Id {
        Id::new(if self.is_smallest { "top_k:smallest" } else { "top_k:largest" })
            .with("type", self.element)
            .with("columns", self.columns)
            .with("k", self.k)
            .with("order", if self.is_sorted { "sorted" } else { "unsorted" })
            .unless(FloatOrder::Numpy, "floats", self.order)
            .with("output", self.output)
            .unless(0, "values", self.values)
            .unless(Unequal::None, "rows", self.unequal)
            .unless(CountFrom::Host, "count", self.count_from)
            .given("algorithm", self.algorithm)
            .tiles(self.algorithm.is_some())
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.config().row_size()
    }

    fn variant(&self) -> String {
        self.algorithm.map_or("chosen", TopKAlgorithm::name).to_owned()
    }

    fn item_count(&self, count: u64) -> u64 {
        count * u64::from(self.columns)
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        let count = self.item_count(count);
        keys::keys_and_values(self.element, SortValues::None, input, count)
    }

    fn prepare(&self, plan: Arc<TopKPlan>, count: u64, _: Input, _: &Known) -> Result<Prepared> {
        let config = *plan.config();
        let (counted, mut operands) = self.count_from.operand("count", count);
        let value_words = self.values as usize;
        let value_count = self.item_count(counted.max()) as usize * value_words;
        let source_values = Arc::new(Input::Uniform.generate(value_count, count + 2));
        operands.push(("source_values", Arc::clone(&source_values)));
        let (begins, ks) = (self.begins(count), self.ks(count));
        // Numbers of rows beyond the count must not be read.
        let padded = |numbers: &[u32]| {
            let mut numbers = numbers.to_vec();
            numbers.resize(counted.max() as usize, 1);
            numbers
        };
        if self.unequal.has_segments() {
            operands.push(("segments", padded(&begins).into()));
        }
        if self.unequal.has_own_k() {
            operands.push(("ks", padded(&ks).into()));
        }
        let case = self.clone();
        let needs = Needs {
            values: &["destination_indices", "destination_values"],
            ..Needs::new(counted.max(), self.misalignment, operands).elements(self.element)
        };
        let expected = move |source: &[u32]| {
            let words = case.element.words() as usize;
            let (mut keys, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
            let columns = case.columns as usize;
            for row in 0..count as usize {
                let (begin, end) = match case.unequal.has_segments() {
                    true => {
                        (begins[row] as usize, begins.get(row + 1).map_or(usize::MAX, |&next| next as usize))
                    }
                    false => (row * columns, usize::MAX),
                };
                let keys_of_row = &source[begin * words..end.min(begin + columns) * words];
                let k = if case.unequal.has_own_k() { ks[row] } else { case.k };
                let selected = case.selected_of(keys_of_row, k);
                for &column in &selected {
                    keys.extend_from_slice(&keys_of_row[column * words..][..words]);
                    indices.push(column as u32);
                    values.extend_from_slice(&source_values[(begin + column) * value_words..][..value_words]);
                }
                let unused = case.k as usize - selected.len();
                keys.resize(keys.len() + unused * words, 0);
                indices.resize(indices.len() + unused, u32::MAX);
                values.resize(values.len() + unused * value_words, 0);
            }
            if config.keys_size() == 0 {
                keys.clear();
            }
            if config.indices_size() == 0 {
                indices.clear();
            }
            (Expected::exact(keys), vec![indices, values])
        };
        Prepared::new(plan.traffic_size(count), plan, Default::default(), counted, needs, expected)
    }
}

/// Columns of covering cases: in a subgroup, in one small tile, in several, and in several of a second dispatch.
const COLUMNS: [u32; 4] = [1, 32, 700, 5000];

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<TopKCase>; 1] {
    let plain = TopKCase { values: 1, ..TopKCase::largest(ElementType::U32, 32, 1) };
    let axes = [
        axis(&ordered_types(FloatOrder::Numpy), |case: &mut TopKCase, (element, order)| {
            (case.element, case.order) = (element, order);
        }),
        // Early, which gives the fewest cases.
        axis(&TopKOutput::ALL, |case, output| case.output = output),
        axis(&COLUMNS, |case, columns| case.columns = columns),
        axis(&[1, 5, 32], |case, k| case.k = k),
        axis(&[false, true], |case, is_smallest| case.is_smallest = is_smallest),
        axis(&[true, false], |case, is_sorted| case.is_sorted = is_sorted),
        axis(&[0, 1, 3], |case, values| case.values = values),
        axis(&TopKAlgorithm::ALL.map(Some), |case, algorithm| case.algorithm = algorithm),
        axis(&Unequal::ALL, |case, unequal| case.unequal = unequal),
        axis(&CountFrom::ALL, |case, count_from| case.count_from = count_from),
        axis(&[0, 4, 8, 12], |case, misalignment| case.misalignment = misalignment),
    ];
    [CoveringSet::new(plain, axes, TopKCase::is_valid)]
}

/// The covering set, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let [set] = covering_sets(capabilities);
    let mut inputs =
        InputTurns::new([Input::EdgeValues, Input::TwoValued, Input::Uniform, Input::Constant(1)]);
    let mut cases = Vec::new();
    for (index, covering) in set.works().into_iter().enumerate() {
        // An indirect count has a maximum above 0.
        let few = if covering.work.count_from == CountFrom::DeviceBeyond { 2 } else { [0, 1][index % 2] };
        for count in [3, few] {
            cases.push(covering.work.case(count, inputs.take(&covering)));
        }
    }
    cases.extend(selectable_works(capabilities).map(|work| work.case(2, Input::EdgeValues)));
    cases
}

/// Plans of the default policy: short rows, rows of one tile, of small and of large tiles, and sorts.
pub(super) fn selectable_works(_: &Capabilities) -> [TopKCase; 10] {
    let of = TopKCase::largest;
    let unsorted = |case| TopKCase { is_sorted: false, ..case };
    let with_values = |values, case| TopKCase { values, ..case };
    [
        of(ElementType::F32, 40, 8),
        unsorted(of(ElementType::U64, 40, 8)),
        with_values(2, of(ElementType::I64, 3000, 32)),
        of(ElementType::F32, 20_000, 32),
        // The indexer of a language model's attention.
        unsorted(of(ElementType::F32, 20_000, 2051)),
        of(ElementType::F64, 20_000, 1024),
        of(ElementType::F32, 9000, 5000),
        with_values(1, unsorted(of(ElementType::I64, 9000, 5000))),
        TopKCase { unequal: Unequal::Both, ..of(ElementType::F32, 20_000, 32) },
        TopKCase { unequal: Unequal::Both, ..with_values(1, unsorted(of(ElementType::F32, 9000, 5000))) },
    ]
}

/// Each of [`selectable_works`] with an indirect count.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities).into_iter();
    works.map(|case| TopKCase { count_from: CountFrom::Device, ..case }.case(3, Input::EdgeValues)).collect()
}

/// All cases except the covering ones.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for work in selectable_works(capabilities) {
        let policy = work.policy(capabilities);
        let tile = match policy.algorithm {
            TopKAlgorithm::Subgroups => 32,
            _ => policy.tile_items(),
        };
        let columns = BTreeSet::from([work.k, tile - 1, tile, tile + 1, 2 * tile + 1, 5 * tile + 7]);
        for columns in columns.into_iter().filter(|&columns| columns >= work.k) {
            let case = TopKCase { columns, ..work.clone() };
            cases.extend([Input::Uniform, Input::EdgeValues].map(|input| case.case(2, input)));
        }
        let inputs =
            [Input::TwoValued, Input::Sorted, Input::Reversed, Input::Constant(0), Input::ConstantDigit];
        cases.extend(inputs.map(|input| work.case(5, input)));
        let smallest = TopKCase { is_smallest: true, ..work.clone() };
        cases.extend([Input::Uniform, Input::EdgeValues].map(|input| smallest.case(7, input)));
    }
    cases.push(TopKCase::largest(ElementType::F32, 40, 8).case(100_000, Input::Uniform));
    cases.push(TopKCase::largest(ElementType::F32, 1 << 22, 32).case(1, Input::Uniform));
    for columns in [40, 20_000] {
        let wide = TopKCase { values: 301, ..TopKCase::largest(ElementType::F32, columns, 32) };
        cases.push(wide.case(3, Input::Uniform));
    }
    cases
}

/// Benchmarks: from one long row to many short ones, and few selected keys to many.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let shapes: &[(u64, u32, &[u32])] = match scale.effort {
        Effort::Quick => &[(1, 1 << 16, &[1, 32, 2048]), (500, 40, &[8])],
        Effort::Normal => &[
            (1, 1 << 16, &[1, 32, 2048]),
            (1, 1 << 22, &[32]),
            (16, 200_000, &[2048]),
            (1000, 4000, &[32]),
            (100_000, 40, &[8]),
        ],
        Effort::Full => &[
            (1, 1 << 16, &[1, 32, 2048]),
            (1, 1 << 22, &[1, 32, 2048]),
            (16, 200_000, &[1, 32, 2048]),
            (1000, 4000, &[1, 32, 2048]),
            (100_000, 40, &[1, 8, 32]),
        ],
    };
    let cases = shapes.iter().flat_map(|&(rows, columns, all)| {
        let of = move |&k| TopKCase::largest(ElementType::F32, columns, k).case(rows, Input::Uniform);
        all.iter().map(of)
    });
    let pairs = TopKCase { values: 1, ..TopKCase::largest(ElementType::F32, 4000, 32) };
    let short = TopKCase::largest(ElementType::F32, 8, 2).case(100_000, Input::Uniform);
    let unequal = TopKCase { unequal: Unequal::Both, ..TopKCase::largest(ElementType::F32, 40, 8) };
    let others = [pairs.case(1000, Input::Uniform), short, unequal.case(100_000, Input::Uniform)];
    let others = others.into_iter().filter(|_| scale.effort != Effort::Quick);
    cases.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::capabilities;
    use super::*;

    #[test]
    fn values_that_are_too_wide_for_a_workgroup_are_sorted() {
        let mut small = capabilities();
        small.max_workgroup_invocations = 256;
        let reason = |values| {
            let config = TopKConfig::largest(ElementType::U32, 9000, 4000).values(values);
            let choice = TopKPolicy::choose(&small, &config);
            assert_eq!(choice.policy.algorithm, TopKAlgorithm::Sort);
            choice.reason
        };
        assert!(reason(1).contains("many keys") && reason(4096).contains("values of a row"));
    }

    /// As numpy 2 sorts: `np.argsort([0.0, nan, -0.0, -1.0, -nan, inf], kind='stable')`.
    #[test]
    fn zeros_are_equal_and_nans_are_last() {
        let row = [0.0, f32::NAN, -0.0, -1.0, -f32::NAN, f32::INFINITY].map(f32::to_bits);
        let of = |is_smallest, is_sorted, k| {
            TopKCase { is_smallest, is_sorted, ..TopKCase::largest(ElementType::F32, 6, k) }.selected(&row)
        };
        assert_eq!(of(true, true, 6), [3, 0, 2, 5, 1, 4]);
        assert_eq!(of(false, true, 6), [1, 4, 5, 0, 2, 3]);
        assert_eq!(of(true, true, 2), [3, 0]);
        assert_eq!(of(true, false, 2), [0, 3]);
        let negative = [u32::MAX, u32::MAX, 0, 0];
        let signed = TopKCase { is_smallest: true, ..TopKCase::largest(ElementType::I64, 2, 1) };
        assert_eq!(signed.selected(&negative), [0]);
        assert_eq!(TopKCase::largest(ElementType::I64, 2, 1).selected(&negative), [1]);
    }
}
