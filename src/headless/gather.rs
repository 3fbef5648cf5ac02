//! Gather on slices.

use std::sync::Arc;

use super::transfer::OnError;
use super::{Gpu, out_of_host_memory, zeroed};
use crate::error::{Error, Result};
use crate::gather::{GatherBuffers, GatherConfig, GatherPlan};
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
        self.prepare_gather(config, bytemuck::cast_slice(source), indices)?.values()
    }

    /// As [`Self::gather`], for values of any type as 32-bit words in memory order.
    ///
    /// # Errors
    /// Those of [`Self::prepare_gather`] and [`PreparedGather::run`].
    pub fn gather_words(&self, config: GatherConfig, source: &[u32], indices: &[u32]) -> Result<Vec<u32>> {
        self.prepare_gather(config, source, indices)?.run()
    }

    /// Prepares [`Self::gather_words`]: creates the plan, and computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`], in words, if the source is not whole elements, and the errors of [`GatherPlan`].
    pub fn prepare_gather<'a>(
        &'a self,
        config: GatherConfig,
        source: &'a [u32],
        indices: &'a [u32],
    ) -> Result<PreparedGather<'a>> {
        let plan = self.plan(config)?;
        let (value_count, columns) = (source.len() as u64, config.words_per_element());
        if !value_count.is_multiple_of(columns.into()) {
            return Err(Error::RowLengthMismatch { value_count, columns });
        }
        let result_size = (indices.len() as u64).saturating_mul(config.element_size());
        Ok(PreparedGather { gpu: self, plan, source, indices, result_size })
    }
}

/// A gather of slices, ready to run: of [`Gpu::prepare_gather`].
pub struct PreparedGather<'a> {
    gpu: &'a Gpu,
    plan: Arc<GatherPlan>,
    source: &'a [u32],
    indices: &'a [u32],
    result_size: u64,
}

impl PreparedGather<'_> {
    /// Bytes of device memory that [`Self::run`] allocates.
    pub fn device_size(&self) -> u64 {
        self.result_size.saturating_add(size_of_val(self.source) as u64 + size_of_val(self.indices) as u64)
    }

    /// Gathers, and returns the words of the result.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`], and those of [`Gpu::allocate`], [`Gpu::read`] and [`Gpu::submit`].
    pub fn run(self) -> Result<Vec<u32>> {
        self.values()
    }

    /// The result as numbers, of which an element is a whole number.
    fn values<N: Number>(self) -> Result<Vec<N>> {
        let Self { gpu, plan, source, indices, result_size } = self;
        if indices.is_empty() {
            return Ok(Vec::new());
        }
        let (source_size, count) = (size_of_val(source) as u64, indices.len() as u64);
        let table = gpu.allocate(source_size)?;
        let index_buffer = gpu.allocate(size_of_val(indices) as u64)?;
        let result = gpu.allocate(result_size)?;
        gpu.upload(&table, 0, source)?;
        gpu.upload(&index_buffer, 0, indices)?;
        // A buffer for an empty source has one word.
        let table = table.range().slice(0, source_size).addresses();
        let buffers = GatherBuffers::new(table, index_buffer.range().addresses(), result.range().addresses());
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
        let value_count = usize::try_from(result_size).map_err(|_| out_of_host_memory(result_size))?;
        let mut values = zeroed(value_count / size_of::<N>())?;
        gpu.read_back(&mut [(&result, bytemuck::cast_slice_mut(&mut values))], OnError::Undefined)?;
        Ok(values)
    }
}
