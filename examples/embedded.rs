//! Minimal embedding: sorts a buffer on the application's own instance and device.
//!
//! Needs no feature of the library. Prints the device and the keys. A renderer would record into its own frame, between
//! barriers with `first_access` and `last_access`.

use std::error::Error;

use subsweep::ElementType;
use subsweep::ash::{self, vk};
use subsweep::device::{Access, Barrier, BufferRange, Device, DeviceRequirements, Recorder};
use subsweep::sort::{SortBuffers, SortConfig, SortPlan};

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: every handle is used with its parent and destroyed before it, when no work is in flight.
    unsafe {
        // The application's instance and device.
        let entry = ash::Entry::load()?;
        let application = vk::ApplicationInfo::default().api_version(DeviceRequirements::MIN_API_VERSION);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None)?;
        let physical_device = *instance.enumerate_physical_devices()?.first().ok_or("no Vulkan device")?;
        let needs = DeviceRequirements::query(&instance, physical_device)?;
        let families = instance.get_physical_device_queue_family_properties(physical_device);
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .ok_or("no queue that computes")? as u32;
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let extensions: Vec<_> = needs.extensions().iter().map(|name| name.as_ptr()).collect();
        let mut features = needs.features();
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        let raw = instance.create_device(physical_device, &features.merge_into(info), None)?;

        // The plan and its scratch requirements.
        let cache = vk::PipelineCache::null();
        let device = Device::from_raw(&instance, physical_device, raw.clone(), needs.enabled(), cache)?;
        let plan = SortPlan::new(&device, SortConfig::keys(ElementType::U32).descending())?;
        let keys: Vec<u32> = (0..100_000u32).map(|index| index.wrapping_mul(0x9e37_79b9)).collect();
        let (count, keys_size) = (keys.len() as u64, size_of_val(&keys[..]) as u64);
        let requirements = plan.scratch_requirements(count);

        // One host-visible buffer for keys and scratch.
        let usage = requirements.usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let scratch_offset = keys_size.next_multiple_of(requirements.alignment);
        let size = scratch_offset + requirements.size;
        let buffer = raw.create_buffer(&vk::BufferCreateInfo::default().size(size).usage(usage), None)?;
        let wanted = raw.get_buffer_memory_requirements(buffer);
        let kinds = instance.get_physical_device_memory_properties(physical_device);
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let kind = (0..kinds.memory_type_count)
            .find(|&kind| {
                wanted.memory_type_bits & 1 << kind != 0
                    && kinds.memory_types[kind as usize].property_flags.contains(visible)
            })
            .ok_or("no host-visible memory")?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(wanted.size)
            .memory_type_index(kind)
            .push_next(&mut flags);
        let memory = raw.allocate_memory(&info, None)?;
        raw.bind_buffer_memory(buffer, memory, 0)?;
        let mapped: *mut u32 = raw.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast();
        mapped.copy_from_nonoverlapping(keys.as_ptr(), keys.len());
        let whole = BufferRange::new(&device, buffer, size, usage);
        let scratch = whole.slice(scratch_offset, requirements.size);
        let buffers = SortBuffers::new(whole.slice(0, keys_size).addresses(), scratch);

        // A frame: submission makes host writes visible; a barrier makes the plan's writes visible to the host.
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = raw.create_command_pool(&pool_info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = raw.allocate_command_buffers(&info)?;
        raw.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
        let mut recorder = Recorder::new(&device, commands[0]);
        plan.record(&mut recorder, &buffers, count)?;
        let (source, destination) = (plan.last_access(), Access::HOST_READ);
        recorder.barrier(Barrier { name: "sorted", source, destination });
        raw.end_command_buffer(commands[0])?;
        let queue = raw.get_device_queue(family, 0);
        raw.queue_submit(queue, &[vk::SubmitInfo::default().command_buffers(&commands)], vk::Fence::null())?;
        raw.queue_wait_idle(queue)?;

        let sorted = std::slice::from_raw_parts(mapped, keys.len());
        if !sorted.is_sorted_by(|first, second| first >= second) {
            return Err("the keys are not sorted".into());
        }
        println!(
            "{}: {count} keys from {} down to {}",
            device.capabilities().identity.name,
            sorted[0],
            sorted[keys.len() - 1]
        );

        // Plans first, then the device and instance.
        drop((plan, device));
        raw.destroy_command_pool(pool, None);
        raw.destroy_buffer(buffer, None);
        raw.free_memory(memory, None);
        raw.destroy_device(None);
        instance.destroy_instance(None);
    }
    Ok(())
}
