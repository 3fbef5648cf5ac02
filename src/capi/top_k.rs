//! Top-k.

use super::functions::functions;
use super::*;
use crate::top_k::{TopK, TopKBuffers, TopKConfig};

/// Options of a top-k plan: several of SUBSWEEP_TOP_K_..._BIT, or 0.
pub type SubsweepTopKFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_TOP_K_INDIRECT_COUNT_BIT: SubsweepTopKFlags = 1;
/// The smallest keys, the smallest first; without it the largest.
pub const SUBSWEEP_TOP_K_SMALLEST_BIT: SubsweepTopKFlags = 2;
/// The selected keys of a row keep their order, which saves a sort.
pub const SUBSWEEP_TOP_K_UNSORTED_BIT: SubsweepTopKFlags = 4;
/// Writes no keys, only indices and values.
pub const SUBSWEEP_TOP_K_NO_KEYS_BIT: SubsweepTopKFlags = 8;
/// Writes no indices, only keys and values.
pub const SUBSWEEP_TOP_K_NO_INDICES_BIT: SubsweepTopKFlags = 16;
/// Floats in the order of their bits, as of a sort; without this flag as with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
pub const SUBSWEEP_TOP_K_TOTAL_ORDER_BIT: SubsweepTopKFlags = 32;

/// Rows of unequal lengths, of up to column_count keys, which begin at `segments`. A row of fewer than k keys has as many
/// results, and in the other slots of its k are keys and values of 0, and indices of 2^32 - 1; longer rows are cut
/// off. Scratch is as for rows of column_count keys.
pub const SUBSWEEP_TOP_K_SEGMENTS_BIT: SubsweepTopKFlags = 64;
/// A k of its own for each row, in `ks`, of which none is greater than k: likewise.
pub const SUBSWEEP_TOP_K_OWN_K_BIT: SubsweepTopKFlags = 128;

/// The parameters of subsweep_top_k_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepTopKPlanCreateInfo {
    /// sizeof(SubsweepTopKPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepTopKFlags,
    /// The type of the keys.
    pub element_type: SubsweepElementType,
    /// The number of keys of a row, 1 to 2^28.
    pub column_count: u32,
    /// The number of keys to select of a row, 1 to column_count.
    pub k: u32,
    /// Size of the value of a key in 32-bit words, 0 to 4,096; 0 without values.
    pub words_per_value: u32,
    /// Functions whose key_of computes the keys, of element_type, from elements that `source` has then; 0 for none.
    pub functions: SubsweepFunctions,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepTopKPlanCreateInfo, words_per_value, 24);

/// The memory and the count of one recording of a top-k.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepTopKInfo {
    /// sizeof(SubsweepTopKInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of rows.
    pub count: SubsweepCount,
    /// The rows, of column_count keys each, or elements with functions in the plan.
    pub source: SubsweepAddressRange,
    /// The selected keys, k for each row; ignored with SUBSWEEP_TOP_K_NO_KEYS_BIT.
    pub destination: SubsweepAddressRange,
    /// Their indices in the row, uint32_t; ignored with SUBSWEEP_TOP_K_NO_INDICES_BIT.
    pub destination_indices: SubsweepAddressRange,
    /// words_per_value words for each key of each row; ignored if words_per_value is 0.
    pub source_values: SubsweepAddressRange,
    /// words_per_value words for each selected key, k for each row; ignored if words_per_value is 0.
    pub destination_values: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// With SUBSWEEP_TOP_K_SEGMENTS_BIT the index of the first key of each row, uint32_t, in ascending order; otherwise
    /// ignored. A row ends where the next begins, and the last with `source`, which then has any size but 0.
    pub segments: SubsweepAddressRange,
    /// With SUBSWEEP_TOP_K_OWN_K_BIT the k of each row, uint32_t; otherwise ignored.
    pub ks: SubsweepAddressRange,
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepTopKInfo, scratch, 144);

exported!(TopK, "a top-k", max_count);

/// Creates a top-k plan.
///
/// Scratch: none for rows of one tile with a direct count; else k keys and indices for each tile of a row, and 32
/// bytes for each dispatch with an indirect count. Where k exceeds 4,096, half a tile or what fits in shared
/// memory, or the values of a row 2^15 words for each invocation, all keys are sorted: for each key another one and
/// 4 bytes, and the scratch of a segmented sort.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a number of columns, a k or words of a value out of range, and if no
/// keys, indices or values are written.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_top_k_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepTopKPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepTopKPlanCreateInfo| {
        let flags = flags("SubsweepTopKFlags", info.flags, 2 * SUBSWEEP_TOP_K_OWN_K_BIT - 1)?;
        let of_order = match flags & SUBSWEEP_TOP_K_SMALLEST_BIT {
            0 => TopKConfig::largest,
            _ => TopKConfig::smallest,
        };
        let config = of_order(element_type("element_type", info.element_type)?, info.column_count, info.k);
        let config = functions(info.functions)?.map_or(config, |functions| config.computed(functions));
        Ok(options!(config.values(info.words_per_value), flags,
            SUBSWEEP_TOP_K_UNSORTED_BIT => unsorted, SUBSWEEP_TOP_K_NO_KEYS_BIT => without_keys,
            SUBSWEEP_TOP_K_NO_INDICES_BIT => without_indices, SUBSWEEP_TOP_K_INDIRECT_COUNT_BIT => indirect_count,
            SUBSWEEP_TOP_K_TOTAL_ORDER_BIT => order(FloatOrder::Total), SUBSWEEP_TOP_K_SEGMENTS_BIT => segments,
            SUBSWEEP_TOP_K_OWN_K_BIT => own_k
        ))
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<TopK, _>(device, info, plan, config) }
}

/// Records the top-k of `info->count` rows.
///
/// 2. Memory: ranges are as large as count, columns and k require, and `source` with segments as all rows are.
/// 5. Result: k keys, indices and values for each row; the best first, and of equal keys the key of the lowest index,
///    unless SUBSWEEP_TOP_K_UNSORTED_BIT keeps the order of the row. The same on every device.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_top_k(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepTopKInfo,
) -> VkResult {
    let buffers = |info: &SubsweepTopKInfo| {
        flags("SubsweepTopKInfo.flags", info.flags, 0)?;
        let buffers = buffers!(
            info,
            TopKBuffers {
                source,
                segments,
                ks,
                source_values,
                destination,
                destination_indices,
                destination_values,
                functions_data
            }
        );
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<TopK, _>(plan, command_buffer, info, buffers) }
}
