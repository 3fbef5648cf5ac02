//! `subsweep inspect`.

mod plans;
mod text;

use std::sync::Arc;

use anyhow::Result;
use serde::Serialize;
use subsweep::harness::{Description, Inspection, PlanConfig};
use subsweep::headless::Instance;

use crate::args::{Common, InspectArgs};
use crate::device::{self, Numbered};
use crate::error::Ended;
use crate::files::output::print;
use crate::pattern::matches;
use crate::suite::is_missing_feature;
use crate::words::Progress;

/// One device. The fields' names are those of `--json`: a promise to scripts.
#[derive(Debug, Serialize)]
struct DeviceReport {
    /// What `--device` takes.
    index: usize,
    /// `deviceName`.
    name: String,
    /// Why nothing is told, where it is not.
    reason: Option<String>,
    /// Who it is and what it has, where it has Vulkan 1.2.
    #[serde(flatten)]
    description: Option<Description>,
    /// What is told.
    #[serde(flatten)]
    inspection: Inspection,
}

/// Shows what drivers make of the kernels.
pub fn run(args: &InspectArgs, common: &Common) -> Result<()> {
    plans::check(common)?;
    let instance = Arc::new(Instance::new(false)?);
    let devices = device::choose(&instance, &common.device)?;
    let is_alone = devices.len() == 1;
    let (mut reports, mut first_error) = (Vec::new(), None);
    for device in devices {
        let report = match inspect(&device, args, common) {
            Ok(inspection) => DeviceReport::new(&device, inspection, None),
            Err(error) if is_alone => return Err(error),
            Err(error) => {
                let reason = error.to_string();
                first_error.get_or_insert(error);
                DeviceReport::new(&device, Inspection::default(), Some(reason))
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
    let is_told = reports.iter().any(|report| report.reason.is_none());
    match first_error {
        // With `all`, a device that does not tell, or has no such pipeline, takes nothing from the others.
        Some(error) if !(is_told && (is_missing_feature(&error) || error.is::<Ended>())) => Err(error),
        _ => Ok(()),
    }
}

impl DeviceReport {
    fn new(device: &Numbered, inspection: Inspection, reason: Option<String>) -> Self {
        Self {
            index: device.index,
            name: device.candidate.name().to_owned(),
            reason,
            description: device.description(),
            inspection,
        }
    }
}

fn inspect(device: &Numbered, args: &InspectArgs, common: &Common) -> Result<Inspection> {
    let opened = device.candidate.open_to_compile()?;
    let plans = plans::all(common, opened.capabilities());
    let progress = Progress::new(plans.len());
    let mut inspection = Inspection::new(&opened, &plans, |plan| progress.begin(name(plan)))?;
    drop(progress);
    if !inspection.has_statistics() {
        return Err(silent(device).into());
    }
    let Some(pattern) = &args.filter else { return Ok(inspection) };
    let example = inspection.pipelines.first().map(text::full_name).unwrap_or_default();
    inspection.pipelines.retain(|pipeline| matches(pattern, &text::full_name(pipeline)));
    if inspection.pipelines.is_empty() {
        let refusal = format!("no pipeline's name has '{pattern}' in it; names are like {example}");
        return Err(Ended::usage(refusal).into());
    }
    Ok(inspection)
}

/// A driver that has the functions and nothing to say.
fn silent(device: &Numbered) -> subsweep::Error {
    subsweep::Error::MissingFeature {
        device: device.candidate.name().to_owned(),
        missing: "anything that its driver would tell about pipelines".to_owned(),
    }
}

fn name(plan: &PlanConfig) -> &'static str {
    match plan {
        PlanConfig::Scan(_) => "scans",
        PlanConfig::Sort(_) => "sorts",
        PlanConfig::SegmentedSort(_) => "sorts in segments",
        PlanConfig::Gather(_) => "gathers",
    }
}
