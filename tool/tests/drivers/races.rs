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
    use subsweep::headless::Gpu;

    use crate::cases::expect_no_findings;
    use crate::fixtures::RACE;
    use crate::passes::rig::{Rig, Value};

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
        let constants = [("IS_ORDERED", is_ordered.into()), ("SHARED_WORDS", shared_words)];
        let rig = Rig::new(gpu, &RACE, 64, &constants)?;
        let memory = gpu.allocate_apart(64 * 4)?;
        rig.run(&[("result", Value::Range(memory.addresses()))], 0)
    }
}
