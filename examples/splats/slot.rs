//! What one frame in flight has to itself: all memory that it changes, its picture, and its commands.

use anyhow::Result;
use subsweep::ash::vk;

use crate::commands::Commands;
use crate::device::Gpu;
use crate::memory::{Buffer, Place};
use crate::options::{Options, Order};
use crate::target::{Pass, Target};

/// Commands, memory and a picture. While one frame is at work in its slot, the next has another.
pub struct Slot<'g> {
    // Waits for the device when dropped, so it comes first.
    pub commands: Commands<'g>,
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
    /// What was drawn, for the host: 4 bytes a pixel.
    pub pixels: Buffer<'g>,
}

impl<'g> Slot<'g> {
    /// Bytes of a `Footprint` in `shaders/splat.glsl`.
    const FOOTPRINT_SIZE: u64 = 32;

    /// A slot for frames as `options` has them, with so many bytes of scratch.
    ///
    /// # Errors
    /// Whatever Vulkan says.
    pub fn new(gpu: &'g Gpu, pass: &Pass<'_>, options: &Options, scratch_size: u64) -> Result<Self> {
        let count = u64::from(options.splat_count);
        let pixel_count: u64 = options.size.map(u64::from).iter().product();
        // For the reference the host reads what is to be sorted, and writes what is to be drawn.
        let shared = if options.order == Order::Reference { Place::Host } else { Place::Device };
        Ok(Self {
            commands: Commands::new(gpu)?,
            depths: Buffer::new(gpu, 4 * count, shared)?,
            flags: Buffer::new(gpu, 4 * count, shared)?,
            places: Buffer::new(gpu, 4 * count, Place::Device)?,
            footprints: Buffer::new(gpu, Self::FOOTPRINT_SIZE * count, Place::Device)?,
            keys: Buffer::new(gpu, 4 * count, Place::Device)?,
            order: Buffer::new(gpu, 4 * count, shared)?,
            draw: Buffer::new(gpu, size_of::<vk::DrawIndirectCommand>() as u64, shared)?,
            scratch: Buffer::new(gpu, scratch_size, Place::Device)?,
            target: Target::new(gpu, pass, options.size)?,
            pixels: Buffer::new(gpu, 4 * pixel_count, Place::Host)?,
        })
    }

    /// Where the number of instances stands: the only word that says how many splats are seen.
    pub fn instance_count(&self) -> vk::DeviceAddress {
        self.draw.range.address + std::mem::offset_of!(vk::DrawIndirectCommand, instance_count) as u64
    }
}
