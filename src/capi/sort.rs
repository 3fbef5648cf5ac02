//! Radix sort.

use std::ffi::c_char;

use super::functions::functions;
use super::*;
use crate::device::Capabilities;
use crate::sort::{Sort, SortAlgorithm, SortBuffers, SortConfig, SortPolicy, ValueSize};

/// The values of a sort: one of SUBSWEEP_SORT_VALUES_....
pub type SubsweepSortValues = u32;
/// Keys alone.
pub const SUBSWEEP_SORT_VALUES_NONE: SubsweepSortValues = 0;
/// Pairs with a value of 4 bytes, in a separate range.
pub const SUBSWEEP_SORT_VALUES_4_BYTES: SubsweepSortValues = 1;
/// Pairs with a value of 8 bytes, in a separate range.
pub const SUBSWEEP_SORT_VALUES_8_BYTES: SubsweepSortValues = 2;
/// Argsort: keys are unchanged, and the values receive the permutation that sorts them, as uint32_t: the
/// first is the index of the least key.
pub const SUBSWEEP_SORT_VALUES_ARGSORT: SubsweepSortValues = 3;
/// Keys are sorted, and the values receive the index that each had, as uint32_t: pairs whose values begin as
/// 0, 1, 2, ... and are not read. Out of place, `values` may be 0.
pub const SUBSWEEP_SORT_VALUES_INDICES: SubsweepSortValues = 4;
/// Pairs with a value of `value_size` bytes, in a separate range: of more than 8 it moves once, after the passes.
pub const SUBSWEEP_SORT_VALUES_PAIRS: SubsweepSortValues = 5;

/// Options of a sort plan: several of SUBSWEEP_SORT_..._BIT, or 0.
pub type SubsweepSortFlags = u32;
/// Descending order; still stable.
pub const SUBSWEEP_SORT_DESCENDING_BIT: SubsweepSortFlags = 1;
/// Sort by the bits [begin_bit, end_bit) only, bit 0 being the lowest, of the key's order-preserving unsigned
/// image: unsigned keys themselves, signed keys with the sign bit flipped, floats with all bits flipped if
/// negative and the sign bit flipped otherwise. Fewer bits take fewer passes. Without this flag all bits are
/// sorted by.
pub const SUBSWEEP_SORT_BIT_RANGE_BIT: SubsweepSortFlags = 2;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_SORT_INDIRECT_COUNT_BIT: SubsweepSortFlags = 4;
/// Sorts between two buffers of the caller, `keys` and `keys_alt`, and likewise the values: the result is in
/// the one that the last pass writes, see subsweep_sort_plan_is_result_in_alt. Saves the copy after an odd
/// number of passes, and the alternate buffers in scratch; every pass runs, even one in whose digit all keys
/// agree. Not supported with SUBSWEEP_SORT_VALUES_ARGSORT. The result of a segmented sort is in `keys`. Values of
/// more than 8 bytes take two arrays of indices in scratch.
pub const SUBSWEEP_SORT_DOUBLE_BUFFER_BIT: SubsweepSortFlags = 8;
/// Recordings may have 2^32 keys and more, with 64-bit offsets: a few more instructions for each key.
/// Requires "onesweep", which is then chosen. Indirect counts are uint32_t nevertheless. Not supported with
/// SUBSWEEP_SORT_VALUES_ARGSORT or _INDICES, or values of more than 8 bytes, whose indices are uint32_t, nor
/// for segmented sorts, whose offsets are uint32_t.
pub const SUBSWEEP_SORT_LARGE_COUNTS_BIT: SubsweepSortFlags = 16;
/// Sorts from `keys` and `values` to `keys_alt` and `values_alt`; the input is unchanged. Every pass runs,
/// and scratch has an array of keys, and of values, for more than one pass. Not supported with
/// SUBSWEEP_SORT_VALUES_ARGSORT or SUBSWEEP_SORT_DOUBLE_BUFFER_BIT.
pub const SUBSWEEP_SORT_OUT_OF_PLACE_BIT: SubsweepSortFlags = 32;
/// With SUBSWEEP_SORT_OUT_OF_PLACE_BIT: the contents of the input become undefined, which saves the arrays in
/// scratch. An even number of passes takes a copy, or in a segmented sort another pass.
pub const SUBSWEEP_SORT_DESTROYS_INPUT_BIT: SubsweepSortFlags = 64;
/// Only the values matter: the last pass does not write the keys, and where the result would have them, the
/// contents are undefined. For pairs and SUBSWEEP_SORT_VALUES_INDICES.
pub const SUBSWEEP_SORT_DISCARDS_KEYS_BIT: SubsweepSortFlags = 128;

/// Floats in the order of numpy: -0 equals +0, and every NaN is the same number, greater than all others. Equal
/// keys keep their bits and their order.
pub const SUBSWEEP_SORT_NUMPY_ORDER_BIT: SubsweepSortFlags = 256;
/// Of a segmented sort: segments end where segment_ends says, not where the next begins. They may be in any order and leave out keys,
/// and do not overlap; one that ends before it begins is empty.
pub const SUBSWEEP_SORT_RANGES_BIT: SubsweepSortFlags = 512;

const FORMS: SubsweepSortFlags =
    SUBSWEEP_SORT_DOUBLE_BUFFER_BIT | SUBSWEEP_SORT_OUT_OF_PLACE_BIT | SUBSWEEP_SORT_DESTROYS_INPUT_BIT;
const DESTROYS_INPUT: SubsweepSortFlags = SUBSWEEP_SORT_OUT_OF_PLACE_BIT | SUBSWEEP_SORT_DESTROYS_INPUT_BIT;

/// The parameters of subsweep_sort_plan_create and subsweep_segmented_sort_plan_create. With all fields 0 but
/// struct_size: keys of uint32_t, ascending.
///
/// Without SUBSWEEP_SORT_NUMPY_ORDER_BIT floats are ordered by their bits: NaNs of negative sign, minus
/// infinity, ..., -0, +0, ..., infinity, NaNs of positive sign. The sort is stable.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSortPlanCreateInfo {
    /// sizeof(SubsweepSortPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepSortFlags,
    /// The type of a key.
    pub key_type: SubsweepElementType,
    /// Keys alone, pairs, keys with their indices or argsort.
    pub values: SubsweepSortValues,
    /// With SUBSWEEP_SORT_BIT_RANGE_BIT the first bit to sort by; otherwise 0.
    pub begin_bit: u32,
    /// With SUBSWEEP_SORT_BIT_RANGE_BIT one past the last bit; otherwise 0.
    pub end_bit: u32,
    /// The algorithm: one of "onesweep", "radix-8bit", "radix-4bit", "radix-2bit" and "single-workgroup";
    /// null to choose by device. Read only during the call.
    pub algorithm: *const c_char,
    /// Keys of a row of a table whose rows are sorted, each by itself; otherwise 0. For segmented sorts and
    /// subsweep_gpu_sort alone. Indices are those within a row.
    pub row_length: u32,
    /// Functions whose key_of computes the keys, of key_type, from elements that `keys` has then, and that are not changed; 0
    /// for none. For SUBSWEEP_SORT_VALUES_ARGSORT, or with SUBSWEEP_SORT_OUT_OF_PLACE_BIT SUBSWEEP_SORT_VALUES_INDICES
    /// or values of more than 8 bytes.
    pub functions: SubsweepFunctions,
    /// With SUBSWEEP_SORT_VALUES_PAIRS the size of a value: a multiple of 4 bytes, up to 16384; otherwise 0.
    pub value_size: u32,
}

// SAFETY: numbers and a pointer.
versioned!(unsafe SubsweepSortPlanCreateInfo, algorithm, 32);

/// The memory and the count of one recording of a sort.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSortInfo {
    /// sizeof(SubsweepSortInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of keys.
    pub count: SubsweepCount,
    /// The keys; sorted in place unless flags of the plan say otherwise, unchanged by an argsort.
    pub keys: SubsweepAddressRange,
    /// The values, moved with their keys, or the indices that are written; 0 for a sort of keys
    /// alone.
    pub values: SubsweepAddressRange,
    /// With SUBSWEEP_SORT_DOUBLE_BUFFER_BIT the alternate keys, with SUBSWEEP_SORT_OUT_OF_PLACE_BIT the
    /// output, as large as `keys`, contents undefined; otherwise 0.
    pub keys_alt: SubsweepAddressRange,
    /// Likewise for `values`.
    pub values_alt: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// What a function of the caller reads besides, of any size; an empty range for none.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepSortInfo, scratch, 128);

/// Refuses ranges of a sort without segments.
pub(super) fn check_has_no_ranges(info: &SubsweepSortPlanCreateInfo) -> Result<()> {
    match info.flags & SUBSWEEP_SORT_RANGES_BIT {
        0 => Ok(()),
        flag => Err(unknown("SubsweepSortFlags", flag, "ranges are of segments, in recordings alone")),
    }
}

/// The configuration that C describes, for a device; without one no algorithm may be named.
///
/// # Safety
/// The strings of `info` are null or end with a 0.
pub(super) unsafe fn sort_config(
    info: &SubsweepSortPlanCreateInfo,
    capabilities: Option<&Capabilities>,
) -> Result<SortConfig> {
    let key = element_type("key_type", info.key_type)?;
    let mut config = match info.values {
        SUBSWEEP_SORT_VALUES_NONE => SortConfig::keys(key),
        SUBSWEEP_SORT_VALUES_4_BYTES => SortConfig::pairs(key, ValueSize::B4),
        SUBSWEEP_SORT_VALUES_8_BYTES => SortConfig::pairs(key, ValueSize::B8),
        SUBSWEEP_SORT_VALUES_ARGSORT => SortConfig::argsort(key),
        SUBSWEEP_SORT_VALUES_INDICES => SortConfig::keys_and_indices(key),
        SUBSWEEP_SORT_VALUES_PAIRS => SortConfig::pairs(key, ValueSize::new(info.value_size as usize)?),
        value => return Err(unknown("values", value, "see SUBSWEEP_SORT_VALUES_...")),
    };
    if let (false, value @ 1..) = (info.values == SUBSWEEP_SORT_VALUES_PAIRS, info.value_size) {
        return Err(unknown("value_size", value, "give SUBSWEEP_SORT_VALUES_PAIRS with it, or 0"));
    }
    if let Some(functions) = functions(info.functions)? {
        config = config.computed(functions);
    }
    let flags = flags("SubsweepSortFlags", info.flags, 2 * SUBSWEEP_SORT_RANGES_BIT - 1)?;
    if flags & SUBSWEEP_SORT_BIT_RANGE_BIT != 0 {
        config = config.bits(info.begin_bit..info.end_bit);
    } else if let value @ 1.. = info.begin_bit | info.end_bit {
        let known = "give SUBSWEEP_SORT_BIT_RANGE_BIT with it, or 0";
        return Err(unknown("begin_bit or end_bit", value, known));
    }
    config = match flags & FORMS {
        0 => config,
        SUBSWEEP_SORT_DOUBLE_BUFFER_BIT => config.double_buffer(),
        SUBSWEEP_SORT_OUT_OF_PLACE_BIT => config.out_of_place(),
        DESTROYS_INPUT => config.destroys_input(),
        SUBSWEEP_SORT_DESTROYS_INPUT_BIT => {
            let known = "SUBSWEEP_SORT_DESTROYS_INPUT_BIT goes with SUBSWEEP_SORT_OUT_OF_PLACE_BIT";
            return Err(unknown("SubsweepSortFlags", SUBSWEEP_SORT_DESTROYS_INPUT_BIT, known));
        }
        value => return Err(unknown("SubsweepSortFlags", value, "a sort has one form of memory")),
    };
    let config = options!(config, flags,
        SUBSWEEP_SORT_DESCENDING_BIT => descending, SUBSWEEP_SORT_INDIRECT_COUNT_BIT => indirect_count,
        SUBSWEEP_SORT_DISCARDS_KEYS_BIT => discards_keys, SUBSWEEP_SORT_LARGE_COUNTS_BIT => large_counts,
        SUBSWEEP_SORT_NUMPY_ORDER_BIT => order(FloatOrder::Numpy)
    );
    // SAFETY: as the caller promises.
    let Some(name) = (unsafe { text(info.algorithm) }) else { return Ok(config) };
    let reason = "a segmented sort has but one algorithm: leave its name out";
    let capabilities = capabilities.ok_or(Error::Unsupported { reason })?;
    let found =
        SortAlgorithm::ALL.into_iter().find(|algorithm| algorithm.name().as_bytes() == name.to_bytes());
    let algorithm = found.ok_or_else(|| {
        Failure::unknown_name("algorithm", name, &SortAlgorithm::ALL.map(SortAlgorithm::name))
    })?;
    Ok(config.policy(SortPolicy::tuned(algorithm, capabilities, &config)))
}

exported!(Sort, "a sort", max_count);

/// Creates a sort plan.
///
/// Scratch: the alternate keys, and the alternate values of pairs, which forms of two buffers save (out of place
/// for a single pass); for an argsort twice the keys, and alternate indices; and a small amount for each pass and
/// tile. None if one workgroup sorts all keys. Values of more than 8 bytes take 4 bytes for each key more, or of two buffers
/// 8, and in place their own size.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a bit range outside of the key, indices with large counts, an
/// argsort of two buffers, and discarded keys of an argsort or without values; SUBSWEEP_ERROR_INVALID_POLICY if
/// `algorithm` exceeds the limits of the device, or does not support large counts.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSortPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |device: &Device, info: &SubsweepSortPlanCreateInfo| {
        if info.row_length > 0 {
            let known = "rows are sorted by subsweep_segmented_sort_plan_create";
            return Err(unknown("row_length", info.row_length, known));
        }
        check_has_no_ranges(info)?;
        // SAFETY: as the caller promises.
        unsafe { sort_config(info, Some(device.capabilities())) }
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Sort, _>(device, info, plan, config) }
}

/// Whether the result of a recording of `count` keys, or of an indirect count with that maximum, is in the
/// alternate buffers: 1 for a plan with SUBSWEEP_SORT_DOUBLE_BUFFER_BIT and an odd number of passes, or values of more
/// than 8 bytes that are sorted. Another count may take another number of passes: one workgroup sorts few keys without
/// any. Otherwise, if `plan` is null or not of a sort, 0.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_is_result_in_alt(
    plan: *const SubsweepPlan,
    count: u64,
) -> VkBool32 {
    // SAFETY: as the caller promises.
    value(0, || Ok(unsafe { borrow(plan, "plan") }?.plan_of::<Sort>()?.is_result_in_alt(count).into()))
}

/// Records the sort of `info->count` keys.
///
/// 2. Memory: `keys` and `values`, and `keys_alt` and `values_alt` of a form that has them, disjoint; faster with
///    keys at multiples of 16.
/// 3. Commands: all ranges are written, except an argsort's `keys` and an input that is kept.
/// 4. Limits: a count of 1 and an empty bit range record nothing either, except that a sort of at least one key
///    writes indices, and a sort out of place its output.
/// 5. Result: in `keys` and `values`; in `keys_alt` and `values_alt` out of place, and of a double buffer if
///    subsweep_sort_plan_is_result_in_alt; for an argsort in `values`, and `keys` are unchanged. With
///    SUBSWEEP_SORT_DISCARDS_KEYS_BIT the keys of the result are undefined. The sort is stable: keys equal in the
///    bit range keep their order.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_sort(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSortInfo,
) -> VkResult {
    let buffers = |info: &SubsweepSortInfo| {
        flags("SubsweepSortInfo.flags", info.flags, 0)?;
        Ok((
            buffers!(info, SortBuffers { keys, values, keys_alt, values_alt, functions_data }),
            info.count.checked()?,
        ))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Sort, _>(plan, command_buffer, info, buffers) }
}

#[cfg(test)]
mod tests;
