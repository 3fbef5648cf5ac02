//! How a scan is tuned, as a value.

use std::fmt;

use super::config::{ScanConfig, ScanKind};
use super::single_pass;
use crate::error::{Error, Result, within};
use crate::primitives::{Choice, check_workgroup};
use crate::vk::Capabilities;

/// Where the sums of tiles are kept between the way up and the way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SumsPlacement {
    /// In arrays of their own.
    Scratch,
    /// In each tile's own last row, in place: the seed's way, which needs no scratch.
    LastRow,
    /// In words that tiles read of one another while all of them are under way: the single pass.
    Status,
}

/// How a scan goes about it. A tile is `workgroup_size * items_per_invocation` elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ScanPolicy {
    /// Where the sums of tiles are kept.
    pub sums: SumsPlacement,
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Rows, or elements of one column of a row that is wider than 16 bytes, that an invocation scans.
    pub items_per_invocation: u32,
    /// Those among them that follow one another: a divisor of `items_per_invocation`, and a multiple of what the fewest
    /// 16-byte quads hold (4 where they are of 4 or 12 bytes, 2 of 8, 1 of 16).
    pub items_per_run: u32,
    /// Lanes of a subgroup to ask for; `None` leaves them to the driver.
    pub subgroup_size: Option<u32>,
    /// Whether the chained scan adds up in an order that does not depend on who is first: sums of floats are then
    /// bit-identical from run to run, as those of reduce-then-scan always are.
    pub fixed_tree: bool,
}

/// The scan algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScanAlgorithm {
    /// Sums of tiles, their scan, and the scan of each tile from its carry-in.
    ReduceThenScan,
    /// One pass in which tiles tell one another their sums.
    Chained,
}

impl ScanAlgorithm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ReduceThenScan, Self::Chained];

    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReduceThenScan => "reduce-then-scan",
            Self::Chained => "chained",
        }
    }

    /// One line for a list: passes and bytes moved, and source.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::ReduceThenScan => {
                "sums of tiles, scan of the sums level by level, scan of the tiles; moves 12 bytes per u32; \
                 C-for-Metal tutorial 14"
            }
            Self::Chained => {
                "one pass over the tiles, each looking back at what earlier ones have told; moves 8 bytes per u32 in \
                 one dispatch, out of place; Merrill and Garland 2016, Smith, Levien and Owens 2025"
            }
        }
    }
}

/// The words of an invocation's elements that registers should hold.
const WORDS_PER_INVOCATION: u32 = 16;
/// On a CPU an invocation is a loop over memory: one long run amortises the subgroup scan.
const WORDS_PER_INVOCATION_CPU: u32 = 32;

impl ScanPolicy {
    /// The most columns that the seed's scan takes.
    pub const MAX_SEED_COLUMNS: u32 = 4;

    /// The policy for a configuration on a device, with the reason.
    ///
    /// A configuration that a plan refuses gives a policy all the same.
    pub fn choose(capabilities: &Capabilities, config: &ScanConfig) -> Choice<Self> {
        let tiles = Self::tiles(capabilities, config);
        single_pass::choose(capabilities, config, tiles.policy).unwrap_or(tiles)
    }

    /// Reduce-then-scan in tiles as the device likes them.
    fn tiles(capabilities: &Capabilities, config: &ScanConfig) -> Choice<Self> {
        let workgroup_size = capabilities.max_workgroup_invocations.min(256);
        let shape = config.row_shape();
        let (pack, words) = (shape.items_per_pack(), shape.element_words.max(1));
        if capabilities.is_cpu() {
            let items = (WORDS_PER_INVOCATION_CPU / words).max(1).next_multiple_of(pack);
            Choice {
                policy: Self::tiled(workgroup_size, items, items),
                reason: "reduce-then-scan needs no forward progress; one long run per invocation, as CPUs like",
            }
        } else {
            let items = (WORDS_PER_INVOCATION / words).max(1).next_multiple_of(pack);
            Choice {
                policy: Self::tiled(workgroup_size, items, pack),
                reason: "reduce-then-scan needs no forward progress; short runs keep a subgroup's loads together",
            }
        }
    }

    /// Reduce-then-scan with sums in scratch.
    pub const fn tiled(workgroup_size: u32, items_per_invocation: u32, items_per_run: u32) -> Self {
        Self {
            sums: SumsPlacement::Scratch,
            workgroup_size,
            items_per_invocation,
            items_per_run,
            subgroup_size: None,
            fixed_tree: false,
        }
    }

    /// The policy of an algorithm, tuned for a device.
    pub fn tuned(algorithm: ScanAlgorithm, capabilities: &Capabilities, config: &ScanConfig) -> Self {
        let tiled = Self::tiles(capabilities, config).policy;
        match algorithm {
            ScanAlgorithm::ReduceThenScan => tiled,
            ScanAlgorithm::Chained => tiled.chained_reproducibly(config),
        }
    }

    /// The same tiles in a single pass.
    pub const fn chained(mut self) -> Self {
        self.sums = SumsPlacement::Status;
        self
    }

    /// The same tiles in a single pass whose results are the same to the bit from run to run: with the fixed tree where
    /// it takes one.
    pub fn chained_reproducibly(self, config: &ScanConfig) -> Self {
        let chained = self.chained();
        if config.rounds() { chained.with_fixed_tree() } else { chained }
    }

    /// The seed, which is the prefix sum of Intel's C-for-Metal development package (tutorial 14, 2019): 256-element
    /// chunks, 32 at a time, each chunk's sum in the chunk's last row. Inclusive and in place only.
    pub const fn seed() -> Self {
        Self {
            sums: SumsPlacement::LastRow,
            workgroup_size: 32,
            items_per_invocation: 8,
            items_per_run: 1,
            subgroup_size: None,
            fixed_tree: false,
        }
    }

    /// The same, in subgroups of `size` lanes.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self
    }

    /// The same in an order of addition that is the plan's alone, which the chained scan otherwise has not.
    pub const fn with_fixed_tree(mut self) -> Self {
        self.fixed_tree = true;
        self
    }

    /// What it is a way to do; its seed is one too.
    pub const fn algorithm(&self) -> ScanAlgorithm {
        match self.sums {
            SumsPlacement::Scratch | SumsPlacement::LastRow => ScanAlgorithm::ReduceThenScan,
            SumsPlacement::Status => ScanAlgorithm::Chained,
        }
    }

    /// Elements in a tile, [`u32::MAX`] at most.
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    pub(super) fn check(&self, config: &ScanConfig, capabilities: &Capabilities) -> Result<()> {
        let invalid = |reason| Err(Error::InvalidPolicy { reason });
        if self.workgroup_size == 0 || self.items_per_invocation == 0 || self.items_per_run == 0 {
            return invalid("workgroup_size, items_per_invocation and items_per_run are at least 1");
        }
        if self.tile_items() > 1 << 20 {
            return invalid("a tile is at most 2^20 elements");
        }
        check_workgroup(self.workgroup_size, capabilities)?;
        let lanes = capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size)?;
        // workgroup_scan.glsl: an element for each subgroup of 4 lanes, and one for the total. Three words take the room
        // of four.
        let shape = config.row_shape();
        let element_size = if shape.element_words == 3 { 16 } else { shape.element_words * 4 };
        // chained.comp: an element and two words more.
        let more_size = if self.sums == SumsPlacement::Status { element_size + 8 } else { 0 };
        if self.fixed_tree && self.algorithm() != ScanAlgorithm::Chained {
            return invalid(
                "fixed_tree is of the chained scan; all others add up in a fixed order as they are",
            );
        }
        let shared_size = (self.workgroup_size / 4 + 1) * element_size + more_size;
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)?;
        match self.sums {
            SumsPlacement::Scratch | SumsPlacement::Status => {
                if !self.workgroup_size.is_multiple_of(lanes) {
                    return invalid("workgroup_size is a multiple of the subgroup size");
                }
                if !self.items_per_run.is_multiple_of(shape.items_per_pack()) {
                    return invalid("items_per_run is a multiple of the elements in 16-byte quads");
                }
                if !self.items_per_invocation.is_multiple_of(self.items_per_run) {
                    return invalid("items_per_run divides items_per_invocation");
                }
                if self.sums == SumsPlacement::Status && config.modules().chained.is_none() {
                    return invalid("the chained scan takes one column, and the library's own operators");
                }
            }
            SumsPlacement::LastRow => {
                if (Self { subgroup_size: None, ..*self }) != Self::seed() {
                    return invalid(
                        "sums in the last row come with the seed's chunks only: ScanPolicy::seed()",
                    );
                }
                if config.kind != ScanKind::Inclusive {
                    return invalid(
                        "the seed's scan is inclusive; use the default policy for an exclusive one",
                    );
                }
                if !config.is_sum_of_u32() || config.column_count() > Self::MAX_SEED_COLUMNS {
                    return invalid(
                        "the seed's scan sums up to 4 columns of u32; use the default policy for others",
                    );
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for ScanPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sums = match self.sums {
            SumsPlacement::Scratch => "scratch",
            SumsPlacement::LastRow => "last row",
            SumsPlacement::Status => "status words",
        };
        write!(
            f,
            "{}: workgroup {}, {} items per invocation in runs of {}, sums in {sums}",
            self.algorithm().name(),
            self.workgroup_size,
            self.items_per_invocation,
            self.items_per_run
        )?;
        if self.fixed_tree {
            f.write_str(", fixed tree")?;
        }
        self.subgroup_size.map_or(Ok(()), |size| write!(f, ", subgroups of {size}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_has_room_for_rows_of_three_as_for_rows_of_four() {
        for (columns, row_size) in [(1, 4), (2, 8), (3, 16), (4, 16)] {
            let needed = (64 / 4 + 1) * row_size;
            let check = |shared_memory_size| {
                let capabilities = Capabilities {
                    subgroup_size: 4,
                    min_subgroup_size: 4,
                    max_subgroup_size: 4,
                    max_workgroup_invocations: 128,
                    shared_memory_size,
                    ..Capabilities::default()
                };
                let config = ScanConfig::inclusive().columns(columns);
                ScanPolicy::tiled(64, 4, 4).check(&config, &capabilities)
            };
            assert_eq!(check(needed), Ok(()), "{columns}");
            assert!(matches!(check(needed - 1), Err(Error::PolicyBeyondDevice { .. })), "{columns}");
        }
    }

    #[test]
    fn senseless_numbers_give_a_policy_that_is_refused_and_no_panic() {
        let capabilities = Capabilities::default();
        for columns in [0, 5, u32::MAX] {
            let config = ScanConfig::inclusive().columns(columns);
            let policy = ScanPolicy::choose(&capabilities, &config).policy;
            assert!(policy.check(&config, &capabilities).is_err());
        }
        let policy = ScanPolicy::tiled(u32::MAX, 3, 1);
        assert_eq!(policy.tile_items(), u32::MAX);
        assert!(policy.check(&ScanConfig::new(ScanKind::Inclusive), &capabilities).is_err());
    }
}
