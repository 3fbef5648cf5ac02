//! Cases of a soak: those in which workgroups wait for others, repeated with other counts, and so with other numbers.

use super::{Case, PolicyName, Work};
use crate::scan::ScanAlgorithm;
use crate::select::SelectAlgorithm;
use crate::sort::SortAlgorithm;

/// Rows by which a repetition is shorter than the one before. No two counts of the table are a small multiple apart.
const STEP: u64 = 11;

impl Work {
    /// Whether workgroups wait for others, or may, where the library chooses the policy.
    pub fn depends_on_progress(&self) -> bool {
        match self {
            Work::Scan(scan) => scan.algorithm == ScanAlgorithm::Chained || scan.policy == PolicyName::Chosen,
            Work::Sort(sort) => {
                sort.algorithm == SortAlgorithm::Onesweep || sort.policy == PolicyName::Chosen
            }
            Work::Select(select) => select.algorithm == Some(SelectAlgorithm::Chained),
            Work::RunLength(of) => of.algorithm == Some(SelectAlgorithm::Chained),
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

    use super::super::tests::capabilities;
    use super::super::{Effort, verify_cases};
    use super::*;

    #[test]
    fn repetitions_have_counts_and_seeds_of_their_own() {
        let mut cases = verify_cases(Effort::Quick, &capabilities());
        cases.retain(|case| case.work.depends_on_progress());
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
