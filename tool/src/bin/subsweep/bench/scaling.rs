//! Linear fit of time against the number of elements.

use std::collections::BTreeMap;
use std::fmt;

use subsweep_tool::harness::units::duration;
use subsweep_tool::harness::{Case, LinearFit, Measurement, Outcome};

/// Counts and median times in nanoseconds, by primitive and variant.
#[derive(Debug, Default)]
pub struct Scaling {
    times: BTreeMap<(String, String), Vec<(f64, f64)>>,
    failures: Vec<String>,
}

impl Scaling {
    /// Adds a case.
    pub fn add(&mut self, case: &Case, outcome: &Result<Measurement, Outcome>) {
        match outcome {
            Ok(measurement) => {
                let times = self.times.entry((case.group(), case.variant())).or_default();
                times.push((case.count as f64, measurement.time.median_ns));
            }
            Err(outcome) => {
                self.failures.push(format!("{}, {} elements: {outcome}", case.variant(), case.count))
            }
        }
    }
}

impl fmt::Display for Scaling {
    /// The fit of each variant and its worst deviation; then the reasons of cases without a time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |(group, variant): &(String, String)| {
            if group == variant { variant.clone() } else { format!("{group}, {variant}") }
        };
        let width = self.times.keys().map(|key| name(key).len()).max().unwrap_or(0);
        writeln!(f, "\n  {:width$}     fixed  per element  off by at most  counts", "")?;
        for (key, times) in &self.times {
            let name = name(key);
            match LinearFit::fit(times) {
                Some(LinearFit { fixed_ns, per_element_ns, worst_deviation }) => writeln!(
                    f,
                    "  {name:width$}  {:>8}  {:>11}  {:>12.0} %  {}",
                    duration(fixed_ns),
                    picoseconds(per_element_ns),
                    100.0 * worst_deviation,
                    times.len()
                )?,
                None => {
                    writeln!(f, "  {name:width$}  {:>8}  {:>11}  {:>14}  {}", "-", "-", "-", times.len())?
                }
            }
        }
        self.failures.iter().try_for_each(|failure| writeln!(f, "  {failure}"))
    }
}

/// A time per element, in picoseconds below a nanosecond.
fn picoseconds(ns: f64) -> String {
    if ns < 1.0 { format!("{:.1} ps", 1e3 * ns) } else { duration(ns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_counts_determine_the_fit() {
        let key = |group: &str, variant: &str| (group.to_owned(), variant.to_owned());
        let scaling = Scaling {
            times: BTreeMap::from([
                (key("sort:keys", "onesweep"), vec![(1e3, 12e3), (1e6, 2.01e6)]),
                (key("scan", "strided"), vec![(1e3, 1e3 + 500.0), (1e6, 501e3)]),
                (key("scan", "chained"), vec![(1e3, 1e3)]),
            ]),
            failures: vec!["chained, 7 elements: no room".into()],
        };
        let expected = [
            "",
            "                          fixed  per element  off by at most  counts",
            "  scan, chained               -            -               -  1",
            "  scan, strided         1.00 µs     500.0 ps             0 %  2",
            "  sort:keys, onesweep   10.0 µs      2.00 ns             0 %  2",
            "  chained, 7 elements: no room",
        ];
        assert_eq!(scaling.to_string().lines().collect::<Vec<_>>(), expected, "{scaling}");
    }
}
