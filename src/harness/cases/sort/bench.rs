//! The cases that are worth measuring.

use super::super::{Case, Effort, PolicyName, Work, bench_counts, every_fourfold, preset_counts};
use super::{ANY_COUNT, OF_SEED, SortCase};
use crate::harness::inputs::Input;
use crate::sort::SortAlgorithm;

/// The cases that are worth measuring.
///
/// Every algorithm at most counts, one workgroup at those that it holds, and at all of them what a plan does that is asked
/// for nothing; and at one count every algorithm on other inputs than uniform ones.
pub(in crate::harness::cases) fn bench_cases(effort: Effort) -> Vec<Case> {
    let counts = bench_counts(effort);
    let (kind_counts, chosen_counts, inputs) = match effort {
        Effort::Quick => return quick_bench_cases(),
        Effort::Normal => (vec![1 << 16, 1 << 20, 1 << 22], every_fourfold(24), &TELLING_INPUTS[..]),
        // The first is the uniform one.
        Effort::Full => (counts.clone(), every_fourfold(28), &Input::ALL[1..]),
    };
    let input_count = 1 << 22;
    let single_counts: Vec<u64> = chosen_counts.iter().copied().filter(|&count| count <= 1 << 12).collect();

    let mut cases = Vec::new();
    let mut add = |sort: &SortCase, counts: &[u64], input| cases.extend(cases_of(sort, counts, input));
    for sort in SortCase::chosen().kinds() {
        add(&sort, &chosen_counts, Input::Uniform);
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
        // What places of two words cost those who have no need of them.
        let wide = SortCase { has_large_counts: true, ..tuned(SortAlgorithm::Onesweep) };
        for sort in wide.kinds() {
            add(&sort, &kind_counts, Input::Uniform);
        }
    }
    cases
}

/// Keys and pairs.
pub(in crate::harness::cases) fn first_look_works() -> Vec<Work> {
    SortCase::chosen().kinds().into_iter().take(2).map(Work::Sort).collect()
}

/// Less than a minute of a CPU, whose driver takes about a second to compile a plan's kernels: all counts by what a plan
/// takes by itself, one by every algorithm, and one of other keys and inputs each.
fn quick_bench_cases() -> Vec<Case> {
    let chosen = SortCase::chosen();
    let [_, pairs, wide_keys] = chosen.kinds();
    let mut cases = cases_of(&chosen, &every_fourfold(18), Input::Uniform);
    for sort in [&pairs, &wide_keys] {
        cases.extend(cases_of(sort, &[1 << 16], Input::Uniform));
    }
    cases.extend(cases_of(&chosen, &[1 << 16], TELLING_INPUTS[0]));
    for algorithm in ANY_COUNT {
        let keys = tuned(algorithm);
        cases.extend(cases_of(&keys, &[1 << 16], Input::Uniform));
    }
    cases
}

fn cases_of(sort: &SortCase, counts: &[u64], input: Input) -> Vec<Case> {
    counts.iter().map(|&count| Case { work: Work::Sort(sort.clone()), count, input }).collect()
}

fn tuned(algorithm: SortAlgorithm) -> SortCase {
    SortCase::keys_of_u32(algorithm, PolicyName::Default)
}

/// A sort of keys of u32 by each algorithm that takes any count, tuned.
pub(in crate::harness::cases) fn all_algorithms() -> Vec<Work> {
    ANY_COUNT.map(|algorithm| Work::Sort(tuned(algorithm))).into()
}

/// The sorts that tutorial 13 compares, as it has them and tuned: what `bench --preset tutorial-13` measures.
pub fn tutorial_13_bench_cases(effort: Effort) -> Vec<Case> {
    let mut cases = Vec::new();
    for policy in [PolicyName::Seed, PolicyName::SeedBinByBin, PolicyName::Default] {
        for algorithm in OF_SEED {
            let sort = SortCase::keys_of_u32(algorithm, policy);
            cases.extend(cases_of(&sort, preset_counts(effort), Input::Uniform));
        }
    }
    cases
}

/// Inputs of which one at least is not to the liking of any algorithm: little entropy, digits that all keys have, and runs
/// of them.
const TELLING_INPUTS: [Input; 5] = [
    Input::Entropy { ands: 4 },
    Input::Entropy { ands: 2 },
    Input::Sorted,
    Input::Constant(0),
    Input::ConstantDigit,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `cases` measure all of `counts`, of keys of a policy in an algorithm if it is named.
    #[track_caller]
    fn expect_counts(effort: Effort, part: &str, counts: &[u64]) {
        let cases = bench_cases(effort);
        for count in counts {
            let id = format!("{part};n={count};input=uniform");
            assert!(cases.iter().any(|case| case.id() == id), "{effort:?}: {id}");
        }
    }

    #[test]
    fn what_is_promised_is_measured() {
        let all = every_fourfold(28);
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
                    assert!(bench_cases(Effort::Full).iter().any(|case| case.id() == id), "{id}");
                }
            }
        }
    }
}
