//! Injected faults: when any call of Vulkan fails in any way, the library reports the call and the error, leaves the
//! caller's data unchanged, leaks nothing, and continues where the device does.
//!
//! Each phase runs once to record its calls, and then once for every call, every error that it may return, and a
//! transient and a lasting fault. The library must report every failure.

mod functions;
mod pipelines;
mod shim;
pub mod work;

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::{Failed, Trial};
use subsweep::Error;
use subsweep::ash::vk;

use super::children::is_full;
use super::scans;
use functions::FALLIBLE;
use shim::{Call, Fault};
use work::{Opened, Phase, SPARSE, WHOLE, phases};

pub fn trials(is_validated: bool) -> Vec<Trial> {
    let trial = |name: &str, run: fn(bool) -> Result<(), Failed>| {
        Trial::test(format!("faults: {name}"), move || run(is_validated))
    };
    let of_phase =
        |phase: &'static Phase| Trial::test(format!("faults: {}", phase.name), move || every_fault(phase));
    let mut trials: Vec<_> = phases().map(of_phase).collect();
    trials.extend([
        trial("validation reports nothing after a fault", |_| {
            under_validation(&phases().collect::<Vec<_>>())
        })
        .with_ignored_flag(!is_validated),
        trial("every function that can fail is called", every_function),
        trial("each pipeline is created once and freed with its last plan", |_| pipelines::once()),
        trial("work on slices compiles the pipelines that it binds", |_| pipelines::bound()),
        trial("a case compiles the pipelines that it dispatches", |_| pipelines::of_a_case()),
        trial("data of a rejected pipeline cache is dropped", |_| pipelines::rejected_data()),
        trial("a leaked object, an injected failure and an early destruction are reported", |_| canaries()),
    ]);
    trials
}

/// The phase that only drivers with `sparseBinding` run.
pub fn sparse_trials(is_validated: bool) -> Vec<Trial> {
    vec![
        Trial::test(format!("faults: {}", SPARSE.name), move || {
            let calls = without_fault(&SPARSE, is_validated)?;
            assert!(calls.iter().any(|call| call.name == BIND_SPARSE), "{calls:?}");
            every_fault(&SPARSE)
        }),
        Trial::test("faults: validation reports nothing after a fault of sparse binding", || {
            under_validation(&[&SPARSE])
        })
        .with_ignored_flag(!is_validated),
    ]
}

fn every_fault(phase: &Phase) -> Result<(), Failed> {
    let mut device = None;
    for fault in faults(&without_fault(phase, false)?) {
        device = with_fault(phase, device, fault, false)?;
    }
    close(device)
}

/// The faults of a phase, each of which runs it again. In the short suite: every error of the first call of each function,
/// once, and the first error of its first and its last call, once and lasting.
fn faults(calls: &[Call]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let is_other = |other: &Call| other.name != call.name;
        let is_first = calls[..index].iter().all(is_other);
        let is_last = calls[index + 1..].iter().all(is_other);
        for (turn, &result) in call.errors.iter().enumerate() {
            for lasts in [false, true] {
                let is_one = turn == 0 && (is_first || is_last);
                if is_full() || is_one || is_first && !lasts {
                    faults.push(Fault { index, result, lasts });
                }
            }
        }
    }
    faults
}

/// Under validation, one fault of each function, in the full suite in every phase, and a second one where it may lose
/// the device. The order of destruction does not depend on other errors.
fn under_validation(phases: &[&Phase]) -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    for phase in phases {
        if is_full() {
            seen.clear();
        }
        for (index, call) in without_fault(phase, true)?.into_iter().enumerate() {
            let lost = call.errors.iter().find(|&&result| result == vk::Result::ERROR_DEVICE_LOST);
            let results = call.errors[..1].iter().chain(lost);
            for &result in results.filter(|_| !seen.contains(call.name)) {
                close(with_fault(phase, None, Fault { index, result, lasts: false }, true)?)?;
            }
            seen.insert(call.name);
        }
    }
    Ok(())
}

/// Runs the work of a phase without a fault, and returns its calls.
fn without_fault(phase: &Phase, is_validated: bool) -> Result<Vec<Call>, Failed> {
    let device = phase.open(is_validated)?;
    let (ended, calls) = shim::during(None, || (phase.work)(&device));
    ended??;
    close(Some(device))?;
    Ok(calls)
}

/// Runs the work of a phase with a fault, and checks the library's guarantees. Returns the device if it can be used
/// again.
fn with_fault(
    phase: &Phase,
    device: Option<Opened>,
    fault: Fault,
    is_validated: bool,
) -> Result<Option<Opened>, Failed> {
    let device = match device {
        Some(device) => device,
        None => phase.open(is_validated)?,
    };
    let before = shim::alive();
    let (ended, calls) = shim::during(Some(fault), || {
        // A lasting fault must fail the work twice.
        let times = if fault.lasts { 2 } else { 1 };
        (0..times).map(|_| (phase.work)(&device)).collect::<Result<Vec<_>, _>>()
    });
    let call = *calls.get(fault.index).ok_or("there are fewer calls than before")?;
    let survived = ended.and_then(|ended| {
        expect_error(&ended, call, fault)?;
        if is_abandoned(&calls[fault.index..], fault) {
            return check_abandoned(phase, device);
        }
        expect_alive(&before)?;
        // The work after a fault does not depend on the error: one error suffices.
        if !fault.lasts && fault.result == call.errors[0] {
            (phase.work)(&device)?.map_err(|error| format!("the work fails after the fault: {error:?}"))?;
        }
        // A lost device stays lost, and a device that keeps a new object, such as a plan, is not in its first state.
        if fault.result == vk::Result::ERROR_DEVICE_LOST || shim::alive() != before {
            close(Some(device))?;
            return Ok(None);
        }
        Ok(Some(device))
    });
    survived.map_err(|failed| {
        shim::clear();
        shim::take_offences();
        let lasting = if fault.lasts { "for good " } else { "" };
        let (index, result) = (fault.index, fault.result);
        let what = failed.message().unwrap_or_default();
        format!("call {index}, {}, returned {lasting}{result:?}: {what}", call.name).into()
    })
}

/// Fails unless the work returned the error of the fault, each time.
fn expect_error(ends: &[subsweep::Result<()>], call: Call, fault: Fault) -> Result<(), Failed> {
    match &ends[0] {
        Err(error) if is_error_of(error, call.name, fault.result) => {}
        Err(error) => return Err(format!("the fault was reported as {error:?}").into()),
        Ok(()) => return Err("the fault was not reported".into()),
    }
    if ends.iter().any(Result::is_ok) {
        Err("the fault was not reported the second time".into())
    } else {
        Ok(())
    }
}

/// The function that few drivers have.
const BIND_SPARSE: &str = "vkQueueBindSparse";
/// The functions that are called before there is a device.
const IS_BEFORE_DEVICES: [&str; 2] = ["vkEnumerateInstanceExtensionProperties", "vkCreateInstance"];

/// Whether an error is the right one for a function's result.
fn is_error_of(error: &Error, function: &str, returned: vk::Result) -> bool {
    use vk::Result as R;
    match (error, returned) {
        (Error::DeviceLost { during }, R::ERROR_DEVICE_LOST) => *during == function,
        (Error::TimedOut { during, .. }, R::TIMEOUT) => *during == function,
        // So a loader reports a manifest that it cannot read.
        (Error::UnreadableManifest { during }, R::ERROR_OUT_OF_HOST_MEMORY) => {
            *during == function && IS_BEFORE_DEVICES.contains(&function)
        }
        (Error::OutOfHostMemory { what, .. }, R::ERROR_OUT_OF_HOST_MEMORY) => {
            *what == function && !IS_BEFORE_DEVICES.contains(&function)
        }
        // This error names the object and its size instead of the function.
        (Error::OutOfDeviceMemory { needed: Some(_), what }, R::ERROR_OUT_OF_DEVICE_MEMORY) => {
            *what == "a buffer" && ["vkCreateBuffer", "vkAllocateMemory"].contains(&function)
        }
        (Error::OutOfDeviceMemory { what, .. }, R::ERROR_OUT_OF_DEVICE_MEMORY) => *what == function,
        // Loaders return these where no installed driver works.
        (Error::NoDevice, R::ERROR_INCOMPATIBLE_DRIVER) => true,
        (Error::NoDevice, R::ERROR_INITIALIZATION_FAILED) => function == "vkEnumeratePhysicalDevices",
        (Error::Vulkan { during, result }, _) => {
            let has_own_variant = [
                R::ERROR_OUT_OF_HOST_MEMORY,
                R::ERROR_OUT_OF_DEVICE_MEMORY,
                R::ERROR_DEVICE_LOST,
                R::TIMEOUT,
            ];
            *during == function && *result == returned && !has_own_variant.contains(result)
        }
        _ => false,
    }
}

/// Whether the end of the device's work cannot be known, after `calls`, of which the first fails: a wait fails for good, for that
/// call's work or for a copy that was in flight, or takes too long.
fn is_abandoned(calls: &[Call], fault: Fault) -> bool {
    let lasts = fault.lasts && fault.result != vk::Result::ERROR_DEVICE_LOST;
    let is_failing_wait = |call: &Call| call.name == "vkWaitForFences" && call.errors.contains(&fault.result);
    if lasts {
        calls.iter().any(is_failing_wait)
    } else {
        fault.result == vk::Result::TIMEOUT && is_failing_wait(&calls[0])
    }
}

/// An abandoned device refuses all further work without a call, and keeps the objects that it may use.
fn check_abandoned(phase: &Phase, device: Opened) -> Result<Option<Opened>, Failed> {
    for work in [phase.work, scans::planning] {
        let (again, calls) = shim::during(None, || work(&device));
        let again = again?;
        if !again.as_ref().is_err_and(Error::is_fatal) || !calls.is_empty() {
            return Err(format!("the device is not abandoned: {again:?} after {calls:?}").into());
        }
    }
    drop(device);
    shim::clear();
    expect_alive(&BTreeMap::new())?;
    Ok(None)
}

/// Drops the device, and fails if an object is alive.
fn close(device: Option<Opened>) -> Result<(), Failed> {
    device.map_or(Ok(()), Opened::close)?;
    expect_alive(&BTreeMap::new())
}

fn expect_alive(expected: &BTreeMap<vk::ObjectType, usize>) -> Result<(), Failed> {
    let alive = shim::alive();
    if alive != *expected {
        return Err(format!("alive: {alive:?}, expected {expected:?}").into());
    }
    match &shim::take_offences()[..] {
        [] => Ok(()),
        offences => Err(offences.join("; ").into()),
    }
}

/// The phases call every function of the tables.
fn every_function(is_validated: bool) -> Result<(), Failed> {
    let mut called = BTreeSet::new();
    for phase in phases() {
        called.extend(without_fault(phase, is_validated)?.iter().map(|call| call.name));
    }
    let mut known: BTreeSet<_> = FALLIBLE.iter().copied().collect();
    // Of `sparse_trials`: the driver of the row with all faults lacks it.
    known.remove(BIND_SPARSE);
    // The messenger is created only with validation.
    if !is_validated {
        known.remove("vkCreateDebugUtilsMessengerEXT");
        known.remove("vkSetDebugUtilsObjectNameEXT");
    }
    assert_eq!(called, known);
    Ok(())
}

fn canaries() -> Result<(), Failed> {
    let opened = Opened::new(false, WHOLE)?;
    let before = shim::alive();
    let device = opened.gpu.device().raw();
    let info = vk::BufferCreateInfo::default().size(4).usage(vk::BufferUsageFlags::TRANSFER_SRC);
    // SAFETY: the device is alive.
    let leaked = unsafe { device.create_buffer(&info, None) }?;
    assert!(expect_alive(&before).is_err());
    // SAFETY: nothing uses it.
    unsafe { device.destroy_buffer(leaked, None) };
    expect_alive(&before)?;

    let fault = Fault { index: 1, result: vk::Result::ERROR_OUT_OF_HOST_MEMORY, lasts: false };
    let (results, calls) = shim::during(Some(fault), || {
        // SAFETY: the device is alive.
        [(); 3].map(|()| unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) })
    });
    assert!(calls.iter().all(|call| call.name == "vkCreateFence") && calls.len() == 3);
    let [Ok(first), Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY), Ok(second)] = results else {
        return Err(format!("{results:?}").into());
    };
    // SAFETY: family 0 computes on the drivers of the matrix. The fences are not in use when the driver destroys them:
    // the shim waits before an early destruction.
    unsafe {
        device.queue_submit(device.get_device_queue(0, 0), &[], first)?;
        device.destroy_fence(first, None);
        device.destroy_fence(second, None);
    }
    assert_eq!(shim::take_offences(), ["vkDestroyFence while the device may be busy"]);

    // Functions outside the tables do not exist. SAFETY: the device is alive, and the name ends in a zero.
    let unknown = unsafe { shim::get_device_proc_addr(device.handle(), c"vkCreateImage".as_ptr()) };
    assert!(unknown.is_none());
    close(Some(opened))
}
