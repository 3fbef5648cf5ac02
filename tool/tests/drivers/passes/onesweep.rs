//! Pass checks of onesweep, and of the copy of a sort.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep_tool::reference::oracle;
use subsweep_tool::reference::passes::sort::{self as model, Digit, KeyOrder, Swept};

use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, as_keys, first_bit, is_watched, nth_look_back,
    packed_bits, random, sizes, small_workgroup,
};
use super::sort::{
    key_arrays, nth_bit, nth_buffers, nth_order, order_constants, pass_args, scattered, subgroup_count,
    value_arrays, widths, without_keys,
};

pub const RADIX_BITS: u32 = 8;
pub const RADIX: usize = 1 << RADIX_BITS;

/// `count` keys with constant bits, so that passes are skipped: all bits but the lowest byte, all but the highest,
/// none, or all.
pub fn keys(index: usize, count: usize, key_words: usize) -> Vec<u32> {
    let (kept, common) = [(0xff, 0x0600_0300), (0xff00_0000, 5), (u32::MAX, 0), (0, u32::MAX)][index % 4];
    random(count, count * key_words).into_iter().map(|word| word & kept | common).collect()
}

/// Offsets as bins store them: the low words, followed by the high words of 64-bit offsets.
pub fn offset_words(offsets: &[u64], is_wide: bool) -> Vec<u32> {
    let low = offsets.iter().map(|&offset| offset as u32);
    let high = offsets.iter().filter(|_| is_wide).map(|&offset| (offset >> 32) as u32);
    low.chain(high).collect()
}

/// Words before the descriptors: the tickets of all passes.
const TICKET_WORDS: usize = 8;

/// Statuses of a descriptor: a tile's own count of a digit, and its inclusive prefix.
const AGGREGATE: u32 = 1 << 30;
const PREFIX: u32 = 2 << 30;

/// The mask that flips the highest bits of descriptors.
fn flip(parity: u32) -> u32 {
    parity << 31
}

/// Descriptors as earlier passes leave them: prefixes of the last pass, and aggregates of stalled tiles; zeros before the
/// first.
fn descriptors_before(parity: u32, is_first: bool, count: usize) -> Vec<u32> {
    if is_first {
        return vec![0; count];
    }
    let left = |(index, word): (usize, u32)| {
        let status = if index % 5 == 0 { AGGREGATE } else { PREFIX };
        (status | word & !(3 << 30)) ^ flip(1 - parity)
    };
    random(11, count).into_iter().enumerate().map(left).collect()
}

/// The onesweep kernel, specialized, in small tiles.
struct Sweep<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    rig: Rig<'g>,
    order: KeyOrder,
    tile_items: usize,
    /// The index of the first tile in memory. Unless it is 0, offsets have 64 bits.
    base_tile: usize,
    stall_every: usize,
    has_no_last_keys: bool,
    /// 0 for a workgroup per tile.
    max_workgroups: u32,
}

pub fn onesweep(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let (workgroup_size, items) = (2 * small_workgroup(gpu), 3);
    let tile_items = (workgroup_size * items) as usize;
    let (key_words, value_words) = widths(kernel);
    // Some keys are read from, and some written to, indices below 2^32, and the others above.
    let seam = (1 << 32) / tile_items - 3;
    let is_counted = kernel.name.ends_with("_counted");
    // A workgroup may stride over 32 tiles, and wait for a stalled one at each.
    let (spin_limit, most_tiles) = if is_watched() { (3, 20) } else { (100, 60) };
    // Shared masks, early counts, and the exchange of the tile through shared memory. Shared masks need at most 32
    // lanes, and pay off from 16.
    let (late, early) = ([false, false, true], [false, true, false]);
    let specializations = match is_counted {
        true => selection.first(
            4,
            [(3, 0, late), (1, seam, early), (0, 0, early), (0, seam, late), (3, seam, early), (1, 0, late)],
        ),
        false => {
            let lanes = gpu.capabilities().subgroup_size;
            let masks = [true, true, true];
            let all = [(0, 0, late), (0, seam, early), (0, 0, masks), (0, seam, [true, false, false])];
            let has_masks = (16..=32).contains(&lanes);
            let all = all.into_iter().filter(|(.., flags)| has_masks || !flags[0]);
            selection.first(if has_masks { 3 } else { 2 }, all)
        }
    };
    for (index, (stall_every, base_tile, [masks, early, exchange])) in specializations.into_iter().enumerate()
    {
        // Stalled tiles and long look-backs are left to the counted variant: it has every window.
        let look_back = nth_look_back(if is_counted { index + 1 } else { 0 }, spin_limit);
        let turn = index + key_words + value_words;
        // Every second specialization has workgroups that stride.
        let max_workgroups = if turn.is_multiple_of(2) { 2 } else { 0 };
        let order = nth_order(turn);
        let has_no_last_keys = value_words > 0 && !turn.is_multiple_of(2);
        let mut constants = order_constants(kernel, order);
        constants.extend([
            ("RADIX_BITS", RADIX_BITS),
            ("ITEMS_PER_INVOCATION", items),
            ("MAX_SUBGROUPS", subgroup_count(gpu, workgroup_size)),
            ("WIDE_OFFSETS", (base_tile > 0).into()),
            ("SHARED_MASKS", masks.into()),
            ("EARLY_COUNTS", early.into()),
            ("PACKED_RANKS", (index % 2) as u32),
            ("MAX_WORKGROUPS", max_workgroups),
            ("EXCHANGE", exchange.into()),
            ("NO_LAST_KEYS", has_no_last_keys.into()),
        ]);
        constants.extend(look_back);
        if is_counted {
            constants.push(("STALL_EVERY", stall_every as u32));
        }
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let sweep = Sweep {
            gpu,
            kernel,
            rig,
            order,
            tile_items,
            base_tile,
            stall_every,
            has_no_last_keys,
            max_workgroups,
        };
        let counts = [1, tile_items, tile_items + 1, 7 * tile_items - 3, most_tiles * tile_items + 5];
        for (trial, count) in counts.into_iter().enumerate() {
            let (first, last) = (first_bit(kernel), 32 * key_words as u32 - 8);
            for (shift, mask) in [(first, 0xff), (last, 0xff), (nth_bit(kernel, 9), 1)] {
                let keys = as_keys(kernel, keys(trial, count, key_words));
                sweep.check(&keys, Digit { shift, mask }, trial + shift as usize)?;
            }
        }
    }
    Ok(())
}

impl Sweep<'_> {
    /// Checks the keys as the second of two portions, after at most one tile of the first portion.
    fn check(&self, keys: &[u32], digit: Digit, trial: usize) -> Result<(), Failed> {
        let Self { gpu, order, tile_items, stall_every, .. } = *self;
        let (key_words, value_words) = widths(self.kernel);
        let digits = order.digits(keys, key_words, digit);
        let tiles = Tiles::new(digits.len(), tile_items);
        let tiles_before = trial % 2;
        let before = tiles_before * tile_items;
        // Keys before those in memory.
        let base = self.base_tile as u64 * tile_items as u64;
        let is_wide = base > 0;
        let totals = model::tile_counts(&digits, RADIX, digits.len());
        let firsts = oracle::exclusive_scan(&totals, 1);
        let bins: Vec<u64> = firsts.iter().map(|&first| base + before as u64 + u64::from(first)).collect();
        let Swept { indices, inclusive_counts, next_bins } = model::onesweep(&digits, &bins, tile_items);

        // The first portion is already scattered, and must not change.
        let all_keys = [as_keys(self.kernel, random(1, before * key_words)), keys.to_vec()].concat();
        let all_values = random(3, (before + digits.len()) * value_words);
        let own: Vec<u32> = (0..(before + digits.len()) as u32).collect();
        let from_indices = value_words == 1 && trial.is_multiple_of(3) && !is_wide;
        let buffers = nth_buffers(trial, from_indices);
        let is_last = self.has_no_last_keys && trial % 4 < 2;
        let buffers = if is_last { without_keys(buffers) } else { buffers };
        let scattered = |words: &[u32], size: usize| {
            let mut all = vec![POISON; before * size];
            let indices: Vec<u32> =
                indices.iter().map(|index| (index - base) as u32 - before as u32).collect();
            all.extend(scattered(&words[before * size..], size, &indices));
            all
        };

        let bins = offset_words(&bins, is_wide);
        let pass = trial % TICKET_WORDS;
        let mut tickets = [POISON; TICKET_WORDS];
        tickets[pass] = 0;
        let is_first = buffers.parity == 0 && trial.is_multiple_of(2);
        let descriptors = descriptors_before(buffers.parity, is_first, tiles.tile_count * RADIX);
        let state = Memory::with_words(gpu, &[&tickets[..], &descriptors].concat(), Alignment::Quads)?;
        let counts = Memory::with_words(gpu, &[0; 4], Alignment::Quads)?;
        let next_bins = Value::output(offset_words(&next_bins, is_wide)).at(Alignment::Quads);
        let mut values = vec![
            ("bins", Value::input(bins).at(Alignment::Quads)),
            ("next_bins", next_bins.only_if(trial % 4 != 3)),
            ("state", Value::Pointer(&state)),
            ("dispatch_args", pass_args(buffers, tiles)),
            ("first_tile", Value::Number(self.base_tile + tiles_before)),
            ("pass", Value::Number(pass)),
            ("shift", Value::Number(digit.shift as usize)),
            ("digit_mask", Value::Number(digit.mask as usize)),
            ("counts", Value::Pointer(&counts)),
        ];
        // Arrays begin `base` elements before their memory.
        let key_size = key_words as u64 * u64::from(packed_bits(self.kernel)) / 8;
        let sorted = scattered(&all_keys, key_words);
        let [keys, sorted] = [Value::input(&all_keys), Value::output(sorted)]
            .map(|keys| keys.of_keys().after(base * key_size));
        values.extend(key_arrays(buffers, keys, Some(sorted)));
        let of_values = (value_words > 0).then(|| {
            let sorted = scattered(if from_indices { &own } else { &all_values }, value_words);
            [Value::input(&all_values), Value::output(sorted)]
                .map(|values| values.after(base * value_words as u64 * 4))
        });
        values.extend(value_arrays(buffers, of_values));
        let workgroups = match self.max_workgroups as usize {
            0 => tiles.tile_count,
            max => tiles.tile_count.min(max),
        };
        let case = format!(
            "{}, {} keys after {base} + {before}, {digit:?}, {buffers:?}, stalled: every {stall_every}, {order:?}",
            self.kernel.name,
            digits.len()
        );
        self.rig.check(&case, values, workgroups)?;
        let got = state.read().map_err(|why| format!("{case}: descriptors{why}"))?;
        self.check_state(&case, buffers.parity, pass, &got, &inclusive_counts)?;
        let fallbacks = counts.read()?[2];
        if stall_every > 0 && (fallbacks == 0) != (tiles.tile_count == 1) {
            return Err(format!("{case}: {fallbacks} tiles were counted again").into());
        }
        Ok(())
    }

    /// Checks tickets and descriptors. Tiles publish the counts of a stalled tile, too, as far as they need them.
    fn check_state(
        &self,
        case: &str,
        parity: u32,
        pass: usize,
        got: &[u32],
        inclusive_counts: &[u32],
    ) -> Result<(), Failed> {
        let (tickets, descriptors) = got.split_at(TICKET_WORDS);
        let published: Vec<_> =
            inclusive_counts.iter().map(|count| (PREFIX | count) ^ flip(parity)).collect();
        let is_stalled = |tile: usize| self.stall_every > 0 && tile.is_multiple_of(self.stall_every);
        for (tile, (got, expected)) in descriptors.chunks(RADIX).zip(published.chunks(RADIX)).enumerate() {
            if !is_stalled(tile) && got != expected {
                return Err(format!("{case}: tile {tile} has published {got:x?}, not {expected:x?}").into());
            }
        }
        // At least one surplus workgroup has taken a ticket.
        let has_taken = tickets[pass] as usize > inclusive_counts.len() / RADIX;
        let mut expected = [POISON; TICKET_WORDS];
        expected[pass] = tickets[pass];
        if !has_taken || tickets != expected {
            return Err(format!("{case}: tickets are {tickets:x?}, not {expected:x?}").into());
        }
        Ok(())
    }
}

/// The destination of a copy equals its source.
pub fn copy(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let (workgroup_size, tile_items) = (64, 100);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[("TILE_ITEMS", tile_items)])?;
    for (index, count) in sizes(tile_items as usize).into_iter().enumerate() {
        let widths = [(1, 0), (1, 1), (2, 0), (2, 2)];
        for (key_words, value_words) in widths.into_iter().take(if first_bit(kernel) > 0 { 2 } else { 4 }) {
            let tiles = Tiles::new(count, tile_items as usize);
            let keys = as_keys(kernel, random(count, count * key_words));
            let words = [keys, random(7, count * value_words)];
            let [keys_alt, values_alt] = &words;
            let has_values = value_words > 0;
            let values = [
                ("keys", Value::output(keys_alt).of_keys()),
                ("keys_alt", Value::input(keys_alt).of_keys().at(Alignment::Quads)),
                ("values", Value::output(values_alt).only_if(has_values)),
                ("values_alt", Value::input(values_alt).at(Alignment::Quads).only_if(has_values)),
                ("dispatch_args", pass_args(nth_buffers(index, false), tiles)),
                ("key_words", Value::Number(key_words)),
                ("value_words", Value::Number(value_words)),
            ];
            let case =
                format!("{}, {count} keys of {key_words} words and {value_words} of values", kernel.name);
            rig.check(&case, values, tiles.tile_count)?;
        }
    }
    Ok(())
}
