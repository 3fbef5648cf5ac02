//! Device memory, by `gpu-allocator`.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex};

use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};

use super::lock;
use crate::device::{Buffer, BufferRange, Device};
use crate::error::{Error, Result};

/// All usage flags that plans and transfers need.
const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);
/// Staging buffers have addresses, too, by which the hazard checker knows their ranges.
const STAGING_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// Size of the blocks that small buffers share, bytes.
const BLOCK_SIZE: u64 = 16 << 20;

/// Margin on each side of a buffer of `allocate_apart`: more than an access out of bounds by one tile.
const MARGIN_SIZE: u64 = 64 << 10;

pub(super) struct Memory {
    // Dropped before the device; leaked if the device is abandoned.
    allocator: ManuallyDrop<Mutex<Allocator>>,
    device: Device,
}

/// A buffer and its memory, freed on drop.
pub struct GpuBuffer {
    // The buffer is destroyed before its memory is freed: see `drop`.
    buffer: ManuallyDrop<Buffer>,
    allocation: ManuallyDrop<Allocation>,
    memory: Arc<Memory>,
}

impl Memory {
    pub(super) fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &Device,
    ) -> Result<Self> {
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.raw().clone(),
            physical_device,
            debug_settings: Default::default(),
            buffer_device_address: true,
            // Small blocks: what is allocated beyond the buffers counts as well where the memory is limited.
            allocation_sizes: AllocationSizes::new(BLOCK_SIZE, BLOCK_SIZE),
        })
        .map_err(|error| allocation_error(error, 0))?;
        Ok(Self { allocator: ManuallyDrop::new(Mutex::new(allocator)), device: device.clone() })
    }

    pub(super) fn allocate(self: &Arc<Self>, size: u64) -> Result<GpuBuffer> {
        self.allocate_as("subsweep", size, BUFFER_USAGE, MemoryLocation::GpuOnly, 0)
    }

    /// Allocates a buffer with a margin on both sides that belongs to no buffer.
    pub(super) fn allocate_apart(self: &Arc<Self>, size: u64) -> Result<GpuBuffer> {
        self.allocate_as("subsweep apart", size, BUFFER_USAGE, MemoryLocation::GpuOnly, MARGIN_SIZE)
    }

    /// Allocates host-visible memory.
    pub(super) fn allocate_staging(self: &Arc<Self>, size: u64) -> Result<GpuBuffer> {
        // Host-cached memory: reads of uncached memory are slow, and writes to cached memory only a little slower.
        self.allocate_as("subsweep staging", size, STAGING_USAGE, MemoryLocation::GpuToCpu, 0)
    }

    fn allocate_as(
        self: &Arc<Self>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
        margin_size: u64,
    ) -> Result<GpuBuffer> {
        self.device.check()?;
        // Some drivers overcommit, and the process is killed at an access to the memory.
        let capabilities = self.device.capabilities();
        if size > capabilities.largest_heap_size.min(capabilities.max_allocation_size) {
            return Err(out_of_memory(size));
        }
        let mut buffer = Buffer::new(&self.device, size, usage)?;
        let mut requirements = buffer.memory_requirements();
        let margin_size = margin_size.next_multiple_of(requirements.alignment);
        requirements.size += 2 * margin_size;
        let allocation = lock(&self.allocator)
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| allocation_error(error, size))?;
        let offset = allocation.offset() + margin_size;
        // SAFETY: the memory between the margins meets the buffer's requirements, is bound once, and is freed after the
        // buffer.
        let bound = unsafe { buffer.bind(allocation.memory(), offset) };
        let buffer = GpuBuffer {
            buffer: ManuallyDrop::new(buffer),
            allocation: ManuallyDrop::new(allocation),
            memory: Arc::clone(self),
        };
        bound.map(|()| buffer)
    }
}

impl GpuBuffer {
    /// The whole buffer; its size is the requested one, and at least 4.
    pub fn range(&self) -> BufferRange {
        self.buffer.range()
    }

    pub(super) fn is_from(&self, memory: &Arc<Memory>) -> bool {
        Arc::ptr_eq(&self.memory, memory)
    }

    /// The mapped bytes. gpu-allocator maps only coherent memory, which needs no flush.
    ///
    /// # Panics
    /// If the memory is not host-visible: only staging buffers are.
    pub(super) fn mapped(&mut self) -> &mut [u8] {
        self.allocation.mapped_slice_mut().expect("staging memory is mapped")
    }
}

impl Drop for GpuBuffer {
    fn drop(&mut self) {
        self.memory.device.destroy(|_| {
            // SAFETY: neither is used again.
            let allocation = unsafe {
                ManuallyDrop::drop(&mut self.buffer);
                ManuallyDrop::take(&mut self.allocation)
            };
            // Freeing fails only for an allocation of another allocator.
            let _ = lock(&self.memory.allocator).free(allocation);
        });
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: every buffer holds `Memory`, so no allocation is in use.
        self.device.destroy(|_| unsafe { ManuallyDrop::drop(&mut self.allocator) });
    }
}

fn out_of_memory(needed: u64) -> Error {
    Error::OutOfDeviceMemory { needed: Some(needed), what: "a buffer" }
}

fn allocation_error(error: AllocationError, needed: u64) -> Error {
    let returned = match &error {
        AllocationError::OutOfMemory => return out_of_memory(needed),
        AllocationError::Internal(text) => text
            .strip_prefix("Unexpected error in vkAllocateMemory: ")
            .and_then(|text| result_of(text, |result| format!("{result:?}")))
            .map(Error::vulkan("vkAllocateMemory")),
        AllocationError::FailedToMap(text) => {
            result_of(text, vk::Result::to_string).map(Error::vulkan("vkMapMemory"))
        }
        _ => None,
    };
    returned.unwrap_or_else(|| Error::Allocation { needed, reason: error.to_string() })
}

/// Recovers a `VkResult` from its text, which is all that gpu-allocator keeps.
fn result_of(text: &str, format: impl Fn(&vk::Result) -> String) -> Option<vk::Result> {
    [
        vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        vk::Result::ERROR_DEVICE_LOST,
        vk::Result::ERROR_MEMORY_MAP_FAILED,
        vk::Result::ERROR_TOO_MANY_OBJECTS,
        vk::Result::ERROR_UNKNOWN,
    ]
    .into_iter()
    .find(|result| format(result) == text)
}
