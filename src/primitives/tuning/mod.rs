//! The tuning room: the shape of tiles and the variants of kernels of every primitive, by device.
//!
//! A [`Part`] is a primitive's kernels that are tuned together: of a scan reduce-then-scan and the single pass, of a sort
//! each method of ranking and the digit histogram. A [`Row`] gives its [`Shape`] on some devices, for some numbers of
//! words of keys (or elements) and of values, with the source of the numbers. [`row_of`] returns the first row that
//! matches; the last row of each part matches every device. What a row cannot know, such as the memory of a smaller
//! device or the columns of a table, is the formula of the policy that takes the shape.
//!
//! What a sweep needs:
//!
//! - [`Part::ALL`], and [`Part::axes`]: the axes of a part.
//! - [`Axis::name`], [`Axis::values`]: candidates, of which the library refuses some on some devices; [`Axis::get`] and
//!   [`Axis::set`] read and change a shape. `None` and `false` are 0.
//! - [`shape_of`]: the shape in use, to descend from.
//! - [`Row::measured`]: a row for the device, whose `Display` is the row in the syntax of `rows.rs`.

mod axes;
mod rows;
mod shape;

use std::fmt;

pub use axes::Axis;
pub use shape::Shape;

use crate::device::{Architecture, Capabilities, Generation};

/// Kernels of a primitive that are tuned together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Scans in several passes; items are words of elements.
    Scan,
    /// The single-pass scan; items are words of elements.
    ChainedScan,
    /// Selections and partitions in several passes; items are elements of a word.
    Select,
    /// The single-pass selection; items are elements of a word.
    ChainedSelect,
    /// Passes of `onesweep`; items are keys.
    Onesweep,
    /// Passes of `radix-8bit`, also of long segments; items are keys.
    Radix8Bit,
    /// Sorts that rank by counters: in one workgroup, also of segments, and by digits of up to 4 bits; items are keys.
    CountedSort,
    /// The histogram of all digits, in workgroups of the size of the passes; items are keys.
    DigitHistogram,
    /// Reductions; items are packs of 16 bytes.
    Reduce,
    /// Histograms with copies of the counters in shared memory; items are the least number of values.
    Histogram,
    /// Histograms with one copy of the counters in shared memory.
    LargeHistogram,
    /// Histograms whose counters do not fit in shared memory.
    HistogramInMemory,
    /// Adjacent differences; items are numbers.
    Difference,
    /// Searches; items are needles.
    Search,
    /// Merges; items are keys, fewer where they do not fit in shared memory.
    Merge,
    /// Radix select of a top-k: the largest workgroup; items are keys.
    TopK,
    /// Top-k by a segmented sort; items are keys.
    TopKSort,
    /// Lengths of runs and decoding; items are runs or elements.
    RunLength,
    /// Gathers; items are accesses.
    Gather,
    /// Segments that a cluster of lanes holds; items are keys of a cluster.
    SegmentedCluster,
    /// Segments that a small workgroup holds; items are keys.
    SegmentedSmall,
}

/// Devices that a row is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Devices {
    /// A generation of an architecture.
    Generation(Generation),
    /// An architecture.
    Architecture(Architecture),
    /// CPU drivers.
    Cpu,
    /// Every device.
    All,
}

impl Devices {
    fn include(self, capabilities: &Capabilities) -> bool {
        match self {
            Self::Generation(generation) => capabilities.generation() == Some(generation),
            Self::Architecture(architecture) => capabilities.architecture() == Some(architecture),
            Self::Cpu => capabilities.is_cpu(),
            Self::All => true,
        }
    }

    /// The narrowest class of a device.
    fn of(capabilities: &Capabilities) -> Self {
        match (capabilities.generation(), capabilities.architecture()) {
            (Some(generation), _) => Self::Generation(generation),
            (None, Some(architecture)) => Self::Architecture(architecture),
            (None, None) if capabilities.is_cpu() => Self::Cpu,
            (None, None) => Self::All,
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    devices: Devices,
    /// Lanes of a subgroup; `None` for any number.
    lanes: Option<u32>,
    parts: &'static [Part],
    /// Words of a key or element, and of a value; `None` for any number.
    words: [Option<u32>; 2],
    shape: Shape,
    /// Workgroup size and items by the limits of the device.
    formula: Option<fn(&Capabilities) -> Shape>,
    source: &'a str,
}

impl<'a> Row<'a> {
    const fn words(mut self, key_words: u32, value_words: u32) -> Self {
        self.words = [Some(key_words), Some(value_words)];
        self
    }

    const fn keys(mut self, words: u32) -> Self {
        self.words[0] = Some(words);
        self
    }

    const fn formula(mut self, formula: fn(&Capabilities) -> Shape) -> Self {
        self.formula = Some(formula);
        self
    }

    /// A row of one part for the generation or architecture of a device, and for keys or elements and values of so many
    /// words; `None` for any number.
    pub fn measured(
        capabilities: &Capabilities,
        part: Part,
        words: [Option<u32>; 2],
        shape: Shape,
        source: &'a str,
    ) -> Self {
        let parts =
            Part::ALL.iter().position(|&other| other == part).map_or(&[][..], |at| &Part::ALL[at..=at]);
        Self { devices: Devices::of(capabilities), lanes: None, parts, words, shape, formula: None, source }
    }

    /// Whether the row is for a part on a device, for keys or elements and values of so many words.
    fn matches(&self, capabilities: &Capabilities, part: Part, words: [u32; 2]) -> bool {
        let has_words = |(row, words): (&Option<u32>, u32)| row.is_none_or(|row| row == words);
        self.parts.contains(&part)
            && self.devices.include(capabilities)
            && self.lanes.is_none_or(|lanes| lanes == capabilities.subgroup_size)
            && self.words.iter().zip(words).all(has_words)
    }

    /// The shape on a device: the subgroup size only where the device supports it.
    fn shape(&self, capabilities: &Capabilities) -> Shape {
        let tile = self.formula.map_or(self.shape, |formula| formula(capabilities));
        let (workgroup_size, items) = (tile.workgroup_size, tile.items);
        let subgroup_size = self.shape.subgroup_size.filter(|&size| capabilities.can_have_subgroups_of(size));
        Shape { workgroup_size, items, subgroup_size, ..self.shape }
    }

    /// The source of the numbers.
    pub const fn source(&self) -> &'a str {
        self.source
    }
}

/// The row in the syntax of `rows.rs`.
impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let devices = match self.devices {
            Devices::Generation(generation) => format!("Generation(Generation::{generation:?})"),
            Devices::Architecture(architecture) => format!("Architecture(Architecture::{architecture:?})"),
            Devices::Cpu => "Cpu".to_owned(),
            Devices::All => "All".to_owned(),
        };
        let parts: Vec<_> = self.parts.iter().map(|part| format!("Part::{part:?}")).collect();
        write!(f, "row(Devices::{devices}, &[{}], {}, {:?})", parts.join(", "), self.shape, self.source)?;
        match self.words {
            [Some(key), Some(value)] => write!(f, ".words({key}, {value})")?,
            [Some(key), None] => write!(f, ".keys({key})")?,
            [None, _] => {}
        }
        f.write_str(",")
    }
}

/// Whether a device is a CPU: lanes are loop iterations, and many items per invocation pay.
pub(crate) fn is_cpu(capabilities: &Capabilities) -> bool {
    Devices::Cpu.include(capabilities)
}

/// The first row of a part for a device, for keys or elements and values of so many words.
pub fn row_of(capabilities: &Capabilities, part: Part, words: [u32; 2]) -> &'static Row<'static> {
    let row = rows::ROWS.iter().find(|row| row.matches(capabilities, part, words));
    row.expect("the last row of a part matches every device")
}

/// The shape in use, of [`row_of`].
pub fn shape_of(capabilities: &Capabilities, part: Part, words: [u32; 2]) -> Shape {
    row_of(capabilities, part, words).shape(capabilities)
}

/// The shape of the last row, that of a device that no other row is for: where the limits of a device are lower than
/// those of others of its architecture.
pub(crate) fn fallback(capabilities: &Capabilities, part: Part) -> Shape {
    let is_last = |row: &&Row<'_>| {
        row.parts.contains(&part)
            && matches!(row.devices, Devices::Cpu | Devices::All)
            && row.matches(capabilities, part, [u32::MAX; 2])
    };
    let row = rows::ROWS.iter().find(is_last);
    row.expect("the last row of a part matches every device").shape(capabilities)
}
