//! Kernels of a reduction, and the layout of rows in them.

use super::config::Operation;
use super::policy::ReducePolicy;
use crate::error::Result;
use crate::kernels::{self, Kernel};
use crate::primitives::packed::PackedForm;
use crate::primitives::scan::ScanOperator;

/// The kernels of an operation.
#[derive(Debug, Clone)]
pub(super) struct Modules {
    /// Tiles.
    pub(super) reduce: &'static Kernel,
    /// Segments, from the sums of groups; none for indices.
    pub(super) segments: Option<&'static Kernel>,
    /// Specialization constants of the operator, and of packed elements.
    pub(super) constants: Vec<(&'static str, u32)>,
}

impl Modules {
    pub(super) fn new(operation: Operation, packed_source: Option<PackedForm>) -> Result<Self> {
        // Both indices are found by the order of minima.
        let (operator, element, index_count) = match operation {
            Operation::BuiltIn(operator, element) => (operator, element, 0),
            Operation::Index(operator, element) => (operator, element, 1),
            Operation::BothIndices(element) => (ScanOperator::Min, element, 2),
            Operation::Custom(functions) => {
                let reduce = kernels::REDUCE_REDUCE.module(&[("OPERATOR_WORDS32", 1), ("COLUMNS", 4)]);
                let segments = kernels::REDUCE_SEGMENTS.module(&[("OPERATOR_WORDS32", 1), ("COLUMNS", 1)]);
                return Ok(Self {
                    reduce: functions.kernel(reduce)?,
                    segments: Some(functions.kernel(segments)?),
                    constants: Vec::new(),
                });
            }
        };
        let of_operator = match element.words() {
            1 => "OPERATOR_WORDS32",
            _ if operator.needs_float64(element) => "OPERATOR_FLOAT64",
            _ => "OPERATOR_WORDS64",
        };
        let defines = [(of_operator, 1), ("COLUMNS", 4 / element.words()), ("ARG", 1), ("BOTH", 1)];
        let is_packed = usize::from(packed_source.is_some());
        let mut constants = vec![("OPERATOR", operator.constant()), ("NUMBERS", element.numbers())];
        constants.extend(packed_source.into_iter().flat_map(PackedForm::constants));
        Ok(Self {
            reduce: kernels::REDUCE_REDUCE
                .module(&[&defines[..2 + index_count], &[("PACKED", 1)][..is_packed]].concat()),
            segments: kernels::REDUCE_SEGMENTS
                .find(&[(of_operator, 1), ("COLUMNS", 1), ("PACKED_ROWS", 1)][..2 + is_packed])
                .filter(|_| index_count == 0),
            constants,
        })
    }
}

/// Layout of rows in `reduce.comp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowShape {
    /// Values in a pack of 16 bytes; a caller's element is a pack.
    pub(super) pack_values: u32,
    /// Columns that a workgroup reduces at once.
    pub(super) flat_columns: u32,
    /// Workgroups for each tile, each for one column.
    pub(super) column_count: u32,
    /// Whether operators need not commute.
    pub(super) is_custom: bool,
}

impl RowShape {
    /// The layout of rows of `columns` values. Rows that divide a pack are flat, except in segments.
    pub(super) const fn new(operation: &Operation, columns: u32, is_segmented: bool) -> Self {
        let (pack_values, is_custom) = match operation {
            Operation::BuiltIn(_, element)
            | Operation::Index(_, element)
            | Operation::BothIndices(element) => (4 / element.words(), false),
            Operation::Custom(_) => (1, true),
        };
        let is_flat = columns == 1 || (!is_segmented && columns > 0 && pack_values.is_multiple_of(columns));
        let (flat_columns, column_count) = if is_flat { (columns, 1) } else { (1, columns) };
        Self { pack_values, flat_columns, column_count, is_custom }
    }

    /// Rows of a pack.
    pub(super) const fn pack_rows(self) -> u32 {
        self.pack_values / self.flat_columns
    }

    /// Whether workgroups reduce single columns of rows with several.
    pub(super) const fn is_by_column(self) -> bool {
        self.column_count > 1
    }

    /// Whether packs may be accessed by quads.
    pub(super) const fn takes_quads(self) -> bool {
        !self.is_by_column() && !self.is_custom
    }

    /// Specialization constants of a tile; `interleave` invocations load neighbouring packs, where operators commute.
    pub(super) fn constants(self, packs_per_invocation: u32, interleave: u32) -> Vec<(&'static str, u32)> {
        vec![
            ("PACKS_PER_INVOCATION", packs_per_invocation),
            ("INTERLEAVE", if self.is_custom { 1 } else { interleave }),
            ("FLAT_COLUMNS", self.flat_columns),
            ("BY_COLUMN", self.is_by_column().into()),
        ]
    }

    /// Rows of a tile of `packs_per_invocation` packs.
    pub(super) const fn tile_rows(self, packs_per_invocation: u32) -> u32 {
        ReducePolicy::WORKGROUP_SIZE * packs_per_invocation * self.pack_rows()
    }
}

#[cfg(test)]
mod tests;
