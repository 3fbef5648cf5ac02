//! Pass checks of the digit histogram, onesweep, and the copy of a sort.

use libtest_mimic::Failed;
use subsweep::device::AddressRange;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::sort::DigitHistogramShape;
use subsweep_tool::reference::oracle;
use subsweep_tool::reference::passes::digit_histogram::{Config, Counted, DigitHistogram, Output};
use subsweep_tool::reference::passes::sort::{self as model, Digit, KeyOrder, Swept};

use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, compare, nth_look_back, random, sizes,
    small_workgroup,
};
use super::sort::{
    key_pointers, nth_buffers, nth_order, order_constants, pass_args, scattered, subgroup_count,
    value_pointers, widths, without_keys,
};

const RADIX_BITS: u32 = 8;
const RADIX: usize = 1 << RADIX_BITS;
/// Workgroups in a row of a dispatch: few, so that dispatches have several rows.
const MAX_ROW: usize = 3;

/// `count` keys with constant bits, so that passes are skipped: all bits but the lowest byte, all but the highest,
/// none, or all.
fn keys(index: usize, count: usize, key_words: usize) -> Vec<u32> {
    let (kept, common) = [(0xff, 0x0600_0300), (0xff00_0000, 5), (u32::MAX, 0), (0, u32::MAX)][index % 4];
    random(count, count * key_words).into_iter().map(|word| word & kept | common).collect()
}

/// Offsets as bins store them: the low words, followed by the high words of 64-bit offsets.
fn offset_words(offsets: &[u64], is_wide: bool) -> Vec<u32> {
    let low = offsets.iter().map(|&offset| offset as u32);
    let high = offsets.iter().filter(|_| is_wide).map(|&offset| (offset >> 32) as u32);
    low.chain(high).collect()
}

/// The histogram kernel, specialized.
struct Histogram<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    rig: Rig<'g>,
    order: KeyOrder,
    bits: std::ops::Range<u32>,
    pass_count: u32,
    /// Whether bins hold 64-bit offsets.
    is_wide: bool,
    shape: DigitHistogramShape,
}

/// Shapes: key by key in a workgroup per tile, and loads in flight in workgroups that stride. Rounds of key by key have
/// four keys, whatever the items. The first, in workgroups of a tile each, has copies, which no workgroup may leave uncleared.
const HISTOGRAM_SHAPES: [DigitHistogramShape; 4] = {
    const fn shape(items: u32, workgroups: Option<u32>, loads: u32, copies: u32) -> DigitHistogramShape {
        DigitHistogramShape {
            items_per_invocation: items,
            max_workgroups: workgroups,
            loads_in_flight: loads,
            copies,
        }
    }
    [shape(3, None, 1, 2), shape(4, Some(2), 4, 1), shape(2, Some(3), 2, 3), shape(8, Some(1), 8, 1)]
};

/// Whether full tiles are loaded by quads.
fn has_quads(kernel: &Kernel, shape: DigitHistogramShape) -> bool {
    shape.loads_in_flight as usize * widths(kernel).0 >= 4
}

pub fn digit_histogram(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let (key_bits, has_bins) = (32 * widths(kernel).0 as u32, kernel.name.ends_with("_bins"));
    // All bits, a range that is no multiple of the radix, and none; alternately with bins of 64-bit offsets.
    let all_bits = [0..key_bits, key_bits - 13..key_bits - 2, 7..7];
    let specializations = (0..6).map(|index| (all_bits[index % 3].clone(), index % 2 == 1));
    let specializations = specializations.filter(|(_, is_wide)| has_bins || !is_wide);
    for (index, (bits, is_wide)) in selection.first(2, specializations).into_iter().enumerate() {
        let order = nth_order(index + key_bits as usize / 32);
        let shape = HISTOGRAM_SHAPES[index % HISTOGRAM_SHAPES.len()];
        let pass_count = bits.len().div_ceil(RADIX_BITS as usize).max(1) as u32;
        let mut constants = order_constants(order);
        constants.extend([
            ("RADIX_BITS", RADIX_BITS),
            ("ITEMS_PER_INVOCATION", shape.items_per_invocation),
            ("PASS_COUNT", pass_count),
            ("MAX_WORKGROUPS", shape.max_workgroups.unwrap_or(0)),
            ("LOADS_IN_FLIGHT", shape.loads_in_flight),
            ("QUAD_ACCESS", has_quads(kernel, shape).into()),
        ]);
        if has_bins {
            constants.push(("COPIES", shape.copies));
            constants.push(("WIDE_OFFSETS", is_wide.into()));
        }
        let rig = Rig::new(gpu, kernel, small_workgroup(gpu), &constants)?;
        let histogram = Histogram { gpu, kernel, rig, order, bits, pass_count, is_wide, shape };
        for (output, has_indices, has_no_last_keys) in [
            (Output::InPlace, false, false),
            (Output::EveryPass, false, true),
            (Output::Indices, true, true),
            (Output::InPlace, true, true),
            (Output::EveryPass, true, false),
        ] {
            let result = ResultOf { output, has_indices, has_no_last_keys, is_even: false };
            histogram.check_sizes(result)?;
            if output == Output::InPlace && pass_count.is_multiple_of(2) {
                histogram.check_sizes(ResultOf { is_even: true, ..result })?;
            }
        }
    }
    Ok(())
}

/// Push constant `result`.
#[derive(Clone, Copy)]
struct ResultOf {
    output: Output,
    has_indices: bool,
    has_no_last_keys: bool,
    is_even: bool,
}

impl ResultOf {
    fn bits(self) -> usize {
        let flags = [self.has_indices, self.has_no_last_keys, self.is_even];
        let flags = flags.into_iter().zip(2..).map(|(is_set, bit)| usize::from(is_set) << bit);
        flags.fold(self.output as usize, |bits, flag| bits | flag)
    }
}

impl Histogram<'_> {
    fn check_sizes(&self, result: ResultOf) -> Result<(), Failed> {
        let (workgroup_size, tile_items) = (small_workgroup(self.gpu) as usize, self.tile_items());
        for (trial, count) in sizes(tile_items).into_iter().enumerate() {
            self.check(result, trial, count, Tiles::new(count, tile_items))?;
        }
        // With a maximum, more tiles for each workgroup than strides have, so that there are more workgroups. Without, so many
        // workgroups that some begin with the counters of earlier ones in shared memory.
        let count = 70 * tile_items + 5;
        self.check(result, sizes(tile_items).len() + 1, count, Tiles::new(count, tile_items))?;
        if self.shape.max_workgroups.is_some() {
            return Ok(());
        }
        // Tiles of more than 2^32 keys, of which memory holds the last, full tiles and a partial one.
        let large = Tiles { tile_count: (1 << 32) / tile_items + 5, last_extent: workgroup_size + 1 };
        self.check(result, sizes(tile_items).len(), 3 * tile_items, large)
    }

    /// The passes of `tiles`, of which memory holds all but `others`, in turn with more and fewer dispatches.
    fn config(&self, result: ResultOf, trial: usize, tiles: Tiles, others: usize) -> Config {
        let ResultOf { output, has_indices, has_no_last_keys, is_even } = result;
        let pass_tile_items = (trial / 2 % 2 + 1) * small_workgroup(self.gpu) as usize;
        let all_tiles = self.key_count(tiles).div_ceil(pass_tile_items);
        let portion_tiles = match (others, trial % 2) {
            (0, 0) => 2,
            (0, _) => 1000,
            _ => all_tiles / 3,
        };
        Config {
            pass_tile_items,
            // With workgroups that stride in half of the trials.
            pass_max_workgroups: trial % 2 * 3,
            portion_tiles,
            portion_count: all_tiles.div_ceil(portion_tiles),
            begin_bit: self.bits.start,
            end_bit: self.bits.end,
            pass_count: self.pass_count,
            output,
            has_indices,
            has_no_last_keys,
            is_even,
        }
    }

    fn tile_items(&self) -> usize {
        (small_workgroup(self.gpu) * self.shape.items_per_invocation) as usize
    }

    fn key_count(&self, tiles: Tiles) -> usize {
        (tiles.tile_count - 1) * self.tile_items() + tiles.last_extent
    }

    /// The words of bins: before, where all count `of_each_digit`, and after. Passes store theirs in that of their first portion.
    fn bins(&self, portion_count: usize, of_each_digit: u64, bins: &[Vec<u64>]) -> [Vec<u32>; 2] {
        let portion_words = if self.is_wide { 2 * RADIX } else { RADIX };
        let mut before = vec![0; self.pass_count as usize * portion_count * portion_words];
        let mut after = before.clone();
        for (pass, bins) in bins.iter().enumerate().filter(|_| self.kernel.name.ends_with("_bins")) {
            let first = pass * portion_count * portion_words;
            let range = first..first + portion_words;
            before[range.clone()].copy_from_slice(&offset_words(&[of_each_digit; RADIX], self.is_wide));
            after[range].copy_from_slice(&offset_words(bins, self.is_wide));
        }
        [before, after]
    }

    /// Checks `count` keys, the last keys of `tiles`.
    fn check(&self, result: ResultOf, trial: usize, count: usize, tiles: Tiles) -> Result<(), Failed> {
        let Self { gpu, kernel, order, is_wide, .. } = *self;
        let (key_words, has_bins) = (widths(kernel).0, kernel.name.ends_with("_bins"));
        let keys = keys(trial, count, key_words);
        // With two more keys of a digit, the low word of its bin overflows.
        let of_each_digit = if is_wide { (1 << 32) - 2 } else { 0 };
        let counted = Counted { keys: (self.key_count(tiles) - count) as u64, of_each_digit };
        let others = tiles.tile_count - count.div_ceil(self.tile_items());
        let config = self.config(result, trial, tiles, others);
        let orders = order.all(&keys, key_words);
        let DigitHistogram { set, clear, args, bins } =
            config.histogram(counted, &orders, 32 * key_words as u32, RADIX);
        let words = args.iter().flat_map(|args| args.words(MAX_ROW, RADIX).into_iter().chain([POISON]));
        let mut args: Vec<u32> = words.collect();
        let [bins_before, expected_bins] = self.bins(config.portion_count, of_each_digit, &bins);
        let bits = [set, clear].map(|bits| [bits as u32, (bits >> 32) as u32]);
        let tile_count = tiles.tile_count as u32;
        let finished = match self.shape.max_workgroups {
            Some(max) => tile_count.min(max.max(tile_count.div_ceil(32))),
            None => tile_count,
        };
        let state = [bits.as_flattened(), &[finished]].concat();

        let alignment = if has_quads(kernel, self.shape) { Alignment::Quads } else { Alignment::Words };
        let keys_memory = Memory::of(gpu, &keys, alignment)?;
        let state_memory = Memory::of(gpu, &[0, 0, 0, 0, others as u32], Alignment::Quads)?;
        let args_memory = Memory::poisoned(gpu, args.len(), Alignment::Quads)?;
        let bins_memory = Memory::of(gpu, &bins_before, Alignment::Quads)?;
        // In half of the trials the count is GPU-resident, and the host's numbers are wrong.
        let is_on_device = trial % 2 == 1;
        let on_device = Memory::of(gpu, &tiles.words(), Alignment::Words)?;
        let of_host = if is_on_device { Tiles { tile_count: 77, last_extent: 1 } } else { tiles };
        self.rig.run(
            &[
                ("keys", Value::Pointer(&keys_memory)),
                ("state", Value::Pointer(&state_memory)),
                ("dispatch_args", Value::Pointer(&args_memory)),
                ("bins", Value::pointer_if(has_bins, &bins_memory)),
                ("indirect_tiles", Value::pointer_if(is_on_device, &on_device)),
                ("tile_count", Value::Number(of_host.tile_count)),
                ("last_extent", Value::Number(of_host.last_extent)),
                (
                    "pass_items_per_invocation",
                    Value::Number(config.pass_tile_items / small_workgroup(gpu) as usize),
                ),
                ("pass_max_workgroups", Value::Number(config.pass_max_workgroups)),
                ("portion_tiles", Value::Number(config.portion_tiles)),
                ("portion_count", Value::Number(config.portion_count)),
                ("begin_bit", Value::Number(self.bits.start as usize)),
                ("end_bit", Value::Number(self.bits.end as usize)),
                ("max_row", Value::Number(MAX_ROW)),
                ("result", Value::Number(result.bits())),
            ],
            // The rig dispatches one surplus workgroup. Where other tiles exist, it is one of the tiles.
            tiles.tile_count - others - usize::from(others > 0),
        )?;
        let case = format!(
            "{}, {count} keys after {counted:?}, {order:?}, {config:?}, {:?}",
            kernel.name, self.shape
        );
        compare(&case, "keys", &keys_memory, &keys)?;
        compare(&case, "state", &state_memory, &state)?;
        compare(&case, "bins", &bins_memory, &expected_bins)?;
        // The extent of a skipped dispatch is undefined.
        let got = args_memory.read().map_err(|why| format!("{case}: dispatch_args{why}"))?;
        for (words, got) in args.chunks_mut(8).zip(got.chunks(8)) {
            if words[3] == 0 {
                words[4] = got[4];
            }
        }
        compare(&case, "dispatch_args", &args_memory, &args)
    }
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
        // Stalled tiles and long look-backs are those of the counted variant: it has every window.
        let look_back = nth_look_back(if is_counted { index + 1 } else { 0 }, 100);
        let turn = index + key_words + value_words;
        // Every second specialization has workgroups that stride.
        let max_workgroups = if turn.is_multiple_of(2) { 2 } else { 0 };
        let order = nth_order(turn);
        let has_no_last_keys = value_words > 0 && !turn.is_multiple_of(2);
        let mut constants = order_constants(order);
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
        let counts = [1, tile_items, tile_items + 1, 7 * tile_items - 3, 60 * tile_items + 5];
        for (trial, count) in counts.into_iter().enumerate() {
            for (shift, mask) in [(0, 0xff), (32 * key_words as u32 - 8, 0xff), (9, 1)] {
                let keys = keys(trial, count, key_words);
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
        let all_keys = [random(1, before * key_words), keys.to_vec()].concat();
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

        let keys_memory = Memory::of(gpu, &all_keys, Alignment::Words)?;
        let sorted = Memory::poisoned(gpu, all_keys.len(), Alignment::Words)?;
        let values = Memory::of(gpu, &all_values, Alignment::Words)?;
        let sorted_values = Memory::poisoned(gpu, all_values.len(), Alignment::Words)?;
        let bins = offset_words(&bins, is_wide);
        let bins_memory = Memory::of(gpu, &bins, Alignment::Quads)?;
        let next_memory = Memory::poisoned(gpu, bins.len(), Alignment::Quads)?;
        let pass = trial % TICKET_WORDS;
        let mut tickets = [POISON; TICKET_WORDS];
        tickets[pass] = 0;
        let is_first = buffers.parity == 0 && trial.is_multiple_of(2);
        let descriptors = descriptors_before(buffers.parity, is_first, tiles.tile_count * RADIX);
        let state = Memory::of(gpu, &[&tickets[..], &descriptors].concat(), Alignment::Quads)?;
        let args = pass_args(gpu, buffers, tiles)?;
        let counts = Memory::of(gpu, &[0; 4], Alignment::Quads)?;
        let has_next_bins = trial % 4 != 3;
        let mut push = vec![
            ("bins", Value::Pointer(&bins_memory)),
            ("next_bins", Value::pointer_if(has_next_bins, &next_memory)),
            ("state", Value::Pointer(&state)),
            ("dispatch_args", Value::Pointer(&args)),
            ("first_tile", Value::Number(self.base_tile + tiles_before)),
            ("pass", Value::Number(pass)),
            ("shift", Value::Number(digit.shift as usize)),
            ("digit_mask", Value::Number(digit.mask as usize)),
            ("counts", Value::Pointer(&counts)),
        ];
        // Arrays begin `base` elements before their memory.
        let shifted = |(name, value), words: usize| match value {
            Value::Pointer(memory) => (name, Value::Range(earlier(memory, base * words as u64 * 4))),
            value => (name, value),
        };
        push.extend(key_pointers(buffers, &keys_memory, Some(&sorted)).map(|key| shifted(key, key_words)));
        let values_before = (value_words > 0).then_some(&values);
        let values_pointers = value_pointers(buffers, values_before, &sorted_values);
        push.extend(values_pointers.map(|value| shifted(value, value_words)));
        let workgroups = match self.max_workgroups as usize {
            0 => tiles.tile_count,
            max => tiles.tile_count.min(max),
        };
        self.rig.run(&push, workgroups)?;

        let case = format!(
            "{}, {} keys after {base} + {before}, {digit:?}, {buffers:?}, stalled: every {stall_every}, {order:?}",
            self.kernel.name,
            digits.len()
        );
        compare(&case, "keys", &keys_memory, &all_keys)?;
        let expected = if is_last { vec![POISON; all_keys.len()] } else { scattered(&all_keys, key_words) };
        compare(&case, "sorted", &sorted, &expected)?;
        if value_words > 0 {
            compare(&case, "values", &values, &all_values)?;
            let expected = scattered(if from_indices { &own } else { &all_values }, value_words);
            compare(&case, "sorted values", &sorted_values, &expected)?;
        }
        compare(&case, "bins", &bins_memory, &bins)?;
        let next_bins =
            if has_next_bins { offset_words(&next_bins, is_wide) } else { vec![POISON; bins.len()] };
        compare(&case, "next bins", &next_memory, &next_bins)?;
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

/// The range of an array that ends with the memory and begins `bytes` earlier.
fn earlier(memory: &Memory<'_>, bytes: u64) -> AddressRange {
    let AddressRange { address, size, .. } = memory.range();
    AddressRange::new(address.wrapping_sub(bytes), size)
}

/// The destination of a copy equals its source.
pub fn copy(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let (workgroup_size, tile_items) = (64, 100);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[("TILE_ITEMS", tile_items)])?;
    for (index, count) in sizes(tile_items as usize).into_iter().enumerate() {
        for (key_words, value_words) in [(1, 0), (2, 0), (1, 1), (2, 2)] {
            let tiles = Tiles::new(count, tile_items as usize);
            let words = [random(count, count * key_words), random(7, count * value_words)];
            let [keys_alt, values_alt] = &words;
            let before = [
                Memory::of(gpu, keys_alt, Alignment::Quads)?,
                Memory::of(gpu, values_alt, Alignment::Quads)?,
            ];
            let after = [
                Memory::poisoned(gpu, keys_alt.len(), Alignment::Words)?,
                Memory::poisoned(gpu, values_alt.len(), Alignment::Words)?,
            ];
            let args = pass_args(gpu, nth_buffers(index, false), tiles)?;
            let has_values = value_words > 0;
            rig.run(
                &[
                    ("keys", Value::Pointer(&after[0])),
                    ("keys_alt", Value::Pointer(&before[0])),
                    ("values", Value::pointer_if(has_values, &after[1])),
                    ("values_alt", Value::pointer_if(has_values, &before[1])),
                    ("dispatch_args", Value::Pointer(&args)),
                    ("key_words", Value::Number(key_words)),
                    ("value_words", Value::Number(value_words)),
                ],
                tiles.tile_count,
            )?;
            let case =
                format!("{}, {count} keys of {key_words} words and {value_words} of values", kernel.name);
            compare(&case, "keys_alt", &before[0], keys_alt)?;
            compare(&case, "keys", &after[0], keys_alt)?;
            if has_values {
                compare(&case, "values_alt", &before[1], values_alt)?;
                compare(&case, "values", &after[1], values_alt)?;
            }
        }
    }
    Ok(())
}
