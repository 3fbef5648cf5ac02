//! Benchmark cases of sorts.

use super::super::{BenchScale, Effort, every_fourfold, preset_counts, uniform_cases};
use super::{ANY_COUNT, Case, OF_SEED, PolicyName, PrimitiveCase, SortCase, SortValues};
use crate::harness::inputs::Input;
use subsweep::ElementType;
use subsweep::sort::SortAlgorithm;

/// The benchmark cases of a scale.
///
/// Every algorithm at most counts, the single workgroup at counts that it holds, the chosen policy at all counts; and
/// every algorithm at one count on other inputs than uniform ones.
pub(in crate::harness::cases) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let counts = scale.counts();
    let BenchScale { effort, is_gpu } = scale;
    let (kind_counts, chosen_counts, inputs) = match (effort, is_gpu) {
        (Effort::Quick, _) => return quick_bench_cases(scale),
        (Effort::Normal, true) => (vec![1 << 24], counts.clone(), &ADVERSE_INPUTS[..]),
        (Effort::Normal, false) => (vec![1 << 16, 1 << 20, 1 << 22], every_fourfold(24), &ADVERSE_INPUTS[..]),
        // Without the first, `Uniform`.
        (Effort::Full, _) => (counts.clone(), every_fourfold(28), &Input::ALL[1..]),
    };
    let input_count = if is_gpu { 1 << 24 } else { 1 << 22 };
    let single_counts: Vec<u64> = chosen_counts.iter().copied().filter(|&count| count <= 1 << 12).collect();

    let mut cases = Vec::new();
    let mut add = |sort: &SortCase, counts: &[u64], input| cases.extend(cases_of(sort, counts, input));
    for sort in SortCase::chosen().kinds() {
        add(&sort, &chosen_counts, Input::Uniform);
    }
    let wide_values = SortCase::chosen().with_types(ElementType::U32, SortValues::B20, false);
    for sort in packed(&SortCase::chosen()).into_iter().chain([wide_values]) {
        add(&sort, &kind_counts, Input::Uniform);
    }
    for sort in tuned(SortAlgorithm::SingleWorkgroup).kinds() {
        add(&sort, &single_counts, Input::Uniform);
    }
    for algorithm in ANY_COUNT {
        let [keys, pairs, wide_keys] = tuned(algorithm).kinds();
        add(&keys, &counts, Input::Uniform);
        for sort in [&pairs, &wide_keys] {
            add(sort, &kind_counts, Input::Uniform);
        }
        for &input in inputs {
            add(&keys, &[input_count], input);
            if effort == Effort::Full {
                add(&pairs, &[input_count], input);
                add(&wide_keys, &[input_count], input);
            }
        }
    }
    for algorithm in OF_SEED {
        add(&SortCase::keys_of_u32(algorithm, PolicyName::Seed), &counts, Input::Uniform);
    }
    if effort == Effort::Full {
        // The cost of 64-bit offsets at counts that do not need them.
        let wide = SortCase { has_large_counts: true, ..tuned(SortAlgorithm::Onesweep) };
        for sort in wide.kinds() {
            add(&sort, &kind_counts, Input::Uniform);
        }
    }
    cases
}

/// Less than a minute on a CPU, whose driver compiles a plan's kernels in about a second: all counts with the chosen
/// policy, one count with every algorithm, and one case of each other key and input.
fn quick_bench_cases(scale: BenchScale) -> Vec<Case> {
    let chosen = SortCase::chosen();
    let [_, pairs, wide_keys] = chosen.kinds();
    let (counts, count) =
        if scale.is_gpu { (scale.counts(), 1 << 24) } else { (every_fourfold(18), 1 << 16) };
    let mut cases = cases_of(&chosen, &counts, Input::Uniform);
    cases.extend(uniform_cases([pairs, wide_keys], &[count]));
    cases.extend(uniform_cases(packed(&chosen).into_iter().take(1), &[count]));
    cases.push(chosen.case(count, ADVERSE_INPUTS[0]));
    cases.extend(uniform_cases(ANY_COUNT.map(tuned), &[count]));
    cases
}

/// Sorts of keys of 16 and 8 bits.
fn packed(sort: &SortCase) -> [SortCase; 2] {
    let of = |element| sort.clone().with_types(element, SortValues::None, false);
    [ElementType::U16, ElementType::U8].map(of)
}

fn cases_of(sort: &SortCase, counts: &[u64], input: Input) -> Vec<Case> {
    counts.iter().map(|&count| sort.case(count, input)).collect()
}

fn tuned(algorithm: SortAlgorithm) -> SortCase {
    SortCase::keys_of_u32(algorithm, PolicyName::Default)
}

/// The sorts that tutorial 13 compares, with its own policies and tuned: the cases of `bench --preset tutorial-13`.
pub fn tutorial_13_bench_cases(effort: Effort) -> Vec<Case> {
    let policies = [PolicyName::Seed, PolicyName::SeedBinByBin, PolicyName::Default];
    let sorts = policies.map(|policy| OF_SEED.map(|algorithm| SortCase::keys_of_u32(algorithm, policy)));
    uniform_cases(sorts.into_iter().flatten(), preset_counts(effort))
}

/// Inputs that are slow for at least one algorithm: low entropy, digits equal in all keys, and runs of equal digits.
const ADVERSE_INPUTS: [Input; 5] = [
    Input::Entropy { ands: 4 },
    Input::Entropy { ands: 2 },
    Input::Sorted,
    Input::Constant(0),
    Input::ConstantDigit,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the benchmark measures the case `part` at all of `counts`.
    #[track_caller]
    fn expect_counts(effort: Effort, part: &str, counts: &[u64]) {
        let cases = bench_cases(BenchScale { effort, is_gpu: false });
        for count in counts {
            let id = format!("{part};n={count};input=uniform");
            assert!(cases.iter().any(|case| case.id() == id), "{effort:?}: {id}");
        }
    }

    #[test]
    fn documented_counts_are_measured() {
        let all = every_fourfold(28);
        let full = bench_cases(BenchScale { effort: Effort::Full, is_gpu: false });
        let keys = "sort:keys:type=u32";
        let rest = "bits=0:32;misalign=0";
        for (effort, counts) in
            [(Effort::Quick, &all[..6]), (Effort::Normal, &all[..9]), (Effort::Full, &all)]
        {
            expect_counts(effort, &format!("{keys};policy=chosen;{rest}"), counts);
        }
        let single = format!("{keys};algorithm=single-workgroup;policy=default;{rest}");
        for effort in [Effort::Normal, Effort::Full] {
            expect_counts(effort, &single, &[1 << 8, 1 << 10, 1 << 12]);
        }
        for algorithm in ANY_COUNT {
            let name = algorithm.name();
            let keys = format!("sort:keys:type=u32;algorithm={name};policy=default;bits=0:32;misalign=0");
            expect_counts(Effort::Quick, &keys, &[1 << 16]);
            for part in [
                keys,
                format!("sort:pairs4:type=u32;algorithm={name};policy=default;bits=0:32;misalign=0"),
                format!("sort:keys:type=u64;algorithm={name};policy=default;bits=0:64;misalign=0"),
            ] {
                expect_counts(Effort::Full, &part, &all);
                for input in Input::ALL {
                    let id = format!("{part};n=4194304;input={input}");
                    assert!(full.iter().any(|case| case.id() == id), "{id}");
                }
            }
        }
    }
}
