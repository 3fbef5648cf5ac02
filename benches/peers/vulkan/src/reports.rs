//! A report for each implementation, in subsweep's format and with the ids of its cases, for `subsweep compare`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use subsweep::headless::Gpu;
use subsweep_tool::harness::{
    Case, DeviceReport, Failure, Measurement, Outcome as Verdict, Report, Tool, VerifiedCase,
};

use crate::subject::{Implementation, Task};
use crate::turns::{Measured, Outcome, Samples, Turns};

/// Reports, written into a folder after each case, if one is named.
pub struct Reports {
    folder: Option<PathBuf>,
    /// By the names of their files.
    reports: Vec<(&'static str, Report)>,
}

impl Reports {
    /// The name of our own report.
    pub const OURS: &'static str = "subsweep";

    /// An empty report of each implementation; of ours where there is none.
    pub fn new(
        gpu: &Gpu,
        folder: Option<PathBuf>,
        implementations: &[Option<&Implementation>],
    ) -> Result<Self> {
        if let Some(folder) = &folder {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let command: Vec<_> = std::env::args().skip(1).collect();
        let empty = |implementation: &Option<&Implementation>| {
            let mut report = Report::new(command.clone());
            report.devices.push(DeviceReport::new(gpu));
            let Some(Implementation { name, version, compiler }) = implementation else {
                return (Self::OURS, report);
            };
            report.tool = Tool {
                version: format!("{name} {version}"),
                git_hash: None,
                shader_compiler: compiler.clone(),
                kernels: Default::default(),
                ..report.tool
            };
            (*name, report)
        };
        Ok(Self { folder, reports: implementations.iter().map(empty).collect() })
    }

    /// Adds the outcomes of a case.
    pub fn add(&mut self, task: &Task, turns: &Turns) {
        let case = &task.case;
        for Measured { index, policy, outcome, .. } in &turns.measured {
            let device = &mut self.reports[*index].1.devices[0];
            let verdict = match outcome {
                Outcome::Measured(samples) => {
                    device.measured.push(measurement(case, policy, turns, samples));
                    continue;
                }
                Outcome::Wrong(run, mismatch) => {
                    let mismatch = mismatch.clone();
                    Verdict::Fail(Failure::Wrong { run: *run, seed: case.seed(), mismatch })
                }
                Outcome::Failed(error) => Verdict::NotSupported(format!("{error:#}")),
            };
            let again = format!("benches/peers/vulkan/run --sizes {}", case.count.ilog2());
            device.verified.push(VerifiedCase::new(case.id(), &verdict, &again));
        }
    }

    /// Writes all reports.
    pub fn write(&mut self, is_complete: bool) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        for (name, report) in &mut self.reports {
            report.complete = is_complete;
            let path = folder.join(format!("{name}.json"));
            let unfinished = path.with_extension("json.part");
            fs::write(&unfinished, report.to_json()?)
                .and_then(|()| fs::rename(&unfinished, &path))
                .with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

fn measurement(case: &Case, policy: &str, turns: &Turns, samples: &Samples) -> Measurement {
    let Samples { samples_ns, block_lengths, runs_per_sample } = samples;
    let measurement = Measurement {
        id: case.id(),
        group: case.variants(),
        policy: policy.to_owned(),
        element_count: case.count,
        element_size: case.element_size(),
        traffic_size: turns.traffic_size,
        runs_per_sample: *runs_per_sample,
        steady: turns.is_steady,
        block_lengths: block_lengths.clone(),
        samples_ns: samples_ns.clone(),
        copy_samples_ns: turns.copies_ns.clone(),
        ..Measurement::default()
    };
    measurement.with_summaries()
}
