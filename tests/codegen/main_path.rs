//! Instructions for each element on the main path of the hot kernels: a full tile, without the fallback for stalled tiles.
//!
//! Each instruction counts once, on both sides of divergent branches and in the body of a loop.

use anyhow::{Context as _, Result};
use subsweep::ElementType;
use subsweep::harness::PlanConfig;
use subsweep::kernels::{self, Kernel};
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanPolicy};
use subsweep::sort::{SortAlgorithm, SortConfig, SortPolicy, ValueSize};
use subsweep::vk::{Device, Pipeline, PipelineOptions, Specialization};

use super::compiled::Compiled;

/// A hot kernel's main path: instructions of the code, and elements of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MainPath {
    pub instructions: u64,
    pub items: u64,
}

/// Of each hot kernel as it is tuned for the device, and sorts also by the other way to match digits.
pub fn counts(device: &Device) -> Result<Vec<(String, MainPath)>> {
    let sort = |config| {
        let policy = SortPolicy::tuned(SortAlgorithm::Onesweep, device.capabilities(), &config);
        PlanConfig::Sort(config.policy(policy))
    };
    let pairs = SortConfig::pairs;
    let mut counts = Vec::new();
    for (kernel, config) in [
        (&kernels::SORT_ONESWEEP_KEY1, SortConfig::keys(ElementType::U32)),
        (&kernels::SORT_ONESWEEP_KEY1_VALUE1, pairs(ElementType::U32, ValueSize::B4)),
        (&kernels::SORT_ONESWEEP_KEY1_VALUE2, pairs(ElementType::U32, ValueSize::B8)),
        (&kernels::SORT_ONESWEEP_KEY2, SortConfig::keys(ElementType::U64)),
        (&kernels::SORT_ONESWEEP_KEY2_VALUE1, pairs(ElementType::U64, ValueSize::B4)),
        (&kernels::SORT_ONESWEEP_KEY2_VALUE2, pairs(ElementType::U64, ValueSize::B8)),
    ] {
        let specialization = specialization(device, &sort(config), kernel)?;
        let items = value(&specialization, "ITEMS_PER_INVOCATION")?;
        // A mask has a bit for each lane of one word.
        let lanes = Compiled::new(&Pipeline::new(device, kernel, options(&specialization))?)?.inspected.lanes;
        for (name, by_masks) in [("ballots", 0), ("shared masks", 1)] {
            if by_masks == 1 && lanes > 32 {
                continue;
            }
            let mut variant = specialization.clone();
            for (name, value) in &mut variant.constants {
                if *name == "SHARED_MASKS" {
                    *value = by_masks;
                }
            }
            let name = format!("{}, {} x {items}, by {name}", kernel.name, variant.workgroup_size);
            counts.push((name, MainPath { instructions: instructions(device, kernel, variant)?, items }));
        }
    }
    let kernel = &kernels::SCAN_CHAINED_U32X1;
    let config = ScanConfig::inclusive().out_of_place();
    let policy =
        ScanPolicy::choose(device.capabilities(), &config).policy.with_algorithm(ScanAlgorithm::Chained);
    let specialization = specialization(device, &PlanConfig::Scan(config.policy(policy)), kernel)?;
    let items = 4 * value(&specialization, "RUNS_PER_INVOCATION")? * value(&specialization, "PACKS_PER_RUN")?;
    let name = format!("{}, {} x {items}", kernel.name, specialization.workgroup_size);
    counts.push((name, MainPath { instructions: instructions(device, kernel, specialization)?, items }));
    Ok(counts)
}

/// How a plan specializes a kernel.
fn specialization(device: &Device, plan: &PlanConfig, kernel: &Kernel) -> Result<Specialization> {
    let mut found = None;
    plan.for_each_pipeline(device, |pipeline| -> Result<()> {
        if pipeline.kernel().name == kernel.name {
            found.get_or_insert_with(|| pipeline.specialization().clone());
        }
        Ok(())
    })?;
    found.with_context(|| format!("the plan has no {}", kernel.name))
}

fn options(specialization: &Specialization) -> PipelineOptions<'_> {
    PipelineOptions {
        workgroup_size: specialization.workgroup_size,
        constants: &specialization.constants,
        subgroup_size: specialization.subgroup_size,
    }
}

fn value(specialization: &Specialization, name: &str) -> Result<u64> {
    let found = specialization.constants.iter().find(|(other, _)| *other == name);
    Ok(found.with_context(|| format!("no constant {name}"))?.1.into())
}

/// Of the main path alone.
fn instructions(device: &Device, kernel: &'static Kernel, mut specialization: Specialization) -> Result<u64> {
    specialization.constants.push(("MAIN_PATH", 1));
    let compiled = Compiled::new(&Pipeline::new(device, kernel, options(&specialization))?)?;
    compiled.inspected.summary.instructions.context("the compiler does not tell its instructions")
}
