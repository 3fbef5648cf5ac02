//! Verification on all cores. A CPU's driver compiles a pipeline at its first dispatch, on one thread of a device; so
//! each core has a device of its own.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use subsweep::device::PipelineCounts;
use subsweep::headless::Gpu;
use subsweep_tool::harness::{Case, Outcome, verify_case};

use crate::cache::CachedGpu;
use crate::suite::{self, Opened};

/// Larger cases run one at a time, to bound memory.
const LARGE_SIZE: u64 = 4 << 20;

/// Limit of workers: each device of a CPU's driver starts a thread for each core, so that more devices only compete.
const MAX_WORKERS: usize = 8;

/// Interval of progress events while nothing begins or ends.
const TICK: Duration = Duration::from_millis(250);

/// Progress of a case, by its index.
#[derive(Debug)]
pub enum Event {
    /// A worker has begun the case.
    Begun(usize),
    /// The case has ended.
    Ended(usize, Outcome),
    /// Nothing has begun or ended during the interval.
    Tick,
}

/// A device that is opened once for each worker.
pub struct Workers<'o> {
    first: &'o Gpu,
    others: Vec<CachedGpu>,
    /// Compiler threads of the first device, restored when dropped.
    threads: NonZeroUsize,
}

impl<'o> Workers<'o> {
    /// Workers for a device: for a CPU one for each core, up to [`MAX_WORKERS`], the number of cases, and the number of
    /// times that the device can be opened; otherwise one. Each of several compiles on one thread.
    pub fn new(opened: &'o Opened, case_count: usize) -> Self {
        let core_count = thread::available_parallelism().map_or(1, usize::from);
        let is_cpu = opened.gpu.capabilities().is_cpu();
        let others: Vec<_> =
            (1..worker_count(is_cpu, core_count, case_count)).map_while(|_| opened.again().ok()).collect();
        let workers = Self { first: &opened.gpu, others, threads: opened.gpu.device().pipeline_threads() };
        if !workers.others.is_empty() {
            workers.gpus().for_each(|gpu| gpu.device().set_pipeline_threads(NonZeroUsize::MIN));
        }
        workers
    }

    fn gpus(&self) -> impl Iterator<Item = &Gpu> {
        std::iter::once(self.first).chain(self.others.iter().map(|gpu| &**gpu))
    }

    /// Sum of the workers' pipeline counts.
    pub fn pipeline_counts(&self) -> PipelineCounts {
        self.gpus().map(|gpu| gpu.device().pipeline_counts()).fold(
            PipelineCounts::default(),
            |sum, counts| PipelineCounts {
                created: sum.created + counts.created,
                dispatched: sum.dispatched + counts.dispatched,
            },
        )
    }

    /// Verifies `cases`, and reports the progress of each, in any order.
    ///
    /// # Errors
    /// The first error of [`verify_case`] or of `report`; no case begins after it.
    pub fn verify(&self, cases: &[Case], mut report: impl FnMut(Event) -> Result<()>) -> Result<()> {
        let shares = Shares::new(cases.len(), 1 + self.others.len());
        let (is_over, large) = (AtomicBool::new(false), Mutex::new(()));
        let (sender, receiver) = mpsc::channel();
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
                // The receiver outlives all senders.
                let _ = sender.send(Ok(Event::Begun(index)));
                let outcome = match suite::lacking_memory(gpu, case) {
                    Some(reason) => Ok(Outcome::NotSupported(reason)),
                    None => verify_case(gpu, case),
                };
                let _ = sender.send(outcome.map(|outcome| Event::Ended(index, outcome)));
            }
        };
        thread::scope(|scope| {
            for (worker, gpu) in self.gpus().enumerate() {
                let (work, sender) = (&work, sender.clone());
                scope.spawn(move || work(worker, gpu, sender));
            }
            drop(sender);
            let mut result = Ok(());
            loop {
                let reported = match receiver.recv_timeout(TICK) {
                    Err(RecvTimeoutError::Disconnected) => return result,
                    _ if result.is_err() => continue,
                    Err(RecvTimeoutError::Timeout) => report(Event::Tick),
                    Ok(Ok(event)) => report(event),
                    Ok(Err(error)) => Err(error.into()),
                };
                result = reported;
                is_over.store(result.is_err(), Ordering::Relaxed);
            }
        })
    }
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        self.first.device().set_pipeline_threads(self.threads);
    }
}

/// Useful number of workers; a device other than a CPU runs one case at a time.
fn worker_count(is_cpu: bool, core_count: usize, case_count: usize) -> usize {
    if is_cpu { core_count.min(case_count).clamp(1, MAX_WORKERS) } else { 1 }
}

/// A list split into contiguous parts, one for each worker, as neighbours share pipelines. A worker that has finished
/// its part takes half of the longest rest.
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
    fn cpus_have_a_worker_for_each_core_up_to_a_limit() {
        assert_eq!(worker_count(false, 64, 1000), 1);
        assert_eq!([1, 2, 8, 64].map(|cores| worker_count(true, cores, 1000)), [1, 2, 8, MAX_WORKERS]);
        assert_eq!([0, 1, 3].map(|cases| worker_count(true, 4, cases)), [1, 1, 3]);
    }

    #[test]
    fn each_case_is_taken_once() {
        for (count, worker_count) in [(0, 1), (1, 3), (10, 1), (10, 3), (101, 8)] {
            let shares = Shares::new(count, worker_count);
            // The last worker takes nothing before the others have ended.
            let mut taken: Vec<_> = (0..worker_count)
                .flat_map(|worker| std::iter::from_fn(|| shares.take(worker)).collect::<Vec<_>>())
                .collect();
            taken.sort_unstable();
            assert_eq!(taken, (0..count).collect::<Vec<_>>(), "{worker_count} workers");
        }
    }

    #[test]
    fn workers_begin_at_their_own_parts() {
        let shares = Shares::new(100, 2);
        assert_eq!([0, 1, 0, 1].map(|worker| shares.take(worker)), [Some(0), Some(50), Some(1), Some(51)]);
    }
}
