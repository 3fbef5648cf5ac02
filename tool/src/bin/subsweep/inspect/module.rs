//! `inspect --spirv`: a module of another program.

use anyhow::{Result, bail};
use subsweep::Error;
use subsweep_tool::harness::{ForeignModule, Inspection};

use super::InspectArgs;
use crate::device::Numbered;
use crate::error::{CommandError, usage};
use crate::files::{Source, read_bytes};
use crate::gpus;

/// Size limit of a module in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// A module and its file.
#[derive(Debug)]
pub struct Module {
    /// The name as given; a child process reads the module from standard input instead.
    name: String,
    /// The content of the file.
    pub bytes: Vec<u8>,
    parsed: ForeignModule,
}

/// Reads a module, and checks that it has the entry point and the constants.
///
/// # Errors
/// The file cannot be read or is not valid; the text names it.
pub fn read(source: &Source, args: &InspectArgs) -> Result<Module> {
    let name = source.to_string();
    let refused = |what: String| usage!("{name}: {what}");
    let readable = if gpus::of_child().is_some() { &Source::Stdin } else { source };
    let bytes = read_bytes(readable, MAX_SIZE, "a SPIR-V module")?;
    let parsed = ForeignModule::from_bytes(&bytes).map_err(|error| refused(error.to_string()))?;
    parsed.specialize(args.entry.as_deref(), &args.constant).map_err(|error| refused(error.to_string()))?;
    Ok(Module { name, bytes, parsed })
}

/// Compiles the module on the device, and returns the driver's statistics.
///
/// # Errors
/// The driver reports no statistics; errors of Vulkan.
pub fn inspect(device: &Numbered, module: &Module, args: &InspectArgs) -> Result<Inspection> {
    if let (Some(lanes), Some(capabilities)) = (args.lanes, device.candidate.capabilities()) {
        let (min, max) = (capabilities.min_subgroup_size, capabilities.max_subgroup_size);
        if !lanes.is_power_of_two() || !(min..=max).contains(&lanes) {
            bail!(usage!("--lanes {lanes}: the device has subgroups of {min} to {max} lanes, powers of two"));
        }
    }
    let specialized = module.parsed.specialize(args.entry.as_deref(), &args.constant)?;
    let pipeline = specialized.inspect(&device.candidate, &module.name, args.lanes);
    let pipeline = pipeline.map_err(|error| match error {
        // Only the module determines this.
        Error::PolicyExceedsLimits { what, needed, got } => {
            let Module { name, .. } = module;
            anyhow::Error::from(usage!(
                "{name}: takes {needed} {what}, and the device has {got} at most; specialize or write it for fewer"
            ))
        }
        Error::MissingFeature { .. } => CommandError::unable(format!("{}: {error}", module.name)).into(),
        error => error.into(),
    })?;
    Ok(Inspection { pipelines: vec![pipeline], not_supported: Vec::new() })
}
