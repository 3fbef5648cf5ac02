//! An allocator that measures the peak memory of a thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Runs `work` on `input`. Panics if the thread's additional memory ever exceeded `bound` bytes, requests included.
///
/// A reallocation counts old and new size; a failed request counts as well.
pub fn within<T>(bound: usize, input: &[u8], work: impl FnOnce() -> T) -> T {
    let (result, peak) = peak(work);
    assert!(
        peak <= bound,
        "{peak} bytes were requested, and {bound} are allowed for an input of {} bytes",
        input.len()
    );
    result
}

/// Runs `work`; returns the peak of the thread's additional memory, requests included.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, (PEAK.get() - before) as usize)
}

thread_local! {
    // Signed: a thread may free memory that another has allocated.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// The system allocator with counters.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count_allocation(size: usize) {
    // A thread may allocate and free after its thread-locals are destroyed.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + size as i64);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn count_release(size: usize) {
    let _ = HELD.try_with(|held| held.set(held.get() - size as i64));
}

fn unless_null(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        count_release(size);
    }
    pointer
}

// SAFETY: every call is forwarded unchanged to the system's allocator; counting uses two constant-initialised cells,
// and neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: the caller upholds the contract of the same function.
        unless_null(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size());
        // SAFETY: as above.
        unless_null(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation(size);
        // SAFETY: as above.
        let moved = unless_null(unsafe { System.realloc(pointer, layout, size) }, size);
        if !moved.is_null() {
            count_release(layout.size());
        }
        moved
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_release(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
