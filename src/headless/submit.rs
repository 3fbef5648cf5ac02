//! Recording, submitting and waiting, with one command buffer; long work is split into several submissions.

use std::time::{Duration, Instant};

use ash::vk;

use super::WorkOptions;
use super::commands::{AFTER_EARLIER_SUBMISSIONS, BEFORE_THE_HOST, Commands};
use super::submission_budget::SubmissionBudget;
use crate::device::{Device, Recorder, SubmissionSplitter, Timestamps};
use crate::error::{Error, Result};

pub(super) struct Submitter {
    device: Device,
    queue_family_index: u32,
    queue: vk::Queue,
    commands: Commands,
    timestamps: Option<Timestamps>,
    /// GPU time of the current work so far.
    elapsed_ns: f64,
    budget: SubmissionBudget,
    wait_limit: Duration,
    /// Error of a split of the current work, after which the command buffer is not in the recording state.
    failed: Option<Error>,
}

impl Submitter {
    pub(super) fn new(
        device: &Device,
        queue_family_index: u32,
        timestamp_valid_bits: u32,
        options: &WorkOptions,
    ) -> Result<Self> {
        // SAFETY: the device was opened with one queue of this family.
        let queue = unsafe { device.raw().get_device_queue(queue_family_index, 0) };
        Ok(Self {
            device: device.clone(),
            queue_family_index,
            queue,
            commands: Commands::new(device, queue_family_index, options.wait_limit)?,
            timestamps: Timestamps::new(device, timestamp_valid_bits)?,
            elapsed_ns: 0.0,
            budget: SubmissionBudget::new(options.submission_limit),
            wait_limit: options.wait_limit,
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
    /// Those of [`Recorder::new`], for what `record` does.
    pub(super) unsafe fn submit(
        &mut self,
        record: impl FnOnce(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<Option<f64>> {
        self.device.check()?;
        let device = self.device.clone();
        // SAFETY: the command buffer is recording, and nothing else records into it.
        let around = |commands| unsafe { Recorder::new(&device, commands) };
        self.elapsed_ns = 0.0;
        self.failed = None;
        self.begin()?;
        around(self.commands.buffer()).barrier(AFTER_EARLIER_SUBMISSIONS);
        around(self.commands.buffer()).begin();
        self.start();
        // SAFETY: as above, until the recorder returns an error, and as the caller promises; `headless` opens its
        // devices with `splits_dispatches`.
        record(&mut unsafe { Recorder::paced(&device, self.commands.buffer(), self) })?;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.stop();
        around(self.commands.buffer()).end();
        around(self.commands.buffer()).barrier(BEFORE_THE_HOST);
        self.run()?;
        Ok(self.has_timestamps().then_some(self.elapsed_ns))
    }

    /// Records without submitting, and returns the time on the host in nanoseconds.
    ///
    /// # Safety
    /// Those of [`Recorder::new`], for what `record` does.
    #[cfg(feature = "cli")]
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
        self.budget.begin();
        self.commands.begin()
    }

    /// Submits the commands recorded so far, and begins the next command buffer.
    fn split(&mut self) -> Result<()> {
        self.stop();
        // SAFETY: the command buffer is recording, and nothing else records into it.
        unsafe { Recorder::new(&self.device, self.commands.buffer()) }.submit();
        self.run()?;
        self.begin()?;
        self.start();
        Ok(())
    }

    fn start(&self) {
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: the command buffer is recording, and the pool is waited for with it.
            unsafe { timestamps.cmd_begin(self.commands.buffer()) };
        }
    }

    fn stop(&self) {
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: as in `start`.
            unsafe { timestamps.cmd_end(self.commands.buffer()) };
        }
    }

    /// Submits the recorded commands and waits for them.
    fn run(&mut self) -> Result<()> {
        let start = Instant::now();
        // SAFETY: the command buffer is recording, and the queue is used through `&mut self` alone.
        unsafe { self.commands.submit(self.queue) }?;
        self.commands.wait()?;
        self.budget.calibrate(start.elapsed());
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: the work was waited for.
            self.elapsed_ns += unsafe { timestamps.elapsed_ns() }?;
        }
        Ok(())
    }

    /// Records and submits `commands`, and does not wait.
    ///
    /// # Safety
    /// Those of [`Recorder::new`], for what `record` does, until `commands` was waited for.
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
        // SAFETY: as the caller promises; the queue is used through `&mut self` alone.
        unsafe { commands.submit(self.queue) }
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
