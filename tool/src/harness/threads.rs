//! Work on all cores.

use std::sync::{Mutex, PoisonError};
use std::thread;

use subsweep::internal::on_threads;

/// The results of `work` on each item, in their order, by as many threads as there are cores.
pub(super) fn in_threads<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() < 2 {
        return items.into_iter().map(work).collect();
    }
    let thread_count = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || std::iter::from_fn(next).map(|(index, item)| (index, work(item))).collect::<Vec<_>>();
    let mut results: Vec<_> = on_threads(thread_count, &work).into_iter().flatten().collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
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
}
