//! Single-pass scan with decoupled look-back.
//!
//! ```text
//!   state:  | next tile | – | – | – | tile 0: statuses | tile 1: statuses | …
//!              ▲                         │                     ▲
//!              │ ticket                  ▼ look-back           │ publish
//!   elements ──┴── tile, tile, tile ── chained ────────────────┘──► results
//! ```
//!
//! A waiting tile reduces a stalled tile itself (fallback), so the elements must not change. With the fixed tree,
//! statuses of groups of 32 tiles follow the statuses of the tiles. For an indirect count, a dispatch first writes the number
//! of tiles; the state is sized and cleared for the maximum.
//!
//! A few tiles (`ScanPolicy::few`) take one dispatch of `downsweep.comp` and no state: each workgroup reduces all elements
//! before its tile.

use super::config::{Direction, ScanBuffers, ScanConfig, ScanKind};
use super::operator::Modules;
use super::policy::ScanPolicy;
use super::{Scan, Strategy, TileDepth};
use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::{Result, refuse_if};
#[cfg(feature = "counters")]
use crate::kernels;
use crate::kernels::Kernel;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::look_back::TICKET_SIZE;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{Count, ScratchCursor, ScratchRange, Tiles, has_quads};

/// `GROUP_TILES` of `chained.comp`.
const GROUP_TILES: u64 = 32;

#[derive(Debug)]
pub(super) struct Chained {
    tile_items: u32,
    /// Items of a tile without state, and the most elements of such tiles.
    few_tile_items: u32,
    max_few: u64,
    /// Bytes of a tile's statuses: one word for each half word of an aggregate.
    status_size: u64,
    has_fixed_tree: bool,
    row_size: u64,
    has_initial: bool,
    mixed_access: bool,
    pack_items: u32,
    /// Bytes of which the addresses are multiples where tiles are accessed by quads.
    quad_alignments: [u64; 2],
    quads: AccessPipelines,
    words: AccessPipelines,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// Offsets of the arrays in scratch.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    state: ScratchRange,
    /// Offset of the initial value.
    initial: u64,
    /// Offset of the output of `level_args.comp`.
    level_args: u64,
}

/// Pipelines that access elements by quads, or by words.
#[derive(Debug)]
struct AccessPipelines {
    /// For one tile or a few, without state.
    stateless: Pipeline,
    chained: Pipeline,
}

impl Chained {
    pub(super) fn new(
        device: &Device,
        config: &ScanConfig,
        policy: &ScanPolicy,
        kernel: &'static Kernel,
    ) -> Result<Self> {
        let Modules { downsweep, constants: operator, result_constants, shape, .. } = config.modules()?;
        let pipeline = |policy: &ScanPolicy, kernel, quad_access: bool, look_back: &[(&'static str, u32)]| {
            let tile = policy.tile_constants(shape);
            let constants = [
                ("QUAD_ACCESS", quad_access.into()),
                ("MIXED_ACCESS", policy.mixed_access.into()),
                ("EXCLUSIVE", (config.kind == ScanKind::Exclusive).into()),
                ("REVERSE", (config.direction == Direction::Reverse).into()),
            ];
            let constants = [&operator[..], &result_constants, &tile, &constants, look_back].concat();
            policy.pipeline(device, kernel, &constants)
        };
        let look_back =
            [&[("FIXED_TREE", policy.fixed_tree.into())][..], &policy.look_back.constants()].concat();
        let (few, max_few) = policy.for_few();
        let stateless: &[_] = if policy.few.is_some() { &[("REDUCES_BEFORE", 1)] } else { &[] };
        let access = |quad_access| {
            Ok(AccessPipelines {
                stateless: pipeline(&few, downsweep, quad_access, stateless)?,
                chained: pipeline(policy, kernel, quad_access, &look_back)?,
            })
        };
        Ok(Self {
            tile_items: policy.tile_items(),
            few_tile_items: few.tile_items(),
            max_few,
            status_size: 2 * config.row_size(),
            has_fixed_tree: policy.fixed_tree,
            row_size: config.row_size(),
            has_initial: config.has_initial,
            mixed_access: policy.mixed_access,
            pack_items: shape.items_per_pack(),
            quad_alignments: config.quad_alignments(),
            quads: access(true)?,
            words: access(false)?,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }

    fn access(&self, buffers: &ScanBuffers, count: Count) -> &AccessPipelines {
        let ranges = [buffers.source, buffers.destination].into_iter().zip(self.quad_alignments);
        let has_quads = has_quads(ranges, self.mixed_access, count, self.pack_items);
        if has_quads { &self.quads } else { &self.words }
    }

    fn tile_count(&self, count: u64) -> u64 {
        count.div_ceil(self.tile_items.into())
    }

    /// Maximum number of additions between a tile's aggregate and a carry of `count` elements, in subgroups of
    /// `min_lanes` to `max_lanes`.
    fn chain_length(&self, count: u64, min_lanes: u64, max_lanes: u64) -> u64 {
        let tile_count = self.tile_count(count);
        if self.has_fixed_tree {
            // A chunk's lanes, a group's chunks, the groups, and the tile's own group.
            max_lanes + GROUP_TILES.div_ceil(min_lanes) + tile_count.div_ceil(GROUP_TILES) + 1
        } else {
            // A tile may add to the prefix that the previous one published.
            tile_count
        }
    }

    /// Size of the state, bytes; none for one tile or a few.
    fn state_size(&self, count: u64) -> u64 {
        if count <= self.max_few {
            return 0;
        }
        let tile_count = self.tile_count(count);
        let group_count = if self.has_fixed_tree { tile_count.div_ceil(GROUP_TILES) } else { 0 };
        (tile_count + group_count).saturating_mul(self.status_size).saturating_add(TICKET_SIZE)
    }
}

impl Strategy for Chained {
    fn rounding_depth(&self, count: u64, tile: &TileDepth) -> u64 {
        let [min_lanes, max_lanes] = tile.lanes;
        2 * tile.operations + self.chain_length(count, min_lanes, max_lanes)
    }

    fn moved_rows(&self, count: u64) -> u64 {
        count.saturating_mul(2)
    }

    fn scans_in_place(&self) -> bool {
        false
    }

    fn has_fill(&self) -> bool {
        true
    }
}

impl Algorithm<Scan> for Chained {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let accesses = [&self.quads, &self.words].into_iter();
        let scans = accesses.flat_map(|AccessPipelines { stateless, chained }| [stateless, chained]);
        scans.chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> ScratchLayout {
        ScratchLayout {
            state: cursor.array("ticket and look-back state", self.state_size(count)),
            initial: cursor.take("initial value", if self.has_initial { self.row_size } else { 0 }),
            level_args: LevelArgs::take(cursor, self.level_args.as_ref()),
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Scan, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let ScanBuffers { source, destination, scratch, .. } = *buffers;
        let reason = "the chained scan may read a tile again; scan out of place, or by reduce-then-scan";
        refuse_if(source == destination, reason)?;
        let is_few = count.max() <= self.max_few;
        let tile_items = if is_few { self.few_tile_items } else { self.tile_items };
        let Tiles { count: tile_count, last_extent } = Tiles::new(count.max(), tile_items)?;
        recorder.check_workgroups(tile_count.into())?;
        let access = self.access(buffers, count);
        recorder.phase(c"level args");
        let initial = buffers.initial_row(layout.initial, self.row_size);
        let updates = buffers.write_initial(recorder, layout.initial, self.row_size);
        let state = layout.state.range(scratch);
        recorder.fill(state, 0);
        if state.size > 0 || updates {
            recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        }
        let grid = TileGrid { tile_items, column_count: 1 };
        let levels = (scratch, layout.level_args);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, levels)?;
        let indirect_tiles = workgroups.indirect_tiles();
        recorder.phase(c"chained");
        if is_few {
            let push = push::ScanDownsweep {
                source,
                destination,
                carries: initial,
                heads: AddressRange::NONE,
                initial: AddressRange::NONE,
                indirect_tiles,
                tile_count,
                last_extent,
                column_count: 1,
            };
            return workgroups.dispatch(recorder, &access.stateless, &push);
        }
        let state = state.addresses();
        let push = push::ScanChained {
            source,
            destination,
            state,
            initial,
            indirect_tiles,
            tile_count,
            last_extent,
        };
        workgroups.dispatch(recorder, &access.chained, &push)
    }
}

/// Chained scan of 32-bit elements in more than one tile, with counters of its look-back.
#[cfg(feature = "counters")]
#[derive(Debug)]
pub struct CountedChained(Chained);

#[cfg(feature = "counters")]
impl CountedChained {
    pub(super) fn new(device: &Device, config: &ScanConfig, policy: &ScanPolicy) -> Result<Option<Self>> {
        let Modules { chained, shape, .. } = config.modules()?;
        if chained.is_none() || shape.element_words != 1 || config.packed().is_some() {
            return Ok(None);
        }
        let counted = kernels::SCAN_CHAINED_COUNTED.module(&[("OPERATOR_WORDS32", 1), ("COLUMNS", 1)]);
        let chained = Chained::new(device, config, policy, counted)?;
        Pipeline::compile_all(device, [&chained.quads, &chained.words].map(|access| &access.chained))?;
        Ok(Some(Self(chained)))
    }

    /// Adds to the 4 words of `counts`; returns the number of tiles that looked back.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &ScanBuffers,
        counts: AddressRange,
        count: u64,
    ) -> Result<u32> {
        let Self(chained) = self;
        let Tiles { count: tile_count, last_extent } = Tiles::new(count, chained.tile_items)?;
        let state = buffers.scratch.slice(0, chained.state_size(count));
        recorder.fill(state, 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let (ScanBuffers { source, destination, .. }, state) = (*buffers, state.addresses());
        let push = push::ScanChainedCounted {
            source,
            destination,
            state,
            initial: AddressRange::NONE,
            indirect_tiles: AddressRange::NONE,
            tile_count,
            last_extent,
            counts,
        };
        let access = chained.access(buffers, count.into());
        recorder.dispatch(&access.chained, &push, tile_count.into())?;
        Ok(tile_count - 1)
    }
}
