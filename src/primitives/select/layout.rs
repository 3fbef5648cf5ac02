//! Scratch of a selection. A module of its own keeps the type out of the interface of the public primitive.

use crate::primitives::ScratchRange;

/// Arrays in scratch.
#[derive(Debug)]
pub struct ScratchLayout {
    pub(super) state: ScratchRange,
    pub(super) scan: ScratchRange,
    pub(super) level_args: u64,
    /// Of the indices of the result, for gathers.
    pub(super) indices: ScratchRange,
    /// Of the scratch of each gather.
    pub(super) gathers: [ScratchRange; 2],
}
