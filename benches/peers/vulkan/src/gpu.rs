//! The wgpu device of the peers, the same physical device as subsweep's.

use anyhow::{Context as _, Result, bail};
use subsweep::headless::Gpu;
use wgpu::util::DeviceExt as _;

/// A wgpu device.
#[derive(Debug)]
pub struct Wgpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub info: wgpu::AdapterInfo,
}

impl Wgpu {
    /// The wgpu device with the same name and driver as subsweep's. Features and limits are those of lampshade's own
    /// context, without timestamps.
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
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: adapter.features() & wgpu::Features::SUBGROUP,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        }))?;
        Ok(Self { device, queue, info: adapter.get_info() })
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
