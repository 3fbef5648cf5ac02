//! Sorts and scans of subsweep and its peers on one Vulkan device. See ../README.md; called by `run`.
//!
//! Every result is verified before and after it is measured. Times are those of GPU timestamps on a device that copies have
//! kept awake; all runs of a sample stand in one submission. Samples are interleaved: each round takes some of each subject.

mod gpu;
mod inputs;
mod programs;
mod subject;
mod timing;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use subsweep::harness::CopyRoof;
use subsweep::headless::{Gpu, GpuOptions};

use gpu::Wgpu;
use inputs::{Columns, Work};
use subject::{Bench, Copy, Lampshade, Ours, PrefixSums, Subject, Variant};
use timing::{MAX_RUNS, Stamps, Warmth};

const USAGE: &str = "usage: benches/peers/vulkan/run [--max COUNT] [--rounds COUNT] [--device DEVICE] [--prefix-sums FOLDER] \
     [--programs FOLDER]";

const MIN_COUNT: usize = 1 << 16;
const MAX_COUNT: usize = 1 << 24;
/// Ratio of successive counts.
const STEP: usize = 4;
/// Time of the runs of a sample.
const SAMPLE_TIME: Duration = Duration::from_millis(10);

struct Options {
    max_count: usize,
    round_count: usize,
    device: String,
    prefix_sums: Option<PathBuf>,
    /// The folder of other peers' programs.
    programs: Option<PathBuf>,
}

fn options() -> Option<Options> {
    let mut options = Options {
        max_count: MAX_COUNT,
        round_count: 3,
        device: "driver:llvmpipe".to_owned(),
        prefix_sums: None,
        programs: None,
    };
    let mut arguments = std::env::args_os().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        match name.to_str()? {
            "--max" => options.max_count = value.to_str()?.parse().ok()?,
            "--rounds" => options.round_count = value.to_str()?.parse().ok()?,
            "--device" => options.device = value.to_str()?.to_owned(),
            "--prefix-sums" => options.prefix_sums = Some(PathBuf::from(value)),
            "--programs" => options.programs = Some(PathBuf::from(value)),
            _ => return None,
        }
    }
    // The copy kernel moves quads.
    let is_valid = (MIN_COUNT..=1 << 28).contains(&options.max_count) && options.max_count.is_multiple_of(4);
    (is_valid && options.round_count > 0).then_some(options)
}

/// A subject's median time; `None` if its result is wrong.
pub struct Measured {
    pub name: String,
    pub median: Option<Duration>,
}

/// Measures all subjects of a work, interleaved.
fn measure(
    subjects: &mut [Box<dyn Subject + '_>],
    expected: &[&Columns],
    round_count: usize,
    warmth: &Warmth<'_>,
) -> Result<Vec<Measured>> {
    let is_right =
        |subject: &mut Box<dyn Subject + '_>, expected: &Columns| anyhow::Ok(subject.result()? == *expected);
    let (mut right, mut run_counts) = (Vec::new(), Vec::new());
    for (subject, expected) in subjects.iter_mut().zip(expected) {
        warmth.warm()?;
        let time = subject.times(1)?[0].max(Duration::from_nanos(1));
        run_counts.push((SAMPLE_TIME.as_nanos() / time.as_nanos()).clamp(1, MAX_RUNS.into()) as u32);
        right.push(is_right(subject, expected)?);
    }
    let (mut samples, mut is_steady) = (vec![Vec::new(); subjects.len()], true);
    for _ in 0..round_count {
        for (index, subject) in subjects.iter_mut().enumerate().filter(|(index, _)| right[*index]) {
            is_steady &= warmth.warm()?;
            samples[index].extend(subject.times(run_counts[index])?);
        }
    }
    if !is_steady {
        eprintln!("vulkan: the clock was not steady");
    }
    let mut measured = Vec::new();
    for (index, subject) in subjects.iter_mut().enumerate() {
        let is_right = right[index] && is_right(subject, expected[index])?;
        measured
            .push(Measured { name: subject.name(), median: is_right.then(|| median(&mut samples[index])) });
    }
    Ok(measured)
}

fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Prints the rows of a work at one count: the copy kernel, subsweep, and the peers.
fn print_rows(work: Work, count: usize, measured: &[Measured]) {
    let ratio = |time: Duration, to: usize| {
        measured[to]
            .median
            .map_or("-".to_owned(), |to| format!("{:.2}", milliseconds(time) / milliseconds(to)))
    };
    for Measured { name, median } in measured {
        let exponent = count.ilog2();
        let count = if count.is_power_of_two() { format!("2^{exponent}") } else { count.to_string() };
        match median {
            Some(time) => {
                let ms = milliseconds(*time);
                println!(
                    "| {} | {count} | {name} | {ms:.3} | {} | {} |",
                    work.title(),
                    ratio(*time, 1),
                    ratio(*time, 0)
                );
            }
            None => println!("| {} | {count} | {name} | WRONG | - | - |", work.title()),
        }
    }
}

/// The element counts, ascending.
fn counts(max_count: usize) -> Vec<usize> {
    let mut counts: Vec<_> = std::iter::successors(Some(MIN_COUNT), |count| Some(count * STEP))
        .take_while(|count| *count < max_count)
        .collect();
    counts.push(max_count);
    counts
}

/// Measures and prints all rows. Returns whether every result is right.
fn table(options: &Options) -> Result<bool> {
    let gpu = Gpu::open(GpuOptions {
        device: options.device.parse().unwrap_or_default(),
        ..GpuOptions::default()
    })?;
    let wgpu = match Wgpu::like(&gpu) {
        Ok(wgpu) => Some(wgpu),
        Err(error) => {
            eprintln!("vulkan: no peers, for {error:#}");
            None
        }
    };
    let (roof, stamps) = (CopyRoof::new(&gpu)?, Stamps::new(&gpu)?);
    let warmth = Warmth::new(&gpu, &roof)?;
    let bench = Bench { gpu: &gpu, roof: &roof, stamps: &stamps };
    if options.prefix_sums.is_none() {
        eprintln!("vulkan: no --prefix-sums FOLDER: GPUPrefixSums is left out");
    }
    println!(
        "{}, driver {}, {} lanes; lampshade 0.13.0 by wgpu 30",
        gpu.identity().name,
        gpu.identity().driver_text(),
        gpu.capabilities().subgroup_size,
    );
    println!(
        "GPU time of a run, of subsweep and of every peer; medians of the runs of {} rounds, in which they took turns, each \
         after copies that keep the clock up.\n",
        options.round_count,
    );
    println!("| work | elements | who | ms | over subsweep's | over the copy kernel's |");
    println!("|---|---|---|---|---|---|");
    let mut is_right = true;
    for work in Work::ALL {
        for count in counts(options.max_count) {
            let input = inputs::input(work, count);
            let sorted = inputs::expected(work, &input);
            let mut subjects: Vec<Box<dyn Subject + '_>> =
                vec![Box::new(Copy::new(bench, &input)?), Box::new(Ours::new(bench, work, &input)?)];
            if let Some(wgpu) = &wgpu {
                subjects.push(Box::new(Lampshade::new(wgpu, work, &input)));
                if let (Work::Scan, Some(folder)) = (work, &options.prefix_sums) {
                    for variant in Variant::ALL {
                        subjects.push(Box::new(PrefixSums::new(wgpu, folder, variant, &input)?));
                    }
                }
            }
            let mut expected = vec![&sorted; subjects.len()];
            expected[0] = &input;
            let mut measured = measure(&mut subjects, &expected, options.round_count, &warmth)
                .with_context(|| format!("{}, {count} elements", work.title()))?;
            if let Some(folder) = &options.programs {
                measured.extend(programs::measure(folder, work, count)?);
            }
            is_right &= measured.iter().all(|one| one.median.is_some());
            print_rows(work, count, &measured);
        }
    }
    Ok(is_right)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match table(&options) {
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
