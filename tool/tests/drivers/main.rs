//! The driver matrix: the tests that need a device, on every driver and subgroup size of this machine.
//!
//! Each row, a driver at one subgroup size, runs in its own process: see `tests/common/children.rs`.

#[cfg(feature = "compile-shaders")]
mod addresses;
mod allocations;
#[cfg(target_os = "linux")]
mod beyond;
mod bugs;
mod canaries;
mod cases;
#[path = "../../../tests/common/children.rs"]
mod children;
mod counts;
mod difference;
mod dispatched;
mod embedding;
mod faults;
#[cfg(feature = "compile-shaders")]
mod fixtures;
mod forms;
#[cfg(feature = "compile-shaders")]
mod functions;
mod gather;
mod histogram;
mod long_work;
mod merge;
mod narrow;
mod passes;
#[cfg(feature = "compile-shaders")]
mod pieces;
mod primitive;
mod races;
mod reduce;
#[path = "../../../tests/common/reduced.rs"]
mod reduced;
mod refused;
mod rows;
mod run_length;
mod scans;
mod search;
mod segmented;
mod select;
mod slices;
mod sorts;
mod sparse;
mod streams;
mod structures;
mod top_k;

use std::process::ExitCode;
use std::sync::Arc;

use dispatched::Listener;
use libtest_mimic::Arguments;
use primitive::Primitive;
use rows::{DriverRow, Watch};
use subsweep::Error;
use subsweep::ash::vk;
use subsweep::headless::Gpu;

/// The parts of each primitive.
static PRIMITIVES: [Primitive; 13] = [
    scans::PRIMITIVE,
    sorts::PRIMITIVE,
    segmented::PRIMITIVE,
    gather::PRIMITIVE,
    select::PRIMITIVE,
    histogram::PRIMITIVE,
    reduce::PRIMITIVE,
    run_length::PRIMITIVE,
    search::PRIMITIVE,
    merge::PRIMITIVE,
    difference::PRIMITIVE,
    top_k::PRIMITIVE,
    structures::PRIMITIVE,
];

fn main() -> ExitCode {
    children::main::<DriverRow>()
}

/// Opens the device without the validation layer where the layer is not installed; an error in CI.
fn open_unvalidated(error: Error, row: &DriverRow) -> Result<Gpu, Error> {
    let layer_is_missing = matches!(error, Error::Vulkan { result: vk::Result::ERROR_LAYER_NOT_PRESENT, .. });
    if !layer_is_missing || std::env::var("CI").is_ok_and(|ci| ci == "true") {
        return Err(error);
    }
    children::note("NOT VALIDATED: the validation layer is missing; tools/setup test installs it");
    narrow::open(false, row.watch.limit())
}

/// The child process: runs every trial on the row's device, the best one that its environment exposes.
fn run_row(row: &DriverRow, arguments: &Arguments) -> ExitCode {
    let opened = narrow::open(true, row.watch.limit());
    let gpu = match opened.or_else(|error| open_unvalidated(error, row)) {
        Ok(gpu) => Arc::new(gpu),
        Err(error) => {
            eprintln!("cannot open the row's device: {error}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(message) = cases::complaint(gpu.validation_messages()) {
        eprintln!("while opening the row's device: {message}");
        return ExitCode::FAILURE;
    }
    let identity = gpu.identity();
    children::announce(&format!("{}, {} lanes", identity.driver_text(), gpu.capabilities().subgroup_size));
    let mut trials = bugs::trials(&gpu, row.watch);
    if !matches!(row.watch, Watch::Bug(_)) {
        if !row.has_widest_modules_alone() {
            trials.extend(cases::trials(&gpu, row));
        }
        if row.has_quick_cases() {
            trials.push(dispatched::trial(&gpu));
        }
        trials.extend(canaries::trials(&gpu, row.watch));
    }
    if row.has_passes() {
        trials.extend(passes::trials(&gpu, row));
    }
    if row.has_calls() {
        // Results and refusals, at default tile sizes, which take minutes to compile with the checks of every access.
        if row.watch == Watch::Usual {
            trials.extend(slices::trials(&gpu));
            trials.extend(streams::trials(&gpu));
        }
        trials.extend(forms::trials(&gpu));
        trials.extend(segmented::trials(&gpu));
        trials.extend(counts::trials(&gpu));
        #[cfg(feature = "compile-shaders")]
        trials.extend(addresses::trials(&gpu));
    }
    #[cfg(feature = "compile-shaders")]
    if row.has_host_trials() || children::is_full() {
        trials.extend(functions::operators(&gpu));
    }
    #[cfg(feature = "compile-shaders")]
    if row.has_host_trials() || row.has_calls() || children::is_full() {
        trials.extend(functions::stages(&gpu));
        trials.extend(functions::readers(&gpu));
        trials.extend(functions::comparisons::trials(&gpu));
        trials.extend(pieces::trials(&gpu));
    }
    match row.watch {
        Watch::Usual => {
            trials.extend(scans::trials(&gpu));
            trials.extend(sparse::trials(&gpu));
            if row.has_host_trials() {
                trials.extend(embedding::trials(&gpu));
                trials.extend(gather::trials(&gpu));
                trials.extend(select::trials(&gpu));
                trials.extend(histogram::trials(&gpu));
                trials.extend(reduce::trials(&gpu));
                trials.extend(run_length::trials(&gpu));
                trials.extend(search::trials(&gpu));
                trials.extend(merge::trials(&gpu));
                trials.extend(difference::trials(&gpu));
                trials.extend(top_k::trials(&gpu));
                trials.extend(structures::trials(&gpu));
                trials.extend(narrow::trials(&gpu));
                #[cfg(target_os = "linux")]
                if row.has_products() {
                    trials.extend(beyond::trials(&gpu, children::is_full()));
                }
            }
            if row.has_host_trials() || row.has_calls() {
                trials.extend(long_work::trials(&gpu, row));
            }
        }
        Watch::Races => trials.extend(races::trials(&gpu)),
        Watch::Bounds | Watch::Bug(_) => {}
    }
    if row.has_faults() {
        trials.extend(faults::trials(gpu.is_validated()));
    }
    if row.watch == Watch::Usual && gpu.capabilities().enabled.sparse_binding {
        trials.extend(faults::sparse_trials(gpu.is_validated()));
    }
    // One trial at a time: trials share one queue and the process's validation messages.
    let arguments = Arguments { test_threads: Some(1), ..arguments.clone() };
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Err(error) = Listener::of_process().save(children::MatrixRow::name(row)) {
        eprintln!("cannot write the list of dispatched pipelines: {error}");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}
