//! A Vulkan device, created here or adopted from the caller.

use std::any::Any;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use ash::ext::debug_utils;
use ash::khr::pipeline_executable_properties as executables;
use ash::vk;

use super::capabilities::{Capabilities, text};
use super::registry::{PipelineCounts, Registry};
use super::requirements::{DeviceRequirements, EnabledFeatures};
use super::trace::Trace;
use crate::error::{Error, Result};

/// A reference-counted Vulkan device. Plans and pipelines hold clones.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    raw: ash::Device,
    capabilities: Capabilities,
    executables: Option<executables::Device>,
    debug_utils: Option<debug_utils::Device>,
    pipeline_cache: vk::PipelineCache,
    pipeline_threads: AtomicUsize,
    registry: Registry,
    trace: Option<Arc<dyn Trace>>,
    splits_dispatches: bool,
    owned: bool,
    abandoned: OnceLock<Error>,
    keep_alive: Option<Arc<dyn Any + Send + Sync>>,
}

/// Options of [`Device::open`].
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// Family of the device's queue.
    pub queue_family_index: u32,
    /// Families of further queues, one of each, such as those that bind sparse memory, or copy.
    pub other_family_indices: Vec<u32>,
    /// Capabilities to use in place of the device's own; must not exceed those.
    pub capabilities: Option<Capabilities>,
    /// Receives every recorded command.
    pub trace: Option<Arc<dyn Trace>>,
    /// Whether pipelines are created with `DISPATCH_BASE`, so that `headless` may split a dispatch across submissions.
    /// Otherwise without effect.
    pub splits_dispatches: bool,
    /// Initial data of the pipeline cache: a result of [`Device::pipeline_cache_data`] for the same device and driver,
    /// or empty. Data that the driver rejects is ignored.
    pub pipeline_cache_data: Vec<u8>,
    /// Dropped after the device; for the instance.
    pub keep_alive: Option<Arc<dyn Any + Send + Sync>>,
}

impl Device {
    /// Creates a device with its queues, destroyed when the last clone is dropped.
    ///
    /// # Errors
    /// Errors of `vkCreateDevice` and `vkCreatePipelineCache`.
    ///
    /// # Safety
    /// `instance` outlives the device (held by `keep_alive`, for example) and was created for Vulkan 1.2 or later.
    /// `physical_device` is one of its devices, the one that `requirements` was queried from, has the queue families, and
    /// supports `capabilities`.
    pub unsafe fn open(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        requirements: &DeviceRequirements,
        options: OpenOptions,
    ) -> Result<Self> {
        let families: BTreeSet<_> =
            options.other_family_indices.into_iter().chain([options.queue_family_index]).collect();
        let queue =
            |family| vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0]);
        let queues: Vec<_> = families.into_iter().map(queue).collect();
        let extensions: Vec<_> = requirements.extensions().iter().map(|name| name.as_ptr()).collect();
        let mut features = requirements.features();
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        // SAFETY: there is no chain yet.
        let info = unsafe { features.merge_into(info) };
        // SAFETY: as the caller promises; everything that `info` points to is alive.
        let raw = unsafe { instance.create_device(physical_device, &info, None) }
            .map_err(Error::vulkan("vkCreateDevice"))?;
        let pipeline_cache = create_pipeline_cache(&raw, &options.pipeline_cache_data).inspect_err(|_| {
            // SAFETY: no object was created from the device.
            unsafe { raw.destroy_device(None) };
        })?;
        let capabilities = options.capabilities.unwrap_or_else(|| {
            // SAFETY: as the caller promises; `query` found the extensions that `enabled` implies.
            unsafe { Capabilities::read(instance, physical_device, requirements.enabled()) }
        });
        let mut inner = Inner::new(raw, capabilities, pipeline_cache);
        inner.load_extensions(instance, requirements.enabled());
        inner.trace = options.trace;
        inner.splits_dispatches = options.splits_dispatches;
        inner.owned = true;
        inner.keep_alive = options.keep_alive;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Adopts a device of the caller, and never destroys it.
    ///
    /// Pipelines are created with `pipeline_cache`, which may be null.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] where the physical device does not meet [`DeviceRequirements::query`] or lacks a
    /// feature of `enabled`, and where `enabled` lacks a required feature; [`Error::MissingFunction`] where
    /// `vkGetDeviceProcAddr` does not return a function that is called.
    ///
    /// # Safety
    /// - `instance` was created for Vulkan 1.2 or later, `physical_device` is one of its devices, and `device` was
    ///   created from it.
    /// - `device` was created with every feature of `enabled`, and with the extensions of these features.
    /// - `device` and `pipeline_cache` outlive this value, its clones, and every object created from them.
    /// - `pipeline_cache` is used by no other thread while a plan is created, unless it is internally synchronised. If
    ///   it is not, [`Self::set_pipeline_threads`] must stay at 1.
    pub unsafe fn from_raw(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: ash::Device,
        enabled: EnabledFeatures,
        pipeline_cache: vk::PipelineCache,
    ) -> Result<Self> {
        // SAFETY: as the caller promises.
        let requirements = unsafe { DeviceRequirements::query(instance, physical_device) }?;
        // SAFETY: as the caller promises.
        let properties = unsafe { instance.get_physical_device_properties(physical_device) };
        requirements.check(enabled, &text(properties.device_name_as_c_str()))?;
        // SAFETY: as the caller promises.
        unsafe { check_functions(instance, device.handle(), enabled) }?;
        // SAFETY: as the caller promises.
        let capabilities = unsafe { Capabilities::read(instance, physical_device, enabled) };
        let mut inner = Inner::new(device, capabilities, pipeline_cache);
        inner.load_extensions(instance, enabled);
        Ok(Self { inner: Arc::new(inner) })
    }

    /// A device that does not exist, for `subsweep scratch` and tests: plans can be declared on it, and recorded dry. Every
    /// Vulkan function of it panics.
    #[doc(hidden)]
    pub fn absent(capabilities: Capabilities) -> Self {
        // SAFETY: no function is loaded, so that no other one is called by the name of one.
        let raw = unsafe { ash::Device::load_with(|_| std::ptr::null(), vk::Device::null()) };
        Self { inner: Arc::new(Inner::new(raw, capabilities, vk::PipelineCache::null())) }
    }

    /// Handle and function table of the device.
    pub fn raw(&self) -> &ash::Device {
        &self.inner.raw
    }

    /// Properties and limits of the device.
    pub fn capabilities(&self) -> &Capabilities {
        &self.inner.capabilities
    }

    /// Pipeline cache that pipelines are created with; null if there is none.
    pub fn pipeline_cache(&self) -> vk::PipelineCache {
        self.inner.pipeline_cache
    }

    /// Data of the pipeline cache, for [`OpenOptions::pipeline_cache_data`].
    ///
    /// # Errors
    /// Errors of `vkGetPipelineCacheData`.
    pub fn pipeline_cache_data(&self) -> Result<Vec<u8>> {
        if self.inner.pipeline_cache == vk::PipelineCache::null() {
            return Ok(Vec::new());
        }
        // SAFETY: the cache belongs to the device, and the driver synchronises it.
        unsafe { self.inner.raw.get_pipeline_cache_data(self.inner.pipeline_cache) }
            .map_err(Error::vulkan("vkGetPipelineCacheData"))
    }

    /// Number of threads on which a plan compiles its pipelines; 1 by default.
    pub fn pipeline_threads(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.inner.pipeline_threads.load(Ordering::Relaxed)).unwrap_or(NonZeroUsize::MIN)
    }

    /// Sets the number of threads, including the caller's, on which plans compile their pipelines. Applies to all
    /// clones.
    pub fn set_pipeline_threads(&self, count: NonZeroUsize) {
        self.inner.pipeline_threads.store(count.get(), Ordering::Relaxed);
    }

    /// Numbers of pipelines created and dispatched so far.
    pub fn pipeline_counts(&self) -> PipelineCounts {
        self.inner.registry.counts()
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// Functions of `VK_KHR_pipeline_executable_properties`, if enabled.
    pub(super) fn executables(&self) -> Option<&executables::Device> {
        self.inner.executables.as_ref()
    }

    /// Functions of `VK_EXT_debug_utils`, if enabled.
    pub(super) fn debug_utils(&self) -> Option<&debug_utils::Device> {
        self.inner.debug_utils.as_ref()
    }

    /// Whether both have the same `VkDevice`.
    pub fn is_same(&self, other: &Self) -> bool {
        self.inner.raw.handle() == other.inner.raw.handle()
    }

    /// The trace that receives recorded commands.
    pub(crate) fn trace(&self) -> Option<&dyn Trace> {
        self.inner.trace.as_deref()
    }

    /// Whether pipelines are created with `DISPATCH_BASE`.
    pub(super) fn splits_dispatches(&self) -> bool {
        self.inner.splits_dispatches
    }

    /// Abandons the device because of `error`: submitted work may never complete. No object created from it is
    /// destroyed from now on; the end of the process frees them.
    #[cfg(feature = "headless")]
    pub(crate) fn abandon(&self, error: &Error) {
        self.inner.abandoned.get_or_init(|| error.clone());
    }

    /// Fails if the device was abandoned: objects created from it would never be destroyed.
    pub(crate) fn check(&self) -> Result<()> {
        self.inner.abandoned.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Calls `destroy` for an object of the device, unless the device was abandoned and may still use it.
    pub(crate) fn destroy(&self, destroy: impl FnOnce(&ash::Device)) {
        if self.inner.abandoned.get().is_none() {
            destroy(&self.inner.raw);
        }
    }
}

/// Creates a pipeline cache with `data`, or an empty one where the driver rejects the data.
fn create_pipeline_cache(device: &ash::Device, data: &[u8]) -> Result<vk::PipelineCache> {
    let create = |data| {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: the device is alive.
        unsafe { device.create_pipeline_cache(&info, None) }
    };
    let created = create(data);
    let created = if created.is_err() && !data.is_empty() { create(&[]) } else { created };
    created.map_err(Error::vulkan("vkCreatePipelineCache"))
}

/// Device functions that plans and recorders call.
const FUNCTIONS: [&CStr; 16] = [
    c"vkCreatePipelineLayout",
    c"vkDestroyPipelineLayout",
    c"vkCreateShaderModule",
    c"vkDestroyShaderModule",
    c"vkCreateComputePipelines",
    c"vkDestroyPipeline",
    c"vkCmdBindPipeline",
    c"vkCmdPushConstants",
    c"vkCmdDispatch",
    c"vkCmdDispatchIndirect",
    c"vkCmdPipelineBarrier",
    c"vkCmdFillBuffer",
    c"vkCmdUpdateBuffer",
    c"vkCmdCopyBuffer",
    c"vkCmdWriteTimestamp",
    c"vkGetBufferDeviceAddress",
];
/// Functions of `VK_EXT_debug_utils`.
const DEBUG_FUNCTIONS: [&CStr; 3] =
    [c"vkSetDebugUtilsObjectNameEXT", c"vkCmdBeginDebugUtilsLabelEXT", c"vkCmdEndDebugUtilsLabelEXT"];
/// Functions of `VK_KHR_pipeline_executable_properties`.
const EXECUTABLE_FUNCTIONS: [&CStr; 3] = [
    c"vkGetPipelineExecutablePropertiesKHR",
    c"vkGetPipelineExecutableStatisticsKHR",
    c"vkGetPipelineExecutableInternalRepresentationsKHR",
];

/// Fails if a function is missing: `ash` would panic at its first call.
///
/// # Safety
/// `device` is a device of `instance`.
unsafe fn check_functions(
    instance: &ash::Instance,
    device: vk::Device,
    enabled: EnabledFeatures,
) -> Result<()> {
    let debug = DEBUG_FUNCTIONS.iter().filter(|_| enabled.debug_utils);
    let executable = EXECUTABLE_FUNCTIONS.iter().filter(|_| enabled.pipeline_executable_info);
    for &name in FUNCTIONS.iter().chain(debug).chain(executable) {
        // SAFETY: as the caller promises.
        if unsafe { instance.get_device_proc_addr(device, name.as_ptr()) }.is_none() {
            return Err(Error::MissingFunction { name });
        }
    }
    Ok(())
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("handle", &self.inner.raw.handle())
            .field("name", &self.inner.capabilities.identity.name)
            .field("owned", &self.inner.owned)
            .finish()
    }
}

impl Inner {
    /// A caller's device, without the functions of extensions.
    fn new(raw: ash::Device, capabilities: Capabilities, pipeline_cache: vk::PipelineCache) -> Self {
        Self {
            executables: None,
            debug_utils: None,
            raw,
            capabilities,
            pipeline_cache,
            pipeline_threads: AtomicUsize::new(1),
            registry: Registry::default(),
            trace: None,
            splits_dispatches: false,
            owned: false,
            abandoned: OnceLock::new(),
            keep_alive: None,
        }
    }

    /// Loads the functions of the extensions that `enabled` implies.
    fn load_extensions(&mut self, instance: &ash::Instance, enabled: EnabledFeatures) {
        self.executables =
            enabled.pipeline_executable_info.then(|| executables::Device::new(instance, &self.raw));
        self.debug_utils = enabled.debug_utils.then(|| debug_utils::Device::new(instance, &self.raw));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.abandoned.get().is_some() {
            std::mem::forget(self.keep_alive.take());
        } else if self.owned {
            // SAFETY: this is the last clone, and every object created from the device held one.
            unsafe {
                self.raw.destroy_pipeline_cache(self.pipeline_cache, None);
                self.raw.destroy_device(None);
            }
        }
    }
}
