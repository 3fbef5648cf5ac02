//! Search.

use super::functions::functions;
use super::*;
use crate::search::{Search, SearchBuffers, SearchConfig};

/// Options of a search plan: several of SUBSWEEP_SEARCH_..._BIT, or 0.
pub type SubsweepSearchFlags = u32;
/// Recordings may have indirect counts, read from device memory: of sorted keys, of needles or of both.
pub const SUBSWEEP_SEARCH_INDIRECT_COUNT_BIT: SubsweepSearchFlags = 1;
/// Positions are upper bounds: the number of keys that are not greater than the needle. Otherwise they are lower
/// bounds: the number of keys that are less.
pub const SUBSWEEP_SEARCH_UPPER_BOUND_BIT: SubsweepSearchFlags = 2;
/// Floats in the order of their bits, as of a sort; without this flag as with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
pub const SUBSWEEP_SEARCH_TOTAL_ORDER_BIT: SubsweepSearchFlags = 4;
/// Takes 2^32 sorted keys and more: positions are uint64_t. Not along rows.
pub const SUBSWEEP_SEARCH_LARGE_COUNTS_BIT: SubsweepSearchFlags = 8;

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
    /// With needle_length: keys of a row of a table, in each of which the needles of the row of the same index are
    /// searched for; positions are those in the row. 0 to search for all needles in all keys.
    pub sorted_length: u32,
    /// Needles of a row; 0 without rows.
    pub needle_length: u32,
    /// Functions whose less compares elements of their own, in place of keys of element_type, which is not read then; 0 for
    /// none.
    pub functions: SubsweepFunctions,
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
    /// The position of each needle, uint32_t; with SUBSWEEP_SEARCH_LARGE_COUNTS_BIT uint64_t.
    pub positions: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// What a function of the caller reads besides, of any size; an empty range for none.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepSearchInfo, scratch, 128);

impl Exported for Search {
    const OTHER: &'static str = "the plan is not of a search";

    fn max(count: u64, sorted_count: u64) -> (u64, u64) {
        (sorted_count, count)
    }
}

/// Creates a search plan.
///
/// Scratch: none, or 32 bytes with indirect counts, which only the count of needles uses; more for types of 8 and 16 bits on a
/// device that does not store them (SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT).
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED if one of sorted_length and needle_length is 0 and the other is not, and for
/// SUBSWEEP_SEARCH_LARGE_COUNTS_BIT along rows.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_search_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSearchPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepSearchPlanCreateInfo| {
        let flags = flags("SubsweepSearchFlags", info.flags, 2 * SUBSWEEP_SEARCH_LARGE_COUNTS_BIT - 1)?;
        let element = || element_type("element_type", info.element_type);
        let is_upper_bound = flags & SUBSWEEP_SEARCH_UPPER_BOUND_BIT != 0;
        let config = match functions(info.functions)? {
            Some(functions) if is_upper_bound => SearchConfig::custom_upper_bound(functions),
            Some(functions) => SearchConfig::custom_lower_bound(functions),
            None if is_upper_bound => SearchConfig::upper_bound(element()?),
            None => SearchConfig::lower_bound(element()?),
        };
        let config = match (info.sorted_length, info.needle_length) {
            (0, 0) => config,
            (sorted_length, needle_length) => config.along_rows(sorted_length, needle_length),
        };
        Ok(options!(config, flags,
            SUBSWEEP_SEARCH_INDIRECT_COUNT_BIT => indirect_count, SUBSWEEP_SEARCH_LARGE_COUNTS_BIT => large_counts,
            SUBSWEEP_SEARCH_TOTAL_ORDER_BIT => order(FloatOrder::Total)
        ))
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Search, _>(device, info, plan, config) }
}

/// Records the search for `info->needle_count` needles in `info->sorted_count` sorted keys.
///
/// 3. Commands: one dispatch; for an indirect count of needles another one and a barrier before it.
/// 4. Limits: at most 2^32 - 1 sorted keys, or any number with SUBSWEEP_SEARCH_LARGE_COUNTS_BIT, and along rows at most
///    2^32 - 1 needles. No needles record nothing; in no keys every position is 0. Keys that are not sorted give positions
///    from 0 to their count; no other memory is accessed. Needles of more rows than sorted ones are searched for in the
///    last of these.
/// 5. Result: in `positions`, the number of sorted keys that are less than the needle, or with
///    SUBSWEEP_SEARCH_UPPER_BOUND_BIT of those that are not greater.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_search(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSearchInfo,
) -> VkResult {
    let buffers = |info: &SubsweepSearchInfo| {
        flags("SubsweepSearchInfo.flags", info.flags, 0)?;
        let buffers = buffers!(info, SearchBuffers { sorted, needles, positions, functions_data });
        Ok((buffers, (info.sorted_count.checked()?, info.needle_count.checked()?).into()))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Search, _>(plan, command_buffer, info, buffers) }
}
