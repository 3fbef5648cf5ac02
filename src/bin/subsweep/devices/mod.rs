//! `subsweep devices`: properties, features and policies of devices.

mod report;
mod text;

use std::fmt::Write;

use anyhow::Result;
use subsweep::harness::gpus::CompileOnlyGpu;

use crate::args::{Common, DevicesArgs};
use crate::device::{self, DeviceChoice};
use crate::files::output::print;
use report::DeviceReport;

/// The output for a compile-only GPU that could not be inspected: its name and the reason.
pub fn refusal(gpu: &'static CompileOnlyGpu, reason: &str, args: &DevicesArgs) -> Result<String> {
    let report = DeviceReport::refused(gpu, reason);
    if args.json {
        return Ok(serde_json::to_string_pretty(&[report])? + "\n");
    }
    Ok(text::block(&report))
}

/// Lists the devices.
pub fn run(args: &DevicesArgs, common: &Common) -> Result<()> {
    let instance = device::instance()?;
    let devices = match &common.device {
        DeviceChoice::Unset => device::list(&instance)?,
        choice => device::choose(&instance, choice)?,
    };
    let reports: Vec<_> = devices.iter().map(|device| DeviceReport::new(device, common)).collect();
    if args.json {
        return Ok(print(&(serde_json::to_string_pretty(&reports)? + "\n"))?);
    }
    let mut text = String::new();
    for (at, report) in reports.iter().enumerate() {
        let blank = if at > 0 { "\n" } else { "" };
        write!(text, "{blank}{}", text::block(report))?;
    }
    Ok(print(&text)?)
}
