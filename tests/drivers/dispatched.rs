//! Which pipelines the rows have dispatched between them, of those that a policy can choose.
//!
//! What can be chosen stands in a table of `tests/codegen`, which that test holds to the plans. Tile shapes differ from
//! device to device, so that two pipelines are the same here if they differ in those constants alone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::{env, fs};

use subsweep::ash::vk;
use subsweep::vk::{Command, HazardChecker, Trace};

use super::children::Together;

/// Every pipeline that a policy can choose on one target.
const CHOSEN: &str = include_str!("../codegen/RADV-navi21.txt");

/// Names a folder in which each row lists what it has dispatched.
const FOLDER: &str = "SUBSWEEP_DISPATCHED";

/// Constants of the shape of a tile.
const SHAPE: &[&str] = &[
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

/// The process's listener: it notes every dispatch, and has the hazard checker see every command.
#[derive(Default)]
pub struct Listener {
    hazards: Arc<HazardChecker>,
    dispatched: Mutex<BTreeSet<String>>,
}

impl Listener {
    pub fn of_process() -> Arc<Self> {
        static LISTENER: LazyLock<Arc<Listener>> = LazyLock::new(Arc::default);
        Arc::clone(&LISTENER)
    }

    pub fn hazards(&self) -> &Arc<HazardChecker> {
        &self.hazards
    }

    /// Lists what was dispatched by now in the parent's folder, if it has one.
    pub fn save(&self, row: &str) -> std::io::Result<()> {
        let Some(folder) = env::var_os(FOLDER) else { return Ok(()) };
        let dispatched = self.dispatched.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: String = dispatched.iter().map(|line| format!("{line}\n")).collect();
        fs::write(Path::new(&folder).join(row), lines)
    }
}

impl Trace for Listener {
    fn record(&self, command_buffer: vk::CommandBuffer, command: &Command<'_>) {
        if let Command::Dispatch { kernel, constants, .. } = command {
            let constants = constants.iter().map(|(name, value)| (*name, value.to_string()));
            let line = line(kernel.name, constants);
            self.dispatched.lock().unwrap_or_else(PoisonError::into_inner).insert(line);
        }
        self.hazards.record(command_buffer, command);
    }
}

/// A pipeline without its shape.
fn line<'a>(kernel: &str, constants: impl Iterator<Item = (&'a str, String)>) -> String {
    let mut constants: Vec<_> = constants.filter(|(name, _)| !SHAPE.contains(name)).collect();
    constants.sort();
    constants.iter().fold(kernel.to_owned(), |line, (name, value)| format!("{line} {name}={value}"))
}

/// What the parent has its rows fill.
pub struct Folder(tempfile::TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }
}

impl Together for Folder {
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![(FOLDER, self.0.path().into())]
    }

    /// Names what can be chosen and no row has dispatched.
    fn check(&self) -> Result<String, String> {
        let rows = fs::read_dir(self.0.path()).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let read = |row: fs::DirEntry| fs::read_to_string(row.path());
        let lists = rows.and_then(|rows| rows.into_iter().map(read).collect::<Result<Vec<_>, _>>());
        let lists = lists.map_err(|error| format!("what rows have dispatched cannot be read: {error}"))?;
        let dispatched: BTreeSet<_> = lists.iter().flat_map(|list| list.lines()).collect();
        let chosen = chosen();
        let missing: Vec<_> = chosen.iter().filter(|line| !dispatched.contains(line.as_str())).collect();
        match &missing[..] {
            [] => Ok(format!("all {} pipelines that policies choose were dispatched\n", chosen.len())),
            [first, ..] => {
                let all: String = missing.iter().map(|line| format!("\n  {line}")).collect();
                Err(format!("{} pipelines are dispatched by no row, such as {first}:{all}", missing.len()))
            }
        }
    }
}

fn chosen() -> BTreeSet<String> {
    let rows = CHOSEN.lines().filter(|row| !row.starts_with('#'));
    let pipelines = rows.filter_map(|row| {
        let kernel = row.split_whitespace().next()?;
        let constants = row.split_whitespace().filter_map(|word| word.split_once('='));
        Some(line(kernel, constants.map(|(name, value)| (name, value.to_owned()))))
    });
    pipelines.collect()
}
