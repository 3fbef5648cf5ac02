//! Which library this is.

use std::ffi::c_char;

use super::boundary;

/// What the header is of: it grows by one when a program that was compiled with an older header has to be
/// compiled anew.
pub const SUBSWEEP_ABI_VERSION: u32 = 1;

/// What the library is of: SUBSWEEP_ABI_VERSION of its own header.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn subsweep_abi_version() -> u32 {
    SUBSWEEP_ABI_VERSION
}

/// The library's version, such as "0.1.0". The text is the library's, and stays.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn subsweep_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Why the calling thread's last call that failed did: one line, with numbers, and with advice; "" if none has
/// failed. The text is the library's. It stays until the thread's next call that fails, or its end.
///
/// Threads: any, at any time; each has a text of its own.
#[unsafe(no_mangle)]
pub extern "C" fn subsweep_last_error() -> *const c_char {
    boundary::last_error()
}
