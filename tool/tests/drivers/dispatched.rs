//! The pipelines that policies choose, compared with those that all rows together dispatch.
//!
//! `tests/common/reduced.rs` defines which pipelines count as equal.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use libtest_mimic::Trial;
use subsweep::ash::vk;
use subsweep::device::{Command, Trace};
use subsweep::headless::Gpu;
use subsweep_hazards::HazardChecker;
use subsweep_tool::harness::PipelineSet;

use super::PRIMITIVES;
use super::children::Together;
use super::reduced::{CHOSEN, Lists, reduced};

/// The process's trace: records every dispatch, and passes every command to the hazard checker.
#[derive(Default)]
pub struct Listener {
    hazards: Arc<HazardChecker>,
    dispatched: Mutex<BTreeSet<String>>,
}

impl Listener {
    pub fn of_process() -> Arc<Self> {
        static LISTENER: LazyLock<Arc<Listener>> = LazyLock::new(Arc::default);
        Arc::clone(&LISTENER)
    }

    pub fn hazards(&self) -> &Arc<HazardChecker> {
        &self.hazards
    }

    /// Writes the pipelines dispatched so far to the parent's folder, if there is one.
    pub fn save(&self, row: &str) -> std::io::Result<()> {
        Lists::save(row, &self.dispatched.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Trace for Listener {
    fn record(&self, command_buffer: vk::CommandBuffer, command: &Command<'_>) {
        if let Command::Dispatch { kernel, constants, .. } = command {
            let line = reduced(kernel.name, constants.iter().copied());
            self.dispatched.lock().unwrap_or_else(PoisonError::into_inner).insert(line);
        }
        self.hazards.record(command_buffer, command);
    }
}

/// Runs after the trials of the quick cases, and before any other trial that dispatches a plan's kernels.
pub fn trial(gpu: &Arc<Gpu>) -> Trial {
    let gpu = Arc::clone(gpu);
    Trial::test("quick cases dispatch every kernel of default plans", move || {
        let listener = Listener::of_process();
        let dispatched = listener.dispatched.lock().unwrap_or_else(PoisonError::into_inner);
        let plans = PRIMITIVES.iter().flat_map(|primitive| (primitive.default_plans)(gpu.capabilities()));
        let pipelines = PipelineSet::new(gpu.device(), &plans.collect::<Vec<_>>())?;
        assert_eq!(pipelines.not_supported(), [""; 0]);
        let names: Vec<_> = pipelines.names().collect();
        Ok(check_kernels(&names.iter().filter_map(|name| name.split(' ').next()).collect(), &dispatched)?)
    })
}

/// Fails unless each of `kernels` is among the dispatched pipelines.
pub fn check_kernels(kernels: &BTreeSet<&str>, dispatched: &BTreeSet<String>) -> Result<(), String> {
    if dispatched.is_empty() {
        return Err("nothing was dispatched; run the row without a filter".to_owned());
    }
    let dispatched: BTreeSet<_> = dispatched.iter().filter_map(|line| line.split(' ').next()).collect();
    let missing: Vec<_> = kernels.iter().copied().filter(|kernel| !dispatched.contains(kernel)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("not dispatched: {}", missing.join(", "))) }
}

impl Together for Lists {
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        self.environment()
    }

    /// Fails with the chosen pipelines that no row has dispatched.
    fn check(&self) -> Result<String, String> {
        let dispatched = self.union();
        let dispatched =
            dispatched.map_err(|error| format!("cannot read the rows' lists of pipelines: {error}"))?;
        let chosen: Vec<_> = CHOSEN.lines().collect();
        let missing: Vec<_> = chosen.iter().filter(|line| !dispatched.contains(**line)).collect();
        match &missing[..] {
            [] => Ok(format!("all {} pipelines that policies choose were dispatched\n", chosen.len())),
            [first, ..] => {
                let all: String = missing.iter().map(|line| format!("\n  {line}")).collect();
                Err(format!("{} pipelines are dispatched by no row, such as {first}:{all}", missing.len()))
            }
        }
    }
}
