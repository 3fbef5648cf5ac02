//! Recording, submitting and waiting, with one command buffer; long work is split into several submissions.
//!
//! ```text
//!   begin work │ prepare, barrier, time [ run ] time │ barrier, prepare, barrier, time [ run │ split │ run ] time │ end
//! ```

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ash::vk;

use super::WorkOptions;
use super::commands::{AFTER_EARLIER_SUBMISSIONS, BEFORE_THE_HOST, BETWEEN_RUNS, Commands};
use super::submission_budget::SubmissionBudget;
use crate::device::{Barrier, CommandCounts, Device, Recorder, SubmissionSplitter, Timestamps};
use crate::error::{Error, Result};

/// Runs of one submission that can be timed.
const RUNS_PER_SUBMISSION: u32 = 64;

pub(super) struct Submitter {
    device: Device,
    queue_family_index: u32,
    queue: Arc<Mutex<vk::Queue>>,
    commands: Commands,
    timestamps: Option<Timestamps>,
    /// GPU time of each run of the current work so far.
    runs_ns: Vec<f64>,
    /// The run that each pair of timestamps of the current command buffer is of.
    pairs: Vec<usize>,
    /// Whether a pair of timestamps has begun.
    is_in_run: bool,
    budget: SubmissionBudget,
    wait_limit: Duration,
    interrupted: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// Error of a split of the current work, after which the command buffer is not in the recording state.
    failed: Option<Error>,
}

impl Submitter {
    pub(super) fn new(
        device: &Device,
        queue_family_index: u32,
        queue: &Arc<Mutex<vk::Queue>>,
        timestamp_valid_bits: u32,
        options: &WorkOptions,
    ) -> Result<Self> {
        Ok(Self {
            device: device.clone(),
            queue_family_index,
            queue: Arc::clone(queue),
            commands: Commands::new(device, queue_family_index, options.wait_limit)?,
            timestamps: Timestamps::new(device, timestamp_valid_bits, RUNS_PER_SUBMISSION)?,
            runs_ns: Vec::new(),
            pairs: Vec::new(),
            is_in_run: false,
            budget: SubmissionBudget::new(options.submission_limit),
            wait_limit: options.wait_limit,
            interrupted: options.interrupted.clone(),
            failed: None,
        })
    }

    pub(super) fn queue_family_index(&self) -> u32 {
        self.queue_family_index
    }

    /// A command buffer for [`Self::launch`].
    pub(super) fn commands(&self) -> Result<Commands> {
        Commands::new(&self.device, self.queue_family_index, self.wait_limit)
    }

    pub(super) fn has_timestamps(&self) -> bool {
        self.timestamps.is_some()
    }

    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `record` does.
    pub(super) unsafe fn submit(
        &mut self,
        record: impl FnOnce(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<Option<f64>> {
        self.begin_work()?;
        // SAFETY: as the caller promises.
        unsafe { self.record_run(record) }?;
        self.end_work()?;
        Ok(self.has_timestamps().then(|| self.runs_ns[0]))
    }

    /// Submits `run_count` runs, each after what prepares it, without a wait between them as far as a submission has
    /// timestamps and its size allows. `prepare` returns whether the run accesses what it has written. Returns the
    /// nanoseconds of each run: GPU time, or without timestamps wall-clock time of a submission of its own.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `prepare` and `record` do.
    pub(super) unsafe fn submit_runs(
        &mut self,
        run_count: u32,
        prepare: impl Fn(&mut Recorder<'_>) -> Result<bool>,
        record: impl Fn(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<Vec<f64>> {
        if !self.has_timestamps() {
            let run = |_| {
                // SAFETY: as the caller promises.
                unsafe { self.submit(|recorder| prepare(recorder).map(drop)) }?;
                let start = Instant::now();
                // SAFETY: as the caller promises.
                unsafe { self.submit(&record) }?;
                Ok(start.elapsed().as_nanos() as f64)
            };
            return (0..run_count).map(run).collect();
        }
        self.begin_work()?;
        for run in 0..run_count {
            if run > 0 {
                self.order(BETWEEN_RUNS);
            }
            let mut is_input = false;
            let prepared = |recorder: &mut Recorder<'_>| {
                is_input = prepare(recorder)?;
                Ok(())
            };
            // SAFETY: as the caller promises.
            let counts = unsafe { self.record(prepared) }?;
            if is_input {
                self.order(BETWEEN_RUNS);
            } else if counts != CommandCounts::default() {
                self.wait_for_earlier();
            }
            if self.pairs.len() == RUNS_PER_SUBMISSION as usize {
                self.split()?;
            }
            // SAFETY: as the caller promises.
            unsafe { self.record_run(&record) }?;
        }
        self.end_work()?;
        Ok(std::mem::take(&mut self.runs_ns))
    }

    /// Begins work that may take several submissions.
    fn begin_work(&mut self) -> Result<()> {
        self.device.check()?;
        self.failed = None;
        self.runs_ns.clear();
        self.begin()?;
        self.order(AFTER_EARLIER_SUBMISSIONS);
        self.recorder().begin();
        Ok(())
    }

    /// Submits the rest of the work, and waits.
    fn end_work(&mut self) -> Result<()> {
        self.recorder().end();
        self.order(BEFORE_THE_HOST);
        self.run()
    }

    /// A recorder into the current command buffer, which is not split.
    fn recorder(&self) -> Recorder<'_> {
        // SAFETY: the command buffer is recording, and nothing else records into it.
        unsafe { Recorder::new(&self.device, self.commands.buffer()) }
    }

    /// Lets later commands begin after all earlier ones, which access other memory: for their times alone. It is no barrier of the
    /// recording, where each must order accesses.
    fn wait_for_earlier(&self) {
        let stages = BETWEEN_RUNS.source.stages;
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is recording, and nothing else records into it.
        unsafe {
            self.device.raw().cmd_pipeline_barrier(
                self.commands.buffer(),
                stages,
                stages,
                flags,
                &[],
                &[],
                &[],
            );
        }
    }

    fn order(&self, barrier: Barrier) {
        self.recorder().barrier(barrier);
    }

    /// Records between timestamps.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `record` does.
    unsafe fn record_run(&mut self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<()> {
        self.runs_ns.push(0.0);
        self.start();
        // SAFETY: as the caller promises.
        unsafe { self.record(record) }?;
        self.stop();
        Ok(())
    }

    /// Records, with splits between submissions.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `record` does.
    unsafe fn record(
        &mut self,
        record: impl FnOnce(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<CommandCounts> {
        let device = self.device.clone();
        // SAFETY: the command buffer is recording, and nothing else records into it, until the recorder returns an
        // error, and as the caller promises; `headless` opens its devices with `splits_dispatches`.
        let mut recorder = unsafe { Recorder::paced(&device, self.commands.buffer(), self) };
        record(&mut recorder)?;
        let counts = recorder.counts();
        self.failed.take().map_or(Ok(counts), Err)
    }

    /// Records without submitting, and returns the time on the host in nanoseconds.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `record` does.
    pub(super) unsafe fn time_recording(
        &mut self,
        record: impl FnOnce(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<f64> {
        self.device.check()?;
        self.begin()?;
        // SAFETY: the command buffer is recording, nothing else records into it, and as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, self.commands.buffer()) };
        let start = Instant::now();
        record(&mut recorder)?;
        Ok(start.elapsed().as_nanos() as f64)
    }

    fn begin(&mut self) -> Result<()> {
        self.pairs.clear();
        self.is_in_run = false;
        self.budget.begin();
        self.commands.begin()
    }

    /// Submits the commands recorded so far, and begins the next command buffer.
    fn split(&mut self) -> Result<()> {
        let is_in_run = self.is_in_run;
        self.stop();
        self.recorder().submit();
        self.run()?;
        if self.interrupted.as_ref().is_some_and(|interrupted| interrupted()) {
            return Err(Error::Interrupted);
        }
        self.begin()?;
        if is_in_run {
            self.start();
        }
        Ok(())
    }

    /// Begins a part of the last run.
    fn start(&mut self) {
        self.is_in_run = true;
        let pair = self.pairs.len() as u32;
        self.pairs.push(self.runs_ns.len() - 1);
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: the command buffer is recording, and the pool is waited for with it.
            unsafe { timestamps.cmd_begin(self.commands.buffer(), pair) };
        }
    }

    /// Ends the part of a run, if there is one.
    fn stop(&mut self) {
        if !std::mem::take(&mut self.is_in_run) {
            return;
        }
        let pair = self.pairs.len() as u32 - 1;
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: as in `start`.
            unsafe { timestamps.cmd_end(self.commands.buffer(), pair) };
        }
    }

    /// Submits the recorded commands and waits for them.
    fn run(&mut self) -> Result<()> {
        let start = Instant::now();
        // SAFETY: the command buffer is recording.
        unsafe { self.commands.submit(&self.queue) }?;
        self.commands.wait()?;
        self.budget.calibrate(start.elapsed());
        for (pair, run) in self.pairs.drain(..).enumerate() {
            if let Some(timestamps) = &self.timestamps {
                // SAFETY: the work was waited for.
                self.runs_ns[run] += unsafe { timestamps.elapsed_ns(pair as u32) }?;
            }
        }
        Ok(())
    }

    /// Records and submits `commands`, and does not wait.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `record` does, until `commands` was waited for.
    pub(super) unsafe fn launch(
        &mut self,
        commands: &mut Commands,
        record: impl FnOnce(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<()> {
        self.device.check()?;
        commands.begin()?;
        // SAFETY: as the caller promises; the command buffer is recording.
        let mut recorder = unsafe { Recorder::new(&self.device, commands.buffer()) };
        recorder.barrier(AFTER_EARLIER_SUBMISSIONS);
        record(&mut recorder)?;
        recorder.barrier(BEFORE_THE_HOST);
        // SAFETY: as the caller promises.
        unsafe { commands.submit(&self.queue) }
    }
}

impl SubmissionSplitter for Submitter {
    fn limit(&self) -> u64 {
        self.budget.limit()
    }

    fn reserve(&mut self, parts: u32, part_size: u64) -> Result<(vk::CommandBuffer, u32)> {
        let mut reserved = self.budget.reserve(parts, part_size);
        if reserved == 0 {
            self.split().inspect_err(|error| self.failed = Some(error.clone()))?;
            reserved = self.budget.reserve(parts, part_size);
        }
        Ok((self.commands.buffer(), reserved))
    }

    fn reserve_at_most(&mut self, size: u64) -> Result<vk::CommandBuffer> {
        if !self.budget.reserve_at_most(size) {
            self.split().inspect_err(|error| self.failed = Some(error.clone()))?;
            self.budget.reserve_at_most(size);
        }
        Ok(self.commands.buffer())
    }
}
