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
    /// The count of rows; with row_length in the plan the count of all elements.
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
    /// For a plan with SUBSWEEP_SCAN_INITIAL_VALUE_BIT: a row in host memory, of elements of 8 and 16 bits as uint32_t,
    /// int32_t or float, at a multiple of 4 bytes, read
    /// only during the call. Null if the initial value is on the device, or if there is none.
    pub initial_on_host: *const c_void,
    /// Bytes at `initial_on_host`: the size of a row.
    pub initial_on_host_size: usize,
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers, handles and a pointer.
versioned!(unsafe SubsweepScanInfo, initial_on_host_size, 144);

/// Words of the longest row: 64 columns of 64 bits. A test checks that one word more is refused.
const MAX_ROW_WORDS: usize = 128;

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

exported!(Scan, "a scan");

/// Creates a scan plan.
///
/// Scratch: a row per tile, two for the chained scan, by default less than 1/128 of the source, of 8 bits 1/32; none for a single
/// tile or block doubling; as much as the source for the strided scan. Segments take another 4 bytes per tile, and
/// by offsets a bit per row; an initial value takes a row; an indirect count 32 bytes for each level of tiles.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for more than 64 columns and for bitwise operators on floats;
/// VK_ERROR_FEATURE_NOT_PRESENT for sums and products of SUBSWEEP_ELEMENT_TYPE_F64 on a device created without
/// shaderFloat64; SUBSWEEP_ERROR_INVALID_POLICY if `algorithm` does not support the configuration.
///
/// # Safety
/// As at the top of the header.
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
    value(0, || Ok(unsafe { borrow(plan, "plan") }?.plan_of::<Scan>()?.rounding_depth(count)))
}

/// Records the scan of `info->count` rows.
///
/// 2. Memory: `source` and `destination` are faster at multiples of 16; the same range, or disjoint. `segments` has
///    4 bytes for each row (8 for keys of 64 bits; all of the range for offsets), and an initial value on the
///    device has the size of a row.
/// 4. Limits: at most 2^32 - 1 tiles; 2^32 - 1 rows with segments.
/// 5. Result: in `destination`; `source` is unchanged unless it is the same range.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED if the plan does not scan in place, and if an initial value or segments
/// are given to a plan made without them, or missing for a plan made with them.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_scan(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepScanInfo,
) -> VkResult {
    let buffers = |info: &SubsweepScanInfo| {
        flags("SubsweepScanInfo.flags", info.flags, 0)?;
        let buffers = buffers!(info, ScanBuffers { source, destination, segments, functions_data });
        // SAFETY: as the caller promises.
        let buffers = buffers.initial(unsafe { initial(info) }?);
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Scan, _>(plan, command_buffer, info, buffers) }
}

#[cfg(test)]
mod tests;
