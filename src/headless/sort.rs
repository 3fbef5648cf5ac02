//! Sort on slices.

use std::borrow::Cow;

use super::{Gpu, scratch_range};
use crate::device::Recorder;
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::sort::{SortBuffers, SortConfig};

/// Result of a sort, before it replaces the caller's slices.
pub(super) struct Sorted {
    /// `None` for an argsort.
    keys: Option<Vec<u32>>,
    /// Values or indices; empty for keys alone.
    pub(super) values: Vec<u32>,
}

impl Sorted {
    pub(super) fn replace_keys(&self, keys: &mut [u32]) {
        if let Some(sorted) = &self.keys {
            keys.copy_from_slice(sorted);
        }
    }
}

impl Gpu {
    /// Sorts `keys` in place. Allocates host memory of the same size; on error `keys` is unchanged. For more than 2^32
    /// - 1 keys [`SortConfig::large_counts`] is set automatically.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::ValueSizeMismatch`] if it is
    /// for pairs or an argsort, and the errors of [`Self::sort_words`].
    pub fn sort<N: Number>(&self, config: SortConfig, keys: &mut [N]) -> Result<()> {
        check_keys::<N>(&config)?;
        check_value_size(&config, 0)?;
        self.sort_words(config, bytemuck::cast_slice_mut(keys), &mut [])
    }

    /// Sorts `keys` in place, and permutes `values` likewise. Allocates host memory of the same size; on error both are
    /// unchanged.
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
        check_keys::<N>(&config)?;
        if config.is_argsort() {
            return Err(Error::Unsupported { reason: "an argsort takes no values: Gpu::argsort makes them" });
        }
        check_value_size(&config, size_of::<V>() as u64)?;
        check_value_count(keys.len() as u64, values.len() as u64)?;
        let key_words: &mut [u32] = bytemuck::cast_slice_mut(keys);
        let sorted = self.sorted(config, key_words, &words_of(values)?)?;
        sorted.replace_keys(key_words);
        bytemuck::cast_slice_mut::<V, u8>(values).copy_from_slice(bytemuck::cast_slice(&sorted.values));
        Ok(())
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
        Ok(self.sorted(config, bytemuck::cast_slice(keys), &[])?.values)
    }

    /// As [`Self::sort_pairs`], for keys and values of any type and size as 32-bit words in memory order. `values` is
    /// empty for keys alone. An argsort writes its permutation to `values`, one index for each key, and leaves the keys
    /// unchanged.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if the words are not whole keys or values, [`Error::ValueCountMismatch`] unless
    /// there is a value for each key, [`Error::ValueSizeMismatch`] for values of keys alone, and the errors of
    /// [`SortPlan`](crate::sort::SortPlan), [`Self::allocate`], [`Self::read`] and [`Self::submit`].
    pub fn sort_words(&self, config: SortConfig, keys: &mut [u32], values: &mut [u32]) -> Result<()> {
        check_words(&config, keys, values)?;
        let sorted = self.sorted(config, keys, values)?;
        sorted.replace_keys(keys);
        values.copy_from_slice(&sorted.values);
        Ok(())
    }

    /// The result of [`Self::sort_words`].
    fn sorted(&self, config: SortConfig, keys: &[u32], values: &[u32]) -> Result<Sorted> {
        let count = whole(keys, config.key_size())?;
        let plan = self.plan(config.large_counts_for(count))?;
        // Checked before memory is allocated.
        plan.check_count(count)?;
        let scratch_size = plan.scratch_requirements(count).size;
        self.sorted_by(&config, keys, values, scratch_size, |recorder, buffers| {
            plan.record(recorder, buffers, count)
        })
    }

    /// Sorts on the device with the commands of `record`. Keys and values are both read back before the caller replaces
    /// either. An argsort ignores `values`.
    pub(super) fn sorted_by(
        &self,
        config: &SortConfig,
        keys: &[u32],
        values: &[u32],
        scratch_size: u64,
        record: impl FnOnce(&mut Recorder<'_>, &SortBuffers) -> Result<()>,
    ) -> Result<Sorted> {
        let count = whole(keys, config.key_size())?;
        if count == 0 {
            return Ok(Sorted { keys: None, values: Vec::new() });
        }
        let on_device = self.allocate(size_of_val(keys) as u64)?;
        let values_size = count * config.value_size();
        let values_on_device = self.allocate_scratch(values_size)?;
        let scratch = self.allocate_scratch(scratch_size)?;
        self.upload(&on_device, 0, keys)?;
        if let (Some(buffer), false) = (&values_on_device, config.is_argsort()) {
            self.upload(buffer, 0, values)?;
        }
        let values_range = scratch_range(&values_on_device).slice(0, values_size).addresses();
        let buffers = SortBuffers::new(on_device.range().addresses(), scratch_range(&scratch));
        let buffers = buffers.values(values_range);
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.submit(|recorder| record(recorder, &buffers)) }?;
        let keys = if config.is_argsort() { None } else { Some(self.read(&on_device, keys.len())?) };
        let values = match &values_on_device {
            Some(buffer) => self.read(buffer, (values_size / 4) as usize)?,
            None => Vec::new(),
        };
        Ok(Sorted { keys, values })
    }
}

pub(super) fn check_keys<N: Number>(config: &SortConfig) -> Result<()> {
    let (expected, got) = (config.key_type(), N::TYPE);
    if expected == got { Ok(()) } else { Err(Error::ElementMismatch { expected, got }) }
}

pub(super) fn check_value_count(key_count: u64, value_count: u64) -> Result<()> {
    if key_count == value_count { Ok(()) } else { Err(Error::ValueCountMismatch { key_count, value_count }) }
}

pub(super) fn check_value_size(config: &SortConfig, got: u64) -> Result<()> {
    let expected = config.value_size();
    if expected == got { Ok(()) } else { Err(Error::ValueSizeMismatch { expected, got }) }
}

/// Checks that there is a whole value for each whole key, or no value for keys alone.
pub(super) fn check_words(config: &SortConfig, keys: &[u32], values: &[u32]) -> Result<()> {
    match config.value_size() {
        0 if values.is_empty() => Ok(()),
        0 => check_value_size(config, 4),
        size => check_value_count(whole(keys, config.key_size())?, whole(values, size)?),
    }
}

/// Number of elements of `size` bytes in `words`.
pub(super) fn whole(words: &[u32], size: u64) -> Result<u64> {
    let (word_count, columns) = (words.len() as u64, (size / 4) as u32);
    if word_count.is_multiple_of(columns.into()) {
        Ok(word_count / u64::from(columns))
    } else {
        Err(Error::RowLengthMismatch { value_count: word_count, columns })
    }
}

/// Converts values of whole words to words; copies them if they are not aligned.
pub(super) fn words_of<V: bytemuck::Pod>(values: &[V]) -> Result<Cow<'_, [u32]>> {
    if let Ok(words) = bytemuck::try_cast_slice(values) {
        return Ok(Cow::Borrowed(words));
    }
    let (bytes, mut words) = (bytemuck::cast_slice::<V, u8>(values), Vec::new());
    words
        .try_reserve_exact(bytes.len() / 4)
        .map_err(|_| Error::OutOfHostMemory { needed: Some(bytes.len() as u64), what: "the values" })?;
    let (chunks, _) = bytes.as_chunks();
    words.extend(chunks.iter().copied().map(u32::from_ne_bytes));
    Ok(Cow::Owned(words))
}
