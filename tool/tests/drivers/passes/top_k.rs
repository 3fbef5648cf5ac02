//! Pass checks of top-k.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::harness::TopKCase;
use subsweep_tool::reference::passes::top_k;

use super::Check;
use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Value, key_words, numbers_stored, random, small_workgroup,
    stored, type_of_keys,
};

pub fn check(stem: &str, _: &str) -> Option<Check> {
    match stem {
        "top_k/rows" => Some(rows),
        "top_k/select" => Some(select),
        "top_k/orders" => Some(orders),
        "top_k/take" => Some(take),
        _ => None,
    }
}

/// A specialization of the kernel that selects.
#[derive(Debug, Clone, Copy)]
struct RowShape {
    element: ElementType,
    is_smallest: bool,
    order: FloatOrder,
    is_sorted: bool,
    radix_bits: u32,
    /// Keys per invocation.
    items: u32,
    /// Words of a value.
    values: u32,
}

/// Every option, in the first three shapes of each width of keys.
const SHAPES: [RowShape; 7] = {
    const fn shape(element: ElementType, flags: [bool; 2], radix_bits: u32, items: u32) -> RowShape {
        let [is_smallest, is_sorted] = flags;
        // Of values of several words an invocation moves words at positions that others have written: the first shape has them.
        let values = [3, 1, 0][items as usize % 3];
        let order = FloatOrder::ALL[items as usize % 2];
        RowShape { element, is_smallest, order, is_sorted, radix_bits, items, values }
    }
    [
        shape(ElementType::F32, [false, true], 4, 3),
        shape(ElementType::U64, [true, false], 2, 2),
        shape(ElementType::U32, [true, true], 4, 1),
        shape(ElementType::F64, [false, true], 4, 4),
        shape(ElementType::I32, [false, false], 2, 2),
        shape(ElementType::I64, [true, true], 2, 3),
        shape(ElementType::F32, [true, false], 2, 5),
    ]
};

impl RowShape {
    /// The shapes of a kernel's width of keys.
    fn for_kernel(kernel: &Kernel) -> impl Iterator<Item = Self> {
        let key_words = key_words(kernel);
        SHAPES.into_iter().filter(move |shape| shape.element.words() == key_words)
    }

    /// The type of a kernel's keys.
    fn stored_as(self, kernel: &Kernel) -> ElementType {
        type_of_keys(kernel, self.element, self.items as usize)
    }

    fn constants(self, kernel: &Kernel, k: usize) -> Vec<(&'static str, u32)> {
        let shape = [
            ("ITEMS_PER_INVOCATION", self.items),
            ("RADIX_BITS", self.radix_bits),
            ("TOP_ITEMS", k.next_power_of_two() as u32),
            ("SORTED", self.is_sorted.into()),
            ("WORDS_PER_VALUE", self.values),
            ("UNEQUAL", 0),
        ];
        [&shape[..], &self.key_constants(kernel)].concat()
    }

    fn key_constants(self, kernel: &Kernel) -> [(&'static str, u32); 2] {
        let numbers = self.stored_as(kernel).key_numbers(self.order);
        [("KEY_NUMBERS", numbers), ("DESCENDING", u32::from(!self.is_smallest))]
    }

    /// Keys of few values, of which some are special: zeros, infinities and NaNs of either sign; of 8 and 16 bits their numbers.
    fn keys(self, kernel: &Kernel, seed: usize, count: usize) -> Vec<u32> {
        let words = self.element.words() as usize;
        let mut keys = random(seed, count * words);
        for key in keys.chunks_mut(words) {
            let draw = key[0];
            let high = words - 1;
            let infinity = if words == 2 { 0x7ff0_0000 } else { 0x7f80_0000 };
            match draw % 8 {
                0 | 1 => {
                    key.fill(0);
                    key[high] = draw & 0x8000_0000;
                }
                2 => {
                    key.fill(draw >> 4 & 3);
                    key[high] |= infinity | draw & 0x8000_0000;
                }
                3 => key[high] = infinity,
                4 => key[high] = 0x3f80_0000,
                _ => {}
            }
        }
        numbers_stored(self.stored_as(kernel), keys)
    }

    /// A number for each key, equal for keys that are equal: its rank among all.
    fn orders(self, keys: &[u32]) -> Vec<u64> {
        let words = self.element.words() as usize;
        let key = |index: usize| &keys[index * words..][..words];
        let is_less = |a: usize, b: usize| {
            let order = TopKCase::compare(self.element, self.order, key(a), key(b));
            if self.is_smallest { order.is_lt() } else { order.is_gt() }
        };
        let count = keys.len() / words;
        (0..count).map(|b| (0..count).filter(|&a| is_less(a, b)).count() as u64).collect()
    }
}

/// Rows of no key, of fewer than k, of one tile and of two, in the first dispatch of two.
fn select_unequal(gpu: &Gpu, kernel: &'static Kernel, shape: RowShape) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let tile = (workgroup_size * shape.items) as usize;
    let words = shape.element.words() as usize;
    let (k, tiles) = (tile / 4, 2);
    let mut constants = shape.constants(kernel, k);
    constants.retain(|(name, _)| !["WORDS_PER_VALUE", "UNEQUAL"].contains(name));
    constants.extend([("WORDS_PER_VALUE", 0), ("UNEQUAL", 1)]);
    let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
    let lengths = [0, 2, tile, tile + 1, 2 * tile, k];
    let ks = [1, k, 0, k - 1, k, 1].map(|k| k as u32);
    let begins: Vec<_> =
        (0..lengths.len()).map(|row| 3 + lengths[..row].iter().sum::<usize>() as u32).collect();
    let count = 3 + lengths.iter().sum::<usize>();
    let (stored_as, input) = (shape.stored_as(kernel), shape.keys(kernel, count, count));
    // Before anything is written, in its type.
    let before = numbers_stored(stored_as, vec![POISON; lengths.len() * tiles * k * words]);
    let mut keys = before.clone();
    let mut indices = vec![POISON; lengths.len() * tiles * k];
    for (row, &length) in lengths.iter().enumerate() {
        let (tile_count, k_of_row) = (length.div_ceil(tile), ks[row] as usize);
        let mut begin = 0;
        for index in 0..tile_count {
            let extent = length / tile_count + usize::from(index < length % tile_count);
            let first = begins[row] as usize + begin;
            let orders = shape.orders(&input[first * words..][..extent * words]);
            let slot = row * tiles * k + index * k_of_row.min(extent);
            for (rank, position) in top_k::select(&orders, k_of_row, shape.is_sorted).into_iter().enumerate()
            {
                keys[(slot + rank) * words..][..words]
                    .copy_from_slice(&input[(first + position) * words..][..words]);
                indices[slot + rank] = (begin + position) as u32;
            }
            begin += extent;
        }
    }
    let [input, keys, before] = [input, keys, before].map(|numbers| stored(stored_as, &numbers));
    let values = [
        ("keys", Value::input(input)),
        ("indices", Value::Null),
        ("top_keys", Value::changed(before, keys)),
        ("top_indices", Value::output(indices)),
        ("indirect_rows", Value::Null),
        ("values", Value::Null),
        ("top_values", Value::Null),
        ("row_count", Value::Number(lengths.len())),
        ("column_count", Value::Number(2 * tile)),
        ("tile_count", Value::Number(tiles)),
        ("k", Value::Number(k)),
        ("value_columns", Value::Number(2 * tile)),
        ("segments", Value::input(begins)),
        ("ks", Value::input(&ks)),
        ("key_count", Value::Number(count)),
        ("level", Value::Number(0)),
        ("result_count", Value::Number(tiles * k)),
    ];
    rig.check(&format!("unequal rows, {shape:?}"), values, (lengths.len() + 1) * tiles)
}

fn select(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    for shape in selection.first(3, RowShape::for_kernel(kernel)) {
        let tile = (workgroup_size * shape.items) as usize;
        let words = shape.element.words() as usize;
        select_unequal(gpu, kernel, shape)?;
        // Rows, columns, tiles of a row.
        for (index, (rows, columns, tiles)) in
            [(1, 1, 1), (3, tile, 1), (2, 2 * tile - 1, 2), (2, 3 * tile, 3), (5, tile / 2 + 3, 1)]
                .into_iter()
                .enumerate()
        {
            let k = [1, tile / 2, tile / 2 - 1, 5, columns][index].min(columns);
            let rig = Rig::new(gpu, kernel, workgroup_size, &shape.constants(kernel, k))?;
            let input = shape.keys(kernel, rows + columns, rows * columns);
            // In turn, columns of another dispatch, and results without keys or without columns.
            let value_columns = columns + 3;
            let mut input_indices = random(columns, rows * columns);
            input_indices.iter_mut().for_each(|index| *index %= value_columns as u32);
            let has_indices = index % 2 == 1;
            let (has_keys, has_columns) = (index != 2, index != 4);
            let value_words = shape.values as usize;
            let input_values = random(rows, rows * value_columns * value_words);
            let [mut keys, mut indices, mut values] = [Vec::new(), Vec::new(), Vec::new()];
            for row in 0..rows {
                let mut begin = 0;
                for tile in 0..tiles {
                    let extent = columns / tiles + usize::from(tile < columns % tiles);
                    let first = row * columns + begin;
                    let orders = shape.orders(&input[first * words..][..extent * words]);
                    for position in top_k::select(&orders, k, shape.is_sorted) {
                        keys.extend_from_slice(&input[(first + position) * words..][..words]);
                        let column = (begin + position) as u32;
                        let index = if has_indices { input_indices[first + position] } else { column };
                        indices.push(index);
                        let value = (row * value_columns + index as usize) * value_words;
                        values.extend_from_slice(&input_values[value..][..value_words]);
                    }
                    begin += extent;
                }
            }
            let [input, keys] = [input, keys].map(|numbers| stored(shape.stored_as(kernel), &numbers));
            // With a GPU-resident count, the host's number is too large.
            let is_on_device = index >= 3;
            let pushed = [
                ("keys", Value::input(input)),
                ("indices", Value::input(input_indices).only_if(has_indices)),
                ("top_keys", Value::output(keys).only_if(has_keys)),
                ("top_indices", Value::output(indices).only_if(has_columns)),
                ("indirect_rows", Value::input(vec![rows as u32]).only_if(is_on_device)),
                ("values", Value::input(input_values).only_if(value_words > 0)),
                ("top_values", Value::output(values).only_if(value_words > 0)),
                ("row_count", Value::Number(if is_on_device { rows + 2 } else { rows })),
                ("column_count", Value::Number(columns)),
                ("tile_count", Value::Number(tiles)),
                ("k", Value::Number(k)),
                ("value_columns", Value::Number(value_columns)),
                ("segments", Value::Null),
                ("ks", Value::Null),
                ("key_count", Value::Number(0)),
                ("level", Value::Number(0)),
                ("result_count", Value::Number(tiles * k)),
            ];
            let case = format!("{rows} rows of {columns} in {tiles} tiles, {k}, {shape:?}");
            rig.check(&case, pushed, (rows + 1) * tiles)?;
        }
    }
    Ok(())
}

/// Rows of one length and k, and of no key to more than a row's and of their own k, in clusters of one lane and of four.
fn rows(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    for shape in selection.first(3, RowShape::for_kernel(kernel)) {
        let lanes = if shape.values > 0 { 4 } else { 1 };
        let group_rows = (workgroup_size / lanes) as usize;
        let columns = (lanes * shape.items) as usize;
        let (row_count, words, value_words) =
            (group_rows + 3, shape.element.words() as usize, shape.values as usize);
        let constants = |unequal| {
            let mut constants = shape.constants(kernel, 1);
            constants.retain(|(name, _)| !["RADIX_BITS", "TOP_ITEMS", "UNEQUAL"].contains(name));
            constants.extend([("CLUSTER_LANES", lanes), ("UNEQUAL", unequal)]);
            constants
        };
        for (unequal, k) in [(0, 1), (0, columns), (1, columns), (1, columns.div_ceil(2))] {
            let case = format!("rows of {columns}, k {k}, unequal {unequal}, {lanes} lanes, {shape:?}");
            let rig = Rig::new(gpu, kernel, workgroup_size, &constants(unequal))?;
            let draws = random(k, row_count);
            let drawn = |row: usize, most: usize| draws[row] as usize % (most + 1);
            let length = |row| [columns + 3, drawn(row, columns), 0][row % 3];
            let lengths: Vec<_> =
                (0..row_count).map(|row| if unequal == 1 { length(row) } else { columns }).collect();
            let k_of = |row| [k, drawn(row, k), 0][row / 3 % 3];
            let ks: Vec<_> =
                (0..row_count).map(|row| if unequal == 1 { k_of(row) } else { k } as u32).collect();
            let begins: Vec<_> =
                (0..row_count).map(|row| lengths[..row].iter().sum::<usize>() as u32).collect();
            let count = lengths.iter().sum::<usize>();
            let input = shape.keys(kernel, count, count);
            let input_values = random(count, count * value_words);
            let mut keys = vec![0; row_count * k * words];
            let mut indices = vec![u32::MAX; row_count * k];
            let mut values = vec![0; row_count * k * value_words];
            for row in 0..row_count {
                let first = begins[row] as usize;
                let orders = shape.orders(&input[first * words..][..lengths[row].min(columns) * words]);
                let selected = top_k::select(&orders, ks[row] as usize, shape.is_sorted);
                for (slot, position) in (row * k..).zip(selected) {
                    let from = first + position;
                    keys[slot * words..][..words].copy_from_slice(&input[from * words..][..words]);
                    indices[slot] = position as u32;
                    values[slot * value_words..][..value_words]
                        .copy_from_slice(&input_values[from * value_words..][..value_words]);
                }
            }
            let [input, keys] = [input, keys].map(|numbers| stored(shape.stored_as(kernel), &numbers));
            // With a count on the device, the host's number is too large.
            let is_on_device = k == columns;
            let pushed = [
                ("keys", Value::input(input)),
                ("top_keys", Value::output(keys)),
                ("top_indices", Value::output(indices)),
                ("indirect_rows", Value::input(vec![row_count as u32]).only_if(is_on_device)),
                ("row_count", Value::Number(if is_on_device { row_count + 9 } else { row_count })),
                ("column_count", Value::Number(columns)),
                ("k", Value::Number(k)),
                ("key_count", Value::Number(count)),
                ("values", Value::input(input_values).only_if(value_words > 0)),
                ("top_values", Value::output(values).only_if(value_words > 0)),
                ("segments", Value::input(begins).only_if(unequal == 1)),
                ("ks", Value::input(ks).only_if(unequal == 1)),
            ];
            rig.check(&case, pushed, row_count.div_ceil(group_rows) + 1)?;
        }
    }
    Ok(())
}

/// Rows of one length, and of none to more keys than a row's after a key that is in none.
fn orders(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let shapes = selection.first(3, RowShape::for_kernel(kernel)).into_iter();
    for (shape, is_unequal) in shapes.flat_map(|shape| [false, true].map(|is_unequal| (shape, is_unequal))) {
        let chunk = (workgroup_size * shape.items) as usize;
        let constants = [("ITEMS_PER_INVOCATION", shape.items), ("UNEQUAL", is_unequal.into())];
        let constants = [&constants[..], &shape.key_constants(kernel)].concat();
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let words = shape.element.words() as usize;
        for (rows, columns) in [(3, 1), (2, chunk), (1, chunk + 1), (4, 2 * chunk + 3), (0, chunk)] {
            let chunks = columns.div_ceil(chunk);
            let is_on_device = rows % 2 == 0;
            let length = |row| if is_unequal { [columns + 1, columns / 2, 0][row % 3] } else { columns };
            let first =
                |row| if is_unequal { 1 + (0..row).map(length).sum::<usize>() } else { row * columns };
            let firsts: Vec<_> = (0..rows).map(|row| first(row) as u32).collect();
            let input = shape.keys(kernel, rows + columns, first(rows));
            let stepped = |step: usize| (0..rows).map(|row| (row * step) as u32).collect::<Vec<_>>();
            let end = |row| (row * columns + length(row).min(columns)) as u32;
            let counts = vec![(rows * columns) as u32, 7 * rows as u32];
            let counts = if is_on_device { Value::output(counts) } else { Value::input(vec![POISON; 2]) };
            let orders = Memory::poisoned(gpu, rows * columns * words, Alignment::Words)?;
            let values = [
                ("keys", Value::input(&input)),
                ("orders", Value::Pointer(&orders)),
                ("begins", Value::output(stepped(columns))),
                ("ends", Value::output((0..rows).map(end).collect::<Vec<_>>()).only_if(is_unequal)),
                ("top_begins", Value::output(stepped(7)).only_if(is_on_device)),
                ("counts", counts),
                ("indirect_rows", Value::input(vec![rows as u32]).only_if(is_on_device)),
                ("row_count", Value::Number(if is_on_device { rows + 1 } else { rows })),
                ("column_count", Value::Number(columns)),
                ("chunk_count", Value::Number(chunks)),
                ("k", Value::Number(7)),
                ("segments", Value::input(firsts).only_if(is_unequal)),
                ("ks", Value::Null),
                ("key_count", Value::Number(first(rows))),
            ];
            let case = format!("{rows} rows of {columns}, unequal {is_unequal}, {shape:?}");
            rig.check(&case, values, (rows + 1) * chunks)?;
            // Keys and orders compare alike.
            let all: Vec<_> = orders.read()?.chunks(words).map(number).collect();
            let orders_of_input = shape.orders(&input);
            let (mut got, mut expected) = (Vec::new(), Vec::new());
            for row in 0..rows {
                let (of_row, unused) = all[row * columns..][..columns].split_at(length(row).min(columns));
                got.extend_from_slice(of_row);
                expected.extend_from_slice(&orders_of_input[first(row)..][..of_row.len()]);
                if unused.iter().any(|&order| order != number(&[POISON; 2][..words])) {
                    return Err(format!("{case}: orders beyond row {row}").into());
                }
            }
            for a in 0..got.len() {
                for b in [0, a / 2, (a * 7 + 3) % got.len()] {
                    if got[a].cmp(&got[b]) != expected[a].cmp(&expected[b]) {
                        return Err(format!("{case}: the orders of {a} and {b}").into());
                    }
                }
            }
        }
    }
    Ok(())
}

fn number(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |number, &word| number << 32 | u64::from(word))
}

/// Rows of one length and k, and rows that have of both their own, after a key that is in none.
fn take(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let options = [(3, false), (1, true), (0, false), (1, false), (0, true)];
    for (value_words, is_unequal) in selection.first(3, options) {
        let constants = [("WORDS_PER_VALUE", value_words), ("UNEQUAL", is_unequal.into())];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let [words, value_words] = [key_words(kernel), value_words].map(|words| words as usize);
        let size = workgroup_size as usize;
        for (rows, columns, sorted_count, k) in
            [(1, 1, 1, 1), (3, size + 9, size + 9, size), (2, 3 * size, 2 * size, size + 1), (4, 50, 9, 9)]
        {
            let length = |row| if is_unequal { [columns + 1, columns / 2, 0][row % 3] } else { columns };
            let first =
                |row| if is_unequal { 1 + (0..row).map(length).sum::<usize>() } else { row * columns };
            let k_of = |row| if is_unequal && row % 2 == 0 { k - 1 } else { k };
            let input = random(columns, first(rows) * words);
            let input_values = random(rows, first(rows) * value_words);
            let draws = random(k, rows * sorted_count);
            let index = |(place, draw): (usize, &u32)| {
                let row = place / sorted_count;
                (row * columns + *draw as usize % length(row).clamp(1, columns)) as u32
            };
            let sorted: Vec<_> = draws.iter().enumerate().map(index).collect();
            let has_values = value_words > 0 && rows != 3;
            let (mut taken, mut taken_columns) = (vec![u32::MAX; rows * k], vec![u32::MAX; rows * k]);
            let (mut keys, mut taken_values) = (vec![0; rows * k * words], vec![0; rows * k * value_words]);
            for row in 0..rows {
                for rank in 0..k_of(row).min(length(row)) {
                    let (slot, index) = (row * k + rank, sorted[row * sorted_count + rank]);
                    let column = index as usize - row * columns;
                    let from = first(row) + column;
                    (taken[slot], taken_columns[slot]) = (index, column as u32);
                    keys[slot * words..][..words].copy_from_slice(&input[from * words..][..words]);
                    taken_values[slot * value_words..][..value_words]
                        .copy_from_slice(&input_values[from * value_words..][..value_words]);
                }
            }
            let numbers = |of: &dyn Fn(usize) -> usize| {
                Value::input((0..rows).map(|row| of(row) as u32).collect::<Vec<_>>()).only_if(is_unequal)
            };
            let is_on_device = rows > 2;
            let chunks = k.div_ceil(size);
            let values = [
                ("keys", Value::input(input)),
                ("sorted", Value::input(sorted)),
                ("top_keys", Value::output(keys).only_if(rows != 4)),
                ("top_indices", Value::output(taken_columns).only_if(rows != 3)),
                ("all_indices", Value::output(taken).only_if(rows != 2)),
                ("indirect_rows", Value::input(vec![rows as u32]).only_if(is_on_device)),
                ("values", Value::input(input_values).only_if(has_values)),
                ("top_values", Value::output(taken_values).only_if(has_values)),
                ("row_count", Value::Number(if is_on_device { rows + 1 } else { rows })),
                ("column_count", Value::Number(columns)),
                ("sorted_count", Value::Number(sorted_count)),
                ("chunk_count", Value::Number(chunks)),
                ("k", Value::Number(k)),
                ("segments", numbers(&first)),
                ("ks", numbers(&k_of)),
                ("key_count", Value::Number(first(rows))),
            ];
            let case = format!(
                "{rows} rows of {columns}, {k} of {sorted_count}, {words} words, unequal {is_unequal}"
            );
            rig.check(&case, values, (rows + 1) * chunks)?;
        }
    }
    Ok(())
}
