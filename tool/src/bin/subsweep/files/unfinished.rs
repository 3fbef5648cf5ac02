//! Removal of temporary files when a signal ends the program.

#[cfg(all(test, windows))]
pub use imp::remove_and_end;
pub use imp::{Unfinished, handle_signals, remove_unfinished};

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

    /// Paths of files; each is null, or a string that is never freed.
    static PATHS: [AtomicPtr<c_char>; 2] = [const { AtomicPtr::new(ptr::null_mut()) }; 2];

    /// Installs handlers for signals that end the program and are not ignored: they remove [`Unfinished`] files first.
    /// Also makes a file over the size limit a write error instead of a signal.
    pub fn handle_signals() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the actions are initialised before they are read, and the handler calls only async-signal-safe
            // functions.
            unsafe {
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                for signal in SIGNALS {
                    let mut before: libc::sigaction = mem::zeroed();
                    let is_known = libc::sigaction(signal, ptr::null(), &mut before) == 0;
                    // An ignored signal stays ignored, as under nohup.
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
        remove_unfinished();
        // SAFETY: `raise` is async-signal-safe.
        unsafe {
            // SA_RESETHAND has restored the default action, which ends the program once the handler returns.
            libc::raise(signal);
        }
    }

    /// Removes the [`Unfinished`] files, before the program ends without a teardown. Called by signal handlers.
    pub fn remove_unfinished() {
        for path in PATHS.each_ref().map(|path| path.load(Ordering::Acquire)) {
            if !path.is_null() {
                // SAFETY: `unlink` is async-signal-safe; the string is never freed.
                unsafe { libc::unlink(path) };
            }
        }
    }

    /// A file that a signal removes, until this is dropped. At most two exist at a time.
    #[derive(Debug)]
    pub struct Unfinished(*mut c_char);

    // SAFETY: the string is neither freed nor written.
    unsafe impl Send for Unfinished {}

    impl Unfinished {
        /// The file at `path`, whether it exists yet or not.
        pub fn new(path: &Path) -> Self {
            // A path with a NUL cannot be opened either. The string is leaked, because a handler may read it at any
            // time: some bytes for each file that is written.
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
            // The slot may hold another file by now.
            PATHS.iter().any(|slot| replace(slot, self.0, ptr::null_mut()));
        }
    }

    fn replace(slot: &AtomicPtr<c_char>, from: *mut c_char, to: *mut c_char) -> bool {
        slot.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

#[cfg(windows)]
mod imp {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, MutexGuard, Once, PoisonError};

    use windows_sys::Win32::Foundation::STATUS_CONTROL_C_EXIT;
    use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
    use windows_sys::Win32::System::Threading::ExitProcess;
    use windows_sys::core::BOOL;

    static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    fn paths() -> MutexGuard<'static, Vec<PathBuf>> {
        PATHS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ctrl-C, Ctrl-Break and the end of the console or the session; Windows knows no other signals.
    pub fn handle_signals() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handler is a function, and may be called by any thread.
            unsafe { SetConsoleCtrlHandler(Some(remove_and_end), 1) };
        });
    }

    /// Called by a thread that the system starts.
    pub unsafe extern "system" fn remove_and_end(_: u32) -> BOOL {
        remove_unfinished();
        // SAFETY: it takes any code. The default handler ends the program in the same way, but not Wine's, whose code is 0.
        unsafe { ExitProcess(STATUS_CONTROL_C_EXIT as u32) }
    }

    /// Removes the [`Unfinished`] files; one that is still open is removed once the program has ended.
    pub fn remove_unfinished() {
        paths().iter().for_each(|path| drop(fs::remove_file(path)));
    }

    /// A file that the end of the console or the session removes, until this is dropped.
    #[derive(Debug)]
    pub struct Unfinished(PathBuf);

    impl Unfinished {
        /// The file at `path`, whether it exists yet or not.
        pub fn new(path: &Path) -> Self {
            paths().push(path.to_owned());
            Self(path.to_owned())
        }
    }

    impl Drop for Unfinished {
        fn drop(&mut self) {
            paths().retain(|path| *path != self.0);
        }
    }
}
