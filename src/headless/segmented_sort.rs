//! Sorts of slices in segments.

use super::Gpu;
use super::sort::{Sorted, check_keys, check_value_count, check_value_size, check_words, whole, words_of};
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::sort::{SegmentedSortBuffers, SegmentedSortConfig, SortBuffers};

impl Gpu {
    /// Sorts each segment of `keys` in place. `segments` are where they begin, in rising order: a segment ends where the
    /// next begins, and the last with the keys. Takes as much host memory again; on failure the keys are as they were.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] if that is
    /// of pairs or an argsort, and the errors of [`Self::segmented_sort_words`].
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

    /// Sorts each segment of `keys` in place, and moves each one's value along with it. Takes as much host memory again;
    /// on failure all are as they were.
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

    /// Where the keys would come from, were each segment sorted: places among all keys, each key's own where it is in no
    /// segment.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::Unsupported`] if that is no
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

    /// The same for keys and values of whatever type and size the configuration says, as the words of 32 bits in which
    /// they lie in memory. Keys alone have no values; those of an argsort, one for each key, become its places, and the
    /// keys stay as they are.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if the words are no whole keys or values, [`Error::ValueCountMismatch`] unless there is a
    /// value for each key, [`Error::ValueSizeMismatch`] for values of keys alone, [`Error::SegmentOutOfPlace`] if segments
    /// do not begin in rising order and within the keys, and the errors of
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
        let plan = self.segmented_sort_plan(config)?;
        let segment_count = segments.len() as u64;
        // Said before memory is taken for so many.
        plan.check_counts(count, segment_count)?;
        let begins = self.allocate(size_of_val(segments) as u64)?;
        self.upload(&begins, 0, segments)?;
        let begins = begins.range().slice(0, size_of_val(segments) as u64).addresses();
        let scratch_size = plan.scratch_requirements(count, segment_count).size;
        let mut sorted = self.sorted_by(config.sort(), keys, values, scratch_size, |recorder, buffers| {
            let SortBuffers { keys, values, scratch } = *buffers;
            let buffers = SegmentedSortBuffers::new(keys, begins, scratch).values(values);
            plan.record(recorder, &buffers, count, segment_count)
        })?;
        if config.sort().is_argsort() {
            let first = segments.first().map_or(sorted.values.len(), |&first| first as usize);
            // Of keys before the first segment the device has told no places.
            sorted.values[..first].iter_mut().zip(0..).for_each(|(value, place)| *value = place);
        }
        Ok(sorted)
    }
}

/// Whether segments begin in rising order, and at no more than `count`.
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
