//! What a plan for scans is to do.

use std::ffi::c_char;

use std::mem::offset_of;

use super::boundary::{Result, Versioned, text};
use super::result::Failure;
use super::types::{SubsweepElementType, element_type, flags, unknown};
use crate::device::Capabilities;
use crate::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanOperator, ScanPolicy, SegmentsBy};

/// Whether an element's result counts the element itself: one of SUBSWEEP_SCAN_KIND_....
pub type SubsweepScanKind = u32;
/// Each result counts its own element.
pub const SUBSWEEP_SCAN_KIND_INCLUSIVE: SubsweepScanKind = 0;
/// No result counts its own element: the first is the operator's identity, or the initial value.
pub const SUBSWEEP_SCAN_KIND_EXCLUSIVE: SubsweepScanKind = 1;

/// From which end a scan begins: one of SUBSWEEP_SCAN_DIRECTION_....
pub type SubsweepScanDirection = u32;
/// From the first row to the last.
pub const SUBSWEEP_SCAN_DIRECTION_FORWARD: SubsweepScanDirection = 0;
/// From the last row to the first: what a scan of the rows in reverse order gives, in reverse order.
pub const SUBSWEEP_SCAN_DIRECTION_REVERSE: SubsweepScanDirection = 1;

/// What elements are combined by: one of SUBSWEEP_SCAN_OPERATOR_....
pub type SubsweepScanOperator = u32;
/// The sum; of whole numbers it wraps. Identity 0.
pub const SUBSWEEP_SCAN_OPERATOR_ADD: SubsweepScanOperator = 0;
/// The product; of whole numbers it wraps. Identity 1.
pub const SUBSWEEP_SCAN_OPERATOR_MUL: SubsweepScanOperator = 1;
/// The minimum; a NaN if there is one. Identity: the greatest number, infinity of floats.
pub const SUBSWEEP_SCAN_OPERATOR_MIN: SubsweepScanOperator = 2;
/// The maximum; a NaN if there is one. Identity: the least number, minus infinity of floats.
pub const SUBSWEEP_SCAN_OPERATOR_MAX: SubsweepScanOperator = 3;
/// The bits that are in all. Identity: all bits. Not of floats.
pub const SUBSWEEP_SCAN_OPERATOR_AND: SubsweepScanOperator = 4;
/// The bits that are in any. Identity 0. Not of floats.
pub const SUBSWEEP_SCAN_OPERATOR_OR: SubsweepScanOperator = 5;
/// The bits that are in an odd number. Identity 0. Not of floats.
pub const SUBSWEEP_SCAN_OPERATOR_XOR: SubsweepScanOperator = 6;

/// What says where segments begin, each of which is scanned by itself: one of SUBSWEEP_SEGMENTS_BY_.... The
/// first row begins one in any case.
pub type SubsweepSegmentsBy = u32;
/// Nothing says it: all rows are one segment.
pub const SUBSWEEP_SEGMENTS_BY_NONE: SubsweepSegmentsBy = 0;
/// A uint32_t for each row: not 0 where a segment begins.
pub const SUBSWEEP_SEGMENTS_BY_FLAGS: SubsweepSegmentsBy = 1;
/// A key of 32 bits for each row: a segment is a run of equal ones, bit for bit.
pub const SUBSWEEP_SEGMENTS_BY_KEYS32: SubsweepSegmentsBy = 2;
/// A key of 64 bits for each row.
pub const SUBSWEEP_SEGMENTS_BY_KEYS64: SubsweepSegmentsBy = 3;
/// The rows at which segments begin, as uint32_t, in any order, as many as the range holds. Equal ones are one;
/// those beyond the last row are none.
pub const SUBSWEEP_SEGMENTS_BY_OFFSETS: SubsweepSegmentsBy = 4;

/// What else a plan for scans is to do: several of SUBSWEEP_SCAN_..._BIT, or 0.
pub type SubsweepScanFlags = u32;
/// Every recording brings an initial value: what comes before the first row, or the first of each segment.
pub const SUBSWEEP_SCAN_INITIAL_VALUE_BIT: SubsweepScanFlags = 1;
/// Recordings may take their count from the device.
pub const SUBSWEEP_SCAN_COUNTS_ON_DEVICE_BIT: SubsweepScanFlags = 2;
/// A promise that source and destination never overlap, which lets the plan take the single pass. A recording
/// in place is refused then.
pub const SUBSWEEP_SCAN_OUT_OF_PLACE_BIT: SubsweepScanFlags = 4;

const ALL_FLAGS: SubsweepScanFlags =
    SUBSWEEP_SCAN_INITIAL_VALUE_BIT | SUBSWEEP_SCAN_COUNTS_ON_DEVICE_BIT | SUBSWEEP_SCAN_OUT_OF_PLACE_BIT;

/// What a plan for scans is to do. All 0 but struct_size: the inclusive sums of single uint32_t.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepScanPlanCreateInfo {
    /// sizeof(SubsweepScanPlanCreateInfo).
    pub struct_size: u32,
    /// What else it is to do.
    pub flags: SubsweepScanFlags,
    /// Inclusive or exclusive.
    pub kind: SubsweepScanKind,
    /// From which end.
    pub direction: SubsweepScanDirection,
    /// The type of an element.
    pub element_type: SubsweepElementType,
    /// What elements are combined by.
    pub scan_operator: SubsweepScanOperator,
    /// Elements of a row, 1 to 16, each column being scanned for itself; 0 is taken as 1.
    pub column_count: u32,
    /// What says where segments begin.
    pub segments_by: SubsweepSegmentsBy,
    /// One of "reduce-then-scan", "reduce-then-scan/kogge-stone",
    /// "reduce-then-scan/kogge-stone-double-buffered", "reduce-then-scan/brent-kung",
    /// "reduce-then-scan/sklansky", "reduce-then-scan/sequential", "scan-then-propagate", "chained",
    /// "block-doubling" and "strided"; null for what suits the device. It is read during the call alone.
    pub algorithm: *const c_char,
}

// SAFETY: numbers and a pointer.
unsafe impl Versioned for SubsweepScanPlanCreateInfo {
    const NAME: &'static str = "SubsweepScanPlanCreateInfo";
    const FIRST_SIZE: usize = offset_of!(Self, algorithm) + size_of::<*const c_char>();
}

fn operator(value: SubsweepScanOperator) -> Result<ScanOperator> {
    Ok(match value {
        SUBSWEEP_SCAN_OPERATOR_ADD => ScanOperator::Add,
        SUBSWEEP_SCAN_OPERATOR_MUL => ScanOperator::Mul,
        SUBSWEEP_SCAN_OPERATOR_MIN => ScanOperator::Min,
        SUBSWEEP_SCAN_OPERATOR_MAX => ScanOperator::Max,
        SUBSWEEP_SCAN_OPERATOR_AND => ScanOperator::And,
        SUBSWEEP_SCAN_OPERATOR_OR => ScanOperator::Or,
        SUBSWEEP_SCAN_OPERATOR_XOR => ScanOperator::Xor,
        _ => return Err(unknown("scan_operator", value, "see SUBSWEEP_SCAN_OPERATOR_...")),
    })
}

fn segments_by(value: SubsweepSegmentsBy) -> Result<Option<SegmentsBy>> {
    Ok(Some(match value {
        SUBSWEEP_SEGMENTS_BY_NONE => return Ok(None),
        SUBSWEEP_SEGMENTS_BY_FLAGS => SegmentsBy::Flags,
        SUBSWEEP_SEGMENTS_BY_KEYS32 => SegmentsBy::Keys32,
        SUBSWEEP_SEGMENTS_BY_KEYS64 => SegmentsBy::Keys64,
        SUBSWEEP_SEGMENTS_BY_OFFSETS => SegmentsBy::Offsets,
        _ => return Err(unknown("segments_by", value, "see SUBSWEEP_SEGMENTS_BY_...")),
    }))
}

fn numbers(info: &SubsweepScanPlanCreateInfo) -> Result<ScanConfig> {
    let kind = match info.kind {
        SUBSWEEP_SCAN_KIND_INCLUSIVE => ScanKind::Inclusive,
        SUBSWEEP_SCAN_KIND_EXCLUSIVE => ScanKind::Exclusive,
        value => return Err(unknown("kind", value, "see SUBSWEEP_SCAN_KIND_...")),
    };
    let mut config = ScanConfig::new(kind)
        .element(element_type("element_type", info.element_type)?)
        .operator(operator(info.scan_operator)?)
        .columns(info.column_count.max(1));
    match info.direction {
        SUBSWEEP_SCAN_DIRECTION_FORWARD => {}
        SUBSWEEP_SCAN_DIRECTION_REVERSE => config = config.reverse(),
        value => return Err(unknown("direction", value, "see SUBSWEEP_SCAN_DIRECTION_...")),
    }
    if let Some(by) = segments_by(info.segments_by)? {
        config = config.segments(by);
    }
    let flags = flags("SubsweepScanFlags", info.flags, ALL_FLAGS)?;
    if flags & SUBSWEEP_SCAN_INITIAL_VALUE_BIT != 0 {
        config = config.with_initial();
    }
    if flags & SUBSWEEP_SCAN_COUNTS_ON_DEVICE_BIT != 0 {
        config = config.counts_on_device();
    }
    if flags & SUBSWEEP_SCAN_OUT_OF_PLACE_BIT != 0 {
        config = config.out_of_place();
    }
    Ok(config)
}

/// What C says, for a device.
///
/// # Safety
/// The texts of `info` are null or end with a 0.
pub(super) unsafe fn config(
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
mod tests {
    use super::*;

    fn known<T>(of: impl Fn(u32) -> Result<T>) -> u32 {
        assert!(matches!(of(u32::MAX), Err(Failure::UnknownValue { value: u32::MAX, .. })));
        (0..).find(|&value| matches!(of(value), Err(Failure::UnknownValue { .. }))).unwrap()
    }

    #[test]
    fn every_operator_and_every_kind_of_segments_has_a_number() {
        assert_eq!(known(operator), ScanOperator::ALL.len() as u32);
        for (value, expected) in (0..).zip(ScanOperator::ALL) {
            assert_eq!(operator(value).unwrap(), expected);
        }
        assert_eq!(known(segments_by), 1 + SegmentsBy::ALL.len() as u32);
        for (value, expected) in (1..).zip(SegmentsBy::ALL) {
            assert_eq!(segments_by(value).unwrap(), Some(expected));
        }
    }

    #[test]
    fn the_header_names_every_algorithm() {
        let source = include_str!("scan_config.rs");
        for algorithm in ScanAlgorithm::ALL {
            assert!(source.contains(&format!("\"{algorithm}\"")), "{algorithm}");
        }
    }
}
