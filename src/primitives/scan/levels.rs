//! Tiles of elements, tiles of their sums, tiles of the sums of these, until one tile holds a level.

use crate::primitives::ScratchCursor;

/// More than the levels of 2^64 elements in the smallest tiles.
const MAX_LEVELS: usize = 64;

/// Where the levels above the elements lie in scratch.
#[derive(Debug)]
pub(super) struct Levels {
    /// Elements, from the lowest level up; level 0 is the caller's own.
    pub(super) counts: [u64; MAX_LEVELS],
    /// Offset in scratch, for every level but 0.
    pub(super) offsets: [u64; MAX_LEVELS],
    pub(super) len: usize,
    pub(super) scratch_size: u64,
}

impl Levels {
    pub(super) fn new(count: u64, tile_items: u32, row_size: u64) -> Self {
        let mut levels = Self { counts: [0; MAX_LEVELS], offsets: [0; MAX_LEVELS], len: 1, scratch_size: 0 };
        let mut cursor = ScratchCursor::default();
        levels.counts[0] = count;
        let mut tiles = count.div_ceil(tile_items.into());
        while tiles > 1 {
            levels.counts[levels.len] = tiles;
            levels.offsets[levels.len] = cursor.take(tiles.saturating_mul(row_size));
            levels.len += 1;
            tiles = tiles.div_ceil(tile_items.into());
        }
        levels.scratch_size = cursor.size;
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_end_at_one_tile() {
        let levels = Levels::new(1, 256, 4);
        assert_eq!((levels.len, levels.scratch_size), (1, 0));
        let levels = Levels::new(256 * 256 * 256 + 1, 256, 16);
        assert_eq!(&levels.counts[..levels.len], &[16_777_217, 65_537, 257, 2]);
        assert_eq!(&levels.offsets[..levels.len], &[0, 0, 65_537 * 16, (65_537 + 257) * 16]);
        assert_eq!(Levels::new(u64::MAX, 4, 4).counts[0], u64::MAX);
    }
}
