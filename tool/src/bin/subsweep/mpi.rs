//! The command-line program over many devices: each rank of an MPI job takes one.

// But for `cluster`, its modules are modules of `subsweep`, which uses more of them.
#![allow(dead_code, unused_imports, unused_macros)]

mod args;
mod cache;
#[warn(dead_code, unused_imports, unused_macros)]
mod cluster;
mod command;
mod device;
mod error;
mod fields;
mod files;
mod gpus;
mod number;
mod policy;
mod scan;
mod segments;
mod sort;
mod terminal;
mod tested;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use subsweep::cluster::mpi::Threading;
use subsweep::cluster::mpi::topology::SimpleCommunicator;
use subsweep::cluster::mpi::traits::Communicator;

use args::Cli;
use cluster::Agreed;
use device::DeviceChoice;
use error::{CommandError, usage};
use files::output::{OutputProblem, check_stdout, handle_signals, of_stdout};

/// How the program is called.
const INVOCATION: &str = "mpirun -n 4 subsweep-mpi";

// In the order of --help.
commands! {
    "scan" => Scan(cluster::scan::Scan), [
        ("values.npy -o sums.npy", "each rank scans a slice of the file"),
    ];
    "sort" => Sort(cluster::sort::Sort), [
        ("keys.npy -o sorted.npy --device 0,1", "on two devices a node"),
        ("keys.npy -o order.npy --argsort", ""),
    ];
    "verify" => Verify(cluster::verify::Verify), [("--quick", "compare with the results of one device")];
    "bench" => Bench(cluster::bench::Bench), [("--count 1e6", "measure, and count what crosses")];
}

fn main() -> ExitCode {
    files::memory::return_freed();
    handle_signals();
    let parsed = parse();
    if let Ok(Parsed::Command(cli)) = &parsed {
        // SAFETY: no other thread runs before MPI starts some.
        unsafe { cache::separate_shader_caches(!cli.common.no_pipeline_cache) };
    }
    let universe = subsweep::cluster::mpi::initialize_with_threading(Threading::Funneled);
    let Some((universe, _)) = universe.filter(|(_, threading)| *threading >= Threading::Funneled) else {
        terminal::print_line(
            "this MPI supports no threads beside its own; build with one that has MPI_THREAD_FUNNELED",
        );
        return ExitCode::from(error::Exit::Failed as u8);
    };
    let world = universe.world();
    cluster::end_all_on_panic(&world);
    cluster::end(&world, run(&world, parsed))
}

/// What the arguments ask for.
enum Parsed {
    Command(Box<Cli>),
    /// Help or the version.
    Text(clap::Error),
}

/// Parses the arguments. Options that only `subsweep` has a use for are not shown.
fn parse() -> Result<Parsed, CommandError> {
    let hide = |command: clap::Command, names: &[&'static str]| {
        names.iter().fold(command, |command, &name| command.mut_arg(name, |argument| argument.hide(true)))
    };
    let with_file = |command: clap::Command| {
        let help = "The output file; an existing one is replaced once all ranks have written it";
        command.mut_arg("output", |argument| argument.required(true).help(help).long_help(help))
    };
    let command = hide(Cli::command().name("subsweep-mpi"), &["list_algorithms", "list_gpus"])
        .mut_subcommand("sort", |sort| with_file(hide(sort, &["segments", "temp_dir", "by"])))
        .mut_subcommand("scan", with_file);
    match command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => Ok(Parsed::Command(Box::new(cli))),
        Err(error) => match error::usage_of(&error) {
            Some(usage) => Err(usage),
            None => Ok(Parsed::Text(error)),
        },
    }
}

fn run(world: &SimpleCommunicator, parsed: Result<Parsed, CommandError>) -> anyhow::Result<()> {
    let parsed = parsed.and_then(|parsed| check(&parsed).map(|()| parsed)).agreed(world)?;
    let (cli, text) = match &parsed {
        Parsed::Command(cli) => (Some(cli), None),
        Parsed::Text(text) => (None, Some(text)),
    };
    let command = cli.and_then(|cli| cli.command.as_ref());
    // Commands on files compare what they read.
    let compared = command.map(|command| match command {
        Command::Scan(_) | Command::Sort(_) => command.name().to_owned(),
        Command::Verify(_) | Command::Bench(_) => format!("{command:?}"),
    });
    cluster::check_same(world, &compared)?;
    match (cli, command, text) {
        (Some(cli), Some(command), _) => command.run(&cli.common),
        (_, _, Some(text)) if world.rank() == 0 => {
            check_stdout()?;
            Ok(text.print().map_err(|error| of_stdout(OutputProblem::writing(error)))?)
        }
        _ => Ok(()),
    }
}

fn check(parsed: &Parsed) -> Result<(), CommandError> {
    let Parsed::Command(cli) = parsed else { return Ok(()) };
    device::check_not_empty(&cli.common.device)?;
    if cli.common.list_algorithms || cli.common.list_gpus {
        return Err(usage!("subsweep prints the lists; call it without mpirun"));
    }
    if matches!(cli.common.device, DeviceChoice::Gpus(_)) {
        return Err(usage!("a gpu: device runs nothing; name devices that subsweep devices lists"));
    }
    let Some(command) = &cli.command else {
        return Err(usage!("a command is missing; subsweep-mpi --help lists them"));
    };
    if matches!(command, Command::Verify(_) | Command::Bench(_)) && !cli.common.is_plain() {
        let name = command.name();
        return Err(usage!("{name} takes the default algorithms; leave out --algorithm and --policy"));
    }
    Ok(())
}
