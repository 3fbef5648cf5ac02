//! Tasks that let a test write what it otherwise compares.

use std::io;
use std::process::{Command, ExitCode};

use anyhow::{Result, bail, ensure};

use crate::cargo::Features;
use crate::process::{self, git};
use crate::{Stop, print};

/// Compiles the kernels into glsl/precompiled, and the shaders of examples into their folders.
pub fn precompile(arguments: &[String]) -> Result<ExitCode> {
    refuse(arguments)?;
    ensure!(Features::installed()?.have("compile-shaders"), "the shaderc library is missing");
    process::run(bless("precompiled").args(["--features", "compile-shaders"]).stdout(io::stderr()))?;
    match git(&["status", "--short", "--", "glsl/precompiled", "examples/*/shaders/precompiled"]) {
        Ok(changes) if changes.is_empty() => eprintln!("precompile: the modules are unchanged"),
        Ok(changes) => eprintln!("{changes}"),
        Err(_) => eprintln!("precompile: done; changes cannot be shown without git"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Compiles every pipeline for GPUs, and rewrites the tables of generated code.
pub fn codegen(arguments: &[String]) -> Result<ExitCode> {
    refuse(arguments)?;
    let mut test = bless("codegen");
    if Features::installed()?.have("compile-shaders") {
        test.args(["--features", "compile-shaders"]);
    } else {
        eprintln!("codegen: no shaderc library: the tables are of glsl/precompiled");
    }
    process::run(test.env("SUBSWEEP_SUITE", "full").stdout(io::stderr()))?;
    match git(&["diff", "--stat", "--", "tool/tests/codegen", "tests/common"]) {
        Ok(changes) if changes.is_empty() => {}
        Ok(changes) => print(changes)?,
        Err(_) => eprintln!("codegen: done; changes cannot be shown without git"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the figures of the reports in benches/record to docs/results.md, and a comparison to benches/record.
pub fn figures(arguments: &[String]) -> Result<ExitCode> {
    refuse(arguments)?;
    process::run(bless("figures").arg("--quiet"))?;
    Ok(ExitCode::SUCCESS)
}

fn bless(test: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(["test", "--test", test]).env("SUBSWEEP_BLESS", "1");
    command
}

/// These tasks have no arguments.
fn refuse(arguments: &[String]) -> Result<()> {
    match arguments.first().map(String::as_str) {
        None => Ok(()),
        Some("-h" | "--help") => bail!(Stop::Help),
        Some(_) => bail!(Stop::BadUsage),
    }
}
