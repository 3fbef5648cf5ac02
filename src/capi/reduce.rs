//! Reduce.

use super::functions::functions;
use super::*;
use crate::reduce::{Reduce, ReduceBuffers, ReduceConfig, ReduceRuns};

/// Options of a reduce plan: several of SUBSWEEP_REDUCE_..._BIT, or 0.
pub type SubsweepReduceFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_REDUCE_INDIRECT_COUNT_BIT: SubsweepReduceFlags = 1;
/// The result is the row of the minimum or maximum, uint32_t, for SUBSWEEP_SCAN_OPERATOR_MIN or
/// SUBSWEEP_SCAN_OPERATOR_MAX: of the first of equals, or of the first NaN.
pub const SUBSWEEP_REDUCE_INDEX_BIT: SubsweepReduceFlags = 2;
/// Of elements of 8 and 16 bits: results of 32, uint32_t, int32_t or float, as they are accumulated.
pub const SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT: SubsweepReduceFlags = 4;
/// Results are the indices of minima, all that SUBSWEEP_REDUCE_INDEX_BIT gives for SUBSWEEP_SCAN_OPERATOR_MIN, followed by as
/// many of maxima: twice the memory, and one read of the elements. scan_operator has no effect.
pub const SUBSWEEP_REDUCE_BOTH_INDICES_BIT: SubsweepReduceFlags = 8;

/// What has a result each: one of SUBSWEEP_REDUCE_RUNS_....
pub type SubsweepReduceRuns = u32;
/// All rows.
pub const SUBSWEEP_REDUCE_RUNS_NONE: SubsweepReduceRuns = 0;
/// Segments by offsets: the first row of each, uint32_t, ascending. A segment ends where the next begins, and
/// the last with the rows.
pub const SUBSWEEP_REDUCE_RUNS_OFFSETS: SubsweepReduceRuns = 1;
/// Runs of bitwise equal 32-bit keys, one for each row.
pub const SUBSWEEP_REDUCE_RUNS_KEYS32: SubsweepReduceRuns = 2;
/// Runs of bitwise equal 64-bit keys, one for each row.
pub const SUBSWEEP_REDUCE_RUNS_KEYS64: SubsweepReduceRuns = 3;
/// Runs of equal keys of float, one for each row: -0 equals +0, and all NaNs are equal. The key of a run is its first.
pub const SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32: SubsweepReduceRuns = 4;
/// Runs of equal keys of double, one for each row, as SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32.
pub const SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS64: SubsweepReduceRuns = 5;
/// Runs of bitwise equal 8-bit keys, one per row.
pub const SUBSWEEP_REDUCE_RUNS_KEYS8: SubsweepReduceRuns = 6;
/// Runs of bitwise equal 16-bit keys, one per row.
pub const SUBSWEEP_REDUCE_RUNS_KEYS16: SubsweepReduceRuns = 7;
/// Runs of keys of SUBSWEEP_ELEMENT_TYPE_F16, as SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32.
pub const SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS16: SubsweepReduceRuns = 8;
/// Runs of keys of SUBSWEEP_ELEMENT_TYPE_BF16, as SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32.
pub const SUBSWEEP_REDUCE_RUNS_BRAIN_KEYS16: SubsweepReduceRuns = 9;
/// Segments by ranges: the first row of each in segments, and the row after its last in segment_ends, uint32_t. They may
/// overlap, leave out rows, and be in any order; one that ends before it begins is empty.
pub const SUBSWEEP_REDUCE_RUNS_RANGES: SubsweepReduceRuns = 10;

/// The parameters of subsweep_reduce_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepReducePlanCreateInfo {
    /// sizeof(SubsweepReducePlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepReduceFlags,
    /// The type of the elements.
    pub element_type: SubsweepElementType,
    /// The operator that combines them.
    pub scan_operator: SubsweepScanOperator,
    /// Elements in a row, 1 to 64, or 0 for 1. Each column is reduced by itself.
    pub column_count: u32,
    /// What has a result each.
    pub runs: SubsweepReduceRuns,
    /// Elements of a row of a table that is reduced along its rows, each of which has a result; 0 to reduce columns. The
    /// count of a recording is then the number of all elements. With a column_count of 1, and without runs.
    pub row_length: u32,
    /// Functions whose identity and combine reduce elements of their own, in place of element_type and scan_operator; 0 for
    /// none.
    pub functions: SubsweepFunctions,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepReducePlanCreateInfo, runs, 24);

/// The memory and the count of one recording of a reduction.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepReduceInfo {
    /// sizeof(SubsweepReduceInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of rows; with row_length in the plan the count of all elements.
    pub count: SubsweepCount,
    /// The rows to reduce.
    pub source: SubsweepAddressRange,
    /// The results: a row, or an index for each column, of which there is one for all rows, for each segment, or for
    /// each run of keys; room for as many runs as rows. Along rows one for each row of the table, the last of which may
    /// be short: the count divided by row_length, rounded up.
    pub destination: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// For a plan with runs: offsets, as many as size / 4, or keys, which may be more than the rows need. Otherwise 0.
    pub segments: SubsweepAddressRange,
    /// For a plan with SUBSWEEP_REDUCE_RUNS_RANGES: the end of each segment. Otherwise 0.
    pub segment_ends: SubsweepAddressRange,
    /// For a plan with keys: the key of each run; room for as many as rows. Otherwise 0.
    pub unique_keys: SubsweepAddressRange,
    /// For a plan with keys: the number of runs, uint32_t. Otherwise 0.
    pub run_count: SubsweepAddressRange,
    /// For a plan with functions: what they read besides; 0 if they read nothing.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepReduceInfo, run_count, 160);

exported!(Reduce, "a reduction");

pub(super) fn reduce_config(info: &SubsweepReducePlanCreateInfo) -> Result<ReduceConfig> {
    let known = SUBSWEEP_REDUCE_INDIRECT_COUNT_BIT
        | SUBSWEEP_REDUCE_INDEX_BIT
        | SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT
        | SUBSWEEP_REDUCE_BOTH_INDICES_BIT;
    let flags = flags("SubsweepReduceFlags", info.flags, known)?;
    let functions = functions(info.functions)?;
    let of_indices = flags & (SUBSWEEP_REDUCE_INDEX_BIT | SUBSWEEP_REDUCE_BOTH_INDICES_BIT);
    if functions.is_some() && of_indices != 0 {
        return Err(unknown("SubsweepReduceFlags", of_indices, "functions have no indices"));
    }
    let element = element_type("element_type", info.element_type)?;
    let config = match (flags & SUBSWEEP_REDUCE_INDEX_BIT != 0, operator(info.scan_operator)?) {
        _ if flags & SUBSWEEP_REDUCE_BOTH_INDICES_BIT != 0 => ReduceConfig::argminmax(element),
        (false, operator) => ReduceConfig::new(operator, element),
        (true, crate::scan::ScanOperator::Min) => ReduceConfig::argmin(element),
        (true, crate::scan::ScanOperator::Max) => ReduceConfig::argmax(element),
        (true, _) => {
            let reason = "only minima and maxima have an index; leave out SUBSWEEP_REDUCE_INDEX_BIT";
            return Err(Error::Unsupported { reason }.into());
        }
    };
    let config = functions.map_or(config, ReduceConfig::custom);
    let config = config.columns(info.column_count.max(1));
    let config = options!(config, flags, SUBSWEEP_REDUCE_INDIRECT_COUNT_BIT => indirect_count,
        SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT => unpacked_results);
    match info.runs {
        SUBSWEEP_REDUCE_RUNS_NONE if info.row_length > 0 => Ok(config.along_rows(info.row_length)),
        SUBSWEEP_REDUCE_RUNS_NONE => Ok(config),
        _ if info.row_length > 0 => {
            Err(unknown("row_length", info.row_length, "it is 0 with runs, which are rows themselves"))
        }
        SUBSWEEP_REDUCE_RUNS_OFFSETS => Ok(config.runs(ReduceRuns::Offsets)),
        SUBSWEEP_REDUCE_RUNS_RANGES => Ok(config.runs(ReduceRuns::Ranges)),
        SUBSWEEP_REDUCE_RUNS_KEYS32 => Ok(config.runs(ReduceRuns::Keys32)),
        SUBSWEEP_REDUCE_RUNS_KEYS64 => Ok(config.runs(ReduceRuns::Keys64)),
        SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS32 => Ok(config.runs(ReduceRuns::FloatKeys32)),
        SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS64 => Ok(config.runs(ReduceRuns::FloatKeys64)),
        SUBSWEEP_REDUCE_RUNS_KEYS8 => Ok(config.runs(ReduceRuns::Keys8)),
        SUBSWEEP_REDUCE_RUNS_KEYS16 => Ok(config.runs(ReduceRuns::Keys16)),
        SUBSWEEP_REDUCE_RUNS_FLOAT_KEYS16 => Ok(config.runs(ReduceRuns::FloatKeys16)),
        SUBSWEEP_REDUCE_RUNS_BRAIN_KEYS16 => Ok(config.runs(ReduceRuns::BrainKeys16)),
        other => Err(unknown("SubsweepReduceRuns", other, "one of SUBSWEEP_REDUCE_RUNS_...")),
    }
}

/// Creates a reduce plan.
///
/// Scratch: a row for each tile of 4096 words, or elements of less, and for indices 4 bytes for each column, for both, and for an
/// index of elements of 8 and 16 bits, up to four times that; for segments a row for each 31 rows, of elements of 8 and 16 bits
/// in words; for keys also 4 bytes for each row, but in a single pass 16 bytes, and 16 or 24 for each tile alone; along rows a
/// number for each tile of a row of several, and for indices another 4 bytes; with an indirect count 32 bytes for each level.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for more than 64 columns, or more than one along rows, rows of 4 GiB or more, bitwise
/// operators on floats, an index that is of segments or not of a minimum or maximum, and SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT for
/// types of 32 and 64 bits; VK_ERROR_FEATURE_NOT_PRESENT for sums and products of SUBSWEEP_ELEMENT_TYPE_F64 without shaderFloat64.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_reduce_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepReducePlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Reduce, _>(device, info, plan, |_: &Device, info: &_| reduce_config(info)) }
}

/// Records the reduction of `info->count` rows, or along rows of as many elements.
///
/// 2. Memory: `source` is faster at a multiple of 16.
/// 4. Limits: a count of 0, direct or indirect, has results: the identity of the operator, the index UINT32_MAX, or
///    0 runs, but along rows none. At most 2^32 - 1 rows for segments, keys and indices, and 2^32 - 1 elements
///    along rows; otherwise 2^32 - 1 tiles.
/// 5. Result: in `destination`, `unique_keys` and `run_count`; `source` is unchanged. Sums and products of floats
///    have the same bits on every device that keeps denormals.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED if segments or keys are given to a plan made without them.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_reduce(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepReduceInfo,
) -> VkResult {
    let buffers = |info: &SubsweepReduceInfo| {
        flags("SubsweepReduceInfo.flags", info.flags, 0)?;
        let buffers = buffers!(
            info,
            ReduceBuffers {
                source,
                segments,
                segment_ends,
                destination,
                unique_keys,
                run_count,
                functions_data
            }
        );
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Reduce, _>(plan, command_buffer, info, buffers) }
}

#[cfg(test)]
mod tests;
