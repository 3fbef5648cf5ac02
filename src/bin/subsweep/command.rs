//! The subcommands.

use std::ops::Deref;

use anyhow::Result;
use clap::Subcommand;
use subsweep::harness::gpus::CompileOnlyGpu;

use crate::args::Common;

/// Arguments of a subcommand, which run it.
pub trait Run {
    /// Runs the command.
    ///
    /// # Errors
    /// Those of the command; their types determine the exit code.
    fn run(&self, common: &Common) -> Result<()>;

    /// What the command needs of a device.
    fn need(&self) -> Need {
        Need::Hardware
    }

    /// Whether the command makes drivers compile pipelines.
    fn runs_drivers(&self) -> bool {
        self.need() != Need::Nothing
    }

    /// Whether standard output is a JSON array with an element for each device.
    fn prints_json(&self) -> bool {
        false
    }

    /// Checks the arguments before a child process for each compile-only GPU is started. Returns the standard input of
    /// each child.
    ///
    /// # Errors
    /// Options contradict each other, or an input is not valid.
    fn check_for_children(&self, _: &Common) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// The output for one of several compile-only GPUs whose child has failed.
    ///
    /// # Errors
    /// Those of JSON.
    fn refusal(&self, gpu: &'static CompileOnlyGpu, reason: &str) -> Result<String> {
        Ok(format!("gpu:{}: {}\n  {reason}\n", gpu.name, gpu.what))
    }
}

/// What a command needs of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// No device.
    Nothing,
    /// A compiler or properties: a compile-only GPU suffices.
    Compiler,
    /// A device that runs kernels.
    Hardware,
}

macro_rules! commands {
    ($($name:literal => $variant:ident($arguments:ty),)+) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $(#[command(name = $name)] $variant($arguments),)+
        }

        impl Command {
            /// The name of the command.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }
        }

        impl Deref for Command {
            type Target = dyn Run;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$variant(arguments) => arguments,)+
                }
            }
        }
    };
}

// In the order of --help.
commands! {
    "devices" => Devices(crate::devices::DevicesArgs),
    "scan" => Scan(crate::scan::ScanArgs),
    "sort" => Sort(crate::sort::SortArgs),
    "gather" => Gather(crate::gather::GatherArgs),
    "verify" => Verify(crate::verify::VerifyArgs),
    "bench" => Bench(crate::bench::BenchArgs),
    "compare" => Compare(crate::compare::CompareArgs),
    "inspect" => Inspect(crate::inspect::InspectArgs),
    "tune" => Tune(crate::tune::TuneArgs),
}
