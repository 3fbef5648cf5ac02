//! Sorts of many segments at once.

use std::ffi::{CString, c_char};

use std::mem::offset_of;

use super::boundary::{Result, Versioned, borrow, create, destroy, give, given, read, result, value, words};
use super::device::SubsweepDevice;
use super::sort::{SubsweepSortPlanCreateInfo, config};
use super::types::{
    NO_ACCESS, SubsweepAccess, SubsweepAddressRange, SubsweepBufferRange, SubsweepCount,
    SubsweepScratchRequirements, flags,
};
use super::vulkan::{VkCommandBuffer, VkResult};
use crate::error::Error;
use crate::sort::{SegmentedSortBuffers, SegmentedSortPlan};

/// The memory and the counts of one recording of a segmented sort.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSegmentedSortInfo {
    /// sizeof(SubsweepSegmentedSortInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// How many keys.
    pub count: SubsweepCount,
    /// How many segments.
    pub segment_count: SubsweepCount,
    /// The keys, before and, but for an argsort, after.
    pub keys: SubsweepAddressRange,
    /// The values, before and after, or an argsort's places, after; 0 of a sort of keys alone.
    pub values: SubsweepAddressRange,
    /// Where segments begin, a uint32_t for each of them, in rising order. A segment ends where the next
    /// begins, and the last with the keys; of two that begin at the same key, the first is empty. Keys before
    /// the first are in none.
    pub segments: SubsweepAddressRange,
    /// As subsweep_segmented_sort_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
unsafe impl Versioned for SubsweepSegmentedSortInfo {
    const NAME: &'static str = "SubsweepSegmentedSortInfo";
    const FIRST_SIZE: usize = offset_of!(Self, scratch) + size_of::<SubsweepBufferRange>();
}

/// A sort of segments, ready to be recorded any number of times. It never changes, and holds pipelines and no
/// memory.
#[derive(Debug)]
pub struct SubsweepSegmentedSortPlan {
    plan: SegmentedSortPlan,
    policy: CString,
}

/// # Safety
/// The texts of `info` are null or end with a 0.
unsafe fn plan(
    device: &SubsweepDevice,
    info: &SubsweepSortPlanCreateInfo,
) -> Result<SubsweepSegmentedSortPlan> {
    // SAFETY: as the caller promises.
    let (config, algorithm) = unsafe { config(info) }?;
    if algorithm.is_some() {
        let reason = "a segmented sort has but one algorithm: leave its name out";
        return Err(Error::Unsupported { reason }.into());
    }
    let plan = SegmentedSortPlan::new(device.get(), config)?;
    let policy = words(&plan.policy());
    Ok(SubsweepSegmentedSortPlan { plan, policy })
}

/// Makes a plan for sorts of segments on `device`, with every pipeline that any recording may need, for
/// subsweep_segmented_sort_plan_destroy. It may take the driver's compiler seconds. `info` is what is done with
/// each segment; its algorithm must be null, and neither SUBSWEEP_SORT_ANYWHERE_BIT nor
/// SUBSWEEP_SORT_LARGE_COUNTS_BIT be among its flags. SUBSWEEP_SORT_COUNTS_ON_DEVICE_BIT is for both counts.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for these, and for a range of bits outside of the key;
/// SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what Vulkan says. `*plan`
/// is null then.
///
/// Threads: any, at any time; several may make plans for one device, but its pipeline cache must take that.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSortPlanCreateInfo,
    plan: *mut *mut SubsweepSegmentedSortPlan,
) -> VkResult {
    // SAFETY: as the caller promises.
    result(|| unsafe { create(plan, "plan", || self::plan(borrow(device, "device")?, &read(info)?)) })
}

/// Frees `plan`, which may be null, with its pipelines.
///
/// Threads: any, while no other thread uses `plan`.
///
/// # Safety
/// `plan` is null, or of subsweep_segmented_sort_plan_create and not freed yet, and all work that it was
/// recorded into is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_destroy(plan: *mut SubsweepSegmentedSortPlan) {
    // SAFETY: as the caller promises.
    unsafe { destroy(plan) }
}

/// The scratch that subsweep_cmd_segmented_sort needs for up to `max_count` keys in up to `max_segment_count`
/// segments: at most 40 bytes for each segment; and where one may be longer than a workgroup holds, what a sort
/// of all keys needs.
///
/// Returns SUBSWEEP_ERROR_NULL.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive; `requirements` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_scratch_requirements(
    plan: *const SubsweepSegmentedSortPlan,
    max_count: u64,
    max_segment_count: u64,
    requirements: *mut SubsweepScratchRequirements,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let needs = unsafe { borrow(plan, "plan") }?.plan.scratch_requirements(max_count, max_segment_count);
        // SAFETY: as the caller promises.
        unsafe { give(requirements, "requirements", needs.into()) }
    })
}

/// The most keys of a recording: 2^32 - 1, or fewer where tiles are small. Segments are at most 2^32 - 1. 0 if
/// `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_max_count(
    plan: *const SubsweepSegmentedSortPlan,
) -> u64 {
    // SAFETY: as the caller promises.
    value(0, || Ok(unsafe { borrow(plan, "plan") }?.plan.max_count()))
}

/// Who touches memory before the first barrier of a recording: what stands as destination in the caller's
/// barrier before it. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_first_access(
    plan: *const SubsweepSegmentedSortPlan,
) -> SubsweepAccess {
    // SAFETY: as the caller promises.
    value(NO_ACCESS, || Ok(unsafe { borrow(plan, "plan") }?.plan.first_access().into()))
}

/// Who touches memory behind the last barrier of a recording: what stands as source in the caller's barrier
/// behind it. What an indirect dispatch has read is read by then, too. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_last_access(
    plan: *const SubsweepSegmentedSortPlan,
) -> SubsweepAccess {
    // SAFETY: as the caller promises.
    value(NO_ACCESS, || Ok(unsafe { borrow(plan, "plan") }?.plan.last_access().into()))
}

/// How the plan goes about it, in words for people. The text is the plan's, and lives as long. "" if `plan` is
/// null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_policy(
    plan: *const SubsweepSegmentedSortPlan,
) -> *const c_char {
    // SAFETY: as the caller promises.
    value(c"".as_ptr(), || Ok(unsafe { borrow(plan, "plan") }?.policy.as_ptr()))
}

/// Records the sort of `info->count` keys, each of `info->segment_count` segments by itself, into
/// `command_buffer`. Nothing is submitted, waited for or allocated.
///
/// 1. Device: what subsweep_requirements_query asks for; a queue that can compute.
/// 2. Memory: `keys`, `values` and `segments` of at least as many bytes as the counts say, at multiples of 4,
///    apart from one another; counts on the device are 4 bytes at a multiple of 4, apart from all that is
///    written. `scratch` as subsweep_segmented_sort_plan_scratch_requirements says, its content of no matter,
///    and used by nothing else until the work is done.
/// 3. Commands: a fill of `scratch`, dispatches, most of them indirect ones, and the barriers between them;
///    none before the first or behind the last. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT they stand in labels. The
///    first access is COMPUTE_SHADER / SHADER_READ of `keys`,
///    `values`, `segments` and counts, of an argsort SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of
///    `scratch`, which COMPUTE_SHADER and DRAW_INDIRECT / INDIRECT_COMMAND_READ are the last to access; it ends
///    with COMPUTE_SHADER / SHADER_WRITE of `keys` (but for an argsort) and `values`. Leaves a compute pipeline
///    and push constants bound, and touches no other state.
/// 4. Limits: no keys, no segments, a single key and an empty range of bits record nothing; but an argsort
///    tells the places of keys that stay. A count on the device that is 0 moves nothing, and one above its
///    maximum is taken as that. A segment that begins at or beyond the count is empty. Of segments that do not
///    begin in rising order, any may be left unsorted, and what they share be lost, come twice or be mixed of
///    two; no other memory is touched for it.
/// 5. Result: in `keys` and `values`; of an argsort in `values`, and `keys` are as they were. A place is one
///    among all keys, not those of its segment. Keys that agree in the bits to sort by keep their order. What
///    is in no segment stays as it is.
///
/// Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
/// SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
/// SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if a count on the device is given to a plan that
/// was not made for it; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE. Nothing
/// is recorded then.
///
/// Threads: any, while no other thread uses `command_buffer` or its pool; several may record one plan at the
/// same time.
///
/// # Safety
/// `plan` is null or alive, and stays until the work is done. `command_buffer` is of the plan's device, in the
/// recording state outside of a render pass. `info` is null or as its comments say; its ranges are live memory
/// of the device, made with the usage named above, when the commands run. The caller orders their accesses with
/// what comes before and after.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_segmented_sort(
    plan: *const SubsweepSegmentedSortPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSegmentedSortInfo,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let plan = &unsafe { borrow(plan, "plan") }?.plan;
        let command_buffer = given(command_buffer, "command_buffer")?;
        // SAFETY: as the caller promises.
        let info = unsafe { read(info) }?;
        flags("SubsweepSegmentedSortInfo.flags", info.flags, 0)?;
        let (keys, segments) = (info.keys.checked("keys")?, info.segments.checked("segments")?);
        let buffers = SegmentedSortBuffers::new(keys, segments, info.scratch.scratch()?)
            .values(info.values.checked("values")?);
        let (count, segment_count) = (info.count.checked()?, info.segment_count.checked()?);
        // SAFETY: as the caller promises.
        Ok(unsafe { plan.cmd_sort(command_buffer, &buffers, count, segment_count) }?)
    })
}
