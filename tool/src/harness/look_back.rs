//! What a chained scan with counters counts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Look-back statistics of a chained scan, over all tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookBackCounts {
    /// Tiles that looked back: all but the first.
    pub look_backs: u32,
    /// Windows of the look-back: as many tiles as a subgroup has lanes, times the policy's window.
    pub windows: u32,
    /// Maximum windows of one tile.
    pub longest: u32,
    /// Reads of a window in which a tile had published nothing.
    pub spins: u32,
    /// Stalled tiles that another workgroup reduced in its fallback.
    pub fallbacks: u32,
}

impl fmt::Display for LookBackCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { look_backs, windows, longest, spins, fallbacks } = *self;
        let mean = f64::from(windows) / f64::from(look_backs.max(1));
        write!(f, "mean {mean:.1} windows, longest {longest}; {spins} spins, {fallbacks} fallbacks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_back_is_shown_by_its_mean() {
        let counts = LookBackCounts { look_backs: 10, windows: 13, longest: 4, spins: 7, fallbacks: 0 };
        assert_eq!(counts.to_string(), "mean 1.3 windows, longest 4; 7 spins, 0 fallbacks");
    }
}
