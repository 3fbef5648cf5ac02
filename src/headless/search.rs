//! Search on slices.

use super::slices::{check_type, result_of, row_count};
use super::{Gpu, Prepared, zeroed};
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::search::{SearchBuffers, SearchConfig};

impl Gpu {
    /// Returns the position of each needle in `sorted`, a lower or an upper bound. Equals
    /// `numpy.searchsorted(sorted, needles, side)`. That `sorted` is sorted is not checked.
    ///
    /// # Errors
    /// [`ElementMismatch`](crate::Error::ElementMismatch) for keys of another type than the configuration's, [`OutOfHostMemory`](crate::Error::OutOfHostMemory), and the
    /// errors of [`Self::prepare_search`] and [`Prepared::run`].
    pub fn search<N: Number>(&self, config: SearchConfig, sorted: &[N], needles: &[N]) -> Result<Vec<u32>> {
        check_type::<N>(config.element_type())?;
        let mut positions = zeroed(needles.len())?;
        let [sorted, needles] = [sorted, needles].map(bytemuck::cast_slice);
        self.prepare_search(config, sorted, needles, &mut positions)?.run()?;
        Ok(positions)
    }

    /// Prepares [`Self::search`] of keys given as bytes, into `positions`: creates the plan, and computes the size of the
    /// memory, before any is allocated.
    ///
    /// # Errors
    /// [`RowLengthMismatch`](crate::Error::RowLengthMismatch), in words, if a slice is not of whole keys, [`RangeTooSmall`](crate::Error::RangeTooSmall) if there are fewer
    /// positions than needles, along rows [`RowLengthMismatch`](crate::Error::RowLengthMismatch) if a slice is not of whole rows and
    /// [`Unsupported`](Error::Unsupported) if the rows are not as many, and the errors of [`SearchPlan`](crate::search::SearchPlan).
    pub fn prepare_search<'a>(
        &'a self,
        config: SearchConfig,
        sorted: &'a [u8],
        needles: &'a [u8],
        positions: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        let key_size = config.element_type().size() as u64;
        let count_of = |keys| row_count(keys, key_size, key_size.min(4));
        let counts = (count_of(sorted)?, count_of(needles)?);
        let plan = self.plan(config)?;
        if let Some(lengths) = config.row_lengths() {
            let of = |keys, length: u32| row_count(keys, key_size * u64::from(length), key_size);
            if of(sorted, lengths[0])? != of(needles, lengths[1])? {
                let reason = "a search along rows takes as many rows of needles as of sorted keys";
                return Err(Error::Unsupported { reason });
            }
        }
        plan.check_count(counts)?;
        let positions = result_of(bytemuck::cast_slice_mut(positions), 4 * counts.1, "the result")?;
        let inputs = [("sorted", sorted), ("needles", needles)];
        let slices = self.slices(plan, SearchBuffers::default(), counts, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            slices.run(&inputs)?.read_back([("positions", positions)], on_error)
        }))
    }
}
