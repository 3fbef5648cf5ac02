//! Measuring: GPU time of verified work, beside a copy of the same bytes in the same run.

use std::time::{Duration, Instant};

use super::cases::Case;
use super::layout::Layout;
use super::report::{Measurement, Summary};
use super::verify::Outcome;
use super::workload::Workload;
use crate::error::{Error, Result};
use crate::headless::{Gpu, GpuBuffer};
use crate::kernels;
use crate::vk::{AddressRange, BufferRange, Pipeline, PipelineOptions, Recorder, push_constants};

/// When a case has been measured enough.
#[derive(Debug, Clone, Copy)]
pub struct BenchOptions {
    /// Runs before the first sample.
    pub warm_up_count: u32,
    /// Samples to take.
    pub sample_count: u32,
    /// Time after which a case makes do with fewer, but never fewer than 3.
    pub budget: Duration,
}

push_constants! {
    struct CopyPush for [PROBE_COPY] {
        source: AddressRange,
        destination: AddressRange,
        quad_count: u32,
    }
}

/// The roof: a kernel that copies by 16 bytes, and does nothing else.
pub struct CopyRoof<'g> {
    gpu: &'g Gpu,
    pipeline: Pipeline,
    tile_quads: u32,
}

impl<'g> CopyRoof<'g> {
    const QUADS_PER_INVOCATION: u32 = 4;

    /// Compiles the kernel.
    ///
    /// # Errors
    /// Those of [`Pipeline::new`].
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let workgroup_size = gpu.capabilities().max_workgroup_invocations.min(256);
        let constants = [("QUADS_PER_INVOCATION", Self::QUADS_PER_INVOCATION)];
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
        let pipeline = Pipeline::new(gpu.device(), &kernels::PROBE_COPY, options)?;
        Ok(Self { gpu, pipeline, tile_quads: workgroup_size * Self::QUADS_PER_INVOCATION })
    }

    /// Copies the whole quads of `source` to the start of `memory`, and tells the nanoseconds that it took.
    fn run(&self, source: BufferRange, memory: &GpuBuffer) -> Result<f64> {
        let size = source.size / 16 * 16;
        let push = CopyPush {
            source: source.slice(0, size).addresses(),
            destination: memory.range().slice(0, size).addresses(),
            quad_count: u32::try_from(size / 16).map_err(|_| Error::TooManyElements {
                count: size / 16,
                max: u32::MAX.into(),
                what: "one copy, in quads",
            })?,
        };
        let gpu = self.gpu;
        time(|| {
            let workgroup_count = push.quad_count.div_ceil(self.tile_quads).into();
            let record =
                |recorder: &mut Recorder<'_>| recorder.dispatch(&self.pipeline, &push, workgroup_count);
            // SAFETY: the memory is this device's, lives until `submit` has waited, and is used by nothing else.
            unsafe { gpu.submit(record) }
        })
    }
}

/// GPU time where the device tells it, else wall-clock time.
fn time(run: impl FnOnce() -> Result<Option<f64>>) -> Result<f64> {
    let start = Instant::now();
    let gpu_ns = run()?;
    Ok(gpu_ns.unwrap_or_else(|| start.elapsed().as_nanos() as f64))
}

/// Verifies a case, then measures it, each sample beside a copy of as many bytes.
///
/// # Errors
/// Those of the plan and of Vulkan; `Ok(Err(outcome))` says why nothing was measured: the result was wrong, or the
/// clock too coarse.
pub fn bench_case(
    roof: &CopyRoof<'_>,
    case: &Case,
    options: &BenchOptions,
) -> Result<Result<Measurement, Outcome>> {
    let workload = Workload::new(roof.gpu, case, Layout::Guarded)?;
    let size = case.count * case.element_size();
    let copied = roof.gpu.allocate(size)?;
    workload.restore()?;
    workload.run()?;
    if let Some(mismatch) = workload.check()? {
        return Ok(Err(Outcome::Fail(mismatch.to_string())));
    }

    for _ in 0..options.warm_up_count {
        workload.restore()?;
        workload.run()?;
        roof.run(workload.pristine(), &copied)?;
    }
    let start = Instant::now();
    let (mut samples_ns, mut copy_samples_ns) = (Vec::new(), Vec::new());
    while samples_ns.len() < options.sample_count as usize
        && (samples_ns.len() < 3 || start.elapsed() < options.budget)
    {
        workload.restore()?;
        samples_ns.push(time(|| workload.run())?);
        copy_samples_ns.push(roof.run(workload.pristine(), &copied)?);
    }
    // The last run was measured; it must have been right as well.
    if let Some(mismatch) = workload.check()? {
        return Ok(Err(Outcome::Fail(mismatch.to_string())));
    }
    let (time, copy) = (Summary::of(&samples_ns), Summary::of(&copy_samples_ns));
    if time.median_ns == 0.0 || copy.median_ns == 0.0 {
        return Ok(Err(Outcome::NotSupported(
            "the device's clock is too coarse for so little work".to_owned(),
        )));
    }
    let look_back = workload.look_back()?;
    let seconds = time.median_ns / 1e9;
    Ok(Ok(Measurement {
        id: case.id(),
        policy: workload.policy(),
        element_count: case.count,
        element_size: case.element_size(),
        traffic_size: workload.traffic_size(),
        elements_per_second: case.count as f64 / seconds,
        bytes_per_second: workload.traffic_size() as f64 / seconds,
        copy_percent: 100.0 * copy.median_ns / time.median_ns,
        copy_bytes_per_second: 2.0 * size as f64 / (copy.median_ns / 1e9),
        time,
        copy,
        samples_ns,
        copy_samples_ns,
        recorded: Some(workload.recorded().into()),
        look_back,
    }))
}
