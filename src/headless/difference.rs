//! Adjacent difference on slices.

use super::{Gpu, Prepared, zeroed};
use crate::difference::{DifferenceBuffers, DifferenceConfig};
use crate::error::{Error, Result};
use crate::primitives::Number;

impl Gpu {
    /// Returns the difference of adjacent rows, or columns, of `numbers`, which consists of whole rows of the configuration.
    /// Equals `numpy.diff`.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for numbers of another type than the configuration's, [`Error::OutOfHostMemory`], and the
    /// errors of [`Self::prepare_difference`] and [`Prepared::run`].
    pub fn difference<N: Number>(&self, config: DifferenceConfig, numbers: &[N]) -> Result<Vec<N>> {
        if N::TYPE != config.element_type() {
            return Err(Error::ElementMismatch { expected: config.element_type(), got: N::TYPE });
        }
        let rows = numbers.len() as u64 / u64::from(config.column_count().max(1));
        let mut result = zeroed(config.result_size(rows) as usize / size_of::<N>())?;
        let words = bytemuck::cast_slice_mut(&mut result);
        self.prepare_difference(config, bytemuck::cast_slice(numbers), words)?.run()?;
        Ok(result)
    }

    /// Prepares [`Self::difference`] of numbers given as words, into `result`: creates the plan, and computes the size of the
    /// memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`], in words, if the numbers are not whole rows, [`Error::RangeTooSmall`] if the result is
    /// too small, and the errors of [`DifferencePlan`](crate::difference::DifferencePlan).
    pub fn prepare_difference<'a>(
        &'a self,
        config: DifferenceConfig,
        numbers: &'a [u32],
        result: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        let plan = self.plan(config)?;
        let (value_count, columns) = (numbers.len() as u64, (config.row_size() / 4) as u32);
        if !value_count.is_multiple_of(columns.into()) {
            return Err(Error::RowLengthMismatch { value_count, columns });
        }
        let count = value_count / u64::from(columns);
        let [numbers_size, got] = [numbers, &*result].map(|words| size_of_val(words) as u64);
        let needed = config.result_size(count);
        let result = result.get_mut(..needed as usize / 4).ok_or(Error::RangeTooSmall {
            what: "the result",
            needed,
            got,
        })?;
        Ok(Prepared::new(numbers_size + needed, move |on_error| {
            if needed == 0 {
                return Ok(());
            }
            let source = self.allocate(numbers_size)?;
            let destination = self.allocate(needed)?;
            self.upload(&source, 0, numbers)?;
            let [source, range] = [&source, &destination].map(|buffer| buffer.range().addresses());
            let buffers = DifferenceBuffers::new(source, range);
            // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
            unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
            self.read_back(&mut [(&destination, result)], on_error)
        }))
    }
}
