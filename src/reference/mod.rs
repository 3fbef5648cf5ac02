//! What is right, on the CPU: oracles and twins. The floor imports nothing of the crate.
//!
//! An *oracle* is the naive loop, and shares nothing with the kernels: it says whether a result is right. A *twin*
//! mirrors one kernel, and has its path: `glsl/scan/reduce.comp` is [`scan::reduce`]. It takes the kernel's push and
//! specialization constants and the device's lane count, and goes the kernel's way, from lanes to subgroups to the
//! workgroup, so that comparing a kernel with it alone says which pass broke. A twin never reads or writes beyond what
//! the kernel may: its slices are as long as the contract says, and Rust checks them.
//!
//! What a twin leaves out, because no result may depend on it: `QUAD_ACCESS`, the order in which workgroups run, and
//! barriers, each of which stands between two loops over the invocations.

mod element;
pub mod gather;
pub mod lanes;
pub mod oracle;
pub mod scan;
pub mod sort;
#[cfg(test)]
mod testing;
pub mod workgroup_scan;

pub use element::{Add, And, Element, Max, Min, Mul, Operator, Or, Row, Xor, rows};

/// Elements cut into tiles (or chunks), all full but the last: the push constants `tile_count` and `last_extent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiles {
    /// How many there are.
    pub tile_count: usize,
    /// Elements in the last.
    pub last_extent: usize,
}

impl Tiles {
    /// `count` elements, at least one, in tiles of `tile_items`.
    pub fn new(count: usize, tile_items: usize) -> Self {
        let tile_count = count.div_ceil(tile_items);
        Self { tile_count, last_extent: count - (tile_count - 1) * tile_items }
    }

    /// The elements of one tile, as a range of all.
    pub fn range(&self, tile: usize, tile_items: usize) -> std::ops::Range<usize> {
        let extent = if tile + 1 < self.tile_count { tile_items } else { self.last_extent };
        tile * tile_items..tile * tile_items + extent
    }
}
