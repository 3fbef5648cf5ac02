//! The axes along which a part is tuned.

use super::{KernelShape, TunedPart};

named! {
    /// A number of a [`KernelShape`] that a sweep varies.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum TuningAxis {
        /// Invocations in a workgroup.
        WorkgroupSize = "workgroup",
        /// Items per invocation.
        Items = "items",
        /// Packs per run.
        PacksPerRun = "packs-per-run",
        /// Required subgroup size; 0 for the driver's default.
        SubgroupSize = "lanes",
        /// Quads for full tiles and words for the last, with a branch.
        MixedAccess = "mixed-access",
        /// Matching by masks in shared memory.
        SharedMasks = "masks",
        /// Counts before the ranking.
        EarlyCounts = "early-counts",
        /// Ranks of two items in a word.
        PackedRanks = "packed-ranks",
        /// Exchange of ranked tiles in shared memory.
        Exchange = "exchange",
        /// Statuses read by atomic loads.
        StatusLoads = "status-loads",
        /// Statuses published by atomic stores.
        StatusStores = "status-stores",
        /// Tiles that are read together.
        Window = "window",
        /// Reads of a window before the fallback.
        SpinLimit = "spin-limit",
        /// The maximum of workgroups, which stride over tiles; 0 for a workgroup per tile.
        MaxWorkgroups = "max-workgroups",
        /// Tiles up to which dispatches are fewer, of a sort or a selection, or to which those for few elements are taken.
        FewTiles = "few-tiles",
        /// Keys, or words of values, that are loaded together.
        LoadsInFlight = "loads-in-flight",
        /// Counters in shared memory for each count.
        Copies = "copies",
        /// Steps whose keys are in shared memory.
        SharedSteps = "shared-steps",
        /// Lanes of a cluster.
        Lanes = "cluster-lanes",
        /// Clusters that sort by a network.
        Network = "network",
        /// A first pass of sorts that keeps no order of equal digits.
        AnyOrder = "any-order",
    }
}

const FLAG: &[u32] = &[0, 1];

impl TuningAxis {
    /// Candidates for a part, of which the library refuses some on some devices.
    pub const fn values(self, part: TunedPart) -> &'static [u32] {
        match self {
            Self::WorkgroupSize => &[64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 1024],
            Self::Items => match part {
                TunedPart::Scan | TunedPart::ChainedScan | TunedPart::ChainedScanFew => {
                    &[4, 8, 12, 16, 24, 32, 48, 64]
                }
                TunedPart::Onesweep | TunedPart::Radix8Bit => {
                    &[6, 8, 10, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24]
                }
                TunedPart::OnesweepFew => &[4, 6, 8, 10, 12],
                TunedPart::CountedSort => &[4, 8, 12, 16],
                TunedPart::LargeWorkgroupSort => &[4, 8, 12, 16, 24, 32],
                TunedPart::DigitHistogram => &[16, 32, 48, 64],
                TunedPart::Histogram | TunedPart::LargeHistogram | TunedPart::HistogramInMemory => {
                    &[4, 8, 16, 32, 64]
                }
                TunedPart::Difference => &[4, 8, 16, 32, 64, 128],
                TunedPart::Merge => &[2, 4, 6, 8, 10, 12, 14, 16, 18, 22],
                TunedPart::SegmentedCluster => &[8, 16, 32, 48, 64, 96, 128],
                _ => &[1, 2, 4, 8, 12, 16, 24, 32],
            },
            Self::PacksPerRun | Self::Window => &[1, 2, 4, 8],
            Self::SubgroupSize => &[0, 8, 16, 32, 64, 128],
            Self::MixedAccess
            | Self::SharedMasks
            | Self::EarlyCounts
            | Self::PackedRanks
            | Self::Exchange
            | Self::StatusLoads
            | Self::StatusStores
            | Self::Network
            | Self::AnyOrder => FLAG,
            Self::SpinLimit => &[4, 16, 64, 100, 256],
            Self::MaxWorkgroups => &[0, 132, 264, 528, 1056, 2112],
            Self::FewTiles => match part {
                TunedPart::OnesweepFew => &[64, 128, 256],
                TunedPart::ChainedScanFew => &[4, 8, 16, 32],
                TunedPart::ChainedSelectFew => &[16, 32, 64, 128],
                _ => &[0, 16, 64, 256, 1024],
            },
            Self::LoadsInFlight => match part {
                TunedPart::Histogram | TunedPart::LargeHistogram | TunedPart::HistogramInMemory => {
                    &[4, 8, 16]
                }
                _ => &[1, 2, 4, 8, 16],
            },
            Self::Copies => match part {
                TunedPart::DigitHistogram => &[1, 2, 4],
                _ => &[1, 2, 4, 8, 16, 32],
            },
            Self::SharedSteps => &[4, 6, 7, 8, 9, 10],
            Self::Lanes => &[1, 2, 4, 8, 16],
        }
    }

    /// Whether the values are no and yes, 0 and 1.
    pub fn is_flag(self) -> bool {
        self.values(TunedPart::ALL[0]) == FLAG
    }

    /// The value in a shape.
    pub fn get(self, shape: &KernelShape) -> u32 {
        match self {
            Self::WorkgroupSize => shape.workgroup_size,
            Self::Items => shape.items,
            Self::PacksPerRun => shape.packs_per_run,
            Self::SubgroupSize => shape.subgroup_size.unwrap_or(0),
            Self::MixedAccess => shape.mixed_access.into(),
            Self::SharedMasks => shape.matching.by_shared_masks.into(),
            Self::EarlyCounts => shape.matching.has_early_counts.into(),
            Self::PackedRanks => shape.matching.has_packed_ranks.into(),
            Self::Exchange => shape.has_exchange.into(),
            Self::StatusLoads => shape.look_back.has_loads.into(),
            Self::StatusStores => shape.look_back.has_stores.into(),
            Self::Window => shape.look_back.window,
            Self::SpinLimit => shape.look_back.spin_limit,
            Self::MaxWorkgroups => shape.max_workgroups.unwrap_or(0),
            Self::FewTiles => shape.few_tiles,
            Self::LoadsInFlight => shape.loads_in_flight,
            Self::Copies => shape.copies,
            Self::SharedSteps => shape.shared_steps,
            Self::Lanes => shape.lanes,
            Self::Network => shape.by_network.into(),
            Self::AnyOrder => shape.first_in_any_order.into(),
        }
    }

    /// Sets the value in a shape.
    pub fn set(self, shape: &mut KernelShape, value: u32) {
        let (is_set, some) = (value != 0, Some(value).filter(|&value| value != 0));
        match self {
            Self::WorkgroupSize => shape.workgroup_size = value,
            Self::Items => shape.items = value,
            Self::PacksPerRun => shape.packs_per_run = value,
            Self::SubgroupSize => shape.subgroup_size = some,
            Self::MixedAccess => shape.mixed_access = is_set,
            Self::SharedMasks => shape.matching.by_shared_masks = is_set,
            Self::EarlyCounts => shape.matching.has_early_counts = is_set,
            Self::PackedRanks => shape.matching.has_packed_ranks = is_set,
            Self::Exchange => shape.has_exchange = is_set,
            Self::StatusLoads => shape.look_back.has_loads = is_set,
            Self::StatusStores => shape.look_back.has_stores = is_set,
            Self::Window => shape.look_back.window = value,
            Self::SpinLimit => shape.look_back.spin_limit = value,
            Self::MaxWorkgroups => shape.max_workgroups = some,
            Self::FewTiles => shape.few_tiles = value,
            Self::LoadsInFlight => shape.loads_in_flight = value,
            Self::Copies => shape.copies = value,
            Self::SharedSteps => shape.shared_steps = value,
            Self::Lanes => shape.lanes = value,
            Self::Network => shape.by_network = is_set,
            Self::AnyOrder => shape.first_in_any_order = is_set,
        }
    }
}
