//! Cases of selections and partitions.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, InputTurns, axis};
use super::{
    BenchScale, Case, CountFrom, Known, Needs, PolicyName, Prepared, PrimitiveCase, SortValues, WINDOWS,
    in_memory, ordered_types, small_workgroup, uniform_cases,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::Input;
use crate::harness::keys;
use crate::harness::selected::Test;
use subsweep::device::{AddressRange, Capabilities};
use subsweep::error::Result;
use subsweep::internal::named;
use subsweep::scan::{ScanAlgorithm, ScanConfig, WorkgroupScan};
use subsweep::select::{
    Comparison, Operands as SelectOperands, Predicate, SelectAlgorithm, SelectBuffers, SelectConfig,
    SelectPlan, SelectPolicy,
};
use subsweep::sort::TileShape;
use subsweep::{ElementType, FewTiles, FloatOrder};

/// Parameters of a selection. The case's input is the distribution of the keys, or of the flags of random elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectCase {
    /// The predicate.
    pub by: Predicate,
    /// The type of keys. With flags, the elements have as many words.
    pub element: ElementType,
    /// The order of floats, by which elements are equal.
    pub order: FloatOrder,
    /// Words of an element with flags; 0 for the words of `element`.
    pub words: u32,
    /// Words of a value; 0 without values.
    pub values: u32,
    /// What is written besides values.
    pub output: SelectOutput,
    /// Parts of the result: 1 for a selection.
    pub parts: u32,
    /// Whether operands of comparisons are in device memory.
    pub has_device_operands: bool,
    /// The algorithm; `None` for the device's choice.
    pub algorithm: Option<SelectAlgorithm>,
    /// Whether tiles are small, so that few elements take many.
    pub has_small_tiles: bool,
    /// Whether a single pass in small tiles reads statuses by loads, publishes by stores, and looks back over windows.
    pub has_windows: bool,
    /// Whether counts and indices are u64, for 2^32 elements and more.
    pub has_large_counts: bool,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

named! {
    /// What a [`SelectCase`] writes besides values.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SelectOutput {
        /// Elements.
        Elements = "elements",
        /// Elements and their indices.
        Both = "both",
        /// Indices.
        Indices = "indices",
    }
}

/// The second comparison of partitions in three.
const SECOND: Comparison = Comparison::LessEqual;

impl SelectCase {
    /// A selection of u32 by a predicate, with the device's choice of the algorithm.
    pub const fn of_u32(by: Predicate) -> Self {
        Self {
            by,
            element: ElementType::U32,
            order: FloatOrder::Numpy,
            words: 0,
            values: 0,
            output: SelectOutput::Elements,
            parts: 1,
            has_device_operands: false,
            algorithm: None,
            has_small_tiles: false,
            has_windows: false,
            has_large_counts: false,
            count_from: CountFrom::Host,
            misalignment: 0,
        }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> SelectPolicy {
        let config = self.config();
        let algorithm =
            self.algorithm.unwrap_or_else(|| SelectPolicy::choose(capabilities, &config).policy.algorithm);
        let mut policy = SelectPolicy::tuned(algorithm, capabilities, &config);
        let small = TileShape { workgroup_size: small_workgroup(capabilities), items_per_invocation: 2 };
        if self.has_windows {
            policy.look_back = WINDOWS;
        }
        if self.has_small_tiles {
            (policy.workgroup_size, policy.items_per_invocation) = (small.workgroup_size, 4);
            let few = FewTiles { tile: small, window: 1, max_tiles: 3 };
            policy.few = (self.has_windows && algorithm == SelectAlgorithm::Chained).then_some(few);
            policy.summed_tiles = 3;
            let scan = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
            let counts = if self.has_large_counts { ElementType::U64 } else { ElementType::U32 };
            policy.scan = PolicyName::Small.scan(capabilities, scan, &ScanConfig::inclusive(counts));
        }
        policy
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> SelectConfig {
        let words = if self.words > 0 { self.words } else { self.element.words() };
        let config = match self.by {
            Predicate::Flags8 if self.element.is_packed() => SelectConfig::flags8_of(self.element),
            Predicate::Flags32 if self.element.is_packed() => SelectConfig::flags32_of(self.element),
            Predicate::Flags8 => SelectConfig::flags8(words),
            Predicate::Flags32 => SelectConfig::flags32(words),
            Predicate::Compare(comparison) => SelectConfig::compare(self.element, comparison),
            Predicate::Unique => SelectConfig::unique(self.element),
            Predicate::Function(functions) => SelectConfig::custom(functions),
        };
        let config = config.values(self.values).order(self.order);
        let config = match self.output {
            SelectOutput::Elements => config,
            SelectOutput::Both => config.indices(),
            SelectOutput::Indices => config.indices().without_elements(),
        };
        let config = match self.parts {
            1 => config,
            2 => config.partition(),
            _ => config.partition_in_three(SECOND),
        };
        let config = if self.has_large_counts { config.large_counts() } else { config };
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    const fn test(&self) -> Test {
        match self.by {
            Predicate::Flags8 | Predicate::Flags32 => Test::Flags,
            Predicate::Compare(comparison) if self.parts == 3 => Test::Compare(comparison, Some(SECOND)),
            Predicate::Compare(comparison) => Test::Compare(comparison, None),
            Predicate::Unique => Test::Unique(self.order),
            Predicate::Function(_) => panic!("no case has functions of a caller"),
        }
    }

    /// The part of each element of `tested`: flags, a word each, or keys as words.
    pub fn parts(&self, tested: &[u32], operands: &[u32]) -> Vec<usize> {
        self.test().parts(self.element, tested, operands)
    }

    /// Operands of the comparisons for `keys`, as words: with each a part of them is selected.
    pub fn operands(&self, keys: &[u32]) -> Vec<u32> {
        self.test().operands(self.element, keys)
    }

    /// Whether a plan exists.
    fn is_valid(&self) -> bool {
        (self.words == 0 || self.by.has_flags())
            && (self.parts < 3 || matches!(self.by, Predicate::Compare(_)))
            && (!self.has_device_operands || matches!(self.by, Predicate::Compare(_)))
            && (self.parts == 1 && !self.has_large_counts || self.algorithm != Some(SelectAlgorithm::Chained))
            && !(self.has_large_counts && self.values.max(self.words) > 2)
    }

    /// `count` flags, a word each: half of random ones are 0.
    fn flags(&self, input: Input, count: usize) -> Vec<u32> {
        let flag = |word: u32| match (word & 1, self.by) {
            (0, _) => 0,
            // In any bit of the byte.
            (_, Predicate::Flags8) => 1 << (word >> 1 & 7),
            _ => word.rotate_right(1),
        };
        input.generate(count, count as u64 + 1).into_iter().map(flag).collect()
    }
}

impl PrimitiveCase for SelectCase {
    type Plan = SelectPlan;

    fn id(&self) -> Id {
        let policy = match (self.has_small_tiles, self.algorithm) {
            (true, _) if self.has_windows => "small-windows",
            (true, _) => "small",
            (false, Some(_)) => "default",
            (false, None) => "chosen",
        };
        Id::new("select")
            .with("by", self.by.name())
            .with("type", self.element)
            .unless(FloatOrder::Numpy, "floats", self.order)
            .unless(1, "parts", self.parts)
            .unless(0, "words", self.words)
            .unless(0, "values", self.values)
            .unless(SelectOutput::Elements, "output", self.output)
            .given("operands", self.has_device_operands.then_some("device"))
            .given("counts", self.has_large_counts.then_some("wide"))
            .given("algorithm", self.algorithm)
            .with("policy", policy)
            .unless(CountFrom::Host, "count", self.count_from)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.config().element_size()
    }

    fn variant(&self) -> String {
        let policy = match (self.has_small_tiles, self.has_windows) {
            (true, true) => ", small-windows",
            (true, false) => ", small",
            (false, _) => "",
        };
        format!("{}{policy}", self.algorithm.map_or("chosen", SelectAlgorithm::name))
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        if self.by.has_flags() && !self.element.is_packed() {
            let word_count = (count * self.row_size() / 4) as usize;
            return [Input::Uniform.generate(word_count, count), Vec::new()];
        }
        keys::keys_and_values(self.element, SortValues::None, input, count)
    }

    fn prepare(&self, plan: Arc<SelectPlan>, count: u64, input: Input, known: &Known) -> Result<Prepared> {
        let config = *plan.config();
        let (counted, mut operands) = self.count_from.operand("count", count);
        let data = known.data(|source| self.data(source, count, input));
        operands.extend([("flags", Arc::clone(&data.flags)), ("values", Arc::clone(&data.values))]);
        let compared_with = if self.has_device_operands {
            operands.push(("operands", in_memory(self.element, &data.operands)));
            SelectOperands::Device(AddressRange::NONE)
        } else {
            SelectOperands::of_words(self.element, &data.operands)?
        };
        let buffers = SelectBuffers::default().operands(compared_with);
        let (words, value_words) = (self.row_size().div_ceil(4) as usize, self.values as usize);
        let needs = Needs {
            values: &["counts", "destination_values", "destination_indices"],
            ..Needs::new(counted.max(), self.misalignment, operands).elements(self.element)
        };
        let traffic_size = plan.traffic_size(count, data.order.len() as u64);
        let expected = move |source: &[u32]| {
            let moved = |from: &[u32], words: usize| -> Vec<u32> {
                let element = |&index: &u32| &from[index as usize * words..][..words];
                data.order.iter().flat_map(element).copied().collect()
            };
            let elements = if config.has_elements() { moved(source, words) } else { Vec::new() };
            let indices = if config.has_indices() { &data.order[..] } else { &[] };
            let [counts, indices] =
                [&data.counts[..], indices].map(|numbers| of_index_size(numbers, config.index_size()));
            let values = vec![counts, moved(&data.values, value_words), indices];
            (Expected::exact(elements), values)
        };
        Prepared::new(traffic_size, plan, buffers, counted, needs, expected)
    }
}

/// Counts or indices as words of a result: of 8 bytes each has a high word of 0.
pub(super) fn of_index_size(numbers: &[u32], index_size: u64) -> Vec<u32> {
    match index_size {
        4 => numbers.to_vec(),
        _ => numbers.iter().flat_map(|&number| [number, 0]).collect(),
    }
}

/// Operands and results of a selection.
struct Selected {
    flags: Arc<Vec<u32>>,
    values: Arc<Vec<u32>>,
    /// What elements are compared with.
    operands: Arc<Vec<u32>>,
    /// The indices of the elements that are written, in their order.
    order: Vec<u32>,
    /// The number of elements of each part that is counted.
    counts: Vec<u32>,
}

impl SelectCase {
    fn data(&self, source: &[u32], count: u64, input: Input) -> Selected {
        let room = self.count_from.room(count) as usize;
        let mut flags = if self.by.has_flags() { self.flags(input, count as usize) } else { Vec::new() };
        let operands = self.operands(source);
        let parts = self.parts(if self.by.has_flags() { &flags } else { source }, &operands);
        // Flags and values beyond the count must not be read.
        flags.resize(if self.by.has_flags() { room } else { 0 }, 1);
        let flags = match self.by {
            Predicate::Flags8 => {
                let bytes = |four: &[u32]| four.iter().rev().fold(0, |word, flag| word << 8 | flag);
                flags.chunks(4).map(bytes).collect()
            }
            _ => flags,
        };
        let values = Input::Uniform.generate(room * self.values as usize, count + 2);
        // Part after part, each in order.
        let mut order: Vec<_> =
            (0..count as u32).filter(|&index| self.parts > 1 || parts[index as usize] == 0).collect();
        order.sort_by_key(|&index| parts[index as usize]);
        let of_part = |part| parts.iter().filter(|&&other| other == part).count() as u32;
        let counts = (0..if self.parts == 3 { 2 } else { 1 }).map(of_part).collect();
        let [flags, values, operands] = [flags, values, operands].map(Arc::new);
        Selected { flags, values, operands, order, counts }
    }

    /// Elements per tile.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_items().into()
    }
}

/// The inputs of covering sets.
const COVERED_INPUTS: [Input; 6] = [
    Input::Uniform,
    Input::EdgeValues,
    Input::TwoValued,
    Input::Constant(0),
    Input::Constant(1),
    Input::Sorted,
];

/// All pairs of parameters in small tiles, of flags and of keys.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<SelectCase>; 2] {
    let plain = SelectCase {
        algorithm: Some(SelectAlgorithm::ReduceThenScan),
        has_small_tiles: true,
        ..SelectCase::of_u32(Predicate::Flags32)
    };
    let axes = || {
        [
            axis(&[0, 1, 2, 5], |select: &mut SelectCase, values| select.values = values),
            axis(&SelectOutput::ALL, |select, output| select.output = output),
            axis(&SelectAlgorithm::ALL.map(Some), |select, algorithm| select.algorithm = algorithm),
            axis(&CountFrom::ALL, |select, count_from| select.count_from = count_from),
            axis(&[false, true], |select, is_large| select.has_large_counts = is_large),
            axis(&[0, 4, 8, 12], |select, misalignment| select.misalignment = misalignment),
        ]
    };
    let keys: Vec<_> =
        [Predicate::Unique].into_iter().chain(Comparison::ALL.map(Predicate::Compare)).collect();
    let of_flags = [
        axis(&[Predicate::Flags8, Predicate::Flags32], |select: &mut SelectCase, by| select.by = by),
        axis(&[1, 2, 3, 4], |select, words| select.words = words),
        axis(&[1, 2], |select, parts| select.parts = parts),
    ];
    let of_keys = [
        axis(&keys, |select: &mut SelectCase, by| select.by = by),
        axis(&ordered_types(FloatOrder::Numpy), |select, (element, order)| {
            (select.element, select.order) = (element, order);
        }),
        axis(&[1, 2, 3], |select, parts| select.parts = parts),
        axis(&[false, true], |select, has_device_operands| select.has_device_operands = has_device_operands),
    ];
    let less = SelectCase { by: Predicate::Compare(Comparison::Less), ..plain.clone() };
    [(plain, Vec::from(of_flags)), (less, Vec::from(of_keys))].map(|(plain, own)| {
        let axes: Vec<_> = own.into_iter().chain(axes()).collect();
        CoveringSet::new(plain, axes, SelectCase::is_valid)
    })
}

/// The covering sets, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for set in covering_sets(capabilities) {
        let mut inputs = InputTurns::new(COVERED_INPUTS);
        for (index, covering) in set.works().iter().enumerate() {
            let select = &covering.work;
            let tile = select.tile(capabilities);
            // In turn a part of a tile, one, and several; the last beyond the tile of the counts' scan.
            let counts = [2 * tile + 3, tile * 70 + 5, 0, tile, tile + 1, 1];
            cases.push(select.case(counts[index % counts.len()], inputs.take(covering)));
            cases.push(select.case(counts[index % 2], inputs.take(covering)));
        }
    }
    for select in selectable_works(capabilities) {
        cases.push(select.case(65_537, Input::Uniform));
    }
    for element in [ElementType::F32, ElementType::U64] {
        let less = Predicate::Compare(Comparison::Less);
        let select = SelectCase {
            element,
            algorithm: Some(SelectAlgorithm::Chained),
            has_small_tiles: true,
            has_windows: true,
            ..SelectCase::of_u32(less)
        };
        let tile = select.tile(capabilities);
        cases.extend([tile + 1, 70 * tile + 5].map(|count| select.case(count, Input::Uniform)));
    }
    cases
}

/// Plans of every kernel and of each number of parts, with the tuned policy of each algorithm.
pub(super) fn selectable_works(_: &Capabilities) -> Vec<SelectCase> {
    let of = |by, element| SelectCase { element, ..SelectCase::of_u32(by) };
    let less = Predicate::Compare(Comparison::Less);
    let mut works = Vec::new();
    for algorithm in SelectAlgorithm::ALL.map(Some) {
        let select = |select: SelectCase| SelectCase { algorithm, ..select };
        works.extend([
            select(of(Predicate::Flags8, ElementType::U32)),
            select(SelectCase { values: 1, ..of(Predicate::Flags32, ElementType::U32) }),
            select(of(less, ElementType::F32)),
            select(SelectCase { values: 2, ..of(less, ElementType::F64) }),
            select(of(Predicate::Unique, ElementType::F32)),
            select(SelectCase { output: SelectOutput::Both, ..of(Predicate::Unique, ElementType::U64) }),
        ]);
    }
    // The plans of run lengths.
    let algorithm = Some(SelectAlgorithm::Chained);
    let greater = Predicate::Compare(Comparison::Greater);
    works.extend([
        SelectCase { algorithm, output: SelectOutput::Indices, ..of(Predicate::Unique, ElementType::U32) },
        SelectCase { algorithm, output: SelectOutput::Both, ..of(Predicate::Unique, ElementType::U32) },
        SelectCase { algorithm, values: 1, ..of(greater, ElementType::U32) },
    ]);
    let algorithm = Some(SelectAlgorithm::ReduceThenScan);
    works.extend([
        SelectCase { parts: 2, algorithm, ..of(Predicate::Flags32, ElementType::U32) },
        SelectCase { parts: 3, algorithm, ..of(less, ElementType::F32) },
        SelectCase { parts: 3, values: 2, algorithm, ..of(less, ElementType::U64) },
        SelectCase { words: 4, algorithm, ..of(Predicate::Flags32, ElementType::U32) },
    ]);
    let large =
        |select| SelectCase { algorithm, has_large_counts: true, output: SelectOutput::Both, ..select };
    works.extend([
        large(of(less, ElementType::U32)),
        large(SelectCase { parts: 3, values: 2, ..of(less, ElementType::U64) }),
    ]);
    works
}

/// Each of [`selectable_works`] in several tiles, misaligned, and with an indirect count.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities).into_iter().flat_map(|select| {
        let counted = SelectCase { count_from: CountFrom::Device, ..select.clone() };
        [SelectCase { misalignment: 4, ..select }, counted]
    });
    works.map(|select| select.case(2 * select.tile(capabilities) + 3, Input::EdgeValues)).collect()
}

/// All cases except the covering ones: counts around every boundary, every input.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for plain in selectable_works(capabilities) {
        for has_small_tiles in [false, true] {
            let select = SelectCase { has_small_tiles, ..plain.clone() };
            let tile = select.tile(capabilities);
            let edges = BTreeSet::from([0, 1, 2, tile - 1, tile, tile + 1, 3 * tile + 7, 99_991, 1_299_709]);
            cases.extend(edges.into_iter().map(|count| select.case(count, Input::Uniform)));
            let inputs = [Input::EdgeValues, Input::Sorted, Input::Reversed, Input::TwoValued];
            cases.extend(inputs.map(|input| select.case(5 * tile + 3, input)));
            for count_from in CountFrom::INDIRECT {
                let counted = SelectCase { count_from, ..select.clone() };
                cases.extend([0, 1, 2 * tile + 3].map(|count| counted.case(count, Input::Uniform)));
            }
        }
        // More than one row of workgroups with small tiles.
        if plain.element.words() == 1 && plain.values == 0 && plain.words == 0 {
            let small = SelectCase { has_small_tiles: true, ..plain };
            cases.push(small.case((1 << 25) + 3, Input::Uniform));
        }
    }
    cases
}

/// The benchmark cases: each predicate on u32, with half of the elements selected, and partitions.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let less = SelectCase::of_u32(Predicate::Compare(Comparison::Less));
    let works = [
        SelectCase::of_u32(Predicate::Flags8),
        SelectCase::of_u32(Predicate::Flags32),
        less.clone(),
        SelectCase { algorithm: Some(SelectAlgorithm::ReduceThenScan), ..less.clone() },
        SelectCase::of_u32(Predicate::Unique),
        SelectCase { words: 4, ..SelectCase::of_u32(Predicate::Flags32) },
        SelectCase { parts: 2, ..less.clone() },
        SelectCase { parts: 3, ..less },
    ];
    uniform_cases(works, &scale.counts())
}

#[cfg(test)]
mod tests {
    use super::super::Work;
    use super::super::tests::capabilities;
    use super::*;

    #[test]
    fn half_of_random_flags_are_set() {
        for by in [Predicate::Flags8, Predicate::Flags32] {
            let flags = SelectCase::of_u32(by).flags(Input::Uniform, 1000);
            let set = flags.iter().filter(|&&flag| flag != 0).count();
            assert!((400..600).contains(&set), "{set}");
            assert!(by == Predicate::Flags32 || flags.iter().all(|&flag| flag < 256));
        }
    }

    #[test]
    fn every_covering_case_is_of_a_plan() {
        for case in covering_cases(&capabilities()) {
            let Work::Select(select) = &case.work else { panic!("{case:?}") };
            assert!(select.is_valid(), "{}", case.id());
        }
    }
}
