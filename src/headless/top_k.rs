//! Top-k on slices.

use super::segmented_sort::check_segments;
use super::slices::{check_type, element_count, row_count};
use super::{Gpu, Prepared, check_value_type, check_values, numbers};
use crate::error::{Error, Result, at_most, in_range, refuse_if};
use crate::primitives::Number;
use crate::top_k::{TopKBuffers, TopKConfig};

/// The rows of a top-k on slices whose lengths or k are not one.
#[derive(Debug, Clone, Copy, Default)]
pub struct TopKRows<'a> {
    /// Indices of the first key of each row, in ascending order, with [`TopKConfig::segments`]; else empty.
    pub segments: &'a [u32],
    /// The k of each row, with [`TopKConfig::own_k`]; else empty.
    pub ks: &'a [u32],
}

impl TopKRows<'_> {
    /// The number of results of each row of `keys`; none if all have k.
    fn result_counts(&self, config: &TopKConfig, keys: &[u8]) -> Result<Option<Vec<usize>>> {
        let has_too_many = |is_taken: bool, numbers: &[u32]| !is_taken && !numbers.is_empty();
        let reason = "a top-k takes segments if its configuration has segments, and ks if it has own_k";
        refuse_if(has_too_many(config.has_segments(), self.segments), reason)?;
        refuse_if(has_too_many(config.has_own_k(), self.ks), reason)?;
        if !config.has_segments() && !config.has_own_k() {
            return Ok(None);
        }
        let key_size = config.source_size();
        let extents: Vec<u64> = if config.has_segments() {
            let count = element_count(keys, key_size)?;
            check_segments(self.segments.iter().copied(), count)?;
            let ends = self.segments.iter().skip(1).map(|&begin| begin.into()).chain([count]);
            self.segments.iter().zip(ends).map(|(&begin, end)| end - u64::from(begin)).collect()
        } else {
            vec![config.column_count().into(); row_count(keys, config.row_size(), key_size)? as usize]
        };
        if config.has_own_k() && self.ks.len() != extents.len() {
            let (key_count, value_count) = (extents.len() as u64, self.ks.len() as u64);
            return Err(Error::ValueCountMismatch { key_count, value_count });
        }
        let of_row = |(row, extent): (usize, u64)| {
            at_most(extent, config.column_count().into(), "a row of the configuration of a top-k")?;
            let k = self.ks.get(row).copied().unwrap_or(config.k());
            in_range("k of a row, up to the k of the configuration", k, 0..=config.k())?;
            Ok(extent.min(k.into()) as usize)
        };
        extents.into_iter().enumerate().map(of_row).collect::<Result<Vec<_>>>().map(Some)
    }
}

/// The result of a top-k on slices: k for each row, or of rows with lengths or a k of their own, one after the other, as many as
/// each has.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TopKBytes {
    /// The keys, as bytes in memory order; none of a configuration without keys.
    pub keys: Vec<u8>,
    /// Their columns; none of a configuration without indices.
    pub indices: Vec<u32>,
    /// Their values, as bytes; none of a configuration without values.
    pub values: Vec<u8>,
}

/// Keeps the written slots of rows of `row_length` items and `k` slots each.
fn written<T: Copy>(items: &mut Vec<T>, row_length: usize, k: usize, counts: &[usize]) {
    let mut end = 0;
    for (row, count) in (0..items.len() / row_length.max(1)).zip(counts) {
        let length = row_length / k * count;
        items.copy_within(row * row_length..row * row_length + length, end);
        end += length;
    }
    items.truncate(end);
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
    /// Errors of [`Self::top_k`]. [`Error::ValueSizeMismatch`] unless a value is a whole number of `V`; without values
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

    /// As [`Self::top_k`], of rows with lengths or a k of their own: the results of all rows, one after the other.
    ///
    /// # Errors
    /// Errors of [`Self::top_k`] and of [`Self::prepare_top_k_rows`].
    pub fn top_k_rows<N: Number>(
        &self,
        config: TopKConfig,
        keys: &[N],
        rows: TopKRows<'_>,
    ) -> Result<(Vec<N>, Vec<u32>)> {
        check_type::<N>(config.element_type())?;
        let mut top = TopKBytes::default();
        self.prepare_top_k_rows(config, bytemuck::cast_slice(keys), &[], rows, &mut top)?.run()?;
        Ok((numbers(&top.keys)?, top.indices))
    }

    /// As [`Self::top_k`], by keys that a configuration computes from `elements`; `data` is what the function reads besides,
    /// whole words. Returns the keys and their columns.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it does not compute them, [`Error::ElementMismatch`] if `N` is not its type, and the errors of
    /// [`Self::prepare_top_k_rows`].
    ///
    /// # Safety
    /// `data` is what the function reads; addresses in it point to live memory of the device.
    pub unsafe fn top_k_computed<N: Number, T: bytemuck::Pod>(
        &self,
        config: TopKConfig,
        elements: &[T],
        rows: TopKRows<'_>,
        data: &[u8],
    ) -> Result<(Vec<N>, Vec<u32>)> {
        check_type::<N>(config.element_type())?;
        refuse_if(!config.is_computed(), "Gpu::top_k_computed takes a computed configuration")?;
        let mut top = TopKBytes::default();
        self.prepare_rows(config, [bytemuck::cast_slice(elements), &[], data], rows, &mut top)?.run()?;
        Ok((numbers(&top.keys)?, top.indices))
    }

    /// Prepares [`Self::top_k_pairs`] of `keys`, as bytes in memory order, and of `values`, likewise, into
    /// `top`: creates the plan, and computes the size of the memory, before any is allocated. Without values `values` is
    /// empty.
    ///
    /// # Errors
    /// [`Error::PartialElement`] or [`Error::RowLengthMismatch`] if `keys` are not whole rows or `values` not whole values,
    /// [`Error::ValueCountMismatch`] unless there is a value for each key, [`Error::ValueSizeMismatch`] for values of a
    /// configuration without, [`Error::OutOfHostMemory`], and the errors of [`TopKPlan`](crate::top_k::TopKPlan).
    pub fn prepare_top_k<'a>(
        &'a self,
        config: TopKConfig,
        keys: &'a [u8],
        values: &'a [u8],
        top: &'a mut TopKBytes,
    ) -> Result<Prepared<'a>> {
        self.prepare_top_k_rows(config, keys, values, TopKRows::default(), top)
    }

    /// As [`Self::prepare_top_k`], of rows with lengths or a k of their own.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for segments or ks that the configuration does not have, [`Error::SegmentOutOfOrder`],
    /// [`Error::TooManyElements`] if a row has more keys than the configuration's columns, [`Error::ValueCountMismatch`] unless there
    /// is a k for each row, [`Error::OutOfRange`] if one is greater than the configuration's, and the errors of
    /// [`Self::prepare_top_k`].
    pub fn prepare_top_k_rows<'a>(
        &'a self,
        config: TopKConfig,
        keys: &'a [u8],
        values: &'a [u8],
        rows: TopKRows<'a>,
        top: &'a mut TopKBytes,
    ) -> Result<Prepared<'a>> {
        self.prepare_rows(config, [keys, values, &[]], rows, top)
    }

    fn prepare_rows<'a>(
        &'a self,
        config: TopKConfig,
        [keys, values, data]: [&'a [u8]; 3],
        rows: TopKRows<'a>,
        top: &'a mut TopKBytes,
    ) -> Result<Prepared<'a>> {
        let plan = self.declared(config)?;
        let key_size = config.source_size();
        let result_counts = rows.result_counts(&config, keys)?;
        let (count, key_count) = if config.has_segments() {
            let key_count = element_count(keys, key_size)?;
            (if key_count == 0 { 0 } else { rows.segments.len() as u64 }, key_count)
        } else {
            let count = row_count(keys, config.row_size(), key_size)?;
            (count, count * u64::from(config.column_count()))
        };
        plan.check_count(count)?;
        check_values(config.value_size(), key_count, values)?;
        let values_size = u64::from(config.k()) * config.value_size();
        let [segments, ks] = [rows.segments, rows.ks].map(bytemuck::cast_slice);
        let inputs = [
            ("source", keys),
            ("segments", segments),
            ("ks", ks),
            ("source_values", values),
            ("functions_data", data),
        ];
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
            if let Some(counts) = &result_counts {
                let k = config.k() as usize;
                written(&mut top.keys, config.keys_size() as usize, k, counts);
                written(&mut top.indices, k, k, counts);
                written(&mut top.values, values_size as usize, k, counts);
            }
            Ok(())
        }))
    }
}
