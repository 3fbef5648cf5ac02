//! Gather.

use super::*;
use crate::gather::{Gather, GatherBuffers, GatherConfig};

/// Options of a gather plan: several of SUBSWEEP_GATHER_..._BIT, or 0.
pub type SubsweepGatherFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_GATHER_INDIRECT_COUNT_BIT: SubsweepGatherFlags = 1;

/// The parameters of subsweep_gather_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepGatherPlanCreateInfo {
    /// sizeof(SubsweepGatherPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepGatherFlags,
    /// Size of an element in 32-bit words, 1 to 2^28: a number, a row of a table, or any other type whose size
    /// is a multiple of 4 bytes. 0 for elements of element_type.
    pub words_per_element: u32,
    /// The type of the elements, of 8 or 16 bits, if words_per_element is 0.
    pub element_type: SubsweepElementType,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepGatherPlanCreateInfo, words_per_element, 12);

/// The memory and the count of one recording of a gather.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepGatherInfo {
    /// sizeof(SubsweepGatherInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of indices, and of elements gathered.
    pub count: SubsweepCount,
    /// The elements to gather from: as many whole ones as the range holds.
    pub source: SubsweepAddressRange,
    /// The source index of each destination element, uint32_t.
    pub indices: SubsweepAddressRange,
    /// The gathered elements.
    pub destination: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepGatherInfo, scratch, 112);

exported!(Gather, "a gather");

/// Creates a gather plan.
///
/// Scratch: none, or 32 bytes with an indirect count of elements of whole words.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for elements of 0 or more than 2^28 words.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gather_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepGatherPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepGatherPlanCreateInfo| {
        let config = match info.words_per_element {
            0 if element_type("element_type", info.element_type)?.is_packed() => {
                GatherConfig::numbers(element_type("element_type", info.element_type)?)
            }
            words => GatherConfig::elements(words),
        };
        let flags = flags("SubsweepGatherFlags", info.flags, SUBSWEEP_GATHER_INDIRECT_COUNT_BIT)?;
        Ok(if flags == 0 { config } else { config.indirect_count() })
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Gather, _>(device, info, plan, config) }
}

/// Records the gather of `info->count` elements.
///
/// 2. Memory: `source` of any size, of which whole elements count; all are faster at multiples of 16 with an
///    element size that is a multiple of 16.
/// 3. Commands: one dispatch; for an indirect count of elements of whole words another one and a barrier before it.
/// 4. Limits: at most 2^32 - 1 workgroups. Indices address only the first 2^32 - 1 elements of `source`.
/// 5. Result: in `destination`; an index beyond `source` yields zeros, and no memory beyond it is read.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_gather(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepGatherInfo,
) -> VkResult {
    let buffers = |info: &SubsweepGatherInfo| {
        flags("SubsweepGatherInfo.flags", info.flags, 0)?;
        Ok((buffers!(info, GatherBuffers { source, indices, destination }), info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Gather, _>(plan, command_buffer, info, buffers) }
}
