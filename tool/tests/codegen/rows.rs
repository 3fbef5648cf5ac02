//! The rows: a compile-only GPU each, and `spirv-val`.

use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::Arguments;
use subsweep_tool::harness::gpus::CompileOnlyGpu;

use super::children::{self, Missing, is_full, is_gate_on};
use super::reduced::Lists;
use super::{gpu, modules};

pub struct GpuRow {
    /// The name of a [`CompileOnlyGpu`], or [`SPIRV_VAL`].
    name: &'static str,
    is_of_full_suite: bool,
}

const SPIRV_VAL: &str = "spirv-val";

/// A row of both suites: one GPU of each vendor.
const fn short(name: &'static str) -> GpuRow {
    GpuRow { name, is_of_full_suite: false }
}

const fn full(name: &'static str) -> GpuRow {
    GpuRow { name, is_of_full_suite: true }
}

impl GpuRow {
    fn gpu(&self) -> Option<&'static CompileOnlyGpu> {
        CompileOnlyGpu::find(self.name)
    }
}

impl children::MatrixRow for GpuRow {
    type Together = Lists;

    const ALL: &'static [Self] = &[
        // The longest rows start first, so that none runs alone at the end.
        short("nvidia-ampere"),
        short("intel-tgl"),
        short("adreno-740"),
        short("apple-m1"),
        short("amd-rdna2"),
        full("nvidia-turing"),
        full("amd-rdna3"),
        full("amd-rdna4"),
        full("amd-gcn5"),
        full("intel-dg2"),
        full("intel-lnl"),
        full("adreno-630"),
        full("adreno-830"),
        short(SPIRV_VAL),
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_of_suite(&self) -> bool {
        is_full() || !self.is_of_full_suite
    }

    fn command(&self, executable: &Path) -> Result<Command, Missing> {
        let is_failure = is_gate_on(&["debian 12"]);
        match self.gpu() {
            Some(gpu) => gpu
                .command(executable)
                .map_err(|not_set_up| Missing { what: not_set_up.to_string(), is_failure }),
            None if modules::spirv_val_version().is_none() => Err(Missing {
                what: "spirv-val is missing; tools/setup test installs it".to_owned(),
                is_failure,
            }),
            None => Ok(Command::new(executable)),
        }
    }

    fn ending(&self) -> String {
        String::new()
    }

    /// ACO reports an invalid shader, and creates a pipeline nevertheless.
    fn complaint(&self) -> Option<&'static str> {
        Some("ACO ERROR")
    }

    fn run(&self, arguments: &Arguments) -> ExitCode {
        let trials = match self.gpu() {
            Some(gpu) => gpu::trials(gpu.name),
            None => Ok(modules::trials()),
        };
        match trials {
            Ok(trials) => libtest_mimic::run(arguments, trials).exit_code(),
            Err(error) => {
                eprintln!("{}: {error:#}", self.name);
                ExitCode::FAILURE
            }
        }
    }
}
