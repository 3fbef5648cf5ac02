//! Instructions for each element on the main path of the hot kernels: a full tile, without the fallback for stalled tiles.
//!
//! Each instruction counts once, on both sides of divergent branches and in the body of a loop.

#[cfg(not(feature = "compile-shaders"))]
pub use without::counts;

#[cfg(feature = "compile-shaders")]
pub use with::counts;

/// A hot kernel's main path: instructions of the code, and elements of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MainPath {
    pub instructions: u64,
    pub items: u64,
}

#[cfg(not(feature = "compile-shaders"))]
mod without {
    use anyhow::Result;
    use subsweep::vk::Device;

    use super::MainPath;

    /// None: no shader compiler made the kernels.
    pub fn counts(_: &Device) -> Result<Vec<(String, MainPath)>> {
        Ok(Vec::new())
    }
}

#[cfg(feature = "compile-shaders")]
mod with {
    use anyhow::{Context as _, Result};
    use subsweep::ElementType;
    use subsweep::harness::PlanConfig;
    use subsweep::kernels::{self, Kernel};
    use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanPolicy};
    use subsweep::sort::{SortAlgorithm, SortConfig, SortPolicy, ValueSize};
    use subsweep::vk::{Device, Pipeline, PipelineOptions, Specialization};

    use super::MainPath;
    use crate::compiled::Compiled;
    use crate::fixture;

    macro_rules! main_path {
        ($kernel:ident, $module:literal) => {{
            // SAFETY: the build has compiled it of the same source, which has this interface, and the module has `main` alone.
            static KERNEL: Kernel = unsafe {
                kernels::$kernel.with_module(concat!($module, ", main path"), fixture!(concat!("main_path/", $module)))
            };
            (&kernels::$kernel, &KERNEL)
        }};
    }

    /// Of each hot kernel as it is tuned for the device, and sorts also by the other way to match digits.
    pub fn counts(device: &Device) -> Result<Vec<(String, MainPath)>> {
        let sort = |config| {
            let policy = SortPolicy::tuned(SortAlgorithm::Onesweep, device.capabilities(), &config);
            PlanConfig::Sort(config.policy(policy))
        };
        let keys = SortConfig::keys;
        let mut counts = Vec::new();
        for ((kernel, main_path), config) in [
            (main_path!(SORT_ONESWEEP_KEY1, "sort/onesweep.key1"), keys(ElementType::U32)),
            (
                main_path!(SORT_ONESWEEP_KEY1_VALUE1, "sort/onesweep.key1_value1"),
                SortConfig::pairs(ElementType::U32, ValueSize::B4),
            ),
            (main_path!(SORT_ONESWEEP_KEY2, "sort/onesweep.key2"), keys(ElementType::U64)),
            (
                main_path!(SORT_ONESWEEP_KEY2_VALUE2, "sort/onesweep.key2_value2"),
                SortConfig::pairs(ElementType::U64, ValueSize::B8),
            ),
        ] {
            let specialization = specialization(device, &sort(config), kernel)?;
            let items = value(&specialization, "ITEMS_PER_INVOCATION")?;
            // A mask has a bit for each lane of one word.
            let lanes =
                Compiled::new(&Pipeline::new(device, kernel, options(&specialization))?)?.inspected.lanes;
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
                let instructions = instructions(device, main_path, &variant)?;
                let shape = format!("{} x {items}", variant.workgroup_size);
                counts
                    .push((format!("{}, {shape}, by {name}", kernel.name), MainPath { instructions, items }));
            }
        }
        let (kernel, main_path) = main_path!(SCAN_CHAINED_U32X1, "scan/chained.u32x1");
        let config = ScanConfig::inclusive().out_of_place();
        let policy =
            ScanPolicy::choose(device.capabilities(), &config).policy.with_algorithm(ScanAlgorithm::Chained);
        let specialization = specialization(device, &PlanConfig::Scan(config.policy(policy)), kernel)?;
        let items =
            4 * value(&specialization, "RUNS_PER_INVOCATION")? * value(&specialization, "PACKS_PER_RUN")?;
        let instructions = instructions(device, main_path, &specialization)?;
        let shape = format!("{} x {items}", specialization.workgroup_size);
        counts.push((format!("{}, {shape}", kernel.name), MainPath { instructions, items }));
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

    fn instructions(
        device: &Device,
        kernel: &'static Kernel,
        specialization: &Specialization,
    ) -> Result<u64> {
        let compiled = Compiled::new(&Pipeline::new(device, kernel, options(specialization))?)?;
        compiled.inspected.summary.instructions.context("the compiler does not tell its instructions")
    }
}
