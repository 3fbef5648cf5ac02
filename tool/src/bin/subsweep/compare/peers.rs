//! Times of another implementation over ours: the table for a report of a peer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use subsweep_tool::harness::{CaseComparison, Comparison, Report, Verdict, without_count};

use crate::terminal::escaped;

/// The implementation that a report measures, if it is not ours: the name before its version, as in `CUB 3.5.0`.
pub fn implementation(report: &Report) -> Option<&str> {
    report.tool.version.rsplit_once(' ').map(|(name, _)| name)
}

/// The table of `name`'s times over ours, group by group, where the base is ours and the new report is of `name`.
pub fn table(comparison: &Comparison, name: &str) -> String {
    let mut text = format!("\n  {}'s time over ours; below 1 ours is slower\n", escaped(name));
    for group in &comparison.groups {
        let mut rows = BTreeMap::<String, BTreeMap<u64, &CaseComparison>>::new();
        let is_of_group = |case: &&CaseComparison| {
            case.id.strip_prefix(&group.name).is_some_and(|rest| rest.starts_with(':'))
        };
        for case in comparison.cases.iter().filter(is_of_group) {
            let work = without_count(&case.id);
            let parameters = work.get(group.name.len() + 1..).unwrap_or_default();
            rows.entry(escaped(parameters)).or_default().insert(case.element_count, case);
        }
        let counts: BTreeSet<_> = rows.values().flat_map(BTreeMap::keys).copied().collect();
        let width = rows.keys().map(String::len).max().unwrap_or(0);
        let _ = write!(text, "\n  {:width$}", escaped(&group.name));
        counts.iter().for_each(|&count| {
            let _ = write!(text, "  {:>8}", count_text(count));
        });
        text.push('\n');
        for (parameters, of_counts) in rows {
            let _ = write!(text, "  {parameters:width$}");
            for count in &counts {
                let ratio = of_counts.get(count).map_or_else(String::new, |case| match case.verdict {
                    Verdict::Unsteady => "unsteady".to_owned(),
                    _ => format!("{:.2}", case.ratio),
                });
                let _ = write!(text, "  {ratio:>8}");
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
    }
    text
}

/// A number of elements; a power of two as that.
fn count_text(count: u64) -> String {
    if count.is_power_of_two() && count > 1 { format!("2^{}", count.ilog2()) } else { count.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_two_is_shown_as_one() {
        assert_eq!([1, 3, 65_536].map(count_text), ["1", "3", "2^16"]);
    }
}
