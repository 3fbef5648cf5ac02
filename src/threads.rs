//! Work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{iter, panic, thread};

/// The results of `work` on each index below `count`, in order, by up to `thread_count` threads with the caller's.
///
/// # Errors
/// The error of the least index that fails. No thread takes an index after an error; those taken before are finished.
pub fn on_threads<T: Send, E: Send>(
    thread_count: usize,
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let done: Vec<Mutex<Option<Result<T, E>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    run(thread_count.min(count), &|| {
        let mut indices = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        while let Some((index, done)) = indices.next().and_then(|index| Some((index, done.get(index)?))) {
            let result = work(index).inspect_err(|_| next.store(count, Ordering::Relaxed));
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    });
    done.into_iter().flat_map(|done| done.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Runs `work` on some threads, including the caller's. Compiled once, whatever the work.
fn run(thread_count: usize, work: &(dyn Fn() + Sync)) {
    thread::scope(|scope| {
        // If a thread cannot be spawned, the others do its work.
        let threads: Vec<_> =
            (1..thread_count).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        work();
        for thread in threads {
            thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        }
    });
}
