//! Strided scan: adds elements at half the distance in every step, with ping-pong buffers.
//!
//! ```text
//!   distance 4:  | 0 | 1 | 2 | 3 | 0+4 | 1+5 | 2+6 |
//!   distance 2:  | 0 | 1 | 0+2 | 1+3 | 0+2+4 | 1+3+5 | 0+2+4+6 |
//!   distance 1:  | 0 | 0+1 | 0+1+2 | …
//! ```
//!
//! Only the first step reads the source. The others alternate between scratch and the destination, and the last one
//! writes the destination. In place, a step with a distance beyond the elements, which copies, makes their number even.

use super::step_count;
use crate::device::{Barrier, Device, Pipeline, Recorder, push};
use crate::error::{Result, at_most};
use crate::kernels;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::scan::config::Direction;
use crate::primitives::scan::{Scan, ScanBuffers, ScanConfig, ScanPolicy, Strategy, TileDepth};
use crate::primitives::{ScratchCursor, Tiles};

#[derive(Debug)]
pub(in crate::primitives) struct Strided {
    row_size: u64,
    tile_items: u32,
    step: Pipeline,
}

impl Strided {
    pub fn new(device: &Device, config: &ScanConfig, policy: &ScanPolicy) -> Result<Self> {
        let suffix = [("SUFFIX", (config.direction == Direction::Reverse).into())];
        let step = policy.pipeline(device, kernels::SCAN_STRIDED.module(&[]), &suffix)?;
        Ok(Self { row_size: config.row_size(), tile_items: policy.tile_items(), step })
    }

    /// Number of elements read and written, out of place.
    fn moved_count(count: u64) -> u64 {
        let step = |bits: u32| count.saturating_mul(3) - (1 << bits);
        match step_count(count) {
            0 => 2 * count,
            steps => (0..steps).map(step).fold(0, u64::saturating_add),
        }
    }
}

impl Strategy for Strided {
    fn rounding_depth(&self, count: u64, _: &TileDepth) -> u64 {
        // One operation per step.
        step_count(count).into()
    }

    fn moved_rows(&self, count: u64) -> u64 {
        Self::moved_count(count)
    }
}

impl Algorithm<Scan> for Strided {
    type Layout = u64;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::once(&self.step)
    }

    /// The other buffer.
    fn layout(&self, cursor: &mut ScratchCursor, max_count: u64) -> u64 {
        let count = if max_count < 2 { 0 } else { max_count };
        cursor.take("the other buffer", count.saturating_mul(self.row_size))
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, u64>) -> Result<()> {
        let Checked { buffers, layout: other, count } = given;
        let count = count.max();
        let Tiles { count: tile_count, last_extent } = Tiles::new(count, self.tile_items)?;
        // The kernel adds a distance to a tile's index.
        at_most(count, u64::from(self.tile_items) << 30, "2^30 tiles of this policy")?;
        let ScanBuffers { source, destination, scratch, .. } = *buffers;
        let steps = step_count(count);
        let steps = if source == destination { steps.next_multiple_of(2) } else { steps.max(1) };
        let scratch =
            if steps > 1 { scratch.slice(*other, count * self.row_size).addresses() } else { source };
        let mut from = source;
        for bits in (0..steps).rev() {
            let to = if bits % 2 == 0 { destination } else { scratch };
            let distance = 1u64 << bits;
            let push = push::ScanStrided {
                source: from,
                destination: to,
                tile_count,
                last_extent,
                distance_tiles: (distance / u64::from(self.tile_items)) as u32,
                distance_items: (distance % u64::from(self.tile_items)) as u32,
            };
            recorder.dispatch(&self.step, &push, tile_count.into())?;
            if bits > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            from = to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
