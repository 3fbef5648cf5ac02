//! The twins of `glsl/scan/`.

mod chained;
pub mod segmented;
mod textbook;

pub use chained::{Counts, GROUP_TILES, LookBack, Told, Walk, chained};
pub use textbook::{double_blocks, downsweep_by, propagate, scan_tiles, strided};

use super::lanes::{self, Workgroup};
use super::{Element, Tiles};

/// How a workgroup goes through its tile: the specialization constants of `glsl/scan/tile.glsl`.
///
/// A tile is one contiguous stretch of rows for each subgroup; a stretch is `runs_per_invocation` rounds; in a round
/// each lane takes a run of `packs_per_run` packs, and the next lane goes on behind it.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Its constant 0, and the device's lanes.
    pub workgroup: Workgroup,
    /// Rounds.
    pub runs_per_invocation: usize,
    /// Packs that follow one another.
    pub packs_per_run: usize,
}

impl Shape {
    /// Rows in a tile: `TILE_ITEMS`.
    pub fn tile_items<E: Element>(&self) -> usize {
        self.workgroup.size * self.runs_per_invocation * self.run_items::<E>()
    }

    fn run_items<E: Element>(&self) -> usize {
        self.packs_per_run * E::PACK_ITEMS
    }

    /// The runs of all lanes of a subgroup in one round. Rows beyond the tile's extent count as identity.
    fn load_runs<E: Element>(&self, tile: &[E], subgroup: usize, round: usize) -> Vec<Run<E>> {
        let run = |lane| {
            let lane_run = (subgroup * self.runs_per_invocation + round) * self.workgroup.lanes + lane;
            let start = lane_run * self.run_items::<E>();
            let row = |row| tile.get(row).copied().unwrap_or(E::IDENTITY);
            Run { start, items: (start..start + self.run_items::<E>()).map(row).collect() }
        };
        (0..self.workgroup.active_lanes()).map(run).collect()
    }
}

/// Rows that one invocation takes one after the other.
struct Run<E> {
    /// The first row, counted from the tile's first.
    start: usize,
    items: Vec<E>,
}

fn run_totals<E: Element>(runs: &[Run<E>]) -> Vec<E> {
    runs.iter().map(|run| run.items.iter().fold(E::IDENTITY, |sum, &item| sum.combine(item))).collect()
}

/// `glsl/scan/reduce.comp`: sums of tiles.
pub fn reduce<E: Element>(shape: &Shape, source: &[E], sums: &mut [E], tiles: Tiles) {
    for tile in 0..tiles.tile_count {
        let rows = &source[tiles.range(tile, shape.tile_items::<E>())];
        let subgroup_total = |subgroup| {
            let mut subgroup_total = E::IDENTITY;
            for round in 0..shape.runs_per_invocation {
                let totals = run_totals(&shape.load_runs(rows, subgroup, round));
                subgroup_total = subgroup_total.combine(lanes::reduce(&totals));
            }
            subgroup_total
        };
        let subgroup_totals: Vec<E> = (0..shape.workgroup.subgroup_count()).map(subgroup_total).collect();
        let (_, tile_total) = shape.workgroup.exclusive_scan(&subgroup_totals);
        sums[tile] = tile_total;
    }
}

/// `glsl/scan/downsweep.comp`: scans each tile from its carry-in. `EXCLUSIVE` is `exclusive`; `HAS_CARRY` is whether
/// there are `carries`.
pub fn downsweep<E: Element>(
    shape: &Shape,
    exclusive: bool,
    source: &[E],
    destination: &mut [E],
    carries: Option<&[E]>,
    tiles: Tiles,
) {
    for tile in 0..tiles.tile_count {
        let range = tiles.range(tile, shape.tile_items::<E>());
        let carry = carries.map_or(E::IDENTITY, |carries| carries[tile]);
        TileUp::new(shape, &source[range.clone()]).down(&mut destination[range], exclusive, carry);
    }
}

/// `tile_up` and `tile_down` of `glsl/scan/tile_scan.glsl`: a tile as its workgroup holds it.
struct TileUp<E> {
    /// Every run of every subgroup, and what comes before it within the subgroup.
    runs: Vec<Vec<(Run<E>, E)>>,
    subgroup_prefixes: Vec<E>,
    total: E,
}

impl<E: Element> TileUp<E> {
    fn new(shape: &Shape, rows: &[E]) -> Self {
        let mut subgroup_totals = Vec::new();
        let mut kept = Vec::new();
        for subgroup in 0..shape.workgroup.subgroup_count() {
            let mut subgroup_total = E::IDENTITY;
            let mut subgroup_runs = Vec::new();
            for round in 0..shape.runs_per_invocation {
                let runs = shape.load_runs(rows, subgroup, round);
                let totals = run_totals(&runs);
                let prefixes = lanes::exclusive_scan(&totals);
                let prefixes = prefixes.into_iter().map(|prefix| subgroup_total.combine(prefix));
                subgroup_runs.extend(runs.into_iter().zip(prefixes));
                subgroup_total = subgroup_total.combine(lanes::reduce(&totals));
            }
            subgroup_totals.push(subgroup_total);
            kept.push(subgroup_runs);
        }
        let (subgroup_prefixes, total) = shape.workgroup.exclusive_scan(&subgroup_totals);
        Self { runs: kept, subgroup_prefixes, total }
    }

    /// Each run from its own prefix.
    fn down(&self, results: &mut [E], exclusive: bool, carry: E) {
        for (subgroup_runs, &subgroup_prefix) in self.runs.iter().zip(&self.subgroup_prefixes) {
            for (run, run_prefix) in subgroup_runs {
                let mut sum = carry.combine(subgroup_prefix).combine(*run_prefix);
                for (row, &item) in (run.start..).zip(&run.items) {
                    let next = sum.combine(item);
                    if let Some(result) = results.get_mut(row) {
                        *result = if exclusive { sum } else { next };
                    }
                    sum = next;
                }
            }
        }
    }
}

/// `REVERSE`: the rows from the last on, behind as many of identity as the last tile lacks. Scanned in full tiles, they
/// are what a kernel scans in reverse.
pub fn mirrored<E: Element>(rows: &[E], tile_items: usize) -> Vec<E> {
    let lacking = rows.len().next_multiple_of(tile_items) - rows.len();
    std::iter::repeat_n(E::IDENTITY, lacking).chain(rows.iter().rev().copied()).collect()
}

/// What `glsl/scan/prepare.comp` writes of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// The workgroups of its dispatches, per dimension.
    pub workgroups: [u32; 3],
    /// Its tiles.
    pub tile_count: u32,
    /// Rows in the last of them.
    pub last_extent: u32,
}

/// `glsl/scan/prepare.comp`: how far each of `level_count` levels goes, from the lowest up.
pub fn prepare(
    count: u32,
    max_count: u32,
    tile_items: u32,
    level_count: usize,
    column_count: u32,
    max_row: u32,
) -> Vec<Level> {
    let mut rows = count.min(max_count);
    let mut levels = Vec::new();
    for _ in 0..level_count {
        let tile_count = rows.div_ceil(tile_items);
        let workgroup_count = tile_count * column_count;
        let grid_rows = workgroup_count.div_ceil(max_row).max(1);
        let workgroups = [workgroup_count.div_ceil(grid_rows), grid_rows, 1];
        let last_extent = rows - tile_count.saturating_sub(1) * tile_items;
        levels.push(Level { workgroups, tile_count, last_extent });
        rows = tile_count;
    }
    levels
}

/// The seed's chunk: the specialization constants of `glsl/scan/chunk.glsl`.
#[derive(Debug, Clone, Copy)]
pub struct Chunk {
    /// Its constant 0, and the device's lanes. The size is also that of a batch.
    pub workgroup: Workgroup,
    /// Batches in a chunk.
    pub batches_per_chunk: usize,
}

impl Chunk {
    /// Entries in a chunk: `CHUNK_ITEMS`.
    pub fn items(&self) -> usize {
        self.workgroup.size * self.batches_per_chunk
    }

    /// The row of entry `index` of chunk `chunk` where entries lie `stride` rows apart: each is the last row of as
    /// many.
    fn row(&self, stride: usize, chunk: usize, index: usize) -> usize {
        (chunk * self.items() + index + 1) * stride - 1
    }

    /// What each subgroup adds up to.
    fn subgroup_totals<E: Element>(&self, invocations: &[E]) -> Vec<E> {
        self.workgroup.subgroups(invocations).map(lanes::reduce).collect()
    }
}

/// `glsl/scan/chunk_sum.comp`: sums full chunks, each into its own last entry.
///
/// An invocation first adds up what is a batch apart: this twin is the only one that asks the operator to commute.
pub fn chunk_sum<E: Element>(shape: &Chunk, table: &mut [E], stride: usize, chunk_count: usize) {
    for chunk in 0..chunk_count {
        let mut sums = vec![E::IDENTITY; shape.workgroup.size];
        for batch in 0..shape.batches_per_chunk {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = sum.combine(table[shape.row(stride, chunk, batch * shape.workgroup.size + lane)]);
            }
        }
        let (_, chunk_sum) = shape.workgroup.exclusive_scan(&shape.subgroup_totals(&sums));
        table[shape.row(stride, chunk, shape.items() - 1)] = chunk_sum;
    }
}

/// `glsl/scan/chunk_prefix.comp`: scans each chunk in place, from the last entry of the chunk before it. With
/// `has_sums`, the last entry of a full chunk is left alone: the level above has finished it.
pub fn chunk_prefix<E: Element>(
    shape: &Chunk,
    has_sums: bool,
    table: &mut [E],
    stride: usize,
    chunks: Tiles,
) {
    let found = table.to_vec();
    for chunk in 0..chunks.tile_count {
        let mut extent = chunks.range(chunk, shape.items()).len();
        if has_sums {
            extent = extent.min(shape.items() - 1);
        }
        let mut carry = E::IDENTITY;
        if chunk > 0 {
            // No other workgroup writes it, so what the dispatch found is what is there.
            carry = found[shape.row(stride, chunk - 1, shape.items() - 1)];
        }
        for batch in 0..shape.batches_per_chunk {
            let indices = batch * shape.workgroup.size..(batch + 1) * shape.workgroup.size;
            let load =
                |index| if index < extent { found[shape.row(stride, chunk, index)] } else { E::IDENTITY };
            let values: Vec<E> = indices.clone().map(load).collect();
            let (subgroup_prefixes, batch_total) =
                shape.workgroup.exclusive_scan(&shape.subgroup_totals(&values));
            let scans = shape.workgroup.subgroups(&values).map(lanes::exclusive_scan).zip(subgroup_prefixes);
            let prefixes =
                scans.flat_map(|(scan, subgroup)| scan.into_iter().map(move |lane| subgroup.combine(lane)));
            for ((index, value), prefix) in indices.zip(&values).zip(prefixes) {
                if index < extent {
                    table[shape.row(stride, chunk, index)] = carry.combine(prefix.combine(*value));
                }
            }
            carry = carry.combine(batch_total);
        }
    }
}

#[cfg(test)]
mod tests;
