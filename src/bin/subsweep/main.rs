//! The command line: files in, files out, and what the devices of this machine can do.

mod args;
mod bench;
mod cache;
mod compare;
mod device;
mod devices;
mod error;
mod files;
mod gather;
mod inspect;
mod number;
mod pattern;
mod policy;
mod reports;
mod scan;
mod segments;
mod sort;
mod suite;
mod verify;
mod words;
mod workers;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, Command};
use files::output::{OutputProblem, of_stdout};

fn main() -> ExitCode {
    // SAFETY: the process has one thread yet.
    unsafe { cache::separate_shader_caches() };
    let result = match Cli::try_parse() {
        Ok(cli) => run(&cli),
        // Like --help, it needs no INPUT.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument && asks_for_algorithms() => {
            list_algorithms()
        }
        Err(error) => match error::usage_of(&error) {
            Some(usage) => Err(usage.into()),
            // Help that nobody asked for goes to standard error, and is a refusal.
            None if error.use_stderr() => {
                let _ = error.print();
                return ExitCode::from(error.exit_code() as u8);
            }
            None => error.print().map_err(|error| of_stdout(OutputProblem::writing(error)).into()),
        },
    };
    error::report(result)
}

fn run(cli: &Cli) -> anyhow::Result<()> {
    let common = &cli.common;
    if common.list_algorithms {
        return list_algorithms();
    }
    device::check_said(&common.device)?;
    match &cli.command {
        None => Err(error::Ended::usage("a command is missing; subsweep --help lists them").into()),
        Some(Command::Devices(args)) => devices::run(args, common),
        Some(Command::Scan(args)) => scan::run(args, common),
        Some(Command::Sort(args)) => sort::run(args, common),
        Some(Command::Gather(args)) => gather::run(args, common),
        Some(Command::Verify(args)) => verify::run(args, common),
        Some(Command::Bench(args)) => bench::run(args, common),
        Some(Command::Compare(args)) => compare::run(args, common),
        Some(Command::Inspect(args)) => inspect::run(args, common),
    }
}

fn asks_for_algorithms() -> bool {
    std::env::args_os().any(|argument| argument == "--list-algorithms")
}

fn list_algorithms() -> anyhow::Result<()> {
    Ok(files::output::print(&policy::list_algorithms())?)
}
