//! The numbers of a GPU's pipelines, as a text table.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context as _, Result, bail, ensure};
use subsweep_tool::harness::PipelineSummary;

use super::compiled::Compiled;
use super::main_path::MainPath;

/// The numbers of a pipeline, by column; `None` where the driver does not report one.
pub type Numbers = [Option<u64>; COLUMNS.len()];

/// A heading, the number of its column, and the tolerance.
type Column = (&'static str, fn(&PipelineSummary) -> Option<u64>, fn(u64) -> u64);
pub const COLUMNS: [Column; 6] = [
    ("registers", |summary| summary.registers, tolerance),
    // No tolerance: one of two workgroups is half of the occupancy.
    ("workgroups", |summary| summary.workgroups, |_| 0),
    ("shared", |summary| summary.shared_memory_size, tolerance),
    ("instructions", |summary| summary.instructions, tolerance),
    ("spills", |summary| summary.spills, |_| 0),
    ("scratch", |summary| summary.scratch_size, |_| 0),
];

/// A kernel at its default shape, which is the shape of the first plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub specialization: String,
    pub lanes: u32,
    pub numbers: Numbers,
}

/// One GPU's numbers, by one pair of compilers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// GPU and Mesa.
    pub gpu: String,
    /// The compiler of the SPIR-V.
    pub shaders: String,
    /// By kernel.
    pub lines: BTreeMap<String, Line>,
    /// By kernel, shape and variant.
    pub main_paths: BTreeMap<String, MainPath>,
}

const TITLE: &str = "# Compiler statistics of each kernel at its default shape. Written by tools/codegen.";
const GPU: &str = "# GPU:     ";
const SHADERS: &str = "# shaders: ";
const MAIN_PATHS: &str = "\n# Main path: a full tile, without the fallback for stalled tiles. Instructions, items of an \
                          invocation, instructions an item.\n";
const MAIN_PATH: &str = "main path: ";

impl Line {
    pub fn new(compiled: &Compiled) -> Self {
        Self {
            specialization: compiled.inspected.specialization.clone(),
            lanes: compiled.inspected.lanes,
            numbers: COLUMNS.map(|(_, number, _)| number(&compiled.inspected.summary)),
        }
    }
}

impl Table {
    /// Fails unless a kernel's line matches the table, within the tolerances of its columns.
    pub fn check(&self, kernel: &str, found: &Line) -> Result<()> {
        let line = self.lines.get(kernel).context("the table has no such line: run tools/codegen")?;
        let (shape, expected_shape) =
            ((&found.specialization, found.lanes), (&line.specialization, line.lanes));
        ensure!(
            shape == expected_shape,
            "{shape:?}, but {expected_shape:?} in the table; if intended, run tools/codegen"
        );
        for (((name, _, tolerance), expected), got) in COLUMNS.iter().zip(&line.numbers).zip(&found.numbers) {
            let is_near = expected
                .zip(*got)
                .map_or(expected == got, |(expected, got)| expected.abs_diff(got) <= tolerance(expected));
            ensure!(
                is_near,
                "{name} is {}, but {} in the table; if intended, run tools/codegen",
                number(*got),
                number(*expected)
            );
        }
        Ok(())
    }

    /// Fails unless a main path's instructions match the table, within the tolerance.
    pub fn check_main_path(&self, name: &str, found: MainPath) -> Result<()> {
        let expected =
            self.main_paths.get(name).context("the table has no such main path: run tools/codegen")?;
        ensure!(
            expected.items == found.items
                && expected.instructions.abs_diff(found.instructions) <= tolerance(expected.instructions),
            "{found:?}, but {expected:?} in the table; if intended, run tools/codegen"
        );
        Ok(())
    }

    /// Fails if the table has a line for a kernel or a main path that does not exist.
    pub fn check_names(&self, found: &Self) -> Result<()> {
        if let Some(name) = self.lines.keys().find(|name| !found.lines.contains_key(*name)) {
            bail!("the table has a line for {name}, which nothing chooses: run tools/codegen");
        }
        if let Some(name) = self.main_paths.keys().find(|name| !found.main_paths.contains_key(*name)) {
            bail!("the table has a main path for {name}, which nothing takes: run tools/codegen");
        }
        Ok(())
    }

    pub fn parse(text: &str) -> Result<Self> {
        let head = |prefix: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(prefix));
            line.map(str::to_owned).with_context(|| format!("no line begins with '{prefix}'"))
        };
        let (mut lines, mut main_paths) = (BTreeMap::new(), BTreeMap::new());
        for text in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let explain = || format!("not a line of the table: '{text}'");
            let is_new = match text.strip_prefix(MAIN_PATH) {
                Some(rest) => {
                    let (name, main_path) = main_path_of(rest).with_context(explain)?;
                    main_paths.insert(name, main_path).is_none()
                }
                None => {
                    let (kernel, line) = line_of(text).with_context(explain)?;
                    lines.insert(kernel, line).is_none()
                }
            };
            ensure!(is_new, "twice: '{text}'");
        }
        Ok(Self { gpu: head(GPU)?, shaders: head(SHADERS)?, lines, main_paths })
    }
}

/// A tenth, and at least 2: scheduling changes a few instructions.
pub fn tolerance(expected: u64) -> u64 {
    (expected / 10).max(2)
}

fn number(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

fn line_of(text: &str) -> Option<(String, Line)> {
    let mut words = text.split_whitespace();
    let (kernel, lanes) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
    let mut numbers = Numbers::default();
    for number in &mut numbers {
        let word = words.next()?;
        *number = if word == "-" { None } else { Some(word.parse().ok()?) };
    }
    let specialization = words.collect::<Vec<_>>().join(" ");
    Some((kernel, Line { specialization, lanes, numbers }))
}

fn main_path_of(text: &str) -> Option<(String, MainPath)> {
    let (name, counts) = text.split_once(": ")?;
    // The colon in a kernel's name has no space after it.
    let mut counts = counts.split_whitespace();
    let mut next = || counts.next()?.parse().ok();
    Some((name.to_owned(), MainPath { instructions: next()?, items: next()? }))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}\n{GPU}{}\n{SHADERS}{}\n#", self.gpu, self.shaders)?;
        let width = self.lines.keys().map(String::len).max().unwrap_or(0);
        write!(f, "# {:1$}  lanes", "kernel", width.saturating_sub(2))?;
        COLUMNS.iter().try_for_each(|(name, ..)| write!(f, "  {name}"))?;
        writeln!(f, "  specialization")?;
        for (kernel, Line { specialization, lanes, numbers }) in &self.lines {
            write!(f, "{kernel:width$}  {lanes:>5}")?;
            for ((heading, ..), value) in COLUMNS.iter().zip(numbers) {
                write!(f, "  {:>1$}", number(*value), heading.len())?;
            }
            writeln!(f, "  {specialization}")?;
        }
        f.write_str(MAIN_PATHS)?;
        for (name, &MainPath { instructions, items }) in &self.main_paths {
            writeln!(
                f,
                "{MAIN_PATH}{name}: {instructions} {items} {:.1}",
                instructions as f64 / items as f64
            )?;
        }
        Ok(())
    }
}
