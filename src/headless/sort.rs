//! Sort on slices.

use std::sync::Arc;

use super::transfer::OnError;
use super::{Gpu, scratch_range, zeroed};
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::sort::{SegmentedSortBuffers, SegmentedSortPlan, SortBuffers, SortConfig, SortPlan};

/// A sort of slices, ready to run: of [`Gpu::prepare_sort`] or [`Gpu::prepare_segmented_sort`].
pub struct PreparedSort<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) plan: SortOrSegments<'a>,
    pub(super) config: SortConfig,
    pub(super) keys: Keys<'a>,
    pub(super) values: &'a mut [u32],
    pub(super) count: u64,
    pub(super) scratch_size: u64,
}

/// The plan of a [`PreparedSort`].
pub(super) enum SortOrSegments<'a> {
    Sort(Arc<SortPlan>),
    Segments(Arc<SegmentedSortPlan>, &'a [u32]),
}

/// The words of keys, which an argsort only reads.
pub(super) enum Keys<'a> {
    Sorted(&'a mut [u32]),
    Read(&'a [u32]),
}

impl Keys<'_> {
    pub(super) fn words(&self) -> &[u32] {
        match self {
            Self::Sorted(words) => words,
            Self::Read(words) => words,
        }
    }
}

impl PreparedSort<'_> {
    /// Bytes of device memory that [`Self::run`] allocates.
    pub fn device_size(&self) -> u64 {
        let begins_size = match self.plan {
            SortOrSegments::Sort(_) => 0,
            SortOrSegments::Segments(_, begins) => size_of_val(begins) as u64,
        };
        let elements_size = self.count.saturating_mul(self.config.key_size() + self.config.value_size());
        elements_size.saturating_add(begins_size).saturating_add(self.scratch_size)
    }

    /// Sorts, and reads the result back into the slices. On error a part of them may have been replaced.
    ///
    /// # Errors
    /// Those of [`Gpu::allocate`], [`Gpu::read`] and [`Gpu::submit`].
    pub fn run(self) -> Result<()> {
        self.finish(OnError::Undefined)
    }

    pub(super) fn finish(self, on_error: OnError) -> Result<()> {
        let Self { gpu, plan, config, keys, values, count, scratch_size } = self;
        if count == 0 {
            return Ok(());
        }
        let keys_on_device = gpu.allocate(size_of_val(keys.words()) as u64)?;
        let values_on_device = gpu.allocate_scratch(size_of_val(values) as u64)?;
        let scratch = gpu.allocate_scratch(scratch_size)?;
        let begins = match plan {
            SortOrSegments::Sort(_) => None,
            SortOrSegments::Segments(_, begins) => Some(gpu.allocate(size_of_val(begins) as u64)?),
        };
        gpu.upload(&keys_on_device, 0, keys.words())?;
        if let (Some(buffer), false) = (&values_on_device, config.is_argsort()) {
            gpu.upload(buffer, 0, values)?;
        }
        if let (SortOrSegments::Segments(_, words), Some(buffer)) = (&plan, &begins) {
            gpu.upload(buffer, 0, words)?;
        }
        let keys_range = keys_on_device.range().addresses();
        let values_range = scratch_range(&values_on_device).slice(0, size_of_val(values) as u64).addresses();
        let scratch = scratch_range(&scratch);
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe {
            gpu.submit(|recorder| match &plan {
                SortOrSegments::Sort(plan) => {
                    let buffers = SortBuffers::new(keys_range, scratch).values(values_range);
                    plan.record(recorder, &buffers, count)
                }
                SortOrSegments::Segments(plan, words) => {
                    // A buffer for no segments has one word.
                    let begins = scratch_range(&begins).slice(0, size_of_val(*words) as u64).addresses();
                    let buffers = SegmentedSortBuffers::new(keys_range, begins, scratch).values(values_range);
                    plan.record(recorder, &buffers, (count, words.len() as u64))
                }
            })
        }?;
        let sorted = match keys {
            Keys::Sorted(keys) if !config.is_argsort() => Some((&keys_on_device, keys)),
            _ => None,
        };
        let moved = values_on_device.as_ref().map(|buffer| (buffer, &mut *values));
        gpu.read_back(&mut sorted.into_iter().chain(moved).collect::<Vec<_>>(), on_error)?;
        if let (SortOrSegments::Segments(_, begins), true) = (&plan, config.is_argsort()) {
            let first = begins.first().map_or(values.len(), |&first| first as usize);
            // The device writes no indices for keys before the first segment.
            values[..first].iter_mut().zip(0..).for_each(|(value, index)| *value = index);
        }
        Ok(())
    }
}

impl Gpu {
    /// Sorts `keys` in place. More than 16 MiB are staged in host memory of the same size: on error `keys` is unchanged.
    /// For more than 2^32 - 1 keys [`SortConfig::large_counts`] is set automatically.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::ValueSizeMismatch`] if it is
    /// for pairs or an argsort, and the errors of [`Self::sort_words`].
    pub fn sort<N: Number>(&self, config: SortConfig, keys: &mut [N]) -> Result<()> {
        check_keys::<N>(&config)?;
        check_value_size(&config, 0)?;
        self.sort_words(config, bytemuck::cast_slice_mut(keys), &mut [])
    }

    /// Sorts `keys` in place, and permutes `values` likewise. More than 16 MiB together are staged in host memory of the
    /// same size: on error both are unchanged.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] if the
    /// values are not of its size, [`Error::Unsupported`] for an argsort, and the errors of [`Self::sort_words`].
    pub fn sort_pairs<N: Number, V: bytemuck::Pod>(
        &self,
        config: SortConfig,
        keys: &mut [N],
        values: &mut [V],
    ) -> Result<()> {
        check_pairs::<N, V>(&config, "an argsort takes no values: Gpu::argsort makes them")?;
        with_words(values, |values| self.sort_words(config, bytemuck::cast_slice_mut(keys), values))
    }

    /// Returns the permutation that sorts `keys`: the first is the index of the least key, or, descending, of the
    /// greatest.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::Unsupported`] if it is not a
    /// [`SortConfig::argsort`], and the errors of [`Self::sort_words`].
    pub fn argsort<N: Number>(&self, config: SortConfig, keys: &[N]) -> Result<Vec<u32>> {
        check_keys::<N>(&config)?;
        if !config.is_argsort() {
            return Err(Error::Unsupported { reason: "Gpu::argsort takes a SortConfig::argsort" });
        }
        let mut indices = zeroed(keys.len())?;
        self.prepare(config, Keys::Read(bytemuck::cast_slice(keys)), &mut indices)?.run()?;
        Ok(indices)
    }

    /// As [`Self::sort_pairs`], for keys and values of any type and size as 32-bit words in memory order. `values` is
    /// empty for keys alone. An argsort writes its permutation to `values`, one index for each key, and leaves the keys
    /// unchanged.
    ///
    /// # Errors
    /// Those of [`Self::prepare_sort`] and [`PreparedSort::run`].
    pub fn sort_words(&self, config: SortConfig, keys: &mut [u32], values: &mut [u32]) -> Result<()> {
        self.prepare_sort(config, keys, values)?.finish(OnError::Unchanged)
    }

    /// Prepares [`Self::sort_words`]: creates the plan, and computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if the words are not whole keys or values, [`Error::ValueCountMismatch`] unless
    /// there is a value for each key, [`Error::ValueSizeMismatch`] for values of keys alone, and the errors of
    /// [`SortPlan`].
    pub fn prepare_sort<'a>(
        &'a self,
        config: SortConfig,
        keys: &'a mut [u32],
        values: &'a mut [u32],
    ) -> Result<PreparedSort<'a>> {
        self.prepare(config, Keys::Sorted(keys), values)
    }

    fn prepare<'a>(
        &'a self,
        config: SortConfig,
        keys: Keys<'a>,
        values: &'a mut [u32],
    ) -> Result<PreparedSort<'a>> {
        let count = check_words(&config, keys.words(), values)?;
        let plan = self.plan(config.large_counts_for(count))?;
        plan.check_count(count)?;
        let scratch_size = plan.scratch_requirements(count).size;
        let plan = SortOrSegments::Sort(plan);
        Ok(PreparedSort { gpu: self, plan, config, keys, values, count, scratch_size })
    }
}

pub(super) fn check_keys<N: Number>(config: &SortConfig) -> Result<()> {
    let (expected, got) = (config.key_type(), N::TYPE);
    if expected == got { Ok(()) } else { Err(Error::ElementMismatch { expected, got }) }
}

/// Checks the types of pairs; `reason` is the error's for an argsort.
pub(super) fn check_pairs<N: Number, V>(config: &SortConfig, reason: &'static str) -> Result<()> {
    check_keys::<N>(config)?;
    if config.is_argsort() {
        return Err(Error::Unsupported { reason });
    }
    check_value_size(config, size_of::<V>() as u64)
}

pub(super) fn check_value_size(config: &SortConfig, got: u64) -> Result<()> {
    let expected = config.value_size();
    if expected == got { Ok(()) } else { Err(Error::ValueSizeMismatch { expected, got }) }
}

/// Number of keys. Checks that there is a whole value for each whole key, or no value for keys alone.
pub(super) fn check_words(config: &SortConfig, keys: &[u32], values: &[u32]) -> Result<u64> {
    if config.value_size() == 0 && !values.is_empty() {
        check_value_size(config, 4)?;
    }
    let key_count = whole(keys, config.key_size())?;
    match config.value_size() {
        0 => Ok(key_count),
        size => match whole(values, size)? {
            value_count if value_count == key_count => Ok(key_count),
            value_count => Err(Error::ValueCountMismatch { key_count, value_count }),
        },
    }
}

/// Number of elements of `size` bytes in `words`.
fn whole(words: &[u32], size: u64) -> Result<u64> {
    let (word_count, columns) = (words.len() as u64, (size / 4) as u32);
    if word_count.is_multiple_of(columns.into()) {
        Ok(word_count / u64::from(columns))
    } else {
        Err(Error::RowLengthMismatch { value_count: word_count, columns })
    }
}

/// Calls `sort` with values of whole words as words, or with a copy that replaces them if they are not aligned.
pub(super) fn with_words<V: bytemuck::Pod>(
    values: &mut [V],
    sort: impl FnOnce(&mut [u32]) -> Result<()>,
) -> Result<()> {
    if let Ok(words) = bytemuck::try_cast_slice_mut(values) {
        return sort(words);
    }
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
    let mut words: Vec<u32> = zeroed(bytes.len() / 4)?;
    bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
    sort(&mut words)?;
    bytes.copy_from_slice(bytemuck::cast_slice(&words));
    Ok(())
}
