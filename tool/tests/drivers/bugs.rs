//! Reproducers of the known driver bugs. A reproducer must fail on a driver that is listed with its bug, so that a
//! fixed bug is found, and pass on every other driver. Where kernels can avoid a bug, a second run of the reproducer
//! avoids it too and must pass everywhere.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{DRIVER_BUGS, DriverBug, Workarounds};
use subsweep::headless::Gpu;

use super::rows::Watch;

/// One trial for each bug, or on a row for one bug, its trial alone.
pub fn trials(gpu: &Arc<Gpu>, watch: Watch) -> Vec<Trial> {
    let bugs = DRIVER_BUGS.iter().filter(|bug| match watch {
        Watch::Bug(name) => bug.name == name,
        Watch::Usual => true,
        // GPU-assisted validation inserts a dispatch without a base before an indirect dispatch.
        Watch::Bounds | Watch::Races => bug.workaround != Workarounds::NO_INDIRECT_BEHIND_BASE,
    });
    bugs.map(|bug| {
        let gpu = Arc::clone(gpu);
        let is_listed = gpu.capabilities().workarounds.contains(bug.workaround);
        let name = format!("bug: {}", bug.name);
        Trial::test(name, move || check(&gpu, bug, is_listed)).with_ignored_flag(!reproducers::CAN_COMPILE)
    })
    .collect()
}

fn check(gpu: &Gpu, bug: &DriverBug, is_listed: bool) -> Result<(), Failed> {
    let wrong = reproducers::wrong(gpu, bug, false)?;
    let driver = gpu.identity().driver_text();
    match (wrong, is_listed) {
        (Some(_), true) | (None, false) => {}
        (None, true) => {
            return Err(format!(
                "{driver} does not have the bug: narrow the versions of {} in src/device/workarounds.rs",
                bug.name
            )
            .into());
        }
        (Some(wrong), false) => {
            return Err(format!("{driver} has an unlisted bug ({}): {wrong}", bug.what).into());
        }
    }
    match reproducers::wrong(gpu, bug, true)? {
        Some(wrong) => Err(format!("the bug is not avoided by: {}: {wrong}", bug.avoided).into()),
        None => super::cases::expect_no_findings(gpu, bug.name),
    }
}

#[cfg(not(feature = "compile-shaders"))]
mod reproducers {
    use libtest_mimic::Failed;
    use subsweep::device::DriverBug;
    use subsweep::headless::Gpu;

    pub const CAN_COMPILE: bool = false;

    pub fn wrong(_: &Gpu, _: &DriverBug, _: bool) -> Result<Option<String>, Failed> {
        Err("the reproducers come with the feature compile-shaders".into())
    }
}

#[cfg(feature = "compile-shaders")]
mod reproducers {
    use libtest_mimic::Failed;
    use subsweep::device::{Barrier, BufferRange, DriverBug, Recorder};
    use subsweep::headless::Gpu;
    use subsweep::kernels::Kernel;

    use crate::fixtures::{BUG_BASE, BUG_FENCE, BUG_LANES, BUG_LOOP, BUG_RESULT, BUG_SHUFFLE};
    use crate::passes::rig::{Push, Rig, Value};

    pub const CAN_COMPILE: bool = true;

    const WORKGROUP_SIZE: u32 = 64;

    static REPRODUCERS: [&Kernel; 6] =
        [&BUG_FENCE, &BUG_LOOP, &BUG_RESULT, &BUG_LANES, &BUG_SHUFFLE, &BUG_BASE];

    /// The reproducer's result if it is wrong, where every word must become 1. `None` also if `is_avoided` and the bug
    /// cannot be avoided.
    pub fn wrong(gpu: &Gpu, bug: &DriverBug, is_avoided: bool) -> Result<Option<String>, Failed> {
        let kernel = REPRODUCERS.iter().find(|kernel| kernel.name == bug.reproducer);
        let kernel = *kernel.ok_or_else(|| format!("no kernel {}", bug.reproducer))?;
        let is_command_bug = kernel.name == BUG_BASE.name;
        let constants: &[_] = if is_avoided && !is_command_bug { &[("IS_AVOIDED", 1)] } else { &[] };
        if is_avoided && kernel.spec_constants.is_empty() && !is_command_bug {
            return Ok(None);
        }
        // Lanes of a partial subgroup add nothing, and are not there to be shuffled from.
        let has_all_lanes = [BUG_LANES.name, BUG_SHUFFLE.name].contains(&kernel.name);
        let lanes = if has_all_lanes { gpu.capabilities().max_subgroup_size } else { 0 };
        let workgroup_size = WORKGROUP_SIZE.max(lanes);
        let rig = Rig::new(gpu, kernel, workgroup_size, constants)?;
        let memory = gpu.allocate(u64::from(workgroup_size) * 4)?;
        let workgroups = gpu.allocate(24)?;
        gpu.upload(&workgroups, 0, &[1, 1, 1, 0, 1, 1])?;
        let push = rig.push(&[("result", Value::Range(memory.addresses()))])?;
        let record = |recorder: &mut Recorder<'_>| {
            recorder.fill(memory.range(), 0);
            recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
            if is_command_bug {
                return record_base(recorder, &rig, &push, workgroups.range(), is_avoided);
            }
            rig.dispatch(recorder, &push, 0)
        };
        // SAFETY: the memory and the pipeline live until `submit` has waited.
        unsafe { gpu.submit(record) }?;
        let mut words = vec![0; workgroup_size as usize];
        gpu.download(&memory, &mut words)?;
        Ok(words.iter().any(|word| *word != 1).then(|| format!("{words:?} must all be 1")))
    }

    /// Dispatches the kernel with base row 1, where the kernel writes nothing, and then indirectly in row 0.
    fn record_base(
        recorder: &mut Recorder<'_>,
        rig: &Rig<'_>,
        push: &Push,
        workgroups: BufferRange,
        is_avoided: bool,
    ) -> subsweep::Result<()> {
        let commands = recorder.command_buffer();
        let raw = recorder.device().raw();
        let [one, none] = [0, 12].map(|offset| BufferRange {
            offset: workgroups.offset + offset,
            address: workgroups.address + offset,
            size: 12,
            ..workgroups
        });
        // Binds the pipeline; zero workgroups.
        recorder.dispatch_indirect(&rig.pipeline, push, none)?;
        recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        // SAFETY: the pipeline is of the headless device, whose pipelines take a base; the recorder has begun.
        unsafe {
            raw.cmd_dispatch_base(commands, 0, 1, 0, 1, 1, 1);
            if is_avoided {
                raw.cmd_dispatch(commands, 0, 1, 1);
            }
        }
        recorder.dispatch_indirect(&rig.pipeline, push, one)
    }
}
