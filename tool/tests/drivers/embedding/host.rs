//! A host application: an instance with validation, and a device.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, OnceLock};

use libtest_mimic::Failed;
use subsweep::Result;
use subsweep::ash::vk;
use subsweep::device::{Access, Barrier, BufferRange, Device, DeviceRequirements, EnabledFeatures};
use subsweep::headless::Gpu;

use crate::cases::complaint;

pub struct Host {
    pub instance: subsweep::ash::Instance,
    pub physical_device: vk::PhysicalDevice,
    messenger: Option<(subsweep::ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    _entry: subsweep::ash::Entry,
}

/// The layer's messages to all hosts.
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "system" fn keep_message(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data.
    let texts = unsafe { [(*data).message_id_name_as_c_str(), (*data).message_as_c_str()] };
    let [id, text] = texts.map(|text| text.map(CStr::to_string_lossy).unwrap_or_default());
    MESSAGES.lock().unwrap().push(format!("{id}: {text}"));
    vk::FALSE
}

/// Fails if the layer has reported anything to a host.
pub fn expect_no_messages() -> Result<(), Failed> {
    match complaint(std::mem::take(&mut MESSAGES.lock().unwrap())) {
        None => Ok(()),
        Some(message) => Err(format!("validation: {message}").into()),
    }
}

impl Host {
    /// Validated if the row's own device is.
    pub fn new(gpu: &Gpu, api_version: u32) -> Result<Self, Failed> {
        // SAFETY: the system's loader is trusted to be one.
        let entry = unsafe { subsweep::ash::Entry::load() }?;
        let application = vk::ApplicationInfo::default().api_version(api_version);
        let layers = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
        let extensions = [subsweep::ash::ext::debug_utils::NAME.as_ptr()];
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        if gpu.is_validated() {
            info = info.enabled_layer_names(&layers).enabled_extension_names(&extensions);
        }
        // SAFETY: everything that `info` points to is alive.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        let mut messenger = None;
        if gpu.is_validated() {
            let debug = subsweep::ash::ext::debug_utils::Instance::new(&entry, &instance);
            let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                .message_severity(
                    vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
                        | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
                )
                .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                .pfn_user_callback(Some(keep_message));
            // SAFETY: the instance is alive.
            messenger = Some((debug.clone(), unsafe { debug.create_debug_utils_messenger(&info, None) }?));
        }
        // SAFETY: the instance is alive.
        let all = unsafe { instance.enumerate_physical_devices() }?;
        let is_rows = |device: &vk::PhysicalDevice| {
            // SAFETY: the device is the instance's.
            let properties = unsafe { instance.get_physical_device_properties(*device) };
            properties.device_name_as_c_str().is_ok_and(|name| name.to_string_lossy() == gpu.identity().name)
        };
        let physical_device = all.into_iter().find(is_rows).expect("the row's device");
        Ok(Self { instance, physical_device, messenger, _entry: entry })
    }

    /// The device requirements, including labels where the instance supports them.
    pub fn query(&self) -> Result<DeviceRequirements> {
        // SAFETY: the instance is made for Vulkan 1.2 and the device is its own.
        let needs = unsafe { DeviceRequirements::query(&self.instance, self.physical_device) }?;
        Ok(if self.messenger.is_some() { needs.with_debug_utils() } else { needs })
    }

    /// Creates a device with `needs`, merged with features that the caller enables for itself.
    ///
    /// # Safety
    /// `features` begins a valid chain, or is null.
    pub unsafe fn create_device(
        &self,
        needs: &DeviceRequirements,
        features: *const c_void,
    ) -> Result<subsweep::ash::Device, Failed> {
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let extensions: Vec<_> = needs.extensions().iter().map(|name| name.as_ptr()).collect();
        let mut chain = needs.features();
        let mut info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        info.p_next = features;
        // SAFETY: as the caller promises; everything else that `info` points to is alive, and family 0 computes on the
        // drivers of the matrix.
        unsafe {
            let info = chain.merge_into(info);
            Ok(self.instance.create_device(self.physical_device, &info, None)?)
        }
    }

    pub fn adopt(
        &self,
        instance: &subsweep::ash::Instance,
        raw: subsweep::ash::Device,
        enabled: EnabledFeatures,
    ) -> Result<Device> {
        // SAFETY: all belong together, created by `query`'s requirements, and outlive their children.
        unsafe { Device::from_raw(instance, self.physical_device, raw, enabled, vk::PipelineCache::null()) }
    }

    /// The same instance, with `lookup` as its `vkGetDeviceProcAddr`.
    pub fn instance_by(&self, lookup: vk::PFN_vkGetDeviceProcAddr) -> subsweep::ash::Instance {
        let raw = &self.instance;
        let first = subsweep::ash::InstanceFnV1_0 { get_device_proc_addr: lookup, ..raw.fp_v1_0().clone() };
        subsweep::ash::Instance::from_parts_1_3(
            raw.handle(),
            first,
            raw.fp_v1_1().clone(),
            raw.fp_v1_3().clone(),
        )
    }

    /// The loader's function of the device.
    ///
    /// # Safety
    /// `device` and `name` are Vulkan's.
    pub unsafe fn real_function(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        let lookup = LOOKUP.get().expect("`remember_lookup` comes first");
        // SAFETY: as the caller promises.
        unsafe { lookup(device, name) }
    }

    /// Keeps the loader's lookup for [`Self::real_function`].
    pub fn remember_lookup(&self) {
        LOOKUP.get_or_init(|| self.instance.fp_v1_0().get_device_proc_addr);
    }

    /// Records, submits and waits, with a barrier to the host at the end.
    pub fn run(
        &self,
        device: &subsweep::ash::Device,
        record: impl FnOnce(vk::CommandBuffer) -> Result<()>,
    ) -> Result<(), Failed> {
        let usage = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        with_commands(device, |commands| {
            // SAFETY: all handles are the device's.
            unsafe {
                device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default().flags(usage))?;
                record(commands)?;
                record_host_barrier(device, commands);
                device.end_command_buffer(commands)?;
            }
            submit(device, &[commands])
        })
    }
}

/// Runs a check on a device that is created with the requirements of [`Host::query`] alone.
pub fn on_device(
    gpu: &Gpu,
    check: impl FnOnce(&Host, &subsweep::ash::Device, EnabledFeatures) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let host = Host::new(gpu, vk::API_VERSION_1_2)?;
    let needs = host.query()?;
    // SAFETY: there is no chain.
    let raw = unsafe { host.create_device(&needs, std::ptr::null()) }?;
    check(&host, &raw, needs.enabled())?;
    // SAFETY: everything made from it is gone.
    unsafe { raw.destroy_device(None) };
    drop(host);
    expect_no_messages()
}

/// As [`on_device`], on an adopted device.
pub fn on_adopted_device(
    gpu: &Gpu,
    check: impl FnOnce(&Host, &subsweep::ash::Device, &Device) -> Result<(), Failed>,
) -> Result<(), Failed> {
    on_device(gpu, |host, raw, enabled| {
        let device = host.adopt(&host.instance, raw.clone(), enabled)?;
        check(host, raw, &device)
    })
}

/// The same device, with `create` as its `vkCreateComputePipelines`.
pub fn device_by(
    device: &subsweep::ash::Device,
    create: vk::PFN_vkCreateComputePipelines,
) -> subsweep::ash::Device {
    let first = subsweep::ash::DeviceFnV1_0 { create_compute_pipelines: create, ..device.fp_v1_0().clone() };
    let (v1_1, v1_2, v1_3) = (device.fp_v1_1().clone(), device.fp_v1_2().clone(), device.fp_v1_3().clone());
    subsweep::ash::Device::from_parts_1_3(device.handle(), first, v1_1, v1_2, v1_3)
}

/// Runs `use_it` with a new primary command buffer.
pub fn with_commands<T>(
    device: &subsweep::ash::Device,
    use_it: impl FnOnce(vk::CommandBuffer) -> Result<T, Failed>,
) -> Result<T, Failed> {
    // SAFETY: all handles are the device's; submissions are waited for before the pool is destroyed.
    unsafe {
        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        let used = use_it(commands);
        device.destroy_command_pool(pool, None);
        used
    }
}

static LOOKUP: OnceLock<vk::PFN_vkGetDeviceProcAddr> = OnceLock::new();

/// Submits and waits.
pub fn submit(device: &subsweep::ash::Device, commands: &[vk::CommandBuffer]) -> Result<(), Failed> {
    let submits = [vk::SubmitInfo::default().command_buffers(commands)];
    // SAFETY: the command buffers are the device's and executable, and its one queue is used by one thread.
    unsafe {
        let queue = device.get_device_queue(0, 0);
        device.queue_submit(queue, &submits, vk::Fence::null())?;
        device.queue_wait_idle(queue)?;
    }
    Ok(())
}

/// Records a barrier from the writes of dispatches to reads by the host.
pub fn record_host_barrier(device: &subsweep::ash::Device, commands: vk::CommandBuffer) {
    let barrier =
        Barrier { name: "compute to host", source: Access::COMPUTE_WRITE, destination: Access::HOST_READ };
    record_barrier(device, commands, barrier);
}

/// Records a barrier by Vulkan's own function.
pub fn record_barrier(device: &subsweep::ash::Device, commands: vk::CommandBuffer, barrier: Barrier) {
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(barrier.source.access)
        .dst_access_mask(barrier.destination.access)];
    // SAFETY: the command buffer is the device's, and is being recorded.
    unsafe {
        device.cmd_pipeline_barrier(
            commands,
            barrier.source.stages,
            barrier.destination.stages,
            vk::DependencyFlags::empty(),
            &memory,
            &[],
            &[],
        );
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: every device made from it is gone.
        unsafe {
            if let Some((debug, messenger)) = &self.messenger {
                debug.destroy_debug_utils_messenger(*messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

/// A mapped buffer with an address.
pub struct HostMemory<'d> {
    device: &'d subsweep::ash::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u32,
    size: u64,
    address: vk::DeviceAddress,
    usage: vk::BufferUsageFlags,
}

impl<'d> HostMemory<'d> {
    pub fn new(host: &Host, device: &'d subsweep::ash::Device, size: u64) -> Result<Self, Failed> {
        let usage = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: all handles are the device's, and every structure is alive during its call.
        unsafe {
            let buffer = device.create_buffer(&info, None)?;
            let wanted = device.get_buffer_memory_requirements(buffer);
            let types = host.instance.get_physical_device_memory_properties(host.physical_device);
            let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let index = (0..types.memory_type_count)
                .find(|&index| {
                    wanted.memory_type_bits & (1 << index) != 0
                        && types.memory_types[index as usize].property_flags.contains(visible)
                })
                .ok_or("no memory type is host-visible")?;
            let mut flags =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(wanted.size)
                .memory_type_index(index)
                .push_next(&mut flags);
            let memory = device.allocate_memory(&info, None)?;
            device.bind_buffer_memory(buffer, memory, 0)?;
            let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast();
            let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
            let address = device.get_buffer_device_address(&info);
            Ok(Self { device, buffer, memory, mapped, size, address, usage })
        }
    }

    #[expect(clippy::mut_from_ref, reason = "one thread, between submissions")]
    pub fn words(&self) -> &mut [u32] {
        // SAFETY: the memory is mapped, coherent, of this size, and no work is in flight.
        unsafe { std::slice::from_raw_parts_mut(self.mapped, self.size as usize / 4) }
    }

    pub fn range(&self) -> BufferRange {
        let Self { buffer, size, address, usage, .. } = *self;
        BufferRange { buffer, offset: 0, size, address, usage }
    }
}

impl Drop for HostMemory<'_> {
    fn drop(&mut self) {
        // SAFETY: no work is in flight.
        unsafe {
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
        }
    }
}
