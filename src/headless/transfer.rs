//! Uploads and downloads through the staging buffer.

use super::{Gpu, GpuBuffer, lock, zeroed};
use crate::device::{BufferRange, Recorder};
use crate::error::{Error, Result};

/// Size of the staging buffer, bytes.
pub(super) const STAGING_SIZE: u64 = 16 << 20;

/// Slices after an error of reading back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnError {
    /// Unchanged: results larger than the staging buffer are staged in host memory.
    Unchanged,
    /// Contents undefined.
    Undefined,
}

impl Gpu {
    /// Copies `words` into `buffer` from byte `offset` on, a multiple of 4, in chunks through the staging buffer, and
    /// waits.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::ForeignDevice`], and those of [`Self::submit`].
    pub fn upload(&self, buffer: &GpuBuffer, offset: u64, words: &[u32]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let mut staging = lock(&self.staging);
        let range = self.checked(buffer, offset, bytes.len())?;
        let mut offset = 0;
        for chunk in bytes.chunks(STAGING_SIZE as usize) {
            staging.staged()[..chunk.len()].copy_from_slice(chunk);
            let size = chunk.len() as u64;
            self.copy(staging.range().slice(0, size), range.slice(offset, size))?;
            offset += size;
        }
        Ok(())
    }

    /// Copies the start of `buffer` to `words`, and waits. On error `words` is unchanged.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn download(&self, buffer: &GpuBuffer, words: &mut [u32]) -> Result<()> {
        self.read_back(&mut [(buffer, words)], OnError::Unchanged)
    }

    /// Reads the first `word_count` words of `buffer`, in chunks through the staging buffer; waits for each.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::ForeignDevice`], [`Error::OutOfHostMemory`], and those of [`Self::submit`].
    pub fn read(&self, buffer: &GpuBuffer, word_count: usize) -> Result<Vec<u32>> {
        self.read_from(buffer, 0, word_count)
    }

    /// Reads `word_count` words of `buffer` from byte `offset` on, likewise.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_from(&self, buffer: &GpuBuffer, offset: u64, word_count: usize) -> Result<Vec<u32>> {
        self.checked(buffer, offset, word_count.saturating_mul(4))?;
        let mut words = zeroed(word_count)?;
        self.read_into(buffer, offset, &mut words)?;
        Ok(words)
    }

    fn read_into(&self, buffer: &GpuBuffer, offset: u64, words: &mut [u32]) -> Result<()> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        let mut staging = lock(&self.staging);
        let range = self.checked(buffer, offset, bytes.len())?;
        let mut offset = 0;
        for chunk in bytes.chunks_mut(STAGING_SIZE as usize) {
            let size = chunk.len() as u64;
            self.copy(range.slice(offset, size), staging.range().slice(0, size))?;
            chunk.copy_from_slice(&staging.staged()[..chunk.len()]);
            offset += size;
        }
        Ok(())
    }

    /// Copies the start of each buffer to its slice, and waits.
    pub(super) fn read_back(
        &self,
        results: &mut [(&GpuBuffer, &mut [u32])],
        on_error: OnError,
    ) -> Result<()> {
        let size: u64 = results.iter().map(|(_, words)| size_of_val(&**words) as u64).sum();
        if size <= STAGING_SIZE {
            return self.read_back_at_once(results);
        }
        if on_error == OnError::Undefined {
            return results.iter_mut().try_for_each(|(buffer, words)| self.read_into(buffer, 0, words));
        }
        let read = results.iter().map(|(buffer, words)| self.read(buffer, words.len()));
        let staged = read.collect::<Result<Vec<_>>>()?;
        results.iter_mut().zip(staged).for_each(|((_, words), staged)| words.copy_from_slice(&staged));
        Ok(())
    }

    /// As [`Self::read_back`], for results that fit the staging buffer together: all are read before one is replaced.
    fn read_back_at_once(&self, results: &mut [(&GpuBuffer, &mut [u32])]) -> Result<()> {
        let mut staging = lock(&self.staging);
        let mut ranges = Vec::new();
        let mut offset = 0;
        for (buffer, words) in &*results {
            let source = self.checked(buffer, 0, size_of_val(&**words))?;
            ranges.push((source, staging.range().slice(offset, source.size)));
            offset += source.size;
        }
        let record = |recorder: &mut Recorder<'_>| {
            ranges.iter().for_each(|(source, staged)| recorder.copy(*source, *staged));
            Ok(())
        };
        // SAFETY: all ranges are this device's and live until `submit` has waited.
        unsafe { self.submit(record) }?;
        let mut staged = &staging.staged()[..];
        for (_, words) in results {
            let bytes = bytemuck::cast_slice_mut::<u32, u8>(words);
            bytes.copy_from_slice(&staged[..bytes.len()]);
            staged = &staged[bytes.len()..];
        }
        Ok(())
    }

    /// Copies a range of the device, and waits.
    pub(super) fn copy(&self, source: BufferRange, destination: BufferRange) -> Result<()> {
        let record = |recorder: &mut Recorder<'_>| {
            recorder.copy(source, destination);
            Ok(())
        };
        // SAFETY: both ranges are this device's and live until `submit` has waited.
        unsafe { self.submit(record) }?;
        Ok(())
    }

    /// The range of `size` bytes of `buffer` from `offset` on, checked. For a copy, called with the staging buffer locked:
    /// another thread's work may have abandoned the device meanwhile.
    pub(super) fn checked(&self, buffer: &GpuBuffer, offset: u64, size: usize) -> Result<BufferRange> {
        // An abandoned device may still use the staging buffer.
        self.device.check()?;
        if !buffer.is_from(&self.memory) {
            return Err(Error::ForeignDevice);
        }
        let (range, size) = (buffer.range(), size as u64);
        let needed = offset.saturating_add(size);
        if range.size < needed {
            return Err(Error::RangeTooSmall { what: "the buffer", needed, got: range.size });
        }
        Ok(range.slice(offset, size))
    }
}
