//! GPU time of runs that stand in one submission, and of a device that is awake.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use ash::vk;
use subsweep::device::{Access, Barrier, Recorder};
use subsweep::harness::CopyRoof;
use subsweep::headless::{Gpu, GpuBuffer};

/// Most runs of one submission.
pub const MAX_RUNS: u32 = 32;

/// Orders whatever a run or a restore does before whatever follows.
const BETWEEN: Barrier = Barrier {
    name: "between runs",
    source: Access::COMPUTE.and(Access::TRANSFER_WRITE),
    destination: Access::COMPUTE.and(Access::TRANSFER).and(Access::INDIRECT_READ),
};

/// Timestamps around the runs of a submission.
pub struct Stamps<'g> {
    gpu: &'g Gpu,
    pool: vk::QueryPool,
}

impl<'g> Stamps<'g> {
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        ensure!(gpu.has_timestamps(), "the queue of {} has no timestamps", gpu.identity().name);
        let info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2 * MAX_RUNS);
        // SAFETY: the device lives as long as the pool.
        let pool = unsafe { gpu.device().raw().create_query_pool(&info, None) }?;
        Ok(Self { gpu, pool })
    }

    /// The times of `run_count` runs: restore, barrier, timestamp, run, barrier, timestamp, and so on.
    ///
    /// # Safety
    /// That of [`Gpu::submit`], for what `restore` and `run` record.
    pub unsafe fn time(
        &self,
        run_count: u32,
        restore: impl Fn(&mut Recorder<'_>) -> subsweep::Result<()>,
        run: impl Fn(&mut Recorder<'_>) -> subsweep::Result<()>,
    ) -> Result<Vec<Duration>> {
        let raw = self.gpu.device().raw();
        let count = run_count.min(MAX_RUNS);
        let stamp = |recorder: &Recorder<'_>, query| {
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            // SAFETY: the command buffer is recording, and the pool has the query, which was reset in the same work.
            unsafe { raw.cmd_write_timestamp(recorder.command_buffer(), stage, self.pool, query) };
        };
        let record = |recorder: &mut Recorder<'_>| {
            // SAFETY: as above; no other work uses the pool.
            unsafe { raw.cmd_reset_query_pool(recorder.command_buffer(), self.pool, 0, 2 * count) };
            for index in 0..count {
                restore(recorder)?;
                recorder.barrier(BETWEEN);
                stamp(recorder, 2 * index);
                run(recorder)?;
                recorder.barrier(BETWEEN);
                stamp(recorder, 2 * index + 1);
            }
            Ok(())
        };
        // SAFETY: as the caller promises; the pool outlives the work.
        unsafe { self.gpu.submit(record) }?;
        let mut ticks = vec![0_u64; 2 * count as usize];
        // SAFETY: the work has completed, and wrote all these timestamps.
        unsafe { raw.get_query_pool_results(self.pool, 0, &mut ticks, vk::QueryResultFlags::TYPE_64) }?;
        let period_ns = f64::from(self.gpu.capabilities().timestamp_period_ns);
        Ok(durations(&ticks, self.gpu.timestamp_valid_bits(), period_ns))
    }
}

impl Drop for Stamps<'_> {
    fn drop(&mut self) {
        // SAFETY: every submission has been waited for.
        unsafe { self.gpu.device().raw().destroy_query_pool(self.pool, None) };
    }
}

/// The times between pairs of timestamps, in a counter of `valid_bits` bits.
pub fn durations(ticks: &[u64], valid_bits: u32, period_ns: f64) -> Vec<Duration> {
    let mask = u64::MAX >> (64 - valid_bits.clamp(1, 64));
    let elapsed = |pair: &[u64]| (pair[1].wrapping_sub(pair[0]) & mask) as f64 * period_ns;
    ticks.chunks_exact(2).map(|pair| Duration::from_nanos(elapsed(pair) as u64)).collect()
}

/// Keeps a device awake by copies: GPUs lower their clock between submissions.
pub struct Warmth<'g> {
    gpu: &'g Gpu,
    roof: &'g CopyRoof<'g>,
    source: GpuBuffer,
    destination: GpuBuffer,
    /// Copies per second, at best so far.
    best_rate: Cell<f64>,
}

impl<'g> Warmth<'g> {
    const SIZE: u64 = 64 << 20;
    const WINDOW: Duration = Duration::from_millis(30);
    const LIMIT: Duration = Duration::from_secs(3);
    const TOLERANCE: f64 = 1.02;
    const NEAR_BEST: f64 = 1.05;
    /// A cold clock may stay low for longer than three windows.
    const MIN_WINDOWS: usize = 5;

    pub fn new(gpu: &'g Gpu, roof: &'g CopyRoof<'g>) -> Result<Self> {
        // A CPU does not sleep.
        let size = if gpu.capabilities().is_cpu() { 16 } else { Self::SIZE };
        Ok(Self {
            gpu,
            roof,
            source: gpu.allocate(size)?,
            destination: gpu.allocate(size)?,
            best_rate: Cell::new(0.0),
        })
    }

    /// Copies for 150 ms at least, until the rates of three windows in a row agree within 2 % and are near the best so far, for 3 s at
    /// most. Returns whether they did.
    pub fn warm(&self) -> Result<bool> {
        if self.gpu.capabilities().is_cpu() {
            return Ok(true);
        }
        let start = Instant::now();
        let mut rates = Vec::new();
        while start.elapsed() < Self::LIMIT {
            let rate = self.window()?;
            rates.push(rate);
            self.best_rate.set(self.best_rate.get().max(rate));
            let is_near_best = self.best_rate.get() <= rate * Self::NEAR_BEST;
            if rates.len() >= Self::MIN_WINDOWS && is_near_best && are_steady(&rates, Self::TOLERANCE) {
                return Ok(true);
            }
        }
        self.best_rate.set(rates.last().copied().unwrap_or_default());
        Ok(false)
    }

    /// Copies per second in a window.
    fn window(&self) -> Result<f64> {
        let (source, destination) = (self.source.range(), self.destination.range());
        let (start, mut copies) = (Instant::now(), 0);
        while start.elapsed() < Self::WINDOW {
            let record = |recorder: &mut Recorder<'_>| {
                for _ in 0..MAX_RUNS {
                    self.roof.record(recorder, source, destination)?;
                    recorder.barrier(BETWEEN);
                }
                Ok(())
            };
            // SAFETY: the buffers are of this device, and have no other use before `submit` has waited.
            unsafe { self.gpu.submit(record) }.context("warming the device")?;
            copies += MAX_RUNS;
        }
        Ok(f64::from(copies) / start.elapsed().as_secs_f64())
    }
}

/// Whether the last three rates agree.
fn are_steady(rates: &[f64], tolerance: f64) -> bool {
    let Some(last) = rates.last_chunk::<3>() else { return false };
    let least = last.iter().copied().fold(f64::INFINITY, f64::min);
    let most = last.iter().copied().fold(0.0, f64::max);
    most <= least * tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_windows_decide() {
        assert!(!are_steady(&[1.0, 1.0], 1.02));
        assert!(!are_steady(&[1.0, 1.0, 1.03], 1.02));
        assert!(are_steady(&[0.2, 1.0, 1.01, 1.02], 1.02));
    }

    #[test]
    fn a_counter_may_wrap() {
        let times = durations(&[5, 25, (1 << 36) - 4, 6], 36, 2.0);
        assert_eq!(times, [40, 20].map(Duration::from_nanos));
    }
}
