//! What a driver's compiler makes of pipelines, on a device that may only compile: see
//! [`Candidate::open_to_compile`](crate::headless::Candidate::open_to_compile). Names of fields are a promise to
//! scripts, as `inspect --json` prints them.

mod plans;
mod summary;

use std::collections::HashSet;

use serde::{Serialize, Serializer};

pub use plans::PlanConfig;
pub use summary::Summary;

use super::verify::Outcome;
use crate::error::Result;
use crate::kernels::SpecConstant;
use crate::vk::{Device, Pipeline, Specialization, StatisticValue};

/// What a driver tells of the pipelines of plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Inspection {
    /// Each pipeline once, by kernel, specialization and lanes.
    pub pipelines: Vec<InspectedPipeline>,
    /// Why plans could not be made, each reason once.
    pub not_supported: Vec<String>,
}

/// What a driver tells of one pipeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InspectedExecutable {
    /// Its name, in the driver's words.
    pub name: String,
    /// Lanes that it was compiled for; 0 if the driver does not say.
    pub subgroup_size: u32,
    /// Everything that the driver tells of it, in its order.
    pub statistics: Vec<InspectedStatistic>,
}

/// One number, under the driver's own name for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InspectedStatistic {
    /// What is counted, in the driver's words.
    pub name: String,
    /// How much of it: a number, or true or false.
    #[serde(serialize_with = "serialize_value")]
    pub value: StatisticValue,
}

impl Inspection {
    /// Compiles the pipelines of `plans`; `begin` is told before each plan. What is beyond the device is written down.
    ///
    /// # Errors
    /// That the device was not made to tell; other errors of plans.
    pub fn new(device: &Device, plans: &[PlanConfig], mut begin: impl FnMut(&PlanConfig)) -> Result<Self> {
        let (mut found, mut seen) = (Self::default(), HashSet::new());
        for plan in plans {
            begin(plan);
            let added: Result<()> = plan.for_each_pipeline(device, |pipeline| {
                let told = InspectedPipeline::new(pipeline)?;
                if seen.insert((told.kernel.clone(), constants(pipeline), told.lanes)) {
                    found.pipelines.push(told);
                }
                Ok(())
            });
            if let Err(error) = added {
                match Outcome::of_error(error.clone())? {
                    Outcome::NotSupported(reason) if !found.not_supported.contains(&reason) => {
                        found.not_supported.push(reason);
                    }
                    Outcome::NotSupported(_) => {}
                    Outcome::Pass | Outcome::Fail(_) => return Err(error),
                }
            }
        }
        let order = |one: &InspectedPipeline| (one.kernel.clone(), one.specialization.clone(), one.lanes);
        found.pipelines.sort_by_cached_key(order);
        Ok(found)
    }

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
        let mut executables = Vec::<InspectedExecutable>::new();
        for statistic in pipeline.statistics()? {
            let told = InspectedStatistic { name: statistic.name, value: statistic.value };
            match executables.last_mut() {
                Some(last)
                    if (&last.name, last.subgroup_size)
                        == (&statistic.executable, statistic.subgroup_size) =>
                {
                    last.statistics.push(told);
                }
                _ => executables.push(InspectedExecutable {
                    name: statistic.executable,
                    subgroup_size: statistic.subgroup_size,
                    statistics: vec![told],
                }),
            }
        }
        // The lanes have a field of their own.
        let specialization = Specialization { subgroup_size: None, ..pipeline.specialization().clone() };
        Ok(Self {
            kernel: pipeline.kernel().name.to_owned(),
            specialization: specialization.to_string(),
            lanes: executables.first().map_or(0, |executable| executable.subgroup_size),
            summary: Summary::new(pipeline.device().capabilities().identity.driver_id, &executables),
            executables,
        })
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
