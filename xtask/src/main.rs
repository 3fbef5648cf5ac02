//! Tasks of a developer. `tools/NAME` sets up, and starts `xtask NAME` by `tools/xtask`, which says what is installed.

mod bless;
mod cargo;
#[cfg(test)]
mod dependencies;
mod mutants;
mod process;
mod suite;

use std::io::{self, Write};
use std::process::ExitCode;
use std::{env, fmt};

use anyhow::{Error, Result};

/// The name of a task, what it says of its arguments, and what it does with them.
type Task = (&'static str, &'static str, fn(&[String]) -> Result<ExitCode>);

const TASKS: [Task; 5] = [
    ("codegen", "usage: tools/codegen", bless::codegen),
    ("figures", "usage: tools/figures", bless::figures),
    ("mutants", mutants::USAGE, mutants::run),
    ("precompile", "usage: tools/precompile", bless::precompile),
    ("test", suite::USAGE, suite::run),
];

/// An end of a task with an exit code of its own; the exit code of other errors is 1.
#[derive(Debug)]
enum Stop {
    Help,
    BadUsage,
    /// The arguments cannot be met.
    Refused(String),
    /// A command has failed, and said why.
    Command(u8),
    Signal(u8),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Refused(why) = self { f.write_str(why) } else { write!(f, "{self:?}") }
    }
}

impl std::error::Error for Stop {}

/// Prints a line. Unlike `println!`, it fails where nobody reads any more, so that what runs is ended.
fn print(line: impl fmt::Display) -> Result<()> {
    Ok(writeln!(io::stdout(), "{line}")?)
}

fn main() -> ExitCode {
    let mut arguments: Vec<_> = env::args().skip(1).collect();
    let name = if arguments.is_empty() { String::new() } else { arguments.remove(0) };
    let Some((_, usage, run)) = TASKS.into_iter().find(|task| task.0 == name) else {
        TASKS.iter().for_each(|task| eprintln!("{}", task.1));
        return ExitCode::from(if name == "--help" { 0 } else { 2 });
    };
    process::catch_signals();
    // All paths are relative to the workspace.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let ended = env::set_current_dir(root).map_err(Error::from).and_then(|()| run(&arguments));
    ended.unwrap_or_else(|error| ExitCode::from(explain(&name, usage, &error)))
}

/// Says why a task has ended, and returns its exit code.
fn explain(name: &str, usage: &str, error: &Error) -> u8 {
    if error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe) {
        // As if it had ended by SIGPIPE.
        return 141;
    }
    match error.downcast_ref() {
        Some(Stop::Help) => drop(print(usage)),
        Some(Stop::BadUsage) => eprintln!("{usage}"),
        Some(Stop::Command(_) | Stop::Signal(_)) => {}
        Some(Stop::Refused(_)) | None => eprintln!("{name}: {error:#}"),
    }
    match error.downcast_ref() {
        Some(Stop::Help) => 0,
        Some(Stop::BadUsage | Stop::Refused(_)) => 2,
        Some(Stop::Command(code)) => *code,
        Some(Stop::Signal(signal)) => 128 + signal,
        None => 1,
    }
}
