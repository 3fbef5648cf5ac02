//! The command-line program over many devices: each rank of an MPI job takes one.

// Its modules are those of `subsweep`, which uses more of them.
#![allow(dead_code, unused_imports, unused_macros)]

mod args;
mod cache;
mod cluster;
mod command;
mod device;
mod error;
mod files;
mod gpus;
mod number;
mod policy;
mod scan;
mod segments;
mod sort;
mod words;

use std::process::ExitCode;

use clap::Parser;
use subsweep::cluster::mpi::Threading;
use subsweep::cluster::mpi::topology::SimpleCommunicator;
use subsweep::cluster::mpi::traits::Communicator;

use args::Cli;
use cluster::Agreed;
use device::DeviceChoice;
use error::Ended;

/// How the program is called.
const INVOCATION: &str = "mpirun -n 4 subsweep-mpi";

// In the order of --help.
commands! {
    "scan" => Scan(cluster::scan::Scan), [
        ("values.npy -o sums.npy", "each rank scans a part of the file"),
    ];
    "sort" => Sort(cluster::sort::Sort), [
        ("keys.npy -o sorted.npy --device 0,1", "on two devices a node"),
        ("keys.npy -o order.npy --argsort", ""),
    ];
    "verify" => Verify(cluster::verify::Verify), [("--quick", "compare with the results of one device")];
    "bench" => Bench(cluster::bench::Bench), [("--count 1e6", "measure, and count what crosses")];
}

fn main() -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        words::print_line("MPI was initialised before");
        return ExitCode::from(error::Exit::Failed as u8);
    };
    let world = universe.world();
    end_all_on_panic();
    cluster::end(&world, run(&world))
}

/// Ends the other ranks with this one, which would wait for it.
fn end_all_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        SimpleCommunicator::world().abort(error::Exit::Failed as i32);
    }));
}

fn run(world: &SimpleCommunicator) -> anyhow::Result<()> {
    let is_first = world.rank() == 0;
    let parsed = match Cli::try_parse() {
        Ok(cli) => Ok(Some(cli)),
        Err(error) => match error::usage_of(&error) {
            Some(usage) => Err(usage),
            None if is_first => error.print().map(|()| None).map_err(|error| Ended::usage(error.to_string())),
            None => Ok(None),
        },
    };
    let Some(cli) = parsed.agreed(world)? else { return Ok(()) };
    let command = check(&cli).agreed(world)?;
    // SAFETY: the process has no other thread that reads or writes the environment.
    unsafe { cache::separate_shader_caches(!cli.common.no_pipeline_cache) };
    command.run(&cli.common)
}

fn check(cli: &Cli) -> Result<&Command, Ended> {
    device::check_not_empty(&cli.common.device)?;
    if cli.common.list_algorithms || cli.common.list_gpus {
        return Err(Ended::usage("the lists are printed by subsweep"));
    }
    if matches!(cli.common.device, DeviceChoice::Gpus(_)) {
        return Err(Ended::usage("--device gpu: compiles and runs nothing; name devices that run"));
    }
    let command = cli.command.as_ref();
    command.ok_or_else(|| Ended::usage("a command is missing; subsweep-mpi --help lists them"))
}
