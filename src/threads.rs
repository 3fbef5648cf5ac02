//! Work on several threads.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// The results of `work` on each index below `count`, in their order, by up to `thread_count` threads, the caller's among
/// them.
///
/// # Errors
/// That of the least index of those that fail: the ones before it were begun, and end. No thread begins another.
pub fn on_threads<T: Send, E: Send>(
    thread_count: usize,
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let done: Vec<Mutex<Option<Result<T, E>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        Some((index, done.get(index)?))
    };
    run(thread_count.min(count), &|| {
        while let Some((index, done)) = take() {
            let result = work(index);
            if result.is_err() {
                next.store(count, Ordering::Relaxed);
            }
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    });
    let results = done.into_iter().map(|done| done.into_inner().unwrap_or_else(PoisonError::into_inner));
    results.flatten().collect()
}

/// Runs `work` on some threads, including the caller's. Compiled once, whatever the work.
fn run(thread_count: usize, work: &(dyn Fn() + Sync)) {
    thread::scope(|scope| {
        // If a thread cannot be spawned, the others do its work.
        let threads: Vec<_> =
            (1..thread_count).map_while(|_| Builder::new().spawn_scoped(scope, work).ok()).collect();
        work();
        for thread in threads {
            thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        }
    });
}
