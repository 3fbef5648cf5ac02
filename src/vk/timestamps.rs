//! GPU time from a query pool.

use ash::vk;

use super::device::Device;
use crate::error::{Error, Result};

/// A pool of timestamps, destroyed when dropped.
#[derive(Debug)]
pub struct Timestamps {
    device: Device,
    pool: vk::QueryPool,
    count: u32,
    valid_bits: u32,
}

impl Timestamps {
    /// Makes a pool of `count` timestamps for a queue family whose `timestampValidBits` are given, or nothing if the
    /// family has none.
    ///
    /// # Errors
    /// Whatever `vkCreateQueryPool` says.
    pub fn new(device: &Device, count: u32, valid_bits: u32) -> Result<Option<Self>> {
        if valid_bits == 0 {
            return Ok(None);
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        // SAFETY: the device is alive.
        let pool = unsafe { device.raw().create_query_pool(&info, None) }
            .map_err(Error::vulkan("vkCreateQueryPool"))?;
        Ok(Some(Self { device: device.clone(), pool, count, valid_bits }))
    }

    /// Resets the whole pool, in the command buffer.
    ///
    /// # Safety
    /// As for [`super::Recorder::new`]; the pool outlives the work.
    pub unsafe fn cmd_reset(&self, command_buffer: vk::CommandBuffer) {
        // SAFETY: as the caller promises.
        unsafe { self.device.raw().cmd_reset_query_pool(command_buffer, self.pool, 0, self.count) };
    }

    /// Writes timestamp `index` when all earlier work has passed `stage`.
    ///
    /// # Safety
    /// As for [`Self::cmd_reset`], which comes first; `index` is below the pool's count and written once.
    pub unsafe fn cmd_write(
        &self,
        command_buffer: vk::CommandBuffer,
        stage: vk::PipelineStageFlags,
        index: u32,
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.device.raw().cmd_write_timestamp(command_buffer, stage, self.pool, index) };
    }

    /// The nanoseconds between the first two timestamps, once the work is done; the counter may wrap once.
    ///
    /// # Errors
    /// Whatever `vkGetQueryPoolResults` says.
    pub fn elapsed_ns(&self) -> Result<f64> {
        let mut ticks = [0u64; 2];
        // SAFETY: the pool is alive; without WAIT an unfinished query is an error, not a wait.
        unsafe {
            self.device.raw().get_query_pool_results(self.pool, 0, &mut ticks, vk::QueryResultFlags::TYPE_64)
        }
        .map_err(Error::vulkan("vkGetQueryPoolResults"))?;
        Ok(elapsed_ticks(ticks, self.valid_bits) as f64
            * f64::from(self.device.capabilities().timestamp_period_ns))
    }
}

/// The ticks from the first to the second, in a counter of `valid_bits` bits.
fn elapsed_ticks([begin, end]: [u64; 2], valid_bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - valid_bits.min(64));
    end.wrapping_sub(begin) & mask
}

impl Drop for Timestamps {
    fn drop(&mut self) {
        // SAFETY: made in `new`; whoever submits work that uses it keeps it until the work is done.
        unsafe { self.device.raw().destroy_query_pool(self.pool, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::elapsed_ticks;

    #[test]
    fn bits_beyond_the_valid_ones_do_not_count() {
        assert_eq!(elapsed_ticks([5, 25], 64), 20);
        assert_eq!(elapsed_ticks([(1 << 36) - 4, 6], 36), 10);
        assert_eq!(elapsed_ticks([0xdead_0000_0000_0001, 0xbeef_0000_0000_0003], 32), 2);
    }
}
