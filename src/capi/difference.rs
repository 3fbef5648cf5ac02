//! Adjacent difference.

use super::*;
use crate::difference::{Difference, DifferenceBuffers, DifferenceConfig};

/// Options of a difference plan: several of SUBSWEEP_DIFFERENCE_..._BIT, or 0.
pub type SubsweepDifferenceFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_DIFFERENCE_INDIRECT_COUNT_BIT: SubsweepDifferenceFlags = 1;
/// Each column less the one before it, in each row; otherwise each row less the one before it.
pub const SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT: SubsweepDifferenceFlags = 2;
/// The result begins with the first row, or column, itself, and is as large as the source.
pub const SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT: SubsweepDifferenceFlags = 4;

/// The parameters of subsweep_difference_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepDifferencePlanCreateInfo {
    /// sizeof(SubsweepDifferencePlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepDifferenceFlags,
    /// The type of the numbers.
    pub element_type: SubsweepElementType,
    /// The number of columns, 1 to 65,536: the numbers of a row.
    pub column_count: u32,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepDifferencePlanCreateInfo, column_count, 16);

/// The memory and the count of one recording of a difference.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepDifferenceInfo {
    /// sizeof(SubsweepDifferenceInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of rows.
    pub count: SubsweepCount,
    /// The rows, of column_count numbers each.
    pub source: SubsweepAddressRange,
    /// The differences: a row less than the source; with SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT a column less; with
    /// SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT as many of both.
    pub destination: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepDifferenceInfo, scratch, 96);

exported!(Difference, "a difference");

/// Creates a difference plan.
///
/// Scratch: none, or 32 bytes with an indirect count.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a number of columns out of range; VK_ERROR_FEATURE_NOT_PRESENT for
/// SUBSWEEP_ELEMENT_TYPE_F64 on a device created without shaderFloat64.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_difference_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepDifferencePlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepDifferencePlanCreateInfo| {
        let known = 2 * SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT - 1;
        let flags = flags("SubsweepDifferenceFlags", info.flags, known)?;
        let element = element_type("element_type", info.element_type)?;
        let config = DifferenceConfig::new(element).columns(info.column_count);
        Ok(options!(config, flags,
            SUBSWEEP_DIFFERENCE_INDIRECT_COUNT_BIT => indirect_count,
            SUBSWEEP_DIFFERENCE_ALONG_ROWS_BIT => along_rows, SUBSWEEP_DIFFERENCE_KEEPS_FIRST_BIT => keeps_first
        ))
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Difference, _>(device, info, plan, config) }
}

/// Records the difference of `info->count` rows.
///
/// 1. Device: for f64 shaderFloat64.
/// 3. Commands: one dispatch; for an indirect count another one and a barrier before it.
/// 4. Limits: a result without numbers records nothing.
/// 5. Result: in `destination`; integers wrap. Its count of rows is the count less one, but of at least 0, or with
///    either of the other flags the count, and is not written.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_difference(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepDifferenceInfo,
) -> VkResult {
    let buffers = |info: &SubsweepDifferenceInfo| {
        flags("SubsweepDifferenceInfo.flags", info.flags, 0)?;
        Ok((buffers!(info, DifferenceBuffers { source, destination }), info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Difference, _>(plan, command_buffer, info, buffers) }
}
