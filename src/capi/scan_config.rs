//! The configuration of a scan plan.

use std::ffi::c_char;

use super::boundary::{Result, options, text, versioned};
use super::functions::{SubsweepFunctions, functions};
use super::result::Failure;
use super::types::{SubsweepElementType, element_type, flags, unknown};
use crate::device::Capabilities;
use crate::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanOperator, ScanPolicy, SegmentsBy};

/// Whether a result includes its own element: one of SUBSWEEP_SCAN_KIND_....
pub type SubsweepScanKind = u32;
/// Each result includes its own element.
pub const SUBSWEEP_SCAN_KIND_INCLUSIVE: SubsweepScanKind = 0;
/// No result includes its own element: the first is the operator's identity, or the initial value.
pub const SUBSWEEP_SCAN_KIND_EXCLUSIVE: SubsweepScanKind = 1;

/// The direction of a scan: one of SUBSWEEP_SCAN_DIRECTION_....
pub type SubsweepScanDirection = u32;
/// From the first row to the last.
pub const SUBSWEEP_SCAN_DIRECTION_FORWARD: SubsweepScanDirection = 0;
/// From the last row to the first: the scan of the reversed rows, reversed.
pub const SUBSWEEP_SCAN_DIRECTION_REVERSE: SubsweepScanDirection = 1;

/// The operator that combines elements: one of SUBSWEEP_SCAN_OPERATOR_....
pub type SubsweepScanOperator = u32;
/// The sum; of integers modulo 2^8 to 2^64, as many bits as they have; of 8 and 16 bits modulo 2^32 with
/// SUBSWEEP_SCAN_UNPACKED_RESULTS_BIT or SUBSWEEP_REDUCE_UNPACKED_RESULTS_BIT. Identity 0. Sums of non-negative floats may
/// decrease, unless SUBSWEEP_SCAN_MONOTONE_BIT is set.
pub const SUBSWEEP_SCAN_OPERATOR_ADD: SubsweepScanOperator = 0;
/// The product; of integers modulo likewise. Identity 1.
pub const SUBSWEEP_SCAN_OPERATOR_MUL: SubsweepScanOperator = 1;
/// The minimum; a NaN if there is one. Identity: the greatest number, infinity for floats.
pub const SUBSWEEP_SCAN_OPERATOR_MIN: SubsweepScanOperator = 2;
/// The maximum; a NaN if there is one. Identity: the least number, minus infinity for floats.
pub const SUBSWEEP_SCAN_OPERATOR_MAX: SubsweepScanOperator = 3;
/// Bitwise and. Identity: all bits. Integers only.
pub const SUBSWEEP_SCAN_OPERATOR_AND: SubsweepScanOperator = 4;
/// Bitwise or. Identity 0. Integers only.
pub const SUBSWEEP_SCAN_OPERATOR_OR: SubsweepScanOperator = 5;
/// Bitwise exclusive or. Identity 0. Integers only.
pub const SUBSWEEP_SCAN_OPERATOR_XOR: SubsweepScanOperator = 6;

/// The representation of segments, each scanned separately: one of SUBSWEEP_SEGMENTS_BY_.... The first row
/// always begins a segment.
pub type SubsweepSegmentsBy = u32;
/// No segments: all rows are one.
pub const SUBSWEEP_SEGMENTS_BY_NONE: SubsweepSegmentsBy = 0;
/// Head flags: a uint32_t for each row, nonzero where a segment begins.
pub const SUBSWEEP_SEGMENTS_BY_FLAGS: SubsweepSegmentsBy = 1;
/// A key of 32 bits for each row: a segment is a run of bitwise equal keys.
pub const SUBSWEEP_SEGMENTS_BY_KEYS32: SubsweepSegmentsBy = 2;
/// A key of 64 bits for each row.
pub const SUBSWEEP_SEGMENTS_BY_KEYS64: SubsweepSegmentsBy = 3;
/// Segment offsets: the first row of each segment, as uint32_t, in any order, as many as the range holds.
/// Duplicates count once; offsets beyond the last row are ignored.
pub const SUBSWEEP_SEGMENTS_BY_OFFSETS: SubsweepSegmentsBy = 4;

/// Options of a scan plan: several of SUBSWEEP_SCAN_..._BIT, or 0.
pub type SubsweepScanFlags = u32;
/// Every recording has an initial value: the carry-in of the first row, or of the first row of each segment.
pub const SUBSWEEP_SCAN_INITIAL_VALUE_BIT: SubsweepScanFlags = 1;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_SCAN_INDIRECT_COUNT_BIT: SubsweepScanFlags = 2;
/// A promise that source and destination never overlap, which permits the single-pass algorithm. Recordings in
/// place are then refused.
pub const SUBSWEEP_SCAN_OUT_OF_PLACE_BIT: SubsweepScanFlags = 4;

/// Keeps sums of non-negative floats from decreasing, by a second scan for the running maxima of the results. Without
/// it, rounding may make a result less than the one before it. For sums of floats alone.
pub const SUBSWEEP_SCAN_MONOTONE_BIT: SubsweepScanFlags = 8;
/// Of elements of 8 and 16 bits: results of 32, uint32_t, int32_t or float, as they are accumulated, out of place.
pub const SUBSWEEP_SCAN_UNPACKED_RESULTS_BIT: SubsweepScanFlags = 16;

/// The parameters of subsweep_scan_plan_create. With all fields 0 but struct_size: the inclusive sum of
/// uint32_t.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepScanPlanCreateInfo {
    /// sizeof(SubsweepScanPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepScanFlags,
    /// Inclusive or exclusive.
    pub kind: SubsweepScanKind,
    /// Forward or reverse.
    pub direction: SubsweepScanDirection,
    /// The type of an element.
    pub element_type: SubsweepElementType,
    /// The operator.
    pub scan_operator: SubsweepScanOperator,
    /// Elements of a row, 1 to 64; each column is scanned separately. 0 means 1.
    pub column_count: u32,
    /// The representation of segments.
    pub segments_by: SubsweepSegmentsBy,
    /// The algorithm: one of "reduce-then-scan", "reduce-then-scan/kogge-stone",
    /// "reduce-then-scan/kogge-stone-double-buffered", "reduce-then-scan/brent-kung",
    /// "reduce-then-scan/sklansky", "reduce-then-scan/sequential", "scan-then-propagate", "chained",
    /// "block-doubling" and "strided"; null to choose by device. Read only during the call.
    pub algorithm: *const c_char,
    /// Elements of a row of a table that is scanned along its rows, as segments of so many elements; 0 to scan down
    /// the columns. The count of a recording is then the number of all elements. Not with segments_by. Pipelines are for one
    /// length: each other length compiles its own.
    pub row_length: u32,
    /// Functions whose identity and combine scan elements of their own, in place of element_type and scan_operator; 0 for
    /// none. With transform or store the source and the destination have other rows, and recordings are out of place.
    pub functions: SubsweepFunctions,
}

// SAFETY: numbers and a pointer.
versioned!(unsafe SubsweepScanPlanCreateInfo, algorithm, 40);

/// The operator of C's enumerator.
pub(super) fn operator(value: SubsweepScanOperator) -> Result<ScanOperator> {
    let operator = ScanOperator::ALL.get(value as usize).copied();
    operator.ok_or_else(|| unknown("scan_operator", value, "see SUBSWEEP_SCAN_OPERATOR_..."))
}

fn segments_by(value: SubsweepSegmentsBy) -> Result<Option<SegmentsBy>> {
    let Some(index) = (value as usize).checked_sub(1) else { return Ok(None) };
    let by = SegmentsBy::ALL.get(index).copied();
    by.map(Some).ok_or_else(|| unknown("segments_by", value, "see SUBSWEEP_SEGMENTS_BY_..."))
}

fn numbers(info: &SubsweepScanPlanCreateInfo) -> Result<ScanConfig> {
    let kind = match info.kind {
        SUBSWEEP_SCAN_KIND_INCLUSIVE => ScanKind::Inclusive,
        SUBSWEEP_SCAN_KIND_EXCLUSIVE => ScanKind::Exclusive,
        value => return Err(unknown("kind", value, "see SUBSWEEP_SCAN_KIND_...")),
    };
    let config = match functions(info.functions)? {
        Some(functions) => ScanConfig::custom(kind, functions),
        None => ScanConfig::new(kind, element_type("element_type", info.element_type)?)
            .operator(operator(info.scan_operator)?),
    };
    let mut config = config.columns(info.column_count.max(1));
    match info.direction {
        SUBSWEEP_SCAN_DIRECTION_FORWARD => {}
        SUBSWEEP_SCAN_DIRECTION_REVERSE => config = config.reverse(),
        value => return Err(unknown("direction", value, "see SUBSWEEP_SCAN_DIRECTION_...")),
    }
    match (segments_by(info.segments_by)?, info.row_length) {
        (by, 0) => config = by.map_or(config, |by| config.segments(by)),
        (None, length) => config = config.along_rows(length),
        (Some(_), length) => {
            return Err(unknown("row_length", length, "it is 0 with segments, which are rows themselves"));
        }
    }
    let flags = flags("SubsweepScanFlags", info.flags, 2 * SUBSWEEP_SCAN_UNPACKED_RESULTS_BIT - 1)?;
    Ok(options!(config, flags,
        SUBSWEEP_SCAN_INITIAL_VALUE_BIT => with_initial, SUBSWEEP_SCAN_INDIRECT_COUNT_BIT => indirect_count,
        SUBSWEEP_SCAN_OUT_OF_PLACE_BIT => out_of_place, SUBSWEEP_SCAN_MONOTONE_BIT => monotone,
        SUBSWEEP_SCAN_UNPACKED_RESULTS_BIT => unpacked_results
    ))
}

/// The configuration that C describes, for a device.
///
/// # Safety
/// The strings of `info` are null or end with a 0.
pub(super) unsafe fn scan_config(
    info: &SubsweepScanPlanCreateInfo,
    capabilities: &Capabilities,
) -> Result<ScanConfig> {
    let config = numbers(info)?;
    // SAFETY: as the caller promises.
    let Some(name) = (unsafe { text(info.algorithm) }) else { return Ok(config) };
    let algorithm = name.to_str().ok().and_then(ScanAlgorithm::from_name).ok_or_else(|| {
        Failure::unknown_name("algorithm", name, &ScanAlgorithm::ALL.map(ScanAlgorithm::name))
    })?;
    Ok(config.policy(ScanPolicy::tuned(algorithm, capabilities, &config)))
}

#[cfg(test)]
mod tests;
