//! The copy of the working tree that faults are put into: all files that git does not ignore. Only changed files are written, so
//! that builds are incremental.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{git, hash, output};

/// Restored when dropped.
pub struct Copy {
    /// The folder of the copy, its index and its builds.
    pub cache: PathBuf,
    git_dir: PathBuf,
    /// The tree in git that has the files.
    tree: String,
    _lock: File,
}

impl Copy {
    pub fn make(cache: PathBuf) -> Result<Self> {
        fs::create_dir_all(cache.join("tree")).with_context(|| cache.display().to_string())?;
        let lock = lock(&cache.join("lock"))?;
        let git_dir = PathBuf::from(git(&["rev-parse", "--absolute-git-dir"])?);
        let snapshot = cache.join("snapshot");
        fs::copy(git_dir.join("index"), &snapshot).context("git's index")?;
        let in_snapshot =
            |arguments: &[&str]| output(Command::new("git").args(arguments).env("GIT_INDEX_FILE", &snapshot));
        in_snapshot(&["add", "-A"])?;
        let copy = Self { tree: in_snapshot(&["write-tree"])?, cache, git_dir, _lock: lock };
        copy.restore()?;
        Ok(copy)
    }

    pub fn folder(&self) -> PathBuf {
        self.cache.join("tree")
    }

    /// A command in the copy, with a target folder of its own.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder()).env("CARGO_TARGET_DIR", self.cache.join("target"));
        command
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut git = self.command("git");
        git.arg("--git-dir").arg(&self.git_dir).arg("--work-tree").arg(self.folder());
        output(git.args(arguments).env("GIT_INDEX_FILE", self.cache.join("index")))
    }

    pub fn restore(&self) -> Result<()> {
        self.git(&["read-tree", "--reset", "-u", &self.tree])?;
        self.git(&["checkout-index", "--force", "--all", "--quiet"])?;
        // This test would find every fault; the name of its canary stays, for tests/guards.rs.
        let canary = "//! Without its test \"a_fault_that_does_not_apply_once_is_refused\".\n";
        fs::write(self.folder().join("tests/mutants.rs"), canary).context("tests/mutants.rs of the copy")
    }

    /// A hash of all that a result depends on besides its fault.
    pub fn hash(&self) -> Result<String> {
        let inputs = [".", ":!*.md", ":!tools/mutants.txt", ":!tests/mutants.rs"];
        hash(&self.git(&[&["ls-files", "-s", "--"][..], &inputs].concat())?)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = self.restore() {
            eprintln!("mutants: {}: {error:#}", self.folder().display());
        }
    }
}

/// Keeps a second run out for as long as the file is open.
fn lock(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: a call without pointers, on an open file.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            bail!("another run holds the lock");
        }
    }
    Ok(file)
}
