//! Measuring: GPU time of verified work, beside a copy of the same bytes in the same run.

use std::time::{Duration, Instant};

use super::cases::Case;
use super::layout::Layout;
use super::report::{Measurement, Summary};
use super::verify::{Failure, Outcome};
use super::workload::Workload;
use crate::error::{Error, Result};
use crate::headless::{Gpu, GpuBuffer};
use crate::kernels;
use crate::vk::{AddressRange, BufferRange, Pipeline, PipelineOptions, Recorder, push_constants};

/// When a case has been measured enough.
#[derive(Debug, Clone, Copy)]
pub struct BenchOptions {
    /// Runs before the first sample.
    pub warm_up_count: u32,
    /// Blocks of samples, between probes of the copies' speed; at least one.
    pub block_count: u32,
    /// Samples of each case in a block, by turns with those of the other cases; at least one.
    pub samples_per_block: u32,
    /// How long a sample takes at least: short runs are repeated for it, up to [`Self::MAX_RUNS_PER_SAMPLE`].
    pub min_sample: Duration,
    /// Time after which a case makes do with fewer samples, but never fewer than [`Self::MIN_SAMPLES`].
    pub budget: Duration,
    /// What times are multiplied with: 1, but to see whether a comparison finds what is slower.
    pub slow_down: f64,
}

impl BenchOptions {
    /// The fewest samples of a case.
    pub const MIN_SAMPLES: usize = 10;
    /// The most runs that one sample is the mean of.
    pub const MAX_RUNS_PER_SAMPLE: u32 = 64;
    /// Runs from the host's memory to the host's memory.
    const END_TO_END_COUNT: u32 = 3;

    /// How many runs that take so many nanoseconds make a sample.
    fn runs_per_sample(&self, run_ns: f64) -> u32 {
        let wanted = self.min_sample.as_nanos() as f64 / run_ns.max(1.0);
        (wanted.ceil() as u32).clamp(1, Self::MAX_RUNS_PER_SAMPLE)
    }
}

push_constants! {
    struct CopyPush for [PROBE_COPY] {
        source: AddressRange,
        destination: AddressRange,
        quad_count: u32,
    }
}

/// The roof: how fast the device copies, by a kernel that copies 16 bytes at a time and does nothing else, and by
/// `vkCmdCopyBuffer`.
pub struct CopyRoof<'g> {
    gpu: &'g Gpu,
    pipeline: Pipeline,
    tile_quads: u32,
}

impl<'g> CopyRoof<'g> {
    const QUADS_PER_INVOCATION: u32 = 4;

    /// Compiles the kernel.
    ///
    /// # Errors
    /// Those of [`Pipeline::new`].
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let workgroup_size = gpu.capabilities().max_workgroup_invocations.min(256);
        let constants = [("QUADS_PER_INVOCATION", Self::QUADS_PER_INVOCATION)];
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
        let pipeline = Pipeline::new(gpu.device(), &kernels::PROBE_COPY, options)?;
        Ok(Self { gpu, pipeline, tile_quads: workgroup_size * Self::QUADS_PER_INVOCATION })
    }

    /// Copies the whole quads of `source` to the start of `memory` by the kernel: nanoseconds.
    fn copy(&self, source: BufferRange, memory: &GpuBuffer) -> Result<f64> {
        let size = source.size / 16 * 16;
        let push = CopyPush {
            source: source.slice(0, size).addresses(),
            destination: memory.range().slice(0, size).addresses(),
            quad_count: u32::try_from(size / 16).map_err(|_| Error::TooManyElements {
                count: size / 16,
                max: u32::MAX.into(),
                what: "one copy, in quads",
            })?,
        };
        let workgroup_count = push.quad_count.div_ceil(self.tile_quads).into();
        self.time(|recorder| recorder.dispatch(&self.pipeline, &push, workgroup_count))
    }

    /// The same bytes by `vkCmdCopyBuffer`.
    fn transfer(&self, source: BufferRange, memory: &GpuBuffer) -> Result<f64> {
        let size = source.size / 16 * 16;
        self.time(|recorder| {
            recorder.copy(source.slice(0, size), memory.range().slice(0, size));
            Ok(())
        })
    }

    fn time(&self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<f64> {
        // SAFETY: the memory is this device's, lives until `submit` has waited, and is used by nothing else.
        time(|| unsafe { self.gpu.submit(record) })
    }
}

/// GPU time where the device tells it, else wall-clock time.
fn time(run: impl FnOnce() -> Result<Option<f64>>) -> Result<f64> {
    let start = Instant::now();
    let gpu_ns = run()?;
    Ok(gpu_ns.unwrap_or_else(|| nanoseconds_since(start)))
}

/// The mean of so many runs, of which each tells its time.
fn mean_of(count: u32, mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    let sum_ns = (0..count).try_fold(0.0, |sum_ns, _| Ok::<_, Error>(sum_ns + run()?))?;
    Ok(sum_ns / f64::from(count))
}

fn nanoseconds_since(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

/// A case that is being measured.
struct Subject<'g, 'c> {
    case: &'c Case,
    workload: Workload<'g>,
    /// Runs so far.
    run_count: u32,
    runs_per_sample: u32,
    samples_ns: Vec<f64>,
    record_samples_ns: Vec<f64>,
}

/// How a case ended: measured, or why not.
pub type Measured = Result<Measurement, Outcome>;

/// Verifies cases that have elements of one number and size in common, then measures them by turns, between probes of
/// the copies' speed; and verifies them again on the same memory.
///
/// # Errors
/// What leaves nothing more to be tried on the device. What ends a single case is its outcome: a wrong result, a clock
/// that is too coarse, memory that is lacking.
pub fn bench_group(roof: &CopyRoof<'_>, cases: &[Case], options: &BenchOptions) -> Result<Vec<Measured>> {
    let mut outcomes = Vec::with_capacity(cases.len());
    let mut subjects = Vec::new();
    for case in cases {
        let begun = Subject::begin(roof.gpu, case, options);
        outcomes.push(match begun {
            Ok(Ok(subject)) => {
                subjects.push(subject);
                None
            }
            Ok(Err(outcome)) => Some(outcome),
            Err(error) => Some(Outcome::of_error(error)?),
        });
    }
    let copies = match subjects.first() {
        Some(first) => {
            let copied = first.workload.pristine();
            measure(roof, &mut subjects, copied, options)?
        }
        None => Copies::default(),
    };
    let mut subjects = subjects.into_iter();
    outcomes
        .into_iter()
        .map(|outcome| match outcome {
            Some(outcome) => Ok(Err(outcome)),
            None => subjects.next().expect("each case has ended or begun").end(&copies),
        })
        .collect()
}

/// Two times of each kind for each block, nanoseconds.
#[derive(Debug, Default)]
struct Copies {
    kernel_ns: Vec<f64>,
    transfer_ns: Vec<f64>,
}

/// Takes the samples of all.
fn measure(
    roof: &CopyRoof<'_>,
    subjects: &mut [Subject<'_, '_>],
    copied: BufferRange,
    options: &BenchOptions,
) -> Result<Copies> {
    let memory = roof.gpu.allocate(copied.size)?;
    let copy = || roof.copy(copied, &memory);
    let transfer = || roof.transfer(copied, &memory);
    // What is done for the first time takes longer.
    copy()?;
    transfer()?;
    let (copy_runs, transfer_runs) = (options.runs_per_sample(copy()?), options.runs_per_sample(transfer()?));
    let mut copies = Copies::default();
    let mut probe = || -> Result<()> {
        copies.kernel_ns.push(mean_of(copy_runs, copy)?);
        copies.transfer_ns.push(mean_of(transfer_runs, transfer)?);
        Ok(())
    };
    let (start, budget) = (Instant::now(), options.budget * subjects.len() as u32);
    for _ in 0..options.block_count {
        probe()?;
        for _ in 0..options.samples_per_block {
            let has_enough = subjects.iter().all(|s| s.samples_ns.len() >= BenchOptions::MIN_SAMPLES);
            if has_enough && start.elapsed() >= budget {
                break;
            }
            subjects.iter_mut().try_for_each(|subject| subject.sample(options))?;
        }
        probe()?;
    }
    Ok(copies)
}

impl<'g, 'c> Subject<'g, 'c> {
    /// Verifies the case, and finds out how many of its runs make a sample.
    fn begin(gpu: &'g Gpu, case: &'c Case, options: &BenchOptions) -> Result<Result<Self, Outcome>> {
        let workload = Workload::new(gpu, case, Layout::Guarded)?;
        workload.restore()?;
        workload.run()?;
        if let Some(mismatch) = workload.check()? {
            let failure = Failure::Wrong { run: 1, seed: case.seed(), mismatch };
            return Ok(Err(Outcome::Fail(failure)));
        }
        let mut run_ns = 0.0;
        for _ in 0..options.warm_up_count.max(1) {
            workload.restore()?;
            run_ns = time(|| workload.run())?;
        }
        let runs_per_sample = options.runs_per_sample(run_ns);
        let (samples_ns, record_samples_ns) = (Vec::new(), Vec::new());
        let run_count = 1 + options.warm_up_count.max(1);
        Ok(Ok(Self { case, workload, run_count, runs_per_sample, samples_ns, record_samples_ns }))
    }

    fn sample(&mut self, options: &BenchOptions) -> Result<()> {
        let mean_ns = mean_of(self.runs_per_sample, || {
            self.workload.restore()?;
            time(|| self.workload.run())
        })?;
        self.run_count = self.run_count.saturating_add(self.runs_per_sample);
        self.samples_ns.push(mean_ns * options.slow_down);
        self.record_samples_ns.push(self.workload.time_recording()?);
        Ok(())
    }

    /// Verifies the last of the runs, which were measured, and sums them up.
    fn end(self, copies: &Copies) -> Result<Measured> {
        let Self { case, workload, run_count, runs_per_sample, samples_ns, record_samples_ns } = self;
        if let Some(mismatch) = workload.check()? {
            let failure = Failure::Wrong { run: run_count, seed: case.seed(), mismatch };
            return Ok(Err(Outcome::Fail(failure)));
        }
        let mut end_to_end_samples_ns = Vec::new();
        for _ in 0..BenchOptions::END_TO_END_COUNT {
            let start = Instant::now();
            workload.run_end_to_end()?;
            end_to_end_samples_ns.push(nanoseconds_since(start));
        }
        let (time, copy) = (Summary::of(&samples_ns), Summary::of(&copies.kernel_ns));
        let transfer = Summary::of(&copies.transfer_ns);
        let record = Summary::of(&record_samples_ns);
        if [time, copy, transfer, record].iter().any(|summary| summary.median_ns == 0.0) {
            return Ok(Err(Outcome::NotSupported(
                "the device's clock is too coarse for so little work".to_owned(),
            )));
        }
        let look_back = workload.look_back()?;
        let seconds = time.median_ns / 1e9;
        let size = case.count * case.element_size();
        Ok(Ok(Measurement {
            id: case.id(),
            group: case.variants(),
            policy: workload.policy(),
            element_count: case.count,
            element_size: case.element_size(),
            traffic_size: workload.traffic_size(),
            elements_per_second: case.count as f64 / seconds,
            bytes_per_second: workload.traffic_size() as f64 / seconds,
            copy_percent: 100.0 * copy.median_ns / time.median_ns,
            copy_bytes_per_second: 2.0 * size as f64 / (copy.median_ns / 1e9),
            runs_per_sample,
            time,
            samples_ns,
            copy,
            copy_samples_ns: copies.kernel_ns.clone(),
            transfer,
            transfer_samples_ns: copies.transfer_ns.clone(),
            record,
            record_samples_ns,
            end_to_end: Summary::of(&end_to_end_samples_ns),
            end_to_end_samples_ns,
            recorded: Some(workload.recorded().into()),
            look_back,
        }))
    }
}
