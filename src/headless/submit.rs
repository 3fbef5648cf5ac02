//! Recording, submitting and waiting, with one command buffer; long work is split into several submissions.

use std::time::{Duration, Instant};

use ash::vk;

use super::WorkOptions;
use super::submission_budget::SubmissionBudget;
use crate::device::{Access, Barrier, Device, Recorder, SubmissionSplitter, Timestamps};
use crate::error::{Error, Result};

pub(super) struct Submitter {
    device: Device,
    queue_family_index: u32,
    queue: vk::Queue,
    pool: vk::CommandPool,
    command_buffer: vk::CommandBuffer,
    fence: vk::Fence,
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
        let raw = device.raw();
        let timestamps = Timestamps::new(device, timestamp_valid_bits)?;
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(queue_family_index);
        // SAFETY: the device was opened with one queue of this family.
        let (queue, pool) = unsafe {
            (raw.get_device_queue(queue_family_index, 0), raw.create_command_pool(&pool_info, None))
        };
        // From here on an early return destroys the created objects.
        let mut submitter = Self {
            device: device.clone(),
            queue_family_index,
            queue,
            pool: pool.map_err(Error::vulkan("vkCreateCommandPool"))?,
            command_buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            timestamps,
            elapsed_ns: 0.0,
            budget: SubmissionBudget::new(options.submission_limit),
            wait_limit: options.wait_limit,
            failed: None,
        };
        let info =
            vk::CommandBufferAllocateInfo::default().command_pool(submitter.pool).command_buffer_count(1);
        // SAFETY: the pool is the device's.
        submitter.command_buffer = unsafe { raw.allocate_command_buffers(&info) }
            .map_err(Error::vulkan("vkAllocateCommandBuffers"))?[0];
        // SAFETY: the device is alive.
        submitter.fence = unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) }
            .map_err(Error::vulkan("vkCreateFence"))?;
        Ok(submitter)
    }

    pub(super) fn queue_family_index(&self) -> u32 {
        self.queue_family_index
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
        around(self.command_buffer).barrier(AFTER_EARLIER_SUBMISSIONS);
        around(self.command_buffer).begin();
        self.start();
        // SAFETY: as above, until the recorder returns an error, and as the caller promises; `headless` opens its
        // devices with `splits_dispatches`.
        record(&mut unsafe { Recorder::paced(&device, self.command_buffer, self) })?;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.stop();
        around(self.command_buffer).end();
        around(self.command_buffer).barrier(BEFORE_THE_HOST);
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
        let mut recorder = unsafe { Recorder::new(&self.device, self.command_buffer) };
        let start = Instant::now();
        record(&mut recorder)?;
        Ok(start.elapsed().as_nanos() as f64)
    }

    fn begin(&mut self) -> Result<()> {
        self.budget.begin();
        let raw = self.device.raw();
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the last submission was waited for, so nothing of the pool is in use.
        unsafe {
            raw.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
                .map_err(Error::vulkan("vkResetCommandPool"))?;
            raw.begin_command_buffer(self.command_buffer, &begin)
                .map_err(Error::vulkan("vkBeginCommandBuffer"))
        }
    }

    /// Submits the commands recorded so far, and begins the next command buffer.
    fn split(&mut self) -> Result<()> {
        self.stop();
        // SAFETY: the command buffer is recording, and nothing else records into it.
        unsafe { Recorder::new(&self.device, self.command_buffer) }.submit();
        self.run()?;
        self.begin()?;
        self.start();
        Ok(())
    }

    fn start(&self) {
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: the command buffer is recording, and the pool is waited for with it.
            unsafe { timestamps.cmd_begin(self.command_buffer) };
        }
    }

    fn stop(&self) {
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: as in `start`.
            unsafe { timestamps.cmd_end(self.command_buffer) };
        }
    }

    /// Submits the recorded commands and waits for them.
    fn run(&mut self) -> Result<()> {
        let raw = self.device.raw();
        let command_buffers = [self.command_buffer];
        let submits = [vk::SubmitInfo::default().command_buffers(&command_buffers)];
        let start = Instant::now();
        // SAFETY: the command buffer is complete; queue, pool and fence are used through `&mut self` alone, and the
        // last submission was waited for.
        unsafe {
            raw.end_command_buffer(self.command_buffer).map_err(Error::vulkan("vkEndCommandBuffer"))?;
            // A failed wait may have left the fence signalled.
            raw.reset_fences(&[self.fence]).map_err(Error::vulkan("vkResetFences"))?;
            raw.queue_submit(self.queue, &submits, self.fence).map_err(Error::vulkan("vkQueueSubmit"))?;
        }
        self.wait()?;
        self.budget.calibrate(start.elapsed());
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: the work was waited for.
            self.elapsed_ns += unsafe { timestamps.elapsed_ns() }?;
        }
        Ok(())
    }

    /// Waits until the submitted work has completed. On error either the work has completed nevertheless, or the device
    /// is abandoned: the caller may free what the work uses.
    fn wait(&self) -> Result<()> {
        let (raw, during) = (self.device.raw(), "vkWaitForFences");
        let nanoseconds = u64::try_from(self.wait_limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence was submitted.
        match unsafe { raw.wait_for_fences(&[self.fence], true, nanoseconds) } {
            Ok(()) => Ok(()),
            Err(vk::Result::TIMEOUT) => {
                let error = Error::TimedOut { during, limit: self.wait_limit };
                self.device.abandon(&error);
                Err(error)
            }
            Err(result) => {
                // SAFETY: as above.
                match unsafe { raw.wait_for_fences(&[self.fence], true, nanoseconds) } {
                    // A lost device executes nothing more.
                    Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST) => {}
                    Err(vk::Result::TIMEOUT) => {
                        self.device.abandon(&Error::TimedOut { during, limit: self.wait_limit });
                    }
                    Err(_) => self.device.abandon(&Error::DeviceLost { during }),
                }
                Err(Error::vulkan(during)(result))
            }
        }
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
        Ok((self.command_buffer, reserved))
    }

    fn reserve_at_most(&mut self, size: u64) -> Result<vk::CommandBuffer> {
        if !self.budget.reserve_at_most(size) {
            self.split().inspect_err(|error| self.failed = Some(error.clone()))?;
            self.budget.reserve_at_most(size);
        }
        Ok(self.command_buffer)
    }
}

/// Stages and accesses of all commands submitted here.
const WORK: Access = Access::COMPUTE.and(Access::TRANSFER);

/// Makes writes of earlier submissions available and visible to this one.
const AFTER_EARLIER_SUBMISSIONS: Barrier =
    Barrier { name: "after earlier submissions", source: WORK_WRITES, destination: WORK };
/// Makes writes of this submission visible to the host, once the fence is signalled.
const BEFORE_THE_HOST: Barrier =
    Barrier { name: "before the host", source: WORK_WRITES, destination: Access::HOST_READ };
const WORK_WRITES: Access = Access::COMPUTE_WRITE.and(Access::TRANSFER_WRITE);

impl Drop for Submitter {
    fn drop(&mut self) {
        // SAFETY: `submit` waits, so nothing is in use; objects of a lost device may be destroyed.
        self.device.destroy(|raw| unsafe {
            raw.destroy_fence(self.fence, None);
            raw.destroy_command_pool(self.pool, None);
        });
    }
}
