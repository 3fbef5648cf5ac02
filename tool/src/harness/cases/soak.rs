//! Cases of a soak: those in which workgroups wait for others, repeated with other counts, and so with other numbers.

use super::{Case, PolicyName, RunLengthCoding, Work};
use subsweep::device::Capabilities;
use subsweep::reduce::ReduceByKeyAlgorithm;
use subsweep::run_length::RunLengthAlgorithm;
use subsweep::scan::ScanAlgorithm;
use subsweep::select::SelectAlgorithm;
use subsweep::sort::SortAlgorithm;

/// Rows by which a repetition is shorter than the one before. No two counts of the table are a small multiple apart.
const STEP: u64 = 11;

impl Work {
    /// Whether workgroups wait for others on a device, or may, where the library chooses the policy of a scan or sort.
    pub fn depends_on_progress(&self, capabilities: &Capabilities) -> bool {
        match self {
            Work::Scan(scan) => scan.algorithm == ScanAlgorithm::Chained || scan.policy == PolicyName::Chosen,
            Work::Sort(sort) => {
                sort.algorithm == SortAlgorithm::Onesweep || sort.policy == PolicyName::Chosen
            }
            Work::Select(select) => select.policy(capabilities).algorithm == SelectAlgorithm::Chained,
            Work::RunLength(of) if of.coding == RunLengthCoding::Decode => {
                of.policy(capabilities).scan.algorithm == ScanAlgorithm::Chained
            }
            Work::RunLength(of) => of.policy(capabilities).algorithm == RunLengthAlgorithm::Chained,
            Work::Reduce(of) if of.runs.is_some_and(|runs| runs.key_size() > 0) => {
                of.policy(capabilities).algorithm == ReduceByKeyAlgorithm::Chained
            }
            _ => false,
        }
    }
}

/// `cases` once, and `times` - 1 more times with fewer rows each time: the count is the seed of the input. A case without
/// as many rows is not repeated.
pub fn repeated(cases: Vec<Case>, times: u32) -> Vec<Case> {
    let again = |round: u64| {
        let shorter =
            move |case: &Case| Some(Case { count: case.count.checked_sub(round * STEP)?, ..case.clone() });
        cases.iter().filter(|case| case.count > 0).filter_map(shorter)
    };
    let rounds: Vec<_> = (1..u64::from(times)).flat_map(again).collect();
    cases.iter().cloned().chain(rounds).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use subsweep::ash::vk;

    use super::super::tests::capabilities;
    use super::super::{Effort, RunLengthCase, SelectCase, verify_cases};
    use super::*;
    use subsweep::select::{Comparison, Predicate};

    #[test]
    fn chosen_single_passes_depend_on_progress() {
        let mut with_progress = capabilities();
        with_progress.identity.driver_id = vk::DriverId::NVIDIA_PROPRIETARY;
        let less = Predicate::Compare(Comparison::Less);
        let run_length = |coding| Work::from(RunLengthCase::of_u32(coding, 8));
        for work in [
            Work::from(SelectCase::of_u32(less)),
            run_length(RunLengthCoding::Encode),
            run_length(RunLengthCoding::NonTrivial),
            run_length(RunLengthCoding::Decode),
        ] {
            assert!(work.depends_on_progress(&with_progress), "{work}");
            assert!(!work.depends_on_progress(&capabilities()), "{work}");
        }
        // lavapipe scans in one pass and selects in two.
        let mut lavapipe = capabilities();
        lavapipe.identity.device_type = vk::PhysicalDeviceType::CPU;
        lavapipe.identity.driver_id = vk::DriverId::MESA_LLVMPIPE;
        assert!(run_length(RunLengthCoding::Decode).depends_on_progress(&lavapipe));
        assert!(!run_length(RunLengthCoding::Encode).depends_on_progress(&lavapipe));
        let partition = Work::from(SelectCase { parts: 2, ..SelectCase::of_u32(less) });
        assert!(!partition.depends_on_progress(&with_progress));
    }

    #[test]
    fn repetitions_have_counts_and_seeds_of_their_own() {
        let mut cases = verify_cases(Effort::Quick, &capabilities());
        cases.retain(|case| case.work.depends_on_progress(&capabilities()));
        let all = repeated(cases.clone(), 3);
        let ids: BTreeSet<_> = all.iter().map(Case::id).collect();
        assert!(ids.len() == all.len() && all.starts_with(&cases) && all.len() > 2 * cases.len());
        let large = |case: &&Case| case.count > 60_000;
        let again = all.iter().skip(cases.len()).filter(large);
        let seeds: BTreeSet<_> =
            cases.iter().filter(large).map(|case| (case.work.to_string(), case.seed())).collect();
        assert!(again.clone().count() > 0);
        assert!(again.clone().all(|case| !seeds.contains(&(case.work.to_string(), case.seed()))));
    }
}
