//! Host time to record a plan, compared with the same Vulkan calls made directly: `cargo bench --bench recording`.
//!
//! The calls are traced from a dry recording: the same number in the same order, with push constants of the same size.
//! Both use the same dispatch table and command buffer, which is never submitted. Prints the ratio of the medians, and
//! fails if it is above [`LIMIT`]. The device is the best one, or the one named by `SUBSWEEP_DEVICE`.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use criterion::Criterion;
use subsweep::ash::vk;
use subsweep::device::{AddressRange, Barrier, BufferRange, Command, Device, Recorder, Trace, Workgroups};
use subsweep::headless::{Gpu, GpuBuffer, GpuOptions};
use subsweep::scan::{ScanAlgorithm, ScanBuffers, ScanConfig, ScanPlan, ScanPolicy};
use subsweep::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPlan, SortPolicy};
use subsweep::{Count, ElementType, Result};

/// Maximum ratio of a plan's time to the time of the direct calls.
const LIMIT: f64 = 1.5;
/// Recordings per time measurement.
const BATCH: u32 = 50;

/// A recorded Vulkan call.
#[derive(Clone, Copy)]
enum Call {
    /// Bind, push and dispatch. `kernel` is the index of the kernel by first use.
    Dispatch {
        kernel: usize,
        push_size: u32,
        workgroups: Workgroups,
    },
    Fill(AddressRange),
    Barrier(Barrier),
}

#[derive(Default)]
struct CallTrace {
    kernels: Mutex<Vec<&'static subsweep::kernels::Kernel>>,
    calls: Mutex<Vec<Call>>,
}

impl Trace for CallTrace {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let call = match *command {
            Command::Dispatch { kernel, workgroups, .. } => {
                let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
                let known = kernels.iter().position(|known| std::ptr::eq(*known, kernel));
                let index = known.unwrap_or(kernels.len());
                if known.is_none() {
                    kernels.push(kernel);
                }
                let last = kernel.push_constants.last().expect("every kernel has some");
                Call::Dispatch { kernel: index, push_size: last.offset + last.size, workgroups }
            }
            Command::Fill { range } => Call::Fill(range),
            Command::Barrier(barrier) => Call::Barrier(barrier),
            ref command => unreachable!("no plan here records {command:?}"),
        };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
}

/// A command buffer for repeated recording.
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
        // SAFETY: the pool is of this device.
        let buffer = unsafe { raw.allocate_command_buffers(&info) }.unwrap()[0];
        Self { gpu, pool, buffer }
    }

    /// The mean time of `record` over a batch.
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
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: none of its command buffers was submitted.
        unsafe { self.gpu.device().raw().destroy_command_pool(self.pool, None) };
    }
}

/// The direct calls and their pipelines.
struct Bare<'d> {
    raw: &'d subsweep::ash::Device,
    calls: Vec<Call>,
    layout: vk::PipelineLayout,
    /// One pipeline per kernel.
    pipelines: Vec<vk::Pipeline>,
    scratch: BufferRange,
}

impl<'d> Bare<'d> {
    fn new(raw: &'d subsweep::ash::Device, trace: &CallTrace, scratch: BufferRange) -> Self {
        let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(128)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: the device and all pointers are valid.
        let layout = unsafe { raw.create_pipeline_layout(&info, None) }.unwrap();
        let pipeline = |kernel: &&subsweep::kernels::Kernel| {
            let words = kernel.words();
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            // SAFETY: the module is valid SPIR-V and is destroyed after the pipeline was created.
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
        let pipelines = trace.kernels.lock().unwrap().iter().map(pipeline).collect();
        let calls = trace.calls.lock().unwrap().clone();
        Self { raw, calls, layout, pipelines, scratch }
    }

    /// Offset of a range in the scratch buffer.
    fn offset(&self, range: AddressRange) -> u64 {
        self.scratch.offset + (range.address - self.scratch.address)
    }

    fn record(&self, commands: vk::CommandBuffer) {
        let raw = self.raw;
        for call in &self.calls {
            // SAFETY: all handles are of this device; nothing is submitted.
            unsafe {
                match *call {
                    Call::Dispatch { kernel, push_size, workgroups } => {
                        let pipeline = self.pipelines[kernel];
                        raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
                        let push = [0; 128];
                        let stages = vk::ShaderStageFlags::COMPUTE;
                        raw.cmd_push_constants(commands, self.layout, stages, 0, &push[..push_size as usize]);
                        match workgroups {
                            Workgroups::Direct([x, y, z]) => raw.cmd_dispatch(commands, x, y, z),
                            Workgroups::Indirect(range) => {
                                raw.cmd_dispatch_indirect(commands, self.scratch.buffer, self.offset(range));
                            }
                        }
                    }
                    Call::Fill(range) => {
                        let (buffer, offset) = (self.scratch.buffer, self.offset(range));
                        raw.cmd_fill_buffer(commands, buffer, offset, range.size, 0);
                    }
                    Call::Barrier(barrier) => {
                        let memory = [vk::MemoryBarrier::default()
                            .src_access_mask(barrier.source.access)
                            .dst_access_mask(barrier.destination.access)];
                        let (from, to) = (barrier.source.stages, barrier.destination.stages);
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
        // SAFETY: no submitted work uses them.
        unsafe {
            self.pipelines.iter().for_each(|pipeline| self.raw.destroy_pipeline(*pipeline, None));
            self.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}

type Record = Box<dyn Fn(&mut Recorder<'_>) -> Result<()>>;

/// A plan and its memory.
struct Subject {
    name: &'static str,
    record: Record,
    scratch: BufferRange,
    _memories: [GpuBuffer; 3],
}

impl Subject {
    /// A scan of three levels of tiles, or of a single pass.
    fn scan(gpu: &Gpu, name: &'static str, policy: ScanPolicy) -> Result<Self> {
        let count = u64::from(policy.tile_items()).pow(2) + 1;
        let plan = ScanPlan::new(gpu.device(), ScanConfig::inclusive(ElementType::U32).policy(policy))?;
        let memories = memories(gpu, [4 * count, 4 * count, plan.scratch_requirements(count).size])?;
        let [source, destination, scratch] = memories.each_ref().map(GpuBuffer::range);
        let buffers = ScanBuffers::new(source.addresses(), destination.addresses(), scratch);
        let record = Box::new(move |recorder: &mut Recorder<'_>| plan.record(recorder, &buffers, count));
        Ok(Self { name, record, scratch, _memories: memories })
    }

    /// A sort with an indirect count: dispatches are indirect.
    fn sort(gpu: &Gpu, name: &'static str, algorithm: SortAlgorithm) -> Result<Self> {
        let max = 1 << 20;
        let config = SortConfig::keys(ElementType::U32).indirect_count();
        let policy = SortPolicy::tuned(algorithm, gpu.capabilities(), &config);
        let plan = SortPlan::new(gpu.device(), config.policy(policy))?;
        let size = 4 * u64::from(max);
        let memories = memories(gpu, [size, 16, plan.scratch_requirements(max.into()).size])?;
        let [keys, count, scratch] = memories.each_ref().map(GpuBuffer::range);
        let buffers = SortBuffers::new(keys.addresses(), scratch);
        let count = Count::Indirect { address: count.address, max };
        let record = Box::new(move |recorder: &mut Recorder<'_>| plan.record(recorder, &buffers, count));
        Ok(Self { name, record, scratch, _memories: memories })
    }

    fn record(&self, device: &Device, commands: vk::CommandBuffer) {
        // SAFETY: the command buffer is recording, and nothing is submitted.
        (self.record)(&mut unsafe { Recorder::new(device, commands) }).unwrap();
    }
}

fn memories(gpu: &Gpu, sizes: [u64; 3]) -> Result<[GpuBuffer; 3]> {
    let [first, second, third] = sizes.map(|size| gpu.allocate(size));
    Ok([first?, second?, third?])
}

fn open() -> Gpu {
    let device = std::env::var("SUBSWEEP_DEVICE").unwrap_or_default();
    let device = if device.is_empty() { Ok(Default::default()) } else { device.parse() };
    Gpu::open(GpuOptions { device: device.unwrap(), ..GpuOptions::default() })
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
    let gpu = open();
    let identity = gpu.identity();
    eprintln!("{}, {}", identity.name, identity.driver_text());
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let subjects = [
        Subject::scan(&gpu, "reduce-then-scan", small),
        Subject::scan(&gpu, "chained", small.with_algorithm(ScanAlgorithm::Chained)),
        Subject::sort(&gpu, "radix-8bit", SortAlgorithm::Radix8Bit),
        Subject::sort(&gpu, "onesweep", SortAlgorithm::Onesweep),
    ];
    let mut is_slow = false;
    for subject in subjects {
        let subject = subject.unwrap_or_else(|error| panic!("{error}"));
        let trace = CallTrace::default();
        (subject.record)(&mut Recorder::dry(gpu.device()).traced_by(&trace)).unwrap();
        let bare = Bare::new(gpu.device().raw(), &trace, subject.scratch);
        assert!(!bare.calls.is_empty(), "the trace is empty");
        let commands = Commands::new(&gpu);

        let (mut of_plan, mut of_calls) = (Vec::new(), Vec::new());
        let mut group = criterion.benchmark_group(format!("record {}", subject.name));
        // Samples alternate, so that disturbances affect both.
        let mut pair = |is_plan: bool, count: u64| {
            let mut total = Duration::ZERO;
            for _ in 0..count {
                let plan = commands.time(|buffer| subject.record(gpu.device(), buffer));
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
            "record {}: {:.2} µs in {} calls, {ratio:.2} × the bare calls' {:.2} µs\n",
            subject.name,
            1e6 * of_plan,
            bare.calls.len(),
            1e6 * of_calls
        );
        is_slow |= ratio > LIMIT;
    }
    assert!(!is_slow, "a plan costs more than {LIMIT} × the calls that it makes");
    criterion.final_summary();
}
