//! Merge.

use super::functions::functions;
use super::*;
use crate::merge::{Merge, MergeBuffers, MergeConfig};

/// Options of a merge plan: several of SUBSWEEP_MERGE_..._BIT, or 0.
pub type SubsweepMergeFlags = u32;
/// Recordings may have indirect counts, read from device memory: of `a`, of `b` or of both.
pub const SUBSWEEP_MERGE_INDIRECT_COUNT_BIT: SubsweepMergeFlags = 1;
/// The arrays are sorted from the greatest key to the least, and so is the result.
pub const SUBSWEEP_MERGE_DESCENDING_BIT: SubsweepMergeFlags = 2;
/// The arrays are sorted with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
pub const SUBSWEEP_MERGE_NUMPY_ORDER_BIT: SubsweepMergeFlags = 4;
/// Takes 2^32 keys and more.
pub const SUBSWEEP_MERGE_LARGE_COUNTS_BIT: SubsweepMergeFlags = 8;

/// The parameters of subsweep_merge_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepMergePlanCreateInfo {
    /// sizeof(SubsweepMergePlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepMergeFlags,
    /// The type of the keys.
    pub element_type: SubsweepElementType,
    /// Size of the value of a key in 32-bit words, 0 to 4,096; 0 for a merge of keys alone.
    pub words_per_value: u32,
    /// Functions whose less compares elements of their own, in place of keys of element_type, which is not read then; 0 for
    /// none.
    pub functions: SubsweepFunctions,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepMergePlanCreateInfo, words_per_value, 16);

/// The memory and the counts of one recording of a merge.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepMergeInfo {
    /// sizeof(SubsweepMergeInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of keys in `a`.
    pub a_count: SubsweepCount,
    /// The count of keys in `b`.
    pub b_count: SubsweepCount,
    /// The keys of the first sorted array.
    pub a: SubsweepAddressRange,
    /// The keys of the second sorted array.
    pub b: SubsweepAddressRange,
    /// The keys of both, sorted.
    pub destination: SubsweepAddressRange,
    /// The values of `a`; 0 for a merge of keys alone.
    pub a_values: SubsweepAddressRange,
    /// Likewise of `b`.
    pub b_values: SubsweepAddressRange,
    /// The values of both, in the order of their keys; 0 for a merge of keys alone.
    pub destination_values: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// What a function of the caller reads besides, of any size; an empty range for none.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepMergeInfo, scratch, 176);

impl Exported for Merge {
    const OTHER: &'static str = "the plan is not of a merge";

    fn max(count: u64, _: u64) -> (u64, u64) {
        // The scratch of any division: for 8 and 16 bits the scratch of two arrays, each rounded up.
        (count, count.min(1))
    }

    fn max_count(plan: &Plan<Self>) -> u64 {
        plan.max_count()
    }
}

/// Creates a merge plan.
///
/// Scratch: none, or 32 bytes with an indirect count; more for types of 8 and 16 bits on a device
/// that does not store them (SUBSWEEP_FEATURE_STORAGE_BUFFER_8BIT_ACCESS_BIT).
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for values of too many words, and for descending order with functions.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_merge_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepMergePlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepMergePlanCreateInfo| {
        let flags = flags("SubsweepMergeFlags", info.flags, 2 * SUBSWEEP_MERGE_LARGE_COUNTS_BIT - 1)?;
        let config = match functions(info.functions)? {
            Some(functions) => MergeConfig::custom(functions),
            None => MergeConfig::keys(element_type("element_type", info.element_type)?),
        };
        let config = config.values(info.words_per_value);
        Ok(options!(config, flags,
            SUBSWEEP_MERGE_DESCENDING_BIT => descending, SUBSWEEP_MERGE_INDIRECT_COUNT_BIT => indirect_count,
            SUBSWEEP_MERGE_NUMPY_ORDER_BIT => order(FloatOrder::Numpy), SUBSWEEP_MERGE_LARGE_COUNTS_BIT => large_counts
        ))
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Merge, _>(device, info, plan, config) }
}

/// Records the merge of `info->a_count` and `info->b_count` keys.
///
/// 2. Memory: the destinations are as large as both arrays together.
/// 3. Commands: one dispatch; for an indirect count another one and a barrier before it.
/// 4. Limits: at most 2^32 - 1 keys together, or more with SUBSWEEP_MERGE_LARGE_COUNTS_BIT and direct counts. No keys in
///    both arrays record nothing. Arrays that are not sorted give some of their keys in an unspecified order; no other
///    memory is accessed.
/// 5. Result: in the destinations, in the order of a sort; of equal keys the keys of `a` come first, and the keys
///    of each array keep their order. The count of the result is the sum of both counts, and is not written.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_merge(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepMergeInfo,
) -> VkResult {
    let buffers = |info: &SubsweepMergeInfo| {
        flags("SubsweepMergeInfo.flags", info.flags, 0)?;
        let buffers = buffers!(
            info,
            MergeBuffers { a, b, a_values, b_values, destination, destination_values, functions_data }
        );
        Ok((buffers, (info.a_count.checked()?, info.b_count.checked()?).into()))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Merge, _>(plan, command_buffer, info, buffers) }
}
