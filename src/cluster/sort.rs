//! Sort over all ranks: a local sort, exact splitters, one exchange, and a merge of what has come.

use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::cast_slice_mut;
use mpi::collective::{CommunicatorCollectives, SystemOperation};

use super::exchange::{Array, exchange};
use super::splitters::{Counts, SortedKeys};
use super::{Cluster, ClusterError, check_unpacked};
use crate::error::{Error, Result, refuse_if};
use crate::headless::{GpuBuffer, KeyOrder, merge_parts, zeroed};
use crate::primitives::Number;
use crate::sort::{SortConfig, ValueSize};

/// The least memory of a merge's blocks, bytes.
const MIN_MERGE_MEMORY: u64 = 16 << 20;

/// What a sort has exchanged, and the time of its phases on this rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SortTraffic {
    /// Bytes of keys and values that this rank has sent to others.
    pub sent_size: u64,
    /// Messages that have carried them.
    pub message_count: u64,
    /// Keys that this rank has received, its own included.
    pub received_count: u64,
    /// Rounds of counting that have found the splitters.
    pub round_count: u32,
    /// Bytes that this rank has contributed to the sums of those rounds.
    pub counted_size: u64,
    /// Time of the local sort.
    pub sort_time: Duration,
    /// Time until the splitters were found, waiting for other ranks included.
    pub splitter_time: Duration,
    /// Time of the exchange, waiting for other ranks included.
    pub exchange_time: Duration,
    /// Time of the merge.
    pub merge_time: Duration,
}

/// The index among all keys that each sorted key had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indices {
    /// Of up to 2^32 keys.
    U32(Vec<u32>),
    /// Of more.
    U64(Vec<u64>),
}

impl Cluster<'_> {
    /// Sorts the keys of all ranks in place, as if they were one array: the keys of rank 0, then of rank 1, and so on. Each
    /// rank keeps as many as it had. Stable; the result does not depend on the number of ranks. The form of the
    /// configuration has no effect. On error `keys` is undefined.
    ///
    /// # Errors
    /// [`ClusterError::Local`] with the errors of [`Gpu::sort`](crate::headless::Gpu::sort), or [`Error::OutOfHostMemory`] for
    /// the memory of another copy of the keys; [`ClusterError::Remote`].
    pub fn sort<N: Number>(&self, config: SortConfig, keys: &mut [N]) -> Result<SortTraffic, ClusterError> {
        self.agree(check_type::<N>(&config))?;
        self.sort_words(config, bytemuck::cast_slice_mut(keys), &mut [])
    }

    /// As [`Self::sort`], for keys and values of any type and size as 32-bit words in memory order. `values` is empty for keys
    /// alone.
    ///
    /// # Errors
    /// Errors of [`Self::sort`]; [`Error::Unsupported`] for an argsort.
    pub fn sort_words(
        &self,
        config: SortConfig,
        keys: &mut [u32],
        values: &mut [u32],
    ) -> Result<SortTraffic, ClusterError> {
        let indices = refuse_if(config.begins_as_indices(), "Cluster::sort_with_indices makes indices");
        self.agree(indices.and_then(|()| check_unpacked(config.key_type())))?;
        let config = config.with_keys();
        let start = Instant::now();
        let sorted = self
            .gpu
            .prepare_sort(config, cast_slice_mut(keys), cast_slice_mut(values))
            .and_then(|sort| sort.run());
        let traffic = SortTraffic { sort_time: start.elapsed(), ..SortTraffic::default() };
        self.agree(sorted)?;
        self.merge_all(config, keys, values, traffic)
    }

    /// As [`Self::sort`], and returns the index that each key had among the keys of all ranks. For an argsort or keys with
    /// indices; both sort `keys` as well.
    ///
    /// # Errors
    /// Errors of [`Self::sort`]; [`Error::Unsupported`] for another configuration.
    pub fn sort_with_indices(
        &self,
        config: SortConfig,
        keys: &mut [u32],
    ) -> Result<(Indices, SortTraffic), ClusterError> {
        let config = config.with_keys();
        let start = Instant::now();
        let mut sort = || -> Result<_> {
            refuse_if(!config.begins_as_indices(), "Cluster::sort_with_indices takes an argsort")?;
            check_unpacked(config.key_type())?;
            let mut indices = zeroed::<u32>(keys.len() / key_words(&config))?;
            self.gpu.prepare_sort(config, cast_slice_mut(keys), cast_slice_mut(&mut indices))?.run()?;
            Ok(indices)
        };
        let sorted = sort();
        let traffic = SortTraffic { sort_time: start.elapsed(), ..SortTraffic::default() };
        let mut indices = self.agree(sorted)?;
        let counts = self.of_all_ranks(&[indices.len() as u64]);
        let base: u64 = counts[..self.rank()].iter().sum();
        if counts.iter().sum::<u64>() <= 1 << 32 && !self.has_wide_indices {
            indices.iter_mut().for_each(|index| *index += base as u32);
            let traffic = self.merge_all(config.carrying(ValueSize::B4), keys, &mut indices, traffic)?;
            return Ok((Indices::U32(indices), traffic));
        }
        let mut wide = self.agree(zeroed::<u64>(indices.len()))?;
        wide.iter_mut().zip(indices).for_each(|(wide, index)| *wide = base + u64::from(index));
        let words = bytemuck::cast_slice_mut(&mut wide);
        let traffic = self.merge_all(config.carrying(ValueSize::B8), keys, words, traffic)?;
        Ok((Indices::U64(wide), traffic))
    }

    /// As [`Self::sort_words`], for the first `count` keys and values in buffers of the device. All of them cross host
    /// memory twice, to be exchanged. On error the buffers are undefined.
    ///
    /// # Errors
    /// Errors of [`Self::sort_words`]; [`Error::RangeTooSmall`], [`Error::ForeignDevice`].
    pub fn sort_buffers(
        &self,
        config: SortConfig,
        keys: &mut GpuBuffer,
        mut values: Option<&mut GpuBuffer>,
        count: u64,
    ) -> Result<SortTraffic, ClusterError> {
        let indices = refuse_if(config.begins_as_indices(), "Cluster::sort_with_indices makes indices");
        self.agree(indices.and_then(|()| check_unpacked(config.key_type())))?;
        let config = config.with_keys();
        let start = Instant::now();
        let mut read = || -> Result<_> {
            self.gpu.sort_buffers(config, keys, values.as_deref_mut(), count)?;
            let words = |size: u64| (count * size / 4) as usize;
            let keys = self.gpu.read(keys, words(config.key_size()))?;
            let values = values.as_deref().map(|values| self.gpu.read(values, words(config.value_size())));
            Ok((keys, values.transpose()?.unwrap_or_default()))
        };
        let read = read();
        let traffic = SortTraffic { sort_time: start.elapsed(), ..SortTraffic::default() };
        let (mut key_words, mut value_words) = self.agree(read)?;
        let traffic = self.merge_all(config, &mut key_words, &mut value_words, traffic)?;
        let write = || -> Result<()> {
            self.gpu.upload(keys, 0, &key_words)?;
            values.as_deref().map_or(Ok(()), |values| self.gpu.upload(values, 0, &value_words))
        };
        self.agree(write())?;
        Ok(traffic)
    }

    /// Merges keys that each rank has sorted.
    fn merge_all(
        &self,
        config: SortConfig,
        keys: &mut [u32],
        values: &mut [u32],
        mut traffic: SortTraffic,
    ) -> Result<SortTraffic, ClusterError> {
        if self.size() == 1 {
            traffic.received_count = keys.len() as u64 / (config.key_size() / 4);
            return Ok(traffic);
        }
        let order = KeyOrder::new(&config);
        let words = [config.key_size(), config.value_size()].map(|size| size as usize / 4);
        let count = keys.len() / words[0];
        let start = Instant::now();

        // Each rank ends with as many keys as it began with.
        let counts = self.of_all_ranks(&[count as u64]);
        let targets: Vec<u64> = (1..self.size()).map(|rank| counts[..rank].iter().sum()).collect();
        let sorted = SortedKeys {
            count,
            order: |index: usize| match words[0] {
                1 => order.rank(keys[index]),
                _ => order
                    .rank(bytemuck::pod_read_unaligned::<u64>(bytemuck::cast_slice(&keys[2 * index..][..2]))),
            },
            bits: config.bit_range().len() as u32,
        };
        let mut counting = Counting { cluster: self, size: 0 };
        let (borders, rounds) = sorted.divided(&targets, &mut counting);
        (traffic.round_count, traffic.counted_size) = (rounds, counting.size);
        let sent = parts(borders.into_iter().chain([count]));
        let lengths: Vec<u64> = sent.iter().map(|part| part.len() as u64).collect();
        let mut received = vec![0u64; self.size()];
        self.communicator.all_to_all_into(&lengths[..], &mut received[..]);
        let ends = received.iter().scan(0, |end, length| {
            *end += *length as usize;
            Some(*end)
        });
        let received = parts(ends);
        traffic.received_count = received.iter().map(|part| part.len() as u64).sum();
        traffic.splitter_time = start.elapsed();

        let start = Instant::now();
        let memory = [keys.len(), values.len()].map(zeroed::<u32>);
        let [received_keys, received_values] = memory;
        let mut memory = self.agree(received_keys.and_then(|keys| Ok([keys, received_values?])))?;
        let [received_keys, received_values] = &mut memory;
        let scaled = |parts: &[Range<usize>], words: usize| {
            parts.iter().map(|part| part.start * words..part.end * words).collect()
        };
        let array = |(from, to, words)| Array {
            words: from,
            sent: scaled(&sent, words),
            received_words: to,
            received: scaled(&received, words),
        };
        let mut arrays =
            [(&*keys, &mut received_keys[..], words[0]), (&*values, received_values, words[1])].map(array);
        let crossed = exchange(&self.communicator, &mut arrays, (self.max_message_size / 4) as usize);
        (traffic.sent_size, traffic.message_count) = (crossed.size, crossed.message_count);
        traffic.exchange_time = start.elapsed();

        let start = Instant::now();
        let from = memory.each_ref().map(Vec::as_slice);
        let memory_size = (size_of_val(from[0]) + size_of_val(from[1])) as u64;
        let memory_size = memory_size.max(MIN_MERGE_MEMORY);
        // The parts that have come are in the order of their ranks.
        let to = [&mut *keys, &mut *values];
        let merged = merge_parts(self.gpu, &config, from, &received, to, memory_size, self.merges_on_device);
        traffic.merge_time = start.elapsed();
        self.agree(merged).map(|()| traffic)
    }
}

/// Ranges that end at each of `ends`, one after the other.
fn parts(ends: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut start = 0;
    ends.into_iter().map(|end| std::mem::replace(&mut start, end)..end).collect()
}

fn key_words(config: &SortConfig) -> usize {
    config.key_size() as usize / 4
}

fn check_type<N: Number>(config: &SortConfig) -> Result<()> {
    let expected = config.key_type();
    if N::TYPE == expected {
        check_unpacked(expected)
    } else {
        Err(Error::ElementMismatch { expected, got: N::TYPE })
    }
}

/// The sums of counts, and their size.
struct Counting<'a, 'b> {
    cluster: &'a Cluster<'b>,
    size: u64,
}

impl Counts for Counting<'_, '_> {
    fn sum(&mut self, own: &[u64]) -> Vec<u64> {
        self.size += size_of_val(own) as u64;
        self.cluster.sum(own)
    }

    fn sum_before(&mut self, own: &[u64]) -> Vec<u64> {
        self.size += size_of_val(own) as u64;
        let mut sums = vec![0; own.len()];
        let operation = SystemOperation::sum();
        self.cluster.communicator.exclusive_scan_into(own, &mut sums[..], operation);
        // What rank 0 receives is undefined.
        if self.cluster.rank() == 0 { vec![0; own.len()] } else { sums }
    }
}
