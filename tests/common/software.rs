//! The CPU drivers, for tests that run programs on each of them.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::children::{Missing, is_gate_on, mesa_manifest, only_driver};

/// The environment in which a process finds only one driver, or the reason why the driver is missing.
pub type Environment = Result<Vec<(&'static str, OsString)>, Missing>;

/// The system's lavapipe, with 8 lanes.
pub fn lavapipe() -> Environment {
    let manifest =
        mesa_manifest("lvp").ok_or_else(|| missing("lavapipe", is_gate_on(&["debian 12", "ubuntu"])))?;
    let mut environment = only_driver(&manifest);
    environment.push(("LP_NATIVE_VECTOR_WIDTH", "256".into()));
    Ok(environment)
}

/// The SwiftShader of tools/setup.
pub fn swiftshader() -> Environment {
    let manifest = path_in("SUBSWEEP_SWIFTSHADER_ICD");
    let manifest = manifest.ok_or_else(|| missing("SwiftShader", is_gate_on(&["debian 12"])))?;
    Ok(only_driver(&manifest))
}

/// Reports that `what` is missing.
pub fn missing(what: &str, is_failure: bool) -> Missing {
    Missing { what: format!("{what} is missing; tools/setup test installs it"), is_failure }
}

/// The path in an environment variable of `tools/env`, if it exists.
pub fn path_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.exists())
}
