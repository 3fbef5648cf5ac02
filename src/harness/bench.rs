//! Measuring: GPU time of verified work, beside a copy of the same bytes in the same run.

use std::time::{Duration, Instant};

use super::cases::Case;
use super::layout::Layout;
use super::report::{LookBackCounts, Measurement, Summary};
use super::verify::{Failure, Outcome};
use super::workload::Workload;
use crate::device::{AddressRange, BufferRange, Pipeline, PipelineOptions, Recorder, push_constants};
use crate::error::{Error, Result};
use crate::headless::{Gpu, GpuBuffer};
use crate::kernels;

/// How long cases are measured.
#[derive(Debug, Clone, Copy)]
pub struct BenchOptions {
    /// Blocks of samples; at least one. What else runs on a machine comes and goes: blocks that are far apart in time know
    /// of it.
    pub block_count: u32,
    /// Runs of each case before the samples of a block. Two are had before the first block in any case.
    pub warm_up_count: u32,
    /// Samples of each case in a block, by turns with those of the other cases; at least one.
    pub samples_per_block: u32,
    /// The most blocks behind which each case is verified and measured from end to end: the first and the last in any case,
    /// and some between, as far apart as they can be.
    pub max_checked_blocks: u32,
    /// How long a sample takes at least: short runs are repeated for it, up to [`Self::MAX_RUNS_PER_SAMPLE`].
    pub min_sample: Duration,
    /// Time after which a case makes do with fewer samples, but never fewer than [`Self::MIN_SAMPLES`], if its blocks have so
    /// many.
    pub budget: Duration,
    /// What times are multiplied with: 1, but to see whether a comparison finds what is slower.
    pub slow_down: f64,
}

impl BenchOptions {
    /// The fewest samples of a case, all blocks together.
    pub const MIN_SAMPLES: u32 = 10;
    /// The most runs that one sample is the mean of.
    pub const MAX_RUNS_PER_SAMPLE: u32 = 1000;
    /// A run that takes so many times as long as a sample at least is one by itself, though it was held up.
    const SURELY_LONG: f64 = 10.0;

    /// How many runs make a sample, of which each takes so many nanoseconds.
    fn runs_per_sample(&self, mut run: impl FnMut() -> Result<f64>) -> Result<u32> {
        let min_ns = self.min_sample.as_nanos() as f64;
        let mut least_ns = run()?;
        // A run that was held up would make samples too short.
        for _ in 0..2 {
            if least_ns < Self::SURELY_LONG * min_ns {
                least_ns = least_ns.min(run()?);
            }
        }
        Ok(((min_ns / least_ns.max(1.0)).ceil() as u32).clamp(1, Self::MAX_RUNS_PER_SAMPLE))
    }

    /// Whether cases are verified behind the block of this number, from 1 on.
    fn is_checked(&self, block: u32) -> bool {
        let between = self.max_checked_blocks.saturating_sub(1).max(1);
        let step = self.block_count.saturating_sub(1).div_ceil(between).max(1);
        block == self.block_count || block % step == 1 % step
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
        let push = CopyPush {
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

    /// Copies the whole quads of `source` to the start of `memory` by the kernel: nanoseconds.
    fn copy(&self, source: BufferRange, memory: &GpuBuffer) -> Result<f64> {
        self.time(|recorder| self.record(recorder, source, memory.range()))
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

/// How a case ended: measured, or why not.
pub type Measured = Result<Measurement, Outcome>;

/// Cases that are measured by turns, a block of samples at a time, between probes of the copies' speed; verified before
/// the first block, behind it, behind the last, and behind some between.
pub struct BenchGroup<'g> {
    roof: &'g CopyRoof<'g>,
    options: BenchOptions,
    entries: Vec<Entry<'g>>,
    copies: Option<Copies>,
    block_lengths: Vec<u32>,
}

/// A case that is being measured, or why it is not.
enum Entry<'g> {
    Going(Box<Subject<'g>>),
    Ended(Outcome),
}

/// A case that is being measured.
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

/// Copies of as many bytes as a case has elements.
struct Copies {
    source: GpuBuffer,
    destination: GpuBuffer,
    /// Of the kernel, and of `vkCmdCopyBuffer`.
    runs_per_sample: [u32; 2],
    /// Nanoseconds, two for each block.
    kernel_ns: Vec<f64>,
    transfer_ns: Vec<f64>,
}

impl<'g> BenchGroup<'g> {
    /// Verifies cases that have elements of one number and size in common. Each is asked for with `admit` when those before
    /// it have their memory, and may be refused.
    ///
    /// # Errors
    /// What leaves nothing more to be tried on the device. What ends a single case is its outcome: a wrong result, or
    /// memory that is lacking.
    pub fn new(
        roof: &'g CopyRoof<'g>,
        cases: &[Case],
        options: BenchOptions,
        admit: impl Fn(&Case) -> Result<(), Outcome>,
    ) -> Result<Self> {
        let begin = |case: &Case| match admit(case) {
            Ok(()) => Entry::of(Subject::new(roof.gpu, case, &options)),
            Err(outcome) => Ok(Entry::Ended(outcome)),
        };
        let mut entries = cases.iter().map(begin).collect::<Result<Vec<_>>>()?;
        let first = entries.iter().find_map(|entry| match entry {
            Entry::Going(subject) => Some(subject.workload.pristine()),
            Entry::Ended(_) => None,
        });
        let copies = match first.map(|elements| Copies::new(roof, elements, &options)).transpose() {
            Ok(copies) => copies,
            Err(error) => {
                // What has no copy beside it is not measured.
                let outcome = Outcome::of_error(error)?;
                for entry in &mut entries {
                    entry.advance(|_| Ok(Some(outcome.clone())))?;
                }
                None
            }
        };
        Ok(Self { roof, options, entries, copies, block_lengths: Vec::new() })
    }

    /// Takes a block of samples of each case, and behind some verifies the last of the runs.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn measure_block(&mut self) -> Result<()> {
        let Self { roof, options, entries, copies, block_lengths } = self;
        let going_count = entries.iter().filter(|entry| matches!(entry, Entry::Going(_))).count();
        let (Some(copies), 1..) = (copies, going_count) else { return Ok(()) };
        let start = Instant::now();
        let budget = options.budget / options.block_count * going_count as u32;
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

    /// What is known of each case behind the blocks so far, in the order in which they were given.
    ///
    /// # Panics
    /// Before the first block, as of no samples there is no median.
    pub fn measured(&self) -> Vec<Measured> {
        let of = |entry: &Entry<'_>| match (entry, &self.copies) {
            (Entry::Going(subject), Some(copies)) => subject.measured(copies, &self.block_lengths),
            (Entry::Ended(outcome), _) => Err(outcome.clone()),
            (Entry::Going(_), None) => unreachable!("copies are probed for what is measured"),
        };
        self.entries.iter().map(of).collect()
    }
}

impl<'g> Entry<'g> {
    fn of(begun: Result<Result<Subject<'g>, Outcome>>) -> Result<Self> {
        Ok(match begun {
            Ok(Ok(subject)) => Self::Going(Box::new(subject)),
            Ok(Err(outcome)) => Self::Ended(outcome),
            Err(error) => Self::Ended(Outcome::of_error(error)?),
        })
    }

    /// Takes a case that is going a step further, and ends it where that fails or tells how it ends.
    fn advance(&mut self, step: impl FnOnce(&mut Subject<'g>) -> Result<Option<Outcome>>) -> Result<()> {
        if let Self::Going(subject) = self {
            let outcome = match step(subject) {
                Ok(outcome) => outcome,
                Err(error) => Some(Outcome::of_error(error)?),
            };
            if let Some(outcome) = outcome {
                *self = Self::Ended(outcome);
            }
        }
        Ok(())
    }
}

impl Copies {
    /// Of `elements`, which may be gone later.
    fn new(roof: &CopyRoof<'_>, elements: BufferRange, options: &BenchOptions) -> Result<Self> {
        let [source, destination] = [roof.gpu.allocate(elements.size)?, roof.gpu.allocate(elements.size)?];
        // Memory that was never written may be none; and what is done for the first time takes longer.
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
    /// Verifies the case, and finds out how many of its runs make a sample.
    fn new(gpu: &'g Gpu, case: &Case, options: &BenchOptions) -> Result<Result<Self, Outcome>> {
        let mut subject = Self {
            case: case.clone(),
            workload: Workload::new(gpu, case, Layout::Guarded)?,
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
        // What is done for the first time takes longer.
        subject.run()?;
        subject.runs_per_sample = options.runs_per_sample(|| subject.run())?;
        Ok(Ok(subject))
    }

    /// Nanoseconds.
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

    /// Verifies the last of the runs, which were measured, and measures one from end to end.
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
            policy: workload.policy(),
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
    fn a_sample_is_long_enough_though_a_run_was_held_up() {
        let runs_per_sample = |times: [f64; 3]| {
            let mut times = times.into_iter();
            let count = OPTIONS.runs_per_sample(|| Ok(times.next().expect("three runs"))).unwrap();
            (count, times.len())
        };
        assert_eq!(runs_per_sample([1.9e6, 0.3e6, 0.4e6]), (7, 0));
        assert_eq!(runs_per_sample([2.1e6, 0.3e6, 0.4e6]), (7, 0));
        // One is enough of what takes long, and no more are had.
        assert_eq!(runs_per_sample([20e6, 1.0, 1.0]), (1, 2));
        assert_eq!(runs_per_sample([0.0; 3]), (BenchOptions::MAX_RUNS_PER_SAMPLE, 0));
        assert!(OPTIONS.runs_per_sample(|| Err(Error::DeviceLost { during: "a run" })).is_err());
    }
}
