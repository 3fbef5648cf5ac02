//! A Vulkan loader between the library and the system's, which fails when it is told to, and counts what is alive.
//!
//! `ash` asks for each function by its name, and [`functions`] knows what to answer. A function that is not known there
//! does not exist: when the library calls it all the same, `ash` says its name and ends the process.
//!
//! What is told to fail fails without asking the driver. There is one shim in the process.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use subsweep::ash::vk::Handle;
use subsweep::ash::{self, vk};

use super::functions;

/// A call of a function that can fail, and what it may return then.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub name: &'static str,
    pub errors: &'static [vk::Result],
}

/// What goes wrong, and when.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Which call fails, of those that can, counted from 0.
    pub index: usize,
    pub result: vk::Result,
    /// Whether every later call that may fail in this way does.
    pub lasts: bool,
}

struct State {
    /// Calls since [`during`] began; `None` outside of it.
    calls: Option<Vec<Call>>,
    fault: Option<Fault>,
    /// By type and handle, in the order in which they were made.
    alive: Vec<(vk::ObjectType, u64)>,
    /// Whether the device may be at work, as far as the caller can know.
    is_at_work: bool,
    offences: Vec<String>,
}

fn state() -> MutexGuard<'static, State> {
    static STATE: Mutex<State> = Mutex::new(State {
        calls: None,
        fault: None,
        alive: Vec::new(),
        is_at_work: false,
        offences: Vec::new(),
    });
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

static LOADER: LazyLock<ash::Entry> = LazyLock::new(|| {
    // SAFETY: the system's loader is trusted to be one; it is never unloaded.
    unsafe { ash::Entry::load() }.expect("the row's device was opened with it")
});

/// The shim.
pub fn entry() -> ash::Entry {
    // SAFETY: it answers as the loader does, but for the errors, which Vulkan allows, and for functions that are not
    // there, which `ash` can bear.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
}

pub unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: as the caller promises.
    let (name, real) =
        unsafe { (CStr::from_ptr(name), (LOADER.static_fn().get_instance_proc_addr)(instance, name)) };
    functions::answer(name, real?)
}

pub unsafe extern "system" fn get_device_proc_addr(
    _: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let instance = state().newest();
    // SAFETY: a device is asked for, so its instance is alive; the name is as the caller promises.
    unsafe { get_instance_proc_addr(instance, name) }
}

/// Does `work`, in which `fault` comes to pass, and tells the calls that can fail.
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

/// What was done since the last call that must not be done: with what is not alive, or while the device is at work.
pub fn take_offences() -> Vec<String> {
    std::mem::take(&mut state().offences)
}

/// Notes a call, and tells whether it is to fail.
pub fn fails(call: Call) -> Option<vk::Result> {
    let mut state = state();
    if matches!(call.name, "vkResetCommandPool" | "vkResetFences") {
        state.touch(call.name);
    }
    let calls = state.calls.as_mut()?;
    let index = calls.len();
    calls.push(call);
    let fault = state.fault?;
    let is_due = index == fault.index || fault.lasts && index > fault.index;
    if !is_due || !call.errors.contains(&fault.result) {
        return None;
    }
    if fault.result == vk::Result::ERROR_DEVICE_LOST {
        // A lost device does no more work.
        state.settle();
    }
    Some(fault.result)
}

/// Notes what the driver has returned.
pub fn has_returned(name: &str, result: vk::Result) {
    if result == vk::Result::SUCCESS {
        match name {
            "vkQueueSubmit" => state().is_at_work = true,
            "vkWaitForFences" => state().is_at_work = false,
            _ => {}
        }
    }
}

/// Notes a new object.
pub fn is_made<H: Handle>(handle: H) {
    state().alive.push((H::TYPE, handle.as_raw()));
}

/// Notes that `name` is about to end an object.
pub fn is_ended<H: Handle>(name: &str, handle: H) {
    let ended = (H::TYPE, handle.as_raw());
    if ended.1 == 0 {
        return;
    }
    let mut state = state();
    state.touch(name);
    match state.alive.iter().rposition(|alive| *alive == ended) {
        Some(index) => _ = state.alive.remove(index),
        None => state.offences.push(format!("{name} for what is not alive")),
    }
}

impl State {
    /// Notes that `name` is about to do what it must not while the device is at work.
    fn touch(&mut self, name: &str) {
        if self.is_at_work {
            self.offences.push(format!("{name} while the device may be at work"));
            self.settle();
        }
    }

    /// Waits until the device is done.
    fn settle(&mut self) {
        if std::mem::take(&mut self.is_at_work)
            && let Some(device) = self.device()
        {
            // SAFETY: the device is alive, and its queue is used by one thread. If this fails, nothing is at work.
            let _ = unsafe { device.device_wait_idle() };
        }
    }

    /// The newest object of a type, or null.
    fn newest<H: Handle>(&self) -> H {
        H::from_raw(self.alive.iter().rfind(|(kind, _)| *kind == H::TYPE).map_or(0, |(_, handle)| *handle))
    }

    /// The system's own functions of the newest instance.
    fn instance(&self) -> Option<ash::Instance> {
        let instance: vk::Instance = self.newest();
        // SAFETY: the instance is alive.
        (!instance.is_null()).then(|| unsafe { ash::Instance::load(LOADER.static_fn(), instance) })
    }

    /// The system's own functions of the newest device.
    fn device(&self) -> Option<ash::Device> {
        let device: vk::Device = self.newest();
        let instance = self.instance().filter(|_| !device.is_null())?;
        // SAFETY: the device is alive, and the newest instance is its own: devices are opened and dropped with theirs.
        Some(unsafe { ash::Device::load(instance.fp_v1_0(), device) })
    }

    /// Ends an object.
    fn end(&self, (kind, handle): (vk::ObjectType, u64)) {
        use vk::ObjectType as Type;
        // SAFETY: the object is alive, what was made of it is not, and nothing uses it.
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

/// Ends whatever is alive, the newest first, when the device is done: nobody else will.
pub fn clear() {
    let mut state = state();
    state.settle();
    while let Some(&newest) = state.alive.last() {
        state.end(newest);
        state.alive.pop();
    }
}
