//! How many keys are sorted at once, and in a chunk: what fits the memory.

use std::sync::Arc;

use super::rounds::FAN_IN;
use crate::error::Result;
use crate::headless::Gpu;
use crate::sort::{SortConfig, SortPlan};

/// Chunks on the device: one is filled, one is sorted, and one is drained.
pub(super) const CHUNKS: u64 = 3;
/// Bytes of the keys of a chunk where the memory allows: larger chunks would overlap less. For more keys than [`FAN_IN`] such
/// chunks hold, each chunk is larger, so that one round merges them.
const CHUNK_SIZE: u64 = 1 << 30;

/// The memory of a sort, and what has to fit it.
pub(super) struct Room<'g> {
    gpu: &'g Gpu,
    config: SortConfig,
    /// Bytes of a key, and of a value on the device.
    pub(super) sizes: [u64; 2],
    /// Bytes on host and device together.
    memory_size: u64,
    /// Bytes on the device.
    device_size: u64,
    /// Most bytes of the keys of a chunk.
    max_size: u64,
}

impl<'g> Room<'g> {
    pub(super) fn new(gpu: &'g Gpu, config: SortConfig, memory_size: u64, max_size: u64) -> Self {
        let config = config.with_keys();
        let sizes = [config.key_size(), config.value_size()];
        Self { gpu, config, sizes, memory_size, device_size: gpu.free_memory() / 4 * 3, max_size }
    }

    /// Bytes of a key and its value on the device.
    pub(super) fn item_size(&self) -> u64 {
        self.sizes[0] + self.sizes[1]
    }

    /// The plan and the number of keys, if it is known and they fit together.
    pub(super) fn at_once(&self, count: Option<u64>) -> Result<Option<(Arc<SortPlan>, u64)>> {
        // Indices have 32 bits.
        let max_count = if self.config.begins_as_indices() { SortPlan::MAX_COUNT } else { u64::MAX };
        let max_count = max_count.min(self.max_size / self.sizes[0]);
        let Some(count) = count.filter(|&count| count <= max_count) else { return Ok(None) };
        let plan = self.gpu.declared(self.config.large_counts_for(count))?;
        // More keys than the algorithm takes are no chunks of it.
        let is_limited = plan.max_count() < SortPlan::MAX_COUNT;
        if !is_limited && !self.fits(&plan, count, 1) {
            return Ok(None);
        }
        plan.check_count(count)?;
        Ok(Some((plan, count)))
    }

    /// The plan of chunks and the number of keys of each, of `count` keys if that is known.
    pub(super) fn chunks(&self, count: Option<u64>) -> Result<(Arc<SortPlan>, u64)> {
        let plan = self.gpu.declared(self.config)?;
        let max_size = self.max_size.min(chunk_size_for(count, self.sizes[0]));
        let (mut least, mut most) = (1, plan.max_count().min(max_size / self.sizes[0]).max(1));
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            match self.fits(&plan, middle, CHUNKS) {
                true => least = middle,
                false => most = middle - 1,
            }
        }
        Ok((plan, least))
    }

    /// Whether chunks of `capacity` keys fit the memory and the device. Each array of several is one allocation.
    fn fits(&self, plan: &SortPlan, capacity: u64, chunk_count: u64) -> bool {
        let capabilities = self.gpu.capabilities();
        let (one, array) = (capabilities.max_allocation_size, capabilities.max_array_size());
        let max_array_size = if chunk_count == 1 { array } else { array.min(one) };
        let scratch = plan.scratch_requirements(capacity).size;
        let [keys, values] = self.sizes.map(|size| capacity.saturating_mul(size));
        let chunk = keys.saturating_add(values);
        // All chunks share the scratch.
        let on_device = chunk.saturating_mul(chunk_count).saturating_add(scratch);
        let sparse =
            [keys, values, scratch].into_iter().filter(|&size| size > one).fold(0, u64::saturating_add);
        keys.max(values) <= max_array_size
            && scratch <= array
            && sparse <= capabilities.sparse_address_space_size
            && on_device <= self.device_size.min(self.memory_size)
    }
}

/// Most bytes of the keys of a chunk.
fn chunk_size_for(count: Option<u64>, key_size: u64) -> u64 {
    let of_one_round = count.unwrap_or(0).div_ceil(FAN_IN as u64).saturating_mul(key_size);
    CHUNK_SIZE.max(of_one_round)
}

#[cfg(test)]
mod tests;
