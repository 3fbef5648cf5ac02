//! Copies on the device: the roofline, the input of each run, and empty caches.

use std::cell::RefCell;
use std::time::Instant;

use super::steadiness::Clock;
use crate::harness::comparer::Comparer;
use subsweep::device::{BufferRange, Device, Pipeline, PipelineOptions, Recorder};
use subsweep::error::{Error, Result};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::internal::push;
use subsweep::kernels;

/// The copy kernel, 16 bytes an access.
pub struct CopyKernel {
    /// By quads, and by words for ranges that are not aligned to quads.
    pipelines: [Pipeline; 2],
    workgroup_size: u32,
}

/// Copies by the kernel: the roofline of every benchmark.
pub struct CopyRoof<'g> {
    gpu: &'g Gpu,
    /// The kernel that copies.
    pub kernel: CopyKernel,
    /// Source and destination of copies that warm the clock.
    warm_up: [GpuBuffer; 2],
    pub(super) comparer: Comparer<'g>,
    pub(super) clock: RefCell<Clock>,
    /// Since when the clock's time counts.
    pub(super) opened: Instant,
}

impl CopyKernel {
    const UNITS_PER_INVOCATION: u32 = 4;

    /// Compiles the kernel.
    ///
    /// # Errors
    /// Errors of [`Pipeline::new`].
    pub fn new(device: &Device) -> Result<Self> {
        let workgroup_size = device.capabilities().max_workgroup_invocations.min(256);
        let pipeline = |by_quads: bool| {
            let constants =
                [("UNITS_PER_INVOCATION", Self::UNITS_PER_INVOCATION), ("QUAD_ACCESS", by_quads.into())];
            let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
            Pipeline::new(device, kernels::PROBE_COPY.module(&[]), options)
        };
        Ok(Self { pipelines: [pipeline(true)?, pipeline(false)?], workgroup_size })
    }

    /// Records a copy of the words of `source` to the start of `destination` by the kernel.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], and the errors of [`Recorder::dispatch`].
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        source: BufferRange,
        destination: BufferRange,
    ) -> Result<()> {
        let by_quads = source.address.is_multiple_of(16) && destination.address.is_multiple_of(16);
        let word_count = source.size / 4;
        let push = push::ProbeCopy {
            source: source.addresses(),
            destination: destination.slice(0, source.size).addresses(),
            word_count: u32::try_from(word_count).map_err(|_| Error::TooManyElements {
                count: word_count,
                max: u32::MAX.into(),
                what: "one copy, in words",
            })?,
        };
        let (pipeline, unit_words) = if by_quads { (0, 4) } else { (1, 1) };
        let tile_units = u64::from(self.workgroup_size * Self::UNITS_PER_INVOCATION);
        let workgroup_count = (word_count / unit_words).div_ceil(tile_units).max(1);
        recorder.dispatch(&self.pipelines[pipeline], &push, workgroup_count)
    }
}

impl<'g> CopyRoof<'g> {
    /// Compiles the kernel.
    ///
    /// # Errors
    /// Errors of [`CopyKernel::new`] and [`Gpu::allocate`].
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let is_cpu = gpu.capabilities().is_cpu();
        let warm_up_size = if is_cpu { 1 << 20 } else { 64 << 20 };
        let warm_up = [gpu.allocate(warm_up_size)?, gpu.allocate(warm_up_size)?];
        // First writes may allocate memory.
        let fill = |recorder: &mut Recorder<'_>| {
            warm_up.iter().for_each(|buffer| recorder.fill(buffer.range(), 0));
            Ok(())
        };
        // SAFETY: the memory is of this device, and lives until `submit` has waited.
        unsafe { gpu.submit(fill) }?;
        Ok(Self {
            gpu,
            kernel: CopyKernel::new(gpu.device())?,
            warm_up,
            comparer: Comparer::new(gpu)?,
            clock: RefCell::new(Clock::new(!is_cpu)),
            opened: Instant::now(),
        })
    }

    pub(super) fn gpu(&self) -> &'g Gpu {
        self.gpu
    }

    /// Times `run_count` copies in one submission, nanoseconds each.
    ///
    /// # Errors
    /// Errors of [`CopyKernel::record`] and [`Gpu::submit`].
    ///
    /// # Safety
    /// As for [`Gpu::submit`]: both ranges are of this device, live until this returns, and are used by nothing else
    /// meanwhile.
    pub unsafe fn time(
        &self,
        source: BufferRange,
        destination: BufferRange,
        run_count: u32,
    ) -> Result<Vec<f64>> {
        let record = |recorder: &mut Recorder<'_>| self.kernel.record(recorder, source, destination);
        // SAFETY: as the caller promises.
        unsafe { self.gpu.submit_runs(run_count, |_| Ok(false), record) }
    }

    /// Likewise with `vkCmdCopyBuffer`.
    fn time_transfers(
        &self,
        source: BufferRange,
        destination: BufferRange,
        run_count: u32,
    ) -> Result<Vec<f64>> {
        let record = |recorder: &mut Recorder<'_>| {
            recorder.copy(source, destination);
            Ok(())
        };
        // SAFETY: the memory is of this device, lives until this has waited, and has no other use.
        unsafe { self.gpu.submit_runs(run_count, |_| Ok(false), record) }
    }

    /// Times `run_count` copies that warm the clock, nanoseconds each.
    ///
    /// # Errors
    /// Errors of [`Self::time`].
    pub fn time_warm_up(&self, run_count: u32) -> Result<Vec<f64>> {
        let [source, destination] = &self.warm_up;
        // SAFETY: the memory is this value's, and has no other use.
        unsafe { self.time(source.range(), destination.range(), run_count) }
    }
}

/// Copies of as many bytes as the elements of a case.
pub(super) struct Copies {
    source: GpuBuffer,
    destination: GpuBuffer,
    /// Nanoseconds, two for each block.
    pub kernel_ns: Vec<f64>,
    /// Of `vkCmdCopyBuffer`, nanoseconds, one for each block.
    pub transfer_ns: Vec<f64>,
}

impl Copies {
    /// Copies of `elements`, in memory of their own.
    pub fn new(roof: &CopyRoof<'_>, elements: BufferRange) -> Result<Self> {
        let gpu = roof.gpu;
        let [source, destination] = [gpu.allocate(elements.size)?, gpu.allocate(elements.size)?];
        // First writes may allocate memory, and first runs take longer.
        // SAFETY: the memory is of this device, lives until this has waited, and has no other use.
        unsafe {
            roof.time(elements, source.range(), 1)?;
            roof.time(source.range(), destination.range(), 1)?;
        }
        roof.time_transfers(source.range(), destination.range(), 1)?;
        Ok(Self { source, destination, kernel_ns: Vec::new(), transfer_ns: Vec::new() })
    }

    /// Times copies in one submission, nanoseconds each, with empty caches if there is a `flush`.
    pub fn time(&self, roof: &CopyRoof<'_>, flush: Option<&CacheFlush>, run_count: u32) -> Result<Vec<f64>> {
        let prepare = |recorder: &mut Recorder<'_>| {
            flush.map_or(Ok(()), |flush| flush.record(&roof.kernel, recorder))?;
            Ok(false)
        };
        let record = |recorder: &mut Recorder<'_>| {
            roof.kernel.record(recorder, self.source.range(), self.destination.range())
        };
        // SAFETY: the memory is of this device, lives until this has waited, and has no other use.
        unsafe { roof.gpu.submit_runs(run_count, prepare, record) }
    }

    /// Adds a sample of `vkCmdCopyBuffer`.
    pub fn sample_transfer(&mut self, roof: &CopyRoof<'_>, run_count: u32) -> Result<()> {
        let mut times = roof.time_transfers(self.source.range(), self.destination.range(), run_count)?;
        self.transfer_ns.push(super::statistics::median(&mut times));
        Ok(())
    }
}

/// A range larger than the caches of a device, whose copies empty them.
pub struct CacheFlush {
    memory: GpuBuffer,
}

impl CacheFlush {
    /// Twice the largest cache of a GPU on the market (256 MiB), as far as one allocation may be.
    const SIZE: u64 = 512 << 20;
    /// Of a CPU driver, which copies it in a tenth of a second.
    const SIZE_ON_CPU: u64 = 128 << 20;

    /// Allocates the range.
    ///
    /// # Errors
    /// Errors of [`Gpu::allocate`].
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let size = if gpu.capabilities().is_cpu() { Self::SIZE_ON_CPU } else { Self::SIZE };
        let size = size.min(gpu.capabilities().max_allocation_size) / 32 * 32;
        Ok(Self { memory: gpu.allocate(size)? })
    }

    /// Records a copy of one half to the other.
    ///
    /// # Errors
    /// Errors of [`CopyKernel::record`].
    pub fn record(&self, kernel: &CopyKernel, recorder: &mut Recorder<'_>) -> Result<()> {
        let range = self.memory.range();
        let half = range.size / 2;
        kernel.record(recorder, range.slice(0, half), range.slice(half, half))
    }
}
