use super::segmented::{Headed, Heads};
use super::*;
use crate::reference::testing::{Brackets, LANES, brackets, prefixes, sizes, words};
use crate::reference::{Add, And, Max, Min, Mul, Operator, Or, Row, Xor, oracle, rows};

/// Reduce-then-scan, level above level, of twins alone.
fn reduce_then_scan<E: Element>(shape: &Shape, exclusive: bool, source: &[E]) -> Vec<E> {
    let tiles = Tiles::new(source.len(), shape.tile_items::<E>());
    let carries = (tiles.tile_count > 1).then(|| {
        let mut sums = vec![E::IDENTITY; tiles.tile_count];
        reduce(shape, source, &mut sums, tiles);
        reduce_then_scan(shape, true, &sums)
    });
    let mut destination = vec![E::IDENTITY; source.len()];
    downsweep(shape, exclusive, source, &mut destination, carries.as_deref(), tiles);
    destination
}

/// The seed's scan: sums in the chunks' own last rows, level above level.
fn chunk_in_place<E: Element>(shape: &Chunk, table: &mut [E], count: usize, stride: usize) {
    let chunks = Tiles::new(count, shape.items());
    if chunks.tile_count == 1 {
        return chunk_prefix(shape, false, table, stride, chunks);
    }
    let full_chunks = count / shape.items();
    chunk_sum(shape, table, stride, full_chunks);
    if full_chunks > 1 {
        chunk_in_place(shape, table, full_chunks, stride * shape.items());
    }
    chunk_prefix(shape, true, table, stride, chunks);
}

fn shapes(lanes: usize) -> [Shape; 3] {
    // The smallest tile, many rounds, and long runs in a workgroup of many subgroups.
    [(32, 1, 1), (64, 3, 1), (256, 1, 2)].map(|(size, runs_per_invocation, packs_per_run)| Shape {
        workgroup: Workgroup { size: size.max(lanes), lanes },
        runs_per_invocation,
        packs_per_run,
    })
}

fn tiles_agree_with_the_oracle<const C: usize>() {
    for lanes in LANES {
        for shape in shapes(lanes) {
            for size in sizes(lanes, shape.tile_items::<[u32; C]>(), 20_000) {
                let values = words(size as u32, size * C);
                let inclusive = reduce_then_scan(&shape, false, &rows::<C>(&values));
                let exclusive = reduce_then_scan(&shape, true, &rows::<C>(&values));
                assert_eq!(inclusive, rows(&oracle::inclusive_scan(&values, C)), "{shape:?}, {size} × {C}");
                assert_eq!(exclusive, rows(&oracle::exclusive_scan(&values, C)), "{shape:?}, {size} × {C}");
            }
        }
    }
}

#[test]
fn reduce_then_scan_is_a_scan() {
    tiles_agree_with_the_oracle::<1>();
    tiles_agree_with_the_oracle::<2>();
    tiles_agree_with_the_oracle::<3>();
    tiles_agree_with_the_oracle::<4>();
}

/// Rows of two numbers, by an operator of them, against a plain loop that is told the operator once more.
fn operators_agree_with_the_oracle<O: Operator<N>, N: Copy + Default>(
    number: fn(u32) -> N,
    combine: fn(N, N) -> N,
    bits: fn(N) -> u64,
) {
    for lanes in LANES {
        for shape in shapes(lanes) {
            let size = 3 * shape.tile_items::<Row<O, N, 2>>() + 5;
            let values: Vec<N> = words(lanes as u32, size * 2).into_iter().map(number).collect();
            let pairs = values.chunks_exact(2).map(|pair| Row::<O, N, 2>::new([pair[0], pair[1]]));
            let rows: Vec<_> = pairs.collect();
            let exclusive = oracle::exclusive_scan_by(&values, 2, O::IDENTITY, combine);
            let inclusive = oracle::inclusive_scan_by(&values, 2, combine);
            for (is_exclusive, expected) in [(false, inclusive), (true, exclusive)] {
                let got = reduce_then_scan(&shape, is_exclusive, &rows);
                let got = got.iter().flat_map(|row| row.0);
                assert!(got.map(bits).eq(expected.into_iter().map(bits)), "{shape:?}");
            }
        }
    }
}

#[test]
fn every_operator_is_a_scan() {
    operators_agree_with_the_oracle::<Mul, u32>(|word| word | 1, |a, b| a.wrapping_mul(b), u64::from);
    operators_agree_with_the_oracle::<And, u32>(
        |word| !(u32::from(word >> 27 == 0) << (word & 31)),
        |a, b| a & b,
        u64::from,
    );
    operators_agree_with_the_oracle::<Or, i64>(|word| 1 << (word >> 26), |a, b| a | b, |value| value as u64);
    operators_agree_with_the_oracle::<Xor, u64>(|word| u64::from(word) << 20, |a, b| a ^ b, |value| value);
    operators_agree_with_the_oracle::<Min, i32>(
        |word| word as i32,
        |a, b| if b < a { b } else { a },
        |value| value as u64,
    );
    // Any NaN for any other; -0 below +0.
    operators_agree_with_the_oracle::<Max, f32>(
        f32::from_bits,
        |a, b| {
            let is_greater = b > a || (b == a && a.is_sign_negative());
            if a.is_nan() || !(b.is_nan() || is_greater) { a } else { b }
        },
        |value| if value.is_nan() { u64::MAX } else { value.to_bits().into() },
    );
}

#[test]
fn reduce_then_scan_takes_three_levels() {
    let shape = shapes(8)[0];
    let size = 128 * 128 + 1;
    assert_eq!(Tiles::new(size, shape.tile_items::<u32>()).tile_count, 129);
    let values = words(3, size);
    assert_eq!(reduce_then_scan(&shape, false, &values), oracle::inclusive_scan(&values, 1));
}

fn chunk(lanes: usize) -> Chunk {
    Chunk { workgroup: Workgroup { size: 32, lanes }, batches_per_chunk: 8 }
}

fn chunks_agree_with_the_oracle<const C: usize>(lanes: usize, size: usize) {
    let values = words(size as u32, size * C);
    let mut table = rows::<C>(&values);
    chunk_in_place(&chunk(lanes), &mut table, size, 1);
    assert!(table == rows(&oracle::inclusive_scan(&values, C)), "{lanes} lanes, {size} × {C}");
}

#[test]
fn chunks_in_place_are_a_scan() {
    for lanes in LANES {
        for size in sizes(lanes, 256, 5000) {
            chunks_agree_with_the_oracle::<1>(lanes, size);
            chunks_agree_with_the_oracle::<2>(lanes, size);
            chunks_agree_with_the_oracle::<3>(lanes, size);
            chunks_agree_with_the_oracle::<4>(lanes, size);
        }
    }
}

#[test]
fn chunks_in_place_take_three_levels() {
    // 513 full chunks and a rest; their sums are two full chunks and a rest; whose sums are one chunk.
    chunks_agree_with_the_oracle::<1>(4, 131_072 + 300);
    chunks_agree_with_the_oracle::<1>(64, 131_072);
    // Two levels, and the second not alone in its last chunk.
    chunks_agree_with_the_oracle::<3>(16, 65_536 + 2 * 256 + 77);
}

/// x → factor · x + term: composition does not commute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Affine {
    factor: u32,
    term: u32,
}

impl Element for Affine {
    const IDENTITY: Self = Self { factor: 1, term: 0 };
    const PACK_ITEMS: usize = 2;

    fn combine(self, later: Self) -> Self {
        Self {
            factor: self.factor.wrapping_mul(later.factor),
            term: later.factor.wrapping_mul(self.term).wrapping_add(later.term),
        }
    }
}

fn affine(size: usize) -> (Vec<Affine>, Vec<Affine>) {
    let maps: Vec<Affine> =
        words(7, size).iter().map(|&word| Affine { factor: word | 1, term: word >> 7 }).collect();
    let mut sum = Affine::IDENTITY;
    let mut sums = Vec::new();
    for &map in &maps {
        sum = sum.combine(map);
        sums.push(sum);
    }
    (maps, sums)
}

#[test]
fn order_is_kept_where_the_operator_does_not_commute() {
    let (maps, sums) = affine(5000);
    for lanes in LANES {
        for shape in shapes(lanes) {
            assert!(reduce_then_scan(&shape, false, &maps) == sums, "{shape:?}");
        }
        let mut table = maps[..200].to_vec();
        chunk_prefix(&chunk(lanes), false, &mut table, 1, Tiles::new(200, 256));
        assert!(table == sums[..200], "{lanes} lanes");
    }
}

#[test]
fn a_dropped_carry_shows() {
    let shape = shapes(8)[0];
    let tile_items = shape.tile_items::<u32>();
    let values = words(1, 3 * tile_items);
    let tiles = Tiles::new(values.len(), tile_items);
    let expected = oracle::inclusive_scan(&values, 1);
    let mut destination = vec![0; values.len()];
    downsweep(&shape, false, &values, &mut destination, None, tiles);
    assert_eq!(destination[..tile_items], expected[..tile_items]);
    assert!(
        destination[tile_items..].iter().zip(&expected[tile_items..]).all(|(got, expected)| got != expected)
    );
}

#[test]
fn a_wrong_sum_shows_behind_its_chunk() {
    let values = words(2, 1000);
    let expected = oracle::inclusive_scan(&values, 1);
    let mut table = values.clone();
    chunk_sum(&chunk(16), &mut table, 1, 3);
    table[511] ^= 1;
    chunk_in_place(&chunk(16), &mut table, 3, 256);
    chunk_prefix(&chunk(16), true, &mut table, 1, Tiles::new(1000, 256));
    let wrong = |range: std::ops::Range<usize>| range.filter(|&i| table[i] != expected[i]).count();
    assert_eq!((wrong(0..511), wrong(511..1000)), (0, 489));
}

#[test]
fn rows_beyond_the_extent_are_left_alone() {
    let shape = shapes(4)[0];
    let mut destination = vec![0xdead_beef_u32; 100];
    downsweep(&shape, false, &[1; 70], &mut destination, None, Tiles::new(70, shape.tile_items::<u32>()));
    assert_eq!(destination[69..71], [70, 0xdead_beef]);
    let mut table = vec![1u32; 100];
    chunk_prefix(&chunk(4), false, &mut table, 1, Tiles::new(70, 256));
    assert_eq!(table[69..71], [70, 1]);
}

#[test]
fn a_chained_scan_is_a_scan_whoever_is_silent() {
    for lanes in LANES {
        for shape in shapes(lanes) {
            for size in sizes(lanes, shape.tile_items::<Brackets>(), 10_000) {
                let values = brackets(size as u32, size);
                let tiles = Tiles::new(size, shape.tile_items::<Brackets>());
                for every in [1, 2, 3, usize::MAX] {
                    let is_silent = |tile: usize| every != usize::MAX && tile.is_multiple_of(every);
                    for fixed_tree in [false, true] {
                        let mut got = vec![Brackets::IDENTITY; size];
                        let counts = chained(&shape, false, fixed_tree, &values, &mut got, tiles, is_silent);
                        assert_eq!(got, prefixes(&values), "{shape:?}, {size}, every {every}, {fixed_tree}");
                        let silent =
                            (0..tiles.tile_count.saturating_sub(1)).filter(|&tile| is_silent(tile)).count();
                        assert!(counts.fallbacks as usize >= silent, "{counts:?}");
                        assert!(every != usize::MAX || counts.fallbacks == 0, "{counts:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_fixed_tree_is_the_same_whoever_is_silent_and_the_other_is_not() {
    for lanes in LANES {
        let shape = shapes(lanes)[0];
        let size = 300 * shape.tile_items::<Row<Add, f32, 1>>();
        // Of every size, so that hardly a sum is exact.
        let values: Vec<_> = words(lanes as u32, size)
            .iter()
            .map(|&word| Row::<Add, f32, 1>::new([(word as f32) * 2f32.powi((word % 41) as i32 - 20)]))
            .collect();
        let tiles = Tiles::new(size, shape.tile_items::<Row<Add, f32, 1>>());
        let scanned = |fixed_tree, every: usize| {
            let mut got = vec![Row::new([0.0]); size];
            let is_silent = |tile: usize| every > 0 && tile.is_multiple_of(every);
            chained(&shape, false, fixed_tree, &values, &mut got, tiles, is_silent);
            got.iter().map(|row: &Row<Add, f32, 1>| row.0[0].to_bits()).collect::<Vec<_>>()
        };
        for every in [1, 3, 32] {
            assert!(scanned(true, every) == scanned(true, 0), "{lanes} lanes, every {every}");
        }
        // Where all are silent, what is looked back at takes several windows.
        assert!(scanned(false, 1) != scanned(false, 0), "{lanes} lanes");
    }
}

#[test]
fn a_walk_is_the_same_wherever_it_begins() {
    for lanes in LANES {
        let totals = words(5, 200);
        let told: Vec<_> = totals.iter().map(|&total| Told::Total(total)).collect();
        let sums = oracle::exclusive_scan(&totals, 1);
        for tile in 0..=totals.len() {
            let group_count = totals.len() / GROUP_TILES + 1;
            for known in 0..=tile / GROUP_TILES {
                let mut groups = vec![None; group_count];
                if known > 0 {
                    groups[known] = Some(sums[known * GROUP_TILES]);
                }
                let mut walk = Walk::towards(tile, &groups, lanes);
                assert_eq!(walk.tile, known * GROUP_TILES);
                assert_eq!(walk.go_on(tile, &told, &mut groups, true, &mut Counts::default()), None);
                let sum = totals[..tile].iter().fold(0u32, |sum, &total| sum.wrapping_add(total));
                assert_eq!(walk.before_group.wrapping_add(walk.in_group), sum, "{tile} from {known}");
                for group in known.max(1)..=tile / GROUP_TILES {
                    assert_eq!(groups[group], Some(sums[group * GROUP_TILES]));
                }
            }
        }
    }
}

#[test]
fn a_look_back_takes_in_every_tile_once() {
    for lanes in LANES {
        for seed in 0..200 {
            let tile_count = 1 + seed as usize % (3 * lanes);
            let totals = brackets(seed, tile_count);
            let sums = prefixes(&totals);
            let told: Vec<_> = words(seed + 1, tile_count)
                .iter()
                .enumerate()
                .map(|(tile, word)| match word % 8 {
                    0 => Told::Nothing,
                    1 => Told::Prefix(sums[tile]),
                    _ => Told::Total(totals[tile]),
                })
                .collect();
            let mut back = LookBack { end: tile_count, carry: Brackets::IDENTITY };
            while back.end > 0 {
                let Some(silent) = back.go_on(&told, lanes, &mut Counts::default()) else { break };
                assert_eq!(told[silent], Told::Nothing);
                assert_eq!(silent + 1, back.end);
                back = LookBack { end: silent, carry: totals[silent].combine(back.carry) };
            }
            assert_eq!(back.carry, sums[tile_count - 1], "{lanes} lanes, {told:?}");
        }
    }
}

/// A scan of rows in segments, from either end, of twins alone.
fn segmented_scan<E: Element>(
    shape: &Shape,
    exclusive: bool,
    is_reverse: bool,
    rows: &[E],
    heads: &[bool],
    initial: E,
) -> Vec<E> {
    let headed = |(&value, &is_head): (&E, &bool)| Headed { value, is_head };
    let mut rows: Vec<_> = rows.iter().zip(heads).map(headed).collect();
    let count = rows.len();
    if is_reverse {
        rows = mirrored(&rows, shape.tile_items::<E>());
    }
    let results = reduce_then_scan(shape, exclusive, &rows);
    let value = |(result, row): (&Headed<E>, &Headed<E>)| match exclusive {
        true => Heads::Flags.exclusive_result(initial, result.value, row.is_head),
        false => initial.combine(result.value),
    };
    let mut values: Vec<_> = results.iter().zip(&rows).map(value).collect();
    if is_reverse {
        values.reverse();
        values.truncate(count);
    }
    values
}

#[test]
fn segments_are_scanned_each_by_itself() {
    for lanes in LANES {
        for shape in shapes(lanes) {
            let tile = shape.tile_items::<Affine>();
            for count in [1, tile - 1, tile + 1, 5 * tile + 3] {
                let (rows, _) = affine(count);
                // Many short ones, and one that is longer than a tile.
                let words: Vec<_> =
                    (0..count as u32).map(|row| u32::from(row % 7 == 0 && row < count as u32 / 3)).collect();
                for (exclusive, is_reverse) in [(false, false), (true, false), (false, true), (true, true)] {
                    let initial = Affine { factor: 5, term: 77 };
                    let heads = Heads::Flags.of(&words, count, is_reverse);
                    let got = segmented_scan(&shape, exclusive, is_reverse, &rows, &heads, initial);
                    let mut sum = Affine::IDENTITY;
                    let mut expected = vec![Affine::IDENTITY; count];
                    let order: Vec<_> =
                        if is_reverse { (0..count).rev().collect() } else { (0..count).collect() };
                    for row in order {
                        if heads[row] {
                            sum = Affine::IDENTITY;
                        }
                        let before = sum;
                        sum = sum.combine(rows[row]);
                        expected[row] = initial.combine(if exclusive { before } else { sum });
                    }
                    assert_eq!(got, expected, "{shape:?}, {count}, {exclusive}, {is_reverse}");
                }
            }
        }
    }
}

#[test]
fn heads_are_the_first_rows_of_segments_from_either_end() {
    let flags = [1, 0, 0, 2, 0];
    assert_eq!(Heads::Flags.of(&flags, 5, false), [false, false, false, true, false]);
    assert_eq!(Heads::Flags.of(&flags, 5, true), [false, false, true, false, false]);
    assert_eq!(Heads::Keys32.of(&[5, 5, 5, 4, 4], 5, false), [false, false, false, true, false]);
    assert_eq!(Heads::Keys64.of(&[5, 1, 5, 1, 5, 2], 3, false), [false, false, true]);
    assert_eq!(Heads::Bits.of(&[0b01001], 5, true), [false, false, true, false, false]);
    let mut bits = [0; 2];
    segmented::mark_segments(&[3, 40, 3, 50, u32::MAX], &mut bits, 50);
    assert_eq!(bits, [8, 1 << 8]);
}

#[test]
fn levels_on_the_device_are_those_of_the_count() {
    let level = |workgroups, tile_count, last_extent| Level { workgroups, tile_count, last_extent };
    assert_eq!(
        prepare(70_000, 1 << 20, 128, 3, 1, 300),
        [level([274, 2, 1], 547, 112), level([5, 1, 1], 5, 35), level([1, 1, 1], 1, 5)]
    );
    assert_eq!(prepare(u32::MAX, 5, 4, 2, 3, 65_535), [level([6, 1, 1], 2, 1), level([3, 1, 1], 1, 2)]);
    assert_eq!(prepare(0, 5, 4, 1, 3, 65_535), [level([0, 1, 1], 0, 0)]);
}
