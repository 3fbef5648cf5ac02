//! The twins of `glsl/sort/`.
//!
//! A pass knows nothing of a key but its digit. So its twins take digits, one for each key in the order in which they
//! lie in memory, and tell the place to which each key goes.

mod onesweep;
pub mod segments;
mod survey;

pub use onesweep::{Swept, onesweep};
pub use survey::{Aim, Array, Before, Route, Scheduled, Survey, Surveyed};

use super::Tiles;
use super::lanes::{self, Workgroup};

/// What a pass sorts by: the push constants `shift` and `digit_mask`, and `digit_of` of `glsl/sort/key.glsl`.
#[derive(Debug, Clone, Copy)]
pub struct Digit {
    /// Its lowest bit, below those of a key: beyond that GLSL does not say what a shift gives.
    pub shift: u32,
    /// As many ones as it has bits: at most those of the radix, and none in a pass that only moves keys.
    pub mask: u32,
}

/// How the words of a key are read: `KEY_NUMBERS` of `glsl/sort/key.glsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// u32 and u64.
    Unsigned,
    /// i32 and i64.
    Signed,
    /// f32 and f64.
    Float,
}

/// How keys are ordered: the specialization constants of `glsl/sort/key.glsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOrder {
    /// How the words of a key are read.
    pub numbers: Numbers,
    /// From the greatest to the least.
    pub is_descending: bool,
}

impl KeyOrder {
    /// `ordered`: the unsigned number that is ordered as the key is, whose words are given, the lowest first.
    pub fn ordered(&self, key: &[u32]) -> u64 {
        let bits = 32 * key.len();
        let value = key.iter().rev().fold(0u64, |value, &word| value << 32 | u64::from(word));
        let (all, sign) = (u64::MAX >> (64 - bits), 1 << (bits - 1));
        let ascending = match self.numbers {
            Numbers::Unsigned => value,
            Numbers::Float if value & sign != 0 => value ^ all,
            Numbers::Signed | Numbers::Float => value ^ sign,
        };
        if self.is_descending { ascending ^ all } else { ascending }
    }

    /// `digit_of`, of every key of `keys`, `key_words` words each.
    pub fn digits(&self, keys: &[u32], key_words: usize, digit: Digit) -> Vec<usize> {
        let of = |key| (self.ordered(key) >> digit.shift) as usize & digit.mask as usize;
        keys.chunks_exact(key_words).map(of).collect()
    }
}

/// Where the count of a digit in a tile lies: `count_index` of `glsl/sort/pass.glsl`.
fn count_index(digit: usize, tile: usize, tiles: Tiles) -> usize {
    digit * tiles.tile_count + tile
}

/// The specialization constants of `glsl/sort/count.comp` and `scatter.comp`.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Constant 0, and the device's lanes.
    pub workgroup: Workgroup,
    /// Bits of a digit, at most 4.
    pub radix_bits: u32,
    /// Keys that an invocation takes, a multiple of 4.
    pub items_per_invocation: usize,
}

impl Shape {
    /// Keys in a tile: `TILE_ITEMS`.
    pub fn tile_items(&self) -> usize {
        self.workgroup.size * self.items_per_invocation
    }

    /// Digits.
    pub fn radix(&self) -> usize {
        1 << self.radix_bits
    }
}

/// One invocation's own digit counts, a byte for each of 16 digits: `glsl/sort/digit_bytes.glsl`.
///
/// ```text
/// word 0 | digit 3 | digit 2 | digit 1 | digit 0 |     word 1 | digit 7 | …
///    bits 31     24        16         8         0
/// ```
#[derive(Clone, Copy, Default)]
struct DigitBytes {
    words: [u32; 4],
}

impl DigitBytes {
    fn count(&mut self, digit: usize) {
        assert!(self.get(digit) < 0xff, "a byte counts at most 255 keys");
        self.words[digit >> 2] += 1 << (8 * (digit & 3));
    }

    fn get(&self, digit: usize) -> u32 {
        self.words[digit >> 2] >> (8 * (digit & 3)) & 0xff
    }
}

/// `glsl/sort/count.comp`: counts the digits of each tile.
pub fn count(shape: &Shape, digits: &[usize], counts: &mut [u32], tiles: Tiles) {
    let Shape { workgroup, .. } = *shape;
    for tile in 0..tiles.tile_count {
        let digits = &digits[tiles.range(tile, shape.tile_items())];

        // Neighbours take neighbouring quads.
        let count_own = |invocation| {
            let mut own = DigitBytes::default();
            for quad in 0..shape.items_per_invocation / 4 {
                let first = (quad * workgroup.size + invocation) * 4;
                digits.iter().skip(first).take(4).for_each(|&digit| own.count(digit));
            }
            own
        };
        let counted: Vec<DigitBytes> = (0..workgroup.size).map(count_own).collect();

        // Bytes widen to 16 bits: of each word, the even bytes (0 and 2) and the odd ones (1 and 3).
        let mut shared = [[0u32; 2]; 4];
        for subgroup in workgroup.subgroups(&counted) {
            for (word, sums) in shared.iter_mut().enumerate() {
                for (parity, sum) in sums.iter_mut().enumerate() {
                    let widen = |own: &DigitBytes| own.words[word] >> (8 * parity) & 0x00ff_00ff;
                    *sum += lanes::reduce(&subgroup.iter().map(widen).collect::<Vec<u32>>());
                }
            }
        }
        for digit in 0..shape.radix() {
            let pair = shared[digit >> 2][digit & 1];
            let count = if digit & 2 == 0 { pair & 0xffff } else { pair >> 16 };
            counts[count_index(digit, tile, tiles)] = count;
        }
    }
}

/// What a ranking finds of a tile: `glsl/sort/rank_by_counters.glsl`.
struct Ranked {
    /// Where each key stands in the tile, in the order of the digit.
    ranks: Vec<u32>,
    /// Where the first key of each digit stands.
    first_of_digit: Vec<u32>,
}

/// `rank_items`, of a tile's digits.
fn rank_by_counters(shape: &Shape, digits: &[usize]) -> Ranked {
    let Shape { workgroup, items_per_invocation, .. } = *shape;
    // A counter word holds digit w in its low half and digit w + RADIX / 2 in its high half.
    let counter_words = shape.radix() / 2;

    // Every invocation ranks its own, consecutive keys among those of their digit …
    let mut ranks = vec![0; digits.len()];
    let mut counters = vec![0u32; counter_words * workgroup.size];
    for invocation in 0..workgroup.size {
        let mut own = DigitBytes::default();
        let first = invocation * items_per_invocation;
        for (&digit, rank) in digits.iter().zip(&mut ranks).skip(first).take(items_per_invocation) {
            *rank = own.get(digit);
            own.count(digit);
        }
        for word in 0..counter_words {
            counters[word * workgroup.size + invocation] =
                own.get(word) | own.get(word + counter_words) << 16;
        }
    }

    // … one scan over all counters in the order (word, invocation), each invocation a stretch of them …
    let stretch_totals: Vec<u32> =
        counters.chunks(counter_words).map(|stretch| stretch.iter().sum()).collect();
    let subgroup_totals: Vec<u32> = workgroup.subgroups(&stretch_totals).map(lanes::reduce).collect();
    let (subgroup_prefixes, tile_total) = workgroup.exclusive_scan(&subgroup_totals);
    let lane_prefixes = workgroup.subgroups(&stretch_totals).flat_map(lanes::exclusive_scan);
    for ((invocation, stretch), lane_prefix) in
        counters.chunks_mut(counter_words).enumerate().zip(lane_prefixes)
    {
        // All low digits come before all high ones.
        let mut prefix = subgroup_prefixes[invocation / workgroup.lanes] + lane_prefix + (tile_total << 16);
        for counter in stretch {
            (*counter, prefix) = (prefix, prefix + *counter);
        }
    }

    // … says where every invocation's first key of a digit goes in the tile.
    let counter_prefix = |digit: usize, invocation: usize| {
        let word = counters[digit % counter_words * workgroup.size + invocation];
        if digit < counter_words { word & 0xffff } else { word >> 16 }
    };
    for (index, (&digit, rank)) in digits.iter().zip(&mut ranks).enumerate() {
        *rank += counter_prefix(digit, index / items_per_invocation);
    }
    let first_of_digit = (0..shape.radix()).map(|digit| counter_prefix(digit, 0)).collect();
    Ranked { ranks, first_of_digit }
}

/// A tile whose lanes match digits: the specialization constants of `glsl/sort/count_bins.comp`, and of `scatter.comp`
/// ranked by `rank_by_match.glsl`.
#[derive(Debug, Clone, Copy)]
pub struct MatchShape {
    /// Constant 0, and the device's lanes.
    pub workgroup: Workgroup,
    /// Bits of a digit, at most 8.
    pub radix_bits: u32,
    /// Keys that an invocation takes.
    pub items_per_invocation: usize,
}

impl MatchShape {
    /// Keys in a tile: `TILE_ITEMS`.
    pub fn tile_items(&self) -> usize {
        self.workgroup.size * self.items_per_invocation
    }

    /// Digits.
    pub fn radix(&self) -> usize {
        1 << self.radix_bits
    }
}

/// `glsl/sort/count_bins.comp`: counts the digits of each tile.
pub fn count_bins(shape: &MatchShape, digits: &[usize], counts: &mut [u32], tiles: Tiles) {
    for tile in 0..tiles.tile_count {
        let mut bins = vec![0; shape.radix()];
        digits[tiles.range(tile, shape.tile_items())].iter().for_each(|&digit| bins[digit] += 1);
        bins.iter().enumerate().for_each(|(digit, &bin)| counts[count_index(digit, tile, tiles)] = bin);
    }
}

/// `rank_items` of `glsl/sort/rank_by_match.glsl`, of a tile's digits.
fn rank_by_match(shape: &MatchShape, digits: &[usize]) -> Ranked {
    let Workgroup { size, lanes } = shape.workgroup;
    // A subgroup owns consecutive keys, and goes through them as many at a time as it has lanes.
    let mut ranks = vec![0; digits.len()];
    let mut tables = vec![vec![0u32; shape.radix()]; size / lanes];
    let owned = lanes * shape.items_per_invocation;
    for ((digits, ranks), table) in digits.chunks(owned).zip(ranks.chunks_mut(owned)).zip(&mut tables) {
        for (digits, ranks) in digits.chunks(lanes).zip(ranks.chunks_mut(lanes)) {
            // The first lane of a digit counts for all that match it; each stands behind those of earlier lanes.
            let before: Vec<u32> = digits.iter().map(|&digit| table[digit]).collect();
            for (lane, rank) in ranks.iter_mut().enumerate() {
                let earlier = digits[..lane].iter().filter(|&&digit| digit == digits[lane]).count();
                *rank = before[lane] + earlier as u32;
            }
            digits.iter().for_each(|&digit| table[digit] += 1);
        }
    }
    // The tables become what comes before each subgroup, digit by digit, and the digits' totals where each begins.
    let totals: Vec<u32> = (0..shape.radix())
        .map(|digit| {
            let mut total = 0;
            for table in &mut tables {
                (table[digit], total) = (total, total + table[digit]);
            }
            total
        })
        .collect();
    let first_of_digit = lanes::exclusive_scan(&totals);
    for (index, (&digit, rank)) in digits.iter().zip(&mut ranks).enumerate() {
        *rank += first_of_digit[digit] + tables[index / owned][digit];
    }
    Ranked { ranks, first_of_digit }
}

/// `glsl/sort/scatter.comp`, ranked by matching lanes: where each key goes in the order of one digit.
pub fn match_scatter(shape: &MatchShape, digits: &[usize], offsets: &[u32], tiles: Tiles) -> Vec<u32> {
    let rank = |digits: &[usize]| rank_by_match(shape, digits);
    scatter_tiles(shape.tile_items(), rank, digits, offsets, tiles)
}

/// `glsl/sort/scatter.comp`: where each key goes in the order of one digit.
pub fn scatter(shape: &Shape, digits: &[usize], offsets: &[u32], tiles: Tiles) -> Vec<u32> {
    let rank = |digits: &[usize]| rank_by_counters(shape, digits);
    scatter_tiles(shape.tile_items(), rank, digits, offsets, tiles)
}

fn scatter_tiles(
    tile_items: usize,
    rank: impl Fn(&[usize]) -> Ranked,
    digits: &[usize],
    offsets: &[u32],
    tiles: Tiles,
) -> Vec<u32> {
    let mut places = vec![0; digits.len()];
    for tile in 0..tiles.tile_count {
        let range = tiles.range(tile, tile_items);
        let digits = &digits[range.clone()];
        let Ranked { ranks, first_of_digit } = rank(digits);
        // Keys of one digit leave as one run.
        let digit_offset = |digit| {
            let offset: u32 = offsets[count_index(digit, tile, tiles)];
            offset.wrapping_sub(first_of_digit[digit])
        };
        let digit_offsets: Vec<u32> = (0..first_of_digit.len()).map(digit_offset).collect();
        for ((place, &digit), rank) in places[range].iter_mut().zip(digits).zip(ranks) {
            *place = digit_offsets[digit].wrapping_add(rank);
        }
    }
    places
}

/// `glsl/sort/single_workgroup.comp`: where each key goes in the order of the bits `bits`, digit after digit. Keys are of
/// `key_words` words, and at most a tile.
pub fn single_workgroup(
    shape: &Shape,
    order: KeyOrder,
    keys: &[u32],
    key_words: usize,
    bits: std::ops::Range<u32>,
) -> Vec<u32> {
    let count = keys.len() / key_words;
    assert!(count <= shape.tile_items(), "one tile holds all keys");
    // Which key stands at each place.
    let mut origins: Vec<usize> = (0..count).collect();
    for shift in bits.clone().step_by(shape.radix_bits as usize) {
        let mask = (1 << shape.radix_bits.min(bits.end - shift)) - 1;
        let of_keys = order.digits(keys, key_words, Digit { shift, mask });
        let digits: Vec<usize> = origins.iter().map(|&origin| of_keys[origin]).collect();
        let Ranked { ranks, .. } = rank_by_counters(shape, &digits);
        let before = origins.clone();
        before.iter().zip(ranks).for_each(|(&origin, rank)| origins[rank as usize] = origin);
    }
    let mut places = vec![0; count];
    (0u32..).zip(origins).for_each(|(place, origin)| places[origin] = place);
    places
}

/// The seed's chunk: the specialization constants of `glsl/sort/chunk.glsl`.
#[derive(Debug, Clone, Copy)]
pub struct Chunk {
    /// Constant 0, and the device's lanes. The size is also that of a batch, and at most 32.
    pub workgroup: Workgroup,
    /// Bits of a digit, at most 4.
    pub radix_bits: u32,
    /// Batches in a chunk.
    pub batches_per_chunk: usize,
}

impl Chunk {
    /// Keys in a chunk: `CHUNK_ITEMS`.
    pub fn items(&self) -> usize {
        self.workgroup.size * self.batches_per_chunk
    }

    /// Digits.
    pub fn radix(&self) -> usize {
        1 << self.radix_bits
    }
}

/// `glsl/sort/chunk_count.comp`: counts the digits of each chunk with packed 16-bit counters.
///
/// ```text
/// quartet 0 | digit 3 | digit 2 | digit 1 | digit 0 |     quartet 1 | digit 7 | …
///               .y high    .y low   .x high    .x low
/// ```
pub fn chunk_count(shape: &Chunk, digits: &[usize], counts: &mut [u32], chunks: Tiles) {
    let Chunk { workgroup, .. } = *shape;
    for chunk in 0..chunks.tile_count {
        let digits = &digits[chunks.range(chunk, shape.items())];
        let mut shared = vec![[0u32; 2]; shape.radix() / 4];

        let mut counters = vec![vec![[0u32; 2]; shape.radix() / 4]; workgroup.size];
        for (batch, digits) in digits.chunks(workgroup.size).enumerate() {
            assert!(batch < shape.batches_per_chunk);
            for (counters, &digit) in counters.iter_mut().zip(digits) {
                counters[digit / 4][(digit & 2) / 2] += 1 << (16 * (digit & 1));
            }
        }
        for subgroup in workgroup.subgroups(&counters) {
            for (quartet, sum) in shared.iter_mut().enumerate() {
                for (half, sum) in sum.iter_mut().enumerate() {
                    let counters = subgroup.iter().map(|counters| counters[quartet][half]);
                    *sum += lanes::reduce(&counters.collect::<Vec<u32>>());
                }
            }
        }
        for digit in 0..shape.radix() {
            let pair = shared[digit / 4][(digit & 2) / 2];
            let count = if digit & 1 == 0 { pair & 0xffff } else { pair >> 16 };
            counts[count_index(digit, chunk, chunks)] = count;
        }
    }
}

/// `glsl/sort/chunk_count.comp` with `BIN_BY_BIN`: the same with a counter for each digit.
pub fn chunk_count_bin_by_bin(shape: &Chunk, digits: &[usize], counts: &mut [u32], chunks: Tiles) {
    let Chunk { workgroup, .. } = *shape;
    for chunk in 0..chunks.tile_count {
        let digits = &digits[chunks.range(chunk, shape.items())];
        let mut counters = vec![vec![0u32; shape.radix()]; workgroup.size];
        for digits in digits.chunks(workgroup.size) {
            counters.iter_mut().zip(digits).for_each(|(counters, &digit)| counters[digit] += 1);
        }
        for digit in 0..shape.radix() {
            let sums = workgroup.subgroups(&counters).map(|subgroup| {
                lanes::reduce(&subgroup.iter().map(|counters| counters[digit]).collect::<Vec<u32>>())
            });
            counts[count_index(digit, chunk, chunks)] = sums.sum();
        }
    }
}

/// `glsl/sort/chunk_bucket.comp`: where each key goes in the order of one digit, batch by batch.
pub fn chunk_bucket(shape: &Chunk, digits: &[usize], offsets: &[u32], chunks: Tiles) -> Vec<u32> {
    let Chunk { workgroup, .. } = *shape;
    let mut places = vec![0; digits.len()];
    for chunk in 0..chunks.tile_count {
        let range = chunks.range(chunk, shape.items());
        let digits = &digits[range.clone()];
        let places = &mut places[range];
        // Where the next key of the digit goes.
        let first = |digit| offsets[count_index(digit, chunk, chunks)];
        let mut next: Vec<u32> = (0..shape.radix()).map(first).collect();

        for batch in 0..shape.batches_per_chunk {
            // Invocations beyond the chunk's end have no key.
            let first = batch * workgroup.size;
            let digit = |lane| digits.get(first + lane).copied();
            let batch_digits: Vec<Option<usize>> = (0..workgroup.size).map(digit).collect();

            // Which of the batch's keys have the digit: the subgroups' ballots, put together.
            let mut masks = vec![0u32; shape.radix()];
            for (subgroup, digits) in workgroup.subgroups(&batch_digits).enumerate() {
                for (bucket, mask) in masks.iter_mut().enumerate() {
                    let votes: Vec<bool> = digits.iter().map(|&digit| digit == Some(bucket)).collect();
                    let ballot = lanes::ballot(&votes);
                    *mask |= ballot << (subgroup * workgroup.lanes);
                }
            }
            for (lane, digit) in batch_digits.into_iter().enumerate() {
                if let Some(digit) = digit {
                    let earlier = masks[digit] & ((1 << lane) - 1);
                    places[first + lane] = next[digit] + earlier.count_ones();
                }
            }
            for (next, mask) in next.iter_mut().zip(masks) {
                *next += mask.count_ones();
            }
        }
    }
    places
}

#[cfg(test)]
mod tests;
