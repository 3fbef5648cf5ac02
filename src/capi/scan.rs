//! Scan.

use std::ffi::c_void;

use super::*;
use crate::scan::{InitialValue, Scan, ScanBuffers};

/// The memory and the count of one recording of a scan.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepScanInfo {
    /// sizeof(SubsweepScanInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of rows.
    pub count: SubsweepCount,
    /// The rows to scan.
    pub source: SubsweepAddressRange,
    /// The results; the same range as `source` to scan in place.
    pub destination: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// For a plan with segments: the flags, keys or offsets of its segments_by. Offsets are as many as size /
    /// 4; flags and keys may be more than the rows need. Otherwise 0.
    pub segments: SubsweepAddressRange,
    /// For a plan with SUBSWEEP_SCAN_INITIAL_VALUE_BIT: a row in device memory, such as the last row of
    /// another scan's results. 0 if the initial value is on the host, or if there is none.
    pub initial_on_device: SubsweepAddressRange,
    /// For a plan with SUBSWEEP_SCAN_INITIAL_VALUE_BIT: a row in host memory, at a multiple of 4 bytes, read
    /// only during the call. Null if the initial value is on the device, or if there is none.
    pub initial_on_host: *const c_void,
    /// Bytes at `initial_on_host`: those of a row.
    pub initial_on_host_size: usize,
}

// SAFETY: numbers, handles and a pointer.
versioned!(unsafe SubsweepScanInfo, initial_on_host_size, 144);

/// Words of the longest row: 16 columns of 64 bits. A test checks that one word more is refused.
const MAX_ROW_WORDS: usize = 32;

/// The initial value of a recording.
///
/// # Safety
/// `initial_on_host` is null or has `initial_on_host_size` bytes.
unsafe fn initial(info: &SubsweepScanInfo) -> Result<InitialValue> {
    let on_device = info.initial_on_device.checked("initial_on_device")?;
    let (row, size) = (info.initial_on_host.cast::<u32>(), info.initial_on_host_size);
    match (row.is_null(), on_device.address) {
        (true, 0) if size == 0 => Ok(InitialValue::Identity),
        (true, 0) => Err(Failure::Null("initial_on_host")),
        (true, _) => Ok(InitialValue::Device(on_device)),
        (false, 0) if !row.is_aligned() => {
            let address = row.addr() as u64;
            Err(Error::Misaligned { what: "initial_on_host", address, alignment: 4 }.into())
        }
        (false, 0) if size == 0 || !size.is_multiple_of(4) => {
            Err(Error::RangeTooSmall { what: "initial_on_host", needed: 4, got: size as u64 }.into())
        }
        (false, 0) => {
            // One word more than the longest row is enough to be refused, however large the size is.
            let word_count = (size / 4).min(MAX_ROW_WORDS + 1);
            // SAFETY: as the caller promises.
            Ok(InitialValue::host(unsafe { std::slice::from_raw_parts(row, word_count) })?)
        }
        (false, _) => Err(Error::Unsupported {
            reason: "a scan has one initial value: initial_on_host or initial_on_device, and not both",
        }
        .into()),
    }
}

impl Exported for Scan {
    const OTHER: &'static str = "the plan is not of a scan";
}

/// Creates a scan plan on `device` with every pipeline that a recording may need, to be freed by
/// subsweep_plan_destroy. Pipeline compilation may take seconds.
///
/// Scratch: a row per tile, two for the chained scan, by default less than 1/128 of the source; none for a
/// single tile or block doubling; as much as the source for the strided scan. Segments take another 4 bytes
/// per tile, and by offsets a bit per row; an initial value takes a row; an indirect count 32 bytes for each
/// level of tiles.
///
/// Returns SUBSWEEP_ERROR_UNSUPPORTED for more than 16 columns and for bitwise operators on floats;
/// VK_ERROR_FEATURE_NOT_PRESENT for sums and products of SUBSWEEP_ELEMENT_TYPE_F64 on a device created
/// without shaderFloat64; SUBSWEEP_ERROR_INVALID_POLICY if `algorithm` does not support the configuration;
/// SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE, or Vulkan's own error.
/// `*plan` is null then.
///
/// Threads: any, at any time; if several create plans for one device, its pipeline cache must be internally
/// synchronised.
///
/// # Safety
/// `device` is null or alive, `info` is null or as its comments say, and `plan` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_scan_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepScanPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    // SAFETY: as the caller promises.
    let config = |device: &Device, info: &_| unsafe { scan_config(info, device.capabilities()) };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Scan, _>(device, info, plan, config) }
}

/// The maximum number of operations between an element and any result of `count` rows. The error of a float
/// sum is at most 1.01 d u of the sum of the magnitudes, where d is this depth and u is 2^-24 for
/// SUBSWEEP_ELEMENT_TYPE_F32 and 2^-53 for SUBSWEEP_ELEMENT_TYPE_F64. 0 if `plan` is null or not of a scan.
///
/// Threads: any, at any time.
///
/// # Safety
/// `plan` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_scan_plan_rounding_depth(plan: *const SubsweepPlan, count: u64) -> u64 {
    // SAFETY: as the caller promises.
    value(0, || Ok(unsafe { borrow(plan, "plan") }?.of::<Scan>()?.rounding_depth(count)))
}

/// Records the scan of `info->count` rows into `command_buffer`. Nothing is submitted, waited for or
/// allocated.
///
/// 1. Device: the requirements of subsweep_requirements_query; a queue with compute.
/// 2. Memory: `source` and `destination` at least as large as the rows, at multiples of 4 (faster at
///    multiples of 16); the same range, or disjoint. `segments` has 4 bytes for each row (8 for keys of 64
///    bits; all of the range for offsets), an initial value on the device has the size of a row, an indirect
///    count 4 bytes: all at multiples of 4, disjoint from `destination`. `scratch` as
///    subsweep_plan_scratch_requirements says, its contents undefined, disjoint from all of these, not used
///    by other work until this work has completed.
/// 3. Commands: dispatches, fills and updates of `scratch`, and the barriers between them; none before the
///    first or after the last. With SUBSWEEP_FEATURE_DEBUG_UTILS_BIT the commands are in labels. The first
///    access is COMPUTE_SHADER / SHADER_READ of `source`, `segments`, initial value and count, and TRANSFER /
///    TRANSFER_WRITE or COMPUTE_SHADER / SHADER_WRITE of `scratch`; ends with COMPUTE_SHADER / SHADER_WRITE
///    of `destination`. The last access to `scratch` is COMPUTE_SHADER, with an indirect count also
///    DRAW_INDIRECT / INDIRECT_COMMAND_READ. Leaves a compute pipeline and push constants bound, and changes
///    no other state.
/// 4. Limits: a count of 0 records nothing; an indirect count of 0 runs no workgroups, and one above its
///    maximum is clamped to it. At most 2^32 - 1 tiles, or the two-dimensional dispatch limit of the device
///    in workgroups; 2^32 - 1 rows with segments.
/// 5. Result: in `destination`; `source` is unchanged unless it is the same range.
///
/// Returns SUBSWEEP_ERROR_RANGE_TOO_SMALL, SUBSWEEP_ERROR_MISALIGNED, SUBSWEEP_ERROR_OVERLAP,
/// SUBSWEEP_ERROR_SCRATCH_TOO_SMALL, SUBSWEEP_ERROR_MISSING_USAGE, SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
/// SUBSWEEP_ERROR_INVALID_RANGE; SUBSWEEP_ERROR_UNSUPPORTED if the plan does not scan in place, and if an
/// initial value, segments or an indirect count are given to a plan made without them, or missing for a plan
/// made with them; SUBSWEEP_ERROR_NULL, SUBSWEEP_ERROR_STRUCT_SIZE, SUBSWEEP_ERROR_UNKNOWN_VALUE. Nothing is
/// recorded then.
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
pub unsafe extern "C" fn subsweep_cmd_scan(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepScanInfo,
) -> VkResult {
    let buffers = |info: &SubsweepScanInfo| {
        flags("SubsweepScanInfo.flags", info.flags, 0)?;
        let buffers = buffers!(info, ScanBuffers { source, destination, segments });
        // SAFETY: as the caller promises.
        let buffers = buffers.initial(unsafe { initial(info) }?);
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Scan, _>(plan, command_buffer, info, buffers) }
}

#[cfg(test)]
mod tests;
