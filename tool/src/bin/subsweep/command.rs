//! The subcommands.

use std::fmt::Display;

use anyhow::Result;
use serde::Serialize;
use subsweep::Choice;
use subsweep::device::Capabilities;
use subsweep_tool::harness::PlanConfig;
use subsweep_tool::harness::gpus::CompileOnlyGpu;

use crate::args::Common;

/// Arguments of a subcommand, which run it.
pub trait Run {
    /// Runs the command.
    ///
    /// # Errors
    /// Errors of the command; their types determine the exit code.
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
    /// Errors of writing JSON.
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

/// What `devices` and `inspect` show of a primitive, as `--algorithm` and `--policy` select it.
pub struct Shown {
    /// The policies of typical plans.
    pub policies: fn(&Common, &Capabilities) -> Vec<ShownPolicy>,
    /// The plans to inspect, the simplest first: the library's choices for several kinds of work, and every algorithm on
    /// the simplest.
    pub plans: fn(&Common, &Capabilities) -> Vec<PlanConfig>,
}

/// The plans of a primitive without algorithms to choose from: none if another primitive's is asked for.
pub fn plain_plans<C: Into<PlanConfig>>(
    common: &Common,
    configs: impl IntoIterator<Item = C>,
) -> Vec<PlanConfig> {
    if common.is_plain() { configs.into_iter().map(Into::into).collect() } else { Vec::new() }
}

/// The policy of a plan, as text.
#[derive(Debug, Serialize)]
pub struct ShownPolicy {
    /// The key in `--json`.
    #[serde(skip)]
    pub key: &'static str,
    /// The label in text.
    #[serde(skip)]
    pub label: &'static str,
    /// The policy.
    pub policy: String,
    /// The reason of the choice.
    pub reason: &'static str,
}

impl ShownPolicy {
    /// The policy of a plan.
    pub fn new(key: &'static str, label: &'static str, choice: Choice<impl Display>) -> Self {
        Self { key, label, policy: choice.policy.to_string(), reason: choice.reason }
    }
}

/// Registers the subcommands: each with its name, its arguments, and examples of their use.
#[macro_export]
macro_rules! commands {
    ($($name:literal => $variant:ident($arguments:ty), $examples:expr;)+) => {
        /// The commands.
        #[derive(Debug, clap::Subcommand)]
        enum Command {
            $(#[command(name = $name)] $variant($arguments),)+
        }

        impl Command {
            /// The commands' names, with examples of their use.
            const EXAMPLES: &[(&'static str, &'static [(&'static str, &'static str)])] =
                &[$(($name, &$examples)),+];

            /// The name of the command.
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }
        }

        impl std::ops::Deref for Command {
            type Target = dyn $crate::command::Run;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$variant(arguments) => arguments,)+
                }
            }
        }
    };
}
