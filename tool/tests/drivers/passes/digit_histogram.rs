//! Pass check of the digit histogram of onesweep.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::sort::DigitHistogramShape;
use subsweep_tool::reference::passes::digit_histogram::{Config, Counted, DigitHistogram, Output};
use subsweep_tool::reference::passes::sort::KeyOrder;

use super::onesweep::{RADIX, RADIX_BITS, keys, offset_words};
use super::rig::{
    Alignment, Memory, POISON, Rig, Selection, Tiles, Value, as_keys, compare, first_bit, sizes,
    small_workgroup,
};
use super::sort::{nth_order, order_constants, widths};

/// Workgroups in a row of a dispatch: few, so that dispatches have several rows.
const MAX_ROW: usize = 3;

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
    shape.loads_in_flight as usize * widths(kernel).0 >= 4 && first_bit(kernel) == 0
}

pub fn digit_histogram(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let (key_bits, has_bins) = (32 * widths(kernel).0 as u32, kernel.name.ends_with("_bins"));
    // All bits, a range that is not a multiple of the radix, and none; alternately with bins of 64-bit offsets.
    let first = first_bit(kernel);
    let all_bits = [first..key_bits, first.max(key_bits - 13)..key_bits - 2, first + 7..first + 7];
    let specializations = (0..6).map(|index| (all_bits[index % 3].clone(), index % 2 == 1));
    let specializations = specializations.filter(|(_, is_wide)| has_bins || !is_wide);
    for (index, (bits, is_wide)) in selection.first(2, specializations).into_iter().enumerate() {
        let order = nth_order(index + key_bits as usize / 32);
        let shape = HISTOGRAM_SHAPES[index % HISTOGRAM_SHAPES.len()];
        let pass_count = bits.len().div_ceil(RADIX_BITS as usize).max(1) as u32;
        let mut constants = order_constants(kernel, order);
        constants.extend([
            ("RADIX_BITS", RADIX_BITS),
            ("ITEMS_PER_INVOCATION", shape.items_per_invocation),
            ("PASS_COUNT", pass_count),
            ("MAX_WORKGROUPS", shape.max_workgroups.unwrap_or(0)),
            ("LOADS_IN_FLIGHT", shape.loads_in_flight),
        ]);
        if first == 0 {
            constants.push(("QUAD_ACCESS", has_quads(kernel, shape).into()));
        }
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
            begin_bit: self.bits.start - first_bit(self.kernel),
            end_bit: self.bits.end - first_bit(self.kernel),
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

    /// The words of bins: before, where all count `of_each_digit`, and after. A pass has its bins in its first portion.
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
        let keys = as_keys(kernel, keys(trial, count, key_words));
        // With two more keys of a digit, the low word of its bin overflows.
        let of_each_digit = if is_wide { (1 << 32) - 2 } else { 0 };
        let counted = Counted { keys: (self.key_count(tiles) - count) as u64, of_each_digit };
        let others = tiles.tile_count - count.div_ceil(self.tile_items());
        let config = self.config(result, trial, tiles, others);
        let first = first_bit(kernel);
        let orders: Vec<_> = order.all(&keys, key_words).into_iter().map(|order| order >> first).collect();
        let DigitHistogram { set, clear, args, bins } =
            config.histogram(counted, &orders, 32 * key_words as u32 - first, RADIX);
        // Bits that no key has are clear.
        let clear = clear | u64::from(!(u32::MAX >> first));
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
        let args_memory = Memory::poisoned(gpu, args.len(), Alignment::Quads)?;
        let before = [0, 0, 0, 0, others as u32];
        // In half of the trials the count is GPU-resident, and the host's numbers are wrong.
        let host = (trial % 2 == 1).then_some(Tiles { tile_count: 77, last_extent: 1 });
        let pass_items = config.pass_tile_items / small_workgroup(gpu) as usize;
        let bins = Value::changed(bins_before, expected_bins).at(Alignment::Quads);
        let values = [
            ("keys", Value::input(&keys).of_keys().at(alignment)),
            ("state", Value::changed(&before, state).at(Alignment::Quads)),
            ("dispatch_args", Value::Pointer(&args_memory)),
            ("bins", bins.only_if(has_bins)),
            ("pass_items_per_invocation", Value::Number(pass_items)),
            ("pass_max_workgroups", Value::Number(config.pass_max_workgroups)),
            ("portion_tiles", Value::Number(config.portion_tiles)),
            ("portion_count", Value::Number(config.portion_count)),
            ("begin_bit", Value::Number(self.bits.start as usize)),
            ("end_bit", Value::Number(self.bits.end as usize)),
            ("max_row", Value::Number(MAX_ROW)),
            ("result", Value::Number(result.bits())),
        ];
        let case = format!(
            "{}, {count} keys after {counted:?}, {order:?}, {config:?}, {:?}",
            kernel.name, self.shape
        );
        let values = values.into_iter().chain(tiles.push_instead_of(host));
        // The rig dispatches one surplus workgroup. Where other tiles exist, it is one of the tiles.
        self.rig.check(&case, values, tiles.tile_count - others - usize::from(others > 0))?;
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
