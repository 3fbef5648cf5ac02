//! Scan operators and their kernels.

use super::config::ScanConfig;
use crate::device::Capabilities;
use crate::error::{Error, Result, refuse_if};
use crate::kernels::{self, Family, Kernel};
use crate::primitives::{ElementType, Functions};

named! {
    /// A built-in associative operator.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum ScanOperator {
        /// Sum; wraps for integers. Identity 0.
        #[default]
        Add = "add",
        /// Product; wraps for integers. Identity 1.
        Mul = "mul",
        /// Minimum. Identity: the greatest number, +∞ for floats.
        Min = "min",
        /// Maximum. Identity: the least number, -∞ for floats.
        Max = "max",
        /// Bitwise and. Identity: all bits. Not for floats.
        And = "and",
        /// Bitwise or. Identity 0. Not for floats.
        Or = "or",
        /// Bitwise exclusive or. Identity 0. Not for floats.
        Xor = "xor",
    }
}

impl ScanOperator {
    /// Whether it supports an element type: bitwise operators do not support floats.
    pub const fn takes(self, element: ElementType) -> bool {
        match self {
            Self::Add | Self::Mul | Self::Min | Self::Max => true,
            Self::And | Self::Or | Self::Xor => !element.is_float(),
        }
    }

    /// Whether it needs `shaderFloat64`. Minimum and maximum of f64 do not.
    pub const fn needs_float64(self, element: ElementType) -> bool {
        matches!((element, self), (ElementType::F64, Self::Add | Self::Mul))
    }

    /// Value of its specialization constant in `glsl/operator/names.glsl`.
    pub(in crate::primitives) const fn constant(self) -> u32 {
        self as u32
    }

    /// Checks that it supports an element type, and the device both.
    pub(in crate::primitives) fn check(
        self,
        element: ElementType,
        capabilities: &Capabilities,
    ) -> Result<()> {
        let reason = "and, or and xor are of whole numbers; take the bits of floats as u32 or u64";
        refuse_if(!self.takes(element), reason)?;
        if self.needs_float64(element) && !capabilities.enabled.shader_float64 {
            let device = capabilities.identity.name.clone();
            let missing = "the feature shaderFloat64, which sums and products of f64 need".into();
            return Err(Error::MissingFeature { device, missing });
        }
        Ok(())
    }
}

/// The kernels of a configuration, and their layout of rows.
#[derive(Debug, Clone)]
pub(super) struct Modules {
    pub(super) reduce: &'static Kernel,
    pub(super) downsweep: &'static Kernel,
    /// The single pass; only for single columns.
    pub(super) chained: Option<&'static Kernel>,
    /// Specialization constants of the operator, and of packed elements.
    pub(super) constants: Vec<(&'static str, u32)>,
    /// Besides these, where results are written.
    pub(super) result_constants: Vec<(&'static str, u32)>,
    pub(super) shape: RowShape,
}

/// Layout of a table's row in kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowShape {
    /// Words of an element: a whole row, or, if `is_strided`, one of its columns.
    pub(super) element_words: u32,
    /// Whether a workgroup scans one column, because a row is too wide for one invocation.
    pub(super) is_strided: bool,
}

impl RowShape {
    /// The layout of rows of `columns` elements of `words` words. Rows of up to 16 bytes are single elements; with
    /// segments only rows of one column.
    pub(super) const fn new(words: u32, columns: u32, is_segmented: bool) -> Self {
        match words.saturating_mul(columns) {
            row_words @ ..=4 if columns == 1 || !is_segmented => {
                Self { element_words: row_words, is_strided: false }
            }
            _ => Self { element_words: words, is_strided: true },
        }
    }

    /// The layout of rows that are single elements of any size.
    pub(super) const fn whole(element_words: u32) -> Self {
        Self { element_words, is_strided: false }
    }

    /// Elements of a pack: the fewest 16-byte quads that hold whole elements.
    pub(super) const fn items_per_pack(self) -> u32 {
        match self.element_words % 4 {
            0 => 1,
            2 => 2,
            _ => 4,
        }
    }
}

impl Modules {
    /// The kernels for rows of `columns` elements, at least one.
    pub(super) fn new(
        element: ElementType,
        operator: ScanOperator,
        columns: u32,
        is_segmented: bool,
    ) -> Self {
        let shape = RowShape::new(element.words(), columns, is_segmented);
        let columns = if shape.is_strided { 1 } else { columns };
        let is_plain = !is_segmented && !shape.is_strided;
        let sums_u32 = is_plain
            && operator == ScanOperator::Add
            && matches!(element, ElementType::U32 | ElementType::I32);
        let of_operator = match element.words() {
            // Separate kernels, since SwiftShader's compiler does not remove code that specialization constants
            // disable: sums in sorts and most scans would take twice as long.
            1 if sums_u32 => None,
            1 => Some("OPERATOR_WORDS32"),
            _ if operator.needs_float64(element) => Some("OPERATOR_FLOAT64"),
            _ => Some("OPERATOR_WORDS64"),
        };
        let is_defined =
            [(of_operator, true), (Some("STRIDED"), shape.is_strided), (Some("HEADED"), is_segmented)];
        let names = is_defined.into_iter().filter_map(|(name, is_defined)| name.filter(|_| is_defined));
        let defines: Vec<_> = names.map(|name| (name, 1)).chain([("COLUMNS", columns)]).collect();
        let constants = match sums_u32 {
            true => Vec::new(),
            false => vec![("OPERATOR", operator.constant()), ("NUMBERS", element.numbers())],
        };
        Self {
            reduce: kernels::SCAN_REDUCE.module(&defines),
            downsweep: kernels::SCAN_DOWNSWEEP.module(&defines),
            chained: kernels::SCAN_CHAINED.find(&defines),
            constants,
            result_constants: Vec::new(),
            shape,
        }
    }

    /// The kernels of packed elements, if a configuration has such.
    pub(super) fn of_packed(self, config: &ScanConfig) -> Self {
        let Some(form) = config.packed() else { return self };
        let defines = [("OPERATOR_WORDS32", 1), ("COLUMNS", 1), ("PACKED_ROWS", 1)];
        Self {
            reduce: kernels::SCAN_REDUCE.module(&defines),
            downsweep: kernels::SCAN_DOWNSWEEP.module(&defines),
            chained: kernels::SCAN_CHAINED.find(&defines),
            constants: [&self.constants[..], &form.constants()].concat(),
            result_constants: vec![("UNPACKED_RESULTS", config.has_unpacked_results.into())],
            ..self
        }
    }
}

impl Modules {
    /// The kernels with functions of the caller.
    pub(super) fn custom(functions: &'static Functions, is_segmented: bool) -> Result<Self> {
        let defines = [("OPERATOR_WORDS32", 1), ("COLUMNS", 1), ("HEADED", 1)];
        let defines = &defines[..if is_segmented { 3 } else { 2 }];
        let kernel = |family: &'static Family| functions.kernel(family.module(defines));
        Ok(Self {
            reduce: kernel(&kernels::SCAN_REDUCE)?,
            downsweep: kernel(&kernels::SCAN_DOWNSWEEP)?,
            chained: None,
            constants: Vec::new(),
            result_constants: Vec::new(),
            shape: RowShape::whole(functions.element_words()),
        })
    }
}

#[cfg(test)]
mod tests;
