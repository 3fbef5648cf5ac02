//! Models of the kernels that sort segments: `glsl/sort/classify.comp`, and those that take segments from its queues.
//!
//! The order of a queue is the device's own. The model fills it in the order of the segments; what takes from a queue
//! takes any order.

use std::ops::Range;

use super::grid;
use super::sort::{self, stable_order_by};

/// Keys that are sorted by themselves: an entry of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    /// The index of the first.
    pub begin: u32,
    /// How many.
    pub extent: u32,
}

impl Segment {
    fn range(self) -> Range<usize> {
        self.begin as usize..self.begin as usize + self.extent as usize
    }
}

/// An entry of the queue of long segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LongSegment {
    /// Its keys.
    pub segment: Segment,
    /// Where its tiles begin among all.
    pub first_tile: u32,
    /// How many tiles it has.
    pub tile_count: u32,
}

/// The specialization constants of `glsl/sort/classify.comp`, and `max_row`.
#[derive(Debug, Clone, Copy)]
pub struct Classes {
    /// Shorter segments are in no queue.
    pub min_extent: u32,
    /// The longest of each class but the last.
    pub max_extents: [u32; 3],
    /// Short segments of a workgroup.
    pub short_per_workgroup: u32,
    /// Keys in a tile.
    pub tile_items: u32,
    /// Digits.
    pub radix: u32,
    /// Workgroups in a row of a dispatch.
    pub max_row: u32,
}

/// Entries that there is room for.
#[derive(Debug, Clone, Copy)]
pub struct Capacities {
    /// In the queue of each class but the last.
    pub in_place: [u32; 3],
    /// In that of long segments.
    pub long: u32,
    /// Tiles of these.
    pub tiles: u32,
}

/// What `classify` writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Of each class but the last.
    pub in_place: [Vec<Segment>; 3],
    /// Of the last.
    pub long: Vec<LongSegment>,
    /// The dispatch arguments of each class, and of the tiles of long segments: workgroups in three dimensions, segments
    /// or tiles, and the counts of as many tiles.
    pub args: Vec<[u32; 5]>,
}

/// `classify.comp`: the queues of the segments that begin at `begins`, of `count` keys.
pub fn classify(classes: &Classes, begins: &[u32], count: u32, capacities: &Capacities) -> Queues {
    let mut queues = Queues::default();
    // What there would be, were there room.
    let (mut found, mut tiles) = ([0u32; 4], 0u64);
    for (index, &begin) in begins.iter().enumerate() {
        let begin = begin.min(count);
        let end = begins.get(index + 1).map_or(count, |&next| next.min(count));
        let segment = Segment { begin, extent: end.saturating_sub(begin) };
        if segment.extent < classes.min_extent {
            continue;
        }
        let class = classes.max_extents.iter().filter(|&&max| segment.extent > max).count();
        found[class] += 1;
        let tile_count = segment.extent.div_ceil(classes.tile_items);
        if let Some(queue) = queues.in_place.get_mut(class) {
            if found[class] <= capacities.in_place[class] {
                queue.push(segment);
            }
        } else {
            if found[class] <= capacities.long {
                queues.long.push(LongSegment { segment, first_tile: tiles as u32, tile_count });
            }
            tiles += u64::from(tile_count);
        }
    }
    let args = |count: u32, per_workgroup: u32| {
        let [x, y, z] = grid(count.div_ceil(per_workgroup), classes.max_row);
        [x, y, z, count, count.wrapping_mul(classes.radix)]
    };
    // A class of which there is more than there is room for does not run.
    let per_workgroup = [classes.short_per_workgroup, 1, 1];
    for class in 0..3 {
        let fits = found[class] <= capacities.in_place[class];
        queues.args.push(args(if fits { found[class] } else { 0 }, per_workgroup[class]));
    }
    let fits = found[3] <= capacities.long && tiles <= capacities.tiles.into();
    queues.args.push(args(if fits { found[3] } else { 0 }, 1));
    queues.args.push(args(if fits { tiles as u32 } else { 0 }, 1));
    queues
}

/// `queue_tiles.comp`: the segment of each tile, by its index in the queue of long segments.
pub fn queue_tiles(long: &[LongSegment]) -> Vec<u32> {
    let tile_count: u32 = long.iter().map(|long| long.tile_count).sum();
    let mut tiles = vec![0; tile_count as usize];
    for (slot, long) in (0..).zip(long) {
        let first = long.first_tile as usize;
        tiles[first..first + long.tile_count as usize].fill(slot);
    }
    tiles
}

/// `short_segments.comp`, and `single_workgroup.comp` with `SEGMENTED`: the index of each key, in the stable order of the
/// bits of `mask` within its segment. Keys that are in none of `segments` stay.
pub fn sort_segments(orders: &[u64], mask: u64, segments: &[Segment]) -> Vec<u32> {
    let mut indices: Vec<u32> = (0..orders.len() as u32).collect();
    for &segment in segments {
        let sorted = stable_order_by(&orders[segment.range()], mask);
        indices[segment.range()]
            .iter_mut()
            .zip(sorted)
            .for_each(|(index, rank)| *index = segment.begin + rank);
    }
    indices
}

/// The counts of a segment's tiles, in those of all.
fn counts_of(long: &LongSegment, radix: usize) -> Range<usize> {
    let first = long.first_tile as usize * radix;
    first..first + long.tile_count as usize * radix
}

/// `count_bins.comp` with `SEGMENTED`: the digit counts of each tile of the segments of `long`, digit-major in each
/// segment.
pub fn tile_counts(digits: &[usize], radix: usize, tile_items: usize, long: &[LongSegment]) -> Vec<u32> {
    let tile_count: u32 = long.iter().map(|long| long.tile_count).sum();
    let mut counts = vec![0; tile_count as usize * radix];
    for long in long {
        let own = sort::tile_counts(&digits[long.segment.range()], radix, tile_items);
        counts[counts_of(long, radix)].copy_from_slice(&own);
    }
    counts
}

/// `scatter.comp` with `SEGMENTED`: the index of each key, stably from the offset of its digit in its tile. `offsets` are
/// the exclusive scan of all counts. Keys that are in no segment of `long` have none.
pub fn scatter(
    digits: &[usize],
    offsets: &[u32],
    radix: usize,
    tile_items: usize,
    long: &[LongSegment],
) -> Vec<Option<u32>> {
    let mut indices = vec![None; digits.len()];
    for long in long {
        // A segment's keys stay in it, wherever its tiles stand among those of all.
        let offsets = &offsets[counts_of(long, radix)];
        let before = offsets[0].wrapping_sub(long.segment.begin);
        let offsets: Vec<u32> = offsets.iter().map(|offset| offset.wrapping_sub(before)).collect();
        let moved = sort::scatter(&digits[long.segment.range()], &offsets, tile_items);
        indices[long.segment.range()].iter_mut().zip(moved).for_each(|(index, moved)| *index = Some(moved));
    }
    indices
}
