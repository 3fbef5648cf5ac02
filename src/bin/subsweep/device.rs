//! The devices that `--device` means.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::Result;
use subsweep::device::DeviceIdentity;
use subsweep::harness::Description;
use subsweep::harness::gpus::CompileOnlyGpu;
use subsweep::headless::{Candidate, DeviceSelector, Gpu, Instance};

use crate::args::Common;
use crate::cache::CachedGpu;
use crate::error::Ended;
use crate::files::memory;
use crate::{gpus, words};

/// What `--device` or `SUBSWEEP_DEVICE` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Nothing, or nothing but an empty word.
    Unsaid,
    /// Every device for itself.
    All,
    /// Compile-only GPUs, one or more.
    Gpus(Vec<&'static CompileOnlyGpu>),
    /// The best that matches.
    One(DeviceSelector),
    /// A text with commas: a name that holds them, or else a list.
    Listed {
        /// All of it.
        name: DeviceSelector,
        /// What is between the commas.
        list: Vec<DeviceSelector>,
    },
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::Unsaid);
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

/// `gpu:all`, `gpu:NAME`, or several names with commas between.
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

/// Where the choice stands: in the command line, or in the environment.
pub fn said_by() -> &'static str {
    if is_option_given() { "--device" } else { "SUBSWEEP_DEVICE" }
}

/// Whether the choice stands in the command line, and not in `SUBSWEEP_DEVICE`.
fn is_option_given() -> bool {
    std::env::args_os()
        .skip(1)
        .take_while(|argument| argument != "--")
        .any(|argument| argument == "--device" || argument.as_encoded_bytes().starts_with(b"--device="))
}

/// Refuses `--device ''`, which a script with a forgotten variable says. An empty `SUBSWEEP_DEVICE` is as good as none.
pub fn check_said(choice: &DeviceChoice) -> Result<(), Ended> {
    if *choice == DeviceChoice::Unsaid && is_option_given() {
        return Err(Ended::usage(format!("--device is empty: {BLANK}")));
    }
    Ok(())
}

/// A device with its place in the list that `subsweep devices` prints.
#[derive(Debug, Clone)]
pub struct Numbered {
    /// What `--device` takes.
    pub index: usize,
    /// The device.
    pub candidate: Candidate,
    /// The compile-only GPU that it is, if it is one.
    pub gpu: Option<&'static CompileOnlyGpu>,
}

/// Refuses `--device`, for a command that opens none. `SUBSWEEP_DEVICE` is meant for others.
pub fn check_none(command: &str) -> Result<(), Ended> {
    if is_option_given() {
        return Err(Ended::usage(format!("{command} opens no device; leave --device out")));
    }
    Ok(())
}

impl Numbered {
    /// Its number, name, driver and lanes: what a table is headed by.
    pub fn heading(&self) -> String {
        match self.candidate.capabilities() {
            Some(capabilities) => {
                let name = name_with_driver(&capabilities.identity);
                format!("{}: {}, {} lanes", self.label(), words::escaped(&name), capabilities.subgroup_size)
            }
            None => format!("{}: {}", self.label(), words::escaped(self.candidate.name())),
        }
    }

    /// What `--device` takes.
    fn label(&self) -> String {
        label(self.index, self.gpu.map(|gpu| gpu.name))
    }

    /// Who it is and what it has, where it has Vulkan 1.2; its features where it is usable.
    pub fn description(&self) -> Option<Description> {
        let candidate = &self.candidate;
        let description = Description::new(candidate.capabilities()?, candidate.timestamp_valid_bits());
        let features = description.features.filter(|_| candidate.requirements().is_ok());
        Some(Description { features, ..description })
    }
}

/// Refuses `all`, for a command that has one result.
pub fn check_one(choice: &DeviceChoice, command: &str) -> Result<(), Ended> {
    match choice {
        DeviceChoice::All => {
            Err(Ended::usage(format!("{command} runs on one device, and {} says all; name one", said_by())))
        }
        // What is listed may be the name of one.
        DeviceChoice::Unsaid
        | DeviceChoice::One(_)
        | DeviceChoice::Listed { .. }
        // It was refused by its name before.
        | DeviceChoice::Gpus(_) => Ok(()),
    }
}

/// An instance without layers.
///
/// # Errors
/// That there is no loader, or no driver.
pub fn instance() -> Result<Arc<Instance>> {
    Ok(Arc::new(Instance::new(false).map_err(of_child)?))
}

/// Every device, the best first.
///
/// # Errors
/// That there is none.
pub fn list(instance: &Arc<Instance>) -> Result<Vec<Numbered>> {
    let list = instance.candidates().map_err(of_child)?;
    if list.is_empty() {
        return Err(of_child(subsweep::Error::NoDevice));
    }
    let numbered = |(index, candidate)| Numbered { index, candidate, gpu: None };
    Ok(list.into_iter().enumerate().map(numbered).collect())
}

/// Why there is no device, for a child, whose one driver is in the folder of GPUs.
fn of_child(error: subsweep::Error) -> anyhow::Error {
    match (gpus::of_child(), error) {
        (Some(gpu), subsweep::Error::NoDevice) => {
            let text = format!("gpu:{}: its driver finds no device; run tools/setup gpus again", gpu.name);
            Ended::unable(text).into()
        }
        (_, error) => error.into(),
    }
}

/// The one device of `list` that is meant.
///
/// # Errors
/// That none matches.
pub fn select(list: &[Numbered], selector: &DeviceSelector) -> Result<Numbered> {
    let candidates: Vec<_> = list.iter().map(|device| device.candidate.clone()).collect();
    Ok(list[selector.position(&candidates)?].clone())
}

/// The devices that are meant: the best where nothing is said.
///
/// # Errors
/// That there is none, or none that matches.
pub fn choose(instance: &Arc<Instance>, choice: &DeviceChoice) -> Result<Vec<Numbered>> {
    let list = list(instance)?;
    Ok(match choice {
        DeviceChoice::Unsaid => vec![select(&list, &DeviceSelector::Best)?],
        DeviceChoice::One(selector) => vec![select(&list, selector)?],
        DeviceChoice::All => list,
        // The child of such a device has its driver and no other.
        DeviceChoice::Gpus(_) => {
            vec![Numbered { gpu: gpus::of_child(), ..select(&list, &DeviceSelector::Best)? }]
        }
        DeviceChoice::Listed { name, list: selectors } => match select(&list, name) {
            Ok(device) => vec![device],
            // One that is listed twice is taken twice, and can be compared with itself.
            Err(_) => selectors.iter().map(|selector| select(&list, selector)).collect::<Result<_>>()?,
        },
    })
}

/// Opens the one device that is meant, and names it.
///
/// # Errors
/// That there is none, that none matches, that it lacks something, or whatever its driver says.
pub fn open(common: &Common) -> Result<CachedGpu> {
    let instance = instance()?;
    // `check_one` has refused all of them.
    let mut devices = choose(&instance, &common.device)?;
    if devices.len() > 1 {
        return Err(Ended::usage(format!(
            "this command runs on one device, and {} lists several; name one",
            said_by()
        ))
        .into());
    }
    let Numbered { index, candidate, .. } = devices.swap_remove(0);
    let gpu = CachedGpu::open(candidate, !common.no_pipeline_cache)?;
    words::say(format_args!("on device {index}, {}", name_with_driver(gpu.identity())));
    Ok(gpu)
}

/// What `--device` takes: a number, or the name of a compile-only GPU.
pub fn label(index: usize, gpu: Option<&str>) -> String {
    gpu.map_or_else(|| index.to_string(), |name| format!("gpu:{name}"))
}

/// What a report must name, on one line.
pub fn name_with_driver(identity: &DeviceIdentity) -> String {
    format!("{}, driver {}", identity.name, identity.driver_text())
}

/// Refuses `size` bytes on a CPU that has not got them: its driver would take more than there is, and the process be
/// killed. Other devices say it themselves.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_and_nothing_are_no_names() {
        assert_eq!("".parse(), Ok(DeviceChoice::Unsaid));
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
