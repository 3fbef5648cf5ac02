//! Pass checks of reductions by key: the single pass, and the heads of runs and their scan.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::reference::passes::reduce as model;

use super::numbers::TestRow;
use super::reduce::WORKGROUP_SIZE;
use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, check_fallbacks, key_words, nth_look_back,
    random, sizes, small_workgroup,
};

/// Keys of runs of one row at first, then of longer ones. Keys of neighbouring runs differ in one word; of floats zeros of
/// both signs, infinities and NaNs have neighbours in one run or not.
fn keys_of_runs(count: usize, key_words: usize, are_floats: bool) -> Vec<u32> {
    let number = |row: usize| (if row < count / 3 { row } else { count / 3 + row / 50 }) as u32;
    let key = |row: usize| [number(row) / 2, number(row).div_ceil(2)];
    let float = |row: usize| -> Vec<u32> {
        let high = (row as u32) << 31;
        match (key_words, number(row) % 5) {
            (1, 0) => vec![high],
            (1, 1) => vec![high | 0x7f80_0000],
            (1, 2) => vec![high | (0x7f80_0001 + row as u32)],
            (1, number) => vec![(number as f32).to_bits()],
            (_, 0) => vec![0, high],
            (_, 1) => vec![0, high | 0x7ff0_0000],
            (_, 2) => vec![row as u32 % 2, high | 0x7ff0_0000 | (1 - row as u32 % 2)],
            (_, number) => vec![number, 0],
        }
    };
    match key_words {
        _ if are_floats => (0..count).flat_map(float).collect(),
        1 => (0..count).map(|row| number(row).reverse_bits()).collect(),
        _ => (0..count).flat_map(key).collect(),
    }
}

/// Compares the single pass with a loop over the rows of each run. `turn` chooses the keys, and of counted variants the
/// stalled tiles and the look-back.
pub fn by_key<R: TestRow>(
    gpu: &Gpu,
    kernel: &'static Kernel,
    selection: Selection,
    turn: usize,
) -> Result<(), Failed> {
    const ITEMS: usize = 3;
    let key_words = key_words(kernel) as usize;
    let is_counted = kernel.name.ends_with("_counted");
    let workgroup_size = small_workgroup(gpu);
    let tile = workgroup_size as usize * ITEMS;
    for specialization in selection.first(2, 0..4) {
        let turn = turn + specialization;
        let are_floats = turn % 2 == 1;
        let stall_every = if is_counted { [1, 3, 2, 0][turn % 4] } else { 0 };
        let numbers = if are_floats { ElementType::F32.key_numbers(FloatOrder::Numpy) } else { 0 };
        let mut constants = vec![("ITEMS_PER_INVOCATION", ITEMS as u32), ("KEY_NUMBERS", numbers)];
        constants.extend(R::constants(kernel));
        constants.extend(nth_look_back(if is_counted { turn + 1 } else { 0 }, 4));
        if is_counted {
            constants.push(("STALL_EVERY", stall_every as u32));
        }
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        // No rows are an empty tile; several windows of tiles have a run that is longer than a tile for the most part.
        for (index, count) in [0, 70 * tile + 7].into_iter().chain(sizes(tile)).enumerate() {
            let tiles = Tiles::new(count, tile);
            let mut keys = keys_of_runs(count, key_words, are_floats);
            if index == 1 && turn.is_multiple_of(2) {
                keys[count / 2 * key_words..].fill(7);
            }
            let heads = model::heads_of(&keys, key_words, are_floats);
            let source = R::input(count, count);
            let rows = R::of_words(&source);
            let ends = heads.iter().skip(1).copied().chain([count as u32]);
            let results = heads.iter().zip(ends).flat_map(|(&head, end)| {
                let run = &rows[head as usize..end as usize];
                run.iter().fold(R::IDENTITY, |total, &row| total.combine(row)).words()
            });
            let padded = |mut words: Vec<u32>, words_per_row: usize| {
                words.resize(count * words_per_row, POISON);
                words
            };
            let expected = padded(results.collect(), R::WORDS);
            let unique = heads.iter().flat_map(|&row| keys[row as usize * key_words..][..key_words].to_vec());
            let unique = padded(unique.collect(), key_words);

            let case = format!(
                "{}, {count} rows of {}, floats as keys: {are_floats}, stalled: every {stall_every}",
                kernel.name,
                R::name()
            );
            let counters = Memory::with_words(gpu, &[0; 4], Alignment::Words)?;
            let arrays = [
                ("keys", Value::input(&keys)),
                ("source", Value::input(&source)),
                ("run_count", Value::output(vec![heads.len() as u32])),
                ("unique_keys", Value::output(unique)),
                ("destination", Value::output(expected)),
                ("state", Value::state(4 + 2 * (R::WORDS + 1) * tiles.tile_count)),
                ("counts", Value::Pointer(&counters)),
            ];
            // The state has room for the tiles there are: the host's number is not larger.
            let host = (index % 2 == 1).then_some(Tiles { last_extent: 1, ..tiles });
            rig.check(&case, arrays.into_iter().chain(tiles.push_instead_of(host)), tiles.tile_count)?;
            check_fallbacks(&case, &counters, stall_every, tiles)?;
        }
    }
    Ok(())
}

pub fn heads(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let key_words = key_words(kernel) as usize;
    let specializations = [(128, 8, false), (256, 4, true), (128, 32, true), (64, 3, false)];
    for (workgroup_size, items, are_floats) in selection.first(2, specializations) {
        let tile = workgroup_size as usize * items;
        let numbers = if are_floats { ElementType::F32.key_numbers(FloatOrder::Numpy) } else { 0 };
        let constants = [("ITEMS_PER_INVOCATION", items as u32), ("KEY_NUMBERS", numbers)];
        let rigs = [0, 1].map(|stores| {
            let constants = [&constants[..], &[("STORES_HEADS", stores)]].concat();
            Rig::new(gpu, kernel, workgroup_size, &constants)
        });
        let [count_rig, store_rig] = rigs;
        let (count_rig, store_rig) = (count_rig?, store_rig?);
        for (index, count) in sizes(tile).into_iter().enumerate() {
            let tiles = Tiles::new(count, tile);
            let keys = keys_of_runs(count, key_words, are_floats);
            let expected = model::heads_of(&keys, key_words, are_floats);
            let of_tile =
                |index: usize| expected.iter().filter(|&&row| row as usize / tile == index).count() as u32;
            let tile_heads: Vec<u32> = (0..tiles.tile_count).map(of_tile).collect();
            let unique: Vec<u32> = expected
                .iter()
                .flat_map(|&row| &keys[row as usize * key_words..][..key_words])
                .copied()
                .collect();
            let case = format!("{count} keys of {key_words} words in tiles of {tile}");
            let before = model::scan_heads(&tile_heads).0;
            for (rig, stores_heads) in [(&count_rig, false), (&store_rig, true)] {
                let stored = |words: &[u32]| match stores_heads {
                    true => Value::output(words.to_vec()),
                    false => Value::input(vec![POISON; words.len()]),
                };
                let arrays = [
                    ("keys", Value::input(&keys)),
                    (
                        "tile_heads",
                        if stores_heads { Value::input(&before) } else { Value::output(&tile_heads) },
                    ),
                    ("offsets", stored(&expected)),
                    ("unique_keys", stored(&unique)),
                ];
                rig.check(&case, arrays.into_iter().chain(tiles.push(index % 2 == 0)), tiles.tile_count)?;
            }
        }
    }
    Ok(())
}

pub fn scan_heads(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let rigs = [(WORKGROUP_SIZE, 8), (256, 3)].map(|(workgroup_size, items)| {
        Rig::new(gpu, kernel, workgroup_size, &[("ITEMS_PER_INVOCATION", items)])
    });
    let [rig, other_rig] = rigs;
    let rigs = [rig?, other_rig?];
    for (index, tile_count) in [0, 1, 9, 1023, 1024, 1025, 5000].into_iter().enumerate() {
        let (rig, run_invocations) = (&rigs[index % 2], [WORKGROUP_SIZE, 64][index / 2 % 2]);
        let counts: Vec<_> = random(tile_count, tile_count).iter().map(|word| word % 1025).collect();
        let (expected, total) = model::scan_heads(&counts);
        let (columns, max_row) = (1 + index as u32 % 3, 65_535 >> (index % 4 * 4));
        let workgroups = (total * columns).div_ceil(run_invocations);
        let rows = workgroups.div_ceil(max_row).max(1);
        let is_on_device = index % 2 == 0;
        let values = [
            ("tile_heads", Value::changed(counts, expected)),
            ("run_count", Value::output(vec![total])),
            ("grid", Value::output(vec![workgroups.div_ceil(rows), rows, 1])),
            ("indirect_tiles", Value::input(vec![tile_count as u32, 1]).only_if(is_on_device)),
            ("tile_count", Value::Number(if is_on_device { 3 } else { tile_count })),
            ("column_count", Value::Number(columns as usize)),
            ("run_invocations", Value::Number(run_invocations as usize)),
            ("max_row", Value::Number(max_row as usize)),
        ];
        rig.check(&format!("{tile_count} tiles"), values, 1)?;
    }
    Ok(())
}
