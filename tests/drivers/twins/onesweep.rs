//! The kernels around the passes of a sort, and the pass that is one kernel.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::Tiles;
use subsweep::reference::lanes::Workgroup;
use subsweep::reference::sort::{self as twin, Aim, Before, Digit, MatchShape, Survey, Surveyed, Swept};
use subsweep::vk::AddressRange;

use super::rig::{Access, Memory, POISON, Rig, Value, compare, random, sizes};
use super::sort::{
    key_pointers, moved, nth_order, nth_route, order_constants, schedule_memory, value_pointers, widths,
};

const RADIX_BITS: u32 = 8;
const RADIX: usize = 1 << RADIX_BITS;
/// Workgroups in a row of a dispatch: so few that schedules come in several rows.
const MAX_ROW: usize = 3;

/// How many of every so many workgroups stay silent; what a build that counts can be told.
const SILENT_EVERY: [usize; 3] = [0, 3, 1];

/// Whole subgroups, two at least.
fn workgroup(gpu: &Gpu) -> Workgroup {
    let size = 2 * gpu.capabilities().max_subgroup_size.max(32) as usize;
    Workgroup { size, lanes: gpu.capabilities().subgroup_size as usize }
}

/// `count` keys that agree in some bits, so that passes are left out: in all but the lowest, the highest, none, all.
fn keys(index: usize, count: usize, key_words: usize) -> Vec<u32> {
    let (kept, common) = [(0xff, 0x0600_0300), (0xff00_0000, 5), (u32::MAX, 0), (0, u32::MAX)][index % 4];
    random(count, count * key_words).into_iter().map(|word| word & kept | common).collect()
}

/// The words of some places, as bins have them: the low ones, and behind them the high ones where they are wide.
fn words_of(places: &[u64], is_wide: bool) -> Vec<u32> {
    let low = places.iter().map(|&place| place as u32);
    let high = places.iter().filter(|_| is_wide).map(|&place| (place >> 32) as u32);
    low.chain(high).collect()
}

pub fn survey(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let widenesses = if kernel.name.ends_with("_bins") { &[false, true][..] } else { &[false] };
    widenesses.iter().try_for_each(|&is_wide| survey_of(gpu, kernel, is_wide))
}

fn survey_of(gpu: &Gpu, kernel: &'static Kernel, is_wide: bool) -> Result<(), Failed> {
    let (key_words, has_bins) = (widths(kernel).0, kernel.name.ends_with("_bins"));
    // Two more of a digit, and the low word of its bin runs over.
    let of_each_digit = if is_wide { (1 << 32) - 2 } else { 0 };
    let bins_words = if is_wide { 2 * RADIX } else { RADIX };
    let key_bits = 32 * key_words as u32;
    let workgroup = workgroup(gpu);
    let items = 3;
    let tile_items = workgroup.size * items;
    for (index, aim) in [Aim::InPlace, Aim::Anywhere, Aim::Places].into_iter().enumerate() {
        let order = nth_order(index + key_words);
        // All bits, some of them that passes cannot share out evenly, and none.
        let bits = [0..key_bits, key_bits - 13..key_bits - 2, 7..7]
            [if aim == Aim::Places { 2 - index % 2 } else { index }]
        .clone();
        for bits in [bits, 0..key_bits] {
            let pass_count = bits.len().div_ceil(RADIX_BITS as usize).max(1);
            let mut constants = order_constants(order);
            constants.extend([
                ("RADIX_BITS", RADIX_BITS),
                ("ITEMS_PER_INVOCATION", items as u32),
                ("PASS_COUNT", pass_count as u32),
            ]);
            if has_bins {
                constants.push(("WIDE_PLACES", is_wide.into()));
            }
            let rig = Rig::new(gpu, kernel, workgroup.size as u32, &constants)?;
            // At last full tiles, as many others as take their keys beyond 2^32, and one that is not full.
            let beyond = Tiles { tile_count: (1 << 32) / tile_items + 5, last_extent: workgroup.size + 1 };
            let trials = sizes(tile_items).map(|count| (count, Tiles::new(count, tile_items)));
            for (trial, (count, tiles)) in trials.into_iter().chain([(3 * tile_items, beyond)]).enumerate() {
                let keys = keys(trial, count, key_words);
                let all_count = (tiles.tile_count - 1) * tile_items + tiles.last_extent;
                let before = Before { keys: (all_count - count) as u64, of_each_digit };
                let others = tiles.tile_count - count.div_ceil(tile_items);
                let pass_items = trial / 2 % 2 + 1;
                let pass_tile_items = pass_items * workgroup.size;
                let all_tiles = all_count.div_ceil(pass_tile_items);
                let portion_tiles = if others > 0 {
                    all_tiles / 3
                } else if trial.is_multiple_of(2) {
                    2
                } else {
                    1000
                };
                let portion_count = all_tiles.div_ceil(portion_tiles);
                let survey = Survey {
                    pass_tile_items,
                    portion_tiles,
                    portion_count,
                    begin_bit: bits.start,
                    end_bit: bits.end,
                    pass_count: pass_count as u32,
                    aim,
                };
                let orders: Vec<u64> = keys.chunks_exact(key_words).map(|key| order.ordered(key)).collect();
                let Surveyed { set, clear, schedule, bins } = survey.behind(before, &orders, key_bits, RADIX);
                let mut schedule: Vec<u32> = schedule
                    .iter()
                    .flat_map(|scheduled| scheduled.words(MAX_ROW, RADIX).into_iter().chain([POISON]))
                    .collect();
                let mut bins_before = vec![0; pass_count * portion_count * bins_words];
                let mut expected_bins = bins_before.clone();
                if has_bins {
                    for (pass, bins) in bins.iter().enumerate() {
                        let first = pass * portion_count * bins_words..;
                        let counted = words_of(&[of_each_digit; RADIX], is_wide);
                        bins_before[first.clone()][..bins_words].copy_from_slice(&counted);
                        expected_bins[first][..bins_words].copy_from_slice(&words_of(bins, is_wide));
                    }
                }
                let state = [
                    set as u32,
                    (set >> 32) as u32,
                    clear as u32,
                    (clear >> 32) as u32,
                    tiles.tile_count as u32,
                ];

                let keys_memory = Memory::of(gpu, &keys, Access::Words)?;
                let state_memory = Memory::of(gpu, &[0, 0, 0, 0, others as u32], Access::Quads)?;
                let schedule_memory = Memory::poisoned(gpu, schedule.len(), Access::Quads)?;
                let bins_memory = Memory::of(gpu, &bins_before, Access::Quads)?;
                // Half of the trials tell the host nothing that is right.
                let is_on_device = trial % 2 == 1;
                let on_device = [tiles.tile_count as u32, tiles.last_extent as u32];
                let on_device = Memory::of(gpu, &on_device, Access::Words)?;
                let told = if is_on_device { Tiles { tile_count: 77, last_extent: 1 } } else { tiles };
                rig.run(
                    &[
                        ("keys", Value::Pointer(&keys_memory)),
                        ("state", Value::Pointer(&state_memory)),
                        ("schedule", Value::Pointer(&schedule_memory)),
                        ("bins", if has_bins { Value::Pointer(&bins_memory) } else { Value::Null }),
                        (
                            "tiles_on_device",
                            if is_on_device { Value::Pointer(&on_device) } else { Value::Null },
                        ),
                        ("tile_count", Value::Number(told.tile_count)),
                        ("last_extent", Value::Number(told.last_extent)),
                        ("pass_items_per_invocation", Value::Number(pass_items)),
                        ("portion_tiles", Value::Number(portion_tiles)),
                        ("portion_count", Value::Number(portion_count)),
                        ("begin_bit", Value::Number(bits.start as usize)),
                        ("end_bit", Value::Number(bits.end as usize)),
                        ("max_row", Value::Number(MAX_ROW)),
                        ("aim", Value::Number(aim as usize)),
                    ],
                    // One more is left alone, where it is of no tile.
                    tiles.tile_count - others - usize::from(others > 0),
                )?;
                let case = format!(
                    "{}, {count} keys behind {before:?}, bits {bits:?}, {order:?}, {survey:?}",
                    kernel.name
                );
                compare(&case, "keys", &keys_memory, &keys)?;
                compare(&case, "state", &state_memory, &state)?;
                compare(&case, "bins", &bins_memory, &expected_bins)?;
                // How far a dispatch that is left out would have gone is of no matter.
                let got = schedule_memory.read().map_err(|why| format!("{case}: schedule{why}"))?;
                for (words, got) in schedule.chunks_mut(8).zip(got.chunks(8)) {
                    if words[3] == 0 {
                        words[4] = got[4];
                    }
                }
                compare(&case, "schedule", &schedule_memory, &schedule)?;
            }
        }
    }
    Ok(())
}

/// Words of a region of statuses before those of the tiles.
const TICKET_WORDS: usize = 4;

/// Small tiles, and what is told of them.
struct Sweep<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    shape: MatchShape,
    /// The tile of all keys with which memory begins. Where that is not 0, places are wide.
    base_tile: usize,
}

pub fn onesweep(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let shape = MatchShape { workgroup: workgroup(gpu), radix_bits: RADIX_BITS, items_per_invocation: 3 };
    let tile_items = shape.tile_items();
    let (key_words, value_words) = widths(kernel);
    let silences = if kernel.name.ends_with("_counted") { &SILENT_EVERY[..] } else { &SILENT_EVERY[..1] };
    // Some of the keys lie, and some go, before place 2^32, and all others behind it.
    let seam = (1 << 32) / tile_items - 3;
    let trials =
        silences.iter().flat_map(|&silent_every| [0, seam].map(|base_tile| (silent_every, base_tile)));
    for (index, (silent_every, base_tile)) in trials.enumerate() {
        let sweep = Sweep { gpu, kernel, shape, base_tile };
        let order = nth_order(index + key_words + value_words);
        let mut constants = order_constants(order);
        constants.extend([
            ("RADIX_BITS", RADIX_BITS),
            ("ITEMS_PER_INVOCATION", shape.items_per_invocation as u32),
            ("MAX_SUBGROUPS", shape.workgroup.subgroup_count() as u32),
            ("WIDE_PLACES", (base_tile > 0).into()),
        ]);
        if silences.len() > 1 {
            constants.push(("SILENT_EVERY", silent_every as u32));
        }
        let rig = Rig::new(gpu, kernel, shape.workgroup.size as u32, &constants)?;
        let counts = [1, tile_items, tile_items + 1, 7 * tile_items - 3, 60 * tile_items + 5];
        for (trial, count) in counts.into_iter().enumerate() {
            for (shift, mask) in [(0, 0xff), (32 * key_words as u32 - 8, 0xff), (9, 1)] {
                let keys = keys(trial, count, key_words);
                let digit = Digit { shift, mask };
                let digits = order.digits(&keys, key_words, digit);
                sweep.check(&rig, &keys, digit, &digits, trial + shift as usize, silent_every)?;
            }
        }
    }
    Ok(())
}

impl Sweep<'_> {
    /// The keys as the second of two portions, behind one tile of the first, whose keys go to the front.
    fn check(
        &self,
        rig: &Rig<'_>,
        keys: &[u32],
        digit: Digit,
        digits: &[usize],
        trial: usize,
        silent_every: usize,
    ) -> Result<(), Failed> {
        let (gpu, tile_items) = (self.gpu, self.shape.tile_items());
        let (key_words, value_words) = widths(self.kernel);
        let tiles = Tiles::new(digits.len(), tile_items);
        let tiles_before = trial % 2;
        let before = tiles_before * tile_items;
        // Keys that would lie before those in memory.
        let base = self.base_tile as u64 * tile_items as u64;
        let is_wide = base > 0;
        let mut totals = vec![0u32; RADIX];
        digits.iter().for_each(|&digit| totals[digit] += 1);
        let firsts = subsweep::reference::oracle::exclusive_scan(&totals, 1);
        let bins: Vec<u64> = firsts.iter().map(|&first| base + before as u64 + u64::from(first)).collect();
        let Swept { places, statuses, next_bins } = twin::onesweep(&self.shape, digits, &bins, tiles);

        // The first portion has been here, and stays what it is.
        let all_keys = [random(1, before * key_words), keys.to_vec()].concat();
        let told = random(3, (before + digits.len()) * value_words);
        let own: Vec<u32> = (0..(before + digits.len()) as u32).collect();
        let are_places = value_words == 1 && trial.is_multiple_of(3) && !is_wide;
        let route = nth_route(trial, are_places);
        let moved = |words: &[u32], size: usize| {
            let mut all = vec![POISON; before * size];
            let places: Vec<u32> = places.iter().map(|place| (place - base) as u32 - before as u32).collect();
            all.extend(moved(&words[before * size..], size, &places));
            all
        };

        let keys_memory = Memory::of(gpu, &all_keys, Access::Words)?;
        let sorted = Memory::poisoned(gpu, all_keys.len(), Access::Words)?;
        let values = Memory::of(gpu, &told, Access::Words)?;
        let sorted_values = Memory::poisoned(gpu, told.len(), Access::Words)?;
        let bins = words_of(&bins, is_wide);
        let bins_memory = Memory::of(gpu, &bins, Access::Quads)?;
        let next_memory = Memory::poisoned(gpu, bins.len(), Access::Quads)?;
        let region_words = TICKET_WORDS + tiles.tile_count * RADIX;
        let used = Memory::of(gpu, &vec![0; region_words], Access::Quads)?;
        let cleared = Memory::poisoned(gpu, region_words, Access::Quads)?;
        let (region, other) = if route.region == 0 { (&used, &cleared) } else { (&cleared, &used) };
        let scheduled = schedule_memory(gpu, route, tiles)?;
        let counts = Memory::of(gpu, &[0; 4], Access::Quads)?;
        let hands_on = trial % 4 != 3;
        let mut push = vec![
            ("bins", Value::Pointer(&bins_memory)),
            ("next_bins", if hands_on { Value::Pointer(&next_memory) } else { Value::Null }),
            ("region", Value::Pointer(region)),
            ("other_region", Value::Pointer(other)),
            ("schedule", Value::Pointer(&scheduled)),
            ("first_tile", Value::Number(self.base_tile + tiles_before)),
            ("shift", Value::Number(digit.shift as usize)),
            ("digit_mask", Value::Number(digit.mask as usize)),
            ("counts", Value::Pointer(&counts)),
        ];
        // So far before memory do the arrays begin.
        let behind = |(name, value), words: usize| match value {
            Value::Pointer(memory) => (name, Value::Range(earlier(memory, base * words as u64 * 4))),
            value => (name, value),
        };
        push.extend(key_pointers(route, &keys_memory, Some(&sorted)).map(|key| behind(key, key_words)));
        let values_before = (value_words > 0).then_some(&values);
        let values_pointers = value_pointers(route, values_before, &sorted_values);
        push.extend(values_pointers.map(|value| behind(value, value_words)));
        rig.run(&push, tiles.tile_count)?;

        let case = format!(
            "{}, {} keys behind {base} + {before}, {digit:?}, {route:?}, {silent_every} silent, {:?}",
            self.kernel.name,
            digits.len(),
            self.shape
        );
        compare(&case, "keys", &keys_memory, &all_keys)?;
        compare(&case, "sorted", &sorted, &moved(&all_keys, key_words))?;
        if value_words > 0 {
            compare(&case, "values", &values, &told)?;
            let expected = moved(if are_places { &own } else { &told }, value_words);
            compare(&case, "sorted values", &sorted_values, &expected)?;
        }
        compare(&case, "bins", &bins_memory, &bins)?;
        let next_bins = if hands_on { words_of(&next_bins, is_wide) } else { vec![POISON; bins.len()] };
        compare(&case, "next bins", &next_memory, &next_bins)?;
        // What silent tiles have is told by others, if anybody needs it.
        let is_silent = |tile: usize| silent_every > 0 && tile.is_multiple_of(silent_every);
        let got = used.read().map_err(|why| format!("{case}: statuses{why}"))?;
        for (tile, (got, expected)) in
            got[TICKET_WORDS..].chunks(RADIX).zip(statuses.chunks(RADIX)).enumerate()
        {
            if !is_silent(tile) && got != expected {
                return Err(format!("{case}: tile {tile} has told {got:x?}, not {expected:x?}").into());
            }
        }
        // One word is the ticket; what lies beside it is nobody's.
        let mut clear = vec![0; region_words];
        clear[1..TICKET_WORDS].fill(POISON);
        compare(&case, "the other region", &cleared, &clear)?;
        let fallbacks = counts.read()?[2];
        if silent_every > 0 && (fallbacks == 0) != (tiles.tile_count == 1) {
            return Err(format!("{case}: {fallbacks} tiles were counted again").into());
        }
        Ok(())
    }
}

/// The memory as an array that begins so many bytes earlier, whose end it is.
fn earlier(memory: &Memory<'_>, bytes: u64) -> AddressRange {
    let AddressRange { address, size, .. } = memory.range();
    AddressRange::new(address.wrapping_sub(bytes), size)
}

/// A copy is its own twin.
pub fn copy(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let (workgroup_size, tile_items) = (64, 100);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[("TILE_ITEMS", tile_items)])?;
    for (index, count) in sizes(tile_items as usize).into_iter().enumerate() {
        for (key_words, value_words) in [(1, 0), (2, 0), (1, 1), (2, 2)] {
            let tiles = Tiles::new(count, tile_items as usize);
            let words = [random(count, count * key_words), random(7, count * value_words)];
            let [keys_aside, values_aside] = &words;
            let before =
                [Memory::of(gpu, keys_aside, Access::Quads)?, Memory::of(gpu, values_aside, Access::Quads)?];
            let after = [
                Memory::poisoned(gpu, keys_aside.len(), Access::Words)?,
                Memory::poisoned(gpu, values_aside.len(), Access::Words)?,
            ];
            let scheduled = schedule_memory(gpu, nth_route(index, false), tiles)?;
            let has_values = value_words > 0;
            rig.run(
                &[
                    ("keys", Value::Pointer(&after[0])),
                    ("keys_aside", Value::Pointer(&before[0])),
                    ("values", if has_values { Value::Pointer(&after[1]) } else { Value::Null }),
                    ("values_aside", if has_values { Value::Pointer(&before[1]) } else { Value::Null }),
                    ("schedule", Value::Pointer(&scheduled)),
                    ("key_words", Value::Number(key_words)),
                    ("value_words", Value::Number(value_words)),
                ],
                tiles.tile_count,
            )?;
            let case =
                format!("{}, {count} keys of {key_words} words and {value_words} of values", kernel.name);
            compare(&case, "keys aside", &before[0], keys_aside)?;
            compare(&case, "keys", &after[0], keys_aside)?;
            if has_values {
                compare(&case, "values aside", &before[1], values_aside)?;
                compare(&case, "values", &after[1], values_aside)?;
            }
        }
    }
    Ok(())
}
