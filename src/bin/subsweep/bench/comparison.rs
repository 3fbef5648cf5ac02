//! Algorithms beside one another: a line each, and a column for each count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use subsweep::harness::{Case, Measurement, Outcome, Work};

/// What a preset has measured so far.
#[derive(Debug, Default)]
pub struct Comparison {
    rows: BTreeMap<&'static str, BTreeMap<u64, Result<f64, Outcome>>>,
}

impl Comparison {
    /// Takes in a case.
    pub fn add(&mut self, case: &Case, outcome: &Result<Measurement, Outcome>) {
        let algorithm = match &case.work {
            Work::Scan(scan) => scan.algorithm.name(),
            Work::Sort(sort) => sort.algorithm.name(),
            Work::SegmentedSort(_) => "segmented sort",
            Work::Gather(_) => "gather",
        };
        let percent = outcome.as_ref().map(|measurement| measurement.copy_percent).map_err(Outcome::clone);
        self.rows.entry(algorithm).or_default().insert(case.count, percent);
    }
}

/// The width of a column of numbers.
const WIDTH: usize = 10;

impl fmt::Display for Comparison {
    /// The fastest of the largest count first; then the reasons for what was not measured.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: BTreeSet<u64> = self.rows.values().flat_map(BTreeMap::keys).copied().collect();
        let last = |percents: &BTreeMap<u64, Result<f64, Outcome>>| {
            let percent = counts.last().and_then(|count| percents.get(count));
            percent.and_then(|percent| percent.as_ref().ok()).copied().unwrap_or(f64::NEG_INFINITY)
        };
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by(|(_, a), (_, b)| last(b).total_cmp(&last(a)));

        let heading = "elements";
        let names = self.rows.keys().map(|name| name.len());
        let name_width = names.max().unwrap_or(0).max(heading.len());
        write!(f, "\n  {heading:name_width$}")?;
        for count in &counts {
            write!(f, "{count:>WIDTH$}")?;
        }
        writeln!(f)?;
        for (name, percents) in &rows {
            write!(f, "  {name:name_width$}")?;
            for count in &counts {
                match percents.get(count) {
                    Some(Ok(percent)) => write!(f, "{percent:>WIDTH$.1}")?,
                    Some(Err(Outcome::NotSupported(_))) | None => write!(f, "{:>WIDTH$}", "-")?,
                    Some(Err(_)) => write!(f, "{:>WIDTH$}", "WRONG")?,
                }
            }
            writeln!(f)?;
        }
        for (name, percents) in rows {
            for (count, percent) in percents {
                if let Err(outcome) = percent {
                    writeln!(f, "  {name}, {count} elements: {outcome}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_of_the_largest_count_comes_first_and_what_failed_last() {
        let mut comparison = Comparison::default();
        let mut insert = |name, percents: [Result<f64, Outcome>; 2]| {
            comparison.rows.insert(name, [1 << 4, 1 << 10].into_iter().zip(percents).collect());
        };
        let wrong = || Outcome::Fail("result[0] is 1".to_owned());
        insert("wrong", [Ok(99.0), Err(wrong())]);
        insert("slow", [Ok(50.0), Ok(2.0)]);
        insert("fast", [Ok(5.04), Ok(101.25)]);
        insert("unable", [Err(Outcome::NotSupported("no room".to_owned())), Ok(1.0)]);
        let text = comparison.to_string();
        let expected = [
            "",
            "  elements        16      1024",
            "  fast           5.0     101.2",
            "  slow          50.0       2.0",
            "  unable           -       1.0",
            "  wrong         99.0     WRONG",
            "  unable, 16 elements: not supported: no room",
            "  wrong, 1024 elements: FAIL: result[0] is 1",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    }
}
