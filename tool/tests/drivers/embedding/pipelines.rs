//! Pipelines of an adopted device: shared by its plans, and compiled on the threads that its owner allows.

use std::ffi::{CStr, c_char};
use std::mem::transmute;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use libtest_mimic::Failed;
use subsweep::ElementType;
use subsweep::ash::vk;
use subsweep::headless::Gpu;
use subsweep::scan::{ScanConfig, ScanPlan};
use subsweep::sort::{SortConfig, SortPlan};

use super::host::{Host, device_by, on_adopted_device, on_device};

/// Time limit of a wait for another thread.
const LONG: Duration = Duration::from_secs(60);

/// Plans of one configuration share their pipelines; plans of different kernels do not.
pub fn shared(gpu: &Gpu) -> Result<(), Failed> {
    on_adopted_device(gpu, |_, _, device| {
        let config = SortConfig::keys(ElementType::U32);
        let first = SortPlan::new(device, config)?;
        let created = device.pipeline_counts().created;
        assert!(created > 0);
        let second = SortPlan::new(device, config)?;
        assert_eq!(device.pipeline_counts().created, created);
        assert!(first.pipelines().zip(second.pipelines()).all(|(first, second)| first.is_same(second)));
        let scan = ScanPlan::new(device, ScanConfig::inclusive(ElementType::F32))?;
        assert!(device.pipeline_counts().created > created);
        assert!(scan.pipelines().all(|one| first.pipelines().all(|other| !one.is_same(other))));
        Ok(())
    })
}

/// Concurrent calls of a function of Vulkan.
#[derive(Debug, Default)]
struct Inside {
    now: usize,
    most: usize,
    /// Calls return only after this many have been concurrent.
    awaited: usize,
}

static COMPILING: (Mutex<Inside>, Condvar) =
    (Mutex::new(Inside { now: 0, most: 0, awaited: 0 }), Condvar::new());
static CREATE: OnceLock<vk::PFN_vkCreateComputePipelines> = OnceLock::new();

unsafe extern "system" fn create_together(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let (inside, changed) = &COMPILING;
    {
        let mut inside = inside.lock().unwrap();
        inside.now += 1;
        inside.most = inside.most.max(inside.now);
        changed.notify_all();
        let (mut inside, waited) =
            changed.wait_timeout_while(inside, LONG, |inside| inside.most < inside.awaited).unwrap();
        if waited.timed_out() {
            // No other call came: later calls do not wait.
            inside.awaited = 0;
        }
    }
    // SAFETY: as the caller promises.
    let result = unsafe {
        CREATE.get().expect("the test has set it")(device, cache, count, infos, allocator, pipelines)
    };
    inside.lock().unwrap().now -= 1;
    result
}

/// Creates a scan's pipelines; returns the largest number of concurrent calls of `vkCreateComputePipelines`.
fn most_at_once(device: &subsweep::device::Device, awaited: usize) -> Result<usize, Failed> {
    *COMPILING.0.lock().unwrap() = Inside { awaited, ..Inside::default() };
    // No other plan holds the pipelines, so they are compiled.
    ScanPlan::new(device, ScanConfig::inclusive(ElementType::U32))?;
    Ok(COMPILING.0.lock().unwrap().most)
}

/// Pipelines are compiled one at a time by default, and concurrently if the owner allows more threads.
pub fn in_parallel(gpu: &Gpu) -> Result<(), Failed> {
    on_device(gpu, |host, raw, enabled| {
        CREATE.get_or_init(|| raw.fp_v1_0().create_compute_pipelines);
        let device = host.adopt(&host.instance, device_by(raw, create_together), enabled)?;
        assert_eq!(device.pipeline_threads(), NonZeroUsize::MIN);
        assert_eq!(most_at_once(&device, 1)?, 1);
        device.set_pipeline_threads(NonZeroUsize::MIN.saturating_add(1));
        assert_eq!(most_at_once(&device, 2)?, 2);
        Ok(())
    })
}

/// The progress of two threads that create the same plan.
#[derive(Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Start,
    /// The first thread is in the function that names its first pipeline.
    Naming,
    /// The second thread has the plan.
    Planned,
}

static STEP: (Mutex<Step>, Condvar) = (Mutex::new(Step::Start), Condvar::new());
/// Whether the second thread got the plan while its pipeline was being named.
static IS_TOO_EARLY: Mutex<bool> = Mutex::new(false);
static SET_NAME: OnceLock<vk::PFN_vkSetDebugUtilsObjectNameEXT> = OnceLock::new();

unsafe extern "system" fn name_slowly(
    device: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    let (step, changed) = &STEP;
    let mut at = step.lock().unwrap();
    if *at == Step::Start {
        *at = Step::Naming;
        changed.notify_all();
        // The second thread would take milliseconds if it did not wait for this one.
        let wait = changed.wait_timeout_while(at, Duration::from_millis(500), |step| *step != Step::Planned);
        *IS_TOO_EARLY.lock().unwrap() = !wait.unwrap().1.timed_out();
    } else {
        drop(at);
    }
    // SAFETY: as the caller promises.
    unsafe { SET_NAME.get().expect("`slow_names` has set it")(device, info) }
}

unsafe extern "system" fn slow_names(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: as the caller promises.
    let real = unsafe { Host::real_function(device, name) };
    // SAFETY: Vulkan's names are C strings.
    if unsafe { CStr::from_ptr(name) } != c"vkSetDebugUtilsObjectNameEXT" {
        return real;
    }
    // SAFETY: both are functions of the name's type.
    unsafe {
        SET_NAME.get_or_init(|| transmute(real.expect("the instance has VK_EXT_debug_utils")));
        Some(transmute::<vk::PFN_vkSetDebugUtilsObjectNameEXT, unsafe extern "system" fn()>(name_slowly))
    }
}

/// An object must not be used by other threads while it is being named.
pub fn named_first(gpu: &Gpu) -> Result<(), Failed> {
    if !gpu.is_validated() {
        // Without the layer, no object is named.
        return Ok(());
    }
    on_device(gpu, |host, raw, enabled| {
        host.remember_lookup();
        let device = host.adopt(&host.instance_by(slow_names), raw.clone(), enabled)?;
        let plan = || ScanPlan::new(&device, ScanConfig::inclusive(ElementType::U32));
        let (first, second) = thread::scope(|scope| {
            let first = scope.spawn(plan);
            let (step, changed) = &STEP;
            drop(
                changed.wait_timeout_while(step.lock().unwrap(), LONG, |step| *step == Step::Start).unwrap(),
            );
            let second = plan();
            *step.lock().unwrap() = Step::Planned;
            changed.notify_all();
            (first.join().expect("no thread panics"), second)
        });
        assert!(first?.pipelines().zip(second?.pipelines()).all(|(first, second)| first.is_same(second)));
        assert!(SET_NAME.get().is_some(), "nothing was named");
        assert!(!*IS_TOO_EARLY.lock().unwrap(), "a plan has a pipeline that is being named");
        Ok(())
    })
}
