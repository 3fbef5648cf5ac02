//! Segmented sort on slices.

use super::Gpu;
use super::sort::{Sorted, check_keys, check_value_count, check_value_size, check_words, whole, words_of};
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::sort::{SegmentedSortBuffers, SegmentedSortConfig, SortBuffers};

impl Gpu {
    /// Sorts each segment of `keys` in place. `segments` are the indices at which they begin, in ascending order: a
    /// segment ends where the next begins, and the last with the keys. Allocates host memory of the same size; on error
    /// `keys` is unchanged.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] if it
    /// is for pairs or an argsort, and the errors of [`Self::segmented_sort_words`].
    pub fn segmented_sort<N: Number>(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &mut [N],
        segments: &[u32],
    ) -> Result<()> {
        let config = config.into();
        check_keys::<N>(config.sort())?;
        check_value_size(config.sort(), 0)?;
        self.segmented_sort_words(config, bytemuck::cast_slice_mut(keys), &mut [], segments)
    }

    /// Sorts each segment of `keys` in place, and permutes `values` likewise. Allocates host memory of the same size;
    /// on error both are unchanged.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] if the
    /// values are not of its size, [`Error::Unsupported`] for an argsort, and the errors of
    /// [`Self::segmented_sort_words`].
    pub fn segmented_sort_pairs<N: Number, V: bytemuck::Pod>(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &mut [N],
        values: &mut [V],
        segments: &[u32],
    ) -> Result<()> {
        let config = config.into();
        check_keys::<N>(config.sort())?;
        if config.sort().is_argsort() {
            return Err(Error::Unsupported {
                reason: "an argsort takes no values: Gpu::segmented_argsort makes them",
            });
        }
        check_value_size(config.sort(), size_of::<V>() as u64)?;
        check_value_count(keys.len() as u64, values.len() as u64)?;
        let key_words: &mut [u32] = bytemuck::cast_slice_mut(keys);
        let sorted = self.sorted_in_segments(config, key_words, &words_of(values)?, segments)?;
        sorted.replace_keys(key_words);
        bytemuck::cast_slice_mut::<V, u8>(values).copy_from_slice(bytemuck::cast_slice(&sorted.values));
        Ok(())
    }

    /// Returns the permutation that sorts each segment: indices into all of `keys`; `i` at index `i` for keys in no
    /// segment.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::Unsupported`] if it is not a
    /// [`SortConfig::argsort`](crate::sort::SortConfig::argsort), and the errors of [`Self::segmented_sort_words`].
    pub fn segmented_argsort<N: Number>(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &[N],
        segments: &[u32],
    ) -> Result<Vec<u32>> {
        let config = config.into();
        check_keys::<N>(config.sort())?;
        if !config.sort().is_argsort() {
            return Err(Error::Unsupported { reason: "Gpu::segmented_argsort takes a SortConfig::argsort" });
        }
        Ok(self.sorted_in_segments(config, bytemuck::cast_slice(keys), &[], segments)?.values)
    }

    /// As [`Self::segmented_sort_pairs`], for keys and values of any type and size as 32-bit words in memory order.
    /// `values` is empty for keys alone. An argsort writes its indices to `values`, one for each key, and leaves the
    /// keys unchanged.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if the words are not whole keys or values, [`Error::ValueCountMismatch`] unless
    /// there is a value for each key, [`Error::ValueSizeMismatch`] for values of keys alone,
    /// [`Error::SegmentOutOfPlace`] if segments do not begin in ascending order and within the keys, and the errors of
    /// [`SegmentedSortPlan`](crate::sort::SegmentedSortPlan), [`Self::allocate`], [`Self::read`] and [`Self::submit`].
    pub fn segmented_sort_words(
        &self,
        config: impl Into<SegmentedSortConfig>,
        keys: &mut [u32],
        values: &mut [u32],
        segments: &[u32],
    ) -> Result<()> {
        let config = config.into();
        check_words(config.sort(), keys, values)?;
        let sorted = self.sorted_in_segments(config, keys, values, segments)?;
        sorted.replace_keys(keys);
        values.copy_from_slice(&sorted.values);
        Ok(())
    }

    fn sorted_in_segments(
        &self,
        config: SegmentedSortConfig,
        keys: &[u32],
        values: &[u32],
        segments: &[u32],
    ) -> Result<Sorted> {
        let count = whole(keys, config.sort().key_size())?;
        check_segments(segments, count)?;
        let plan = self.plan(config)?;
        let segment_count = segments.len() as u64;
        // Checked before memory is allocated.
        plan.check_count((count, segment_count))?;
        let begins = self.allocate(size_of_val(segments) as u64)?;
        self.upload(&begins, 0, segments)?;
        let begins = begins.range().slice(0, size_of_val(segments) as u64).addresses();
        let scratch_size = plan.scratch_requirements((count, segment_count)).size;
        let mut sorted = self.sorted_by(config.sort(), keys, values, scratch_size, |recorder, buffers| {
            let SortBuffers { keys, values, scratch, .. } = *buffers;
            let buffers = SegmentedSortBuffers::new(keys, begins, scratch).values(values);
            plan.record(recorder, &buffers, (count, segment_count))
        })?;
        if config.sort().is_argsort() {
            let first = segments.first().map_or(sorted.values.len(), |&first| first as usize);
            // The device writes no indices for keys before the first segment.
            sorted.values[..first].iter_mut().zip(0..).for_each(|(value, index)| *value = index);
        }
        Ok(sorted)
    }
}

/// Checks that segments begin in ascending order, and at most at `count`.
fn check_segments(segments: &[u32], count: u64) -> Result<()> {
    let mut earliest = 0;
    for (index, begin) in (0..).zip(segments.iter().copied().map(u64::from)) {
        if !(earliest..=count).contains(&begin) {
            return Err(Error::SegmentOutOfPlace { index, begin, earliest, latest: count });
        }
        earliest = begin;
    }
    Ok(())
}
