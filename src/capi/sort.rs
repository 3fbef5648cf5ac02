//! Sorts.

use std::ffi::{CStr, CString, c_char};

use std::mem::offset_of;

use super::boundary::{
    Result, Versioned, borrow, create, destroy, give, given, read, result, text, value, words,
};
use super::device::SubsweepDevice;
use super::result::Failure;
use super::types::{
    NO_ACCESS, SubsweepAccess, SubsweepAddressRange, SubsweepBufferRange, SubsweepCount, SubsweepElementType,
    SubsweepScratchRequirements, element_type, flags, unknown,
};
use super::vulkan::{VkCommandBuffer, VkResult};
use crate::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPlan, SortPolicy, ValueSize};

/// What goes with each key: one of SUBSWEEP_SORT_VALUES_....
pub type SubsweepSortValues = u32;
/// No values go with the keys.
pub const SUBSWEEP_SORT_VALUES_NONE: SubsweepSortValues = 0;
/// A value of 4 bytes, in memory of its own.
pub const SUBSWEEP_SORT_VALUES_4_BYTES: SubsweepSortValues = 1;
/// A value of 8 bytes, in memory of its own.
pub const SUBSWEEP_SORT_VALUES_8_BYTES: SubsweepSortValues = 2;
/// No values go with the keys, which stay as they are: the sort tells where they would come from. The values
/// are a permutation of uint32_t, in which the first is the place of the least key.
pub const SUBSWEEP_SORT_VALUES_ARGSORT: SubsweepSortValues = 3;

/// What else a plan for sorts is to do: several of SUBSWEEP_SORT_..._BIT, or 0.
pub type SubsweepSortFlags = u32;
/// From the greatest key to the least; equal ones still in the order in which they came.
pub const SUBSWEEP_SORT_DESCENDING_BIT: SubsweepSortFlags = 1;
/// Only by the bits from begin_bit up to, and not with, end_bit, the lowest being bit 0, of the unsigned number
/// that is ordered as the key is: the key itself, signed ones with the sign bit flipped, floats with all bits
/// flipped if they are negative and else the sign bit. Fewer bits are fewer passes. Without the flag it is by
/// all bits.
pub const SUBSWEEP_SORT_BIT_RANGE_BIT: SubsweepSortFlags = 2;
/// Recordings may take their count from the device.
pub const SUBSWEEP_SORT_COUNTS_ON_DEVICE_BIT: SubsweepSortFlags = 4;
/// The result stays where the last pass leaves it, which subsweep_sort_plan_result tells: in the caller's
/// memory or in scratch. Then every pass runs, even one in whose digit all keys agree. An argsort's places are
/// always the caller's.
pub const SUBSWEEP_SORT_ANYWHERE_BIT: SubsweepSortFlags = 8;
/// Recordings may have 2^32 keys and more, whose places take two words: a few instructions more for each key. It
/// takes "onesweep", which is chosen then. Counts on the device are uint32_t nevertheless. Neither with
/// SUBSWEEP_SORT_VALUES_ARGSORT, whose places are uint32_t, nor for segments, which begin at such.
pub const SUBSWEEP_SORT_LARGE_COUNTS_BIT: SubsweepSortFlags = 16;

const ALL_FLAGS: SubsweepSortFlags = SUBSWEEP_SORT_DESCENDING_BIT
    | SUBSWEEP_SORT_BIT_RANGE_BIT
    | SUBSWEEP_SORT_COUNTS_ON_DEVICE_BIT
    | SUBSWEEP_SORT_ANYWHERE_BIT
    | SUBSWEEP_SORT_LARGE_COUNTS_BIT;

/// What a plan for sorts, or for segmented sorts, is to do. All 0 but struct_size: single uint32_t, ascending.
///
/// Floats are ordered by their bits: NaNs of negative sign, minus infinity, ..., -0, +0, ..., infinity, NaNs of
/// positive sign. Keys that compare equal keep the order in which they came.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSortPlanCreateInfo {
    /// sizeof(SubsweepSortPlanCreateInfo).
    pub struct_size: u32,
    /// What else it is to do.
    pub flags: SubsweepSortFlags,
    /// The type of a key.
    pub key_type: SubsweepElementType,
    /// What goes with each key.
    pub values: SubsweepSortValues,
    /// With SUBSWEEP_SORT_BIT_RANGE_BIT the first bit to sort by; else 0.
    pub begin_bit: u32,
    /// With SUBSWEEP_SORT_BIT_RANGE_BIT the bit behind the last; else 0.
    pub end_bit: u32,
    /// One of "onesweep", "radix-8bit", "radix-4bit", "radix-2bit" and "single-workgroup"; null for what suits
    /// the device. It is read during the call alone.
    pub algorithm: *const c_char,
}

// SAFETY: numbers and a pointer.
unsafe impl Versioned for SubsweepSortPlanCreateInfo {
    const NAME: &'static str = "SubsweepSortPlanCreateInfo";
    const FIRST_SIZE: usize = offset_of!(Self, algorithm) + size_of::<*const c_char>();
}

/// The memory and the count of one recording of a sort.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSortInfo {
    /// sizeof(SubsweepSortInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// How many keys.
    pub count: SubsweepCount,
    /// The keys, before and, but for an argsort, after.
    pub keys: SubsweepAddressRange,
    /// The values, before and after, or an argsort's permutation, after; 0 of a sort of keys alone.
    pub values: SubsweepAddressRange,
    /// As subsweep_sort_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
unsafe impl Versioned for SubsweepSortInfo {
    const NAME: &'static str = "SubsweepSortInfo";
    const FIRST_SIZE: usize = offset_of!(Self, scratch) + size_of::<SubsweepBufferRange>();
}

/// Where the result of a sort lies.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSortResult {
    /// The keys; of an argsort as they were.
    pub keys: SubsweepAddressRange,
    /// The values, or the places; of keys alone 0.
    pub values: SubsweepAddressRange,
}

/// A sort, ready to be recorded any number of times. It never changes, and holds pipelines and no memory.
#[derive(Debug)]
pub struct SubsweepSortPlan {
    plan: SortPlan,
    policy: CString,
}

/// What C says, but for the algorithm, and the name of that.
///
/// # Safety
/// The texts of `info` are null or end with a 0, and live as long as the result.
pub(super) unsafe fn config<'a>(info: &SubsweepSortPlanCreateInfo) -> Result<(SortConfig, Option<&'a CStr>)> {
    let key = element_type("key_type", info.key_type)?;
    let mut config = match info.values {
        SUBSWEEP_SORT_VALUES_NONE => SortConfig::keys(key),
        SUBSWEEP_SORT_VALUES_4_BYTES => SortConfig::pairs(key, ValueSize::B4),
        SUBSWEEP_SORT_VALUES_8_BYTES => SortConfig::pairs(key, ValueSize::B8),
        SUBSWEEP_SORT_VALUES_ARGSORT => SortConfig::argsort(key),
        value => return Err(unknown("values", value, "see SUBSWEEP_SORT_VALUES_...")),
    };
    let flags = flags("SubsweepSortFlags", info.flags, ALL_FLAGS)?;
    if flags & SUBSWEEP_SORT_DESCENDING_BIT != 0 {
        config = config.descending();
    }
    if flags & SUBSWEEP_SORT_BIT_RANGE_BIT != 0 {
        config = config.bits(info.begin_bit..info.end_bit);
    } else if let value @ 1.. = info.begin_bit | info.end_bit {
        let known = "give SUBSWEEP_SORT_BIT_RANGE_BIT with it, or 0";
        return Err(unknown("begin_bit or end_bit", value, known));
    }
    if flags & SUBSWEEP_SORT_COUNTS_ON_DEVICE_BIT != 0 {
        config = config.counts_on_device();
    }
    if flags & SUBSWEEP_SORT_ANYWHERE_BIT != 0 {
        config = config.anywhere();
    }
    if flags & SUBSWEEP_SORT_LARGE_COUNTS_BIT != 0 {
        config = config.large_counts();
    }
    // SAFETY: as the caller promises.
    Ok((config, unsafe { text(info.algorithm) }))
}

/// # Safety
/// The texts of `info` are null or end with a 0.
unsafe fn plan(device: &SubsweepDevice, info: &SubsweepSortPlanCreateInfo) -> Result<SubsweepSortPlan> {
    let device = device.get();
    // SAFETY: as the caller promises.
    let (mut config, name) = unsafe { config(info) }?;
    if let Some(name) = name {
        let found =
            SortAlgorithm::ALL.into_iter().find(|algorithm| algorithm.name().as_bytes() == name.to_bytes());
        let algorithm = found.ok_or_else(|| {
            Failure::unknown_name("algorithm", name, &SortAlgorithm::ALL.map(SortAlgorithm::name))
        })?;
        config = config.policy(SortPolicy::tuned(algorithm, device.capabilities(), &config));
    }
    let plan = SortPlan::new(device, config)?;
    let policy = words(&plan.policy());
    Ok(SubsweepSortPlan { plan, policy })
}

/// Makes a plan for sorts on `device`, with every pipeline that any recording may need, for
/// subsweep_sort_plan_destroy. It may take the driver's compiler seconds.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for a range of bits outside of the key, and for an argsort with wide
/// counts; SUBSWEEP_ERROR_INVALID_POLICY if `algorithm` takes more than the device has, or has no wide counts;
/// SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what Vulkan says. `*plan`
/// is null then.
///
/// Threads: any, at any time; several may make plans for one device, but its pipeline cache must take that.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSortPlanCreateInfo,
    plan: *mut *mut SubsweepSortPlan,
) -> VkResult {
    // SAFETY: as the caller promises.
    result(|| unsafe { create(plan, "plan", || self::plan(borrow(device, "device")?, &read(info)?)) })
}

/// Frees `plan`, which may be null, with its pipelines.
///
/// Threads: any, while no other thread uses `plan`.
///
/// # Safety
/// `plan` is null, or of subsweep_sort_plan_create and not freed yet, and all work that it was recorded into is
/// done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_destroy(plan: *mut SubsweepSortPlan) {
    // SAFETY: as the caller promises.
    unsafe { destroy(plan) }
}

/// The scratch that subsweep_cmd_sort needs for up to `max_count` keys: as many keys again; as many values
/// again, of pairs; of an argsort twice as many keys, and their places; and small change for each pass and
/// tile. None for what one workgroup sorts.
///
/// Returns SUBSWEEP_ERROR_NULL.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive; `requirements` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_scratch_requirements(
    plan: *const SubsweepSortPlan,
    max_count: u64,
    requirements: *mut SubsweepScratchRequirements,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let needs = unsafe { borrow(plan, "plan") }?.plan.scratch_requirements(max_count);
        // SAFETY: as the caller promises.
        unsafe { give(requirements, "requirements", needs.into()) }
    })
}

/// The most keys of a recording: 2^32 - 1, or fewer where the algorithm's tiles are small; of
/// "single-workgroup" what one workgroup holds; with SUBSWEEP_SORT_LARGE_COUNTS_BIT more than 2^36. 0 if
/// `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_max_count(plan: *const SubsweepSortPlan) -> u64 {
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
pub unsafe extern "C" fn subsweep_sort_plan_first_access(plan: *const SubsweepSortPlan) -> SubsweepAccess {
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
pub unsafe extern "C" fn subsweep_sort_plan_last_access(plan: *const SubsweepSortPlan) -> SubsweepAccess {
    // SAFETY: as the caller promises.
    value(NO_ACCESS, || Ok(unsafe { borrow(plan, "plan") }?.plan.last_access().into()))
}

/// How the plan goes about it, in words for people: algorithm, workgroup size and so on. The text is the
/// plan's, and lives as long. "" if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_policy(plan: *const SubsweepSortPlan) -> *const c_char {
    // SAFETY: as the caller promises.
    value(c"".as_ptr(), || Ok(unsafe { borrow(plan, "plan") }?.policy.as_ptr()))
}

fn buffers(info: &SubsweepSortInfo) -> Result<SortBuffers> {
    flags("SubsweepSortInfo.flags", info.flags, 0)?;
    let buffers = SortBuffers::new(info.keys.checked("keys")?, info.scratch.scratch()?);
    Ok(buffers.values(info.values.checked("values")?))
}

/// Where the result of subsweep_cmd_sort with the same `info` lies: in `keys` and `values`, unless
/// SUBSWEEP_SORT_ANYWHERE_BIT lets an odd number of passes leave it in `scratch`. It is the same for every
/// count on the device with one maximum.
///
/// Returns what subsweep_cmd_sort does.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive, `info` is null or as its comments say, and `result` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_sort_plan_result(
    plan: *const SubsweepSortPlan,
    info: *const SubsweepSortInfo,
    result: *mut SubsweepSortResult,
) -> VkResult {
    super::boundary::result(|| {
        // SAFETY: as the caller promises.
        let (plan, info) = unsafe { (borrow(plan, "plan")?, read(info)?) };
        let lies = plan.plan.result(&buffers(&info)?, info.count.checked()?)?;
        let lies = SubsweepSortResult { keys: lies.keys.into(), values: lies.values.into() };
        // SAFETY: as the caller promises.
        unsafe { give(result, "result", lies) }
    })
}

/// Records the sort of `info->count` keys into `command_buffer`. Nothing is submitted, waited for or allocated.
///
/// 1. Device: what subsweep_requirements_query asks for; a queue that can compute.
/// 2. Memory: `keys` and `values` of at least as many bytes as the count says, at multiples of 4 (faster with
///    keys at a multiple of 16), apart from one another; a count on the device is 4 bytes at a multiple of 4,
///    apart from all that is written. `scratch` as subsweep_sort_plan_scratch_requirements says, its content of
///    no matter, and used by nothing else until the work is done.
/// 3. Commands: dispatches, direct and indirect ones, a fill of `scratch` where more than one workgroup sorts,
///    and the barriers between them; none before the first or behind the last. With
///    SUBSWEEP_FEATURE_DEBUG_UTILS_BIT they stand in labels. The first access is COMPUTE_SHADER / SHADER_READ
///    of `keys`, `values` and count, of an argsort SHADER_WRITE of `values`, and TRANSFER / TRANSFER_WRITE of
///    `scratch`; it ends with COMPUTE_SHADER / SHADER_WRITE of `keys` (but for an argsort), `values` and
///    `scratch`, whose last accesses are also COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT /
///    INDIRECT_COMMAND_READ. Leaves a compute pipeline and push constants bound, and touches no other state.
/// 4. Limits: a count of 0 or 1, and an empty range of bits, record nothing; but an argsort tells the places of
///    keys that stay. A count on the device that is 0 moves nothing, and one above its maximum is taken as
///    that. At most subsweep_sort_plan_max_count keys.
/// 5. Result: in `keys` and `values`, or where subsweep_sort_plan_result says; of an argsort in `values`, and
///    `keys` are as they were. Keys that agree in the bits to sort by keep their order.
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
pub unsafe extern "C" fn subsweep_cmd_sort(
    plan: *const SubsweepSortPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSortInfo,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let plan = &unsafe { borrow(plan, "plan") }?.plan;
        let command_buffer = given(command_buffer, "command_buffer")?;
        // SAFETY: as the caller promises.
        let info = unsafe { read(info) }?;
        // SAFETY: as the caller promises.
        Ok(unsafe { plan.cmd_sort(command_buffer, &buffers(&info)?, info.count.checked()?) }?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_every_algorithm() {
        let source = include_str!("sort.rs");
        for algorithm in SortAlgorithm::ALL {
            assert!(source.contains(&format!("\"{}\"", algorithm.name())), "{}", algorithm.name());
        }
    }
}
