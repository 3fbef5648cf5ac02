//! Top-k on slices.

use super::{Gpu, Prepared, scratch_range, zeroed};
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
}

impl Gpu {
    /// Returns the keys that the configuration selects of each row of `keys`, and their columns.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, and the errors of
    /// [`Self::prepare_top_k`] and [`Prepared::run`].
    pub fn top_k<N: Number>(&self, config: TopKConfig, keys: &[N]) -> Result<(Vec<N>, Vec<u32>)> {
        if N::TYPE != config.element_type() {
            return Err(Error::ElementMismatch { expected: config.element_type(), got: N::TYPE });
        }
        let mut top = TopKWords::default();
        self.prepare_top_k(config, bytemuck::cast_slice(keys), &mut top)?.run()?;
        let mut keys = zeroed(top.keys.len() / N::TYPE.words() as usize)?;
        bytemuck::cast_slice_mut(&mut keys).copy_from_slice(&top.keys);
        Ok((keys, top.indices))
    }

    /// Prepares [`Self::top_k`] of `words`, keys as 32-bit words in memory order, into `top`: creates the plan, and computes
    /// the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::RowLengthMismatch`] if `words` are not whole rows, [`Error::OutOfHostMemory`], and the errors of
    /// [`TopKPlan`](crate::top_k::TopKPlan).
    pub fn prepare_top_k<'a>(
        &'a self,
        config: TopKConfig,
        words: &'a [u32],
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
        let sizes = [config.keys_size(), config.indices_size()].map(|size| count.saturating_mul(size));
        let scratch_size = plan.scratch_requirements(count).size;
        let device_size =
            [source_size, scratch_size].iter().chain(&sizes).copied().fold(0, u64::saturating_add);
        Ok(Prepared::new(device_size, move |on_error| {
            let [keys_size, indices_size] = sizes;
            let mut results = [zeroed((keys_size / 4) as usize)?, zeroed((indices_size / 4) as usize)?];
            if count > 0 {
                let source = self.allocate(source_size)?;
                let [keys, indices] =
                    [self.allocate_scratch(keys_size)?, self.allocate_scratch(indices_size)?];
                let scratch = self.allocate_scratch(scratch_size)?;
                self.upload(&source, 0, words)?;
                let [to_keys, to_indices] = [&keys, &indices].map(|buffer| scratch_range(buffer).addresses());
                let source = source.range().addresses();
                let buffers = TopKBuffers::new(source, to_keys, to_indices, scratch_range(&scratch));
                // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
                unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
                for (buffer, result) in [&keys, &indices].into_iter().zip(&mut results) {
                    if let Some(buffer) = buffer {
                        self.read_back(&mut [(buffer, result)], on_error)?;
                    }
                }
            }
            [top.keys, top.indices] = results;
            Ok(())
        }))
    }
}
