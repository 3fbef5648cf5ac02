//! Device memory, by `gpu-allocator`.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};

use super::lock;
use super::sparse::{ReservedAddresses, SparseBinder, piece_sizes};
use crate::device::{AddressRange, Buffer, BufferRange, Device};
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
const BLOCK_SIZE: u64 = 4 << 20;

/// Margin on each side of a buffer of `allocate_apart`: more than an access out of bounds by one tile.
const MARGIN_SIZE: u64 = 64 << 10;

pub(super) struct Memory {
    // Dropped before the device; leaked if the device is abandoned.
    allocator: ManuallyDrop<Mutex<Allocator>>,
    device: Device,
    /// Binds buffers that are larger than one allocation.
    binder: Option<SparseBinder>,
    /// Families of the queues that use the buffers: they differ, and the device has a queue of each.
    families: Vec<u32>,
}

/// A buffer and its memory, freed on drop.
pub struct GpuBuffer {
    // The buffer is destroyed before its memory is freed: see `drop`.
    buffer: ManuallyDrop<Buffer>,
    /// One, or several of a sparse buffer.
    allocations: ManuallyDrop<Vec<Allocation>>,
    /// Bytes that were asked for; the buffer has whole words.
    size: u64,
    memory: Arc<Memory>,
    _addresses: Option<ReservedAddresses>,
}

impl Memory {
    pub(super) fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &Device,
        binder: Option<SparseBinder>,
        families: Vec<u32>,
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
        Ok(Self {
            allocator: ManuallyDrop::new(Mutex::new(allocator)),
            device: device.clone(),
            binder,
            families,
        })
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

    /// Kernels access whole words, of which elements of 8 and 16 bits may have a part.
    fn allocate_as(
        self: &Arc<Self>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
        margin_size: u64,
    ) -> Result<GpuBuffer> {
        let words_size = size.checked_next_multiple_of(4).ok_or_else(|| out_of_memory(size))?;
        let mut buffer = self.allocate_words(name, words_size, usage, location, margin_size)?;
        if size > 0 {
            buffer.size = size;
        }
        Ok(buffer)
    }

    fn allocate_words(
        self: &Arc<Self>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
        margin_size: u64,
    ) -> Result<GpuBuffer> {
        self.device.check()?;
        let capabilities = self.device.capabilities();
        // Some drivers overcommit, and the process is killed at an access to the memory.
        if size > capabilities.max_array_size() {
            return Err(out_of_memory(size));
        }
        if size > capabilities.max_allocation_size {
            // Mapped memory is one allocation.
            return match (&self.binder, location) {
                (Some(binder), MemoryLocation::GpuOnly) => self.allocate_sparse(binder, name, size, usage),
                _ => Err(out_of_memory(size)),
            };
        }
        let mut buffer = self.create_buffer(size, usage, vk::BufferCreateFlags::empty())?;
        let mut requirements = buffer.memory_requirements();
        // The host casts mapped bytes to elements.
        requirements.alignment = requirements.alignment.max(16);
        let margin_size = margin_size.next_multiple_of(requirements.alignment);
        requirements.size += 2 * margin_size;
        let allocation = self.allocate_memory(name, requirements, location, size)?;
        let offset = allocation.offset() + margin_size;
        // SAFETY: the memory between the margins meets the buffer's requirements, is bound once, and is freed after the
        // buffer.
        let bound = unsafe { buffer.bind(allocation.memory(), offset) };
        let buffer = GpuBuffer {
            buffer: ManuallyDrop::new(buffer),
            allocations: ManuallyDrop::new(vec![allocation]),
            size: size.max(4),
            memory: Arc::clone(self),
            _addresses: None,
        };
        bound.map(|()| buffer)
    }

    fn create_buffer(
        &self,
        size: u64,
        usage: vk::BufferUsageFlags,
        flags: vk::BufferCreateFlags,
    ) -> Result<Buffer> {
        // SAFETY: the device was opened with a queue of each family of this set.
        unsafe { Buffer::shared(&self.device, size, usage, flags, &self.families) }
    }

    /// Allocates a buffer of several allocations. It has no margins: no other buffer has its memory.
    fn allocate_sparse(
        self: &Arc<Self>,
        binder: &SparseBinder,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
    ) -> Result<GpuBuffer> {
        let addresses = binder.reserve(size).ok_or_else(|| out_of_memory(size))?;
        let buffer = self.create_buffer(size, usage, vk::BufferCreateFlags::SPARSE_BINDING)?;
        let requirements = buffer.memory_requirements();
        // From here on an early return frees the allocated memory.
        let mut buffer = GpuBuffer {
            buffer: ManuallyDrop::new(buffer),
            allocations: ManuallyDrop::default(),
            size,
            memory: Arc::clone(self),
            _addresses: Some(addresses),
        };
        let mut binds = Vec::new();
        let mut resource_offset = 0;
        let max_size = self.device.capabilities().max_allocation_size;
        for piece_size in piece_sizes(requirements.size, max_size, requirements.alignment) {
            let piece = vk::MemoryRequirements { size: piece_size, ..requirements };
            let allocation = self.allocate_memory(name, piece, MemoryLocation::GpuOnly, size)?;
            // SAFETY: the memory is not freed by this handle.
            let memory = unsafe { allocation.memory() };
            let bind = vk::SparseMemoryBind::default().resource_offset(resource_offset).size(piece_size);
            binds.push(bind.memory(memory).memory_offset(allocation.offset()));
            buffer.allocations.push(allocation);
            resource_offset += piece_size;
        }
        if resource_offset < requirements.size {
            return Err(out_of_memory(size));
        }
        // SAFETY: the buffer is new and sparse; its memory meets its requirements and is freed after it, unless the device
        // is abandoned.
        unsafe { binder.bind(&buffer.buffer, &binds) }?;
        Ok(buffer)
    }

    /// Allocates memory for a buffer of `size` bytes, or a part of it.
    fn allocate_memory(
        &self,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        size: u64,
    ) -> Result<Allocation> {
        lock(&self.allocator)
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear: true,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| allocation_error(error, size))
    }
}

impl GpuBuffer {
    /// The whole buffer; its size is the requested one, and of none 4.
    pub fn range(&self) -> BufferRange {
        self.buffer.range().slice(0, self.size)
    }

    /// The whole buffer by device address alone.
    pub fn addresses(&self) -> AddressRange {
        self.range().addresses()
    }

    /// The address at which the host sees the first byte, in cached and coherent memory, which CPU devices and many integrated
    /// GPUs have. The host reads there what a submission has written, once it was waited for, and the next submission reads
    /// what the host has written.
    pub fn host_address(&self) -> Option<NonNull<u8>> {
        let needed = vk::MemoryPropertyFlags::HOST_COHERENT | vk::MemoryPropertyFlags::HOST_CACHED;
        match &self.allocations[..] {
            [one] if one.memory_properties().contains(needed) => one.mapped_ptr().map(NonNull::cast),
            _ => None,
        }
    }

    pub(super) fn is_from(&self, memory: &Arc<Memory>) -> bool {
        Arc::ptr_eq(&self.memory, memory)
    }

    /// The mapped bytes of a buffer of one allocation in host-visible memory. The memory of staging buffers
    /// and of CPU devices is coherent, and needs no flush.
    pub(super) fn mapped(&mut self) -> Option<&mut [u8]> {
        match &mut self.allocations[..] {
            [allocation] => allocation.mapped_slice_mut(),
            _ => None,
        }
    }

    /// The bytes of a staging buffer.
    ///
    /// # Panics
    /// If it is none.
    pub(super) fn staged(&mut self) -> &mut [u8] {
        self.mapped().expect("staging memory is mapped")
    }
}

impl Drop for GpuBuffer {
    fn drop(&mut self) {
        self.memory.device.destroy(|_| {
            // SAFETY: neither is used again.
            let allocations = unsafe {
                ManuallyDrop::drop(&mut self.buffer);
                ManuallyDrop::take(&mut self.allocations)
            };
            for allocation in allocations {
                // Freeing fails only for an allocation of another allocator.
                let _ = lock(&self.memory.allocator).free(allocation);
            }
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
