//! Convenience floor: a device of its own and safe calls on slices.
//!
//! The only part of the library that submits, waits and allocates device memory. Uses the same plans that an embedder
//! records. Slices that a call sorts or scans are unchanged on error: results of more than 2 MiB are staged in host memory of
//! the same size.

mod commands;
mod copies;
mod device_choice;
mod difference;
mod fence;
mod gather;
mod histogram;
mod instance;
mod memory;
mod merge;
mod plan_cache;
mod reduce;
mod run_length;
mod scan;
mod scan_stream;
mod search;
mod segmented_sort;
mod select;
mod self_test;
mod slices;
mod sort;
mod sort_stream;
mod sparse;
mod stages;
mod structure_sort;
mod submission_budget;
mod submit;
mod top_k;
mod transfer;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ash::vk;
pub use device_choice::DeviceSelector;
pub use instance::{Candidate, Instance};
pub use memory::GpuBuffer;
pub use reduce::ReducedBytes;
pub use run_length::RunLengths;
pub use scan::ScanInputs;
pub use scan_stream::{Backward, ScanStream, StreamError};
#[doc(hidden)]
pub use segmented_sort::{check_ranges, keys_in_no_segment};
pub use select::{SelectInputs, Selected};
#[cfg(feature = "capi")]
pub(crate) use sort::Keys;
#[cfg(feature = "mpi")]
pub(crate) use sort_stream::{KeyOrder, merge_parts};
pub use sort_stream::{SortPhase, SortProgress, SortStream};
pub use top_k::{TopKBytes, TopKRows};

use crate::device::{
    BufferRange, Capabilities, Device, DeviceIdentity, OpenOptions, Pipeline, Recorder, Trace,
};
use crate::error::{Error, Result};
use crate::primitives::{Config, Number, Plan, Primitive};
use commands::Commands;
use copies::{Copies, CopyQueue};
use memory::Memory;
use plan_cache::PlanCache;
use slices::element_count;
use sparse::SparseBinder;
use submit::Submitter;
use transfer::OnError;

/// Options of [`Gpu::open`].
#[derive(Clone, Default)]
pub struct GpuOptions {
    /// Selector of the device.
    pub device: DeviceSelector,
    /// Enables the validation layer with synchronisation validation; its messages are returned by
    /// [`Gpu::validation_messages`]. Opening fails if the layer is not installed.
    pub validation: bool,
    /// Options of the device's work.
    pub work: WorkOptions,
}

/// Options of the work of a [`Gpu`].
#[derive(Clone)]
pub struct WorkOptions {
    /// Receives every recorded command.
    pub trace: Option<Arc<dyn Trace>>,
    /// Time limit of a submission, by estimate: longer work is split into several submissions, between dispatches and
    /// within direct ones; a pass of a sort is not split. 1 s by default: Windows resets a device after 2 s.
    pub submission_limit: Duration,
    /// Time to wait for a submission before the device is abandoned with [`Error::TimedOut`]; 5 minutes by default.
    pub wait_limit: Duration,
    /// Initial data of the pipeline cache: a result of [`Device::pipeline_cache_data`] for the same device and driver,
    /// or empty.
    pub pipeline_cache_data: Vec<u8>,
    /// Called between the submissions of long work: if it returns true, the work ends with [`Error::Interrupted`]. It must
    /// not call the [`Gpu`].
    pub interrupted: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Default for WorkOptions {
    fn default() -> Self {
        Self {
            trace: None,
            submission_limit: Duration::from_secs(1),
            wait_limit: Duration::from_secs(5 * 60),
            pipeline_cache_data: Vec::new(),
            interrupted: None,
        }
    }
}

/// A device with its queues, an allocator, and a cache of the 64 most recently used plans.
///
#[doc = example!()]
/// use subsweep::headless::{DeviceSelector, Gpu, GpuOptions};
///
/// // The first device whose name has these letters; else the first of the list.
/// let by_name = |name: &str| GpuOptions { device: DeviceSelector::Name(name.into()), ..GpuOptions::default() };
/// let gpu = Gpu::open(by_name("radeon")).or_else(|_| Gpu::open(GpuOptions::default()))?;
/// let buffer = gpu.allocate_with(&[3, 1, 4])?;
/// assert_eq!(gpu.read(&buffer, 3)?, [3, 1, 4]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub struct Gpu {
    // Dropped in this order: objects of the device before the device, which keeps the instance.
    plans: PlanCache,
    submitter: Mutex<Submitter>,
    copies: Mutex<Copies>,
    copy_queue: CopyQueue,
    memory: Arc<Memory>,
    device: Device,
    instance: Arc<Instance>,
    physical_device: vk::PhysicalDevice,
    has_memory_budget: bool,
    timestamp_valid_bits: u32,
}

impl Gpu {
    /// Opens the device that `options` selects; the best one by default.
    ///
    /// # Errors
    /// [`Error::NoLoader`], [`Error::NoDevice`], [`Error::NoMatchingDevice`], [`Error::MissingFeature`], or errors of
    /// Vulkan functions.
    pub fn open(options: GpuOptions) -> Result<Self> {
        let instance = Arc::new(Instance::new(options.validation)?);
        let mut candidates = instance.candidates()?;
        let candidate = candidates.swap_remove(options.device.position(&candidates)?);
        Self::open_candidate(candidate, options.work)
    }

    /// Opens a candidate, with the limits of [`Candidate::narrow`].
    ///
    /// # Errors
    /// [`Error::MissingFeature`] if it does not meet the requirements, or errors of Vulkan functions.
    pub fn open_candidate(candidate: Candidate, work: WorkOptions) -> Result<Self> {
        let timestamp_valid_bits = candidate.timestamp_valid_bits();
        let Candidate { instance, physical_device, capabilities, requirements, .. } = candidate;
        let requirements = requirements?;
        let (family_index, _) = instance.compute_family(physical_device)?;
        let sparse_family_index = instance.sparse_family(physical_device)?.filter(|_| {
            capabilities.as_ref().is_some_and(|capabilities| capabilities.enabled.sparse_binding)
        });
        let copy_family_index = instance.copy_family(physical_device, family_index);
        let keep_alive: Arc<Instance> = Arc::clone(&instance);
        let options = OpenOptions {
            queue_family_index: family_index,
            other_family_indices: sparse_family_index.into_iter().chain([copy_family_index]).collect(),
            capabilities,
            trace: work.trace.clone(),
            splits_dispatches: true,
            pipeline_cache_data: work.pipeline_cache_data.clone(),
            keep_alive: Some(keep_alive),
        };
        // SAFETY: the instance is made for Vulkan 1.2 and kept alive; the candidate and the family are its own.
        let device = unsafe { Device::open(instance.raw(), physical_device, &requirements, options) }?;
        device.set_pipeline_threads(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        // One queue of a family, and one lock of a queue.
        let mut queues = BTreeMap::new();
        let mut queue_of = |family| {
            // SAFETY: the device was opened with a queue of each family.
            let queue = || Arc::new(Mutex::new(unsafe { device.raw().get_device_queue(family, 0) }));
            Arc::clone(queues.entry(family).or_insert_with(queue))
        };
        let queue = queue_of(family_index);
        let copy_queue =
            CopyQueue::new(&device, copy_family_index, queue_of(copy_family_index), work.wait_limit);
        let binder =
            sparse_family_index.map(|family| SparseBinder::new(&device, queue_of(family), work.wait_limit));
        let families = BTreeSet::from([family_index, copy_family_index]).into_iter().collect();
        let memory = Arc::new(Memory::new(instance.raw(), physical_device, &device, binder, families)?);
        let submitter = Submitter::new(&device, family_index, &queue, timestamp_valid_bits, &work)?;
        let copies = Copies::new(&copy_queue, &memory, true)?;
        Ok(Self {
            plans: PlanCache::default(),
            submitter: Mutex::new(submitter),
            copies: Mutex::new(copies),
            copy_queue,
            memory,
            device,
            instance,
            physical_device,
            has_memory_budget: requirements.has_memory_budget(),
            timestamp_valid_bits,
        })
    }

    /// Whether the validation layer is enabled.
    pub fn is_validated(&self) -> bool {
        self.instance.is_validated()
    }

    /// Whether [`Self::submit`] returns GPU time.
    pub fn has_timestamps(&self) -> bool {
        lock(&self.submitter).has_timestamps()
    }

    /// `timestampValidBits` of the device's queue; 0 without timestamps.
    pub fn timestamp_valid_bits(&self) -> u32 {
        self.timestamp_valid_bits
    }

    /// Family of the device's queue, for command pools of the caller.
    pub fn queue_family_index(&self) -> u32 {
        lock(&self.submitter).queue_family_index()
    }

    /// The device, for plans and pipelines of the caller.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Properties and limits of the device.
    pub fn capabilities(&self) -> &Capabilities {
        self.device.capabilities()
    }

    /// Identity of the device and its driver.
    pub fn identity(&self) -> &DeviceIdentity {
        &self.capabilities().identity
    }

    /// Messages of the validation layer since the last call; empty without [`GpuOptions::validation`].
    pub fn validation_messages(&self) -> Vec<String> {
        self.instance.take_messages()
    }

    /// Returns the plan for a configuration, created on first use and cached while among the 64 most recently used.
    /// Keep it while recorded commands may execute.
    ///
    /// # Errors
    /// Errors of [`Plan::new`].
    pub fn plan<C: Config>(&self, config: C) -> Result<Arc<Plan<C::Primitive>>> {
        let plan = self.plans.get(config, || Plan::new(&self.device, config))?;
        // Work on slices may have declared it, and compiled some.
        Pipeline::compile_all(&self.device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::plan`], without compiling: of pipelines that a recording on slices may bind, those are compiled that it binds.
    #[doc(hidden)]
    pub fn declared<C: Config>(&self, config: C) -> Result<Arc<Plan<C::Primitive>>> {
        self.plans.get(config, || Plan::declare(&self.device, config))
    }

    /// Compiles the pipelines that a recording of a plan binds, and submits it. Safety: as of [`Self::submit`].
    unsafe fn submit_plan<P: Primitive>(
        &self,
        plan: &Plan<P>,
        buffers: &P::Buffers,
        count: impl Into<P::Count>,
    ) -> Result<()> {
        let count = count.into();
        Recorder::compile(&self.device, |recorder| plan.record(recorder, buffers, count))?;
        // SAFETY: as the caller promises.
        unsafe { self.submit(|recorder| plan.record(recorder, buffers, count)) }.map(drop)
    }

    /// Allocates a buffer of `size` bytes, rounded up to whole words, with all usage flags that plans need; contents undefined. One that is larger
    /// than an allocation may be is bound to several, on a device with `sparseBinding`:
    /// [`Capabilities::max_array_size`].
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], or errors of Vulkan functions.
    pub fn allocate(&self, size: u64) -> Result<GpuBuffer> {
        self.memory.allocate(size)
    }

    /// Allocates a buffer that holds `values`.
    ///
    /// # Errors
    /// Errors of [`Self::allocate`] and [`Self::upload`].
    pub fn allocate_with<T: bytemuck::NoUninit>(&self, values: &[T]) -> Result<GpuBuffer> {
        let buffer = self.allocate(size_of_val(values) as u64)?;
        self.upload(&buffer, 0, values)?;
        Ok(buffer)
    }

    /// As [`Self::allocate`], between margins of memory that belong to no buffer: small accesses out of bounds hit no
    /// other buffer, and GPU-assisted validation reports them.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], or errors of Vulkan functions.
    pub fn allocate_apart(&self, size: u64) -> Result<GpuBuffer> {
        self.memory.allocate_apart(size)
    }

    /// Free bytes of the largest device-local heap; its size where the driver lacks `VK_EXT_memory_budget`.
    fn free_memory(&self) -> u64 {
        let capabilities = self.capabilities();
        let heaps = capabilities.memory_heaps.iter().enumerate().filter(|(_, heap)| heap.is_device_local);
        let Some((index, heap)) = heaps.max_by_key(|(_, heap)| heap.size) else {
            return capabilities.largest_heap_size;
        };
        let free = match self.has_memory_budget {
            true => self.instance.free_memory(self.physical_device)[index],
            false => u64::MAX,
        };
        free.min(heap.size).min(capabilities.largest_heap_size)
    }

    /// A command buffer for work that is not waited for at once.
    fn commands(&self) -> Result<Commands> {
        lock(&self.submitter).commands()
    }

    fn allocate_scratch(&self, size: u64) -> Result<Option<GpuBuffer>> {
        if size == 0 { Ok(None) } else { self.allocate(size).map(Some) }
    }

    /// Records with `record`, submits and waits. Returns the GPU time in nanoseconds, where the queue has timestamps.
    /// Writes of earlier submissions are visible to the commands; their writes are visible to later submissions and, in
    /// mapped memory, to the host.
    ///
    /// Long work is split into several submissions, each waited for: see [`WorkOptions::submission_limit`]. So the
    /// recorder's command buffer may be another after each dispatch, with nothing bound. Commands that are recorded
    /// without the recorder, by a plan's `cmd_*` for example, are neither counted nor split.
    ///
    /// `record` must not call this [`Gpu`]: a submission would deadlock, since it has one command buffer, and a copy would run
    /// before the recorded commands.
    ///
    /// # Errors
    /// Errors of `record`, [`Error::DeviceLost`], [`Error::TimedOut`], or errors of Vulkan functions. Part of the work
    /// may have completed then.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `record` does: ranges and pipelines are this device's, live until this
    /// returns, and used by nothing else meanwhile. After an error of the recorder, `record` records nothing more.
    pub unsafe fn submit(&self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<Option<f64>> {
        // SAFETY: as the caller promises.
        unsafe { lock(&self.submitter).submit(record) }
    }

    /// Submits `run_count` runs, each after what prepares it, with as few waits as possible. `prepare` returns whether the
    /// run accesses what it has written. Returns the nanoseconds of each run: GPU time, or without timestamps wall-clock
    /// time.
    ///
    /// # Safety
    /// The conditions of [`Self::submit`] hold for what `prepare` and `record` do.
    #[doc(hidden)]
    pub unsafe fn submit_runs(
        &self,
        run_count: u32,
        prepare: impl Fn(&mut Recorder<'_>) -> Result<bool>,
        record: impl Fn(&mut Recorder<'_>) -> Result<()>,
    ) -> Result<Vec<f64>> {
        // SAFETY: as the caller promises.
        unsafe { lock(&self.submitter).submit_runs(run_count, prepare, record) }
    }

    /// Records without submitting, and returns the time on the host in nanoseconds.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`] hold for what `record` does.
    #[doc(hidden)]
    pub unsafe fn time_recording(&self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<f64> {
        // SAFETY: as the caller promises.
        unsafe { lock(&self.submitter).time_recording(record) }
    }
}

/// A plan with slices, ready to run, such as a sort of [`Gpu::prepare_sort`].
pub struct Prepared<'a> {
    device_size: u64,
    run: Box<dyn FnOnce(OnError) -> Result<()> + 'a>,
}

impl<'a> Prepared<'a> {
    fn new(device_size: u64, run: impl FnOnce(OnError) -> Result<()> + 'a) -> Self {
        Self { device_size, run: Box::new(run) }
    }

    /// Bytes of device memory that [`Self::run`] allocates.
    pub fn device_size(&self) -> u64 {
        self.device_size
    }

    /// Uploads, submits, waits, and reads the result back into the slices. On error a part of them may have been
    /// replaced.
    ///
    /// # Errors
    /// Errors of [`Gpu::allocate`], [`Gpu::read`] and [`Gpu::submit`].
    pub fn run(self) -> Result<()> {
        (self.run)(OnError::Undefined)
    }

    /// As [`Self::run`]; on error the slices are unchanged.
    pub(crate) fn run_or_keep(self) -> Result<()> {
        (self.run)(OnError::Unchanged)
    }
}

/// Values in pages that the system clears when they are first written.
pub(crate) fn zeroed<T: bytemuck::Zeroable>(count: usize) -> Result<Vec<T>> {
    bytemuck::try_zeroed_vec(count)
        .map_err(|()| out_of_host_memory(count.saturating_mul(size_of::<T>()) as u64))
}

/// The numbers that `bytes` are, in memory order.
fn numbers<N: Number>(bytes: &[u8]) -> Result<Vec<N>> {
    let mut numbers = zeroed(element_count(bytes, size_of::<N>() as u64)? as usize)?;
    bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(bytes);
    Ok(numbers)
}

/// Checks that a value of `size` bytes is a whole number of `V`; a configuration without values takes none.
fn check_value_type<V>(size: u64, values: &[V]) -> Result<()> {
    let got = size_of::<V>() as u64;
    let is_whole = if size > 0 { size.is_multiple_of(got) } else { values.is_empty() };
    if is_whole { Ok(()) } else { Err(Error::ValueSizeMismatch { expected: size, got }) }
}

/// Checks that `bytes` are a value of `size` bytes for each key, or none without values.
fn check_values(size: u64, key_count: u64, bytes: &[u8]) -> Result<()> {
    check_value_type(size, bytes)?;
    if size == 0 {
        return Ok(());
    }
    match element_count(bytes, size)? {
        value_count if value_count == key_count => Ok(()),
        value_count => Err(Error::ValueCountMismatch { key_count, value_count }),
    }
}

pub(crate) fn out_of_host_memory(size: u64) -> Error {
    Error::OutOfHostMemory { needed: Some(size), what: "the result" }
}

fn scratch_range(scratch: &Option<GpuBuffer>) -> BufferRange {
    scratch.as_ref().map_or(BufferRange::NONE, GpuBuffer::range)
}

/// Locks `mutex`, also after a panic of a holder: the guarded values stay valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
