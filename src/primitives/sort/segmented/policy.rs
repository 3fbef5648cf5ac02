//! Policy of a segmented sort: its tuning parameters as a value.

use std::fmt;

use super::config::SegmentedSortConfig;
use crate::device::Capabilities;
use crate::error::{PolicyConflict, Result};
use crate::primitives::scan::ScanPolicy;
use crate::primitives::sort::policy::{COUNT_SCAN, Matching, SortAlgorithm, TileShape, check_scan_of_counts};
use crate::primitives::sort::tuning::{SortTuning, tile};
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{Choice, check_subgroups};

/// Cluster of neighbouring lanes of a subgroup that holds a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClusterShape {
    /// Invocations in a workgroup, which holds `workgroup_size / lanes` clusters.
    pub workgroup_size: u32,
    /// Lanes per cluster: a power of two, at most the subgroup size.
    pub lanes: u32,
    /// Keys per lane: at most 16.
    pub items_per_invocation: u32,
    /// Whether a sorting network sorts a segment, in place of ranking its keys by comparison counting.
    pub by_network: bool,
}

impl ClusterShape {
    /// Keys per cluster.
    pub const fn items(&self) -> u32 {
        self.lanes.saturating_mul(self.items_per_invocation)
    }

    /// Segments per workgroup.
    pub(super) const fn segments_per_workgroup(&self) -> u32 {
        self.workgroup_size / self.lanes
    }

    fn check(&self, subgroup_size: Option<u32>, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(self.workgroup_size, subgroup_size, capabilities)?;
        let fewest_lanes = subgroup_size.unwrap_or(capabilities.min_subgroup_size);
        PolicyConflict::check_power_of_two("lanes", self.lanes)?;
        PolicyConflict::check_range("lanes", self.lanes, 1..=fewest_lanes)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=16)
    }
}

/// Policy of a segmented sort. The number of keys determines the size class of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SegmentedSortPolicy {
    /// Size class of short segments: a cluster of lanes.
    pub cluster: ClusterShape,
    /// Size classes of longer segments: a small and a large workgroup.
    pub workgroups: [TileShape; 2],
    /// Tiles of long segments, with digits of 8 bits; up to 64 items per invocation.
    pub tile: TileShape,
    /// Matching of digits in a tile, without early counts.
    pub matching: Matching,
    /// Whether ranked tiles are exchanged in shared memory before they are scattered.
    pub has_exchange: bool,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// Policy of the scan of counts.
    pub scan: ScanPolicy,
}

impl SegmentedSortPolicy {
    /// Bits of a digit in a workgroup.
    pub(super) const WORKGROUP_RADIX_BITS: u32 = SortAlgorithm::SingleWorkgroup.radix_bits();
    /// Bits of a digit in a tile.
    pub(super) const TILE_RADIX_BITS: u32 = SortAlgorithm::Radix8Bit.radix_bits();

    /// Chooses the policy for a configuration on a device.
    pub fn choose(capabilities: &Capabilities, config: &SegmentedSortConfig) -> Choice<Self> {
        let words = config.sort.words();
        let SortTuning { radix_8bit, counted, .. } = SortTuning::new(capabilities, words);
        let KernelShape { matching, subgroup_size, has_exchange, .. } = radix_8bit;
        let counted = tile(&counted);
        let cluster = tuning::shape_of(capabilities, TunedPart::SegmentedCluster, words);
        let small = tuning::shape_of(capabilities, TunedPart::SegmentedSmall, words);
        let widest = capabilities.max_subgroup_size;
        let lanes = 1 << capabilities.min_subgroup_size.clamp(1, cluster.lanes).ilog2();
        let counts = COUNT_SCAN.indirect_count();
        let workgroup = |workgroup_size: u32| {
            workgroup_size.max(widest).min(capabilities.max_workgroup_invocations) / 32 * 32
        };
        // Segments that barely exceed a workgroup do not fill larger tiles, and 8,192 keys in 512 invocations fit in
        // registers even with two words per key.
        let TileShape { workgroup_size, items_per_invocation } = tile(&radix_8bit);
        let items_per_invocation = items_per_invocation.min((8192 / workgroup_size.max(1)).max(1));
        Choice {
            policy: Self {
                cluster: ClusterShape {
                    workgroup_size: workgroup(cluster.workgroup_size),
                    lanes,
                    items_per_invocation: (cluster.items / lanes).min(16),
                    by_network: cluster.by_network,
                },
                workgroups: [
                    TileShape {
                        workgroup_size: workgroup(small.workgroup_size),
                        items_per_invocation: counted.items_per_invocation.min(small.items),
                    },
                    counted,
                ],
                tile: TileShape { workgroup_size, items_per_invocation },
                matching: Matching { has_early_counts: false, ..matching },
                has_exchange,
                subgroup_size,
                scan: ScanPolicy::choose(capabilities, &counts).policy,
            },
            reason: "each segment is sorted by the smallest size class that holds it, and read and written once; only \
                     longer ones take passes",
        }
    }

    /// The policy with a required subgroup size, also for the scan of counts.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self.scan = self.scan.with_subgroup_size(size);
        self
    }

    /// Maximum length of segments by size class: cluster, small workgroup, large workgroup. Longer ones are long.
    pub const fn max_extents(&self) -> [u32; 3] {
        let [small, large] = &self.workgroups;
        [self.cluster.items(), small.tile_items(), large.tile_items()]
    }

    /// Whether there may be segments of a size class: an index of [`Self::max_extents`], or the next index for long ones.
    pub(super) fn has_class(&self, config: &SegmentedSortConfig, class: usize) -> bool {
        let class_of = |extent: u32| self.max_extents().partition_point(|&max| max < extent);
        config.row_length.is_none_or(|length| class_of(length) == class)
    }

    pub(super) fn check(&self, _: &SegmentedSortConfig, capabilities: &Capabilities) -> Result<()> {
        check_scan_of_counts(&self.scan, &COUNT_SCAN.indirect_count())?;
        self.cluster.check(self.subgroup_size, capabilities)?;
        for shape in &self.workgroups {
            shape.check(Self::WORKGROUP_RADIX_BITS, self.subgroup_size, capabilities)?;
        }
        PolicyConflict::check(!self.matching.has_early_counts, "early counts require onesweep")?;
        self.tile.check_matched(Self::TILE_RADIX_BITS, 1, self.matching, self.subgroup_size, capabilities)?;
        PolicyConflict::check(
            self.max_extents().is_sorted_by(|shorter, longer| shorter < longer),
            "a cluster holds fewer keys than the small workgroup, and that fewer than the large one",
        )
    }
}

impl fmt::Display for SegmentedSortPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [short, small, large] = self.max_extents();
        let ClusterShape { workgroup_size, lanes, items_per_invocation, by_network } = self.cluster;
        write!(
            f,
            "segments of up to {short} keys: {lanes} lanes, {items_per_invocation} items per invocation, "
        )?;
        write!(f, "workgroup {workgroup_size}{}; ", if by_network { ", by a network" } else { "" })?;
        for (max, TileShape { workgroup_size, items_per_invocation }) in
            [small, large].into_iter().zip(self.workgroups)
        {
            write!(
                f,
                "of up to {max}: workgroup {workgroup_size}, {items_per_invocation} items per invocation; "
            )?;
        }
        let TileShape { workgroup_size, items_per_invocation } = self.tile;
        write!(
            f,
            "others: radix-8bit, workgroup {workgroup_size}, {items_per_invocation} items per invocation"
        )?;
        if self.matching.by_shared_masks {
            f.write_str(", matching lanes by shared masks")?;
        }
        if !self.has_exchange {
            f.write_str(", scattered from registers")?;
        }
        if let Some(size) = self.subgroup_size {
            write!(f, "; subgroups of {size}")?;
        }
        write!(f, "; counts by {}", self.scan)
    }
}

#[cfg(test)]
mod tests;
