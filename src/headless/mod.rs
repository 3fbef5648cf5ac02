//! Floor 3, the convenience floor: a device of one's own and safe calls on slices.
//!
//! This is the only part of the library that submits, waits, and allocates device memory. It stands on the same plans
//! that an embedder records.

mod device_choice;
mod gather;
mod instance;
mod kept;
mod memory;
mod scan;
mod segmented_sort;
mod sort;
mod submission_budget;
mod submit;
mod transfer;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub use device_choice::DeviceSelector;
pub use instance::{Candidate, Instance};
pub use memory::GpuBuffer;
pub use scan::ScanInputs;

use crate::device::{BufferRange, Capabilities, Device, DeviceIdentity, OpenOptions, Recorder, Trace};
use crate::error::{Error, Result};
use crate::gather::{GatherConfig, GatherPlan};
use crate::scan::{ScanConfig, ScanPlan};
use crate::sort::{SegmentedSortConfig, SegmentedSortPlan, SortConfig, SortPlan};
use kept::Kept;
use memory::Memory;
use submit::Submitter;
use transfer::STAGING_SIZE;

/// How [`Gpu::open`] goes about it.
#[derive(Clone, Default)]
pub struct GpuOptions {
    /// Which device.
    pub device: DeviceSelector,
    /// Switches the validation layer on, with synchronisation validation; what it says is kept for
    /// [`Gpu::validation_messages`]. Opening fails where the layer is not installed.
    pub validation: bool,
    /// How the device works.
    pub work: WorkOptions,
}

/// How a [`Gpu`] goes about its work.
#[derive(Clone)]
pub struct WorkOptions {
    /// Is told of every command that is recorded.
    pub trace: Option<Arc<dyn Trace>>,
    /// How long one submission may take, as far as it can be foreseen: work that may take longer is cut into several,
    /// between dispatches and within those whose workgroups the host knows; a pass of a sort is one piece. 1 s where
    /// nothing else is said: Windows resets a device after 2 s.
    pub submission_limit: Duration,
    /// How long a submission is waited for before the device is given up with [`Error::TimedOut`]. 5 minutes where
    /// nothing else is said.
    pub wait_limit: Duration,
    /// What [`Device::pipeline_cache_data`] returned for the same device and driver; empty for none.
    pub pipeline_cache_data: Vec<u8>,
}

impl Default for WorkOptions {
    fn default() -> Self {
        Self {
            trace: None,
            submission_limit: Duration::from_secs(1),
            wait_limit: Duration::from_secs(5 * 60),
            pipeline_cache_data: Vec::new(),
        }
    }
}

/// A device with a queue, memory and plans of its own: of each primitive the 32 that were used last.
pub struct Gpu {
    // Dropped in this order: what is made from the device before the device, which keeps the instance.
    scan_plans: Kept<ScanConfig, ScanPlan>,
    sort_plans: Kept<SortConfig, SortPlan>,
    segmented_sort_plans: Kept<SegmentedSortConfig, SegmentedSortPlan>,
    gather_plans: Kept<GatherConfig, GatherPlan>,
    submitter: Mutex<Submitter>,
    staging: Mutex<GpuBuffer>,
    memory: Arc<Memory>,
    device: Device,
    instance: Arc<Instance>,
    timestamp_valid_bits: u32,
}

impl Gpu {
    /// Opens the best device that there is, or the one that `options` asks for.
    ///
    /// # Errors
    /// [`Error::NoLoader`], [`Error::NoDevice`], [`Error::NoMatchingDevice`], [`Error::MissingFeature`], or whatever
    /// Vulkan says.
    pub fn open(options: GpuOptions) -> Result<Self> {
        let instance = Arc::new(Instance::new(options.validation)?);
        let mut candidates = instance.candidates()?;
        let candidate = candidates.swap_remove(options.device.position(&candidates)?);
        Self::open_candidate(candidate, options.work)
    }

    /// Opens a candidate, as it was read or narrowed.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] if it is below the floor, or whatever Vulkan says.
    pub fn open_candidate(candidate: Candidate, work: WorkOptions) -> Result<Self> {
        let timestamp_valid_bits = candidate.timestamp_valid_bits();
        let Candidate { instance, physical_device, capabilities, requirements, .. } = candidate;
        let requirements = requirements?;
        let (family_index, _) = instance.compute_family(physical_device)?;
        let keep_alive: Arc<Instance> = Arc::clone(&instance);
        let options = OpenOptions {
            queue_family_index: family_index,
            capabilities,
            trace: work.trace.clone(),
            splits_dispatches: true,
            pipeline_cache_data: work.pipeline_cache_data.clone(),
            keep_alive: Some(keep_alive),
        };
        // SAFETY: the instance is made for Vulkan 1.2 and kept alive; the candidate and the family are its own.
        let device = unsafe { Device::open(instance.raw(), physical_device, &requirements, options) }?;
        device.set_pipeline_threads(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        let memory = Arc::new(Memory::new(instance.raw(), physical_device, &device)?);
        let submitter = Submitter::new(&device, family_index, timestamp_valid_bits, &work)?;
        let staging = memory.allocate_staging(STAGING_SIZE)?;
        Ok(Self {
            scan_plans: Kept::default(),
            sort_plans: Kept::default(),
            segmented_sort_plans: Kept::default(),
            gather_plans: Kept::default(),
            submitter: Mutex::new(submitter),
            staging: Mutex::new(staging),
            memory,
            device,
            instance,
            timestamp_valid_bits,
        })
    }

    /// Whether the validation layer is on.
    pub fn is_validated(&self) -> bool {
        self.instance.is_validated()
    }

    /// Whether [`Self::submit`] tells GPU time.
    pub fn has_timestamps(&self) -> bool {
        lock(&self.submitter).has_timestamps()
    }

    /// Bits of a timestamp of the device's one queue; 0 where it has none.
    pub fn timestamp_valid_bits(&self) -> u32 {
        self.timestamp_valid_bits
    }

    /// The family of the device's one queue, for command pools of one's own.
    pub fn queue_family_index(&self) -> u32 {
        lock(&self.submitter).queue_family_index()
    }

    /// The device, for plans and pipelines of one's own.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What the device is and can do.
    pub fn capabilities(&self) -> &Capabilities {
        self.device.capabilities()
    }

    /// Who made the device and its driver.
    pub fn identity(&self) -> &DeviceIdentity {
        &self.capabilities().identity
    }

    /// What the validation layer has said since the last call; always empty without [`GpuOptions::validation`].
    pub fn validation_messages(&self) -> Vec<String> {
        self.instance.take_messages()
    }

    /// The plan for a configuration, made on first use and kept as long as it is among the 32 used last. Hold it as long
    /// as commands that it has recorded may run.
    ///
    /// # Errors
    /// Those of [`ScanPlan::new`].
    pub fn scan_plan(&self, config: ScanConfig) -> Result<Arc<ScanPlan>> {
        self.scan_plans.get(config, || ScanPlan::new(&self.device, config))
    }

    /// The plan for a configuration, made on first use and kept as long as it is among the 32 used last. Hold it as long
    /// as commands that it has recorded may run.
    ///
    /// # Errors
    /// Those of [`SortPlan::new`].
    pub fn sort_plan(&self, config: SortConfig) -> Result<Arc<SortPlan>> {
        self.sort_plans.get(config, || SortPlan::new(&self.device, config))
    }

    /// The plan for a configuration, made on first use and kept as long as it is among the 32 used last. Hold it as long
    /// as commands that it has recorded may run.
    ///
    /// # Errors
    /// Those of [`SegmentedSortPlan::new`].
    pub fn segmented_sort_plan(
        &self,
        config: impl Into<SegmentedSortConfig>,
    ) -> Result<Arc<SegmentedSortPlan>> {
        let config = config.into();
        self.segmented_sort_plans.get(config, || SegmentedSortPlan::new(&self.device, config))
    }

    /// The plan for a configuration, made on first use and kept as long as it is among the 32 used last. Hold it as long
    /// as commands that it has recorded may run.
    ///
    /// # Errors
    /// Those of [`GatherPlan::new`].
    pub fn gather_plan(&self, config: GatherConfig) -> Result<Arc<GatherPlan>> {
        self.gather_plans.get(config, || GatherPlan::new(&self.device, config))
    }

    /// Device memory of `size` bytes that plans can use in any role, its content undefined.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], or whatever Vulkan says.
    pub fn allocate(&self, size: u64) -> Result<GpuBuffer> {
        self.memory.allocate(size)
    }

    /// As [`Self::allocate`], between margins of memory that belong to no buffer. A kernel that leaves the buffer by a
    /// little harms nothing, and GPU-assisted validation can tell.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], or whatever Vulkan says.
    pub fn allocate_apart(&self, size: u64) -> Result<GpuBuffer> {
        self.memory.allocate_apart(size)
    }

    fn allocate_scratch(&self, size: u64) -> Result<Option<GpuBuffer>> {
        if size == 0 { Ok(None) } else { self.allocate(size).map(Some) }
    }

    /// Records with `record`, submits, waits, and tells the nanoseconds of GPU time in between, where the queue has
    /// timestamps. Everything before is visible to the commands; everything that they wrote is visible to later
    /// submissions and, where memory is mapped, to the host.
    ///
    /// What would take long is cut into several submissions, each waited for: see [`WorkOptions::submission_limit`]. So
    /// with every dispatch the recorder's command buffer may be another, with nothing bound. What goes there otherwise,
    /// a plan's `cmd_*` included, is neither counted nor cut.
    ///
    /// `record` must not call this device's [`Gpu`] again, which has one command buffer: it would wait for itself.
    ///
    /// # Errors
    /// What `record` returns, [`Error::DeviceLost`], [`Error::TimedOut`], or whatever Vulkan says. Part of the work may
    /// be done then.
    ///
    /// # Safety
    /// Those of [`Recorder::new`], for what `record` does: ranges and pipelines are this device's, live until this
    /// returns, and are used by nothing else meanwhile. After an error of the recorder's, `record` records nothing more.
    pub unsafe fn submit(&self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<Option<f64>> {
        // SAFETY: as the caller promises.
        unsafe { lock(&self.submitter).submit(record) }
    }

    /// How long the host takes to record what is then thrown away: nanoseconds of the wall clock.
    ///
    /// # Safety
    /// Those of [`Recorder::new`], for what `record` does.
    #[cfg(feature = "cli")]
    pub(crate) unsafe fn time_recording(
        &self,
        record: impl FnOnce(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<f64> {
        // SAFETY: as the caller promises.
        unsafe { lock(&self.submitter).time_recording(record) }
    }
}

fn out_of_host_memory(size: u64) -> Error {
    Error::OutOfHostMemory { needed: Some(size), what: "the result" }
}

fn scratch_range(scratch: &Option<GpuBuffer>) -> BufferRange {
    scratch.as_ref().map_or(BufferRange::NONE, GpuBuffer::range)
}

/// What the mutexes here guard stays whole if a holder panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
