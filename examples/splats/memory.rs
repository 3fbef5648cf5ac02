//! Buffers, each with an address and with memory of its own.
//!
//! A renderer would take its memory from an allocator; the library does not mind, since it is given ranges.

use anyhow::{Context as _, Result};
use subsweep::ash::vk;
use subsweep::device::BufferRange;

use crate::device::Gpu;

/// Where a buffer's memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where the device is fastest.
    Device,
    /// Where the host sees it too.
    Host,
}

/// A buffer and its memory, both gone when dropped.
pub struct Buffer<'g> {
    gpu: &'g Gpu,
    memory: vk::DeviceMemory,
    mapped: *mut u8,
    /// The whole of it, by handle and by address.
    pub range: BufferRange,
}

/// What any buffer of a frame may be used for: by shaders through its address, by copies and fills, by draws and dispatches
/// that take their arguments from it.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

impl<'g> Buffer<'g> {
    /// A buffer of `size` bytes; of 0 there is one of 4.
    ///
    /// # Errors
    /// Whatever Vulkan says.
    pub fn new(gpu: &'g Gpu, size: u64, place: Place) -> Result<Self> {
        let size = size.max(4);
        let info = vk::BufferCreateInfo::default().size(size).usage(USAGE);
        // SAFETY: the device is alive.
        let raw = unsafe { gpu.raw.create_buffer(&info, None) }?;
        let range = BufferRange { buffer: raw, size, usage: USAGE, ..BufferRange::NONE };
        // From here on an early return destroys what there is.
        let mut buffer = Self { gpu, memory: vk::DeviceMemory::null(), mapped: std::ptr::null_mut(), range };
        // SAFETY: the buffer is alive, and gets memory as it wants it, once; what is mapped is of the host's.
        unsafe {
            let wanted = gpu.raw.get_buffer_memory_requirements(raw);
            buffer.memory = allocate(gpu, wanted, place, vk::MemoryAllocateFlags::DEVICE_ADDRESS)?;
            gpu.raw.bind_buffer_memory(raw, buffer.memory, 0)?;
            if place == Place::Host {
                let flags = vk::MemoryMapFlags::empty();
                buffer.mapped = gpu.raw.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags)?.cast();
            }
            let info = vk::BufferDeviceAddressInfo::default().buffer(raw);
            buffer.range.address = gpu.raw.get_buffer_device_address(&info);
        }
        Ok(buffer)
    }

    /// What the host sees of it, as so many elements.
    ///
    /// # Panics
    /// If the host sees nothing of it, or it is smaller.
    pub fn elements<T: bytemuck::Pod>(&mut self, count: usize) -> &mut [T] {
        assert!(!self.mapped.is_null() && (count * size_of::<T>()) as u64 <= self.range.size);
        // SAFETY: mapped, coherent, aligned for any element as Vulkan promises, of this size, and any bytes are some `T`.
        // The device is not at work on it: a frame is waited for before the host looks.
        unsafe { std::slice::from_raw_parts_mut(self.mapped.cast(), count) }
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: whoever submits work waits for it before the buffers go.
        unsafe {
            self.gpu.raw.destroy_buffer(self.range.buffer, None);
            self.gpu.raw.free_memory(self.memory, None);
        }
    }
}

/// Memory for a buffer or an image.
///
/// # Errors
/// If there is none of the kind, or whatever Vulkan says.
///
/// # Safety
/// `wanted` is of the same device.
pub unsafe fn allocate(
    gpu: &Gpu,
    wanted: vk::MemoryRequirements,
    place: Place,
    flags: vk::MemoryAllocateFlags,
) -> Result<vk::DeviceMemory> {
    let seen = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    // In the order in which they are preferred: the host reads what is cached many times as fast.
    let kinds = match place {
        Place::Device => [vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::empty()],
        Place::Host => [seen | vk::MemoryPropertyFlags::HOST_CACHED, seen],
    };
    let types = gpu.memory.memory_types_as_slice();
    let index = kinds.into_iter().find_map(|kind| {
        let will_do = |index: usize| {
            wanted.memory_type_bits & (1 << index) != 0 && types[index].property_flags.contains(kind)
        };
        (0..types.len()).find(|&index| will_do(index))
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
