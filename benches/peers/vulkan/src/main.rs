//! Sorts and scans of subsweep and its peers on one Vulkan device. See ../README.md; called by `run`.
//!
//! It measures the cases of `bench --preset peers` that a peer on Vulkan does as well. Every result is verified before and
//! after it is measured, by the GPU's timestamps and subsweep's own rules of warm clocks; subjects take turns.

mod gpu;
mod lampshade;
mod libraries;
mod native;
mod prefix_sums;
mod reports;
mod subject;
mod turns;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use subsweep::headless::{DeviceSelector, Gpu, Instance, WorkOptions};
use subsweep_tool::harness::{BenchOptions, CopyRoof};

use gpu::Wgpu;
use lampshade::Lampshade;
use native::Native;
use prefix_sums::PrefixSums;
use reports::Reports;
use subject::{Implementer, Ours, Task};
use turns::{Measured, Named, Outcome, Turns};
use work::Columns;

const USAGE: &str = "usage: benches/peers/vulkan/run [--sizes LOG2,…] [--rounds COUNT] [--device DEVICE] \
     [--prefix-sums FOLDER] [--libraries FOLDER] [--json FOLDER]";

struct Options {
    /// Numbers of elements; by default the numbers of `bench`.
    counts: Vec<u64>,
    round_count: u32,
    device: String,
    /// The folder of GPUPrefixSums' WGSL.
    prefix_sums: Option<PathBuf>,
    /// The folder of shared libraries.
    libraries: Option<PathBuf>,
    /// The folder of the reports.
    json: Option<PathBuf>,
}

fn options() -> Option<Options> {
    let mut options = Options {
        counts: Vec::new(),
        round_count: 10,
        device: "driver:llvmpipe".to_owned(),
        prefix_sums: None,
        libraries: None,
        json: None,
    };
    let mut arguments = std::env::args_os().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        match name.to_str()? {
            "--sizes" => options.counts = counts(value.to_str()?)?,
            "--rounds" => options.round_count = value.to_str()?.parse().ok().filter(|count| *count > 0)?,
            "--device" => options.device = value.to_str()?.to_owned(),
            "--prefix-sums" => options.prefix_sums = Some(PathBuf::from(value)),
            "--libraries" => options.libraries = Some(PathBuf::from(value)),
            "--json" => options.json = Some(PathBuf::from(value)),
            _ => return None,
        }
    }
    Some(options)
}

/// The counts of a list of binary logarithms, ascending.
fn counts(list: &str) -> Option<Vec<u64>> {
    let count = |size: &str| Some(1 << size.parse::<u32>().ok().filter(|size| (8..=28).contains(size))?);
    let mut counts = list.split(',').map(count).collect::<Option<Vec<u64>>>()?;
    counts.sort_unstable();
    counts.dedup();
    Some(counts)
}

/// The samples that `bench` takes by default.
fn bench_options(round_count: u32) -> BenchOptions {
    BenchOptions {
        block_count: round_count,
        samples_per_block: 3,
        end_to_end_count: 0,
        min_sample: Duration::from_millis(2),
        budget: Duration::from_secs(3),
        has_cold_cache: false,
        slow_down: 1.0,
    }
}

/// Prints the rows of a case: the copy kernel, subsweep, and the peers.
fn print_rows(task: &Task, turns: &Turns) {
    let row = |name: &str, cells: &str| {
        println!("| {} | 2^{} | {name} | {cells} |", task.work.title(), task.case.count.ilog2());
    };
    let copy_ns = median(&turns.copies_ns);
    let ours_ns = turns.measured.iter().find_map(|one| match &one.outcome {
        Outcome::Measured(samples) if one.index == 0 => Some(median(&samples.samples_ns)),
        _ => None,
    });
    let unsteady = if turns.is_steady { "" } else { ", unsteady" };
    let cells = |time_ns: f64| {
        let over_ours = ours_ns.map_or("-".to_owned(), |ours_ns| format!("{:.2}", time_ns / ours_ns));
        format!("{:.3}{unsteady} | {over_ours} | {:.2}", time_ns / 1e6, time_ns / copy_ns)
    };
    row("copy kernel", &cells(copy_ns));
    for Measured { name, outcome, .. } in &turns.measured {
        match outcome {
            Outcome::Measured(samples) => row(name, &cells(median(&samples.samples_ns))),
            Outcome::Wrong(_, mismatch) => {
                row(name, "WRONG | - | -");
                eprintln!("vulkan: {name}: {mismatch:?}");
            }
            Outcome::Failed(error) => {
                row(name, "- | - | -");
                eprintln!("vulkan: {name}: {error:#}");
            }
        }
    }
}

fn median(samples_ns: &[f64]) -> f64 {
    let mut sorted = samples_ns.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// Measures and prints all rows. Returns whether every result is right.
fn table(options: Options) -> Result<bool> {
    let instance = Arc::new(Instance::new(false)?);
    let mut candidates = instance.candidates()?;
    let selector: DeviceSelector = options.device.parse().unwrap_or_default();
    let candidate = candidates.swap_remove(selector.position(&candidates)?);
    let gpu = Gpu::open_candidate(candidate.clone(), WorkOptions::default())?;
    ensure!(gpu.has_timestamps(), "the queue of {} has no timestamps", gpu.identity().name);
    let left_out = |who: &str, error: &anyhow::Error| eprintln!("vulkan: without {who}: {error:#}");
    let wgpu = Wgpu::like(&gpu).inspect_err(|error| left_out("the peers by wgpu", error)).ok();
    let native = options.libraries.as_ref().and_then(|_| {
        Native::new(instance, &candidate, &gpu).inspect_err(|error| left_out("libraries", error)).ok()
    });
    let mut peers: Vec<Box<dyn Implementer + '_>> = Vec::new();
    if let Some(wgpu) = &wgpu {
        peers.push(Box::new(Lampshade::new(wgpu)));
        match &options.prefix_sums {
            Some(folder) => peers.push(Box::new(PrefixSums::new(wgpu, folder))),
            None => eprintln!("vulkan: no --prefix-sums FOLDER: GPUPrefixSums is left out"),
        }
    }
    match (&native, &options.libraries) {
        (Some(native), Some(folder)) => peers.extend(libraries::open(folder, native)?),
        (None, Some(_)) => {}
        (_, None) => eprintln!("vulkan: no --libraries FOLDER: vulkan_radix_sort and Fuchsia's are left out"),
    }
    println!(
        "{}, driver {}, {} lanes",
        gpu.identity().name,
        gpu.identity().driver_text(),
        gpu.capabilities().subgroup_size,
    );
    println!(
        "GPU time of a run, of subsweep and of every peer; medians of the samples of {} rounds, in which they took turns.\n",
        options.round_count,
    );
    println!("| work | elements | who | ms | over subsweep's | over the copy kernel's |");
    println!("|---|---|---|---|---|---|");
    let known: Vec<_> =
        std::iter::once(None).chain(peers.iter().map(|peer| Some(peer.implementation()))).collect();
    let mut reports = Reports::new(&gpu, options.json, &known)?;
    let roof = CopyRoof::new(&gpu)?;
    let mut is_right = true;
    for (work, case) in work::cases(gpu.capabilities(), &options.counts) {
        let input = Columns::for_case(&case);
        let expected = Rc::new(work::expected(work, &input));
        let task = Task { work, case, input, expected };
        let turns = measure(&gpu, &roof, bench_options(options.round_count), &peers, &task)
            .with_context(|| task.case.id())?;
        print_rows(&task, &turns);
        is_right &= turns.measured.iter().all(|one| !matches!(one.outcome, Outcome::Wrong(..)));
        reports.add(&task, &turns);
        reports.write(false)?;
    }
    reports.write(true)?;
    Ok(is_right)
}

/// Measures subsweep's case and each peer's in turns.
fn measure(
    gpu: &Gpu,
    roof: &CopyRoof<'_>,
    options: BenchOptions,
    peers: &[Box<dyn Implementer + '_>],
    task: &Task,
) -> Result<Turns> {
    let ours = Ours::new(gpu, roof, &task.case)?;
    let traffic_size = ours.traffic_size();
    let mut subjects = vec![Named { index: 0, name: "**subsweep**", subject: Ok(Box::new(ours)) }];
    for (index, peer) in peers.iter().enumerate() {
        let (index, name) = (index + 1, peer.implementation().name);
        let subject = peer.subject(task).transpose();
        subjects.extend(subject.map(|subject| Named { index, name, subject }));
    }
    turns::measure(gpu, roof, task.case.size(), traffic_size, options, subjects)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match table(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("vulkan: a result is WRONG");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("vulkan: {error:#}");
            ExitCode::FAILURE
        }
    }
}
