//! Drivers of absent GPUs, by `subsweep inspect`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::occupancy::{Multiprocessor, SM_86, WGP_RDNA2};
use crate::spirv::Constants;
use crate::tool::run;

/// A compile-only device of `subsweep inspect --list-gpus`.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name for `--device gpu:`.
    pub gpu: &'static str,
    pub name: &'static str,
    pub multiprocessor: Multiprocessor,
    /// The subgroup size of kernels that do not request one.
    pub lanes: u32,
}

pub const TARGETS: [Target; 2] = [
    Target { gpu: "nvidia-ampere", name: "NAK, Ampere", multiprocessor: SM_86, lanes: 32 },
    Target { gpu: "amd-rdna2", name: "ACO, RDNA 2", multiprocessor: WGP_RDNA2, lanes: 32 },
];

/// A driver's statistics of a module.
#[derive(Debug, Clone, Copy)]
pub struct Compiled {
    pub instructions: u32,
    pub registers: u32,
    pub lanes: u32,
    pub spills: u32,
}

/// A pipeline of the library.
#[derive(Debug)]
pub struct Pipeline {
    /// `sort/onesweep:key1`.
    pub kernel: String,
    /// `WORKGROUP_SIZE=384 RADIX_BITS=8 …`.
    pub specialization: String,
    pub lanes: u32,
}

/// The subsweep program.
#[derive(Debug)]
pub struct Inspector {
    pub program: PathBuf,
}

impl Inspector {
    /// The name and version of a device's driver.
    pub fn driver(&self, target: &Target) -> Result<String> {
        let report = self.inspect(target, &["--filter".into(), "onesweep".into()])?;
        let text = |field: &str| report["driver"][field].as_str().unwrap_or_default().to_owned();
        Ok(format!("{} ({})", text("name"), text("info")))
    }

    /// The library's pipelines on a device whose names contain `filter`.
    pub fn pipelines(&self, target: &Target, filter: &str) -> Result<Vec<Pipeline>> {
        let report = self.inspect(target, &["--filter".into(), filter.into()])?;
        let pipelines = report["pipelines"].as_array().context("a report without pipelines")?;
        pipelines.iter().map(Pipeline::of).collect()
    }

    /// Compiles a module for subgroups of `lanes` lanes.
    pub fn compile(
        &self,
        target: &Target,
        module: &Path,
        constants: &Constants,
        lanes: u32,
    ) -> Result<Compiled> {
        let mut arguments = vec!["--spirv".to_owned(), module.display().to_string()];
        arguments.extend(["--lanes".to_owned(), lanes.to_string()]);
        for (id, value) in constants {
            arguments.extend(["--constant".to_owned(), format!("{id}={value}")]);
        }
        let report = self.inspect(target, &arguments)?;
        let pipeline = &report["pipelines"][0];
        let number = |value: &Value, what| value.as_u64().map(|value| value as u32).context(what);
        let summary = &pipeline["summary"];
        let compiled = Compiled {
            instructions: number(&summary["instructions"], "the driver does not report instructions")?,
            registers: number(&summary["registers"], "the driver does not report registers")?,
            lanes: number(
                &pipeline["executables"][0]["subgroup_size"],
                "the driver does not report its lanes",
            )?,
            spills: number(&summary["spills"], "the driver does not report spills")?,
        };
        ensure!(compiled.lanes == lanes, "{} has {} lanes, not {lanes}", module.display(), compiled.lanes);
        Ok(compiled)
    }

    /// The inspection of the device.
    fn inspect(&self, target: &Target, arguments: &[String]) -> Result<Value> {
        let mut all =
            ["inspect".to_owned(), "--device".into(), format!("gpu:{}", target.gpu), "--json".into()]
                .to_vec();
        all.extend_from_slice(arguments);
        let text = run(&self.program.display().to_string(), &all)?;
        let report: Value = serde_json::from_str(&text).context("subsweep inspect printed no JSON")?;
        report.get(0).cloned().context("subsweep inspect reported no device")
    }
}

impl Pipeline {
    fn of(report: &Value) -> Result<Self> {
        let text = |field: &str| {
            report[field]
                .as_str()
                .map(str::to_owned)
                .with_context(|| format!("a pipeline without its {field}"))
        };
        Ok(Self {
            kernel: text("kernel")?,
            specialization: text("specialization")?,
            lanes: report["lanes"].as_u64().context("a pipeline without its lanes")? as u32,
        })
    }
}
