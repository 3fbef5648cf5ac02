//! Histogram on slices.

use super::{Gpu, Prepared, zeroed};
use crate::error::{Error, Result};
use crate::histogram::{HistogramBuffers, HistogramConfig, edge_words};
use crate::primitives::Number;

impl Gpu {
    /// Returns the number of values in each bin: all bins of the first column, then those of the next. Equals
    /// `numpy.histogram(values, edges)` for each column. `values` consists of whole rows of the configuration, and `edges`
    /// has one edge more than bins, such as those of [`even_edges`](crate::histogram::even_edges).
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
        if N::TYPE != config.element_type() {
            return Err(Error::ElementMismatch { expected: config.element_type(), got: N::TYPE });
        }
        config.check()?;
        let mut counts = zeroed((config.counts_size() / 4) as usize)?;
        self.prepare_histogram(config, bytemuck::cast_slice(values), edges, &mut counts)?.run()?;
        Ok(counts)
    }

    /// Prepares [`Self::histogram`] of values given as words, into `counts`: creates the plan, and computes the size of the
    /// memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if the values are not whole rows, [`Error::RangeTooSmall`] if there are fewer counts
    /// than bins times columns, or fewer edges than bins and one; more are not read; and the errors of
    /// [`edge_words`] and [`HistogramPlan`](crate::histogram::HistogramPlan).
    pub fn prepare_histogram<'a>(
        &'a self,
        config: HistogramConfig,
        values: &'a [u32],
        edges: &[f64],
        counts: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        let (bins, columns) = (config.bins() as usize, config.column_count() as usize);
        let mismatch = |what, needed: usize, got: usize| Error::RangeTooSmall {
            what,
            needed: needed as u64,
            got: got as u64,
        };
        config.check()?;
        let Some(edges) = edges.get(..=bins) else {
            return Err(mismatch("the array of edges", 8 * (bins + 1), size_of_val(edges)));
        };
        let words = edge_words(config.element_type(), edges)?;
        // Later bins have no values.
        let possible_bins = words.len() - 1;
        let plan = self.plan(config.with_bins(possible_bins as u32))?;
        let value_count = values.len() as u64;
        if !value_count.is_multiple_of(columns as u64) {
            return Err(Error::RowLengthMismatch { value_count, columns: config.column_count() });
        }
        let count = value_count / columns as u64;
        plan.check_count(count)?;
        let got = size_of_val(counts);
        let counts =
            counts.get_mut(..bins * columns).ok_or(mismatch("the result", 4 * bins * columns, got))?;
        counts.fill(0);
        let [values_size, edges_size] = [values, &words].map(|words| size_of_val(words) as u64);
        let counts_size = plan.config().counts_size();
        let device_size = values_size + edges_size + counts_size;
        Ok(Prepared::new(device_size, move |on_error| {
            if count == 0 {
                return Ok(());
            }
            let source = self.allocate(values_size)?;
            let edges = self.allocate(edges_size)?;
            let counted = self.allocate(counts_size)?;
            self.upload(&source, 0, values)?;
            self.upload(&edges, 0, &words)?;
            let [source, edges] = [&source, &edges].map(|buffer| buffer.range().addresses());
            let buffers = HistogramBuffers::new(source, edges, counted.range().addresses());
            // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
            unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
            if possible_bins == bins {
                return self.read_back(&mut [(&counted, counts)], on_error);
            }
            let mut possible = zeroed(possible_bins * columns)?;
            self.read_back(&mut [(&counted, &mut possible)], on_error)?;
            for (counts, possible) in counts.chunks_mut(bins).zip(possible.chunks(possible_bins)) {
                counts[..possible_bins].copy_from_slice(possible);
            }
            Ok(())
        }))
    }
}
