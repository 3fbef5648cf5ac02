//! Operands of scans: the initial value, and the segments.

use super::ScanCase;
use crate::harness::inputs::{self, Input, SplitMix64};
use subsweep::scan::SegmentsBy;

/// The initial value of a scan.
pub(super) fn initial_row(scan: &ScanCase) -> Vec<u32> {
    // The middle of three rows: the least or greatest value would hide the elements.
    let rows = scan.numbers().generate(Input::Distinguishing, 3, 5);
    let row_words = rows.len() / 3;
    rows[row_words..][..row_words].to_vec()
}

/// Head rows of the segments of `rows` rows, except the first: of a number of rows each, or many short ones, a long one,
/// and a few more.
pub(super) fn heads(scan: &ScanCase, rows: usize) -> Vec<usize> {
    match scan.segments {
        None => Vec::new(),
        Some(SegmentsBy::FixedSize(length)) => (0..rows).step_by(length as usize).skip(1).collect(),
        Some(_) => (1..rows).filter(inputs::begins(rows)).collect(),
    }
}

/// The segments of `room` rows in the representation `by`.
pub(super) fn segments(by: SegmentsBy, heads: &[usize], room: usize) -> Vec<u32> {
    let mut flags = vec![false; room];
    for &head in heads {
        flags[head] = true;
    }
    if let (SegmentsBy::Flags, Some(first)) = (by, flags.first_mut()) {
        *first = true;
    }
    let numbers = flags.iter().scan(0u32, |number, &is_head| {
        *number += u32::from(is_head);
        Some(*number)
    });
    match by {
        // Any nonzero flag is a head; the first row's flag is redundant.
        SegmentsBy::Flags => {
            flags.iter().zip(0u32..).map(|(&is_head, row)| if is_head { row | 1 } else { 0 }).collect()
        }
        // Not ascending, and they recur.
        SegmentsBy::Keys32 => {
            numbers.map(|number| SplitMix64(u64::from(number % 7)).next_u64() as u32).collect()
        }
        // Adjacent segments may agree in one of the two words.
        SegmentsBy::Keys64 => numbers.flat_map(|number| [number / 2, number.div_ceil(2)]).collect(),
        // Duplicate offsets, one at the end, one beyond it, not in order.
        SegmentsBy::Offsets => {
            let mut offsets: Vec<_> = heads.iter().map(|&head| head as u32).collect();
            offsets.extend(heads.iter().step_by(5).map(|&head| head as u32));
            offsets.extend([0, 0, room as u32, u32::MAX]);
            offsets
        }
        SegmentsBy::FixedSize(_) => Vec::new(),
    }
}
