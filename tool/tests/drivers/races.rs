//! Canary of the race check: validation must report a kernel without its barrier, at the largest size of shared memory.

use std::sync::Arc;

use libtest_mimic::Trial;
use subsweep::headless::Gpu;

#[cfg(not(feature = "compile-shaders"))]
pub fn trials(_: &Arc<Gpu>) -> Vec<Trial> {
    super::children::note("SKIPPED: the racing kernel comes with the feature compile-shaders");
    vec![Trial::test(NAME, || Ok(())).with_ignored_flag(true)]
}

#[cfg(feature = "compile-shaders")]
pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let gpu = Arc::clone(gpu);
    vec![Trial::test(NAME, move || canary::missing_barrier(&gpu))]
}

const NAME: &str = "canary: a missing barrier in a kernel is reported as a race";

#[cfg(feature = "compile-shaders")]
mod canary {
    use libtest_mimic::Failed;
    use subsweep::device::{AddressRange, Pipeline, PipelineOptions, PushBlock, PushConstants, Recorder};
    use subsweep::headless::Gpu;
    use subsweep::kernels::{Family, Kernel, KernelAccess, PushConstant, SpecConstant};

    use crate::cases::expect_no_findings;
    use subsweep::kernels::fixture;

    // SAFETY: the build has compiled it for Vulkan 1.2, and it has these constants.
    static RACE: Kernel = unsafe {
        Kernel::new(
            "fixtures/race",
            fixture("race"),
            &[PushConstant { name: "result", offset: 0, size: 8, access: Some(KernelAccess::WRITE) }],
            &[
                SpecConstant { name: "IS_ORDERED", id: 1, default: 0 },
                SpecConstant { name: "SHARED_WORDS", id: 2, default: 64 },
            ],
        )
    };

    static MODULES: [&Kernel; 1] = [&RACE];

    struct Push(AddressRange);

    // SAFETY: the kernel has this one pointer.
    unsafe impl PushConstants for Push {
        const FAMILIES: &'static [&'static Family] = &[&Family::new(&MODULES)];

        fn block(&self) -> PushBlock {
            let mut block = PushBlock::default();
            block.push(self.0);
            block
        }
    }

    pub fn missing_barrier(gpu: &Gpu) -> Result<(), Failed> {
        let is_race = |message: &String| message.starts_with("SharedMemoryDataRace");
        // By default the layer suppresses a message after ten repetitions.
        let mut report_count = 0;
        while report_count <= 10 {
            run(gpu, false)?;
            let messages = gpu.validation_messages();
            if messages.is_empty() || !messages.iter().all(is_race) {
                return Err(format!("after {report_count} reports of a race: {messages:?}").into());
            }
            report_count += messages.len();
        }
        run(gpu, true)?;
        expect_no_findings(gpu, "canary")
    }

    fn run(gpu: &Gpu, is_ordered: bool) -> Result<(), Failed> {
        let shared_words = gpu.capabilities().shared_memory_size / 4;
        let options = PipelineOptions {
            workgroup_size: 64,
            constants: &[("IS_ORDERED", is_ordered.into()), ("SHARED_WORDS", shared_words)],
            subgroup_size: None,
        };
        let pipeline = Pipeline::new(gpu.device(), &RACE, options)?;
        let memory = gpu.allocate_apart(64 * 4)?;
        let push = Push(memory.range().addresses());
        let record = |recorder: &mut Recorder<'_>| recorder.dispatch(&pipeline, &push, 1);
        // SAFETY: the memory and the pipeline live until `submit` has waited.
        unsafe { gpu.submit(record) }?;
        Ok(())
    }
}
