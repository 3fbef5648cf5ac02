//! Scratch: its requirements, and the arrays in it.

use ash::vk;

use crate::device::{AddressRange, BufferRange};
use crate::error::{Error, Result};

/// Requirements of a recording's scratch memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScratchRequirements {
    /// Size, bytes; 0 if none is needed.
    pub size: u64,
    /// Alignment of the range's address, bytes.
    pub alignment: u64,
    /// Usage flags of the buffer.
    pub usage: vk::BufferUsageFlags,
}

impl ScratchRequirements {
    /// Alignment of arrays in scratch, bytes: for 16-byte accesses.
    pub(super) const ALIGNMENT: u64 = 16;

    pub(super) const fn new(size: u64) -> Self {
        Self {
            size,
            alignment: Self::ALIGNMENT,
            usage: vk::BufferUsageFlags::from_raw(
                vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
                    | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw()
                    | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
            ),
        }
    }

    /// Checks `scratch`, and returns its first `size` bytes.
    pub(super) fn check(&self, scratch: BufferRange) -> Result<BufferRange> {
        if self.size == 0 {
            return Ok(BufferRange::NONE);
        }
        if scratch.size < self.size {
            return Err(Error::ScratchTooSmall { needed: self.size, got: scratch.size });
        }
        scratch.addresses().prefix("scratch", self.size)?.aligned("scratch", self.alignment)?;
        if scratch.buffer == vk::Buffer::null() {
            return Err(Error::NullBuffer { what: "scratch" });
        }
        // Offsets of fills and indirect dispatches are multiples of 4.
        let (what, address) = ("scratch in its buffer", scratch.offset);
        if !address.is_multiple_of(4) {
            return Err(Error::Misaligned { what, address, alignment: 4 });
        }
        if address.checked_add(self.size).is_none() {
            return Err(Error::AddressOverflow { what, address, size: self.size });
        }
        let missing = self.usage & !scratch.usage;
        if !missing.is_empty() {
            return Err(Error::MissingUsage { what: "scratch", missing });
        }
        Ok(scratch.slice(0, self.size))
    }
}

/// An array in the scratch of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScratchArray {
    /// What it holds.
    pub name: &'static str,
    /// Offset in the scratch range, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub size: u64,
}

/// Where a layout has an array in scratch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScratchRange {
    pub(super) offset: u64,
    /// Size, bytes.
    pub(super) size: u64,
}

impl ScratchRange {
    /// The array in the scratch of a recording.
    pub(super) fn range(self, scratch: BufferRange) -> BufferRange {
        scratch.slice(self.offset, self.size)
    }

    /// Addresses of the array; null for an empty one, which to a kernel is none.
    pub(super) fn addresses(self, scratch: BufferRange) -> AddressRange {
        if self.size > 0 { self.range(scratch).addresses() } else { AddressRange::NONE }
    }
}

/// Allocates consecutive arrays in scratch, aligned as [`ScratchRequirements`].
#[derive(Debug, Default)]
pub struct ScratchCursor {
    /// Bytes so far.
    pub(super) size: u64,
    /// The arrays so far, where they are asked for: a recording allocates no host memory.
    arrays: Option<Vec<ScratchArray>>,
}

impl ScratchCursor {
    /// A cursor that remembers the arrays.
    pub(super) fn of_arrays() -> Self {
        Self { arrays: Some(Vec::new()), ..Self::default() }
    }

    /// The arrays that were allocated.
    pub(super) fn into_arrays(self) -> Vec<ScratchArray> {
        self.arrays.unwrap_or_default()
    }

    /// The requirements of the arrays so far.
    pub(super) const fn requirements(&self) -> ScratchRequirements {
        ScratchRequirements::new(self.size)
    }

    /// Allocates `size` bytes for an array of this name.
    pub(super) fn array(&mut self, name: &'static str, size: u64) -> ScratchRange {
        ScratchRange { offset: self.take(name, size), size }
    }

    /// Allocates `size` bytes for an array of this name, and returns their offset.
    pub(super) fn take(&mut self, name: &'static str, size: u64) -> u64 {
        let offset = self.size;
        if let Some(arrays) = self.arrays.as_mut().filter(|_| size > 0) {
            arrays.push(ScratchArray { name, offset, size });
        }
        // On overflow the size saturates: no scratch range is large enough.
        let size = size.checked_next_multiple_of(ScratchRequirements::ALIGNMENT).unwrap_or(u64::MAX);
        self.size = self.size.saturating_add(size);
        offset
    }
}

#[cfg(test)]
mod tests;
