//! What a compiler makes of pipelines, on a device that only compiles.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use subsweep::harness::PlanConfig;
use subsweep::headless::Instance;
use subsweep::vk::{Device, Pipeline, Specialization, StatisticValue};

use super::table::{COLUMNS, Key, Numbers, STATISTICS};

/// What became of one pipeline.
#[derive(Debug)]
pub struct Compiled {
    pub numbers: Numbers,
    /// Whether no policy has chosen another specialization of the kernel before.
    pub is_first: bool,
    /// Lanes that the compiler took.
    lanes: u32,
    /// Everything that went to memory for want of registers, by the compiler's name for it.
    spills: Vec<(String, u64)>,
}

impl Compiled {
    pub fn new(pipeline: &Pipeline) -> Result<Self> {
        let statistics = pipeline.statistics()?;
        let number = |name: &str| {
            let mut found = statistics.iter().filter(|statistic| statistic.name == name);
            match (found.next(), found.next()) {
                (Some(statistic), None) => match statistic.value {
                    StatisticValue::U64(value) => Ok(value),
                    StatisticValue::I64(value) => Ok(u64::try_from(value)?),
                    value => bail!("{name} is {value}, and no whole number"),
                },
                // A compiler that has lost its word for spills would pass for one that spills nothing.
                (None, _) => bail!("the compiler does not tell its {name}"),
                _ => bail!("the compiler tells its {name} more than once"),
            }
        };
        let mut numbers = Numbers::default();
        for (to, column) in numbers.iter_mut().zip(COLUMNS).take(STATISTICS) {
            *to = number(column)?;
        }
        numbers[STATISTICS] = wide_accesses(pipeline)?;
        let spills = ["Spilled VGPRs", "Spilled SGPRs", "Scratch size"];
        let spills = spills.map(|name| Ok((name.to_owned(), number(name)?)));
        Ok(Self {
            numbers,
            is_first: false,
            lanes: statistics.first().map_or(0, |statistic| statistic.subgroup_size),
            spills: spills.into_iter().collect::<Result<_>>()?,
        })
    }

    /// Everything stayed in registers.
    pub fn check(&self) -> Result<()> {
        for (name, count) in &self.spills {
            ensure!(*count == 0, "{name}: {count}");
        }
        Ok(())
    }
}

/// Instructions that load or store 16 bytes of memory for each lane.
fn wide_accesses(pipeline: &Pipeline) -> Result<u64> {
    let representations = pipeline.representations()?;
    let assembly = representations.iter().find(|one| one.name == "Assembly");
    let assembly = assembly.context("the compiler does not show its assembly")?;
    // The names of GCN and RDNA up to 2, and those of later ones.
    let is_wide =
        |line: &&str| line.contains("global_") && (line.contains("_dwordx4") || line.contains("_b128"));
    Ok(assembly.text.lines().filter(is_wide).count() as u64)
}

/// The one device that the row's environment leaves, and the instance that keeps what validation says.
pub fn open() -> Result<(Arc<Instance>, Device)> {
    let instance = Arc::new(Instance::new(true)?);
    let candidate = instance.candidates()?.into_iter().next().context("the driver has no such target")?;
    let device = candidate.open_to_compile()?;
    Ok((instance, device))
}

/// [Every pipeline that a policy can choose](PlanConfig::every), in subgroups of `asked` lanes, or of what the driver
/// takes by itself.
pub fn all(device: &Device, asked: Option<u32>) -> Result<BTreeMap<Key, Compiled>> {
    let mut compiled = BTreeMap::new();
    // What is held is not compiled again for the next plan.
    let mut held = Vec::<Pipeline>::new();
    for plan in PlanConfig::every(device.capabilities(), asked) {
        plan.for_each_pipeline(device, |pipeline| -> Result<()> {
            if held.iter().any(|other| other.is_same(pipeline)) {
                return Ok(());
            }
            held.push(pipeline.clone());
            let (kernel, specialization) = (pipeline.kernel().name, pipeline.specialization());
            let mut one = Compiled::new(pipeline).with_context(|| format!("{kernel} {specialization}"))?;
            one.is_first = held.iter().filter(|other| other.kernel().name == kernel).count() == 1;
            // The lanes have a column of their own in the table.
            let specialization = Specialization { subgroup_size: None, ..specialization.clone() }.to_string();
            let key = Key { kernel: kernel.to_owned(), specialization, lanes: one.lanes };
            ensure!(asked.is_none_or(|asked| asked == key.lanes), "{key}, where {asked:?} were asked for");
            compiled.insert(key, one);
            Ok(())
        })?;
    }
    Ok(compiled)
}
