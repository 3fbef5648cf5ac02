//! Search on slices.

use super::slices::{check_type, element_count, result_of, row_count};
use super::{Gpu, Prepared, zeroed};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, refuse_if};
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
        self.searched(config, [sorted, needles], &[])
    }

    /// As [`Self::search`], with [`large_counts`](SearchConfig::large_counts): in any number of keys.
    ///
    /// # Errors
    /// Errors of [`Self::search`].
    pub fn search_large<N: Number>(
        &self,
        config: SearchConfig,
        sorted: &[N],
        needles: &[N],
    ) -> Result<Vec<u64>> {
        self.searched(config.large_counts(), [sorted, needles], &[])
    }

    /// As [`Self::search`], by a function of the caller that reads `data` besides.
    ///
    /// # Errors
    /// Errors of [`Self::search`], and [`Error::RangeTooSmall`] for less data than the function reads.
    ///
    /// # Safety
    /// `data` is what the function reads, whole words; addresses in it point to live memory of the device.
    pub unsafe fn search_custom<N: Number>(
        &self,
        config: SearchConfig,
        sorted: &[N],
        needles: &[N],
        data: &[u8],
    ) -> Result<Vec<u32>> {
        self.searched(config, [sorted, needles], data)
    }

    fn searched<N: Number, P: Number>(
        &self,
        config: SearchConfig,
        keys: [&[N]; 2],
        data: &[u8],
    ) -> Result<Vec<P>> {
        check_type::<N>(config.element_type())?;
        let reason =
            "large counts give positions of 64 bits; call search_large, or record a plan of functions";
        refuse_if(config.position_size() != size_of::<P>() as u64, reason)?;
        let keys = keys.map(bytemuck::cast_slice);
        let mut positions = zeroed(keys[1].len() / config.key_size() as usize)?;
        self.prepared_search(config, keys, data, bytemuck::cast_slice_mut(&mut positions))?.run()?;
        Ok(positions)
    }

    /// Prepares [`Self::search`] of keys given as bytes, into the bytes of `positions`: creates the plan, and computes the size of
    /// the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if a slice is not of whole keys, [`Error::RangeTooSmall`] if there are fewer
    /// positions than needles, along rows [`Error::RowLengthMismatch`] if a slice is not of whole rows and
    /// [`Error::Unsupported`] if the rows are not as many, and the errors of [`SearchPlan`](crate::search::SearchPlan).
    pub fn prepare_search<'a>(
        &'a self,
        config: SearchConfig,
        sorted: &'a [u8],
        needles: &'a [u8],
        positions: &'a mut [u8],
    ) -> Result<Prepared<'a>> {
        self.prepared_search(config, [sorted, needles], &[], positions)
    }

    fn prepared_search<'a>(
        &'a self,
        config: SearchConfig,
        [sorted, needles]: [&'a [u8]; 2],
        data: &'a [u8],
        positions: &'a mut [u8],
    ) -> Result<Prepared<'a>> {
        let key_size = config.key_size();
        let count_of = |keys| element_count(keys, key_size);
        let counts = (count_of(sorted)?, count_of(needles)?);
        let plan = self.declared(config)?;
        if let Some(lengths) = config.row_lengths() {
            let of = |keys, length: u32| row_count(keys, key_size * u64::from(length), key_size);
            let reason = "a search along rows takes as many rows of needles as of sorted keys";
            refuse_if(of(sorted, lengths[0])? != of(needles, lengths[1])?, reason)?;
        }
        plan.check_count(counts)?;
        let positions = result_of(positions, config.position_size() * counts.1, "the result")?;
        let inputs = [("sorted", sorted), ("needles", needles), ("functions_data", data)];
        let slices = self.slices(plan, SearchBuffers::default(), counts, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            slices.run(&inputs)?.read_back([("positions", positions)], on_error)
        }))
    }
}
