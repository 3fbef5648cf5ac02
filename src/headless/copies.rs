//! Copies of arrays between host and device. They overlap with kernels where the device has another queue for them.
//!
//! Two staging blocks take turns: the host fills or empties one while the device copies the other. The memory of a CPU device is
//! the host's, which reads and writes the arrays themselves.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::vk;

use super::GpuBuffer;
use super::commands::Commands;
use super::memory::Memory;
use crate::device::{Access, Barrier, BufferRange, Device, Recorder};
use crate::error::{Error, Result};

/// Makes earlier writes visible to copies. They are available, since a fence of theirs was waited for. The queue may have no
/// other stage.
const BEFORE_COPIES: Barrier =
    Barrier { name: "before copies", source: Access::TRANSFER_WRITE, destination: Access::TRANSFER };
/// Makes copies visible to the host, once the fence is signalled.
const COPIES_BEFORE_THE_HOST: Barrier = Barrier {
    name: "copies before the host",
    source: Access::TRANSFER_WRITE,
    destination: Access::HOST_READ,
};

/// The queue that copies.
#[derive(Clone)]
pub(super) struct CopyQueue {
    device: Device,
    family_index: u32,
    queue: Arc<Mutex<vk::Queue>>,
    wait_limit: Duration,
}

impl CopyQueue {
    /// Copies by `queue`, which is of this family.
    pub(super) fn new(
        device: &Device,
        family_index: u32,
        queue: Arc<Mutex<vk::Queue>>,
        wait_limit: Duration,
    ) -> Self {
        Self { device: device.clone(), family_index, queue, wait_limit }
    }

    fn commands(&self) -> Result<Commands> {
        Commands::new(&self.device, self.family_index, self.wait_limit)
    }

    /// Submits copies, each from the first range to the second, and does not wait.
    ///
    /// # Safety
    /// All ranges are this device's, of buffers that this queue's family shares. Until `commands` was waited for they live, and
    /// nothing else uses them.
    unsafe fn launch(&self, commands: &mut Commands, copies: &[[BufferRange; 2]]) -> Result<()> {
        self.device.check()?;
        commands.begin()?;
        // SAFETY: the command buffer is recording, nothing else records into it, and as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, commands.buffer()) };
        recorder.barrier(BEFORE_COPIES);
        recorder.begin();
        copies.iter().for_each(|&[from, to]| recorder.copy(from, to));
        recorder.end();
        recorder.barrier(COPIES_BEFORE_THE_HOST);
        // SAFETY: the command buffer is recording, and as the caller promises.
        unsafe { commands.submit(&self.queue) }
    }
}

/// Two staging blocks, and a command buffer for each.
pub(super) struct Copies {
    queue: CopyQueue,
    blocks: [Block; 2],
    /// Whether arrays are staged, even if they are mapped.
    is_staged: bool,
}

struct Block {
    // Dropped first, which waits for the copy.
    commands: Commands,
    staging: GpuBuffer,
}

/// Waits for the copies when it is dropped. After an error, or a panic of the caller's function, their array may be freed.
struct InFlight<'c>(&'c mut [Block; 2]);

impl Copies {
    /// Bytes of a staging block, a multiple of every element's.
    const BLOCK_SIZE: u64 = 2 << 20;
    /// Bytes of the staging blocks.
    pub(super) const SIZE: u64 = 2 * Self::BLOCK_SIZE;

    /// Copies by `queue`, staged in `memory`. Unless `is_staged`, arrays that are mapped are accessed in place: it is for a CPU's
    /// alone, since a GPU's mapped memory may need flushes, and is slow to read.
    pub(super) fn new(queue: &CopyQueue, memory: &Arc<Memory>, is_staged: bool) -> Result<Self> {
        let block = || -> Result<_> {
            Ok(Block { commands: queue.commands()?, staging: memory.allocate_staging(Self::BLOCK_SIZE)? })
        };
        Ok(Self { queue: queue.clone(), blocks: [block()?, block()?], is_staged })
    }

    /// Copies what `read` returns to the first `size` bytes of an array, and waits. `read` fills its argument, or at the end of
    /// what there is a part of it, and returns the number of bytes. Returns the number of all.
    ///
    /// # Safety
    /// `to` is this device's, has so many bytes, and nothing else uses it.
    pub(super) unsafe fn upload<E: From<Error>>(
        &mut self,
        to: &mut GpuBuffer,
        size: u64,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<u64, E> {
        let Some(bytes) = to.mapped().filter(|_| !self.is_staged) else {
            // SAFETY: as the caller promises.
            return unsafe { self.upload_staged(to.range().slice(0, size), read) };
        };
        let mut done = 0;
        for block in bytes[..size as usize].chunks_mut(Self::BLOCK_SIZE as usize) {
            let read_size = read(block)?;
            done += read_size as u64;
            if read_size < block.len() {
                break;
            }
        }
        Ok(done)
    }

    /// As [`Self::upload`], to all of `to`, through the blocks.
    ///
    /// # Safety
    /// `to` is this device's, and nothing else uses it.
    pub(super) unsafe fn upload_staged<E: From<Error>>(
        &mut self,
        to: BufferRange,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<u64, E> {
        let mut copies = InFlight(&mut self.blocks);
        let (mut done, mut index) = (0, 0);
        while done < to.size {
            let Block { commands, staging } = &mut copies.0[index];
            commands.wait()?;
            let block_size = Self::BLOCK_SIZE.min(to.size - done);
            let read_size = read(&mut staging.staged()[..block_size as usize])? as u64;
            if read_size > 0 {
                let ranges = [staging.range().slice(0, read_size), to.slice(done, read_size)];
                // SAFETY: `copies` waits for it, and as the caller promises.
                unsafe { self.queue.launch(commands, &[ranges]) }?;
            }
            done += read_size;
            if read_size < block_size {
                break;
            }
            index ^= 1;
        }
        copies.wait()?;
        Ok(done)
    }

    /// Copies the first `size` bytes of an array, and passes them to `write` block by block, each with its first byte's index.
    ///
    /// # Safety
    /// `from` is this device's, has so many bytes, and nothing writes to it.
    pub(super) unsafe fn download<E: From<Error>>(
        &mut self,
        from: &mut GpuBuffer,
        size: u64,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(bytes) = from.mapped().filter(|_| !self.is_staged) else {
            // SAFETY: as the caller promises.
            return unsafe { self.download_staged(from.range().slice(0, size), write) };
        };
        let blocks = bytes[..size as usize].chunks(Self::BLOCK_SIZE as usize);
        let offsets = (0..).step_by(Self::BLOCK_SIZE as usize);
        blocks.zip(offsets).try_for_each(|(block, offset)| write(offset, block))
    }

    /// As [`Self::download`], of all of `from`, through the blocks.
    ///
    /// # Safety
    /// `from` is this device's, and nothing writes to it.
    pub(super) unsafe fn download_staged<E: From<Error>>(
        &mut self,
        from: BufferRange,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut offsets = (0..from.size).step_by(Self::BLOCK_SIZE as usize);
        let copies = InFlight(&mut self.blocks);
        let block_size = |offset: u64| Self::BLOCK_SIZE.min(from.size - offset);
        let (mut in_flight, mut index) = (None, 0);
        loop {
            let next = offsets.next();
            if let Some(offset) = next {
                let Block { commands, staging } = &mut copies.0[index];
                let part = from.slice(offset, block_size(offset));
                // SAFETY: `copies` waits for it, and as the caller promises.
                unsafe { self.queue.launch(commands, &[[part, staging.range().slice(0, part.size)]]) }?;
            }
            index ^= 1;
            // The block before, while this one is copied.
            if let Some(offset) = std::mem::replace(&mut in_flight, next) {
                let Block { commands, staging } = &mut copies.0[index];
                commands.wait()?;
                write(offset, &staging.staged()[..block_size(offset) as usize])?;
            } else if next.is_none() {
                return Ok(());
            }
        }
    }

    /// Copies ranges that fit a block together, and returns their bytes, one after the other; `None` if they do not fit.
    ///
    /// # Safety
    /// They are this device's, and nothing writes to them.
    pub(super) unsafe fn download_at_once(&mut self, ranges: &[BufferRange]) -> Result<Option<&[u8]>> {
        let size = ranges.iter().map(|range| range.size).fold(0, u64::saturating_add);
        if size > Self::BLOCK_SIZE {
            return Ok(None);
        }
        let mut copies = InFlight(&mut self.blocks);
        let Block { commands, staging } = &mut copies.0[0];
        let mut begin = 0;
        let stage = |from: &BufferRange| {
            let staged = staging.range().slice(begin, from.size);
            begin += from.size;
            [*from, staged]
        };
        let staged: Vec<_> = ranges.iter().map(stage).collect();
        // SAFETY: it is waited for, and as the caller promises.
        unsafe { self.queue.launch(commands, &staged) }?;
        copies.wait()?;
        drop(copies);
        Ok(Some(&self.blocks[0].staging.staged()[..size as usize]))
    }
}

impl InFlight<'_> {
    fn wait(&mut self) -> Result<()> {
        let [first, second] = &mut *self.0;
        first.commands.wait().and(second.commands.wait())
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        // After an error the device is abandoned, and frees nothing.
        let _ = self.wait();
    }
}
