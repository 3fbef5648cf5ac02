//! The exchange of elements between all ranks.

use std::ops::Range;

use mpi::Rank;
use mpi::point_to_point::{Destination, Source};
use mpi::request;
use mpi::topology::{Communicator, SimpleCommunicator};

/// What crossed from this rank to others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) size: u64,
    pub(super) message_count: u64,
}

/// An array whose parts go to the ranks: the words of `sent[r]` go to rank r, and the words of `received[r]` come from it.
pub(super) struct Array<'a> {
    pub(super) words: &'a [u32],
    pub(super) sent: Vec<Range<usize>>,
    pub(super) received_words: &'a mut [u32],
    pub(super) received: Vec<Range<usize>>,
}

/// Exchanges all arrays. In each step a rank sends to one other and receives from one, so that none gets messages of all at
/// once, of up to `max_words` words. What stays on a rank is copied.
pub(super) fn exchange(
    communicator: &SimpleCommunicator,
    arrays: &mut [Array<'_>],
    max_words: usize,
) -> Sent {
    let (rank, size) = (communicator.rank() as usize, communicator.size() as usize);
    let mut all = Sent::default();
    for step in 0..size {
        let (to, from) = ((rank + step) % size, (rank + size - step) % size);
        if step == 0 {
            for array in &mut *arrays {
                let own = &array.words[array.sent[rank].clone()];
                array.received_words[array.received[rank].clone()].copy_from_slice(own);
            }
            continue;
        }
        let pieces = |range: &Range<usize>| range.len().div_ceil(max_words);
        let count = arrays.iter().map(|array| pieces(&array.sent[to]) + pieces(&array.received[from])).sum();
        let (to_process, from_process) =
            (communicator.process_at_rank(to as Rank), communicator.process_at_rank(from as Rank));
        request::multiple_scope(count, |scope, requests| {
            for (array, tag) in arrays.iter_mut().zip(0..) {
                let received = &mut array.received_words[array.received[from].clone()];
                for piece in received.chunks_mut(max_words) {
                    requests.add(from_process.immediate_receive_into_with_tag(scope, piece, tag));
                }
                for piece in array.words[array.sent[to].clone()].chunks(max_words) {
                    requests.add(to_process.immediate_send_with_tag(scope, piece, tag));
                    all.size += size_of_val(piece) as u64;
                    all.message_count += 1;
                }
            }
            requests.wait_all(&mut Vec::with_capacity(count));
        });
    }
    all
}
