//! How sorts are tuned, as a table: the first row of the device's architecture, or, where there is none, a formula.
//!
//! "Derived" rows come from what a compiler makes of the kernels, without the device: nothing spills, and registers and
//! shared memory leave room for two workgroups on a compute unit. A measured row names device, driver and command.

use super::policy::{Matching, SortAlgorithm, TileShape};
use crate::vk::{Architecture, Capabilities};

/// How sorts of one kind of keys and values are tuned on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SortTuning {
    /// What sorts more keys than one workgroup holds.
    pub(super) algorithm: SortAlgorithm,
    /// Tiles that are ranked by matching digits.
    pub(super) matched: TileShape,
    pub(super) matching: Matching,
    /// Tiles that are ranked by counters.
    pub(super) counted: TileShape,
    /// Of the kernels that rank; `None` leaves it to the driver.
    pub(super) subgroup_size: Option<u32>,
    /// Of the histogram of all digits.
    pub(super) histogram_subgroup_size: Option<u32>,
    /// Whether ranked tiles are scattered from shared memory, and not from registers.
    pub(super) has_exchange: bool,
    pub(super) mixed_access: bool,
    pub(super) reason: &'static str,
}

/// Items of an invocation: by the words of a key, one or two, and by those of a value, none to two.
type Items = [[u32; 3]; 2];

struct Row {
    architecture: Architecture,
    algorithm: SortAlgorithm,
    /// The workgroup and the items of matched and of counted tiles; `None` leaves them to the formula.
    matched: Option<(u32, Items)>,
    counted: Option<(u32, Items)>,
    matching: Matching,
    subgroup_size: Option<u32>,
    histogram_subgroup_size: Option<u32>,
    has_exchange: bool,
    mixed_access: bool,
    reason: &'static str,
    /// Where the numbers come from.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the table"))]
    source: &'static str,
}

/// What most rows share.
const GPU: Row = Row {
    architecture: Architecture::Nvidia,
    algorithm: SortAlgorithm::Onesweep,
    matched: None,
    counted: None,
    matching: Matching { by_shared_masks: false, has_early_counts: true },
    subgroup_size: None,
    histogram_subgroup_size: None,
    has_exchange: true,
    mixed_access: true,
    reason: "few keys take one dispatch; more are moved as few times as any sort does, in one kernel a pass whose \
             look-back is bounded",
    source: "",
};

const ROWS: &[Row] = &[
    Row {
        architecture: Architecture::Nvidia,
        matched: Some((384, [[20, 18, 18], [18, 18, 14]])),
        matching: Matching { by_shared_masks: true, has_early_counts: true },
        source: "derived: NAK, Mesa 26.1, Ampere: up to 80 registers; workgroup, masks and early counts as in CUB's \
                 Onesweep for sm_90",
        ..GPU
    },
    Row {
        architecture: Architecture::AmdRdna,
        matched: Some((384, [[20, 18, 16], [16, 16, 14]])),
        subgroup_size: Some(32),
        histogram_subgroup_size: Some(64),
        source: "derived: ACO, Mesa 26.1, Navi 21: 32 lanes match in fewer cycles than 64, which count in fewer; ballots \
                 as in rocPRIM",
        ..GPU
    },
    Row {
        architecture: Architecture::AmdGcn,
        matched: Some((256, [[16, 16, 12], [12, 12, 8]])),
        source: "derived: ACO, Mesa 26.1, Vega 10",
        ..GPU
    },
    Row {
        architecture: Architecture::IntelXe,
        matched: Some((256, [[12, 8, 6], [8, 6, 5]])),
        counted: Some((256, [[8, 4, 4], [4, 4, 4]])),
        subgroup_size: Some(16),
        histogram_subgroup_size: Some(16),
        source: "derived: brw, Mesa 26.1, Tiger Lake and Arc: 32 lanes spill, and so do more items",
        ..GPU
    },
    Row {
        architecture: Architecture::IntelXe2,
        matched: Some((256, [[16, 16, 12], [16, 12, 12]])),
        counted: Some((256, [[8, 8, 8], [8, 8, 4]])),
        subgroup_size: Some(16),
        histogram_subgroup_size: Some(16),
        source: "derived: brw, Mesa 26.1, Lunar Lake",
        ..GPU
    },
    Row {
        architecture: Architecture::Adreno,
        matched: Some((256, [[12, 12, 8], [8, 8, 8]])),
        source: "derived: ir3, Mesa 26.1, Adreno 630, 740 and 830: 512 invocations have half of the registers each",
        ..GPU
    },
    Row {
        architecture: Architecture::Apple,
        matched: Some((256, [[16, 16, 12], [12, 12, 8]])),
        source: "derived: Honeykrisp, Mesa 26.1, M1: 32 KiB of shared memory",
        ..GPU
    },
    Row {
        architecture: Architecture::Lavapipe,
        algorithm: SortAlgorithm::Radix4Bit,
        matching: Matching { by_shared_masks: false, has_early_counts: false },
        has_exchange: false,
        mixed_access: false,
        reason: "few keys take one dispatch; on a CPU digits of 4 bits need little scratch, and compile in a third of the \
                 time",
        source: "algorithm measured on lavapipe 22.3.6 at 8 lanes, see README; scatter from registers by a trial there",
        ..GPU
    },
    Row {
        architecture: Architecture::SwiftShader,
        algorithm: SortAlgorithm::Radix8Bit,
        matching: Matching { by_shared_masks: false, has_early_counts: false },
        has_exchange: false,
        mixed_access: false,
        reason: "few keys take one dispatch; SwiftShader sorts more by digits of 8 bits in half the time that 4 bits take",
        source: "algorithm measured on SwiftShader at 4 lanes, see README; the rest as on lavapipe, not measured",
        ..GPU
    },
];

/// Lanes from which matching digits of 8 bits pays: each ballot is shared by as many keys.
const MATCHING_LANES: u32 = 16;

impl SortTuning {
    /// How sorts of keys and values of so many words are tuned on a device.
    pub(super) fn of(capabilities: &Capabilities, key_words: u32, value_words: u32) -> Self {
        let architecture = capabilities.architecture();
        let formula = Self::formula(capabilities);
        let Some(row) = ROWS.iter().find(|row| Some(row.architecture) == architecture) else {
            return formula;
        };
        let shape = |of_row: Option<(u32, Items)>, formula: TileShape| match of_row {
            Some((workgroup_size, items)) => TileShape {
                workgroup_size,
                items_per_invocation: items[key_words as usize - 1][value_words as usize],
            },
            None => formula,
        };
        // Only where the device lets subgroups be asked for.
        let size = |size: Option<u32>| size.filter(|&size| capabilities.can_have_subgroups_of(size));
        let tuning = Self {
            algorithm: row.algorithm,
            matched: shape(row.matched, formula.matched),
            matching: row.matching,
            counted: shape(row.counted, formula.counted),
            subgroup_size: size(row.subgroup_size),
            histogram_subgroup_size: size(row.histogram_subgroup_size),
            has_exchange: row.has_exchange,
            mixed_access: row.mixed_access,
            reason: row.reason,
        };
        // A device with less than others of its architecture.
        if tuning.fits(capabilities) { tuning } else { formula }
    }

    fn fits(&self, capabilities: &Capabilities) -> bool {
        let Self { matched, matching, counted, subgroup_size, .. } = *self;
        matched.check_matched(8, 2, matching, subgroup_size, capabilities).is_ok()
            && counted.check(4, subgroup_size, capabilities).is_ok()
    }

    /// Of a device that no row knows.
    fn formula(capabilities: &Capabilities) -> Self {
        let has_lanes = !capabilities.is_cpu() && capabilities.subgroup_size >= MATCHING_LANES;
        let (algorithm, reason) = if has_lanes {
            (SortAlgorithm::Onesweep, GPU.reason)
        } else {
            (
                SortAlgorithm::Radix4Bit,
                "few keys take one dispatch; on a CPU, or with few lanes, digits of 4 bits need little scratch, and \
                 compile in a third of the time",
            )
        };
        Self {
            algorithm,
            matched: TileShape::matched(capabilities),
            matching: Matching { by_shared_masks: false, has_early_counts: false },
            counted: TileShape::counted(capabilities),
            subgroup_size: None,
            histogram_subgroup_size: None,
            has_exchange: !capabilities.is_cpu(),
            mixed_access: !capabilities.is_cpu(),
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_has_one_row() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..index].iter().all(|other| other.architecture != row.architecture));
            assert!(!row.source.is_empty(), "{:?}", row.architecture);
        }
    }
}
