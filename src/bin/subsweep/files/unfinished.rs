//! Removes the files that are being written when a signal ends the program.

use std::path::Path;

/// Makes signals that end the program remove what is [`Unfinished`] first, unless they are ignored; and makes a file
/// beyond the allowed size an error of writing instead of a signal.
pub fn handle_signals() {
    imp::handle_signals();
}

/// A file to be removed by a signal, until this is dropped. There are two at a time.
#[derive(Debug)]
pub struct Unfinished {
    _file: imp::Unfinished,
}

impl Unfinished {
    /// The file at `path`, whether it is there yet or not.
    pub fn new(path: &Path) -> Self {
        Self { _file: imp::Unfinished::new(path) }
    }
}

#[cfg(unix)]
mod imp {
    use std::ffi::{CString, c_char, c_int};
    use std::mem;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr;
    use std::sync::Once;
    use std::sync::atomic::{AtomicPtr, Ordering};

    const SIGNALS: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

    /// Each null, or a string that is never freed.
    static PATHS: [AtomicPtr<c_char>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];

    pub fn handle_signals() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the actions are initialised where they are read, and the handler calls nothing but functions that
            // are safe in one.
            unsafe {
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                for signal in SIGNALS {
                    let mut before: libc::sigaction = mem::zeroed();
                    let is_known = libc::sigaction(signal, ptr::null(), &mut before) == 0;
                    // Under nohup, for one, it is ignored, and shall be.
                    if is_known && before.sa_sigaction == libc::SIG_DFL {
                        let mut action: libc::sigaction = mem::zeroed();
                        action.sa_sigaction = remove_and_end as extern "C" fn(c_int) as libc::sighandler_t;
                        action.sa_flags = libc::SA_RESETHAND;
                        libc::sigaction(signal, &action, ptr::null_mut());
                    }
                }
            }
        });
    }

    extern "C" fn remove_and_end(signal: c_int) {
        // SAFETY: both may be called in a handler; a path is null or a string that is never freed.
        unsafe {
            for path in PATHS.each_ref().map(|path| path.load(Ordering::Acquire)) {
                if !path.is_null() {
                    libc::unlink(path);
                }
            }
            // By now its action is the default again: once the handler returns, it ends the program.
            libc::raise(signal);
        }
    }

    #[derive(Debug)]
    pub struct Unfinished(*mut c_char);

    impl Unfinished {
        pub fn new(path: &Path) -> Self {
            // A path with a zero in it cannot be opened either. Leaked, because a handler may be reading it whenever
            // it would be freed: some bytes for each file that is written.
            let path = CString::new(path.as_os_str().as_bytes()).map_or(ptr::null_mut(), CString::into_raw);
            let is_noted = PATHS.iter().any(|slot| replace(slot, ptr::null_mut(), path));
            if !is_noted {
                PATHS[0].store(path, Ordering::Release);
            }
            Self(path)
        }
    }

    impl Drop for Unfinished {
        fn drop(&mut self) {
            // Another may have taken its place.
            PATHS.iter().any(|slot| replace(slot, self.0, ptr::null_mut()));
        }
    }

    fn replace(slot: &AtomicPtr<c_char>, from: *mut c_char, to: *mut c_char) -> bool {
        slot.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

#[cfg(not(unix))]
mod imp {
    use std::path::Path;

    pub fn handle_signals() {}

    #[derive(Debug)]
    pub struct Unfinished;

    impl Unfinished {
        pub fn new(_: &Path) -> Self {
            Self
        }
    }
}
