//! Validation of every module by `spirv-val`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use libtest_mimic::Trial;
use subsweep::kernels;

use super::children::announce;
use super::gpu::trial;

/// The first line of `spirv-val --version`, if it is installed.
pub fn spirv_val_version() -> Option<String> {
    let output = Command::new("spirv-val").arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_owned)
}

pub fn trials() -> Vec<Trial> {
    announce(&spirv_val_version().unwrap_or_default());
    let modules = kernels::all().map(|kernel| trial(kernel.name, || validate(kernel.spirv)));
    modules.chain([trial("a broken module is refused", refuses_a_broken_module)]).collect()
}

fn validate(module: &[u8]) -> Result<()> {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // Output before the end of its input fits into the pipe.
    let written = child.stdin.take().context("a pipe was asked for")?.write_all(module);
    let output = child.wait_with_output()?;
    let report = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}", report.trim());
    written.context("spirv-val did not read all")
}

/// A module whose first function does not end.
fn refuses_a_broken_module() -> Result<()> {
    let module = kernels::all().next().context("there are no kernels")?.spirv;
    ensure!(validate(&module[..module.len() - 4]).is_err(), "it passes without its last instruction");
    Ok(())
}
