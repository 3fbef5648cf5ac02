//! Pipelines, reduced to the constants that select a kernel's control flow.
//!
//! Two pipelines count as equal if they differ only in constants of the tile shape, which depends on the device, or of
//! the operation on one element, whose pairs with all other parameters are in the case table.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::{env, fs, io};

/// Constants of the tile shape, and of the operation on one element.
const LEFT_OUT: &[&str] = &[
    "DESCENDING",
    "KEY_NUMBERS",
    "NUMBERS",
    "OPERATOR",
    "BATCHES_PER_CHUNK",
    "CLUSTER_LANES",
    "FIELD_0",
    "FIELD_1",
    "FIELD_2",
    "FIELD_3",
    "FIELD_4",
    "FIELD_5",
    "FIELD_6",
    "FIELD_7",
    "ITEMS_PER_INVOCATION",
    "MAX_LARGE",
    "MAX_SHORT",
    "MAX_SMALL",
    "MAX_SUBGROUPS",
    "MAX_WORKGROUPS",
    "PACKS_PER_INVOCATION",
    "PACKS_PER_RUN",
    "PARTS_PER_ELEMENT",
    "RUNS_PER_INVOCATION",
    "SEGMENT_ROWS",
    "SEGMENT_STEP",
    "SHORT_PER_WORKGROUP",
    "SKIPPED_BITS",
    "SPIN_LIMIT",
    "STRUCTURE_WORDS",
    "TILE_ELEMENTS",
    "TILE_ITEMS",
    "TILE_ROWS",
    "TOP_ITEMS",
    "UNITS_PER_INVOCATION",
    "WORKGROUP_SIZE",
];

/// The pipelines that policies choose for any of the GPUs, one per line. `tool/tests/codegen` compares the list with the
/// plans; `tool/tests/drivers` must dispatch all of it.
pub const CHOSEN: &str = include_str!("chosen.txt");

/// A kernel and its constants, except the constants of `LEFT_OUT`, by name: `sort/count:key1 NAME=VALUE …`.
pub fn reduced<'a>(kernel: &str, constants: impl Iterator<Item = (&'a str, u32)>) -> String {
    let mut constants: Vec<_> = constants.filter(|(name, _)| !LEFT_OUT.contains(name)).collect();
    constants.sort_unstable();
    constants.iter().fold(kernel.to_owned(), |line, (name, value)| format!("{line} {name}={value}"))
}

/// The environment variable of the folder of [`Lists`].
const FOLDER: &str = "SUBSWEEP_PIPELINE_LISTS";

/// A folder where each row of a matrix writes its list of pipelines for the parent.
pub struct Lists(tempfile::TempDir);

impl Default for Lists {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }
}

impl Lists {
    /// The environment by which a row's process finds the folder.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![(FOLDER, self.0.path().into())]
    }

    /// Writes a row's pipelines to the parent's folder, if there is a parent.
    pub fn save(row: &str, pipelines: &BTreeSet<String>) -> io::Result<()> {
        let Some(folder) = env::var_os(FOLDER) else { return Ok(()) };
        fs::write(Path::new(&folder).join(row), text(pipelines))
    }

    /// The pipelines of all rows.
    pub fn union(&self) -> io::Result<BTreeSet<String>> {
        let mut pipelines = BTreeSet::new();
        for row in fs::read_dir(self.0.path())? {
            pipelines.extend(fs::read_to_string(row?.path())?.lines().map(str::to_owned));
        }
        Ok(pipelines)
    }
}

/// One pipeline per line.
pub fn text(pipelines: &BTreeSet<String>) -> String {
    pipelines.iter().map(|line| format!("{line}\n")).collect()
}
