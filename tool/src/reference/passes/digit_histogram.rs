//! Model of `glsl/sort/digit_histogram.comp`: the histogram of all digits, and the dispatch arguments of the
//! passes.

use super::grid;
use super::sort::Digit;

/// A ping-pong buffer of keys or values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// The caller's buffer.
    Primary = 0,
    /// The alternate buffer, in scratch.
    Alternate = 1,
    /// For keys: the second alternate, in scratch. For values before a pass: no buffer, the values are the
    /// keys' indices.
    Other = 2,
    /// For keys after the last pass that runs: no buffer, no keys are written.
    Nowhere = 3,
}

/// The ping-pong buffers of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PingPong {
    /// The buffers of keys before and after the pass.
    pub keys: (Buffer, Buffer),
    /// The buffers of values before and after the pass.
    pub values: (Buffer, Buffer),
    /// 1 if an odd number of passes have run before, else 0.
    pub parity: u32,
}

/// The arguments of one dispatch of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassArgs {
    /// Tiles; 0 if the dispatch is skipped.
    pub tile_count: usize,
    /// Workgroups; of tiles that are shared out by tickets there are fewer.
    pub workgroup_count: usize,
    /// Keys in the last tile.
    pub last_extent: usize,
    /// The ping-pong buffers.
    pub buffers: PingPong,
}

impl PassArgs {
    /// The words of `glsl/sort/dispatch_args.glsl` without the last, which no kernel writes; with at most
    /// `max_row` workgroups in a row.
    pub fn words(&self, max_row: usize, radix: usize) -> [u32; 7] {
        let tile_count = self.tile_count as u32;
        let [x, y, z] = grid(self.workgroup_count as u32, max_row as u32);
        let PingPong { keys, values, parity } = self.buffers;
        let names = [keys.0, keys.1, values.0, values.1];
        let buffers = names.iter().rev().fold(0, |word, &name| word << 2 | name as u32);
        let counts = (self.tile_count * radix) as u32;
        [x, y, z, tile_count, self.last_extent as u32, buffers | parity << 8, counts]
    }
}

/// The output of a sort: push constant `result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// In the primary buffers; passes whose digit is equal in all keys are skipped.
    InPlace = 0,
    /// Every pass runs, from the primary to the alternate buffers, which the host chooses for each.
    EveryPass = 1,
    /// The keys are unchanged, and the result is the permutation.
    Indices = 2,
}

/// The push constants, and `PASS_COUNT`.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// Keys in a tile of a pass.
    pub pass_tile_items: usize,
    /// The maximum of workgroups in a dispatch of a pass, of at most 32 tiles each; 0 for one per tile.
    pub pass_max_workgroups: usize,
    /// The maximum of tiles in a portion.
    pub portion_tiles: usize,
    /// Portions of a pass, a dispatch each.
    pub portion_count: usize,
    /// The first bit to sort by.
    pub begin_bit: u32,
    /// The bit after the last.
    pub end_bit: u32,
    /// Passes.
    pub pass_count: u32,
    /// The output.
    pub output: Output,
    /// Whether values begin as the indices of the keys, as they do for [`Output::Indices`].
    pub has_indices: bool,
    /// Whether the last pass that runs writes no keys.
    pub has_no_last_keys: bool,
    /// For [`Output::InPlace`] and an even number of passes: whether an even number runs.
    pub is_even: bool,
}

/// Counts of other workgroups, added before the keys of the call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counted {
    /// Keys, which count in the dispatch arguments alone.
    pub keys: u64,
    /// Keys of each digit, which count in the bins of each pass.
    pub of_each_digit: u64,
}

/// The writes of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct DigitHistogram {
    /// Bits of the order that are set in some key.
    pub set: u64,
    /// Bits of the order that are clear in some key.
    pub clear: u64,
    /// The dispatches of every pass, portion by portion, and then the dispatch of the copy.
    pub args: Vec<PassArgs>,
    /// The offset of each digit's first key, for each pass.
    pub bins: Vec<Vec<u64>>,
}

impl Config {
    /// The digit of each pass: the bits are divided among the passes as evenly as possible.
    pub fn digits(&self) -> Vec<Digit> {
        let bits = self.end_bit - self.begin_bit;
        let (least, wider) = (bits / self.pass_count, bits % self.pass_count);
        let digit = |pass| {
            let width = least + u32::from(pass < wider);
            let shift = self.begin_bit + pass * least + wider.min(pass);
            Digit { shift: if width == 0 { 0 } else { shift }, mask: (1 << width) - 1 }
        };
        (0..self.pass_count).map(digit).collect()
    }

    /// `digit_histogram.comp` for the orders of all keys, at least one, after the counts of others.
    pub fn histogram(&self, counted: Counted, orders: &[u64], key_bits: u32, radix: usize) -> DigitHistogram {
        let all = u64::MAX >> (64 - key_bits);
        let set = orders.iter().fold(0, |set, order| set | order);
        let clear = orders.iter().fold(0, |clear, order| clear | !order & all);
        let digits = self.digits();
        let bins = |digit: &Digit| {
            let mut bins = vec![counted.of_each_digit; radix];
            orders.iter().for_each(|&order| bins[digit.extract(order)] += 1);
            let mut first = 0;
            bins.iter_mut().for_each(|bin| first += std::mem::replace(bin, first));
            bins
        };
        let all_run = self.output == Output::EveryPass;
        let mut runs: Vec<bool> =
            digits.iter().map(|digit| all_run || digit.extract(set & clear) != 0).collect();
        // A pass must run to write indices.
        if self.has_indices && !runs.contains(&true) {
            runs[0] = true;
        }
        let is_odd = runs.iter().filter(|&&is_run| is_run).count() % 2 == 1;
        if let Some(skipped) = runs.iter_mut().find(|is_run| !**is_run && is_odd && self.is_even) {
            *skipped = true;
        }
        let args = self.args(&runs, counted.keys as usize + orders.len());
        DigitHistogram { set, clear, args, bins: digits.iter().map(bins).collect() }
    }

    /// The dispatches of the passes over `count` keys; `runs` says which passes run.
    fn args(&self, runs: &[bool], count: usize) -> Vec<PassArgs> {
        let tile_count = count.div_ceil(self.pass_tile_items);
        let last_extent = count - (tile_count - 1) * self.pass_tile_items;
        let mut args = Vec::new();
        let (mut before, mut left) = (0, runs.iter().filter(|&&is_run| is_run).count());
        for &is_run in runs {
            let buffers = self.buffers(before, left);
            for portion in 0..self.portion_count {
                let tiles = if is_run { tile_count } else { 0 };
                let behind = tiles.saturating_sub(portion * self.portion_tiles);
                let is_full = behind > self.portion_tiles;
                let tile_count = behind.min(self.portion_tiles);
                let max_workgroups = match self.pass_max_workgroups {
                    0 => tile_count,
                    max => max.max(tile_count.div_ceil(32)),
                };
                args.push(PassArgs {
                    tile_count,
                    workgroup_count: tile_count.min(max_workgroups),
                    last_extent: if is_full { self.pass_tile_items } else { last_extent },
                    buffers,
                });
            }
            before += usize::from(is_run);
            left -= usize::from(is_run);
        }
        let is_copied = match self.output {
            Output::InPlace => before % 2 == 1,
            Output::EveryPass => true,
            Output::Indices => false,
        };
        let back = (Buffer::Alternate, Buffer::Primary);
        let buffers = PingPong { keys: back, values: back, parity: 0 };
        let tile_count = if is_copied { tile_count } else { 0 };
        args.push(PassArgs { tile_count, workgroup_count: tile_count, last_extent, buffers });
        args
    }

    /// The buffers of a pass after `before` passes that run, with `left` to run, itself included.
    fn buffers(&self, before: usize, left: usize) -> PingPong {
        let mut buffers = self.buffers_with_keys(before, left);
        if self.has_no_last_keys && left == 1 {
            buffers.keys.1 = Buffer::Nowhere;
        }
        buffers
    }

    fn buffers_with_keys(&self, before: usize, left: usize) -> PingPong {
        use Buffer::{Alternate, Other, Primary};
        let (is_even, parity) = (before.is_multiple_of(2), before as u32 % 2);
        let first = (self.has_indices && before == 0).then_some(Other);
        let (near, far) = if is_even { (Primary, Alternate) } else { (Alternate, Primary) };
        match self.output {
            Output::InPlace => {
                return PingPong { keys: (near, far), values: (first.unwrap_or(near), far), parity };
            }
            Output::EveryPass => {
                let values = (first.unwrap_or(Primary), Alternate);
                return PingPong { keys: (Primary, Alternate), values, parity };
            }
            Output::Indices => {}
        }
        let keys = match (before, is_even) {
            (0, _) => (Primary, Alternate),
            (_, true) => (Other, Alternate),
            (_, false) => (Alternate, Other),
        };
        // The last pass writes the primary buffer of values.
        let (to, from) = if left % 2 == 1 { (Primary, Alternate) } else { (Alternate, Primary) };
        PingPong { keys, values: (first.unwrap_or(from), to), parity }
    }
}
