//! Top-k on slices.

use super::{Gpu, Prepared, check_value_type, check_values, numbers, scratch_range, zeroed};
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::top_k::{TopKBuffers, TopKConfig};

/// The result of a top-k on slices: k for each row.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TopKWords {
    /// The keys, as 32-bit words in memory order; none of a configuration without keys.
    pub keys: Vec<u32>,
    /// Their columns; none of a configuration without indices.
    pub indices: Vec<u32>,
    /// Their values, as words; none of a configuration without values.
    pub values: Vec<u32>,
}

impl Gpu {
    /// Returns the keys that the configuration selects of each row of `keys`, and their columns.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] of a
    /// configuration with values, and the errors of [`Self::prepare_top_k`] and [`Prepared::run`].
    pub fn top_k<N: Number>(&self, config: TopKConfig, keys: &[N]) -> Result<(Vec<N>, Vec<u32>)> {
        // Also where there are no rows.
        if config.value_size() > 0 {
            return Err(Error::ValueSizeMismatch { expected: config.value_size(), got: 0 });
        }
        let (keys, indices, _) = self.top_k_pairs(config, keys, &[] as &[u32])?;
        Ok((keys, indices))
    }

    /// As [`Self::top_k`], with one or more numbers as the value of each key; the third result is the values of the
    /// selected keys.
    ///
    /// # Errors
    /// Those of [`Self::top_k`]. [`Error::ValueSizeMismatch`] unless a value is a whole number of `V`; without values
    /// `values` must be empty.
    pub fn top_k_pairs<N: Number, V: Number>(
        &self,
        config: TopKConfig,
        keys: &[N],
        values: &[V],
    ) -> Result<(Vec<N>, Vec<u32>, Vec<V>)> {
        if N::TYPE != config.element_type() {
            return Err(Error::ElementMismatch { expected: config.element_type(), got: N::TYPE });
        }
        check_value_type(config.value_size(), values)?;
        let mut top = TopKWords::default();
        let words = bytemuck::cast_slice(values);
        self.prepare_top_k(config, bytemuck::cast_slice(keys), words, &mut top)?.run()?;
        Ok((numbers(&top.keys)?, top.indices, numbers(&top.values)?))
    }

    /// Prepares [`Self::top_k_pairs`] of `words`, keys as 32-bit words in memory order, and of `values`, likewise, into
    /// `top`: creates the plan, and computes the size of the memory, before any is allocated. Without values `values` is
    /// empty.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if `words` are not whole rows or, in words, `values` are not whole values,
    /// [`Error::ValueCountMismatch`] unless there is a value for each key, [`Error::ValueSizeMismatch`] for values of a
    /// configuration without, [`Error::OutOfHostMemory`], and the errors of [`TopKPlan`](crate::top_k::TopKPlan).
    pub fn prepare_top_k<'a>(
        &'a self,
        config: TopKConfig,
        words: &'a [u32],
        values: &'a [u32],
        top: &'a mut TopKWords,
    ) -> Result<Prepared<'a>> {
        let plan = self.plan(config)?;
        let (source_size, columns) = (size_of_val(words) as u64, config.column_count());
        if !source_size.is_multiple_of(config.row_size()) {
            let value_count = words.len() as u64 / u64::from(config.element_type().words());
            return Err(Error::RowLengthMismatch { value_count, columns });
        }
        let count = source_size / config.row_size();
        plan.check_count(count)?;
        check_values(config.value_size(), count * u64::from(columns), values)?;
        let values_size = u64::from(config.k()) * config.value_size();
        let sizes =
            [config.keys_size(), config.indices_size(), values_size].map(|size| count.saturating_mul(size));
        let scratch_size = plan.scratch_requirements(count).size;
        let read_sizes = [source_size, size_of_val(values) as u64, scratch_size];
        let device_size = read_sizes.iter().chain(&sizes).copied().fold(0, u64::saturating_add);
        Ok(Prepared::new(device_size, move |on_error| {
            let [keys_size, indices_size, values_size] = sizes;
            let result = |size: u64| zeroed((size / 4) as usize);
            let mut results = [result(keys_size)?, result(indices_size)?, result(values_size)?];
            if count > 0 {
                let source = self.filled(words)?;
                let source_values = self.filled(values)?;
                let allocate = |size| self.allocate_scratch(size);
                let moved = [allocate(keys_size)?, allocate(indices_size)?, allocate(values_size)?];
                let scratch = allocate(scratch_size)?;
                let range_of = |buffer| scratch_range(buffer).addresses();
                let [to_keys, to_indices, to_values] = moved.each_ref().map(range_of);
                let buffers =
                    TopKBuffers::new(range_of(&source), to_keys, to_indices, scratch_range(&scratch))
                        .values(range_of(&source_values), to_values);
                // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
                unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
                for (buffer, result) in moved.iter().zip(&mut results) {
                    if let Some(buffer) = buffer {
                        self.read_back(&mut [(buffer, result)], on_error)?;
                    }
                }
            }
            [top.keys, top.indices, top.values] = results;
            Ok(())
        }))
    }
}
