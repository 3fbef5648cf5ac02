//! Sums of tiles on the way up, the tiles themselves on the way down.
//!
//! ```text
//!   elements ── reduce ──► sums of tiles ── reduce ──► sums of sums …   until one tile holds a level
//!      │                       │                          │
//!      └──── downsweep ◄───────┴─────── downsweep ◄───────┴── downsweep (that tile, with no carry-in)
//! ```
//!
//! Every level above the elements is scanned exclusively, in place, in scratch: then it holds the carry-in of each
//! tile of the level below.

use super::algorithm::WorkgroupScan;
use super::config::{ScanBuffers, ScanConfig, ScanKind};
use super::levels::Levels;
use super::operator::Modules;
use super::policy::ScanPolicy;
use crate::error::{Error, Result};
use crate::kernels::{self, Kernel};
use crate::primitives::Tiles;
use crate::vk::{AddressRange, Barrier, Device, Pipeline, PipelineOptions, Recorder, push_constants};

push_constants! {
    struct ReducePush for [
        SCAN_REDUCE_WORDS32X1,
        SCAN_REDUCE_WORDS32X2,
        SCAN_REDUCE_WORDS32X3,
        SCAN_REDUCE_WORDS32X4,
        SCAN_REDUCE_WORDS32_STRIDED,
        SCAN_REDUCE_WORDS64X1,
        SCAN_REDUCE_WORDS64X2,
        SCAN_REDUCE_WORDS64_STRIDED,
        SCAN_REDUCE_FLOAT64X1,
        SCAN_REDUCE_FLOAT64X2,
        SCAN_REDUCE_FLOAT64_STRIDED,
    ] {
        source: AddressRange,
        sums: AddressRange,
        tile_count: u32,
        last_extent: u32,
        column_count: u32,
    }
}

push_constants! {
    pub(super) struct DownsweepPush for [
        SCAN_DOWNSWEEP_WORDS32X1,
        SCAN_DOWNSWEEP_WORDS32X2,
        SCAN_DOWNSWEEP_WORDS32X3,
        SCAN_DOWNSWEEP_WORDS32X4,
        SCAN_DOWNSWEEP_WORDS32_STRIDED,
        SCAN_DOWNSWEEP_WORDS64X1,
        SCAN_DOWNSWEEP_WORDS64X2,
        SCAN_DOWNSWEEP_WORDS64_STRIDED,
        SCAN_DOWNSWEEP_FLOAT64X1,
        SCAN_DOWNSWEEP_FLOAT64X2,
        SCAN_DOWNSWEEP_FLOAT64_STRIDED,
        SCAN_DOWNSWEEP_KOGGE_STONE,
        SCAN_DOWNSWEEP_KOGGE_STONE_DOUBLE_BUFFERED,
        SCAN_DOWNSWEEP_BRENT_KUNG,
        SCAN_DOWNSWEEP_SKLANSKY,
        SCAN_DOWNSWEEP_SEQUENTIAL,
    ] {
        source: AddressRange,
        destination: AddressRange,
        carries: AddressRange,
        tile_count: u32,
        last_extent: u32,
        column_count: u32,
    }
}

#[derive(Debug)]
pub(super) struct ReduceThenScan {
    kind: ScanKind,
    row_size: u64,
    tile_items: u32,
    /// Workgroups of a tile: one for each column where a row is too wide for one.
    column_count: u32,
    reduces: Vec<(bool, Pipeline)>,
    downsweeps: Vec<(Downsweep, Pipeline)>,
}

/// What tells the pipelines of the way down apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Downsweep {
    kind: ScanKind,
    has_carry: bool,
    quad_access: bool,
}

impl ReduceThenScan {
    pub(super) fn new(device: &Device, config: &ScanConfig, policy: &ScanPolicy) -> Result<Self> {
        let Modules { reduce, downsweep, constants: operator, shape, .. } = config.modules();
        let downsweep = policy.algorithm.workgroup_scan().and_then(textbook_downsweep).unwrap_or(downsweep);
        let tile = [
            ("RUNS_PER_INVOCATION", policy.items_per_invocation / policy.items_per_run),
            ("PACKS_PER_RUN", policy.items_per_run / shape.items_per_pack()),
        ];
        let pipeline = |kernel, extra: &[(&'static str, u32)]| {
            let constants: Vec<_> = operator.iter().chain(&tile).chain(extra).copied().collect();
            let options = PipelineOptions {
                workgroup_size: policy.workgroup_size,
                constants: &constants,
                subgroup_size: policy.subgroup_size,
            };
            Pipeline::new(device, kernel, options)
        };

        // Elements of a column that lie apart are no quads, wherever they begin.
        let accesses: &[bool] = if shape.is_strided { &[false] } else { &[true, false] };
        let mut reduces = Vec::new();
        for &quad_access in accesses {
            reduces.push((quad_access, pipeline(reduce, &[("QUAD_ACCESS", quad_access.into())])?));
        }
        let mut downsweeps: Vec<(Downsweep, Pipeline)> = Vec::new();
        for has_carry in [false, true] {
            // The caller's level, wherever it lies, and the levels above it, which lie aligned in scratch.
            let all = [(config.kind, true), (config.kind, false), (ScanKind::Exclusive, true)];
            for (kind, is_aligned) in all {
                let quad_access = is_aligned && !shape.is_strided;
                let key = Downsweep { kind, has_carry, quad_access };
                if downsweeps.iter().all(|(made, _)| *made != key) {
                    let constants = [
                        ("QUAD_ACCESS", quad_access.into()),
                        ("EXCLUSIVE", (kind == ScanKind::Exclusive).into()),
                        ("HAS_CARRY", has_carry.into()),
                    ];
                    downsweeps.push((key, pipeline(downsweep, &constants)?));
                }
            }
        }
        Ok(Self {
            kind: config.kind,
            row_size: config.row_size(),
            tile_items: policy.tile_items(),
            column_count: if shape.is_strided { config.column_count() } else { 1 },
            reduces,
            downsweeps,
        })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let Self { kind: _, row_size: _, tile_items: _, column_count: _, reduces, downsweeps } = self;
        let reduces = reduces.iter().map(|(_, pipeline)| pipeline);
        reduces.chain(downsweeps.iter().map(|(_, pipeline)| pipeline))
    }

    pub(super) fn level_count(&self, count: u64) -> u64 {
        self.levels(count).len as u64
    }

    pub(super) fn scratch_size(&self, max_count: u64) -> u64 {
        self.levels(max_count).scratch_size
    }

    fn levels(&self, count: u64) -> Levels {
        Levels::new(count, self.tile_items, self.row_size)
    }

    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ScanBuffers,
        count: u64,
    ) -> Result<()> {
        let levels = self.levels(count);
        let top = levels.len - 1;
        let tiles = |level: usize| Tiles::new(levels.counts[level], self.tile_items);
        let column_count = self.column_count;
        let workgroup_count = |tiles: Tiles| u64::from(tiles.count) * u64::from(column_count);
        if workgroup_count(tiles(0)?) > u32::MAX.into() {
            let max = u64::from(u32::MAX / column_count) * u64::from(self.tile_items);
            return Err(Error::TooManyElements { count, max, what: "2^32 - 1 workgroups of this policy" });
        }
        let array = |level: usize| {
            let size = levels.counts[level] * self.row_size;
            buffers.scratch.slice(levels.offsets[level], size).addresses()
        };
        let source = |level| if level == 0 { buffers.source } else { array(level) };
        let destination = |level| if level == 0 { buffers.destination } else { array(level) };

        for level in 0..top {
            let tiles = tiles(level)?;
            let push = ReducePush {
                source: source(level),
                sums: array(level + 1),
                tile_count: tiles.count,
                last_extent: tiles.last_extent,
                column_count,
            };
            let pipeline = made(&self.reduces, self.quad_access(&[push.source]));
            recorder.dispatch(pipeline, &push, workgroup_count(tiles))?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        for level in (0..=top).rev() {
            let tiles = tiles(level)?;
            let push = DownsweepPush {
                source: source(level),
                destination: destination(level),
                carries: if level < top { array(level + 1) } else { AddressRange::default() },
                tile_count: tiles.count,
                last_extent: tiles.last_extent,
                column_count,
            };
            let key = Downsweep {
                kind: if level == 0 { self.kind } else { ScanKind::Exclusive },
                has_carry: level < top,
                quad_access: self.quad_access(&[push.source, push.destination]),
            };
            recorder.dispatch(made(&self.downsweeps, key), &push, workgroup_count(tiles))?;
            if level > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
        }
        Ok(())
    }

    /// Whether kernels may use 16-byte accesses on all of `ranges`.
    fn quad_access(&self, ranges: &[AddressRange]) -> bool {
        self.column_count == 1 && ranges.iter().all(|range| range.is_aligned(16))
    }
}

/// The way down by a textbook's workgroup scan.
fn textbook_downsweep(scan: WorkgroupScan) -> Option<&'static Kernel> {
    match scan {
        WorkgroupScan::Subgroup => None,
        WorkgroupScan::KoggeStone => Some(&kernels::SCAN_DOWNSWEEP_KOGGE_STONE),
        WorkgroupScan::KoggeStoneDoubleBuffered => Some(&kernels::SCAN_DOWNSWEEP_KOGGE_STONE_DOUBLE_BUFFERED),
        WorkgroupScan::BrentKung => Some(&kernels::SCAN_DOWNSWEEP_BRENT_KUNG),
        WorkgroupScan::Sklansky => Some(&kernels::SCAN_DOWNSWEEP_SKLANSKY),
        WorkgroupScan::Sequential => Some(&kernels::SCAN_DOWNSWEEP_SEQUENTIAL),
    }
}

/// The pipeline of `key`, which `new` has made.
pub(super) fn made<K: PartialEq>(pipelines: &[(K, Pipeline)], key: K) -> &Pipeline {
    let (_, pipeline) = pipelines.iter().find(|(made, _)| *made == key).expect("`new` makes every key's");
    pipeline
}
