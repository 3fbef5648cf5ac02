//! Sorted runs in temporary files.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::order::{KeyBits, KeyOrder};

/// Keys between two whose order is kept in memory.
const SAMPLE_DISTANCE: u64 = 4096;

/// Sorted keys, and then their values, in a part of a file.
#[derive(Debug)]
pub(super) struct Run {
    file: Arc<File>,
    start: u64,
    count: u64,
    key_size: u64,
    value_size: u64,
    /// The order of each key at a multiple of [`SAMPLE_DISTANCE`].
    samples: Vec<u64>,
}

/// A place in the order of all keys: a key's order, the index of its run, and its index there.
pub(super) type Place = (u64, usize, u64);

impl Run {
    /// A run of `count` keys, to be written from byte `start` of `file` on.
    pub(super) fn new(file: &Arc<File>, start: u64, count: u64, [key_size, value_size]: [u64; 2]) -> Self {
        Self { file: Arc::clone(file), start, count, key_size, value_size, samples: Vec::new() }
    }

    /// The byte after the run.
    pub(super) fn end(&self) -> u64 {
        self.start + self.count * (self.key_size + self.value_size)
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Writes keys from index `first` on. Called in order.
    pub(super) fn write_keys<K: KeyBits>(
        &mut self,
        first: u64,
        keys: &[K],
        order: &KeyOrder,
    ) -> io::Result<()> {
        let next = (self.samples.len() as u64 * SAMPLE_DISTANCE - first) as usize;
        let sampled = keys.iter().skip(next).step_by(SAMPLE_DISTANCE as usize);
        self.samples.extend(sampled.map(|&key| order.of(key)));
        write_at(&self.file, bytemuck::cast_slice(keys), self.start + first * self.key_size)
    }

    /// Writes values from index `first` on.
    pub(super) fn write_values(&self, first: u64, values: &[u8]) -> io::Result<()> {
        write_at(&self.file, values, self.start + self.count * self.key_size + first * self.value_size)
    }

    /// Writes all indices, each increased by `base`.
    pub(super) fn write_indices(&self, indices: &[u32], base: u64) -> io::Result<()> {
        const BLOCK: usize = 1 << 16;
        for (block, first) in indices.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            let wide = block.iter().map(|&index| base + u64::from(index));
            let bytes: Vec<u8> = match self.value_size {
                4 => wide.flat_map(|index| (index as u32).to_ne_bytes()).collect(),
                _ => wide.flat_map(u64::to_ne_bytes).collect(),
            };
            self.write_values(first, &bytes)?;
        }
        Ok(())
    }

    /// Reads the keys in `range`.
    pub(super) fn keys<K: KeyBits>(&self, range: Range<u64>) -> io::Result<Vec<K>> {
        let mut keys = vec![K::zeroed(); (range.end - range.start) as usize];
        read_at(&self.file, bytemuck::cast_slice_mut(&mut keys), self.start + range.start * self.key_size)?;
        Ok(keys)
    }

    /// Reads the values in `range`.
    pub(super) fn values<V: bytemuck::Pod>(&self, range: Range<u64>) -> io::Result<Vec<V>> {
        let mut values = vec![V::zeroed(); (range.end - range.start) as usize];
        let start = self.start + self.count * self.key_size + range.start * self.value_size;
        read_at(&self.file, bytemuck::cast_slice_mut(&mut values), start)?;
        Ok(values)
    }

    /// The places of the sampled keys of this run, which is the one of this index.
    pub(super) fn places(&self, index: usize) -> impl Iterator<Item = Place> {
        self.samples.iter().zip(0..).map(move |(&order, sample)| (order, index, sample * SAMPLE_DISTANCE))
    }

    /// Number of keys before `place`, in this run, which is the one of `index`. Reads the keys between two samples.
    pub(super) fn count_before<K: KeyBits>(
        &self,
        index: usize,
        place: Place,
        order: &KeyOrder,
    ) -> io::Result<u64> {
        let (at, run, position) = place;
        if run == index {
            return Ok(position);
        }
        // Equal keys of an earlier run come first.
        let is_before = |order: u64| order < at || order == at && index < run;
        let samples = self.samples.partition_point(|&sample| is_before(sample)) as u64;
        let Some(last) = samples.checked_sub(1) else { return Ok(0) };
        let start = last * SAMPLE_DISTANCE;
        let keys: Vec<K> = self.keys(start..(start + SAMPLE_DISTANCE).min(self.count))?;
        Ok(start + keys.partition_point(|&key| is_before(order.of(key))) as u64)
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
