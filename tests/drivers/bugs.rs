//! The known bugs of drivers, each shown by its reproducer: a driver that is said to have one must go wrong, so that a
//! bug that has been mended is found, and every other driver must not. Where kernels can keep clear of a bug, the
//! reproducer keeps clear of it too, in a second run, and is then right everywhere.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{DRIVER_BUGS, DriverBug, Workarounds};
use subsweep::headless::Gpu;

use super::rows::Watch;

/// Of all bugs, or on a row that is there for one, of that.
pub fn trials(gpu: &Arc<Gpu>, watch: Watch) -> Vec<Trial> {
    let bugs = DRIVER_BUGS.iter().filter(|bug| match watch {
        Watch::Bug(name) => bug.name == name,
        Watch::Usual => true,
        // What watches an indirect dispatch there has a dispatch of its own before it, which has no base.
        Watch::Bounds => bug.workaround != Workarounds::NO_INDIRECT_BEHIND_BASE,
    });
    bugs.map(|bug| {
        let gpu = Arc::clone(gpu);
        let is_there = gpu.capabilities().workarounds.contains(bug.workaround);
        let name = format!("bug: {}", bug.name);
        Trial::test(name, move || shown(&gpu, bug, is_there)).with_ignored_flag(!shows::CAN_COMPILE)
    })
    .collect()
}

fn shown(gpu: &Gpu, bug: &DriverBug, is_there: bool) -> Result<(), Failed> {
    let wrong = shows::wrong(gpu, bug, false)?;
    let driver = gpu.identity().driver_text();
    match (wrong, is_there) {
        (Some(_), true) | (None, false) => {}
        (None, true) => {
            return Err(format!(
                "{driver} does not do it any more: narrow the versions of {} in src/device/workarounds.rs",
                bug.name
            )
            .into());
        }
        (Some(wrong), false) => {
            return Err(format!("{driver} does it too ({}): {wrong}", bug.what).into());
        }
    }
    match shows::wrong(gpu, bug, true)? {
        Some(wrong) => Err(format!("it is not avoided by this: {}: {wrong}", bug.avoided).into()),
        None => super::cases::expect_silence(gpu, bug.name),
    }
}

#[cfg(not(feature = "compile-shaders"))]
mod shows {
    use libtest_mimic::Failed;
    use subsweep::device::DriverBug;
    use subsweep::headless::Gpu;

    pub const CAN_COMPILE: bool = false;

    pub fn wrong(_: &Gpu, _: &DriverBug, _: bool) -> Result<Option<String>, Failed> {
        Err("the reproducers come with the feature compile-shaders".into())
    }
}

#[cfg(feature = "compile-shaders")]
mod shows {
    use libtest_mimic::Failed;
    use subsweep::device::{
        AddressRange, Barrier, BufferRange, DriverBug, Pipeline, PipelineOptions, PushBlock, PushConstants,
        Recorder,
    };
    use subsweep::headless::Gpu;
    use subsweep::kernels::{Access, Kernel, PushConstant, SpecConstant};

    use crate::fixture;

    pub const CAN_COMPILE: bool = true;

    const WORKGROUP_SIZE: u32 = 64;

    static REPRODUCERS: [&Kernel; 5] = [&FENCE, &LOOP, &RESULT, &LANES, &BASE];
    static FENCE: Kernel = reproducer("bug_fence", fixture!("bug_fence"), IS_AVOIDED);
    static LOOP: Kernel = reproducer("bug_loop", fixture!("bug_loop"), IS_AVOIDED);
    static RESULT: Kernel = reproducer("bug_result", fixture!("bug_result"), IS_AVOIDED);
    static BASE: Kernel = reproducer("bug_base", fixture!("bug_base"), &[]);
    static LANES: Kernel = reproducer("bug_lanes", fixture!("bug_lanes"), &[]);

    const RESULT_WORDS: &[PushConstant] =
        &[PushConstant { name: "result", offset: 0, size: 8, access: Some(Access::READ_WRITE) }];
    const IS_AVOIDED: &[SpecConstant] = &[SpecConstant { name: "IS_AVOIDED", id: 1, default: 0 }];

    const fn reproducer(
        name: &'static str,
        spirv: &'static [u8],
        constants: &'static [SpecConstant],
    ) -> Kernel {
        // SAFETY: the build has compiled it for Vulkan 1.2; each has this one push constant.
        unsafe { Kernel::new(name, spirv, RESULT_WORDS, constants) }
    }

    struct Push {
        result: AddressRange,
    }

    // SAFETY: every reproducer has this one pointer.
    unsafe impl PushConstants for Push {
        const KERNELS: &'static [&'static Kernel] = &REPRODUCERS;

        fn block(&self) -> PushBlock {
            let mut block = PushBlock::default();
            block.push(self.result);
            block
        }
    }

    /// What the reproducer gave that is wrong: every word is to become 1. Nothing, if it `is_avoided` and cannot be.
    pub fn wrong(gpu: &Gpu, bug: &DriverBug, is_avoided: bool) -> Result<Option<String>, Failed> {
        let kernel = REPRODUCERS.iter().find(|kernel| kernel.name == bug.reproducer);
        let kernel = *kernel.ok_or_else(|| format!("no kernel {}", bug.reproducer))?;
        let is_of_commands = kernel.name == BASE.name;
        let constants: &[_] = if is_avoided && !is_of_commands { &[("IS_AVOIDED", 1)] } else { &[] };
        if is_avoided && kernel.spec_constants.is_empty() && !is_of_commands {
            return Ok(None);
        }
        // A subgroup that is not full has lanes that add nothing.
        let lanes = if kernel.name == LANES.name { gpu.capabilities().max_subgroup_size } else { 0 };
        let workgroup_size = WORKGROUP_SIZE.max(lanes);
        let options = PipelineOptions { workgroup_size, constants, subgroup_size: None };
        let pipeline = Pipeline::new(gpu.device(), kernel, options)?;
        let memory = gpu.allocate(u64::from(workgroup_size) * 4)?;
        let workgroups = gpu.allocate(24)?;
        gpu.upload(&workgroups, 0, &[1, 1, 1, 0, 1, 1])?;
        let record = |recorder: &mut Recorder<'_>| {
            recorder.fill(memory.range(), 0);
            recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
            if is_of_commands {
                return record_base(recorder, &pipeline, memory.range(), workgroups.range(), is_avoided);
            }
            recorder.dispatch(&pipeline, &Push { result: memory.range().addresses() }, 1)
        };
        // SAFETY: the memory and the pipeline live until `submit` has waited.
        unsafe { gpu.submit(record) }?;
        let mut words = vec![0; workgroup_size as usize];
        gpu.download(&memory, &mut words)?;
        Ok(words.iter().any(|word| *word != 1).then(|| format!("{words:?} should all be 1")))
    }

    /// The kernel once in row 1 by its base, which writes nothing, and then indirectly in row 0.
    fn record_base(
        recorder: &mut Recorder<'_>,
        pipeline: &Pipeline,
        memory: BufferRange,
        workgroups: BufferRange,
        is_avoided: bool,
    ) -> subsweep::Result<()> {
        let push = Push { result: memory.addresses() };
        let commands = recorder.command_buffer();
        let raw = recorder.device().raw();
        let [one, none] = [0, 12].map(|offset| BufferRange {
            offset: workgroups.offset + offset,
            address: workgroups.address + offset,
            size: 12,
            ..workgroups
        });
        // Binds, and runs nothing.
        recorder.dispatch_indirect(pipeline, &push, none)?;
        recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        // SAFETY: the pipeline is of the headless device, whose pipelines take a base; the recorder has begun.
        unsafe {
            raw.cmd_dispatch_base(commands, 0, 1, 0, 1, 1, 1);
            if is_avoided {
                raw.cmd_dispatch(commands, 0, 1, 1);
            }
        }
        recorder.dispatch_indirect(pipeline, &push, one)
    }
}
