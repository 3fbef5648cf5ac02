//! The parts: kernels of primitives that are tuned together, and their axes.

use super::TuningAxis;

named! {
    /// Kernels of a primitive that are tuned together, in the order of a sweep: those from whose speed most gain, first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum TunedPart {
        /// Passes of `onesweep`; items are keys.
        Onesweep = "sort-onesweep",
        /// Passes of `onesweep` over few keys; items are keys.
        OnesweepFew = "sort-onesweep-few",
        /// The single-pass scan; items are words of elements.
        ChainedScan = "scan-chained",
        /// The scan of few elements in one dispatch without look-back; items are words of elements.
        ChainedScanFew = "scan-few",
        /// The histogram of all digits, in workgroups of the size of the passes; items are keys.
        DigitHistogram = "sort-digit-histogram",
        /// The single-pass selection; items are elements of a word.
        ChainedSelect = "select-chained",
        /// The single-pass selection of few elements; items are elements of a word.
        ChainedSelectFew = "select-few",
        /// Histograms with copies of the counters in shared memory; items are the least number of values.
        Histogram = "histogram",
        /// Merges; items are keys, fewer where they do not fit in shared memory.
        Merge = "merge",
        /// Scans in several passes; items are words of elements.
        Scan = "scan",
        /// Adjacent differences; items are numbers.
        Difference = "difference",
        /// The single-pass encoding of runs; items are elements of a word.
        ChainedRunLength = "run-length-chained",
        /// The single-pass reduction by key; items are rows of a key and a value of a word each.
        ChainedReduceByKey = "reduce-by-key-chained",
        /// Lengths of runs and decoding; items are runs or elements.
        RunLength = "run-length",
        /// Segments that a cluster of lanes holds; items are keys of a cluster.
        SegmentedCluster = "segmented-cluster",
        /// Segments that a small workgroup holds; items are keys.
        SegmentedSmall = "segmented-small",
        /// Short rows of a top-k; items are keys of each of the lanes that hold a row, 0 for tiles.
        TopKRows = "top-k-rows",
        /// Radix select of few keys of each tile, of which many run side by side; items are keys.
        TopKFew = "top-k-few",
        /// Radix select of a top-k: the largest workgroup; items are keys.
        TopK = "top-k",
        /// Searches; items are needles.
        Search = "search",
        /// Gathers; items are accesses.
        Gather = "gather",
        /// Reductions; items are packs of 16 bytes.
        Reduce = "reduce",
        /// Finding the runs of equal keys of a reduction by key; items are keys.
        ReduceByKey = "reduce-by-key",
        /// Scans of floats with the same bits on every device; items are words of elements.
        ScanTree = "scan-tree",
        /// Selections and partitions in several passes; items are elements of a word.
        Select = "select",
        /// Histograms with one copy of the counters in shared memory, whose number gives the number of values.
        LargeHistogram = "histogram-large",
        /// Histograms whose counters do not fit in shared memory.
        HistogramInMemory = "histogram-in-memory",
        /// Passes of `radix-8bit`, also of long segments; items are keys.
        Radix8Bit = "sort-radix-8bit",
        /// Sorts that rank by counters: in one workgroup, also of segments, and by digits of up to 4 bits; items are keys.
        CountedSort = "sort-counted",
        /// The sort in one workgroup of more keys than the workgroup of `CountedSort` holds, if it holds more; items are
        /// keys.
        LargeWorkgroupSort = "sort-large-workgroup",
        /// Top-k by a segmented sort; items are keys.
        TopKSort = "top-k-sort",
    }
}

impl TunedPart {
    /// The axes of the part: the fields of a [`KernelShape`](super::KernelShape) that it uses, those with the largest effect first.
    pub const fn axes(self) -> &'static [TuningAxis] {
        use TuningAxis::*;
        match self {
            Self::Scan => &[Items, WorkgroupSize, PacksPerRun, SubgroupSize, MixedAccess],
            Self::ChainedScan => &[
                StatusLoads,
                StatusStores,
                Items,
                WorkgroupSize,
                Window,
                PacksPerRun,
                SubgroupSize,
                MixedAccess,
                SpinLimit,
            ],
            Self::ChainedScanFew => &[WorkgroupSize, Items, FewTiles],
            Self::Select => &[Items, WorkgroupSize, FewTiles, SubgroupSize],
            Self::ChainedSelect | Self::ChainedRunLength => {
                &[StatusLoads, StatusStores, Items, WorkgroupSize, Window, SubgroupSize, SpinLimit]
            }
            // Reductions set the subgroup size.
            Self::ChainedReduceByKey => &[StatusLoads, StatusStores, Items, WorkgroupSize, Window, SpinLimit],
            Self::Onesweep => &[
                StatusLoads,
                StatusStores,
                Window,
                WorkgroupSize,
                Items,
                SharedMasks,
                MaxWorkgroups,
                FewTiles,
                AnyOrder,
                PackedRanks,
                EarlyCounts,
                Exchange,
                SubgroupSize,
                SpinLimit,
            ],
            Self::OnesweepFew | Self::ChainedSelectFew => &[Window, WorkgroupSize, Items, FewTiles],
            Self::Radix8Bit => &[WorkgroupSize, Items, SharedMasks, PackedRanks, Exchange, SubgroupSize],
            Self::CountedSort => &[WorkgroupSize, Items, Exchange, MixedAccess, SubgroupSize],
            Self::LargeWorkgroupSort => &[WorkgroupSize, Items],
            Self::DigitHistogram => &[MaxWorkgroups, LoadsInFlight, Copies, Items, SubgroupSize],
            // With other items, sums of floats have other bits than on other devices.
            Self::Reduce | Self::ScanTree => &[SubgroupSize, MixedAccess],
            Self::Histogram => &[Copies, MaxWorkgroups, LoadsInFlight, Items, WorkgroupSize, SubgroupSize],
            Self::LargeHistogram => &[WorkgroupSize, MaxWorkgroups, LoadsInFlight, SubgroupSize],
            Self::HistogramInMemory => &[WorkgroupSize, LoadsInFlight, Items, SubgroupSize],
            Self::Search => &[Items, WorkgroupSize, SharedSteps, SubgroupSize],
            Self::Merge => &[LoadsInFlight, Items, WorkgroupSize, SubgroupSize],
            Self::Difference | Self::RunLength | Self::Gather => &[Items, WorkgroupSize, SubgroupSize],
            Self::TopKRows | Self::TopK => &[Items, WorkgroupSize, SubgroupSize],
            Self::ReduceByKey | Self::TopKFew | Self::TopKSort => &[Items, WorkgroupSize],
            Self::SegmentedCluster => &[Network, Lanes, Items, WorkgroupSize],
            Self::SegmentedSmall => &[Items, WorkgroupSize],
        }
    }

    /// The kernels that process all items, if their main paths can be compiled alone.
    pub const fn hot_kernels(self) -> &'static [&'static str] {
        match self {
            Self::Scan => &["scan/reduce", "scan/downsweep"],
            Self::ChainedScan => &["scan/chained"],
            Self::Onesweep => &["sort/onesweep"],
            Self::Radix8Bit => &["sort/count_bins", "sort/scatter"],
            Self::CountedSort => &["sort/count", "sort/scatter"],
            _ => &[],
        }
    }

    /// Whether the part has rows by the words of keys or elements, and of values.
    pub const fn has_words(self) -> bool {
        matches!(
            self,
            Self::Scan
                | Self::ChainedScan
                | Self::ChainedScanFew
                | Self::Onesweep
                | Self::OnesweepFew
                | Self::Radix8Bit
                | Self::CountedSort
                | Self::LargeWorkgroupSort
                | Self::DigitHistogram
                | Self::TopK
                | Self::TopKFew
        )
    }
}
