//! Comparison table of algorithms: a row for each, a column for each count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use subsweep_tool::harness::{Case, Measurement, Outcome};

/// The cases that a preset has measured so far.
#[derive(Debug)]
pub struct Comparison {
    /// Tables by primitive and kind.
    tables: BTreeMap<String, Table>,
    claims: &'static [Claim],
}

/// Rows by the name of a variant, with a cell for each count.
type Table = BTreeMap<String, BTreeMap<u64, Result<Cell, Outcome>>>;

/// The claim that one algorithm is faster than another, both by the names of their rows.
#[derive(Debug)]
pub struct Claim {
    text: &'static str,
    faster: &'static str,
    slower: &'static str,
}

/// Claims of textbooks and later papers: Kogge and Stone take fewer steps, Brent and Kung fewer operations;
/// subgroup operations beat both; one pass moves less than two; wider digits take fewer passes.
pub const TEXTBOOK: &[Claim] = &[
    claim(
        "two buffers over one",
        ["reduce-then-scan/kogge-stone-double-buffered", "reduce-then-scan/kogge-stone"],
    ),
    claim(
        "fewer operations over fewer steps",
        ["reduce-then-scan/brent-kung", "reduce-then-scan/kogge-stone"],
    ),
    claim("Sklansky over Kogge-Stone", ["reduce-then-scan/sklansky", "reduce-then-scan/kogge-stone"]),
    claim("all invocations over one", ["reduce-then-scan/kogge-stone", "reduce-then-scan/sequential"]),
    claim("subgroups over Kogge-Stone", ["reduce-then-scan", "reduce-then-scan/kogge-stone"]),
    claim("single pass over two, scan", ["chained", "reduce-then-scan"]),
    claim("4 bits over 2", ["radix-4bit", "radix-2bit"]),
    claim("8 bits over 4", ["radix-8bit", "radix-4bit"]),
    claim("single pass over two, sort", ["onesweep", "radix-8bit"]),
];

/// Claims of the C-for-Metal tutorial 13 about its sort.
pub const TUTORIAL_13: &[Claim] = &[
    claim("4 bits over 2, seed", ["radix-4bit, seed", "radix-2bit, seed"]),
    claim("4 bits over 2, tuned", ["radix-4bit", "radix-2bit"]),
    claim("packed over bin by bin, 4 bits", ["radix-4bit, seed", "radix-4bit, seed-bin-by-bin"]),
    claim("packed over bin by bin, 2 bits", ["radix-2bit, seed", "radix-2bit, seed-bin-by-bin"]),
];

const fn claim(text: &'static str, [faster, slower]: [&'static str; 2]) -> Claim {
    Claim { text, faster, slower }
}

/// A measurement reduced to the printed numbers.
#[derive(Debug, Clone, Copy)]
struct Cell {
    copy_percent: f64,
    median_ns: f64,
}

impl Comparison {
    /// A comparison without cases.
    pub fn new(claims: &'static [Claim]) -> Self {
        Self { tables: BTreeMap::new(), claims }
    }

    /// Adds a case.
    pub fn add(&mut self, case: &Case, outcome: &Result<Measurement, Outcome>) {
        let cell = outcome.as_ref().map_err(Outcome::clone).map(|measurement| Cell {
            copy_percent: measurement.copy_percent,
            median_ns: measurement.time.median_ns,
        });
        let table = self.tables.entry(case.group()).or_default();
        table.entry(case.variant()).or_default().insert(case.count, cell);
    }

    /// The cell of a variant in any table; primitives share no algorithm names.
    fn cell(&self, name: &str, count: u64) -> Option<Cell> {
        self.tables.values().find_map(|table| cell(table, name, count))
    }

    /// Speedup of `faster` over `slower`, where both were measured.
    fn ratio(&self, claim: &Claim, count: u64) -> Option<f64> {
        Some(self.cell(claim.slower, count)?.median_ns / self.cell(claim.faster, count)?.median_ns)
    }
}

fn cell(table: &Table, name: &str, count: u64) -> Option<Cell> {
    table.get(name)?.get(&count)?.as_ref().ok().copied()
}

/// The width of a column of numbers.
const WIDTH: usize = 10;

impl fmt::Display for Comparison {
    /// Tables, each sorted by the largest count, fastest first; then speedups of the claims; then the reasons of
    /// cases without a time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variants = || self.tables.values().flatten();
        let counts: BTreeSet<u64> = variants().flat_map(|(_, cells)| cells.keys()).copied().collect();
        let (heading, claim_heading) = ("elements", "times as fast");
        let names = variants().map(|(name, _)| name.as_str());
        let names = names.chain(self.claims.iter().map(|claim| claim.text)).chain([heading]);
        let name_width = names.map(str::len).max().unwrap_or(0);
        let write_heading = |f: &mut fmt::Formatter<'_>, heading| {
            write!(f, "  {heading:name_width$}")?;
            counts.iter().try_for_each(|count| write!(f, "{count:>WIDTH$}"))?;
            writeln!(f)
        };
        for (group, table) in &self.tables {
            writeln!(f)?;
            if self.tables.len() > 1 {
                writeln!(f, "  {group}")?;
            }
            write_heading(f, heading)?;
            let last = |name: &str| {
                let cell = counts.last().and_then(|&count| cell(table, name, count));
                cell.map_or(f64::NEG_INFINITY, |cell| cell.copy_percent)
            };
            let mut rows: Vec<_> = table.iter().collect();
            rows.sort_by(|(a, _), (b, _)| last(b).total_cmp(&last(a)));
            for (name, cells) in rows {
                write!(f, "  {name:name_width$}")?;
                for count in &counts {
                    match cells.get(count) {
                        Some(Ok(cell)) => write!(f, "{:>WIDTH$.1}", cell.copy_percent)?,
                        Some(Err(Outcome::NotSupported(_))) | None => write!(f, "{:>WIDTH$}", "-")?,
                        Some(Err(_)) => write!(f, "{:>WIDTH$}", "WRONG")?,
                    }
                }
                writeln!(f)?;
            }
        }
        if !self.claims.is_empty() {
            writeln!(f)?;
            write_heading(f, claim_heading)?;
        }
        for claim in self.claims {
            write!(f, "  {:name_width$}", claim.text)?;
            for &count in &counts {
                match self.ratio(claim, count) {
                    Some(ratio) => write!(f, "{ratio:>WIDTH$.2}")?,
                    None => write!(f, "{:>WIDTH$}", "-")?,
                }
            }
            writeln!(f)?;
        }
        for (name, cells) in variants() {
            for (count, cell) in cells {
                if let Err(outcome) = cell {
                    writeln!(f, "  {name}, {count} elements: {outcome}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use subsweep_tool::harness::{Failure, Mismatch};

    use super::*;

    /// A cell relative to a copy of 200 ns.
    fn cell(copy_percent: f64) -> Cell {
        Cell { copy_percent, median_ns: 20_000.0 / copy_percent }
    }

    #[test]
    fn claims_are_printed_as_speedups() {
        const CLAIMS: &[Claim] =
            &[claim("small over large", ["small", "large"]), claim("large over none", ["large", "none"])];
        let mut comparison = Comparison::new(CLAIMS);
        let table = comparison.tables.entry("scan".to_owned()).or_default();
        table.insert("small".to_owned(), [(1 << 4, Ok(cell(30.0)))].into());
        table.insert("large".to_owned(), [(1 << 4, Ok(cell(20.0)))].into());
        let text = comparison.to_string();
        let expected = [
            "",
            "  elements                16",
            "  small                 30.0",
            "  large                 20.0",
            "",
            "  times as fast           16",
            "  small over large      1.50",
            "  large over none          -",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn rows_are_sorted_by_the_largest_count_and_failures_come_last() {
        let mut comparison = Comparison::new(&[]);
        let mut insert = |name: &str, percents: [Result<f64, Outcome>; 2]| {
            let cells = percents.map(|percent| percent.map(cell));
            comparison
                .tables
                .entry("scan".to_owned())
                .or_default()
                .insert(name.to_owned(), [1 << 4, 1 << 10].into_iter().zip(cells).collect());
        };
        let wrong = || {
            let mismatch = Mismatch { what: "result", index: 0, expected: 2, got: 1 };
            Outcome::Fail(Failure::Wrong { run: 1, seed: 7, mismatch })
        };
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
            "  wrong, 1024 elements: FAIL: run 1: result[0] is 1 (0x00000001), expected 2 (0x00000002); seed 7",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    }
}
