//! `subsweep inspect`: pipeline statistics from drivers' compilers.

mod module;
mod plans;
pub mod text;

use anyhow::{Result, bail};
use clap::Args;
use subsweep_tool::harness::gpus::CompileOnlyGpu;
use subsweep_tool::harness::{InspectedDevice, Inspection, PipelineSet};

use crate::args::Common;
use crate::command::{Need, Run};
use crate::device::{self, Numbered};
use crate::error::{CommandError, usage};
use crate::files::Source;
use crate::files::output::{print, to_json};
use crate::gpus;
use crate::pattern::matches;
use crate::policy;
use crate::suite::is_missing_feature;
use crate::terminal::Progress;
use module::Module;

/// Show registers, spills, occupancy and code size of the kernels, as reported by a device's driver
///
/// Compiles the pipelines of the device's plans, for every algorithm, and prints the driver's statistics of each; -
/// stands for a missing one. Nothing runs on the device. --algorithm and --policy select the pipelines of one. Exits
/// with 3 where a driver reports nothing (it lacks VK_KHR_pipeline_executable_properties).
///
/// Spills go to memory; spills "to registers" go to registers of another kind. Occupancy is in the driver's unit:
/// subgroups of a SIMD with RADV, warps of an SM with NVK, waves or threads of a core with Turnip and Honeykrisp.
/// Workgroups are the whole ones that fit by it. Cycles are the compiler's estimate for one subgroup.
///
/// With --device gpu:NAME the compiler of a GPU that need not be installed reports (--list-gpus; tools/setup gpus
/// fetches them).
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Only pipelines whose kernel and specialization contain PATTERN, in which * matches any text: sort/onesweep,
    /// scan/*REVERSE=1
    #[arg(long, value_name = "PATTERN")]
    pub filter: Option<String>,

    /// Inspect the compute shader of a SPIR-V module instead; each of its bindings gets a storage buffer, or the type that
    /// the module declares; - is standard input. The module must be valid (spirv-val): an invalid one may crash a driver
    #[arg(long, value_name = "FILE", conflicts_with = "filter")]
    pub spirv: Option<Source>,

    /// The entry point of the module [default: its first for compute]
    #[arg(long, value_name = "NAME", requires = "spirv")]
    pub entry: Option<String>,

    /// Give the specialization constant with this SpecId a value, such as 0=256; repeat for each constant
    #[arg(long, value_name = "ID=VALUE", requires = "spirv", value_parser = parse_constant)]
    pub constant: Vec<(u32, String)>,

    /// Require subgroups of N lanes [default: the driver chooses]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "spirv")]
    pub lanes: Option<u32>,

    /// Print a JSON array with every statistic under the driver's own name; sizes are in bytes
    #[arg(long)]
    pub json: bool,
}

impl Run for InspectArgs {
    fn run(&self, common: &Common) -> Result<()> {
        let module = check(self, common)?;
        let instance = device::instance()?;
        let devices = device::choose(&instance, &common.device)?;
        let is_alone = devices.len() == 1;
        let (mut reports, mut first_error) = (Vec::new(), None);
        for device in devices {
            let inspected = match &module {
                Some(module) => module::inspect(&device, module, self),
                None => inspect(&device, self, common),
            };
            let report = match inspected {
                Ok(inspection) => report_of(&device, inspection, None),
                Err(error) if is_alone => return Err(error),
                Err(error) => {
                    let reason = error.to_string();
                    first_error.get_or_insert(error);
                    report_of(&device, Inspection::default(), Some(reason))
                }
            };
            if !self.json {
                let blank = if reports.is_empty() { "" } else { "\n" };
                print(&format!("{blank}{}\n{}", device.heading(), text::block(&report)))?;
            }
            reports.push(report);
        }
        if self.json {
            print(&to_json(&reports)?)?;
        }
        let has_report = reports.iter().any(|report| report.reason.is_none());
        match first_error {
            // With several devices, one without statistics or without such a pipeline is no failure.
            Some(error) if !(has_report && (is_missing_feature(&error) || error.is::<CommandError>())) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    fn need(&self) -> Need {
        Need::Compiler
    }

    fn prints_json(&self) -> bool {
        self.json
    }

    fn check_for_children(&self, common: &Common) -> Result<Vec<u8>> {
        Ok(check(self, common)?.map(|module| module.bytes).unwrap_or_default())
    }

    fn refusal(&self, gpu: &'static CompileOnlyGpu, reason: &str) -> Result<String> {
        let report = InspectedDevice {
            index: 0,
            gpu: Some(gpu.name.to_owned()),
            name: gpu.what.to_owned(),
            reason: Some(reason.to_owned()),
            description: None,
            inspection: Inspection::default(),
        };
        if self.json {
            return to_json(&[report]);
        }
        Ok(format!("gpu:{}: {}\n{}", gpu.name, gpu.what, text::block(&report)))
    }
}

/// Checks the arguments before a device is opened. Returns the module of `--spirv`, if given.
fn check(args: &InspectArgs, common: &Common) -> Result<Option<Module>> {
    policy::check(common)?;
    let Some(file) = &args.spirv else { return Ok(None) };
    if common.algorithm.is_some() || common.policy.is_some() {
        bail!(usage!("--spirv inspects a module as it is; leave --algorithm and --policy out"));
    }
    module::read(file, args).map(Some)
}

fn report_of(device: &Numbered, inspection: Inspection, reason: Option<String>) -> InspectedDevice {
    InspectedDevice {
        index: device.index,
        gpu: device.gpu.map(|gpu| gpu.name.to_owned()),
        name: device.candidate.name().to_owned(),
        reason,
        description: device.description(),
        inspection,
    }
}

fn inspect(device: &Numbered, args: &InspectArgs, common: &Common) -> Result<Inspection> {
    let opened = device.candidate.open_to_compile()?;
    opened.set_pipeline_threads(gpus::compiler_threads());
    let mut pipelines = PipelineSet::new(&opened, &plans::all(common, opened.capabilities()))?;
    if let Some(pattern) = &args.filter {
        let example = pipelines.names().next().unwrap_or_default();
        pipelines.retain(|name| matches(pattern, name));
        if pipelines.is_empty() {
            bail!(usage!("no pipeline's name has '{pattern}' in it; names are like {example}"));
        }
    }
    let progress = Progress::new(pipelines.len());
    let inspection = pipelines.compile(&opened, |name| progress.begin_all(name, 1))?;
    drop(progress);
    check_statistics(&inspection, device.candidate.name())?;
    Ok(inspection)
}

/// Refuses a driver with the extension but without statistics.
pub fn check_statistics(inspection: &Inspection, device: &str) -> subsweep::Result<()> {
    if inspection.has_statistics() {
        return Ok(());
    }
    let missing = "pipeline statistics of its driver".to_owned();
    Err(subsweep::Error::MissingFeature { device: device.to_owned(), missing })
}

fn parse_constant(text: &str) -> Result<(u32, String), String> {
    let (id, value) = text.split_once('=').unwrap_or_default();
    match id.parse() {
        Ok(id) if !value.is_empty() => Ok((id, value.to_owned())),
        _ => Err("it is a number and a value, such as 0=256".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_a_number_and_a_value() {
        assert_eq!(parse_constant("0=256"), Ok((0, "256".into())));
        assert_eq!(parse_constant("7=-1.5"), Ok((7, "-1.5".into())));
        for text in ["", "0", "0=", "=1", "a=1", "-1=1", "4294967296=1"] {
            assert!(parse_constant(text).is_err(), "{text}");
        }
    }
}
