//! `subsweep devices`: properties, features and policies of devices.

mod report;
mod text;

use std::fmt::Write;

use anyhow::Result;
use clap::Args;
use subsweep::harness::gpus::CompileOnlyGpu;

use crate::args::Common;
use crate::command::{Need, Run};
use crate::device::{self, DeviceChoice};
use crate::files::output::{print, to_json};
use report::DeviceReport;

/// List the devices and their policies
///
/// For each: driver, versions, UUIDs, the relevant limits and features, and the chosen policies with the reason. An
/// unusable device is listed with the requirements that it lacks.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print a JSON array; sizes are in bytes
    #[arg(long)]
    pub json: bool,
}

impl Run for DevicesArgs {
    fn run(&self, common: &Common) -> Result<()> {
        let instance = device::instance()?;
        let devices = match &common.device {
            DeviceChoice::Unset => device::list(&instance)?,
            choice => device::choose(&instance, choice)?,
        };
        let reports: Vec<_> = devices.iter().map(|device| DeviceReport::new(device, common)).collect();
        if self.json {
            return Ok(print(&to_json(&reports)?)?);
        }
        let mut text = String::new();
        for (at, report) in reports.iter().enumerate() {
            let blank = if at > 0 { "\n" } else { "" };
            write!(text, "{blank}{}", text::block(report))?;
        }
        Ok(print(&text)?)
    }

    fn need(&self) -> Need {
        Need::Compiler
    }

    fn prints_json(&self) -> bool {
        self.json
    }

    fn refusal(&self, gpu: &'static CompileOnlyGpu, reason: &str) -> Result<String> {
        let report = DeviceReport::refused(gpu, reason);
        Ok(if self.json { to_json(&[report])? } else { text::block(&report) })
    }
}
