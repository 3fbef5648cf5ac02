//! The boundary between C and the library: catches panics, checks pointers, reads structures of any version.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use ash::vk::Handle;

use super::result::Failure;
use super::vulkan::VkResult;

/// A `Result` whose error is reported to C.
pub(super) type Result<T, E = Failure> = std::result::Result<T, E>;

thread_local! {
    static LAST_ERROR: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// The text of the thread's last failure.
pub(super) fn last_error() -> *const c_char {
    // Unavailable while the thread ends and its locals are destroyed.
    let text = LAST_ERROR.try_with(|last| last.borrow().as_deref().map(CStr::as_ptr));
    text.ok().flatten().unwrap_or(c"".as_ptr())
}

/// Runs the body of a function that returns a VkResult. Allocates only on failure.
pub(super) fn result(body: impl FnOnce() -> Result<()>) -> VkResult {
    run(body).err().unwrap_or(VkResult::SUCCESS)
}

/// Runs the body of a function that returns another type; returns `otherwise` on failure.
pub(super) fn value<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    run(body).unwrap_or(otherwise)
}

fn run<T>(body: impl FnOnce() -> Result<T>) -> Result<T, VkResult> {
    // Unwind safe: plans do not change, and what a device of ours changes stays valid (`headless::lock`).
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
            let failure = Failure::Panic(text.to_owned());
            // Dropping the payload could panic again.
            std::mem::forget(payload);
            failure
        }
    };
    let text = failure.to_string().replace('\0', "?");
    let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = CString::new(text).ok());
    Err(failure.code())
}

/// The value behind a pointer.
///
/// # Safety
/// `pointer` is null or points to a live value that does not change meanwhile.
pub(super) unsafe fn borrow<'a, T>(pointer: *const T, what: &'static str) -> Result<&'a T> {
    // SAFETY: as the caller promises.
    unsafe { pointer.as_ref() }.ok_or(Failure::Null(what))
}

/// The value behind a pointer, mutable.
///
/// # Safety
/// `pointer` is null or points to an initialised, live value that nothing else uses meanwhile.
pub(super) unsafe fn borrow_mut<'a, T>(pointer: *mut T, what: &'static str) -> Result<&'a mut T> {
    // SAFETY: as the caller promises.
    unsafe { pointer.as_mut() }.ok_or(Failure::Null(what))
}

/// A handle that must not be null.
pub(super) fn given<T: Handle + Copy>(handle: T, what: &'static str) -> Result<T> {
    if handle.as_raw() == 0 { Err(Failure::Null(what)) } else { Ok(handle) }
}

/// Writes to an out-parameter, which may be uninitialised: no reference to it is formed.
///
/// # Safety
/// `out` is null or points to aligned, writable memory for a `T` that nothing else uses meanwhile.
pub(super) unsafe fn give<T>(out: *mut T, what: &'static str, value: T) -> Result<()> {
    let out = NonNull::new(out).ok_or(Failure::Null(what))?;
    // SAFETY: as the caller promises.
    unsafe { out.write(value) };
    Ok(())
}

/// Boxes the result of `make` and writes the pointer to `out`; writes null on failure.
///
/// # Safety
/// `out` is as [`give`] takes it.
pub(super) unsafe fn create<T>(
    out: *mut *mut T,
    what: &'static str,
    make: impl FnOnce() -> Result<T>,
) -> Result<()> {
    // SAFETY: as the caller promises.
    unsafe { give(out, what, std::ptr::null_mut()) }?;
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { give(out, what, made) }
}

/// Drops a value that [`create`] returned.
///
/// # Safety
/// `made` is null, or a pointer of [`create`] that is not destroyed yet and no longer used.
pub(super) unsafe fn destroy<T>(made: *mut T) {
    value((), || {
        if !made.is_null() {
            // SAFETY: as the caller promises.
            drop(unsafe { Box::from_raw(made) });
        }
        Ok(())
    });
}

/// A displayed value as a C string.
pub(super) fn words(of: &impl Display) -> CString {
    CString::new(of.to_string()).unwrap_or_default()
}

/// A C string, or `None` for null.
///
/// # Safety
/// `pointer` is null, or a string that ends with a 0 and lives as long as the result.
pub(super) unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a CStr> {
    // SAFETY: as the caller promises.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })
}

/// A structure whose first field is its size. The size identifies its version: later versions only append
/// fields.
///
/// # Safety
/// The type is `repr(C)` and begins with a u32. All zeros are a valid value, and so are any other bytes that C
/// may pass.
pub(super) unsafe trait Versioned: Copy {
    /// The name in C.
    const NAME: &'static str;
    /// Size in the first header that declared the structure: the end of its last field then. A field appended
    /// later must leave no padding before it: no program has set such bytes to 0.
    const FIRST_SIZE: usize;
}

/// Makes a structure [`Versioned`]: the last field of its first header ended there, on 64-bit systems after as many bytes as
/// given. `unsafe` is a promise about its other fields.
macro_rules! versioned {
    (unsafe $structure:ident, $field:ident, $first_size:literal) => {
        // SAFETY: the structure begins with a u32, and its other fields are as the caller promises.
        unsafe impl $crate::capi::boundary::Versioned for $structure {
            const NAME: &'static str = stringify!($structure);
            const FIRST_SIZE: usize = {
                const fn size_of_field<T>(_: fn(&$structure) -> &T) -> usize {
                    size_of::<T>()
                }
                std::mem::offset_of!(Self, $field) + size_of_field(|structure| &structure.$field)
            };
        }

        // Compiled programs pass this size: an appended field must not change it.
        #[cfg(target_pointer_width = "64")]
        const _: () = assert!(<$structure as $crate::capi::boundary::Versioned>::FIRST_SIZE == $first_size);
    };
}
pub(super) use versioned;

/// The buffers of a recording from the fields of their names in C's structure, checked; others are empty.
macro_rules! buffers {
    ($info:ident, $buffers:ident { $($field:ident),* }) => {{
        let mut buffers = $buffers::default();
        $(buffers.$field = $info.$field.checked(stringify!($field))?;)*
        buffers.scratch = $info.scratch.scratch()?;
        buffers
    }};
}
pub(super) use buffers;

/// A configuration with the options whose flags are given.
macro_rules! options {
    ($config:expr, $flags:ident, $($bit:ident => $option:ident $(($argument:expr))?),+) => {{
        let mut config = $config;
        $(if $flags & $bit != 0 {
            config = config.$option($($argument)?);
        })+
        config
    }};
}
pub(super) use options;

/// Upper bound of any structure's size. A larger struct_size was never initialised.
const MAX_STRUCT_SIZE: usize = 4096;

/// Reads a structure of any version. Fields that an older version lacks are 0; bytes beyond this version's size
/// must be 0.
///
/// # Safety
/// `info` is null, or points to as many bytes as its struct_size.
pub(super) unsafe fn read<T: Versioned>(info: *const T) -> Result<T> {
    if info.is_null() {
        return Err(Failure::Null(T::NAME));
    }
    // SAFETY: the structure begins with a u32, as `Versioned` promises.
    let size = unsafe { info.cast::<u32>().read_unaligned() } as usize;
    if !(T::FIRST_SIZE..=MAX_STRUCT_SIZE).contains(&size) {
        return Err(Failure::StructSize { name: T::NAME, got: size, expected: size_of::<T>() });
    }
    // SAFETY: as `Versioned` promises.
    let mut read: T = unsafe { std::mem::zeroed() };
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes are readable, as the caller promises; at most the size of `read` is copied.
    let rest = unsafe {
        std::ptr::copy_nonoverlapping(info.cast::<u8>(), (&raw mut read).cast::<u8>(), known);
        std::slice::from_raw_parts(info.cast::<u8>().add(known), size - known)
    };
    match rest.iter().all(|&byte| byte == 0) {
        true => Ok(read),
        false => Err(Failure::StructSize { name: T::NAME, got: size, expected: size_of::<T>() }),
    }
}

#[cfg(test)]
mod tests;
