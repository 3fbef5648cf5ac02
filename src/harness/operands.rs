//! What is read beside the source: by a scan an initial value and where segments begin, by a gather indices, by any a
//! count, and by a segmented sort one of segments behind it.

use super::cases::{CountFrom, GatherCase, Place, ScanCase, SegmentedSortCase, SortCase};
use super::inputs::{Input, SplitMix64};
use super::numbers::Numbers;
use crate::scan::SegmentsBy;

/// One of each; those in memory of the device as words, or whatever they become there.
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

/// The row that a scan begins with, if it does.
pub(super) fn initial_row(scan: &ScanCase) -> Option<Vec<u32>> {
    let numbers = Numbers { element: scan.element, operator: scan.operator, columns: scan.columns as usize };
    // Of some rows the middle one: the least and the greatest would hide what follows.
    let rows = numbers.generate(Input::Distinguishing, 3, 5);
    let row_words = rows.len() / 3;
    scan.initial.map(|_| rows[row_words..][..row_words].to_vec())
}

/// Where segments of `rows` rows begin, besides the first row: many short ones, one long one, and some more.
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
    /// Those of `scan` over `rows` rows.
    pub fn new(scan: &ScanCase, rows: usize, room: usize, heads: &[usize]) -> Self {
        let initial = match scan.initial {
            Some(Place::Device) => initial_row(scan).unwrap_or_default(),
            Some(Place::Host) | None => Vec::new(),
        };
        let segments = scan.segments.map_or_else(Vec::new, |by| segments(by, heads, room));
        Self { initial, count: count(scan.count_from, rows), segments, indices: Vec::new() }
    }

    /// Those of `sort` over `rows` keys.
    pub fn of_sort(sort: &SortCase, rows: usize) -> Self {
        Self { count: count(sort.count_from, rows), ..Self::default() }
    }

    /// Those of `sort` over `rows` keys in segments that begin at `begins`. What is beyond them would begin before all.
    pub fn of_segmented_sort(sort: &SegmentedSortCase, rows: usize, begins: &[u32]) -> Self {
        let mut segments = begins.to_vec();
        segments.resize(sort.count_from.room(begins.len() as u64) as usize, 0);
        let counts = [rows, begins.len()].map(|of| count(sort.count_from, of));
        Self { count: counts.concat(), segments, ..Self::default() }
    }

    /// Those of `gather` over `count` elements.
    pub fn of_gather(gather: &GatherCase, input: Input, rows: usize, room: usize) -> Self {
        let indices = gather.indices(input, rows, room);
        Self { count: count(gather.count_from, rows), indices, ..Self::default() }
    }
}

/// A count of `rows` as the device finds it, if it does.
fn count(from: CountFrom, rows: usize) -> Vec<u32> {
    match from {
        CountFrom::Host => Vec::new(),
        CountFrom::Device => vec![rows as u32],
        CountFrom::DeviceBeyond => vec![u32::MAX - 1],
    }
}

/// Where segments begin, as `by` says it of `room` rows.
fn segments(by: SegmentsBy, heads: &[usize], room: usize) -> Vec<u32> {
    let mut flags = vec![false; room];
    for &head in heads {
        flags[head] = true;
    }
    if let (SegmentsBy::Flags, Some(first)) = (by, flags.first_mut()) {
        *first = true;
    }
    let mut number = 0;
    // Keys that are not ascending, and come again.
    let mut key = |is_head: &bool| {
        number += u64::from(*is_head);
        SplitMix64(number % 7).next_u64()
    };
    match by {
        // Not 0 is what counts; and the first row's flag says nothing new.
        SegmentsBy::Flags => {
            flags.iter().zip(0u32..).map(|(&is_head, row)| if is_head { row | 1 } else { 0 }).collect()
        }
        SegmentsBy::Keys32 => flags.iter().map(|is_head| key(is_head) as u32).collect(),
        // Of one segment and the next, one of the two words may be the same.
        SegmentsBy::Keys64 => {
            let mut number = 0u32;
            let words = |is_head: &bool| {
                number += u32::from(*is_head);
                [number / 2, number.div_ceil(2)]
            };
            flags.iter().flat_map(words).collect()
        }
        // Empty segments, one that begins at the end, and some in any order.
        SegmentsBy::Offsets => {
            let mut offsets: Vec<_> = heads.iter().map(|&head| head as u32).collect();
            offsets.extend(heads.iter().step_by(5).map(|&head| head as u32));
            offsets.extend([0, 0, room as u32, u32::MAX]);
            offsets
        }
    }
}
