//! The twins of the kernels that sort segments: `glsl/sort/classify.comp` and those that go by its lists.
//!
//! The order of a list is the device's own. A twin fills it in the order of the segments, and those that go by a list
//! take it in whatever order it has.

use super::{KeyOrder, MatchShape, Shape};
use crate::reference::Tiles;

/// Keys that are sorted by themselves: an entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Segment {
    /// The place of the first.
    pub begin: u32,
    /// How many.
    pub extent: u32,
}

impl Segment {
    fn range(self) -> std::ops::Range<usize> {
        self.begin as usize..self.begin as usize + self.extent as usize
    }
}

/// An entry of the list of long segments.
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
    /// Shorter segments are in no list.
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
    /// In the list of each class but the last.
    pub in_place: [u32; 3],
    /// In that of long segments.
    pub long: u32,
    /// Tiles of these.
    pub tiles: u32,
}

/// What `classify` writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// Of each class but the last.
    pub in_place: [Vec<Segment>; 3],
    /// Of the last.
    pub long: Vec<LongSegment>,
    /// For each class, and for the tiles of long segments: the workgroups of a dispatch in three dimensions, segments or
    /// tiles, and the counts of so many tiles.
    pub schedule: Vec<[u32; 5]>,
}

/// `glsl/sort/classify.comp`: lists the segments that begin at `begins`, of `count` keys.
pub fn classify(classes: &Classes, begins: &[u32], count: u32, capacities: &Capacities) -> Lists {
    let mut lists = Lists::default();
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
        if let Some(list) = lists.in_place.get_mut(class) {
            if found[class] <= capacities.in_place[class] {
                list.push(segment);
            }
        } else {
            if found[class] <= capacities.long {
                lists.long.push(LongSegment { segment, first_tile: tiles as u32, tile_count });
            }
            tiles += u64::from(tile_count);
        }
    }
    let schedule = |count: u32, per_workgroup: u32| {
        let workgroup_count = count.div_ceil(per_workgroup);
        let rows = workgroup_count.div_ceil(classes.max_row).max(1);
        [workgroup_count.div_ceil(rows), rows, 1, count, count.wrapping_mul(classes.radix)]
    };
    // A class of which there is more than there is room for does not run.
    let per_workgroup = [classes.short_per_workgroup, 1, 1];
    for class in 0..3 {
        let fits = found[class] <= capacities.in_place[class];
        lists.schedule.push(schedule(if fits { found[class] } else { 0 }, per_workgroup[class]));
    }
    let fits = found[3] <= capacities.long && tiles <= capacities.tiles.into();
    lists.schedule.push(schedule(if fits { found[3] } else { 0 }, 1));
    lists.schedule.push(schedule(if fits { tiles as u32 } else { 0 }, 1));
    lists
}

/// `glsl/sort/list_tiles.comp`: of which of `long` each tile is, by its place in the list.
pub fn list_tiles(long: &[LongSegment], tiles: &mut [u32]) {
    for (slot, segment) in (0..).zip(long) {
        let first = segment.first_tile as usize;
        tiles[first..first + segment.tile_count as usize].fill(slot);
    }
}

/// The specialization constants of `glsl/sort/short_segments.comp`.
#[derive(Debug, Clone, Copy)]
pub struct Cluster {
    /// Neighbouring lanes of a subgroup that hold a segment: `CLUSTER_LANES`.
    pub lanes: usize,
    /// Keys that a lane takes.
    pub items_per_invocation: usize,
}

/// `glsl/sort/short_segments.comp`: where each key goes, by the bits of `mask`. Keys that are in none of `segments` stay.
pub fn short_segments(
    cluster: &Cluster,
    order: KeyOrder,
    mask: u64,
    keys: &[u32],
    key_words: usize,
    segments: &[Segment],
) -> Vec<u32> {
    let mut places: Vec<u32> = (0..(keys.len() / key_words) as u32).collect();
    for &segment in segments {
        let range = segment.range();
        let words = &keys[range.start * key_words..range.end * key_words];
        let own: Vec<u64> = words.chunks_exact(key_words).map(|key| order.ordered(key) & mask).collect();
        let places = &mut places[range];
        // Every lane counts, for each of its keys, those that come before it: item by item of all lanes.
        for lane in 0..cluster.lanes {
            for item in 0..cluster.items_per_invocation {
                let place = item * cluster.lanes + lane;
                let Some(&key) = own.get(place) else { continue };
                let is_before = |&(other_place, &other): &(usize, &u64)| {
                    other < key || (other == key && other_place < place)
                };
                let rank = own.iter().enumerate().filter(is_before).count();
                places[place] = segment.begin + rank as u32;
            }
        }
        assert!(own.len() <= cluster.lanes * cluster.items_per_invocation, "a cluster holds the segment");
    }
    places
}

/// `glsl/sort/single_workgroup.comp` with `LISTED`: where each key goes in the order of the bits `bits`. Keys that are in
/// none of `segments` stay.
pub fn sort_each(
    shape: &Shape,
    order: KeyOrder,
    keys: &[u32],
    key_words: usize,
    bits: std::ops::Range<u32>,
    segments: &[Segment],
) -> Vec<u32> {
    let mut places: Vec<u32> = (0..(keys.len() / key_words) as u32).collect();
    for &segment in segments {
        let range = segment.range();
        let words = &keys[range.start * key_words..range.end * key_words];
        let sorted = super::single_workgroup(shape, order, words, key_words, bits.clone());
        places[range].iter_mut().zip(sorted).for_each(|(place, rank)| *place = segment.begin + rank);
    }
    places
}

/// The counts of a segment, in those of all.
fn counts_of(shape: &MatchShape, long: &LongSegment) -> std::ops::Range<usize> {
    let first = long.first_tile as usize * shape.radix();
    first..first + long.tile_count as usize * shape.radix()
}

/// `glsl/sort/count_bins.comp` with `LISTED`: counts the digits of each tile of the segments of `long`.
pub fn count_bins(shape: &MatchShape, digits: &[usize], counts: &mut [u32], long: &[LongSegment]) {
    for segment in long {
        let tiles = Tiles::new(segment.segment.extent as usize, shape.tile_items());
        let counts = &mut counts[counts_of(shape, segment)];
        super::count_bins(shape, &digits[segment.segment.range()], counts, tiles);
    }
}

/// `glsl/sort/scatter.comp` with `LISTED`: where each key goes in the order of one digit. `offsets` are the scan of all
/// counts. Keys that are in no segment of `long` are moved nowhere, and have no place.
pub fn scatter(
    shape: &MatchShape,
    digits: &[usize],
    offsets: &[u32],
    long: &[LongSegment],
) -> Vec<Option<u32>> {
    let mut places = vec![None; digits.len()];
    for segment in long {
        let range = segment.segment.range();
        let tiles = Tiles::new(segment.segment.extent as usize, shape.tile_items());
        let offsets = &offsets[counts_of(shape, segment)];
        let before = offsets[0].wrapping_sub(segment.segment.begin);
        let offsets: Vec<u32> = offsets.iter().map(|offset| offset.wrapping_sub(before)).collect();
        let moved = super::match_scatter(shape, &digits[range.clone()], &offsets, tiles);
        places[range].iter_mut().zip(moved).for_each(|(place, moved)| *place = Some(moved));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::lanes::Workgroup;
    use crate::reference::oracle;
    use crate::reference::sort::{Digit, Numbers};
    use crate::reference::testing::{LANES, words};

    const DOWN: KeyOrder = KeyOrder { numbers: Numbers::Signed, is_descending: true };

    /// Keys, each moved to its place.
    fn moved(keys: &[u32], places: &[u32]) -> Vec<u32> {
        let mut moved = vec![0; keys.len()];
        keys.iter().zip(places).for_each(|(&key, &place)| moved[place as usize] = key);
        moved
    }

    /// All classes, as a plan has them follow one another.
    fn sort(lanes: usize, keys: &[u32], begins: &[u32]) -> Vec<u32> {
        let workgroup = Workgroup { size: lanes.max(32), lanes };
        let cluster = Cluster { lanes: 4, items_per_invocation: 3 };
        let shape = |items_per_invocation| Shape { workgroup, radix_bits: 4, items_per_invocation };
        let tile = MatchShape { workgroup, radix_bits: 8, items_per_invocation: 2 };
        let [small, large] = [shape(4), shape(8)];
        let classes = Classes {
            min_extent: 2,
            max_extents: [12, small.tile_items() as u32, large.tile_items() as u32],
            short_per_workgroup: 8,
            tile_items: tile.tile_items() as u32,
            radix: 256,
            max_row: 7,
        };
        let room = Capacities { in_place: [u32::MAX; 3], long: u32::MAX, tiles: u32::MAX };
        let Lists { in_place, long, schedule } = classify(&classes, begins, keys.len() as u32, &room);
        let keys = moved(keys, &short_segments(&cluster, DOWN, u32::MAX.into(), keys, 1, &in_place[0]));
        let keys = moved(&keys, &sort_each(&small, DOWN, &keys, 1, 0..32, &in_place[1]));
        let mut keys = moved(&keys, &sort_each(&large, DOWN, &keys, 1, 0..32, &in_place[2]));
        for shift in [0, 8, 16, 24] {
            let digits = DOWN.digits(&keys, 1, Digit { shift, mask: 255 });
            let mut counts = vec![0; schedule[4][4] as usize];
            count_bins(&tile, &digits, &mut counts, &long);
            let places = scatter(&tile, &digits, &oracle::exclusive_scan(&counts, 1), &long);
            let stay = (0..).zip(places).map(|(own, place)| place.unwrap_or(own));
            keys = moved(&keys, &stay.collect::<Vec<_>>());
        }
        keys
    }

    #[test]
    fn all_classes_together_sort_each_segment_with_any_lane_count() {
        let begins = [3, 3, 5, 16, 17, 29, 100, 200, 400, 2000, 2000, 4990, 5000];
        for lanes in LANES {
            let keys = words(lanes as u32, 5000);
            let mut expected = keys.clone();
            for (&begin, &end) in begins.iter().zip(begins.iter().skip(1).chain([&5000])) {
                expected[begin..end].sort_by_key(|&key| std::cmp::Reverse(key as i32));
            }
            let begins = begins.map(|begin| begin as u32);
            assert!(sort(lanes, &keys, &begins) == expected, "{lanes} lanes");
        }
    }

    #[test]
    fn segments_are_listed_by_their_lengths() {
        let classes = Classes {
            min_extent: 1,
            max_extents: [2, 4, 8],
            short_per_workgroup: 2,
            tile_items: 4,
            radix: 16,
            max_row: 1,
        };
        let room = Capacities { in_place: [3; 3], long: 2, tiles: 8 };
        let begins = [1, 3, 3, 4, 8, 13, 22, 40, 99];
        let lists = classify(&classes, &begins, 30, &room);
        let segment = |begin, extent| Segment { begin, extent };
        assert_eq!(lists.in_place[0], [segment(1, 2), segment(3, 1)]);
        assert_eq!(lists.in_place[1], [segment(4, 4)]);
        assert_eq!(lists.in_place[2], [segment(8, 5), segment(22, 8)]);
        assert_eq!(lists.long, [LongSegment { segment: segment(13, 9), first_tile: 0, tile_count: 3 }]);
        let schedule =
            [[1, 1, 1, 2, 32], [1, 1, 1, 1, 16], [1, 2, 1, 2, 32], [1, 1, 1, 1, 16], [1, 3, 1, 3, 48]];
        assert_eq!(lists.schedule, schedule);
        let mut tiles = [9; 5];
        list_tiles(&lists.long, &mut tiles);
        assert_eq!(tiles, [0, 0, 0, 9, 9]);
    }

    #[test]
    fn a_class_that_overflows_does_not_run() {
        let classes = Classes {
            min_extent: 2,
            max_extents: [2, 4, 8],
            short_per_workgroup: 2,
            tile_items: 4,
            radix: 16,
            max_row: 9,
        };
        let room = Capacities { in_place: [1, 1, 1], long: 1, tiles: 3 };
        // Falling, so that two share keys.
        let lists = classify(&classes, &[0, 9, 1, 10, 12, 14], 14, &room);
        assert_eq!((lists.in_place[0].len(), lists.long.len()), (1, 1));
        assert!(lists.schedule.iter().all(|schedule| schedule[3] == 0), "{:?}", lists.schedule);
    }
}
