//! Floor 3, the convenience floor: a device of one's own and safe calls on slices.
//!
//! This is the only part of the library that submits, waits, and allocates device memory. It stands on the same plans
//! that an embedder records.

mod instance;
mod memory;
mod pace;
mod segmented_sort;
mod select;
mod sort;
mod submit;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use instance::{Candidate, Instance};
pub use memory::GpuBuffer;
pub use select::DeviceSelector;

use crate::error::{Error, Result};
use crate::gather::{GatherBuffers, GatherConfig, GatherPlan};
use crate::primitives::{ElementType, Number};
use crate::scan::{InitialValue, ScanBuffers, ScanConfig, ScanPlan};
use crate::sort::{SegmentedSortConfig, SegmentedSortPlan, SortConfig, SortPlan};
use crate::vk::{BufferRange, Capabilities, Device, DeviceIdentity, OpenOptions, Recorder, Trace};
use memory::Memory;
use submit::Submitter;

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
    /// between dispatches and within those whose workgroups the host knows; a pass of a sort is one piece. 1 s where nothing else is said: Windows resets a device after 2 s.
    pub submission_limit: Duration,
    /// How long a submission is waited for before the device is given up with [`Error::TimedOut`]. 5 minutes where
    /// nothing else is said.
    pub wait_limit: Duration,
}

impl Default for WorkOptions {
    fn default() -> Self {
        Self {
            trace: None,
            submission_limit: Duration::from_secs(1),
            wait_limit: Duration::from_secs(5 * 60),
        }
    }
}

/// A device with a queue, memory and plans of its own.
pub struct Gpu {
    // Dropped in this order: what is made from the device before the device, which keeps the instance.
    scan_plans: Mutex<HashMap<ScanConfig, Arc<ScanPlan>>>,
    sort_plans: Mutex<HashMap<SortConfig, Arc<SortPlan>>>,
    segmented_sort_plans: Mutex<HashMap<SegmentedSortConfig, Arc<SegmentedSortPlan>>>,
    gather_plans: Mutex<HashMap<GatherConfig, Arc<GatherPlan>>>,
    submitter: Mutex<Submitter>,
    staging: Mutex<GpuBuffer>,
    memory: Arc<Memory>,
    device: Device,
    instance: Arc<Instance>,
    timestamp_valid_bits: u32,
}

/// What a scan of a slice reads besides.
#[derive(Debug, Clone, Copy)]
pub struct ScanInputs<'a, N> {
    /// The row that it begins with: a value for each column.
    pub initial: Option<&'a [N]>,
    /// Where segments begin, as [`ScanConfig::segments`] says.
    pub segments: &'a [u32],
}

impl<N> Default for ScanInputs<'_, N> {
    fn default() -> Self {
        Self { initial: None, segments: &[] }
    }
}

/// Bytes that go to or from the device at a time.
const STAGING_SIZE: u64 = 16 << 20;

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
            keep_alive: Some(keep_alive),
        };
        // SAFETY: the instance is made for Vulkan 1.2 and kept alive; the candidate and the family are its own.
        let device = unsafe { Device::open(instance.raw(), physical_device, &requirements, options) }?;
        let memory = Arc::new(Memory::new(instance.raw(), physical_device, &device)?);
        let submitter = Submitter::new(&device, family_index, timestamp_valid_bits, &work)?;
        let staging = memory.allocate_staging(STAGING_SIZE)?;
        Ok(Self {
            scan_plans: Mutex::default(),
            sort_plans: Mutex::default(),
            segmented_sort_plans: Mutex::default(),
            gather_plans: Mutex::default(),
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

    /// Scans `values` in place: rows of the configuration's columns, one after the other. The elements of a custom
    /// operator are rows of words, given as any type of 32 bits. Takes as much host memory again; on failure they are as
    /// they were.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type (u32 stands for any type of 32 bits), and
    /// the errors of [`Self::scan_words`].
    pub fn scan<N: Number>(&self, config: ScanConfig, values: &mut [N]) -> Result<()> {
        self.scan_with(config, values, ScanInputs::default())
    }

    /// [`Self::scan`] from an initial value, or in segments, or both.
    ///
    /// # Errors
    /// Those of [`Self::scan`].
    pub fn scan_with<N: Number>(
        &self,
        config: ScanConfig,
        values: &mut [N],
        inputs: ScanInputs<'_, N>,
    ) -> Result<()> {
        let fits = match config.element_type() {
            Some(element) => N::TYPE == element,
            None => N::TYPE.words() == 1,
        };
        if !fits {
            let expected = config.element_type().unwrap_or(ElementType::U32);
            return Err(Error::ElementMismatch { expected, got: N::TYPE });
        }
        let ScanInputs { initial, segments } = inputs;
        let inputs = ScanInputs { initial: initial.map(bytemuck::cast_slice), segments };
        self.scan_words(config, bytemuck::cast_slice_mut(values), inputs)
    }

    /// The same for values of whatever type the configuration says, as the words of 32 bits in which they lie in
    /// memory.
    ///
    /// # Errors
    /// [`Error::RaggedTable`], and the errors of [`ScanPlan`], [`Self::allocate`], [`Self::read`] and [`Self::submit`].
    pub fn scan_words(
        &self,
        mut config: ScanConfig,
        words: &mut [u32],
        inputs: ScanInputs<'_, u32>,
    ) -> Result<()> {
        let mut initial = InitialValue::Identity;
        if let Some(row) = inputs.initial {
            initial = InitialValue::host(row)?;
            config = config.with_initial();
        }
        let plan = self.scan_plan(config)?;
        let (row_words, value_words) =
            (config.row_size() / 4, config.element_type().map_or(1, |element| element.words().into()));
        let word_count = words.len() as u64;
        if !word_count.is_multiple_of(row_words) {
            let (value_count, columns) = (word_count / value_words, (row_words / value_words) as u32);
            return Err(Error::RaggedTable { value_count, columns });
        }
        let count = word_count / row_words;
        if count == 0 {
            return Ok(());
        }
        let table = self.allocate(size_of_val(words) as u64)?;
        let segments = self.allocate_scratch(size_of_val(inputs.segments) as u64)?;
        if let Some(segments) = &segments {
            self.upload(segments, 0, inputs.segments)?;
        }
        let scratch = self.allocate_scratch(plan.scratch_requirements(count).size)?;
        self.upload(&table, 0, words)?;
        let apart =
            if plan.scans_in_place() { None } else { Some(self.allocate(size_of_val(words) as u64)?) };
        let result = apart.as_ref().unwrap_or(&table);
        let (source, destination) = (table.range().addresses(), result.range().addresses());
        let buffers = ScanBuffers::new(source, destination, scratch_range(&scratch))
            .initial(initial)
            .segments(scratch_range(&segments).slice(0, size_of_val(inputs.segments) as u64).addresses());
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
        self.download(result, words)
    }

    /// The elements of `source` that `indices` name, in that order; of zeros where there is no such element. An element is
    /// one value or several: `source` is whole elements of the configuration, one after the other.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an element is no whole number of values, [`Error::OutOfHostMemory`], and the errors of
    /// [`Self::gather_words`].
    pub fn gather<N: Number>(&self, config: GatherConfig, source: &[N], indices: &[u32]) -> Result<Vec<N>> {
        if !config.words_per_element().is_multiple_of(N::TYPE.words()) {
            return Err(Error::Unsupported {
                reason: "an element that is gathered is one value or several, and here it ends within one",
            });
        }
        let words = self.gather_words(config, bytemuck::cast_slice(source), indices)?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(words.len() / N::TYPE.words() as usize)
            .map_err(|_| out_of_host_memory(size_of_val(&*words) as u64))?;
        // Words may lie where such a value may not.
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        values.extend(bytes.chunks_exact(size_of::<N>()).map(bytemuck::pod_read_unaligned::<N>));
        Ok(values)
    }

    /// The same for values of whatever type, as the words of 32 bits in which they lie in memory.
    ///
    /// # Errors
    /// [`Error::RaggedTable`], in words, if the source is no whole elements, and the errors of [`GatherPlan`], [`Self::allocate`],
    /// [`Self::read`] and [`Self::submit`].
    pub fn gather_words(&self, config: GatherConfig, source: &[u32], indices: &[u32]) -> Result<Vec<u32>> {
        let plan = self.gather_plan(config)?;
        let (value_count, columns) = (source.len() as u64, config.words_per_element());
        if !value_count.is_multiple_of(columns.into()) {
            return Err(Error::RaggedTable { value_count, columns });
        }
        let count = indices.len() as u64;
        if count == 0 {
            return Ok(Vec::new());
        }
        let size = count.saturating_mul(config.element_size());
        let table = self.allocate(size_of_val(source) as u64)?;
        let places = self.allocate(size_of_val(indices) as u64)?;
        let result = self.allocate(size)?;
        self.upload(&table, 0, source)?;
        self.upload(&places, 0, indices)?;
        // A buffer of nothing is one word longer.
        let table = table.range().slice(0, size_of_val(source) as u64).addresses();
        let buffers = GatherBuffers::new(table, places.range().addresses(), result.range().addresses());
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
        let word_count = usize::try_from(size / 4).map_err(|_| out_of_host_memory(size))?;
        self.read(&result, word_count)
    }

    /// The plan for a configuration, made on first use and kept.
    ///
    /// # Errors
    /// Those of [`ScanPlan::new`].
    pub fn scan_plan(&self, config: ScanConfig) -> Result<Arc<ScanPlan>> {
        kept(&self.scan_plans, config, || ScanPlan::new(&self.device, config))
    }

    /// The plan for a configuration, made on first use and kept.
    ///
    /// # Errors
    /// Those of [`SortPlan::new`].
    pub fn sort_plan(&self, config: SortConfig) -> Result<Arc<SortPlan>> {
        kept(&self.sort_plans, config, || SortPlan::new(&self.device, config))
    }

    /// The plan for a configuration, made on first use and kept.
    ///
    /// # Errors
    /// Those of [`SegmentedSortPlan::new`].
    pub fn segmented_sort_plan(
        &self,
        config: impl Into<SegmentedSortConfig>,
    ) -> Result<Arc<SegmentedSortPlan>> {
        let config = config.into();
        kept(&self.segmented_sort_plans, config, || SegmentedSortPlan::new(&self.device, config))
    }

    /// The plan for a configuration, made on first use and kept.
    ///
    /// # Errors
    /// Those of [`GatherPlan::new`].
    pub fn gather_plan(&self, config: GatherConfig) -> Result<Arc<GatherPlan>> {
        kept(&self.gather_plans, config, || GatherPlan::new(&self.device, config))
    }

    /// Drops the plans that scans, sorts, gathers and the functions above have kept; those that somebody
    /// holds go with whoever holds them. Pipelines take memory, on CPU drivers much of it.
    pub fn forget_plans(&self) {
        lock(&self.scan_plans).clear();
        lock(&self.sort_plans).clear();
        lock(&self.segmented_sort_plans).clear();
        lock(&self.gather_plans).clear();
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

    /// Copies `words` into `buffer` from byte `offset` on, a multiple of 4, in chunks through the staging buffer, and
    /// waits.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::ForeignDevice`], and those of [`Self::submit`].
    pub fn upload(&self, buffer: &GpuBuffer, offset: u64, words: &[u32]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let mut staging = lock(&self.staging);
        let range = self.checked(buffer, offset, bytes.len())?;
        let mut offset = 0;
        for chunk in bytes.chunks(STAGING_SIZE as usize) {
            staging.mapped()[..chunk.len()].copy_from_slice(chunk);
            let size = chunk.len() as u64;
            self.copy(staging.range().slice(0, size), range.slice(offset, size))?;
            offset += size;
        }
        Ok(())
    }

    /// Copies the start of `buffer` to `words`, all of them or, on failure, none, and waits.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn download(&self, buffer: &GpuBuffer, words: &mut [u32]) -> Result<()> {
        words.copy_from_slice(&self.read(buffer, words.len())?);
        Ok(())
    }

    /// The first `word_count` words of `buffer`, in chunks through the staging buffer; waits for each.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::ForeignDevice`], [`Error::OutOfHostMemory`], and those of [`Self::submit`].
    pub fn read(&self, buffer: &GpuBuffer, word_count: usize) -> Result<Vec<u32>> {
        self.read_from(buffer, 0, word_count)
    }

    /// The `word_count` words of `buffer` from `offset` bytes on, likewise.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_from(&self, buffer: &GpuBuffer, offset: u64, word_count: usize) -> Result<Vec<u32>> {
        let mut staging = lock(&self.staging);
        let range = self.checked(buffer, offset, word_count.saturating_mul(4))?;
        let mut words = Vec::new();
        words.try_reserve_exact(word_count).map_err(|_| out_of_host_memory(range.size))?;
        while words.len() < word_count {
            let offset = words.len() as u64 * 4;
            let size = STAGING_SIZE.min(range.size - offset);
            self.copy(range.slice(offset, size), staging.range().slice(0, size))?;
            let (chunk, _) = staging.mapped()[..size as usize].as_chunks();
            words.extend(chunk.iter().copied().map(u32::from_ne_bytes));
        }
        Ok(words)
    }

    fn copy(&self, from: BufferRange, to: BufferRange) -> Result<()> {
        let record = |recorder: &mut Recorder<'_>| {
            recorder.copy(from, to);
            Ok(())
        };
        // SAFETY: both ranges are this device's and live until `submit` has waited.
        unsafe { self.submit(record) }?;
        Ok(())
    }

    /// `size` bytes of `buffer` from `offset` on, if they are there. To be asked with the staging memory in hand: it may
    /// have been another thread's work that gave the device up.
    fn checked(&self, buffer: &GpuBuffer, offset: u64, size: usize) -> Result<BufferRange> {
        // The staging memory of a device that was given up may still be in use.
        self.device.check()?;
        if !buffer.is_from(&self.memory) {
            return Err(Error::ForeignDevice);
        }
        let (range, size) = (buffer.range(), size as u64);
        let needed = offset.saturating_add(size);
        if range.size < needed {
            return Err(Error::RangeTooSmall { what: "the buffer", needed, got: range.size });
        }
        Ok(range.slice(offset, size))
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

fn kept<C: Eq + Hash, P>(
    plans: &Mutex<HashMap<C, Arc<P>>>,
    config: C,
    make: impl FnOnce() -> Result<P>,
) -> Result<Arc<P>> {
    let mut plans = lock(plans);
    if let Some(plan) = plans.get(&config) {
        return Ok(Arc::clone(plan));
    }
    let plan = Arc::new(make()?);
    plans.insert(config, Arc::clone(&plan));
    Ok(plan)
}

/// What the mutexes here guard stays whole if a holder panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
