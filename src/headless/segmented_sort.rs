//! Segmented sort on slices.

use std::ops::Range;

use super::slices::{check_type, row_count};
use super::sort::{Keys, check_bytes, check_pairs, check_value_size};
use super::{Gpu, Prepared, zeroed};
use crate::error::{Error, Result, in_range, refuse_if};
use crate::primitives::Number;
use crate::sort::{SegmentedSortBuffers, SegmentedSortConfig};

/// Why a slice of an odd number of begins and ends is refused.
pub(super) const UNEQUAL_RANGES: &str = "ranges are the begins of all segments, then as many ends";

impl Gpu {
    /// Sorts each segment of `keys` in place. `segments` are the indices at which they begin, in ascending order: a
    /// segment ends where the next begins, and the last with the keys. Of [ranges](SegmentedSortConfig::ranges) they are the
    /// indices at which all begin, then those at which they end. [Along rows](SegmentedSortConfig::along_rows) it is empty.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] if it
    /// is for pairs or an argsort, and the errors of [`Self::segmented_sort_bytes`].
    pub fn segmented_sort<N: Number>(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &mut [N],
        segments: &[u32],
    ) -> Result<()> {
        let config = config.into();
        check_type::<N>(config.sort().key_type())?;
        check_value_size(config.sort(), 0)?;
        self.segmented_sort_bytes(config, bytemuck::cast_slice_mut(keys), &mut [], segments)
    }

    /// Sorts each segment of `keys` in place, and permutes `values` likewise.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] if the
    /// values are not of its size, [`Error::Unsupported`] for an argsort, and the errors of
    /// [`Self::segmented_sort_bytes`].
    pub fn segmented_sort_pairs<N: Number, V: bytemuck::Pod>(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &mut [N],
        values: &mut [V],
        segments: &[u32],
    ) -> Result<()> {
        let config = config.into();
        let reason = "indices are no input: Gpu::segmented_argsort and Gpu::segmented_sort_bytes make them";
        check_pairs::<N, V>(config.sort(), reason)?;
        let (keys, values) = (bytemuck::cast_slice_mut(keys), bytemuck::cast_slice_mut(values));
        self.segmented_sort_bytes(config, keys, values, segments)
    }

    /// Returns the permutation that sorts each segment: indices into all of `keys`; `i` at index `i` for keys in no
    /// segment.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::Unsupported`] if it is not a
    /// [`SortConfig::argsort`](crate::sort::SortConfig::argsort), and the errors of [`Self::segmented_sort_bytes`].
    pub fn segmented_argsort<N: Number>(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &[N],
        segments: &[u32],
    ) -> Result<Vec<u32>> {
        let config = config.into();
        check_type::<N>(config.sort().key_type())?;
        refuse_if(!config.sort().is_argsort(), "Gpu::segmented_argsort takes a SortConfig::argsort")?;
        let mut indices = zeroed(keys.len())?;
        let keys = Keys::Read(bytemuck::cast_slice(keys));
        let values = bytemuck::cast_slice_mut(&mut indices);
        self.prepare_segments(config, keys, values, segments)?.run()?;
        Ok(indices)
    }

    /// As [`Self::segmented_sort_pairs`], for keys and values of any type and size as bytes in memory order.
    /// `values` is empty for keys alone, and receives an index for each key of an argsort, which leaves the keys unchanged,
    /// and of keys with indices.
    ///
    /// # Errors
    /// Errors of [`Self::prepare_segmented_sort`] and [`Prepared::run`].
    pub fn segmented_sort_bytes(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &mut [u8],
        values: &mut [u8],
        segments: &[u32],
    ) -> Result<()> {
        self.prepare_segmented_sort(config, keys, values, segments)?.run_or_keep()
    }

    /// Prepares [`Self::segmented_sort_bytes`], as [`Self::prepare_sort`] does for a sort.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the bytes are not whole keys or values, [`Error::ValueCountMismatch`] unless
    /// there is a value for each key, [`Error::ValueSizeMismatch`] for values of keys alone,
    /// [`Error::SegmentOutOfOrder`] if segments do not begin in ascending order and within the keys, or ranges overlap, [`Error::OutOfRange`] if these end beyond the keys; along rows
    /// [`Error::RowLengthMismatch`] if the keys are not whole rows, and [`Error::Unsupported`] for segments; and the errors of
    /// [`SegmentedSortPlan`](crate::sort::SegmentedSortPlan).
    pub fn prepare_segmented_sort<'a>(
        &'a self,
        config: impl Into<SegmentedSortConfig>,
        keys: &'a mut [u8],
        values: &'a mut [u8],
        segments: &'a [u32],
    ) -> Result<Prepared<'a>> {
        self.prepare_segments(config.into(), Keys::Sorted(keys), values, segments)
    }

    pub(crate) fn prepare_segments<'a>(
        &'a self,
        config: SegmentedSortConfig,
        keys: Keys<'a>,
        values: &'a mut [u8],
        segments: &'a [u32],
    ) -> Result<Prepared<'a>> {
        let count = check_bytes(config.sort(), keys.bytes(), values)?;
        refuse_if(config.has_ranges() && !segments.len().is_multiple_of(2), UNEQUAL_RANGES)?;
        let (begins, ends) = match config.has_ranges() {
            true => segments.split_at(segments.len() / 2),
            false => (segments, &[][..]),
        };
        match config.has_ranges() {
            true => check_ranges([begins, ends], count)?,
            false => check_segments(begins.iter().copied(), count)?,
        }
        let segment_count = match config.row_length() {
            None => begins.len() as u64,
            Some(length) => {
                refuse_if(!segments.is_empty(), "a sort along rows has the rows as its segments: give none")?;
                let key_size = config.sort().key_size();
                row_count(keys.bytes(), key_size * u64::from(length.max(1)), key_size)?
            }
        };
        // Slices are sorted in place, whatever the form of a recording.
        let plan = self.declared(config.in_place())?;
        let counts = (count, segment_count);
        let of_segments = [("segments", begins), ("segment_ends", ends)];
        let of_segments = of_segments.map(|(name, indices)| (name, bytemuck::cast_slice(indices)));
        let inputs = [("keys", keys.bytes()), ("values", &*values)];
        let inputs: Vec<_> = inputs.into_iter().chain(of_segments).collect();
        let slices = self.slices(plan, SegmentedSortBuffers::default(), counts, &inputs)?;
        let segments = config.row_length().is_none().then_some([begins, ends]);
        Ok(slices.sorted(*config.sort(), keys, values, segments))
    }
}

/// Checks that segments begin in ascending order, and at most at `count`.
pub(super) fn check_segments(segments: impl Iterator<Item = u32>, count: u64) -> Result<()> {
    let mut earliest = 0;
    for (index, begin) in (0..).zip(segments.map(u64::from)) {
        if !(earliest..=count).contains(&begin) {
            return Err(Error::SegmentOutOfOrder { index, begin, earliest, latest: count });
        }
        earliest = begin;
    }
    Ok(())
}

/// Checks that segments do not overlap, and end at most at `count`.
#[doc(hidden)]
pub fn check_ranges([begins, ends]: [&[u32]; 2], count: u64) -> Result<()> {
    for &end in ends {
        in_range("the end of a segment", end, 0..=u32::try_from(count).unwrap_or(u32::MAX))?;
    }
    let mut earliest = 0;
    for (index, range) in ascending([begins, ends]) {
        let begin = range.start.into();
        if begin < earliest {
            return Err(Error::SegmentOutOfOrder { index, begin, earliest, latest: count });
        }
        earliest = range.end.into();
    }
    Ok(())
}

/// The segments that are not empty, each with its index, by their begins.
fn ascending([begins, ends]: [&[u32]; 2]) -> Vec<(u64, Range<u32>)> {
    let ranges = begins.iter().zip(ends).map(|(&begin, &end)| begin..end);
    let mut ranges: Vec<_> = (0..).zip(ranges).filter(|(_, range)| !range.is_empty()).collect();
    ranges.sort_unstable_by_key(|(_, range)| range.start);
    ranges
}

/// The keys, of `count`, that are in no segment, by the begins of these, and where they have such their ends.
#[doc(hidden)]
pub fn keys_in_no_segment([begins, ends]: [&[u32]; 2], count: u32) -> Vec<Range<u32>> {
    let ranges: Vec<_> = match ends {
        [] => begins.first().map(|&first| first.min(count)..count).into_iter().collect(),
        _ => ascending([begins, ends]).into_iter().map(|(_, range)| range).collect(),
    };
    let first_of = ranges.iter().map(|range| range.start).chain([count]);
    let end_of_last = [0].into_iter().chain(ranges.iter().map(|range| range.end));
    end_of_last.zip(first_of).map(|(end, begin)| end..begin).filter(|others| !others.is_empty()).collect()
}
