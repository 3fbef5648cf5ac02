//! Adopted devices, created in different ways.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, OnceLock};

use libtest_mimic::Failed;
use subsweep::ash::vk;
use subsweep::device::{AddressRange, BufferRange, Device, DeviceRequirements, EnabledFeatures, Recorder};
use subsweep::headless::Gpu;
use subsweep::scan::{ScanBuffers, ScanConfig, ScanPlan};
use subsweep::sort::{SortBuffers, SortConfig, SortPlan};
use subsweep::{ElementType, Error};

use super::contract::{subjects, unused_memory};
use super::host::{Host, HostMemory, device_by, expect_no_messages, on_adopted_device, on_device};

/// Guard words around the ranges of a plan.
const GUARD: u32 = 0xd00d_f00d;

/// Devices for Vulkan 1.2 and 1.3, with and without the caller's own structures in the chain, and with and without
/// robust buffer access.
pub fn adopted_devices(gpu: &Gpu) -> Result<(), Failed> {
    for robust_buffer_access in [false, true] {
        let core = vk::PhysicalDeviceFeatures::default().robust_buffer_access(robust_buffer_access);
        let mut features2 = vk::PhysicalDeviceFeatures2::default().features(core);
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let chain = features2_with(&mut features2, &mut vulkan12);
        // SAFETY: the chain is valid and alive.
        unsafe { run_adopted(gpu, vk::API_VERSION_1_2, chain) }?;
    }
    // SAFETY: there is no chain.
    unsafe { run_adopted(gpu, vk::API_VERSION_1_2, std::ptr::null()) }?;
    if gpu.identity().api_version >= vk::API_VERSION_1_3 {
        let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        let chain: *mut vk::PhysicalDeviceVulkan13Features<'_> = &mut vulkan13;
        // SAFETY: the chain is valid and alive.
        unsafe { run_adopted(gpu, vk::API_VERSION_1_3, chain.cast()) }?;
    }
    expect_no_messages()
}

fn features2_with<'a>(
    features2: &'a mut vk::PhysicalDeviceFeatures2<'a>,
    vulkan12: &'a mut vk::PhysicalDeviceVulkan12Features<'a>,
) -> *const c_void {
    let chained = std::mem::take(features2).push_next(vulkan12);
    *features2 = chained;
    let chain: *const vk::PhysicalDeviceFeatures2<'_> = features2;
    chain.cast()
}

/// Sorts and scans on an adopted device, and destroys it afterwards.
///
/// # Safety
/// `features` begins a valid chain, or is null.
unsafe fn run_adopted(gpu: &Gpu, api_version: u32, features: *const c_void) -> Result<(), Failed> {
    let host = Host::new(gpu, api_version)?;
    let needs = host.query()?;
    assert!(needs.api_version() >= DeviceRequirements::MIN_API_VERSION);
    // SAFETY: as the caller promises.
    let raw = unsafe { host.create_device(&needs, features) }?;
    // SAFETY: the device is alive.
    let cache = unsafe { raw.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }?;
    {
        // SAFETY: all belong together, satisfy `needs`, and outlive the block.
        let device = unsafe {
            Device::from_raw(&host.instance, host.physical_device, watched(&raw), needs.enabled(), cache)
        }?;
        ARE_FULL.lock().unwrap().clear();
        *CACHE.lock().unwrap() = cache;
        let sort = SortPlan::new(&device, SortConfig::keys(ElementType::U32))?;
        let are_full = std::mem::take(&mut *ARE_FULL.lock().unwrap());
        assert_eq!(are_full, vec![needs.enabled().compute_full_subgroups; sort.pipelines().count()]);
        let scan = ScanPlan::new(&device, ScanConfig::inclusive(ElementType::U32))?;

        // Guard words, keys, guard words, scratch, guard words.
        let keys: Vec<u32> = (0..10_000u32).map(|index| index.wrapping_mul(0x9e37_79b9) >> 7).collect();
        let count = keys.len() as u64;
        let guarded = [64, 4 * count, 64];
        let room = sort.scratch_requirements(count).size.max(scan.scratch_requirements(count).size);
        let at = guarded.iter().sum::<u64>().next_multiple_of(16);
        let memory = HostMemory::new(&host, &raw, at + room + 64)?;
        let whole = memory.range();
        let (elements, scratch) = (whole.slice(64, 4 * count).addresses(), whole.slice(at, room));
        memory.words().fill(GUARD);
        memory.words()[16..16 + keys.len()].copy_from_slice(&keys);
        // SAFETY: the ranges are the memory's, which lives until the work is done.
        host.run(&raw, |commands| unsafe {
            sort.cmd_record(commands, &SortBuffers::new(elements, scratch), count)
        })?;
        let mut expected = keys;
        expected.sort_unstable();
        assert_eq!(memory.words()[16..16 + expected.len()], expected);
        // SAFETY: as above.
        host.run(&raw, |commands| unsafe {
            scan.cmd_record(commands, &ScanBuffers::in_place(elements, scratch), count)
        })?;
        let mut sum = 0u32;
        expected.iter_mut().for_each(|element| {
            sum = sum.wrapping_add(*element);
            *element = sum;
        });
        let words = memory.words();
        assert_eq!(words[16..16 + expected.len()], expected);
        let guards = [0..16, 16 + expected.len()..at as usize / 4, (at + room) as usize / 4..words.len()];
        for guard in guards {
            assert!(words[guard.clone()].iter().all(|&word| word == GUARD), "{guard:?}");
        }
    }
    // An adopted device is destroyed by its owner. SAFETY: everything made from it is gone.
    unsafe {
        raw.destroy_pipeline_cache(cache, None);
        raw.destroy_device(None);
    }
    Ok(())
}

/// Declared features are checked against the device, and missing functions are reported.
pub fn refused_devices(gpu: &Gpu) -> Result<(), Failed> {
    on_device(gpu, |host, raw, needed| {
        let missing = |enabled| match host.adopt(&host.instance, raw.clone(), enabled) {
            Err(Error::MissingFeature { missing, .. }) => missing,
            other => panic!("{other:?}"),
        };
        assert!(missing(EnabledFeatures::default()).contains("bufferDeviceAddress"));
        let mut unsupported = needed;
        unsupported.shader_float64 = true;
        unsupported.compute_full_subgroups = true;
        if unsupported != needed {
            assert!(missing(unsupported).contains("declared as enabled"));
        }
        host.remember_lookup();
        let without = host.instance_by(without_indirect);
        let refused = host.adopt(&without, raw.clone(), needed).map(|_| ());
        assert_eq!(refused, Err(Error::MissingFunction { name: c"vkCmdDispatchIndirect" }));
        // The required features alone suffice.
        let device = host.adopt(&host.instance, raw.clone(), EnabledFeatures::REQUIRED)?;
        SortPlan::new(&device, SortConfig::keys(ElementType::U32))?;
        Ok(())
    })
}

unsafe extern "system" fn without_indirect(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: Vulkan's names are C strings.
    if unsafe { CStr::from_ptr(name) } == c"vkCmdDispatchIndirect" {
        return None;
    }
    // SAFETY: as the caller promises.
    unsafe { Host::real_function(device, name) }
}

/// A plan refuses the recorder of another device.
pub fn foreign_devices(gpu: &Gpu) -> Result<(), Failed> {
    on_adopted_device(gpu, |host, raw, device| {
        on_adopted_device(gpu, |_, _, other| {
            let plan = SortPlan::new(device, SortConfig::keys(ElementType::U32))?;
            let buffers = SortBuffers::new(AddressRange::new(1 << 20, 40), BufferRange::NONE);
            assert_eq!(plan.record(&mut Recorder::dry(device), &buffers, 10), Ok(()));
            assert_eq!(plan.record(&mut Recorder::dry(other), &buffers, 10), Err(Error::ForeignDevice));
            for subject in subjects(device, unused_memory())? {
                let recorded = (subject.record)(&mut Recorder::dry(other));
                assert_eq!(recorded, Err(Error::ForeignDevice), "{}", subject.name);
            }
            // A device that is adopted twice counts as one.
            let again = host.adopt(&host.instance, raw.clone(), EnabledFeatures::REQUIRED)?;
            assert!(again.is_same(device) && !again.is_same(other));
            Ok(())
        })
    })
}

/// Whether each pipeline of a watched device requires full subgroups.
static ARE_FULL: Mutex<Vec<bool>> = Mutex::new(Vec::new());
/// The cache that pipelines must be created with.
static CACHE: Mutex<vk::PipelineCache> = Mutex::new(vk::PipelineCache::null());
static CREATE: OnceLock<vk::PFN_vkCreateComputePipelines> = OnceLock::new();

/// The same device, with a function table that records the creation of pipelines.
fn watched(device: &subsweep::ash::Device) -> subsweep::ash::Device {
    CREATE.get_or_init(|| device.fp_v1_0().create_compute_pipelines);
    device_by(device, create_watched)
}

unsafe extern "system" fn create_watched(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    assert_eq!(cache, *CACHE.lock().unwrap());
    // SAFETY: the caller passes `count` infos.
    let requested = unsafe { std::slice::from_raw_parts(infos, count as usize) };
    let is_full = |info: &vk::ComputePipelineCreateInfo<'_>| {
        info.stage.flags.contains(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
    };
    ARE_FULL.lock().unwrap().extend(requested.iter().map(is_full));
    // SAFETY: as the caller promises.
    unsafe { CREATE.get().expect("`watched` has set it")(device, cache, count, infos, allocator, pipelines) }
}
