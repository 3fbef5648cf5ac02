//! Types shared by several functions: memory ranges, counts and element types.

use super::boundary::{Result, given};
use super::result::Failure;
use super::vulkan::{
    VkAccessFlags, VkBuffer, VkBufferUsageFlags, VkDeviceAddress, VkDeviceSize, VkPipelineStageFlags,
};
use crate::device::{Access, AddressRange, BufferRange};
use crate::error::{Error, at_most};
use crate::primitives::{Count, ElementType, ScratchRequirements};

/// The type of an element or a key: one of SUBSWEEP_ELEMENT_TYPE_....
pub type SubsweepElementType = u32;
/// Unsigned, 32 bits.
pub const SUBSWEEP_ELEMENT_TYPE_U32: SubsweepElementType = 0;
/// Signed, 32 bits.
pub const SUBSWEEP_ELEMENT_TYPE_I32: SubsweepElementType = 1;
/// IEEE 754, 32 bits.
pub const SUBSWEEP_ELEMENT_TYPE_F32: SubsweepElementType = 2;
/// Unsigned, 64 bits.
pub const SUBSWEEP_ELEMENT_TYPE_U64: SubsweepElementType = 3;
/// Signed, 64 bits.
pub const SUBSWEEP_ELEMENT_TYPE_I64: SubsweepElementType = 4;
/// IEEE 754, 64 bits.
pub const SUBSWEEP_ELEMENT_TYPE_F64: SubsweepElementType = 5;
/// Unsigned, 8 bits.
pub const SUBSWEEP_ELEMENT_TYPE_U8: SubsweepElementType = 6;
/// Signed, 8 bits.
pub const SUBSWEEP_ELEMENT_TYPE_I8: SubsweepElementType = 7;
/// Unsigned, 16 bits.
pub const SUBSWEEP_ELEMENT_TYPE_U16: SubsweepElementType = 8;
/// Signed, 16 bits.
pub const SUBSWEEP_ELEMENT_TYPE_I16: SubsweepElementType = 9;
/// IEEE 754, 16 bits.
pub const SUBSWEEP_ELEMENT_TYPE_F16: SubsweepElementType = 10;
/// The high half of an F32, 16 bits.
pub const SUBSWEEP_ELEMENT_TYPE_BF16: SubsweepElementType = 11;

/// The element type of C's enumerator.
pub(super) fn element_type(what: &'static str, value: SubsweepElementType) -> Result<ElementType> {
    let element = ElementType::ALL.get(value as usize).copied();
    element.ok_or_else(|| unknown(what, value, "see SUBSWEEP_ELEMENT_TYPE_..."))
}

/// The failure for an unknown number.
pub(super) fn unknown(what: &'static str, value: u32, known: &'static str) -> Failure {
    Failure::UnknownValue { what, value, known }
}

/// The flags, if all are among `known`.
pub(super) fn flags(what: &'static str, given: u32, known: u32) -> Result<u32> {
    match given & !known {
        0 => Ok(given),
        value => Err(unknown(what, value, "see the flags of its type")),
    }
}

/// A range of device memory, by its address. Its buffer was created with
/// VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct SubsweepAddressRange {
    /// The address of the first byte: vkGetBufferDeviceAddress, plus an offset.
    pub address: VkDeviceAddress,
    /// Bytes.
    pub size: VkDeviceSize,
}

impl From<SubsweepAddressRange> for AddressRange {
    fn from(range: SubsweepAddressRange) -> Self {
        Self::new(range.address, range.size)
    }
}

impl From<AddressRange> for SubsweepAddressRange {
    fn from(AddressRange { address, size }: AddressRange) -> Self {
        Self { address, size }
    }
}

impl SubsweepAddressRange {
    /// The range, checked: the address is not null unless the range is empty, and the end does not overflow.
    pub(super) fn checked(self, what: &'static str) -> Result<AddressRange> {
        let range = AddressRange::from(self);
        range.check_address(what)?;
        Ok(range)
    }
}

/// A range of a buffer, by handle and address. Used for scratch.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepBufferRange {
    /// The buffer.
    pub buffer: VkBuffer,
    /// Offset of the range in the buffer, in bytes: a multiple of 4.
    pub offset: VkDeviceSize,
    /// Bytes.
    pub size: VkDeviceSize,
    /// The address of the first byte: vkGetBufferDeviceAddress of the buffer, plus `offset`.
    pub address: VkDeviceAddress,
    /// The usage flags that the buffer was created with, as far as the library needs them: Vulkan offers no
    /// query.
    pub usage: VkBufferUsageFlags,
}

impl SubsweepBufferRange {
    /// The range as scratch, checked. A size of 0 means none.
    pub(super) fn scratch(self) -> Result<BufferRange> {
        let Self { buffer, offset, size, address, usage } = self;
        if size == 0 {
            return Ok(BufferRange::NONE);
        }
        given(buffer, "scratch.buffer")?;
        SubsweepAddressRange { address, size }.checked("scratch")?;
        if offset.checked_add(size).is_none() {
            return Err(Error::AddressOverflow { what: "scratch.offset", address: offset, size }.into());
        }
        Ok(BufferRange { buffer, offset, size, address, usage })
    }
}

/// A count of elements, on the host or in device memory.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct SubsweepCount {
    /// The address of an indirect count, a uint32_t at a multiple of 4, read when the commands run: for plans
    /// made with indirect counts. 0 if the count is known when recording.
    pub address: VkDeviceAddress,
    /// The count. Of an indirect count the maximum, for which memory is sized: at most 2^32 - 1; a larger
    /// indirect count is clamped to it.
    pub count: u64,
}

impl SubsweepCount {
    pub(super) fn checked(self) -> Result<Count> {
        let Self { address, count } = self;
        if address == 0 {
            return Ok(Count::Direct(count));
        }
        at_most(count, u32::MAX.into(), "a count on the device")?;
        Ok(Count::Indirect { address, max: count as u32 })
    }
}

/// The scratch requirements of a recording.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepScratchRequirements {
    /// Bytes; 0 if none is needed.
    pub size: VkDeviceSize,
    /// Alignment of the range's address, in bytes.
    pub alignment: VkDeviceSize,
    /// Usage flags that the buffer must be created with.
    pub usage: VkBufferUsageFlags,
}

impl From<ScratchRequirements> for SubsweepScratchRequirements {
    fn from(ScratchRequirements { size, alignment, usage }: ScratchRequirements) -> Self {
        Self { size, alignment, usage }
    }
}

/// Pipeline stages with their accesses: one scope of the caller's barrier. The bits have the same meaning in
/// VkPipelineStageFlags2 and VkAccessFlags2.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepAccess {
    /// The pipeline stages.
    pub stages: VkPipelineStageFlags,
    /// The accesses of these stages.
    pub access: VkAccessFlags,
}

impl From<Access> for SubsweepAccess {
    fn from(Access { stages, access }: Access) -> Self {
        Self { stages, access }
    }
}

/// The scope returned without a plan.
pub(super) const NO_ACCESS: SubsweepAccess =
    SubsweepAccess { stages: VkPipelineStageFlags::empty(), access: VkAccessFlags::empty() };

#[cfg(test)]
mod tests;
