//! The command-line program: primitives on files, and tests, benchmarks and inspection of devices.

mod args;
mod bench;
mod cache;
mod command;
mod compare;
mod device;
mod devices;
mod diff;
mod error;
mod fields;
mod files;
mod gather;
mod gpus;
mod histogram;
mod inspect;
mod manual;
mod merge;
mod number;
mod pattern;
mod policy;
mod reduce;
mod reports;
mod runs;
mod scan;
mod scratch;
mod search;
mod segments;
mod select;
mod sort;
mod suite;
mod terminal;
mod tested;
mod top_k;
mod tune;
mod verify;
mod workers;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::Cli;
use command::Shown;
use device::DeviceChoice;
use files::output::{OutputProblem, of_stdout};

/// How the program is called.
const INVOCATION: &str = "subsweep";

// In the order of --help.
commands! {
    "devices" => Devices(devices::DevicesArgs), [("", "list the devices")];
    "scan" => Scan(scan::ScanArgs), [
        ("counts.npy -o offsets.npy --exclusive", "offsets of parts from their lengths"),
        ("values.npy -o out.npy --op max --reverse --segments starts.npy", ""),
        ("values.npy -o sums.npy --by-key keys.npy", "the sums of each run of equal keys"),
    ];
    "sort" => Sort(sort::SortArgs), [
        ("keys.npy -o sorted.npy --device 1", "on the second device of the list"),
        ("keys.npy -o order.npy --argsort --descending", ""),
        ("keys.npy -o sorted.npy --segments starts.npy", ""),
        ("table.npy -o rows.npy --axis 1", "each row by itself"),
        ("trades.npy -o by-price.npy --by price,-size", "a structured array, by its fields"),
        ("- --type u32 <keys.bin >sorted.bin", "raw elements through standard streams"),
    ];
    "gather" => Gather(gather::GatherArgs), [
        ("a.npy --indices i.npy -o b.npy", "rows in another order: a[i]"),
    ];
    "select" => Select(select::SelectArgs), [
        ("a.npy --where 'x >= 3' -o kept.npy", "the elements that satisfy a condition: a[a >= 3]"),
        ("rows.npy --flags mask.npy -o kept.npy", ""),
        ("sorted.npy --unique -o unique.npy", ""),
    ];
    "partition" => Partition(select::PartitionArgs), [
        ("a.npy --where 'x < 3' -o parts.npy", "those below 3 first"),
    ];
    "histogram" => Histogram(histogram::HistogramArgs), [
        ("a.npy -o counts.npy --bins 256 --range 0:1", "values in each of 256 bins"),
    ];
    "reduce" => Reduce(reduce::ReduceArgs), [
        ("values.npy", "print the sum"),
        ("values.npy --op argmin", ""),
        ("ids.npy --by-key keys.npy --keys-output unique.npy -o sums.npy", "a sum for each run of equal keys"),
    ];
    "runs" => Runs(runs::RunsArgs), [
        ("a.npy -o values.npy --counts counts.npy", "values and counts of runs of equal elements"),
        ("--decode values.npy --counts counts.npy -o a.npy", ""),
    ];
    "search" => Search(search::SearchArgs), [
        ("sorted.npy needles.npy -o positions.npy", "where each needle would be inserted"),
        ("rows.npy needles.npy -o positions.npy --axis 1", "each row's needles in its own row"),
    ];
    "merge" => Merge(merge::MergeArgs), [
        ("a.npy b.npy -o merged.npy", "two sorted arrays into one"),
    ];
    "diff" => Diff(diff::DiffArgs), [
        ("values.npy -o differences.npy", "each element less the one before it"),
    ];
    "topk" => TopK(top_k::TopKArgs), [
        ("scores.npy -k 10 -o best.npy --indices i.npy", "the ten largest of each row, and their columns"),
    ];
    "verify" => Verify(verify::VerifyArgs), [("--quick --device all", "verify every device")];
    "bench" => Bench(bench::BenchArgs), [
        ("--filter sort --json report.json", "measure the sorts"),
        ("--quick --device all --html page.html", "measure every device and draw figures"),
    ];
    "compare" => Compare(compare::CompareArgs), [
        ("before.json after.json", "compare two reports case by case"),
    ];
    "inspect" => Inspect(inspect::InspectArgs), [
        ("--filter onesweep", "registers and spills of the kernels"),
        ("--device gpu:all", "the same for GPUs that are not installed"),
    ];
    "scratch" => Scratch(scratch::ScratchArgs), [
        ("--filter 'sort:pairs*chosen' --count 1000000", "what the scratch of a recording holds"),
    ];
    "tune" => Tune(tune::TuneArgs), [
        ("sort --device 1", "rank tile shapes for the tuning table"),
        ("sort --device gpu:apple-m1", "rank them by the compiler's output alone"),
    ];
    "completions" => Completions(manual::CompletionsArgs), [
        ("bash >subsweep", "names of commands and options for a shell"),
    ];
    "man" => Man(manual::ManArgs), [];
}

/// What `devices` and `inspect` show of each primitive.
const SHOWN: [Shown; 13] = [
    scan::SHOWN,
    sort::SHOWN,
    sort::SHOWN_IN_SEGMENTS,
    gather::SHOWN,
    select::SHOWN,
    histogram::SHOWN,
    reduce::SHOWN,
    runs::SHOWN,
    search::SHOWN,
    merge::SHOWN,
    diff::SHOWN,
    top_k::SHOWN,
    fields::SHOWN,
];

fn main() -> ExitCode {
    files::memory::return_freed();
    gpus::end_with_parent();
    let result = match Cli::try_parse() {
        Ok(cli) => run(&cli),
        // Like --help, the lists need no INPUT.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument && asks_for("--list-algorithms") => {
            list_algorithms()
        }
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument && asks_for("--list-gpus") => {
            gpus::list()
        }
        Err(error) => match error::usage_of(&error) {
            Some(usage) => Err(usage.into()),
            // Help for missing arguments goes to standard error, and is an error.
            None if error.use_stderr() => {
                let _ = error.print();
                return ExitCode::from(error.exit_code() as u8);
            }
            None => files::output::check_stdout()
                .and_then(|()| error.print().map_err(|error| of_stdout(OutputProblem::writing(error))))
                .map_err(Into::into),
        },
    };
    error::report(result)
}

fn run(cli: &Cli) -> anyhow::Result<()> {
    let common = &cli.common;
    if common.list_algorithms {
        return list_algorithms();
    }
    if common.list_gpus {
        return gpus::list();
    }
    device::check_not_empty(&common.device)?;
    if cli.command.as_ref().is_some_and(|command| command.runs_drivers()) {
        // SAFETY: the process still has a single thread.
        unsafe { cache::separate_shader_caches(!common.no_pipeline_cache) };
    }
    if let (DeviceChoice::Gpus(chosen), Some(command), None) =
        (&common.device, &cli.command, gpus::of_child())
        && let Some(result) = gpus::run(chosen, command, common)
    {
        return result;
    }
    match &cli.command {
        None => Err(error::CommandError::usage("a command is missing; subsweep --help lists them").into()),
        Some(command) => command.run(common),
    }
}

fn asks_for(list: &str) -> bool {
    std::env::args_os().any(|argument| argument == list)
}

fn list_algorithms() -> anyhow::Result<()> {
    Ok(files::output::print(&policy::list_algorithms())?)
}
