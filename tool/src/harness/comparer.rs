//! Comparison of arrays on the device.

use subsweep::device::{Access, Barrier, BufferRange, Pipeline, PipelineOptions, Recorder};
use subsweep::error::{Error, Result};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::internal::push;
use subsweep::kernels;

/// What an array must be equal to.
#[derive(Debug, Clone, Copy)]
pub(in crate::harness) enum Reference {
    /// An array of as many words.
    Array(BufferRange),
    /// One word, repeated.
    Word(u32),
}

/// Compares arrays on the device: nothing but a word for each is read back.
pub(in crate::harness) struct Comparer<'g> {
    gpu: &'g Gpu,
    pipeline: Pipeline,
    tile_items: u64,
    /// The index of the first difference of each array.
    differences: GpuBuffer,
}

/// The index of no difference.
const NONE: u32 = u32::MAX;

impl<'g> Comparer<'g> {
    const ITEMS_PER_INVOCATION: u32 = 16;
    /// Comparisons of one submission.
    const MAX_COUNT: usize = 256;
    /// The findings are cleared before the comparisons.
    const CLEARED: Barrier =
        Barrier { name: "cleared", source: Access::TRANSFER_WRITE, destination: Access::COMPUTE };

    /// Compiles the kernel.
    ///
    /// # Errors
    /// Errors of [`Pipeline::new`] and [`Gpu::allocate`].
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let workgroup_size = gpu.capabilities().max_workgroup_invocations.min(256);
        let constants = [("ITEMS_PER_INVOCATION", Self::ITEMS_PER_INVOCATION)];
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
        Ok(Self {
            gpu,
            pipeline: Pipeline::new(gpu.device(), kernels::PROBE_COMPARE.module(&[]), options)?,
            tile_items: u64::from(workgroup_size * Self::ITEMS_PER_INVOCATION),
            differences: gpu.allocate(4 * Self::MAX_COUNT as u64)?,
        })
    }

    /// The index of the first difference in an array that does not equal its reference.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], and the errors of [`Gpu::submit`] and [`Gpu::read`].
    pub fn first_difference(&self, arrays: &[(BufferRange, Reference)]) -> Result<Option<u32>> {
        for arrays in arrays.chunks(Self::MAX_COUNT) {
            // SAFETY: the memory is of this device, lives until `submit` has waited, and has no other use.
            unsafe { self.gpu.submit(|recorder| self.record(recorder, arrays)) }?;
            let found = self.gpu.read(&self.differences, arrays.len())?;
            if let Some(first) = found.into_iter().find(|&first| first != NONE) {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    fn record(&self, recorder: &mut Recorder<'_>, arrays: &[(BufferRange, Reference)]) -> Result<()> {
        let differences = self.differences.range();
        recorder.fill(differences, NONE);
        recorder.barrier(Self::CLEARED);
        for (index, (array, reference)) in arrays.iter().enumerate() {
            let word_count = array.size / 4;
            if word_count == 0 {
                continue;
            }
            let (expected, value) = match reference {
                Reference::Array(expected) => (expected.addresses(), 0),
                Reference::Word(word) => (BufferRange::NONE.addresses(), *word),
            };
            let push = push::ProbeCompare {
                words: array.addresses(),
                expected,
                first_difference: differences.slice(4 * index as u64, 4).addresses(),
                word_count: u32::try_from(word_count).map_err(|_| Error::TooManyElements {
                    count: word_count,
                    max: u32::MAX.into(),
                    what: "one comparison, in words",
                })?,
                value,
            };
            recorder.dispatch(&self.pipeline, &push, word_count.div_ceil(self.tile_items))?;
        }
        Ok(())
    }
}
