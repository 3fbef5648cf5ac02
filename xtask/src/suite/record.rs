//! Rows of the full suite that have passed: a file for each, in a folder named by a hash of their inputs.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result};

use super::Options;
use crate::cargo::{self, Features};
use crate::print;
use crate::process::{git, hash, output};

/// Without a folder, nothing is recorded.
pub struct Record(Option<PathBuf>);

impl Record {
    /// The record of the inputs as they are: the sources, the features, and what is installed.
    pub fn open(options: &Options, features: &Features) -> Result<Self> {
        if !options.is_full {
            return Ok(Self(None));
        }
        let refused = |why: &str| {
            print(format_args!("test: passed rows are not recorded: {why}"))?;
            Ok(Self(None))
        };
        let Ok(sources) = git(&["ls-files", "-s", "--", ".", ":!*.md"]) else {
            return refused("this is not a git working tree");
        };
        if !git(&["status", "--porcelain"])?.is_empty() {
            return refused("there are uncommitted changes");
        }
        if env::var_os("SUBSWEEP_KERNELS").is_some_and(|folder| !folder.is_empty()) {
            return refused("SUBSWEEP_KERNELS replaces kernels");
        }
        let installed = output(Command::new("bash").args(["-c", ". tools/env && versions"]))?;
        let folder =
            cargo::cache()?.join("full").join(hash(&[&sources, &features.0, &*installed].join("\n"))?);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(Some(folder)))
    }

    /// The seconds that a row has taken, if it has passed.
    pub fn seconds(&self, row: &str) -> Option<String> {
        let text = fs::read_to_string(self.0.as_ref()?.join(row)).ok()?;
        Some(text.trim_end().to_owned())
    }

    /// Records a row that has passed, unless it was skipped. The GPU and its driver are no inputs of rows.
    pub fn keep(&self, row: &str, log: &str, elapsed: Duration) -> Result<()> {
        let was_skipped = log.lines().any(|line| line.starts_with("row ") && line.contains(" SKIPPED"));
        match &self.0 {
            Some(folder) if row != "gpu" && !was_skipped => {
                fs::write(folder.join(row), format!("{}\n", elapsed.as_secs()))
                    .with_context(|| row.to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_row_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let record = Record(Some(folder.path().to_owned()));
        let rows =
            [("lavapipe-4", "SKIPPED: no driver"), ("gpu", "ok: 5 passed"), ("lavapipe-8", "ok: 5 passed")];
        for (row, end) in rows {
            record.keep(row, &format!("\nrow {row} {end}\n"), Duration::from_secs(60)).unwrap();
        }
        assert_eq!(rows.map(|row| record.seconds(row.0)), [None, None, Some("60".to_owned())]);
    }
}
