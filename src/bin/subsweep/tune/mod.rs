//! `subsweep tune`.

mod plan;
mod rows;
mod sweep;
mod text;

use std::sync::Arc;

use anyhow::Result;
use subsweep::harness::CopyRoof;
use subsweep::headless::Instance;

use crate::args::{Common, TuneArgs};
use crate::cache::CachedGpu;
use crate::device::{self, Numbered};
use crate::error::Ended;
use crate::files::output::print;
use plan::Plan;
use rows::Rows;
use sweep::Sweep;
use text::Told;

/// Sweeps the shapes of a sort or a scan on the device that is meant, and prints rows of its table.
pub fn run(args: &TuneArgs, common: &Common) -> Result<()> {
    plan::check(args, common)?;
    device::check_one(&common.device, "tune")?;
    let instance = Arc::new(Instance::new(false)?);
    let mut devices = device::choose(&instance, &common.device)?;
    if devices.len() > 1 {
        return Err(Ended::usage("tune runs on one device, and --device lists several; name one").into());
    }
    let device = devices.swap_remove(0);
    let gpu = CachedGpu::open(device.candidate.clone(), !common.no_pipeline_cache)?;
    let plan = Plan::new(args, common, gpu.capabilities());
    let roof = CopyRoof::new(&gpu)?;
    let mut sweep = Sweep::new(&gpu, &roof, &plan);
    let rows = sweep.run()?;
    tell(args, &device, &gpu, &plan, &sweep, &rows)?;
    sweep.verdict(&rows)
}

fn tell(
    args: &TuneArgs,
    device: &Numbered,
    gpu: &CachedGpu,
    plan: &Plan,
    sweep: &Sweep<'_>,
    rows: &Rows,
) -> Result<()> {
    let told = Told::new(device, gpu, plan, sweep, rows);
    let text = if args.json { serde_json::to_string_pretty(&told)? + "\n" } else { told.to_string() };
    Ok(print(&text)?)
}
