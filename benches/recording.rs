//! What it costs to record a plan, beside the Vulkan calls that it makes, made bare: `cargo bench --bench recording`.
//!
//! A first recording is listened to; the bare calls are as many, in the same order, with push constants of the same
//! size. Both go through the same dispatch table into the same command buffer, which is never submitted. Ends with the
//! ratio of the medians, and fails where it is above [`LIMIT`]. The device is the best one, or the one that
//! `SUBSWEEP_DEVICE` names.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use criterion::Criterion;
use subsweep::ash::{self, vk};
use subsweep::headless::{Gpu, GpuBuffer, GpuOptions, WorkOptions};
use subsweep::scan::{ScanAlgorithm, ScanBuffers, ScanConfig, ScanPlan, ScanPolicy};
use subsweep::vk::{AddressRange, Barrier, Command, Trace, Workgroups};

/// What a plan may cost at most, in bare calls.
const LIMIT: f64 = 1.5;
/// Recordings between two looks at the clock.
const BATCH: u32 = 50;

/// A call of Vulkan's.
#[derive(Clone, Copy)]
enum Call {
    /// Bind, push and dispatch. `kernel` counts the kernels in the order in which they come.
    Dispatch {
        kernel: usize,
        push_size: u32,
        workgroups: [u32; 3],
    },
    Fill,
    Barrier(Barrier),
}

#[derive(Default)]
struct Listener {
    kernels: Mutex<Vec<&'static subsweep::kernels::Kernel>>,
    calls: Mutex<Vec<Call>>,
}

impl Trace for Listener {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let call = match command {
            Command::Dispatch { kernel, workgroups: Workgroups::Direct(workgroups), .. } => {
                let mut kernels = self.kernels.lock().unwrap();
                let known = kernels.iter().position(|known| std::ptr::eq(*known, *kernel));
                let index = known.unwrap_or(kernels.len());
                if known.is_none() {
                    kernels.push(kernel);
                }
                let last = kernel.push_constants.last().expect("every kernel has some");
                Call::Dispatch { kernel: index, push_size: last.offset + last.size, workgroups: *workgroups }
            }
            Command::Fill { .. } => Call::Fill,
            Command::Barrier(barrier) => Call::Barrier(*barrier),
            _ => return,
        };
        self.calls.lock().unwrap().push(call);
    }
}

/// A command buffer that is recorded into again and again.
struct Commands<'g> {
    gpu: &'g Gpu,
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
}

impl<'g> Commands<'g> {
    fn new(gpu: &'g Gpu) -> Self {
        let raw = gpu.device().raw();
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.queue_family_index());
        // SAFETY: the device has a queue of this family.
        let pool = unsafe { raw.create_command_pool(&info, None) }.unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is the device's.
        let buffer = unsafe { raw.allocate_command_buffers(&info) }.unwrap()[0];
        Self { gpu, pool, buffer }
    }

    /// How long `record` takes, once, of a batch.
    fn time(&self, mut record: impl FnMut(vk::CommandBuffer)) -> Duration {
        let raw = self.gpu.device().raw();
        // SAFETY: nothing is ever submitted.
        unsafe {
            raw.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()).unwrap();
            raw.begin_command_buffer(self.buffer, &vk::CommandBufferBeginInfo::default()).unwrap();
        }
        let start = Instant::now();
        (0..BATCH).for_each(|_| record(self.buffer));
        let elapsed = start.elapsed();
        // SAFETY: it was begun.
        unsafe { raw.end_command_buffer(self.buffer) }.unwrap();
        elapsed / BATCH
    }

    /// Records what is not timed.
    fn record_once(&self, record: impl FnOnce(vk::CommandBuffer)) {
        let mut record = Some(record);
        self.time(|buffer| {
            if let Some(record) = record.take() {
                record(buffer);
            }
        });
    }
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing of it was submitted.
        unsafe { self.gpu.device().raw().destroy_command_pool(self.pool, None) };
    }
}

/// The bare calls, and what they need.
struct Bare<'d> {
    raw: &'d ash::Device,
    calls: Vec<Call>,
    layout: vk::PipelineLayout,
    /// One for each kernel.
    pipelines: Vec<vk::Pipeline>,
    filled: vk::Buffer,
    fill_size: u64,
}

impl<'d> Bare<'d> {
    fn new(raw: &'d ash::Device, listener: &Listener, filled: vk::Buffer, fill_size: u64) -> Self {
        let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(128)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: the device is alive, and everything that is pointed to as well.
        let layout = unsafe { raw.create_pipeline_layout(&info, None) }.unwrap();
        let pipeline = |kernel: &&subsweep::kernels::Kernel| {
            let (words, _) = kernel.spirv.as_chunks();
            let words: Vec<u32> = words.iter().copied().map(u32::from_le_bytes).collect();
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            // SAFETY: the module is the library's, and is gone only when the pipeline is made.
            unsafe {
                let module = raw.create_shader_module(&info, None).unwrap();
                let stage = vk::PipelineShaderStageCreateInfo::default()
                    .stage(vk::ShaderStageFlags::COMPUTE)
                    .module(module)
                    .name(c"main");
                let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
                let made = raw.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap();
                raw.destroy_shader_module(module, None);
                made[0]
            }
        };
        let pipelines = listener.kernels.lock().unwrap().iter().map(pipeline).collect();
        let calls = listener.calls.lock().unwrap().clone();
        Self { raw, calls, layout, pipelines, filled, fill_size }
    }

    fn record(&self, commands: vk::CommandBuffer) {
        let raw = self.raw;
        for call in &self.calls {
            // SAFETY: all is the device's; nothing is submitted.
            unsafe {
                match *call {
                    Call::Dispatch { kernel, push_size, workgroups: [x, y, z] } => {
                        let pipeline = self.pipelines[kernel];
                        raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
                        let push = [0; 128];
                        let stages = vk::ShaderStageFlags::COMPUTE;
                        raw.cmd_push_constants(commands, self.layout, stages, 0, &push[..push_size as usize]);
                        raw.cmd_dispatch(commands, x, y, z);
                    }
                    Call::Fill => raw.cmd_fill_buffer(commands, self.filled, 0, self.fill_size, 0),
                    Call::Barrier(barrier) => {
                        let memory = [vk::MemoryBarrier::default()
                            .src_access_mask(barrier.before.access)
                            .dst_access_mask(barrier.after.access)];
                        let (from, to) = (barrier.before.stages, barrier.after.stages);
                        let flags = vk::DependencyFlags::empty();
                        raw.cmd_pipeline_barrier(commands, from, to, flags, &memory, &[], &[]);
                    }
                }
            }
        }
    }
}

impl Drop for Bare<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing that uses them was submitted.
        unsafe {
            self.pipelines.iter().for_each(|pipeline| self.raw.destroy_pipeline(*pipeline, None));
            self.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// A plan, and memory for it.
struct Recorded {
    plan: Arc<ScanPlan>,
    memories: [GpuBuffer; 3],
    count: u64,
}

impl Recorded {
    fn new(gpu: &Gpu, config: ScanConfig, count: u64) -> Self {
        let plan = gpu.scan_plan(config).unwrap();
        let sizes = [4 * count, 4 * count, plan.scratch_requirements(count).size];
        Self { plan, memories: sizes.map(|size| gpu.allocate(size).unwrap()), count }
    }

    fn record(&self, commands: vk::CommandBuffer) {
        let [source, destination, scratch] = self.memories.each_ref().map(GpuBuffer::range);
        let range = |memory: subsweep::vk::BufferRange| AddressRange::new(memory.address, 4 * self.count);
        let buffers = ScanBuffers::new(range(source), range(destination), scratch);
        // SAFETY: the command buffer is recording, and nothing is submitted.
        unsafe { self.plan.cmd_scan(commands, &buffers, self.count) }.unwrap();
    }
}

fn open(trace: Option<Arc<dyn Trace>>) -> Gpu {
    let device = std::env::var("SUBSWEEP_DEVICE").unwrap_or_default();
    let device = if device.is_empty() { Ok(Default::default()) } else { device.parse() };
    let work = WorkOptions { trace, ..WorkOptions::default() };
    Gpu::open(GpuOptions { device: device.unwrap(), work, ..GpuOptions::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort_unstable();
    samples[samples.len() / 2].as_secs_f64()
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let gpu = open(None);
    let identity = gpu.identity();
    eprintln!("{}, {}", identity.name, identity.driver_text());
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let mut is_slow = false;
    // Three levels of tiles, and the single pass.
    for (name, policy) in
        [("reduce-then-scan", small), ("chained", small.with_algorithm(ScanAlgorithm::Chained))]
    {
        let config = ScanConfig::inclusive().policy(policy);
        let count = u64::from(small.tile_items()).pow(2) + 1;
        let listener = Arc::new(Listener::default());
        {
            let listened = open(Some(listener.clone()));
            let recorded = Recorded::new(&listened, config, count);
            // Only now: allocation and upload are none of the plan's.
            listener.calls.lock().unwrap().clear();
            Commands::new(&listened).record_once(|commands| recorded.record(commands));
        }
        let recorded = Recorded::new(&gpu, config, count);
        let filled = recorded.memories[2].range();
        let bare = Bare::new(gpu.device().raw(), &listener, filled.buffer, filled.size / 4 * 4);
        assert!(!bare.calls.is_empty(), "nothing was heard");
        let commands = Commands::new(&gpu);

        let (mut of_plan, mut of_calls) = (Vec::new(), Vec::new());
        let mut group = criterion.benchmark_group(format!("record {name}"));
        // Each sample beside one of the other, so that what else the machine does is shared.
        let mut pair = |is_plan: bool, count: u64| {
            let mut total = Duration::ZERO;
            for _ in 0..count {
                let plan = commands.time(|buffer| recorded.record(buffer));
                let calls = commands.time(|buffer| bare.record(buffer));
                of_plan.push(plan);
                of_calls.push(calls);
                total += if is_plan { plan } else { calls };
            }
            total
        };
        group.bench_function("plan", |bencher| bencher.iter_custom(|count| pair(true, count)));
        group.bench_function("bare calls", |bencher| bencher.iter_custom(|count| pair(false, count)));
        group.finish();
        if of_plan.is_empty() {
            continue;
        }
        let (of_plan, of_calls) = (median(of_plan), median(of_calls));
        let ratio = of_plan / of_calls;
        eprintln!(
            "record {name}: {:.2} µs in {} calls, {ratio:.2} × the bare calls' {:.2} µs\n",
            1e6 * of_plan,
            bare.calls.len(),
            1e6 * of_calls
        );
        is_slow |= ratio > LIMIT;
    }
    assert!(!is_slow, "a plan costs more than {LIMIT} × the calls that it makes");
    criterion.final_summary();
}
