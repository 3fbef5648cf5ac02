//! Policy of a selection.

use std::fmt;

use super::config::{Parts, SelectConfig};
use crate::device::Capabilities;
use crate::error::{PolicyConflict, Result, within};
use crate::primitives::scan::makes_progress;
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{Choice, ElementType, FewTiles, LookBack, check_subgroups, write_subgroups};
use crate::scan::{ScanAlgorithm, ScanConfig, ScanPolicy};
use crate::sort::TileShape;

named! {
    /// Algorithm of a selection.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum SelectAlgorithm {
        /// Counts of tiles, their scan, and compaction of the tiles.
        ReduceThenScan = "reduce-then-scan",
        /// Single pass with decoupled look-back; not for partitions.
        Chained = "chained",
    }
}

impl SelectAlgorithm {
    /// One line for listings: method, bytes moved, dispatches and source.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::ReduceThenScan => {
                "counts of tiles, their scan, and compaction of the tiles; reads 8 bytes per u32 and writes 4 per \
                 kept one, in 2 dispatches besides the scan; Billeter, Olsson and Assarsson 2009"
            }
            Self::Chained => {
                "single pass over the tiles with decoupled look-back; reads 4 bytes per u32 and writes 4 per kept \
                 one, in 1 dispatch; no partitions; Merrill and Garland 2016, Smith, Levien and Owens 2025"
            }
        }
    }
}

const LARGE_COUNTS: &str = "large counts require reduce-then-scan";

/// The scan of the tile counts of a configuration.
pub(super) const fn count_scan(config: &SelectConfig) -> ScanConfig {
    let element = if config.has_large_counts { ElementType::U64 } else { ElementType::U32 };
    ScanConfig::inclusive(element).columns(config.parts.kept_counts() as u32)
}

/// Policy of a selection. A tile is `workgroup_size * items_per_invocation` elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SelectPolicy {
    /// The algorithm.
    pub algorithm: SelectAlgorithm,
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Elements per invocation: at most 32.
    pub items_per_invocation: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// Look-back of [`SelectAlgorithm::Chained`].
    pub look_back: LookBack,
    /// Tiles of [`SelectAlgorithm::Chained`] for few elements; `None` for none.
    pub few: Option<FewTiles>,
    /// Tiles up to which each workgroup of a compaction adds up the counts of all tiles itself, in place of a scan of them;
    /// 0 for none.
    pub summed_tiles: u32,
    /// The scan of the counts of more tiles, of [`SelectAlgorithm::ReduceThenScan`].
    pub scan: ScanPolicy,
}

impl SelectPolicy {
    const SPIN_LIMIT: u32 = 4;

    /// Chooses the policy for a configuration on a device.
    pub fn choose(capabilities: &Capabilities, config: &SelectConfig) -> Choice<Self> {
        let words = [config.kept_words(), 0];
        let Choice { policy: algorithm, reason } = match config.parts {
            Parts::Two | Parts::Three(_) => Choice {
                policy: SelectAlgorithm::ReduceThenScan,
                reason: "a partition needs the sizes of its parts before it moves an element",
            },
            Parts::Selected if config.has_large_counts => {
                Choice { policy: SelectAlgorithm::ReduceThenScan, reason: LARGE_COUNTS }
            }
            Parts::Selected if makes_progress(capabilities) => {
                tuning::algorithm_of(tuning::SELECTIONS, capabilities, words)
            }
            Parts::Selected => Choice {
                policy: SelectAlgorithm::ReduceThenScan,
                reason: "reduce-then-scan needs no forward progress",
            },
        };
        Choice { policy: Self::tuned(algorithm, capabilities, config), reason }
    }

    /// The policy of an algorithm, tuned for a device and configuration.
    pub fn tuned(algorithm: SelectAlgorithm, capabilities: &Capabilities, config: &SelectConfig) -> Self {
        let words = [config.kept_words(), 0];
        let tuned = |part| tuning::shape_of(capabilities, part, words);
        let of_shape = |shape| Self::of_shape(algorithm, shape, capabilities, config);
        let policy = of_shape(tuned(Self::part(algorithm)));
        if algorithm != SelectAlgorithm::Chained {
            return policy;
        }
        let shape = tuned(TunedPart::ChainedSelectFew);
        let few = of_shape(shape);
        Self { few: FewTiles::new(&shape, [few.workgroup_size, few.items_per_invocation]), ..policy }
    }

    /// The tuned part of the selections by an algorithm.
    pub(crate) const fn part(algorithm: SelectAlgorithm) -> TunedPart {
        match algorithm {
            SelectAlgorithm::ReduceThenScan => TunedPart::Select,
            SelectAlgorithm::Chained => TunedPart::ChainedSelect,
        }
    }

    /// The policy of an algorithm with a shape, whose items are elements of a word, for a configuration.
    pub(crate) fn of_shape(
        algorithm: SelectAlgorithm,
        tuned: KernelShape,
        capabilities: &Capabilities,
        config: &SelectConfig,
    ) -> Self {
        let KernelShape { items, subgroup_size, look_back, few_tiles: summed_tiles, .. } = tuned;
        let workgroup_size = tuned.workgroup_size.min(capabilities.max_workgroup_invocations);
        let items = (items / config.kept_words().max(1)).max(1);
        let scan = ScanPolicy::choose(capabilities, &count_scan(config)).policy;
        let tiled = Self::tiled(algorithm, workgroup_size, items, scan);
        Self { subgroup_size, look_back, summed_tiles, ..tiled }
    }

    /// A policy with `workgroup_size` invocations and `items_per_invocation` elements for each.
    pub const fn tiled(
        algorithm: SelectAlgorithm,
        workgroup_size: u32,
        items_per_invocation: u32,
        scan: ScanPolicy,
    ) -> Self {
        let look_back = LookBack::portable(Self::SPIN_LIMIT);
        Self {
            algorithm,
            workgroup_size,
            items_per_invocation,
            subgroup_size: None,
            look_back,
            few: None,
            summed_tiles: 0,
            scan,
        }
    }

    /// The policy with another look-back of [`SelectAlgorithm::Chained`].
    pub const fn with_look_back(mut self, look_back: LookBack) -> Self {
        self.look_back = look_back;
        self
    }

    /// The policy with a required subgroup size, also for the scan of the counts.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self.scan = self.scan.with_subgroup_size(size);
        self
    }

    /// Elements per tile.
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    /// The policy of the selection of few elements.
    pub(super) fn for_few(&self) -> Option<Self> {
        let FewTiles { tile: TileShape { workgroup_size, items_per_invocation }, window, .. } = self.few?;
        let look_back = LookBack { window, ..self.look_back };
        Some(Self { workgroup_size, items_per_invocation, look_back, few: None, ..*self })
    }

    pub(super) fn check(&self, config: &SelectConfig, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(self.workgroup_size, self.subgroup_size, capabilities)?;
        self.look_back.check()?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=32)?;
        // Counts within a tile have 16 bits.
        PolicyConflict::check_range("the number of elements in a tile", self.tile_items(), 1..=0xffff)?;
        PolicyConflict::check_range("summed_tiles", self.summed_tiles, 0..=1 << 16)?;
        if let (Some(few), Some(policy)) = (self.few, self.for_few()) {
            few.check(FewTiles::MAX_TILES)?;
            let is_chained = self.algorithm == SelectAlgorithm::Chained;
            PolicyConflict::check(is_chained, "few is for chained selections")?;
            policy.check(config, capabilities)?;
        }
        // The totals of up to a subgroup for every 4 invocations, and compact.comp's four words.
        within("bytes of shared memory", self.workgroup_size + 20, capabilities.shared_memory_size)?;
        let rule =
            "the counts are scanned in place, which the chained scan is not; use reduce-then-scan for them";
        PolicyConflict::check(self.scan.algorithm != ScanAlgorithm::Chained, rule)?;
        let is_chained = self.algorithm == SelectAlgorithm::Chained;
        let rule =
            "a partition needs the sizes of its parts before it moves an element; use reduce-then-scan";
        PolicyConflict::check(!is_chained || config.parts == Parts::Selected, rule)?;
        PolicyConflict::check(!is_chained || !config.has_large_counts, LARGE_COUNTS)
    }
}

impl fmt::Display for SelectPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, workgroup_size, items_per_invocation, subgroup_size, .. } = self;
        write!(
            f,
            "{}: workgroup {workgroup_size}, {items_per_invocation} items per invocation",
            algorithm.name()
        )?;
        write_subgroups(f, *subgroup_size)?;
        match algorithm {
            SelectAlgorithm::Chained => {
                self.look_back.write(f, Self::SPIN_LIMIT)?;
                self.few.map_or(Ok(()), |few| few.write(f, "elements"))
            }
            SelectAlgorithm::ReduceThenScan => {
                if self.summed_tiles > 0 {
                    write!(f, ", counts of up to {} tiles added up", self.summed_tiles)?;
                }
                write!(f, "; counts by {}", self.scan)
            }
        }
    }
}
