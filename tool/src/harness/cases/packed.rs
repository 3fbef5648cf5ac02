//! Cases of packed elements, of 8 and 16 bits. Primitives compute with 32 bits, or load and store in other sizes alone, so that
//! their own cases have their other parameters: here are types, forms, counts and places, each type with each of some works
//! of a primitive.

use std::sync::Arc;

use super::{
    BenchScale, Case, CountFrom, DifferenceCase, Effort, HistogramCase, HistogramMemory, HistogramRange,
    InitialFrom, MergeCase, PlanConfig, PolicyName, ReduceCase, RunLengthCase, RunLengthCoding, ScanCase,
    SearchCase, SegmentMix, SegmentedSortCase, SelectCase, SelectOutput, SortCase, SortKeys, SortValues,
    TopKCase, Work, uniform_cases,
};
use crate::harness::expected::PackedForm;
use crate::harness::inputs::Input;
use subsweep::device::Capabilities;
use subsweep::difference::DifferenceConfig;
use subsweep::gather::GatherConfig;
use subsweep::histogram::HistogramConfig;
use subsweep::merge::MergeConfig;
use subsweep::reduce::{ReduceConfig, ReduceRuns};
use subsweep::run_length::{RunLengthAlgorithm, RunLengthConfig, RunLengthPolicy};
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanOperator, ScanPolicy};
use subsweep::search::SearchConfig;
use subsweep::select::{Comparison, Predicate, SelectAlgorithm, SelectConfig, SelectPolicy};
use subsweep::sort::{SortAlgorithm, SortConfig};
use subsweep::top_k::{TopKAlgorithm, TopKConfig};
use subsweep::{ElementType, FloatOrder, NumberKind};

/// The types of 32 and 64 bits.
pub(super) const UNPACKED: [ElementType; 6] = [
    ElementType::U32,
    ElementType::I32,
    ElementType::F32,
    ElementType::U64,
    ElementType::I64,
    ElementType::F64,
];

/// The types of 8 and 16 bits.
pub(super) const PACKED: [ElementType; 6] = [
    ElementType::U8,
    ElementType::I8,
    ElementType::U16,
    ElementType::I16,
    ElementType::F16,
    ElementType::Bf16,
];

/// The words of memory with these numbers, which are packed if their type is.
pub(super) fn in_memory(element: ElementType, words: &Arc<Vec<u32>>) -> Arc<Vec<u32>> {
    match PackedForm::new(element) {
        Some(form) => Arc::new(form.packed(words)),
        None => Arc::clone(words),
    }
}

/// Sorts of each kind of values and order, of all bits and of some.
fn sorts(element: ElementType, count_from: CountFrom) -> Vec<Work> {
    let sort = |algorithm, values, is_descending| SortCase {
        count_from,
        ..SortCase::keys_of_u32(algorithm, PolicyName::Small).with_types(element, values, is_descending)
    };
    let (onesweep, radix) = (SortAlgorithm::Onesweep, SortAlgorithm::Radix4Bit);
    let order = FloatOrder::Numpy;
    vec![
        sort(onesweep, SortValues::None, false).into(),
        sort(onesweep, SortValues::B4, true).with_order(order).into(),
        SortCase { misalignment: element.size() as u32, ..sort(radix, SortValues::Indices, false) }
            .with_order(order)
            .into(),
        sort(radix, SortValues::B8, false).with_bits(3..element.bits() - 1).into(),
        SortCase { is_double_buffered: true, ..sort(onesweep, SortValues::None, true) }.into(),
        SortCase { policy: PolicyName::Chosen, ..sort(onesweep, SortValues::Indexed, false) }
            .with_order(order)
            .into(),
        // The words of brain floats in both orders, since other sorts may take them as they are.
        SegmentedSortCase {
            count_from,
            keys: SortKeys {
                order: if element == ElementType::Bf16 { FloatOrder::Total } else { order },
                ..SortKeys::new(element, SortValues::B4, false)
            },
            has_small_tiles: true,
            ..SegmentedSortCase::keys_of_u32(SegmentMix::Boundaries)
        }
        .into(),
    ]
}

/// Scans and reductions whose results are packed, and unpacked.
fn sums(element: ElementType, count_from: CountFrom) -> Vec<Work> {
    let scan = ScanCase { element, count_from, ..ScanCase::sum_of_u32(PolicyName::Small) };
    let reduce = ReduceCase { count_from, has_small_tiles: true, ..ReduceCase::sum(element) };
    let (kind, operator) = (ScanKind::Exclusive, ScanOperator::Min);
    let keys = ReduceRuns::keys(element);
    let (runs, is_half) = (Some(ReduceRuns::Offsets), element == ElementType::F16);
    let at_odd = ReduceCase { misalignment: element.size() as u32, ..reduce.clone() };
    let segments = match element.bits() {
        8 => ReduceCase { runs: Some(ReduceRuns::Ranges), columns: 3, operator, ..at_odd },
        _ => ReduceCase { runs, has_unpacked_results: !is_half, ..at_odd },
    };
    // Each type in one shape, whose kernels are compiled for it alone.
    let shaped = match element.kind() {
        NumberKind::Float => ReduceCase { runs: Some(ReduceRuns::FixedSize(5)), ..reduce.clone() },
        _ if element.bits() == 8 => ReduceCase { columns: 3, ..reduce.clone() },
        _ => ReduceCase { operator, indices: 2, columns: 2, ..reduce.clone() },
    };
    vec![
        ScanCase { in_place: true, ..scan.clone() }.into(),
        ScanCase { kind, operator, columns: 3, misalignment: 4 + element.size() as u32, ..scan.clone() }
            .into(),
        ScanCase { initial: Some(InitialFrom::Device), is_reverse: true, ..scan.clone() }.into(),
        ScanCase { algorithm: ScanAlgorithm::Chained, operator: ScanOperator::Max, ..scan.clone() }.into(),
        ScanCase { initial: Some(InitialFrom::Host), has_unpacked_results: true, ..scan }.into(),
        reduce.clone().into(),
        shaped.into(),
        ReduceCase { operator, indices: 1, ..reduce.clone() }.into(),
        segments.into(),
        ReduceCase { runs: Some(keys), operator, ..reduce.clone() }.into(),
        ReduceCase { element: ElementType::U32, runs: Some(keys), ..reduce }.into(),
    ]
}

/// Scans and reductions that take packed elements as they are, in each shape of their kernels.
fn summed_as_they_are() -> Vec<Work> {
    use ElementType::{Bf16, F16, I8, I16, U8, U16};
    let scan = |element| ScanCase { element, ..ScanCase::sum_of_u32(PolicyName::Small) };
    let chained = |element| ScanCase { algorithm: ScanAlgorithm::Chained, ..scan(element) };
    let reduce = |element| ReduceCase { has_small_tiles: true, ..ReduceCase::sum(element) };
    let index = |element, indices| ReduceCase { operator: ScanOperator::Max, indices, ..reduce(element) };
    let rows = |length| Some(ReduceRuns::FixedSize(length));
    let (kind, operator) = (ScanKind::Exclusive, ScanOperator::Max);
    vec![
        scan(U8).into(),
        ScanCase { in_place: true, ..scan(U8) }.into(),
        ScanCase { operator, ..scan(U16) }.into(),
        ScanCase { operator, ..chained(U16) }.into(),
        ScanCase { kind, is_reverse: true, ..chained(I8) }.into(),
        ScanCase { has_unpacked_results: true, ..chained(F16) }.into(),
        ScanCase { has_unpacked_results: true, is_reverse: true, ..scan(Bf16) }.into(),
        reduce(U8).into(),
        ReduceCase { columns: 2, ..reduce(F16) }.into(),
        index(F16, 1).into(),
        ReduceCase { operator: ScanOperator::Min, ..index(U8, 2) }.into(),
        ReduceCase { runs: rows(40), operator: ScanOperator::Min, ..reduce(I16) }.into(),
        ReduceCase { runs: rows(2000), ..index(F16, 1) }.into(),
        ReduceCase { runs: Some(ReduceRuns::Offsets), ..reduce(F16) }.into(),
    ]
}

/// Selections, run lengths, differences, merges, searches, top-k and histograms.
fn others(element: ElementType, count_from: CountFrom) -> Vec<Work> {
    let less = Predicate::Compare(Comparison::Less);
    let select = |by| SelectCase { element, count_from, has_small_tiles: true, ..SelectCase::of_u32(by) };
    let runs = RunLengthCase {
        element,
        count_from,
        has_small_tiles: true,
        ..RunLengthCase::of_u32(RunLengthCoding::Encode, 3)
    };
    let difference = DifferenceCase { count_from, has_small_tiles: true, ..DifferenceCase::new(element) };
    let merge = MergeCase { count_from, has_small_tiles: true, ..MergeCase::keys(element) };
    let search = SearchCase { count_from, has_small_tiles: true, ..SearchCase::lower_bound(element) };
    let top_k = TopKCase { count_from, ..TopKCase::largest(element, 70, 5) };
    // In the shape that GPUs choose.
    let memory = Some(HistogramMemory::Shared);
    let histogram = HistogramCase { count_from, memory, ..HistogramCase::new(element, true, 256) };
    let by_flags = |algorithm| SelectCase { algorithm: Some(algorithm), ..select(Predicate::Flags8) };
    vec![
        by_flags(SelectAlgorithm::Chained).into(),
        by_flags(SelectAlgorithm::ReduceThenScan).into(),
        SelectCase { has_device_operands: true, parts: 3, ..select(less) }.into(),
        SelectCase {
            values: 1,
            output: SelectOutput::Both,
            algorithm: Some(SelectAlgorithm::Chained),
            ..select(less)
        }
        .into(),
        SelectCase { misalignment: 12 + element.size() as u32, ..select(Predicate::Unique) }.into(),
        SelectCase { parts: 2, ..select(Predicate::Flags32) }.into(),
        RunLengthCase { algorithm: Some(RunLengthAlgorithm::Chained), ..runs.clone() }.into(),
        RunLengthCase { coding: RunLengthCoding::NonTrivial, has_offsets: true, ..runs.clone() }.into(),
        RunLengthCase { coding: RunLengthCoding::Decode, is_cut: true, ..runs }.into(),
        difference.clone().into(),
        DifferenceCase { columns: 3, is_along_rows: true, misalignment: 8, ..difference.clone() }.into(),
        DifferenceCase { columns: 3, keeps_first: true, ..difference.clone() }.into(),
        DifferenceCase { misalignment: element.size() as u32, ..difference }.into(),
        MergeCase { b_count_from: CountFrom::Device, misalignment: element.size() as u32, ..merge.clone() }
            .into(),
        MergeCase { values: 2, is_descending: true, order: FloatOrder::Numpy, ..merge }.into(),
        SearchCase { has_small_tiles: false, ..search.clone() }.into(),
        SearchCase {
            sorted_count: Some(1000),
            is_upper_bound: true,
            misalignment: element.size() as u32,
            ..search
        }
        .into(),
        top_k.clone().into(),
        TopKCase { is_sorted: false, is_smallest: true, values: 1, ..top_k }.into(),
        histogram.clone().into(),
        // At no quad of elements.
        HistogramCase { misalignment: element.size() as u32, ..histogram.clone() }.into(),
        HistogramCase {
            is_weighted: true,
            is_even: false,
            columns: 3,
            range: HistogramRange::Narrow,
            ..histogram
        }
        .into(),
    ]
}

/// Every type in each of the works, of a count in turn: of the host, and of the device below its maximum and above it.
pub(super) fn covering_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (turn, element) in PACKED.into_iter().enumerate() {
        for (index, works) in [sorts, sums, others].into_iter().enumerate() {
            let count_from = CountFrom::ALL[(turn + index) % 3];
            for (index, work) in works(element, count_from).into_iter().enumerate() {
                let count = [1003, 4098, 517, 70][(index + turn) % 4];
                let inputs = match work {
                    Work::Scan(_) | Work::Reduce(_) => [Input::Distinguishing, Input::EdgeValues],
                    _ => [Input::EdgeValues, Input::Uniform],
                };
                let input = inputs[(index + turn / 2) % 2];
                cases.push(Case { work, count, input, tuned: None });
            }
        }
    }
    // As GPUs choose, of one tile and of several, at every address.
    for work in summed_as_they_are() {
        let element_size = match &work {
            Work::Scan(scan) => scan.element.size(),
            Work::Reduce(reduce) => reduce.element.size(),
            _ => unreachable!("scans and reductions"),
        } as u32;
        for (misalignment, count) in [(0, 70), (0, 4098), (element_size, 70), (element_size, 4098), (4, 70)] {
            let mut work = work.clone();
            match &mut work {
                Work::Scan(scan) => scan.misalignment = misalignment,
                Work::Reduce(reduce) => reduce.misalignment = misalignment,
                _ => {}
            }
            cases.push(Case { work, count, input: Input::Distinguishing, tuned: None });
        }
    }
    // Rows of a subgroup, and of several tiles.
    for element in [ElementType::U8, ElementType::U16] {
        let algorithm = Some(TopKAlgorithm::Subgroups);
        let top_k = TopKCase { algorithm, ..TopKCase::largest(element, 20, 8) };
        cases.push(Case { work: top_k.into(), count: 50, input: Input::Uniform, tuned: None });
        let top_k = TopKCase::largest(element, 20_000, 32);
        cases.push(Case { work: top_k.into(), count: 3, input: Input::Uniform, tuned: None });
    }
    // Of two tiles or three a compaction adds up the counts.
    for element in [ElementType::U8, ElementType::U16] {
        let algorithm = Some(SelectAlgorithm::ReduceThenScan);
        let select =
            SelectCase { element, algorithm, has_small_tiles: true, ..SelectCase::of_u32(Predicate::Flags8) };
        cases.push(Case { work: select.into(), count: 150, input: Input::Uniform, tuned: None });
    }
    cases
}

/// Plans with every form of the kernels that unpack and pack, and with all that take packed elements as they are.
pub(super) fn selectable_plans(capabilities: &Capabilities) -> Vec<PlanConfig> {
    use ElementType::{Bf16, F16, I8, I16, U8, U16};
    let sort = |element| SortConfig::keys(element);
    let select = |config: SelectConfig, algorithm| -> PlanConfig {
        config.policy(SelectPolicy::tuned(algorithm, capabilities, &config)).into()
    };
    let selections = [U8, U16].map(SelectConfig::flags8_of).into_iter();
    let selections = selections.flat_map(|config| SelectAlgorithm::ALL.map(|by| select(config, by)));
    let chained = |config: ScanConfig| -> PlanConfig {
        config.policy(ScanPolicy::tuned(ScanAlgorithm::Chained, capabilities, &config)).into()
    };
    let runs = |element| {
        let config = RunLengthConfig::encode(element);
        config.policy(RunLengthPolicy::tuned(RunLengthAlgorithm::Chained, capabilities, &config)).into()
    };
    let as_they_are = [U8, U16].into_iter().flat_map(|element| {
        [
            SearchConfig::lower_bound(element).into(),
            MergeConfig::keys(element).into(),
            DifferenceConfig::new(element).into(),
            TopKConfig::largest(element, 40, 8).into(),
            TopKConfig::largest(element, 20_000, 32).into(),
            HistogramConfig::even(element, 256).into(),
            runs(element),
        ]
    });
    // What takes most instructions.
    let halves = [
        HistogramConfig::even(F16, 256).into(),
        select(SelectConfig::compare(F16, Comparison::Less).values(1).indices(), SelectAlgorithm::Chained),
    ];
    let others = vec![
        sort(U16).into(),
        sort(I8).into(),
        sort(F16).order(FloatOrder::Numpy).into(),
        sort(Bf16).into(),
        ScanConfig::inclusive(U8).with_initial().into(),
        ScanConfig::inclusive(F16).with_initial().into(),
        ScanConfig::inclusive(Bf16).with_initial().into(),
        ScanConfig::inclusive(U8).into(),
        chained(ScanConfig::inclusive(U16).operator(ScanOperator::Max)),
        chained(ScanConfig::inclusive(F16).unpacked_results()),
        ReduceConfig::sum(U8).into(),
        ReduceConfig::sum(F16).columns(2).into(),
        ReduceConfig::sum(U8).columns(3).into(),
        ReduceConfig::argmax(F16).into(),
        ReduceConfig::argminmax(U8).into(),
        ReduceConfig::argmax(F16).along_rows(2000).into(),
        ReduceConfig::new(ScanOperator::Min, I16).runs(ReduceRuns::FixedSize(40)).into(),
        ReduceConfig::sum(F16).runs(ReduceRuns::Offsets).into(),
        GatherConfig::numbers(U8).into(),
        GatherConfig::numbers(U16).into(),
        RunLengthConfig::decode(U8).into(),
        RunLengthConfig::decode(U16).into(),
    ];
    others.into_iter().chain(halves).chain(as_they_are).chain(selections).collect()
}

/// Works that take elements as they are, in the device's tiles.
fn works_in_default_tiles() -> [Work; 9] {
    use ElementType::{F16, U8, U16};
    let scan = ScanCase { element: U8, ..ScanCase::sum_of_u32(PolicyName::Default) };
    [
        scan.clone().into(),
        ScanCase { algorithm: ScanAlgorithm::Chained, ..scan }.into(),
        ReduceCase::sum(U8).into(),
        ReduceCase { operator: ScanOperator::Max, indices: 1, ..ReduceCase::sum(F16) }.into(),
        DifferenceCase::new(U8).into(),
        HistogramCase { range: HistogramRange::Full, ..HistogramCase::new(U8, true, 256) }.into(),
        SelectCase { element: U8, ..SelectCase::of_u32(Predicate::Flags8) }.into(),
        MergeCase::keys(U16).into(),
        SearchCase::lower_bound(U16).into(),
    ]
}

/// [`works_in_default_tiles`], each of several tiles.
pub(super) fn specialization_cases() -> Vec<Case> {
    uniform_cases(works_in_default_tiles(), &[70_001])
}

/// Benchmarks: elements that are taken as they are, but for sorts, which have their own.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let top_k = TopKCase::largest(ElementType::F16, 1 << 17, 32);
    let counts = if scale.is_gpu { [1 << 24, 1 << 26] } else { [1 << 20, 1 << 22] };
    match scale.effort {
        // The bound of a quick run leaves no room for them.
        Effort::Quick => Vec::new(),
        _ => {
            let of_rows = uniform_cases([top_k], &counts.map(|count| count >> 17));
            [uniform_cases(works_in_default_tiles(), &counts), of_rows].concat()
        }
    }
}

/// Every type in each of the works, with each count and input.
pub(super) fn full_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for element in PACKED {
        for count_from in CountFrom::ALL {
            for work in [sorts, sums, others].into_iter().flat_map(|works| works(element, count_from)) {
                for count in [1, 2, 3, 4, 5, 255, 4096, 65_537] {
                    for input in [Input::EdgeValues, Input::Uniform, Input::TwoValued] {
                        cases.push(Case { work: work.clone(), count, input, tuned: None });
                    }
                }
            }
        }
    }
    cases
}
