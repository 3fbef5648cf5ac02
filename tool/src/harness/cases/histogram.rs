//! Cases of histograms: types, bins, columns, ranges, and the memory of counters and edges.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, axis};
use super::{
    BenchScale, Case, CountFrom, Effort, Known, Needs, Prepared, PrimitiveCase, UNPACKED, cases_of,
    small_workgroup,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::{Input, SplitMix64};
use crate::harness::keys::words_of;
use crate::reference::packed;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::histogram::{HistogramConfig, HistogramPlan, HistogramPolicy, edge_words, even_edges};
use subsweep::internal::named;
use subsweep::tuning::{self, KernelShape, TunedPart};
use subsweep::{ElementType, NumberKind};

/// Parameters of a histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramCase {
    /// Type of the values.
    pub element: ElementType,
    /// Whether bins are of equal widths.
    pub is_even: bool,
    /// Number of bins.
    pub bins: u32,
    /// Number of columns.
    pub columns: u32,
    /// Whether weights are added.
    pub is_weighted: bool,
    /// Range of the edges.
    pub range: HistogramRange,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Memory of counters and edges, in small tiles; `None` for the policy of the device.
    pub memory: Option<HistogramMemory>,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

named! {
    /// Range of the edges.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HistogramRange {
        /// A large part of the numbers of the type; of floats, the numbers around 1.
        Wide = "wide",
        /// For integers, bins that are narrower than 1; for floats, denormals.
        Narrow = "narrow",
        /// All numbers of the type.
        Full = "full",
        /// Bins of few numbers, far from 0; for floats, with edges that are off by a third of a bin.
        Far = "far",
    }
}

named! {
    /// What is in shared memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HistogramMemory {
        /// Counters and edges.
        Shared = "shared",
        /// Counters.
        Counters = "counters",
        /// Edges.
        Edges = "edges",
        /// Nothing.
        Device = "device",
        /// Counters and edges, in workgroups that stride over tiles.
        Strides = "strides",
    }
}

impl HistogramRange {
    /// The outer edges of `bins` bins.
    fn edges(self, element: ElementType, bins: u32) -> [f64; 2] {
        if element.is_packed() {
            let count = f64::from(1 << element.bits());
            let high = if element.bits() == 8 { 100.0 } else { 30_000.0 };
            return match (self, element.kind()) {
                (Self::Narrow, NumberKind::Float) => [-1.5, 2.25],
                (Self::Narrow, _) => [2.0, 2.0 + f64::from(bins)],
                (Self::Full, NumberKind::Unsigned) => [0.0, count - 1.0],
                (Self::Full, NumberKind::Signed) => [-count / 2.0, count / 2.0 - 1.0],
                (_, NumberKind::Unsigned) => [0.0, high],
                _ => [-high, high],
            };
        }
        // f64 tells multiples of 1024 apart.
        let apart = 1024.0 * f64::from(bins);
        match (self, element) {
            (Self::Narrow, ElementType::F64) => [-1e-310, 1e-309],
            (Self::Full, ElementType::F64) => [-8e307, 8e307],
            (Self::Wide, ElementType::I64) => [-1e18, 1.5e18],
            (Self::Wide, ElementType::U64) => [1000.5, 1e19],
            (Self::Full, ElementType::I64) => [-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0],
            (Self::Full, ElementType::U64) => [0.0, 18_446_744_073_709_551_616.0],
            (Self::Far, ElementType::I64) => [-2e18, -2e18 + apart],
            (Self::Far, ElementType::U64) => [4e18, 4e18 + apart],
            (Self::Wide, ElementType::F32 | ElementType::F64) => [-1.5, 2.3],
            (Self::Wide, ElementType::I32) => [-1e9, 1_500_000_000.5],
            (Self::Wide, _) => [1000.5, 4e9],
            (Self::Narrow, ElementType::F32) => [-1e-42, 1e-41],
            (Self::Narrow, _) => [-3.5, f64::from(bins) / 3.0],
            (Self::Full, ElementType::F32) => [-f64::from(f32::MAX), f64::from(f32::MAX)],
            (Self::Full, ElementType::I32) => [f64::from(i32::MIN), f64::from(i32::MAX)],
            (Self::Full, _) => [0.0, 4_294_967_296.0],
            (Self::Far, ElementType::F32 | ElementType::F64) => [1e6, 1e6 + 0.1 * f64::from(bins)],
            (Self::Far, ElementType::I32) => [-2e9, -2e9 + f64::from(bins)],
            (Self::Far, _) => [4e9, 4e9 + f64::from(bins)],
        }
    }
}

impl HistogramCase {
    /// A histogram of one column by the policy of the device.
    pub const fn new(element: ElementType, is_even: bool, bins: u32) -> Self {
        Self {
            element,
            is_even,
            bins,
            columns: 1,
            is_weighted: false,
            range: HistogramRange::Wide,
            count_from: CountFrom::Host,
            memory: None,
            misalignment: 0,
        }
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> HistogramConfig {
        let config = match self.is_even {
            true => HistogramConfig::even(self.element, self.bins),
            false => HistogramConfig::by_edges(self.element, self.bins),
        };
        let config = config.columns(self.columns);
        let config = if self.is_weighted { config.weighted() } else { config };
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> HistogramPolicy {
        let Some(memory) = self.memory else {
            return HistogramPolicy::choose(capabilities, &self.config()).policy;
        };
        let small = |copies, loads| {
            HistogramPolicy::new(small_workgroup(capabilities), 20, copies).with_loads_in_flight(loads)
        };
        match memory {
            HistogramMemory::Shared => small(4, 16).with_shared_edges(),
            HistogramMemory::Counters => small(1, 8),
            HistogramMemory::Edges => small(0, 4).with_shared_edges(),
            HistogramMemory::Device => small(0, 16),
            HistogramMemory::Strides => small(2, 8).with_shared_edges().with_max_workgroups(2),
        }
    }

    /// Rows per workgroup.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_rows(&self.config()).into()
    }

    /// The edges: of uneven bins, narrower ones at the begin of the range, the second one empty.
    fn edges(&self) -> Vec<f64> {
        let [low, high] = self.range.edges(self.element, self.bins);
        if self.is_even {
            return even_edges(self.element, self.bins, [low, high]).expect("the range is wide enough");
        }
        let fraction = |index: u32| f64::from(index) / f64::from(self.bins);
        let edge = |index: u32| match index {
            2 if self.bins > 2 => 1,
            index => index,
        };
        (0..=self.bins).map(|index| low + fraction(edge(index)).powi(2) * (high - low)).collect()
    }

    /// The number of values of each column in each bin, by the definition of numpy.
    pub fn counted(values: &[f64], columns: usize, edges: &[f64]) -> Vec<u32> {
        Self::added(values, std::iter::repeat(1), columns, edges)
    }

    /// The sums of weights, likewise.
    pub fn added(
        values: &[f64],
        weights: impl IntoIterator<Item = u32>,
        columns: usize,
        edges: &[f64],
    ) -> Vec<u32> {
        let bins = edges.len() - 1;
        let mut counts = vec![0u32; columns * bins];
        for ((index, value), weight) in values.iter().enumerate().zip(weights) {
            if edges[0] <= *value && *value <= edges[bins] {
                let bin = edges[1..bins].partition_point(|edge| edge <= value);
                let count = &mut counts[index % columns * bins + bin];
                *count = count.wrapping_add(weight);
            }
        }
        counts
    }

    /// The number of the bits of an unpacked element, as f64.
    pub fn number_of(element: ElementType, bits: u64) -> f64 {
        match element {
            ElementType::F32 => f32::from_bits(bits as u32).into(),
            ElementType::I32 => (bits as i32).into(),
            ElementType::U32 => (bits as u32).into(),
            ElementType::I64 => bits as i64 as f64,
            ElementType::F64 => f64::from_bits(bits),
            _ => bits as f64,
        }
    }

    /// The numbers of words.
    pub fn numbers_of(element: ElementType, words: &[u32]) -> Vec<f64> {
        let bits = |words: &[u32]| words.iter().rev().fold(0, |bits, word| bits << 32 | u64::from(*word));
        words.chunks(element.words() as usize).map(|words| Self::number_of(element, bits(words))).collect()
    }

    /// The bits of the number of the type that is nearest to `number`.
    fn bits(&self, number: f64) -> u64 {
        let bits = match self.element.unpacked() {
            ElementType::F32 => (number as f32).to_bits().into(),
            ElementType::I32 => number as i32 as u64,
            ElementType::U32 => number as u32 as u64,
            ElementType::I64 => number as i64 as u64,
            ElementType::F64 => number.to_bits(),
            _ => number as u64,
        };
        self.nearest(bits)
    }

    /// The number of the type that is nearest to the number with these bits of the unpacked type.
    fn nearest(&self, bits: u64) -> u64 {
        match self.element.is_packed() {
            true => packed::unpacked(self.element, packed::packed(self.element, true, bits as u32)).into(),
            false => bits,
        }
    }

    /// Numbers at edges and beside them, and the special ones of floats.
    fn edge_values(&self, count: usize, random: &mut SplitMix64) -> Vec<u32> {
        let element = self.element.unpacked();
        let edges = edge_words(self.element, &self.edges()).expect("the edges are valid");
        let edges: Vec<u64> = edges
            .chunks(element.words() as usize)
            .map(|words| words.iter().rev().fold(0, |bits, word| bits << 32 | u64::from(*word)))
            .collect();
        let sign = 1u64 << (element.bits() - 1);
        let (infinity, nan) = match element {
            ElementType::F32 => (f32::INFINITY.to_bits().into(), f32::NAN.to_bits().into()),
            _ => (f64::INFINITY.to_bits(), f64::NAN.to_bits()),
        };
        let specials = match element.is_float() {
            true => [
                nan,
                sign | nan,
                infinity,
                sign | infinity,
                0,
                sign,
                1,
                sign | 1,
                infinity - 1,
                sign | (infinity - 1),
            ],
            false => [0, 1, u64::MAX, sign - 1, sign, 2, 3, u32::MAX.into(), 1 << 31, 6],
        };
        let bits = |_| {
            let random = random.next_u64();
            let choice = (random >> 32) as usize;
            let edge = edges[choice % edges.len()];
            self.nearest(match random % 8 {
                0 => specials[choice % specials.len()],
                1 | 2 => edge.wrapping_add(1),
                3 | 4 => edge.wrapping_sub(1),
                _ => edge,
            })
        };
        (0..count).map(bits).flat_map(|bits| words_of(self.element, bits)).collect()
    }
}

impl PrimitiveCase for HistogramCase {
    type Plan = HistogramPlan;

    fn id(&self) -> Id {
        Id::new(if self.is_even { "histogram:even" } else { "histogram:edges" })
            .with("type", self.element)
            .with("bins", self.bins)
            .with("columns", self.columns)
            .with("range", self.range)
            .given("weights", self.is_weighted.then_some("yes"))
            .unless(CountFrom::Host, "count", self.count_from)
            .tiles(self.memory.is_some())
            .given("memory", self.memory)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.config().row_size()
    }

    fn variant(&self) -> String {
        let kind = if self.is_even { "even" } else { "by edges" };
        format!("{} bins, {kind}", self.bins)
    }

    fn item_count(&self, count: u64) -> u64 {
        count * u64::from(self.columns)
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        let count = self.item_count(count);
        let (seed, count) = (self.seed(count), count as usize);
        if input == Input::EdgeValues {
            return [self.edge_values(count, &mut SplitMix64(seed)), Vec::new()];
        }
        let [low, high] = self.range.edges(self.element, self.bins);
        // Some values are beyond either end.
        let scale = match input {
            Input::Sorted | Input::Reversed | Input::OrganPipe => 1.2 / count.max(1) as f64,
            _ => 1.2 / f64::from(u32::MAX),
        };
        let value = |word: u32| self.bits(low + (f64::from(word) * scale - 0.1) * (high - low));
        // A value in the middle of a bin.
        let middle = self.bits(low + (high - low) * 0.37);
        let words = input.generate(count, seed).into_iter();
        let values = words.map(|word| if let Input::Constant(_) = input { middle } else { value(word) });
        [values.flat_map(|bits| words_of(self.element, bits)).collect(), Vec::new()]
    }

    fn prepare(&self, plan: Arc<HistogramPlan>, count: u64, _: Input, _: &Known) -> Result<Prepared> {
        let edges = self.edges();
        let (counted, mut operands) = self.count_from.operand("count", count);
        operands.push(("edges", edge_words(self.element, &edges)?.into()));
        let weights = Input::Uniform.generate(self.item_count(counted.max()) as usize, 7);
        if self.is_weighted {
            operands.push(("weights", weights.clone().into()));
        }
        let case = self.clone();
        let needs = Needs {
            // The rows are only read: they stay as they are, and the counts are the values.
            in_place: true,
            values: &["counts"],
            ..Needs::new(counted.max(), self.misalignment, operands).elements(self.element)
        };
        let expected = move |source: &[u32]| {
            let values = Self::numbers_of(case.element.unpacked(), source);
            let counts = match case.is_weighted {
                true => Self::added(&values, weights.iter().copied(), case.columns as usize, &edges),
                false => Self::counted(&values, case.columns as usize, &edges),
            };
            (Expected::exact(source.to_vec()), vec![counts])
        };
        Prepared::new(plan.traffic_size(count), plan, Default::default(), counted, needs, expected)
    }
}

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<HistogramCase>; 1] {
    let plain = HistogramCase::new(ElementType::U32, true, 1);
    let axes = [
        axis(&UNPACKED, |case: &mut HistogramCase, element| case.element = element),
        axis(&[true, false], |case, is_even| case.is_even = is_even),
        axis(&[1, 2, 16, 257], |case, bins| case.bins = bins),
        axis(&[1, 3, 4, 70], |case, columns| case.columns = columns),
        axis(&HistogramRange::ALL, |case, range| case.range = range),
        axis(&HistogramMemory::ALL, |case, memory| case.memory = Some(memory)),
        axis(&CountFrom::ALL, |case, count_from| case.count_from = count_from),
        axis(&[0, 4, 8, 12], |case, misalignment| case.misalignment = misalignment),
        axis(&[false, true], |case, is_weighted| case.is_weighted = is_weighted),
    ];
    // The counters fit in any shared memory.
    let is_valid = |case: &HistogramCase| case.bins * case.columns <= 1200;
    // Even bins of floats that are not guessed: a driver may flush their widths to 0, and their range is infinite.
    let unguessed = [1, 2].map(|range| vec![(0, 2), (1, 0), (2, 3), (4, range)]);
    let inputs = [Input::EdgeValues, Input::Uniform, Input::Constant(0), Input::Sorted];
    [CoveringSet::new(plain, axes, is_valid).with(unguessed.into()).on(&inputs)]
}

/// The covering set, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let [set] = covering_sets(capabilities);
    let mut cases = set.tiled_cases(|work| {
        let tile = work.tile(capabilities);
        let most = (10_007 / u64::from(work.columns)).max(5);
        (tile, vec![0, 1, tile, tile + 1, 3 * tile + 2, most])
    });
    let default = HistogramCase::new(ElementType::F32, true, 256);
    cases.extend([Input::Uniform, Input::EdgeValues].map(|input| default.case(65_537, input)));
    cases
}

/// Plans of the default policy: counters and edges in shared memory, counters alone, edges alone, neither.
pub(super) fn selectable_works(_: &Capabilities) -> [HistogramCase; 10] {
    let columns = |case: HistogramCase, columns| HistogramCase { columns, ..case };
    [
        HistogramCase::new(ElementType::F32, true, 256),
        HistogramCase::new(ElementType::F32, false, 256),
        columns(HistogramCase::new(ElementType::F32, true, 256), 3),
        HistogramCase::new(ElementType::U32, true, 5000),
        HistogramCase::new(ElementType::I32, true, 65_536),
        HistogramCase::new(ElementType::F32, false, 65_536),
        columns(HistogramCase::new(ElementType::U32, false, 100), 1000),
        HistogramCase::new(ElementType::F64, true, 256),
        HistogramCase::new(ElementType::I64, false, 5000),
        HistogramCase { is_weighted: true, ..HistogramCase::new(ElementType::F64, true, 256) },
    ]
}

/// Each of [`selectable_works`] in several tiles, with every count, one of them misaligned.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities)
        .into_iter()
        .flat_map(|case| CountFrom::ALL.map(|count_from| HistogramCase { count_from, ..case.clone() }))
        .map(|case| HistogramCase {
            misalignment: if case.count_from == CountFrom::Device { 4 } else { 0 },
            ..case
        });
    let case = |work: HistogramCase| work.case(2 * work.tile(capabilities) + 3, Input::EdgeValues);
    let cases = works.map(case);
    cases.flat_map(|case| [with_loads_of_gpus(&case, capabilities), Some(case)]).flatten().collect()
}

/// A case on CPUs with as many loads in flight as on GPUs.
fn with_loads_of_gpus(case: &Case, capabilities: &Capabilities) -> Option<Case> {
    let parts = [TunedPart::Histogram, TunedPart::LargeHistogram, TunedPart::HistogramInMemory];
    let with = parts.map(|part| {
        let shape = tuning::shape_of(capabilities, part, [1, 0]);
        case.clone().with_shape(part, KernelShape { loads_in_flight: 16, ..shape })
    });
    let is_of_part = |other: &Case| other.policy(capabilities) != case.policy(capabilities);
    with.into_iter().find(is_of_part)
}

/// All cases except the covering ones.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for work in selectable_works(capabilities) {
        let tile = work.tile(capabilities);
        let edges = BTreeSet::from([0, 1, 2, tile - 1, tile, tile + 1, 3 * tile + 7]);
        cases.extend(edges.into_iter().map(|count| work.case(count, Input::Uniform)));
        let inputs = [Input::EdgeValues, Input::Sorted, Input::Reversed, Input::Constant(0)];
        cases.extend(inputs.map(|input| work.case(2 * tile + 3, input)));
        let full = HistogramCase { range: HistogramRange::Full, ..work.clone() };
        cases.push(full.case(2 * tile + 5, Input::EdgeValues));
        cases.push(work.case((1 << 26) / u64::from(work.columns) + 3, Input::Uniform));
    }
    for element in UNPACKED {
        for (bins, is_even) in [(10, true), (1000, true), (1000, false), (4096, false)] {
            let case = HistogramCase::new(element, is_even, bins);
            cases.extend([Input::EdgeValues, Input::Uniform].map(|input| case.case(99_991, input)));
        }
    }
    cases
}

/// Benchmarks: few bins and many, by a guess and by a search, and the same of equal values.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let even = HistogramCase::new(ElementType::F32, true, 256);
    let works = [
        even.clone(),
        HistogramCase { is_even: false, ..even.clone() },
        HistogramCase { columns: 4, ..even.clone() },
        HistogramCase { bins: 4096, ..even.clone() },
        HistogramCase { bins: 65_536, ..even.clone() },
    ];
    // The bound of a quick run leaves no room for more.
    let others = match scale.effort {
        Effort::Quick => Vec::new(),
        _ => vec![
            HistogramCase { is_weighted: true, ..even.clone() },
            HistogramCase { element: ElementType::F64, ..even },
        ],
    };
    let inputs = [Input::Uniform, Input::Constant(0)];
    [cases_of(works, &scale.counts(), &inputs), cases_of(others, &scale.counts(), &inputs)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bin_is_closed_and_values_out_of_range_are_not_counted() {
        let values = [0.0, 0.5, 1.0, 2.0, 2.5, -0.1, f64::NAN, f64::INFINITY, 1.9];
        assert_eq!(HistogramCase::counted(&values, 1, &[0.0, 1.0, 2.0]), [2, 3]);
        assert_eq!(HistogramCase::counted(&values[..8], 2, &[0.0, 1.0, 2.0]), [1, 1, 1, 1]);
        // The first bin is empty, as numpy's bins with equal edges are.
        assert_eq!(HistogramCase::counted(&[1.0, 1.0], 1, &[1.0, 1.0, 2.0]), [0, 2]);
    }

    #[test]
    fn edge_values_lie_at_edges_and_beside_them() {
        for case in selectable_works(&Capabilities::default()) {
            let size = case.element.words() as usize;
            let words = case.generate(1000, Input::EdgeValues)[0].clone();
            let edges = edge_words(case.element, &case.edges()).unwrap();
            let edges: std::collections::HashSet<_> = edges.chunks(size).collect();
            let (count, edge_count) =
                (words.len() / size, words.chunks(size).filter(|value| edges.contains(value)).count());
            assert!((count / 5..count * 9 / 10).contains(&edge_count), "{case}: {edge_count}");
        }
    }
}
