//! Inputs for the tests of twins.

use super::Element;

/// `count` words that depend on `seed` alone.
pub(super) fn words(seed: u32, count: usize) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_769).wrapping_add(1);
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state ^ state >> 15).wrapping_mul(0x2c1b_3c6d)
    };
    (0..count).map(next).collect()
}

/// The lane counts of all subgroups that there are.
pub(super) const LANES: [usize; 6] = [4, 8, 16, 32, 64, 128];

/// Sizes around the seams of a kernel with so many lanes and such a tile, up to `max`.
pub(super) fn sizes(lanes: usize, tile: usize, max: usize) -> Vec<usize> {
    let seams = [
        1,
        lanes - 1,
        lanes,
        lanes + 1,
        tile - 1,
        tile,
        tile + 1,
        3 * tile + 5,
        4 * tile - 1,
        1009,
        tile * tile + 1,
    ];
    let mut sizes: Vec<usize> = seams.into_iter().filter(|&size| size <= max).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Elements whose order shows: the bicyclic monoid, in which nothing but neighbours cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Brackets(pub u32, pub u32);

impl Element for Brackets {
    const IDENTITY: Self = Self(0, 0);
    const PACK_ITEMS: usize = 2;

    fn combine(self, later: Self) -> Self {
        let matched = self.1.min(later.0);
        Self(self.0 + later.0 - matched, self.1 + later.1 - matched)
    }
}

pub(super) fn brackets(seed: u32, count: usize) -> Vec<Brackets> {
    words(seed, count).iter().map(|word| Brackets(word >> 3 & 3, word >> 9 & 3)).collect()
}

/// The oracle for them.
pub(super) fn prefixes<E: Element>(values: &[E]) -> Vec<E> {
    let mut sum = E::IDENTITY;
    let add = |&value: &E| {
        sum = sum.combine(value);
        sum
    };
    values.iter().map(add).collect()
}
