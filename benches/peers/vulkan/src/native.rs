//! A Vulkan device for libraries that record into the caller's command buffer, with every feature that it has.

use std::ffi::CStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use subsweep::device::{
    Access, Barrier, Buffer, BufferRange, Device, DeviceRequirements, Recorder, Timestamps,
};
use subsweep::headless::{Candidate, Gpu, Instance};
use subsweep_tool::harness::{BenchOptions, CopyKernel};

/// Orders what a run or a restore does before what follows.
const BETWEEN: Barrier = Barrier {
    name: "between runs",
    source: Access::COMPUTE.and(Access::TRANSFER_WRITE),
    destination: Access::COMPUTE.and(Access::TRANSFER).and(Access::INDIRECT_READ).and(Access::HOST_READ),
};

/// All usage flags that the libraries and the copy kernel need.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// No run takes so long.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// A device of its own on subsweep's physical device.
pub struct Native {
    // Dropped in this order: objects of the device before the device.
    timestamps: Timestamps,
    copy: CopyKernel,
    device: Device,
    queue: vk::Queue,
    command_buffer: vk::CommandBuffer,
    physical_device: vk::PhysicalDevice,
    memory: vk::PhysicalDeviceMemoryProperties,
    owned: Owned,
}

/// The device and its objects, destroyed on drop.
struct Owned {
    raw: ash::Device,
    command_pool: vk::CommandPool,
    fence: vk::Fence,
    instance: Arc<Instance>,
}

/// A buffer with memory of its own.
pub struct NativeBuffer<'n> {
    native: &'n Native,
    // Destroyed before its memory is freed: see `drop`.
    buffer: Option<Buffer>,
    memory: vk::DeviceMemory,
}

impl Native {
    /// A device on the candidate that `gpu` was opened on.
    pub fn new(instance: Arc<Instance>, candidate: &Candidate, gpu: &Gpu) -> Result<Self> {
        let physical_device = candidate.physical_device();
        let entries = instance.raw();
        ensure!(gpu.identity().api_version >= vk::API_VERSION_1_3, "{} has no Vulkan 1.3", candidate.name());
        let family = gpu.queue_family_index();
        // SAFETY: the device is of the instance, which was made for Vulkan 1.3.
        let (requirements, available) = unsafe {
            let requirements = DeviceRequirements::query(entries, physical_device)?;
            (requirements, entries.enumerate_device_extension_properties(physical_device)?)
        };
        let has = |name: &CStr| available.iter().any(|one| one.extension_name_as_c_str() == Ok(name));
        let mut extensions = requirements.extensions();
        extensions.extend([ash::khr::push_descriptor::NAME].into_iter().filter(|name| has(name)));
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let mut vulkan11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut vulkan11)
            .push_next(&mut vulkan12)
            .push_next(&mut vulkan13);
        // SAFETY: as above; the chain is of Vulkan 1.3, which the device has.
        unsafe { entries.get_physical_device_features2(physical_device, &mut features) };
        // Checks of bounds would cost time.
        features.features.robust_buffer_access = vk::FALSE;
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut features);
        // SAFETY: as above; everything that `info` points to is alive.
        let raw = unsafe { entries.create_device(physical_device, &info, None) }?;
        // From here on an early return destroys the device.
        let mut owned = Owned {
            raw,
            command_pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
            instance: Arc::clone(&instance),
        };
        let raw = owned.raw.clone();
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device is alive, and has a queue of the family; `enabled` are features that it has.
        let (queue, command_buffer, device) = unsafe {
            owned.command_pool = raw.create_command_pool(&pool, None)?;
            owned.fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(owned.command_pool)
                .command_buffer_count(1);
            let command_buffer = raw.allocate_command_buffers(&info)?[0];
            let cache = vk::PipelineCache::null();
            let device =
                Device::from_raw(entries, physical_device, raw.clone(), requirements.enabled(), cache)?;
            (raw.get_device_queue(family, 0), command_buffer, device)
        };
        let pair_count = BenchOptions::MAX_RUNS_PER_SAMPLE;
        let timestamps = Timestamps::new(&device, gpu.timestamp_valid_bits(), pair_count)?
            .with_context(|| format!("the queue of {} has no timestamps", candidate.name()))?;
        Ok(Self {
            timestamps,
            copy: CopyKernel::new(&device)?,
            queue,
            command_buffer,
            physical_device,
            // SAFETY: the device is of the instance.
            memory: unsafe { entries.get_physical_device_memory_properties(physical_device) },
            device,
            owned,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.physical_device
    }

    pub fn properties(&self) -> vk::PhysicalDeviceProperties {
        // SAFETY: the device is of the instance.
        unsafe { self.owned.instance.raw().get_physical_device_properties(self.physical_device) }
    }

    pub fn allocate(&self, size: u64) -> Result<NativeBuffer<'_>> {
        self.allocate_in(size, vk::MemoryPropertyFlags::DEVICE_LOCAL)
    }

    fn allocate_in(&self, size: u64, wanted: vk::MemoryPropertyFlags) -> Result<NativeBuffer<'_>> {
        let buffer = Buffer::new(&self.device, size, USAGE)?;
        let needs = buffer.memory_requirements();
        let kind = self.memory.memory_types_as_slice().iter().enumerate().position(|(index, kind)| {
            needs.memory_type_bits & 1 << index != 0 && kind.property_flags.contains(wanted)
        });
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(kind.context("no memory of the kind that a buffer needs")? as u32)
            .push_next(&mut flags);
        // SAFETY: the device is alive, and has the type of memory.
        let memory = unsafe { self.device.raw().allocate_memory(&info, None) }
            .with_context(|| format!("{size} bytes"))?;
        let mut allocated = NativeBuffer { native: self, buffer: Some(buffer), memory };
        if let Some(buffer) = &mut allocated.buffer {
            // SAFETY: the memory is the buffer's own, meets what it requires, and is freed after it.
            unsafe { buffer.bind(memory, 0) }?;
        }
        Ok(allocated)
    }

    /// A buffer with these words.
    pub fn upload(&self, words: &[u32]) -> Result<NativeBuffer<'_>> {
        let size = size_of_val(words) as u64;
        let buffer = self.allocate(size)?;
        let staging = self.staging(size)?;
        // SAFETY: as `mapped` requires: no work is submitted.
        unsafe { self.mapped(&staging, words.len(), |mapped| mapped.copy_from_slice(words)) }?;
        self.copy_words(&staging, &buffer)?;
        Ok(buffer)
    }

    pub fn download(&self, buffer: &NativeBuffer<'_>, word_count: usize) -> Result<Vec<u32>> {
        let staging = self.staging(word_count as u64 * 4)?;
        self.copy_words(buffer, &staging)?;
        let mut words = vec![0; word_count];
        // SAFETY: as `mapped` requires: no work is submitted.
        unsafe { self.mapped(&staging, word_count, |mapped| words.copy_from_slice(mapped)) }?;
        Ok(words)
    }

    fn staging(&self, size: u64) -> Result<NativeBuffer<'_>> {
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        self.allocate_in(size, visible | vk::MemoryPropertyFlags::HOST_CACHED)
            .or_else(|_| self.allocate_in(size, visible))
    }

    /// Copies as many words as both have.
    fn copy_words(&self, source: &NativeBuffer<'_>, destination: &NativeBuffer<'_>) -> Result<()> {
        let size = source.range().size.min(destination.range().size);
        // SAFETY: the buffers outlive the submission.
        unsafe {
            self.submit(|recorder| {
                recorder.copy(source.range().slice(0, size), destination.range().slice(0, size));
                recorder.barrier(BETWEEN);
                Ok(())
            })
        }
    }

    /// Maps the words of a staging buffer.
    ///
    /// # Safety
    /// The buffer is of [`Self::staging`], has so many words, and no work uses it.
    unsafe fn mapped(
        &self,
        staging: &NativeBuffer<'_>,
        word_count: usize,
        access: impl FnOnce(&mut [u32]),
    ) -> Result<()> {
        let raw = self.device.raw();
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: as the caller promises; memory is aligned to more than a word.
        unsafe {
            let pointer = raw.map_memory(staging.memory, 0, vk::WHOLE_SIZE, flags)?;
            access(std::slice::from_raw_parts_mut(pointer.cast(), word_count));
            raw.unmap_memory(staging.memory);
        }
        Ok(())
    }

    /// Nanoseconds of GPU time of runs in one submission: restore, barrier, timestamp, run, barrier, timestamp, and so on.
    /// Each pair of `restored` is a pristine buffer, and the one that a run overwrites.
    ///
    /// # Safety
    /// `record` records work into the command buffer that is valid there; what it uses outlives this call.
    pub unsafe fn times(
        &self,
        run_count: u32,
        restored: &[(&NativeBuffer<'_>, &NativeBuffer<'_>)],
        mut record: impl FnMut(vk::CommandBuffer),
    ) -> Result<Vec<f64>> {
        let count = run_count.min(BenchOptions::MAX_RUNS_PER_SAMPLE);
        let record = |recorder: &mut Recorder<'_>| {
            for run in 0..count {
                for (pristine, overwritten) in restored {
                    self.copy.record(recorder, pristine.range(), overwritten.range())?;
                }
                recorder.barrier(BETWEEN);
                // SAFETY: the pool has the pair, which has no other use; the command buffer is recording.
                unsafe { self.timestamps.cmd_begin(recorder.command_buffer(), run) };
                record(recorder.command_buffer());
                recorder.barrier(BETWEEN);
                // SAFETY: as above.
                unsafe { self.timestamps.cmd_end(recorder.command_buffer(), run) };
            }
            Ok(())
        };
        // SAFETY: as the caller promises.
        unsafe { self.submit(record) }?;
        // SAFETY: the work has completed.
        let elapsed_ns = |run| Ok(unsafe { self.timestamps.elapsed_ns(run) }?);
        (0..count).map(elapsed_ns).collect()
    }

    /// Records, submits and waits.
    ///
    /// # Safety
    /// The conditions of [`Recorder::new`], for what `record` does.
    unsafe fn submit(&self, record: impl FnOnce(&mut Recorder<'_>) -> subsweep::Result<()>) -> Result<()> {
        let (raw, command_buffer, fence) = (self.device.raw(), self.command_buffer, self.owned.fence);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let command_buffers = [command_buffer];
        let submit = vk::SubmitInfo::default().command_buffers(&command_buffers);
        // SAFETY: every earlier submission was waited for; as the caller promises.
        unsafe {
            raw.begin_command_buffer(command_buffer, &begin)?;
            record(&mut Recorder::new(&self.device, command_buffer))?;
            raw.end_command_buffer(command_buffer)?;
            raw.reset_fences(&[fence])?;
            raw.queue_submit(self.queue, &[submit], fence)?;
            match raw.wait_for_fences(&[fence], true, WAIT_LIMIT.as_nanos() as u64) {
                Ok(()) => Ok(()),
                // Nothing that the device may still use may be destroyed.
                Err(vk::Result::TIMEOUT) => {
                    eprintln!("vulkan: a run takes longer than {} s", WAIT_LIMIT.as_secs());
                    std::process::exit(1)
                }
                Err(error) => bail!(error),
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: every submission was waited for, and no other object of the device is left.
        unsafe {
            self.raw.destroy_fence(self.fence, None);
            self.raw.destroy_command_pool(self.command_pool, None);
            self.raw.destroy_device(None);
        }
    }
}

impl NativeBuffer<'_> {
    pub fn range(&self) -> BufferRange {
        self.buffer.as_ref().map_or(BufferRange::NONE, Buffer::range)
    }
}

impl Drop for NativeBuffer<'_> {
    fn drop(&mut self) {
        drop(self.buffer.take());
        // SAFETY: every submission was waited for, and the buffer is gone.
        unsafe { self.native.device.raw().free_memory(self.memory, None) };
    }
}
