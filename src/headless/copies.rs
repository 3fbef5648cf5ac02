//! Copies of any size between host and device, beside the kernels: by the queue that only copies, where the device has one.
//!
//! Two staging blocks take turns: the host fills or empties one while the device copies the other.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::vk;

use super::commands::Commands;
use super::{Gpu, GpuBuffer};
use crate::device::{Access, Barrier, BufferRange, Device, Recorder};
use crate::error::{Error, Result};

/// Bytes of a staging block, a multiple of every element's.
const BLOCK_SIZE: u64 = 2 << 20;

/// Makes what is available, since earlier work was waited for, visible to copies: their queue may have no other stage.
const BEFORE_COPIES: Barrier =
    Barrier { name: "before copies", source: Access::TRANSFER_WRITE, destination: Access::TRANSFER };
/// Makes copies visible to the host, once the fence is signalled.
const COPIES_BEFORE_THE_HOST: Barrier = Barrier {
    name: "copies before the host",
    source: Access::TRANSFER_WRITE,
    destination: Access::HOST_READ,
};

/// The queue that copies.
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

    /// Submits a copy, and does not wait.
    ///
    /// # Safety
    /// Until `commands` was waited for, both ranges live, and nothing else uses them.
    unsafe fn launch(&self, commands: &mut Commands, from: BufferRange, to: BufferRange) -> Result<()> {
        self.device.check()?;
        commands.begin()?;
        // SAFETY: the command buffer is recording, nothing else records into it, and as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, commands.buffer()) };
        recorder.barrier(BEFORE_COPIES);
        recorder.begin();
        recorder.copy(from, to);
        recorder.end();
        recorder.barrier(COPIES_BEFORE_THE_HOST);
        // SAFETY: the command buffer is recording, and as the caller promises.
        unsafe { commands.submit(&self.queue) }
    }
}

/// Two staging blocks, and a command buffer for each.
pub(super) struct Copies<'g> {
    queue: &'g CopyQueue,
    blocks: [Block; 2],
}

struct Block {
    // Dropped first, which waits for the copy.
    commands: Commands,
    staging: GpuBuffer,
}

/// Waits for the copies when it is dropped: at an error, or at a panic of the caller's function, their ranges may be freed.
struct InFlight<'c, 'g>(&'c mut Copies<'g>);

impl<'g> Copies<'g> {
    /// Bytes of the staging blocks.
    pub(super) const SIZE: u64 = 2 * BLOCK_SIZE;

    pub(super) fn new(gpu: &'g Gpu) -> Result<Self> {
        let block = || -> Result<_> {
            Ok(Block { commands: gpu.copies.commands()?, staging: gpu.memory.allocate_staging(BLOCK_SIZE)? })
        };
        Ok(Self { queue: &gpu.copies, blocks: [block()?, block()?] })
    }

    /// Copies what `read` returns to the start of `to`, and waits. `read` fills its argument, or at the end of what there is a
    /// part of it, and returns the number of bytes. Returns the number of all.
    ///
    /// # Safety
    /// `to` is this device's, and nothing else uses it.
    pub(super) unsafe fn upload<E: From<Error>>(
        &mut self,
        to: BufferRange,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<u64, E> {
        let mut copies = InFlight(self);
        let (mut done, mut index) = (0, 0);
        while done < to.size {
            let Block { commands, staging } = &mut copies.blocks[index];
            commands.wait()?;
            let size = BLOCK_SIZE.min(to.size - done);
            let read_size = read(&mut staging.mapped()[..size as usize])? as u64;
            // The rest is a part of an element.
            let whole = read_size - read_size % 4;
            if whole > 0 {
                let (from, to) = (staging.range().slice(0, whole), to.slice(done, whole));
                let queue = copies.queue;
                // SAFETY: `copies` waits for it, and as the caller promises.
                unsafe { queue.launch(&mut copies.blocks[index].commands, from, to) }?;
            }
            done += read_size;
            if read_size < size {
                break;
            }
            index ^= 1;
        }
        copies.wait()?;
        Ok(done)
    }

    /// Copies all of `from`, and passes it to `write` block by block, each with its first byte's index.
    ///
    /// # Safety
    /// `from` is this device's, and nothing writes to it.
    pub(super) unsafe fn download<E: From<Error>>(
        &mut self,
        from: BufferRange,
        mut write: impl FnMut(u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut copies = InFlight(self);
        let offsets = (0..from.size).step_by(BLOCK_SIZE as usize);
        let mut blocks = offsets.map(|offset| from.slice(offset, BLOCK_SIZE.min(from.size - offset)));
        let (mut in_flight, mut index) = (None, 0);
        loop {
            let next = blocks.next();
            if let Some(next) = next {
                let (queue, Block { commands, staging }) = (copies.queue, &mut copies.blocks[index]);
                let to = staging.range().slice(0, next.size);
                // SAFETY: `copies` waits for it, and as the caller promises.
                unsafe { queue.launch(commands, next, to) }?;
            }
            index ^= 1;
            // The block before, while this one is copied.
            if let Some(BufferRange { offset, size, .. }) = std::mem::replace(&mut in_flight, next) {
                let Block { commands, staging } = &mut copies.blocks[index];
                commands.wait()?;
                write(offset - from.offset, &staging.mapped()[..size as usize])?;
            } else if next.is_none() {
                return Ok(());
            }
        }
    }

    fn wait(&mut self) -> Result<()> {
        let [first, second] = &mut self.blocks;
        first.commands.wait().and(second.commands.wait())
    }
}

impl Drop for InFlight<'_, '_> {
    fn drop(&mut self) {
        // After an error the device is abandoned, and frees nothing.
        let _ = self.0.wait();
    }
}

impl<'g> Deref for InFlight<'_, 'g> {
    type Target = Copies<'g>;

    fn deref(&self) -> &Copies<'g> {
        self.0
    }
}

impl<'g> DerefMut for InFlight<'_, 'g> {
    fn deref_mut(&mut self) -> &mut Copies<'g> {
        self.0
    }
}
