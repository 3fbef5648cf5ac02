//! Run-length encoding and decoding on slices.

use super::slices::{check_type, element_count};
use super::{Gpu, Prepared, numbers};
use crate::error::{Error, Result, at_most, refuse_if};
use crate::primitives::Number;
use crate::run_length::{RunLengthBuffers, RunLengthConfig};

/// Runs of equal elements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunLengths {
    /// The value of each run, as bytes in memory order; none of a configuration without values.
    pub values: Vec<u8>,
    /// The number of elements of each run.
    pub counts: Vec<u32>,
    /// The index of the first element of each run, if the configuration writes them.
    pub offsets: Vec<u32>,
}

impl RunLengths {
    /// The values as numbers.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if their bytes are not whole numbers of the type; [`Error::OutOfHostMemory`].
    pub fn values<N: Number>(&self) -> Result<Vec<N>> {
        numbers(&self.values)
    }
}

impl Gpu {
    /// Encodes runs of equal elements.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for elements of another type than the configuration's, and the errors of
    /// [`Self::prepare_run_length_encode`] and [`Prepared::run`].
    pub fn run_length_encode<N: Number>(
        &self,
        config: RunLengthConfig,
        elements: &[N],
    ) -> Result<RunLengths> {
        check_type::<N>(config.element_type())?;
        let mut runs = RunLengths::default();
        self.prepare_run_length_encode(config, bytemuck::cast_slice(elements), &mut runs)?.run()?;
        Ok(runs)
    }

    /// Decodes runs: each of `values` as often as its count says; equals `np.repeat(values, counts)`.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] for values of another type than the configuration's, [`Error::OutOfHostMemory`],
    /// [`Error::TooManyElements`] for more than 2^32 - 1 elements, and the errors of [`Self::prepare_run_length_decode`] and
    /// [`Prepared::run`].
    pub fn run_length_decode<N: Number>(&self, values: &[N], counts: &[u32]) -> Result<Vec<N>> {
        let mut elements = Vec::new();
        let config = RunLengthConfig::decode(N::TYPE);
        self.prepare_run_length_decode(config, bytemuck::cast_slice(values), counts, &mut elements)?.run()?;
        Ok(bytemuck::pod_collect_to_vec(&elements))
    }

    /// Prepares [`Self::run_length_encode`] of elements given as bytes, into `runs`: creates the plan, and computes the size
    /// of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the configuration decodes, [`Error::PartialElement`] if the elements are not
    /// whole, [`Error::OutOfHostMemory`], and the errors of [`RunLengthPlan`](crate::run_length::RunLengthPlan).
    pub fn prepare_run_length_encode<'a>(
        &'a self,
        config: RunLengthConfig,
        elements: &'a [u8],
        runs: &'a mut RunLengths,
    ) -> Result<Prepared<'a>> {
        refuse_if(config.is_decoding(), "the configuration decodes runs; make one that encodes")?;
        let reason =
            "runs on slices have counts of 32 bits; record a plan with large counts, or leave them out";
        refuse_if(config.index_size() > 4, reason)?;
        let count = element_count(elements, config.element_size())?;
        let inputs = [("elements", elements)];
        let slices = self.slices(self.declared(config)?, RunLengthBuffers::default(), count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |_| {
            let encoded = slices.run(&inputs)?;
            let run_count = u64::from(encoded.read::<u32>("result_count", 1)?[0]);
            *runs = RunLengths {
                values: encoded.read("values", run_count * config.element_size())?,
                counts: encoded.read("counts", run_count)?,
                offsets: encoded.read("offsets", run_count)?,
            };
            Ok(())
        }))
    }

    /// Prepares [`Self::run_length_decode`] of values given as bytes, into `elements`, as bytes: creates the plan, and
    /// computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the configuration encodes, [`Error::PartialElement`] if the values are not
    /// whole, [`Error::ValueCountMismatch`] unless there is a count for each, [`Error::TooManyElements`] for more than
    /// 2^32 - 1 elements, and the errors of [`RunLengthPlan`](crate::run_length::RunLengthPlan).
    pub fn prepare_run_length_decode<'a>(
        &'a self,
        config: RunLengthConfig,
        values: &'a [u8],
        counts: &'a [u32],
        elements: &'a mut Vec<u8>,
    ) -> Result<Prepared<'a>> {
        refuse_if(!config.is_decoding(), "the configuration encodes runs; make one that decodes")?;
        let run_count = counts.len() as u64;
        if config.has_values() {
            let value_count = element_count(values, config.element_size())?;
            if value_count != run_count {
                return Err(Error::ValueCountMismatch { key_count: run_count, value_count });
            }
        }
        let plan = self.declared(config)?;
        plan.check_count(run_count)?;
        let count = counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        at_most(count, u32::MAX.into(), "a decoding of runs")?;
        let size = count * config.element_size();
        let mut buffers = RunLengthBuffers::default();
        buffers.elements.size = size;
        let inputs = [("values", values), ("counts", bytemuck::cast_slice(counts))];
        let slices = self.slices(plan, buffers, run_count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |_| {
            let decoded = slices.run(&inputs)?;
            *elements = decoded.read("elements", size)?;
            Ok(())
        }))
    }
}
