//! The Vulkan loader, an instance, and its physical devices.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use crate::device::{
    Capabilities, Device, DeviceRequirements, EnabledFeatures, NOT_ASKED, OpenOptions, text,
};
use crate::error::{Error, Result};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

const PORTABILITY_ENUMERATION: &CStr = ash::khr::portability_enumeration::NAME;

/// A Vulkan 1.3 instance, with or without the validation layer.
pub struct Instance {
    raw: ash::Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// Messages of the messenger, whose user data points here.
    messages: Arc<Messages>,
    // Unloads the library when dropped, so it comes last.
    _entry: ash::Entry,
}

type Messages = Mutex<Vec<String>>;

/// A physical device, and whether it meets the requirements.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub(super) instance: Arc<Instance>,
    pub(super) physical_device: vk::PhysicalDevice,
    pub(super) capabilities: Option<Capabilities>,
    name: String,
    timestamp_valid_bits: u32,
    pub(super) requirements: Result<DeviceRequirements>,
}

impl Instance {
    /// Loads the Vulkan loader and creates an instance.
    ///
    /// # Errors
    /// [`Error::NoLoader`], and the errors of [`Self::from_entry`].
    pub fn new(validation: bool) -> Result<Self> {
        // SAFETY: the library that the system resolves as the loader is trusted.
        let entry =
            unsafe { ash::Entry::load() }.map_err(|error| Error::NoLoader { reason: error.to_string() })?;
        Self::from_entry(entry, validation)
    }

    /// Creates an instance with a loaded loader, which is trusted.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the loader finds no working driver, [`Error::UnreadableManifest`], and the errors of
    /// `vkCreateInstance`.
    pub fn from_entry(entry: ash::Entry, validation: bool) -> Result<Self> {
        let application =
            vk::ApplicationInfo::default().application_name(c"subsweep").api_version(vk::API_VERSION_1_3);
        let messages = Arc::new(Messages::default());
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);

        let layers = [VALIDATION_LAYER.as_ptr()];
        let mut extensions = Vec::new();
        let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
        let mut messenger_info = messenger_info(&messages);
        if validation {
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
            info = info.enabled_layer_names(&layers).push_next(&mut features).push_next(&mut messenger_info);
        }
        // Layered drivers, such as MoltenVK, are enumerated only with this flag.
        if has_instance_extension(&entry, PORTABILITY_ENUMERATION)? {
            extensions.push(PORTABILITY_ENUMERATION.as_ptr());
            info = info.flags(vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR);
        }
        let info = info.enabled_extension_names(&extensions);
        // SAFETY: everything that `info` points to is alive.
        let raw =
            unsafe { entry.create_instance(&info, None) }.map_err(without_device("vkCreateInstance"))?;
        // From here on an early return destroys the instance.
        let mut instance = Self { raw, messenger: None, messages, _entry: entry };
        if validation {
            let debug = ash::ext::debug_utils::Instance::new(&instance._entry, &instance.raw);
            let info = self::messenger_info(&instance.messages);
            // SAFETY: the messages outlive the messenger: see `drop`.
            let messenger = unsafe { debug.create_debug_utils_messenger(&info, None) }
                .map_err(Error::vulkan("vkCreateDebugUtilsMessengerEXT"))?;
            instance.messenger = Some((debug, messenger));
        }
        Ok(instance)
    }

    /// Handle and function table.
    pub fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// All devices, best first: discrete, integrated, virtual, CPU; lavapipe before SwiftShader; those that do not meet
    /// the requirements last.
    ///
    /// # Errors
    /// Errors of `vkEnumeratePhysicalDevices`. Without a device the list is empty.
    pub fn candidates(self: &Arc<Self>) -> Result<Vec<Candidate>> {
        // SAFETY: the instance is alive.
        let devices = match unsafe { self.raw.enumerate_physical_devices() } {
            Ok(devices) => devices,
            // The result of a loader with drivers of which none initialises.
            Err(vk::Result::ERROR_INITIALIZATION_FAILED) => Vec::new(),
            Err(result) => return Err(Error::vulkan("vkEnumeratePhysicalDevices")(result)),
        };
        let mut candidates: Vec<_> = devices.into_iter().map(|device| self.candidate(device)).collect();
        candidates.sort_by_key(Candidate::order);
        Ok(candidates)
    }

    fn candidate(self: &Arc<Self>, physical_device: vk::PhysicalDevice) -> Candidate {
        // SAFETY: the device is this instance's.
        let properties = unsafe { self.raw.get_physical_device_properties(physical_device) };
        // SAFETY: as above, and the instance is made for Vulkan 1.3.
        let requirements = unsafe { DeviceRequirements::query(&self.raw, physical_device) };
        let has_sparse_family = matches!(self.sparse_family(physical_device), Ok(Some(_)));
        let requirements = requirements.map_err(of_driver).map(|mut requirements| {
            if self.messenger.is_some() {
                requirements = requirements.with_debug_utils();
            }
            if has_sparse_family { requirements.with_sparse_binding() } else { requirements }
        });
        let has_vulkan_1_2 = properties.api_version >= vk::API_VERSION_1_2;
        let enabled = requirements.as_ref().map_or(EnabledFeatures::REQUIRED, DeviceRequirements::enabled);
        Candidate {
            instance: Arc::clone(self),
            physical_device,
            // SAFETY: as above; the device has Vulkan 1.2, and `query` found the extensions.
            capabilities: has_vulkan_1_2
                .then(|| unsafe { Capabilities::read(&self.raw, physical_device, enabled) }),
            name: text(properties.device_name_as_c_str()),
            timestamp_valid_bits: self
                .compute_family(physical_device)
                .map_or(0, |(_, family)| family.timestamp_valid_bits),
            requirements,
        }
    }

    /// The queue family to compute on: without graphics where there is one.
    pub(super) fn compute_family(
        &self,
        physical_device: vk::PhysicalDevice,
    ) -> Result<(u32, vk::QueueFamilyProperties)> {
        // SAFETY: the device is this instance's.
        let families = unsafe { self.raw.get_physical_device_queue_family_properties(physical_device) };
        (0u32..)
            .zip(families)
            .filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .min_by_key(|(_, family)| family.queue_flags.contains(vk::QueueFlags::GRAPHICS))
            .ok_or_else(|| self.missing(physical_device, "a queue that computes"))
    }

    /// The queue family that binds sparse memory: the one to compute on where it can, so that one queue suffices; otherwise
    /// the first that can.
    pub(super) fn sparse_family(&self, physical_device: vk::PhysicalDevice) -> Result<Option<u32>> {
        let (compute_index, compute) = self.compute_family(physical_device)?;
        if compute.queue_flags.contains(vk::QueueFlags::SPARSE_BINDING) {
            return Ok(Some(compute_index));
        }
        // SAFETY: the device is this instance's.
        let families = unsafe { self.raw.get_physical_device_queue_family_properties(physical_device) };
        let binds =
            |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::SPARSE_BINDING);
        Ok((0..).zip(families).find(|(_, family)| binds(family)).map(|(index, _)| index))
    }

    /// The queue family that copies: another than `compute_family`, where there is one.
    pub(super) fn copy_family(&self, physical_device: vk::PhysicalDevice, compute_family: u32) -> u32 {
        // SAFETY: the device is this instance's.
        let families = unsafe { self.raw.get_physical_device_queue_family_properties(physical_device) };
        let flags: Vec<_> = families.iter().map(|family| family.queue_flags).collect();
        copy_family_of(&flags, compute_family)
    }

    /// Free bytes of each memory heap of a device that has `VK_EXT_memory_budget`.
    pub(super) fn free_memory(&self, physical_device: vk::PhysicalDevice) -> [u64; vk::MAX_MEMORY_HEAPS] {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut chain = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the device is this instance's, and has the extension.
        unsafe { self.raw.get_physical_device_memory_properties2(physical_device, &mut chain) };
        std::array::from_fn(|heap| budget.heap_budget[heap].saturating_sub(budget.heap_usage[heap]))
    }

    pub(super) fn is_validated(&self) -> bool {
        self.messenger.is_some()
    }

    fn missing(&self, physical_device: vk::PhysicalDevice, missing: &str) -> Error {
        // SAFETY: the device is this instance's.
        let properties = unsafe { self.raw.get_physical_device_properties(physical_device) };
        Error::MissingFeature { device: text(properties.device_name_as_c_str()), missing: missing.to_owned() }
    }

    /// Messages of the validation layer since the last call.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("handle", &self.raw.handle())
            .field("validation", &self.messenger.is_some())
            .finish()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: every device of the instance keeps it alive, so none is left.
        unsafe {
            if let Some((debug, messenger)) = self.messenger.take() {
                debug.destroy_debug_utils_messenger(messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

impl Candidate {
    /// The handle, valid as long as the instance.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.physical_device
    }

    /// The instance of the device.
    #[doc(hidden)]
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The queue family to compute on.
    #[doc(hidden)]
    pub fn compute_family(&self) -> Result<(u32, vk::QueueFamilyProperties)> {
        self.instance.compute_family(self.physical_device)
    }

    /// `deviceName`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Properties and limits, where it supports Vulkan 1.2.
    pub fn capabilities(&self) -> Option<&Capabilities> {
        self.capabilities.as_ref()
    }

    /// Features and extensions to enable on it.
    ///
    /// # Errors
    /// [`Error::MissingFeature`], or an error of the query: why the device does not meet the requirements.
    pub fn requirements(&self) -> Result<&DeviceRequirements> {
        self.requirements.as_ref().map_err(Error::clone)
    }

    /// `timestampValidBits` of the queue family to compute on; 0 without timestamps.
    pub fn timestamp_valid_bits(&self) -> u32 {
        self.capabilities.as_ref().map_or(0, |capabilities| {
            if capabilities.timestamp_period_ns > 0.0 { self.timestamp_valid_bits } else { 0 }
        })
    }

    /// Opens the device to compile pipelines and read their
    /// [`Pipeline::statistics`](crate::device::Pipeline::statistics). Submits nothing and allocates no memory, so that
    /// a driver without hardware suffices.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] if it does not meet the requirements or has no pipeline statistics, and the errors of
    /// [`Device::open`].
    pub fn open_to_compile(&self) -> Result<Device> {
        let mut requirements = self.requirements()?.clone().with_pipeline_statistics();
        requirements.narrow(EnabledFeatures { sparse_binding: false, ..requirements.enabled() });
        let enabled = requirements.enabled();
        if !enabled.pipeline_executable_info {
            return Err(self.instance.missing(
                self.physical_device,
                "the feature pipelineExecutableInfo, for pipeline statistics",
            ));
        }
        let (queue_family_index, _) = self.instance.compute_family(self.physical_device)?;
        let keep_alive: Arc<Instance> = Arc::clone(&self.instance);
        let capabilities = self.capabilities.clone();
        let options = OpenOptions {
            queue_family_index,
            capabilities: capabilities.map(|capabilities| Capabilities { enabled, ..capabilities }),
            keep_alive: Some(keep_alive),
            ..OpenOptions::default()
        };
        // SAFETY: the instance is made for Vulkan 1.2 and kept alive; the candidate and the family are its own.
        unsafe { Device::open(self.instance.raw(), self.physical_device, &requirements, options) }
    }

    /// Lowers limits of the device to those that `limit` sets, to test smaller devices. Limits that `limit` raises are
    /// unchanged.
    pub fn narrow(&mut self, limit: impl FnOnce(&mut Capabilities)) {
        if let (Some(capabilities), Ok(requirements)) = (&mut self.capabilities, &mut self.requirements) {
            capabilities.narrow(limit);
            requirements.narrow(capabilities.enabled);
        }
    }

    /// Sort key; lower is better.
    fn order(&self) -> (bool, u32, bool) {
        let Some(capabilities) = &self.capabilities else {
            return (true, u32::MAX, true);
        };
        let kind = match capabilities.identity.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => 0,
            vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
            vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
            vk::PhysicalDeviceType::CPU => 3,
            _ => 4,
        };
        let is_swiftshader = capabilities.identity.driver_id == vk::DriverId::GOOGLE_SWIFTSHADER;
        (self.requirements.is_err(), kind, is_swiftshader)
    }
}

/// The family that [`Instance::copy_family`] takes: one that only copies, else one that computes or draws as well. Engines for
/// video and the like are slow.
fn copy_family_of(families: &[vk::QueueFlags], compute_family: u32) -> u32 {
    let works = vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS;
    let known = works | vk::QueueFlags::TRANSFER | vk::QueueFlags::SPARSE_BINDING | vk::QueueFlags::PROTECTED;
    // Where there is work, there are copies, whether the flag is set or not.
    let copies = |flags: vk::QueueFlags| flags.intersects(works | vk::QueueFlags::TRANSFER);
    let others = (0..).zip(families).filter(|(index, flags)| *index != compute_family && copies(**flags));
    let copying = others.filter(|(_, flags)| flags.intersects(works) || (**flags & !known).is_empty());
    copying
        .min_by_key(|(_, flags)| (**flags & works).as_raw().count_ones())
        .map_or(compute_family, |found| found.0)
}

fn has_instance_extension(entry: &ash::Entry, name: &CStr) -> Result<bool> {
    // SAFETY: the loader is loaded.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }
        .map_err(without_device("vkEnumerateInstanceExtensionProperties"))?;
    Ok(extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name)))
}

/// As [`Error::vulkan`], where there may be no device.
fn without_device(during: &'static str) -> impl FnOnce(vk::Result) -> Error {
    move |result| match result {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::NoDevice,
        // Nothing that takes memory has been asked for; the loader stops so at a manifest that is not JSON.
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => Error::UnreadableManifest { during },
        result => Error::vulkan(during)(result),
    }
}

fn messenger_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        )
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
        )
        .pfn_user_callback(Some(keep_message))
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
}

unsafe extern "system" fn keep_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data, and the user data of `messenger_info`, which outlives the messenger.
    let (id, text, messages) = unsafe {
        let data = &*data;
        (data.message_id_name_as_c_str(), data.message_as_c_str(), &*messages.cast::<Messages>().cast_const())
    };
    let [id, mut text] = [id, text].map(|text| text.map(CStr::to_string_lossy).unwrap_or_default());
    // Older layers include the message's name in its text, newer ones do not.
    if !text.contains(&*id) {
        text = format!("{id}: {text}").into();
    }
    messages.lock().unwrap_or_else(PoisonError::into_inner).push(text.into_owned());
    vk::FALSE
}
/// Of an instance that is made as it must be, the driver alone is to blame.
fn of_driver(error: Error) -> Error {
    match error {
        Error::MissingFeature { device, missing } if missing == NOT_ASKED => {
            let missing = "subgroups: its driver reports subgroups of 0 lanes; try another driver".to_owned();
            Error::MissingFeature { device, missing }
        }
        error => error,
    }
}

#[cfg(test)]
mod tests;
