//! Work on all cores.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use std::thread;

use subsweep::internal::on_threads;

/// The results of `work` on each item, in their order, by as many threads as there are cores.
pub(super) fn in_threads<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let thread_count = thread::available_parallelism().map_or(1, usize::from);
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let take = |index: usize| items[index].lock().unwrap_or_else(PoisonError::into_inner).take();
    let Ok(results) = on_threads(thread_count, items.len(), |index| {
        Ok::<_, Infallible>(work(take(index).expect("each index is taken once")))
    });
    results
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        // So slow that every thread has some.
        let next = |item| {
            thread::sleep(Duration::from_millis(1));
            item + 1
        };
        assert_eq!(in_threads((0..40).collect(), next), (1..41).collect::<Vec<_>>());
        assert_eq!(in_threads(vec![5], next), [6]);
        assert!(in_threads(Vec::<u32>::new(), |item| item).is_empty());
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
