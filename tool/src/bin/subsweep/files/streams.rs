//! Detection of closed standard streams.
//!
//! Rust's runtime opens the null device for a closed stream, and from then on a closed one looks empty. So the streams
//! are checked before the runtime starts.

use std::fs::{File, Metadata};
use std::io::{self, Seek};

/// Whether standard input was closed when the program started.
pub fn is_stdin_closed() -> bool {
    was_closed(0)
}

/// Whether standard output was closed when the program started.
pub fn is_stdout_closed() -> bool {
    was_closed(1)
}

/// Standard input as a file, without a buffer.
pub fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    return std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(File::from);
    #[cfg(windows)]
    return std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned().map(File::from);
}

/// The metadata of an open file; none of a pipe or a device on Windows, where it would be the metadata of a regular file.
pub fn metadata(file: &File) -> Option<Metadata> {
    #[cfg(windows)]
    if !winapi_util::file::typ(file).is_ok_and(|kind| kind.is_disk()) {
        return None;
    }
    file.metadata().ok()
}

/// Bytes from the position of a regular file to its end; `None` for a pipe or a device.
pub fn rest(mut file: &File) -> Option<u64> {
    let metadata = metadata(file).filter(Metadata::is_file)?;
    metadata.len().checked_sub(file.stream_position().ok()?)
}

#[cfg(unix)]
use unix::was_closed;

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicU8, Ordering};

    /// A bit for each descriptor.
    static CLOSED: AtomicU8 = AtomicU8::new(0);

    pub fn was_closed(descriptor: u8) -> bool {
        CLOSED.load(Ordering::Relaxed) & 1 << descriptor != 0
    }

    extern "C" fn record_closed() {
        for descriptor in 0..2 {
            // SAFETY: `fcntl` only queries; it fails for a closed descriptor.
            if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
                CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
            }
        }
    }

    // Functions in this section are called before the C `main`, which starts Rust's runtime.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static RECORD_CLOSED: extern "C" fn() = record_closed;
}

#[cfg(not(unix))]
fn was_closed(_: u8) -> bool {
    false
}
