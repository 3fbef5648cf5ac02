//! Merge on slices.

use super::{Gpu, Prepared, check_value_type, check_values, zeroed};
use crate::error::{Error, Result};
use crate::merge::{MergeBuffers, MergeConfig};
use crate::primitives::Number;

impl Gpu {
    /// Returns the keys of two sorted slices, sorted. Equals a stable sort of `a` followed by `b`. That both are sorted is
    /// not checked.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for keys of another type than the configuration's, [`Error::OutOfHostMemory`], and the
    /// errors of [`Self::prepare_merge`] and [`Prepared::run`].
    pub fn merge<N: Number>(&self, config: MergeConfig, a: &[N], b: &[N]) -> Result<Vec<N>> {
        Ok(self.merge_pairs(config, (a, &[] as &[u32]), (b, &[]))?.0)
    }

    /// As [`Self::merge`], with one or more numbers as the value of each key.
    ///
    /// # Errors
    /// Those of [`Self::merge`]. [`Error::ValueSizeMismatch`] unless a value is a whole number of `V`; without values
    /// there must be none.
    pub fn merge_pairs<N: Number, V: Number>(
        &self,
        config: MergeConfig,
        (a, a_values): (&[N], &[V]),
        (b, b_values): (&[N], &[V]),
    ) -> Result<(Vec<N>, Vec<V>)> {
        if N::TYPE != config.element_type() {
            return Err(Error::ElementMismatch { expected: config.element_type(), got: N::TYPE });
        }
        check_value_type(config.value_size(), a_values)?;
        check_value_type(config.value_size(), b_values)?;
        let mut keys = zeroed(a.len() + b.len())?;
        let mut values = zeroed(a_values.len() + b_values.len())?;
        let keys_of = [a, b].map(bytemuck::cast_slice);
        let values_of = [a_values, b_values].map(bytemuck::cast_slice);
        let results = [bytemuck::cast_slice_mut(&mut keys), bytemuck::cast_slice_mut(&mut values)];
        self.prepare_merge(config, keys_of, values_of, results)?.run()?;
        Ok((keys, values))
    }

    /// Prepares [`Self::merge_pairs`] of the words of both keys and both values, into the words of keys and values: creates
    /// the plan, and computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`], in words, if a slice is not of whole keys or values, [`Error::ValueCountMismatch`]
    /// unless there is a value for each key, [`Error::ValueSizeMismatch`] for values of a configuration without,
    /// [`Error::RangeTooSmall`] if a result is shorter than its keys or values, and the errors of
    /// [`MergePlan`](crate::merge::MergePlan).
    pub fn prepare_merge<'a>(
        &'a self,
        config: MergeConfig,
        keys: [&'a [u32]; 2],
        values: [&'a [u32]; 2],
        [merged, merged_values]: [&'a mut [u32]; 2],
    ) -> Result<Prepared<'a>> {
        let columns = config.element_type().words();
        let count_of = |words: &[u32]| match words.len() as u64 {
            value_count if value_count.is_multiple_of(columns.into()) => Ok(value_count / u64::from(columns)),
            value_count => Err(Error::RowLengthMismatch { value_count, columns }),
        };
        let counts = [count_of(keys[0])?, count_of(keys[1])?];
        let plan = self.plan(config)?;
        plan.check_count((counts[0], counts[1]))?;
        let value_words = (config.value_size() / 4) as usize;
        check_values(config.value_size(), counts[0], values[0])?;
        check_values(config.value_size(), counts[1], values[1])?;
        let count = (counts[0] + counts[1]) as usize;
        let result = |result: &'a mut [u32], word_count: usize, what| {
            let (needed, got) = (4 * word_count as u64, size_of_val(result) as u64);
            result.get_mut(..word_count).ok_or(Error::RangeTooSmall { what, needed, got })
        };
        let merged = result(merged, count * columns as usize, "the result")?;
        let merged_values = result(merged_values, count * value_words, "the values of the result")?;
        let results_size = (size_of_val(merged) + size_of_val(merged_values)) as u64;
        Ok(Prepared::new(2 * results_size, move |on_error| {
            if count == 0 {
                return Ok(());
            }
            let upload = |words: &[u32]| {
                let buffer = self.allocate(size_of_val(words) as u64)?;
                self.upload(&buffer, 0, words)?;
                Ok(buffer)
            };
            let [a, b] = keys;
            let (a, b, a_values, b_values) = (upload(a)?, upload(b)?, upload(values[0])?, upload(values[1])?);
            let keys_buffer = self.allocate(size_of_val(merged) as u64)?;
            let values_buffer = self.allocate(size_of_val(merged_values) as u64)?;
            let [a, b, a_values, b_values, destination, destination_values] =
                [&a, &b, &a_values, &b_values, &keys_buffer, &values_buffer]
                    .map(|buffer| buffer.range().addresses());
            let buffers = MergeBuffers::new(a, b, destination).values(a_values, b_values, destination_values);
            // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
            unsafe { self.submit(|recorder| plan.record(recorder, &buffers, (counts[0], counts[1]))) }?;
            match merged_values.is_empty() {
                true => self.read_back(&mut [(&keys_buffer, merged)], on_error),
                false => {
                    self.read_back(&mut [(&keys_buffer, merged), (&values_buffer, merged_values)], on_error)
                }
            }
        }))
    }
}
