//! The renderer's instance, device with a queue for graphics and compute, and memory types.
//!
//! [`Gpu::create`] enables what the library requires, and adopts the device.

use std::ffi::{CStr, c_void};

use anyhow::{Context as _, Result, anyhow};
use subsweep::ash::{self, vk};
use subsweep::device::DeviceRequirements;

/// A device and its queue. Objects of the device borrow it.
pub struct Gpu {
    /// Handle and function table of the device.
    pub raw: ash::Device,
    /// The device as adopted by the library, for plans.
    pub adopted: subsweep::device::Device,
    /// Queue for graphics and compute.
    pub queue: vk::Queue,
    /// Family of the queue.
    pub family_index: u32,
    /// Memory types and heaps.
    pub memory: vk::PhysicalDeviceMemoryProperties,
    // Dropped last.
    _instance: Instance,
}

/// An instance and the messenger of its validation layer.
struct Instance {
    raw: ash::Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    _entry: ash::Entry,
}

/// A suitable physical device.
struct Candidate {
    physical_device: vk::PhysicalDevice,
    name: String,
    /// Rank; lower is better.
    rank: u32,
    family_index: u32,
    needs: DeviceRequirements,
}

impl Gpu {
    /// Opens the best device, or the best whose name contains `name`, which is in lower case.
    ///
    /// # Errors
    /// The missing requirement, in one line, or errors of Vulkan functions.
    pub fn open(name: Option<&str>, is_validated: bool) -> Result<Self> {
        let instance = Instance::new(is_validated)?;
        let mut candidate = choose(&instance.raw, name)?;
        if is_validated {
            // The instance has debug utils: the library's dispatches get labels and names.
            candidate.needs = candidate.needs.with_debug_utils();
        }
        Self::create(instance, &candidate)
    }

    fn create(instance: Instance, candidate: &Candidate) -> Result<Self> {
        let Candidate { physical_device, family_index, ref needs, .. } = *candidate;
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family_index).queue_priorities(&[1.0])];
        // A renderer's own extensions and features would already be in `info`.
        let extensions: Vec<_> = needs.extensions().iter().map(|name| name.as_ptr()).collect();
        let mut features = needs.features();
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        // SAFETY: there is no chain yet.
        let info = unsafe { features.merge_into(info) };
        // SAFETY: the device is the instance's, and everything that `info` points to is alive.
        let raw = unsafe { instance.raw.create_device(physical_device, &info, None) }
            .context("the device cannot be opened")?;
        // SAFETY: the device was created from these, with the features of `needs`, and outlives its adoption: see
        // `drop`.
        let adopted = unsafe {
            let cache = vk::PipelineCache::null();
            subsweep::device::Device::from_raw(
                &instance.raw,
                physical_device,
                raw.clone(),
                needs.enabled(),
                cache,
            )
        };
        let adopted = adopted.inspect_err(|_| {
            // SAFETY: no object was created from it.
            unsafe { raw.destroy_device(None) };
        })?;
        // SAFETY: the family has one queue of this device.
        let queue = unsafe { raw.get_device_queue(family_index, 0) };
        // SAFETY: the device is the instance's.
        let memory = unsafe { instance.raw.get_physical_device_memory_properties(physical_device) };
        Ok(Self { raw, adopted, queue, family_index, memory, _instance: instance })
    }

    /// Names of the device and its driver.
    pub fn name(&self) -> String {
        let identity = &self.adopted.capabilities().identity;
        format!("{} ({})", identity.name, identity.driver_name)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: objects of the device borrowed it and are destroyed; the adopted device makes no call on drop.
        unsafe { self.raw.destroy_device(None) };
    }
}

impl Instance {
    /// Creates an instance for Vulkan 1.2; the validation layer includes synchronisation validation.
    fn new(is_validated: bool) -> Result<Self> {
        // SAFETY: the library that the system resolves as the loader is trusted.
        let entry = unsafe { ash::Entry::load() }.context("there is no Vulkan loader")?;
        let application =
            vk::ApplicationInfo::default().application_name(c"splats").api_version(vk::API_VERSION_1_2);
        let layers = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
        let extensions = [ash::ext::debug_utils::NAME.as_ptr()];
        let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
        let mut messages = messenger_info();
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        if is_validated {
            info = info.enabled_layer_names(&layers).enabled_extension_names(&extensions);
            info = info.push_next(&mut features).push_next(&mut messages);
        }
        // SAFETY: everything that `info` points to is alive.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => anyhow!("there is no Vulkan driver that works"),
            vk::Result::ERROR_LAYER_NOT_PRESENT => anyhow!("the validation layer is not installed"),
            result => anyhow!("no instance of Vulkan: {result}"),
        })?;
        // From here on an early return destroys the instance.
        let mut instance = Self { raw, messenger: None, _entry: entry };
        if is_validated {
            let debug = ash::ext::debug_utils::Instance::new(&instance._entry, &instance.raw);
            // SAFETY: the instance is alive and has the extension.
            let messenger = unsafe { debug.create_debug_utils_messenger(&messenger_info(), None) }?;
            instance.messenger = Some((debug, messenger));
        }
        Ok(instance)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the device of the instance is destroyed.
        unsafe {
            if let Some((debug, messenger)) = &self.messenger {
                debug.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// Messenger that prints the layer's messages.
fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        )
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
        )
        .pfn_user_callback(Some(print_message))
}

unsafe extern "system" fn print_message(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data.
    let texts = unsafe { [(*data).message_id_name_as_c_str(), (*data).message_as_c_str()] };
    let [id, text] = texts.map(|text| text.map(CStr::to_string_lossy).unwrap_or_default());
    eprintln!("validation: {id}: {text}");
    vk::FALSE
}

/// The best suitable device, or the best of those whose name contains `name`.
fn choose(instance: &ash::Instance, name: Option<&str>) -> Result<Candidate> {
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }.context("there is no Vulkan device")?;
    let mut candidates = Vec::new();
    let mut refusals = Vec::new();
    for physical_device in devices {
        match consider(instance, physical_device) {
            Ok(candidate) => candidates.push(candidate),
            Err(error) => refusals.push(error.to_string()),
        }
    }
    let found: Vec<_> = candidates.iter().map(|candidate| candidate.name.clone()).collect();
    candidates.sort_by_key(|candidate| candidate.rank);
    let is_wanted = |one: &Candidate| name.is_none_or(|name| one.name.to_lowercase().contains(name));
    candidates.into_iter().find(is_wanted).with_context(|| {
        let refusals = refusals.join("; ");
        let Some(name) = name else { return format!("no suitable device: {refusals}") };
        let suitable = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
        let lacking = if refusals.is_empty() { refusals } else { format!("; not suitable: {refusals}") };
        format!("no suitable device is called {name:?}; there are: {suitable}{lacking}")
    })
}

/// Checks whether a device is suitable, and ranks it.
fn consider(instance: &ash::Instance, physical_device: vk::PhysicalDevice) -> Result<Candidate> {
    // SAFETY: the instance is for Vulkan 1.2, and the device is its own.
    let needs = unsafe { DeviceRequirements::query(instance, physical_device) }?;
    // SAFETY: as above.
    let (properties, families) = unsafe {
        (
            instance.get_physical_device_properties(physical_device),
            instance.get_physical_device_queue_family_properties(physical_device),
        )
    };
    let name = properties.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned();
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let family_index = families
        .iter()
        .position(|family| family.queue_flags.contains(wanted))
        .with_context(|| format!("{name} has no queue that draws and computes"))?
        as u32;
    let rank = match properties.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        _ => 3,
    };
    Ok(Candidate { physical_device, name, rank, family_index, needs })
}
