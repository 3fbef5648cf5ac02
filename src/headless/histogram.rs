//! Histogram on slices.

use super::slices::{check_type, result_of, row_count};
use super::{Gpu, Prepared, zeroed};
use crate::error::{Error, Result, refuse_if};
use crate::histogram::{HistogramBuffers, HistogramConfig, edge_words};
use crate::primitives::{ElementType, Number};

impl Gpu {
    /// Returns the number of values in each bin: all bins of the first column, then the bins of the next. Equals
    /// `numpy.histogram(values, edges)` for each column. `values` consists of whole rows of the configuration, and `edges`
    /// has one edge more than bins, such as the edges of [`even_edges`](crate::histogram::even_edges).
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for values of another type than the configuration's, [`Error::OutOfHostMemory`], and the
    /// errors of [`Self::prepare_histogram`] and [`Prepared::run`].
    pub fn histogram<N: Number>(
        &self,
        config: HistogramConfig,
        values: &[N],
        edges: &[f64],
    ) -> Result<Vec<u32>> {
        self.weighted_histogram::<N, u32>(config, values, &[], edges)
    }

    /// Returns the sum of the weights of the values in each bin, as [`Self::histogram`] their number, for a configuration with
    /// [`HistogramConfig::weighted`]: `numpy.histogram(values, edges, weights=weights)`, modulo 2^32. Weights are u32 or i32, one for
    /// each value.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for weights of another type, and the errors of [`Self::histogram`].
    pub fn weighted_histogram<N: Number, W: Number>(
        &self,
        config: HistogramConfig,
        values: &[N],
        weights: &[W],
        edges: &[f64],
    ) -> Result<Vec<W>> {
        check_type::<N>(config.element_type())?;
        let reason = "weights are u32 or i32: sums of floats depend on their order";
        refuse_if(![ElementType::U32, ElementType::I32].contains(&W::TYPE), reason)?;
        config.check(self.capabilities())?;
        let mut counts: Vec<W> = zeroed((config.counts_size() / 4) as usize)?;
        let [values, weights] = [bytemuck::cast_slice(values), bytemuck::cast_slice(weights)];
        self.prepare_histogram(config, values, weights, edges, bytemuck::cast_slice_mut(&mut counts))?
            .run()?;
        Ok(counts)
    }

    /// As [`Self::histogram`], of values that a configuration computes from `elements`; `data` is what the function reads
    /// besides, whole words, and `weights` are the weights of the elements, if the configuration has any.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it does not compute them, and the errors of [`Self::prepare_histogram`].
    ///
    /// # Safety
    /// `data` is what the function reads; addresses in it point to live memory of the device.
    pub unsafe fn histogram_computed<T: bytemuck::Pod>(
        &self,
        config: HistogramConfig,
        elements: &[T],
        weights: &[u32],
        edges: &[f64],
        data: &[u8],
    ) -> Result<Vec<u32>> {
        refuse_if(!config.is_computed(), "Gpu::histogram_computed takes a computed configuration")?;
        config.check(self.capabilities())?;
        let mut counts = zeroed((config.counts_size() / 4) as usize)?;
        let [elements, weights] = [bytemuck::cast_slice(elements), bytemuck::cast_slice(weights)];
        self.prepare_counts(config, [elements, weights, data], edges, &mut counts)?.run()?;
        Ok(counts)
    }

    /// Prepares a histogram of values given as bytes, into `counts`: creates the plan, and computes the size of the
    /// memory, before any is allocated. `weights` are empty if the configuration has none.
    ///
    /// # Errors
    /// [`Error::PartialElement`] or [`Error::RowLengthMismatch`] if the values are not whole rows, [`Error::ValueCountMismatch`] if there is not a weight for
    /// each of them, [`Error::RangeTooSmall`] if there are fewer counts than bins times columns, or fewer edges than bins and one;
    /// more are not read; and the errors of [`edge_words`] and [`HistogramPlan`](crate::histogram::HistogramPlan).
    pub fn prepare_histogram<'a>(
        &'a self,
        config: HistogramConfig,
        values: &'a [u8],
        weights: &'a [u8],
        edges: &[f64],
        counts: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        self.prepare_counts(config, [values, weights, &[]], edges, counts)
    }

    fn prepare_counts<'a>(
        &'a self,
        config: HistogramConfig,
        [values, weights, data]: [&'a [u8]; 3],
        edges: &[f64],
        counts: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        let (bins, columns) = (config.bins() as usize, config.column_count() as usize);
        config.check(self.capabilities())?;
        let Some(edges) = edges.get(..=bins) else {
            let (needed, got) = (8 * (bins as u64 + 1), size_of_val(edges) as u64);
            return Err(Error::RangeTooSmall { what: "the array of edges", needed, got });
        };
        let words = edge_words(config.element_type(), edges)?;
        // Later bins have no values.
        let possible_bins = words.len() / config.element_type().words() as usize - 1;
        let plan = self.declared(config.with_bins(possible_bins as u32))?;
        let value_size =
            if config.is_computed() { config.row_size() } else { config.element_type().size() as u64 };
        let count = row_count(values, config.row_size(), value_size)?;
        let (key_count, value_count) = (count * columns as u64, weights.len() as u64 / 4);
        if config.is_weighted() && (value_count != key_count || !weights.len().is_multiple_of(4)) {
            return Err(Error::ValueCountMismatch { key_count, value_count });
        }
        let counts = result_of(bytemuck::cast_slice_mut(counts), config.counts_size(), "the result")?;
        let given = [("source", values), ("weights", weights), ("functions_data", data)];
        let inputs = [&given[..], &[("edges", bytemuck::cast_slice(&words))]].concat();
        let slices = self.slices(plan, HistogramBuffers::default(), count, &inputs)?;
        counts.fill(0);
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            if count == 0 {
                return Ok(());
            }
            let edges = bytemuck::cast_slice(&words);
            let counted = slices.run(&[&given[..], &[("edges", edges)]].concat())?;
            if possible_bins == bins {
                return counted.read_back([("counts", counts)], on_error);
            }
            let possible = counted.read("counts", (4 * possible_bins * columns) as u64)?;
            for (counts, possible) in counts.chunks_mut(4 * bins).zip(possible.chunks(4 * possible_bins)) {
                counts[..possible.len()].copy_from_slice(possible);
            }
            Ok(())
        }))
    }
}
