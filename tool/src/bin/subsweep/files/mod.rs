//! File input and output of tables and reports.
//!
//! The rule of this folder: nothing here knows a device. Problems of inputs and outputs are reported before a device is
//! opened, on one line that names the file and the remedy. An output appears whole or not at all. The formats of tables
//! are [`subsweep_tool::table`]'s.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

mod chunks;
mod identity;
pub mod input;
mod job;
#[cfg(target_os = "linux")]
pub mod memory;
pub mod output;
mod spool;
mod streams;
mod temporary;
mod unfinished;

#[cfg(not(target_os = "linux"))]
pub mod memory {
    /// What the allocator keeps is its own matter.
    pub fn return_freed() {}

    /// The size is not known here.
    pub fn available() -> Option<u64> {
        None
    }
}

pub use chunks::{ROWS_AND_RESULTS, check_arrays, chunk_size, zeroed};
pub use input::{
    Compared, MAX_HEADER, ROW_NUMBERS, check_numbers, column_count, open_table, open_values, read,
    read_bytes, read_compared, read_flags, read_row_numbers, read_structures, read_values, read_values_of,
    read_with_raw, row_length, row_words,
};
pub use job::Job;
pub use output::{BegunOutput, Output, Outputs, Spooled, finish_all};
pub use spool::{Spool, TemporaryFolder};

/// The source of a table. An argument of `-`, `/dev/stdin` or `/dev/fd/0` is standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, a pipe or a device by its path.
    File(PathBuf),
}

impl Source {
    /// The size of a regular file by its path, bytes.
    pub fn file_size(&self) -> Option<u64> {
        let Self::File(path) = self else { return None };
        if identity::is_device(path) {
            return None;
        }
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
    }
}

/// The destination of a table. An argument of `-`, `/dev/stdout` or `/dev/fd/1` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file, a pipe or a device by its path, or an open descriptor as `/dev/fd/3`.
    File(PathBuf),
}

/// The open descriptor that a path names.
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
        // Opening `/dev/stdin` again would fail on a socket, and read a redirected file from its start.
        if argument == "-" || descriptor(&argument) == Some(0) {
            Source::Stdin
        } else {
            Source::File(argument.into())
        }
    }
}

impl From<OsString> for Destination {
    fn from(argument: OsString) -> Self {
        // The path `/dev/stdout` would resolve to the redirected file, and replace earlier output in it.
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

/// Writes a path on one line; an empty one or one with control characters is quoted and escaped.
fn write_path(f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
    let text = path.to_string_lossy();
    if text.is_empty() || text.chars().any(char::is_control) {
        write!(f, "{text:?}")
    } else {
        f.write_str(&text)
    }
}

/// `numpy.arange(6, dtype='<u4').reshape(3, 2)`, as numpy wrote it.
#[cfg(test)]
const GRID: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/table/fixtures/grid.npy"));
