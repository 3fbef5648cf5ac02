//! `subsweep scratch`: the memory of recordings.

use std::collections::HashSet;
use std::fmt::Write;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use subsweep::ScratchArray;
use subsweep::arguments::{Argument, Role};
use subsweep::device::Capabilities;
use subsweep_tool::harness::{BenchScale, Case, Effort, RecordedMemory, bench_cases, verify_cases};

use crate::args::Common;
use crate::command::{Need, Run};
use crate::device::DeviceChoice;
use crate::error::usage;
use crate::files::output::{print, to_json};
use crate::suite::{self, CaseArgs};
use crate::terminal::escaped;

/// Show the memory of a recording: the size of each argument, and what the scratch holds, in bytes
///
/// Takes the cases of verify and bench. Nothing runs on the device, whose policies determine the scratch. Its size is what
/// Plan::scratch_requirements returns for the counts of the case.
#[derive(Debug, Args)]
pub struct ScratchArgs {
    #[command(flatten)]
    cases: CaseArgs,

    /// Give each selected case N elements in place of its own number
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=1 << 28))]
    count: Option<u64>,

    /// Print a JSON array with an element for each case
    #[arg(long)]
    json: bool,
}

/// The memory of a case. The field names are the keys of `--json`, and stable.
#[derive(Debug, Serialize)]
struct Scratch {
    device: String,
    case: String,
    arguments: Vec<ShownArgument>,
    /// The size of the scratch, bytes.
    size: u64,
    arrays: Vec<Array>,
    /// Why the device has no such plan.
    reason: Option<String>,
}

/// An argument; `size` is bytes.
#[derive(Debug, Serialize)]
struct ShownArgument {
    name: &'static str,
    /// What the recording does with it.
    role: &'static str,
    size: u64,
}

/// An array; numbers are bytes.
#[derive(Debug, Serialize)]
struct Array {
    offset: u64,
    size: u64,
    name: &'static str,
}

impl Run for ScratchArgs {
    fn run(&self, common: &Common) -> Result<()> {
        if self.cases.filter.is_none() {
            bail!(usage!(
                "scratch takes cases by their ids; name some with --filter, such as --filter sort:keys*n=65536"
            ));
        }
        let mut shown = Vec::new();
        suite::list(&self.cases, &[], common, all_cases, |cases, capabilities| {
            let mut cases = cases.to_vec();
            cases.iter_mut().for_each(|case| case.count = self.count.unwrap_or(case.count));
            let mut ids = HashSet::new();
            cases.retain(|case| ids.insert(case.id()));
            let scratches = cases.iter().map(|case| Scratch::new(case, capabilities));
            if self.json {
                shown.extend(scratches);
                return String::new();
            }
            scratches.map(|scratch| scratch.block()).collect::<Vec<_>>().join("\n")
        })?;
        if self.json { Ok(print(&to_json(&shown)?)?) } else { Ok(()) }
    }

    fn need(&self) -> Need {
        Need::Compiler
    }

    fn runs_drivers(&self) -> bool {
        false
    }

    fn check_for_children(&self, common: &Common) -> Result<Vec<u8>> {
        match &common.device {
            DeviceChoice::Gpus(gpus) if gpus.len() > 1 => {
                Err(usage!("scratch takes one gpu: device; name one").into())
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// The cases of an effort, before `--filter`; some are in both tables.
fn all_cases(effort: Effort, capabilities: &Capabilities) -> Vec<Case> {
    [bench_cases(BenchScale::new(effort, capabilities)), verify_cases(effort, capabilities)].concat()
}

impl Scratch {
    fn new(case: &Case, capabilities: &Capabilities) -> Self {
        let (memory, reason) = match case.memory(capabilities) {
            Ok(memory) => (memory, None),
            Err(error) => (RecordedMemory::default(), Some(error.to_string())),
        };
        let RecordedMemory { arguments, arrays } = memory;
        let (scratch, arguments): (Vec<_>, Vec<_>) =
            arguments.into_iter().partition(|argument| argument.role == Role::Scratch);
        let shown = |Argument { name, role, size, .. }| ShownArgument { name, role: words_of(role), size };
        Self {
            device: capabilities.identity.name.clone(),
            case: case.id(),
            arguments: arguments.into_iter().map(shown).collect(),
            size: scratch.iter().map(|argument| argument.size).sum(),
            arrays: arrays
                .iter()
                .map(|&ScratchArray { name, offset, size }| Array { offset, size, name })
                .collect(),
            reason,
        }
    }

    /// The id, a line for each argument, and one for each array.
    fn block(&self) -> String {
        let mut text = format!("{}\n", self.case);
        if let Some(reason) = &self.reason {
            return text + &format!("  not supported: {}\n", escaped(reason));
        }
        let largest = self.arguments.iter().map(|argument| argument.size).fold(self.size, u64::max);
        let width = largest.to_string().len().max("offset".len());
        let mut row = |offset: &str, size: &str, name: &str| {
            let _ = writeln!(text, "  {offset:>width$}  {size:>width$}  {name}");
        };
        row("", "size", "argument");
        for ShownArgument { name, role, size } in &self.arguments {
            row("", &size.to_string(), &format!("{name}: {role}"));
        }
        if self.arrays.is_empty() {
            return text + "  no scratch\n";
        }
        row("offset", "size", "array in scratch");
        for Array { offset, size, name } in &self.arrays {
            row(&offset.to_string(), &size.to_string(), name);
        }
        row("", &self.size.to_string(), "required");
        text
    }
}

const fn words_of(role: Role) -> &'static str {
    match role {
        Role::Read => "read",
        Role::Write => "written",
        Role::WriteInPlace => "written, in place too",
        Role::ReadWrite => "read and written",
        Role::Scratch => "scratch",
    }
}
