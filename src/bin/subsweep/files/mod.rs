//! Files in, files out: `.npy` or raw little-endian elements, to and from memory.
//!
//! The rule of this floor: it knows no device. All that can be said against an input or an output
//! is said here, before a device is opened, as one line that names the file and says what to do;
//! memory is taken for bytes that are there, never for bytes that a header promises; and an output
//! appears whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

mod element;
mod identity;
pub mod input;
pub mod memory;
mod npy;
pub mod output;
mod streams;
#[cfg(test)]
mod testing;
mod unfinished;

pub use element::ElementType;
pub use input::{Taken, read};
pub use output::Output;

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

/// Where a table comes from. An argument of `-`, `/dev/stdin` or `/dev/fd/0` is standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, a pipe or a device by its path.
    File(PathBuf),
}

/// Where a table goes. An argument of `-`, `/dev/stdout` or `/dev/fd/1` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file, a pipe or a device by its path, or an open descriptor as `/dev/fd/3`.
    File(PathBuf),
}

/// The number of the open descriptor that a path names by itself.
fn descriptor(path: &OsStr) -> Option<i32> {
    match path.to_str()? {
        "/dev/stdin" => Some(0),
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => {
            let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
            number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?
        }
    }
}

impl From<OsString> for Source {
    fn from(argument: OsString) -> Self {
        // Opening `/dev/stdin` anew would fail on a socket, and read a redirected file from its
        // start.
        if argument == "-" || descriptor(&argument) == Some(0) {
            Source::Stdin
        } else {
            Source::File(argument.into())
        }
    }
}

impl From<OsString> for Destination {
    fn from(argument: OsString) -> Self {
        // By its path `/dev/stdout` would resolve to the file behind it, and replace what others
        // wrote there.
        if argument == "-" || descriptor(&argument) == Some(1) {
            Destination::Stdout
        } else {
            Destination::File(argument.into())
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::File(path) => write_path(f, path),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Stdout => f.write_str("standard output"),
            Destination::File(path) => write_path(f, path),
        }
    }
}

/// A path on one line: quoted and escaped where it holds line ends or other control characters, or
/// nothing at all.
fn write_path(f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
    let text = path.to_string_lossy();
    if text.is_empty() || text.chars().any(char::is_control) {
        write!(f, "{text:?}")
    } else {
        f.write_str(&text)
    }
}
