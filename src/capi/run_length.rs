//! Run-length encoding and decoding.

use super::*;
use crate::run_length::{RunLength, RunLengthBuffers, RunLengthConfig};

/// What a run-length plan computes: one of SUBSWEEP_RUN_LENGTH_....
pub type SubsweepRunLengthCoding = u32;
/// The value and the number of elements of each run of equal elements.
pub const SUBSWEEP_RUN_LENGTH_ENCODE: SubsweepRunLengthCoding = 0;
/// The value, the number of elements and the offset of each run of more than one element.
pub const SUBSWEEP_RUN_LENGTH_ENCODE_NON_TRIVIAL: SubsweepRunLengthCoding = 1;
/// The elements of runs.
pub const SUBSWEEP_RUN_LENGTH_DECODE: SubsweepRunLengthCoding = 2;

/// Options of a run-length plan: several of SUBSWEEP_RUN_LENGTH_..._BIT, or 0.
pub type SubsweepRunLengthFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_RUN_LENGTH_INDIRECT_COUNT_BIT: SubsweepRunLengthFlags = 1;
/// The index of the first element of each run is written as well, as uint32_t. Not to decode.
pub const SUBSWEEP_RUN_LENGTH_OFFSETS_BIT: SubsweepRunLengthFlags = 2;
/// Values are not written; to decode, the index of its run is written in place of each value, as uint32_t.
pub const SUBSWEEP_RUN_LENGTH_WITHOUT_VALUES_BIT: SubsweepRunLengthFlags = 4;
/// To encode: floats are equal if their bits are. Without this flag -0 equals +0, and every NaN is the same number.
pub const SUBSWEEP_RUN_LENGTH_TOTAL_ORDER_BIT: SubsweepRunLengthFlags = 8;
/// To encode all runs, without values of 8 and 16 bits: counts of 2^32 and more are supported; counts, offsets and the
/// number of runs are uint64_t.
pub const SUBSWEEP_RUN_LENGTH_LARGE_COUNTS_BIT: SubsweepRunLengthFlags = 16;

/// The parameters of subsweep_run_length_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepRunLengthPlanCreateInfo {
    /// sizeof(SubsweepRunLengthPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepRunLengthFlags,
    /// What is computed.
    pub coding: SubsweepRunLengthCoding,
    /// The type of the elements. Without values ignored to decode.
    pub element_type: SubsweepElementType,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepRunLengthPlanCreateInfo, element_type, 16);

/// The memory and the count of one recording of an encoding or a decoding.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepRunLengthInfo {
    /// sizeof(SubsweepRunLengthInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of elements; to decode, of runs.
    pub count: SubsweepCount,
    /// The elements; to decode, room for as many as shall be written.
    pub elements: SubsweepAddressRange,
    /// The value of each run; to encode, room for one for each element.
    pub values: SubsweepAddressRange,
    /// The number of elements of each run, uint32_t, or with SUBSWEEP_RUN_LENGTH_LARGE_COUNTS_BIT uint64_t; likewise.
    pub counts: SubsweepAddressRange,
    /// Room for an offset for each element, of the same type, where offsets are written.
    pub offsets: SubsweepAddressRange,
    /// The number of runs that are written, of the same type; to decode, of all elements, uint32_t.
    pub result_count: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepRunLengthInfo, scratch, 144);

exported!(RunLength, "runs", max_count);

fn config(info: &SubsweepRunLengthPlanCreateInfo) -> Result<RunLengthConfig> {
    let element = element_type("element_type", info.element_type)?;
    let flags = flags("SubsweepRunLengthFlags", info.flags, 2 * SUBSWEEP_RUN_LENGTH_LARGE_COUNTS_BIT - 1)?;
    let has_values = flags & SUBSWEEP_RUN_LENGTH_WITHOUT_VALUES_BIT == 0;
    let config = match info.coding {
        SUBSWEEP_RUN_LENGTH_ENCODE => RunLengthConfig::encode(element),
        SUBSWEEP_RUN_LENGTH_ENCODE_NON_TRIVIAL => RunLengthConfig::encode(element).non_trivial(),
        SUBSWEEP_RUN_LENGTH_DECODE if has_values => RunLengthConfig::decode(element),
        SUBSWEEP_RUN_LENGTH_DECODE => RunLengthConfig::decode_indices(),
        value => return Err(unknown("coding", value, "see SUBSWEEP_RUN_LENGTH_...")),
    };
    Ok(options!(config, flags,
        SUBSWEEP_RUN_LENGTH_INDIRECT_COUNT_BIT => indirect_count, SUBSWEEP_RUN_LENGTH_OFFSETS_BIT => offsets,
        SUBSWEEP_RUN_LENGTH_WITHOUT_VALUES_BIT => without_values,
        SUBSWEEP_RUN_LENGTH_LARGE_COUNTS_BIT => large_counts,
        SUBSWEEP_RUN_LENGTH_TOTAL_ORDER_BIT => order(FloatOrder::Total)
    ))
}

/// Creates a run-length plan.
///
/// Scratch: to encode in a single pass, on devices whose workgroups make progress, 48 bytes and 16 for each tile;
/// elsewhere the scratch of a selection, 32 bytes, and 4 for each element unless the offsets of all runs are written; for
/// non-trivial runs, also the scratch of another selection, 80 bytes, and 4 for each element; with large counts, on every
/// device, the scratch of the selection, and 8 for each element likewise. To decode, 4 bytes for each run, and the scratch
/// of a scan of these.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for offsets of a decoding, and for what large counts do not go with.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_run_length_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepRunLengthPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepRunLengthPlanCreateInfo| config(info);
    // SAFETY: as the caller promises.
    unsafe { create_plan::<RunLength, _>(device, info, plan, config) }
}

/// Records the encoding of `info->count` elements, or the decoding of as many runs.
///
/// 3. Commands: to encode in a single pass, a fill, a barrier and a dispatch, with an indirect count a dispatch and
///    a barrier more; else a selection and two dispatches with barriers, of which the last is indirect, and of
///    non-trivial runs another selection and two dispatches more; to decode, a scan, a barrier and a dispatch for all
///    elements that fit.
/// 4. Limits: a count of 0, direct or indirect, writes 0 to `result_count`.
/// 5. Result: to encode, the runs in order, and their number in `result_count`; the rest of the ranges is
///    unchanged. To decode, the elements that fit, and the number of all in `result_count`, which must be below
///    2^32.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_run_length(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepRunLengthInfo,
) -> VkResult {
    let buffers = |info: &SubsweepRunLengthInfo| {
        flags("SubsweepRunLengthInfo.flags", info.flags, 0)?;
        let buffers = buffers!(info, RunLengthBuffers { elements, values, counts, offsets, result_count });
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<RunLength, _>(plan, command_buffer, info, buffers) }
}
