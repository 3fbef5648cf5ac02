//! Policies of cases: of scans and sorts by name, and what those with small tiles share.

use subsweep::device::Capabilities;
use subsweep::internal::named;
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanPolicy, WorkgroupScan};
use subsweep::sort::{
    ChunkCounting, DigitHistogramShape, Ranking, SortAlgorithm, SortConfig, SortPolicy, TileShape,
};
use subsweep::{ElementType, FewTiles, LookBack};

named! {
    /// A policy, by name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum PolicyName {
        /// The library's tuned policy of the algorithm on the device.
        Default = "default",
        /// The policy of the source documents.
        Seed = "seed",
        /// [`Self::Seed`], with a sort's chunks counted bin by bin.
        SeedBinByBin = "seed-bin-by-bin",
        /// Small tiles: many levels with few elements. Lanes match by ballots, and `onesweep` counts a tile before it ranks
        /// it.
        Small = "small",
        /// [`Self::Small`], with lanes that match by masks in shared memory, in subgroups of up to 32 lanes.
        SmallMasks = "small-masks",
        /// [`Self::Small`], with `onesweep` counting a tile after ranking it.
        SmallLate = "small-late",
        /// [`Self::Small`], with every variant of a look-back and of a digit histogram that measured GPUs have: statuses by
        /// loads and stores, windows, workgroups that stride, loads in flight.
        SmallWindows = "small-windows",
        /// The policy of a plan without a requested one: the algorithm is chosen for the device as well.
        Chosen = "chosen",
        /// The algorithm, with a single workgroup below the crossover, as plans choose on some devices. Sorts only.
        Crossover = "crossover",
    }
}

impl PolicyName {
    /// The variant of a case: its algorithm, and its policy unless that is the default.
    pub(super) fn variant(self, algorithm: &str) -> String {
        match self {
            Self::Default => algorithm.to_owned(),
            policy => format!("{algorithm}, {}", policy.name()),
        }
    }

    /// Whether the policy has small tiles.
    pub const fn is_small(self) -> bool {
        matches!(self, Self::Small | Self::SmallMasks | Self::SmallLate | Self::SmallWindows)
    }

    /// The policy of a scan on a device.
    pub fn scan(
        self,
        capabilities: &Capabilities,
        algorithm: ScanAlgorithm,
        config: &ScanConfig,
    ) -> ScanPolicy {
        let small = ScanPolicy::tiled(small_workgroup(capabilities), 4, 4);
        match self {
            Self::Default | Self::Crossover => ScanPolicy::tuned(algorithm, capabilities, config),
            Self::Seed | Self::SeedBinByBin => ScanPolicy::seed(),
            // Three tiles are scanned without look-back, where order does not matter.
            Self::Small | Self::SmallMasks | Self::SmallLate => {
                let tile = TileShape { workgroup_size: small.workgroup_size, items_per_invocation: 4 };
                let mut small = small;
                small.few = Some(FewTiles { tile, window: 1, max_tiles: 3 });
                small.with_algorithm(algorithm).reproducible(config)
            }
            Self::SmallWindows => {
                small.with_look_back(WINDOWS).with_algorithm(algorithm).reproducible(config)
            }
            Self::Chosen => ScanPolicy::choose(capabilities, config).policy,
        }
    }

    /// The policy of a sort on a device.
    pub fn sort(
        self,
        capabilities: &Capabilities,
        algorithm: SortAlgorithm,
        config: &SortConfig,
    ) -> SortPolicy {
        match self {
            Self::Default => SortPolicy::tuned(algorithm, capabilities, config),
            Self::Seed => SortPolicy::seed(algorithm, capabilities),
            Self::SeedBinByBin => {
                let mut policy = SortPolicy::seed(algorithm, capabilities);
                policy.ranking = Ranking::Ballot(ChunkCounting::BinByBin);
                policy
            }
            Self::Chosen => SortPolicy::choose(capabilities, config).policy,
            Self::Crossover => {
                let mut policy = SortPolicy::tuned(algorithm, capabilities, config);
                policy.single_workgroup = SortPolicy::choose(capabilities, config).policy.single_workgroup;
                // The tile of 8,192 keys is exchanged in parts where shared memory has 32 KiB.
                let workgroup_size = capabilities.max_workgroup_invocations.min(512);
                policy.large_workgroup = Some(TileShape { workgroup_size, items_per_invocation: 16 });
                policy
            }
            Self::Small | Self::SmallMasks | Self::SmallLate | Self::SmallWindows => {
                let mut policy = SortPolicy::tuned(algorithm, capabilities, config);
                policy.workgroup_size = small_workgroup(capabilities);
                policy.items_per_invocation = 4;
                if let Ranking::Match(matching) = &mut policy.ranking {
                    matching.has_early_counts =
                        algorithm == SortAlgorithm::Onesweep && self != Self::SmallLate;
                    matching.by_shared_masks = self == Self::SmallMasks;
                    matching.has_packed_ranks = self == Self::SmallWindows;
                }
                policy.few = None;
                policy.first_in_any_order = self == Self::SmallLate && algorithm == SortAlgorithm::Onesweep;
                if self == Self::SmallWindows {
                    policy.look_back = WINDOWS;
                    policy.first_in_any_order = algorithm == SortAlgorithm::Onesweep;
                    // Also where the tiles of others would be one.
                    let tile = TileShape { workgroup_size: policy.workgroup_size, items_per_invocation: 2 };
                    let few = FewTiles { tile, window: 1, max_tiles: 3 };
                    policy.few = policy.first_in_any_order.then_some(few);
                    policy.max_workgroups = (algorithm == SortAlgorithm::Onesweep).then_some(3);
                    policy.histogram = DigitHistogramShape {
                        items_per_invocation: 4,
                        max_workgroups: Some(3),
                        loads_in_flight: 4,
                        copies: 2,
                    };
                }
                // The choice for GPUs, on CPUs as well, but fewer tiles.
                (policy.has_exchange, policy.mixed_access) = (true, true);
                policy.direct_tiles = 8;
                if let Some(shape) = &mut policy.single_workgroup {
                    *shape = TileShape { workgroup_size: policy.workgroup_size, items_per_invocation: 4 };
                }
                policy.large_workgroup = None;
                // Several dispatches per pass.
                policy.portion_items = 40 * policy.tile_items();
                let algorithm = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
                policy.scan = self.scan(capabilities, algorithm, &ScanConfig::exclusive(ElementType::U32));
                policy
            }
        }
    }
}

/// A look-back that differs from the portable one in everything.
pub(super) const WINDOWS: LookBack = LookBack { has_loads: true, has_stores: true, window: 4, spin_limit: 8 };

/// At least two subgroups, so that small tiles cover the code between subgroups.
pub(super) fn small_workgroup(capabilities: &Capabilities) -> u32 {
    (2 * capabilities.max_subgroup_size).max(32)
}
