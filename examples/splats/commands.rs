//! Commands that are recorded, submitted and waited for, one after the other.

use anyhow::Result;
use subsweep::ash::vk;

use crate::device::Gpu;

/// A command buffer and the fence that says when its commands are done. Both are gone when dropped, and so is whatever the
/// device was at work on.
pub struct Commands<'g> {
    gpu: &'g Gpu,
    pool: vk::CommandPool,
    raw: vk::CommandBuffer,
    fence: vk::Fence,
}

impl<'g> Commands<'g> {
    /// A command buffer with nothing in it.
    ///
    /// # Errors
    /// Whatever Vulkan says.
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(gpu.family_index);
        // SAFETY: the device is alive, and the family is its queue's.
        let pool = unsafe { gpu.raw.create_command_pool(&info, None) }?;
        // From here on an early return destroys what there is.
        let mut commands = Self { gpu, pool, raw: vk::CommandBuffer::null(), fence: vk::Fence::null() };
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is the device's, and the device is alive.
        unsafe {
            commands.raw = gpu.raw.allocate_command_buffers(&info)?[0];
            commands.fence = gpu.raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        }
        Ok(commands)
    }

    /// Records, from the beginning to the end, and submits.
    ///
    /// # Errors
    /// Those of `record`, and whatever Vulkan says.
    ///
    /// # Safety
    /// What was submitted before has been waited for; what `record` records is right, and what it uses lives until the work
    /// is done.
    pub unsafe fn submit(&self, record: impl FnOnce(vk::CommandBuffer) -> Result<()>) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let recorded = [self.raw];
        let submits = [vk::SubmitInfo::default().command_buffers(&recorded)];
        // SAFETY: as the caller promises; the fence is not in use.
        unsafe {
            self.gpu.raw.begin_command_buffer(self.raw, &info)?;
            record(self.raw)?;
            self.gpu.raw.end_command_buffer(self.raw)?;
            self.gpu.raw.queue_submit(self.gpu.queue, &submits, self.fence)?;
        }
        Ok(())
    }

    /// Waits for what was submitted last.
    ///
    /// # Errors
    /// Whatever Vulkan says.
    pub fn wait(&self) -> Result<()> {
        let fences = [self.fence];
        // SAFETY: the fence is the device's, and nobody else uses it.
        unsafe {
            self.gpu.raw.wait_for_fences(&fences, true, u64::MAX)?;
            self.gpu.raw.reset_fences(&fences)?;
        }
        Ok(())
    }
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: the device has nothing to do any more, or is lost; so nothing uses what goes.
        unsafe {
            let _ = self.gpu.raw.device_wait_idle();
            self.gpu.raw.destroy_fence(self.fence, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
