//! Copies of slices: uploads and downloads.

use super::copies::Copies;
use super::{Gpu, GpuBuffer, lock, zeroed};
use crate::device::BufferRange;
use crate::error::{Error, Result};

/// Slices after an error of reading back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnError {
    /// Unchanged: results larger than a staging block are staged in host memory.
    Unchanged,
    /// Contents undefined.
    Undefined,
}

impl Gpu {
    /// Copies `values` into `buffer` from byte `offset` on, a multiple of 4, and waits. What the caller has submitted to a queue of
    /// its own was waited for: copies may use another queue.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::ForeignDevice`], and the errors of [`Self::submit`].
    pub fn upload<T: bytemuck::NoUninit>(&self, buffer: &GpuBuffer, offset: u64, values: &[T]) -> Result<()> {
        let mut rest: &[u8] = bytemuck::cast_slice(values);
        let mut copies = lock(&self.copies);
        let range = self.checked(buffer, offset, rest.len())?;
        let read = |block: &mut [u8]| {
            let (next, after) = rest.split_at(block.len());
            block.copy_from_slice(next);
            rest = after;
            Ok(next.len())
        };
        // SAFETY: the range is this device's, lives until it is copied, and nothing else uses it.
        unsafe { copies.upload_staged(range, read) }.map(drop)
    }

    /// Copies the start of `buffer` to `values`, and waits. On error `values` are unchanged.
    ///
    /// # Errors
    /// Errors of [`Self::read`].
    pub fn download<T: bytemuck::Pod>(&self, buffer: &GpuBuffer, values: &mut [T]) -> Result<()> {
        self.read_back(&mut [(buffer, bytemuck::cast_slice_mut(values))], OnError::Unchanged)
    }

    /// Reads the first `word_count` words of `buffer`, and waits; what has written them was waited for, as in [`Self::upload`].
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::ForeignDevice`], [`Error::OutOfHostMemory`], and the errors of [`Self::submit`].
    pub fn read(&self, buffer: &GpuBuffer, word_count: usize) -> Result<Vec<u32>> {
        self.read_from(buffer, 0, word_count)
    }

    /// Reads `word_count` words of `buffer` from byte `offset` on, likewise.
    ///
    /// # Errors
    /// Errors of [`Self::read`].
    pub fn read_from(&self, buffer: &GpuBuffer, offset: u64, word_count: usize) -> Result<Vec<u32>> {
        self.read_values(buffer, offset, word_count)
    }

    /// Reads `count` values of `buffer` from byte `offset` on, likewise.
    ///
    /// # Errors
    /// Errors of [`Self::read`].
    pub fn read_values<T: bytemuck::Pod>(
        &self,
        buffer: &GpuBuffer,
        offset: u64,
        count: usize,
    ) -> Result<Vec<T>> {
        self.checked(buffer, offset, count.saturating_mul(size_of::<T>()))?;
        let mut values = zeroed(count)?;
        self.read_into(buffer, offset, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    fn read_into(&self, buffer: &GpuBuffer, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut copies = lock(&self.copies);
        let range = self.checked(buffer, offset, bytes.len())?;
        let write = |first: u64, block: &[u8]| {
            bytes[first as usize..][..block.len()].copy_from_slice(block);
            Ok(())
        };
        // SAFETY: the range is this device's, lives until it is copied, and nothing writes to it.
        unsafe { copies.download_staged(range, write) }
    }

    /// Copies the start of each buffer to its slice, and waits. Results that fit a staging block are all read before one is
    /// replaced.
    pub(super) fn read_back(&self, results: &mut [(&GpuBuffer, &mut [u8])], on_error: OnError) -> Result<()> {
        if self.read_back_at_once(results)? {
            return Ok(());
        }
        if on_error == OnError::Undefined {
            return results.iter_mut().try_for_each(|(buffer, bytes)| self.read_into(buffer, 0, bytes));
        }
        let read = results.iter().map(|(buffer, bytes)| self.read_values::<u8>(buffer, 0, bytes.len()));
        let staged = read.collect::<Result<Vec<_>>>()?;
        results.iter_mut().zip(staged).for_each(|((_, bytes), staged)| bytes.copy_from_slice(&staged));
        Ok(())
    }

    /// As [`Self::read_back`], if all fit; returns whether they do.
    fn read_back_at_once(&self, results: &mut [(&GpuBuffer, &mut [u8])]) -> Result<bool> {
        let mut copies = lock(&self.copies);
        let ranges = results.iter().map(|(buffer, bytes)| self.checked(buffer, 0, bytes.len()));
        let ranges = ranges.collect::<Result<Vec<_>>>()?;
        // SAFETY: the ranges are this device's, live until they are copied, and nothing writes to them.
        let Some(mut staged) = unsafe { copies.download_at_once(&ranges) }? else { return Ok(false) };
        for (_, bytes) in results {
            let (next, rest) = staged.split_at(bytes.len());
            bytes.copy_from_slice(next);
            staged = rest;
        }
        Ok(true)
    }

    /// Copies separate from the copies of the calls on slices, which wait for each other. With `is_staged`, they are staged
    /// on a CPU as well.
    pub(super) fn copies(&self, is_staged: bool) -> Result<Copies> {
        Copies::new(&self.copy_queue, &self.memory, is_staged || !self.capabilities().is_cpu())
    }

    /// The range of `size` bytes of `buffer` from `offset` on, checked. For a copy, called with the copies locked: another
    /// thread's work may have abandoned the device meanwhile.
    pub(super) fn checked(&self, buffer: &GpuBuffer, offset: u64, size: usize) -> Result<BufferRange> {
        // An abandoned device may still use the staging blocks.
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
