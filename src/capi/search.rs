//! Search.

use super::*;
use crate::search::{Search, SearchBuffers, SearchConfig};

/// Options of a search plan: several of SUBSWEEP_SEARCH_..._BIT, or 0.
pub type SubsweepSearchFlags = u32;
/// Recordings may have indirect counts, read from device memory: of sorted keys, of needles or of both.
pub const SUBSWEEP_SEARCH_INDIRECT_COUNT_BIT: SubsweepSearchFlags = 1;
/// Positions are upper bounds: the number of keys that are not greater than the needle. Otherwise they are lower
/// bounds: the number of keys that are less.
pub const SUBSWEEP_SEARCH_UPPER_BOUND_BIT: SubsweepSearchFlags = 2;

/// The parameters of subsweep_search_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSearchPlanCreateInfo {
    /// sizeof(SubsweepSearchPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepSearchFlags,
    /// The type of the keys and needles.
    pub element_type: SubsweepElementType,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepSearchPlanCreateInfo, element_type, 12);

/// The memory and the counts of one recording of a search.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSearchInfo {
    /// sizeof(SubsweepSearchInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of sorted keys.
    pub sorted_count: SubsweepCount,
    /// The count of needles.
    pub needle_count: SubsweepCount,
    /// The sorted keys.
    pub sorted: SubsweepAddressRange,
    /// The keys to search for, in any order.
    pub needles: SubsweepAddressRange,
    /// The position of each needle, uint32_t.
    pub positions: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepSearchInfo, scratch, 128);

impl Exported for Search {
    const OTHER: &'static str = "the plan is not of a search";

    fn max(count: u64, _: u64) -> (u64, u64) {
        // Scratch does not depend on the number of sorted keys.
        (0, count)
    }
}

/// Creates a search plan on `device` with every pipeline that a recording may need, to be freed by
/// subsweep_plan_destroy.
///
/// Scratch: 32 bytes with indirect counts, which only an indirect count of needles uses; otherwise none.
///
/// Returns SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or Vulkan's own error.
/// `*plan` is null then.
///
/// Threads: any, at any time; if several create plans for one device, its pipeline cache must be internally
/// synchronised.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_search_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSearchPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepSearchPlanCreateInfo| {
        let known = SUBSWEEP_SEARCH_INDIRECT_COUNT_BIT | SUBSWEEP_SEARCH_UPPER_BOUND_BIT;
        let flags = flags("SubsweepSearchFlags", info.flags, known)?;
        let element = element_type("element_type", info.element_type)?;
        let config = match flags & SUBSWEEP_SEARCH_UPPER_BOUND_BIT {
            0 => SearchConfig::lower_bound(element),
            _ => SearchConfig::upper_bound(element),
        };
        let is_indirect = flags & SUBSWEEP_SEARCH_INDIRECT_COUNT_BIT != 0;
        Ok(if is_indirect { config.indirect_count() } else { config })
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Search, _>(device, info, plan, config) }
}

/// Records the search for `info->needle_count` needles in `info->sorted_count` sorted keys into `command_buffer`.
/// Nothing is submitted, waited for or allocated.
///
/// 1. Device: the requirements of subsweep_requirements_query; a queue with compute.
/// 2. Memory: `sorted`, `needles` and `positions` at least as large as the counts require; all at multiples of 4.
///    An indirect count is 4 bytes at a multiple of 4. `scratch` as subsweep_plan_scratch_requirements says, its
///    contents undefined, not used by other work until this work has completed. `positions` and `scratch` overlap
///    no other range; the ranges that are read may overlap each other.
/// 3. Commands: one dispatch; for an indirect count of needles another one and a barrier before it. With
///    SUBSWEEP_FEATURE_DEBUG_UTILS_BIT the commands are in a label. The first access is COMPUTE_SHADER /
///    SHADER_READ of `sorted`, `needles` and counts, and COMPUTE_SHADER / SHADER_WRITE of `positions` and
///    `scratch`; ends with COMPUTE_SHADER / SHADER_WRITE of `positions`, with no barrier before or after. The last
///    access to `scratch` is COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT / INDIRECT_COMMAND_READ. Leaves a
///    compute pipeline and push constants bound, and changes no other state.
/// 4. Limits: at most 2^32 - 1 sorted keys, and needles up to the two-dimensional dispatch limit of the device. No
///    needles record nothing. An indirect count above its maximum is clamped to it. Keys that are not sorted give
///    positions from 0 to their count; no other memory is accessed.
/// 5. Result: in `positions`, the number of sorted keys that are less than the needle, or with
///    SUBSWEEP_SEARCH_UPPER_BOUND_BIT of those that are not greater. -0 equals 0; NaNs are equal, and greater than
///    all numbers.
///
/// Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
/// SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
/// SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if a count is indirect and the plan was not made
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
pub unsafe extern "C" fn subsweep_cmd_search(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSearchInfo,
) -> VkResult {
    let buffers = |info: &SubsweepSearchInfo| {
        flags("SubsweepSearchInfo.flags", info.flags, 0)?;
        let buffers = buffers!(info, SearchBuffers { sorted, needles, positions });
        Ok((buffers, (info.sorted_count.checked()?, info.needle_count.checked()?).into()))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Search, _>(plan, command_buffer, info, buffers) }
}
