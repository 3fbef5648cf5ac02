//! Buffers and ranges of device memory.

use ash::vk;

use super::logical::Device;
use crate::error::{Error, Result};

/// A range of device memory by device address, read or written by a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddressRange {
    /// `vkGetBufferDeviceAddress`, plus an offset.
    pub address: vk::DeviceAddress,
    /// Size, bytes.
    pub size: u64,
}

impl AddressRange {
    /// The empty range: to a kernel a null pointer.
    pub const NONE: Self = Self::new(0, 0);

    /// The range of `size` bytes from `address` on.
    pub const fn new(address: vk::DeviceAddress, size: u64) -> Self {
        Self { address, size }
    }

    /// Whether the ranges have a byte in common.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.size > 0
            && other.size > 0
            && self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size)
    }

    /// Whether the range contains every byte of `other`.
    pub const fn contains(&self, other: &Self) -> bool {
        self.address <= other.address
            && other.address.saturating_add(other.size) <= self.address.saturating_add(self.size)
    }

    /// Whether the range starts at a multiple of `alignment` bytes.
    pub const fn is_aligned(&self, alignment: u64) -> bool {
        self.address.is_multiple_of(alignment)
    }

    /// The first `size` bytes, checked: `what` is the range's name in the error.
    pub(crate) fn prefix(&self, what: &'static str, size: u64) -> Result<Self> {
        if self.size < size {
            return Err(Error::RangeTooSmall { what, needed: size, got: self.size });
        }
        let prefix = Self::new(self.address, size);
        prefix.check_address(what)?;
        Ok(prefix)
    }

    /// Fails where a range that is not empty has a null address, or its end overflows 64 bits.
    pub(crate) fn check_address(&self, what: &'static str) -> Result<()> {
        match *self {
            Self { address: 0, size: size @ 1.. } => Err(Error::NullAddress { what, size }),
            Self { address, size } if address.checked_add(size).is_none() => {
                Err(Error::AddressOverflow { what, address, size })
            }
            _ => Ok(()),
        }
    }

    /// The range itself, if it starts at a multiple of `alignment` bytes.
    pub(crate) fn aligned(&self, what: &'static str, alignment: u64) -> Result<Self> {
        if !self.is_aligned(alignment) {
            return Err(Error::Misaligned { what, address: self.address, alignment });
        }
        Ok(*self)
    }
}

/// A range of a buffer by handle and by device address. Fills and indirect dispatches need the handle, kernels the
/// address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferRange {
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Offset of the range in the buffer, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub size: u64,
    /// Device address of the first byte of the range: the address of the buffer plus `offset`.
    pub address: vk::DeviceAddress,
    /// Usage flags that the buffer was created with. Vulkan has no query for them.
    pub usage: vk::BufferUsageFlags,
}

impl BufferRange {
    /// The empty range: scratch of size 0.
    pub const NONE: Self = Self {
        buffer: vk::Buffer::null(),
        offset: 0,
        size: 0,
        address: 0,
        usage: vk::BufferUsageFlags::empty(),
    };

    /// The first `size` bytes of a buffer of the caller.
    ///
    /// # Safety
    /// `buffer` is of `device`, bound to memory, of `size` bytes or more, and was created with `usage`, which includes
    /// `SHADER_DEVICE_ADDRESS`.
    pub unsafe fn new(device: &Device, buffer: vk::Buffer, size: u64, usage: vk::BufferUsageFlags) -> Self {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: as the caller promises.
        let address = unsafe { device.raw().get_buffer_device_address(&info) };
        Self { buffer, offset: 0, size, address, usage }
    }

    /// The range by device address alone.
    pub const fn addresses(&self) -> AddressRange {
        AddressRange::new(self.address, self.size)
    }

    /// `size` bytes from `offset` on.
    ///
    /// # Panics
    /// If they are not within the range.
    pub fn slice(&self, offset: u64, size: u64) -> Self {
        let is_inside = offset.checked_add(size).is_some_and(|end| end <= self.size);
        assert!(is_inside, "{size} bytes from {offset} on are not inside of {}", self.size);
        Self { offset: self.offset + offset, size, address: self.address + offset, ..*self }
    }
}

impl Default for BufferRange {
    fn default() -> Self {
        Self::NONE
    }
}

impl From<BufferRange> for AddressRange {
    fn from(range: BufferRange) -> Self {
        range.addresses()
    }
}

/// A `VkBuffer`, destroyed on drop. Its memory belongs to the caller that binds it.
#[derive(Debug)]
pub struct Buffer {
    device: Device,
    range: BufferRange,
}

impl Buffer {
    /// Creates a buffer of `size` bytes, not bound to memory. A size of 0 is treated as 4.
    ///
    /// # Errors
    /// Errors of `vkCreateBuffer`.
    pub fn new(device: &Device, size: u64, usage: vk::BufferUsageFlags) -> Result<Self> {
        // SAFETY: there are no families.
        unsafe { Self::shared(device, size, usage, vk::BufferCreateFlags::empty(), &[]) }
    }

    /// As [`Self::new`], for the queues of several families, or with [`SPARSE_BINDING`](vk::BufferCreateFlags::SPARSE_BINDING)
    /// for memory of several allocations, on a device with `sparseBinding`. With less than two families sharing is exclusive.
    ///
    /// # Safety
    /// The families differ, and the device has a queue of each.
    pub(crate) unsafe fn shared(
        device: &Device,
        size: u64,
        usage: vk::BufferUsageFlags,
        flags: vk::BufferCreateFlags,
        families: &[u32],
    ) -> Result<Self> {
        let mut info = vk::BufferCreateInfo::default().flags(flags).size(size.max(4)).usage(usage);
        if families.len() > 1 {
            info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(families);
        }
        // SAFETY: the device is alive, and as the caller promises.
        let buffer = unsafe { device.raw().create_buffer(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                Error::OutOfDeviceMemory { needed: Some(size), what: "a buffer" }
            }
            result => Error::vulkan("vkCreateBuffer")(result),
        })?;
        let range = BufferRange { buffer, size: size.max(4), usage, ..BufferRange::NONE };
        let mut buffer = Self { device: device.clone(), range };
        if flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
            // Its address is known before memory is bound.
            buffer.query_address();
        }
        Ok(buffer)
    }

    /// `vkGetBufferMemoryRequirements`.
    pub fn memory_requirements(&self) -> vk::MemoryRequirements {
        // SAFETY: the buffer is alive.
        unsafe { self.device.raw().get_buffer_memory_requirements(self.raw()) }
    }

    /// Binds memory, and queries the device address if the usage includes `SHADER_DEVICE_ADDRESS`.
    ///
    /// # Errors
    /// Errors of `vkBindBufferMemory`.
    ///
    /// # Safety
    /// Nothing is bound yet; `memory` is of this device, meets [`Self::memory_requirements`] at `offset`, was
    /// allocated with `DEVICE_ADDRESS` if the usage has it, and outlives the buffer.
    pub unsafe fn bind(&mut self, memory: vk::DeviceMemory, offset: u64) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.device.raw().bind_buffer_memory(self.raw(), memory, offset) }
            .map_err(Error::vulkan("vkBindBufferMemory"))?;
        self.query_address();
        Ok(())
    }

    /// Queries the address of a buffer that is bound to memory, or sparse.
    fn query_address(&mut self) {
        let BufferRange { buffer, size, usage, .. } = self.range;
        if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            // SAFETY: the buffer is bound, or sparse, and has the usage.
            self.range = unsafe { BufferRange::new(&self.device, buffer, size, usage) };
        }
    }

    /// The handle.
    pub fn raw(&self) -> vk::Buffer {
        self.range.buffer
    }

    /// The whole buffer. Its address is 0 before [`Self::bind`], and without `SHADER_DEVICE_ADDRESS`.
    pub fn range(&self) -> BufferRange {
        self.range
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: created in `new`; the caller keeps the buffer until work that uses it has completed.
        self.device.destroy(|raw| unsafe { raw.destroy_buffer(self.raw(), None) });
    }
}
