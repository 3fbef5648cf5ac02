//! What a driver's compiler makes of pipelines, on a device that may only compile: see
//! [`Candidate::open_to_compile`](crate::headless::Candidate::open_to_compile). Names of fields are a promise to
//! scripts, as `inspect --json` prints them.

mod comparison;
mod device;
mod foreign;
mod plans;
mod summary;

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use comparison::{InspectionComparison, InspectionSide, PipelineComparison, PipelineSide};
pub use device::InspectedDevice;
pub use foreign::{ForeignModule, ModuleError, SpecializedModule};
pub use plans::PlanConfig;
pub use summary::Summary;

use super::verify::Outcome;
use crate::device::{Device, Pipeline, PipelineOptions, Specialization, Statistic, StatisticValue};
use crate::error::{Error, Result};
use crate::kernels::SpecConstant;

/// What a driver tells of the pipelines of plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Each pipeline once, by kernel, specialization and lanes.
    pub pipelines: Vec<InspectedPipeline>,
    /// Why plans could not be made, each reason once.
    pub not_supported: Vec<String>,
}

/// What a driver tells of one pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedPipeline {
    /// The kernel's name: its source's path without the extension, and the variant after a colon if it has one.
    pub kernel: String,
    /// What the pipeline makes of it: `WORKGROUP_SIZE=256 NAME=VALUE …`.
    pub specialization: String,
    /// Lanes that it was compiled for; 0 if the driver does not say.
    pub lanes: u32,
    /// What is told by a known name.
    pub summary: Summary,
    /// The programs that the pipeline became; a compute pipeline is mostly one.
    pub executables: Vec<InspectedExecutable>,
}

/// One program of a pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedExecutable {
    /// Its name, in the driver's words.
    pub name: String,
    /// Lanes that it was compiled for; 0 if the driver does not say.
    pub subgroup_size: u32,
    /// Everything that the driver tells of it, in its order.
    pub statistics: Vec<InspectedStatistic>,
}

/// One number, under the driver's own name for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedStatistic {
    /// What is counted, in the driver's words.
    pub name: String,
    /// How much of it: a number, or true or false.
    #[serde(serialize_with = "serialize_value", deserialize_with = "deserialize_value")]
    pub value: StatisticValue,
}

/// The pipelines of plans, each once, before any is compiled.
#[derive(Debug, Default)]
pub struct PipelineSet {
    pipelines: Vec<Pipeline>,
    not_supported: Vec<String>,
}

impl PipelineSet {
    /// The pipelines of `plans`, by kernel and specialization. What is beyond the device is written down.
    ///
    /// # Errors
    /// Those of plans but for the compiler's.
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

    /// The names of the pipelines, in their order: the kernel, and `WORKGROUP_SIZE=256 NAME=VALUE …`.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.pipelines.iter().map(name_of)
    }

    /// How many pipelines there are.
    pub fn len(&self) -> usize {
        self.pipelines.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// Leaves those whose [name](Self::names) is wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.pipelines.retain(|pipeline| is_wanted(&name_of(pipeline)));
    }

    /// Adds the main path of each: full tiles alone, and nothing that waits for a stalled workgroup. Its specialization has
    /// [`MAIN_PATH`], and `more` constants.
    ///
    /// # Errors
    /// Those of pipelines but for the compiler's.
    ///
    /// # Panics
    /// If a kernel has no main path of its own.
    pub fn add_main_paths(&mut self, device: &Device, more: &[(&'static str, u32)]) -> Result<()> {
        let main_paths: Result<Vec<_>> =
            self.pipelines.iter().map(|whole| main_path(device, whole, more)).collect();
        self.pipelines.extend(main_paths?);
        self.pipelines.sort_by_cached_key(name_of);
        Ok(())
    }

    /// Compiles the pipelines, on up to [`Device::pipeline_threads`] threads, and asks the driver about each; `begin` is told
    /// the name of each before that.
    ///
    /// # Errors
    /// That the device was not made to tell; what the driver's compiler says.
    pub fn compile(mut self, device: &Device, begin: impl Fn(&str) + Sync) -> Result<Inspection> {
        let pipelines = std::mem::take(&mut self.pipelines);
        let compiled = Pipeline::compile_each(device, &pipelines, &|pipeline| begin(&name_of(pipeline)));
        let (mut told, mut seen) = (Vec::new(), HashSet::new());
        for (pipeline, result) in pipelines.iter().zip(compiled) {
            match result.and_then(|()| InspectedPipeline::new(pipeline)) {
                Ok(one) if seen.insert((one.kernel.clone(), constants(pipeline), one.lanes)) => {
                    told.push(one)
                }
                // The lanes that were asked for are those that the driver takes by itself.
                Ok(_) => {}
                Err(error) => self.refuse(error)?,
            }
        }
        let order = |one: &InspectedPipeline| (one.kernel.clone(), one.specialization.clone(), one.lanes);
        told.sort_by_cached_key(order);
        Ok(Inspection { pipelines: told, not_supported: self.not_supported })
    }

    /// Writes down what is beyond the device.
    ///
    /// # Errors
    /// Any other error.
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

/// How a specialization tells that it is of a kernel's main path alone, which no plan dispatches.
pub const MAIN_PATH: &str = "MAIN_PATH=1";

/// What a pipeline is for full tiles alone, where no workgroup that it waits for stalls.
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

/// Kernel and specialization. The lanes have a field of their own.
fn name_of(pipeline: &Pipeline) -> String {
    format!("{} {}", pipeline.kernel().name, without_lanes(pipeline))
}

fn without_lanes(pipeline: &Pipeline) -> Specialization {
    Specialization { subgroup_size: None, ..pipeline.specialization().clone() }
}

impl Inspection {
    /// Whether there is a number about any pipeline.
    pub fn has_statistics(&self) -> bool {
        self.pipelines.iter().any(|pipeline| !pipeline.executables.is_empty())
    }
}

impl InspectedPipeline {
    /// What the driver tells of `pipeline`.
    ///
    /// # Errors
    /// Those of [`Pipeline::statistics`].
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
    /// Statistics by the executable that they are of, in their order.
    fn of_statistics(statistics: Vec<Statistic>) -> Vec<Self> {
        let mut executables = Vec::<Self>::new();
        for Statistic { executable: name, subgroup_size, name: what, value } in statistics {
            let told = InspectedStatistic { name: what, value };
            match executables.last_mut() {
                Some(last) if (&last.name, last.subgroup_size) == (&name, subgroup_size) => {
                    last.statistics.push(told);
                }
                _ => executables.push(Self { name, subgroup_size, statistics: vec![told] }),
            }
        }
        executables
    }
}

/// Every specialization constant, the workgroup size first, as the pipeline has it: plans name them in other orders, and
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

fn serialize_value<S: Serializer>(value: &StatisticValue, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        StatisticValue::Bool(value) => serializer.serialize_bool(value),
        StatisticValue::I64(value) => serializer.serialize_i64(value),
        StatisticValue::U64(value) => serializer.serialize_u64(value),
        StatisticValue::F64(value) => serializer.serialize_f64(value),
    }
}

fn deserialize_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StatisticValue, D::Error> {
    /// Those that JSON tells apart: the first that fits.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Bool(bool),
        U64(u64),
        I64(i64),
        F64(f64),
    }

    Ok(match Value::deserialize(deserializer)? {
        Value::Bool(value) => StatisticValue::Bool(value),
        Value::U64(value) => StatisticValue::U64(value),
        Value::I64(value) => StatisticValue::I64(value),
        Value::F64(value) => StatisticValue::F64(value),
    })
}
