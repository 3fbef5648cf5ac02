//! Work on several threads.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// The results of `work` on each index below `count`, in their order, by up to `thread_count` threads, the caller's among
/// them.
///
/// # Errors
/// The error of the least index that fails. After an error no thread takes another index; those below it were taken before, and
/// are finished.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_indices() {
        for (thread_count, count) in [(0, 3), (1, 3), (4, 0), (4, 1), (4, 40)] {
            let squares = on_threads(thread_count, count, |index| Ok::<_, ()>(index * index)).unwrap();
            assert_eq!(squares, (0..count).map(|index| index * index).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_error_is_that_of_the_least_index_and_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let ended = on_threads(4, 4000, |index| {
            begun.fetch_add(1, Ordering::Relaxed);
            // The error of the least index comes last.
            thread::sleep(Duration::from_millis(if index == 7 { 20 } else { 1 }));
            if matches!(index, 7 | 9) { Err(index) } else { Ok(()) }
        });
        assert_eq!(ended, Err(7));
        assert!(begun.into_inner() < 2000);
    }
}
