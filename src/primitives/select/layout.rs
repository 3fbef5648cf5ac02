//! Scratch of a selection. A module of its own keeps the type out of the interface of the public primitive.

/// Offsets of the arrays in scratch.
#[derive(Debug)]
pub struct ScratchLayout {
    pub(super) state: u64,
    pub(super) state_size: u64,
    pub(super) scan: u64,
    pub(super) scan_size: u64,
    pub(super) level_args: u64,
    /// Of the indices of the result, for gathers.
    pub(super) indices: u64,
    /// Of the scratch of each gather, with its size.
    pub(super) gathers: [(u64, u64); 2],
}
