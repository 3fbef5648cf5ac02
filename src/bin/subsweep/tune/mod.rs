//! `subsweep tune`.

mod paper;
mod plan;
mod rows;
mod sweep;
mod text;

pub use plan::check;

use std::sync::Arc;

use anyhow::Result;
use subsweep::harness::CopyRoof;
use subsweep::headless::Instance;

use crate::args::{Common, TuneArgs};
use crate::cache::CachedGpu;
use crate::device::{self, Numbered};
use crate::error::Ended;
use crate::files::output::print;
use crate::gpus;
use plan::Plan;
use sweep::{Sweep, Way};
use text::Told;

/// Sweeps the shapes of a sort or a scan on the device that is meant, and prints rows of its table.
pub fn run(args: &TuneArgs, common: &Common) -> Result<()> {
    check(args, common)?;
    device::check_one(&common.device, "tune")?;
    let instance = Arc::new(Instance::new(false)?);
    let mut devices = device::choose(&instance, &common.device)?;
    if devices.len() > 1 {
        return Err(Ended::usage("tune runs on one device, and --device lists several; name one").into());
    }
    let device = devices.swap_remove(0);
    if args.is_static || device.gpu.is_some() {
        let opened = device.candidate.open_to_compile()?;
        opened.set_pipeline_threads(gpus::compiler_threads());
        return sweep(args, common, &device, Way::Compile(&opened));
    }
    let gpu = CachedGpu::open(device.candidate.clone(), !common.no_pipeline_cache)?;
    let roof = CopyRoof::new(&gpu)?;
    sweep(args, common, &device, Way::Run(&gpu, &roof))
}

fn sweep(args: &TuneArgs, common: &Common, device: &Numbered, way: Way<'_>) -> Result<()> {
    let plan = Plan::new(args, common, way.capabilities(), matches!(way, Way::Compile(_)));
    let mut sweep = Sweep::new(way, &plan);
    let rows = sweep.run()?;
    let told = Told::new(device, way, &plan, &sweep.tally, &rows);
    let text = if args.json { serde_json::to_string_pretty(&told)? + "\n" } else { told.to_string() };
    print(&text)?;
    Ok(sweep.tally.verdict(&rows)?)
}
