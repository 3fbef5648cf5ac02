//! A Vulkan loader between the library and the system's loader, which injects faults and tracks the objects that are
//! alive.
//!
//! `ash` looks each function up by its name, and [`functions`] returns a stand-in. A function that is not in its tables
//! does not exist: a call of it makes `ash` print its name and abort.
//!
//! An injected failure does not reach the driver. The process has one shim.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use subsweep::ash::vk;
use subsweep::ash::vk::Handle;

use super::functions;

/// A call of a function that can fail, and the errors that it may return.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub name: &'static str,
    pub errors: &'static [vk::Result],
}

/// An injected fault.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// The index of the failing call among the calls that can fail.
    pub index: usize,
    pub result: vk::Result,
    /// Whether every later call that may return the error fails too.
    pub lasts: bool,
}

struct State {
    /// Calls since [`during`] began; `None` outside of it.
    calls: Option<Vec<Call>>,
    fault: Option<Fault>,
    /// Type and handle of each object, in order of creation.
    alive: Vec<(vk::ObjectType, u64)>,
    /// The pool of each command buffer.
    pools: BTreeMap<u64, u64>,
    /// Fence and pool of each submission that may be executing, from the results that the caller has seen.
    in_flight: Vec<[u64; 2]>,
    offences: Vec<String>,
}

fn state() -> MutexGuard<'static, State> {
    static STATE: Mutex<State> = Mutex::new(State {
        calls: None,
        fault: None,
        alive: Vec::new(),
        pools: BTreeMap::new(),
        in_flight: Vec::new(),
        offences: Vec::new(),
    });
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

static LOADER: LazyLock<subsweep::ash::Entry> = LazyLock::new(|| {
    // SAFETY: the system's loader is trusted to be one; it is never unloaded.
    unsafe { subsweep::ash::Entry::load() }.expect("the row's device was opened with it")
});

/// The shim.
pub fn entry() -> subsweep::ash::Entry {
    // SAFETY: it behaves as the loader does, except for errors that Vulkan allows and for missing functions, which
    // `ash` handles.
    unsafe { subsweep::ash::Entry::from_static_fn(subsweep::ash::StaticFn { get_instance_proc_addr }) }
}

pub unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: as the caller promises.
    let (name, real) =
        unsafe { (CStr::from_ptr(name), (LOADER.static_fn().get_instance_proc_addr)(instance, name)) };
    functions::resolve(name, real?)
}

pub unsafe extern "system" fn get_device_proc_addr(
    _: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let instance = state().newest();
    // SAFETY: the device's instance is alive; the name is as the caller promises.
    unsafe { get_instance_proc_addr(instance, name) }
}

/// Runs `work` with `fault`, and returns its calls of functions that can fail.
pub fn during<T>(fault: Option<Fault>, work: impl FnOnce() -> T) -> (T, Vec<Call>) {
    /// Ends the fault, even if the work panics.
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            let mut state = state();
            (state.calls, state.fault) = (None, None);
        }
    }
    {
        let mut state = state();
        (state.calls, state.fault) = (Some(Vec::new()), fault);
    }
    let _guard = Guard;
    let done = work();
    (done, state().calls.take().unwrap_or_default())
}

/// How many objects of each type are alive.
pub fn alive() -> BTreeMap<vk::ObjectType, usize> {
    let mut counts = BTreeMap::new();
    state().alive.iter().for_each(|(kind, _)| *counts.entry(*kind).or_default() += 1);
    counts
}

/// The errors since the last call: uses of objects that are not alive, or calls that are forbidden while the device is
/// busy.
pub fn take_offences() -> Vec<String> {
    std::mem::take(&mut state().offences)
}

/// Records a call, and returns the error to inject, if any.
pub fn fails(call: Call) -> Option<vk::Result> {
    let mut state = state();
    let calls = state.calls.as_mut()?;
    let index = calls.len();
    calls.push(call);
    let fault = state.fault?;
    let is_due = index == fault.index || fault.lasts && index > fault.index;
    if !is_due || !call.errors.contains(&fault.result) {
        return None;
    }
    if fault.result == vk::Result::ERROR_DEVICE_LOST {
        // A lost device is idle.
        state.settle();
    }
    Some(fault.result)
}

/// Records that a command buffer was allocated.
pub fn is_of_pool(commands: vk::CommandBuffer, pool: vk::CommandPool) {
    state().pools.insert(commands.as_raw(), pool.as_raw());
}

/// Records a submission, of one command buffer at most.
pub fn is_submitted(fence: vk::Fence, commands: Option<vk::CommandBuffer>) {
    let mut state = state();
    let pool = commands.map_or(0, |commands| state.pools[&commands.as_raw()]);
    state.in_flight.push([fence.as_raw(), pool]);
}

/// Records that the caller has waited for a fence.
pub fn has_completed(fence: vk::Fence) {
    state().in_flight.retain(|used| used[0] != fence.as_raw());
}

/// Records that `name` is about to reset a fence or a pool.
pub fn is_reset<H: Handle>(name: &str, handle: H) {
    let handle = handle.as_raw();
    state().touch(name, |used| used.contains(&handle));
}

/// Records a new object.
pub fn is_made<H: Handle>(handle: H) {
    state().alive.push((H::TYPE, handle.as_raw()));
}

/// Records that `name` is about to destroy an object.
pub fn is_destroyed<H: Handle>(name: &str, handle: H) {
    let ended = (H::TYPE, handle.as_raw());
    if ended.1 == 0 {
        return;
    }
    let mut state = state();
    // A submission uses its fence and its pool, and may use any other object.
    let is_known = matches!(H::TYPE, vk::ObjectType::FENCE | vk::ObjectType::COMMAND_POOL);
    state.touch(name, |used| !is_known || used.contains(&ended.1));
    match state.alive.iter().rposition(|alive| *alive == ended) {
        Some(index) => _ = state.alive.remove(index),
        None => state.offences.push(format!("{name} of an object that is not alive")),
    }
}

impl State {
    /// Records that `name`, which is forbidden while a submission is in flight that `uses` its object, is about to be called.
    fn touch(&mut self, name: &str, uses: impl Fn(&[u64; 2]) -> bool) {
        if self.in_flight.iter().any(uses) {
            self.offences.push(format!("{name} while the device may be busy"));
            self.settle();
        }
    }

    /// Waits until the device is idle.
    fn settle(&mut self) {
        if !std::mem::take(&mut self.in_flight).is_empty()
            && let Some(device) = self.device()
        {
            // SAFETY: the device is alive, and its queue is used by one thread. If this fails, the device is idle.
            let _ = unsafe { device.device_wait_idle() };
        }
    }

    /// The newest object of a type, or null.
    fn newest<H: Handle>(&self) -> H {
        H::from_raw(self.alive.iter().rfind(|(kind, _)| *kind == H::TYPE).map_or(0, |(_, handle)| *handle))
    }

    /// The system's own functions of the newest instance.
    fn instance(&self) -> Option<subsweep::ash::Instance> {
        let instance: vk::Instance = self.newest();
        // SAFETY: the instance is alive.
        (!instance.is_null()).then(|| unsafe { subsweep::ash::Instance::load(LOADER.static_fn(), instance) })
    }

    /// The system's own functions of the newest device.
    fn device(&self) -> Option<subsweep::ash::Device> {
        let device: vk::Device = self.newest();
        let instance = self.instance().filter(|_| !device.is_null())?;
        // SAFETY: the device is alive, and the newest instance is its own: devices are opened and dropped with theirs.
        Some(unsafe { subsweep::ash::Device::load(instance.fp_v1_0(), device) })
    }

    /// Destroys an object.
    fn end(&self, (kind, handle): (vk::ObjectType, u64)) {
        use vk::ObjectType as Type;
        // SAFETY: the object is alive, its children are not, and nothing uses it.
        unsafe {
            match (kind, self.instance(), self.device()) {
                (Type::INSTANCE, Some(instance), _) => instance.destroy_instance(None),
                (_, _, Some(device)) => match kind {
                    Type::DEVICE => device.destroy_device(None),
                    Type::DEVICE_MEMORY => device.free_memory(Handle::from_raw(handle), None),
                    Type::BUFFER => device.destroy_buffer(Handle::from_raw(handle), None),
                    Type::FENCE => device.destroy_fence(Handle::from_raw(handle), None),
                    Type::COMMAND_POOL => device.destroy_command_pool(Handle::from_raw(handle), None),
                    Type::QUERY_POOL => device.destroy_query_pool(Handle::from_raw(handle), None),
                    Type::PIPELINE => device.destroy_pipeline(Handle::from_raw(handle), None),
                    Type::PIPELINE_CACHE => device.destroy_pipeline_cache(Handle::from_raw(handle), None),
                    Type::PIPELINE_LAYOUT => device.destroy_pipeline_layout(Handle::from_raw(handle), None),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

/// Destroys all objects that are alive, the newest first, once the device is idle.
pub fn clear() {
    let mut state = state();
    state.settle();
    while let Some(&newest) = state.alive.last() {
        state.end(newest);
        state.alive.pop();
    }
}
