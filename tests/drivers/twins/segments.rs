//! The kernels of scans in segments, and of counts on the device.

use libtest_mimic::Failed;
use subsweep::harness::Layout;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::scan::segmented::{self as twin, Headed, Heads};
use subsweep::reference::scan::{self, Level, Shape};
use subsweep::reference::{Element, Tiles};

use super::numbers::TestRow;
use super::rig::{self, Access, Memory, Rig, Value, compare, random, sizes};
use super::scan::{Depth, Order, TilesMemory, column, rig, shapes, table};

/// What of a segmented kernel is specialised, beside its shape.
#[derive(Debug, Clone, Copy)]
struct Way {
    access: Access,
    order: Order,
    heads: Heads,
    exclusive: bool,
}

impl Way {
    /// Every kind of heads in each order, and what else there is by turns: a pipeline takes time.
    fn all(is_strided: bool) -> Vec<Self> {
        let mut ways = Vec::new();
        for (index, heads) in Heads::ALL.into_iter().enumerate() {
            for order in [Order::Forward, Order::Reverse] {
                let exclusive = (index % 2 == 0) == (order == Order::Forward);
                let access = if is_strided || index % 2 == 1 { Access::Words } else { Access::Quads };
                // The levels above are scanned forward.
                if heads != Heads::Tiles || order == Order::Forward {
                    ways.push(Self { access, order, heads, exclusive });
                }
            }
        }
        ways
    }

    fn constants(self) -> [(&'static str, u32); 3] {
        let heads = Heads::ALL.iter().position(|&heads| heads == self.heads).expect("one of all");
        [self.access.constant(), self.order.constant(), ("HEADS", heads as u32)]
    }

    /// Words that say where segments of `count` rows begin: many short ones, one long one, few.
    fn words(self, count: usize) -> Vec<u32> {
        let begins = |row: usize| match 3 * row / count {
            0 => row.is_multiple_of(5),
            1 => false,
            _ => row.is_multiple_of(41),
        };
        let mut number = 0;
        let mut key = |row| {
            number += u32::from(begins(row));
            number
        };
        match self.heads {
            Heads::Flags | Heads::Tiles => (0..count).map(|row| u32::from(begins(row)) * 0x100).collect(),
            Heads::Keys32 => (0..count).map(key).collect(),
            Heads::Keys64 => (0..count).map(&mut key).flat_map(|key| [key / 2, key.div_ceil(2)]).collect(),
            Heads::Bits => {
                let mut bits = vec![0; count.div_ceil(32)];
                let offsets: Vec<_> = (0..count).filter(|&row| begins(row)).map(|row| row as u32).collect();
                twin::mark_segments(&offsets, &mut bits, count as u32);
                bits
            }
        }
    }
}

/// The rows of a column with their heads, in the order of the scan.
fn in_order<R: TestRow>(
    way: Way,
    shape: &Shape,
    values: Vec<R>,
    head_words: &[u32],
) -> (Vec<Headed<R>>, Tiles) {
    let heads = way.heads.of(head_words, values.len(), way.order == Order::Reverse);
    let rows = values.into_iter().zip(heads).map(|(value, is_head)| Headed { value, is_head });
    way.order.of(rows.collect(), shape.tile_items::<R>())
}

/// Every way in the smallest tiles, which take little time to compile, and two of them in the default's. Where kernels are
/// watched, that takes seconds: two of them, and the case table brings the others.
fn shapes_and_ways<R: TestRow>(gpu: &Gpu, column_count: usize) -> Vec<(Shape, Way)> {
    let ways = Way::all(column_count > 1);
    let with = |shapes: Vec<Shape>, ways: &[Way]| -> Vec<_> {
        shapes.iter().take(1).flat_map(|&shape| ways.iter().map(move |&way| (shape, way))).collect()
    };
    if rig::layout() == Layout::Separate {
        return with(shapes::<R>(gpu, Depth::Brief), &ways[1..3]);
    }
    let small = with(shapes::<R>(gpu, Depth::Brief), &ways);
    let default = with(shapes::<R>(gpu, Depth::Whole), &ways[1..3]);
    small.into_iter().chain(default).collect()
}

pub fn reduce<R: TestRow>(gpu: &Gpu, kernel: &'static Kernel, column_count: usize) -> Result<(), Failed> {
    for (shape, way) in shapes_and_ways::<R>(gpu, column_count) {
        let rig = rig::<R>(gpu, kernel, &shape, &way.constants())?;
        for count in sizes(shape.tile_items::<R>()) {
            let tiles = Tiles::new(count, shape.tile_items::<R>());
            let words = R::input(count, count * column_count);
            let head_words = way.words(count);
            let sums_of = |index| {
                let values = column::<R>(&words, column_count, index);
                let (rows, tiles) = in_order(way, &shape, values, &head_words);
                let mut sums = vec![Headed::IDENTITY; tiles.tile_count];
                scan::reduce(&shape, &rows, &mut sums, tiles);
                sums
            };
            let expected: Vec<_> = (0..column_count).map(sums_of).collect();
            let values = |sums: &Vec<Headed<R>>| sums.iter().map(|sum| sum.value).collect();
            let expected_values: Vec<Vec<R>> = expected.iter().map(values).collect();
            let expected_heads: Vec<_> = expected[0].iter().map(|sum| u32::from(sum.is_head)).collect();

            let source = Memory::of(gpu, &words, way.access)?;
            let heads = Memory::of(gpu, &head_words, Access::Words)?;
            let sums = Memory::poisoned(gpu, tiles.tile_count * column_count * R::WORDS, way.access)?;
            let sum_heads = Memory::poisoned(gpu, tiles.tile_count, Access::Words)?;
            let on_device = TilesMemory::new(gpu, tiles, way.order)?;
            let mut push = vec![
                ("source", Value::Pointer(&source)),
                ("sums", Value::Pointer(&sums)),
                ("heads", Value::Pointer(&heads)),
                ("sum_heads", Value::Pointer(&sum_heads)),
                ("column_count", Value::Number(column_count)),
            ];
            push.extend(on_device.push());
            rig.run(&push, tiles.tile_count * column_count)?;
            let case = format!("{} of {}, {count} rows, {way:?}, {shape:?}", kernel.name, R::name());
            compare(&case, "heads", &heads, &head_words)?;
            compare(&case, "sums", &sums, &table(&expected_values))?;
            compare(&case, "sum_heads", &sum_heads, &expected_heads)?;
        }
    }
    Ok(())
}

pub fn downsweep<R: TestRow>(gpu: &Gpu, kernel: &'static Kernel, column_count: usize) -> Result<(), Failed> {
    for (number, (shape, way)) in shapes_and_ways::<R>(gpu, column_count).into_iter().enumerate() {
        let (has_carry, has_initial) = (number % 4 != 3, number % 3 != 0 && way.heads != Heads::Tiles);
        let mut constants = way.constants().to_vec();
        constants.extend([("EXCLUSIVE", way.exclusive.into()), ("HAS_CARRY", has_carry.into())]);
        let rig = rig::<R>(gpu, kernel, &shape, &constants)?;
        for count in sizes(shape.tile_items::<R>()) {
            let tiles = Tiles::new(count, shape.tile_items::<R>());
            let words = R::input(count, count * column_count);
            let carry_words = R::input(count + 1, tiles.tile_count * column_count);
            let initial_words = R::input(count + 2, column_count);
            let head_words = way.words(count);
            let results_of = |index| {
                let values = column::<R>(&words, column_count, index);
                let carries = column::<R>(&carry_words, column_count, index);
                let carries: Vec<_> =
                    carries.into_iter().map(|value| Headed { value, is_head: false }).collect();
                // By way of the operator, which makes one NaN of all.
                let initial = match has_initial {
                    true => R::IDENTITY.combine(column::<R>(&initial_words, column_count, index)[0]),
                    false => R::IDENTITY,
                };
                let (rows, tiles) = in_order(way, &shape, values, &head_words);
                let mut results = vec![Headed::IDENTITY; rows.len()];
                let carries = has_carry.then_some(&*carries);
                scan::downsweep(&shape, way.exclusive, &rows, &mut results, carries, tiles);
                let result = |(result, row): (Headed<R>, &Headed<R>)| match way.exclusive {
                    true => way.heads.exclusive_result(initial, result.value, row.is_head),
                    false => initial.combine(result.value),
                };
                way.order.undo(results.into_iter().zip(&rows).map(result).collect(), count)
            };
            let expected: Vec<_> = (0..column_count).map(results_of).collect();

            let source = Memory::of(gpu, &words, way.access)?;
            let destination = Memory::poisoned(gpu, words.len(), way.access)?;
            let carries = Memory::of(gpu, &carry_words, way.access)?;
            let initial = Memory::of(gpu, &initial_words, Access::Words)?;
            let heads = Memory::of(gpu, &head_words, Access::Words)?;
            let on_device = TilesMemory::new(gpu, tiles, way.order)?;
            let mut push = vec![
                ("source", Value::Pointer(&source)),
                ("destination", Value::Pointer(&destination)),
                ("carries", if has_carry { Value::Pointer(&carries) } else { Value::Null }),
                ("heads", Value::Pointer(&heads)),
                ("initial", if has_initial { Value::Pointer(&initial) } else { Value::Null }),
                ("column_count", Value::Number(column_count)),
            ];
            push.extend(on_device.push());
            rig.run(&push, tiles.tile_count * column_count)?;
            let case = format!("{} of {}, {count} rows, {way:?}, {shape:?}", kernel.name, R::name());
            compare(&case, "source", &source, &words)?;
            compare(&case, "heads", &heads, &head_words)?;
            compare(&case, "destination", &destination, &table(&expected))?;
        }
    }
    Ok(())
}

pub fn mark_segments(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let workgroup_size = gpu.capabilities().max_subgroup_size.max(32);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[])?;
    for (offset_count, row_count) in [(1, 1), (31, 40), (32, 1000), (33, 64), (5000, 3000)] {
        let mut offsets: Vec<_> = random(row_count, offset_count).iter().map(|word| word % 4000).collect();
        offsets[0] = row_count as u32 - 1;
        let mut expected = vec![0; row_count.div_ceil(32)];
        twin::mark_segments(&offsets, &mut expected, row_count as u32);
        let heads = Memory::of(gpu, &vec![0; expected.len()], Access::Words)?;
        let memory = Memory::of(gpu, &offsets, Access::Words)?;
        rig.run(
            &[
                ("offsets", Value::Pointer(&memory)),
                ("heads", Value::Pointer(&heads)),
                ("offset_count", Value::Number(offset_count)),
                ("row_count", Value::Number(row_count)),
            ],
            offset_count.div_ceil(workgroup_size as usize),
        )?;
        let case = format!("{offset_count} offsets among {row_count} rows");
        compare(&case, "offsets", &memory, &offsets)?;
        compare(&case, "heads", &heads, &expected)?;
    }
    Ok(())
}

pub fn prepare(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let rig = Rig::new(gpu, kernel, gpu.capabilities().max_subgroup_size.max(32), &[])?;
    for (count, max_count, tile_items, level_count, column_count, max_row) in [
        (0, 5, 128, 1, 1, 65_535),
        (1, 5, 128, 1, 16, 65_535),
        (u32::MAX, 500, 128, 2, 1, 65_535),
        (1 << 20, 1 << 21, 128, 3, 5, 65_535),
        (100_000, u32::MAX, 128, 5, 3, 1000),
        (u32::MAX, u32::MAX, 4096, 3, 1, 65_535),
    ] {
        let levels = scan::prepare(count, max_count, tile_items, level_count, column_count, max_row);
        let words = |level: &Level| {
            let Level { workgroups: [x, y, z], tile_count, last_extent } = *level;
            [x, y, z, tile_count, last_extent, rig::POISON, rig::POISON, rig::POISON]
        };
        let expected: Vec<_> = levels.iter().flat_map(words).collect();
        let count_memory = Memory::of(gpu, &[count], Access::Words)?;
        let memory = Memory::poisoned(gpu, expected.len(), Access::Quads)?;
        let number = |value: u32| Value::Number(value as usize);
        let push = rig.push(&[
            ("count", Value::Pointer(&count_memory)),
            ("levels", Value::Pointer(&memory)),
            ("max_count", number(max_count)),
            ("tile_items", number(tile_items)),
            ("level_count", Value::Number(level_count)),
            ("column_count", number(column_count)),
            ("max_row", number(max_row)),
        ])?;
        // SAFETY: every array is alive until `submit` has waited.
        unsafe { gpu.submit(|recorder| rig.dispatch(recorder, &push, 0)) }?;
        let case = format!("{count} of {max_count} in tiles of {tile_items}");
        compare(&case, "levels", &memory, &expected)?;
    }
    Ok(())
}
