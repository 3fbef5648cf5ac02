//! A Vulkan device, opened here or adopted from the caller.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use ash::khr::pipeline_executable_properties as executables;
use ash::vk;

use super::capabilities::Capabilities;
use super::recorder::Trace;
use super::requirements::{DeviceRequirements, EnabledFeatures};
use crate::error::{Error, Result};

/// A handle to a Vulkan device; clones share it. Plans and pipelines hold one.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    raw: ash::Device,
    capabilities: Capabilities,
    executables: Option<executables::Device>,
    pipeline_cache: vk::PipelineCache,
    trace: Option<Arc<dyn Trace>>,
    splits_dispatches: bool,
    owned: bool,
    abandoned: OnceLock<Error>,
    keep_alive: Option<Arc<dyn Any + Send + Sync>>,
}

/// How [`Device::open`] makes a device.
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// The family of its one queue.
    pub queue_family_index: u32,
    /// What to take the device for, in place of what it says of itself: nothing that it is not.
    pub capabilities: Option<Capabilities>,
    /// Who is told of every command that is recorded.
    pub trace: Option<Arc<dyn Trace>>,
    /// Whether pipelines are made so that a dispatch may be a part of a larger one (`DISPATCH_BASE`), as `headless` has
    /// to cut them. Of no use without it.
    pub splits_dispatches: bool,
    /// Dropped after the device: the instance, say.
    pub keep_alive: Option<Arc<dyn Any + Send + Sync>>,
}

impl Device {
    /// Creates a device with one queue, destroyed when the last clone is dropped.
    ///
    /// # Errors
    /// Whatever `vkCreateDevice` says.
    ///
    /// # Safety
    /// `instance` outlives the device (`keep_alive` can see to that), was made for Vulkan 1.2 or later,
    /// `physical_device` is one of its devices and is the one that `requirements` was asked of, and it has the queue
    /// family and can do what `capabilities` says.
    pub unsafe fn open(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        requirements: &DeviceRequirements,
        options: OpenOptions,
    ) -> Result<Self> {
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(options.queue_family_index)
            .queue_priorities(&[1.0])];
        let extensions: Vec<_> = requirements.extensions().iter().map(|name| name.as_ptr()).collect();
        let mut features = requirements.features();
        let info = features.chain_into(
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions),
        );
        // SAFETY: as the caller promises; everything that `info` points to is alive.
        let raw = unsafe { instance.create_device(physical_device, &info, None) }
            .map_err(Error::vulkan("vkCreateDevice"))?;
        let capabilities = options.capabilities.unwrap_or_else(|| {
            // SAFETY: as the caller promises; `query` found the extensions that `enabled` implies.
            unsafe { Capabilities::read(instance, physical_device, requirements.enabled()) }
        });
        Ok(Self {
            inner: Arc::new(Inner {
                executables: executables_of(instance, &raw, requirements.enabled()),
                raw,
                capabilities,
                pipeline_cache: vk::PipelineCache::null(),
                trace: options.trace,
                splits_dispatches: options.splits_dispatches,
                owned: true,
                abandoned: OnceLock::new(),
                keep_alive: options.keep_alive,
            }),
        })
    }

    /// Adopts a device that the caller made, and never destroys it.
    ///
    /// Pipelines are made with `pipeline_cache`, which may be null.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] where the physical device lacks what [`DeviceRequirements::query`] asks for.
    ///
    /// # Safety
    /// - `instance` was made for Vulkan 1.2 or later, `physical_device` is one of its devices, and `device` was made
    ///   from it.
    /// - `device` was created with the feature `bufferDeviceAddress` and with every feature that `enabled` names.
    /// - `device` and `pipeline_cache` outlive this value, its clones, and everything made from them.
    /// - `pipeline_cache` is used by no other thread while a plan is made, unless it is internally synchronised.
    pub unsafe fn from_raw(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: ash::Device,
        enabled: EnabledFeatures,
        pipeline_cache: vk::PipelineCache,
    ) -> Result<Self> {
        // SAFETY: as the caller promises.
        unsafe { DeviceRequirements::query(instance, physical_device) }?;
        // SAFETY: as the caller promises.
        let capabilities = unsafe { Capabilities::read(instance, physical_device, enabled) };
        Ok(Self {
            inner: Arc::new(Inner {
                executables: executables_of(instance, &device, enabled),
                raw: device,
                capabilities,
                pipeline_cache,
                trace: None,
                splits_dispatches: false,
                owned: false,
                abandoned: OnceLock::new(),
                keep_alive: None,
            }),
        })
    }

    /// The function table and handle of the device.
    pub fn raw(&self) -> &ash::Device {
        &self.inner.raw
    }

    /// What the device is and can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.inner.capabilities
    }

    /// The cache that pipelines are made with; null if there is none.
    pub fn pipeline_cache(&self) -> vk::PipelineCache {
        self.inner.pipeline_cache
    }

    /// The functions that tell what a pipeline was compiled to, on a device that was made for it.
    pub(super) fn executables(&self) -> Option<&executables::Device> {
        self.inner.executables.as_ref()
    }

    /// Who listens to what is recorded.
    pub(crate) fn trace(&self) -> Option<&dyn Trace> {
        self.inner.trace.as_deref()
    }

    /// Whether a dispatch may be a part of a larger one.
    pub(super) fn splits_dispatches(&self) -> bool {
        self.inner.splits_dispatches
    }

    /// Gives the device up, because of `error`: it may still be at work, and nobody knows for how long. From now on
    /// nothing that was made from it is destroyed; its memory goes when the process does.
    #[cfg(feature = "headless")]
    pub(crate) fn abandon(&self, error: &Error) {
        self.inner.abandoned.get_or_init(|| error.clone());
    }

    /// Fails if the device was given up, as what would be made from it would never be destroyed.
    pub(crate) fn check(&self) -> Result<()> {
        self.inner.abandoned.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Destroys something that was made from the device, unless the device may still be at work on it.
    pub(crate) fn destroy(&self, destroy: impl FnOnce(&ash::Device)) {
        if self.inner.abandoned.get().is_none() {
            destroy(&self.inner.raw);
        }
    }
}

fn executables_of(
    instance: &ash::Instance,
    device: &ash::Device,
    enabled: EnabledFeatures,
) -> Option<executables::Device> {
    enabled.pipeline_executable_info.then(|| executables::Device::new(instance, device))
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

impl Drop for Inner {
    fn drop(&mut self) {
        if self.abandoned.get().is_some() {
            std::mem::forget(self.keep_alive.take());
        } else if self.owned {
            // SAFETY: the last clone is gone, and everything made from the device held one.
            unsafe { self.raw.destroy_device(None) };
        }
    }
}
