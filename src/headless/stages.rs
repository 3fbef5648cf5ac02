//! Chunks that stream through a device: while the device works on one, the next is filled and the last is drained.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The stages of a stream, on one chunk after the other in the order of filling; `fill` and `drain` run in threads of their
/// own.
pub(super) struct Stages<F, S, W, D> {
    /// Fills a chunk on the host; returns whether it has data. After the first that has none, nothing is filled.
    pub(super) fill: F,
    /// Starts the device's work on a chunk, while that on earlier ones may be in flight.
    pub(super) start: S,
    /// Waits for the device's work on the oldest chunk in flight.
    pub(super) wait: W,
    /// Takes the result of a chunk that was waited for.
    pub(super) drain: D,
}

impl<F, S, W, D> Stages<F, S, W, D> {
    /// Passes `chunks` from stage to stage until no more are filled. Returns the error of the first stage that failed;
    /// a stage after it may have worked on earlier chunks. Dropping a chunk ends the device's work on it.
    pub(super) fn run<C, E>(self, chunks: Vec<C>) -> Result<(), E>
    where
        C: Send,
        E: From<crate::Error> + Send,
        F: FnMut(&mut C) -> Result<bool, E> + Send,
        S: FnMut(&mut C) -> crate::Result<()>,
        W: FnMut(&mut C) -> crate::Result<()>,
        D: FnMut(&mut C) -> Result<(), E> + Send,
    {
        let Self { fill, start, wait, drain } = self;
        let ((free, empty), (filled, full), (done, ended)) = (channel(), channel(), channel());
        for chunk in chunks {
            // The receiver lives: it is `empty`.
            let _ = free.send(chunk);
        }
        thread::scope(|scope| {
            let filling = scope.spawn(move || fill_all(fill, &empty, &filled));
            let draining = scope.spawn(move || drain_all(drain, &ended, &free));
            let working = work_on_all(start, wait, &full, &done);
            // The others end once their channels close.
            drop((full, done));
            let [filling, draining] = [filling, draining]
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            filling.and(working.map_err(E::from)).and(draining)
        })
    }
}

/// A stage whose neighbour has failed ends without an error.
fn fill_all<C, E>(
    mut fill: impl FnMut(&mut C) -> Result<bool, E>,
    empty: &Receiver<C>,
    filled: &Sender<C>,
) -> Result<(), E> {
    while let Ok(mut chunk) = empty.recv() {
        if !fill(&mut chunk)? || filled.send(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

fn drain_all<C, E>(
    mut drain: impl FnMut(&mut C) -> Result<(), E>,
    ended: &Receiver<C>,
    free: &Sender<C>,
) -> Result<(), E> {
    while let Ok(mut chunk) = ended.recv() {
        drain(&mut chunk)?;
        // Nothing is filled any more.
        let _ = free.send(chunk);
    }
    Ok(())
}

fn work_on_all<C>(
    mut start: impl FnMut(&mut C) -> crate::Result<()>,
    mut wait: impl FnMut(&mut C) -> crate::Result<()>,
    full: &Receiver<C>,
    done: &Sender<C>,
) -> crate::Result<()> {
    let mut in_flight = VecDeque::new();
    loop {
        // A filled chunk is started before an earlier one is waited for, so that the device does not idle.
        let next = if in_flight.is_empty() { full.recv().ok() } else { full.try_recv().ok() };
        match next {
            Some(mut chunk) => {
                start(&mut chunk)?;
                in_flight.push_back(chunk);
            }
            None => {
                let Some(mut oldest) = in_flight.pop_front() else { return Ok(()) };
                wait(&mut oldest)?;
                if done.send(oldest).is_err() {
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
