//! Floor 4: tables, read from the bytes of `.npy` files or of raw little-endian elements.
//!
//! The rule of this folder: no file is opened, and input is untrusted. Memory is allocated for bytes that exist, never
//! for bytes that a header promises; every error is one line.

use std::fmt;

mod element;
mod flags;
mod npy;
mod order;
mod promotion;
mod read;
mod reader;
mod remedy;
mod structures;
#[cfg(test)]
mod testing;
mod words;

pub use element::{UNPACKED, conversion, descr, real, whole, words};
pub use flags::Flags;
pub use order::ByRows;
pub use promotion::promoted;
pub use read::{Bytes, TableError};
pub use reader::TableReader;
pub use remedy::one_type;
pub use structures::{NamedField, Structure, Structures};
pub use subsweep::ElementType;
pub use words::{Padded, Trimmed, padded, padded_size, trimmed};

/// The elements of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The format of the input, and of the output.
    pub format: Format,
    /// The type of every element.
    pub element: ElementType,
    /// Rows and columns.
    pub shape: TableShape,
    /// The elements, row after row, little-endian: `shape.element_count()` elements of `element.size()` bytes.
    pub payload: Vec<u8>,
}

// Most files are little-endian, and their elements are used without a copy: the host must be little-endian.
const _: () = assert!(cfg!(target_endian = "little"), "elements are little-endian");

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header with type and shape, then the elements: the format of `numpy.save`.
    Npy,
    /// The same with elements of numpy's bool, which are u8 here; in an output, elements of other types keep their types.
    NpyBool,
    /// Elements without a header.
    Raw,
}

/// The extent of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableShape {
    /// One dimension.
    Flat {
        /// Elements.
        count: usize,
    },
    /// Two dimensions in row-major order. One column differs from one dimension: the output keeps the shape.
    Grid {
        /// Rows; may be 0.
        rows: usize,
        /// Columns, at least one.
        columns: usize,
    },
    /// Three dimensions in row-major order: values of several elements for each element of a table.
    Cube {
        /// Rows; may be 0.
        rows: usize,
        /// Values of a row; may be 0.
        values: usize,
        /// Elements of a value; may be 0.
        columns: usize,
    },
}

/// The tables that a command accepts.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// Accepted element types.
    pub elements: &'a [ElementType],
    /// Maximum number of dimensions: 1 to 3.
    pub max_dimensions: usize,
    /// Maximum number of elements.
    pub max_count: u64,
}

impl Format {
    /// Refuses elements of numpy's bool where arithmetic is done, whose results they would not hold.
    ///
    /// # Errors
    /// [`TableError::Bool`].
    pub fn check_numbers(self) -> Result<(), TableError> {
        if self == Format::NpyBool { Err(TableError::Bool) } else { Ok(()) }
    }
}

impl Table {
    /// The bytes before the elements in a file of this format.
    pub fn header(&self) -> Vec<u8> {
        header(self.format, self.element, self.shape)
    }

    /// A table of u32.
    pub fn of_u32(format: Format, shape: TableShape, numbers: &[u32]) -> Self {
        Self { format, element: ElementType::U32, shape, payload: bytemuck::cast_slice(numbers).to_vec() }
    }
}

/// The bytes before the elements in a file of this format.
pub fn header(format: Format, element: ElementType, shape: TableShape) -> Vec<u8> {
    match format {
        Format::NpyBool if element == ElementType::U8 => npy::header(npy::BOOL, shape),
        Format::Npy | Format::NpyBool => npy::header(&element::descr(element), shape),
        Format::Raw => Vec::new(),
    }
}

impl TableShape {
    /// Rows; every element is a row in one dimension, and every value in three.
    pub fn rows(self) -> usize {
        match self {
            TableShape::Flat { count } => count,
            TableShape::Grid { rows, .. } => rows,
            TableShape::Cube { rows, values, .. } => rows * values,
        }
    }

    /// Columns; one in one dimension.
    pub fn columns(self) -> usize {
        match self {
            TableShape::Flat { .. } => 1,
            TableShape::Grid { columns, .. } | TableShape::Cube { columns, .. } => columns,
        }
    }

    /// Whether it has one dimension.
    pub fn is_flat(self) -> bool {
        matches!(self, TableShape::Flat { .. })
    }

    /// The shape with `rows` in place of the first dimension.
    pub fn with_rows(self, rows: usize) -> Self {
        match self {
            TableShape::Flat { .. } => TableShape::Flat { count: rows },
            TableShape::Grid { columns, .. } => TableShape::Grid { rows, columns },
            TableShape::Cube { values, columns, .. } => TableShape::Cube { rows, values, columns },
        }
    }

    /// The three dimensions; those that are not there are 1.
    fn extents(self) -> [usize; 3] {
        match self {
            TableShape::Flat { count } => [count, 1, 1],
            TableShape::Grid { rows, columns } => [rows, columns, 1],
            TableShape::Cube { rows, values, columns } => [rows, values, columns],
        }
    }

    /// Whether its elements lie in one order row after row, and in another column after column.
    fn has_two_orders(self) -> bool {
        self.extents().into_iter().filter(|&extent| extent > 1).count() > 1
    }

    /// The shape of `width` elements for each element of a table of one or two dimensions.
    pub fn of_values(self, width: usize) -> Self {
        match self {
            TableShape::Flat { count } => TableShape::Grid { rows: count, columns: width },
            _ => TableShape::Cube { rows: self.rows(), values: self.columns(), columns: width },
        }
    }

    /// Whether it has a value for each element of a table of shape `keys`.
    fn is_of_values_of(self, keys: Self) -> bool {
        self == keys || self.columns() > 0 && self == keys.of_values(self.columns())
    }

    /// Number of elements. Never overflows for the shape of a [`Table`], whose elements are in memory.
    pub fn element_count(self) -> usize {
        self.rows() * self.columns()
    }
}

/// The shape as numpy prints it: `(3,)`, `(3, 2)` or `(3, 2, 5)`.
impl fmt::Display for TableShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableShape::Flat { count } => write!(f, "({count},)"),
            TableShape::Grid { rows, columns } => write!(f, "({rows}, {columns})"),
            TableShape::Cube { rows, values, columns } => write!(f, "({rows}, {values}, {columns})"),
        }
    }
}
