//! Threads of a scope.

use std::panic;
use std::thread::{self, Builder, ScopedJoinHandle};

/// Runs `work` on some threads, including the caller's. Returns the result of each.
pub fn on_threads<T: Send>(thread_count: usize, work: &(impl Fn() -> T + Sync)) -> Vec<T> {
    thread::scope(|scope| {
        // If a thread cannot be spawned, the others do its work.
        let threads: Vec<_> =
            (1..thread_count).map_while(|_| Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut done = vec![work()];
        let join = |thread: ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
        };
        done.extend(threads.into_iter().map(join));
        done
    })
}
