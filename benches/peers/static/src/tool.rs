//! External programs.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Runs a program and returns its output.
///
/// # Errors
/// The program is missing; its output, if it fails.
pub fn run(program: &str, arguments: &[String]) -> Result<String> {
    let output = Command::new(program).args(arguments).output().with_context(|| match program {
        "spirv-opt" => format!("{program} is missing; run tools/setup test"),
        _ => format!("{program} cannot be run"),
    })?;
    if !output.status.success() {
        // Compilers report errors on either stream.
        let text = [output.stderr, output.stdout].concat();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().find(|line| line.to_lowercase().contains("error")).or(text.lines().next());
        bail!("{program} failed: {}", line.unwrap_or("without a word"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
