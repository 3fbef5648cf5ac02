//! `--spirv`: a module of somebody else.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Result;
use subsweep::harness::{ForeignModule, Inspection};

use crate::args::InspectArgs;
use crate::device::Numbered;
use crate::error::Ended;

/// Bytes of the largest file that is taken for a shader.
const MAX_SIZE: u64 = 64 << 20;

/// Reads a module, and refuses an entry point and constants that it does not have.
///
/// # Errors
/// What is wrong with it, with the file's name.
pub fn read(file: &OsString, args: &InspectArgs) -> Result<ForeignModule> {
    let path = Path::new(file);
    let refused = |what: String| Ended::usage(format!("{}: {what}", path.display()));
    if path.is_dir() {
        return Err(refused("is a directory; name a file in it".into()).into());
    }
    let file = File::open(path).map_err(|error| {
        refused(format!("cannot be opened ({error}); check the path and its permissions"))
    })?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_SIZE + 1).read_to_end(&mut bytes);
    read.map_err(|error| refused(format!("cannot be read ({error})")))?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(refused(format!("has more than {MAX_SIZE} bytes; name a SPIR-V module")).into());
    }
    let module = ForeignModule::from_bytes(&bytes).map_err(|error| refused(error.to_string()))?;
    module.specialize(args.entry.as_deref(), &args.constant).map_err(|error| refused(error.to_string()))?;
    Ok(module)
}

/// What the device's driver makes of the module.
///
/// # Errors
/// That it does not tell; whatever Vulkan says.
pub fn inspect(device: &Numbered, module: &ForeignModule, args: &InspectArgs) -> Result<Inspection> {
    if let (Some(lanes), Some(capabilities)) = (args.lanes, device.candidate.capabilities()) {
        let (min, max) = (capabilities.min_subgroup_size, capabilities.max_subgroup_size);
        if !lanes.is_power_of_two() || !(min..=max).contains(&lanes) {
            let text =
                format!("--lanes {lanes}: the device has subgroups of {min} to {max} lanes, powers of two");
            return Err(Ended::usage(text).into());
        }
    }
    let specialized = module.specialize(args.entry.as_deref(), &args.constant)?;
    let name = args.spirv.as_deref().map(Path::new).map(|path| path.display().to_string());
    let pipeline = specialized.inspect(&device.candidate, &name.unwrap_or_default(), args.lanes)?;
    Ok(Inspection { pipelines: vec![pipeline], not_supported: Vec::new() })
}
