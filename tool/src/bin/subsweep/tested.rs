//! The self-test of a device, run once for a driver build and remembered in the user's cache folder.
//!
//! ```text
//!   self-tests/NAME      identity of a device, driver and subgroup size that has passed
//! ```

use std::fs;
use std::path::Path;

use anyhow::Result;
use subsweep::headless::Gpu;
use subsweep_tool::harness::gpus::cache_folder;

use crate::cache;
use crate::error::CommandError;
use crate::files::output;

/// Refuses a device that fails its self-test, whose results would be wrong. A driver build that has passed is not tested
/// again, if `is_cached`.
///
/// # Errors
/// [`CommandError::unable`], and the errors of [`Gpu::self_test`].
pub fn check(gpu: &Gpu, is_cached: bool) -> Result<()> {
    let (name, identity) = cache::identity_of(gpu.capabilities());
    let file = cache_folder().filter(|_| is_cached).map(|folder| folder.join("self-tests").join(name));
    if file.as_deref().is_some_and(|path| has_passed(path, &identity)) {
        return Ok(());
    }
    let verdict = gpu.self_test()?;
    if !verdict.is_passed() {
        let device = &gpu.identity().name;
        return Err(CommandError::unable(format!("the self-test of {device} {verdict}")).into());
    }
    if let Some(path) = file {
        // Without the file the next command tests again.
        let _ = keep(&path, &identity);
    }
    Ok(())
}

fn has_passed(path: &Path, identity: &str) -> bool {
    // Reading a named pipe would block until a writer opens it; a longer file is not of this build.
    let is_file = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == identity.len() as u64);
    is_file && fs::read(path).is_ok_and(|bytes| bytes == identity.as_bytes())
}

fn keep(path: &Path, identity: &str) -> Result<(), output::OutputProblem> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(output::OutputProblem::Folder)?;
    output::write_whole(path, &[identity.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_of_one_driver_build() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("self-tests/one");
        assert!(!has_passed(&path, "driver 1"));
        keep(&path, "driver 1").unwrap();
        assert!(has_passed(&path, "driver 1"));
        assert!(
            !has_passed(&path, "driver 2") && !has_passed(&path, "driver") && !has_passed(&path, "driver 10")
        );
    }
}
