//! Recordings: the calls that the plan states and no other, no allocation, and labels and timestamps on request.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::hint::black_box;
use std::sync::Mutex;

use libtest_mimic::Failed;
use subsweep::ash::vk;
use subsweep::device::{AddressRange, CommandCounts, Device, Recorder, TimestampSlots};
use subsweep::headless::Gpu;
use subsweep::scan::{ScanBuffers, ScanConfig, ScanPlan, ScanPolicy};
use subsweep::sort::{SortBuffers, SortConfig, SortPlan};

use subsweep::{ElementType, Error};

use crate::allocations::allocations;

use super::contract::{Room, Subject, subjects, unused_memory};
use super::host::{Host, HostMemory, on_adopted_device, with_commands};

/// Calls of the recording functions of [`watched`], by name.
static CALLS: Mutex<BTreeMap<&'static str, u32>> = Mutex::new(BTreeMap::new());

/// A stand-in that counts its calls and forwards them.
macro_rules! counted {
    ($function:ident, $name:literal, $type:ty, ($($argument:ident: $of:ty),*)) => {
        unsafe extern "system" fn $function(commands: vk::CommandBuffer, $($argument: $of),*) {
            *CALLS.lock().unwrap().entry($name).or_default() += 1;
            let device = *DEVICE.lock().unwrap();
            let name = CString::new($name).unwrap();
            // SAFETY: the function has this type, and its caller follows Vulkan's rules.
            unsafe {
                let real = Host::real_function(device, name.as_ptr()).expect("it has been looked up");
                let real = std::mem::transmute::<unsafe extern "system" fn(), $type>(real);
                real(commands, $($argument),*);
            }
        }
    };
}

static DEVICE: Mutex<vk::Device> = Mutex::new(vk::Device::null());

counted!(bind, "vkCmdBindPipeline", vk::PFN_vkCmdBindPipeline, (point: vk::PipelineBindPoint, pipeline: vk::Pipeline));
counted!(push, "vkCmdPushConstants", vk::PFN_vkCmdPushConstants,
    (layout: vk::PipelineLayout, stages: vk::ShaderStageFlags, offset: u32, size: u32, values: *const std::ffi::c_void));
counted!(dispatch, "vkCmdDispatch", vk::PFN_vkCmdDispatch, (x: u32, y: u32, z: u32));
counted!(dispatch_indirect, "vkCmdDispatchIndirect", vk::PFN_vkCmdDispatchIndirect, (buffer: vk::Buffer, offset: u64));
counted!(fill, "vkCmdFillBuffer", vk::PFN_vkCmdFillBuffer, (buffer: vk::Buffer, offset: u64, size: u64, word: u32));
counted!(update, "vkCmdUpdateBuffer", vk::PFN_vkCmdUpdateBuffer,
    (buffer: vk::Buffer, offset: u64, size: u64, data: *const std::ffi::c_void));
counted!(barrier, "vkCmdPipelineBarrier", vk::PFN_vkCmdPipelineBarrier,
    (from: vk::PipelineStageFlags, to: vk::PipelineStageFlags, flags: vk::DependencyFlags,
     count: u32, memory: *const vk::MemoryBarrier<'_>,
     buffer_count: u32, buffers: *const vk::BufferMemoryBarrier<'_>,
     image_count: u32, images: *const vk::ImageMemoryBarrier<'_>));
counted!(timestamp, "vkCmdWriteTimestamp", vk::PFN_vkCmdWriteTimestamp,
    (stage: vk::PipelineStageFlags, pool: vk::QueryPool, query: u32));
counted!(begin_label, "vkCmdBeginDebugUtilsLabelEXT", vk::PFN_vkCmdBeginDebugUtilsLabelEXT,
    (label: *const vk::DebugUtilsLabelEXT<'_>));
counted!(end_label, "vkCmdEndDebugUtilsLabelEXT", vk::PFN_vkCmdEndDebugUtilsLabelEXT, ());

/// The stand-in for every function that no recording may call.
unsafe extern "system" fn forbidden() {
    // It cannot return: it may stand for a function of any type.
    eprintln!("a recording called a function that no plan states");
    std::process::abort();
}

unsafe extern "system" fn watched(_: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    macro_rules! function {
        ($function:ident: $type:ty) => {
            // SAFETY: a caller uses a function by the type of its name.
            unsafe { std::mem::transmute::<$type, unsafe extern "system" fn()>($function) }
        };
    }
    // SAFETY: Vulkan's names are C strings.
    let name = unsafe { CStr::from_ptr(name) };
    Some(match name.to_bytes() {
        b"vkCmdBindPipeline" => function!(bind: vk::PFN_vkCmdBindPipeline),
        b"vkCmdPushConstants" => function!(push: vk::PFN_vkCmdPushConstants),
        b"vkCmdDispatch" => function!(dispatch: vk::PFN_vkCmdDispatch),
        b"vkCmdDispatchIndirect" => function!(dispatch_indirect: vk::PFN_vkCmdDispatchIndirect),
        b"vkCmdFillBuffer" => function!(fill: vk::PFN_vkCmdFillBuffer),
        b"vkCmdUpdateBuffer" => function!(update: vk::PFN_vkCmdUpdateBuffer),
        b"vkCmdPipelineBarrier" => function!(barrier: vk::PFN_vkCmdPipelineBarrier),
        b"vkCmdWriteTimestamp" => function!(timestamp: vk::PFN_vkCmdWriteTimestamp),
        b"vkCmdBeginDebugUtilsLabelEXT" => function!(begin_label: vk::PFN_vkCmdBeginDebugUtilsLabelEXT),
        b"vkCmdEndDebugUtilsLabelEXT" => function!(end_label: vk::PFN_vkCmdEndDebugUtilsLabelEXT),
        _ => forbidden,
    })
}

/// Records every kind of plan through the stand-ins, with labels where the instance supports them, and without.
pub fn recordings(gpu: &Gpu) -> Result<(), Failed> {
    let (count, _) = allocations(|| black_box(vec![black_box(1u8); 100]));
    assert_eq!(count, 1, "allocations are counted");

    on_adopted_device(gpu, |host, raw, device| {
        host.remember_lookup();
        *DEVICE.lock().unwrap() = raw.handle();
        let memory = HostMemory::new(host, raw, Room::ARRAYS_SIZE + Room::SCRATCH_SIZE)?;
        let arrays_size = Room::ARRAYS_SIZE.next_multiple_of(16);
        let room = Room {
            arrays: memory.range().slice(0, Room::ARRAYS_SIZE),
            scratch: memory.range().slice(arrays_size, Room::SCRATCH_SIZE - 16),
            shifted: None,
        };
        let watching = host.instance_by(watched);
        // SAFETY: the handle is alive; only functions that `watched` lets through are called.
        let table = unsafe { subsweep::ash::Device::load(watching.fp_v1_0(), raw.handle()) };
        let enabled = device.capabilities().enabled;
        let mut plain = enabled;
        plain.debug_utils = false;
        let [plain, labelled] = [plain, enabled].map(|enabled| host.adopt(&watching, table.clone(), enabled));
        let (plain, labelled) = (plain?, labelled?);
        let pool = query_pool(raw)?;
        for subject in subjects(device, room)? {
            assert!(subject.scratch_size <= room.scratch.size, "{}", subject.name);
            with_commands(raw, |commands| {
                // SAFETY: the command buffer and the queries are the device's; nothing is submitted.
                unsafe {
                    raw.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
                    raw.cmd_reset_query_pool(commands, pool, 0, QUERY_COUNT);
                }
                makes_stated_calls(&plain, commands, &subject)?;
                is_timed_and_labelled(&labelled, commands, pool, &subject)?;
                allocates_nothing(device, commands, &subject)?;
                // SAFETY: as above.
                unsafe { raw.end_command_buffer(commands) }?;
                Ok(())
            })?;
        }
        with_commands(raw, |commands| {
            // SAFETY: the command buffer is the device's.
            unsafe { raw.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()) }?;
            refusals_record_nothing(device, &labelled, commands, pool)?;
            // SAFETY: as above.
            Ok(unsafe { raw.end_command_buffer(commands) }?)
        })?;
        // SAFETY: nothing was submitted.
        unsafe { raw.destroy_query_pool(pool, None) };
        Ok(())
    })
}

/// Returns the calls since the last call.
fn take_calls() -> BTreeMap<&'static str, u32> {
    std::mem::take(&mut CALLS.lock().unwrap())
}

/// Dispatches with their pipelines and push constants, barriers, fills and updates: as many as
/// [`commands`](subsweep::sort::SortPlan::commands) states, and no other call.
fn makes_stated_calls(device: &Device, commands: vk::CommandBuffer, subject: &Subject) -> Result<(), Failed> {
    let name = &subject.name;
    let stated = (subject.commands)()?;
    take_calls();
    // SAFETY: the command buffer and all memory are the device's.
    let mut recorder = unsafe { Recorder::new(device, commands) };
    (subject.record)(&mut recorder)?;
    assert_eq!(recorder.counts(), stated, "{name}");
    let CommandCounts { dispatches, barriers, transfers, .. } = stated;
    let calls = take_calls();
    let count = |names: &[&str]| names.iter().filter_map(|name| calls.get(name)).sum::<u32>();
    assert!(dispatches > 0, "{name}");
    assert_eq!(count(&["vkCmdDispatch", "vkCmdDispatchIndirect"]), dispatches, "{name}");
    assert_eq!(count(&["vkCmdBindPipeline"]), dispatches, "{name}");
    assert_eq!(count(&["vkCmdPushConstants"]), dispatches, "{name}");
    assert_eq!(count(&["vkCmdPipelineBarrier"]), barriers, "{name}");
    assert_eq!(count(&["vkCmdFillBuffer", "vkCmdUpdateBuffer"]), transfers, "{name}");
    assert_eq!(calls.values().sum::<u32>(), 3 * dispatches + barriers + transfers, "{name}");
    Ok(())
}

/// Recording makes no allocation on its thread.
fn allocates_nothing(device: &Device, commands: vk::CommandBuffer, subject: &Subject) -> Result<(), Failed> {
    let (made, recorded) = allocations(|| {
        // SAFETY: the command buffer and all memory are the device's.
        (subject.record)(&mut unsafe { Recorder::new(device, commands) })
    });
    recorded?;
    assert_eq!(made, 0, "{}", subject.name);
    Ok(())
}

/// One timestamp at the begin of a plan and one at the end of each phase, as far as slots last; a label around each.
fn is_timed_and_labelled(
    device: &Device,
    commands: vk::CommandBuffer,
    pool: vk::QueryPool,
    subject: &Subject,
) -> Result<(), Failed> {
    let name = &subject.name;
    let mut all = TimestampSlots::new(pool, 0, QUERY_COUNT - 2);
    take_calls();
    // SAFETY: the command buffer, the queries and all memory are the device's.
    let mut recorder = unsafe { Recorder::new(device, commands) }.with_timestamps(&mut all);
    (subject.record)(&mut recorder)?;
    let calls = take_calls();
    let count = |name| calls.get(name).copied().unwrap_or_default();
    let names = all.names();
    assert_eq!(count("vkCmdWriteTimestamp"), names.len() as u32, "{name}");
    assert!(names.len() >= 2 && names[0] == TimestampSlots::BEGIN, "{name}: {names:?}");
    let labels = count("vkCmdBeginDebugUtilsLabelEXT");
    assert_eq!(labels, count("vkCmdEndDebugUtilsLabelEXT"), "{name}");
    if device.capabilities().enabled.debug_utils {
        // The plan's label, and one for each phase; a plan of one phase has only its own.
        let has_phases = !names[names.len() - 1].to_bytes().starts_with(b"subsweep");
        assert!(labels as usize >= names.len() - usize::from(!has_phases), "{name}: {labels}, {names:?}");
    } else {
        assert_eq!(labels, 0, "{name}");
    }

    let mut few = TimestampSlots::new(pool, QUERY_COUNT - 2, 2);
    // SAFETY: as above.
    let mut recorder = unsafe { Recorder::new(device, commands) }.with_timestamps(&mut few);
    (subject.record)(&mut recorder)?;
    assert_eq!([few.names()[0], few.names()[1]], [names[0], names[names.len() - 1]], "{name}");
    Ok(())
}

/// A refused recording records no command, label or timestamp.
fn refusals_record_nothing(
    device: &Device,
    watched: &Device,
    commands: vk::CommandBuffer,
    pool: vk::QueryPool,
) -> Result<(), Failed> {
    let room = unused_memory();
    let scan = ScanPlan::new(device, ScanConfig::inclusive(ElementType::U32))?;
    let sort = SortPlan::new(device, SortConfig::keys(ElementType::U32))?;
    let few = AddressRange { size: 4, ..room.arrays.addresses() };
    let count = 1000u64;
    let mut slots = TimestampSlots::new(pool, 0, QUERY_COUNT);
    take_calls();
    // SAFETY: the command buffer and the queries are the device's; nothing is recorded.
    let mut recorder = unsafe { Recorder::new(watched, commands) }.with_timestamps(&mut slots);
    let scratch = room.scratch;
    let refused = [
        scan.record(&mut recorder, &ScanBuffers::in_place(few, scratch), count),
        sort.record(&mut recorder, &SortBuffers::new(few, scratch), count),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(Error::RangeTooSmall { .. })), "{refused:?}");
    }
    assert_eq!((take_calls().len(), slots.names().len()), (0, 0));
    Ok(())
}

/// More queries than any recording writes.
const QUERY_COUNT: u32 = 256;

fn query_pool(raw: &subsweep::ash::Device) -> Result<vk::QueryPool, Failed> {
    let info =
        vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERY_COUNT);
    // SAFETY: the device is alive.
    Ok(unsafe { raw.create_query_pool(&info, None) }?)
}

/// The device's timestamps of a scan's phases.
pub fn phase_times(gpu: &Gpu) -> Result<(), Failed> {
    on_adopted_device(gpu, |host, raw, device| {
        let plan = ScanPlan::new(
            device,
            ScanConfig::inclusive(ElementType::U32).policy(ScanPolicy::tiled(64, 4, 4)),
        )?;
        let count = 1 << 14;
        let scratch_size = plan.scratch_requirements(count).size;
        let memory = HostMemory::new(host, raw, 4 * count + scratch_size)?;
        let whole = memory.range();
        let elements = whole.slice(0, 4 * count).addresses();
        let buffers = ScanBuffers::in_place(elements, whole.slice(4 * count, scratch_size));
        memory.words().fill(1);
        let pool = query_pool(raw)?;
        let mut slots = TimestampSlots::new(pool, 3, 10);
        host.run(raw, |commands| {
            // SAFETY: the command buffer, the queries and the memory are the device's, and live until the work is done.
            unsafe {
                raw.cmd_reset_query_pool(commands, pool, 0, QUERY_COUNT);
                plan.record(&mut Recorder::new(device, commands).with_timestamps(&mut slots), &buffers, count)
            }
        })?;
        let names = [TimestampSlots::BEGIN, c"reduce", c"spine", c"downsweep"];
        assert_eq!(slots.names(), names);
        let mut ticks = [0u64; 4];
        // SAFETY: the work is done.
        unsafe {
            raw.get_query_pool_results(pool, 3, &mut ticks, vk::QueryResultFlags::TYPE_64)?;
            raw.destroy_query_pool(pool, None);
        }
        assert!(ticks.is_sorted() && ticks[0] < ticks[3], "{ticks:?}");
        assert_eq!(memory.words()[count as usize - 1], count as u32);
        Ok(())
    })
}
