//! The twins of `glsl/sort/`.

use super::Tiles;
use super::lanes::{self, Workgroup};

/// What a pass sorts by: the push constants `shift` and `digit_mask`, and `digit_of` of `glsl/sort/pass.glsl`.
#[derive(Debug, Clone, Copy)]
pub struct Digit {
    /// Its lowest bit, below 32: beyond that GLSL does not say what a shift gives.
    pub shift: u32,
    /// As many ones as it has bits: at most those of the radix, and none in a pass that only moves keys.
    pub mask: u32,
}

impl Digit {
    fn of(&self, key: u32) -> usize {
        (key >> self.shift & self.mask) as usize
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
    /// Keys that an invocation takes, by fours.
    pub quads_per_invocation: usize,
}

impl Shape {
    /// Keys in a tile: `TILE_ITEMS`.
    pub fn tile_items(&self) -> usize {
        self.workgroup.size * self.items_per_invocation()
    }

    /// Digits.
    pub fn radix(&self) -> usize {
        1 << self.radix_bits
    }

    fn items_per_invocation(&self) -> usize {
        self.quads_per_invocation * 4
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
pub fn count(shape: &Shape, keys: &[u32], counts: &mut [u32], tiles: Tiles, digit: Digit) {
    let Shape { workgroup, .. } = *shape;
    for tile in 0..tiles.tile_count {
        let keys = &keys[tiles.range(tile, shape.tile_items())];

        // Neighbours take neighbouring quads.
        let count_own = |invocation| {
            let mut own = DigitBytes::default();
            for quad in 0..shape.quads_per_invocation {
                let first = (quad * workgroup.size + invocation) * 4;
                for key in keys.iter().skip(first).take(4) {
                    own.count(digit.of(*key));
                }
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

/// `glsl/sort/scatter.comp`: moves the keys of each tile to their places in the order of one digit.
pub fn scatter(shape: &Shape, keys: &[u32], sorted: &mut [u32], offsets: &[u32], tiles: Tiles, digit: Digit) {
    let Shape { workgroup, .. } = *shape;
    // A counter word holds digit w in its low half and digit w + RADIX / 2 in its high half.
    let counter_words = shape.radix() / 2;
    for tile in 0..tiles.tile_count {
        let keys = &keys[tiles.range(tile, shape.tile_items())];

        // Every invocation ranks its own, consecutive keys among those of their digit …
        let mut ranks = vec![0; keys.len()];
        let mut counters = vec![0u32; counter_words * workgroup.size];
        for invocation in 0..workgroup.size {
            let mut own = DigitBytes::default();
            let first = invocation * shape.items_per_invocation();
            for (key, rank) in keys.iter().zip(&mut ranks).skip(first).take(shape.items_per_invocation()) {
                *rank = own.get(digit.of(*key));
                own.count(digit.of(*key));
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
            let mut prefix =
                subgroup_prefixes[invocation / workgroup.lanes] + lane_prefix + (tile_total << 16);
            for counter in stretch {
                (*counter, prefix) = (prefix, prefix + *counter);
            }
        }

        // … says where every invocation's first key of a digit goes in the tile.
        let counter_prefix = |digit: usize, invocation: usize| {
            let word = counters[digit % counter_words * workgroup.size + invocation];
            if digit < counter_words { word & 0xffff } else { word >> 16 }
        };
        let mut in_order = vec![0; keys.len()];
        for (index, (&key, rank)) in keys.iter().zip(ranks).enumerate() {
            let invocation = index / shape.items_per_invocation();
            in_order[(rank + counter_prefix(digit.of(key), invocation)) as usize] = key;
        }

        // Keys of one digit leave as one run.
        let digit_offset = |digit| {
            let offset: u32 = offsets[count_index(digit, tile, tiles)];
            offset.wrapping_sub(counter_prefix(digit, 0))
        };
        let digit_offsets: Vec<u32> = (0..shape.radix()).map(digit_offset).collect();
        for (place, &key) in (0u32..).zip(&in_order) {
            sorted[digit_offsets[digit.of(key)].wrapping_add(place) as usize] = key;
        }
    }
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
pub fn chunk_count(shape: &Chunk, keys: &[u32], counts: &mut [u32], chunks: Tiles, digit: Digit) {
    let Chunk { workgroup, .. } = *shape;
    for chunk in 0..chunks.tile_count {
        let keys = &keys[chunks.range(chunk, shape.items())];
        let mut shared = vec![[0u32; 2]; shape.radix() / 4];

        let mut counters = vec![vec![[0u32; 2]; shape.radix() / 4]; workgroup.size];
        for (batch, keys) in keys.chunks(workgroup.size).enumerate() {
            assert!(batch < shape.batches_per_chunk);
            for (counters, key) in counters.iter_mut().zip(keys) {
                let digit = digit.of(*key);
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

/// `glsl/sort/chunk_bucket.comp`: moves the keys of each chunk to their places in the order of one digit, batch by
/// batch.
pub fn chunk_bucket(
    shape: &Chunk,
    keys: &[u32],
    sorted: &mut [u32],
    offsets: &[u32],
    chunks: Tiles,
    digit: Digit,
) {
    let Chunk { workgroup, .. } = *shape;
    for chunk in 0..chunks.tile_count {
        let keys = &keys[chunks.range(chunk, shape.items())];
        // Where the next key of the digit goes.
        let first = |digit| offsets[count_index(digit, chunk, chunks)];
        let mut next: Vec<u32> = (0..shape.radix()).map(first).collect();

        for batch in 0..shape.batches_per_chunk {
            // Invocations beyond the chunk's end have no key.
            let key = |lane| keys.get(batch * workgroup.size + lane).copied();
            let batch_keys: Vec<Option<u32>> = (0..workgroup.size).map(key).collect();

            // Which of the batch's keys have the digit: the subgroups' ballots, put together.
            let mut masks = vec![0u32; shape.radix()];
            for (subgroup, keys) in workgroup.subgroups(&batch_keys).enumerate() {
                for (bucket, mask) in masks.iter_mut().enumerate() {
                    let vote = |key: &Option<u32>| key.is_some_and(|key| digit.of(key) == bucket);
                    let ballot = lanes::ballot(&keys.iter().map(vote).collect::<Vec<bool>>());
                    *mask |= ballot << (subgroup * workgroup.lanes);
                }
            }
            for (lane, key) in batch_keys.iter().enumerate() {
                if let Some(key) = *key {
                    let earlier = masks[digit.of(key)] & ((1 << lane) - 1);
                    sorted[(next[digit.of(key)] + earlier.count_ones()) as usize] = key;
                }
            }
            for (next, mask) in next.iter_mut().zip(masks) {
                *next += mask.count_ones();
            }
        }
    }
}

#[cfg(test)]
mod tests;
