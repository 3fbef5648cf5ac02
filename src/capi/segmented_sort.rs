//! Segmented sort.

use super::*;
use crate::sort::{SegmentedSort, SegmentedSortBuffers, SortBuffers};

/// The memory and the counts of one recording of a segmented sort.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSegmentedSortInfo {
    /// sizeof(SubsweepSegmentedSortInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of keys.
    pub count: SubsweepCount,
    /// The count of segments.
    pub segment_count: SubsweepCount,
    /// The keys; sorted in place unless flags of the plan say otherwise, unchanged by an argsort.
    pub keys: SubsweepAddressRange,
    /// The values, moved with their keys, or the indices that are written; 0 for a sort of keys alone.
    pub values: SubsweepAddressRange,
    /// With SUBSWEEP_SORT_DOUBLE_BUFFER_BIT the alternate keys, with SUBSWEEP_SORT_OUT_OF_PLACE_BIT the
    /// output, as large as `keys`; otherwise 0.
    pub keys_alt: SubsweepAddressRange,
    /// Likewise for `values`.
    pub values_alt: SubsweepAddressRange,
    /// Segment offsets: the first key of each segment, uint32_t, in ascending order. A segment ends where the
    /// next begins, and the last with the keys; of two equal offsets the first segment is empty. Keys before
    /// the first offset belong to no segment.
    pub segments: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepSegmentedSortInfo, scratch, 160);

impl Exported for SegmentedSort {
    const OTHER: &'static str = "the plan is not of a segmented sort";

    fn max_count(plan: &Plan<Self>) -> u64 {
        plan.max_count()
    }
}

/// Creates a segmented sort plan on `device` with every pipeline that a recording may need, to be freed by
/// subsweep_plan_destroy. Pipeline compilation may take seconds. `info` describes the sort of
/// each segment; its algorithm must be null, and its flags must not include SUBSWEEP_SORT_LARGE_COUNTS_BIT.
/// SUBSWEEP_SORT_INDIRECT_COUNT_BIT applies to both counts.
///
/// Scratch: at most 40 bytes per segment, and 192, or 224 with indirect counts; if a segment may be longer than a workgroup holds, also what a sort
/// takes.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for these, a bit range outside of the key, an argsort of two buffers, and
/// discarded keys of an argsort or without values; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE,
/// SUBSWEEP_ERROR_UNKNOWN_VALUE, or Vulkan's own error. `*plan` is null then.
///
/// Threads: any, at any time; if several create plans for one device, its pipeline cache must be internally
/// synchronised.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSortPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepSortPlanCreateInfo| {
        // SAFETY: as the caller promises.
        let (config, algorithm) = unsafe { sort_config(info) }?;
        if algorithm.is_some() {
            let reason = "a segmented sort has but one algorithm: leave its name out";
            return Err(Error::Unsupported { reason }.into());
        }
        Ok(config.into())
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<SegmentedSort, _>(device, info, plan, config) }
}

/// Records the sort of `info->count` keys, each of `info->segment_count` segments by itself, into
/// `command_buffer`. Nothing is submitted, waited for or allocated.
///
/// 1. Device: the requirements of subsweep_requirements_query; a queue with compute.
/// 2. Memory: `keys`, `values` and `segments`, and `keys_alt` and `values_alt` of a form that has them, at
///    least as large as the counts require, at multiples of 4, disjoint; indirect counts are 4 bytes at a
///    multiple of 4, disjoint from them. `scratch` as
///    subsweep_plan_scratch_requirements says, its contents undefined, not used by other work until this work
///    has completed.
/// 3. Commands: a fill of `scratch`, dispatches, most of them indirect, and the barriers between them; none
///    before the first or after the last. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT the commands are in labels.
///    The first access is COMPUTE_SHADER / SHADER_READ of `keys`, `values`, `segments` and counts,
///    COMPUTE_SHADER / SHADER_WRITE of `keys_alt`, `values_alt` and `values` that become indices, and TRANSFER /
///    TRANSFER_WRITE of `scratch`. The last accesses to `scratch` are COMPUTE_SHADER and DRAW_INDIRECT /
///    INDIRECT_COMMAND_READ; ends with COMPUTE_SHADER / SHADER_WRITE of the other ranges, except those that
///    are only read: `segments`, an argsort's `keys`, and an input that is kept. Leaves a compute pipeline
///    and push constants bound, and changes no other state.
/// 4. Limits: no keys, no segments, a single key and an empty bit range record nothing, except that a sort of
///    at least one key in a segment writes indices, and a sort out of place its output. An indirect count of 0 moves nothing,
///    and one above its maximum is clamped to it. A segment that begins at or beyond the count is empty. If
///    offsets are not ascending, any segment may be left unsorted, and keys in overlapping segments may be
///    lost, duplicated or mixed; no other memory is accessed.
/// 5. Result: in `keys` and `values`, also of a double buffer; with SUBSWEEP_SORT_OUT_OF_PLACE_BIT in
///    `keys_alt` and `values_alt`; for an argsort in `values`, and `keys` are unchanged. Indices count from
///    the first of all keys, not from the start of a segment. With SUBSWEEP_SORT_DISCARDS_KEYS_BIT the keys of
///    the result are undefined. The sort is stable: keys equal in the bit range keep their order. Keys and
///    values outside of all segments are unchanged, unless they are discarded or of an input that is
///    destroyed; so is the output there.
///
/// Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
/// SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
/// SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if the count is indirect and the plan was not
/// made with indirect counts; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE.
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
pub unsafe extern "C" fn subsweep_cmd_segmented_sort(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSegmentedSortInfo,
) -> VkResult {
    let buffers = |info: &SubsweepSegmentedSortInfo| {
        flags("SubsweepSegmentedSortInfo.flags", info.flags, 0)?;
        let sort = buffers!(info, SortBuffers { keys, values, keys_alt, values_alt });
        let buffers = SegmentedSortBuffers::new(sort, info.segments.checked("segments")?);
        Ok((buffers, (info.count.checked()?, info.segment_count.checked()?).into()))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<SegmentedSort, _>(plan, command_buffer, info, buffers) }
}
