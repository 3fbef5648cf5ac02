//! The pipelines that policies choose, compared with those that all rows together dispatch.
//!
//! `tests/common/reduced.rs` defines which pipelines count as equal.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use libtest_mimic::Trial;
use subsweep::ElementType;
use subsweep::ash::vk;
use subsweep::device::{Command, HazardChecker, Trace};
use subsweep::gather::GatherConfig;
use subsweep::headless::Gpu;
use subsweep::scan::{ScanConfig, ScanOperator, SegmentsBy};
use subsweep::sort::{SortConfig, ValueSize};

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
        check_kernels(&default_kernels(&gpu)?, &dispatched)?;
        Ok(())
    })
}

/// Fails unless each of `kernels` is among the dispatched pipelines.
pub fn check_kernels(kernels: &BTreeSet<&'static str>, dispatched: &BTreeSet<String>) -> Result<(), String> {
    if dispatched.is_empty() {
        return Err("nothing was dispatched; run the row without a filter".to_owned());
    }
    let dispatched: BTreeSet<_> = dispatched.iter().filter_map(|line| line.split(' ').next()).collect();
    let missing: Vec<_> = kernels.iter().copied().filter(|kernel| !dispatched.contains(kernel)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("not dispatched: {}", missing.join(", "))) }
}

/// The kernels of plans with default policies, for the types and operators that have their own kernels.
fn default_kernels(gpu: &Gpu) -> subsweep::Result<BTreeSet<&'static str>> {
    let mut kernels = BTreeSet::new();
    let has_float64 = gpu.capabilities().enabled.shader_float64;
    let numbers = [
        (ElementType::U32, ScanOperator::Add),
        (ElementType::F32, ScanOperator::Min),
        (ElementType::I64, ScanOperator::Add),
        (ElementType::F64, ScanOperator::Mul),
    ];
    for (element, operator) in numbers.into_iter().filter(|&(e, o)| has_float64 || !o.needs_float64(e)) {
        let scan = ScanConfig::inclusive(element).operator(operator);
        let plain = [1, 2, 3, 4, 7].map(|columns| scan.columns(columns));
        let segmented = [SegmentsBy::Flags, SegmentsBy::Offsets]
            .map(|segments| [1, 7].map(|columns| scan.columns(columns).segments(segments)));
        let others = [scan.out_of_place(), scan.indirect_count()];
        for config in plain.into_iter().chain(segmented.into_iter().flatten()).chain(others) {
            kernels.extend(gpu.plan(config)?.pipelines().map(|pipeline| pipeline.kernel().name));
        }
    }
    for key in [ElementType::U32, ElementType::U64] {
        let pairs = ValueSize::ALL.map(|size| SortConfig::pairs(key, size));
        for config in [SortConfig::keys(key), SortConfig::argsort(key)].into_iter().chain(pairs) {
            for config in [config, config.indirect_count()] {
                kernels.extend(gpu.plan(config)?.pipelines().map(|pipeline| pipeline.kernel().name));
            }
            let segmented = gpu.plan(config)?;
            kernels.extend(segmented.pipelines().map(|pipeline| pipeline.kernel().name));
        }
    }
    for words in 1..=4 {
        for config in [GatherConfig::elements(words), GatherConfig::elements(words).indirect_count()] {
            let plan = gpu.plan(config)?;
            kernels.extend(plan.pipelines().map(|pipeline| pipeline.kernel().name));
        }
    }
    Ok(kernels)
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
