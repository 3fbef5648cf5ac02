//! Top-k on slices.

use super::slices::{check_type, row_count};
use super::{Gpu, Prepared, check_value_type, check_values, numbers};
use crate::error::{Error, Result};
use crate::primitives::Number;
use crate::top_k::{TopKBuffers, TopKConfig};

/// The result of a top-k on slices: k for each row.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TopKBytes {
    /// The keys, as bytes in memory order; none of a configuration without keys.
    pub keys: Vec<u8>,
    /// Their columns; none of a configuration without indices.
    pub indices: Vec<u32>,
    /// Their values, as bytes; none of a configuration without values.
    pub values: Vec<u8>,
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
        check_type::<N>(config.element_type())?;
        check_value_type(config.value_size(), values)?;
        let mut top = TopKBytes::default();
        let values = bytemuck::cast_slice(values);
        self.prepare_top_k(config, bytemuck::cast_slice(keys), values, &mut top)?.run()?;
        Ok((numbers(&top.keys)?, top.indices, numbers(&top.values)?))
    }

    /// Prepares [`Self::top_k_pairs`] of `keys`, as bytes in memory order, and of `values`, likewise, into
    /// `top`: creates the plan, and computes the size of the memory, before any is allocated. Without values `values` is
    /// empty.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if `keys` are not whole rows or, in words, `values` are not whole values,
    /// [`Error::ValueCountMismatch`] unless there is a value for each key, [`Error::ValueSizeMismatch`] for values of a
    /// configuration without, [`Error::OutOfHostMemory`], and the errors of [`TopKPlan`](crate::top_k::TopKPlan).
    pub fn prepare_top_k<'a>(
        &'a self,
        config: TopKConfig,
        keys: &'a [u8],
        values: &'a [u8],
        top: &'a mut TopKBytes,
    ) -> Result<Prepared<'a>> {
        let plan = self.plan(config)?;
        let count = row_count(keys, config.row_size(), config.element_type().size() as u64)?;
        plan.check_count(count)?;
        check_values(config.value_size(), count * u64::from(config.column_count()), values)?;
        let values_size = u64::from(config.k()) * config.value_size();
        let inputs = [("source", keys), ("source_values", values)];
        let slices = self.slices(plan, TopKBuffers::default(), count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |_| {
            let selected = slices.run(&inputs)?;
            let read = |name, row_size: u64| selected.read(name, count.saturating_mul(row_size));
            *top = TopKBytes {
                keys: read("destination", config.keys_size())?,
                indices: selected
                    .read("destination_indices", count.saturating_mul(config.indices_size() / 4))?,
                values: read("destination_values", values_size)?,
            };
            Ok(())
        }))
    }
}
