//! A device that only compiles, and what its compiler makes of pipelines.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use subsweep::ElementType;
use subsweep::ash::vk;
use subsweep::gather::{GatherConfig, GatherPlan, GatherPolicy};
use subsweep::harness::{Effort, PolicyName, Work, verify_cases};
use subsweep::headless::Instance;
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanPlan};
use subsweep::sort::{
    SegmentedSortConfig, SegmentedSortPlan, SegmentedSortPolicy, SortAlgorithm, SortConfig, SortPlan,
    ValueSize,
};
use subsweep::vk::{Device, OpenOptions, Pipeline, Specialization, StatisticValue};

use super::table::{COLUMNS, Key, Numbers, STATISTICS};

/// What became of one pipeline.
#[derive(Debug)]
pub struct Compiled {
    pub numbers: Numbers,
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
    let requirements = candidate.requirements()?.clone().with_pipeline_statistics();
    let physical_device = candidate.physical_device();
    // SAFETY: the device is the instance's.
    let families = unsafe { instance.raw().get_physical_device_queue_family_properties(physical_device) };
    let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let queue_family_index = family.context("the target has no queue that computes")? as u32;
    let keep_alive: Arc<Instance> = Arc::clone(&instance);
    let options = OpenOptions { queue_family_index, keep_alive: Some(keep_alive), ..OpenOptions::default() };
    // SAFETY: the instance is kept alive; the device and the family are its own.
    let device = unsafe { Device::open(instance.raw(), physical_device, &requirements, options) }?;
    Ok((instance, device))
}

/// Every pipeline of the case table's scans, and of every sort by the width of its keys and values, in subgroups of `asked`
/// lanes, or of what the driver takes by itself.
///
/// The policies for small tiles are left out: nobody can choose them.
pub fn all(device: &Device, asked: Option<u32>) -> Result<BTreeMap<Key, Compiled>> {
    let cases = verify_cases(Effort::Quick, device.capabilities());
    let mut configurations: Vec<_> =
        cases.into_iter().filter_map(|case| Configuration::of_work(case.work)).collect();
    configurations.dedup();
    configurations.extend(Configuration::sorts());
    let mut compiled = BTreeMap::new();
    for configuration in configurations {
        configuration.compile(device, asked, &mut compiled)?;
    }
    Ok(compiled)
}

/// What is left of a case when memory and elements are of no matter.
#[derive(PartialEq)]
enum Configuration {
    Scan(ScanConfig, ScanAlgorithm, PolicyName),
    Sort(SortConfig, SortAlgorithm, PolicyName),
    SegmentedSort(SortConfig),
    Gather(GatherConfig),
}

impl Configuration {
    fn of_work(work: Work) -> Option<Self> {
        match work {
            Work::Scan(scan) if scan.policy != PolicyName::Small => {
                Some(Self::Scan(scan.config(), scan.algorithm, scan.policy))
            }
            Work::Gather(gather) if !gather.has_small_tiles => Some(Self::Gather(gather.config())),
            Work::Scan(_) | Work::Sort(_) | Work::SegmentedSort(_) | Work::Gather(_) => None,
        }
    }

    fn sorts() -> Vec<Self> {
        let mut sorts = Vec::new();
        for key in [ElementType::U32, ElementType::U64] {
            let pairs = ValueSize::ALL.map(|size| SortConfig::pairs(key, size));
            sorts.extend([SortConfig::keys(key)].into_iter().chain(pairs).map(Self::SegmentedSort));
        }
        for algorithm in SortAlgorithm::ALL {
            let policies = [PolicyName::Default, PolicyName::Seed, PolicyName::SeedBinByBin];
            let policies = policies
                .into_iter()
                .filter(|&policy| policy == PolicyName::Default || algorithm.is_of_seed());
            for policy in policies {
                for key in [ElementType::U32, ElementType::U64] {
                    let pairs = ValueSize::ALL.map(|size| SortConfig::pairs(key, size));
                    let configs = [SortConfig::keys(key)].into_iter().chain(pairs);
                    sorts.extend(configs.map(|config| Self::Sort(config, algorithm, policy)));
                }
            }
        }
        // The most that a key is turned around.
        let doubles = SortConfig::keys(ElementType::F64).descending();
        sorts.push(Self::Sort(doubles, SortAlgorithm::Radix4Bit, PolicyName::Default));
        sorts
    }

    fn compile(&self, device: &Device, asked: Option<u32>, to: &mut BTreeMap<Key, Compiled>) -> Result<()> {
        let capabilities = device.capabilities();
        let mut add = |pipeline: &Pipeline| -> Result<()> {
            let (kernel, specialization) = (pipeline.kernel().name, pipeline.specialization());
            let compiled = Compiled::new(pipeline).with_context(|| format!("{kernel} {specialization}"))?;
            // The lanes have a column of their own in the table.
            let specialization = Specialization { subgroup_size: None, ..specialization.clone() }.to_string();
            let key = Key { kernel: kernel.to_owned(), specialization, lanes: compiled.lanes };
            ensure!(asked.is_none_or(|asked| asked == key.lanes), "{key}, where {asked:?} were asked for");
            to.insert(key, compiled);
            Ok(())
        };
        match *self {
            Self::Scan(config, algorithm, policy) => {
                let mut policy = policy.scan(capabilities, algorithm, &config);
                if let Some(lanes) = asked {
                    policy = policy.with_subgroup_size(lanes);
                }
                ScanPlan::new(device, config.policy(policy))?.pipelines().try_for_each(&mut add)
            }
            Self::Sort(config, algorithm, policy) => {
                let mut policy = policy.sort(capabilities, algorithm);
                if let Some(lanes) = asked {
                    policy = policy.with_subgroup_size(lanes);
                }
                SortPlan::new(device, config.policy(policy))?.pipelines().try_for_each(&mut add)
            }
            Self::SegmentedSort(config) => {
                let mut policy = SegmentedSortPolicy::choose(capabilities).policy;
                if let Some(lanes) = asked {
                    policy = policy.with_subgroup_size(lanes);
                }
                let config = SegmentedSortConfig::new(config).policy(policy);
                SegmentedSortPlan::new(device, config)?.pipelines().try_for_each(&mut add)
            }
            Self::Gather(config) => {
                let mut policy = GatherPolicy::choose(capabilities, &config).policy;
                if let Some(lanes) = asked {
                    policy = policy.with_subgroup_size(lanes);
                }
                GatherPlan::new(device, config.policy(policy))?.pipelines().try_for_each(&mut add)
            }
        }
    }
}
