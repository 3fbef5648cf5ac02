//! The compilers and their targets.

use std::ffi::OsString;
use std::process::ExitCode;

use libtest_mimic::Arguments;

use super::children::{self, Missing, is_gate_on};
use super::{modules, radv};

pub struct Row {
    name: &'static str,
    judge: Judge,
}

enum Judge {
    /// RADV for a family of GPUs.
    Radv {
        family: &'static str,
        mesa: Mesa,
        /// The subgroup sizes to ask for. A target that has one only is never asked for another: RADV's compiler
        /// aborts when GCN is to have 32.
        lanes: &'static [u32],
        is_of_full_suite: bool,
    },
    SpirvVal,
}

enum Mesa {
    Installed,
    /// The one that `tools/setup test` unpacks, for targets that Debian 12's own does not know.
    Newer,
}

impl Row {
    const fn radv(name: &'static str, family: &'static str, mesa: Mesa, lanes: &'static [u32]) -> Self {
        Self { name, judge: Judge::Radv { family, mesa, lanes, is_of_full_suite: false } }
    }

    /// A target whose compiler and instructions another row has nearly the same.
    const fn in_full_suite(self) -> Self {
        match self.judge {
            Judge::Radv { family, mesa, lanes, .. } => {
                Self { judge: Judge::Radv { family, mesa, lanes, is_of_full_suite: true }, ..self }
            }
            Judge::SpirvVal => self,
        }
    }
}

impl children::Row for Row {
    type Together = ();

    const ALL: &'static [Self] = &[
        Row::radv("navi21", "navi21", Mesa::Installed, &[32, 64]),
        Row::radv("gfx1100", "gfx1100", Mesa::Installed, &[32, 64]).in_full_suite(),
        Row::radv("vega10", "vega10", Mesa::Installed, &[64]).in_full_suite(),
        Row::radv("gfx1200", "gfx1200", Mesa::Newer, &[32, 64]),
        Row { name: "spirv-val", judge: Judge::SpirvVal },
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_of_full_suite(&self) -> bool {
        matches!(self.judge, Judge::Radv { is_of_full_suite: true, .. })
    }

    fn environment(&self) -> Result<Vec<(&'static str, OsString)>, Missing> {
        match &self.judge {
            Judge::Radv { family, mesa, .. } => {
                let mut environment = match mesa {
                    Mesa::Installed => children::radv()?,
                    Mesa::Newer => children::mesa25("radeon")?,
                };
                environment.push(("RADV_FORCE_FAMILY", family.into()));
                // Statistics are to be of this compilation.
                environment.push(("MESA_SHADER_CACHE_DISABLE", "true".into()));
                Ok(environment)
            }
            Judge::SpirvVal if modules::spirv_val_version().is_none() => Err(Missing {
                what: "spirv-val is missing; tools/setup test installs it".to_owned(),
                is_failure: is_gate_on(&["debian 12"]),
            }),
            Judge::SpirvVal => Ok(Vec::new()),
        }
    }

    fn ending(&self) -> String {
        match self.judge {
            Judge::Radv { .. } => " by RADV".to_owned(),
            Judge::SpirvVal => String::new(),
        }
    }

    /// A compiler that cannot do with a shader says so, and makes a pipeline of it nevertheless.
    fn complaint(&self) -> Option<&'static str> {
        Some("ACO ERROR")
    }

    fn run(&self, arguments: &Arguments) -> ExitCode {
        let trials = match &self.judge {
            Judge::Radv { lanes, .. } => radv::trials(self.name, lanes),
            Judge::SpirvVal => Ok(modules::trials()),
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
