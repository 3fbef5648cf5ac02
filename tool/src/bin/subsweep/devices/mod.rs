//! `subsweep devices`: properties and features of devices, and their policies.

mod report;
mod text;

use std::fmt::Write;

use anyhow::Result;
use clap::Args;
use subsweep_tool::harness::gpus::CompileOnlyGpu;

use crate::args::Common;
use crate::command::{Need, Run};
use crate::device::{self, DeviceChoice};
use crate::files::output::{print, to_json};
use crate::policy;
use report::DeviceReport;

/// List the devices
///
/// For each: driver, lanes, memory, features, the verdict of its self-test, and workarounds. An unusable device is listed
/// with the requirements that it lacks.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Also print the policies, each with its reason; so do --algorithm and --policy
    #[arg(long)]
    pub policies: bool,

    /// Print all of it, policies included, as a JSON array; sizes are in bytes
    #[arg(long)]
    pub json: bool,
}

impl Run for DevicesArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check(common)?;
        let instance = device::instance()?;
        let devices = match &common.device {
            DeviceChoice::Unset => device::list(&instance)?,
            choice => device::choose(&instance, choice)?,
        };
        let reports: Vec<_> = devices.iter().map(|device| DeviceReport::new(device, common)).collect();
        if self.json {
            return Ok(print(&to_json(&reports)?)?);
        }
        let shows_policies = self.policies || !common.is_plain();
        let mut text = String::new();
        for (at, report) in reports.iter().enumerate() {
            let blank = if at > 0 { "\n" } else { "" };
            write!(text, "{blank}{}", text::block(report, shows_policies))?;
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
        Ok(if self.json { to_json(&[report])? } else { text::block(&report, false) })
    }
}
