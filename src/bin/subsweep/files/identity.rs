//! Which file a path or a standard stream stands for, through links and differing spellings.

use std::path::Path;

use super::Source;

/// A file that keeps its bytes, so that writing to it can harm what is read from it. Pipes,
/// terminals and `/dev/null` have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(Inner);

impl FileId {
    /// The file that `source` reads, if it is there.
    pub fn of_source(source: &Source) -> Option<Self> {
        match source {
            Source::Stdin => of_stdin(),
            Source::File(path) => Self::of_path(path),
        }
    }

    /// The file at the end of `path`, if it is there.
    pub fn of_path(path: &Path) -> Option<Self> {
        of_path(path)
    }

    /// The file that is open.
    #[cfg(unix)]
    pub fn of_file(file: &std::fs::File) -> Option<Self> {
        unix::of_metadata(&file.metadata().ok()?)
    }

    /// The file that standard output is redirected to, if it is.
    pub fn of_stdout() -> Option<Self> {
        of_stdout()
    }
}

#[cfg(unix)]
use unix::{Inner, of_path, of_stdin, of_stdout};

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::path::Path;

    use super::FileId;

    /// Device and inode.
    pub type Inner = (u64, u64);

    pub fn of_path(path: &Path) -> Option<FileId> {
        of_metadata(&fs::metadata(path).ok()?)
    }

    pub fn of_stdin() -> Option<FileId> {
        of_descriptor(io::stdin().as_fd())
    }

    pub fn of_stdout() -> Option<FileId> {
        of_descriptor(io::stdout().as_fd())
    }

    fn of_descriptor(descriptor: BorrowedFd<'_>) -> Option<FileId> {
        // A duplicate, because dropping a `File` closes its descriptor.
        of_metadata(&File::from(descriptor.try_clone_to_owned().ok()?).metadata().ok()?)
    }

    pub fn of_metadata(metadata: &Metadata) -> Option<FileId> {
        let kind = metadata.file_type();
        (kind.is_file() || kind.is_block_device()).then(|| FileId((metadata.dev(), metadata.ino())))
    }
}

#[cfg(not(unix))]
use other::{Inner, of_path, of_stdin, of_stdout};

#[cfg(not(unix))]
mod other {
    use std::path::{Path, PathBuf};

    use super::FileId;

    /// The path without links; hard links and redirections go unnoticed, where no inode can be
    /// asked for.
    pub type Inner = PathBuf;

    pub fn of_path(path: &Path) -> Option<FileId> {
        path.canonicalize().ok().filter(|path| path.is_file()).map(FileId)
    }

    pub fn of_stdin() -> Option<FileId> {
        None
    }

    pub fn of_stdout() -> Option<FileId> {
        None
    }
}
