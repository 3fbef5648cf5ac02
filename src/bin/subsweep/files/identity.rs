//! Identity of the file behind a path or a standard stream, through links and differing spellings.

use std::path::Path;

use super::{Destination, Source};

/// Identity of a regular file or block device, where writing can harm the data to be read. Pipes, terminals and
/// `/dev/null` have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(Inner);

impl FileId {
    /// The file that `source` reads, if it exists.
    pub fn of_source(source: &Source) -> Option<Self> {
        match source {
            Source::Stdin => of_stdin(),
            Source::File(path) => Self::of_path(path),
        }
    }

    /// The file, pipe or socket that `destination` writes to, if it exists; none for `/dev/null`.
    pub fn of_destination(destination: &Destination) -> Option<Self> {
        of_destination(destination)
    }

    /// The file at `path`, if it exists.
    pub fn of_path(path: &Path) -> Option<Self> {
        of_path(path)
    }

    /// The file behind an open descriptor.
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
use unix::{Inner, of_destination, of_path, of_stdin, of_stdout};

#[cfg(unix)]
mod unix {
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::path::Path;

    use super::{Destination, FileId};

    /// Device and inode.
    pub type Inner = (u64, u64);

    pub fn of_path(path: &Path) -> Option<FileId> {
        of_metadata(&fs::metadata(path).ok()?)
    }

    pub fn of_destination(destination: &Destination) -> Option<FileId> {
        let metadata = match destination {
            Destination::Stdout => metadata_of(io::stdout().as_fd()),
            // Without opening it: opening a named pipe would block until a reader opens it.
            Destination::File(path) => fs::metadata(path).ok(),
        }?;
        (!metadata.file_type().is_char_device()).then(|| id(&metadata))
    }

    pub fn of_stdin() -> Option<FileId> {
        of_metadata(&metadata_of(io::stdin().as_fd())?)
    }

    pub fn of_stdout() -> Option<FileId> {
        of_metadata(&metadata_of(io::stdout().as_fd())?)
    }

    fn metadata_of(descriptor: BorrowedFd<'_>) -> Option<Metadata> {
        // A duplicate, because dropping a `File` closes its descriptor.
        File::from(descriptor.try_clone_to_owned().ok()?).metadata().ok()
    }

    pub fn of_metadata(metadata: &Metadata) -> Option<FileId> {
        let kind = metadata.file_type();
        (kind.is_file() || kind.is_block_device()).then(|| id(metadata))
    }

    fn id(metadata: &Metadata) -> FileId {
        FileId((metadata.dev(), metadata.ino()))
    }
}

#[cfg(not(unix))]
use other::{Inner, of_destination, of_path, of_stdin, of_stdout};

#[cfg(not(unix))]
mod other {
    use std::path::{Path, PathBuf};

    use super::{Destination, FileId};

    /// The canonical path; without inodes, hard links and redirections are not detected.
    pub type Inner = PathBuf;

    pub fn of_path(path: &Path) -> Option<FileId> {
        path.canonicalize().ok().filter(|path| path.is_file()).map(FileId)
    }

    pub fn of_destination(destination: &Destination) -> Option<FileId> {
        match destination {
            Destination::Stdout => None,
            Destination::File(path) => of_path(path),
        }
    }

    pub fn of_stdin() -> Option<FileId> {
        None
    }

    pub fn of_stdout() -> Option<FileId> {
        None
    }
}
