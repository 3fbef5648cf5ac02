//! Device selection: `--device` and `SUBSWEEP_DEVICE`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, bail};
use subsweep::device::DeviceIdentity;
use subsweep::headless::{Candidate, DeviceSelector, Gpu, Instance, Prepared};
use subsweep_tool::harness::Description;
use subsweep_tool::harness::gpus::CompileOnlyGpu;

use crate::args::Common;
use crate::cache::CachedGpu;
use crate::error::{CommandError, Exit, usage};
use crate::files::{self, Job, memory};
use crate::{gpus, terminal, tested};

/// The value of `--device` or `SUBSWEEP_DEVICE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceChoice {
    /// No value, or an empty one.
    Unset,
    /// Every device, one at a time.
    All,
    /// Compile-only GPUs, one or more.
    Gpus(Vec<&'static CompileOnlyGpu>),
    /// The best device that matches.
    One(DeviceSelector),
    /// A text with commas: the name of one device, or a list.
    Listed {
        /// The whole text as a name.
        name: DeviceSelector,
        /// The parts between commas.
        list: Vec<DeviceSelector>,
    },
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::Unset);
        }
        let is_all = |text: &str| text.trim().eq_ignore_ascii_case("all");
        if is_all(text) {
            return Ok(Self::All);
        }
        if text.split(',').any(|one| gpu_name(one).is_some()) {
            return parse_gpus(text).map(Self::Gpus);
        }
        let parse = |text: &str| {
            let Ok(selector) = text.parse::<DeviceSelector>();
            if selector.is_blank() { Err(BLANK.to_owned()) } else { Ok(selector) }
        };
        let name = parse(text)?;
        Ok(match text.contains(',') {
            false => Self::One(name),
            true => {
                let list = text.split(',').map(parse).collect::<Result<_, _>>()?;
                if text.split(',').any(is_all) { Self::All } else { Self::Listed { name, list } }
            }
        })
    }
}

/// The name in `gpu:NAME`.
fn gpu_name(text: &str) -> Option<&str> {
    let (prefix, name) = text.trim().split_once(':')?;
    prefix.eq_ignore_ascii_case("gpu").then(|| name.trim())
}

/// Parses `gpu:all`, `gpu:NAME`, or several names separated by commas.
fn parse_gpus(text: &str) -> Result<Vec<&'static CompileOnlyGpu>, String> {
    let mut found = Vec::new();
    for one in text.split(',') {
        let Some(name) = gpu_name(one) else {
            return Err(
                "it takes either gpu: devices or others; run the command once for each kind".to_owned()
            );
        };
        match CompileOnlyGpu::find(name) {
            Some(gpu) => found.push(gpu),
            None if name.eq_ignore_ascii_case("all") => found.extend(CompileOnlyGpu::all()),
            None => {
                let known: Vec<_> = CompileOnlyGpu::all().iter().map(|gpu| gpu.name).collect();
                return Err(format!("there is no gpu:{name}; there are all, {}", known.join(", ")));
            }
        }
    }
    Ok(found)
}

const BLANK: &str = "it names no device; subsweep devices lists them";

/// The origin of the choice: the option's or the variable's name.
pub fn choice_origin() -> &'static str {
    if is_option_given() { "--device" } else { "SUBSWEEP_DEVICE" }
}

/// Whether the command line has `--device`.
fn is_option_given() -> bool {
    std::env::args_os()
        .skip(1)
        .take_while(|argument| argument != "--")
        .any(|argument| argument == "--device" || argument.as_encoded_bytes().starts_with(b"--device="))
}

/// Refuses `--device ''`, which a script with an unset variable passes. An empty `SUBSWEEP_DEVICE` is no choice.
pub fn check_not_empty(choice: &DeviceChoice) -> Result<(), CommandError> {
    if *choice == DeviceChoice::Unset && is_option_given() {
        return Err(usage!("--device is empty: {BLANK}"));
    }
    Ok(())
}

/// A device and its index in the list that `subsweep devices` prints.
#[derive(Debug, Clone)]
pub struct Numbered {
    /// The index that `--device` takes.
    pub index: usize,
    /// The device.
    pub candidate: Candidate,
    /// The compile-only GPU, if the device is one.
    pub gpu: Option<&'static CompileOnlyGpu>,
}

/// Refuses `--device` for a command without a device. `SUBSWEEP_DEVICE` is ignored, as it serves other commands.
pub fn check_none(command: &str) -> Result<(), CommandError> {
    if is_option_given() {
        return Err(usage!("{command} opens no device; leave --device out"));
    }
    Ok(())
}

impl Numbered {
    /// The heading of a table: index, name, driver and lanes.
    pub fn heading(&self) -> String {
        match self.candidate.capabilities() {
            Some(capabilities) => {
                let name = name_with_driver(&capabilities.identity);
                format!(
                    "{}: {}, {} lanes",
                    self.label(),
                    terminal::escaped(&name),
                    capabilities.subgroup_size
                )
            }
            None => format!("{}: {}", self.label(), terminal::escaped(self.candidate.name())),
        }
    }

    /// The argument of `--device` that selects this device.
    fn label(&self) -> String {
        label(self.index, self.gpu.map(|gpu| gpu.name))
    }

    /// Description of a device with Vulkan 1.2. It lists the features of a usable device only.
    pub fn description(&self) -> Option<Description> {
        let candidate = &self.candidate;
        let description = Description::new(candidate.capabilities()?, candidate.timestamp_valid_bits());
        let features = description.features.filter(|_| candidate.requirements().is_ok());
        Some(Description { features, ..description })
    }
}

/// Refuses `all` for a command that has one result.
pub fn check_one(choice: &DeviceChoice, command: &str) -> Result<(), CommandError> {
    // A text with commas may be the name of one device.
    if *choice != DeviceChoice::All {
        return Ok(());
    }
    Err(usage!("{command} runs on one device, and {} says all; name one", choice_origin()))
}

/// An instance without layers.
///
/// # Errors
/// There is no loader, or no driver.
pub fn instance() -> Result<Arc<Instance>> {
    Ok(Arc::new(Instance::new(false).map_err(of_child)?))
}

/// All devices, the best first.
///
/// # Errors
/// There is no device.
pub fn list(instance: &Arc<Instance>) -> Result<Vec<Numbered>> {
    let list = instance.candidates().map_err(of_child)?;
    if list.is_empty() {
        return Err(of_child(subsweep::Error::NoDevice));
    }
    let numbered = |(index, candidate)| Numbered { index, candidate, gpu: None };
    Ok(list.into_iter().enumerate().map(numbered).collect())
}

/// An error of device enumeration; in a child process it names the compile-only GPU whose driver finds no device.
fn of_child(error: subsweep::Error) -> anyhow::Error {
    match (gpus::of_child(), error) {
        (Some(gpu), subsweep::Error::NoDevice) => {
            let text = format!("gpu:{}: its driver finds no device; run tools/setup gpus again", gpu.name);
            CommandError::unable(text).into()
        }
        (_, error) => error.into(),
    }
}

/// The first device of `list` that matches.
///
/// # Errors
/// None matches.
pub fn select(list: &[Numbered], selector: &DeviceSelector) -> Result<Numbered> {
    let candidates: Vec<_> = list.iter().map(|device| device.candidate.clone()).collect();
    Ok(list[selector.position(&candidates)?].clone())
}

/// The chosen devices: the best where there is no choice.
///
/// # Errors
/// There is no device, or none that matches.
pub fn choose(instance: &Arc<Instance>, choice: &DeviceChoice) -> Result<Vec<Numbered>> {
    let list = list(instance)?;
    Ok(match choice {
        DeviceChoice::Unset => vec![select(&list, &DeviceSelector::Best)?],
        DeviceChoice::One(selector) => vec![select(&list, selector)?],
        DeviceChoice::All => list,
        // The child process of a compile-only GPU has that GPU's driver only.
        DeviceChoice::Gpus(_) => {
            vec![Numbered { gpu: gpus::of_child(), ..select(&list, &DeviceSelector::Best)? }]
        }
        DeviceChoice::Listed { name, list: selectors } => match select(&list, name) {
            Ok(device) => vec![device],
            // A device that is listed twice runs twice, and can be compared with itself.
            Err(_) => selectors.iter().map(|selector| select(&list, selector)).collect::<Result<_>>()?,
        },
    })
}

/// The chosen device, for a command that runs on one.
///
/// # Errors
/// There is no device, none matches, or several are listed.
pub fn choose_one(common: &Common, command: &str) -> Result<Numbered> {
    // `check_one` has refused `all`.
    let mut devices = choose(&instance()?, &common.device)?;
    if devices.len() > 1 {
        let origin = choice_origin();
        bail!(usage!("{command} runs on one device, and {origin} lists several; name one"));
    }
    Ok(devices.swap_remove(0))
}

/// Opens the chosen device, and prints its name to standard error.
///
/// # Errors
/// There is no device, none matches, it lacks a requirement, or its driver fails; it fails its self-test.
pub fn open(common: &Common) -> Result<CachedGpu> {
    let Numbered { index, candidate, .. } = choose_one(common, "this command")?;
    let gpu = CachedGpu::open(candidate, !common.no_pipeline_cache)?;
    tested::check(&gpu, !common.no_pipeline_cache)?;
    terminal::print_line(format_args!("on device {index}, {}", name_with_driver(gpu.identity())));
    Ok(gpu)
}

/// The argument of `--device`: an index, or `gpu:NAME`.
pub fn label(index: usize, gpu: Option<&str>) -> String {
    gpu.map_or_else(|| index.to_string(), |name| format!("gpu:{name}"))
}

/// The device's name and driver on one line.
pub fn name_with_driver(identity: &DeviceIdentity) -> String {
    format!("{}, driver {}", identity.name, identity.driver_text())
}

/// Refuses inputs that are more than the chosen device allocates at once, before they are read whole. Without a device the
/// caller finds out why.
///
/// # Errors
/// A file is too large.
pub fn check_inputs(common: &Common, job: &Job<'_>) -> Result<(), CommandError> {
    /// No device allocates less, so that small files need no look at the device.
    const MIN_LIMIT: u64 = 256 << 20;
    let large = job.arrays().filter_map(|source| {
        let size = source.file_size().filter(|&size| size > MIN_LIMIT)?;
        Some((source, size))
    });
    let Some((source, size)) = large.max_by_key(|(_, size)| *size) else { return Ok(()) };
    let Ok(Numbered { candidate, .. }) = choose_one(common, "this command") else { return Ok(()) };
    let Some(capabilities) = candidate.capabilities() else { return Ok(()) };
    let max = capabilities.max_array_size();
    if size <= max + files::MAX_HEADER {
        return Ok(());
    }
    let name = candidate.name();
    Err(CommandError::with(
        Exit::Failed,
        format!("{source}: has {size} bytes, and {name} allocates {max} at once at most; split it"),
    ))
}

/// Refuses an allocation of `size` bytes on a CPU device without the memory: its driver would overcommit, and the
/// process be killed. Other devices report the error themselves.
///
/// # Errors
/// [`subsweep::Error::OutOfDeviceMemory`].
pub fn check_memory(gpu: &Gpu, size: u64, what: &'static str) -> Result<(), subsweep::Error> {
    match memory::available() {
        Some(available) if gpu.capabilities().is_cpu() && size > available => {
            Err(subsweep::Error::OutOfDeviceMemory { needed: Some(size), what })
        }
        _ => Ok(()),
    }
}

/// Runs what is prepared, within the memory.
///
/// # Errors
/// Errors of [`check_memory`] and [`Prepared::run`].
pub fn run(gpu: &Gpu, prepared: Prepared<'_>) -> Result<(), subsweep::Error> {
    check_memory(gpu, prepared.device_size(), "the arrays and their scratch")?;
    prepared.run()
}

/// Prepares and runs what takes its inputs whole, beside a spinner with the step's name.
///
/// # Errors
/// Errors of `prepare` and [`run`].
pub fn run_whole<'a>(
    gpu: &Gpu,
    name: impl fmt::Display,
    prepare: impl FnOnce() -> subsweep::Result<Prepared<'a>>,
) -> Result<(), subsweep::Error> {
    let _spinner = terminal::Progress::of_one(name);
    run(gpu, prepare()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_parsed_as_choices() {
        assert_eq!("".parse(), Ok(DeviceChoice::Unset));
        for text in ["all", "ALL", " All", "0, all"] {
            assert_eq!(text.parse(), Ok(DeviceChoice::All));
        }
        for text in [" ", "driver:", "driver: ", "uuid:"] {
            assert_eq!(text.parse::<DeviceChoice>(), Err(BLANK.into()), "{text}");
        }
        assert_eq!("0".parse(), Ok(DeviceChoice::One(DeviceSelector::Index(0))));
        let list = vec![DeviceSelector::Index(0), DeviceSelector::Driver("radv".into())];
        let name = DeviceSelector::Name("0, driver:radv".into());
        assert_eq!("0, driver:RADV".parse(), Ok(DeviceChoice::Listed { name, list }));
        for text in ["gpu:amd-rdna2", " GPU:AMD-RDNA2 ", "gpu: amd-rdna2"] {
            let Ok(DeviceChoice::Gpus(gpus)) = text.parse() else { panic!("{text}") };
            assert_eq!(gpus.iter().map(|gpu| gpu.name).collect::<Vec<_>>(), ["amd-rdna2"]);
        }
        assert_eq!("gpu:all".parse(), Ok(DeviceChoice::Gpus(CompileOnlyGpu::all().iter().collect())));
        let Ok(DeviceChoice::Gpus(gpus)) = "gpu:apple-m1,gpu:amd-gcn5".parse() else { panic!() };
        assert_eq!(gpus.iter().map(|gpu| gpu.name).collect::<Vec<_>>(), ["apple-m1", "amd-gcn5"]);
        for (text, words) in [
            ("gpu:", "there is no gpu:; there are all, nvidia-turing, "),
            ("gpu:voodoo", "there is no gpu:voodoo; there are all, nvidia-turing, "),
            ("gpu:apple-m1,0", "it takes either gpu: devices or others; run the command once for each kind"),
        ] {
            assert!(text.parse::<DeviceChoice>().is_err_and(|error| error.contains(words)), "{text}");
        }
        for text in ["0,", "all,", "all,driver:"] {
            assert_eq!(text.parse::<DeviceChoice>(), Err(BLANK.into()), "{text}");
        }
    }
}
