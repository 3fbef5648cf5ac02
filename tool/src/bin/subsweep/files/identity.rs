//! Identity of the file behind a path or a standard stream, through links and differing spellings.

#[cfg(unix)]
use std::fs::File;
use std::fs::{self, FileType};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use same_file::Handle;

use super::{Source, streams};

/// The file that `source` reads, if writing can harm it.
pub fn of_source(source: &Source) -> Option<Handle> {
    match source {
        Source::Stdin => kept(Handle::stdin()),
        Source::File(path) => of_path(path),
    }
}

/// The file that standard output is redirected to, if it is.
pub fn of_stdout() -> Option<Handle> {
    kept(Handle::stdout())
}

/// The file behind an open descriptor.
#[cfg(unix)]
pub fn of_file(file: &File) -> Option<Handle> {
    kept(file.try_clone().and_then(Handle::from_file))
}

/// The file at `path`, if it exists and is readable. A pipe is not opened, as that would block until a writer opens it.
pub fn of_path(path: &Path) -> Option<Handle> {
    if is_device(path) {
        // A query of its metadata would be a client of a pipe of Windows, which may take one only.
        return None;
    }
    let kind = fs::metadata(path).ok()?.file_type();
    if is_kept(kind) { Handle::from_path(path).ok() } else { None }
}

/// Device and number of the pipe at `path`, each of whose bytes has one reader.
pub fn of_pipe(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    return fs::metadata(path)
        .ok()
        .filter(|metadata| metadata.file_type().is_fifo())
        .map(|metadata| (metadata.dev(), metadata.ino()));
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Whether `path` is a character device such as `/dev/null`, or on Windows any device or named pipe.
pub fn is_device(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device());
    #[cfg(windows)]
    {
        use std::path::{Component, Prefix};

        // The system itself says which names are device names: `NUL`, before Windows 11 in any folder, is `\\.\NUL`.
        let absolute = std::path::absolute(path).unwrap_or_default();
        matches!(absolute.components().next(), Some(Component::Prefix(prefix))
            if matches!(prefix.kind(), Prefix::DeviceNS(_)))
    }
}

fn kept(handle: io::Result<Handle>) -> Option<Handle> {
    let handle = handle.ok()?;
    let kind = streams::metadata(handle.as_file())?.file_type();
    is_kept(kind).then_some(handle)
}

/// Whether a file keeps what is written: a regular one or a block device, and no pipe, terminal or `/dev/null`.
fn is_kept(kind: FileType) -> bool {
    #[cfg(unix)]
    return kind.is_file() || kind.is_block_device();
    #[cfg(not(unix))]
    kind.is_file()
}
