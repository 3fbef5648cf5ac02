//! What one frame in flight has to itself: all memory that it changes, its picture, and its commands.

use anyhow::Result;
use subsweep::ash::vk;
use subsweep::vk::BufferRange;

use crate::device::Gpu;
use crate::memory::{Buffer, Place};
use crate::options::{Options, Order};
use crate::target::{Pass, Target};

/// Memory, a picture, commands and a fence. While one frame is at work in its slot, the next has another.
pub struct Slot<'g> {
    gpu: &'g Gpu,
    /// How far away each splat is, f32.
    pub depths: Buffer<'g>,
    /// 1 for each that is seen, else 0, u32.
    pub flags: Buffer<'g>,
    /// How many before each are seen, u32.
    pub places: Buffer<'g>,
    /// Where each that is seen falls, 32 bytes.
    pub footprints: Buffer<'g>,
    /// The depths of those that are seen, f32: what is sorted.
    pub keys: Buffer<'g>,
    /// Which those are, u32: what goes with the keys, and is drawn in its order.
    pub order: Buffer<'g>,
    /// A `VkDrawIndirectCommand`; its instances are as many as splats are seen, which is the sort's count too.
    pub draw: Buffer<'g>,
    /// What the scan works in, and after it the sort.
    pub scratch: Buffer<'g>,
    /// What is drawn on.
    pub target: Target<'g>,
    /// What was drawn, for the host.
    pub pixels: Buffer<'g>,
    pool: vk::CommandPool,
    pub commands: vk::CommandBuffer,
    pub fence: vk::Fence,
}

impl<'g> Slot<'g> {
    /// Bytes of a `Footprint` in `shaders/splat.glsl`.
    const FOOTPRINT_SIZE: u64 = 32;

    /// A slot for frames as `options` has them, with so many bytes of scratch.
    ///
    /// # Errors
    /// Whatever Vulkan says.
    pub fn new(gpu: &'g Gpu, pass: &Pass<'_>, options: &Options, scratch_size: u64) -> Result<Self> {
        let words = 4 * u64::from(options.splat_count);
        // For the reference the host reads what is to be sorted, and writes what is to be drawn.
        let shared = if options.order == Order::Reference { Place::Host } else { Place::Device };
        let device = |size| Buffer::new(gpu, size, Place::Device);
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(gpu.family_index);
        // SAFETY: the device is alive, and the family is its queue's.
        let pool = unsafe { gpu.raw.create_command_pool(&info, None) }?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is the device's.
        let commands = unsafe { gpu.raw.allocate_command_buffers(&info) }?[0];
        // SAFETY: the device is alive.
        let fence = unsafe { gpu.raw.create_fence(&vk::FenceCreateInfo::default(), None) }?;
        Ok(Self {
            gpu,
            depths: Buffer::new(gpu, words, shared)?,
            flags: Buffer::new(gpu, words, shared)?,
            places: device(words)?,
            footprints: device(u64::from(options.splat_count) * Self::FOOTPRINT_SIZE)?,
            keys: device(words)?,
            order: Buffer::new(gpu, words, shared)?,
            draw: Buffer::new(gpu, size_of::<vk::DrawIndirectCommand>() as u64, shared)?,
            scratch: device(scratch_size)?,
            target: Target::new(gpu, pass, options.size)?,
            pixels: Buffer::new(gpu, 4 * options.size.map(u64::from).iter().product::<u64>(), Place::Host)?,
            pool,
            commands,
            fence,
        })
    }

    /// Records, from the beginning to the end, and submits.
    ///
    /// # Errors
    /// Those of `record`, and whatever Vulkan says.
    ///
    /// # Safety
    /// Whatever was submitted in this slot before has been waited for, and what `record` records is right.
    pub unsafe fn submit(&self, record: impl FnOnce(vk::CommandBuffer) -> Result<()>) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: as the caller promises; the fence is not in use.
        unsafe {
            self.gpu.raw.begin_command_buffer(self.commands, &info)?;
            record(self.commands)?;
            self.gpu.raw.end_command_buffer(self.commands)?;
            self.gpu.submit(self.commands, self.fence)
        }
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

    /// The number of instances in [`Self::draw`]: the only word that says how many splats are seen.
    pub fn instance_count(&self) -> vk::DeviceAddress {
        self.draw.range.address + std::mem::offset_of!(vk::DrawIndirectCommand, instance_count) as u64
    }

    /// What is scratch of a plan.
    pub fn scratch(&self) -> BufferRange {
        self.scratch.range
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // SAFETY: the queue is waited for before anything that its work uses goes.
        unsafe {
            let _ = self.gpu.raw.device_wait_idle();
            self.gpu.raw.destroy_fence(self.fence, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
