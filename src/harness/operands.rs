//! Operands other than the source: a scan's initial value and segments, a gather's indices, and indirect counts (for a
//! segmented sort of keys, followed by that of segments).

use super::cases::{CountFrom, GatherCase, Place, ScanCase, SegmentedSortCase, SortCase};
use super::inputs::{Input, SplitMix64};
use super::numbers::Numbers;
use crate::scan::SegmentsBy;

/// One value per operand: its words, or what they are mapped to. Empty for operands that are not in device memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Operands<T> {
    pub initial: T,
    pub count: T,
    pub segments: T,
    pub indices: T,
}

impl<T> Operands<T> {
    pub fn each<U>(self, mut f: impl FnMut(T) -> U) -> Operands<U> {
        Operands {
            initial: f(self.initial),
            count: f(self.count),
            segments: f(self.segments),
            indices: f(self.indices),
        }
    }

    pub fn as_ref(&self) -> Operands<&T> {
        Operands {
            initial: &self.initial,
            count: &self.count,
            segments: &self.segments,
            indices: &self.indices,
        }
    }

    pub fn all(self) -> [T; 4] {
        [self.initial, self.count, self.segments, self.indices]
    }
}

/// The initial value of a scan, if it has one.
pub(super) fn initial_row(scan: &ScanCase) -> Option<Vec<u32>> {
    let numbers = Numbers { element: scan.element, operator: scan.operator, columns: scan.columns as usize };
    // The middle of three rows: the least or greatest value would hide the elements.
    let rows = numbers.generate(Input::Distinguishing, 3, 5);
    let row_words = rows.len() / 3;
    scan.initial.map(|_| rows[row_words..][..row_words].to_vec())
}

/// Head rows of the segments of `rows` rows, except the first: many short segments, a long one, and a few more.
pub(super) fn heads(scan: &ScanCase, rows: usize) -> Vec<usize> {
    if scan.segments.is_none() {
        return Vec::new();
    }
    let mut random = SplitMix64(rows as u64);
    let begins = |row: &usize| {
        let word = random.next_u64();
        match 4 * row / rows {
            0 => word.is_multiple_of(3),
            1 | 2 => false,
            _ => word.is_multiple_of(100),
        }
    };
    (1..rows).filter(begins).collect()
}

impl Operands<Vec<u32>> {
    /// Operands of `scan` over `rows` rows.
    pub fn new(scan: &ScanCase, rows: usize, room: usize, heads: &[usize]) -> Self {
        let initial = match scan.initial {
            Some(Place::Device) => initial_row(scan).unwrap_or_default(),
            Some(Place::Host) | None => Vec::new(),
        };
        let segments = scan.segments.map_or_else(Vec::new, |by| segments(by, heads, room));
        Self { initial, count: count(scan.count_from, rows), segments, indices: Vec::new() }
    }

    /// Operands of `sort` over `rows` keys.
    pub fn of_sort(sort: &SortCase, rows: usize) -> Self {
        Self { count: count(sort.count_from, rows), ..Self::default() }
    }

    /// Operands of `sort` over `rows` keys in segments that begin at `begins`. Offsets beyond the segment count are 0,
    /// which must not be read.
    pub fn of_segmented_sort(sort: &SegmentedSortCase, rows: usize, begins: &[u32]) -> Self {
        let mut segments = begins.to_vec();
        segments.resize(sort.count_from.room(begins.len() as u64) as usize, 0);
        let counts = [rows, begins.len()].map(|of| count(sort.count_from, of));
        Self { count: counts.concat(), segments, ..Self::default() }
    }

    /// Operands of `gather` over `rows` elements.
    pub fn of_gather(gather: &GatherCase, input: Input, rows: usize, room: usize) -> Self {
        let indices = gather.indices(input, rows, room);
        Self { count: count(gather.count_from, rows), indices, ..Self::default() }
    }
}

/// The indirect count of `rows`; empty for a count on the host.
fn count(from: CountFrom, rows: usize) -> Vec<u32> {
    match from {
        CountFrom::Host => Vec::new(),
        CountFrom::Device => vec![rows as u32],
        CountFrom::DeviceBeyond => vec![u32::MAX - 1],
    }
}

/// The segments of `room` rows in the representation `by`.
fn segments(by: SegmentsBy, heads: &[usize], room: usize) -> Vec<u32> {
    let mut flags = vec![false; room];
    for &head in heads {
        flags[head] = true;
    }
    if let (SegmentsBy::Flags, Some(first)) = (by, flags.first_mut()) {
        *first = true;
    }
    let mut number = 0;
    // Keys that are not ascending and recur.
    let mut key = |is_head: &bool| {
        number += u64::from(*is_head);
        SplitMix64(number % 7).next_u64()
    };
    match by {
        // Any nonzero flag is a head; the first row's flag is redundant.
        SegmentsBy::Flags => {
            flags.iter().zip(0u32..).map(|(&is_head, row)| if is_head { row | 1 } else { 0 }).collect()
        }
        SegmentsBy::Keys32 => flags.iter().map(|is_head| key(is_head) as u32).collect(),
        // Adjacent segments may agree in one of the two words.
        SegmentsBy::Keys64 => {
            let mut number = 0u32;
            let words = |is_head: &bool| {
                number += u32::from(*is_head);
                [number / 2, number.div_ceil(2)]
            };
            flags.iter().flat_map(words).collect()
        }
        // Duplicate offsets, one at the end, one beyond it, not in order.
        SegmentsBy::Offsets => {
            let mut offsets: Vec<_> = heads.iter().map(|&head| head as u32).collect();
            offsets.extend(heads.iter().step_by(5).map(|&head| head as u32));
            offsets.extend([0, 0, room as u32, u32::MAX]);
            offsets
        }
    }
}
