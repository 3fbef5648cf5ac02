//! The passes of each algorithm, in sequence, yield the oracle's result.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::digit_histogram::{Buffer, Config, Counted, Output, PassArgs, PingPong};
use super::scan::*;
use super::segmented_scan::{Headed, Heads, mark_segments};
use super::segmented_sort::{self, Capacities, Classes, LongSegment, Queues, Segment, classify, queue_tiles};
use super::sort::*;
use crate::reference::{Add, And, Element, Max, Min, Mul, Operator, Or, Row, Xor, oracle};

/// `count` words that depend on `seed` alone.
fn words(seed: u32, count: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_769).wrapping_add(1);
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state ^ state >> 15).wrapping_mul(0x2c1b_3c6d)
    };
    (0..count).map(next).collect()
}

/// Elements of the bicyclic monoid, which does not commute: every wrong order changes the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Brackets(u32, u32);

impl Element for Brackets {
    const IDENTITY: Self = Self(0, 0);

    fn combine(self, later: Self) -> Self {
        let matched = self.1.min(later.0);
        Self(self.0 + later.0 - matched, self.1 + later.1 - matched)
    }
}

fn brackets(seed: u32, count: usize) -> Vec<Brackets> {
    words(seed, count).iter().map(|word| Brackets(word >> 3 & 3, word >> 9 & 3)).collect()
}

/// The oracle's inclusive scan of brackets.
fn prefixes(values: &[Brackets]) -> Vec<Brackets> {
    oracle::inclusive_scan_by(values, 1, Brackets::combine)
}

const TILES: [usize; 4] = [1, 4, 7, 100];

/// Sizes around the tile boundaries.
fn sizes(tile_items: usize) -> Vec<usize> {
    let sizes =
        [tile_items - 1, tile_items, tile_items + 1, 3 * tile_items + 5, tile_items * tile_items + 1, 1009];
    sizes.into_iter().filter(|&size| size > 0).collect()
}

/// Reduce-then-scan, level above level.
fn reduce_then_scan<E: Element>(source: &[E], tile_items: usize, exclusive: bool) -> Vec<E> {
    let carries = (source.len() > tile_items)
        .then(|| reduce_then_scan(&tile_totals(source, tile_items), tile_items.max(2), true));
    scan_tiles(source, tile_items, exclusive, carries.as_deref())
}

fn scan_then_propagate(source: &[Brackets], tile_items: usize) -> Vec<Brackets> {
    let mut table = scan_tiles(source, tile_items, false, None);
    if source.len() > tile_items {
        let totals = scan_then_propagate(&tile_totals(source, tile_items), tile_items.max(2));
        let carries: Vec<_> = std::iter::once(Brackets::IDENTITY)
            .chain(totals)
            .take(source.len().div_ceil(tile_items))
            .collect();
        propagate(&mut table, tile_items, &carries);
    }
    table
}

/// The scan of tutorial 14: totals in the chunks' own last entries, level above level.
fn chunk_in_place(table: &mut [Brackets], count: usize, stride: usize, chunk_items: usize) {
    let full_chunks = count / chunk_items;
    let has_sums = count > chunk_items;
    if has_sums {
        chunk_sum(table, stride, chunk_items, full_chunks);
        chunk_in_place(table, full_chunks, stride * chunk_items, chunk_items);
    }
    chunk_prefix(table, stride, chunk_items, count, has_sums);
}

#[test]
fn every_scan_is_the_oracles_in_tiles_of_any_size() {
    for tile_items in TILES {
        for size in sizes(tile_items) {
            let values = brackets(size as u32, size);
            let inclusive = prefixes(&values);
            let exclusive: Vec<_> =
                std::iter::once(Brackets::IDENTITY).chain(inclusive.clone()).take(size).collect();
            let case = format!("{size} in tiles of {tile_items}");
            assert_eq!(reduce_then_scan(&values, tile_items, false), inclusive, "{case}");
            assert_eq!(reduce_then_scan(&values, tile_items, true), exclusive, "{case}");
            assert_eq!(scan_then_propagate(&values, tile_items), inclusive, "{case}");
            let mut table = values.clone();
            chunk_in_place(&mut table, size, 1, tile_items.max(2));
            assert_eq!(table, inclusive, "{case}");
            let chained = chained(&values, tile_items, false, None);
            assert_eq!(chained.results, inclusive, "{case}");
            let at_ends = |size: usize| Descriptor::Prefix(inclusive[size - 1]);
            let ends = (1..=size).filter(|&end| end % tile_items == 0 || end == size);
            assert_eq!(chained.tiles, ends.map(at_ends).collect::<Vec<_>>(), "{case}");
            let fixed = super::scan::chained(&values, tile_items, true, Some(GROUP_TILES));
            assert_eq!(fixed.results, exclusive, "{case}");
            let group_items = GROUP_TILES * tile_items;
            let groups = (1..size.div_ceil(group_items)).map(|group| at_ends(group * group_items));
            assert_eq!(fixed.groups, groups.collect::<Vec<_>>(), "{case}");
            assert_eq!(fixed.tiles.len(), chained.tiles.len());
        }
    }
}

#[test]
fn doubled_blocks_and_strides_are_scans() {
    for size in [1, 2, 3, 5, 63, 64, 65, 1000, 1024, 1025] {
        let values = brackets(size as u32, size);
        let steps = size.next_power_of_two().ilog2();
        let mut table = values.clone();
        (0..steps).for_each(|block_bits| double_blocks(&mut table, block_bits));
        assert_eq!(table, prefixes(&values), "{size}");

        // Strided scans interleave rows: the operator must commute.
        let values = words(size as u32, size);
        let halved =
            |suffix| (0..steps).rev().fold(values.clone(), |table, step| strided(suffix, &table, 1 << step));
        let mut suffixes: Vec<_> = values.iter().rev().copied().collect();
        suffixes = oracle::inclusive_scan(&suffixes, 1);
        suffixes.reverse();
        assert_eq!(halved(false), oracle::inclusive_scan(&values, 1), "{size}");
        assert_eq!(halved(true), suffixes, "{size}");
    }
}

/// Compares an operator on rows of two numbers with a plain loop and a second definition of the operator.
fn operator_agrees_with_the_oracle<O: Operator<N>, N: Copy + Default>(
    number: fn(u32) -> N,
    combine: fn(N, N) -> N,
    bits: fn(N) -> u64,
) {
    let size = 305;
    let values: Vec<N> = words(5, size * 2).into_iter().map(number).collect();
    let rows: Vec<_> = values.chunks_exact(2).map(|pair| Row::<O, N, 2>::new([pair[0], pair[1]])).collect();
    let exclusive = oracle::exclusive_scan_by(&values, 2, O::IDENTITY, combine);
    let inclusive = oracle::inclusive_scan_by(&values, 2, combine);
    for (is_exclusive, expected) in [(false, inclusive), (true, exclusive)] {
        let got = reduce_then_scan(&rows, 100, is_exclusive);
        let got = got.iter().flat_map(|row| row.0);
        assert!(got.map(bits).eq(expected.into_iter().map(bits)), "{is_exclusive}");
    }
}

#[test]
fn every_operator_is_the_oracles() {
    operator_agrees_with_the_oracle::<Add, u32>(|word| word, u32::wrapping_add, u64::from);
    operator_agrees_with_the_oracle::<Mul, u32>(|word| word | 1, |a, b| a.wrapping_mul(b), u64::from);
    operator_agrees_with_the_oracle::<And, u32>(
        |word| !(u32::from(word >> 27 == 0) << (word & 31)),
        |a, b| a & b,
        u64::from,
    );
    operator_agrees_with_the_oracle::<Or, i64>(|word| 1 << (word >> 26), |a, b| a | b, |value| value as u64);
    operator_agrees_with_the_oracle::<Xor, u64>(|word| u64::from(word) << 20, |a, b| a ^ b, |value| value);
    operator_agrees_with_the_oracle::<Min, i32>(
        |word| word as i32,
        |a, b| if b < a { b } else { a },
        |value| value as u64,
    );
    // All NaNs are equal; -0 is less than +0.
    operator_agrees_with_the_oracle::<Max, f32>(
        f32::from_bits,
        |a, b| {
            let is_greater = b > a || (b == a && a.is_sign_negative());
            if a.is_nan() || !(b.is_nan() || is_greater) { a } else { b }
        },
        |value| if value.is_nan() { u64::MAX } else { value.to_bits().into() },
    );
}

#[test]
fn a_dropped_carry_shows() {
    let values = words(1, 300);
    let expected = oracle::inclusive_scan(&values, 1);
    let got = scan_tiles(&values, 100, false, None);
    assert_eq!(got[..100], expected[..100]);
    assert!(got[100..].iter().zip(&expected[100..]).all(|(got, expected)| got != expected));
}

#[test]
fn a_wrong_sum_shows_behind_its_chunk() {
    let values = brackets(2, 1000);
    let mut table = values.clone();
    chunk_sum(&mut table, 1, 256, 3);
    table[511] = table[511].combine(Brackets(0, 1));
    chunk_in_place(&mut table, 3, 256, 256);
    chunk_prefix(&mut table, 1, 256, 1000, true);
    let expected = prefixes(&values);
    assert!(table[..511] == expected[..511] && table[511] != expected[511]);
    assert!(table[512] != expected[512]);
}

#[test]
fn segments_are_scanned_each_by_itself() {
    let count = 505;
    let rows = brackets(3, count);
    // Many short segments, and one longer than a tile.
    let flags: Vec<_> = (0..count as u32).map(|row| u32::from(row % 7 == 0 && row < 170)).collect();
    let initial = Brackets(5, 77);
    for tile_items in [4, 100] {
        for (exclusive, is_reverse) in [(false, false), (true, false), (false, true), (true, true)] {
            let heads = Heads::Flags.head_flags(&flags, count, is_reverse);
            let headed = rows.iter().zip(&heads).map(|(&value, &is_head)| Headed { value, is_head });
            let mut in_order: Vec<_> = headed.collect();
            if is_reverse {
                in_order = reversed(&in_order, tile_items);
            }
            let scanned = reduce_then_scan(&in_order, tile_items, exclusive);
            let result = |(&scanned, row): (&Headed<_>, &Headed<_>)| {
                Heads::Flags.result(initial, scanned, row.is_head, exclusive)
            };
            let mut got: Vec<_> = scanned.iter().zip(&in_order).map(result).collect();
            if is_reverse {
                got.reverse();
                got.truncate(count);
            }
            let mut sum = initial;
            let mut expected = vec![Brackets::IDENTITY; count];
            for step in 0..count {
                let row = if is_reverse { count - 1 - step } else { step };
                if heads[row] {
                    sum = initial;
                }
                let before = sum;
                sum = before.combine(rows[row]);
                expected[row] = if exclusive { before } else { sum };
            }
            assert_eq!(got, expected, "{tile_items}, {exclusive}, {is_reverse}");
        }
    }
}

#[test]
fn heads_are_the_first_rows_of_segments_from_either_end() {
    let flags = [1, 0, 0, 2, 0];
    assert_eq!(Heads::Flags.head_flags(&flags, 5, false), [false, false, false, true, false]);
    assert_eq!(Heads::Flags.head_flags(&flags, 5, true), [false, false, true, false, false]);
    assert_eq!(Heads::Keys32.head_flags(&[5, 5, 5, 4, 4], 5, false), [false, false, false, true, false]);
    assert_eq!(Heads::Keys64.head_flags(&[5, 1, 5, 1, 5, 2], 3, false), [false, false, true]);
    assert_eq!(Heads::Bits.head_flags(&[0b01001], 5, true), [false, false, true, false, false]);
    let mut bits = [0; 2];
    mark_segments(&[3, 40, 3, 50, u32::MAX], &mut bits, 50);
    assert_eq!(bits, [8, 1 << 8]);
}

#[test]
fn level_args_are_those_of_the_indirect_count() {
    let level = |workgroups, tile_count, last_extent| LevelArgs { workgroups, tile_count, last_extent };
    assert_eq!(
        level_args(70_000, 1 << 20, 128, 3, 1, 300, 0),
        [level([274, 2, 1], 547, 112), level([5, 1, 1], 5, 35), level([1, 1, 1], 1, 5)]
    );
    assert_eq!(
        level_args(u32::MAX.into(), 5, 4, 2, 3, 65_535, 0),
        [level([6, 1, 1], 2, 1), level([3, 1, 1], 1, 2)]
    );
    assert_eq!(level_args(0, 5, 4, 1, 3, 65_535, 0), [level([0, 1, 1], 0, 0)]);
    assert_eq!(level_args(0, 5, 4, 1, 3, 65_535, 1), [level([3, 1, 1], 1, 0)]);
}

/// The order of u32 keys.
const WORDS: KeyOrder = KeyOrder { numbers: Numbers::Unsigned, is_descending: false };

/// Scatters keys to their new indices.
fn moved(keys: &[u32], indices: &[u32]) -> Vec<u32> {
    let mut moved = vec![0; keys.len()];
    keys.iter().zip(indices).for_each(|(&key, &index)| moved[index as usize] = key);
    moved
}

/// An LSD radix sort: count, scan and scatter, digit after digit; the last digit may be narrower.
fn radix_sort(keys: &[u32], radix_bits: u32, tile_items: usize, bits: Range<u32>) -> Vec<u32> {
    let mut keys = keys.to_vec();
    for shift in bits.clone().step_by(radix_bits as usize) {
        let mask = (1 << radix_bits.min(bits.end - shift)) - 1;
        let digits = WORDS.digits(&keys, 1, Digit { shift, mask });
        let counts = tile_counts(&digits, 1 << radix_bits, tile_items);
        keys = moved(&keys, &scatter(&digits, &oracle::exclusive_scan(&counts, 1), tile_items));
    }
    keys
}

#[test]
fn every_sort_is_the_oracles_in_tiles_of_any_size() {
    let inputs: [Vec<u32>; 4] = [
        words(7, 1000),
        (0..1000).rev().collect(),
        vec![u32::MAX; 1000],
        words(5, 1000).iter().map(|word| word & 0xf0).collect(),
    ];
    for (tile_items, radix_bits) in TILES.into_iter().zip([2, 4, 5, 8]) {
        for bits in [0..32, 7..10, 31..32, 27..32, 5..5] {
            for keys in &inputs {
                let expected = oracle::sort(keys, bits.clone());
                let case = format!("tiles of {tile_items}, {radix_bits} bits of {bits:?}");
                assert_eq!(radix_sort(keys, radix_bits, tile_items, bits.clone()), expected, "{case}");
                let orders = WORDS.all(keys, 1);
                assert_eq!(moved(keys, &stable_order(&orders, bits.clone())), expected, "{case}");
            }
        }
    }
}

#[test]
fn onesweep_sorts_in_portions_by_the_bins_of_the_histogram() {
    for tile_items in TILES {
        let keys = words(3, 7 * tile_items + 5);
        let config = config(Output::InPlace, 3..30, 4, tile_items);
        let bins = config.histogram(Counted::default(), &WORDS.all(&keys, 1), 32, 256).bins;
        let mut sorted = keys.clone();
        for (digit, mut bins) in config.digits().into_iter().zip(bins) {
            let mut indices = Vec::new();
            for digits in WORDS.digits(&sorted, 1, digit).chunks(3 * tile_items) {
                let swept = onesweep(digits, &bins, tile_items);
                indices.extend(swept.indices.iter().map(|&index| index as u32));
                let last = &swept.inclusive_counts[swept.inclusive_counts.len() - 256..];
                assert!(last.iter().map(|&count| count as usize).sum::<usize>() == digits.len());
                bins = swept.next_bins;
            }
            sorted = moved(&sorted, &indices);
        }
        assert_eq!(sorted, oracle::sort(&keys, 3..30), "tiles of {tile_items}");
    }
}

#[test]
fn counts_are_digit_major() {
    // Two tiles of digit 1, then three keys of digit 2.
    let digits = [[1; 14].as_slice(), &[2; 3]].concat();
    assert_eq!(tile_counts(&digits, 4, 7), [0, 0, 0, 7, 7, 0, 0, 0, 3, 0, 0, 0]);
}

#[test]
fn a_wrong_offset_shows() {
    let digits = WORDS.digits(&words(4, 1000), 1, Digit { shift: 0, mask: 3 });
    let offsets = oracle::exclusive_scan(&tile_counts(&digits, 4, 100), 1);
    let mut wrong = offsets.clone();
    wrong[1] -= 1;
    let (right, wrong) = (scatter(&digits, &offsets, 100), scatter(&digits, &wrong, 100));
    let first_of_tile = |index: &usize| digits[*index] == 0 && (100..200).contains(index);
    assert!((0..1000).all(|index| (right[index] != wrong[index]) == first_of_tile(&index)));
}

#[test]
fn an_unstable_order_shows() {
    // Keys that are equal in the digit and differ elsewhere: any swap is visible.
    let keys: Vec<u32> = (0..600).map(|i| (i << 8) | (i * 7 % 16)).collect();
    let sorted = radix_sort(&keys, 4, 100, 0..4);
    assert_eq!(sorted, oracle::sort(&keys, 0..4));
    let mut swapped = sorted.clone();
    swapped.swap(0, 1);
    assert_eq!(swapped[0] & 15, sorted[0] & 15);
    assert_ne!(swapped, sorted);
}

#[test]
fn a_key_is_ordered_as_its_number_is() {
    let words = |bits: u64| [bits as u32, (bits >> 32) as u32];
    let order = |numbers| KeyOrder { numbers, is_descending: false };
    let as_numpy = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()));
    let singles =
        [0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, u32::MAX];
    for (a, b) in singles.into_iter().flat_map(|a| singles.map(|b| (a, b))) {
        let by = |numbers| order(numbers).ordered(&[a]).cmp(&order(numbers).ordered(&[b]));
        assert_eq!(by(Numbers::Unsigned), a.cmp(&b));
        assert_eq!(by(Numbers::Signed), (a as i32).cmp(&(b as i32)));
        let floats = [a, b].map(f32::from_bits);
        assert_eq!(by(Numbers::Float), floats[0].total_cmp(&floats[1]), "{a:#x} {b:#x}");
        let [first, second] = floats.map(f64::from);
        assert_eq!(by(Numbers::NumpyFloat), as_numpy(first, second), "{a:#x} {b:#x}");
        let (a, b) = (u64::from(a) << 32 | u64::from(b), u64::from(b) << 32 | 7);
        let by = |numbers| order(numbers).ordered(&words(a)).cmp(&order(numbers).ordered(&words(b)));
        assert_eq!(by(Numbers::Unsigned), a.cmp(&b));
        assert_eq!(by(Numbers::Signed), (a as i64).cmp(&(b as i64)));
        let floats = [a, b].map(f64::from_bits);
        assert_eq!(by(Numbers::Float), floats[0].total_cmp(&floats[1]), "{a:#x} {b:#x}");
        assert_eq!(by(Numbers::NumpyFloat), as_numpy(floats[0], floats[1]), "{a:#x} {b:#x}");
        let descending = KeyOrder { is_descending: true, ..order(Numbers::Float) };
        assert_eq!(
            descending.ordered(&words(a)).cmp(&descending.ordered(&words(b))),
            by(Numbers::Float).reverse()
        );
    }
}

fn config(output: Output, bits: Range<u32>, pass_count: u32, pass_tile_items: usize) -> Config {
    let (portion_tiles, portion_count) = (2, 3);
    let (begin_bit, end_bit) = (bits.start, bits.end);
    let has_indices = output == Output::Indices;
    Config {
        pass_tile_items,
        pass_max_workgroups: 0,
        portion_tiles,
        portion_count,
        begin_bit,
        end_bit,
        pass_count,
        output,
        has_indices,
        has_no_last_keys: false,
        is_even: false,
    }
}

/// The final buffers of keys and values, by following the dispatches that run.
fn ends(args: &[PassArgs]) -> (Buffer, Option<Buffer>) {
    let (mut keys, mut values) = (Buffer::Primary, None);
    for PassArgs { buffers, .. } in args.iter().filter(|args| args.tile_count > 0) {
        // The portions of a pass share its buffers.
        if buffers.keys.1 != keys {
            assert_eq!(buffers.keys.0, keys);
            assert!(values.is_none_or(|values| buffers.values.0 == values));
        }
        assert_ne!(buffers.keys.0, buffers.keys.1);
        assert_ne!(buffers.values.0, buffers.values.1);
        (keys, values) = (buffers.keys.1, Some(buffers.values.1));
    }
    (keys, values)
}

#[test]
fn keys_and_indices_end_in_the_buffers_of_the_output() {
    // Keys that differ in digits 0, 2 and 3; in none; in all.
    for orders in [[0u64, 0x0101_0001, 5], [7, 7, 7], [0, u64::MAX, 1]] {
        for pass_count in 1..=4 {
            let args_of = |output| {
                let config = config(output, 0..8 * pass_count, pass_count, 4);
                config.histogram(Counted::default(), &orders, 32, 256).args
            };
            assert_eq!(ends(&args_of(Output::InPlace)).0, Buffer::Primary);
            let even = Config { is_even: true, ..config(Output::InPlace, 0..8 * pass_count, pass_count, 4) };
            let even = even.histogram(Counted::default(), &orders, 32, 256).args;
            let (copy, passes) = even.split_last().unwrap();
            let runs = passes.iter().filter(|args| args.tile_count > 0).count();
            assert_eq!(ends(&even).0, Buffer::Primary);
            if pass_count % 2 == 0 {
                assert!(copy.tile_count == 0 && runs % 2 == 0, "{runs} passes");
            }
            let indexed =
                Config { has_indices: true, ..config(Output::InPlace, 0..8 * pass_count, pass_count, 4) };
            let indexed = indexed.histogram(Counted::default(), &orders, 32, 256).args;
            assert_eq!(ends(&indexed), (Buffer::Primary, Some(Buffer::Primary)));
            let first = indexed.iter().find(|args| args.tile_count > 0).unwrap();
            assert_eq!(first.buffers.values.0, Buffer::Other);
            let discarded = Config {
                has_no_last_keys: true,
                ..config(Output::InPlace, 0..8 * pass_count, pass_count, 4)
            };
            let discarded = discarded.histogram(Counted::default(), &orders, 32, 256).args;
            let (_, passes) = discarded.split_last().unwrap();
            // The last pass alone writes no keys.
            let written = passes.iter().filter(|args| args.tile_count > 0).map(|args| args.buffers);
            let written: Vec<_> = written.map(|buffers| buffers.keys.1 != Buffer::Nowhere).collect();
            let last_pass = written.len().saturating_sub(1);
            assert!(
                written.iter().enumerate().all(|(index, &keys)| keys == (index < last_pass)),
                "{written:?}"
            );
            let indices = args_of(Output::Indices);
            assert_eq!(ends(&indices).1, Some(Buffer::Primary));
            let mut running = indices.iter().filter(|args| args.tile_count > 0);
            assert!(running.all(|args| args.buffers.keys.1 != Buffer::Primary));
            let every = args_of(Output::EveryPass);
            let is_forward = |args: &PassArgs| args.buffers.keys == (Buffer::Primary, Buffer::Alternate);
            let (copy, passes) = every.split_last().unwrap();
            assert!(passes.iter().all(is_forward));
            let runs = passes.iter().filter(|args| args.tile_count > 0);
            assert!(runs.count() >= pass_count as usize);
            assert!(copy.tile_count > 0 && !is_forward(copy));
        }
    }
}

#[test]
fn portions_share_the_tiles_and_many_workgroups_make_rows() {
    let orders: Vec<u64> = (0..21).collect();
    let args = config(Output::InPlace, 0..8, 1, 4).histogram(Counted::default(), &orders, 32, 256).args;
    let tiles: Vec<_> = args.iter().map(|args| (args.tile_count, args.last_extent)).collect();
    assert_eq!(tiles, [(2, 4), (2, 4), (2, 1), (6, 1)]);
    let buffers = PingPong {
        keys: (Buffer::Alternate, Buffer::Other),
        values: (Buffer::Other, Buffer::Primary),
        parity: 1,
    };
    let words = PassArgs { tile_count: 11, workgroup_count: 11, last_extent: 3, buffers }.words(4, 16);
    assert_eq!(words, [4, 3, 1, 11, 3, 1 | 2 << 2 | 2 << 4 | 1 << 8, 176]);
}

const CLASSES: Classes = Classes {
    min_extent: 1,
    max_extents: [2, 4, 8],
    short_per_workgroup: 2,
    tile_items: 4,
    radix: 16,
    max_row: 1,
};

#[test]
fn all_classes_together_sort_each_segment() {
    let begins = [3, 3, 5, 16, 17, 29, 100, 200, 400, 2000, 2000, 4990, 5000];
    let order = KeyOrder { numbers: Numbers::Signed, is_descending: true };
    let room = Capacities { in_place: [u32::MAX; 3], long: u32::MAX, tiles: u32::MAX };
    let keys = words(4, 5000);
    let mut expected = keys.clone();
    for (&begin, &end) in begins.iter().zip(begins.iter().skip(1).chain([&5000])) {
        expected[begin..end].sort_by_key(|&key| std::cmp::Reverse(key as i32));
    }
    for tile_items in TILES {
        let classes =
            Classes { max_extents: [12, 100, 300], radix: 256, tile_items: tile_items as u32, ..CLASSES };
        let begins = begins.map(|begin| begin as u32);
        let Queues { in_place, long, args } = classify(&classes, (&begins, None), 5000, &room);
        let mut keys = keys.clone();
        for class in &in_place {
            let orders = order.all(&keys, 1);
            keys = moved(&keys, &segmented_sort::sort_segments(&orders, u32::MAX.into(), class));
        }
        for shift in [0, 8, 16, 24] {
            let digits = order.digits(&keys, 1, Digit { shift, mask: 255 });
            let counts = segmented_sort::tile_counts(&digits, 256, tile_items, &long);
            assert_eq!(counts.len(), args[4][4] as usize);
            let offsets = oracle::exclusive_scan(&counts, 1);
            let indices = segmented_sort::scatter(&digits, &offsets, 256, tile_items, &long);
            let stay = (0..).zip(indices).map(|(own, index)| index.unwrap_or(own));
            keys = moved(&keys, &stay.collect::<Vec<_>>());
        }
        assert!(keys == expected, "tiles of {tile_items}");
    }
}

#[test]
fn segments_are_queued_by_their_lengths() {
    let room = Capacities { in_place: [3; 3], long: 2, tiles: 8 };
    let queues = classify(&CLASSES, (&[1, 3, 3, 4, 8, 13, 22, 40, 99], None), 30, &room);
    let segment = |begin, extent| Segment { begin, extent };
    assert_eq!(queues.in_place[0], [segment(1, 2), segment(3, 1)]);
    assert_eq!(queues.in_place[1], [segment(4, 4)]);
    assert_eq!(queues.in_place[2], [segment(8, 5), segment(22, 8)]);
    assert_eq!(queues.long, [LongSegment { segment: segment(13, 9), first_tile: 0, tile_count: 3 }]);
    let args = [[1, 1, 1, 2, 32], [1, 1, 1, 1, 16], [1, 2, 1, 2, 32], [1, 1, 1, 1, 16], [1, 3, 1, 3, 48]];
    assert_eq!(queues.args, args);
    assert_eq!(queue_tiles(&queues.long), [0, 0, 0]);
}

#[test]
fn a_class_that_overflows_does_not_run() {
    let room = Capacities { in_place: [1, 1, 1], long: 1, tiles: 3 };
    let classes = Classes { min_extent: 2, ..CLASSES };
    // Descending offsets, so that segments overlap.
    let queues = classify(&classes, (&[0, 9, 1, 10, 12, 14], None), 14, &room);
    assert_eq!((queues.in_place[0].len(), queues.long.len()), (1, 1));
    assert!(queues.args.iter().all(|args| args[3] == 0), "{:?}", queues.args);
}

/// Every kernel below `folder`, with its source.
fn kernels(folder: &Path) -> Vec<(PathBuf, String)> {
    let (mut folders, mut kernels) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the package") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "comp") {
                kernels.push((path.clone(), fs::read_to_string(&path).expect("text")));
            }
        }
    }
    kernels
}

/// Whether a path below `reference` names an item that one of its files declares; a method is declared in the
/// file of its type.
fn is_declared(path: &str) -> bool {
    let mut file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reference");
    let mut names = path.split("::").peekable();
    while names.next_if(|name| file.join(name).is_dir()).inspect(|name| file.push(name)).is_some() {}
    let Some(module) = names.next() else { return false };
    let Ok(source) = fs::read_to_string(file.join(module).with_extension("rs")) else { return false };
    let declares = |name| {
        ["fn ", "struct "]
            .iter()
            .any(|kind| [" ", "(", "<"].iter().any(|end| source.contains(&format!("pub {kind}{name}{end}"))))
    };
    names.peek().is_some() && names.all(declares)
}

#[test]
fn every_kernel_names_its_model() {
    assert!(is_declared("passes::digit_histogram::Config::histogram") && is_declared("oracle::sort_pairs"));
    for gone in ["passes", "passes::scan", "passes::scan::tile", "passes::tiles::scan", "scan::scan_tiles"] {
        assert!(!is_declared(gone), "{gone}");
    }
    let kernels = kernels(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../glsl"));
    assert!(!kernels.is_empty());
    for (path, source) in kernels {
        let model = source.lines().find_map(|line| line.strip_prefix("// Pass model: "));
        let model = model.unwrap_or_else(|| panic!("{} names no model", path.display())).trim();
        let named: Vec<_> = model.split("reference::").skip(1).collect();
        assert!(!named.is_empty() || model.starts_with("none; "), "{}: {model}", path.display());
        for rest in named {
            let end = rest.find([',', ';', '.', ' ']).unwrap_or(rest.len());
            assert!(is_declared(&rest[..end]), "{} names {}", path.display(), &rest[..end]);
        }
    }
}

#[test]
fn parts_follow_each_other_in_order() {
    use super::select::{Compacted, compacted, tile_counts};
    let parts = [2, 0, 1, 1, 0, 2, 1];
    assert_eq!(compacted(&parts, 1), Compacted { order: vec![1, 4], counts: vec![2] });
    assert_eq!(compacted(&parts, 3), Compacted { order: vec![1, 4, 2, 3, 6, 0, 5], counts: vec![2, 3] });
    assert_eq!(tile_counts(&parts, 1, 4), [1, 1]);
    assert_eq!(tile_counts(&parts, 3, 4), [1, 2, 1, 1]);
    assert_eq!(compacted(&[], 3), Compacted { order: vec![], counts: vec![0, 0] });
}
