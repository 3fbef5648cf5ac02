//! Cases of run-length encoding and decoding.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, InputTurns, axis};
use super::select::of_index_size;
use super::{
    BenchScale, Case, CountFrom, Known, Needs, PolicyName, Prepared, PrimitiveCase, SortValues, in_memory,
    ordered_types, small_workgroup, uniform_cases,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::Input;
use crate::harness::keys;
use crate::harness::selected::Test;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::internal::named;
use subsweep::run_length::{
    RunLengthAlgorithm, RunLengthBuffers, RunLengthConfig, RunLengthPlan, RunLengthPolicy,
};
use subsweep::scan::{ScanAlgorithm, ScanConfig, WorkgroupScan};
use subsweep::{ElementType, FloatOrder};

/// Parameters of an encoding or a decoding. The case's input is the distribution of the keys of the runs; its count is
/// the number of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLengthCase {
    /// What is computed.
    pub coding: RunLengthCoding,
    /// The type of the elements.
    pub element: ElementType,
    /// The order of floats, by which elements are equal.
    pub order: FloatOrder,
    /// Mean length of the runs that the input is made of.
    pub mean_length: u32,
    /// Whether an encoding writes values; a decoding without them writes the indices of runs.
    pub has_values: bool,
    /// Whether an encoding writes offsets; of non-trivial runs it always does.
    pub has_offsets: bool,
    /// Whether the elements of a decoding exceed their memory.
    pub is_cut: bool,
    /// The algorithm of an encoding; `None` for the device's choice.
    pub algorithm: Option<RunLengthAlgorithm>,
    /// Whether tiles are small, so that few elements take many.
    pub has_small_tiles: bool,
    /// Whether the counts, offsets and number of an encoding are u64, for 2^32 elements and more.
    pub has_large_counts: bool,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

named! {
    /// What a [`RunLengthCase`] computes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RunLengthCoding {
        /// All runs.
        Encode = "encode",
        /// The runs of more than one element.
        NonTrivial = "non-trivial",
        /// Elements.
        Decode = "decode",
    }
}

/// Runs of an input.
struct Runs {
    /// Words of the value of each.
    values: Vec<u32>,
    lengths: Vec<u32>,
}

/// Results of an encoding.
struct Encoded {
    /// The number of runs, trivial ones included.
    all_count: u64,
    /// Values of the runs that are written, as words, their offsets, and their counts.
    values: Vec<u32>,
    offsets: Vec<u32>,
    counts: Vec<u32>,
}

/// Operands and result of a decoding.
struct Decoded {
    run_count: u64,
    values: Arc<Vec<u32>>,
    lengths: Arc<Vec<u32>>,
    /// The elements, or the indices of their runs, as words.
    elements: Vec<u32>,
}

impl RunLengthCase {
    /// A coding of u32 in runs of `mean_length`, with the device's choice of algorithms.
    pub const fn of_u32(coding: RunLengthCoding, mean_length: u32) -> Self {
        Self {
            coding,
            element: ElementType::U32,
            order: FloatOrder::Numpy,
            mean_length,
            has_values: true,
            has_offsets: matches!(coding, RunLengthCoding::NonTrivial),
            is_cut: false,
            algorithm: None,
            has_small_tiles: false,
            has_large_counts: false,
            count_from: CountFrom::Host,
            misalignment: 0,
        }
    }

    const fn is_decoding(&self) -> bool {
        matches!(self.coding, RunLengthCoding::Decode)
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> RunLengthConfig {
        let config = match self.coding {
            RunLengthCoding::Encode => RunLengthConfig::encode(self.element),
            RunLengthCoding::NonTrivial => RunLengthConfig::encode(self.element).non_trivial(),
            RunLengthCoding::Decode if self.has_values => RunLengthConfig::decode(self.element),
            RunLengthCoding::Decode => RunLengthConfig::decode_indices(),
        };
        let config = if self.has_offsets { config.offsets() } else { config }.order(self.order);
        let config = if self.has_values { config } else { config.without_values() };
        let config = if self.has_large_counts { config.large_counts() } else { config };
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> RunLengthPolicy {
        let config = self.config();
        let mut policy = match self.algorithm {
            Some(algorithm) => RunLengthPolicy::tuned(algorithm, capabilities, &config),
            None => RunLengthPolicy::choose(capabilities, &config).policy,
        };
        if self.has_small_tiles {
            (policy.workgroup_size, policy.items_per_invocation) = (small_workgroup(capabilities), 3);
            (policy.select.workgroup_size, policy.select.items_per_invocation) =
                (small_workgroup(capabilities), 4);
            let scan = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
            let counts = if self.has_large_counts { ElementType::U64 } else { ElementType::U32 };
            let small = |of| PolicyName::Small.scan(capabilities, scan, &ScanConfig::inclusive(of));
            (policy.select.scan, policy.scan) = (small(counts), small(ElementType::U32));
        }
        policy
    }

    /// Whether a plan exists, and no other case is the same.
    fn is_valid(&self) -> bool {
        let is_selected = self.algorithm != Some(RunLengthAlgorithm::Chained);
        match self.coding {
            RunLengthCoding::Encode => !self.is_cut && (is_selected || !self.has_large_counts),
            _ if self.has_large_counts => false,
            RunLengthCoding::NonTrivial => !self.is_cut && self.has_offsets,
            RunLengthCoding::Decode => {
                let is_plain = !self.has_offsets && is_selected;
                is_plain && (self.has_values || self.element == ElementType::U32)
            }
        }
    }

    /// Runs of `count` elements in all; those to decode have some of no elements.
    fn runs(&self, count: u64, input: Input) -> Runs {
        let draws = Input::Uniform.generate(count as usize + 1, count + 3);
        let (mut lengths, mut left) = (Vec::new(), count as u32);
        for draw in draws {
            if self.is_decoding() && draw % 5 == 0 {
                lengths.push(0);
            }
            if left == 0 {
                break;
            }
            let length = (1 + (draw >> 8) % (2 * self.mean_length - 1)).min(left);
            lengths.push(length);
            left -= length;
        }
        let [values, _] = keys::keys_and_values(self.element, SortValues::None, input, lengths.len() as u64);
        Runs { values, lengths }
    }

    /// Elements per tile.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        let policy = self.policy(capabilities);
        let is_selected = !self.is_decoding() && policy.algorithm == RunLengthAlgorithm::Selection;
        if is_selected { policy.select.tile_items() } else { policy.tile_items() }.into()
    }

    /// What an encoding of `elements` writes.
    fn encoded(&self, elements: &[u32]) -> Encoded {
        let words = self.element.words() as usize;
        let count = elements.len() / words;
        let parts = Test::Unique(self.order).parts(self.element, elements, &[]);
        let starts: Vec<_> = (0..count).filter(|&index| parts[index] == 0).collect();
        let ends = starts.iter().skip(1).copied().chain([count]);
        let all_count = starts.len() as u64;
        let runs = starts.iter().zip(ends).map(|(&start, end)| (start, end - start));
        let is_kept = |&(_, length): &(usize, usize)| length > 1 || self.coding == RunLengthCoding::Encode;
        let runs: Vec<_> = runs.filter(is_kept).collect();
        let values = runs.iter().flat_map(|&(start, _)| &elements[start * words..][..words]).copied();
        let [offsets, counts] = [|run: &(usize, usize)| run.0 as u32, |run: &(usize, usize)| run.1 as u32]
            .map(|of| runs.iter().map(of).collect());
        Encoded { all_count, values: values.collect(), offsets, counts }
    }

    fn prepare_encoding(&self, plan: Arc<RunLengthPlan>, count: u64, known: &Known) -> Result<Prepared> {
        let (counted, operands) = self.count_from.operand("count", count);
        let data = known.data(|elements| self.encoded(elements));
        let (all_count, run_count) = (data.all_count, data.counts.len() as u32);
        let needs = Needs {
            source: "elements",
            destination: "values",
            values: &["result_count", "counts", "offsets"],
            ..Needs::new(counted.max(), self.misalignment, operands).elements(self.element)
        };
        let (has_values, has_offsets) = (self.has_values, self.has_offsets);
        let index_size = plan.config().index_size();
        let expected = move |_: &[u32]| {
            let values = if has_values { data.values.clone() } else { Vec::new() };
            let offsets = if has_offsets { &data.offsets[..] } else { &[] };
            let numbers = [&[run_count], &data.counts[..], offsets];
            (Expected::exact(values), numbers.map(|numbers| of_index_size(numbers, index_size)).into())
        };
        let traffic_size = plan.traffic_size(count, all_count, run_count.into());
        Prepared::new(traffic_size, plan, Default::default(), counted, needs, expected)
    }

    fn decoded(&self, elements: &[u32], count: u64, input: Input) -> Decoded {
        let Runs { mut values, mut lengths } = self.runs(count, input);
        let run_count = lengths.len() as u64;
        let decoded = match self.has_values {
            true => elements.to_vec(),
            false => (0..).zip(&lengths).flat_map(|(run, &length)| vec![run; length as usize]).collect(),
        };
        // Runs beyond the count must not be read.
        let room = self.count_from.room(run_count) as usize;
        lengths.resize(room, 3);
        values.resize(room * self.element.words() as usize, 7);
        Decoded {
            run_count,
            values: in_memory(self.element, &Arc::new(values)),
            lengths: Arc::new(lengths),
            elements: decoded,
        }
    }

    fn prepare_decoding(
        &self,
        plan: Arc<RunLengthPlan>,
        count: u64,
        input: Input,
        known: &Known,
    ) -> Result<Prepared> {
        let data = known.data(|elements| self.decoded(elements, count, input));
        let run_count = data.run_count;
        let (counted, mut operands) = self.count_from.operand("count", run_count);
        operands.extend([("values", Arc::clone(&data.values)), ("counts", Arc::clone(&data.lengths))]);
        // More than there are, unless they are cut.
        let room = count + if self.is_cut { 0 } else { 5 };
        let element_size = self.element.size() as u64;
        let stored_count = if self.is_cut { count - count.div_ceil(4) } else { count };
        let needs = Needs {
            destination: "elements",
            values: &["result_count"],
            ..Needs::new(room, self.misalignment, operands).elements(self.element)
        };
        let mut buffers = RunLengthBuffers::default();
        // The end of an element that does not fit is not written.
        buffers.elements.size = if self.is_cut {
            stored_count * element_size + element_size.saturating_sub(4)
        } else {
            room * element_size
        };
        let stored_words = stored_count as usize * self.element.words() as usize;
        let expected = move |_: &[u32]| {
            let elements = data.elements[..stored_words].to_vec();
            (Expected::exact(elements), vec![vec![count as u32]])
        };
        let traffic_size = plan.traffic_size(count, run_count, run_count);
        Prepared::new(traffic_size, plan, buffers, counted, needs, expected)
    }
}

impl PrimitiveCase for RunLengthCase {
    type Plan = RunLengthPlan;

    fn id(&self) -> Id {
        let policy = match (self.has_small_tiles, self.algorithm) {
            (true, _) => "small",
            (false, Some(_)) => "default",
            (false, None) => "chosen",
        };
        Id::new(format_args!("run_length:{}", self.coding))
            .with("type", self.element)
            .unless(FloatOrder::Numpy, "floats", self.order)
            .with("mean", self.mean_length)
            .given("values", (!self.has_values).then_some("none"))
            .given("offsets", self.has_offsets.then_some("yes"))
            .given("room", self.is_cut.then_some("less"))
            .given("counts", self.has_large_counts.then_some("wide"))
            .given("algorithm", self.algorithm)
            .with("policy", policy)
            .unless(CountFrom::Host, "count", self.count_from)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.element.size() as u64
    }

    fn variant(&self) -> String {
        let policy = if self.has_small_tiles { ", small" } else { "" };
        format!("{}{policy}", self.algorithm.map_or("chosen", RunLengthAlgorithm::name))
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        let Runs { values, lengths } = self.runs(count, input);
        let values = values.chunks(self.element.words() as usize);
        let elements = values.zip(lengths).flat_map(|(value, length)| value.repeat(length as usize));
        [elements.collect(), Vec::new()]
    }

    fn prepare(&self, plan: Arc<RunLengthPlan>, count: u64, input: Input, known: &Known) -> Result<Prepared> {
        match self.is_decoding() {
            true => self.prepare_decoding(plan, count, input, known),
            false => self.prepare_encoding(plan, count, known),
        }
    }
}

/// The inputs of covering sets; adjacent runs of two-valued keys are often one.
const COVERED_INPUTS: [Input; 4] = [Input::Uniform, Input::EdgeValues, Input::TwoValued, Input::Constant(0)];

/// All pairs of parameters in small tiles, of encodings and of decodings.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<RunLengthCase>; 2] {
    let small = |coding| RunLengthCase {
        algorithm: Some(RunLengthAlgorithm::Selection),
        has_small_tiles: true,
        has_offsets: coding != RunLengthCoding::Decode,
        ..RunLengthCase::of_u32(coding, 1)
    };
    let axes = || {
        [
            axis(&ordered_types(FloatOrder::Numpy), |case: &mut RunLengthCase, (element, order)| {
                (case.element, case.order) = (element, order);
            }),
            axis(&[1, 3, 200], |case, mean_length| case.mean_length = mean_length),
            axis(&[true, false], |case, has_values| case.has_values = has_values),
            axis(&CountFrom::ALL, |case, count_from| case.count_from = count_from),
            axis(&[0, 4, 8, 12], |case, misalignment| case.misalignment = misalignment),
        ]
    };
    let of_encoding = [
        axis(&[RunLengthCoding::Encode, RunLengthCoding::NonTrivial], |case: &mut RunLengthCase, coding| {
            case.coding = coding;
        }),
        axis(&[true, false], |case, has_offsets| case.has_offsets = has_offsets),
        axis(&[false, true], |case, is_large| case.has_large_counts = is_large),
        axis(&RunLengthAlgorithm::ALL.map(Some), |case, algorithm| case.algorithm = algorithm),
    ];
    let of_decoding = [axis(&[false, true], |case: &mut RunLengthCase, is_cut| case.is_cut = is_cut)];
    [(RunLengthCoding::Encode, Vec::from(of_encoding)), (RunLengthCoding::Decode, Vec::from(of_decoding))]
        .map(|(coding, own)| {
            let axes: Vec<_> = own.into_iter().chain(axes()).collect();
            CoveringSet::new(small(coding), axes, RunLengthCase::is_valid)
        })
}

/// The covering sets, and every kernel.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for set in covering_sets(capabilities) {
        let mut inputs = InputTurns::new(COVERED_INPUTS);
        for (index, covering) in set.works().iter().enumerate() {
            let case = &covering.work;
            let tile = case.tile(capabilities);
            // In turn a part of a tile, one, and several; the last beyond the tile of the counts' scan.
            let counts = [2 * tile + 3, tile * 70 + 5, 0, tile, tile + 1, 1];
            cases.push(case.case(counts[index % counts.len()], inputs.take(covering)));
        }
    }
    cases.extend(selectable_works(capabilities).into_iter().map(|case| case.case(65_537, Input::Uniform)));
    cases
}

/// Plans of every kernel, and of each coding, with the tuned policy of each algorithm.
pub(super) fn selectable_works(_: &Capabilities) -> Vec<RunLengthCase> {
    let encode = RunLengthCase::of_u32(RunLengthCoding::Encode, 8);
    let non_trivial = RunLengthCase::of_u32(RunLengthCoding::NonTrivial, 2);
    let decode = RunLengthCase::of_u32(RunLengthCoding::Decode, 8);
    let encodings = RunLengthAlgorithm::ALL.into_iter().flat_map(|algorithm| {
        [
            encode.clone(),
            RunLengthCase { element: ElementType::F64, has_offsets: true, ..encode.clone() },
            non_trivial.clone(),
        ]
        .map(|case| RunLengthCase { algorithm: Some(algorithm), ..case })
    });
    // By selection alone.
    let large = RunLengthCase { has_offsets: true, has_large_counts: true, ..encode.clone() };
    let decodings = [
        decode.clone(),
        RunLengthCase { element: ElementType::I64, ..decode.clone() },
        RunLengthCase { has_values: false, ..decode },
    ];
    encodings.chain([large]).chain(decodings).collect()
}

/// Each of [`selectable_works`] in several tiles, misaligned, and with an indirect count.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities).into_iter().flat_map(|case| {
        let counted = RunLengthCase { count_from: CountFrom::Device, ..case.clone() };
        [RunLengthCase { misalignment: 4, ..case }, counted]
    });
    works.map(|case| case.case(2 * case.tile(capabilities) + 3, Input::EdgeValues)).collect()
}

/// All cases except the covering ones: counts around every boundary, every input, runs of any length.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for plain in selectable_works(capabilities) {
        for has_small_tiles in [false, true] {
            let case = RunLengthCase { has_small_tiles, ..plain.clone() };
            let tile = case.tile(capabilities);
            let edges = BTreeSet::from([0, 1, 2, tile - 1, tile, tile + 1, 3 * tile + 7, 99_991, 1_299_709]);
            cases.extend(edges.into_iter().map(|count| case.case(count, Input::Uniform)));
            let inputs = [Input::EdgeValues, Input::Sorted, Input::Reversed, Input::TwoValued];
            cases.extend(inputs.map(|input| case.case(5 * tile + 3, input)));
            for mean_length in [1, 100, 1_000_000] {
                let case = RunLengthCase { mean_length, ..case.clone() };
                cases.extend([tile + 1, 99_991].map(|count| case.case(count, Input::Uniform)));
            }
            for count_from in CountFrom::INDIRECT {
                let counted = RunLengthCase { count_from, ..case.clone() };
                cases.extend([0, 1, 2 * tile + 3].map(|count| counted.case(count, Input::Uniform)));
            }
        }
    }
    cases
}

/// The benchmark cases: short and long runs of u32, and short ones by selection.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    use RunLengthCoding::{Decode, Encode, NonTrivial};
    let works = [(Encode, 2), (Encode, 100), (NonTrivial, 2), (Decode, 2), (Decode, 100)]
        .map(|(coding, mean_length)| RunLengthCase::of_u32(coding, mean_length));
    let algorithm = Some(RunLengthAlgorithm::Selection);
    let by_selection =
        [Encode, NonTrivial].map(|coding| RunLengthCase { algorithm, ..RunLengthCase::of_u32(coding, 2) });
    uniform_cases(works.into_iter().chain(by_selection), &scale.counts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_the_mean_length_and_all_elements() {
        for coding in [RunLengthCoding::Encode, RunLengthCoding::Decode] {
            for mean_length in [1, 3, 200] {
                let case = RunLengthCase::of_u32(coding, mean_length);
                let Runs { lengths, .. } = case.runs(10_000, Input::Uniform);
                assert_eq!(lengths.iter().sum::<u32>(), 10_000);
                let full = lengths.iter().filter(|&&length| length > 0).count();
                let expected = 10_000 / mean_length as usize;
                assert!((expected * 3 / 4..=expected * 5 / 4).contains(&full), "{full} of {expected}");
                assert_eq!(lengths.contains(&0), coding == RunLengthCoding::Decode);
            }
        }
    }
}
