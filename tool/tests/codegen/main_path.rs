//! Instructions per element on the main path of the hot kernels: a full tile, without the fallback for stalled tiles.
//!
//! Each instruction counts once, on both sides of divergent branches and in the body of a loop.

use anyhow::{Context as _, Result, bail};
use subsweep::device::Device;
use subsweep::kernels::{self, Kernel};
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanPolicy};
use subsweep::sort::{Matching, Ranking, SortAlgorithm, SortConfig, SortPolicy, ValueSize};
use subsweep::{ElementType, Error};
use subsweep_tool::harness::{MAIN_PATH, PipelineSet, PlanConfig};

/// A hot kernel's main path: instructions of the code, and elements of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MainPath {
    pub instructions: u64,
    pub items: u64,
}

/// The main path of each hot kernel, as tuned for the device; of sorts by ballots and by shared masks, where the device
/// supports them.
pub fn counts(device: &Device) -> Result<Vec<(String, MainPath)>> {
    let capabilities = device.capabilities();
    let pairs = SortConfig::pairs;
    let mut counts = Vec::new();
    let configs = [ElementType::U32, ElementType::U64]
        .map(|key| [SortConfig::keys(key), pairs(key, ValueSize::B4), pairs(key, ValueSize::B8)]);
    for (kernel, config) in kernels::SORT_ONESWEEP.modules().iter().zip(configs.into_iter().flatten()) {
        let tuned = SortPolicy::tuned(SortAlgorithm::Onesweep, capabilities, &config);
        let Ranking::Match(matching) = tuned.ranking else { bail!("onesweep does not match digits") };
        for (way, by_shared_masks) in [("ballots", false), ("shared masks", true)] {
            let mut policy = tuned;
            policy.ranking = Ranking::Match(Matching { by_shared_masks, ..matching });
            let plan = PlanConfig::from(config.policy(policy));
            // The device may have too many lanes for masks.
            if let Some(instructions) = instructions(device, &plan, kernel, &[])? {
                let (workgroup_size, items) = (tuned.workgroup_size, tuned.items_per_invocation.into());
                let name = format!("{}, {workgroup_size} x {items}, by {way}", kernel.name);
                counts.push((name, MainPath { instructions, items }));
            }
        }
    }
    let config = ScanConfig::inclusive(ElementType::U32).out_of_place();
    let tuned = ScanPolicy::choose(capabilities, &config).policy.with_algorithm(ScanAlgorithm::Chained);
    let kernel = kernels::SCAN_CHAINED.module(&[("COLUMNS", 1)]);
    let plan = PlanConfig::from(config.policy(tuned));
    // The first subgroup of a workgroup looks back.
    for (subgroups, more) in [("first subgroup", &[][..]), ("other subgroups", &[("OTHER_SUBGROUPS", 1)])] {
        let instructions =
            instructions(device, &plan, kernel, more)?.context("the device takes no chained scan")?;
        let (workgroup_size, items) = (tuned.workgroup_size, tuned.items_per_invocation.into());
        let name = format!("{}, {workgroup_size} x {items}, {subgroups}", kernel.name);
        counts.push((name, MainPath { instructions, items }));
    }
    Ok(counts)
}

/// Instructions of the main path of a plan's kernel, in the variant for aligned memory, with `more` constants; `None`
/// where the device does not support the plan.
fn instructions(
    device: &Device,
    plan: &PlanConfig,
    kernel: &Kernel,
    more: &[(&'static str, u32)],
) -> Result<Option<u64>> {
    let mut pipelines = match PipelineSet::new(device, std::slice::from_ref(plan)) {
        Err(Error::InvalidPolicy { .. }) => return Ok(None),
        pipelines => pipelines?,
    };
    pipelines.retain(|name| name.split(' ').next() == Some(kernel.name));
    pipelines.add_main_paths(device, more)?;
    pipelines.retain(|name| name.contains(MAIN_PATH));
    let inspection = pipelines.compile(device, |_| ())?;
    let of_quads = |specialization: &str| !specialization.contains("QUAD_ACCESS=0");
    let main_path = inspection.pipelines.iter().find(|one| of_quads(&one.specialization));
    let summary = main_path.with_context(|| format!("the plan has no {}", kernel.name))?.summary;
    summary.instructions.map(Some).context("the compiler does not report its instructions")
}
