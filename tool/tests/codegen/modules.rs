//! Validation of every module by `spirv-val`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use libtest_mimic::Trial;
use subsweep::kernels::{self, Kernel};

use super::children::announce;
use super::gpu::trial;
use super::reduced::CHOSEN;

/// The first line of `spirv-val --version`, if it is installed.
pub fn spirv_val_version() -> Option<String> {
    let output = Command::new("spirv-val").arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().next().map(str::to_owned)
}

pub fn trials() -> Vec<Trial> {
    announce(&spirv_val_version().unwrap_or_default());
    let modules = kernels::all().map(|kernel| trial(kernel.name, || validate(&kernel.words())));
    let pruned = kernels::all()
        .map(|kernel| trial(&format!("pruned: {}", kernel.name), move || validate_pruned(kernel)));
    modules.chain(pruned).chain([trial("a broken module is refused", refuses_a_broken_module)]).collect()
}

/// What is left of a kernel under the constants of each pipeline that policies choose, and under its defaults.
fn validate_pruned(kernel: &'static Kernel) -> Result<()> {
    let chosen = CHOSEN.lines().filter_map(|line| line.strip_prefix(kernel.name)?.strip_prefix(' '));
    for line in chosen.chain([""]) {
        let constant = |text: &str| {
            let (name, value) = text.split_once('=').context("NAME=VALUE")?;
            let constant = kernel.spec_constants.iter().find(|constant| constant.name == name);
            Ok((constant.context("a constant of the kernel")?.id, value.parse()?))
        };
        let constants: Vec<_> = line.split_whitespace().map(constant).collect::<Result<_>>()?;
        validate(&kernel.pruned(&constants)).with_context(|| line.to_owned())?;
    }
    Ok(())
}

fn validate(module: &[u32]) -> Result<()> {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // Output before the end of its input fits into the pipe.
    let written = child.stdin.take().context("a pipe was asked for")?.write_all(bytemuck::cast_slice(module));
    let output = child.wait_with_output()?;
    let report = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}", report.trim());
    written.context("spirv-val did not read all")
}

/// A module whose first function does not end.
fn refuses_a_broken_module() -> Result<()> {
    let module = kernels::all().next().context("there are no kernels")?.words();
    ensure!(validate(&module[..module.len() - 1]).is_err(), "it passes without its last instruction");
    Ok(())
}
