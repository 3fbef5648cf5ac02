//! The twin of `glsl/sort/onesweep.comp`.

use super::{MatchShape, Ranked, rank_by_match};
use crate::reference::Tiles;

/// What a portion makes of a pass.
#[derive(Debug, PartialEq, Eq)]
pub struct Swept {
    /// Where each key goes.
    pub places: Vec<u64>,
    /// What each tile has told in the end: a word for each digit.
    pub statuses: Vec<u32>,
    /// Where the next portion's first key of each digit goes.
    pub next_bins: Vec<u64>,
}

/// A tile's keys of a digit, and those of all earlier ones, are known.
const PREFIX: u32 = 2 << 30;

/// Moves the keys of a portion, whose digits are given, by where its first key of each digit goes. Tiles look back in any
/// order and find the same.
pub fn onesweep(shape: &MatchShape, digits: &[usize], bins: &[u64], tiles: Tiles) -> Swept {
    let mut through = vec![0u32; shape.radix()];
    let (mut places, mut statuses) = (Vec::new(), Vec::new());
    for tile in 0..tiles.tile_count {
        let digits = &digits[tiles.range(tile, shape.tile_items())];
        let Ranked { ranks, first_of_digit } = rank_by_match(shape, digits);
        let place = |(&digit, rank): (&usize, u32)| {
            bins[digit] + u64::from(through[digit] + rank - first_of_digit[digit])
        };
        places.extend(digits.iter().zip(ranks).map(place));
        digits.iter().for_each(|&digit| through[digit] += 1);
        statuses.extend(through.iter().map(|&count| PREFIX | count));
    }
    let next_bins = bins.iter().zip(through).map(|(bin, count)| bin + u64::from(count)).collect();
    Swept { places, statuses, next_bins }
}
