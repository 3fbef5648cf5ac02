//! Adjacent difference on slices.

use super::slices::{check_type, result_of, row_count};
use super::{Gpu, Prepared, zeroed};
use crate::difference::{DifferenceBuffers, DifferenceConfig};
use crate::error::Result;
use crate::primitives::Number;

impl Gpu {
    /// Returns the difference of adjacent rows, or columns, of `numbers`, which consists of whole rows of the configuration.
    /// Equals `numpy.diff`.
    ///
    /// # Errors
    /// [`ElementMismatch`](crate::Error::ElementMismatch) for numbers of another type than the configuration's, [`OutOfHostMemory`](crate::Error::OutOfHostMemory), and the
    /// errors of [`Self::prepare_difference`] and [`Prepared::run`].
    pub fn difference<N: Number>(&self, config: DifferenceConfig, numbers: &[N]) -> Result<Vec<N>> {
        check_type::<N>(config.element_type())?;
        let rows = numbers.len() as u64 / u64::from(config.column_count().max(1));
        let mut result = zeroed(config.result_size(rows) as usize / size_of::<N>())?;
        let bytes = bytemuck::cast_slice_mut(&mut result);
        self.prepare_difference(config, bytemuck::cast_slice(numbers), bytes)?.run()?;
        Ok(result)
    }

    /// Prepares [`Self::difference`] of numbers given as bytes, into `result`: creates the plan, and computes the size of the
    /// memory, before any is allocated.
    ///
    /// # Errors
    /// [`PartialElement`](crate::Error::PartialElement) or [`RowLengthMismatch`](crate::Error::RowLengthMismatch) if the numbers are
    /// not whole rows, [`RangeTooSmall`](crate::Error::RangeTooSmall) if the result is too small, and the errors of [`DifferencePlan`](crate::difference::DifferencePlan).
    pub fn prepare_difference<'a>(
        &'a self,
        config: DifferenceConfig,
        numbers: &'a [u8],
        result: &'a mut [u8],
    ) -> Result<Prepared<'a>> {
        let plan = self.declared(config)?;
        let count = row_count(numbers, config.row_size(), config.element_type().size() as u64)?;
        let result = result_of(result, config.result_size(count), "the result")?;
        let inputs = [("source", numbers)];
        let slices = self.slices(plan, DifferenceBuffers::default(), count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            slices.run(&inputs)?.read_back([("destination", result)], on_error)
        }))
    }
}
