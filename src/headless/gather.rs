//! Gather on slices.

use super::{Gpu, out_of_host_memory};
use crate::error::{Error, Result};
use crate::gather::{GatherBuffers, GatherConfig};
use crate::primitives::Number;

impl Gpu {
    /// Returns `source[indices[i]]` for each `i`; zeros for an index beyond `source`. `source` consists of whole
    /// elements of the configuration, each of one or more values.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an element is not a whole number of values, [`Error::OutOfHostMemory`], and the errors
    /// of [`Self::gather_words`].
    pub fn gather<N: Number>(&self, config: GatherConfig, source: &[N], indices: &[u32]) -> Result<Vec<N>> {
        if !config.words_per_element().is_multiple_of(N::TYPE.words()) {
            return Err(Error::Unsupported {
                reason: "an element is a whole number of values, and that of the configuration is not",
            });
        }
        let words = self.gather_words(config, bytemuck::cast_slice(source), indices)?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(words.len() / N::TYPE.words() as usize)
            .map_err(|_| out_of_host_memory(size_of_val(&*words) as u64))?;
        // A word's alignment may be less than a value's.
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        values.extend(bytes.chunks_exact(size_of::<N>()).map(bytemuck::pod_read_unaligned::<N>));
        Ok(values)
    }

    /// As [`Self::gather`], for values of any type as 32-bit words in memory order.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`], in words, if the source is not whole elements, and the errors of
    /// [`GatherPlan`](crate::gather::GatherPlan), [`Self::allocate`], [`Self::read`] and [`Self::submit`].
    pub fn gather_words(&self, config: GatherConfig, source: &[u32], indices: &[u32]) -> Result<Vec<u32>> {
        let plan = self.plan(config)?;
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
        let index_buffer = self.allocate(size_of_val(indices) as u64)?;
        let result = self.allocate(size)?;
        self.upload(&table, 0, source)?;
        self.upload(&index_buffer, 0, indices)?;
        // A buffer for an empty source has one word.
        let table = table.range().slice(0, size_of_val(source) as u64).addresses();
        let buffers = GatherBuffers::new(table, index_buffer.range().addresses(), result.range().addresses());
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
        let word_count = usize::try_from(size / 4).map_err(|_| out_of_host_memory(size))?;
        self.read(&result, word_count)
    }
}
