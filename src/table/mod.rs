//! Floor 4: tables, and what the bytes of a file say of them: `.npy` or raw little-endian elements.
//!
//! The rule of this folder: it opens nothing, and believes nothing. Memory is taken for bytes that
//! are there, never for bytes that a header promises; and all that can be said against some bytes is
//! said as one line.

use std::fmt;

mod element;
mod npy;
mod read;
#[cfg(test)]
mod testing;

pub use crate::ElementType;
pub use read::{Bytes, TableError};

/// The elements of one file, as they lie in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The format that the elements came in, and that they go out in.
    pub format: Format,
    /// The type of every element.
    pub element: ElementType,
    /// How many elements there are, and in how many columns.
    pub shape: Shape,
    /// The elements, row after row, as the file's bytes: `shape.element_count()` elements of
    /// `element.size()` bytes.
    pub words: Vec<u32>,
}

// A table's words are the file's little-endian bytes, uncopied; so the host's order has to be the
// file's.
const _: () =
    assert!(cfg!(target_endian = "little"), "files are little-endian, and elements are not swapped");

/// How a file says what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header with type and shape, then the elements, as `numpy.save` writes them.
    Npy,
    /// Elements and nothing else.
    Raw,
}

/// The extent of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One dimension.
    Flat {
        /// Elements.
        count: usize,
    },
    /// Two dimensions, row after row. One column is not the same as one dimension: the output keeps
    /// the shape.
    Grid {
        /// Rows, perhaps none.
        rows: usize,
        /// Columns, at least one.
        columns: usize,
    },
}

/// What a command takes.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// The types of elements.
    pub elements: &'a [ElementType],
    /// One dimension, or up to two.
    pub max_dimensions: usize,
    /// The most elements.
    pub max_count: u64,
}

impl Table {
    /// What stands before the elements in a file of this format.
    pub fn header(&self) -> Vec<u8> {
        match self.format {
            Format::Npy => npy::header(self.element, self.shape),
            Format::Raw => Vec::new(),
        }
    }

    /// The elements, as they stand in a file.
    pub fn payload(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }
}

impl Shape {
    /// Rows; in one dimension every element is one.
    pub fn rows(self) -> usize {
        match self {
            Shape::Flat { count } => count,
            Shape::Grid { rows, .. } => rows,
        }
    }

    /// Columns; one in one dimension.
    pub fn columns(self) -> usize {
        match self {
            Shape::Flat { .. } => 1,
            Shape::Grid { columns, .. } => columns,
        }
    }

    /// Elements in all. Never overflows for the shape of a [`Table`], whose elements are in memory.
    pub fn element_count(self) -> usize {
        self.rows() * self.columns()
    }
}

/// As numpy prints a shape: `(3,)` or `(3, 2)`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Flat { count } => write!(f, "({count},)"),
            Shape::Grid { rows, columns } => write!(f, "({rows}, {columns})"),
        }
    }
}
