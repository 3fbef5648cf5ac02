//! Buffers bound sparsely: several allocations have one range of device addresses, so that an array may be larger than one
//! allocation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::vk;

use super::fence::Fence;
use super::lock;
use crate::device::{Buffer, Device};
use crate::error::Result;

/// The queue that binds memory.
pub(super) struct SparseBinder {
    device: Device,
    queue: Arc<Mutex<vk::Queue>>,
    wait_limit: Duration,
    /// Bytes that buffers have of `sparseAddressSpaceSize`.
    reserved_size: Arc<AtomicU64>,
}

/// Bytes of a buffer in `sparseAddressSpaceSize`, given back on drop.
pub(super) struct ReservedAddresses {
    size: u64,
    reserved_size: Arc<AtomicU64>,
}

impl SparseBinder {
    /// A binder by `queue`, whose family has `VK_QUEUE_SPARSE_BINDING_BIT`, of a device with `sparseBinding`.
    pub(super) fn new(device: &Device, queue: Arc<Mutex<vk::Queue>>, wait_limit: Duration) -> Self {
        Self { device: device.clone(), queue, wait_limit, reserved_size: Arc::default() }
    }

    /// Reserves addresses, before the buffer is created; `None` where the device has too few left.
    pub(super) fn reserve(&self, size: u64) -> Option<ReservedAddresses> {
        let limit = self.device.capabilities().sparse_address_space_size;
        let add = |reserved: u64| reserved.checked_add(size).filter(|&sum| sum <= limit);
        self.reserved_size.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        Some(ReservedAddresses { size, reserved_size: Arc::clone(&self.reserved_size) })
    }

    /// Binds memory to all of `buffer`, and waits. On error either nothing is being bound, or the device is abandoned.
    ///
    /// # Safety
    /// `buffer` has [`SPARSE_BINDING`](vk::BufferCreateFlags::SPARSE_BINDING) and no memory. `binds` are of memory of the
    /// device that meets the buffer's requirements and outlives the buffer, or the device if that is abandoned.
    pub(super) unsafe fn bind(&self, buffer: &Buffer, binds: &[vk::SparseMemoryBind]) -> Result<()> {
        let buffers = [vk::SparseBufferMemoryBindInfo::default().buffer(buffer.raw()).binds(binds)];
        let infos = [vk::BindSparseInfo::default().buffer_binds(&buffers)];
        let mut fence = Fence::new(&self.device, self.wait_limit)?;
        fence.submit("vkQueueBindSparse", |raw, fence| {
            // SAFETY: as the caller promises; the queue is locked.
            unsafe { raw.queue_bind_sparse(*lock(&self.queue), &infos, fence) }
        })?;
        fence.wait()
    }
}

impl Drop for ReservedAddresses {
    fn drop(&mut self) {
        self.reserved_size.fetch_sub(self.size, Ordering::Relaxed);
    }
}

/// Sizes of the allocations for `size` bytes, each of at most `max_size` and all but the last a multiple of `alignment`.
/// None where `max_size` is less than `alignment`.
pub(super) fn piece_sizes(size: u64, max_size: u64, alignment: u64) -> impl Iterator<Item = u64> {
    let piece = max_size - max_size % alignment;
    let count = if piece == 0 { 0 } else { size.div_ceil(piece) };
    (0..count).map(move |index| piece.min(size - index * piece))
}

#[cfg(test)]
mod tests;
