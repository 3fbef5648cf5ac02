//! Versions of the ABI and of the library.

use std::ffi::c_char;

use super::boundary;

/// The ABI version of the header. It increases when programs compiled with an older header must be recompiled.
pub const SUBSWEEP_ABI_VERSION: u32 = 1;

/// The ABI version of the library: the SUBSWEEP_ABI_VERSION of its own header.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn subsweep_abi_version() -> u32 {
    SUBSWEEP_ABI_VERSION
}

/// The library's version, such as "0.1.0". A static string, owned by the library.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn subsweep_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The message of the calling thread's last failed call: one line with numbers and advice; "" if none has
/// failed. The string is owned by the library and valid until the thread's next failure, or its end.
///
/// Threads: any, at any time; each has its own message.
#[unsafe(no_mangle)]
pub extern "C" fn subsweep_last_error() -> *const c_char {
    boundary::last_error()
}
