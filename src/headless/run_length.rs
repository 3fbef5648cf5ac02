//! Run-length encoding and decoding on slices.

use super::{Gpu, GpuBuffer, Prepared, out_of_host_memory, range_of, scratch_range};
use crate::error::{Error, Result};
use crate::primitives::{Count, ElementType, Number};
use crate::run_length::{RunLengthBuffers, RunLengthConfig};

/// Runs of equal elements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunLengths {
    /// The value of each run, as 32-bit words in memory order; none of a configuration without values.
    pub values: Vec<u32>,
    /// The number of elements of each run.
    pub counts: Vec<u32>,
    /// The index of the first element of each run, if the configuration writes them.
    pub offsets: Vec<u32>,
}

impl RunLengths {
    /// The values as numbers.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if their words are not whole numbers of the type.
    pub fn values<N: Number>(&self) -> Result<Vec<N>> {
        let (value_count, columns) = (self.values.len() as u64, N::TYPE.words());
        if !value_count.is_multiple_of(columns.into()) {
            return Err(Error::RowLengthMismatch { value_count, columns });
        }
        Ok(bytemuck::pod_collect_to_vec(&self.values))
    }
}

fn check_type(config: &RunLengthConfig, got: ElementType) -> Result<()> {
    let expected = config.element_type();
    if expected == got { Ok(()) } else { Err(Error::ElementMismatch { expected, got }) }
}

impl Gpu {
    /// Encodes runs of equal elements.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for elements of another type than the configuration's, and those of
    /// [`Self::prepare_run_length_encode`] and [`Prepared::run`].
    pub fn run_length_encode<N: Number>(
        &self,
        config: RunLengthConfig,
        elements: &[N],
    ) -> Result<RunLengths> {
        check_type(&config, N::TYPE)?;
        let mut runs = RunLengths::default();
        self.prepare_run_length_encode(config, bytemuck::cast_slice(elements), &mut runs)?.run()?;
        Ok(runs)
    }

    /// Decodes runs: each of `values` as often as its count says; equals `np.repeat(values, counts)`.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for values of another type than the configuration's, [`Error::OutOfHostMemory`],
    /// [`Error::TooManyElements`] for more than 2^32 - 1 elements, and those of [`Self::prepare_run_length_decode`] and
    /// [`Prepared::run`].
    pub fn run_length_decode<N: Number>(&self, values: &[N], counts: &[u32]) -> Result<Vec<N>> {
        let mut elements = Vec::new();
        let config = RunLengthConfig::decode(N::TYPE);
        self.prepare_run_length_decode(config, bytemuck::cast_slice(values), counts, &mut elements)?.run()?;
        Ok(bytemuck::pod_collect_to_vec(&elements))
    }

    /// Prepares [`Self::run_length_encode`] of elements given as words, into `runs`: creates the plan, and computes the size
    /// of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the configuration decodes, [`Error::RowLengthMismatch`], in words, if the elements are not
    /// whole, [`Error::OutOfHostMemory`], and the errors of [`RunLengthPlan`](crate::run_length::RunLengthPlan).
    pub fn prepare_run_length_encode<'a>(
        &'a self,
        config: RunLengthConfig,
        elements: &'a [u32],
        runs: &'a mut RunLengths,
    ) -> Result<Prepared<'a>> {
        if config.is_decoding() {
            return Err(Error::Unsupported {
                reason: "the configuration decodes runs; make one that encodes",
            });
        }
        let count = whole(elements, config.element_type())?;
        let plan = self.plan(config)?;
        plan.check_count(count)?;
        let size = size_of_val(elements) as u64;
        let sizes = [
            if config.has_values() { size } else { 0 },
            count * 4,
            if config.has_offsets() { count * 4 } else { 0 },
        ];
        let scratch_size = plan.scratch_requirements(count).size;
        let device_size = size + sizes.iter().sum::<u64>() + 4 + scratch_size;
        Ok(Prepared::new(device_size, move |_| {
            let source = self.filled(elements)?;
            let [values, counts, offsets] = sizes.map(|size| self.allocate_scratch(size));
            let (values, counts, offsets) = (values?, counts?, offsets?);
            let run_count = self.allocate(4)?;
            let scratch = self.allocate_scratch(scratch_size)?;
            let (source, of_count) = (range_of(&source), run_count.range().addresses());
            let buffers = RunLengthBuffers::new(
                source,
                range_of(&values),
                range_of(&counts),
                of_count,
                scratch_range(&scratch),
            )
            .offsets(range_of(&offsets));
            // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
            unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
            let run_count = self.read(&run_count, 1)?[0] as usize;
            let read = |buffer: &Option<GpuBuffer>, word_count| match buffer {
                Some(buffer) => self.read(buffer, word_count),
                None => Ok(Vec::new()),
            };
            let words = config.element_type().words() as usize;
            *runs = RunLengths {
                values: read(&values, run_count * words)?,
                counts: read(&counts, run_count)?,
                offsets: read(&offsets, run_count)?,
            };
            Ok(())
        }))
    }

    /// Prepares [`Self::run_length_decode`] of values given as words, into `elements`, as words: creates the plan, and
    /// computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the configuration encodes, [`Error::RowLengthMismatch`], in words, if the values are not
    /// whole, [`Error::ValueCountMismatch`] unless there is a count for each, [`Error::TooManyElements`] for more than
    /// 2^32 - 1 elements, and the errors of [`RunLengthPlan`](crate::run_length::RunLengthPlan).
    pub fn prepare_run_length_decode<'a>(
        &'a self,
        config: RunLengthConfig,
        values: &'a [u32],
        counts: &'a [u32],
        elements: &'a mut Vec<u32>,
    ) -> Result<Prepared<'a>> {
        if !config.is_decoding() {
            return Err(Error::Unsupported {
                reason: "the configuration encodes runs; make one that decodes",
            });
        }
        let run_count = counts.len() as u64;
        if config.has_values() {
            let value_count = whole(values, config.element_type())?;
            if value_count != run_count {
                return Err(Error::ValueCountMismatch { key_count: run_count, value_count });
            }
        }
        let plan = self.plan(config)?;
        plan.check_count(run_count)?;
        let count = counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        let max = u64::from(u32::MAX);
        if count > max {
            return Err(Error::TooManyElements { count, max, what: "a decoding of runs" });
        }
        let values = if config.has_values() { values } else { &[] };
        let size = count * config.element_size();
        let scratch_size = plan.scratch_requirements(run_count).size;
        let read_size = [values, counts].map(|words| size_of_val(words) as u64).iter().sum::<u64>();
        Ok(Prepared::new(read_size + size + 4 + scratch_size, move |_| {
            let [values, counts] = [values, counts].map(|words| self.filled(words));
            let (values, counts) = (values?, counts?);
            let decoded = self.allocate_scratch(size)?;
            let element_count = self.allocate(4)?;
            let scratch = self.allocate_scratch(scratch_size)?;
            let of_count = element_count.range().addresses();
            let buffers = RunLengthBuffers::new(
                range_of(&decoded),
                range_of(&values),
                range_of(&counts),
                of_count,
                scratch_range(&scratch),
            );
            // SAFETY: as in `prepare_run_length_encode`.
            unsafe { self.submit(|recorder| plan.record(recorder, &buffers, Count::Direct(run_count))) }?;
            let word_count = usize::try_from(size / 4).map_err(|_| out_of_host_memory(size))?;
            *elements = match &decoded {
                Some(decoded) => self.read(decoded, word_count)?,
                None => Vec::new(),
            };
            Ok(())
        }))
    }
}

/// The number of elements in words.
fn whole(words: &[u32], element: ElementType) -> Result<u64> {
    let (value_count, columns) = (words.len() as u64, element.words());
    if value_count.is_multiple_of(columns.into()) {
        Ok(value_count / u64::from(columns))
    } else {
        Err(Error::RowLengthMismatch { value_count, columns })
    }
}
