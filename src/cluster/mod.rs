//! Scans and sorts over many devices: one per process, which exchange by MPI.
//!
//! ```text
//!   rank 0   rows ─► sort on its device ─┐            ┌─► merge ─► the first of the sorted rows
//!   rank 1   rows ─► sort on its device ─┼─ exchange ─┼─► merge ─► those after
//!   …                                    ┘            └─► …
//! ```
//!
//! Every function here is collective: all ranks of the communicator call it, with the same configuration. A failure of one
//! rank is one of all: before the ranks exchange anything, they agree that none has failed.

mod exchange;
mod ranks;
mod reduce;
mod scan;
mod sort;
mod splitters;

use std::ops::Range;

use mpi::Rank;
use mpi::collective::{CommunicatorCollectives, SystemOperation};
use mpi::topology::{Communicator, SimpleCommunicator};

pub use mpi;
pub use scan::{ScanSlice, ScanTimes};
pub use sort::{Indices, SortTraffic};

use crate::error::refuse_if;
use crate::headless::{Gpu, StreamError};
use crate::{ElementType, Error};

/// A device on each rank of a communicator.
pub struct Cluster<'a> {
    /// A duplicate, so that no message of the caller's is taken for one of these.
    communicator: SimpleCommunicator,
    gpu: &'a Gpu,
    merges_on_device: bool,
    has_wide_indices: bool,
    max_message_size: u64,
}

/// Errors of a cluster, on every rank.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// An error of this rank.
    #[error(transparent)]
    Local(#[from] StreamError),
    /// Another rank has failed; this is the lowest that has.
    #[error("rank {rank} has failed")]
    Remote {
        /// The rank.
        rank: Rank,
    },
}

impl From<Error> for ClusterError {
    fn from(error: Error) -> Self {
        Self::Local(error.into())
    }
}

impl<'a> Cluster<'a> {
    /// The ranks of `communicator`, each with its device. Collective. A panic on one rank leaves the others waiting: let it
    /// end the process.
    pub fn new(communicator: &(impl Communicator + ?Sized), gpu: &'a Gpu) -> Self {
        Self {
            communicator: communicator.duplicate(),
            gpu,
            merges_on_device: !gpu.capabilities().is_cpu(),
            has_wide_indices: false,
            max_message_size: 1 << 30,
        }
    }

    /// Sets whether a rank merges what it has received on its device; by default, where that is no CPU. Keys that are compared by some
    /// of their bits are merged on the host.
    pub fn merge_on_device(mut self, merges: bool) -> Self {
        self.merges_on_device = merges;
        self
    }

    /// Makes indices of u64, whatever the number of keys. The same on all ranks.
    pub fn wide_indices(mut self) -> Self {
        self.has_wide_indices = true;
        self
    }

    /// Sets the largest message, bytes; by default 1 GiB, at most 4 GiB. The same on all ranks.
    pub fn max_message_size(mut self, size: u64) -> Self {
        self.max_message_size = size.clamp(4, 4 << 30);
        self
    }

    fn rank(&self) -> usize {
        self.communicator.rank() as usize
    }

    fn size(&self) -> usize {
        self.communicator.size() as usize
    }

    /// The result of a step of this rank, or the error of any. Collective.
    fn agree<T>(&self, own: Result<T, impl Into<ClusterError>>) -> Result<T, ClusterError> {
        let own = own.map_err(Into::into);
        match (first_failed(&self.communicator, own.is_err()), own) {
            (Some(rank), Ok(_)) => Err(ClusterError::Remote { rank }),
            (_, own) => own,
        }
    }

    /// `own` of every rank, in their order.
    fn of_all_ranks(&self, own: &[u64]) -> Vec<u64> {
        let mut all = vec![0; own.len() * self.size()];
        self.communicator.all_gather_into(own, &mut all[..]);
        all
    }

    /// The sums over all ranks.
    fn sum(&self, own: &[u64]) -> Vec<u64> {
        let mut sums = vec![0; own.len()];
        self.communicator.all_reduce_into(own, &mut sums[..], SystemOperation::sum());
        sums
    }
}

/// Fails for elements of 8 and 16 bits, which ranks do not exchange.
fn check_unpacked(element: impl Into<Option<ElementType>>) -> Result<(), Error> {
    let reason = "ranks take types of 32 and 64 bits; convert the elements first";
    refuse_if(element.into().is_some_and(ElementType::is_packed), reason)
}

/// The lowest rank that has failed, on every rank; `None` if none has. Collective.
pub fn first_failed(communicator: &(impl Communicator + ?Sized), has_failed: bool) -> Option<Rank> {
    let own = if has_failed { communicator.rank() } else { Rank::MAX };
    let mut first = Rank::MAX;
    communicator.all_reduce_into(&own, &mut first, SystemOperation::min());
    (first != Rank::MAX).then_some(first)
}

/// The rank among the ranks of the same node, by which each takes a device of its own. Collective.
pub fn rank_on_node(communicator: &(impl Communicator + ?Sized)) -> usize {
    communicator.split_shared(communicator.rank()).rank() as usize
}

/// The elements of `rank`, of `count` that are divided evenly among `size` ranks: none has more than one above another.
pub fn share(count: u64, rank: Rank, size: Rank) -> Range<u64> {
    let begin = |rank: Rank| (u128::from(count) * rank as u128 / size as u128) as u64;
    begin(rank)..begin(rank + 1)
}

#[cfg(test)]
mod tests;
