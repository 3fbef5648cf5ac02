//! Gathers.

use std::ffi::{CString, c_char};

use std::mem::offset_of;

use super::boundary::{Versioned, borrow, create, destroy, give, given, read, result, value, words};
use super::device::SubsweepDevice;
use super::types::{
    NO_ACCESS, SubsweepAccess, SubsweepAddressRange, SubsweepBufferRange, SubsweepCount,
    SubsweepScratchRequirements, flags,
};
use super::vulkan::{VkCommandBuffer, VkResult};
use crate::gather::{GatherBuffers, GatherConfig, GatherPlan};

/// What else a plan for gathers is to do: several of SUBSWEEP_GATHER_..._BIT, or 0.
pub type SubsweepGatherFlags = u32;
/// Recordings may take their count from the device.
pub const SUBSWEEP_GATHER_COUNTS_ON_DEVICE_BIT: SubsweepGatherFlags = 1;

/// What a plan for gathers is to do.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepGatherPlanCreateInfo {
    /// sizeof(SubsweepGatherPlanCreateInfo).
    pub struct_size: u32,
    /// What else it is to do.
    pub flags: SubsweepGatherFlags,
    /// Words of 32 bits of an element, 1 to 2^28: a number, a row of a table, or anything else whose size is a
    /// multiple of 4 bytes.
    pub words_per_element: u32,
}

// SAFETY: numbers.
unsafe impl Versioned for SubsweepGatherPlanCreateInfo {
    const NAME: &'static str = "SubsweepGatherPlanCreateInfo";
    const FIRST_SIZE: usize = offset_of!(Self, words_per_element) + size_of::<u32>();
}

/// The memory and the count of one recording of a gather.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepGatherInfo {
    /// sizeof(SubsweepGatherInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// How many elements are gathered.
    pub count: SubsweepCount,
    /// What is gathered from: as many whole elements as the range holds.
    pub source: SubsweepAddressRange,
    /// Which element of the source comes where, uint32_t.
    pub indices: SubsweepAddressRange,
    /// Where they go.
    pub destination: SubsweepAddressRange,
    /// As subsweep_gather_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
unsafe impl Versioned for SubsweepGatherInfo {
    const NAME: &'static str = "SubsweepGatherInfo";
    const FIRST_SIZE: usize = offset_of!(Self, scratch) + size_of::<SubsweepBufferRange>();
}

/// A gather, ready to be recorded any number of times. It never changes, and holds pipelines and no memory.
#[derive(Debug)]
pub struct SubsweepGatherPlan {
    plan: GatherPlan,
    policy: CString,
}

/// Makes a plan for gathers on `device`, with every pipeline that any recording may need, for
/// subsweep_gather_plan_destroy.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for elements of no words or more than 2^28; SUBSWEEP_ERROR_NULL,
/// SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or what Vulkan says. `*plan` is null then.
///
/// Threads: any, at any time; several may make plans for one device, but its pipeline cache must take that.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gather_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepGatherPlanCreateInfo,
    plan: *mut *mut SubsweepGatherPlan,
) -> VkResult {
    let make = || {
        // SAFETY: as the caller promises.
        let (device, info) = unsafe { (borrow(device, "device")?, read(info)?) };
        let mut config = GatherConfig::elements(info.words_per_element);
        if flags("SubsweepGatherFlags", info.flags, SUBSWEEP_GATHER_COUNTS_ON_DEVICE_BIT)? != 0 {
            config = config.counts_on_device();
        }
        let plan = GatherPlan::new(device.get(), config)?;
        let policy = words(&plan.policy());
        Ok(SubsweepGatherPlan { plan, policy })
    };
    // SAFETY: as the caller promises.
    result(|| unsafe { create(plan, "plan", make) })
}

/// Frees `plan`, which may be null, with its pipelines.
///
/// Threads: any, while no other thread uses `plan`.
///
/// # Safety
/// `plan` is null, or of subsweep_gather_plan_create and not freed yet, and all work that it was recorded into
/// is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gather_plan_destroy(plan: *mut SubsweepGatherPlan) {
    // SAFETY: as the caller promises.
    unsafe { destroy(plan) }
}

/// The scratch that subsweep_cmd_gather needs for any count: none, or, if the plan was made for counts on the
/// device, the 32 bytes that each of those takes.
///
/// Returns SUBSWEEP_ERROR_NULL.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive; `requirements` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gather_plan_scratch_requirements(
    plan: *const SubsweepGatherPlan,
    requirements: *mut SubsweepScratchRequirements,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let needs = unsafe { borrow(plan, "plan") }?.plan.scratch_requirements();
        // SAFETY: as the caller promises.
        unsafe { give(requirements, "requirements", needs.into()) }
    })
}

/// Who touches memory before the first barrier of a recording: what stands as destination in the caller's
/// barrier before it. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_gather_plan_first_access(
    plan: *const SubsweepGatherPlan,
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
pub unsafe extern "C" fn subsweep_gather_plan_last_access(plan: *const SubsweepGatherPlan) -> SubsweepAccess {
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
pub unsafe extern "C" fn subsweep_gather_plan_policy(plan: *const SubsweepGatherPlan) -> *const c_char {
    // SAFETY: as the caller promises.
    value(c"".as_ptr(), || Ok(unsafe { borrow(plan, "plan") }?.policy.as_ptr()))
}

/// Records the gather of `info->count` elements into `command_buffer`. Nothing is submitted, waited for or
/// allocated.
///
/// 1. Device: what subsweep_requirements_query asks for; a queue that can compute.
/// 2. Memory: `source` of any size, of which whole elements count; `indices` and `destination` of at least as
///    many bytes as the count says; at multiples of 4, faster at multiples of 16 with elements of such a size.
///    A count on the device is 4 bytes at a multiple of 4. `scratch` as
///    subsweep_gather_plan_scratch_requirements says, its content of no matter, and used by nothing else until
///    the work is done. `destination` and `scratch` share memory with nothing; what is read may lie anywhere
///    else.
/// 3. Commands: one dispatch; before it, for a count on the device, another one and a barrier to indirect
///    dispatches. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT they stand in a label. The first access is
///    COMPUTE_SHADER / SHADER_READ of `source`, `indices` and count, and COMPUTE_SHADER / SHADER_WRITE of
///    `scratch`; it ends with COMPUTE_SHADER / SHADER_WRITE of `destination`, with no barrier before or after.
///    The last access to `scratch` is COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT / INDIRECT_COMMAND_READ.
///    Leaves a compute pipeline and push constants bound, and touches no other state.
/// 4. Limits: a count of 0 records nothing; one on the device that is 0 runs no workgroups, and one above its
///    maximum is taken as that. At most 2^32 - 1 workgroups, or as many as a dispatch of the
///    device has in two dimensions. Indices name the first 2^32 - 1 elements of `source`: what lies behind is not
///    reached.
/// 5. Result: in `destination`, where an index beyond `source` has given zeros; no other memory is read for it.
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
pub unsafe extern "C" fn subsweep_cmd_gather(
    plan: *const SubsweepGatherPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepGatherInfo,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let plan = &unsafe { borrow(plan, "plan") }?.plan;
        let command_buffer = given(command_buffer, "command_buffer")?;
        // SAFETY: as the caller promises.
        let info = unsafe { read(info) }?;
        flags("SubsweepGatherInfo.flags", info.flags, 0)?;
        let (source, indices) = (info.source.checked("source")?, info.indices.checked("indices")?);
        let buffers = GatherBuffers::new(source, indices, info.destination.checked("destination")?)
            .scratch(info.scratch.scratch()?);
        // SAFETY: as the caller promises.
        Ok(unsafe { plan.cmd_gather(command_buffer, &buffers, info.count.checked()?) }?)
    })
}
