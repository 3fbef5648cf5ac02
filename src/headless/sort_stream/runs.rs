//! Sorted runs in temporary files, and in memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::order::{KeyBits, KeyOrder};

/// The least distance of the keys whose order is kept in memory.
pub(super) const SAMPLE_DISTANCE: u64 = 1024;
/// Most keys that a search reads at a time.
const SEARCHED: u64 = 1024;
/// Indices that are made wide at a time.
const INDEX_BLOCK: usize = 1 << 16;
/// The arrays of a run, as indices of pairs.
pub(super) const KEYS: usize = 0;
pub(super) const VALUES: usize = 1;

/// Sorted keys and their values.
#[derive(Debug)]
pub(super) struct Run<'a> {
    storage: Storage<'a>,
    count: u64,
    /// Bytes of a key, and of a value.
    sizes: [u64; 2],
    /// The order of each key at a multiple of `distance`.
    samples: Vec<u64>,
    distance: u64,
}

#[derive(Debug)]
enum Storage<'a> {
    /// Keys and then values, from byte `start` of a file on.
    File { file: Arc<File>, start: u64 },
    /// Keys, and values.
    #[cfg_attr(not(feature = "mpi"), expect(dead_code, reason = "ranks merge in memory"))]
    Memory([&'a [u8]; 2]),
}

/// A place in the order of all keys: a key's order, the index of its run, and its index there.
pub(super) type Place = (u64, usize, u64);

impl<'a> Run<'a> {
    /// A run of `count` keys, to be written from byte `start` of `file` on, with a sample in every `distance` keys.
    pub(super) fn new(file: &Arc<File>, start: u64, count: u64, sizes: [u64; 2], distance: u64) -> Self {
        let storage = Storage::File { file: Arc::clone(file), start };
        Self { storage, count, sizes, samples: Vec::new(), distance }
    }

    /// A run of these keys and values, which are complete.
    #[cfg(feature = "mpi")]
    pub(super) fn in_memory<K: KeyBits>(arrays: [&'a [u8]; 2], value_size: u64, order: &KeyOrder) -> Self {
        let keys = arrays[KEYS].chunks_exact(size_of::<K>());
        let count = keys.len() as u64;
        let samples = keys.step_by(SAMPLE_DISTANCE as usize);
        let samples = samples.map(|key| order.rank(bytemuck::pod_read_unaligned::<K>(key))).collect();
        let sizes = [size_of::<K>() as u64, value_size];
        Self { storage: Storage::Memory(arrays), count, sizes, samples, distance: SAMPLE_DISTANCE }
    }

    /// The byte after the run in its file.
    pub(super) fn end(&self) -> u64 {
        self.offset(VALUES, self.count)
    }

    /// The byte of an element in the file, or of an array in memory in itself.
    fn offset(&self, array: usize, index: u64) -> u64 {
        let start = match (&self.storage, array) {
            (Storage::Memory(_), _) => 0,
            (Storage::File { start, .. }, KEYS) => *start,
            (Storage::File { start, .. }, _) => start + self.count * self.sizes[KEYS],
        };
        start + index * self.sizes[array]
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn distance(&self) -> u64 {
        self.distance
    }

    /// Drops every second sample.
    pub(super) fn halve_samples(&mut self) {
        let mut index = 0;
        self.samples.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.samples.shrink_to_fit();
        self.distance *= 2;
    }

    /// Writes keys from index `first` on. Called in order.
    pub(super) fn write_keys<K: KeyBits>(
        &mut self,
        first: u64,
        keys: &[K],
        order: &KeyOrder,
    ) -> io::Result<()> {
        let next = (self.samples.len() as u64 * self.distance - first) as usize;
        let sampled = keys.iter().skip(next).step_by(self.distance as usize);
        let all = self.count.div_ceil(self.distance) as usize;
        self.samples.try_reserve_exact(all.saturating_sub(self.samples.len()))?;
        self.samples.extend(sampled.map(|&key| order.rank(key)));
        self.write(KEYS, first, bytemuck::cast_slice(keys))
    }

    /// Writes values from index `first` on.
    pub(super) fn write_values(&self, first: u64, values: &[u8]) -> io::Result<()> {
        self.write(VALUES, first, values)
    }

    /// Writes indices from index `first` on, each increased by `base`.
    pub(super) fn write_indices(&self, first: u64, indices: &[u32], base: u64) -> io::Result<()> {
        for (block, first) in indices.chunks(INDEX_BLOCK).zip((first..).step_by(INDEX_BLOCK)) {
            let wide = block.iter().map(|&index| base + u64::from(index));
            let bytes: Vec<u8> = match self.sizes[VALUES] {
                4 => wide.flat_map(|index| (index as u32).to_ne_bytes()).collect(),
                _ => wide.flat_map(u64::to_ne_bytes).collect(),
            };
            self.write_values(first, &bytes)?;
        }
        Ok(())
    }

    fn write(&self, array: usize, first: u64, bytes: &[u8]) -> io::Result<()> {
        match &self.storage {
            Storage::File { file, .. } => write_at(file, bytes, self.offset(array, first)),
            Storage::Memory(_) => unreachable!("a run in memory is complete"),
        }
    }

    /// Reads elements of one of the arrays, as bytes, from index `first` on.
    pub(super) fn read(&self, array: usize, first: u64, bytes: &mut [u8]) -> io::Result<()> {
        let offset = self.offset(array, first);
        match &self.storage {
            Storage::File { file, .. } => read_at(file, bytes, offset)?,
            Storage::Memory(arrays) => {
                bytes.copy_from_slice(&arrays[array][offset as usize..][..bytes.len()])
            }
        }
        Ok(())
    }

    fn read_keys<K: KeyBits>(&self, first: u64, keys: &mut [K]) -> io::Result<()> {
        self.read(KEYS, first, bytemuck::cast_slice_mut(keys))
    }

    fn order_at<K: KeyBits>(&self, position: u64, order: &KeyOrder) -> io::Result<u64> {
        if position.is_multiple_of(self.distance) {
            return Ok(self.samples[(position / self.distance) as usize]);
        }
        let mut key = [K::zeroed()];
        self.read_keys(position, &mut key)?;
        Ok(order.rank(key[0]))
    }

    /// The place of a key in the middle half of a part of this run, which is the one of this index. The part is not empty.
    pub(super) fn middle<K: KeyBits>(
        &self,
        index: usize,
        part: Range<u64>,
        order: &KeyOrder,
    ) -> io::Result<Place> {
        let count = part.end - part.start;
        let mut middle = part.start + (count - 1) / 2;
        // The order of a sample is known without reading.
        if count >= 4 * self.distance {
            middle -= middle % self.distance;
        }
        Ok((self.order_at::<K>(middle, order)?, index, middle))
    }

    /// The end of the keys up to `place`, in a part of this run, which is the one of `index`.
    pub(super) fn count_through<K: KeyBits>(
        &self,
        index: usize,
        place: Place,
        part: Range<u64>,
        order: &KeyOrder,
    ) -> io::Result<u64> {
        let (at, run, position) = place;
        if run == index {
            return Ok(position + 1);
        }
        // Equal keys of an earlier run come first.
        let is_before = |order: u64| order < at || order == at && index < run;
        let Range { mut start, mut end } = part;
        let samples = start.div_ceil(self.distance) as usize..end.div_ceil(self.distance) as usize;
        if !samples.is_empty() {
            let first = samples.start;
            let after = first + self.samples[samples].partition_point(|&sample| is_before(sample));
            if after > first {
                start = (after - 1) as u64 * self.distance + 1;
            }
            end = end.min(after as u64 * self.distance);
        }
        while end - start > SEARCHED {
            let middle = start + (end - start) / 2;
            match is_before(self.order_at::<K>(middle, order)?) {
                true => start = middle + 1,
                false => end = middle,
            }
        }
        let mut keys = [K::zeroed(); SEARCHED as usize];
        let keys = &mut keys[..(end - start) as usize];
        self.read_keys(start, keys)?;
        Ok(start + keys.partition_point(|&key| is_before(order.rank(key))) as u64)
    }
}

/// Halves the samples of all runs when there are more than `max_count`.
pub(super) fn limit_samples(runs: &mut [Run<'_>], max_count: u64) {
    let count: usize = runs.iter().map(|run| run.samples.len()).sum();
    // Each run has a sample.
    if count as u64 > max_count.max(2 * runs.len() as u64) {
        runs.iter_mut().for_each(Run::halve_samples);
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            size => (bytes, offset) = (&mut bytes[size..], offset + size as u64),
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let size = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if size == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        (bytes, offset) = (&bytes[size..], offset + size as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
