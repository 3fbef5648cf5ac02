//! Uploads and downloads through the staging buffer.

use super::{Gpu, GpuBuffer, lock, out_of_host_memory};
use crate::device::{BufferRange, Recorder};
use crate::error::{Error, Result};

/// Size of the staging buffer, bytes.
pub(super) const STAGING_SIZE: u64 = 16 << 20;

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
            staging.mapped()[..chunk.len()].copy_from_slice(chunk);
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
        words.copy_from_slice(&self.read(buffer, words.len())?);
        Ok(())
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
        let mut staging = lock(&self.staging);
        let range = self.checked(buffer, offset, word_count.saturating_mul(4))?;
        let mut words = Vec::new();
        words.try_reserve_exact(word_count).map_err(|_| out_of_host_memory(range.size))?;
        while words.len() < word_count {
            let offset = words.len() as u64 * 4;
            let size = STAGING_SIZE.min(range.size - offset);
            self.copy(range.slice(offset, size), staging.range().slice(0, size))?;
            let (chunk, _) = staging.mapped()[..size as usize].as_chunks();
            words.extend(chunk.iter().copied().map(u32::from_ne_bytes));
        }
        Ok(words)
    }

    fn copy(&self, source: BufferRange, destination: BufferRange) -> Result<()> {
        let record = |recorder: &mut Recorder<'_>| {
            recorder.copy(source, destination);
            Ok(())
        };
        // SAFETY: both ranges are this device's and live until `submit` has waited.
        unsafe { self.submit(record) }?;
        Ok(())
    }

    /// The range of `size` bytes of `buffer` from `offset` on, checked. Called with the staging buffer locked: another
    /// thread's work may have abandoned the device meanwhile.
    fn checked(&self, buffer: &GpuBuffer, offset: u64, size: usize) -> Result<BufferRange> {
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
