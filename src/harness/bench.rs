//! Benchmarks: GPU time of verified cases, beside a copy of the same bytes in the same run.

use std::time::{Duration, Instant};

use super::cases::Case;
use super::layout::BufferLayout;
use super::report::{LookBackCounts, Measurement, Summary};
use super::verify::{Failure, Outcome};
use super::workload::Workload;
use crate::device::{BufferRange, Pipeline, PipelineOptions, Recorder, push};
use crate::error::{Error, Result};
use crate::headless::{Gpu, GpuBuffer};
use crate::kernels;

/// Sample counts and time budget of a benchmark.
#[derive(Debug, Clone, Copy)]
pub struct BenchOptions {
    /// Blocks of samples; at least one. Blocks far apart in time reveal disturbances by other programs.
    pub block_count: u32,
    /// Warm-up runs of each case before each block. Two more precede the first block.
    pub warm_up_count: u32,
    /// Samples of each case in a block, interleaved with those of the other cases; at least one.
    pub samples_per_block: u32,
    /// Maximum number of blocks followed by verification and an end-to-end measurement of each case: the first and the
    /// last always, the others evenly spaced between them.
    pub max_checked_blocks: u32,
    /// Minimum time of a sample: shorter runs are repeated, up to [`Self::MAX_RUNS_PER_SAMPLE`] times.
    pub min_sample: Duration,
    /// Time budget of a case. A case over budget takes fewer samples, but at least [`Self::MIN_SAMPLES`] if its blocks
    /// have so many.
    pub budget: Duration,
    /// Factor applied to times: 1, except to test that a comparison reports a slowdown.
    pub slow_down: f64,
}

impl BenchOptions {
    /// Minimum samples of a case over all blocks.
    pub const MIN_SAMPLES: u32 = 10;
    /// Maximum runs averaged into one sample.
    pub const MAX_RUNS_PER_SAMPLE: u32 = 1000;
    /// A run this many times longer than the minimum sample is a sample by itself, even if it was delayed.
    const SURELY_LONG: f64 = 10.0;

    /// The number of runs per sample. `run` returns the nanoseconds of a run.
    fn runs_per_sample(&self, mut run: impl FnMut() -> Result<f64>) -> Result<u32> {
        let min_ns = self.min_sample.as_nanos() as f64;
        let mut least_ns = run()?;
        // The least of three: a delayed run would make samples too short.
        for _ in 0..2 {
            if least_ns < Self::SURELY_LONG * min_ns {
                least_ns = least_ns.min(run()?);
            }
        }
        Ok(((min_ns / least_ns.max(1.0)).ceil() as u32).clamp(1, Self::MAX_RUNS_PER_SAMPLE))
    }

    /// Whether cases are verified after the block of this number, from 1.
    fn is_checked(&self, block: u32) -> bool {
        let between = self.max_checked_blocks.saturating_sub(1).max(1);
        let step = self.block_count.saturating_sub(1).div_ceil(between).max(1);
        block == self.block_count || block % step == 1 % step
    }
}

/// The roofline: copy throughput of a kernel that copies 16 bytes per access, and of `vkCmdCopyBuffer`.
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
        let pipeline = Pipeline::new(gpu.device(), kernels::PROBE_COPY.module(&[]), options)?;
        Ok(Self { gpu, pipeline, tile_quads: workgroup_size * Self::QUADS_PER_INVOCATION })
    }

    /// Records a copy of the whole quads of `source` to the start of `destination` by the kernel.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], and those of [`Recorder::dispatch`].
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        source: BufferRange,
        destination: BufferRange,
    ) -> Result<()> {
        let size = source.size / 16 * 16;
        let push = push::ProbeCopy {
            source: source.slice(0, size).addresses(),
            destination: destination.slice(0, size).addresses(),
            quad_count: u32::try_from(size / 16).map_err(|_| Error::TooManyElements {
                count: size / 16,
                max: u32::MAX.into(),
                what: "one copy, in quads",
            })?,
        };
        let workgroup_count = push.quad_count.div_ceil(self.tile_quads).into();
        recorder.dispatch(&self.pipeline, &push, workgroup_count)
    }

    /// Copies the whole quads of `source` to the start of `memory` with the kernel; returns nanoseconds.
    fn copy(&self, source: BufferRange, memory: &GpuBuffer) -> Result<f64> {
        self.time(|recorder| self.record(recorder, source, memory.range()))
    }

    /// Copies the same bytes with `vkCmdCopyBuffer`; returns nanoseconds.
    fn transfer(&self, source: BufferRange, memory: &GpuBuffer) -> Result<f64> {
        let size = source.size / 16 * 16;
        self.time(|recorder| {
            recorder.copy(source.slice(0, size), memory.range().slice(0, size));
            Ok(())
        })
    }

    fn time(&self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<f64> {
        // SAFETY: the memory is of this device, lives until `submit` has waited, and has no other use.
        time(|| unsafe { self.gpu.submit(record) })
    }
}

/// GPU time if the device has timestamps, else wall-clock time.
fn time(run: impl FnOnce() -> Result<Option<f64>>) -> Result<f64> {
    let start = Instant::now();
    let gpu_ns = run()?;
    Ok(gpu_ns.unwrap_or_else(|| nanoseconds_since(start)))
}

/// The mean time of `count` runs.
fn mean_of(count: u32, mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    let sum_ns = (0..count).try_fold(0.0, |sum_ns, _| Ok::<_, Error>(sum_ns + run()?))?;
    Ok(sum_ns / f64::from(count))
}

fn nanoseconds_since(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

/// A measurement, or the outcome of a case that was not measured.
pub type Measured = Result<Measurement, Outcome>;

/// Cases measured together: samples are interleaved in blocks, with copy probes before and after each block. Cases are
/// verified before the first block and after the first, the last and some blocks between.
pub struct BenchGroup<'g> {
    roof: &'g CopyRoof<'g>,
    options: BenchOptions,
    entries: Vec<Entry<'g>>,
    copies: Option<Copies>,
    block_lengths: Vec<u32>,
}

/// A case in measurement, or its outcome.
enum Entry<'g> {
    Running(Box<Subject<'g>>),
    Finished(Outcome),
}

/// A case in measurement.
struct Subject<'g> {
    case: Case,
    workload: Workload<'g>,
    /// Runs so far.
    run_count: u32,
    runs_per_sample: u32,
    samples_ns: Vec<f64>,
    record_samples_ns: Vec<f64>,
    end_to_end_samples_ns: Vec<f64>,
    look_back: Option<LookBackCounts>,
}

/// Copies of as many bytes as the elements of a case.
struct Copies {
    source: GpuBuffer,
    destination: GpuBuffer,
    /// Of the copy kernel and of `vkCmdCopyBuffer`.
    runs_per_sample: [u32; 2],
    /// Nanoseconds, two for each block.
    kernel_ns: Vec<f64>,
    transfer_ns: Vec<f64>,
}

impl<'g> BenchGroup<'g> {
    /// Verifies cases with equal numbers and sizes of elements. `accept` is called for each case after memory was
    /// allocated for those before it, and may refuse the case.
    ///
    /// # Errors
    /// Fatal errors of the device. Failures of a single case, such as a wrong result or out of memory, are its outcome.
    pub fn new(
        roof: &'g CopyRoof<'g>,
        cases: &[Case],
        options: BenchOptions,
        accept: impl Fn(&Case) -> Result<(), Outcome>,
    ) -> Result<Self> {
        let begin = |case: &Case| match accept(case) {
            Ok(()) => Entry::of(Subject::new(roof.gpu, case, &options)),
            Err(outcome) => Ok(Entry::Finished(outcome)),
        };
        let mut entries = cases.iter().map(begin).collect::<Result<Vec<_>>>()?;
        let first = entries.iter().find_map(|entry| match entry {
            Entry::Running(subject) => Some(subject.workload.pristine()),
            Entry::Finished(_) => None,
        });
        let copies = match first.map(|elements| Copies::new(roof, elements, &options)).transpose() {
            Ok(copies) => copies,
            Err(error) => {
                // Cases without a copy to compare with are not measured.
                let outcome = Outcome::of_error(error)?;
                for entry in &mut entries {
                    entry.advance(|_| Ok(Some(outcome.clone())))?;
                }
                None
            }
        };
        Ok(Self { roof, options, entries, copies, block_lengths: Vec::new() })
    }

    /// Takes a block of samples of each case, and verifies the last run after some of the blocks.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn measure_block(&mut self) -> Result<()> {
        let Self { roof, options, entries, copies, block_lengths } = self;
        let running_count = entries.iter().filter(|entry| matches!(entry, Entry::Running(_))).count();
        let (Some(copies), 1..) = (copies, running_count) else { return Ok(()) };
        let start = Instant::now();
        let budget = options.budget / options.block_count * running_count as u32;
        let least = BenchOptions::MIN_SAMPLES.div_ceil(options.block_count).min(options.samples_per_block);
        copies.probe(roof)?;
        for entry in entries.iter_mut() {
            entry.advance(|subject| subject.warm_up(options.warm_up_count))?;
        }
        let mut length = 0;
        while length < least || length < options.samples_per_block && start.elapsed() < budget {
            for entry in entries.iter_mut() {
                entry.advance(|subject| subject.sample(options.slow_down))?;
            }
            length += 1;
        }
        copies.probe(roof)?;
        block_lengths.push(length);
        if options.is_checked(block_lengths.len() as u32) {
            for entry in entries {
                entry.advance(Subject::end_to_end)?;
            }
        }
        Ok(())
    }

    /// The measurement of each case so far, in the order given.
    ///
    /// # Panics
    /// Before the first block: there are no samples.
    pub fn measured(&self) -> Vec<Measured> {
        let of = |entry: &Entry<'_>| match (entry, &self.copies) {
            (Entry::Running(subject), Some(copies)) => subject.measured(copies, &self.block_lengths),
            (Entry::Finished(outcome), _) => Err(outcome.clone()),
            (Entry::Running(_), None) => unreachable!("copies are probed for what is measured"),
        };
        self.entries.iter().map(of).collect()
    }
}

impl<'g> Entry<'g> {
    fn of(begun: Result<Result<Subject<'g>, Outcome>>) -> Result<Self> {
        Ok(match begun {
            Ok(Ok(subject)) => Self::Running(Box::new(subject)),
            Ok(Err(outcome)) => Self::Finished(outcome),
            Err(error) => Self::Finished(Outcome::of_error(error)?),
        })
    }

    /// Runs a step of a case in measurement. Finishes the case if the step fails or returns an outcome.
    fn advance(&mut self, step: impl FnOnce(&mut Subject<'g>) -> Result<Option<Outcome>>) -> Result<()> {
        if let Self::Running(subject) = self {
            let outcome = match step(subject) {
                Ok(outcome) => outcome,
                Err(error) => Some(Outcome::of_error(error)?),
            };
            if let Some(outcome) = outcome {
                *self = Self::Finished(outcome);
            }
        }
        Ok(())
    }
}

impl Copies {
    /// Copies `elements` into memory of its own.
    fn new(roof: &CopyRoof<'_>, elements: BufferRange, options: &BenchOptions) -> Result<Self> {
        let [source, destination] = [roof.gpu.allocate(elements.size)?, roof.gpu.allocate(elements.size)?];
        // First writes may allocate memory, and first runs take longer.
        roof.transfer(elements, &source)?;
        roof.copy(source.range(), &destination)?;
        let runs_per_sample = [
            options.runs_per_sample(|| roof.copy(source.range(), &destination))?,
            options.runs_per_sample(|| roof.transfer(source.range(), &destination))?,
        ];
        Ok(Self { source, destination, runs_per_sample, kernel_ns: Vec::new(), transfer_ns: Vec::new() })
    }

    fn probe(&mut self, roof: &CopyRoof<'_>) -> Result<()> {
        let (source, destination) = (self.source.range(), &self.destination);
        let [copy_runs, transfer_runs] = self.runs_per_sample;
        self.kernel_ns.push(mean_of(copy_runs, || roof.copy(source, destination))?);
        self.transfer_ns.push(mean_of(transfer_runs, || roof.transfer(source, destination))?);
        Ok(())
    }
}

impl<'g> Subject<'g> {
    /// Verifies the case, and determines its runs per sample.
    fn new(gpu: &'g Gpu, case: &Case, options: &BenchOptions) -> Result<Result<Self, Outcome>> {
        let mut subject = Self {
            case: case.clone(),
            workload: Workload::new(gpu, case, BufferLayout::Guarded)?,
            run_count: 0,
            runs_per_sample: 1,
            samples_ns: Vec::new(),
            record_samples_ns: Vec::new(),
            end_to_end_samples_ns: Vec::new(),
            look_back: None,
        };
        subject.run()?;
        if let Some(outcome) = subject.check()? {
            return Ok(Err(outcome));
        }
        subject.look_back = subject.workload.look_back()?;
        // The first run takes longer.
        subject.run()?;
        subject.runs_per_sample = options.runs_per_sample(|| subject.run())?;
        Ok(Ok(subject))
    }

    /// Restores the input and runs; returns nanoseconds.
    fn run(&mut self) -> Result<f64> {
        self.run_count = self.run_count.saturating_add(1);
        self.workload.restore()?;
        time(|| self.workload.run())
    }

    fn check(&self) -> Result<Option<Outcome>> {
        let mismatch = self.workload.check()?;
        let failure = |mismatch| Failure::Wrong { run: self.run_count, seed: self.case.seed(), mismatch };
        Ok(mismatch.map(|mismatch| Outcome::Fail(failure(mismatch))))
    }

    fn warm_up(&mut self, run_count: u32) -> Result<Option<Outcome>> {
        (0..run_count).try_for_each(|_| self.run().map(drop))?;
        Ok(None)
    }

    fn sample(&mut self, slow_down: f64) -> Result<Option<Outcome>> {
        let mean_ns = mean_of(self.runs_per_sample, || self.run())?;
        self.samples_ns.push(mean_ns * slow_down);
        self.record_samples_ns.push(self.workload.time_recording()?);
        Ok(None)
    }

    /// Verifies the last measured run, then measures one run end to end.
    fn end_to_end(&mut self) -> Result<Option<Outcome>> {
        if let Some(outcome) = self.check()? {
            return Ok(Some(outcome));
        }
        let start = Instant::now();
        self.workload.run_end_to_end()?;
        self.end_to_end_samples_ns.push(nanoseconds_since(start));
        Ok(None)
    }

    fn measured(&self, copies: &Copies, block_lengths: &[u32]) -> Measured {
        let Self { case, workload, .. } = self;
        let probes = vec![2; block_lengths.len()];
        let time = Summary::of(&self.samples_ns, block_lengths);
        let copy = Summary::of(&copies.kernel_ns, &probes);
        let transfer = Summary::of(&copies.transfer_ns, &probes);
        let record = Summary::of(&self.record_samples_ns, block_lengths);
        if [time, copy, transfer, record].iter().any(|summary| summary.median_ns == 0.0) {
            return Err(Outcome::NotSupported(
                "the device's clock is too coarse for so little work".to_owned(),
            ));
        }
        let seconds = time.median_ns / 1e9;
        Ok(Measurement {
            id: case.id(),
            group: case.variants(),
            policy: workload.policy().to_owned(),
            element_count: case.count,
            element_size: case.element_size(),
            traffic_size: workload.traffic_size(),
            elements_per_second: case.count as f64 / seconds,
            bytes_per_second: workload.traffic_size() as f64 / seconds,
            copy_percent: 100.0 * copy.median_ns / time.median_ns,
            copy_bytes_per_second: 2.0 * case.size() as f64 / (copy.median_ns / 1e9),
            runs_per_sample: self.runs_per_sample,
            block_lengths: block_lengths.to_vec(),
            time,
            samples_ns: self.samples_ns.clone(),
            copy,
            copy_samples_ns: copies.kernel_ns.clone(),
            transfer: Some(transfer),
            transfer_samples_ns: copies.transfer_ns.clone(),
            record: Some(record),
            record_samples_ns: self.record_samples_ns.clone(),
            end_to_end: Some(Summary::of(&self.end_to_end_samples_ns, &[])),
            end_to_end_samples_ns: self.end_to_end_samples_ns.clone(),
            recorded: Some(workload.recorded().into()),
            look_back: self.look_back,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: BenchOptions = BenchOptions {
        block_count: 10,
        warm_up_count: 1,
        samples_per_block: 3,
        max_checked_blocks: 3,
        min_sample: Duration::from_millis(2),
        budget: Duration::from_secs(1),
        slow_down: 1.0,
    };

    #[test]
    fn the_first_block_the_last_and_some_between_are_checked() {
        for (block_count, max_checked_blocks, expected) in [
            (1, 3, &[1][..]),
            (2, 3, &[1, 2]),
            (4, 3, &[1, 3, 4]),
            (5, 3, &[1, 3, 5]),
            (10, 3, &[1, 6, 10]),
            (11, 3, &[1, 6, 11]),
            (4, 10, &[1, 2, 3, 4]),
            (10, 4, &[1, 4, 7, 10]),
            (10, 0, &[1, 10]),
        ] {
            let options = BenchOptions { block_count, max_checked_blocks, ..OPTIONS };
            let checked: Vec<_> = (1..=block_count).filter(|&block| options.is_checked(block)).collect();
            assert_eq!(checked, expected);
        }
    }

    #[test]
    fn a_delayed_run_does_not_shorten_samples() {
        let runs_per_sample = |times: [f64; 3]| {
            let mut times = times.into_iter();
            let count = OPTIONS.runs_per_sample(|| Ok(times.next().expect("three runs"))).unwrap();
            (count, times.len())
        };
        assert_eq!(runs_per_sample([1.9e6, 0.3e6, 0.4e6]), (7, 0));
        assert_eq!(runs_per_sample([2.1e6, 0.3e6, 0.4e6]), (7, 0));
        // One long run is enough.
        assert_eq!(runs_per_sample([20e6, 1.0, 1.0]), (1, 2));
        assert_eq!(runs_per_sample([0.0; 3]), (BenchOptions::MAX_RUNS_PER_SAMPLE, 0));
        assert!(OPTIONS.runs_per_sample(|| Err(Error::DeviceLost { during: "a run" })).is_err());
    }
}
