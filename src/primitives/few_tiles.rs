//! Tiles for few elements.

use std::fmt;

use super::tuning::KernelShape;
use crate::error::{PolicyConflict, Result};
use crate::sort::TileShape;

/// Tiles for few elements, which would not fill a GPU with the others of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FewTiles {
    /// The tile.
    pub tile: TileShape,
    /// The window of its look-back, as [`LookBack::window`](super::LookBack::window); scans of few tiles have none.
    pub window: u32,
    /// The tiles up to which it is taken: up to 4,096, of a scan 256.
    pub max_tiles: u32,
}

impl FewTiles {
    /// The most tiles with a look-back: scratch has room for them whatever the count.
    pub(super) const MAX_TILES: u32 = 4096;

    /// The tiles of a shape, of so many invocations and items for each; `None` for no tiles.
    pub(super) fn new(tuned: &KernelShape, [workgroup_size, items_per_invocation]: [u32; 2]) -> Option<Self> {
        let tile = TileShape { workgroup_size, items_per_invocation };
        let few = Self { tile, window: tuned.look_back.window, max_tiles: tuned.few_tiles };
        (few.max_tiles > 0).then_some(few)
    }

    /// The maximum of elements.
    pub fn max_count(&self) -> u64 {
        u64::from(self.max_tiles) * u64::from(self.tile.tile_items())
    }

    pub(super) fn check(&self, most: u32) -> Result<()> {
        PolicyConflict::check_range("max_tiles", self.max_tiles, 1..=most)
    }

    /// Writes the tiles as a part of a policy of `elements`.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, elements: &str) -> fmt::Result {
        let TileShape { workgroup_size, items_per_invocation } = self.tile;
        write!(f, "; up to {} {elements}: workgroup {workgroup_size}, ", self.max_count())?;
        write!(f, "{items_per_invocation} items per invocation")?;
        match self.window {
            1 => Ok(()),
            window => write!(f, ", look-back window {window}"),
        }
    }
}
