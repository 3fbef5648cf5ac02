//! The works that peers measure as well.

use super::DifferenceCase;
use super::{
    BenchScale, Case, Effort, HistogramCase, MergeCase, PolicyName, PrimitiveCase, ReduceCase, RunLengthCase,
    RunLengthCoding, ScanCase, SearchCase, SegmentMix, SegmentedSortCase, SelectCase, SortCase, SortValues,
    TopKCase, Work, cases_of, uniform_cases,
};
use crate::harness::inputs::Input;
use subsweep::ElementType;
use subsweep::reduce::ReduceRuns;
use subsweep::scan::{ScanAlgorithm, ScanOperator};
use subsweep::select::{Comparison, Predicate};

/// The works of CUB's peer in benches/peers: the cases of `bench --preset peers`. With few samples GPUs take all counts, too.
pub fn peer_bench_cases(scale: BenchScale) -> Vec<Case> {
    let counts = match scale {
        BenchScale { effort: Effort::Quick, is_gpu: true } => {
            BenchScale { effort: Effort::Normal, ..scale }.counts()
        }
        _ => scale.counts(),
    };
    let mut cases = uniform_cases(scans().into_iter().map(Work::from), &counts);
    cases.extend(uniform_cases(sorts(), &counts));
    cases.extend(uniform_cases(selects(), &counts));
    cases.extend(uniform_cases(reductions(), &counts));
    let histogram = HistogramCase::new(ElementType::F32, true, 256);
    cases.extend(cases_of([histogram], &counts, &[Input::Uniform, Input::Constant(0)]));
    use RunLengthCoding::{Encode, NonTrivial};
    let runs = [(Encode, 2), (Encode, 100), (NonTrivial, 2)];
    cases.extend(uniform_cases(runs.map(|(coding, mean)| RunLengthCase::of_u32(coding, mean)), &counts));
    let keys = MergeCase::keys(ElementType::U32);
    let merges = [keys.clone(), MergeCase { values: 1, ..keys }, MergeCase::keys(ElementType::U64)];
    cases.extend(uniform_cases(merges, &counts));
    let lower = SearchCase::lower_bound(ElementType::U32);
    cases.extend(cases_of([lower.clone()], &counts, &[Input::Uniform, Input::Sorted]));
    cases.extend(uniform_cases([SearchCase { sorted_count: Some(1 << 12), ..lower }], &counts));
    cases.extend(uniform_cases([ElementType::F32, ElementType::I64].map(DifferenceCase::new), &counts));
    for (columns, k) in [(1 << 16, 32), (1 << 16, 2048), (1 << 22, 32), (1 << 22, 2048)] {
        let largest = TopKCase { is_sorted: false, ..TopKCase::largest(ElementType::F32, columns, k) };
        cases.push(largest.case(1, Input::Uniform));
    }
    let mixes = [SegmentMix::Short, SegmentMix::Medium, SegmentMix::PowerLaw];
    cases.extend(uniform_cases(mixes.map(SegmentedSortCase::keys_of_u32), &counts));
    // Small ones of all works first, as the peer takes them: a run that is cut off can be compared.
    cases.sort_by_key(Case::size);
    cases
}

fn scans() -> [ScanCase; 5] {
    let sum = ScanCase::sum_of_u32(PolicyName::Default);
    let of = |element| ScanCase { element, ..sum.clone() };
    let chained = |scan| ScanCase { algorithm: ScanAlgorithm::Chained, ..scan };
    [of(ElementType::F32), of(ElementType::U64), chained(of(ElementType::F32)), chained(sum.clone()), sum]
}

fn sorts() -> [SortCase; 7] {
    let keys = SortCase::chosen();
    let of = |element, values| keys.clone().with_types(element, values, false);
    [
        of(ElementType::U32, SortValues::B4),
        of(ElementType::U32, SortValues::B8),
        of(ElementType::U64, SortValues::None),
        of(ElementType::F32, SortValues::None),
        keys.clone().with_bits(8..32),
        SortCase { is_double_buffered: true, ..keys.clone() },
        keys,
    ]
}

fn selects() -> [SelectCase; 4] {
    let less = SelectCase::of_u32(Predicate::Compare(Comparison::Less));
    let partition = SelectCase { parts: 2, ..less.clone() };
    [SelectCase::of_u32(Predicate::Flags8), less, SelectCase::of_u32(Predicate::Unique), partition]
}

fn reductions() -> Vec<ReduceCase> {
    let sum = ReduceCase::sum(ElementType::F32);
    let runs =
        [ReduceRuns::Offsets, ReduceRuns::FixedSize(40), ReduceRuns::FixedSize(1 << 16), ReduceRuns::Keys32];
    let argmin = ReduceCase { operator: ScanOperator::Min, indices: 1, ..sum.clone() };
    let of_runs = runs.map(|runs| ReduceCase { runs: Some(runs), ..sum.clone() });
    let of_u32 = ReduceCase::sum(ElementType::U32);
    let by_key = ReduceCase { runs: Some(ReduceRuns::Keys32), ..of_u32.clone() };
    [of_u32, by_key, sum, argmin].into_iter().chain(of_runs).collect()
}
