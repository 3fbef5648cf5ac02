//! The driver matrix: everything that needs a device, on every driver and lane count that this machine can have.
//!
//! A driver's lane count is fixed for a process, and so is the choice of drivers; hence a child process for each row.
//! Without arguments this is the parent: it runs every row and sums up; `cargo test --test drivers -- --rows PATTERN`
//! runs those whose names contain the pattern, and `--list-rows` names them. The usual test arguments come behind.
//! `--row NAME` is the child, in an environment that the parent makes.

mod armed;
mod cases;
mod embedding;
mod rows;
mod twins;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::Arguments;
use rows::Row;
use subsweep::headless::{Gpu, GpuOptions};
use subsweep::vk::Trace;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--row") => {
            let Some(row) =
                rows::ROWS.iter().find(|row| arguments.get(2).is_some_and(|name| name == row.name))
            else {
                eprintln!("--row wants one of the names that --list-rows prints");
                return ExitCode::FAILURE;
            };
            let passed_on = arguments.iter().take(1).chain(&arguments[3..]).cloned();
            run_row(row, &Arguments::from_iter(passed_on))
        }
        Some("--rows") if arguments.len() > 2 => rows::run_all(&arguments[2], &arguments[3..]),
        Some("--list-rows") => {
            rows::ROWS.iter().for_each(|row| println!("{}", row.name));
            ExitCode::SUCCESS
        }
        _ => rows::run_all("", &arguments[1..]),
    }
}

/// The child: every trial on the one device that the row's environment leaves.
fn run_row(row: &Row, arguments: &Arguments) -> ExitCode {
    let trace: Arc<dyn Trace> = cases::hazards();
    let options = GpuOptions { validation: true, trace: Some(trace), ..GpuOptions::default() };
    let gpu = match Gpu::open(options) {
        Ok(gpu) => Arc::new(gpu),
        Err(error) => {
            eprintln!("cannot open the row's device: {error}");
            return ExitCode::FAILURE;
        }
    };
    // A layer that looks into kernels says on opening how it has set itself up. Whether it looks, the probes tell.
    let about_itself = ["VALIDATION-SETTINGS", "WARNING-Setting"];
    let mut told = gpu.validation_messages().into_iter();
    if let Some(message) = told.find(|message| !about_itself.iter().any(|name| message.starts_with(name))) {
        eprintln!("on opening the row's device: {message}");
        return ExitCode::FAILURE;
    }
    let identity = gpu.identity();
    println!(
        "{}: {} {}, {} lanes",
        rows::DEVICE_LINE,
        identity.driver_name,
        identity.driver_info,
        gpu.capabilities().subgroup_size
    );
    let mut trials = cases::trials(&gpu, row.watch);
    trials.extend(twins::trials(&gpu, row.watch.layout()));
    trials.extend(embedding::trials(&gpu));
    trials.extend(armed::trials(&gpu, row.watch));
    // A device has one queue here, and the validation messages are the process's: one trial at a time.
    let arguments = Arguments { test_threads: Some(1), ..arguments.clone() };
    libtest_mimic::run(&arguments, trials).exit_code()
}
