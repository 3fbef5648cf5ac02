//! `subsweep tune`: rows of the tuning tables by measurement or compilation.

mod plan;
mod rows;
mod static_rank;
mod sweep;
mod text;

pub use plan::check;

use anyhow::Result;
use subsweep::harness::CopyRoof;

use crate::args::{Common, TuneArgs};
use crate::cache::CachedGpu;
use crate::device::{self, Numbered};
use crate::error::Ended;
use crate::files::output::print;
use crate::gpus;
use plan::Plan;
use sweep::{Measure, Sweep};
use text::TuneReport;

/// Sweeps the shapes of a sort or a scan on the chosen device, and prints rows of its table.
pub fn run(args: &TuneArgs, common: &Common) -> Result<()> {
    check(args, common)?;
    device::check_one(&common.device, "tune")?;
    let instance = device::instance()?;
    let mut devices = device::choose(&instance, &common.device)?;
    if devices.len() > 1 {
        let text =
            format!("tune runs on one device, and {} lists several; name one", device::choice_origin());
        return Err(Ended::usage(text).into());
    }
    let device = devices.swap_remove(0);
    if args.is_static || device.gpu.is_some() {
        let opened = device.candidate.open_to_compile()?;
        opened.set_pipeline_threads(gpus::compiler_threads());
        return sweep(args, common, &device, Measure::Compile(&opened));
    }
    let gpu = CachedGpu::open(device.candidate.clone(), !common.no_pipeline_cache)?;
    let roof = CopyRoof::new(&gpu)?;
    sweep(args, common, &device, Measure::Run(&gpu, &roof))
}

fn sweep(args: &TuneArgs, common: &Common, device: &Numbered, measure: Measure<'_>) -> Result<()> {
    let plan = Plan::new(args, common, measure.capabilities(), matches!(measure, Measure::Compile(_)));
    plan.check_asked(args, measure.capabilities())?;
    let mut sweep = Sweep::new(measure, &plan);
    let rows = sweep.run()?;
    let report = TuneReport::new(device, measure, &plan, &sweep.tally, &rows);
    let text = if args.json { serde_json::to_string_pretty(&report)? + "\n" } else { report.to_string() };
    print(&text)?;
    Ok(sweep.tally.verdict(&rows)?)
}
