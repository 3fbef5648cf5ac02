//! Levels of a hierarchical scan: elements, tile aggregates, aggregates of these, up to a level of one tile.

use crate::device::{Barrier, Recorder};
use crate::error::Result;
use crate::primitives::ScratchCursor;

/// Sizes of the levels, and their offsets in scratch.
#[derive(Debug)]
pub(in crate::primitives) struct Levels {
    /// Number of elements by level, from the lowest; level 0 is the caller's.
    pub(in crate::primitives) counts: [u64; Self::MAX],
    /// Offsets in scratch, of all levels but 0.
    pub(in crate::primitives) offsets: [u64; Self::MAX],
    pub(in crate::primitives) len: usize,
}

impl Levels {
    /// Exceeds the levels of 2^64 elements in the smallest tiles.
    pub(in crate::primitives) const MAX: usize = 64;

    /// The one level of `count` elements in tiles that need no aggregates.
    pub(in crate::primitives) fn one(count: u64) -> Self {
        let mut levels = Self { counts: [0; Self::MAX], offsets: [0; Self::MAX], len: 1 };
        levels.counts[0] = count;
        levels
    }

    /// The levels of `count` elements, allocated from `cursor`.
    pub(in crate::primitives) fn new(
        cursor: &mut ScratchCursor,
        count: u64,
        tile_items: u32,
        row_size: u64,
    ) -> Self {
        let mut levels = Self::one(count);
        let mut tiles = count.div_ceil(tile_items.into());
        while tiles > 1 {
            levels.counts[levels.len] = tiles;
            levels.offsets[levels.len] = cursor.take("aggregates of tiles", tiles.saturating_mul(row_size));
            levels.len += 1;
            tiles = tiles.div_ceil(tile_items.into());
        }
        levels
    }
}

/// Records the up-sweep of `level_count` levels, at least one, and their down-sweep, with barriers between.
pub(super) fn sweep(
    recorder: &mut Recorder<'_>,
    level_count: usize,
    reduce: impl Fn(&mut Recorder<'_>, usize) -> Result<()>,
    downsweep: impl Fn(&mut Recorder<'_>, usize) -> Result<()>,
) -> Result<()> {
    let top = level_count - 1;
    for level in 0..top {
        match level {
            0 => recorder.phase(c"reduce"),
            1 => recorder.phase(c"spine"),
            _ => {}
        }
        reduce(recorder, level)?;
        recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
    }
    if top == 1 {
        recorder.phase(c"spine");
    }
    for level in (0..=top).rev() {
        if level == 0 {
            recorder.phase(c"downsweep");
        }
        downsweep(recorder, level)?;
        if level > 0 {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
