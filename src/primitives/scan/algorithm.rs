//! The ways to scan, by name.

use std::fmt;

use super::config::ScanConfig;

/// What a scan does on the whole device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScanAlgorithm {
    /// Sums of tiles, their scan, and the scan of each tile from its carry-in.
    ReduceThenScan(WorkgroupScan),
    /// One pass in which tiles tell one another their sums.
    Chained,
}

/// How the invocations of a workgroup scan what each of them has summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WorkgroupScan {
    /// By the device's own scan of a subgroup, and by one subgroup over all of them.
    #[default]
    Subgroup,
}

impl WorkgroupScan {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Subgroup];
}

impl ScanAlgorithm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ReduceThenScan(WorkgroupScan::Subgroup), Self::Chained];

    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReduceThenScan(WorkgroupScan::Subgroup) => "reduce-then-scan",
            Self::Chained => "chained",
        }
    }

    /// The algorithm that a name selects; `reduce-then-scan/subgroup` is `reduce-then-scan` as well.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "reduce-then-scan/subgroup" { "reduce-then-scan" } else { name };
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// One line for a list: what it does, bytes moved, dispatches, and source.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::ReduceThenScan(WorkgroupScan::Subgroup) => {
                "sums of tiles, scan of the sums level by level, scan of the tiles; moves 12 bytes per u32 in \
                 2 dispatches a level, less 1; C-for-Metal tutorial 14"
            }
            Self::Chained => {
                "one pass over the tiles, each looking back at what earlier ones have told; moves 8 bytes per u32 in \
                 1 dispatch, out of place; Merrill and Garland 2016, Smith, Levien and Owens 2025"
            }
        }
    }

    /// Why it does not carry out a configuration, on any device; `None` if it does.
    pub fn refusal(self, config: &ScanConfig) -> Option<&'static str> {
        match self {
            Self::ReduceThenScan(WorkgroupScan::Subgroup) => None,
            Self::Chained => (!config.is_chainable())
                .then_some("the chained scan takes one column, and the library's own operators"),
        }
    }
}

impl fmt::Display for ScanAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
