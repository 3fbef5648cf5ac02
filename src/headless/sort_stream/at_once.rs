//! Sort of keys that fit the device together: they pass through a small staging buffer, and no copy is on the host.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::progress::{Meter, SortPhase};
use super::rounds::write_to;
use crate::error::Result;
use crate::headless::scan_stream::StreamError;
use crate::headless::{Gpu, GpuBuffer, scratch_range};
use crate::reading::read_full;
use crate::sort::{SortBuffers, SortPlan};

/// Bytes that are staged at a time.
const STAGED_SIZE: u64 = 8 << 20;

/// All keys and their values on the device.
pub(super) struct AtOnce<'g> {
    gpu: &'g Gpu,
    plan: Arc<SortPlan>,
    sizes: [u64; 2],
    count: u64,
    staging: GpuBuffer,
    buffers: [GpuBuffer; 2],
    scratch: Option<GpuBuffer>,
}

impl<'g> AtOnce<'g> {
    /// Allocates memory for `count` keys and values of `sizes` bytes.
    pub(super) fn new(gpu: &'g Gpu, plan: Arc<SortPlan>, sizes: [u64; 2], count: u64) -> Result<Self> {
        let [keys, values] = sizes.map(|size| gpu.allocate(size * count));
        let scratch = gpu.allocate_scratch(plan.scratch_requirements(count).size)?;
        let staging = gpu.memory.allocate_staging(STAGED_SIZE)?;
        Ok(Self { gpu, plan, sizes, count, staging, buffers: [keys?, values?], scratch })
    }

    /// Reads, sorts and writes.
    pub(super) fn run(
        mut self,
        keys: &mut (dyn Read + Send),
        values: Option<&mut (dyn Read + Send)>,
        sinks: [Option<&mut (dyn Write + Send)>; 2],
        meter: &mut Meter<'_>,
    ) -> Result<(), StreamError> {
        let read_error = |kind, what| Err(StreamError::Read(io::Error::new(kind, what)));
        let [keys_size, values_size] = self.sizes.map(|size| size * self.count);
        let found = self.fill(0, keys)?;
        if !found.is_multiple_of(self.sizes[0]) && found < keys_size {
            return read_error(io::ErrorKind::UnexpectedEof, "it ends within a key");
        }
        if found != keys_size {
            return read_error(io::ErrorKind::InvalidData, "it has another number of keys");
        }
        if let Some(values) = values {
            let found = self.fill(1, values)?;
            if found != values_size {
                let what = if found < values_size { "fewer" } else { "more" };
                let what = format!("there are {what} values than keys");
                return Err(StreamError::Read(io::Error::new(io::ErrorKind::UnexpectedEof, what)));
            }
        }
        if self.count > 0 {
            self.sort()?;
        }
        meter.add(keys_size + values_size);
        meter.begin(SortPhase::Writing, keys_size + values_size);
        for (index, mut sink) in sinks.into_iter().enumerate() {
            self.drain(index, &mut sink, meter)?;
        }
        Ok(())
    }

    fn sort(&self) -> Result<()> {
        let [keys, values] = [0, 1]
            .map(|index| self.buffers[index].range().slice(0, self.sizes[index] * self.count).addresses());
        let buffers = SortBuffers::new(keys, scratch_range(&self.scratch)).values(values);
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.gpu.submit(|recorder| self.plan.record(recorder, &buffers, self.count)) }?;
        Ok(())
    }

    /// Reads one of the arrays. Returns the bytes that the source has: one more than the array where there are further ones.
    fn fill(&mut self, index: usize, mut source: &mut (dyn Read + Send)) -> Result<u64, StreamError> {
        let size = self.sizes[index] * self.count;
        let mut done = 0;
        while done < size {
            let staged_size = STAGED_SIZE.min(size - done);
            let staged = &mut self.staging.mapped()[..staged_size as usize];
            let read_size = read_full(&mut source, staged).map_err(StreamError::Read)? as u64;
            if read_size < staged_size {
                return Ok(done + read_size);
            }
            let array = self.buffers[index].range().slice(done, staged_size);
            self.gpu.copy(self.staging.range().slice(0, staged_size), array)?;
            done += staged_size;
        }
        Ok(size + read_full(&mut source, &mut [0]).map_err(StreamError::Read)? as u64)
    }

    /// Writes one of the arrays.
    fn drain(
        &mut self,
        index: usize,
        sink: &mut Option<&mut (dyn Write + Send)>,
        meter: &mut Meter<'_>,
    ) -> Result<(), StreamError> {
        let size = self.sizes[index] * self.count;
        if sink.is_none() {
            meter.add(size);
            return Ok(());
        }
        let mut done = 0;
        while done < size {
            let staged_size = STAGED_SIZE.min(size - done);
            let array = self.buffers[index].range().slice(done, staged_size);
            self.gpu.copy(array, self.staging.range().slice(0, staged_size))?;
            write_to(sink, &self.staging.mapped()[..staged_size as usize]).map_err(StreamError::Write)?;
            meter.add(staged_size);
            done += staged_size;
        }
        Ok(())
    }
}
