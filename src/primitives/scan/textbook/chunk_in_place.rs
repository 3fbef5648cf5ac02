//! The seed's scan: the sum of each chunk is stored in the chunk's last row.
//!
//! Tutorial 14 sums chunks, scans the sums on the CPU, and scans the chunks from their predecessor's last row. Here the
//! sums are scanned recursively on the device: the last rows of chunks are a table with 256 times the stride.

use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::{PolicyConflict, Result, at_most, refuse_if};
use crate::kernels;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::scan::{Scan, ScanConfig, ScanKind, ScanPolicy, Strategy, TileDepth};
use crate::primitives::{ScratchCursor, Tiles};

/// Maximum count: the kernels' strides, in bytes, have 32 bits.
const MAX_COUNT: u64 = 1 << 32;

#[derive(Debug)]
pub(in crate::primitives) struct ChunkInPlace {
    chunk_items: u32,
    sum: Pipeline,
    /// For a level whose chunks have sums in their last rows.
    prefix_below_sums: Pipeline,
    /// For the single chunk of the last level.
    prefix: Pipeline,
}

impl ChunkInPlace {
    /// Whether a policy with sums in the last row may scan a configuration.
    pub fn check(policy: &ScanPolicy, config: &ScanConfig) -> Result<()> {
        let require = PolicyConflict::check;
        let is_seed = (ScanPolicy { subgroup_size: None, ..*policy }) == ScanPolicy::seed();
        require(is_seed, "sums in the last row come with the seed's chunks only: ScanPolicy::seed()")?;
        require(
            config.kind == ScanKind::Inclusive,
            "the seed's scan is inclusive; use the default policy for an exclusive one",
        )?;
        require(
            !config.is_out_of_place,
            "the seed's scan is in place only; use the default policy out of place",
        )?;
        require(
            config.is_plain(),
            "the seed's scan is forward, without initial value, segments or indirect counts",
        )?;
        require(
            config.is_sum_of_u32() && config.column_count() <= ScanPolicy::MAX_SEED_COLUMNS,
            "the seed's scan sums up to 4 columns of u32; use the default policy for others",
        )
    }

    pub fn new(device: &Device, config: &ScanConfig, policy: &ScanPolicy) -> Result<Self> {
        let columns = [("COLUMNS", config.column_count())];
        let (sum, prefix) =
            (kernels::SCAN_CHUNK_SUM.module(&columns), kernels::SCAN_CHUNK_PREFIX.module(&columns));
        let pipeline = |kernel, constants: &[(&'static str, u32)]| policy.pipeline(device, kernel, constants);
        let batches = ("BATCHES_PER_CHUNK", policy.items_per_invocation);
        Ok(Self {
            chunk_items: policy.tile_items(),
            sum: pipeline(sum, &[batches])?,
            prefix_below_sums: pipeline(prefix, &[batches, ("HAS_SUMS", 1)])?,
            prefix: pipeline(prefix, &[batches, ("HAS_SUMS", 0)])?,
        })
    }

    /// Scans `count` rows at a stride of `stride` rows.
    fn record_level(
        &self,
        recorder: &mut Recorder<'_>,
        table: AddressRange,
        count: u64,
        stride: u32,
    ) -> Result<()> {
        let chunks = Tiles::new(count, self.chunk_items)?;
        let push =
            push::ScanChunkSum { table, stride, chunk_count: chunks.count, last_extent: chunks.last_extent };
        if chunks.count == 1 {
            return recorder.dispatch(&self.prefix, &push, 1);
        }
        // A partial chunk is the last, and needs no sum.
        let full_chunks = (count / u64::from(self.chunk_items)) as u32;
        let sums = push::ScanChunkSum { chunk_count: full_chunks, ..push };
        recorder.dispatch(&self.sum, &sums, full_chunks.into())?;
        recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        // The scan of a single sum is the sum itself.
        if full_chunks > 1 {
            self.record_level(recorder, table, full_chunks.into(), stride * self.chunk_items)?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        recorder.dispatch(&self.prefix_below_sums, &push, chunks.count.into())
    }
}

impl Strategy for ChunkInPlace {
    fn rounding_depth(&self, _: u64, tile: &TileDepth) -> u64 {
        // An upper bound of the levels.
        2 * 64 * tile.operations
    }

    fn moved_rows(&self, count: u64) -> u64 {
        count.saturating_mul(if count <= self.chunk_items.into() { 2 } else { 3 })
    }
}

impl Algorithm<Scan> for ChunkInPlace {
    type Layout = ();

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let Self { chunk_items: _, sum, prefix_below_sums, prefix } = self;
        [sum, prefix_below_sums, prefix].into_iter()
    }

    fn layout(&self, _: &mut ScratchCursor, _: u64) {}

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, ()>) -> Result<()> {
        let Checked { buffers, count, .. } = given;
        let count = count.max();
        let reason = "the seed's scan is in place: give it one range as source and destination";
        refuse_if(buffers.source != buffers.destination, reason)?;
        at_most(count, MAX_COUNT, "the seed's scan")?;
        self.record_level(recorder, buffers.destination, count, 1)
    }
}
