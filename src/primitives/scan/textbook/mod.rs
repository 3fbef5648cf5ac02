//! Scans to be studied and compared: those of textbooks, and the seed's. No default policy chooses them, and without the
//! feature `textbook` the library has neither them nor their kernels.

mod block_doubling;
mod chunk_in_place;
mod scan_then_propagate;
mod strided;

pub(super) use block_doubling::BlockDoubling;
pub(super) use chunk_in_place::ChunkInPlace;
pub(super) use scan_then_propagate::ScanThenPropagate;
pub(super) use strided::Strided;

/// Number of doublings from 1 to at least `count`: the ceiling of log2.
fn step_count(count: u64) -> u32 {
    u64::BITS - count.max(1).saturating_sub(1).leading_zeros()
}
