//! The tuning room: the algorithms, the shapes of tiles and the variants of kernels of every primitive, by device.
//!
//! A [`TunedPart`] is a primitive's kernels that are tuned together: of a scan reduce-then-scan and the single pass, of a sort
//! each method of ranking and the digit histogram. A [`TuningRow`] gives its [`KernelShape`] on some devices, for some numbers of
//! words of keys (or elements) and of values, with the source of the numbers. [`shape_of`] takes the first row that
//! matches; the last row of each part matches every device. What a row cannot know, such as the memory of a smaller
//! device or the columns of a table, is the formula of the policy that takes the shape. `algorithms.rs` has the rows of the
//! choice between algorithms.
//!
//! What a sweep needs:
//!
//! - [`TunedPart::ALL`], and [`TunedPart::axes`]: the axes of a part.
//! - [`TuningAxis::name`], [`TuningAxis::values`]: candidates, of which the library refuses some on some devices; [`TuningAxis::get`] and
//!   [`TuningAxis::set`] read and change a shape. `None` and `false` are 0.
//! - [`shape_of`]: the shape in use, to descend from; [`with_shape`]: capabilities whose policies take another.

mod algorithms;
mod axes;
mod condition;
mod part;
mod rows;
mod shape;

pub use algorithms::{AlgorithmRow, ENCODINGS, REDUCTIONS_BY_KEY, SCANS, SELECTIONS, SORTS, algorithm_of};
pub use axes::TuningAxis;
pub use condition::Devices;
pub use part::TunedPart;
pub use shape::KernelShape;

use crate::device::{Capabilities, TunedNumber};
use condition::Condition;

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct TuningRow {
    condition: Condition,
    parts: &'static [TunedPart],
    shape: KernelShape,
    /// Workgroup size and items by the limits of the device.
    formula: Option<fn(&Capabilities) -> KernelShape>,
    source: &'static str,
}

impl TuningRow {
    const fn words(mut self, key_words: u32, value_words: u32) -> Self {
        self.condition.words = [Some(key_words), Some(value_words)];
        self
    }

    const fn keys(mut self, words: u32) -> Self {
        self.condition.words[0] = Some(words);
        self
    }

    const fn formula(mut self, formula: fn(&Capabilities) -> KernelShape) -> Self {
        self.formula = Some(formula);
        self
    }

    /// Whether the row is for a part on a device, for keys or elements and values of so many words.
    fn matches(&self, capabilities: &Capabilities, part: TunedPart, words: [u32; 2]) -> bool {
        self.parts.contains(&part) && self.condition.is_met(capabilities, words)
    }

    /// The shape on a device: the subgroup size only where the device supports it.
    fn shape(&self, capabilities: &Capabilities) -> KernelShape {
        let tile = self.formula.map_or(self.shape, |formula| formula(capabilities));
        let (workgroup_size, items) = (tile.workgroup_size, tile.items);
        let subgroup_size = self.shape.subgroup_size.filter(|&size| capabilities.can_have_subgroups_of(size));
        KernelShape { workgroup_size, items, subgroup_size, ..self.shape }
    }

    /// The source of the numbers.
    pub const fn source(&self) -> &'static str {
        self.source
    }
}

/// The shapes of all rows but those with a formula.
#[doc(hidden)]
pub fn shapes() -> impl Iterator<Item = &'static KernelShape> {
    rows::ROWS.iter().filter(|row| row.formula.is_none()).map(|row| &row.shape)
}

/// The shape in use for keys or elements and values of so many words: of the first row that matches, or of [`with_shape`].
pub fn shape_of(capabilities: &Capabilities, part: TunedPart, words: [u32; 2]) -> KernelShape {
    let row = rows::ROWS.iter().find(|row| row.matches(capabilities, part, words));
    let mut shape = row.expect("the last row of a part matches every device").shape(capabilities);
    for number in capabilities.tuned.iter().filter(|number| number.part == part.name()) {
        if let Some(axis) = part.axes().iter().find(|axis| axis.name() == number.axis) {
            axis.set(&mut shape, number.value);
        }
    }
    shape
}

/// The capabilities of a device for which every policy takes `shape` for `part`, in place of the table's: also the
/// policies of primitives that are parts of others. A plan refuses a shape that it does not support.
pub fn with_shape(capabilities: &Capabilities, part: TunedPart, shape: &KernelShape) -> Capabilities {
    let mut with = capabilities.clone();
    with.tuned.retain(|number| number.part != part.name());
    with.tuned.extend(part.axes().iter().map(|axis| TunedNumber {
        part: part.name(),
        axis: axis.name(),
        value: axis.get(shape),
    }));
    with
}

/// The shape of the last row, for a device that no other row is for: where the limits of a device are lower than the
/// limits of others of its architecture.
pub(crate) fn fallback(capabilities: &Capabilities, part: TunedPart) -> KernelShape {
    let is_last = |row: &&TuningRow| {
        row.parts.contains(&part)
            && matches!(row.condition.devices, Devices::Cpu | Devices::All)
            && row.matches(capabilities, part, [u32::MAX; 2])
    };
    let row = rows::ROWS.iter().find(is_last);
    row.expect("the last row of a part matches every device").shape(capabilities)
}

#[cfg(test)]
pub(super) use tests::h200;
#[cfg(test)]
mod tests;
