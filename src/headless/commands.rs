//! A command buffer with its pool and its fence.

use std::sync::Mutex;
use std::time::Duration;

use ash::vk;

use super::fence::Fence;
use super::lock;
use crate::device::{Access, Barrier, Device};
use crate::error::{Error, Result};

/// Stages and accesses of all commands submitted here.
const WORK: Access = Access::COMPUTE.and(Access::TRANSFER);
const WORK_WRITES: Access = Access::COMPUTE_WRITE.and(Access::TRANSFER_WRITE);

/// Makes writes of earlier submissions available and visible to this one.
pub(super) const AFTER_EARLIER_SUBMISSIONS: Barrier =
    Barrier { name: "after earlier submissions", source: WORK_WRITES, destination: WORK };
/// Orders a run after what prepares it, and after the run before.
pub(super) const BETWEEN_RUNS: Barrier = Barrier { name: "between runs", source: WORK, destination: WORK };
/// Makes writes of this submission visible to the host, once the fence is signalled.
pub(super) const BEFORE_THE_HOST: Barrier =
    Barrier { name: "before the host", source: WORK_WRITES, destination: Access::HOST_READ };

/// A command buffer, of which at most one submission is in flight.
pub(super) struct Commands {
    device: Device,
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
    fence: Fence,
}

impl Commands {
    pub(super) fn new(device: &Device, queue_family_index: u32, wait_limit: Duration) -> Result<Self> {
        let raw = device.raw();
        let fence = Fence::new(device, wait_limit)?;
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(queue_family_index);
        // SAFETY: the device was opened with a queue of this family.
        let pool = unsafe { raw.create_command_pool(&pool_info, None) };
        // From here on an early return destroys the created objects.
        let mut commands = Self {
            device: device.clone(),
            pool: pool.map_err(Error::vulkan("vkCreateCommandPool"))?,
            buffer: vk::CommandBuffer::null(),
            fence,
        };
        let info =
            vk::CommandBufferAllocateInfo::default().command_pool(commands.pool).command_buffer_count(1);
        // SAFETY: the pool is the device's.
        commands.buffer = unsafe { raw.allocate_command_buffers(&info) }
            .map_err(Error::vulkan("vkAllocateCommandBuffers"))?[0];
        Ok(commands)
    }

    pub(super) fn buffer(&self) -> vk::CommandBuffer {
        self.buffer
    }

    /// Begins the command buffer. The last submission was waited for.
    pub(super) fn begin(&mut self) -> Result<()> {
        assert!(!self.fence.is_in_flight(), "a submission is waited for before the next is recorded");
        let raw = self.device.raw();
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: nothing of the pool is in use.
        unsafe {
            raw.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
                .map_err(Error::vulkan("vkResetCommandPool"))?;
            raw.begin_command_buffer(self.buffer, &begin).map_err(Error::vulkan("vkBeginCommandBuffer"))
        }
    }

    /// Ends the command buffer, and submits it.
    ///
    /// # Safety
    /// The command buffer is recording. `queue` is of its family. What the commands use outlives the work.
    pub(super) unsafe fn submit(&mut self, queue: &Mutex<vk::Queue>) -> Result<()> {
        let raw = self.device.raw();
        let buffers = [self.buffer];
        let submits = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: as the caller promises.
        unsafe { raw.end_command_buffer(self.buffer) }.map_err(Error::vulkan("vkEndCommandBuffer"))?;
        self.fence.submit("vkQueueSubmit", |raw, fence| {
            // SAFETY: as the caller promises; the queue is locked.
            unsafe { raw.queue_submit(*lock(queue), &submits, fence) }
        })
    }

    /// Waits for the submission in flight: see [`Fence::wait`].
    pub(super) fn wait(&mut self) -> Result<()> {
        self.fence.wait()
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // An error has abandoned the device, or the work has completed.
        let _ = self.wait();
        // SAFETY: nothing is in use; objects of a lost device may be destroyed.
        self.device.destroy(|raw| unsafe { raw.destroy_command_pool(self.pool, None) });
    }
}
