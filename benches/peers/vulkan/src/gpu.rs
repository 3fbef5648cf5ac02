//! The wgpu device of the peers, the same physical device as subsweep's.

use anyhow::{Context as _, Result, bail, ensure};
use subsweep::headless::Gpu;
use subsweep_tool::harness::BenchOptions;
use wgpu::util::DeviceExt as _;

/// Maximum number of runs of a submission.
const MAX_RUNS: u32 = BenchOptions::MAX_RUNS_PER_SAMPLE;

/// A wgpu device.
#[derive(Debug)]
pub struct Wgpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub info: wgpu::AdapterInfo,
    /// Timestamps of the runs of a submission, and where they are resolved.
    stamps: wgpu::QuerySet,
    resolved: wgpu::Buffer,
}

impl Wgpu {
    /// The wgpu device with the same name and driver as subsweep's. It has the features and limits of lampshade's own
    /// context, and timestamps between commands.
    pub fn like(gpu: &Gpu) -> Result<Self> {
        let descriptor = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let instance = wgpu::Instance::new(descriptor);
        let (name, driver) = (&gpu.identity().name, gpu.identity().driver_text());
        let is_it = |adapter: &wgpu::Adapter| {
            let info = adapter.get_info();
            info.name == *name && driver.contains(info.driver_info.trim())
        };
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let adapter = adapters
            .into_iter()
            .find(is_it)
            .with_context(|| format!("wgpu does not find {name}, {driver}"))?;
        let stamped = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        ensure!(adapter.features().contains(stamped), "wgpu has no timestamps on {name}");
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: adapter.features() & wgpu::Features::SUBGROUP | stamped,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        }))?;
        let stamps = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2 * MAX_RUNS,
        });
        let resolved = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(2 * MAX_RUNS) * 8,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Ok(Self { device, queue, info: adapter.get_info(), stamps, resolved })
    }

    pub fn upload(&self, words: &[u32]) -> wgpu::Buffer {
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(words),
            usage: Self::USAGES,
        })
    }

    /// A buffer of `word_count` words, zeroed.
    pub fn allocate(&self, word_count: usize) -> wgpu::Buffer {
        let size = (word_count * 4) as u64;
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: Self::USAGES,
            mapped_at_creation: false,
        })
    }

    const USAGES: wgpu::BufferUsages =
        wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

    /// Records, submits and waits.
    pub fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<()>) -> Result<()> {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        record(&mut encoder)?;
        self.queue.submit([encoder.finish()]);
        self.wait()
    }

    /// Nanoseconds of GPU time of runs in one submission. They restore nothing: the peers keep their input.
    pub fn times(
        &self,
        run_count: u32,
        mut record: impl FnMut(&mut wgpu::CommandEncoder) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let count = run_count.min(MAX_RUNS);
        self.submit(|encoder| {
            for index in 0..count {
                encoder.write_timestamp(&self.stamps, 2 * index);
                record(encoder)?;
                encoder.write_timestamp(&self.stamps, 2 * index + 1);
            }
            encoder.resolve_query_set(&self.stamps, 0..2 * count, &self.resolved, 0);
            Ok(())
        })?;
        let words = self.download(&self.resolved, 4 * count as usize)?;
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&words);
        let period_ns = f64::from(self.queue.get_timestamp_period());
        let elapsed_ns = |pair: &[u64]| pair[1].wrapping_sub(pair[0]) as f64 * period_ns;
        Ok(ticks.chunks_exact(2).map(elapsed_ns).collect())
    }

    /// What `make` makes of the device's memory; an error where that, or a limit of wgpu, does not suffice.
    pub fn within_memory<T>(&self, make: impl FnOnce() -> T) -> Result<T> {
        let [memory, limits] = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation]
            .map(|filter| self.device.push_error_scope(filter));
        let made = make();
        for scope in [limits, memory] {
            if let Some(error) = pollster::block_on(scope.pop()) {
                bail!("wgpu: {error}");
            }
        }
        Ok(made)
    }

    fn wait(&self) -> Result<()> {
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    }

    pub fn download(&self, buffer: &wgpu::Buffer, word_count: usize) -> Result<Vec<u32>> {
        let size = (word_count * 4) as u64;
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.submit(|encoder| {
            encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, size);
            Ok(())
        })?;
        let (sender, receiver) = std::sync::mpsc::channel();
        staging.slice(..).map_async(wgpu::MapMode::Read, move |result| _ = sender.send(result));
        self.wait()?;
        match receiver.try_recv() {
            Ok(mapped) => mapped?,
            Err(_) => bail!("wgpu has not mapped a buffer"),
        }
        let words = bytemuck::pod_collect_to_vec(&staging.slice(..).get_mapped_range()?);
        Ok(words)
    }
}
