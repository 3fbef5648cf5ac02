//! The cases of `bench --preset peers` that a peer on Vulkan measures as well, with their inputs and expected results.

use subsweep::FloatOrder;
use subsweep::device::Capabilities;
use subsweep_tool::harness::{BenchScale, Case, Effort, Mismatch, peer_bench_cases, without_count};
use subsweep_tool::reference::oracle;

/// The measured work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Keys,
    Pairs,
    /// An inclusive sum, by our `reduce-then-scan` or `chained`.
    Scan {
        is_chained: bool,
    },
}

impl Work {
    /// The works, by the ids of their cases without the count.
    pub const ALL: [(&'static str, Self); 4] = [
        ("sort:keys:type=u32;policy=chosen;bits=0:32;misalign=0;input=uniform", Self::Keys),
        ("sort:pairs4:type=u32;policy=chosen;bits=0:32;misalign=0;input=uniform", Self::Pairs),
        (
            "scan:inclusive:type=u32;columns=1;algorithm=reduce-then-scan;policy=default;place=out;misalign=0;input=uniform",
            Self::Scan { is_chained: false },
        ),
        (
            "scan:inclusive:type=u32;columns=1;algorithm=chained;policy=default;place=out;misalign=0;input=uniform",
            Self::Scan { is_chained: true },
        ),
    ];

    fn for_case(case: &Case) -> Option<Self> {
        let id = without_count(&case.id());
        Self::ALL.iter().find_map(|(of, work)| (*of == id).then_some(*work))
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Keys => "sort of u32 keys",
            Self::Pairs => "sort of u32 keys with u32 values",
            Self::Scan { is_chained: false } => "inclusive sum of u32, reduce-then-scan",
            Self::Scan { is_chained: true } => "inclusive sum of u32, single pass",
        }
    }
}

/// The cases of the preset on a device, at `counts`, or at the counts of `bench` if it is empty: work by work, counts ascending.
pub fn cases(capabilities: &Capabilities, counts: &[u64]) -> Vec<(Work, Case)> {
    let preset = peer_bench_cases(BenchScale::new(Effort::Normal, capabilities));
    let mut of_work: Vec<(Work, Vec<Case>)> = Work::ALL.map(|(_, work)| (work, Vec::new())).into();
    for case in preset {
        let work = Work::for_case(&case);
        if let Some((_, cases)) = of_work.iter_mut().find(|(one, _)| Some(*one) == work) {
            cases.push(case);
        }
    }
    for (_, cases) in &mut of_work {
        if !counts.is_empty() {
            cases.truncate(1);
            *cases = cases
                .iter()
                .flat_map(|case| counts.iter().map(|&count| Case { count, ..case.clone() }))
                .collect();
        }
        cases.sort_by_key(|case| case.count);
    }
    of_work.into_iter().flat_map(|(work, cases)| cases.into_iter().map(move |case| (work, case))).collect()
}

/// Keys or summands, and the values of pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    pub keys: Vec<u32>,
    pub values: Vec<u32>,
}

impl Columns {
    /// The input of a case.
    pub fn for_case(case: &Case) -> Self {
        let [keys, values] = case.generate();
        Self { keys, values }
    }

    /// The first word of `got` that differs from this, the expected result.
    pub fn mismatch(&self, got: &Self) -> Option<Mismatch> {
        let first = |what, expected: &[u32], got: &[u32]| {
            let index = expected.iter().zip(got).position(|(expected, got)| expected != got)?;
            Some(Mismatch { what, index: index as u64, expected: expected[index], got: got[index] })
        };
        first("result", &self.keys, &got.keys).or_else(|| first("values", &self.values, &got.values))
    }
}

/// The expected result of a scan.
pub fn sums(input: &Columns) -> Columns {
    Columns { keys: oracle::inclusive_scan(&input.keys, 1), values: Vec::new() }
}

/// The expected result of a work.
pub fn expected(work: Work, input: &Columns) -> Columns {
    match work {
        Work::Keys => Columns { keys: oracle::sort(&input.keys, 0..32), values: Vec::new() },
        Work::Pairs => {
            let mut pairs: Vec<_> = input.keys.iter().copied().zip(input.values.iter().copied()).collect();
            oracle::sort_pairs(&mut pairs, 0..32, false, FloatOrder::Total);
            let (keys, values) = pairs.into_iter().unzip();
            Columns { keys, values }
        }
        Work::Scan { .. } => sums(input),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn expected_results_of_small_inputs() {
        let columns = |keys: &[u32], values: &[u32]| Columns { keys: keys.into(), values: values.into() };
        let input = columns(&[3, 1, 3, 2], &[0, 1, 2, 3]);
        let right = expected(Work::Pairs, &input);
        assert_eq!(right, columns(&[1, 2, 3, 3], &[1, 3, 0, 2]));
        assert_eq!(sums(&columns(&[3, 1, 3], &[])), columns(&[3, 4, 7], &[]));
        assert_eq!(right.mismatch(&right), None);
        let unstable = right.mismatch(&columns(&[1, 2, 3, 3], &[1, 3, 2, 0]));
        assert_eq!(unstable, Some(Mismatch { what: "values", index: 2, expected: 0, got: 2 }));
    }

    #[test]
    fn every_work_is_a_case_of_the_preset() {
        let scale = BenchScale { effort: Effort::Normal, is_gpu: true };
        let mut counts = HashMap::<_, Vec<u64>>::new();
        for case in peer_bench_cases(scale) {
            if let Some(work) = Work::for_case(&case) {
                counts.entry(work.title()).or_default().push(case.count);
            }
        }
        assert_eq!(counts.len(), Work::ALL.len());
        assert!(counts.values().all(|counts| *counts == [1 << 16, 1 << 20, 1 << 24, 1 << 26]), "{counts:?}");
    }
}
