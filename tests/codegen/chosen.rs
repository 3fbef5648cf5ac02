//! The list of pipelines that `tests/drivers` must dispatch: those that policies choose for one GPU or another.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::{env, fs, io};

use anyhow::{Result, bail};
use libtest_mimic::Trial;

use super::children::Together;
use super::compiled::Compiled;
use super::gpu::trial;
use super::reduced::CHOSEN;

/// Names a folder in which each row lists its pipelines.
const FOLDER: &str = "SUBSWEEP_CHOSEN";

/// Whether tables and lists are to become what is found.
pub fn is_blessing() -> bool {
    env::var_os("SUBSWEEP_BLESS").is_some_and(|value| value == "1")
}

/// A row's pipelines are on the list.
pub fn trial_of(row: &str, compiled: &[Compiled]) -> Result<Trial> {
    let pipelines: BTreeSet<_> = compiled.iter().map(|one| one.reduced.clone()).collect();
    if let Some(folder) = env::var_os(FOLDER) {
        let lines: String = pipelines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(Path::new(&folder).join(row), lines)?;
    }
    let run = move || {
        let listed: BTreeSet<_> = CHOSEN.lines().collect();
        match pipelines.iter().find(|pipeline| !listed.contains(pipeline.as_str())) {
            None => Ok(()),
            Some(pipeline) => bail!("{pipeline} is not in tests/common/chosen.txt: run tools/codegen"),
        }
    };
    Ok(trial("pipelines are listed for the drivers", run).with_ignored_flag(is_blessing()))
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

    /// With `SUBSWEEP_BLESS=1` the list becomes what all rows have.
    fn check(&self) -> Result<String, String> {
        if !is_blessing() {
            return Ok(String::new());
        }
        let write = || -> io::Result<usize> {
            let mut pipelines = BTreeSet::new();
            for row in fs::read_dir(self.0.path())? {
                pipelines.extend(fs::read_to_string(row?.path())?.lines().map(str::to_owned));
            }
            let lines: String = pipelines.iter().map(|line| format!("{line}\n")).collect();
            fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/chosen.txt"), lines)?;
            Ok(pipelines.len())
        };
        let count = write().map_err(|error| format!("tests/common/chosen.txt: {error}"))?;
        Ok(format!("{count} pipelines are chosen for one GPU or another\n"))
    }
}
