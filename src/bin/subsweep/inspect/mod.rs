//! `subsweep inspect`: pipeline statistics from drivers' compilers.

mod module;
mod plans;
mod text;

use anyhow::Result;
use subsweep::harness::gpus::CompileOnlyGpu;
use subsweep::harness::{InspectedDevice, Inspection, PipelineSet};

use crate::args::{Common, InspectArgs};
use crate::device::{self, Numbered};
use crate::error::Ended;
use crate::files::output::print;
use crate::gpus;
use crate::pattern::matches;
use crate::suite::is_missing_feature;
use crate::words::Progress;
use module::Module;
pub use text::short;

/// Prints the statistics of the kernels' pipelines.
pub fn run(args: &InspectArgs, common: &Common) -> Result<()> {
    let module = check(args, common)?;
    let instance = device::instance()?;
    let devices = device::choose(&instance, &common.device)?;
    let is_alone = devices.len() == 1;
    let (mut reports, mut first_error) = (Vec::new(), None);
    for device in devices {
        let inspected = match &module {
            Some(module) => module::inspect(&device, module, args),
            None => inspect(&device, args, common),
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
        if !args.json {
            let blank = if reports.is_empty() { "" } else { "\n" };
            print(&format!("{blank}{}\n{}", device.heading(), text::block(&report)))?;
        }
        reports.push(report);
    }
    if args.json {
        print(&(serde_json::to_string_pretty(&reports)? + "\n"))?;
    }
    let has_report = reports.iter().any(|report| report.reason.is_none());
    match first_error {
        // With several devices, one without statistics or without such a pipeline is no failure.
        Some(error) if !(has_report && (is_missing_feature(&error) || error.is::<Ended>())) => Err(error),
        _ => Ok(()),
    }
}

/// Checks the arguments before a device is opened. Returns the module of `--spirv`, if given.
pub fn check(args: &InspectArgs, common: &Common) -> Result<Option<Module>> {
    plans::check(common)?;
    let Some(file) = &args.spirv else { return Ok(None) };
    if common.algorithm.is_some() || common.policy.is_some() {
        let text = "--spirv inspects a module as it is; leave --algorithm and --policy out";
        return Err(Ended::usage(text).into());
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
            let refusal = format!("no pipeline's name has '{pattern}' in it; names are like {example}");
            return Err(Ended::usage(refusal).into());
        }
    }
    let progress = Progress::new(pipelines.len());
    let inspection = pipelines.compile(&opened, |name| progress.begin(name))?;
    drop(progress);
    if inspection.has_statistics() { Ok(inspection) } else { Err(missing_statistics(device).into()) }
}

/// The output for a compile-only GPU that could not be inspected: its name and the reason.
pub fn refusal(gpu: &'static CompileOnlyGpu, reason: &str, is_json: bool) -> Result<String> {
    let report = InspectedDevice {
        index: 0,
        gpu: Some(gpu.name.to_owned()),
        name: gpu.what.to_owned(),
        reason: Some(reason.to_owned()),
        description: None,
        inspection: Inspection::default(),
    };
    if is_json {
        return Ok(serde_json::to_string_pretty(&[report])? + "\n");
    }
    Ok(format!("gpu:{}: {}\n{}", gpu.name, gpu.what, text::block(&report)))
}

/// The error of a driver with the extension but without statistics.
fn missing_statistics(device: &Numbered) -> subsweep::Error {
    subsweep::Error::MissingFeature {
        device: device.candidate.name().to_owned(),
        missing: "pipeline statistics of its driver".to_owned(),
    }
}
