//! How much memory a thread holds at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Runs `work` on `input`, and panics if it ever held, or asked for, more than `bound` bytes beside what was there.
///
/// A piece that grows counts twice while it moves, and one that is asked for in vain counts as well.
pub fn within<T>(bound: usize, input: &[u8], work: impl FnOnce() -> T) -> T {
    let (result, peak) = peak(work);
    assert!(peak <= bound, "{peak} bytes were asked for, and {bound} are justified by {}", input.len());
    result
}

/// Runs `work`, and returns the most that this thread held, or asked for, in it beside what was there.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, (PEAK.get() - before) as usize)
}

thread_local! {
    // Signed, because a thread may free what another has taken.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// Counts, and leaves the rest to the system.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn ask(size: usize) {
    // A thread that ends may ask and free after its variables are gone.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + size as i64);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn give_back(size: usize) {
    let _ = HELD.try_with(|held| held.set(held.get() - size as i64));
}

fn unless_null(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() {
        give_back(size);
    }
    place
}

// SAFETY: every call goes to the system's allocator as it came; counting touches two constant-initialised cells, and so
// neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ask(layout.size());
        // SAFETY: the caller keeps to the contract of the same function.
        unless_null(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ask(layout.size());
        // SAFETY: as above.
        unless_null(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ask(size);
        // SAFETY: as above.
        let moved = unless_null(unsafe { System.realloc(place, layout, size) }, size);
        if !moved.is_null() {
            give_back(layout.size());
        }
        moved
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}
