//! Reduce on slices.

use super::segmented_sort::{UNEQUAL_RANGES, check_segments};
use super::slices::{check_type, element_count, row_count};
use super::{Gpu, Prepared, numbers};
use crate::error::{Error, Result, refuse_if};
use crate::primitives::{FloatOrder, Number};
use crate::reduce::{ReduceBuffers, ReduceConfig, ReduceRuns};

/// The results of a reduction on slices, as bytes in memory order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReducedBytes {
    /// A result for each segment or run, or one.
    pub results: Vec<u8>,
    /// The key of each run of keys.
    pub unique_keys: Vec<u8>,
}

impl Gpu {
    /// Returns the reduction of `values`, a row-major table with the configuration's columns: one row. Elements of a caller's
    /// functions are rows of words, of any 32-bit type.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the results are indices ([`Self::reduce_to_index`] returns these) or runs have keys, and the
    /// errors of [`Self::reduce_segments`].
    pub fn reduce<N: Number>(&self, config: ReduceConfig, values: &[N]) -> Result<Vec<N>> {
        self.reduce_segments(config, values, &[])
    }

    /// Returns the reduction of each segment that begins at `offsets`, for a configuration with [`ReduceRuns::Offsets`]: a
    /// row each. Of [`ReduceRuns::Ranges`] `offsets` are the first rows of all segments, then their ends; of segments of a fixed
    /// size they are empty.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if `values` are not of the configuration's type (u32 stands for any type of 32 bits of a
    /// caller's functions), and the errors of [`Self::prepare_reduce`].
    pub fn reduce_segments<N: Number>(
        &self,
        config: ReduceConfig,
        values: &[N],
        offsets: &[u32],
    ) -> Result<Vec<N>> {
        self.reduce_to(config, values, offsets)
    }

    /// As [`Self::reduce_segments`], with results of another type than the elements: for elements of 8 and 16
    /// bits, the results of [`ReduceConfig::unpacked_results`].
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] as well, if the results are not of [`ReduceConfig::result_type`]; the errors of
    /// [`Self::reduce_segments`].
    pub fn reduce_to<N: Number, R: Number>(
        &self,
        config: ReduceConfig,
        values: &[N],
        offsets: &[u32],
    ) -> Result<Vec<R>> {
        let reason =
            "results are rows: reduce_to_index returns indices, and reduce_by_key the results of keys";
        refuse_if(config.is_index() || has_keys(&config), reason)?;
        check_type::<R>(config.result_type())?;
        let reduced = self.reduce_checked(config, values, bytemuck::cast_slice(offsets))?;
        numbers(&reduced.results)
    }

    /// Returns the row of the minimum or maximum of each column, or along rows its index in each row, for a configuration of
    /// [`ReduceConfig::argmin`] or [`ReduceConfig::argmax`]; `u32::MAX` without rows. For
    /// [`ReduceConfig::argminmax`] it returns the rows or indices of all minima, then of all maxima.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another configuration, and the errors of [`Self::reduce_segments`].
    pub fn reduce_to_index<N: Number>(&self, config: ReduceConfig, values: &[N]) -> Result<Vec<u32>> {
        let reason = "results are no indices; make the configuration by argmin, argmax or argminmax";
        refuse_if(!config.is_index(), reason)?;
        numbers(&self.reduce_checked(config, values, &[])?.results)
    }

    /// Returns the first key and the reduction of each run of equal keys, for a configuration with [`ReduceRuns::keys`] of
    /// their type.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another configuration, and the errors of [`Self::reduce_segments`].
    pub fn reduce_by_key<K: Number, N: Number>(
        &self,
        config: ReduceConfig,
        keys: &[K],
        values: &[N],
    ) -> Result<(Vec<K>, Vec<N>)> {
        let of_type = FloatOrder::ALL.map(|order| Some(ReduceRuns::keys_in(K::TYPE, order)));
        let reason =
            "the keys are not of the configuration's type; make it with ReduceRuns::keys of their type";
        refuse_if(!of_type.contains(&config.reduced_runs()), reason)?;
        check_type::<N>(config.result_type())?;
        let reduced = self.reduce_checked(config, values, bytemuck::cast_slice(keys))?;
        Ok((numbers(&reduced.unique_keys)?, numbers(&reduced.results)?))
    }

    /// Returns the reduction of `elements` by functions of the caller, whole results as words: of elements, and results, that
    /// they compute as well. `data` is what they read besides, whole words; `offsets` are as in [`Self::reduce_segments`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a built-in operator and for runs of keys, and the errors of [`Self::prepare_reduce`].
    ///
    /// # Safety
    /// `data` is what the functions read; addresses in it point to live memory of the device.
    pub unsafe fn reduce_computed<T: bytemuck::Pod>(
        &self,
        config: ReduceConfig,
        elements: &[T],
        offsets: &[u32],
        data: &[u8],
    ) -> Result<Vec<u32>> {
        let reason = "Gpu::reduce_computed takes a ReduceConfig::custom, without runs of keys";
        refuse_if(config.element_type().is_some() || has_keys(&config), reason)?;
        let mut reduced = ReducedBytes::default();
        let elements = bytemuck::cast_slice(elements);
        self.prepare_reduction(config, elements, bytemuck::cast_slice(offsets), data, &mut reduced)?.run()?;
        numbers(&reduced.results)
    }

    fn reduce_checked<N: Number>(
        &self,
        config: ReduceConfig,
        values: &[N],
        segments: &[u8],
    ) -> Result<ReducedBytes> {
        check_type::<N>(config.element_type())?;
        let mut reduced = ReducedBytes::default();
        self.prepare_reduce(config, bytemuck::cast_slice(values), segments, &mut reduced)?.run()?;
        Ok(reduced)
    }

    /// Prepares a reduction of `rows`, of any type as bytes in memory order, into `reduced`: creates the
    /// plan, and computes the size of the memory, before any is allocated. `segments` are offsets, keys, or the
    /// begins of ranges followed by their ends, as the configuration says.
    ///
    /// # Errors
    /// [`Error::PartialElement`] or [`Error::RowLengthMismatch`] if `rows` are not whole, [`Error::ValueCountMismatch`] if there is not a key for
    /// each row, [`Error::SegmentOutOfOrder`] unless offsets ascend, up to the number of rows, [`Error::OutOfHostMemory`], and the errors of [`ReducePlan`](crate::reduce::ReducePlan).
    pub fn prepare_reduce<'a>(
        &'a self,
        config: ReduceConfig,
        rows: &'a [u8],
        segments: &'a [u8],
        reduced: &'a mut ReducedBytes,
    ) -> Result<Prepared<'a>> {
        self.prepare_reduction(config, rows, segments, &[], reduced)
    }

    fn prepare_reduction<'a>(
        &'a self,
        config: ReduceConfig,
        rows: &'a [u8],
        segments: &'a [u8],
        data: &'a [u8],
        reduced: &'a mut ReducedBytes,
    ) -> Result<Prepared<'a>> {
        let plan = self.declared(config)?;
        let value_size = config.element_type().map_or(config.source_size(), |element| element.size() as u64);
        let count = row_count(rows, config.source_size(), value_size)?;
        let segments_size = segments.len() as u64;
        let key_size = config.reduced_runs().map_or(0, ReduceRuns::key_size);
        if key_size > 0 && segments_size != count * key_size {
            let value_count = segments_size / key_size;
            return Err(Error::ValueCountMismatch { key_count: count, value_count });
        }
        let (segments, ends) = match config.reduced_runs() {
            Some(ReduceRuns::Ranges) => {
                let bound_count = element_count(segments, 4)?;
                refuse_if(!bound_count.is_multiple_of(2), UNEQUAL_RANGES)?;
                segments.split_at(segments.len() / 2)
            }
            _ => (segments, &[][..]),
        };
        if config.reduced_runs() == Some(ReduceRuns::Offsets) {
            element_count(segments, 4)?;
            check_segments(segments.chunks_exact(4).map(bytemuck::pod_read_unaligned), count)?;
        }
        let inputs =
            [("source", rows), ("segments", segments), ("segment_ends", ends), ("functions_data", data)];
        let slices = self.slices(plan, ReduceBuffers::default(), count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |_| {
            let results_size = slices.size("destination");
            let completed = slices.run(&inputs)?;
            let result_count = match key_size {
                0 => results_size / config.result_size(),
                _ => completed.read::<u32>("run_count", 1)?[0].into(),
            };
            reduced.results = completed.read("destination", result_count * config.result_size())?;
            reduced.unique_keys = completed.read("unique_keys", result_count * key_size)?;
            Ok(())
        }))
    }
}

fn has_keys(config: &ReduceConfig) -> bool {
    config.reduced_runs().is_some_and(|runs| runs.key_size() > 0)
}
