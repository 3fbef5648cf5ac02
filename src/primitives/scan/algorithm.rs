//! Scan algorithms and their names.

use std::fmt;

use super::config::ScanConfig;

/// Algorithm of a scan across workgroups.
///
/// Policies choose the single pass and reduce-then-scan, by subgroups or by Sklansky's network. All others are the textbooks',
/// to be studied and compared, and need the feature `textbook`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScanAlgorithm {
    /// Reduce each tile, scan the tile aggregates, then scan each tile from its carry-in.
    ReduceThenScan(WorkgroupScan),
    /// Scan each tile, scan the tile aggregates, then add them to the tiles in another pass.
    #[cfg(feature = "textbook")]
    ScanThenPropagate,
    /// A single pass with decoupled look-back: tiles publish their aggregates and prefixes.
    Chained,
    /// Sklansky's network: scanned blocks double in size with every pass.
    #[cfg(feature = "textbook")]
    BlockDoubling,
    /// Adds elements at half the distance with every pass, from buffer to buffer.
    #[cfg(feature = "textbook")]
    Strided,
}

named! {
    /// Workgroup scan: the scan of the invocations' aggregates within a workgroup. The name is the suffix of the algorithm's.
    /// All but subgroup scans and Sklansky's network need the feature `textbook`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    #[non_exhaustive]
    pub enum WorkgroupScan {
        /// Subgroup scans, then a scan of the subgroups' aggregates by one subgroup.
        #[default]
        Subgroup = "subgroup",
        /// Kogge-Stone: each invocation adds the element 1, 2, 4, … before it; two barriers per step.
        KoggeStone = "kogge-stone" if feature "textbook",
        /// Kogge-Stone with double buffering: one barrier per step, and an additional copy.
        KoggeStoneDoubleBuffered = "kogge-stone-double-buffered" if feature "textbook",
        /// Brent-Kung: up-sweep and down-sweep of a tree of sums.
        BrentKung = "brent-kung" if feature "textbook",
        /// Sklansky: blocks double; the upper half adds the last element of the lower half.
        Sklansky = "sklansky",
        /// One invocation adds all elements.
        Sequential = "sequential" if feature "textbook",
    }
}

impl WorkgroupScan {
    /// Elements of shared memory for `workgroup_size` invocations.
    pub(super) const fn shared_elements(self, workgroup_size: u32) -> u32 {
        match self {
            // workgroup_scan.glsl: one for each subgroup of 4 lanes, and one for the total.
            Self::Subgroup => workgroup_size / 4 + 1,
            #[cfg(feature = "textbook")]
            Self::KoggeStoneDoubleBuffered => workgroup_size.saturating_mul(2),
            _ => workgroup_size,
        }
    }

    /// Maximum number of operations between an invocation's aggregate and a result, for rounding bounds.
    pub(super) fn depth(self, workgroup_size: u32) -> u64 {
        let steps = u64::from(workgroup_size.next_power_of_two().ilog2());
        match self {
            // Depends on the subgroup size, which the caller adds.
            Self::Subgroup => 0,
            #[cfg(feature = "textbook")]
            Self::BrentKung => 2 * steps,
            #[cfg(feature = "textbook")]
            Self::Sequential => workgroup_size.into(),
            _ => steps,
        }
    }
}

impl ScanAlgorithm {
    /// All algorithms, in the order of listings.
    #[cfg(not(feature = "textbook"))]
    pub const ALL: [Self; 3] = [
        Self::ReduceThenScan(WorkgroupScan::Subgroup),
        Self::ReduceThenScan(WorkgroupScan::Sklansky),
        Self::Chained,
    ];
    /// All algorithms, in the order of listings.
    #[cfg(feature = "textbook")]
    pub const ALL: [Self; 10] = [
        Self::ReduceThenScan(WorkgroupScan::Subgroup),
        Self::ReduceThenScan(WorkgroupScan::KoggeStone),
        Self::ReduceThenScan(WorkgroupScan::KoggeStoneDoubleBuffered),
        Self::ReduceThenScan(WorkgroupScan::BrentKung),
        Self::ReduceThenScan(WorkgroupScan::Sklansky),
        Self::ReduceThenScan(WorkgroupScan::Sequential),
        Self::ScanThenPropagate,
        Self::Chained,
        Self::BlockDoubling,
        Self::Strided,
    ];

    /// The name that selects the algorithm. The suffix `/subgroup` is omitted.
    pub const fn name(self) -> &'static str {
        self.texts()[0]
    }

    /// The algorithm of a name; `reduce-then-scan/subgroup` is `reduce-then-scan`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name == "reduce-then-scan/subgroup" { "reduce-then-scan" } else { name };
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// One line for listings: method, bytes moved, dispatches and source.
    pub const fn summary(self) -> &'static str {
        self.texts()[1]
    }

    /// The name and the summary.
    const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::ReduceThenScan(WorkgroupScan::Subgroup) => [
                "reduce-then-scan",
                "also reduce-then-scan/subgroup: sums of tiles, scan of the sums level by level, scan of the tiles; moves 8 bytes per u32 in 1 \
                 dispatch for a tile, else 12 in 3 dispatches for two levels and 2 more for each other; C-for-Metal tutorial 14",
            ],
            #[cfg(feature = "textbook")]
            Self::ReduceThenScan(WorkgroupScan::KoggeStone) => [
                "reduce-then-scan/kogge-stone",
                "the same; a tile's N invocations in log2 N steps of two barriers, N log2 N - (N - 1) operations; \
                 12 bytes, as many dispatches; Kogge and Stone 1973, PMPP ch. 11",
            ],
            #[cfg(feature = "textbook")]
            Self::ReduceThenScan(WorkgroupScan::KoggeStoneDoubleBuffered) => [
                "reduce-then-scan/kogge-stone-double-buffered",
                "the same; one barrier a step, from buffer to buffer, as many operations; 12 bytes, as many \
                 dispatches; PMPP ch. 11",
            ],
            #[cfg(feature = "textbook")]
            Self::ReduceThenScan(WorkgroupScan::BrentKung) => [
                "reduce-then-scan/brent-kung",
                "the same; up a tree and down, 2 log2 N - 1 steps, 2 N - log2 N - 2 operations; 12 bytes, as many \
                 dispatches; Brent and Kung 1982, PMPP ch. 11",
            ],
            Self::ReduceThenScan(WorkgroupScan::Sklansky) => [
                "reduce-then-scan/sklansky",
                "the same; blocks double, log2 N steps, N/2 log2 N operations; 12 bytes, as many dispatches; \
                 also sums of f32 and f64, with the same bits on every device; Sklansky 1960",
            ],
            #[cfg(feature = "textbook")]
            Self::ReduceThenScan(WorkgroupScan::Sequential) => [
                "reduce-then-scan/sequential",
                "the same; one invocation for all, N - 1 operations one after the other; 12 bytes, as many \
                 dispatches; PMPP ch. 11",
            ],
            #[cfg(feature = "textbook")]
            Self::ScanThenPropagate => [
                "scan-then-propagate",
                "scan of tiles, scan of their sums level by level, which is added to the tiles; moves 8 bytes per \
                 u32 in 1 dispatch for a tile, else 16 in 2 dispatches more for each level above; OpenCL exercise 5, PMPP ch. 11",
            ],
            Self::Chained => [
                "chained",
                "single pass over the tiles with decoupled look-back; moves 8 bytes per u32 in 1 dispatch, out of place; \
                 Merrill and Garland 2016, Smith, Levien and Owens 2025",
            ],
            #[cfg(feature = "textbook")]
            Self::BlockDoubling => [
                "block-doubling",
                "scanned blocks double, the upper one adding the end of the lower one; moves 8 bytes per u32 in the \
                 first of log2 n dispatches, and 4 in each other; Mr. Peabody and Sherman, method 1",
            ],
            #[cfg(feature = "textbook")]
            Self::Strided => [
                "strided",
                "elements n/2, n/4, … 1 apart are added, from buffer to buffer; moves up to 12 bytes per u32 in each \
                 of log2 n dispatches, and takes scratch for all elements; Mr. Peabody and Sherman, method 2",
            ],
        }
    }

    /// The reason why the algorithm does not support a configuration, on any device; `None` if it does.
    pub fn refusal(self, config: &ScanConfig) -> Option<&'static str> {
        let is_of_u32 = config.is_sum_of_u32() && config.column_count() == 1;
        #[cfg(feature = "textbook")]
        let is_inclusive = config.kind == super::ScanKind::Inclusive;
        let (is_supported, reason) = match self {
            Self::ReduceThenScan(WorkgroupScan::Subgroup) => return None,
            Self::Chained => (
                config.is_chainable(),
                "it takes one column, no segments, and the library's own operators; use reduce-then-scan for others",
            ),
            Self::ReduceThenScan(WorkgroupScan::Sklansky) => (
                is_of_u32 && config.is_plain()
                    || config.rounds() && config.column_count() == 1 && config.segments.is_none(),
                "it sums up u32 in one column only, forward and without an initial value, or floats in one column without segments or rows; use reduce-then-scan for others",
            ),
            #[cfg(feature = "textbook")]
            Self::ReduceThenScan(_) | Self::ScanThenPropagate => (
                is_of_u32 && config.is_plain(),
                "it sums up u32 in one column only, forward and without an initial value; use reduce-then-scan for others",
            ),
            #[cfg(feature = "textbook")]
            Self::BlockDoubling => (
                is_of_u32 && is_inclusive && config.is_plain(),
                "it sums up u32 in one column only, inclusively, forward and without an initial value; use reduce-then-scan for others",
            ),
            #[cfg(feature = "textbook")]
            Self::Strided => (
                is_of_u32 && is_inclusive && config.is_plain_either_way(),
                "it sums up u32 in one column only, inclusively, without an initial value; use reduce-then-scan for others",
            ),
        };
        (!is_supported).then_some(reason)
    }

    /// The workgroup scan of the algorithm; `None` without one.
    pub(super) const fn workgroup_scan(self) -> Option<WorkgroupScan> {
        match self {
            Self::ReduceThenScan(scan) => Some(scan),
            #[cfg(feature = "textbook")]
            Self::BlockDoubling | Self::Strided => None,
            _ => Some(WorkgroupScan::Subgroup),
        }
    }

    /// Whether an invocation has a single run of items.
    pub(super) fn has_one_run(self) -> bool {
        self.workgroup_scan() != Some(WorkgroupScan::Subgroup)
    }

    /// Whether the workgroup size must be a power of two.
    pub(super) const fn needs_power_of_two(self) -> bool {
        match self {
            #[cfg(feature = "textbook")]
            Self::ReduceThenScan(WorkgroupScan::BrentKung) | Self::BlockDoubling => true,
            _ => false,
        }
    }
}

impl fmt::Display for ScanAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
