//! Policy of a top-k: algorithm and tile shape.

use std::fmt;

use super::TopKConfig;
use crate::device::Capabilities;
use crate::error::{PolicyConflict, Result, within};
use crate::primitives::tuning::{self, TunedPart};
use crate::primitives::{Choice, check_subgroups, write_subgroups};

named! {
    /// Algorithm of a top-k.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum TopKAlgorithm {
        /// Ranks of the keys of short rows, counted in registers: several rows in a subgroup.
        Subgroups = "subgroups",
        /// Radix select of each tile in a workgroup, then of the selected keys, until one tile of each row is left.
        Tiles = "tiles",
        /// Segmented sort of all keys, of which the first are taken.
        Sort = "sort",
    }
}

/// Policy of a top-k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TopKPolicy {
    /// The algorithm.
    pub algorithm: TopKAlgorithm,
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Keys per invocation, 1 to 32; of [`TopKAlgorithm::Subgroups`] at most, and 1 to 8.
    pub items_per_invocation: u32,
    /// Bits of a digit of [`TopKAlgorithm::Tiles`]: 2, 4 or 8; `workgroup_size` is at least 2 to this power.
    pub radix_bits: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
}

impl TopKPolicy {
    /// Maximum k of [`TopKAlgorithm::Tiles`].
    pub const MAX_K: u32 = 4096;

    /// Lanes that hold a row where the library chooses: of 8 keys in each, so that longer rows take tiles. Comparisons grow with the
    /// square of a row.
    const MAX_LANES: u32 = 8;
    /// Maximum items per invocation of [`TopKAlgorithm::Subgroups`].
    const MAX_ITEMS: u32 = 8;

    /// Chooses the policy for a device.
    pub fn choose(capabilities: &Capabilities, config: &TopKConfig) -> Choice<Self> {
        let words = [config.element.words(), 0];
        let [rows, tuned, few, sort] =
            [TunedPart::TopKRows, TunedPart::TopK, TunedPart::TopKFew, TunedPart::TopKSort]
                .map(|part| tuning::shape_of(capabilities, part, words));
        let (columns, k) = (config.columns, config.k);
        let (subgroup_size, most_items) = (tuned.subgroup_size, tuned.items);
        let least = subgroup_size.unwrap_or(capabilities.max_subgroup_size).max(32);
        let limit = capabilities.max_workgroup_invocations.min(tuned.workgroup_size).max(least);
        let policy = |algorithm, size, items| Self { subgroup_size, ..Self::new(algorithm, size, items) };
        let tiles = |size: u32, items: u32| policy(TopKAlgorithm::Tiles, size, items);
        let medium = tiles(limit.min(few.workgroup_size), few.items);
        let large = tiles(limit, most_items);
        let choice = |policy, reason| Choice { policy, reason };
        let fits = |policy: &Self| policy.check(config, capabilities).is_ok();
        let fewest_lanes = rows.subgroup_size.unwrap_or(capabilities.min_subgroup_size);
        let in_subgroups = (rows.items > 0).then(|| {
            let lanes = columns.div_ceil(rows.items).next_power_of_two();
            let items = columns.div_ceil(lanes.min(fewest_lanes.clamp(1, Self::MAX_LANES)));
            let size = rows.workgroup_size.max(capabilities.max_subgroup_size);
            Self { subgroup_size: rows.subgroup_size, ..Self::new(TopKAlgorithm::Subgroups, size, items) }
        });
        if let Some(rows) = in_subgroups.filter(fits) {
            return choice(rows, "lanes of a subgroup hold a row: no shared memory and no barrier");
        }
        let row = columns.div_ceil(most_items).next_power_of_two().clamp(least, limit);
        let row = tiles(row, columns.div_ceil(row).next_power_of_two().min(most_items));
        if columns <= row.tile_items() && fits(&row) {
            return choice(row, "a workgroup holds a row: one dispatch");
        }
        if k <= medium.tile_items() / 8 && fits(&medium) {
            return choice(
                medium,
                "few keys are selected of each tile, and many small tiles run side by side",
            );
        }
        if fits(&large) {
            return choice(large, "large tiles, of which a smaller part is selected");
        }
        let sort = policy(TopKAlgorithm::Sort, limit.min(sort.workgroup_size), sort.items);
        let reason = match large.copies_values(config) {
            true => "so many keys are selected that a sort of all is as fast",
            false => "the values of a row are too many words for one workgroup",
        };
        choice(sort, reason)
    }

    /// A policy with `workgroup_size` invocations and `items_per_invocation` keys for each; digits of 8 bits, or 4 in
    /// workgroups of less than 256 invocations.
    pub const fn new(algorithm: TopKAlgorithm, workgroup_size: u32, items_per_invocation: u32) -> Self {
        let radix_bits = if workgroup_size < 256 { 4 } else { 8 };
        Self { algorithm, workgroup_size, items_per_invocation, radix_bits, subgroup_size: None }
    }

    setters! {
        /// The policy with digits of `bits` bits.
        with_radix_bits(bits: u32) => radix_bits = bits;
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
    }

    /// Keys per workgroup.
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    /// Lanes of a subgroup that hold a row of [`TopKAlgorithm::Subgroups`].
    pub(super) const fn cluster_lanes(&self, columns: u32) -> u32 {
        columns.div_ceil(self.items_per_invocation).next_power_of_two()
    }

    /// Whether one workgroup can copy the values of a row. `Workarounds::LOOPS_END_AT_65535` is of all loops of an
    /// invocation: half is left for the others.
    fn copies_values(&self, config: &TopKConfig) -> bool {
        u64::from(config.k).saturating_mul(config.value_size()) / 4 <= u64::from(self.workgroup_size) << 15
    }

    pub(super) fn check(&self, config: &TopKConfig, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(self.workgroup_size, self.subgroup_size, capabilities)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=32)?;
        PolicyConflict::check_range("radix_bits", self.radix_bits, 2..=8)?;
        PolicyConflict::check_power_of_two("radix_bits", self.radix_bits)?;
        let is_enough = self.workgroup_size >= 1 << self.radix_bits;
        PolicyConflict::check(
            is_enough,
            "a digit has at most as many values as a workgroup has invocations",
        )?;
        if self.algorithm == TopKAlgorithm::Subgroups {
            let lanes = self.subgroup_size.unwrap_or(capabilities.min_subgroup_size);
            PolicyConflict::check_range(
                "items_per_invocation",
                self.items_per_invocation,
                1..=Self::MAX_ITEMS,
            )?;
            PolicyConflict::check(
                self.cluster_lanes(config.columns) <= lanes,
                "the invocations of a subgroup hold a row; take tiles",
            )?;
            // Of unequal rows one lane may copy values while another of its subgroup fills slots, one after the other: a quarter of
            // `Workarounds::LOOPS_END_AT_65535` is for each.
            let words = u64::from(config.columns).saturating_mul(config.value_size()) / 4;
            return PolicyConflict::check(
                words <= 1 << 14,
                "the values of a row have at most 2^14 words together; take tiles",
            );
        }
        if self.algorithm == TopKAlgorithm::Sort {
            return Ok(());
        }
        let TopKConfig { columns, k, element, is_sorted, .. } = *config;
        PolicyConflict::check(
            self.copies_values(config),
            "an invocation copies at most 2^15 words of values; take larger workgroups or the sort",
        )?;
        let tile = self.tile_items();
        PolicyConflict::check(tile < 1 << 16, "a tile has less than 2^16 keys")?;
        PolicyConflict::check(k <= Self::MAX_K, "tiles are for a k of up to 4,096; take the sort")?;
        let is_narrowed = columns <= tile || k <= tile / 2;
        PolicyConflict::check(
            is_narrowed,
            "a tile of a row has at least 2 * k keys; take larger ones or the sort",
        )?;
        let words_of_order = if is_sorted { element.words() } else { 0 };
        let top_words = (1 + words_of_order) * top_items(k, is_sorted);
        // An order more and what aligns the orders, three words, and the words of the workgroup scan.
        let more = 2 * element.words() - 1 + 3 + self.workgroup_size / 4 + 1;
        let words = top_words + (1 << self.radix_bits) + more;
        within("bytes of shared memory", 4 * words, capabilities.shared_memory_size)
    }
}

/// Selected keys for which the kernel has shared memory.
pub(super) const fn top_items(k: u32, is_sorted: bool) -> u32 {
    if is_sorted { k.next_power_of_two() } else { k.next_multiple_of(64) }
}

impl fmt::Display for TopKPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, workgroup_size, items_per_invocation, radix_bits, .. } = self;
        write!(f, "top-k: ")?;
        match algorithm {
            TopKAlgorithm::Subgroups => write!(f, "short rows in subgroups")?,
            TopKAlgorithm::Tiles => write!(f, "tiles, digits of {radix_bits} bits")?,
            TopKAlgorithm::Sort => write!(f, "segmented sort of all keys")?,
        }
        write!(f, ", workgroup {workgroup_size}, {items_per_invocation} items per invocation")?;
        write_subgroups(f, self.subgroup_size)
    }
}
