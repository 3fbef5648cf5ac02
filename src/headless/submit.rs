//! One command buffer, submitted and waited for.

use ash::vk;

use crate::error::{Error, Result};
use crate::vk::{Barrier, Device, Recorder, Timestamps};

pub(super) struct Submitter {
    device: Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    command_buffer: vk::CommandBuffer,
    fence: vk::Fence,
    timestamps: Option<Timestamps>,
}

impl Submitter {
    pub(super) fn new(device: &Device, queue_family_index: u32, timestamp_valid_bits: u32) -> Result<Self> {
        let raw = device.raw();
        let timestamps = Timestamps::new(device, timestamp_valid_bits)?;
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(queue_family_index);
        // SAFETY: the device was opened with one queue of this family.
        let (queue, pool) = unsafe {
            (raw.get_device_queue(queue_family_index, 0), raw.create_command_pool(&pool_info, None))
        };
        // From here on an early return destroys what there is.
        let mut submitter = Self {
            device: device.clone(),
            queue,
            pool: pool.map_err(Error::vulkan("vkCreateCommandPool"))?,
            command_buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            timestamps,
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

    pub(super) fn has_timestamps(&self) -> bool {
        self.timestamps.is_some()
    }

    pub(super) fn submit(
        &mut self,
        record: impl FnOnce(vk::CommandBuffer) -> Result<()>,
    ) -> Result<Option<f64>> {
        let raw = self.device.raw();
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the last submission was waited for, so nothing of the pool is in use.
        unsafe {
            raw.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
                .map_err(Error::vulkan("vkResetCommandPool"))?;
            raw.begin_command_buffer(self.command_buffer, &begin)
                .map_err(Error::vulkan("vkBeginCommandBuffer"))?;
        }
        // SAFETY: the command buffer is recording, and nobody else records into it while the recorder is used.
        let mut recorder = unsafe { Recorder::new(&self.device, self.command_buffer) };
        recorder.barrier(AFTER_EARLIER_SUBMISSIONS);
        recorder.begin();
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: the command buffer is recording, and the pool is waited for with it.
            unsafe { timestamps.cmd_begin(self.command_buffer) };
        }
        record(self.command_buffer)?;
        if let Some(timestamps) = &self.timestamps {
            // SAFETY: as above.
            unsafe { timestamps.cmd_end(self.command_buffer) };
        }
        recorder.end();
        recorder.barrier(BEFORE_THE_HOST);

        let command_buffers = [self.command_buffer];
        let submits = [vk::SubmitInfo::default().command_buffers(&command_buffers)];
        // SAFETY: the command buffer is complete; queue, pool and fence are used through `&mut self` alone.
        unsafe {
            raw.end_command_buffer(self.command_buffer).map_err(Error::vulkan("vkEndCommandBuffer"))?;
            raw.queue_submit(self.queue, &submits, self.fence).map_err(Error::vulkan("vkQueueSubmit"))?;
            raw.wait_for_fences(&[self.fence], true, u64::MAX).map_err(|result| {
                // The caller is about to drop what the work may still use. If this fails too, the device is gone.
                let _ = raw.device_wait_idle();
                Error::vulkan("vkWaitForFences")(result)
            })?;
            raw.reset_fences(&[self.fence]).map_err(Error::vulkan("vkResetFences"))?;
        }
        // SAFETY: the work was waited for.
        self.timestamps.as_ref().map(|timestamps| unsafe { timestamps.elapsed_ns() }).transpose()
    }
}

const WORK: vk::PipelineStageFlags = vk::PipelineStageFlags::from_raw(
    vk::PipelineStageFlags::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags::TRANSFER.as_raw(),
);
const WORK_WRITES: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
);

/// This submission sees, and may overwrite, what earlier ones wrote.
const AFTER_EARLIER_SUBMISSIONS: Barrier = Barrier {
    name: "after earlier submissions",
    src_stages: WORK,
    src_access: WORK_WRITES,
    dst_stages: WORK,
    dst_access: vk::AccessFlags::from_raw(
        vk::AccessFlags::SHADER_READ.as_raw()
            | vk::AccessFlags::TRANSFER_READ.as_raw()
            | WORK_WRITES.as_raw(),
    ),
};
/// The host sees what this submission wrote, once the fence is signalled.
const BEFORE_THE_HOST: Barrier = Barrier {
    name: "before the host",
    src_stages: WORK,
    src_access: WORK_WRITES,
    dst_stages: vk::PipelineStageFlags::HOST,
    dst_access: vk::AccessFlags::HOST_READ,
};

impl Drop for Submitter {
    fn drop(&mut self) {
        let raw = self.device.raw();
        // SAFETY: `submit` waits, so nothing is in use; after a lost device destroying is all that is left.
        unsafe {
            raw.destroy_fence(self.fence, None);
            raw.destroy_command_pool(self.pool, None);
        }
    }
}
