//! Pass checks of the kernels of a segmented sort.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep_tool::reference::oracle;
use subsweep_tool::reference::passes::segmented_sort::{
    self as model, Capacities, Classes, LongSegment, Segment,
};
use subsweep_tool::reference::passes::sort::{Digit, Numbers};

use super::rig::{Alignment, Memory, POISON, Rig, Selection, Value, random, small_workgroup};
use super::sort::{nth_order, order_constants, scattered, subgroup_count, widths};

/// Size classes so small that a few thousand keys form segments of each.
const MAX_EXTENTS: [u32; 3] = [12, 40, 100];
const TILE_ITEMS: u32 = 32;

/// Words of a dispatch's arguments.
const ARGS_WORDS: usize = 8;

/// Begins of segments in `count` keys, some of them empty, after some keys of no segment.
fn begins(count: u32) -> Vec<u32> {
    let mut begins = vec![5, 5];
    for word in random(9, 1000) {
        let extent = [word >> 29, word >> 26, word >> 24, word >> 22][word as usize % 4];
        begins.push((begins[begins.len() - 1] + extent).min(count));
    }
    begins
}

/// Disjoint segments of up to `max` keys with gaps, in an arbitrary order, as in a queue.
fn queued(count: u32, max: u32) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut begin = 3;
    for word in random(max as usize, count as usize) {
        // The largest extents, any extent, and 1.
        let extent = [max, max - 1, word % (max + 1), 1][word as usize >> 30];
        if begin + extent > count {
            break;
        }
        segments.push(Segment { begin, extent });
        begin += extent + word / 3 % 2;
    }
    segments.reverse();
    segments
}

/// The words of a queue, with a surplus entry that no workgroup may take.
fn words_of(segments: &[Segment]) -> Vec<u32> {
    let words = segments.iter().flat_map(|segment| [segment.begin, segment.extent]);
    words.chain([0, 2]).collect()
}

fn words_of_long(long: &[LongSegment]) -> Vec<u32> {
    let words =
        |long: &LongSegment| [long.segment.begin, long.segment.extent, long.first_tile, long.tile_count];
    long.iter().flat_map(words).collect()
}

/// Dispatch arguments with the count that a kernel reads.
fn args(count: usize) -> Value<'static> {
    let mut words = [POISON; ARGS_WORDS];
    words[3] = count as u32;
    Value::input(words.to_vec())
}

/// Ascending and descending begins, queues that are too short, more tiles than 32 bits count, rows of a table, and ranges.
pub fn classify(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    // Validation takes long for each segment.
    let count = if selection == Selection::One { 2_000 } else { 20_000 };
    let rising = begins(count);
    let falling: Vec<_> = rising.iter().rev().copied().collect();
    let past_the_end = [&rising[..50], &[u32::MAX; 3]].concat();
    // Every other segment holds all keys.
    let overlapping: Vec<_> = (0..64).map(|index| if index % 2 == 0 { 0 } else { u32::MAX }).collect();
    for (min_extent, inputs) in [
        (
            2,
            [(&rising, count, u32::MAX), (&rising, count, 7), (&falling, count, 40), (&vec![7], 5, u32::MAX)],
        ),
        (
            1,
            [
                (&rising, count, u32::MAX),
                (&past_the_end, 1_234, u32::MAX),
                (&overlapping, u32::MAX, u32::MAX),
                (&vec![0], 3_000, u32::MAX),
            ],
        ),
    ] {
        // Both specializations make the same accesses.
        if min_extent == 1 && selection == Selection::One {
            continue;
        }
        let classes = Classes {
            min_extent,
            max_extents: MAX_EXTENTS,
            short_per_workgroup: 5,
            tile_items: TILE_ITEMS,
            radix: 256,
            max_row: 11,
        };
        let constants = [
            ("MIN_EXTENT", min_extent),
            ("MAX_SHORT", MAX_EXTENTS[0]),
            ("MAX_SMALL", MAX_EXTENTS[1]),
            ("MAX_LARGE", MAX_EXTENTS[2]),
            ("SHORT_PER_WORKGROUP", classes.short_per_workgroup),
            ("TILE_ITEMS", TILE_ITEMS),
            ("RADIX", classes.radix),
        ];
        let size = small_workgroup(gpu);
        let rig = Rig::new(gpu, kernel, size, &constants)?;
        for (begins, count, limit) in inputs {
            classify_once(gpu, &rig, &classes, (begins, None), count, limit, 0)?;
        }
        // The segments last to first, which leave out some keys, and some that end before they begin or beyond the keys.
        let ends = (0..).zip(rising[2..].iter().rev()).map(|(index, end)| end ^ (index % 7 / 6));
        let ends: Vec<_> = ends.chain([u32::MAX]).collect();
        classify_once(gpu, &rig, &classes, (&falling[1..], Some(&ends)), count, u32::MAX, 0)?;
        let [short, small, large] = MAX_EXTENTS;
        for length in [short, 1, small, large + 1, large, short + 1] {
            let rows: Vec<_> = (0..70).map(|row| row * length).collect();
            classify_once(gpu, &rig, &classes, (&rows, None), 70 * length, u32::MAX, length)?;
        }
    }
    nothing_classified(gpu, kernel)
}

/// Checks one input with the host's counts and with GPU-resident counts.
fn classify_once(
    gpu: &Gpu,
    rig: &Rig<'_>,
    classes: &Classes,
    (begins, ends): (&[u32], Option<&[u32]>),
    count: u32,
    limit: u32,
    row_length: u32,
) -> Result<(), Failed> {
    let room = limit.min(begins.len() as u32);
    let tiles = limit.min(count / TILE_ITEMS + room);
    let capacities = Capacities { in_place: [room; 3], long: room, tiles };
    let expected = model::classify(classes, (begins, ends), count, &capacities);
    let size = small_workgroup(gpu);
    // The keys of a row that is not whole are in none, and more rows than there are do not count.
    let surplus = [row_length.saturating_sub(1), row_length];
    let exactly = [count + surplus[0], begins.len() as u32 + surplus[1]];
    for (known, [element_count, segment_count]) in [
        // The host's counts; GPU-resident counts below the maximum, and above.
        (None, exactly),
        (Some(exactly), [u32::MAX, exactly[1] + 9]),
        (Some([u32::MAX; 2]), exactly),
    ] {
        let [element_known, segment_known] = known.unwrap_or_default();
        let on_device = |count| Value::input(vec![count]).only_if(known.is_some());
        let queue = |words| Memory::poisoned(gpu, room as usize * words, Alignment::Words);
        let [short, small, large, long] = [queue(2)?, queue(2)?, queue(2)?, queue(4)?];
        let number = |number: u32| Value::Number(number as usize);
        // The words of extents and buffers are not used here.
        let words = expected
            .args
            .iter()
            .flat_map(|&[x, y, z, count, counts]| [x, y, z, count, POISON, POISON, counts, POISON]);
        let values = [
            ("segments", Value::input(begins).only_if(row_length == 0)),
            ("state", Value::state(8)),
            ("dispatch_args", Value::output(words.collect::<Vec<_>>())),
            ("short_segments", Value::Pointer(&short)),
            ("small_segments", Value::Pointer(&small)),
            ("large_segments", Value::Pointer(&large)),
            ("long_segments", Value::Pointer(&long)),
            ("indirect_segment_count", on_device(segment_known)),
            ("indirect_element_count", on_device(element_known)),
            ("segment_ends", Value::input(ends.unwrap_or_default()).only_if(ends.is_some())),
            ("segment_count", number(segment_count)),
            ("element_count", number(element_count)),
            ("short_capacity", number(room)),
            ("small_capacity", number(room)),
            ("large_capacity", number(room)),
            ("long_capacity", number(room)),
            ("tile_capacity", number(tiles)),
            ("max_row", number(classes.max_row)),
            ("row_length", number(row_length)),
        ];
        let case = format!(
            "sort/classify, {} segments of {count} keys, {capacities:?}, on the device {known:?}",
            begins.len()
        );
        rig.check(&case, values, begins.len().div_ceil(size as usize))?;
        for (class, memory) in [short, small, large].iter().enumerate() {
            let got = entries::<2>(memory)?;
            if expected.in_place[class].len() < room as usize {
                let mut expected: Vec<_> =
                    expected.in_place[class].iter().map(|of| [of.begin, of.extent]).collect();
                expected.sort_unstable();
                assert_eq!(got, expected, "{case}, class {class}");
            }
        }
        let got = entries::<4>(&long)?;
        if expected.args[3][3] > 0 {
            // First tiles are consecutive, in any order of the segments.
            let mut next = 0;
            let mut by_tile = got.clone();
            by_tile.sort_unstable_by_key(|&[.., first_tile, _]| first_tile);
            for [_, extent, first_tile, tile_count] in by_tile {
                assert_eq!((first_tile, tile_count), (next, extent.div_ceil(TILE_ITEMS)), "{case}");
                next += tile_count;
            }
            assert_eq!(next, expected.args[4][3], "{case}");
            let mut expected: Vec<_> =
                expected.long.iter().map(|long| [long.segment.begin, long.segment.extent]).collect();
            expected.sort_unstable();
            assert!(got.iter().map(|&[begin, extent, ..]| [begin, extent]).eq(expected), "{case}");
        }
    }
    Ok(())
}

/// With a GPU-resident count of no segments, a surplus workgroup writes nothing.
fn nothing_classified(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let rig = Rig::new(gpu, kernel, small_workgroup(gpu), &[])?;
    let written = [8, 5 * ARGS_WORDS, 4, 4, 4, 8].map(|words| Value::input(vec![POISON; words]));
    let names =
        ["state", "dispatch_args", "short_segments", "small_segments", "large_segments", "long_segments"];
    let mut values = vec![
        ("segments", Value::input(vec![0, 0])),
        ("indirect_segment_count", Value::input(vec![0])),
        ("indirect_element_count", Value::Null),
        ("segment_ends", Value::Null),
        ("max_row", Value::Number(1)),
        ("row_length", Value::Number(0)),
    ];
    values.extend(names.into_iter().zip(written));
    let room = ["short_capacity", "small_capacity", "large_capacity", "long_capacity", "tile_capacity"];
    let counts = ["segment_count", "element_count"].into_iter().chain(room);
    values.extend(counts.map(|name| (name, Value::Number(2))));
    rig.check("no segments", values, 1)
}

/// The written entries of a queue, sorted.
fn entries<const N: usize>(memory: &Memory<'_>) -> Result<Vec<[u32; N]>, String> {
    let words = memory.read()?;
    let (entries, _) = words.as_chunks();
    let mut entries: Vec<[u32; N]> = entries.iter().copied().filter(|entry| *entry != [POISON; N]).collect();
    entries.sort_unstable();
    Ok(entries)
}

/// Long segments of `count` keys, in another order than their tiles.
fn long_queue(count: u32, tile_items: u32) -> Vec<LongSegment> {
    let mut first_tile = 0;
    let long = |segment: Segment| {
        let tile_count = segment.extent.div_ceil(tile_items);
        let long = LongSegment { segment, first_tile, tile_count };
        first_tile += tile_count;
        long
    };
    let segments = queued(count, 10 * tile_items + 1);
    let mut long: Vec<_> = segments.into_iter().filter(|of| of.extent > 0).map(long).collect();
    long.rotate_left(2);
    long
}

pub fn queue_tiles(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let rig = Rig::new(gpu, kernel, small_workgroup(gpu), &[])?;
    // A segment of more tiles than the workgroup has invocations.
    let huge = LongSegment {
        segment: Segment { begin: 0, extent: 5_000 * TILE_ITEMS },
        first_tile: 0,
        tile_count: 5_000,
    };
    for long in [long_queue(3_000, TILE_ITEMS), vec![huge]] {
        let expected = model::queue_tiles(&long);
        let values = [
            ("long_segments", Value::input(words_of_long(&long))),
            ("tiles", Value::output(expected)),
            ("dispatch_args", args(long.len())),
        ];
        rig.check(kernel.name, values, long.len())?;
    }
    Ok(())
}

/// A kernel that sorts segments in one dispatch.
struct InPlace<'a> {
    kernel: &'static Kernel,
    rig: Rig<'a>,
    per_workgroup: usize,
    segments: &'a [Segment],
}

impl InPlace<'_> {
    /// Checks a sort in place, with values and as an argsort of all keys and of each segment.
    fn check(&self, keys: &[u32], indices: &[u32], bits: Vec<(&'static str, usize)>) -> Result<(), Failed> {
        let kernel = self.kernel;
        let (key_words, value_words) = widths(kernel);
        let count = indices.len();
        let all_values = random(5, count * value_words);
        for (is_argsort, is_within) in [(false, false), (true, false), (true, true)] {
            if is_argsort && value_words != 1 {
                continue;
            }
            let own = own_indices(count, self.segments, is_within);
            let (before, has_values) = (if is_argsort { &own } else { &all_values }, value_words > 0);
            let sorted_keys = match is_argsort {
                true => Value::input(keys),
                false => Value::changed(keys, scattered(keys, key_words, indices)),
            };
            let sorted_values = Value::changed(before, scattered(before, value_words.max(1), indices));
            let mut values = vec![
                ("keys", sorted_keys),
                ("sorted", Value::SameAs("keys").only_if(!is_argsort)),
                ("sorted_values", sorted_values.only_if(has_values)),
                ("values", Value::SameAs("sorted_values").only_if(!is_argsort)),
                ("list", Value::input(words_of(self.segments))),
                ("dispatch_args", args(self.segments.len())),
                ("begin_mask", begin_mask(is_within)),
            ];
            values.extend(bits.iter().map(|&(name, number)| (name, Value::Number(number))));
            let case = format!(
                "{}, {} segments, {bits:?}, argsort: {is_argsort}, within: {is_within}",
                kernel.name,
                self.segments.len()
            );
            self.rig.check(&case, values, self.segments.len().div_ceil(self.per_workgroup))?;
        }
        Ok(())
    }
}

/// The index of each key, `is_within` of one in a segment that in the segment.
fn own_indices(count: usize, segments: &[Segment], is_within: bool) -> Vec<u32> {
    let mut own: Vec<u32> = (0..count as u32).collect();
    for segment in segments.iter().filter(|_| is_within) {
        own[segment.begin as usize..][..segment.extent as usize]
            .iter_mut()
            .for_each(|index| *index -= segment.begin);
    }
    own
}

fn begin_mask(is_within: bool) -> Value<'static> {
    Value::Number(if is_within { 0 } else { u32::MAX as usize })
}

/// Keys of which many are equal.
fn keys(count: u32, key_words: usize) -> Vec<u32> {
    random(1, count as usize * key_words).into_iter().map(|word| word & 0xc000_0003).collect()
}

const COUNT: u32 = 3_001;

/// Clusters of every width that every device has, and of more lanes where there are; keys alone by all bits, with and
/// without their indices.
pub fn short_segments(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let (key_words, value_words) = widths(kernel);
    let lanes = gpu.capabilities().min_subgroup_size;
    let key_bits = 32 * key_words as u32;
    let by_network = kernel.name.contains("network");
    // Rows that a network merges in up to four steps, some of which do not exist.
    let shapes = [(4, 5), (lanes, 2), (4, 3), (1, 2), (2, 16), (lanes, 8), (1, 3), (lanes, 1)];
    for (index, (lanes, items)) in selection.first(2, shapes).into_iter().enumerate() {
        let order = nth_order(index + key_words + value_words);
        let size = small_workgroup(gpu);
        let segments = queued(COUNT, lanes * items);
        let per_workgroup = (size / lanes) as usize;
        let keys = keys(COUNT, key_words);
        let ranges = [0..key_bits, 1..9, key_bits - 1..key_bits, 7..7];
        // Elsewhere all keys are compared by their indices.
        let is_whole = value_words == 0 && order.numbers != Numbers::NumpyFloat;
        let by_all_bits = (by_network && is_whole).then_some((1, &ranges[..1]));
        for (all_bits, ranges) in [(0, &ranges[..])].into_iter().chain(by_all_bits) {
            let mut constants = order_constants(kernel, order);
            constants.extend([
                ("CLUSTER_LANES", lanes),
                ("ITEMS_PER_INVOCATION", items),
                ("ALL_BITS", all_bits),
            ]);
            if !by_network {
                constants.pop();
            }
            let rig = Rig::new(gpu, kernel, size, &constants)?;
            let check = InPlace { kernel, rig, per_workgroup, segments: &segments };
            for bits in ranges.iter().cloned() {
                let mask = mask_of(bits);
                let indices = model::sort_segments(&order.all(&keys, key_words), mask, &segments);
                let masks = vec![("low_mask", mask as u32 as usize), ("high_mask", (mask >> 32) as usize)];
                check.check(&keys, &indices, masks)?;
            }
        }
    }
    Ok(())
}

fn mask_of(bits: std::ops::Range<u32>) -> u64 {
    let below = |bit: u32| ((1u128 << bit) - 1) as u64;
    below(bits.end) & !below(bits.start)
}

/// The sort of one segment by one workgroup.
pub fn small_segments(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let (key_words, value_words) = widths(kernel);
    let key_bits = 32 * key_words as u32;
    for (index, items) in selection.first(1, [4, 8]).into_iter().enumerate() {
        let order = nth_order(index + key_words + value_words);
        let mut constants = order_constants(kernel, order);
        constants.extend([("RADIX_BITS", 4), ("ITEMS_PER_INVOCATION", items), ("QUAD_ACCESS", 0)]);
        let size = small_workgroup(gpu);
        let rig = Rig::new(gpu, kernel, size, &constants)?;
        let segments = queued(COUNT, size * items);
        let check = InPlace { kernel, rig, per_workgroup: 1, segments: &segments };
        let keys = keys(COUNT, key_words);
        for bits in [0..key_bits, 1..9, key_bits - 1..key_bits, 7..7] {
            let orders = order.all(&keys, key_words);
            let indices = model::sort_segments(&orders, mask_of(bits.clone()), &segments);
            let range = vec![("begin_bit", bits.start as usize), ("end_bit", bits.end as usize)];
            check.check(&keys, &indices, range)?;
        }
    }
    Ok(())
}

/// The count or the scatter of the tiles of long segments.
pub fn long_segments(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let (key_words, value_words) = widths(kernel);
    let is_count = kernel.name.starts_with("sort/count_bins");
    let order = nth_order(key_words + value_words);
    let has_no_last_keys = value_words > 0 && !(key_words + value_words).is_multiple_of(2);
    let (workgroup_size, items, radix) = (small_workgroup(gpu), 1, 256);
    let tile_items = workgroup_size * items;
    let count = 9_000 * (tile_items / TILE_ITEMS);
    let long = long_queue(count, tile_items);
    let tiles = model::queue_tiles(&long);
    let mut constants = order_constants(kernel, order);
    constants.extend([("RADIX_BITS", 8), ("ITEMS_PER_INVOCATION", items)]);
    if !is_count {
        constants.push(("MAX_SUBGROUPS", subgroup_count(gpu, workgroup_size)));
        constants.push(("NO_LAST_KEYS", has_no_last_keys.into()));
    }
    let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
    let keys = random(7, count as usize * key_words);
    let key_bits = 32 * key_words as u32;
    for digit in [
        Digit { shift: 0, mask: 255 },
        Digit { shift: key_bits - 8, mask: 255 },
        Digit { shift: 9, mask: 1 },
        Digit { shift: 0, mask: 0 },
    ] {
        let digits = order.digits(&keys, key_words, digit);
        let counts = model::tile_counts(&digits, radix, tile_items as usize, &long);
        let offsets = oracle::exclusive_scan(&counts, 1);
        let indices = model::scatter(&digits, &offsets, radix, tile_items as usize, &long);
        let values = random(3, count as usize * value_words);
        let all_segments: Vec<_> = long.iter().map(|long| long.segment).collect();
        for (is_argsort, is_within) in [(false, true), (true, false), (true, true)] {
            if is_argsort && value_words != 1 {
                continue;
            }
            let own = own_indices(count as usize, &all_segments, is_within);
            let is_last = has_no_last_keys && digit.shift == 0;
            let before = if is_argsort { &own } else { &values };
            let sorted = |words: &[u32], size| Value::output(scattered_some(words, size, &indices));
            let case = format!(
                "{}, {} tiles, {digit:?}, {order:?}, argsort: {is_argsort}, within: {is_within}",
                kernel.name,
                tiles.len()
            );
            let values = [
                ("keys", Value::input(&keys)),
                ("sorted", sorted(&keys, key_words).only_if(!is_last)),
                ("values", Value::input(&values).only_if(value_words > 0 && !is_argsort)),
                ("sorted_values", sorted(before, value_words.max(1)).only_if(value_words > 0)),
                ("counts", Value::output(&counts)),
                ("offsets", Value::input(&offsets)),
                ("tiles", Value::input(&tiles)),
                ("long_segments", Value::input(words_of_long(&long))),
                ("dispatch_args", args(tiles.len())),
                ("shift", Value::Number(digit.shift as usize)),
                ("digit_mask", Value::Number(digit.mask as usize)),
                ("begin_mask", begin_mask(is_within)),
            ];
            rig.check(&case, values, tiles.len())?;
        }
    }
    Ok(())
}

/// Scatters elements of `size` words to their indices, if any.
fn scattered_some(words: &[u32], size: usize, indices: &[Option<u32>]) -> Vec<u32> {
    let mut scattered_some = vec![POISON; words.len()];
    for (element, index) in words.chunks_exact(size).zip(indices) {
        if let Some(index) = index {
            scattered_some[*index as usize * size..][..size].copy_from_slice(element);
        }
    }
    scattered_some
}
