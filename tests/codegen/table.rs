//! What was measured, as text that a person can read and a diff can show.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context as _, Result, bail, ensure};

/// The numbers of a row: by the compiler's own names, and what is counted in its assembly.
pub const COLUMNS: [&str; 6] =
    ["VGPRs", "LDS size", "Instructions", "Latency", "Inverse Throughput", "16-byte loads and stores"];
/// How many of them have the compiler's names.
pub const STATISTICS: usize = COLUMNS.len() - 1;

pub type Numbers = [u64; COLUMNS.len()];

/// Which pipeline a row is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub kernel: String,
    pub specialization: String,
    pub lanes: u32,
}

/// One target's numbers, by one pair of compilers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// GPU and Mesa.
    pub target: String,
    /// What made the SPIR-V.
    pub shaders: String,
    /// What ranks a key, and its instructions for each.
    pub rankings: BTreeMap<String, u64>,
    pub rows: BTreeMap<Key, Numbers>,
}

const TITLE: &str = "# What a compiler makes of each kernel as it is chosen first. Written by tools/codegen.";
const TARGET: &str = "# target:  ";
const SHADERS: &str = "# shaders: ";
const RANKING: &str = "# instructions to rank a key by ";
const HEADINGS: [&str; COLUMNS.len()] = ["VGPRs", "LDS", "instr", "latency", "inv-thr", "16-byte"];

impl Table {
    /// Whether a pipeline's numbers are those of the table, give or take a tenth, or 2 where they are small.
    pub fn check(&self, key: &Key, numbers: &Numbers) -> Result<()> {
        let told = self.rows.get(key).context("the table has no such row: run tools/codegen")?;
        for ((name, told), got) in COLUMNS.iter().zip(told).zip(numbers) {
            ensure!(
                told.abs_diff(*got) <= tolerance(*told),
                "{name}: {got}, where the table has {told}; if that is well, run tools/codegen"
            );
        }
        Ok(())
    }

    /// Whether ranking a key takes as many instructions as the table has, by the same tolerance.
    pub fn check_ranking(&self, name: &str, instructions: u64) -> Result<()> {
        let told = *self.rankings.get(name).context("the table does not tell: run tools/codegen")?;
        ensure!(
            told.abs_diff(instructions) <= tolerance(told),
            "{instructions}, where the table has {told}; if that is well, run tools/codegen"
        );
        Ok(())
    }

    /// No ranking is told of that nobody counts.
    pub fn check_rankings(&self, found: &Self) -> Result<()> {
        match self.rankings.keys().find(|name| !found.rankings.contains_key(*name)) {
            None => Ok(()),
            Some(name) => bail!("the table tells of {name}, which nothing ranks by: run tools/codegen"),
        }
    }

    /// No row is about a pipeline that is gone.
    pub fn check_rows<'a>(&self, keys: impl IntoIterator<Item = &'a Key>) -> Result<()> {
        let mut rows = self.rows.clone();
        for key in keys {
            rows.remove(key);
        }
        match rows.first_key_value() {
            None => Ok(()),
            Some((key, _)) => {
                bail!("the table has a row for {key}, which nothing chooses: run tools/codegen")
            }
        }
    }

    pub fn parse(text: &str) -> Result<Self> {
        let head = |prefix: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(prefix));
            line.map(str::to_owned).with_context(|| format!("no line begins with '{prefix}'"))
        };
        let ranking = |line: &str| {
            let (name, instructions) = line.split_once(": ")?;
            Some((name.to_owned(), instructions.parse().ok()?))
        };
        let rankings = text.lines().filter_map(|line| line.strip_prefix(RANKING));
        let rankings = rankings.map(|line| ranking(line).with_context(|| format!("no number: '{line}'")));
        let rankings = rankings.collect::<Result<_>>()?;
        let mut rows = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            for (key, numbers) in rows_of(line).with_context(|| format!("no row: '{line}'"))? {
                ensure!(rows.insert(key, numbers).is_none(), "twice: '{line}'");
            }
        }
        Ok(Self { target: head(TARGET)?, shaders: head(SHADERS)?, rankings, rows })
    }
}

/// Scheduling moves a few instructions, and small counts cannot move by less than one.
pub fn tolerance(told: u64) -> u64 {
    (told / 10).max(2)
}

/// A pipeline's rows, one for each number of lanes, which stand in one line.
fn rows_of(line: &str) -> Option<Vec<(Key, Numbers)>> {
    let (kernel, rest) = line.split_once(' ')?;
    let mut words = rest.split_whitespace().peekable();
    let mut by_lanes = Vec::new();
    while let Some(lanes) = words.next_if(|word| word.ends_with(':')) {
        let mut numbers = Numbers::default();
        for number in &mut numbers {
            *number = words.next()?.parse().ok()?;
        }
        by_lanes.push((lanes.trim_end_matches(':').parse().ok()?, numbers));
    }
    let specialization = words.collect::<Vec<_>>().join(" ");
    let key = |lanes| Key { kernel: kernel.to_owned(), specialization: specialization.clone(), lanes };
    Some(by_lanes.into_iter().map(|(lanes, numbers)| (key(lanes), numbers)).collect())
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}\n{TARGET}{}\n{SHADERS}{}", self.target, self.shaders)?;
        for (name, instructions) in &self.rankings {
            writeln!(f, "{RANKING}{name}: {instructions}")?;
        }
        writeln!(f, "#\n# kernel, for each number of lanes {}, and specialization", HEADINGS.join(", "))?;
        let width = self.rows.keys().map(|key| key.kernel.len()).max().unwrap_or(0);
        let rows: Vec<_> = self.rows.iter().collect();
        let is_one = |(a, _): &(&Key, _), (b, _): &(&Key, _)| {
            (&a.kernel, &a.specialization) == (&b.kernel, &b.specialization)
        };
        for pipeline in rows.chunk_by(is_one) {
            let (Key { kernel, specialization, .. }, _) = pipeline[0];
            write!(f, "{kernel:width$}")?;
            for (Key { lanes, .. }, numbers) in pipeline {
                write!(f, "  {lanes}:")?;
                numbers.iter().try_for_each(|number| write!(f, " {number:>5}"))?;
            }
            writeln!(f, "  {specialization}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {} lanes", self.kernel, self.specialization, self.lanes)
    }
}
