//! What is tuned: parts, each for keys and values of some words.

use std::fmt;

use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::tuning::{KernelShape, TunedPart, TuningAxis, shape_of};
use subsweep_tool::harness::{Case, SortValues, tuned_case};

use super::TuneArgs;
pub use super::descent::Tries;
use crate::error::{CommandError, usage};

/// A part, for keys or elements and values of some words.
pub struct Target {
    /// The part.
    pub part: TunedPart,
    /// The type of the keys or elements.
    pub element: ElementType,
    /// The values that are moved with keys.
    pub values: SortValues,
    /// Measures it.
    pub case: Case,
    /// The shape in use.
    pub start: KernelShape,
}

impl Target {
    /// The words of a key or element, and of a value.
    pub fn words(&self) -> [u32; 2] {
        [self.element.words(), self.values.moved_size() as u32 / 4]
    }

    /// Keys or elements of an invocation.
    pub fn items(&self, shape: &KernelShape) -> u32 {
        let words = match self.part {
            // Items of scans are words.
            TunedPart::Scan | TunedPart::ScanTree => self.element.words(),
            TunedPart::ChainedScan | TunedPart::ChainedScanFew => self.element.words(),
            _ => 1,
        };
        (shape.items / words).max(1)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.part.name(), self.element.name())?;
        match self.values.moved_size() {
            0 => Ok(()),
            size => write!(f, " with values of {size} bytes"),
        }
    }
}

/// The targets of `args` on a device.
///
/// # Errors
/// A name without parts, or parts that are not tuned for these keys and values.
pub fn targets(
    args: &TuneArgs,
    capabilities: &Capabilities,
    is_static: bool,
) -> Result<Vec<Target>, CommandError> {
    let is_named = |part: &TunedPart| args.parts.iter().any(|name| is_part_of(*part, name));
    let parts: Vec<_> = TunedPart::ALL.into_iter().filter(is_named).collect();
    let unknown = |name: &&String| !TunedPart::ALL.iter().any(|part| is_part_of(*part, name));
    if let Some(name) = args.parts.iter().find(unknown) {
        let names = TunedPart::ALL.map(TunedPart::name).join(", ");
        return Err(usage!("there is no part {name}; name all, a primitive, or of {names}"));
    }
    let count = args.count.unwrap_or(match (args.quick, capabilities.is_cpu()) {
        (true, _) => 1 << 16,
        (false, true) => 1 << 20,
        (false, false) => 1 << 24,
    });
    let mut targets = Vec::new();
    for part in parts {
        if is_static && part.hot_kernels().is_empty() {
            continue;
        }
        for &element in &elements_of(args, part) {
            for values in values_of(args, part) {
                let Some(case) = tuned_case(part, element, values, count) else { continue };
                let words = [element.words(), values.moved_size() as u32 / 4];
                let mut start = shape_of(capabilities, part, words);
                // As policies do where a device has smaller workgroups than a row.
                start.workgroup_size = start.workgroup_size.min(capabilities.max_workgroup_invocations);
                let is_again =
                    |other: &Target| (other.part, other.element) == (part, element) && other.values == values;
                if targets.iter().any(is_again) {
                    continue;
                }
                targets.push(Target { part, element, values, case, start });
            }
        }
    }
    let is_axis = |axis: &TuningAxis| targets.iter().any(|target: &Target| target.part.axes().contains(axis));
    if let Some((axis, _)) = args.tries.iter().find(|(axis, _)| !targets.is_empty() && !is_axis(axis)) {
        let mut axes: Vec<&str> = Vec::new();
        for axis in targets.iter().flat_map(|target| target.part.axes()) {
            if !axes.contains(&axis.name()) {
                axes.push(axis.name());
            }
        }
        let (parts, axes) = (args.parts.join(" and "), axes.join(", "));
        return Err(usage!("{parts} has no axis {}; it has {axes}", axis.name()));
    }
    if targets.is_empty() {
        let why = if is_static {
            "has a main path that can be compiled alone; name a scan or a sort"
        } else {
            "is tuned for these keys and values; name others"
        };
        return Err(usage!("no part of {} {why}", args.parts.join(" and ")));
    }
    Ok(targets)
}

/// `sort` names all parts of sorts, `all` every part.
fn is_part_of(part: TunedPart, name: &str) -> bool {
    let rest = part.name().strip_prefix(name);
    name == "all" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// A row serves keys of one word and of two, where a part has rows for each.
fn elements_of(args: &TuneArgs, part: TunedPart) -> Vec<ElementType> {
    match (&args.element[..], part) {
        ([], TunedPart::Onesweep | TunedPart::DigitHistogram) if !args.quick => {
            vec![ElementType::U32, ElementType::U64]
        }
        (
            [],
            TunedPart::Histogram
            | TunedPart::LargeHistogram
            | TunedPart::HistogramInMemory
            | TunedPart::ScanTree,
        ) => vec![ElementType::F32],
        ([], _) => vec![ElementType::U32],
        (given, _) => given.to_vec(),
    }
}

fn values_of(args: &TuneArgs, part: TunedPart) -> Vec<SortValues> {
    let sizes: &[u32] = match (&args.values[..], part) {
        ([], TunedPart::Onesweep) if !args.quick => &[0, 4, 8],
        ([], _) => &[0],
        (given, _) => given,
    };
    let of_size = |&size: &u32| match size {
        4 => SortValues::B4,
        8 => SortValues::B8,
        _ => SortValues::None,
    };
    sizes.iter().map(of_size).collect()
}

/// Parses `axis=1,2,4`.
///
/// # Errors
/// No axis has the name, or a value is no number.
pub fn parse_try(text: &str) -> Result<(TuningAxis, Vec<u32>), String> {
    let mut axes: Vec<TuningAxis> = Vec::new();
    for axis in TunedPart::ALL.iter().flat_map(|part| part.axes()) {
        if !axes.contains(axis) {
            axes.push(*axis);
        }
    }
    let (name, values) = text.split_once('=').ok_or("it is an axis and its values, such as items=16,20")?;
    let axis = axes.iter().find(|axis| axis.name() == name);
    let axis = *axis.ok_or_else(|| {
        let names: Vec<_> = axes.iter().map(|axis| axis.name()).collect();
        format!("no axis is {name}; axes are {}", names.join(", "))
    })?;
    let number = |value: &str| value.trim().parse().ok().filter(|&number: &u32| number <= 65_536);
    let values: Option<Vec<u32>> = values.split(',').map(number).collect();
    let values = values.ok_or("values are numbers up to 65536, separated by commas")?;
    if axis.is_flag() && values.iter().any(|value| *value > 1) {
        return Err(format!("{name} is 0 or 1"));
    }
    Ok((axis, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_name() {
        for part in TunedPart::ALL {
            assert!(is_part_of(part, part.name()) && is_part_of(part, "all"));
        }
        let of = |name| -> Vec<_> {
            TunedPart::ALL.into_iter().filter(|part| is_part_of(*part, name)).map(TunedPart::name).collect()
        };
        assert_eq!(of("scan"), ["scan-chained", "scan-few", "scan", "scan-tree"]);
        assert!(of("sor").is_empty());
    }

    #[test]
    fn values_to_try_are_of_an_axis() {
        assert_eq!(parse_try("items=16,20"), Ok((TuningAxis::Items, vec![16, 20])));
        assert_eq!(parse_try("window=2"), Ok((TuningAxis::Window, vec![2])));
        assert!(parse_try("item=2").unwrap_err().contains("axes are"));
        for text in ["items", "items=", "items=a", "items=-1", "items=65537", "mixed-access=2"] {
            assert!(parse_try(text).is_err(), "{text}");
        }
    }
}
