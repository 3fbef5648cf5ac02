//! Compiler statistics of pipelines, on a device that may only compile: see
//! [`Candidate::open_to_compile`](subsweep::headless::Candidate::open_to_compile). The field names are the keys of
//! `inspect --json`, and stable.

mod comparison;
mod device;
mod foreign;
mod multiprocessor;
mod summary;

use std::collections::HashSet;
use std::convert::Infallible;

use serde::{Deserialize, Serialize};

pub use comparison::{InspectionComparison, InspectionSide, PipelineComparison, PipelineSide};
pub use device::InspectedDevice;
pub use foreign::{ForeignModule, ModuleError, SpecializedModule};
pub use summary::Summary;

use super::cases::PlanConfig;
use super::verify::Outcome;
use subsweep::device::{Device, Pipeline, PipelineOptions, Specialization, Statistic, StatisticValue};
use subsweep::error::{Error, Result};
use subsweep::internal::on_threads;
use subsweep::kernels::SpecConstant;

/// Statistics of the pipelines of plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The pipelines without duplicates, by kernel, specialization and lanes.
    pub pipelines: Vec<InspectedPipeline>,
    /// Reasons of plans that the device does not support, without duplicates.
    pub not_supported: Vec<String>,
}

/// Statistics of one pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedPipeline {
    /// The kernel's name: its source's path without the extension, and the variant after a colon if it has one.
    pub kernel: String,
    /// The specialization: `WORKGROUP_SIZE=256 NAME=VALUE …`.
    pub specialization: String,
    /// Subgroup size of the compilation; 0 if the driver does not report it.
    pub lanes: u32,
    /// The statistics with known names.
    pub summary: Summary,
    /// The executables of the pipeline; a compute pipeline usually has one.
    pub executables: Vec<InspectedExecutable>,
}

/// One executable of a pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedExecutable {
    /// The driver's name of the executable.
    pub name: String,
    /// Subgroup size of the compilation; 0 if the driver does not report it.
    pub subgroup_size: u32,
    /// All statistics of the executable, in the driver's order.
    pub statistics: Vec<InspectedStatistic>,
}

/// One statistic under the driver's own name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedStatistic {
    /// The driver's name of the statistic.
    pub name: String,
    /// The value: a number or a Boolean.
    #[serde(with = "JsonValue")]
    pub value: StatisticValue,
}

/// The pipelines of plans without duplicates, not yet compiled.
#[derive(Debug, Default)]
pub struct PipelineSet {
    pipelines: Vec<Pipeline>,
    not_supported: Vec<String>,
}

impl PipelineSet {
    /// The pipelines of `plans`, by kernel and specialization. Plans that the device does not support are recorded.
    ///
    /// # Errors
    /// Errors of plans, except the compiler's.
    pub fn new(device: &Device, plans: &[PlanConfig]) -> Result<Self> {
        let (mut set, mut seen) = (Self::default(), HashSet::new());
        for plan in plans {
            match plan.declare(device) {
                Ok(declared) => {
                    let is_new = |one: &Pipeline| {
                        let lanes = one.specialization().subgroup_size;
                        seen.insert((one.kernel().name, constants(one), lanes))
                    };
                    set.pipelines.extend(declared.into_iter().filter(is_new));
                }
                Err(error) => set.refuse(error)?,
            }
        }
        set.pipelines.sort_by_cached_key(name_of);
        Ok(set)
    }

    /// The names of the pipelines in order: the kernel, and `WORKGROUP_SIZE=256 NAME=VALUE …`.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.pipelines.iter().map(name_of)
    }

    /// The reasons of plans that the device does not support, without duplicates.
    pub fn not_supported(&self) -> &[String] {
        &self.not_supported
    }

    /// The number of pipelines.
    pub fn len(&self) -> usize {
        self.pipelines.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// Keeps the pipelines whose [name](Self::names) is wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.pipelines.retain(|pipeline| is_wanted(&name_of(pipeline)));
    }

    /// Adds the main path of each pipeline: full tiles only, without the fallback for stalled tiles. Its specialization
    /// has [`MAIN_PATH`], and the constants `more`.
    ///
    /// # Errors
    /// Errors of pipelines, except the compiler's.
    ///
    /// # Panics
    /// If a kernel has no main path.
    pub fn add_main_paths(&mut self, device: &Device, more: &[(&'static str, u32)]) -> Result<()> {
        let main_paths: Result<Vec<_>> =
            self.pipelines.iter().map(|whole| main_path(device, whole, more)).collect();
        self.pipelines.extend(main_paths?);
        self.pipelines.sort_by_cached_key(name_of);
        Ok(())
    }

    /// Compiles the pipelines, on up to [`Device::pipeline_threads`] threads, and queries their statistics. `begin` is
    /// called with the name of each before its compilation.
    ///
    /// # Errors
    /// The device was created without pipeline statistics; errors of the driver's compiler.
    pub fn compile(mut self, device: &Device, begin: impl Fn(&str) + Sync) -> Result<Inspection> {
        let pipelines = std::mem::take(&mut self.pipelines);
        let compiled = compile_each(device, &pipelines, &|pipeline| begin(&name_of(pipeline)));
        let (mut inspected, mut seen) = (Vec::new(), HashSet::new());
        for (pipeline, result) in pipelines.iter().zip(compiled) {
            match result.and_then(|()| InspectedPipeline::new(pipeline)) {
                Ok(one) if seen.insert((one.kernel.clone(), constants(pipeline), one.lanes)) => {
                    inspected.push(one)
                }
                // The requested subgroup size is also the driver's default: a duplicate.
                Ok(_) => {}
                Err(error) => self.refuse(error)?,
            }
        }
        let order = |one: &InspectedPipeline| (one.kernel.clone(), one.specialization.clone(), one.lanes);
        inspected.sort_by_cached_key(order);
        Ok(Inspection { pipelines: inspected, not_supported: self.not_supported })
    }

    /// Records that the device does not support a plan or pipeline.
    ///
    /// # Errors
    /// Any error other than a missing support.
    fn refuse(&mut self, error: Error) -> Result<()> {
        match Outcome::of_error(error.clone())? {
            Outcome::NotSupported(reason) if !self.not_supported.contains(&reason) => {
                self.not_supported.push(reason);
                Ok(())
            }
            Outcome::NotSupported(_) => Ok(()),
            Outcome::Pass | Outcome::Fail(_) => Err(error),
        }
    }
}

/// Compiles all pipelines, on up to [`Device::pipeline_threads`] threads, even if some fail. Calls `begin` before each. Returns
/// the results in the order of the pipelines.
fn compile_each(
    device: &Device,
    pipelines: &[Pipeline],
    begin: &(impl Fn(&Pipeline) + Sync),
) -> Vec<Result<()>> {
    let compile = |index| {
        let pipeline: &Pipeline = &pipelines[index];
        begin(pipeline);
        Ok::<_, Infallible>(Pipeline::compile_all(device, [pipeline]))
    };
    let Ok(results) = on_threads(device.pipeline_threads().get(), pipelines.len(), compile);
    results
}

/// Marks the specialization of a kernel's main path, which no plan dispatches.
pub const MAIN_PATH: &str = "MAIN_PATH=1";

/// The pipeline's main path: full tiles only, without the fallback for stalled tiles.
fn main_path(device: &Device, whole: &Pipeline, more: &[(&'static str, u32)]) -> Result<Pipeline> {
    let Specialization { workgroup_size, constants, subgroup_size } = whole.specialization();
    let constants: Vec<_> =
        constants.iter().copied().chain([("MAIN_PATH", 1)]).chain(more.iter().copied()).collect();
    let options = PipelineOptions {
        workgroup_size: *workgroup_size,
        constants: &constants,
        subgroup_size: *subgroup_size,
    };
    Pipeline::declare(device, whole.kernel(), options)
}

/// Kernel and specialization, without the lanes, which have a field of their own.
fn name_of(pipeline: &Pipeline) -> String {
    format!("{} {}", pipeline.kernel().name, without_lanes(pipeline))
}

fn without_lanes(pipeline: &Pipeline) -> Specialization {
    Specialization { subgroup_size: None, ..pipeline.specialization().clone() }
}

impl Inspection {
    /// Whether any pipeline has statistics.
    pub fn has_statistics(&self) -> bool {
        self.pipelines.iter().any(|pipeline| !pipeline.executables.is_empty())
    }
}

impl InspectedPipeline {
    /// The driver's statistics of `pipeline`.
    ///
    /// # Errors
    /// Errors of [`Pipeline::statistics`].
    pub fn new(pipeline: &Pipeline) -> Result<Self> {
        let executables = InspectedExecutable::of_statistics(pipeline.statistics()?);
        let specialization = without_lanes(pipeline);
        let workgroup_size = specialization.workgroup_size;
        let capabilities = pipeline.device().capabilities();
        Ok(Self {
            kernel: pipeline.kernel().name.to_owned(),
            specialization: specialization.to_string(),
            lanes: executables.first().map_or(0, |executable| executable.subgroup_size),
            summary: Summary::new(capabilities, workgroup_size, &executables),
            executables,
        })
    }
}

impl InspectedExecutable {
    /// Groups statistics by executable, in order.
    fn of_statistics(statistics: Vec<Statistic>) -> Vec<Self> {
        let mut executables = Vec::<Self>::new();
        for Statistic { executable: name, subgroup_size, name: what, value, .. } in statistics {
            let statistic = InspectedStatistic { name: what, value };
            match executables.last_mut() {
                Some(last) if (&last.name, last.subgroup_size) == (&name, subgroup_size) => {
                    last.statistics.push(statistic);
                }
                _ => executables.push(Self { name, subgroup_size, statistics: vec![statistic] }),
            }
        }
        executables
    }
}

/// Values of all specialization constants, the workgroup size first. Plans name the constants in different orders, and
/// leave some at their defaults.
fn constants(pipeline: &Pipeline) -> Vec<u32> {
    let specialization = pipeline.specialization();
    let value = |constant: &SpecConstant| {
        let named = specialization.constants.iter().find(|(name, _)| *name == constant.name);
        named.map_or(constant.default, |&(_, value)| value)
    };
    let others = pipeline.kernel().spec_constants.iter().filter(|constant| constant.id != 0);
    std::iter::once(specialization.workgroup_size).chain(others.map(value)).collect()
}

/// [`StatisticValue`] in JSON. Of the types that JSON distinguishes the first that fits is read.
#[derive(Serialize, Deserialize)]
#[serde(remote = "StatisticValue", untagged)]
enum JsonValue {
    Bool(bool),
    U64(u64),
    I64(i64),
    F64(f64),
}
