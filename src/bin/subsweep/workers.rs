//! Cases on all cores: a CPU's driver compiles a pipeline at its first dispatch, on one thread of a device, so that each
//! core has a device of its own.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use anyhow::Result;
use subsweep::harness::{Case, Outcome, verify_case};
use subsweep::headless::Gpu;
use subsweep::vk::PipelineCounts;

use crate::cache::CachedGpu;
use crate::suite::{self, Opened};

/// Cases of more bytes run one at a time: their memory is not there twice.
const LARGE_SIZE: u64 = 4 << 20;

/// One device, opened as often as it has workers.
pub struct Workers<'o> {
    first: &'o Gpu,
    others: Vec<CachedGpu>,
}

impl<'o> Workers<'o> {
    /// A worker for each core where the device is a CPU, but no more than there are cases.
    ///
    /// # Errors
    /// Those of [`Opened::again`].
    pub fn new(opened: &'o Opened, case_count: usize) -> Result<Self, subsweep::Error> {
        let is_cpu = opened.gpu.capabilities().is_cpu();
        let core_count = thread::available_parallelism().map_or(1, usize::from);
        let worker_count = if is_cpu { core_count.min(case_count) } else { 1 };
        let others = (1..worker_count).map(|_| opened.again()).collect::<Result<_, _>>()?;
        Ok(Self { first: &opened.gpu, others })
    }

    fn gpus(&self) -> impl Iterator<Item = &Gpu> {
        std::iter::once(self.first).chain(self.others.iter().map(|gpu| &**gpu))
    }

    /// Pipelines of all workers.
    pub fn pipeline_counts(&self) -> PipelineCounts {
        self.gpus().map(|gpu| gpu.device().pipeline_counts()).fold(
            PipelineCounts::default(),
            |sum, counts| PipelineCounts {
                created: sum.created + counts.created,
                dispatched: sum.dispatched + counts.dispatched,
            },
        )
    }

    /// Verifies `cases`, and gives `ended` the index and the outcome of each as it ends, in any order.
    ///
    /// # Errors
    /// The first of a device that [`verify_case`] gives up, or of `ended`; no case begins after it.
    pub fn verify(&self, cases: &[Case], mut ended: impl FnMut(usize, &Outcome) -> Result<()>) -> Result<()> {
        let shares = Shares::new(cases.len(), 1 + self.others.len());
        let (is_over, large) = (AtomicBool::new(false), Mutex::new(()));
        let (sender, outcomes) = mpsc::channel();
        let work = |worker: usize, gpu: &Gpu, sender: mpsc::Sender<_>| {
            while !is_over.load(Ordering::Relaxed)
                && let Some(index) = shares.take(worker)
            {
                let case = &cases[index];
                let is_large = case.size() > LARGE_SIZE;
                let _alone = is_large.then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let outcome = match suite::lacking_memory(gpu, case) {
                    Some(reason) => Ok(Outcome::NotSupported(reason)),
                    None => verify_case(gpu, case),
                };
                // The receiver waits for the last sender.
                let _ = sender.send((index, outcome));
            }
        };
        thread::scope(|scope| {
            for (worker, gpu) in self.gpus().enumerate() {
                let (work, sender) = (&work, sender.clone());
                scope.spawn(move || work(worker, gpu, sender));
            }
            drop(sender);
            let mut result = Ok(());
            for (index, outcome) in outcomes {
                if result.is_ok() {
                    result = outcome.map_err(Into::into).and_then(|outcome| ended(index, &outcome));
                    is_over.store(result.is_err(), Ordering::Relaxed);
                }
            }
            result
        })
    }
}

/// A list in parts that lie together, one for each worker: neighbours in the list share pipelines. A worker that has done
/// its part takes half of what is left of the longest.
struct Shares(Mutex<Vec<Range<usize>>>);

impl Shares {
    fn new(count: usize, worker_count: usize) -> Self {
        let bound = |worker| count * worker / worker_count;
        Self(Mutex::new((0..worker_count).map(|worker| bound(worker)..bound(worker + 1)).collect()))
    }

    fn take(&self, worker: usize) -> Option<usize> {
        let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shares[worker].is_empty() {
            let longest = (0..shares.len()).max_by_key(|&other| shares[other].len())?;
            let Range { start, end } = shares[longest];
            let middle = start + (end - start) / 2;
            shares[longest].end = middle;
            shares[worker] = middle..end;
        }
        shares[worker].next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_taken_once() {
        for (count, worker_count) in [(0, 1), (1, 3), (10, 1), (10, 3), (101, 8)] {
            let shares = Shares::new(count, worker_count);
            // The last worker does nothing before the others have ended.
            let mut taken: Vec<_> = (0..worker_count)
                .flat_map(|worker| std::iter::from_fn(|| shares.take(worker)).collect::<Vec<_>>())
                .collect();
            taken.sort_unstable();
            assert_eq!(taken, (0..count).collect::<Vec<_>>(), "{worker_count} workers");
        }
    }

    #[test]
    fn workers_begin_apart() {
        let shares = Shares::new(100, 2);
        assert_eq!([0, 1, 0, 1].map(|worker| shares.take(worker)), [Some(0), Some(50), Some(1), Some(51)]);
    }
}
