//! Scan-then-propagate: an up-sweep scans tiles, a down-sweep adds their carry-ins.
//!
//! ```text
//!   elements ── scan tiles ──► sums of tiles ── scan tiles ──► sums of sums …   until one tile holds a level
//!      ▲                           │    ▲                           │
//!      └──────── propagate ────────┘    └──────── propagate ────────┘
//! ```
//!
//! Every level above the elements is scanned exclusively in place, in scratch. The elements are written twice;
//! reduce-then-scan writes them once.

use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::scan::levels::Levels;
use crate::primitives::scan::reduce_then_scan::pipeline_of;
use crate::primitives::scan::{Scan, ScanConfig, ScanKind, ScanPolicy, Strategy, TileDepth};
use crate::primitives::{ScratchCursor, Tiles, has_quads};

#[derive(Debug)]
pub(in crate::primitives) struct ScanThenPropagate {
    kind: ScanKind,
    row_size: u64,
    tile_items: u32,
    pack_items: u32,
    scans: Vec<(ScanTiles, Pipeline)>,
    propagates: Vec<(AccessWidth, Pipeline)>,
}

/// Key of the up-sweep's pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ScanTiles {
    kind: ScanKind,
    access: AccessWidth,
    /// False only for the single tile of the top level.
    keeps_sums: bool,
}

/// Access of kernels to elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccessWidth {
    Quads,
    Words,
}

impl ScanThenPropagate {
    pub fn new(device: &Device, config: &ScanConfig, policy: &ScanPolicy) -> Result<Self> {
        let shape = config.row_shape();
        let pipeline = |kernel, access: AccessWidth, extra: &[(&'static str, u32)]| {
            let tile = policy.tile_constants(shape);
            let quads = [("QUAD_ACCESS", (access == AccessWidth::Quads).into())];
            let constants: Vec<_> = tile.iter().chain(&quads).chain(extra).copied().collect();
            policy.pipeline(device, kernel, &constants)
        };
        // The caller's level, by quads and by words, and the levels above it, of any length.
        let levels = [
            (config.kind, AccessWidth::Quads),
            (config.kind, AccessWidth::Words),
            (ScanKind::Exclusive, AccessWidth::Words),
        ];
        let mut scans: Vec<(ScanTiles, Pipeline)> = Vec::new();
        for (kind, access) in levels {
            for keeps_sums in [true, false] {
                let key = ScanTiles { kind, access, keeps_sums };
                if scans.iter().all(|(other, _)| *other != key) {
                    let constants = [
                        ("EXCLUSIVE", (kind == ScanKind::Exclusive).into()),
                        ("KEEPS_SUMS", keeps_sums.into()),
                    ];
                    scans.push((key, pipeline(kernels::SCAN_SCAN_TILES.module(&[]), access, &constants)?));
                }
            }
        }
        let mut propagates = Vec::new();
        for access in [AccessWidth::Quads, AccessWidth::Words] {
            propagates.push((access, pipeline(kernels::SCAN_PROPAGATE.module(&[]), access, &[])?));
        }
        let (kind, row_size, tile_items) = (config.kind, config.row_size(), policy.tile_items());
        Ok(Self { kind, row_size, tile_items, pack_items: shape.items_per_pack(), scans, propagates })
    }
}

impl Strategy for ScanThenPropagate {
    fn rounding_depth(&self, count: u64, tile: &TileDepth) -> u64 {
        2 * self.layout(&mut ScratchCursor::default(), count).len as u64 * tile.operations
    }

    fn moved_rows(&self, count: u64) -> u64 {
        // Propagation reads and writes all rows again.
        count.saturating_mul(if count <= self.tile_items.into() { 2 } else { 4 })
    }
}

impl Algorithm<Scan> for ScanThenPropagate {
    type Layout = Levels;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let scans = self.scans.iter().map(|(_, pipeline)| pipeline);
        scans.chain(self.propagates.iter().map(|(_, pipeline)| pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> Levels {
        Levels::new(cursor, count, self.tile_items, self.row_size)
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, Levels>) -> Result<()> {
        let Checked { buffers, layout: levels, count } = given;
        let count = count.max();
        let top = levels.len - 1;
        let tiles = |level: usize| Tiles::new(levels.counts[level], self.tile_items);
        let array = |level: usize| {
            let size = levels.counts[level] * self.row_size;
            buffers.scratch.slice(levels.offsets[level], size).addresses()
        };
        let source = |level| if level == 0 { buffers.source } else { array(level) };
        let destination = |level| if level == 0 { buffers.destination } else { array(level) };

        let ranges = [buffers.source, buffers.destination];
        let has_quads = has_quads(ranges.map(|range| (range, 16)), false, count.into(), self.pack_items);
        let access = |level| if level == 0 && has_quads { AccessWidth::Quads } else { AccessWidth::Words };

        recorder.phase(c"scan tiles");
        for level in 0..=top {
            let Tiles { count: tile_count, last_extent } = tiles(level)?;
            let (source, destination) = (source(level), destination(level));
            let keeps_sums = level < top;
            let sums = if keeps_sums { array(level + 1) } else { AddressRange::NONE };
            let push = push::ScanScanTiles { source, destination, sums, tile_count, last_extent };
            let kind = if level == 0 { self.kind } else { ScanKind::Exclusive };
            let key = ScanTiles { kind, access: access(level), keeps_sums };
            if level > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            recorder.dispatch(pipeline_of(&self.scans, key), &push, tile_count.into())?;
        }
        recorder.phase(c"propagate");
        for level in (0..top).rev() {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            let Tiles { count: tile_count, last_extent } = tiles(level)?;
            let (table, carries) = (destination(level), array(level + 1));
            let push = push::ScanPropagate { table, carries, tile_count, last_extent };
            let pipeline = pipeline_of(&self.propagates, access(level));
            recorder.dispatch(pipeline, &push, u64::from(tile_count) - 1)?;
        }
        Ok(())
    }
}
