//! What the tests beside this file share: bytes that numpy wrote, and a count of the memory that a
//! thread asks for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// `numpy.arange(3, dtype='<u4')`.
pub const FLAT: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }                                                            \n\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00";

/// The same in versions 2.0 and 3.0, less the byte with the version.
pub const FLAT_LONG: (&[u8], &[u8]) = (
    b"\x93NUMPY",
    b"\x00t\x00\x00\x00{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }                                                          \n\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00",
);

/// `numpy.arange(6, dtype='<u4').reshape(3, 2)`.
pub const GRID: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2), }                                                          \n\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00";

/// `numpy.asfortranarray` of that.
pub const GRID_BY_COLUMNS: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': True, 'shape': (3, 2), }                                                           \n\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00\x05\x00\x00\x00";

/// `numpy.zeros((0, 4), dtype='<u4')`.
pub const NO_ROWS: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (0, 4), }                                                          \n";

/// `numpy.array(7, dtype='<u4')`.
pub const SCALAR: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (), }                                                              \n\x07\x00\x00\x00";

/// `numpy.arange(2, dtype='>u4')`.
pub const BIG_ENDIAN: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '>u4', 'fortran_order': False, 'shape': (2,), }                                                            \n\x00\x00\x00\x00\x00\x00\x00\x01";

/// `numpy.zeros(1, dtype=[('a', '<u4'), ('b', '<f4', (2,))])`.
pub const STRUCTURED: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': [('a', '<u4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (1,), }                               \n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";

/// A file of version 1.0 with this dictionary and payload, not padded.
pub fn npy(text: &str, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &size[..], text.as_bytes(), payload].concat()
}

/// A file of version 1.0 with this type and shape.
pub fn npy_of(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    npy(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"), payload)
}

/// Runs `work`, and returns the size of the largest piece of memory that this thread asked for in
/// it.
pub fn largest_allocation<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LARGEST.set(0);
    let result = work();
    (result, LARGEST.get())
}

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

struct Watched;

#[global_allocator]
static WATCHED: Watched = Watched;

fn watch(size: usize) {
    // A thread that ends may free and ask again after its variables are gone.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call goes to the system's allocator as it came; watching touches one
// constant-initialised cell, and so neither allocates nor unwinds.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        watch(layout.size());
        // SAFETY: the caller keeps to the contract of the same function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        watch(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        watch(size);
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}
