//! What stands between C and the library: panics end here, pointers are looked at, and structures come in all sizes.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use ash::vk::Handle;

use super::result::Failure;
use super::vulkan::VkResult;

/// `Result` of what C is told of.
pub(super) type Result<T, E = Failure> = std::result::Result<T, E>;

thread_local! {
    static LAST_ERROR: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// The text of the thread's last failure.
pub(super) fn last_error() -> *const c_char {
    // A thread that ends has given its text up.
    let text = LAST_ERROR.try_with(|last| last.borrow().as_deref().map(CStr::as_ptr));
    text.ok().flatten().unwrap_or(c"".as_ptr())
}

/// Runs a function's body. Nothing is allocated, unless it fails.
pub(super) fn result(body: impl FnOnce() -> Result<()>) -> VkResult {
    run(body).err().unwrap_or(VkResult::SUCCESS)
}

/// The same for a function that returns something else: `otherwise` if it fails.
pub(super) fn value<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    run(body).unwrap_or(otherwise)
}

fn run<T>(body: impl FnOnce() -> Result<T>) -> Result<T, VkResult> {
    // What a panic has left half done is inside of plans, which recording does not change.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no words");
            let failure = Failure::Panic(text.to_owned());
            // Whatever else it may be, dropping it could panic again.
            std::mem::forget(payload);
            failure
        }
    };
    let text = failure.to_string().replace('\0', "?");
    let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = CString::new(text).ok());
    Err(failure.code())
}

/// What a pointer points to.
///
/// # Safety
/// It is null, or points to a value that lives and does not change meanwhile.
pub(super) unsafe fn borrow<'a, T>(pointer: *const T, what: &'static str) -> Result<&'a T> {
    // SAFETY: as the caller promises.
    unsafe { pointer.as_ref() }.ok_or(Failure::Null(what))
}

/// What a pointer points to, to be changed.
///
/// # Safety
/// It is null, or points to a value, and not to memory that has none yet, which lives and which nobody else
/// uses meanwhile.
pub(super) unsafe fn borrow_mut<'a, T>(pointer: *mut T, what: &'static str) -> Result<&'a mut T> {
    // SAFETY: as the caller promises.
    unsafe { pointer.as_mut() }.ok_or(Failure::Null(what))
}

/// A handle that must not be null.
pub(super) fn given<T: Handle + Copy>(handle: T, what: &'static str) -> Result<T> {
    if handle.as_raw() == 0 { Err(Failure::Null(what)) } else { Ok(handle) }
}

/// Writes into memory of C's, which may hold no value before: no reference to it is formed.
///
/// # Safety
/// `out` is null, or points to aligned memory for a `T` that may be written and that nobody else uses
/// meanwhile.
pub(super) unsafe fn give<T>(out: *mut T, what: &'static str, value: T) -> Result<()> {
    let out = NonNull::new(out).ok_or(Failure::Null(what))?;
    // SAFETY: as the caller promises.
    unsafe { out.write(value) };
    Ok(())
}

/// Gives C what `make` makes, or null if it fails.
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

/// Takes back what [`create`] gave, and drops it.
///
/// # Safety
/// `made` is null, or of [`create`] and not yet taken back, and nobody uses it any more.
pub(super) unsafe fn destroy<T>(made: *mut T) {
    value((), || {
        if !made.is_null() {
            // SAFETY: as the caller promises.
            drop(unsafe { Box::from_raw(made) });
        }
        Ok(())
    });
}

/// Words for C.
pub(super) fn words(of: &impl Display) -> CString {
    CString::new(of.to_string()).unwrap_or_default()
}

/// A text of C's, or none.
///
/// # Safety
/// It is null, or ends with a 0 and lives as long as the result.
pub(super) unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a CStr> {
    // SAFETY: as the caller promises.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })
}

/// A structure that begins with its own size, which tells its version: later ones only append.
///
/// # Safety
/// It is `repr(C)`, begins with a u32, all zeros are a value of it, and so are any other bytes that C may give.
pub(super) unsafe trait Versioned: Copy {
    /// Its name in C.
    const NAME: &'static str;
    /// Its size in the first header that had it: the end of the field that was the last one there, whatever has
    /// been appended since. A later field leaves no padding before it, which no program has set to 0.
    const FIRST_SIZE: usize;
}

/// No structure becomes larger: a size beyond it is one that nobody has set.
const MAX_STRUCT_SIZE: usize = 4096;

/// Reads a structure of any version: what an older one lacks is 0, and of what a newer one has more, all must
/// be 0.
///
/// # Safety
/// `info` is null, or points to as many bytes as the u32 there says.
pub(super) unsafe fn read<T: Versioned>(info: *const T) -> Result<T> {
    if info.is_null() {
        return Err(Failure::Null(T::NAME));
    }
    // SAFETY: it begins with a u32, as `Versioned` promises.
    let size = unsafe { info.cast::<u32>().read_unaligned() } as usize;
    if !(T::FIRST_SIZE..=MAX_STRUCT_SIZE).contains(&size) {
        return Err(Failure::StructSize { name: T::NAME, got: size, expected: size_of::<T>() });
    }
    // SAFETY: as `Versioned` promises.
    let mut read: T = unsafe { std::mem::zeroed() };
    let known = size.min(size_of::<T>());
    // SAFETY: as the caller promises, there are `size` bytes to be read; and `read` has as many as are copied.
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
mod tests {
    use super::*;

    fn told() -> String {
        // SAFETY: the text stays until this thread's next failure.
        unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap().to_owned()
    }

    fn refuse(what: &'static str) {
        assert_eq!(result(|| Err(Failure::Null(what))).as_raw(), super::super::SUBSWEEP_ERROR_NULL);
    }

    #[test]
    fn a_panic_ends_here_and_is_told() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let code = result(|| panic!("no {} here", "way"));
        let worth = value(7, || std::panic::panic_any(3u64));
        std::panic::set_hook(hook);
        assert_eq!(code.as_raw(), super::super::SUBSWEEP_ERROR_PANIC);
        assert_eq!(worth, 7);
        assert!(told().contains("no words"), "{}", told());
        refuse("a \0 pointer");
        assert!(told().contains("a ? pointer"), "{}", told());
    }

    #[test]
    fn a_text_stays_until_the_next_failure_of_its_thread() {
        assert_eq!(told(), "");
        refuse("the first");
        assert_eq!(result(|| Ok(())), VkResult::SUCCESS);
        let other = std::thread::spawn(|| {
            refuse("the other");
            told()
        });
        assert!(other.join().unwrap().contains("the other"));
        assert!(told().contains("the first"));
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Two {
        struct_size: u32,
        first: u32,
        second: u32,
    }

    // SAFETY: three u32.
    unsafe impl Versioned for Two {
        const NAME: &'static str = "Two";
        const FIRST_SIZE: usize = 8;
    }

    #[test]
    fn older_and_newer_structures_are_read() {
        let read = |words: &[u32]| {
            // SAFETY: there are as many bytes as the first word says, or it is refused for it.
            unsafe { read(words.as_ptr().cast::<Two>()) }.map(|two| (two.first, two.second))
        };
        assert_eq!(read(&[8, 5, 9]).unwrap(), (5, 0));
        assert_eq!(read(&[12, 5, 9]).unwrap(), (5, 9));
        assert_eq!(read(&[20, 5, 9, 0, 0]).unwrap(), (5, 9));
        for words in [&[0, 5, 9, 0, 0], &[4, 5, 9, 0, 0], &[20, 5, 9, 0, 1], &[u32::MAX, 0, 0, 0, 0]] {
            let refused = read(words);
            assert!(matches!(refused, Err(Failure::StructSize { expected: 12, .. })), "{refused:?}");
        }
        // SAFETY: null is refused.
        assert!(matches!(unsafe { super::read::<Two>(std::ptr::null()) }, Err(Failure::Null("Two"))));
    }
}
