//! Pipelines by what tells kernels' ways apart.
//!
//! Two pipelines are the same here if they differ in constants alone that say nothing of a kernel's ways: those of the shape
//! of a tile, which differs from device to device, and those of what is done to one element, whose pairs with everything else
//! are in the table of cases.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::{env, fs, io};

/// Constants of the shape of a tile, and of what is done to one element.
const LEFT_OUT: &[&str] = &[
    "DESCENDING",
    "KEY_NUMBERS",
    "NUMBERS",
    "OPERATOR",
    "BATCHES_PER_CHUNK",
    "CLUSTER_LANES",
    "ITEMS_PER_INVOCATION",
    "MAX_LARGE",
    "MAX_SHORT",
    "MAX_SMALL",
    "MAX_SUBGROUPS",
    "PACKS_PER_RUN",
    "PARTS_PER_ELEMENT",
    "QUADS_PER_INVOCATION",
    "RUNS_PER_INVOCATION",
    "SHORT_PER_WORKGROUP",
    "TILE_ELEMENTS",
    "TILE_ITEMS",
    "UNITS_PER_INVOCATION",
    "WORKGROUP_SIZE",
];

/// The pipelines that policies choose for one GPU or another, a line each: `tests/codegen` holds the list to the plans, and
/// `tests/drivers` holds itself to the list.
pub const CHOSEN: &str = include_str!("chosen.txt");

/// A kernel and its constants without what is left out: `sort/count:key1 NAME=VALUE …`, by name.
pub fn reduced<'a>(kernel: &str, constants: impl Iterator<Item = (&'a str, u32)>) -> String {
    let mut constants: Vec<_> = constants.filter(|(name, _)| !LEFT_OUT.contains(name)).collect();
    constants.sort_unstable();
    constants.iter().fold(kernel.to_owned(), |line, (name, value)| format!("{line} {name}={value}"))
}

/// Names the folder of [`Lists`].
const FOLDER: &str = "SUBSWEEP_PIPELINE_LISTS";

/// A folder in which each row of a matrix lists its pipelines for the parent.
pub struct Lists(tempfile::TempDir);

impl Default for Lists {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }
}

impl Lists {
    /// What a row's process needs to find the folder.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![(FOLDER, self.0.path().into())]
    }

    /// Lists a row's pipelines in the parent's folder, if there is a parent.
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

/// One pipeline a line.
pub fn text(pipelines: &BTreeSet<String>) -> String {
    pipelines.iter().map(|line| format!("{line}\n")).collect()
}
