//! Models of `glsl/scan/`. Tiles have `tile_items` rows; the last one may have fewer.

use super::grid;
use crate::reference::Element;

fn total<E: Element>(rows: &[E]) -> E {
    rows.iter().fold(E::IDENTITY, |sum, &row| sum.combine(row))
}

/// `reduce.comp` and `downsweep.comp` with Sklansky's network, level by level: a scan whose order of operations is the
/// same on every device. Tiles have 128 invocations of `items` rows.
pub fn fixed_tree_scan<T: Copy>(
    source: &[T],
    items: usize,
    exclusive: bool,
    identity: T,
    combine: &impl Fn(T, T) -> T,
) -> Vec<T> {
    let tile_items = 128 * items;
    // The inclusive prefixes of the invocations of each tile.
    let prefixes = |tile: &[T]| {
        let run =
            |i: usize| tile.iter().skip(i * items).take(items).fold(identity, |sum, &row| combine(sum, row));
        let mut sums: Vec<_> = (0..128).map(run).collect();
        for block in [1, 2, 4, 8, 16, 32, 64] {
            for i in (0..128).filter(|i| i & block != 0) {
                sums[i] = combine(sums[(i & !(block - 1)) - 1], sums[i]);
            }
        }
        sums
    };
    let tiles: Vec<_> = source.chunks(tile_items).map(prefixes).collect();
    let carries = (tiles.len() > 1).then(|| {
        let totals: Vec<_> = tiles.iter().map(|sums| sums[127]).collect();
        fixed_tree_scan(&totals, items, true, identity, combine)
    });
    let mut results = Vec::new();
    for (index, (tile, sums)) in source.chunks(tile_items).zip(&tiles).enumerate() {
        for (i, run) in tile.chunks(items).enumerate() {
            let mut sum = if i == 0 { identity } else { sums[i - 1] };
            if let Some(carries) = &carries {
                sum = combine(carries[index], sum);
            }
            sum = combine(sum, identity);
            for &row in run {
                let next = combine(sum, row);
                results.push(if exclusive { sum } else { next });
                sum = next;
            }
        }
    }
    results
}

/// `reduce.comp`: the total of each tile.
pub fn tile_totals<E: Element>(source: &[E], tile_items: usize) -> Vec<E> {
    source.chunks(tile_items).map(total).collect()
}

/// `downsweep.comp`, and with [`tile_totals`] `scan_tiles.comp`: the scan of each tile from its carry-in.
pub fn scan_tiles<E: Element>(
    source: &[E],
    tile_items: usize,
    exclusive: bool,
    carries: Option<&[E]>,
) -> Vec<E> {
    let scan_tile = |(tile, rows): (usize, &[E])| {
        // Combined with the identity, since the operator makes all NaNs one NaN.
        let mut sum = carries.map_or(E::IDENTITY, |carries| E::IDENTITY.combine(carries[tile]));
        let mut next = |&row: &E| {
            let before = sum;
            sum = before.combine(row);
            if exclusive { before } else { sum }
        };
        rows.iter().map(&mut next).collect::<Vec<_>>()
    };
    source.chunks(tile_items).enumerate().flat_map(scan_tile).collect()
}

/// The rows in the order of a reverse scan: the last row first, preceded by identities in place of the last
/// tile's missing rows.
pub fn reversed<E: Element>(rows: &[E], tile_items: usize) -> Vec<E> {
    let lacking = rows.len().next_multiple_of(tile_items) - rows.len();
    std::iter::repeat_n(E::IDENTITY, lacking).chain(rows.iter().rev().copied()).collect()
}

/// The final descriptor of a tile of `chained.comp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptor<E> {
    /// `AGGREGATE`: the tile aggregate.
    Aggregate(E),
    /// `PREFIX`: the inclusive prefix of a tile, or the exclusive prefix of a group.
    Prefix(E),
}

/// Tiles of a group in the fixed tree, unless `GROUP_TILES` is specialized.
pub const GROUP_TILES: usize = 32;

/// The writes of `chained.comp`.
#[derive(Debug, PartialEq, Eq)]
pub struct Chained<E> {
    /// The scan of all rows.
    pub results: Vec<E>,
    /// The descriptor of each tile that is not stalled; a stalled tile has at most its aggregate.
    pub tiles: Vec<Descriptor<E>>,
    /// The descriptor of each group of the fixed tree but the first, whose words stay 0; none without the tree.
    pub groups: Vec<Descriptor<E>>,
}

/// `chained.comp`; `group_tiles` has the tiles of a group with `FIXED_TREE`.
pub fn chained<E: Element>(
    source: &[E],
    tile_items: usize,
    exclusive: bool,
    group_tiles: Option<usize>,
) -> Chained<E> {
    let results = scan_tiles(source, source.len().max(1), exclusive, None);
    let totals = tile_totals(source, tile_items);
    let scan = |totals: &[E], exclusive| scan_tiles(totals, totals.len().max(1), exclusive, None);
    let Some(group_tiles) = group_tiles else {
        let tiles = scan(&totals, false).into_iter().map(Descriptor::Prefix).collect();
        return Chained { results, tiles, groups: Vec::new() };
    };
    let groups = scan(&tile_totals(&totals, group_tiles), true);
    Chained {
        results,
        tiles: totals.into_iter().map(Descriptor::Aggregate).collect(),
        groups: groups.into_iter().skip(1).map(Descriptor::Prefix).collect(),
    }
}

/// `propagate.comp`: adds each tile's carry to its prefixes, except in the first tile.
pub fn propagate<E: Element>(table: &mut [E], tile_items: usize, carries: &[E]) {
    for (tile, &carry) in table.chunks_mut(tile_items).zip(carries).skip(1) {
        tile.iter_mut().for_each(|prefix| *prefix = carry.combine(*prefix));
    }
}

/// `double_blocks.comp`: merges pairs of scanned blocks of `1 << block_bits` rows.
pub fn double_blocks<E: Element>(table: &mut [E], block_bits: u32) {
    let block = 1 << block_bits;
    for pair in table.chunks_mut(2 * block) {
        let Some((lower, upper)) = pair.split_at_mut_checked(block) else { continue };
        upper.iter_mut().for_each(|value| *value = lower[block - 1].combine(*value));
    }
}

/// `strided.comp`: combines each row with the one a distance before it, or with `suffix` after it.
pub fn strided<E: Element>(suffix: bool, source: &[E], distance: usize) -> Vec<E> {
    let neighbour = |i: usize| if suffix { i.checked_add(distance) } else { i.checked_sub(distance) };
    let combine = |(i, &value): (usize, &E)| match neighbour(i).and_then(|index| source.get(index)) {
        None => value,
        Some(&later) if suffix => value.combine(later),
        Some(&earlier) => earlier.combine(value),
    };
    source.iter().enumerate().map(combine).collect()
}

/// The row of entry `index` on a level of the table of tutorial 14, whose entries are `stride` rows apart.
fn entry_row(index: usize, stride: usize) -> usize {
    (index + 1) * stride - 1
}

/// `chunk_sum.comp`: the total of each full chunk of entries, in its own last entry.
pub fn chunk_sum<E: Element>(table: &mut [E], stride: usize, chunk_items: usize, chunk_count: usize) {
    for chunk in 0..chunk_count {
        let entries = chunk * chunk_items..(chunk + 1) * chunk_items;
        let rows: Vec<E> = entries.map(|entry| table[entry_row(entry, stride)]).collect();
        table[entry_row((chunk + 1) * chunk_items - 1, stride)] = total(&rows);
    }
}

/// `chunk_prefix.comp`: the scan of each chunk in place, from the last entry of the preceding chunk. With
/// `has_sums`, the last entry of a full chunk is not written: the level above has finished it.
pub fn chunk_prefix<E: Element>(
    table: &mut [E],
    stride: usize,
    chunk_items: usize,
    entry_count: usize,
    has_sums: bool,
) {
    let before_dispatch = table.to_vec();
    let mut sum = E::IDENTITY;
    for entry in 0..entry_count {
        if entry > 0 && entry % chunk_items == 0 {
            // No workgroup writes that entry in this dispatch, so its value is that before the dispatch.
            sum = before_dispatch[entry_row(entry - 1, stride)];
        }
        if has_sums && (entry + 1) % chunk_items == 0 {
            continue;
        }
        sum = sum.combine(before_dispatch[entry_row(entry, stride)]);
        table[entry_row(entry, stride)] = sum;
    }
}

/// The dispatch arguments of a level, as `level_args.comp` writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelArgs {
    /// The workgroup counts of its dispatches in three dimensions.
    pub workgroups: [u32; 3],
    /// Its tiles.
    pub tile_count: u32,
    /// Rows in the last of them.
    pub last_extent: u32,
}

/// `level_args.comp`: the dispatch arguments of `level_count` levels, from the lowest up.
pub fn level_args(
    count: u64,
    max_count: u64,
    tile_items: u32,
    level_count: usize,
    column_count: u32,
    max_row: u32,
    min_tiles: u32,
) -> Vec<LevelArgs> {
    let mut rows = count.min(max_count);
    let next_level = |_| {
        let tile_count = rows.div_ceil(tile_items.into()).max(min_tiles.into());
        let last_extent = (rows - tile_count.saturating_sub(1) * u64::from(tile_items)) as u32;
        rows = tile_count;
        let tile_count = tile_count as u32;
        LevelArgs { workgroups: grid(tile_count * column_count, max_row), tile_count, last_extent }
    };
    (0..level_count).map(next_level).collect()
}
