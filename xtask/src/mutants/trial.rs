//! The result of a fault, kept in a file of its name.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub const FOUND: &str = "found";
pub const SURVIVED: &str = "survived";
pub const DOES_NOT_COMPILE: &str = "does not compile";
pub const CHANGES_NOTHING: &str = "changes nothing";
pub const NO_TRIAL: &str = "no trial is meant";

/// The finder of a survivor on which the suite has not run.
pub const CHECKS: &str = "checks";

#[derive(Debug, PartialEq)]
pub struct Trial {
    /// A hash of the fault and the sources.
    pub key: String,
    pub verdict: String,
    pub finder: String,
    pub seconds: u64,
}

impl Trial {
    pub fn is_of_checks(&self) -> bool {
        self.verdict == SURVIVED && self.finder == CHECKS
    }

    pub fn read(path: &Path) -> Option<Self> {
        let text = fs::read_to_string(path).ok()?;
        let mut words = text.trim_end().split('\t').map(str::to_owned);
        let (key, verdict, finder) = (words.next()?, words.next()?, words.next()?);
        Some(Self { key, verdict, finder, seconds: words.next()?.parse().ok()? })
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let Self { key, verdict, finder, seconds } = self;
        fs::write(path, format!("{key}\t{verdict}\t{finder}\t{seconds}\n"))
            .with_context(|| path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_read_as_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let [key, verdict, finder] = ["0123", FOUND, "8: scan (time is up)"].map(str::to_owned);
        let trial = Trial { key, verdict, finder, seconds: 12 };
        trial.write(file.path()).unwrap();
        assert_eq!(Trial::read(file.path()), Some(trial));
        assert_eq!(Trial::read(Path::new("/nowhere")), None);
    }
}
