//! Models of the passes of a sort in `glsl/sort/`.
//!
//! A pass depends only on the digit of each key. So the models take the digits, in the order of the keys in
//! memory, and return the new index of each key.

/// The digit of a pass: the push constants `shift` and `digit_mask`.
#[derive(Debug, Clone, Copy)]
pub struct Digit {
    /// The lowest bit, less than the width of a key: GLSL leaves larger shifts undefined.
    pub shift: u32,
    /// As many ones as the digit has bits: at most the bits of the radix, and none in a pass that only copies
    /// keys.
    pub mask: u32,
}

impl Digit {
    /// The digit of a key, by its order.
    pub fn extract(self, order: u64) -> usize {
        (order >> self.shift) as usize & self.mask as usize
    }
}

/// The number type of keys: `KEY_NUMBERS` of `glsl/common/key.glsl`, in the order of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// u32 and u64.
    Unsigned,
    /// i32 and i64.
    Signed,
    /// f32 and f64.
    Float,
    /// The same in numpy's order.
    NumpyFloat,
}

/// The order of keys: the specialization constants of `glsl/common/key.glsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOrder {
    /// The number type.
    pub numbers: Numbers,
    /// Descending.
    pub is_descending: bool,
}

impl KeyOrder {
    /// The order of a key, an unsigned number that compares as the key does. Its words are given low word
    /// first.
    pub fn ordered(&self, key: &[u32]) -> u64 {
        let bits = 32 * key.len();
        let value = key.iter().rev().fold(0u64, |value, &word| value << 32 | u64::from(word));
        let (all, sign) = (u64::MAX >> (64 - bits), 1 << (bits - 1));
        let infinity = if bits == 32 { f32::INFINITY.to_bits().into() } else { f64::INFINITY.to_bits() };
        let ascending = match self.numbers {
            Numbers::Unsigned => value,
            Numbers::NumpyFloat if value & !sign == 0 => sign,
            Numbers::NumpyFloat if value & !sign > infinity => all,
            Numbers::Float | Numbers::NumpyFloat if value & sign != 0 => value ^ all,
            Numbers::Signed | Numbers::Float | Numbers::NumpyFloat => value ^ sign,
        };
        if self.is_descending { ascending ^ all } else { ascending }
    }

    /// [`Self::ordered`] of every key of `keys`, `key_words` words each.
    pub fn all(&self, keys: &[u32], key_words: usize) -> Vec<u64> {
        keys.chunks_exact(key_words).map(|key| self.ordered(key)).collect()
    }

    /// The digit of every key.
    pub fn digits(&self, keys: &[u32], key_words: usize, digit: Digit) -> Vec<usize> {
        self.all(keys, key_words).into_iter().map(|order| digit.extract(order)).collect()
    }
}

/// The counting pass (`count.comp`, `count_bins.comp`, `chunk_count.comp`): the digit counts of each tile,
/// digit-major.
pub fn tile_counts(digits: &[usize], radix: usize, tile_items: usize) -> Vec<u32> {
    let tile_count = digits.len().div_ceil(tile_items);
    let mut counts = vec![0; radix * tile_count];
    for (tile, digits) in digits.chunks(tile_items).enumerate() {
        digits.iter().for_each(|&digit| counts[digit * tile_count + tile] += 1);
    }
    counts
}

/// The scatter pass (`scatter.comp`, `chunk_bucket.comp`): the new index of each key, stably from the offset of
/// its digit in its tile. `offsets` have the layout of the counts.
pub fn scatter(digits: &[usize], offsets: &[u32], tile_items: usize) -> Vec<u32> {
    let tile_count = digits.len().div_ceil(tile_items);
    let mut next = offsets.to_vec();
    let tiles = digits.iter().enumerate().map(|(index, &digit)| (digit, index / tile_items));
    tiles.map(|(digit, tile)| take(&mut next[digit * tile_count + tile])).collect()
}

fn take(next: &mut u32) -> u32 {
    let index = *next;
    *next = index.wrapping_add(1);
    index
}

/// The result of `onesweep.comp` on a portion.
#[derive(Debug, PartialEq, Eq)]
pub struct Swept {
    /// The new index of each key.
    pub indices: Vec<u64>,
    /// For each tile, the inclusive prefix of the counts of each digit.
    pub inclusive_counts: Vec<u32>,
    /// The offset of the next portion's first key of each digit.
    pub next_bins: Vec<u64>,
}

/// `onesweep.comp`: a stable scatter of a portion; `bins` has the offset of its first key of each digit.
pub fn onesweep(digits: &[usize], bins: &[u64], tile_items: usize) -> Swept {
    let mut counts = vec![0u32; bins.len()];
    let (mut indices, mut inclusive_counts) = (Vec::new(), Vec::new());
    for digits in digits.chunks(tile_items) {
        indices.extend(digits.iter().map(|&digit| bins[digit] + u64::from(take(&mut counts[digit]))));
        inclusive_counts.extend_from_slice(&counts);
    }
    let next_bins = bins.iter().zip(counts).map(|(bin, count)| bin + u64::from(count)).collect();
    Swept { indices, inclusive_counts, next_bins }
}

/// `single_workgroup.comp`: the new index of each key, stably sorted by the bits `bits` of `orders`.
pub fn stable_order(orders: &[u64], bits: std::ops::Range<u32>) -> Vec<u32> {
    let below = |bit: u32| ((1u128 << bit) - 1) as u64;
    stable_order_by(orders, below(bits.end) & !below(bits.start))
}

/// The same for the bits of a mask.
pub(super) fn stable_order_by(orders: &[u64], mask: u64) -> Vec<u32> {
    let mut origins: Vec<usize> = (0..orders.len()).collect();
    origins.sort_by_key(|&origin| orders[origin] & mask);
    let mut indices = vec![0; orders.len()];
    (0u32..).zip(origins).for_each(|(index, origin)| indices[origin] = index);
    indices
}
