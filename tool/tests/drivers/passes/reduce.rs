//! Pass checks of reductions.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::{ElementType, NumberKind};
use subsweep_tool::reference::passes::reduce::{self as model, Reduced, Tree};
use subsweep_tool::reference::{Add, Max, Min, Mul, Row, Xor};

use super::Check;
use super::numbers::TestRow;
use super::reduce_by_key::{by_key, heads, scan_heads};
use super::rig::{
    Alignment, Rig, Selection, Tiles, Value, constants_in_memory, numbers_stored, random, sizes, stored,
    type_in_memory,
};

pub fn check(stem: &str, variant: &str) -> Option<Check> {
    match (stem, variant) {
        ("reduce/reduce", "words32") => Some(|gpu, kernel, selection| {
            tiles::<Row<Add, f32, 1>>(gpu, kernel, selection, fractions_of_f32)?;
            rows::<Row<Add, f32, 1>>(gpu, kernel, selection, fractions_of_f32)?;
            tiles::<Row<Min, i32, 1>>(gpu, kernel, selection, Row::<Min, i32, 1>::input)?;
            tiles::<Row<Max, f32, 1>>(gpu, kernel, Selection::One, Row::<Max, f32, 1>::input)?;
            tiles::<Row<Xor, u32, 1>>(gpu, kernel, Selection::One, Row::<Xor, u32, 1>::input)
        }),
        ("reduce/reduce", "packed") => Some(|gpu, kernel, selection| {
            tiles::<Row<Add, f32, 1>>(gpu, kernel, selection, Row::<Add, f32, 1>::input)?;
            rows::<Row<Add, f32, 1>>(gpu, kernel, selection, Row::<Add, f32, 1>::input)?;
            tiles::<Row<Min, i32, 1>>(gpu, kernel, selection, Row::<Min, i32, 1>::input)?;
            tiles::<Row<Add, u32, 1>>(gpu, kernel, Selection::One, Row::<Add, u32, 1>::input)
        }),
        ("reduce/reduce", "words64") => Some(|gpu, kernel, selection| {
            tiles::<Row<Add, u64, 1>>(gpu, kernel, selection, Row::<Add, u64, 1>::input)?;
            rows::<Row<Add, u64, 1>>(gpu, kernel, selection, Row::<Add, u64, 1>::input)?;
            tiles::<Row<Min, f64, 1>>(gpu, kernel, Selection::One, Row::<Min, f64, 1>::input)?;
            tiles::<Row<Max, i64, 1>>(gpu, kernel, Selection::One, Row::<Max, i64, 1>::input)
        }),
        ("reduce/reduce", "float64") => Some(|gpu, kernel, selection| {
            tiles::<Row<Add, f64, 1>>(gpu, kernel, selection, fractions_of_f64)?;
            rows::<Row<Add, f64, 1>>(gpu, kernel, Selection::One, fractions_of_f64)?;
            tiles::<Row<Mul, f64, 1>>(gpu, kernel, Selection::One, Row::<Mul, f64, 1>::input)
        }),
        ("reduce/reduce", "words32_arg" | "packed_arg") => Some(|gpu, kernel, selection| {
            indices(gpu, kernel, selection, ElementType::F32, &[MIN])?;
            indices(gpu, kernel, selection, ElementType::I32, &[MAX])
        }),
        ("reduce/reduce", "words64_arg") => Some(|gpu, kernel, selection| {
            indices(gpu, kernel, selection, ElementType::F64, &[MAX])?;
            indices(gpu, kernel, selection, ElementType::U64, &[MIN])
        }),
        ("reduce/reduce", "words32_both" | "packed_both") => Some(|gpu, kernel, selection| {
            indices(gpu, kernel, selection, ElementType::F32, &[MIN, MAX])?;
            indices(gpu, kernel, selection, ElementType::I32, &[MIN, MAX])
        }),
        ("reduce/reduce", "words64_both") => Some(|gpu, kernel, selection| {
            indices(gpu, kernel, selection, ElementType::F64, &[MIN, MAX])?;
            indices(gpu, kernel, selection, ElementType::U64, &[MIN, MAX])
        }),
        ("reduce/segments", "words32") => Some(|gpu, kernel, selection| {
            segments::<Row<Add, f32, 1>>(gpu, kernel, selection, false, fractions_of_f32)?;
            segments::<Row<Max, i32, 1>>(gpu, kernel, Selection::One, false, Row::<Max, i32, 1>::input)
        }),
        ("reduce/segments", "packed") => Some(|gpu, kernel, selection| {
            segments::<Row<Add, f32, 1>>(gpu, kernel, selection, true, Row::<Add, f32, 1>::input)?;
            segments::<Row<Min, i32, 1>>(gpu, kernel, selection, true, Row::<Min, i32, 1>::input)?;
            segments::<Row<Add, u32, 1>>(gpu, kernel, selection, false, Row::<Add, u32, 1>::input)
        }),
        ("reduce/segments", "words64") => Some(|gpu, kernel, selection| {
            segments::<Row<Add, u64, 1>>(gpu, kernel, selection, false, Row::<Add, u64, 1>::input)
        }),
        ("reduce/segments", "float64") => Some(|gpu, kernel, selection| {
            segments::<Row<Add, f64, 1>>(gpu, kernel, selection, false, fractions_of_f64)
        }),
        ("reduce/by_key", variant) if variant.contains("words64") => Some(|gpu, kernel, selection| {
            by_key::<Row<Add, u64, 1>>(gpu, kernel, selection, 0)?;
            by_key::<Row<Max, f64, 1>>(gpu, kernel, Selection::One, 1)
        }),
        ("reduce/by_key", _) => Some(|gpu, kernel, selection| {
            by_key::<Row<Add, u32, 1>>(gpu, kernel, selection, 0)?;
            by_key::<Row<Min, f32, 1>>(gpu, kernel, Selection::One, 1)?;
            by_key::<Row<Mul, i32, 1>>(gpu, kernel, Selection::One, 2)
        }),
        ("reduce/heads", _) => Some(heads),
        ("reduce/scan_heads", "") => Some(scan_heads),
        _ => None,
    }
}

/// Fractions whose sums round, from -1 to 1.
pub fn fractions_of_f32(seed: usize, count: usize) -> Vec<u32> {
    let fraction = |word: u32| (f64::from(word as i32) / f64::from(1u32 << 31)) as f32;
    random(seed, count).into_iter().map(|word| fraction(word).to_bits()).collect()
}

fn fractions_of_f64(seed: usize, count: usize) -> Vec<u32> {
    let fraction = |word: u32| (f64::from(word as i32) / f64::from(1u32 << 31)).cbrt().to_bits();
    random(seed, count)
        .into_iter()
        .map(fraction)
        .flat_map(|bits| [bits as u32, (bits >> 32) as u32])
        .collect()
}

pub const WORKGROUP_SIZE: u32 = 128;

/// A specialization of `reduce.comp`.
#[derive(Debug, Clone, Copy)]
struct TileShape {
    tree: Tree,
    columns: usize,
    alignment: Alignment,
    has_groups: bool,
}

impl TileShape {
    /// The first ones have each access and each layout of rows.
    fn all(value_words: usize) -> Vec<Self> {
        let pack_values = 4 / value_words;
        let of = |packs, interleave, flat_columns, columns, alignment, has_groups| Self {
            tree: Tree { pack_values, packs, interleave, flat_columns, invocations: WORKGROUP_SIZE as usize },
            columns,
            alignment,
            has_groups,
        };
        let (quads, words) = (Alignment::Quads, Alignment::Words);
        vec![
            of(2, 128, 1, 1, quads, false),
            of(8 / pack_values, 4, 1, 3, words, true),
            of(1, 128, pack_values, pack_values, words, false),
            of(8 / pack_values, 4, 1, 1, quads, true),
            of(3, 1, 1, 1, words, true),
            of(8, 128, 2, 2, quads, false),
            of(8, 128, 1, 5, words, false),
        ]
    }

    fn rig<'g>(
        &self,
        gpu: &'g Gpu,
        kernel: &'static Kernel,
        more: &[(&'static str, u32)],
    ) -> Result<Rig<'g>, Failed> {
        let Self { tree, columns, alignment, .. } = self;
        let mut constants = vec![
            ("PACKS_PER_INVOCATION", tree.packs as u32),
            ("INTERLEAVE", tree.interleave as u32),
            ("FLAT_COLUMNS", tree.flat_columns as u32),
            ("BY_COLUMN", u32::from(*columns != tree.flat_columns)),
        ];
        constants.extend(alignment.constants());
        constants.extend(more);
        Rig::new(gpu, kernel, WORKGROUP_SIZE, &constants)
    }

    /// Workgroups for each tile.
    fn workgroups(&self) -> usize {
        if self.columns == self.tree.flat_columns { 1 } else { self.columns }
    }
}

/// Segments of one length: the tree of each, the length in the source, and the length of the rows in memory, which is
/// another above the source.
const ROWS: [(usize, usize, usize, usize, Alignment); 5] = [
    (4, 3, 40, 40, Alignment::Words),
    (128, 1, 1500, 1500, Alignment::Quads),
    (4, 1, 5000, 3, Alignment::Words),
    (4, 1, 4, 4, Alignment::Quads),
    (128, 2, 9000, 1025, Alignment::Words),
];

/// The results of tiles of segments, of which the last may be short, in a reduction along rows.
fn rows<R: TestRow>(
    gpu: &Gpu,
    kernel: &'static Kernel,
    selection: Selection,
    input: fn(usize, usize) -> Vec<u32>,
) -> Result<(), Failed> {
    let pack_values = 4 / R::WORDS;
    for (lanes, packs, segment_rows, length, alignment) in selection.first(3, ROWS) {
        let tree = Tree { pack_values, packs, interleave: lanes, flat_columns: 1, invocations: lanes };
        let columns = 1;
        let shape = TileShape { tree, columns, alignment, has_groups: false };
        let mut more = R::constants(kernel);
        more.extend(constants_in_memory(kernel, R::NUMBER));
        let in_memory = type_in_memory(kernel, R::NUMBER);
        more.extend([("BY_ROW", 1), ("CLUSTER_LANES", lanes as u32), ("SEGMENT_ROWS", segment_rows as u32)]);
        let rig = shape.rig(gpu, kernel, &more)?;
        let (group, parts) = (WORKGROUP_SIZE as usize / lanes, length.div_ceil(tree.tile_rows()));
        for (index, count) in [1, group, group + 1, 3 * group + 2].into_iter().enumerate() {
            // The source's last segment lacks one value of two.
            let last = if length == segment_rows && index % 2 == 0 { length.div_ceil(2) } else { length };
            let words = numbers_stored(in_memory, input(count, (count - 1) * length + last));
            let values = R::of_words(&words);
            let sums: Vec<_> = values
                .chunks(length)
                .flat_map(|row| {
                    let mut sums = tree.reduce_tiles(row, 1, R::IDENTITY, &R::combine).sums;
                    sums.resize(parts, R::IDENTITY);
                    sums
                })
                .collect();
            let tiles = Tiles {
                tile_count: count.div_ceil(group),
                last_extent: (count - 1) % group * segment_rows
                    + if length == segment_rows { last } else { 1 },
            };
            let case = format!("{} of {}, {count} rows of {length}, {tree:?}", kernel.name, R::name());
            let values = [
                ("source", Value::input(stored(in_memory, &words)).at(alignment)),
                ("source_rows", Value::Null),
                ("sums", Value::output(table(&sums))),
                ("sum_rows", Value::Null),
                ("groups", Value::Null),
                ("column_count", Value::Number(length)),
            ];
            rig.check(&case, values.into_iter().chain(tiles.push(index > 1)), tiles.tile_count * parts)?;
        }
    }
    Ok(())
}

fn table<R: TestRow>(rows: &[R]) -> Vec<u32> {
    rows.iter().flat_map(TestRow::words).collect()
}

fn tiles<R: TestRow>(
    gpu: &Gpu,
    kernel: &'static Kernel,
    selection: Selection,
    input: fn(usize, usize) -> Vec<u32>,
) -> Result<(), Failed> {
    for shape in selection.first(4, TileShape::all(R::WORDS)) {
        let TileShape { tree, columns, alignment, has_groups } = shape;
        let constants = [R::constants(kernel), constants_in_memory(kernel, R::NUMBER)].concat();
        let rig = shape.rig(gpu, kernel, &constants)?;
        let in_memory = type_in_memory(kernel, R::NUMBER);
        for (index, count) in sizes(tree.tile_rows()).into_iter().chain([0]).enumerate() {
            // Rows that a count of 0 does not include.
            let words = numbers_stored(in_memory, input(count, count.max(1) * columns));
            let values = R::of_words(&words[..count * columns * R::WORDS]);
            let Reduced { mut sums, groups } = tree.reduce_tiles(&values, columns, R::IDENTITY, &R::combine);
            if count == 0 {
                sums = vec![R::IDENTITY; columns];
            }
            let tiles = Tiles::new(count, tree.tile_rows());
            let case = format!("{} of {}, {count} rows, {shape:?}", kernel.name, R::name());
            let values = [
                ("source", Value::input(stored(in_memory, &words)).at(alignment)),
                ("source_rows", Value::Null),
                ("sums", Value::output(table(&sums))),
                ("sum_rows", Value::Null),
                ("groups", Value::output(table(&groups)).only_if(has_groups && count > 0)),
                ("column_count", Value::Number(columns)),
            ];
            let mut tile_values = tiles.push(index % 2 == 0);
            if count == 0 && index % 2 == 0 {
                // An indirect count of 0 has no tiles.
                tile_values[0].1 = Value::input(vec![0, 0]);
            }
            let workgroups = tiles.tile_count * shape.workgroups();
            rig.check(&case, values.into_iter().chain(tile_values), workgroups)?;
        }
    }
    Ok(())
}

/// Constants of the operators whose indices are found.
const MIN: u32 = 2;
const MAX: u32 = 3;

/// The unsigned number whose least is sought.
fn key_of(element: ElementType, is_max: bool, bits: u64) -> u64 {
    let mask = u64::MAX >> (64 - element.bits());
    let sign = 1 << (element.bits() - 1);
    let infinity = if element == ElementType::F32 { 0x7f80_0000 } else { 0x7ff0_0000_0000_0000 };
    let ordered = match element.kind() {
        NumberKind::Unsigned => bits,
        NumberKind::Signed => bits ^ sign,
        _ if bits & !sign > infinity => return 0,
        _ if bits == sign => sign,
        _ if bits & sign != 0 => !bits & mask,
        _ => bits | sign,
    };
    if is_max { !ordered & mask } else { ordered }
}

fn indices(
    gpu: &Gpu,
    kernel: &'static Kernel,
    selection: Selection,
    element: ElementType,
    operators: &[u32],
) -> Result<(), Failed> {
    let value_words = element.words() as usize;
    let (numbers, in_memory) = (element.numbers(), type_in_memory(kernel, element));
    // Few numbers: zeros of both signs, the extremes, one of two words, and in a float a NaN.
    let sign = 1u64 << (element.bits() - 1);
    let one = if element == ElementType::F32 { 1f32.to_bits().into() } else { 1f64.to_bits() };
    let nan = if element == ElementType::F32 { f32::NAN.to_bits().into() } else { f64::NAN.to_bits() };
    let few = [0, sign, one, one | sign, sign + 5, 0xffff_ffff, if element.is_float() { nan } else { !sign }];
    // The results of maxima begin anywhere.
    let is_chosen = |(shape, from_partials): &(TileShape, bool)| {
        !from_partials
            || !in_memory.is_packed() && (operators.len() == 1 || shape.alignment == Alignment::Words)
    };
    let shapes = TileShape::all(value_words).into_iter().flat_map(|shape| [(shape, false), (shape, true)]);
    for (shape, from_partials) in selection.first(4, shapes.filter(is_chosen)) {
        let TileShape { tree, columns, alignment, .. } = shape;
        let mut operator = constants_in_memory(kernel, element);
        operator.extend([("OPERATOR", operators[0]), ("NUMBERS", numbers)]);
        let rig =
            shape.rig(gpu, kernel, &[&operator[..], &[("FROM_PARTIALS", from_partials.into())]].concat())?;
        for (index, count) in sizes(tree.tile_rows()).into_iter().chain([0]).enumerate() {
            // Of results of another dispatch, the results of each operator.
            let sources = if from_partials { operators.len() } else { 1 };
            // The first counts have no NaN; the last numbers are rare.
            let pick = |word: &u32| few[*word as usize % if index < 3 { 2 + index } else { few.len() }];
            let bits = random(count, count.max(1) * columns * sources);
            let words: Vec<u32> = bits
                .iter()
                .map(pick)
                .flat_map(|bits| [bits as u32, (bits >> 32) as u32].into_iter().take(value_words))
                .collect();
            let words = numbers_stored(in_memory, words);
            let word = |(at, word): (usize, &u32)| u64::from(*word) << (32 * at);
            let bits: Vec<u64> =
                words.chunks(value_words).map(|words| words.iter().enumerate().map(word).sum()).collect();
            let words = stored(in_memory, &words);
            // Rows ascend from tile to tile.
            let steps = random(count + 1, count.max(1) * columns * sources);
            let row = |(at, word): (usize, &u32)| (at / columns * 7) as u32 + word % 7;
            let rows: Vec<u32> = steps.iter().enumerate().map(row).collect();
            let mask = u64::MAX >> (64 - element.bits());
            let none = (mask, u32::MAX);
            let mut sums = Vec::new();
            for (turn, operator) in operators.iter().enumerate() {
                let entry = |at: usize| match turn * count * columns + at {
                    other if from_partials => (bits[other] & mask, rows[other]),
                    _ => (key_of(element, *operator == MAX, bits[at] & mask), (at / columns) as u32),
                };
                let entries: Vec<_> = (0..count * columns).map(entry).collect();
                match count {
                    0 => sums.extend(vec![none; columns]),
                    _ => sums.extend(
                        tree.reduce_tiles(&entries, columns, none, &|a: (u64, u32), b| a.min(b)).sums,
                    ),
                }
            }
            let tiles = Tiles::new(count, tree.tile_rows());
            let keys: Vec<u32> = sums
                .iter()
                .flat_map(|(key, _)| [*key as u32, (key >> 32) as u32].into_iter().take(value_words))
                .collect();
            let sum_rows: Vec<u32> = sums.iter().map(|(_, row)| *row).collect();
            let values = [
                ("source", Value::input(words).at(alignment)),
                ("source_rows", Value::input(rows).only_if(from_partials)),
                ("sums", Value::output(keys).only_if(index % 3 > 0)),
                ("sum_rows", Value::output(sum_rows)),
                ("groups", Value::Null),
                ("column_count", Value::Number(columns)),
            ];
            let case = format!("{} of {element}, {count} rows, {from_partials}, {shape:?}", kernel.name);
            let workgroups = tiles.tile_count * shape.workgroups();
            rig.check(&case, values.into_iter().chain(tiles.push(index % 2 == 0)), workgroups)?;
        }
    }
    Ok(())
}

fn segments<R: TestRow>(
    gpu: &Gpu,
    kernel: &'static Kernel,
    selection: Selection,
    has_packed_results: bool,
    input: fn(usize, usize) -> Vec<u32>,
) -> Result<(), Failed> {
    let in_memory = type_in_memory(kernel, R::NUMBER);
    let result = if has_packed_results { in_memory } else { R::NUMBER };
    let unpacked = ("UNPACKED_RESULTS", u32::from(!has_packed_results));
    let mut constants = [R::constants(kernel), constants_in_memory(kernel, R::NUMBER)].concat();
    constants.extend(in_memory.is_packed().then_some(unpacked));
    let rig = Rig::new(gpu, kernel, WORKGROUP_SIZE, &constants)?;
    let tree = Tree::of_groups(R::WORDS);
    let cases = [
        (5000, 1, false, false),
        (70_000, 3, true, true),
        (64, 2, false, false),
        (1, 1, true, false),
        (0, 1, false, true),
        (3000, 4, true, false),
        (40_000, 1, false, true),
    ];
    for (max_count, columns, is_indirect, has_ends) in selection.first(5, cases) {
        let words = numbers_stored(in_memory, input(max_count, max_count.max(1) * columns));
        let values = R::of_words(&words[..max_count * columns * R::WORDS]);
        let levels = model::group_levels(&values, columns, &tree, R::IDENTITY, &R::combine);
        // Offsets that repeat, short and long segments, and one beyond the rows.
        let count = if is_indirect { max_count - max_count / 7 } else { max_count };
        let mut offsets: Vec<u32> = (0..300).map(|index| index * 3 + index % 4 / 3).collect();
        offsets.extend([31, 32, 33, 64, 95, 96, 1023, 1024, 1025, 2048, 40_000, max_count as u32]);
        offsets.retain(|&begin| begin <= max_count as u32);
        offsets.sort_unstable();
        offsets.push(max_count as u32);
        // Ends before their offsets, at them, beyond the rows, and in between.
        let end = |(index, &begin): (usize, &u32)| match index % 4 {
            0 => begin.saturating_sub(1),
            1 => begin + 40,
            2 => u32::MAX,
            _ => begin,
        };
        let ends: Vec<u32> = offsets.iter().enumerate().map(end).collect();
        let ranges = match has_ends {
            true => offsets.iter().zip(&ends).map(|(&begin, &end)| [begin, end]).collect(),
            false => model::segments_of(&offsets, count),
        };
        let expected = model::reduce_segments(
            &values[..count * columns],
            &levels,
            columns,
            &ranges,
            R::IDENTITY,
            &R::combine,
        );
        let sums: Vec<R> = levels.concat();
        let values = [
            ("source", Value::input(stored(in_memory, &words))),
            ("sums", Value::input(table(&sums))),
            ("offsets", Value::input(&offsets)),
            ("ends", Value::input(&ends).only_if(has_ends)),
            ("results", Value::output(stored(result, &table(&expected)))),
            ("indirect_count", Value::input(vec![count as u32]).only_if(is_indirect)),
            ("indirect_segments", Value::input(vec![offsets.len() as u32]).only_if(is_indirect)),
            ("row_count", Value::Number(max_count)),
            ("segment_count", Value::Number(offsets.len() + usize::from(is_indirect) * 40)),
            ("column_count", Value::Number(columns)),
            ("level_count", Value::Number(levels.len())),
        ];
        let case =
            format!("{} of {}, {count} of {max_count} rows, {columns} columns", kernel.name, R::name());
        rig.check(&case, values, (offsets.len() * columns).div_ceil(WORKGROUP_SIZE as usize))?;
    }
    Ok(())
}
