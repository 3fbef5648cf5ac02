//! Inside wgpu: a sort of pairs between two passes of wgpu, on wgpu's device and in its buffers.
//!
//! Each frame has three command buffers. The first writes a depth and an index for each point, the second sorts these
//! pairs by raw Vulkan commands, the third reads them, the furthest point first. Exit codes: 0; 1 if the order differs
//! from the order of a sort on the CPU; 3 without a suitable device.

mod pass;

use std::error::Error;
use std::process::ExitCode;
use std::sync::mpsc;

use subsweep::ElementType;
use subsweep::ash::{khr, vk};
use subsweep::device::{Access, Barrier, BufferRange, Device, DeviceRequirements, Recorder};
use subsweep::sort::{SortBuffers, SortConfig, SortPlan, ValueSize};
use wgpu::hal::{self, Device as _, api::Vulkan};

use pass::Pass;

const POINT_COUNT: u32 = 100_000;
const FRAME_COUNT: u32 = 2;

fn main() -> ExitCode {
    match Gpu::open().map(|gpu| gpu.draw_frames()) {
        Ok(Ok(line)) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Ok(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Err(reason) => {
            eprintln!("no suitable device: {reason}");
            ExitCode::from(3)
        }
    }
}

/// A device of wgpu, adopted by subsweep. The fields are dropped in this order: wgpu destroys the device.
struct Gpu {
    adopted: Device,
    queue: wgpu::Queue,
    device: wgpu::Device,
}

impl Gpu {
    /// Creates a device with the extensions and features of wgpu and of subsweep.
    fn open() -> Result<Self, Box<dyn Error>> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        descriptor.backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
        let wanted = wgpu::DeviceDescriptor::default();
        // SAFETY: wgpu's instance is for Vulkan 1.3, each handle is used with its parent, and all enabled features are
        // those that wgpu and `query` return for this adapter.
        unsafe {
            let hal = adapter.as_hal::<Vulkan>().ok_or("the adapter has another backend")?;
            let (instance, physical_device) =
                (hal.shared_instance().raw_instance(), hal.raw_physical_device());
            let needs = DeviceRequirements::query(instance, physical_device)?;

            // If VK_KHR_buffer_device_address is enabled, wgpu allocates memory with device addresses.
            if !hal.physical_device_capabilities().supports_extension(khr::buffer_device_address::NAME) {
                return Err("the driver lacks VK_KHR_buffer_device_address".into());
            }
            let mut extensions = hal.required_device_extensions(wanted.required_features);
            extensions.push(khr::buffer_device_address::NAME);
            extensions.extend(needs.extensions());
            extensions.sort_unstable();
            extensions.dedup();
            let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            // wgpu submits to the first queue of family 0.
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let info =
                vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);

            // Not by `open_with_callback`: its callback runs before wgpu chains its own structures, so that the chain
            // would have two of subgroup size control. `merge_into` sets features in a structure that is there.
            let mut wgpu_features = hal.physical_device_features(&extensions, wanted.required_features);
            let mut features = needs.features();
            let info = features.merge_into(wgpu_features.add_to_device_create(info));
            let raw = instance.create_device(physical_device, &info, None)?;

            let (limits, hints) = (&wanted.required_limits, &wanted.memory_hints);
            let owned = raw.clone();
            let open =
                hal.device_from_raw(owned, None, &extensions, wanted.required_features, limits, hints, 0, 0)?;
            let (device, queue) = adapter.create_device_from_hal(open, &wanted)?;
            let cache = vk::PipelineCache::null();
            let adopted = Device::from_raw(instance, physical_device, raw, needs.enabled(), cache)?;
            Ok(Self { adopted, queue, device })
        }
    }

    /// Creates a buffer with a device address that wgpu's passes can bind. wgpu destroys it.
    ///
    /// Contents are undefined: wgpu zeroes only buffers of its own, before their first use that it records itself,
    /// which may be after a sort.
    fn create_buffer(&self, label: &str, size: u64) -> Result<(wgpu::Buffer, BufferRange), Box<dyn Error>> {
        use wgpu::BufferUses as Uses;
        // The first means STORAGE_BUFFER and SHADER_DEVICE_ADDRESS in wgpu-hal; the others are for scratch.
        let uses = Uses::ACCELERATION_STRUCTURE_SCRATCH | Uses::COPY_DST | Uses::INDIRECT;
        let usage = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let memory_flags = hal::MemoryFlags::empty();
        let wanted = hal::BufferDescriptor { label: Some(label), size, usage: uses, memory_flags };
        // SAFETY: the buffer is of this device, has the usage of its description, is not empty, and has the memory and
        // usage for an address; what is read of it has been written before.
        unsafe {
            let hal = self.device.as_hal::<Vulkan>().ok_or("the device has another backend")?;
            let made = hal.create_buffer(&wanted)?;
            let buffer = made.raw_handle();
            let wanted = descriptor(label, size, wgpu::BufferUsages::STORAGE);
            let wrapped = self.device.create_buffer_from_hal::<Vulkan>(made, &wanted);
            Ok((wrapped, BufferRange::new(&self.adopted, buffer, size, usage)))
        }
    }

    /// Submits the frames, and compares the points of the last one with the CPU's.
    fn draw_frames(&self) -> Result<String, Box<dyn Error>> {
        let config = SortConfig::pairs(ElementType::F32, ValueSize::B4).descending();
        let plan = SortPlan::new(&self.adopted, config)?;
        let count = u64::from(POINT_COUNT);
        let (depths, keys) = self.create_buffer("depths", count * config.key_size())?;
        let (order, values) = self.create_buffer("order", count * config.value_size())?;
        // wgpu does not know that submitted work uses the scratch: the caller keeps it, and the plan.
        let (_scratch, scratch) =
            self.create_buffer("scratch", plan.scratch_requirements(count).size.max(4))?;
        let buffers = SortBuffers::new(keys.into(), scratch).values(values.into());
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let drawn = self.device.create_buffer(&descriptor("drawn", count * 8, usage));
        let [project, draw] = ["project", "draw"].map(|name| Pass::new(&self.device, name));
        let mut frames = Vec::new();
        for _ in 0..FRAME_COUNT {
            frames.push(project.record(POINT_COUNT, &[&depths, &order]));
            frames.push(self.record_sort(&plan, &buffers)?);
            frames.push(draw.record(POINT_COUNT, &[&depths, &order, &drawn]));
        }
        self.queue.submit(frames);
        let (sender, receiver) = mpsc::channel();
        let send = move |read| _ = sender.send(read);
        wgpu::util::DownloadBuffer::read_buffer(&self.device, &self.queue, &drawn.slice(..), send);
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        if bytemuck::pod_collect_to_vec::<u8, [u32; 2]>(&receiver.recv()??) != sorted_points() {
            return Err("the order differs from the CPU's".into());
        }
        let name = &self.adopted.capabilities().identity.name;
        Ok(format!("{name}: {POINT_COUNT} points sorted by depth between two passes of wgpu"))
    }

    /// Records the sort into an encoder of its own: wgpu 30 panics if an encoder has both raw commands and wgpu's.
    ///
    /// wgpu does not track accesses of raw commands. It records a barrier before a pass only if the usage of a buffer
    /// writes, or differs from that in the last pass of wgpu. So the barriers here name all accesses by wgpu's passes
    /// before and after. A buffer has no layout: a tracked usage that is stale does no harm otherwise.
    fn record_sort(
        &self,
        plan: &SortPlan,
        buffers: &SortBuffers,
    ) -> Result<wgpu::CommandBuffer, Box<dyn Error>> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let record = |encoder: Option<&mut hal::vulkan::CommandEncoder>| -> Result<(), Box<dyn Error>> {
            let encoder = encoder.ok_or("the encoder has another backend")?;
            // SAFETY: wgpu has begun the command buffer; `draw_frames` keeps the plan and the memory.
            let mut recorder = unsafe { Recorder::new(&self.adopted, encoder.raw_handle()) };
            let (source, destination) = (Access::COMPUTE_WRITE, plan.first_access());
            recorder.barrier(Barrier { name: "projected", source, destination });
            plan.record(&mut recorder, buffers, u64::from(POINT_COUNT))?;
            let (source, destination) = (plan.last_access(), Access::COMPUTE);
            recorder.barrier(Barrier { name: "sorted", source, destination });
            Ok(())
        };
        // SAFETY: nothing else is recorded into this encoder.
        unsafe { encoder.as_hal_mut::<Vulkan, _, _>(record) }?;
        Ok(encoder.finish())
    }
}

fn descriptor(label: &str, size: u64, usage: wgpu::BufferUsages) -> wgpu::BufferDescriptor<'_> {
    wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false }
}

/// The depth, as bits, and the index of each point; the furthest first, of equal depths the lower index.
fn sorted_points() -> Vec<[u32; 2]> {
    let depth = |index: u32| (index.wrapping_mul(0x9e37_79b9) >> 16) as f32;
    let mut points: Vec<_> = (0..POINT_COUNT).map(|index| (depth(index), index)).collect();
    points.sort_by(|first, second| second.0.total_cmp(&first.0));
    points.into_iter().map(|(depth, index)| [depth.to_bits(), index]).collect()
}
