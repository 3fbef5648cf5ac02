//! Benchmarks: GPU time of verified cases, beside a copy of the same bytes in the same run.

mod copies;
mod shapes;
pub mod steadiness;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cases::{Case, Known, Planned, Ready};
use super::comparer::Comparer;
use super::layout::BufferLayout;
use super::look_back::LookBackCounts;
use super::report::Measurement;
use super::statistics;
use super::threads::in_threads;
use super::verify::{Failure, Outcome};
use super::workload::Workload;
use copies::Copies;
pub use copies::{CacheFlush, CopyKernel, CopyRoof};
pub use shapes::ShapeBench;
use steadiness::{BlockPlan, Course, Meter, Subject, is_steady};
use subsweep::error::Result;

/// Sample counts and time budget of a benchmark.
#[derive(Debug, Clone, Copy)]
pub struct BenchOptions {
    /// Blocks of samples; at least one. Blocks far apart in time reveal disturbances by other programs.
    pub block_count: u32,
    /// Samples of each case in a block, interleaved with the samples of the other cases; at least one.
    pub samples_per_block: u32,
    /// End-to-end runs of each case, after the last block: at most, and one if any.
    pub end_to_end_count: u32,
    /// Minimum time of a sample: shorter runs are repeated, up to [`Self::MAX_RUNS_PER_SAMPLE`] times.
    pub min_sample: Duration,
    /// Time budget of a case. A case over budget takes fewer samples, but at least [`Self::MIN_SAMPLES`] if its blocks
    /// have so many.
    pub budget: Duration,
    /// Whether the caches of the device are emptied before each run.
    pub has_cold_cache: bool,
    /// Factor applied to times: 1, except to test that a comparison reports a slowdown.
    pub slow_down: f64,
}

impl BenchOptions {
    /// Minimum samples of a case over all blocks.
    pub const MIN_SAMPLES: u32 = 10;
    /// Maximum runs of a sample, which is their median.
    pub const MAX_RUNS_PER_SAMPLE: u32 = 64;
    /// Time after which no further end-to-end run of a case begins: a run of many elements takes the time of their copies.
    pub const MAX_END_TO_END: Duration = Duration::from_millis(50);

    /// The samples of a block of `case_count` cases.
    pub fn block(&self, case_count: u32) -> BlockPlan {
        let most = self.samples_per_block;
        BlockPlan {
            least: Self::MIN_SAMPLES.div_ceil(self.block_count).min(most),
            most,
            budget: self.budget / self.block_count * case_count,
            min_sample: self.min_sample,
            max_runs: Self::MAX_RUNS_PER_SAMPLE,
        }
    }
}

/// A measurement, or the outcome of a case that was not measured.
pub type Measured = Result<Measurement, Outcome>;

/// Cases measured together: samples are interleaved in blocks, with copies before and after the samples of each block. Cases
/// are verified before the first block and after the last.
pub struct BenchGroup<'g> {
    roof: &'g CopyRoof<'g>,
    flush: Option<CacheFlush>,
    options: BenchOptions,
    entries: Vec<Entry<'g>>,
    copies: Option<Copies>,
    course: Course,
    block_lengths: Vec<u32>,
}

/// A case in measurement, or its outcome.
enum Entry<'g> {
    Running(Box<Running<'g>>),
    Finished(Outcome),
}

/// A case in measurement.
struct Running<'g> {
    case: Case,
    workload: Workload<'g>,
    /// Runs so far.
    run_count: u32,
    samples_ns: Vec<f64>,
    record_samples_ns: Vec<f64>,
    end_to_end_samples_ns: Vec<f64>,
    look_back: Option<LookBackCounts>,
}

impl<'g> BenchGroup<'g> {
    /// Verifies groups of cases with equal numbers and sizes of elements, each of one work on one input. Inputs and expected
    /// results are computed by all cores. `accept` may refuse a case before anything of it is computed; `begin` is called for each
    /// group whose cases then run.
    ///
    /// # Errors
    /// Fatal errors of the device. Failures of a single case, such as a wrong result or out of memory, are its outcome.
    pub fn verified(
        roof: &'g CopyRoof<'g>,
        groups: &[Vec<Case>],
        options: BenchOptions,
        accept: impl Fn(&Case) -> Result<(), Outcome>,
        begin: impl Fn(&[Case]),
    ) -> Result<Vec<Self>> {
        let plan = |case: &Case| match accept(case) {
            Ok(()) => outcome_of(case.plan(roof.gpu())),
            Err(outcome) => Ok(Err(outcome)),
        };
        let plans = |cases: &Vec<Case>| cases.iter().map(plan).collect::<Result<Vec<_>>>();
        let planned = groups.iter().map(plans).collect::<Result<Vec<_>>>()?;
        let ready = in_threads(groups.iter().zip(planned).collect(), |(cases, planned)| {
            let known = Arc::<Known>::default();
            let ready = |(case, planned): (&Case, Result<Planned, Outcome>)| match planned {
                Ok(plan) => outcome_of(Ready::new(case, plan, known.clone()).map(Ready::expected)),
                Err(outcome) => Ok(Err(outcome)),
            };
            cases.iter().zip(planned).map(ready).collect::<Result<Vec<_>>>()
        });
        let group = |(cases, ready): (&Vec<Case>, Result<Vec<_>>)| {
            begin(cases);
            Self::of_ready(roof, cases, ready?, options)
        };
        groups.iter().zip(ready).map(group).collect()
    }

    /// Verifies one case, with the input and the expected result of other cases of the same work.
    fn of_known(
        roof: &'g CopyRoof<'g>,
        case: &Case,
        options: BenchOptions,
        known: Arc<Known>,
    ) -> Result<Self> {
        let ready = outcome_of(case.plan(roof.gpu()).and_then(|plan| Ready::new(case, plan, known)))?;
        Self::of_ready(roof, std::slice::from_ref(case), vec![ready], options)
    }

    fn of_ready(
        roof: &'g CopyRoof<'g>,
        cases: &[Case],
        ready: Vec<Result<Ready, Outcome>>,
        options: BenchOptions,
    ) -> Result<Self> {
        let gpu = roof.gpu();
        let begin = |(case, ready): (&Case, Result<Ready, Outcome>)| match ready {
            Ok(ready) => Entry::from_begun(Running::new(roof, case, ready)),
            Err(outcome) => Ok(Entry::Finished(outcome)),
        };
        let mut entries = cases.iter().zip(ready).map(begin).collect::<Result<Vec<_>>>()?;
        let first = entries.iter().find_map(|entry| match entry {
            Entry::Running(running) => Some(running.workload.pristine()),
            Entry::Finished(_) => None,
        });
        let memory = first.map(|elements| {
            let flush = options.has_cold_cache.then(|| CacheFlush::new(gpu)).transpose()?;
            Ok((Copies::new(roof, elements)?, flush))
        });
        let (copies, flush) = match memory.transpose() {
            Ok(memory) => memory.unzip(),
            Err(error) => {
                // Cases without a copy to compare with are not measured.
                let outcome = Outcome::of_error(error)?;
                for entry in &mut entries {
                    entry.advance(|_| Ok(Some(outcome.clone())))?;
                }
                (None, None)
            }
        };
        let course = Course::new(entries.len());
        let flush = flush.flatten();
        Ok(Self { roof, flush, options, entries, copies, course, block_lengths: Vec::new() })
    }

    /// Takes a block of samples of each case.
    ///
    /// # Errors
    /// As for [`Self::verified`].
    pub fn measure_block(&mut self) -> Result<()> {
        let Self { roof, flush, options, entries, copies, course, block_lengths, .. } = self;
        let is_running = |entry: &&Entry<'_>| matches!(entry, Entry::Running(_));
        let running_count = entries.iter().filter(is_running).count();
        let (Some(copies), 1..) = (copies, running_count) else { return Ok(()) };
        let mut meter = GroupMeter { roof, copies, entries, flush: flush.as_ref() };
        let mut plan = options.block(running_count as u32);
        if flush.is_some() && roof.gpu().capabilities().is_cpu() {
            // To empty the caches takes longer than a sample.
            plan.max_runs = 1;
        }
        let block = plan.take(&mut roof.clock.borrow_mut(), &mut meter, course)?;
        copies.kernel_ns.extend(block.copies_ns);
        copies.sample_transfer(roof, course.copy_runs.unwrap_or(1).div_ceil(4))?;
        let lengths = block.samples_ns.iter().map(Vec::len);
        let length = lengths.clone().max().unwrap_or_default();
        block_lengths.push(length as u32);
        for (entry, samples_ns) in entries.iter_mut().zip(block.samples_ns) {
            entry.advance(|running| running.add(samples_ns.iter().map(|time| time * options.slow_down)))?;
        }
        Ok(())
    }

    /// Verifies one more run of each case, and measures runs end to end. After the last block, and after the blocks of other
    /// groups: a GPU's clock falls meanwhile.
    ///
    /// # Errors
    /// As for [`Self::verified`].
    pub fn finish(&mut self) -> Result<()> {
        let Self { roof, options, entries, .. } = self;
        for entry in entries {
            entry.advance(|running| running.finish(&roof.comparer, options.end_to_end_count))?;
        }
        Ok(())
    }

    /// The measurement of each case so far, in the order given.
    ///
    /// # Panics
    /// Before the first block: there are no samples.
    pub fn measured(&self) -> Vec<Measured> {
        let counts = &self.course.case_runs;
        let measured = |(entry, run_count): (&Entry<'_>, &Option<u32>)| match (entry, &self.copies) {
            (Entry::Running(running), Some(copies)) => {
                running.measured(copies, &self.block_lengths, run_count.unwrap_or(1))
            }
            (Entry::Finished(outcome), _) => Err(outcome.clone()),
            (Entry::Running(_), None) => unreachable!("copies are made for what is measured"),
        };
        self.entries.iter().zip(counts).map(measured).collect()
    }
}

/// The outcome of an error that concerns one case.
fn outcome_of<T>(result: Result<T>) -> Result<Result<T, Outcome>> {
    result.map(Ok).or_else(|error| Outcome::of_error(error).map(Err))
}

/// The device, for the rules of measuring.
struct GroupMeter<'a, 'g> {
    roof: &'a CopyRoof<'g>,
    copies: &'a Copies,
    entries: &'a mut [Entry<'g>],
    flush: Option<&'a CacheFlush>,
}

impl Meter for GroupMeter<'_, '_> {
    type Error = subsweep::Error;

    fn now(&self) -> Duration {
        self.roof.opened.elapsed()
    }

    fn run(&mut self, subject: Subject, run_count: u32) -> Result<Vec<f64>> {
        match subject {
            Subject::WarmUp => self.roof.time_warm_up(run_count),
            Subject::Copy => self.copies.time(self.roof, self.flush, run_count),
            Subject::Case(index) => {
                let mut times = Vec::new();
                self.entries[index].advance(|running| {
                    running.run_count = running.run_count.saturating_add(run_count);
                    times = running.workload.time(run_count, |recorder, replaced| {
                        for [from, to] in replaced {
                            self.roof.kernel.record(recorder, *from, *to)?;
                        }
                        self.flush.map_or(Ok(()), |flush| flush.record(&self.roof.kernel, recorder))
                    })?;
                    Ok(None)
                })?;
                Ok(times)
            }
        }
    }
}

impl<'g> Entry<'g> {
    fn from_begun(begun: Result<Result<Running<'g>, Outcome>>) -> Result<Self> {
        Ok(match outcome_of(begun)? {
            Ok(Ok(running)) => Self::Running(Box::new(running)),
            Ok(Err(outcome)) | Err(outcome) => Self::Finished(outcome),
        })
    }

    /// Runs a step of a case in measurement. Finishes the case if the step fails or returns an outcome.
    fn advance(&mut self, step: impl FnOnce(&mut Running<'g>) -> Result<Option<Outcome>>) -> Result<()> {
        if let Self::Running(running) = self {
            let outcome = match step(running) {
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

impl<'g> Running<'g> {
    /// Verifies the case.
    fn new(roof: &CopyRoof<'g>, case: &Case, ready: Ready) -> Result<Result<Self, Outcome>> {
        let mut running = Self {
            case: case.clone(),
            workload: Workload::with_ready(roof.gpu(), case, BufferLayout::Guarded, ready)?,
            run_count: 1,
            samples_ns: Vec::new(),
            record_samples_ns: Vec::new(),
            end_to_end_samples_ns: Vec::new(),
            look_back: None,
        };
        running.workload.restore()?;
        running.workload.run()?;
        if let Some(outcome) = running.verify(&roof.comparer)? {
            return Ok(Err(outcome));
        }
        running.look_back = running.workload.look_back()?;
        Ok(Ok(running))
    }

    /// Verifies the last run.
    fn verify(&self, comparer: &Comparer<'_>) -> Result<Option<Outcome>> {
        let mismatch = self.workload.verify(comparer)?;
        let failure = |mismatch| Failure::Wrong { run: self.run_count, seed: self.case.seed(), mismatch };
        Ok(mismatch.map(|mismatch| Outcome::Fail(failure(mismatch))))
    }

    /// Adds samples, and as many of recordings.
    fn add(&mut self, samples_ns: impl Iterator<Item = f64>) -> Result<Option<Outcome>> {
        for time_ns in samples_ns {
            self.samples_ns.push(time_ns);
            // Warm as well: the first of those that take turns would pay for all.
            self.workload.time_recording()?;
            self.record_samples_ns.push(self.workload.time_recording()?);
        }
        Ok(None)
    }

    /// Verifies one more run, over poison as before the first sample, then measures runs end to end.
    fn finish(&mut self, comparer: &Comparer<'_>, end_to_end_count: u32) -> Result<Option<Outcome>> {
        self.run_count = self.run_count.saturating_add(1);
        self.workload.restore()?;
        self.workload.run()?;
        if let Some(outcome) = self.verify(comparer)? {
            return Ok(Some(outcome));
        }
        let start = Instant::now();
        for _ in 0..end_to_end_count {
            let begin = Instant::now();
            self.workload.run_end_to_end()?;
            self.end_to_end_samples_ns.push(begin.elapsed().as_nanos() as f64);
            if start.elapsed() > BenchOptions::MAX_END_TO_END {
                break;
            }
        }
        Ok(None)
    }

    fn measured(&self, copies: &Copies, block_lengths: &[u32], runs_per_sample: u32) -> Measured {
        let Self { case, workload, .. } = self;
        let measurement = Measurement {
            id: case.id(),
            group: case.variants(),
            policy: workload.policy().to_owned(),
            element_count: case.count,
            element_size: case.element_size(),
            traffic_size: workload.traffic_size(),
            runs_per_sample,
            steady: is_steady(&copies.kernel_ns),
            block_lengths: block_lengths.to_vec(),
            samples_ns: self.samples_ns.clone(),
            copy_samples_ns: copies.kernel_ns.clone(),
            transfer_samples_ns: copies.transfer_ns.clone(),
            record_samples_ns: self.record_samples_ns.clone(),
            end_to_end_samples_ns: self.end_to_end_samples_ns.clone(),
            recorded: Some(workload.recorded().into()),
            look_back: self.look_back,
            ..Measurement::default()
        };
        let measurement = measurement.with_summaries();
        let Measurement { time, copy, transfer, record, .. } = measurement;
        if [Some(time), Some(copy), transfer, record].iter().flatten().any(|time| time.median_ns == 0.0) {
            let reason = "the device's clock is too coarse for so little work";
            return Err(Outcome::NotSupported(reason.to_owned()));
        }
        Ok(measurement)
    }
}
