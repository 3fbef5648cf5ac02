//! Cases of reductions: of all rows, of segments and of runs of keys.
//!
//! Sums and products of floats must have the bits of the documented order of operations, with or without denormals;
//! all other results must have the bits of a loop.

mod results;

use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, axis};
use super::{
    BenchScale, Case, CountFrom, Effort, Known, Needs, Prepared, PrimitiveCase, UNPACKED, in_memory,
    small_workgroup, uniform_cases,
};
use crate::harness::expected::{Expected, PackedForm};
use crate::harness::inputs::{self, Input, SplitMix64};
use crate::harness::numbers::Numbers;
use crate::reference::packed;
use crate::reference::passes::reduce::{Tree, heads_of};
use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::reduce::{ReduceByKeyAlgorithm, ReduceConfig, ReducePlan, ReducePolicy, ReduceRuns};
use subsweep::scan::ScanOperator;
use subsweep::sort::TileShape;

/// Parameters of a reduction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReduceCase {
    /// The element type.
    pub element: ElementType,
    /// The operator; of an index [`ScanOperator::Min`] or [`ScanOperator::Max`], of both the former.
    pub operator: ScanOperator,
    /// Indices that are results of a column: none, the index of the minimum or maximum, or with 2 the indices of both.
    pub indices: u32,
    /// Elements per row.
    pub columns: u32,
    /// Whether results of packed elements have 32 bits.
    pub has_unpacked_results: bool,
    /// Representation of the runs, if there are any.
    pub runs: Option<ReduceRuns>,
    /// The algorithm of runs of keys; `None` for the device's choice.
    pub algorithm: Option<ReduceByKeyAlgorithm>,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Whether tiles are small.
    pub has_small_tiles: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

/// Operators and indices, in the order of their axis.
const OPERATIONS: [(ScanOperator, u32); 10] = [
    (ScanOperator::Add, 0),
    (ScanOperator::Mul, 0),
    (ScanOperator::Min, 0),
    (ScanOperator::Max, 0),
    (ScanOperator::And, 0),
    (ScanOperator::Or, 0),
    (ScanOperator::Xor, 0),
    (ScanOperator::Min, 1),
    (ScanOperator::Max, 1),
    (ScanOperator::Min, 2),
];

/// The operations of quick cases. Quick cases of scans, which have the same operators, have all.
const QUICK_OPERATIONS: [(ScanOperator, u32); 6] = [
    (ScanOperator::Add, 0),
    (ScanOperator::Min, 0),
    (ScanOperator::Xor, 0),
    (ScanOperator::Min, 1),
    (ScanOperator::Max, 1),
    (ScanOperator::Min, 2),
];

const RUNS: [Option<ReduceRuns>; 7] = [
    None,
    Some(ReduceRuns::Offsets),
    Some(ReduceRuns::Ranges),
    Some(ReduceRuns::Keys32),
    Some(ReduceRuns::Keys64),
    Some(ReduceRuns::FloatKeys32),
    Some(ReduceRuns::FloatKeys64),
];

/// Whether runs have keys that are floats.
fn has_float_keys(runs: Option<ReduceRuns>) -> bool {
    use ReduceRuns::{BrainKeys16, FloatKeys16, FloatKeys32, FloatKeys64};
    matches!(runs, Some(FloatKeys16 | BrainKeys16 | FloatKeys32 | FloatKeys64))
}

impl ReduceCase {
    /// The sum of all rows of single numbers, in default tiles, aligned.
    pub const fn sum(element: ElementType) -> Self {
        Self {
            element,
            operator: ScanOperator::Add,
            indices: 0,
            columns: 1,
            runs: None,
            has_unpacked_results: false,
            algorithm: None,
            count_from: CountFrom::Host,
            has_small_tiles: false,
            misalignment: 0,
        }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> ReducePolicy {
        let config = self.config();
        let mut policy = match self.algorithm {
            Some(algorithm) => ReducePolicy::tuned(algorithm, capabilities, &config),
            None => ReducePolicy::choose(capabilities, &config).policy,
        };
        if self.has_small_tiles {
            // The choice for GPUs, on CPUs as well.
            policy.mixed_access = true;
            let workgroup_size = small_workgroup(capabilities);
            policy = policy.with_packs(1);
            policy.heads = policy.heads.map(|_| TileShape { workgroup_size, items_per_invocation: 3 });
        }
        policy
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> ReduceConfig {
        let mut config = match (self.indices, self.operator) {
            (0, operator) => ReduceConfig::new(operator, self.element),
            (1, ScanOperator::Max) => ReduceConfig::argmax(self.element),
            (1, _) => ReduceConfig::argmin(self.element),
            _ => ReduceConfig::argminmax(self.element),
        }
        .columns(self.columns);
        if let Some(runs) = self.runs {
            config = config.runs(runs);
        }
        if self.has_unpacked_results {
            config = config.unpacked_results();
        }
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// The order of operations of all rows.
    fn tree(&self, packs: u32) -> Tree {
        Tree::of_all(self.element.words() as usize, self.columns as usize, packs as usize)
    }

    /// Rows of a tile.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        match self.runs {
            None => self.tree(self.policy(capabilities).packs_per_invocation).tile_rows() as u64,
            Some(_) => 1024,
        }
    }

    fn numbers(&self) -> Numbers {
        Numbers { element: self.element, operator: self.operator, columns: self.columns as usize }
    }

    fn rounds(&self) -> bool {
        self.config().rounds()
    }

    /// The name of the operator or of the indices.
    fn operation(&self) -> String {
        let (arg, both) =
            (if self.indices > 0 { "arg" } else { "" }, if self.indices > 1 { "max" } else { "" });
        format!("{arg}{}{both}", self.operator)
    }

    /// The first rows of runs: many short ones, a long one, and a few more; as offsets also empty ones, and rows before
    /// the first. As ranges in reverse, some of which overlap, are empty, or leave out rows; their ends follow.
    fn begins(&self, rows: usize) -> Vec<u32> {
        match self.runs {
            None => return Vec::new(),
            Some(ReduceRuns::FixedSize(length)) => {
                return (0..rows as u32).step_by(length as usize).collect();
            }
            Some(_) => {}
        }
        let begins: Vec<_> = (0..rows).filter(inputs::begins(rows)).map(|row| row as u32).collect();
        if !matches!(self.runs, Some(ReduceRuns::Offsets | ReduceRuns::Ranges)) {
            return begins;
        }
        let mut offsets = begins.clone();
        offsets.extend(begins.iter().step_by(5));
        offsets.push(rows as u32);
        offsets.sort_unstable();
        if self.runs == Some(ReduceRuns::Ranges) {
            offsets.reverse();
            // A few alone go on to the end: a loop over the rows of each is the oracle.
            let is_long = |index| offsets.len() - index <= 100;
            let end = |(index, &begin): (usize, &u32)| match index % 5 {
                0 => begin.saturating_sub(3),
                1 => begin + 1,
                2 if is_long(index) => rows as u32 + 7,
                _ => (begin + 70).min(rows as u32),
            };
            let ends: Vec<_> = offsets.iter().enumerate().map(end).collect();
            offsets.extend(ends);
        }
        offsets
    }

    /// Keys of `room` rows, with runs that begin at `begins`; the keys of two runs may agree, or differ in one word only.
    /// Among floats are zeros of both signs and different NaNs in one run.
    fn keys(&self, begins: &[u32], room: usize) -> Vec<u32> {
        use ReduceRuns::{BrainKeys16, FloatKeys16, FloatKeys32};
        let mut number = 0;
        let mut begins = begins.iter().peekable();
        let mut keys = Vec::new();
        for row in 0..room {
            number += u32::from(begins.next_if(|&&begin| begin as usize == row).is_some());
            let sign = (row as u32) << 31;
            match self.runs {
                Some(ReduceRuns::Keys64) => keys.extend([number / 2, number.div_ceil(2)]),
                Some(runs @ (FloatKeys16 | BrainKeys16 | FloatKeys32)) => keys.push(match number % 7 {
                    5 => sign,
                    6 if runs == FloatKeys32 => sign | (0x7f80_0001 + row as u32 % 1000),
                    // NaNs whose mantissas differ in their high bits.
                    6 => sign | 0x7f80_0000 | (1 + row as u32 % 100) << 16,
                    number => (number as f32 - 2.5).to_bits(),
                }),
                Some(ReduceRuns::Keys8) => keys.push(number % 7),
                Some(ReduceRuns::Keys16) => keys.push(256 * (number % 7) + number % 3),
                Some(ReduceRuns::FloatKeys64) => match number % 7 {
                    5 => keys.extend([0, sign]),
                    6 => keys.extend([1 + row as u32, sign | 0x7ff0_0000]),
                    // Numbers that differ in one word only.
                    number => keys.extend([number / 2, number.div_ceil(2)]),
                },
                _ => keys.push(SplitMix64(u64::from(number % 7)).next_u64() as u32),
            }
        }
        keys
    }

    /// Factors near 1, whose products stay in range; as edge values with a zero in some tables.
    fn factors(&self, input: Input, rows: usize, seed: u64) -> Vec<u32> {
        let mut random = SplitMix64(seed);
        let count = rows * self.columns as usize;
        let value = |index: usize| {
            let unit = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            match input {
                Input::EdgeValues if rows.is_multiple_of(2) && index == count / 3 => -0.0,
                _ => 1.0 + (unit - 0.5) / 64.0,
            }
        };
        let values: Vec<f64> = (0..count).map(value).collect();
        let nearest = |word| packed::unpacked(self.element, packed::packed(self.element, false, word));
        let floats = values.iter().map(|&value| (value as f32).to_bits());
        match self.element {
            ElementType::F32 => floats.collect(),
            element if element.is_packed() => floats.map(nearest).collect(),
            _ => bytemuck::cast_slice(&values).to_vec(),
        }
    }
}

impl PrimitiveCase for ReduceCase {
    type Plan = ReducePlan;

    fn id(&self) -> Id {
        let length = match self.runs {
            Some(ReduceRuns::FixedSize(length)) => Some(length),
            _ => None,
        };
        Id::new(format_args!("reduce:{}", self.runs.map_or("all", ReduceRuns::name)))
            .with("type", self.element)
            .with("op", self.operation())
            .given("length", length)
            .given("results", self.has_unpacked_results.then_some("unpacked"))
            .given("algorithm", self.algorithm)
            .unless(CountFrom::Host, "count", self.count_from)
            .with("columns", self.columns)
            .tiles(self.has_small_tiles)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.config().row_size()
    }

    fn variant(&self) -> String {
        let by = self.algorithm.map_or(String::new(), |algorithm| format!(", {}", algorithm.name()));
        format!("{} of {}{by}", self.operation(), self.element)
    }

    fn seed(&self, count: u64) -> u64 {
        count * u64::from(self.columns * self.element.words())
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        let (rows, seed) = (count as usize, self.seed(count));
        let mut words = match (input, self.operator) {
            (Input::Distinguishing | Input::EdgeValues, ScanOperator::Mul) if self.rounds() => {
                self.factors(input, rows, seed)
            }
            // The first half has no NaN, which would be the only result.
            (Input::EdgeValues, _) if self.rounds() && self.runs.is_none() => {
                self.numbers().generate(input, 2 * rows, seed)
            }
            _ => self.numbers().generate(input, rows, seed),
        };
        words.truncate(self.seed(count) as usize);
        [words, Vec::new()]
    }

    fn prepare(&self, plan: Arc<ReducePlan>, count: u64, _: Input, known: &Known) -> Result<Prepared> {
        let (counted, mut operands) = self.count_from.operand("count", count);
        let (room, runs) = (counted.max(), self.runs);
        let key_words = runs.map_or(0, ReduceRuns::key_size).div_ceil(4);
        let key_element = packed_keys(runs);
        // Offsets of the segments, or keys.
        let segments = known.data(|_| {
            let begins = self.begins(count as usize);
            if key_words > 0 { self.keys(&begins, room as usize) } else { begins }
        });
        if runs == Some(ReduceRuns::Ranges) {
            let (begins, ends) = segments.split_at(segments.len() / 2);
            operands.extend([("segments", begins.to_vec().into()), ("segment_ends", ends.to_vec().into())]);
        } else if runs.is_some_and(|runs| !matches!(runs, ReduceRuns::FixedSize(_))) {
            operands.push(("segments", in_memory(key_element, &segments)));
        }
        let (case, packs) = (self.clone(), plan.policy().packs_per_invocation);
        let packed_result = match self.indices > 0 || self.has_unpacked_results {
            true => None,
            false => PackedForm::by(self.element, self.operator),
        };
        let needs = Needs {
            values: &["run_count", "unique_keys"],
            packed_result,
            // Of no rows, too, there is a result.
            ..Needs::new(room.max(runs.is_none().into()), self.misalignment, operands).elements(self.element)
        };
        let expected = move |input: &[u32]| {
            let mut values = Vec::new();
            let offsets = runs.map(|_| match key_words as usize {
                0 => segments.to_vec(),
                words => {
                    let keys = &segments[..count as usize * words];
                    let heads = heads_of(keys, words, has_float_keys(runs));
                    let key = |&row: &u32| &keys[row as usize * words..][..words];
                    let unique_keys: Vec<_> = heads.iter().flat_map(key).copied().collect();
                    let unique_keys = in_memory(key_element, &unique_keys.into()).to_vec();
                    values.extend([vec![heads.len() as u32], unique_keys]);
                    heads
                }
            });
            let (results, flushed) = case.results(input, offsets.as_deref(), packs);
            let element = if case.indices > 0 { ElementType::U32 } else { case.element };
            (Expected::either(element, results, flushed), values)
        };
        Prepared::new(plan.traffic_size(count), plan, Default::default(), counted, needs, expected)
    }
}

/// A type of the keys of runs, if they are packed; else one that is not.
fn packed_keys(runs: Option<ReduceRuns>) -> ElementType {
    match runs {
        Some(ReduceRuns::Keys8) => ElementType::U8,
        Some(ReduceRuns::Keys16) => ElementType::U16,
        Some(ReduceRuns::FloatKeys16) => ElementType::F16,
        Some(ReduceRuns::BrainKeys16) => ElementType::Bf16,
        _ => ElementType::U32,
    }
}

/// Whether a device with the required features supports a reduction.
fn is_valid(reduce: &ReduceCase) -> bool {
    reduce.operator.takes(reduce.element) && !(reduce.indices > 0 && reduce.runs.is_some())
}

/// Minima in small tiles, which every device reduces for every type.
fn small_minima() -> ReduceCase {
    ReduceCase { operator: ScanOperator::Min, has_small_tiles: true, ..ReduceCase::sum(ElementType::U32) }
}

/// The inputs of the covering set.
const INPUTS: [Input; 2] = [Input::Distinguishing, Input::EdgeValues];

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(capabilities: &Capabilities) -> [CoveringSet<ReduceCase>; 1] {
    let axes = [
        axis(&UNPACKED, |reduce: &mut ReduceCase, element| reduce.element = element),
        axis(&QUICK_OPERATIONS, |reduce, (operator, indices)| {
            (reduce.operator, reduce.indices) = (operator, indices);
        }),
        axis(&[1, 2, 3, 4, 64], |reduce, columns| reduce.columns = columns),
        axis(&RUNS, |reduce, runs| reduce.runs = runs),
        axis(&CountFrom::ALL, |reduce, count_from| reduce.count_from = count_from),
        axis(&[0, 4, 8, 12], |reduce, misalignment| reduce.misalignment = misalignment),
    ];
    let has_float64 = capabilities.enabled.shader_float64;
    let is_supported = move |reduce: &ReduceCase| is_valid(reduce) && (has_float64 || !needs_float64(reduce));
    [CoveringSet::new(small_minima(), axes, is_supported).on(&INPUTS)]
}

/// The covering set, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let has_float64 = capabilities.enabled.shader_float64;
    let [set] = covering_sets(capabilities);
    let mut works: Vec<_> = set.works().into_iter().map(|covering| covering.work).collect();
    if !has_float64 {
        // Counted as not supported.
        works.push(ReduceCase { element: ElementType::F64, operator: ScanOperator::Add, ..small_minima() });
    }
    let mut cases = Vec::new();
    for (index, reduce) in works.into_iter().enumerate() {
        let tile = reduce.tile(capabilities);
        cases.extend(INPUTS.map(|input| reduce.case(2 * tile + 3, input)));
        let counts = match index % 3 {
            0 => [1, tile - 1, tile],
            1 => [0, tile + 1, 3 * tile + 7],
            _ => [2, (tile * tile + 1).min(65_537), 65_536],
        };
        for (turn, count) in counts.into_iter().enumerate() {
            cases.push(reduce.case(count, INPUTS[(index / 3 + turn) % 2]));
        }
    }
    for reduce in along_rows().into_iter().filter(|reduce| has_float64 || !needs_float64(reduce)) {
        let counts = [3 * 4096 + 7, 0, 300, 65_537];
        cases.extend(counts.map(|count| reduce.case(count, Input::Distinguishing)));
    }
    for reduce in chained_works() {
        let small = ReduceCase { has_small_tiles: true, ..reduce };
        let counts = [0, 1, 200, 65_537];
        cases.extend(counts.map(|count| small.case(count, Input::Distinguishing)));
        cases.push(small.case(10_007, Input::EdgeValues));
    }
    for element in [ElementType::F32, ElementType::I64] {
        let default = ReduceCase::sum(element);
        let tile = default.tile(capabilities);
        let counts = [0, 1, tile - 1, tile, tile + 1, 3 * tile + 5, 65_537];
        cases.extend(counts.map(|count| default.case(count, Input::Distinguishing)));
    }
    for reduce in
        selectable_works(capabilities).into_iter().filter(|reduce| has_float64 || !needs_float64(reduce))
    {
        // Every pipeline that a policy chooses, but for the packs of an invocation.
        let small = ReduceCase { has_small_tiles: true, ..reduce.clone() };
        let tile = small.tile(capabilities);
        cases.push(small.case(4 * tile + 4, Input::Distinguishing));
        cases.push(ReduceCase { misalignment: 4, ..small }.case(4 * tile + 3, Input::Distinguishing));
        cases.push(reduce.case(2 * reduce.tile(capabilities) + 2, Input::Distinguishing));
    }
    cases
}

/// Reductions along the rows of a table, by four invocations a row, by a workgroup, and by several at one and two levels
/// above the source; the last row is short.
fn along_rows() -> Vec<ReduceCase> {
    use ElementType::{F32, F64, I32, I64, U32};
    let of = |element, operator, length| ReduceCase {
        operator,
        runs: Some(ReduceRuns::FixedSize(length)),
        ..ReduceCase::sum(element)
    };
    let (add, max) = (ScanOperator::Add, ScanOperator::Max);
    let device = CountFrom::Device;
    vec![
        of(F32, add, 1),
        of(F32, add, 40),
        ReduceCase { misalignment: 4, ..of(U32, add, 64) },
        ReduceCase { count_from: device, has_small_tiles: true, ..of(F32, add, 127) },
        of(F64, add, 300),
        ReduceCase { indices: 1, ..of(F32, ScanOperator::Min, 33) },
        ReduceCase { indices: 1, count_from: device, has_small_tiles: true, ..of(F64, max, 1000) },
        ReduceCase { misalignment: 12, ..of(I64, max, 4096) },
        ReduceCase { has_small_tiles: true, ..of(I32, ScanOperator::Xor, 5000) },
        ReduceCase { has_small_tiles: true, count_from: CountFrom::DeviceBeyond, ..of(F32, add, 65_536) },
        ReduceCase { indices: 1, has_small_tiles: true, ..of(I64, ScanOperator::Min, 30_300) },
        ReduceCase { indices: 2, ..of(F32, ScanOperator::Min, 33) },
        ReduceCase {
            indices: 2,
            count_from: device,
            has_small_tiles: true,
            ..of(F32, ScanOperator::Min, 2048)
        },
        ReduceCase {
            indices: 2,
            has_small_tiles: true,
            misalignment: 4,
            ..of(F64, ScanOperator::Min, 30_300)
        },
        ReduceCase { has_small_tiles: true, count_from: device, ..of(F32, add, 140_000) },
    ]
}

fn needs_float64(reduce: &ReduceCase) -> bool {
    reduce.indices == 0 && reduce.operator.needs_float64(reduce.element)
}

/// Works of every kernel, with every access and layout of rows.
pub(super) fn selectable_works(_: &Capabilities) -> Vec<ReduceCase> {
    let mut works = Vec::new();
    for (element, operator, indices) in [
        (ElementType::U32, ScanOperator::Add, 0),
        (ElementType::F32, ScanOperator::Max, 0),
        (ElementType::I64, ScanOperator::Add, 0),
        (ElementType::F64, ScanOperator::Add, 0),
        (ElementType::F32, ScanOperator::Min, 1),
        (ElementType::F64, ScanOperator::Max, 1),
        (ElementType::F32, ScanOperator::Min, 2),
        (ElementType::F64, ScanOperator::Min, 2),
    ] {
        let plain = ReduceCase { operator, indices, ..ReduceCase::sum(element) };
        works.extend([1, 2, 3].map(|columns| ReduceCase { columns, ..plain.clone() }));
        works.push(ReduceCase { count_from: CountFrom::Device, ..plain.clone() });
        if indices == 0 {
            works.extend(RUNS[1..4].iter().map(|&runs| ReduceCase { runs, ..plain.clone() }));
        }
    }
    let rows = [128, 1 << 16].map(|length| Some(ReduceRuns::FixedSize(length)));
    works.extend(rows.map(|runs| ReduceCase { runs, ..ReduceCase::sum(ElementType::F32) }));
    let index = ReduceCase { operator: ScanOperator::Min, indices: 1, ..ReduceCase::sum(ElementType::F32) };
    works.extend(rows.map(|runs| ReduceCase { runs, ..index.clone() }));
    works.extend(rows.map(|runs| ReduceCase { runs, indices: 2, ..index.clone() }));
    // Sums of floats are reduced as segments on every device.
    works.extend(RUNS[4..].iter().map(|&runs| ReduceCase { runs, ..ReduceCase::sum(ElementType::F32) }));
    works.extend(chained_works());
    works
}

/// Reductions by key in a single pass, of each kernel.
fn chained_works() -> Vec<ReduceCase> {
    use ElementType::{F32, F64, I64, U32};
    let (add, mul, min, max) = (ScanOperator::Add, ScanOperator::Mul, ScanOperator::Min, ScanOperator::Max);
    let of = |element, operator, runs| ReduceCase {
        operator,
        runs: Some(runs),
        algorithm: Some(ReduceByKeyAlgorithm::Chained),
        ..ReduceCase::sum(element)
    };
    let device = CountFrom::Device;
    vec![
        of(U32, add, ReduceRuns::Keys32),
        ReduceCase { count_from: device, ..of(F32, min, ReduceRuns::FloatKeys32) },
        of(U32, ScanOperator::Xor, ReduceRuns::Keys64),
        of(I64, add, ReduceRuns::Keys32),
        ReduceCase { count_from: CountFrom::DeviceBeyond, ..of(F64, max, ReduceRuns::FloatKeys64) },
        of(I64, mul, ReduceRuns::Keys64),
    ]
}

/// Each of [`selectable_works`] in one tile, several, and three levels.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for reduce in selectable_works(capabilities) {
        let small = ReduceCase { has_small_tiles: true, ..reduce.clone() };
        let tile = small.tile(capabilities);
        cases.push(small.case((tile * tile + 1).min(300_000), Input::Distinguishing));
        cases.push(reduce.case(5, Input::EdgeValues));
        cases.push(reduce.case(99_991, Input::EdgeValues));
    }
    cases
}

/// Larger inputs.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities).into_iter();
    works
        .flat_map(|reduce| [(1 << 20) + 1, 1_299_709].map(|n| reduce.case(n, Input::Distinguishing)))
        .collect()
}

/// Every operation on every type, in every layout of rows, of all rows and of segments.
pub(super) fn product_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for element in UNPACKED {
        for (operator, indices) in OPERATIONS {
            for (index, runs) in RUNS.into_iter().enumerate() {
                for columns in [1, 2, 4, 5, 64] {
                    let plain = ReduceCase { operator, indices, ..ReduceCase::sum(element) };
                    let reduce = ReduceCase { columns, runs, has_small_tiles: index % 2 == 0, ..plain };
                    if is_valid(&reduce) {
                        let tile = reduce.tile(capabilities);
                        let inputs = [Input::Distinguishing, Input::EdgeValues];
                        cases.extend(inputs.map(|input| reduce.case(4 * tile + 11, input)));
                    }
                }
            }
        }
    }
    cases
}

/// Benchmarks: sums and indices, of all rows, of segments and along rows.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let of = |element, runs| ReduceCase { runs, ..ReduceCase::sum(element) };
    let works = [
        of(ElementType::U32, None),
        of(ElementType::F32, None),
        ReduceCase { columns: 3, ..ReduceCase::sum(ElementType::F32) },
        ReduceCase { operator: ScanOperator::Min, indices: 1, ..ReduceCase::sum(ElementType::F32) },
        of(ElementType::F32, Some(ReduceRuns::Offsets)),
        of(ElementType::F32, Some(ReduceRuns::Keys32)),
        of(ElementType::F32, Some(ReduceRuns::FixedSize(40))),
        of(ElementType::F32, Some(ReduceRuns::FixedSize(1 << 16))),
    ];
    // The bound of a quick run leaves no room for more.
    let both = ReduceCase { operator: ScanOperator::Min, indices: 2, ..ReduceCase::sum(ElementType::F32) };
    let works = works.into_iter().chain((scale.effort != Effort::Quick).then_some(both));
    uniform_cases(works, &scale.counts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_of_the_first_nan_or_of_the_first_of_equals() {
        let of = |operator, values: &[f32]| {
            let reduce = ReduceCase { operator, indices: 1, ..ReduceCase::sum(ElementType::F32) };
            reduce.first_indices(operator, bytemuck::cast_slice(values))[0]
        };
        assert_eq!(of(ScanOperator::Min, &[1.0, 0.0, -0.0, 0.0]), 1);
        assert_eq!(of(ScanOperator::Max, &[-0.0, 0.0, -1.0]), 0);
        for operator in [ScanOperator::Min, ScanOperator::Max] {
            assert_eq!(of(operator, &[1.0, f32::INFINITY, -f32::NAN, f32::NAN, f32::NEG_INFINITY]), 2);
            assert_eq!(of(operator, &[]), u32::MAX);
        }
    }

    /// The order of operations is documented, and its error has the documented bound.
    #[test]
    fn sums_in_order_keep_the_bound() {
        for runs in [None, Some(ReduceRuns::Offsets)] {
            let reduce = ReduceCase { runs, ..ReduceCase::sum(ElementType::F32) };
            let [input, _] = reduce.generate(70_001, Input::Distinguishing);
            let offsets = runs.map(|_| vec![5, 70_000]);
            let (result, _) = reduce.results(&input, offsets.as_deref(), 8);
            let values: Vec<f32> = bytemuck::cast_slice(&input).to_vec();
            let rows = if runs.is_some() { 5..70_000 } else { 0..70_001 };
            let values = values[rows].iter().map(|&value| f64::from(value));
            let (sum, magnitude) =
                values.fold((0.0, 0.0), |(sum, all), value| (sum + value, all + value.abs()));
            let depth = if runs.is_some() { 5.0 * 74.0 } else { 2.0 * 16.0 };
            let got = f64::from(f32::from_bits(result[0]));
            assert!((got - sum).abs() <= 1.01 * depth * 2f64.powi(-24) * magnitude, "{got} {sum}");
        }
    }

    #[test]
    fn offsets_have_empty_segments_and_keys_recur() {
        let offsets = ReduceCase { runs: Some(ReduceRuns::Offsets), ..ReduceCase::sum(ElementType::U32) };
        let begins = offsets.begins(4000);
        assert!(begins.is_sorted() && begins.windows(2).any(|pair| pair[0] == pair[1]));
        assert_eq!(begins.last(), Some(&4000));
        for runs in ReduceRuns::ALL.into_iter().filter(|runs| runs.key_size() > 0) {
            let words = (runs.key_size() as usize).div_ceil(4);
            let reduce = ReduceCase { runs: Some(runs), ..ReduceCase::sum(ElementType::U32) };
            let mut begins = reduce.begins(4000);
            let keys = reduce.keys(&begins, 4000);
            let heads = heads_of(&keys, words, has_float_keys(Some(runs)));
            if begins[0] != 0 {
                begins.insert(0, 0);
            }
            assert_eq!(heads, begins);
            // Floats have runs of keys that are not the same bits.
            assert_eq!(heads_of(&keys, words, false).len() > heads.len(), has_float_keys(Some(runs)));
        }
    }
}
