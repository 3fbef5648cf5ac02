//! A case on the host, before it has memory on a device.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use super::known::{Arrays, Expectation, Known};
use super::prepared::{Contents, Prepared};
use crate::error::Result;
use crate::harness::cases::{Case, Planned};

/// A plan with input, operands and oracle.
pub(in crate::harness) struct Ready {
    pub(super) prepared: Prepared,
    /// Of the operands.
    pub(super) contents: Contents,
    pub(super) input: Arc<Arrays>,
    known: Arc<Known>,
    expectation: OnceLock<Arc<Expectation>>,
}

impl Ready {
    /// Computes input and operands, as far as they are not known.
    ///
    /// # Errors
    /// Those of [`PrimitiveCase::prepare`](crate::harness::cases::PrimitiveCase::prepare).
    pub fn new(case: &Case, plan: Planned, known: Arc<Known>) -> Result<Self> {
        let input = known.input(case);
        let mut prepared = plan(&known)?;
        let contents = std::mem::take(&mut prepared.needs.operands).0;
        Ok(Self { prepared, contents, input, known, expectation: OnceLock::new() })
    }

    /// Computes the expected result.
    pub fn expected(self) -> Self {
        self.expectation();
        self
    }

    /// The expected result; computed on first use.
    pub(super) fn expectation(&self) -> &Arc<Expectation> {
        self.expectation.get_or_init(|| self.known.expectation(&self.prepared, &self.contents, &self.input))
    }
}

/// `work` on each item, in as many threads as there are cores: inputs and oracles of many cases take longer than the cases.
pub(in crate::harness) fn in_threads<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let thread_count = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || std::iter::from_fn(next).map(|(index, item)| (index, work(item))).collect::<Vec<_>>();
    let mut results = thread::scope(|scope| {
        let threads: Vec<_> = (0..thread_count).map(|_| scope.spawn(work)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Vec<(usize, R)>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join).collect::<Vec<_>>()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<_> = (0..1000).collect();
        assert_eq!(in_threads(items.clone(), |item| item + 1), (1..1001).collect::<Vec<_>>());
        assert!(in_threads(Vec::<u32>::new(), |item| item).is_empty());
    }
}
