//! Decoupled look-back: how tile descriptors are accessed, and how far a workgroup looks at a time.

use std::fmt;

use crate::error::{PolicyConflict, Result};

/// Bytes before the descriptors of a single pass: the ticket counter.
pub(super) const TICKET_SIZE: u64 = 16;

/// Bytes of the ticket and of a descriptor for each tile: two words for each of the `element_words` that tiles look back
/// at, as `STATUS_WORDS` of `look_back.glsl`.
pub(super) const fn state_size(tile_count: u64, element_words: u64) -> u64 {
    tile_count.saturating_mul(8 * element_words).saturating_add(TICKET_SIZE)
}

/// Look-back of a single pass over tiles. Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LookBack {
    /// Whether descriptors are read by atomic loads, instead of read-modify-writes that change nothing.
    pub has_loads: bool,
    /// Whether a workgroup publishes its descriptors by atomic stores where that is as good as a read-modify-write.
    pub has_stores: bool,
    /// Tiles that an invocation reads together: 1, 2, 4 or 8. A subgroup of a scan or selection looks at as many for
    /// each of its lanes, an invocation of a sort at as many for each of its digits.
    pub window: u32,
    /// Reads of a window without progress, 1 to 4,096, before a workgroup computes a stalled tile itself.
    pub spin_limit: u32,
}

impl LookBack {
    /// Read-modify-writes alone, tile by tile: right on every driver that was tried.
    pub const fn portable(spin_limit: u32) -> Self {
        Self { has_loads: false, has_stores: false, window: 1, spin_limit }
    }

    /// Specialization constants of the kernels.
    pub(super) fn constants(self) -> [(&'static str, u32); 4] {
        [
            ("STATUS_LOADS", self.has_loads.into()),
            ("STATUS_STORES", self.has_stores.into()),
            ("LOOK_BACK_WINDOW", self.window),
            ("SPIN_LIMIT", self.spin_limit),
        ]
    }

    pub(super) fn check(self) -> Result<()> {
        PolicyConflict::check_range("window", self.window, 1..=8)?;
        PolicyConflict::check_power_of_two("window", self.window)?;
        PolicyConflict::check_range("spin_limit", self.spin_limit, 1..=4096)
    }

    /// Writes what differs from [`Self::portable`] with `spin_limit` reads, each after a comma.
    pub(super) fn write(self, f: &mut fmt::Formatter<'_>, spin_limit: u32) -> fmt::Result {
        match (self.has_loads, self.has_stores) {
            (false, false) => {}
            (true, false) => f.write_str(", statuses by loads")?,
            (false, true) => f.write_str(", statuses by stores")?,
            (true, true) => f.write_str(", statuses by loads and stores")?,
        }
        if self.window > 1 {
            write!(f, ", look-back window {}", self.window)?;
        }
        if self.spin_limit == spin_limit { Ok(()) } else { write!(f, ", spin limit {}", self.spin_limit) }
    }
}
