//! The plan of any primitive: its handle and its queries.

use std::any::Any;
use std::ffi::{CString, c_char};
use std::fmt::Debug;

use super::boundary::{Result, Versioned, borrow, create, destroy, give, given, read, result, value, words};
use super::device::SubsweepDevice;
use super::types::{NO_ACCESS, SubsweepAccess, SubsweepScratchRequirements};
use super::vulkan::{VkCommandBuffer, VkResult};
use crate::device::{Access, Device};
use crate::error::Error;
use crate::primitives::{Counts, Max, Plan, Primitive, ScratchRequirements};

/// A plan of any primitive, recorded any number of times. Immutable; holds pipelines and no memory.
#[derive(Debug)]
pub struct SubsweepPlan {
    plan: Box<dyn AnyPlan>,
    policy: CString,
}

/// A plan of any primitive, for the queries that all have.
trait AnyPlan: Any + Debug + Send + Sync {
    fn scratch_requirements(&self, max_count: u64, max_segment_count: u64) -> ScratchRequirements;
    fn max_count(&self) -> u64;
    fn first_access(&self) -> Access;
    fn last_access(&self) -> Access;
}

/// A primitive that has functions in C.
pub(super) trait Exported: Primitive<Count: Counts<Max: Maximum>> {
    /// The error for a plan of another primitive.
    const OTHER: &'static str;

    /// The maximum counts of a recording.
    fn max(count: u64, segment_count: u64) -> Max<Self> {
        Max::<Self>::new(count, segment_count)
    }

    /// The maximum count of elements.
    fn max_count(_: &Plan<Self>) -> u64 {
        u64::MAX
    }
}

/// Exports a primitive, with what its plans are of, and `max_count` if they have one.
macro_rules! exported {
    ($primitive:ty, $what:literal $(, $max_count:ident)?) => {
        impl $crate::capi::plan::Exported for $primitive {
            const OTHER: &'static str = concat!("the plan is not of ", $what);
            $(
                fn max_count(plan: &$crate::Plan<Self>) -> u64 {
                    plan.$max_count()
                }
            )?
        }
    };
}
pub(super) use exported;

/// Maximum counts: of elements, and of segments if the primitive has some.
pub(super) trait Maximum {
    fn new(count: u64, segment_count: u64) -> Self;
}

impl Maximum for u64 {
    fn new(count: u64, _: u64) -> Self {
        count
    }
}

impl Maximum for (u64, u64) {
    fn new(count: u64, segment_count: u64) -> Self {
        (count, segment_count)
    }
}

impl<P: Exported> AnyPlan for Plan<P> {
    fn scratch_requirements(&self, max_count: u64, max_segment_count: u64) -> ScratchRequirements {
        self.scratch_requirements(P::max(max_count, max_segment_count))
    }

    fn max_count(&self) -> u64 {
        P::max_count(self)
    }

    fn first_access(&self) -> Access {
        self.first_access()
    }

    fn last_access(&self) -> Access {
        self.last_access()
    }
}

impl SubsweepPlan {
    /// The plan, which must be of the primitive.
    pub(super) fn plan_of<P: Exported>(&self) -> Result<&Plan<P>> {
        let plan: &dyn Any = &*self.plan;
        Ok(plan.downcast_ref().ok_or(Error::Unsupported { reason: P::OTHER })?)
    }
}

/// Creates the plan of `info`, configured by `config`, in `*plan`.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
pub(super) unsafe fn create_plan<P: Exported, I: Versioned>(
    device: *const SubsweepDevice,
    info: *const I,
    plan: *mut *mut SubsweepPlan,
    config: impl FnOnce(&Device, &I) -> Result<P::Config>,
) -> VkResult {
    let make = || {
        // SAFETY: as the caller promises.
        let (device, info) = unsafe { (borrow(device, "device")?.get(), read(info)?) };
        let plan = Plan::<P>::new(device, config(device, &info)?)?;
        let policy = words(plan.policy());
        Ok(SubsweepPlan { plan: Box::new(plan), policy })
    };
    // SAFETY: as the caller promises.
    result(|| unsafe { create(plan, "plan", make) })
}

/// Records the plan, with the buffers and the count that `buffers` reads from `info`.
///
/// # Safety
/// As the header says of the primitive's subsweep_cmd_....
pub(super) unsafe fn record<P: Exported, I: Versioned>(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const I,
    buffers: impl FnOnce(&I) -> Result<(P::Buffers, P::Count)>,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let plan = unsafe { borrow(plan, "plan") }?.plan_of::<P>()?;
        let command_buffer = given(command_buffer, "command_buffer")?;
        // SAFETY: as the caller promises.
        let (buffers, count) = buffers(&unsafe { read(info) }?)?;
        // SAFETY: as the caller promises.
        Ok(unsafe { plan.cmd_record(command_buffer, &buffers, count) }?)
    })
}

/// Frees `plan`, which may be null, with its pipelines.
///
/// Threads: any, while no other thread uses `plan`.
///
/// # Safety
/// `plan` is null, or was created by a subsweep_..._plan_create and is not freed yet, and all work that it was
/// recorded into has completed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_plan_destroy(plan: *mut SubsweepPlan) {
    // SAFETY: as the caller promises.
    unsafe { destroy(plan) }
}

/// The scratch of a recording of up to `max_count` elements, and of a segmented sort in up to `max_segment_count` segments.
/// The function that creates a plan says how much it is. The elements of a merge are the keys of both arrays. The
/// elements of a search are its needles, and `max_segment_count` counts its sorted keys, which take scratch if they have 8 or 16
/// bits on a device that does not store such.
/// Other plans ignore `max_segment_count`.
///
/// Returns SUBSWEEP_ERROR_NULL.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive; `requirements` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_plan_scratch_requirements(
    plan: *const SubsweepPlan,
    max_count: u64,
    max_segment_count: u64,
    requirements: *mut SubsweepScratchRequirements,
) -> VkResult {
    result(|| {
        // SAFETY: as the caller promises.
        let plan = &unsafe { borrow(plan, "plan") }?.plan;
        let needs = plan.scratch_requirements(max_count, max_segment_count);
        // SAFETY: as the caller promises.
        unsafe { give(requirements, "requirements", needs.into()) }
    })
}

/// The maximum count of keys of a sort or segmented sort: 2^32 - 1, or fewer with small tiles; for
/// "single-workgroup" the capacity of one workgroup; with SUBSWEEP_SORT_LARGE_COUNTS_BIT more than 2^36. Of
/// elements of a selection or an encoding of runs, and of keys of a merge, 2^32 - 1, or with the bit for large counts of
/// each as many tiles; of rows of a histogram and of a top-k 2^32 - 1, or of a top-k by a sort of all keys the rows of as
/// many; of runs that are decoded 2^31 - 1.
/// UINT64_MAX for other plans, which are limited by the dispatches of the device. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_plan_max_count(plan: *const SubsweepPlan) -> u64 {
    // SAFETY: as the caller promises.
    value(0, || Ok(unsafe { borrow(plan, "plan") }?.plan.max_count()))
}

/// The accesses before the first barrier of a recording: the destination scope of the caller's barrier before
/// it. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_plan_first_access(plan: *const SubsweepPlan) -> SubsweepAccess {
    // SAFETY: as the caller promises.
    value(NO_ACCESS, || Ok(unsafe { borrow(plan, "plan") }?.plan.first_access().into()))
}

/// The accesses after the last barrier of a recording: the source scope of the caller's barrier after it.
/// Reads by indirect dispatches have completed before these. 0 if `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_plan_last_access(plan: *const SubsweepPlan) -> SubsweepAccess {
    // SAFETY: as the caller promises.
    value(NO_ACCESS, || Ok(unsafe { borrow(plan, "plan") }?.plan.last_access().into()))
}

/// The policy in use, as text: algorithm, workgroup size and so on. The string is owned by the plan. "" if
/// `plan` is null.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_plan_policy(plan: *const SubsweepPlan) -> *const c_char {
    // SAFETY: as the caller promises.
    value(c"".as_ptr(), || Ok(unsafe { borrow(plan, "plan") }?.policy.as_ptr()))
}
