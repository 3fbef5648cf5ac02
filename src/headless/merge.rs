//! Merge on slices.

use super::slices::{check_type, element_count, result_of};
use super::{Gpu, Prepared, check_value_type, check_values, zeroed};
use crate::error::Result;
use crate::merge::{MergeBuffers, MergeConfig};
use crate::primitives::Number;

impl Gpu {
    /// Returns the keys of two sorted slices, sorted. Equals a stable sort of `a` followed by `b`. That both are sorted is
    /// not checked. For more than 2^32 - 1 keys [`MergeConfig::large_counts`] is set automatically.
    ///
    /// # Errors
    /// [`ElementMismatch`](crate::Error::ElementMismatch) for keys of another type than the configuration's, [`OutOfHostMemory`](crate::Error::OutOfHostMemory), and the
    /// errors of [`Self::prepare_merge`] and [`Prepared::run`].
    pub fn merge<N: Number>(&self, config: MergeConfig, a: &[N], b: &[N]) -> Result<Vec<N>> {
        Ok(self.merge_pairs(config, (a, &[] as &[u32]), (b, &[]))?.0)
    }

    /// As [`Self::merge`], with one or more numbers as the value of each key.
    ///
    /// # Errors
    /// Errors of [`Self::merge`]. [`ValueSizeMismatch`](crate::Error::ValueSizeMismatch) unless a value is a whole number of
    /// `V`; without values there must be none.
    pub fn merge_pairs<N: Number, V: Number>(
        &self,
        config: MergeConfig,
        a: (&[N], &[V]),
        b: (&[N], &[V]),
    ) -> Result<(Vec<N>, Vec<V>)> {
        self.merged(config, [a, b], &[])
    }

    /// As [`Self::merge_pairs`], by a function of the caller that reads `data` besides.
    ///
    /// # Errors
    /// Errors of [`Self::merge_pairs`], and [`RangeTooSmall`](crate::Error::RangeTooSmall) for less data than the function reads.
    ///
    /// # Safety
    /// `data` is what the function reads, whole words; addresses in it point to live memory of the device.
    pub unsafe fn merge_custom<N: Number, V: Number>(
        &self,
        config: MergeConfig,
        a: (&[N], &[V]),
        b: (&[N], &[V]),
        data: &[u8],
    ) -> Result<(Vec<N>, Vec<V>)> {
        self.merged(config, [a, b], data)
    }

    fn merged<N: Number, V: Number>(
        &self,
        config: MergeConfig,
        [(a, a_values), (b, b_values)]: [(&[N], &[V]); 2],
        data: &[u8],
    ) -> Result<(Vec<N>, Vec<V>)> {
        check_type::<N>(config.element_type())?;
        check_value_type(config.value_size(), a_values)?;
        check_value_type(config.value_size(), b_values)?;
        let mut keys = zeroed(a.len() + b.len())?;
        let mut values = zeroed(a_values.len() + b_values.len())?;
        let keys_of = [a, b].map(bytemuck::cast_slice);
        let values_of = [a_values, b_values].map(bytemuck::cast_slice);
        let results = [bytemuck::cast_slice_mut(&mut keys), bytemuck::cast_slice_mut(&mut values)];
        self.prepared_merge(config, (keys_of, values_of, data), results)?.run()?;
        Ok((keys, values))
    }

    /// Prepares [`Self::merge_pairs`] of the bytes of both keys and both values, into the bytes of keys and values: creates
    /// the plan, and computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`PartialElement`](crate::Error::PartialElement) if a slice is not of whole keys or values, [`ValueCountMismatch`](crate::Error::ValueCountMismatch)
    /// unless there is a value for each key, [`ValueSizeMismatch`](crate::Error::ValueSizeMismatch) for values of a configuration without,
    /// [`RangeTooSmall`](crate::Error::RangeTooSmall) if a result is shorter than its keys or values, and the errors of
    /// [`MergePlan`](crate::merge::MergePlan).
    pub fn prepare_merge<'a>(
        &'a self,
        config: MergeConfig,
        keys: [&'a [u8]; 2],
        values: [&'a [u8]; 2],
        merged: [&'a mut [u8]; 2],
    ) -> Result<Prepared<'a>> {
        self.prepared_merge(config, (keys, values, &[]), merged)
    }

    fn prepared_merge<'a>(
        &'a self,
        config: MergeConfig,
        (keys, values, data): ([&'a [u8]; 2], [&'a [u8]; 2], &'a [u8]),
        [merged, merged_values]: [&'a mut [u8]; 2],
    ) -> Result<Prepared<'a>> {
        let key_size = config.key_size();
        let count_of = |keys| element_count(keys, key_size);
        let counts = [count_of(keys[0])?, count_of(keys[1])?];
        let plan = self.declared(config.large_counts_for(counts[0] + counts[1]))?;
        check_values(config.value_size(), counts[0], values[0])?;
        check_values(config.value_size(), counts[1], values[1])?;
        let count = counts[0] + counts[1];
        let merged = result_of(merged, count * key_size, "the result")?;
        let merged_values =
            result_of(merged_values, count * config.value_size(), "the values of the result")?;
        let [a, b] = keys;
        let [a_values, b_values] = values;
        let inputs =
            [("a", a), ("b", b), ("a_values", a_values), ("b_values", b_values), ("functions_data", data)];
        let slices = self.slices(plan, MergeBuffers::default(), (counts[0], counts[1]), &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            let results = [("destination", merged), ("destination_values", merged_values)];
            slices.run(&inputs)?.read_back(results, on_error)
        }))
    }
}
