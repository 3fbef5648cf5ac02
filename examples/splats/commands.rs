//! A command buffer that is recorded, submitted and waited for.

use anyhow::Result;
use subsweep::ash::vk;

use crate::device::Gpu;

/// A command buffer and a fence for its completion. Waits for the device and destroys both on drop.
pub struct Commands<'g> {
    gpu: &'g Gpu,
    pool: vk::CommandPool,
    raw: vk::CommandBuffer,
    fence: vk::Fence,
}

impl<'g> Commands<'g> {
    /// Creates an empty command buffer.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(gpu.family_index);
        // SAFETY: the device is alive, and the family is its queue's.
        let pool = unsafe { gpu.raw.create_command_pool(&info, None) }?;
        // From here on an early return destroys the created objects.
        let mut commands = Self { gpu, pool, raw: vk::CommandBuffer::null(), fence: vk::Fence::null() };
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is the device's, and the device is alive.
        unsafe {
            commands.raw = gpu.raw.allocate_command_buffers(&info)?[0];
            commands.fence = gpu.raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        }
        Ok(commands)
    }

    /// Records a command buffer with `record`, and submits it.
    ///
    /// # Errors
    /// Errors of `record` and of Vulkan functions.
    ///
    /// # Safety
    /// The previous submission was waited for. The commands of `record` are valid, and the objects that they use live
    /// until the work has completed.
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

    /// Waits for the last submission.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn wait(&self) -> Result<()> {
        let fences = [self.fence];
        // SAFETY: the fence is the device's, and nothing else uses it.
        unsafe {
            self.gpu.raw.wait_for_fences(&fences, true, u64::MAX)?;
            self.gpu.raw.reset_fences(&fences)?;
        }
        Ok(())
    }
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: the device is idle or lost, so nothing uses these objects.
        unsafe {
            let _ = self.gpu.raw.device_wait_idle();
            self.gpu.raw.destroy_fence(self.fence, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
