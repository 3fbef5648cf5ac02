//! Block doubling (Sklansky's network across the device): scanned blocks double in size with every dispatch.
//!
//! ```text
//!   | 0 | 1 | 2 | 3 | 4 | 5 | 6 |     blocks of 1
//!   | 0   1 | 2   3 | 4   5 | 6 |     each odd block adds the last element of the even block before it
//!   | 0   1   2   3 | 4   5   6 |
//!   | 0   1   2   3   4   5   6 |
//! ```
//!
//! The first step also copies the elements from the source to the destination; the others work in place.

use super::step_count;
use crate::device::{Barrier, Device, Pipeline, Recorder, push};
use crate::error::{Result, at_most};
use crate::kernels;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::scan::{Scan, ScanPolicy, Strategy, TileDepth};
use crate::primitives::{ScratchCursor, Tiles};

#[derive(Debug)]
pub(in crate::primitives) struct BlockDoubling {
    tile_items: u32,
    first: Pipeline,
    step: Pipeline,
}

impl BlockDoubling {
    pub fn new(device: &Device, policy: &ScanPolicy) -> Result<Self> {
        let pipeline = |from_source: bool| {
            policy.pipeline(
                device,
                kernels::SCAN_DOUBLE_BLOCKS.module(&[]),
                &[("FROM_SOURCE", from_source.into())],
            )
        };
        Ok(Self { tile_items: policy.tile_items(), first: pipeline(true)?, step: pipeline(false)? })
    }

    /// Number of elements read, and of elements written.
    fn moved_count(count: u64) -> u64 {
        let upper = |bits: u32| {
            let block = 1u64 << bits;
            let pair = block.saturating_mul(2);
            count / pair * block + (count % pair).saturating_sub(block)
        };
        (1..step_count(count)).map(upper).fold(count, u64::saturating_add)
    }
}

impl Strategy for BlockDoubling {
    fn rounding_depth(&self, count: u64, _: &TileDepth) -> u64 {
        // One operation per step.
        step_count(count).into()
    }

    fn moved_rows(&self, count: u64) -> u64 {
        Self::moved_count(count).saturating_mul(2)
    }
}

impl Algorithm<Scan> for BlockDoubling {
    type Layout = ();

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        [&self.first, &self.step].into_iter()
    }

    fn layout(&self, _: &mut ScratchCursor, _: u64) {}

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, ()>) -> Result<()> {
        let Checked { buffers, count, .. } = given;
        let count = count.max();
        let Tiles { count: tile_count, last_extent } = Tiles::new(count, self.tile_items)?;
        // The kernel doubles a tile's index.
        at_most(count, u64::from(self.tile_items) << 31, "2^31 tiles of this policy")?;
        let destination = buffers.destination;
        let tile_bits = self.tile_items.ilog2();
        for block_bits in 0..step_count(count).max(1) {
            let (pipeline, source) = match block_bits {
                0 => (&self.first, buffers.source),
                _ => (&self.step, destination),
            };
            let push = push::ScanDoubleBlocks { source, destination, tile_count, last_extent, block_bits };
            let workgroup_count = match block_bits.checked_sub(tile_bits) {
                None => u64::from(tile_count).div_ceil(2),
                Some(bits) => {
                    let block_tiles = 1 << bits;
                    let (pairs, rest) =
                        (u64::from(tile_count) >> (bits + 1), u64::from(tile_count) % (2 * block_tiles));
                    pairs * block_tiles + rest.saturating_sub(block_tiles)
                }
            };
            if block_bits > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            recorder.dispatch(pipeline, &push, workgroup_count)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
