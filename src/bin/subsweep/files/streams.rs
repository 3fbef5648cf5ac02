//! Which standard streams are there at all.
//!
//! Rust's runtime opens the null device in place of a closed one, and from then on closed cannot be told from empty or
//! from unwanted. So this looks before the runtime does.

/// Whether standard input was closed when the program started.
pub fn is_stdin_closed() -> bool {
    was_closed(0)
}

/// Whether standard output was closed when the program started.
pub fn is_stdout_closed() -> bool {
    was_closed(1)
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

    extern "C" fn look() {
        for descriptor in 0..2 {
            // SAFETY: it only asks, and of what is no descriptor it says so.
            if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
                CLOSED.fetch_or(1 << descriptor, Ordering::Relaxed);
            }
        }
    }

    // What this section points to is called before the C `main`, in which Rust's runtime starts.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;
}

#[cfg(not(unix))]
fn was_closed(_: u8) -> bool {
    false
}
