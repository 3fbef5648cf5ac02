use super::*;
use crate::reference::oracle;
use crate::reference::testing::{LANES, sizes, words};

/// Keys of u32 as they are.
const WORDS: KeyOrder = KeyOrder { numbers: Numbers::Unsigned, is_descending: false };

/// How keys of a tile are counted and moved.
#[derive(Debug, Clone, Copy)]
enum Kernels {
    Tiles(Shape),
    Matches(MatchShape),
    Chunks(Chunk),
    ChunksBinByBin(Chunk),
}

impl Kernels {
    fn tiles(lanes: usize, radix_bits: u32, size: usize, items_per_invocation: usize) -> Self {
        let workgroup = Workgroup { size: size.max(lanes), lanes };
        Self::Tiles(Shape { workgroup, radix_bits, items_per_invocation })
    }

    fn matches(lanes: usize, radix_bits: u32, subgroups: usize, items_per_invocation: usize) -> Self {
        let workgroup = Workgroup { size: subgroups * lanes, lanes };
        Self::Matches(MatchShape { workgroup, radix_bits, items_per_invocation })
    }

    fn chunks(lanes: usize, radix_bits: u32) -> [Self; 2] {
        let shape = Chunk { workgroup: Workgroup { size: 32, lanes }, radix_bits, batches_per_chunk: 8 };
        [Self::Chunks(shape), Self::ChunksBinByBin(shape)]
    }

    fn radix_bits(&self) -> u32 {
        match self {
            Self::Tiles(shape) => shape.radix_bits,
            Self::Matches(shape) => shape.radix_bits,
            Self::Chunks(shape) | Self::ChunksBinByBin(shape) => shape.radix_bits,
        }
    }

    fn tile_items(&self) -> usize {
        match self {
            Self::Tiles(shape) => shape.tile_items(),
            Self::Matches(shape) => shape.tile_items(),
            Self::Chunks(shape) | Self::ChunksBinByBin(shape) => shape.items(),
        }
    }

    fn counts(&self, keys: &[u32], digit: Digit) -> Vec<u32> {
        let tiles = Tiles::new(keys.len(), self.tile_items());
        let mut counts = vec![0; tiles.tile_count << self.radix_bits()];
        let digits = WORDS.digits(keys, 1, digit);
        match self {
            Self::Tiles(shape) => count(shape, &digits, &mut counts, tiles),
            Self::Matches(shape) => count_bins(shape, &digits, &mut counts, tiles),
            Self::Chunks(shape) => chunk_count(shape, &digits, &mut counts, tiles),
            Self::ChunksBinByBin(shape) => chunk_count_bin_by_bin(shape, &digits, &mut counts, tiles),
        }
        counts
    }

    fn move_keys(&self, keys: &[u32], offsets: &[u32], digit: Digit) -> Vec<u32> {
        let tiles = Tiles::new(keys.len(), self.tile_items());
        let digits = WORDS.digits(keys, 1, digit);
        let places = match self {
            Self::Tiles(shape) => scatter(shape, &digits, offsets, tiles),
            Self::Matches(shape) => match_scatter(shape, &digits, offsets, tiles),
            Self::Chunks(shape) | Self::ChunksBinByBin(shape) => chunk_bucket(shape, &digits, offsets, tiles),
        };
        let mut sorted = vec![0; keys.len()];
        keys.iter().zip(places).for_each(|(&key, place)| sorted[place as usize] = key);
        sorted
    }

    fn pass(&self, keys: &[u32], digit: Digit) -> Vec<u32> {
        let offsets = oracle::exclusive_scan(&self.counts(keys, digit), 1);
        self.move_keys(keys, &offsets, digit)
    }

    /// All passes, the last as narrow as it comes.
    fn sort(&self, keys: &[u32], bits: std::ops::Range<u32>) -> Vec<u32> {
        let mut keys = keys.to_vec();
        for shift in bits.clone().step_by(self.radix_bits() as usize) {
            let width = self.radix_bits().min(bits.end - shift);
            keys = self.pass(&keys, Digit { shift, mask: (1 << width) - 1 });
        }
        keys
    }
}

fn all_kernels(lanes: usize) -> Vec<Kernels> {
    let of = |radix_bits| {
        let tiles = [Kernels::tiles(lanes, radix_bits, 32, 4), Kernels::tiles(lanes, radix_bits, 128, 8)];
        tiles.into_iter().chain(Kernels::chunks(lanes, radix_bits))
    };
    let matches = [Kernels::matches(lanes, 8, 1, 3), Kernels::matches(lanes, 5, 4, 2)];
    [2, 4].into_iter().flat_map(of).chain(matches).collect()
}

fn agrees(kernels: &Kernels, keys: &[u32], bits: std::ops::Range<u32>) {
    let (got, expected) = (kernels.sort(keys, bits.clone()), oracle::sort(keys, bits.clone()));
    assert!(got == expected, "{kernels:?}, {} keys, bits {bits:?}", keys.len());
}

#[test]
fn passes_sort_by_any_bits() {
    for lanes in LANES {
        for kernels in all_kernels(lanes) {
            for size in sizes(lanes, kernels.tile_items(), 1100) {
                let keys = words(size as u32, size);
                for bits in [0..4, 7..10, 31..32, 27..32] {
                    agrees(&kernels, &keys, bits);
                }
            }
        }
    }
}

#[test]
fn passes_sort_whole_keys() {
    for lanes in LANES {
        for kernels in all_kernels(lanes) {
            agrees(&kernels, &words(11, 1009), 0..32);
        }
    }
}

#[test]
fn every_kind_of_key_is_sorted() {
    let inputs: [Vec<u32>; 5] = [
        (0..1000).collect(),
        (0..1000).rev().collect(),
        vec![u32::MAX; 1000],
        (0..1000).map(|i| i % 2 * 0x8000_0000).collect(),
        words(5, 1000).iter().map(|word| word & 0xf0).collect(),
    ];
    for lanes in [4, 32] {
        for kernels in all_kernels(lanes) {
            inputs.iter().for_each(|keys| agrees(&kernels, keys, 0..32));
        }
    }
}

#[test]
fn the_largest_tile_fills_no_counter_beyond_its_bits() {
    // 252 keys an invocation, and a tile of 64,512 with one digit: the bytes and halves are as full as they get.
    let kernels = Kernels::tiles(32, 4, 256, 252);
    assert_eq!(kernels.tile_items(), 64_512);
    for key in [0, 7, 8, 15] {
        let keys = vec![key; 64_512];
        assert_eq!(kernels.counts(&keys, Digit { shift: 0, mask: 15 })[key as usize], 64_512);
        agrees(&kernels, &keys, 0..4);
    }
}

#[test]
fn a_pass_without_bits_moves_keys_to_where_they_were() {
    let keys = words(9, 1000);
    for kernels in all_kernels(16) {
        for shift in [0, 5, 31] {
            assert_eq!(kernels.pass(&keys, Digit { shift, mask: 0 }), keys, "{kernels:?}");
        }
    }
}

#[test]
fn counts_are_digit_major() {
    for kernels in all_kernels(8) {
        let tile_items = kernels.tile_items();
        // Two tiles of digit 1, then three keys of digit 2.
        let keys: Vec<u32> = [vec![1; 2 * tile_items], vec![2; 3]].concat();
        let counts = kernels.counts(&keys, Digit { shift: 0, mask: 3 });
        assert_eq!(counts[..9], [0, 0, 0, tile_items as u32, tile_items as u32, 0, 0, 0, 3], "{kernels:?}");
        assert!(counts[9..].iter().all(|&count| count == 0));
    }
}

#[test]
fn a_wrong_offset_shows() {
    let digit = Digit { shift: 0, mask: 3 };
    let keys = words(4, 1000);
    for kernels in all_kernels(8) {
        let mut offsets = oracle::exclusive_scan(&kernels.counts(&keys, digit), 1);
        offsets[1] -= 1;
        assert_ne!(kernels.move_keys(&keys, &offsets, digit), oracle::sort(&keys, 0..2), "{kernels:?}");
    }
}

#[test]
fn an_unstable_order_shows() {
    // Keys that are equal to the pass and not to the comparison: any two swapped are seen.
    let keys: Vec<u32> = (0..600).map(|i| (i << 8) | (i * 7 % 16)).collect();
    for kernels in all_kernels(32) {
        let sorted = kernels.sort(&keys, 0..4);
        assert_eq!(sorted, oracle::sort(&keys, 0..4));
        let by_digit = |a: &[u32]| a.iter().map(|key| key & 15).collect::<Vec<_>>();
        let mut swapped = sorted.clone();
        swapped.swap(0, 1);
        assert_eq!(by_digit(&swapped), by_digit(&sorted));
        assert_ne!(swapped, sorted);
    }
}

#[test]
fn a_key_is_ordered_as_its_number_is() {
    let words = |bits: u64| [bits as u32, (bits >> 32) as u32];
    let order = |numbers| KeyOrder { numbers, is_descending: false };
    let singles =
        [0, 1, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, u32::MAX];
    for (a, b) in singles.into_iter().flat_map(|a| singles.map(|b| (a, b))) {
        let by = |numbers| order(numbers).ordered(&[a]).cmp(&order(numbers).ordered(&[b]));
        assert_eq!(by(Numbers::Unsigned), a.cmp(&b));
        assert_eq!(by(Numbers::Signed), (a as i32).cmp(&(b as i32)));
        assert_eq!(by(Numbers::Float), f32::from_bits(a).total_cmp(&f32::from_bits(b)), "{a:#x} {b:#x}");
        let (a, b) = (u64::from(a) << 32 | u64::from(b), u64::from(b) << 32 | 7);
        let by = |numbers| order(numbers).ordered(&words(a)).cmp(&order(numbers).ordered(&words(b)));
        assert_eq!(by(Numbers::Unsigned), a.cmp(&b));
        assert_eq!(by(Numbers::Signed), (a as i64).cmp(&(b as i64)));
        assert_eq!(by(Numbers::Float), f64::from_bits(a).total_cmp(&f64::from_bits(b)), "{a:#x} {b:#x}");
        let descending = KeyOrder { is_descending: true, ..order(Numbers::Float) };
        assert_eq!(
            descending.ordered(&words(a)).cmp(&descending.ordered(&words(b))),
            by(Numbers::Float).reverse()
        );
    }
}

#[test]
fn a_digit_of_two_words_may_lie_in_both() {
    let order = KeyOrder { numbers: Numbers::Unsigned, is_descending: false };
    let key = [0x9abc_def0, 0x1234_5678];
    for shift in 0..64 {
        let expected = (0x1234_5678_9abc_def0u64 >> shift & 15) as usize;
        assert_eq!(order.digits(&key, 2, Digit { shift, mask: 15 }), [expected]);
    }
}

#[test]
fn one_workgroup_sorts_a_tile() {
    for lanes in LANES {
        let workgroup = Workgroup { size: 128, lanes };
        for (radix_bits, items_per_invocation) in [(4, 4), (2, 8)] {
            let shape = Shape { workgroup, radix_bits, items_per_invocation };
            for count in [0, 1, 2, 127, shape.tile_items() - 1, shape.tile_items()] {
                let keys: Vec<u32> = words(3, count).iter().map(|word| word & 0x8000_03ff).collect();
                for bits in [0..32, 3..10, 31..32, 5..5] {
                    let places = single_workgroup(&shape, WORDS, &keys, 1, bits.clone());
                    let mut sorted = vec![0; count];
                    keys.iter().zip(places).for_each(|(&key, place)| sorted[place as usize] = key);
                    assert_eq!(
                        sorted,
                        oracle::sort(&keys, bits.clone()),
                        "{shape:?}, {count} keys, {bits:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn onesweep_sorts_in_portions_by_the_bins_of_the_survey() {
    for lanes in LANES {
        let workgroup = Workgroup { size: 2 * lanes, lanes };
        let shape = MatchShape { workgroup, radix_bits: 8, items_per_invocation: 3 };
        let tile_items = shape.tile_items();
        let keys = words(3, 7 * tile_items + 5);
        let (portion_tiles, portion_count) = (3, 3);
        let survey = Survey {
            pass_tile_items: tile_items,
            portion_tiles,
            portion_count,
            begin_bit: 3,
            end_bit: 30,
            pass_count: 4,
            aim: Aim::InPlace,
        };
        let orders: Vec<u64> = keys.iter().map(|&key| key.into()).collect();
        let bins = survey.of(&orders, 32, shape.radix()).bins;
        let mut sorted = keys.clone();
        for (digit, mut bins) in survey.digits().into_iter().zip(bins) {
            let digits = WORDS.digits(&sorted, 1, digit);
            let mut places = Vec::new();
            for digits in digits.chunks(portion_tiles * tile_items) {
                let swept = onesweep(&shape, digits, &bins, Tiles::new(digits.len(), tile_items));
                places.extend(swept.places);
                bins = swept.next_bins;
            }
            let before = sorted.clone();
            before.iter().zip(places).for_each(|(&key, place)| sorted[place as usize] = key);
        }
        assert_eq!(sorted, oracle::sort(&keys, 3..30));
    }
}
