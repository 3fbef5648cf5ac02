//! The list of pipelines that `tool/tests/drivers` must dispatch: those that policies choose for any of the GPUs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::{env, fs, io};

use anyhow::{Result, bail};
use libtest_mimic::Trial;

use super::children::Together;
use super::compiled::Compiled;
use super::gpu::trial;
use super::reduced::{CHOSEN, Lists, text};

/// Whether tables and lists are to be rewritten.
pub fn is_blessing() -> bool {
    env::var_os("SUBSWEEP_BLESS").is_some_and(|value| value == "1")
}

/// A trial that fails unless a row's pipelines are on the list.
pub fn trial_of(row: &str, compiled: &[Compiled]) -> Result<Trial> {
    let pipelines: BTreeSet<_> = compiled.iter().map(|one| one.reduced.clone()).collect();
    Lists::save(row, &pipelines)?;
    let run = move || {
        let listed: BTreeSet<_> = CHOSEN.lines().collect();
        match pipelines.iter().find(|pipeline| !listed.contains(pipeline.as_str())) {
            None => Ok(()),
            Some(pipeline) => bail!("{pipeline} is not in tests/common/chosen.txt: run tools/codegen"),
        }
    };
    Ok(trial("pipelines are listed for the drivers", run).with_ignored_flag(is_blessing()))
}

impl Together for Lists {
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        self.environment()
    }

    /// `SUBSWEEP_BLESS=1` replaces the list by the pipelines of all rows.
    fn check(&self) -> Result<String, String> {
        if !is_blessing() {
            return Ok(String::new());
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/common/chosen.txt");
        let write = || -> io::Result<usize> {
            let pipelines = self.union()?;
            fs::write(path, text(&pipelines))?;
            Ok(pipelines.len())
        };
        let count = write().map_err(|error| format!("tests/common/chosen.txt: {error}"))?;
        Ok(format!("{count} pipelines are chosen for the GPUs\n"))
    }
}
