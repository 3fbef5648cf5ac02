//! What Cargo builds, and with which features.

use std::env;
use std::io::{BufRead, BufReader, Seek};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// Cargo's option for all features.
const ALL: &str = "--all-features";

/// A variable of `tools/env` and `tools/xtask`.
fn variable(name: &str) -> Result<String> {
    env::var(name).ok().with_context(|| format!("{name} is not set: run this by its script in tools/"))
}

/// The folder of caches.
pub fn cache() -> Result<PathBuf> {
    Ok(variable("SUBSWEEP_CACHE")?.into())
}

/// Cargo's option for the features whose libraries are installed.
pub struct Features(pub String);

impl Features {
    pub fn installed() -> Result<Self> {
        Ok(Self(variable("SUBSWEEP_FEATURES")?))
    }

    pub fn are_all(&self) -> bool {
        self.0 == ALL
    }

    pub fn have(&self, feature: &str) -> bool {
        self.are_all() || self.0.split(['=', ',']).any(|one| one == feature)
    }
}

/// Runs a build, and returns Cargo's messages.
pub fn build(command: &mut Command) -> Result<Vec<Value>> {
    let mut messages = tempfile::tempfile()?;
    process::run(command.arg("--message-format=json-render-diagnostics").stdout(messages.try_clone()?))?;
    messages.rewind()?;
    BufReader::new(messages).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// A program of tests, whose target is a `lib`, `bin` or `test`.
pub struct Program {
    pub kind: String,
    pub name: String,
    pub path: PathBuf,
}

/// The programs of tests among the messages of a build; others are the binaries and examples that tests start.
pub fn test_programs(messages: &[Value]) -> Vec<Program> {
    let program = |message: &Value| {
        let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?.into();
        let text = |pointer: &str| message.pointer(pointer)?.as_str().map(str::to_owned);
        Some(Program { kind: text("/target/kind/0")?, name: text("/target/name")?, path })
    };
    messages.iter().filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_those_of_the_option() {
        let some = Features("--features=headless,mpi".to_owned());
        assert!(some.have("headless") && some.have("mpi") && !some.have("capi") && !some.are_all());
        assert!(Features(ALL.to_owned()).have("capi"));
    }

    #[test]
    fn programs_of_tests_are_found_in_messages() {
        let message = |kind: &str, is_test: bool| {
            serde_json::json!({
                "target": { "kind": [kind], "name": "cli" }, "profile": { "test": is_test }, "executable": "/cli",
            })
        };
        let messages =
            [message("example", false), message("test", true), serde_json::json!({ "executable": null })];
        let programs = test_programs(&messages);
        assert_eq!((programs.len(), &*programs[0].kind, &*programs[0].name), (1, "test", "cli"));
    }
}
