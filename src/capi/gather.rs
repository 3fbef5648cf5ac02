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
    /// is a multiple of 4 bytes.
    pub words_per_element: u32,
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

impl Exported for Gather {
    const OTHER: &'static str = "the plan is not of a gather";
}

/// Creates a gather plan on `device` with every pipeline that a recording may need, to be freed by
/// subsweep_plan_destroy.
///
/// Scratch: none, or 32 bytes with an indirect count.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for elements of 0 or more than 2^28 words; SUBSWEEP_ERROR_NULL,
/// SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or Vulkan's own error. `*plan` is null then.
///
/// Threads: any, at any time; if several create plans for one device, its pipeline cache must be internally
/// synchronised.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gather_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepGatherPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepGatherPlanCreateInfo| {
        let config = GatherConfig::elements(info.words_per_element);
        let flags = flags("SubsweepGatherFlags", info.flags, SUBSWEEP_GATHER_INDIRECT_COUNT_BIT)?;
        Ok(if flags == 0 { config } else { config.indirect_count() })
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Gather, _>(device, info, plan, config) }
}

/// Records the gather of `info->count` elements into `command_buffer`. Nothing is submitted, waited for or
/// allocated.
///
/// 1. Device: the requirements of subsweep_requirements_query; a queue with compute.
/// 2. Memory: `source` of any size, of which whole elements count; `indices` and `destination` at least as
///    large as the count requires; all at multiples of 4, faster at multiples of 16 with an element size that
///    is a multiple of 16. An indirect count is 4 bytes at a multiple of 4. `scratch` as
///    subsweep_plan_scratch_requirements says, its contents undefined, not used by other work until this
///    work has completed. `destination` and `scratch` overlap no other range; the ranges that are read may
///    overlap each other.
/// 3. Commands: one dispatch; for an indirect count a dispatch and a barrier to indirect dispatches precede it.
///    With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT the commands are in a label. The first access is COMPUTE_SHADER /
///    SHADER_READ of `source`, `indices` and count, and COMPUTE_SHADER / SHADER_WRITE of `scratch`; ends with
///    COMPUTE_SHADER / SHADER_WRITE of `destination`, with no barrier before or after. The last access to
///    `scratch` is COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT / INDIRECT_COMMAND_READ. Leaves a compute
///    pipeline and push constants bound, and changes no other state.
/// 4. Limits: a count of 0 records nothing; an indirect count of 0 runs no workgroups, and one above its
///    maximum is clamped to it. At most 2^32 - 1 workgroups, or the two-dimensional dispatch limit of the
///    device. Indices address only the first 2^32 - 1 elements of `source`.
/// 5. Result: in `destination`; an index beyond `source` yields zeros, and no memory beyond it is read.
///
/// Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
/// SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
/// SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if the count is indirect and the plan was not made
/// with indirect counts; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE.
/// Nothing is recorded then.
///
/// Threads: any, while no other thread uses `command_buffer` or its pool; several may record one plan
/// concurrently.
///
/// # Safety
/// `plan` is null or alive, and lives until the work has completed. `command_buffer` is of the plan's device,
/// in the recording state outside of a render pass. `info` is null or as its comments say; its ranges are live
/// device memory with the required usage when the commands run. The caller synchronises their accesses with
/// other work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_gather(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepGatherInfo,
) -> VkResult {
    let buffers = |info: &SubsweepGatherInfo| {
        flags("SubsweepGatherInfo.flags", info.flags, 0)?;
        let buffers = buffers!(info, GatherBuffers { source, indices, destination });
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Gather, _>(plan, command_buffer, info, buffers) }
}
