//! Search on slices.

use super::{Gpu, Prepared, zeroed};
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::search::{SearchBuffers, SearchConfig};

impl Gpu {
    /// Returns the position of each needle in `sorted`, a lower or an upper bound. Equals
    /// `numpy.searchsorted(sorted, needles, side)`. That `sorted` is sorted is not checked.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for keys of another type than the configuration's, [`Error::OutOfHostMemory`], and the
    /// errors of [`Self::prepare_search`] and [`Prepared::run`].
    pub fn search<N: Number>(&self, config: SearchConfig, sorted: &[N], needles: &[N]) -> Result<Vec<u32>> {
        if N::TYPE != config.element_type() {
            return Err(Error::ElementMismatch { expected: config.element_type(), got: N::TYPE });
        }
        let mut positions = zeroed(needles.len())?;
        let [sorted, needles] = [sorted, needles].map(bytemuck::cast_slice);
        self.prepare_search(config, sorted, needles, &mut positions)?.run()?;
        Ok(positions)
    }

    /// Prepares [`Self::search`] of keys given as words, into `positions`: creates the plan, and computes the size of the
    /// memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`], in words, if a slice is not of whole keys, [`Error::RangeTooSmall`] if there are fewer
    /// positions than needles, and the errors of [`SearchPlan`](crate::search::SearchPlan).
    pub fn prepare_search<'a>(
        &'a self,
        config: SearchConfig,
        sorted: &'a [u32],
        needles: &'a [u32],
        positions: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        let columns = config.element_type().words();
        let count_of = |words: &[u32]| match words.len() as u64 {
            value_count if value_count.is_multiple_of(columns.into()) => Ok(value_count / u64::from(columns)),
            value_count => Err(Error::RowLengthMismatch { value_count, columns }),
        };
        let (sorted_count, needle_count) = (count_of(sorted)?, count_of(needles)?);
        let plan = self.plan(config)?;
        plan.check_count((sorted_count, needle_count))?;
        let [sorted_size, needles_size, got] =
            [sorted, needles, &*positions].map(|words| size_of_val(words) as u64);
        let needed = 4 * needle_count;
        let positions = positions.get_mut(..needle_count as usize).ok_or(Error::RangeTooSmall {
            what: "the result",
            needed,
            got,
        })?;
        Ok(Prepared::new(sorted_size + needles_size + needed, move |on_error| {
            if needle_count == 0 {
                return Ok(());
            }
            let sorted_buffer = self.allocate(sorted_size)?;
            let needle_buffer = self.allocate(needles_size)?;
            let found = self.allocate(needed)?;
            self.upload(&sorted_buffer, 0, sorted)?;
            self.upload(&needle_buffer, 0, needles)?;
            let [sorted, needles, found_range] =
                [&sorted_buffer, &needle_buffer, &found].map(|buffer| buffer.range().addresses());
            let buffers = SearchBuffers::new(sorted, needles, found_range);
            // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
            unsafe { self.submit(|recorder| plan.record(recorder, &buffers, (sorted_count, needle_count))) }?;
            self.read_back(&mut [(&found, positions)], on_error)
        }))
    }
}
