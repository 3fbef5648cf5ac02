//! Tuning table of sorts: one row per architecture, and a formula for other devices.
//!
//! "Derived" rows follow from compiler statistics without the device: no spills, and registers and shared memory for
//! two workgroups per compute unit. A measured row names device, driver and command.

use super::policy::{Matching, SortAlgorithm, TileShape};
#[cfg(feature = "cli")]
use super::policy::{Ranking, SortPolicy};
use crate::device::{Architecture, Capabilities};

/// Tuning of sorts on a device, for a key and a value size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SortTuning {
    /// Algorithm for more keys than one workgroup holds.
    pub(super) algorithm: SortAlgorithm,
    /// Tiles ranked by match: of onesweep and radix-8bit.
    pub(super) matched: TileShape,
    pub(super) matching: Matching,
    /// Tiles ranked by counters: of radix-4bit, radix-2bit and the single workgroup.
    pub(super) counted: TileShape,
    /// Required subgroup size of ranking kernels; `None` for the driver's default.
    pub(super) subgroup_size: Option<u32>,
    /// Required subgroup size of the histogram of all digits.
    pub(super) histogram_subgroup_size: Option<u32>,
    /// Whether ranked tiles are exchanged in shared memory before they are scattered.
    pub(super) has_exchange: bool,
    pub(super) mixed_access: bool,
    pub(super) reason: &'static str,
}

/// Items per invocation: `[[keys, pairs of 4-byte values, of 8-byte values] of 4-byte keys, likewise of 8-byte keys]`.
type Items = [[u32; 3]; 2];

#[derive(Debug, Clone, Copy)]
struct TuningRow<'a> {
    architecture: Architecture,
    algorithm: SortAlgorithm,
    /// Workgroup size and items of matched and counted tiles; `None` for the formula.
    matched: Option<(u32, Items)>,
    counted: Option<(u32, Items)>,
    matching: Matching,
    subgroup_size: Option<u32>,
    histogram_subgroup_size: Option<u32>,
    has_exchange: bool,
    mixed_access: bool,
    reason: &'a str,
    /// Source of the numbers.
    #[cfg_attr(not(any(test, feature = "cli")), expect(dead_code, reason = "for readers of the table"))]
    source: &'a str,
}

/// Values shared by most rows.
const GPU: TuningRow<'static> = TuningRow {
    architecture: Architecture::Nvidia,
    algorithm: SortAlgorithm::Onesweep,
    matched: None,
    counted: None,
    matching: Matching { by_shared_masks: false, has_early_counts: true },
    subgroup_size: None,
    histogram_subgroup_size: None,
    has_exchange: true,
    mixed_access: true,
    reason: "few keys take one dispatch; onesweep moves more keys the fewest times, in one kernel per pass with a \
             bounded look-back",
    source: "",
};

const ROWS: &[TuningRow<'static>] = &[
    TuningRow {
        architecture: Architecture::Nvidia,
        matched: Some((384, [[20, 18, 14], [18, 14, 12]])),
        matching: Matching { by_shared_masks: true, has_early_counts: true },
        source: "derived: NAK, Mesa 26.1, Ampere: up to 80 registers; workgroup, masks and early counts as in CUB's \
                 Onesweep for sm_90",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::AmdRdna,
        matched: Some((384, [[20, 18, 16], [16, 16, 14]])),
        subgroup_size: Some(32),
        histogram_subgroup_size: Some(64),
        source: "derived: ACO, Mesa 26.1, Navi 21, no spills on RDNA 3 and 4 either: 32 lanes match in fewer cycles than \
                 64, which count in fewer; ballots as in rocPRIM",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::AmdGcn,
        matched: Some((256, [[16, 16, 12], [12, 12, 8]])),
        source: "derived: ACO, Mesa 26.1, Vega 10",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::IntelXe,
        matched: Some((256, [[12, 8, 6], [8, 6, 5]])),
        counted: Some((256, [[8, 4, 4], [4, 4, 4]])),
        subgroup_size: Some(16),
        histogram_subgroup_size: Some(16),
        source: "derived: brw, Mesa 26.1, Tiger Lake and Arc: 32 lanes spill, and so do more items",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::IntelXe2,
        matched: Some((256, [[16, 16, 12], [16, 12, 12]])),
        counted: Some((256, [[8, 8, 8], [8, 8, 4]])),
        subgroup_size: Some(16),
        histogram_subgroup_size: Some(16),
        source: "derived: brw, Mesa 26.1, Lunar Lake",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::Adreno,
        matched: Some((256, [[12, 12, 8], [8, 8, 8]])),
        source: "derived: ir3, Mesa 26.1, Adreno 630, 740 and 830: 512 invocations have half of the registers each",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::Apple,
        matched: Some((256, [[16, 16, 12], [12, 12, 8]])),
        source: "derived: Honeykrisp, Mesa 26.1, M1: 32 KiB of shared memory",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::Lavapipe,
        algorithm: SortAlgorithm::Radix4Bit,
        matching: Matching { by_shared_masks: false, has_early_counts: false },
        has_exchange: false,
        mixed_access: false,
        reason: "few keys take one dispatch; on a CPU digits of 4 bits need little scratch, and compile in a third of the \
                 time",
        source: "algorithm measured on lavapipe 22.3.6 at 8 lanes, see docs/results.md; scatter from registers by a trial there",
        ..GPU
    },
    TuningRow {
        architecture: Architecture::SwiftShader,
        algorithm: SortAlgorithm::Radix8Bit,
        matching: Matching { by_shared_masks: false, has_early_counts: false },
        has_exchange: false,
        mixed_access: false,
        reason: "few keys take one dispatch; SwiftShader sorts more by digits of 8 bits in half the time that 4 bits take",
        source: "algorithm measured on SwiftShader at 4 lanes, see docs/results.md; the rest as on lavapipe, not measured",
        ..GPU
    },
];

/// Minimum subgroup size at which ranking by match pays: each ballot is shared by as many keys.
const MATCHING_LANES: u32 = 16;

impl SortTuning {
    /// The tuning of a device, for keys and values of `key_words` and `value_words` words.
    pub(super) fn of(capabilities: &Capabilities, key_words: u32, value_words: u32) -> Self {
        let architecture = capabilities.architecture();
        let formula = Self::formula(capabilities);
        let Some(row) = ROWS.iter().find(|row| Some(row.architecture) == architecture) else {
            return formula;
        };
        let tuning = Self::of_row(row, formula, capabilities, key_words, value_words);
        // The device may have lower limits than others of its architecture.
        if tuning.fits(capabilities) { tuning } else { formula }
    }

    fn of_row(
        row: &TuningRow<'static>,
        formula: Self,
        capabilities: &Capabilities,
        key_words: u32,
        value_words: u32,
    ) -> Self {
        let shape = |of_row: Option<(u32, Items)>, formula: TileShape| match of_row {
            Some((workgroup_size, items)) => TileShape {
                workgroup_size,
                items_per_invocation: items[key_words as usize - 1][value_words as usize],
            },
            None => formula,
        };
        // Only where the device supports the subgroup size.
        let size = |size: Option<u32>| size.filter(|&size| capabilities.can_have_subgroups_of(size));
        Self {
            algorithm: row.algorithm,
            matched: shape(row.matched, formula.matched),
            matching: row.matching,
            counted: shape(row.counted, formula.counted),
            subgroup_size: size(row.subgroup_size),
            histogram_subgroup_size: size(row.histogram_subgroup_size),
            has_exchange: row.has_exchange,
            mixed_access: row.mixed_access,
            reason: row.reason,
        }
    }

    fn fits(&self, capabilities: &Capabilities) -> bool {
        let Self { matched, matching, counted, subgroup_size, .. } = *self;
        matched.check_matched(8, 2, matching, subgroup_size, capabilities).is_ok()
            && counted.check(4, subgroup_size, capabilities).is_ok()
    }

    /// The tuning of a device without a row.
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

/// Whether the policy can be a row of the table: it must fit with 64-bit offsets.
#[cfg(feature = "cli")]
pub(crate) fn can_be_row(policy: &SortPolicy, capabilities: &Capabilities) -> bool {
    let SortPolicy { workgroup_size, items_per_invocation, subgroup_size, .. } = *policy;
    let shape = TileShape { workgroup_size, items_per_invocation };
    match policy.ranking {
        Ranking::Match(matching) => shape.check_matched(8, 2, matching, subgroup_size, capabilities).is_ok(),
        _ => shape.check(4, subgroup_size, capabilities).is_ok(),
    }
}

/// A row of the table, in the syntax of this file, for measured policies by the words of keys and values, which differ
/// only in their items. Sizes that were not measured keep their items, or, with another workgroup size, their keys per
/// tile.
#[cfg(feature = "cli")]
pub(crate) fn measured_row(
    capabilities: &Capabilities,
    measured: &[([u32; 2], SortPolicy)],
    source: &str,
) -> String {
    let architecture = capabilities.architecture();
    let name = architecture.map_or("Unknown".to_owned(), |architecture| format!("{architecture:?}"));
    let mut reason = String::new();
    row_of(capabilities, measured, source, &mut reason).text(&name)
}

#[cfg(feature = "cli")]
fn row_of<'a>(
    capabilities: &Capabilities,
    measured: &[([u32; 2], SortPolicy)],
    source: &'a str,
    reason: &'a mut String,
) -> TuningRow<'a> {
    let architecture = capabilities.architecture();
    let first = SortTuning::of(capabilities, 1, 0);
    let known = ROWS.iter().find(|row| Some(row.architecture) == architecture).copied();
    let base = known.unwrap_or(TuningRow {
        algorithm: first.algorithm,
        matching: first.matching,
        has_exchange: first.has_exchange,
        mixed_access: first.mixed_access,
        reason: first.reason,
        ..GPU
    });
    let policy = measured[0].1;
    let items = |key_words: u32, value_words: u32| {
        let own = measured.iter().find(|(words, _)| *words == [key_words, value_words]);
        own.map(|(_, policy)| policy.items_per_invocation).unwrap_or_else(|| {
            let tuning = SortTuning::of(capabilities, key_words, value_words);
            match policy.ranking {
                Ranking::Match(_) => (tuning.matched.tile_items() / policy.workgroup_size).clamp(1, 64),
                _ => (tuning.counted.tile_items() / policy.workgroup_size / 4 * 4).clamp(4, 252),
            }
        })
    };
    let shape = (policy.workgroup_size, [1, 2].map(|key| [0, 1, 2].map(|value| items(key, value))));
    let (matched, counted, matching) = match policy.ranking {
        Ranking::Match(matching) => {
            // Only onesweep has early counts: rows of other algorithms keep the previous value.
            let is_early = match policy.algorithm {
                SortAlgorithm::Onesweep => matching.has_early_counts,
                _ => base.matching.has_early_counts,
            };
            (Some(shape), base.counted, Matching { has_early_counts: is_early, ..matching })
        }
        _ => (base.matched, Some(shape), base.matching),
    };
    *reason = if policy.algorithm == base.algorithm {
        base.reason.to_owned()
    } else if policy.algorithm == GPU.algorithm {
        GPU.reason.to_owned()
    } else {
        let name = policy.algorithm.name();
        // What is derived has run nowhere.
        let why = if source.starts_with("derived") { "" } else { ", the fastest where it was measured" };
        format!("few keys take one dispatch; more are sorted by {name}{why}")
    };
    TuningRow {
        algorithm: policy.algorithm,
        matched,
        counted,
        matching,
        subgroup_size: policy.subgroup_size,
        has_exchange: policy.has_exchange,
        mixed_access: policy.mixed_access,
        reason,
        source,
        ..base
    }
}

#[cfg(any(test, feature = "cli"))]
impl TuningRow<'_> {
    /// The row as in the table, without the values of `GPU`.
    fn text(&self, architecture: &str) -> String {
        let mut lines = vec![format!("architecture: Architecture::{architecture}")];
        let mut add = |is_own: bool, line: String| {
            if is_own {
                lines.push(line);
            }
        };
        let Self { algorithm, matched, counted, matching, subgroup_size, histogram_subgroup_size, .. } = self;
        add(*algorithm != GPU.algorithm, format!("algorithm: SortAlgorithm::{algorithm:?}"));
        add(*matched != GPU.matched, format!("matched: {matched:?}"));
        add(*counted != GPU.counted, format!("counted: {counted:?}"));
        add(*matching != GPU.matching, format!("matching: {matching:?}"));
        add(*subgroup_size != GPU.subgroup_size, format!("subgroup_size: {subgroup_size:?}"));
        add(
            *histogram_subgroup_size != GPU.histogram_subgroup_size,
            format!("histogram_subgroup_size: {histogram_subgroup_size:?}"),
        );
        add(self.has_exchange != GPU.has_exchange, format!("has_exchange: {}", self.has_exchange));
        add(self.mixed_access != GPU.mixed_access, format!("mixed_access: {}", self.mixed_access));
        add(self.reason != GPU.reason, format!("reason: {:?}", self.reason));
        add(true, format!("source: {:?}", self.source));
        let fields: String = lines.iter().map(|line| format!("        {line},\n")).collect();
        format!("    TuningRow {{\n{fields}        ..GPU\n    }},\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins lines, also within strings.
    fn in_one_line(text: &str) -> String {
        let joined = text.replace("\\\n", "\n");
        joined.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rows_are_printed_as_they_stand_in_the_table() {
        let table = in_one_line(include_str!("tuning.rs"));
        for row in ROWS {
            let text = row.text(&format!("{:?}", row.architecture));
            assert!(table.contains(&in_one_line(&text)), "{text}");
        }
    }

    #[cfg(feature = "cli")]
    #[test]
    fn a_measured_row_gives_the_measured_policies() {
        use crate::{ElementType, sort::SortConfig};

        let mut gpu = Capabilities {
            subgroup_size: 32,
            min_subgroup_size: 32,
            max_subgroup_size: 32,
            max_workgroup_invocations: 1024,
            shared_memory_size: 48 << 10,
            ..Capabilities::default()
        };
        gpu.identity.device_type = ash::vk::PhysicalDeviceType::DISCRETE_GPU;
        for (vendor, architecture) in [(0x10de, "Architecture::Nvidia"), (7, "Architecture::Unknown")] {
            gpu.identity.vendor_id = vendor;
            let config = SortConfig::keys(ElementType::U32);
            for algorithm in [SortAlgorithm::Onesweep, SortAlgorithm::Radix8Bit, SortAlgorithm::Radix4Bit] {
                let tuned = SortPolicy::tuned(algorithm, &gpu, &config);
                let keys = SortPolicy { workgroup_size: 256, items_per_invocation: 12, ..tuned };
                let pairs = SortPolicy { items_per_invocation: 8, ..keys };
                assert!(can_be_row(&keys, &gpu) && can_be_row(&pairs, &gpu));
                let measured = [([1, 0], keys), ([1, 1], pairs)];
                let row = row_of(&gpu, &measured, "a trial", Box::leak(Box::default()));
                let text = row.text("Here");
                assert!(measured_row(&gpu, &measured, "a trial").contains(architecture), "{text}");
                let has_run =
                    |source| measured_row(&gpu, &measured, source).contains("where it was measured");
                let is_other = algorithm != SortAlgorithm::Onesweep;
                assert_eq!([has_run("measured: x"), has_run("derived: x")], [is_other, false], "{text}");
                for (words, policy) in measured {
                    let formula = SortTuning::formula(&gpu);
                    let tuning =
                        SortTuning::of_row(Box::leak(Box::new(row)), formula, &gpu, words[0], words[1]);
                    assert!(tuning.fits(&gpu), "{text}");
                    let shape = if tuning.algorithm == SortAlgorithm::Radix4Bit {
                        tuning.counted
                    } else {
                        tuning.matched
                    };
                    let found = [shape.workgroup_size, shape.items_per_invocation];
                    assert_eq!(found, [policy.workgroup_size, policy.items_per_invocation], "{text}");
                    assert_eq!((tuning.algorithm, tuning.has_exchange), (algorithm, policy.has_exchange));
                }
            }
        }
    }

    #[test]
    fn each_architecture_has_one_row() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..index].iter().all(|other| other.architecture != row.architecture));
            assert!(!row.source.is_empty(), "{:?}", row.architecture);
        }
    }
}
