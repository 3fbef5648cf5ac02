//! Resources of a frame in flight: the memory that it changes, its image and its commands.

use anyhow::Result;
use subsweep::ash::vk;

use crate::commands::Commands;
use crate::device::Gpu;
use crate::memory::{Buffer, Location};
use crate::options::{Options, Order};
use crate::target::{Pass, Target};

/// Commands, memory and image of a frame in flight. Concurrent frames use different slots.
pub struct Slot<'g> {
    // Waits for the device when dropped, so it comes first.
    pub commands: Commands<'g>,
    /// Depth of each splat, f32.
    pub depths: Buffer<'g>,
    /// 1 for visible splats, else 0, u32.
    pub flags: Buffer<'g>,
    /// Footprint of each visible splat, 32 bytes.
    pub footprints: Buffer<'g>,
    /// Depths of the visible splats, f32: the sort's keys.
    pub keys: Buffer<'g>,
    /// Indices of the visible splats, u32: the sort's values, and the order of the draw. Where the sort computes depths, the
    /// indices are in `keys`, and these are indices of them.
    pub order: Buffer<'g>,
    /// A `VkDrawIndirectCommand`; its number of instances is the number of visible splats, and the sort's indirect
    /// count.
    pub draw: Buffer<'g>,
    /// What the sort computes depths from: the camera's row forward, and the address of the splats.
    pub viewed: Buffer<'g>,
    /// Scratch of the selection, then of the sort.
    pub scratch: Buffer<'g>,
    /// The render target.
    pub target: Target<'g>,
    /// The image for the host: 4 bytes per pixel.
    pub pixels: Buffer<'g>,
}

impl<'g> Slot<'g> {
    /// Bytes of a `Footprint` in `shaders/splat.glsl`.
    const FOOTPRINT_SIZE: u64 = 32;

    /// Creates a slot for frames of `options`, with `scratch_size` bytes of scratch.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn new(gpu: &'g Gpu, pass: &Pass<'_>, options: &Options, scratch_size: u64) -> Result<Self> {
        let count = u64::from(options.splat_count);
        let pixel_count: u64 = options.size.map(u64::from).iter().product();
        // For the reference the host reads depths and flags, and writes the order.
        let shared = if options.order == Order::Reference { Location::Host } else { Location::Device };
        let is_computed = options.order == Order::Computed;
        let counted = if is_computed { Location::Host } else { shared };
        Ok(Self {
            commands: Commands::new(gpu)?,
            depths: Buffer::new(gpu, if is_computed { 0 } else { 4 * count }, shared)?,
            flags: Buffer::new(gpu, 4 * count, shared)?,
            footprints: Buffer::new(gpu, Self::FOOTPRINT_SIZE * count, Location::Device)?,
            keys: Buffer::new(gpu, 4 * count, Location::Device)?,
            order: Buffer::new(gpu, 4 * count, shared)?,
            draw: Buffer::new(gpu, size_of::<vk::DrawIndirectCommand>() as u64, counted)?,
            viewed: Buffer::new(gpu, 24, Location::Host)?,
            scratch: Buffer::new(gpu, scratch_size, Location::Device)?,
            target: Target::new(gpu, pass, options.size)?,
            pixels: Buffer::new(gpu, 4 * pixel_count, Location::Host)?,
        })
    }

    /// Device address of the number of instances, which is the number of visible splats.
    pub fn instance_count(&self) -> vk::DeviceAddress {
        self.draw.range.address + std::mem::offset_of!(vk::DrawIndirectCommand, instance_count) as u64
    }
}
