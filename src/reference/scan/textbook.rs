//! The twins of the textbooks' scans: tiles by a network, and whole devices in other ways than by sums of tiles.

use super::{Shape, TileUp};
use crate::reference::workgroup_scan::Network;
use crate::reference::{Element, Tiles};

/// `glsl/scan/downsweep.comp` with one of the networks of `glsl/workgroup_scan/`: invocations have one run each, and
/// come in their own order, whatever the lanes.
pub fn downsweep_by<E: Element>(
    network: Network<E>,
    shape: &Shape,
    exclusive: bool,
    source: &[E],
    destination: &mut [E],
    carries: Option<&[E]>,
    tiles: Tiles,
) {
    assert_eq!(shape.runs_per_invocation, 1, "one run for each invocation");
    let run_items = shape.run_items::<E>();
    for tile in 0..tiles.tile_count {
        let range = tiles.range(tile, shape.tile_items::<E>());
        let rows = &source[range.clone()];
        let run = |i: usize| rows.iter().skip(i * run_items).take(run_items);
        let total = |i| run(i).fold(E::IDENTITY, |sum, &item| sum.combine(item));
        let totals: Vec<E> = (0..shape.workgroup.size).map(total).collect();
        let (prefixes, _) = network(&totals).prefixes();
        let carry = carries.map_or(E::IDENTITY, |carries| carries[tile]);
        let results = &mut destination[range];
        for (i, &prefix) in prefixes.iter().enumerate() {
            let mut sum = carry.combine(prefix);
            for (row, &item) in (i * run_items..).zip(run(i)) {
                let next = sum.combine(item);
                results[row] = if exclusive { sum } else { next };
                sum = next;
            }
        }
    }
}

/// `glsl/scan/scan_tiles.comp`: scans each tile by itself and keeps its sum.
pub fn scan_tiles<E: Element>(
    shape: &Shape,
    exclusive: bool,
    source: &[E],
    destination: &mut [E],
    sums: &mut [E],
    tiles: Tiles,
) {
    assert_eq!(sums.len(), tiles.tile_count, "a sum for each tile");
    for (tile, sum) in sums.iter_mut().enumerate() {
        let range = tiles.range(tile, shape.tile_items::<E>());
        let up = TileUp::new(shape, &source[range.clone()]);
        up.down(&mut destination[range], exclusive, E::IDENTITY);
        *sum = up.total;
    }
}

/// `glsl/scan/propagate.comp`: takes what comes before each tile into all of its prefixes.
pub fn propagate<E: Element>(shape: &Shape, table: &mut [E], carries: &[E], tiles: Tiles) {
    for tile in 1..tiles.tile_count {
        for prefix in &mut table[tiles.range(tile, shape.tile_items::<E>())] {
            *prefix = carries[tile].combine(*prefix);
        }
    }
}

/// `glsl/scan/double_blocks.comp`, in place: one scanned block out of every two of `1 << block_bits` elements. A table
/// that holds the source already is what `FROM_SOURCE` leaves.
pub fn double_blocks<E: Element>(table: &mut [E], block_bits: u32) {
    let block = 1 << block_bits;
    for pair in table.chunks_mut(2 * block) {
        let Some((lower, upper)) = pair.split_at_mut_checked(block) else { continue };
        for value in upper {
            *value = lower[block - 1].combine(*value);
        }
    }
}

/// `glsl/scan/strided.comp`: takes into each element the one a distance before it, with `suffix` behind it.
pub fn strided<E: Element>(suffix: bool, source: &[E], destination: &mut [E], distance: usize) {
    for (i, (result, &value)) in destination.iter_mut().zip(source).enumerate() {
        let other = if suffix { i.checked_add(distance) } else { i.checked_sub(distance) };
        *result = match (other.and_then(|other| source.get(other)), suffix) {
            (None, _) => value,
            (Some(&later), true) => value.combine(later),
            (Some(&earlier), false) => earlier.combine(value),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::testing::{Brackets, LANES, brackets, prefixes, sizes, words};
    use crate::reference::workgroup_scan::{
        brent_kung, kogge_stone, kogge_stone_double_buffered, sequential, sklansky,
    };
    use crate::reference::{lanes::Workgroup, oracle};

    fn shape(lanes: usize, size: usize) -> Shape {
        Shape { workgroup: Workgroup { size, lanes }, runs_per_invocation: 1, packs_per_run: 3 }
    }

    #[test]
    fn a_tile_by_any_network_is_a_tile() {
        let networks: [Network<Brackets>; 5] =
            [kogge_stone, kogge_stone_double_buffered, brent_kung, sklansky, sequential];
        let shape = shape(4, 64);
        let tile = shape.tile_items::<Brackets>();
        for network in networks {
            for (size, exclusive) in [(1, false), (tile - 1, true), (tile, false), (3 * tile + 5, true)] {
                let tiles = Tiles::new(size, tile);
                let values = brackets(size as u32, size);
                let carries = brackets(3, tiles.tile_count);
                let mut expected = vec![Brackets::IDENTITY; size];
                super::super::downsweep(&shape, exclusive, &values, &mut expected, Some(&carries), tiles);
                let mut got = vec![Brackets::IDENTITY; size];
                downsweep_by(network, &shape, exclusive, &values, &mut got, Some(&carries), tiles);
                assert_eq!(got, expected, "{size}");
            }
        }
    }

    fn scan_then_propagate<E: Element>(shape: &Shape, exclusive: bool, source: &[E]) -> Vec<E> {
        let tiles = Tiles::new(source.len(), shape.tile_items::<E>());
        let mut destination = vec![E::IDENTITY; source.len()];
        let mut sums = vec![E::IDENTITY; tiles.tile_count];
        scan_tiles(shape, exclusive, source, &mut destination, &mut sums, tiles);
        if tiles.tile_count > 1 {
            propagate(shape, &mut destination, &scan_then_propagate(shape, true, &sums), tiles);
        }
        destination
    }

    #[test]
    fn scan_then_propagate_is_a_scan() {
        for lanes in LANES {
            let shape = shape(lanes, lanes.max(32));
            for size in sizes(lanes, shape.tile_items::<Brackets>(), 40_000) {
                let values = brackets(size as u32, size);
                let inclusive = prefixes(&values);
                assert_eq!(scan_then_propagate(&shape, false, &values), inclusive, "{lanes}, {size}");
                let exclusive = scan_then_propagate(&shape, true, &values);
                assert_eq!(exclusive[0], Brackets::IDENTITY);
                assert_eq!(exclusive[1..], inclusive[..size - 1], "{lanes}, {size}");
            }
        }
    }

    const SIZES: [usize; 11] = [1, 2, 3, 4, 5, 63, 64, 65, 1000, 1024, 1025];

    #[test]
    fn doubling_blocks_is_a_scan() {
        for size in SIZES {
            let values = brackets(size as u32, size);
            let mut table = values.clone();
            for block_bits in 0..size.next_power_of_two().ilog2() {
                double_blocks(&mut table, block_bits);
            }
            assert_eq!(table, prefixes(&values), "{size}");
        }
    }

    #[test]
    fn halving_distances_is_a_scan_from_either_end() {
        for size in SIZES {
            let values = words(size as u32, size);
            let scan = |suffix| {
                let mut table = values.clone();
                for bits in (0..size.next_power_of_two().ilog2()).rev() {
                    strided(suffix, &table.clone(), &mut table, 1 << bits);
                }
                table
            };
            let reversed: Vec<u32> = values.iter().rev().copied().collect();
            let mut suffixes = oracle::inclusive_scan(&reversed, 1);
            suffixes.reverse();
            assert_eq!(scan(false), oracle::inclusive_scan(&values, 1), "{size}");
            assert_eq!(scan(true), suffixes, "{size}");
        }
    }
}
