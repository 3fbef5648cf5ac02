//! GPU time by timestamp queries.

use ash::vk;

use super::logical::Device;
use crate::error::{Error, Result};

/// A pool of pairs of timestamp queries, destroyed on drop.
#[derive(Debug)]
pub struct Timestamps {
    device: Device,
    pool: vk::QueryPool,
    valid_bits: u32,
}

impl Timestamps {
    /// Creates a pool of `pair_count` pairs for a queue family with `valid_bits` as `timestampValidBits`; `None` if they
    /// are 0.
    ///
    /// # Errors
    /// Errors of `vkCreateQueryPool`.
    pub fn new(device: &Device, valid_bits: u32, pair_count: u32) -> Result<Option<Self>> {
        if valid_bits == 0 {
            return Ok(None);
        }
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2 * pair_count);
        // SAFETY: the device is alive.
        let pool = unsafe { device.raw().create_query_pool(&info, None) }
            .map_err(Error::vulkan("vkCreateQueryPool"))?;
        Ok(Some(Self { device: device.clone(), pool, valid_bits }))
    }

    /// Writes the first timestamp of a pair after all earlier work has completed.
    ///
    /// # Safety
    /// As for [`Recorder::new`](super::Recorder::new); the pool has the pair and outlives the work, and no other work uses
    /// it.
    pub unsafe fn cmd_begin(&self, command_buffer: vk::CommandBuffer, pair: u32) {
        // SAFETY: as the caller promises.
        unsafe {
            self.device.raw().cmd_reset_query_pool(command_buffer, self.pool, 2 * pair, 2);
            self.write(command_buffer, 2 * pair);
        }
    }

    /// Writes the second timestamp of a pair after all earlier work has completed.
    ///
    /// # Safety
    /// As for [`Self::cmd_begin`], which came before it in the same command buffer.
    pub unsafe fn cmd_end(&self, command_buffer: vk::CommandBuffer, pair: u32) {
        // SAFETY: as the caller promises.
        unsafe { self.write(command_buffer, 2 * pair + 1) };
    }

    unsafe fn write(&self, command_buffer: vk::CommandBuffer, index: u32) {
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: as the callers of `cmd_begin` and `cmd_end` promise.
        unsafe { self.device.raw().cmd_write_timestamp(command_buffer, stage, self.pool, index) };
    }

    /// Nanoseconds between the timestamps of a pair; the counter may wrap once.
    ///
    /// # Errors
    /// Errors of `vkGetQueryPoolResults`.
    ///
    /// # Safety
    /// Work with [`Self::cmd_begin`] and [`Self::cmd_end`] of the pair was submitted and has completed.
    pub unsafe fn elapsed_ns(&self, pair: u32) -> Result<f64> {
        let mut ticks = [0u64; 2];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: as the caller promises, both timestamps are available.
        unsafe { self.device.raw().get_query_pool_results(self.pool, 2 * pair, &mut ticks, flags) }
            .map_err(Error::vulkan("vkGetQueryPoolResults"))?;
        let period_ns = f64::from(self.device.capabilities().timestamp_period_ns);
        Ok(elapsed_ticks(ticks, self.valid_bits) as f64 * period_ns)
    }
}

/// Ticks from the first to the second, in a counter of `valid_bits` bits.
fn elapsed_ticks([begin, end]: [u64; 2], valid_bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - valid_bits.min(64));
    end.wrapping_sub(begin) & mask
}

impl Drop for Timestamps {
    fn drop(&mut self) {
        // SAFETY: created in `new`; the caller keeps the pool until work that uses it has completed.
        self.device.destroy(|raw| unsafe { raw.destroy_query_pool(self.pool, None) });
    }
}

#[cfg(test)]
mod tests;
