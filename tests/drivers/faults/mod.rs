//! Faults: whichever call of Vulkan's fails, and in whichever way, the library tells which and how, leaves the caller's
//! data alone and nothing behind, and goes on where the device does.
//!
//! Each phase is done once to learn its calls, and then again for every call, for everything that it may return, and for
//! a fault that passes as for one that lasts. No failure is one that the library may keep to itself.

mod functions;
mod pipelines;
mod shim;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::{Failed, Trial};
use subsweep::Error;
use subsweep::ash::vk;

use super::children::is_full;
use functions::FALLIBLE;
use shim::{Call, Fault};
use work::{Opened, PHASES, Phase, WHOLE};

pub fn trials(is_validated: bool) -> Vec<Trial> {
    let trial = |name: &str, run: fn(bool) -> Result<(), Failed>| {
        Trial::test(format!("faults: {name}"), move || run(is_validated))
    };
    let phases =
        PHASES.iter().map(|phase| Trial::test(format!("faults: {}", phase.name), move || every_fault(phase)));
    let mut trials: Vec<_> = phases.collect();
    trials.extend([
        trial("validation finds nothing amiss afterwards", |_| under_validation())
            .with_ignored_flag(!is_validated),
        trial("every function that can fail is called", every_function),
        trial("each pipeline is created once and freed with its last plan", |_| pipelines::once()),
        trial("data of a pipeline cache that is rejected is left out", |_| pipelines::rejected_data()),
        trial("what is forgotten, what must fail and what comes too soon is noticed", |_| armed()),
    ]);
    trials
}

fn every_fault(phase: &Phase) -> Result<(), Failed> {
    let mut device = None;
    for (index, call) in tried(undisturbed(phase, false)?) {
        for &result in call.errors {
            for lasts in [false, true] {
                device = disturbed(phase, device, Fault { index, result, lasts }, false)?;
            }
        }
    }
    close(device)
}

/// The calls that are made to fail, with their indices: in the short suite the first and the last of each function in a
/// phase, for each takes all that is before it once more.
fn tried(calls: Vec<Call>) -> Vec<(usize, Call)> {
    let of_name = |call: Call| move |other: &&Call| other.name == call.name;
    let is_taken = |&(index, call): &(usize, Call)| {
        let (before, after) = (&calls[..index], &calls[index + 1..]);
        is_full() || !before.iter().any(|o| of_name(call)(&o)) || !after.iter().any(|o| of_name(call)(&o))
    };
    calls.iter().copied().enumerate().filter(is_taken).collect()
}

/// Each function once, in the full suite in every phase, and once more where it may lose the device: what is destroyed, and in which order,
/// does not depend on more.
fn under_validation() -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    for phase in PHASES {
        if is_full() {
            seen.clear();
        }
        for (index, call) in undisturbed(phase, true)?.into_iter().enumerate() {
            let lost = call.errors.iter().find(|&&result| result == vk::Result::ERROR_DEVICE_LOST);
            let results = call.errors[..1].iter().chain(lost);
            for &result in results.filter(|_| !seen.contains(call.name)) {
                close(disturbed(phase, None, Fault { index, result, lasts: false }, true)?)?;
            }
            seen.insert(call.name);
        }
    }
    Ok(())
}

/// Does the work of a phase when nothing fails, and tells its calls.
fn undisturbed(phase: &Phase, is_validated: bool) -> Result<Vec<Call>, Failed> {
    let device = phase.open(is_validated)?;
    let (ended, calls) = shim::during(None, || (phase.work)(&device));
    ended??;
    close(Some(device))?;
    Ok(calls)
}

/// Does the work of a phase with a fault, and holds it to its promises. Returns the device if it is as it was.
fn disturbed(
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
        // What lasts is met again.
        let times = if fault.lasts { 2 } else { 1 };
        (0..times).map(|_| (phase.work)(&device)).collect::<Result<Vec<_>, _>>()
    });
    let call = *calls.get(fault.index).ok_or("there are fewer calls than before")?;
    let survived = ended.and_then(|ended| {
        expect_told(&ended, call, fault)?;
        if is_given_up(call, fault) {
            return give_up(phase, device);
        }
        expect_alive(&before)?;
        // However a function fails, what comes after is the same: one way will do.
        if !fault.lasts && fault.result == call.errors[0] {
            (phase.work)(&device)?.map_err(|error| format!("it does not work again: {error:?}"))?;
        }
        // A lost device stays lost, and one that has kept something, such as a plan, has it already.
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

/// Holds the errors to what went wrong.
fn expect_told(ends: &[subsweep::Result<()>], call: Call, fault: Fault) -> Result<(), Failed> {
    match &ends[0] {
        Err(error) if tells(error, call.name, fault.result) => {}
        Err(error) => return Err(format!("it was told as {error:?}").into()),
        Ok(()) => return Err("it was not told".into()),
    }
    if ends.iter().any(Result::is_ok) { Err("it was not told the second time".into()) } else { Ok(()) }
}

/// Whether an error is the right one for what a function returned.
fn tells(error: &Error, function: &str, returned: vk::Result) -> bool {
    use vk::Result as R;
    match (error, returned) {
        (Error::DeviceLost { during }, R::ERROR_DEVICE_LOST) => *during == function,
        (Error::TimedOut { during, .. }, R::TIMEOUT) => *during == function,
        (Error::OutOfHostMemory { what, .. }, R::ERROR_OUT_OF_HOST_MEMORY) => *what == function,
        // That says more than the function, and how much.
        (Error::OutOfDeviceMemory { needed: Some(_), what }, R::ERROR_OUT_OF_DEVICE_MEMORY) => {
            *what == "a buffer" && ["vkCreateBuffer", "vkAllocateMemory"].contains(&function)
        }
        (Error::OutOfDeviceMemory { what, .. }, R::ERROR_OUT_OF_DEVICE_MEMORY) => *what == function,
        // What loaders say where there are drivers, but none that works.
        (Error::NoDevice, R::ERROR_INCOMPATIBLE_DRIVER) => true,
        (Error::NoDevice, R::ERROR_INITIALIZATION_FAILED) => function == "vkEnumeratePhysicalDevices",
        (Error::Vulkan { during, result }, _) => {
            let has_its_own = [
                R::ERROR_OUT_OF_HOST_MEMORY,
                R::ERROR_OUT_OF_DEVICE_MEMORY,
                R::ERROR_DEVICE_LOST,
                R::TIMEOUT,
            ];
            *during == function && *result == returned && !has_its_own.contains(result)
        }
        _ => false,
    }
}

/// Whether nobody can know when the device is done with its work.
fn is_given_up(call: Call, fault: Fault) -> bool {
    let lasts = fault.lasts && fault.result != vk::Result::ERROR_DEVICE_LOST;
    call.name == "vkWaitForFences" && (lasts || fault.result == vk::Result::TIMEOUT)
}

/// Such a device takes no more work, and says so at once; what it may be at work on is left alone.
fn give_up(phase: &Phase, device: Opened) -> Result<Option<Opened>, Failed> {
    for work in [phase.work, work::planning] {
        let (again, calls) = shim::during(None, || work(&device));
        let again = again?;
        if !again.as_ref().is_err_and(Error::is_fatal) || !calls.is_empty() {
            return Err(format!("the device is not given up, but {again:?} after {calls:?}").into());
        }
    }
    drop(device);
    shim::clear();
    expect_alive(&BTreeMap::new())?;
    Ok(None)
}

/// Drops the device, which leaves nothing.
fn close(device: Option<Opened>) -> Result<(), Failed> {
    device.map_or(Ok(()), Opened::close)?;
    expect_alive(&BTreeMap::new())
}

fn expect_alive(expected: &BTreeMap<vk::ObjectType, usize>) -> Result<(), Failed> {
    let alive = shim::alive();
    if alive != *expected {
        return Err(format!("alive: {alive:?}, and not {expected:?}").into());
    }
    match &shim::take_offences()[..] {
        [] => Ok(()),
        offences => Err(offences.join("; ").into()),
    }
}

/// Nothing is in the tables that the phases do not try.
fn every_function(is_validated: bool) -> Result<(), Failed> {
    let mut called = BTreeSet::new();
    for phase in PHASES {
        called.extend(undisturbed(phase, is_validated)?.iter().map(|call| call.name));
    }
    let mut known: BTreeSet<_> = FALLIBLE.iter().copied().collect();
    // Messages are asked for only with validation.
    if !is_validated {
        known.remove("vkCreateDebugUtilsMessengerEXT");
        known.remove("vkSetDebugUtilsObjectNameEXT");
    }
    assert_eq!(called, known);
    Ok(())
}

fn armed() -> Result<(), Failed> {
    let opened = Opened::new(false, WHOLE)?;
    let before = shim::alive();
    let device = opened.gpu.device().raw();
    let info = vk::BufferCreateInfo::default().size(4).usage(vk::BufferUsageFlags::TRANSFER_SRC);
    // SAFETY: the device is alive.
    let forgotten = unsafe { device.create_buffer(&info, None) }?;
    assert!(expect_alive(&before).is_err());
    // SAFETY: nothing uses it.
    unsafe { device.destroy_buffer(forgotten, None) };
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
    // SAFETY: family 0 computes on the drivers of the matrix. The fences are not in use, as far as the driver can know:
    // the shim waits before it does what must not be done.
    unsafe {
        device.queue_submit(device.get_device_queue(0, 0), &[], first)?;
        device.destroy_fence(first, None);
        device.destroy_fence(second, None);
    }
    assert_eq!(shim::take_offences(), ["vkDestroyFence while the device may be at work"]);

    // What is not in the tables is not there.
    // SAFETY: the device is alive, and the name ends in a zero.
    let unknown = unsafe { shim::get_device_proc_addr(device.handle(), c"vkCreateImage".as_ptr()) };
    assert!(unknown.is_none());
    close(Some(opened))
}
