//! Models of the segmented sort: `glsl/sort/classify.comp`, and the kernels that sort the segments of its
//! queues.
//!
//! The device fills a queue in any order; the model fills it in the order of segments, and accepts any order in
//! the other passes.

use std::ops::Range;

use super::grid;
use super::sort::{self, stable_order_by};

/// A segment: an entry of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    /// The index of the first key.
    pub begin: u32,
    /// The number of keys.
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
    /// The segment's keys.
    pub segment: Segment,
    /// The first of its tiles among the tiles of all long segments.
    pub first_tile: u32,
    /// The number of its tiles.
    pub tile_count: u32,
}

/// The specialization constants of `glsl/sort/classify.comp`, and `max_row`.
#[derive(Debug, Clone, Copy)]
pub struct Classes {
    /// Shorter segments are in no queue.
    pub min_extent: u32,
    /// The longest of each class but the last.
    pub max_extents: [u32; 3],
    /// Short segments per workgroup.
    pub short_per_workgroup: u32,
    /// Keys per tile.
    pub tile_items: u32,
    /// The number of digit values.
    pub radix: u32,
    /// The maximum of workgroups in a row of a dispatch.
    pub max_row: u32,
}

/// Capacities of the queues, in entries.
#[derive(Debug, Clone, Copy)]
pub struct Capacities {
    /// The queue of each class but the last.
    pub in_place: [u32; 3],
    /// The queue of long segments.
    pub long: u32,
    /// The segment tile queue.
    pub tiles: u32,
}

/// The writes of `classify.comp`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// The queue of each class but the last.
    pub in_place: [Vec<Segment>; 3],
    /// The queue of long segments.
    pub long: Vec<LongSegment>,
    /// The dispatch arguments of each class, and of the tiles of long segments: workgroup counts in three
    /// dimensions, segments or tiles, and the counters of as many tiles.
    pub args: Vec<[u32; 5]>,
}

/// `classify.comp`: the queues of the segments of `count` keys that begin at `begins`, and end at `ends` or where the next begins.
pub fn classify(
    classes: &Classes,
    (begins, ends): (&[u32], Option<&[u32]>),
    count: u32,
    capacities: &Capacities,
) -> Queues {
    let mut queues = Queues::default();
    // Counted regardless of capacity.
    let (mut found, mut tiles) = ([0u32; 4], 0u64);
    for (index, &begin) in begins.iter().enumerate() {
        let begin = begin.min(count);
        let end = match ends {
            Some(ends) => ends[index].min(count),
            None => begins.get(index + 1).map_or(count, |&next| next.min(count)),
        };
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
    // A class whose queue overflows does not run.
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

/// `queue_tiles.comp`: the index of each tile's segment in the queue of long segments.
pub fn queue_tiles(long: &[LongSegment]) -> Vec<u32> {
    let tile_count: u32 = long.iter().map(|long| long.tile_count).sum();
    let mut tiles = vec![0; tile_count as usize];
    for (slot, long) in (0..).zip(long) {
        let first = long.first_tile as usize;
        tiles[first..first + long.tile_count as usize].fill(slot);
    }
    tiles
}

/// `short_segments.comp`, and `single_workgroup.comp` with `SEGMENTED`: the new index of each key, stably
/// sorted within its segment by the bits of `mask`. Keys outside `segments` keep their index.
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

/// The range of a segment's counts among the counts of all segments.
fn counts_of(long: &LongSegment, radix: usize) -> Range<usize> {
    let first = long.first_tile as usize * radix;
    first..first + long.tile_count as usize * radix
}

/// `count_bins.comp` with `SEGMENTED`: the digit counts of each tile of the segments of `long`, digit-major
/// within each segment.
pub fn tile_counts(digits: &[usize], radix: usize, tile_items: usize, long: &[LongSegment]) -> Vec<u32> {
    let tile_count: u32 = long.iter().map(|long| long.tile_count).sum();
    let mut counts = vec![0; tile_count as usize * radix];
    for long in long {
        let own = sort::tile_counts(&digits[long.segment.range()], radix, tile_items);
        counts[counts_of(long, radix)].copy_from_slice(&own);
    }
    counts
}

/// `scatter.comp` with `SEGMENTED`: the new index of each key, stably from the offset of its digit in its tile.
/// `offsets` are the exclusive prefix sum of all counts. Keys outside the segments of `long` have none.
pub fn scatter(
    digits: &[usize],
    offsets: &[u32],
    radix: usize,
    tile_items: usize,
    long: &[LongSegment],
) -> Vec<Option<u32>> {
    let mut indices = vec![None; digits.len()];
    for long in long {
        // Offsets relative to the segment: the counts of the tiles of earlier segments are subtracted.
        let offsets = &offsets[counts_of(long, radix)];
        let before = offsets[0].wrapping_sub(long.segment.begin);
        let offsets: Vec<u32> = offsets.iter().map(|offset| offset.wrapping_sub(before)).collect();
        let moved = sort::scatter(&digits[long.segment.range()], &offsets, tile_items);
        indices[long.segment.range()].iter_mut().zip(moved).for_each(|(index, moved)| *index = Some(moved));
    }
    indices
}
