//! What an output fails with, and the remedy.

use std::io;

/// An output error: one line with the file's name and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{output}: {problem}")]
pub struct OutputError {
    /// The file, or "standard output".
    pub output: String,
    /// The problem.
    pub problem: OutputProblem,
}

/// Problems of an output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputProblem {
    /// The output is a terminal; elements and reports are not for one.
    #[error("is a terminal; name a file, or redirect")]
    Terminal,
    /// Standard output is closed.
    #[error("is closed; name a file, or redirect")]
    Closed,
    /// The path is a directory.
    #[error("is a directory; name a file in it")]
    Directory,
    /// The path ends with a separator and names no file.
    #[error("ends with / and names no file; name a file in it")]
    NoFile,
    /// The path names an alternate data stream, which no rename replaces.
    #[cfg(windows)]
    #[error("names a stream of a file; name a file")]
    Stream,
    /// The path is empty.
    #[error("is no path; name a file with {option}")]
    NoName {
        /// The option that has this value.
        option: &'static str,
    },
    /// The file is also an input.
    #[error("is also the input {input}; name another file")]
    IsInput {
        /// The input, as given.
        input: String,
    },
    /// An existing file, pipe or device cannot be written.
    #[error("cannot be written ({0}); check its permissions, or name another file")]
    Existing(io::Error),
    /// The path does not resolve.
    #[error("cannot be reached ({0}); check the path")]
    Unreachable(io::Error),
    /// No file can be created in the directory.
    #[error(
        "no file can be made in its directory ({}); check that it exists and is writable, or name another file",
        of_folder(.0)
    )]
    Folder(io::Error),
    /// The disk or quota is full. An existing file is unchanged.
    #[error("could not be written ({0}); free some space, or name another file")]
    NoRoom(io::Error),
    /// The file would exceed the size limit. An existing file is unchanged.
    #[error("could not be written ({0}); raise the limit (ulimit -f), or name another file")]
    TooLarge(io::Error),
    /// Writing failed. An existing file is unchanged.
    #[error("could not be written ({0})")]
    Write(io::Error),
    /// Windows replaces no file that another program has opened without sharing it.
    #[cfg(windows)]
    #[error("could not be written ({0}); close the program that has it open, or name another file")]
    InUse(io::Error),
    /// The reader has closed the pipe; no message is printed.
    #[error("was closed by its reader")]
    BrokenPipe,
}

/// An error of the directory; not found while creating a file means the directory itself.
fn of_folder(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such directory".to_owned(),
        _ => error.to_string(),
    }
}

impl OutputProblem {
    /// The problem of a failed write.
    pub fn writing(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoRoom(error),
            io::ErrorKind::FileTooLarge => Self::TooLarge(error),
            _ => Self::Write(error),
        }
    }
}
