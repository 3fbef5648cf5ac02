//! Gather on slices.

use super::slices::{element_count, result_of};
use super::{Gpu, Prepared, zeroed};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, refuse_if};
use crate::gather::{GatherBuffers, GatherConfig};
use crate::primitives::Number;

impl Gpu {
    /// Returns `source[indices[i]]` for each `i`; zeros for an index beyond `source`. `source` consists of whole
    /// elements of the configuration, each of one or more values.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an element is not a whole number of values, [`Error::OutOfHostMemory`], and the errors
    /// of [`Self::gather_bytes`].
    pub fn gather<N: Number>(&self, config: GatherConfig, source: &[N], indices: &[u32]) -> Result<Vec<N>> {
        let reason = "an element is a whole number of values, and the configuration's element is not";
        refuse_if(!config.element_size().is_multiple_of(size_of::<N>() as u64), reason)?;
        let values_per_element = (config.element_size() / size_of::<N>() as u64) as usize;
        let mut values = zeroed(indices.len().saturating_mul(values_per_element))?;
        let (source, result) = (bytemuck::cast_slice(source), bytemuck::cast_slice_mut(&mut values));
        self.prepare_gather(config, source, indices, result)?.run()?;
        Ok(values)
    }

    /// As [`Self::gather`], for values of any type as bytes in memory order.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`], and the errors of [`Self::prepare_gather`] and [`Prepared::run`].
    pub fn gather_bytes(&self, config: GatherConfig, source: &[u8], indices: &[u32]) -> Result<Vec<u8>> {
        let mut bytes = zeroed(indices.len().saturating_mul(config.element_size() as usize))?;
        self.prepare_gather(config, source, indices, &mut bytes)?.run()?;
        Ok(bytes)
    }

    /// Prepares [`Self::gather_bytes`] into `result`: creates the plan, and computes the size of the memory, before any
    /// is allocated.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the source is not whole elements, [`Error::RangeTooSmall`] if the
    /// result is less than an element for each index, and the errors of [`GatherPlan`](crate::gather::GatherPlan).
    pub fn prepare_gather<'a>(
        &'a self,
        config: GatherConfig,
        source: &'a [u8],
        indices: &'a [u32],
        result: &'a mut [u8],
    ) -> Result<Prepared<'a>> {
        let plan = self.declared(config)?;
        element_count(source, config.element_size())?;
        let count = indices.len() as u64;
        let result = result_of(result, count.saturating_mul(config.element_size()), "the result")?;
        let inputs = [("source", source), ("indices", bytemuck::cast_slice(indices))];
        let slices = self.slices(plan, GatherBuffers::default(), count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            slices.run(&inputs)?.read_back([("destination", result)], on_error)
        }))
    }
}
