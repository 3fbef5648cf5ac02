//! Scans to be studied and compared: scans of textbooks, and the seed's. No default policy chooses them, and without the
//! feature `textbook` the library has neither them nor their kernels.

pub(super) mod block_doubling;
pub(super) mod chunk_in_place;
pub(super) mod scan_then_propagate;
pub(super) mod strided;

/// Number of doublings from 1 to at least `count`: the ceiling of log2.
fn step_count(count: u64) -> u32 {
    u64::BITS - count.max(1).saturating_sub(1).leading_zeros()
}
