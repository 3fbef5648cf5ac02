//! Gathers of slices.

use super::{Gpu, out_of_host_memory};
use crate::error::{Error, Result};
use crate::gather::{GatherBuffers, GatherConfig};
use crate::primitives::Number;

impl Gpu {
    /// The elements of `source` that `indices` name, in that order; of zeros where there is no such element. An element is
    /// one value or several: `source` is whole elements of the configuration, one after the other.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an element is no whole number of values, [`Error::OutOfHostMemory`], and the errors of
    /// [`Self::gather_words`].
    pub fn gather<N: Number>(&self, config: GatherConfig, source: &[N], indices: &[u32]) -> Result<Vec<N>> {
        if !config.words_per_element().is_multiple_of(N::TYPE.words()) {
            return Err(Error::Unsupported {
                reason: "an element that is gathered is one value or several, and here it ends within one",
            });
        }
        let words = self.gather_words(config, bytemuck::cast_slice(source), indices)?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(words.len() / N::TYPE.words() as usize)
            .map_err(|_| out_of_host_memory(size_of_val(&*words) as u64))?;
        // Words may lie where such a value may not.
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        values.extend(bytes.chunks_exact(size_of::<N>()).map(bytemuck::pod_read_unaligned::<N>));
        Ok(values)
    }

    /// The same for values of whatever type, as the words of 32 bits in which they lie in memory.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`], in words, if the source is no whole elements, and the errors of
    /// [`GatherPlan`](crate::gather::GatherPlan), [`Self::allocate`], [`Self::read`] and [`Self::submit`].
    pub fn gather_words(&self, config: GatherConfig, source: &[u32], indices: &[u32]) -> Result<Vec<u32>> {
        let plan = self.gather_plan(config)?;
        let (value_count, columns) = (source.len() as u64, config.words_per_element());
        if !value_count.is_multiple_of(columns.into()) {
            return Err(Error::RowLengthMismatch { value_count, columns });
        }
        let count = indices.len() as u64;
        if count == 0 {
            return Ok(Vec::new());
        }
        let size = count.saturating_mul(config.element_size());
        let table = self.allocate(size_of_val(source) as u64)?;
        let places = self.allocate(size_of_val(indices) as u64)?;
        let result = self.allocate(size)?;
        self.upload(&table, 0, source)?;
        self.upload(&places, 0, indices)?;
        // A buffer of nothing is one word longer.
        let table = table.range().slice(0, size_of_val(source) as u64).addresses();
        let buffers = GatherBuffers::new(table, places.range().addresses(), result.range().addresses());
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
        let word_count = usize::try_from(size / 4).map_err(|_| out_of_host_memory(size))?;
        self.read(&result, word_count)
    }
}
