//! Buffers with device addresses and dedicated memory.
//!
//! A renderer would use an allocator; the library only takes ranges.

use anyhow::{Context as _, Result};
use subsweep::ash::vk;
use subsweep::device::BufferRange;

use crate::device::Gpu;

/// Location of a buffer's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// Device-local.
    Device,
    /// Host-visible.
    Host,
}

/// A buffer and its memory, destroyed on drop.
pub struct Buffer<'g> {
    gpu: &'g Gpu,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
    /// The whole buffer, by handle and by address.
    pub range: BufferRange,
}

/// Usage of all buffers: device addresses, copies and fills, indirect arguments.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

impl<'g> Buffer<'g> {
    /// Creates a buffer of `size` bytes; a size of 0 is treated as 4.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn new(gpu: &'g Gpu, size: u64, location: Location) -> Result<Self> {
        let size = size.max(4);
        let info = vk::BufferCreateInfo::default().size(size).usage(USAGE);
        // SAFETY: the device is alive.
        let raw = unsafe { gpu.raw.create_buffer(&info, None) }?;
        let range = BufferRange { buffer: raw, size, usage: USAGE, ..BufferRange::NONE };
        // From here on an early return destroys the created objects.
        let mut buffer = Self { gpu, memory: vk::DeviceMemory::null(), mapped: std::ptr::null_mut(), range };
        // SAFETY: the buffer is alive, and is bound once to memory that meets its requirements; mapped memory is
        // host-visible.
        unsafe {
            let wanted = gpu.raw.get_buffer_memory_requirements(raw);
            buffer.memory = allocate(gpu, wanted, location, vk::MemoryAllocateFlags::DEVICE_ADDRESS)?;
            gpu.raw.bind_buffer_memory(raw, buffer.memory, 0)?;
            if location == Location::Host {
                let flags = vk::MemoryMapFlags::empty();
                buffer.mapped = gpu.raw.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags)?.cast();
            }
            buffer.range = BufferRange::new(&gpu.adopted, raw, size, USAGE);
        }
        Ok(buffer)
    }

    /// The mapped memory as `count` elements.
    ///
    /// # Panics
    /// If the buffer is not mapped, or smaller.
    pub fn elements<T: bytemuck::Pod>(&mut self, count: usize) -> &mut [T] {
        assert!(!self.mapped.is_null() && (count * size_of::<T>()) as u64 <= self.range.size);
        // SAFETY: mapped, coherent, aligned for any element as Vulkan promises, of this size, and any bytes are some
        // `T`. The device does not access it: a frame is waited for before the host does.
        unsafe { std::slice::from_raw_parts_mut(self.mapped.cast(), count) }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the caller waits for submitted work before it drops the buffer.
        unsafe {
            self.gpu.raw.destroy_buffer(self.range.buffer, None);
            self.gpu.raw.free_memory(self.memory, None);
        }
    }
}

/// Allocates memory for a buffer or an image.
///
/// # Errors
/// If there is no such memory type, and errors of Vulkan functions.
///
/// # Safety
/// `wanted` is of the same device.
pub unsafe fn allocate(
    gpu: &Gpu,
    wanted: vk::MemoryRequirements,
    location: Location,
    flags: vk::MemoryAllocateFlags,
) -> Result<vk::DeviceMemory> {
    let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    // In order of preference: host reads of cached memory are many times as fast.
    let kinds = match location {
        Location::Device => [vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::empty()],
        Location::Host => [seen | vk::MemoryPropertyFlags::HOST_CACHED, seen],
    };
    let types = gpu.memory.memory_types_as_slice();
    let index = kinds.into_iter().find_map(|kind| {
        let is_suitable = |index: usize| {
            wanted.memory_type_bits & (1 << index) != 0 && types[index].property_flags.contains(kind)
        };
        (0..types.len()).find(|&index| is_suitable(index))
    });
    let index = index.context("the device has no memory of the kind that a frame needs")?;
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(wanted.size)
        .memory_type_index(index as u32)
        .push_next(&mut flags);
    // SAFETY: as the caller promises, and everything that `info` points to is alive.
    Ok(unsafe { gpu.raw.allocate_memory(&info, None) }?)
}
