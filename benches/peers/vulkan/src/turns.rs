//! Samples of subjects that take turns, by subsweep's own rules of warm clocks and steady blocks.

use std::time::{Duration, Instant};

use anyhow::{Error, Result};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep_tool::harness::steadiness::{Clock, Course, Meter, Subject as Timed, is_steady};
use subsweep_tool::harness::{BenchOptions, CopyRoof, Mismatch};

use crate::subject::Subject;

/// Samples of a subject, or why it has none.
pub enum Outcome {
    Measured(Samples),
    /// The first wrong word after a run, the first or the last, by its number from 1.
    Wrong(u32, Mismatch),
    Failed(Error),
}

/// Samples of a subject.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    pub samples_ns: Vec<f64>,
    pub block_lengths: Vec<u32>,
    pub runs_per_sample: u32,
}

/// A subject, or why there is none.
pub struct Named<'s> {
    /// Of its implementation.
    pub index: usize,
    pub name: &'static str,
    pub subject: Result<Box<dyn Subject + 's>>,
}

/// The outcome of a subject.
pub struct Measured {
    /// Of its implementation.
    pub index: usize,
    pub name: &'static str,
    pub policy: String,
    pub outcome: Outcome,
}

/// The outcome of each subject, and of the copies beside them.
pub struct Turns {
    pub measured: Vec<Measured>,
    /// Bytes of elements that our algorithm reads and writes.
    pub traffic_size: u64,
    /// Two for each block.
    pub copies_ns: Vec<f64>,
    pub is_steady: bool,
}

/// The device, for the rules of measuring.
struct TurnMeter<'a, 's> {
    opened: Instant,
    roof: &'a CopyRoof<'a>,
    copies: &'a [GpuBuffer; 2],
    subjects: Vec<&'a mut (dyn Subject + 's)>,
    /// Runs of each so far.
    run_counts: Vec<u32>,
}

impl Meter for TurnMeter<'_, '_> {
    type Error = Error;

    fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    fn run(&mut self, timed: Timed, run_count: u32) -> Result<Vec<f64>> {
        match timed {
            Timed::WarmUp => Ok(self.roof.time_warm_up(run_count)?),
            Timed::Copy => {
                let [source, destination] = self.copies;
                // SAFETY: the memory is of this device, and has no other use before this has waited.
                Ok(unsafe { self.roof.time(source.range(), destination.range(), run_count) }?)
            }
            Timed::Case(index) => {
                self.run_counts[index] = self.run_counts[index].saturating_add(run_count);
                self.subjects[index].times(run_count)
            }
        }
    }
}

/// Measures subjects on one input beside copies of `size` bytes. A subject is verified first and last.
pub fn measure(
    gpu: &Gpu,
    roof: &CopyRoof<'_>,
    size: u64,
    traffic_size: u64,
    options: BenchOptions,
    named: Vec<Named<'_>>,
) -> Result<Turns> {
    let (mut measured, mut right) = (Vec::new(), Vec::new());
    for Named { index, name, subject } in named {
        let (policy, fault) = match subject {
            Ok(mut subject) => {
                let policy = subject.policy();
                let fault = first_fault(subject.as_mut());
                right.extend(fault.is_none().then_some((measured.len(), subject)));
                (policy, fault)
            }
            Err(error) => (String::new(), Some(Outcome::Failed(error))),
        };
        // Those without a fault have their outcome from what follows.
        let outcome = fault.unwrap_or(Outcome::Measured(Samples::default()));
        measured.push(Measured { index, name, policy, outcome });
    }
    let copies = [gpu.allocate(size)?, gpu.allocate(size)?];
    let subjects: Vec<_> = right.iter_mut().map(|(_, subject)| subject.as_mut()).collect();
    let case_count = subjects.len();
    let mut clock = Clock::new(!gpu.capabilities().is_cpu());
    let mut course = Course::new(case_count);
    let mut meter = TurnMeter {
        opened: Instant::now(),
        roof,
        copies: &copies,
        subjects,
        run_counts: vec![1; case_count],
    };
    // First writes may allocate memory, and first runs take longer.
    meter.run(Timed::Copy, 1)?;
    let plan = options.block(case_count as u32);
    let mut copies_ns = Vec::new();
    let mut samples = vec![Samples::default(); case_count];
    for _ in 0..options.block_count {
        let block = plan.take(&mut clock, &mut meter, &mut course)?;
        copies_ns.extend(block.copies_ns);
        for (samples, samples_ns) in samples.iter_mut().zip(block.samples_ns) {
            samples.block_lengths.push(samples_ns.len() as u32);
            samples.samples_ns.extend(samples_ns);
        }
    }
    let run_counts = meter.run_counts;
    for (index, ((at, mut subject), mut samples)) in right.into_iter().zip(samples).enumerate() {
        samples.runs_per_sample = course.case_runs[index].unwrap_or(1);
        let fault = fault_of(subject.as_mut(), run_counts[index]);
        measured[at].outcome = fault.unwrap_or(Outcome::Measured(samples));
    }
    Ok(Turns { measured, traffic_size, is_steady: is_steady(&copies_ns), copies_ns })
}

/// Runs once; what is wrong, if anything is.
fn first_fault(subject: &mut dyn Subject) -> Option<Outcome> {
    match subject.times(1) {
        Ok(_) => fault_of(subject, 1),
        Err(error) => Some(Outcome::Failed(error)),
    }
}

/// What is wrong with the last run, the `run`th, if anything is.
fn fault_of(subject: &mut dyn Subject, run: u32) -> Option<Outcome> {
    match subject.mismatch() {
        Ok(mismatch) => mismatch.map(|mismatch| Outcome::Wrong(run, mismatch)),
        Err(error) => Some(Outcome::Failed(error)),
    }
}
