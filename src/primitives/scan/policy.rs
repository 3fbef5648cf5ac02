//! Policy of a scan: its tuning parameters as a value.

use std::fmt;

use super::algorithm::{ScanAlgorithm, WorkgroupScan};
use super::config::{ScanConfig, SegmentsBy};
use super::operator::RowShape;
use super::progress::makes_progress;
#[cfg(feature = "textbook")]
use super::textbook::chunk_in_place::ChunkInPlace;
use crate::device::{Capabilities, Device, Pipeline, PipelineOptions};
use crate::error::{Error, PolicyConflict, Result, within};
use crate::kernels::Kernel;
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{Choice, FewTiles, LookBack, QUADS_OR_WORDS, check_workgroup, write_subgroups};
use crate::sort::TileShape;

/// Storage of tile aggregates between up-sweep and down-sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SumsPlacement {
    /// Arrays in scratch.
    Scratch,
    /// The last row of each tile, in place, without scratch: as in the seed.
    #[cfg(feature = "textbook")]
    LastRow,
}

/// Policy of a scan. A tile is `workgroup_size * items_per_invocation` elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ScanPolicy {
    /// The algorithm.
    pub algorithm: ScanAlgorithm,
    /// Storage of tile aggregates between passes.
    pub sums: SumsPlacement,
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Rows per invocation; for rows wider than 16 bytes elements of one column.
    pub items_per_invocation: u32,
    /// Consecutive items in a run: a divisor of `items_per_invocation`, and a multiple of the items in a pack of
    /// 16-byte quads (4 for items of 4 or 12 bytes, 2 for 8, 1 for 16).
    pub items_per_run: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// Whether the chained scan adds in an order that does not depend on timing: sums of floats are then bit-identical
    /// from run to run, as sums of reduce-then-scan always are.
    pub fixed_tree: bool,
    /// Look-back of the chained scan.
    pub look_back: LookBack,
    /// Up to 256 tiles for few elements, together at least one of the others, of which a chained scan has no state and one
    /// dispatch: each workgroup reduces all elements before its tile. `None` for one of the others, and where operations round.
    pub few: Option<FewTiles>,
    /// Whether kernels access full tiles by quads and the last one by words, with a branch. Otherwise they access all
    /// tiles by quads if the elements fill whole quads, else by words.
    pub mixed_access: bool,
}

impl ScanPolicy {
    const LOOK_BACK: LookBack = LookBack::portable(4);
    /// Maximum number of columns of the seed's scan.
    #[cfg(feature = "textbook")]
    pub const MAX_SEED_COLUMNS: u32 = 4;

    /// Chooses the policy for a configuration on a device.
    ///
    /// Also returns a policy for a configuration that is an error for a plan.
    pub fn choose(capabilities: &Capabilities, config: &ScanConfig) -> Choice<Self> {
        if config.is_out_of_place && config.is_chainable() && makes_progress(capabilities) {
            let words = [config.row_shape().element_words, 0];
            let Choice { policy: algorithm, reason } =
                tuning::algorithm_of(tuning::SCANS, capabilities, words);
            return Choice { policy: Self::tuned(algorithm, capabilities, config), reason };
        }
        let algorithm = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
        let policy = Self::tuned(algorithm, capabilities, config);
        let reason = match policy.mixed_access {
            true => "reduce-then-scan needs no forward progress; short runs keep a subgroup's loads together",
            false => "reduce-then-scan needs no forward progress; large tiles, accessed by quads on a CPU",
        };
        Choice { policy, reason }
    }

    /// The tuned part of the scans by an algorithm.
    fn part(algorithm: ScanAlgorithm, config: &ScanConfig) -> TunedPart {
        match algorithm {
            ScanAlgorithm::Chained => TunedPart::ChainedScan,
            ScanAlgorithm::ReduceThenScan(WorkgroupScan::Sklansky) if config.rounds() => TunedPart::ScanTree,
            _ => TunedPart::Scan,
        }
    }

    /// The policy of an algorithm with a shape, whose items are words of elements, for a configuration.
    pub(crate) fn of_shape(
        algorithm: ScanAlgorithm,
        tuned: KernelShape,
        capabilities: &Capabilities,
        config: &ScanConfig,
    ) -> Self {
        let KernelShape {
            workgroup_size, items, packs_per_run, subgroup_size, mixed_access, look_back, ..
        } = tuned;
        let shape = config.row_shape();
        let (pack, words) = (shape.items_per_pack(), shape.element_words.max(1));
        let items = (items / words).max(1).next_multiple_of(pack);
        // Head flags of an invocation's items are bits of a word.
        let items = if config.segments.is_some() { items.min(32) } else { items };
        let run = pack * packs_per_run;
        // Few items, as of wide rows, may have no such run.
        let run = if items.is_multiple_of(run) { run } else { pack };
        let workgroup_size = workgroup_size.min(capabilities.max_workgroup_invocations);
        let [workgroup_size, items, run] = match config.segments {
            Some(SegmentsBy::FixedSize(_)) => [workgroup_size, items, run].map(power_of_two_within),
            _ => [workgroup_size, items, run],
        };
        let tiled = Self::tiled(workgroup_size, items, run);
        let tiled = Self { subgroup_size, mixed_access, look_back, ..tiled };
        tiled.with_algorithm(algorithm).reproducible(config)
    }

    /// Whether its kernels take packed elements as they are.
    pub(super) const fn takes_packed(&self) -> bool {
        let has_kernels = matches!(
            self.algorithm,
            ScanAlgorithm::Chained | ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup)
        );
        has_kernels && matches!(self.sums, SumsPlacement::Scratch)
    }

    /// Reduce-then-scan with sums in scratch.
    pub const fn tiled(workgroup_size: u32, items_per_invocation: u32, items_per_run: u32) -> Self {
        Self {
            algorithm: ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup),
            sums: SumsPlacement::Scratch,
            workgroup_size,
            items_per_invocation,
            items_per_run,
            subgroup_size: None,
            fixed_tree: false,
            look_back: Self::LOOK_BACK,
            few: None,
            mixed_access: true,
        }
    }

    /// The policy of an algorithm, tuned for a device and configuration.
    pub fn tuned(algorithm: ScanAlgorithm, capabilities: &Capabilities, config: &ScanConfig) -> Self {
        let words = [config.row_shape().element_words, 0];
        let tuned = |part| tuning::shape_of(capabilities, part, words);
        let of_shape = |shape| Self::of_shape(algorithm, shape, capabilities, config);
        let policy = of_shape(tuned(Self::part(algorithm, config)));
        let shape = tuned(TunedPart::ChainedScanFew);
        let few = of_shape(shape);
        let few = FewTiles::new(&shape, [few.workgroup_size, few.items_per_invocation]);
        Self { few, ..policy }.with_algorithm(algorithm).reproducible(config)
    }

    /// A policy for sums and products of floats that have the same bits on every device that keeps denormals: the order
    /// of operations depends on the number of rows alone. For one column, without segments.
    ///
    /// Sklansky's network takes the place of subgroup scans, in tiles of one size; each invocation has one run, so that
    /// lanes do not access neighbouring addresses. [`ScanPolicy::choose`] is faster, and the policy of everything else,
    /// whose results do not depend on the order.
    pub fn deterministic_across_devices(capabilities: &Capabilities, config: &ScanConfig) -> Self {
        if !config.rounds() {
            return Self::choose(capabilities, config).policy;
        }
        Self::tuned(ScanAlgorithm::ReduceThenScan(WorkgroupScan::Sklansky), capabilities, config)
    }

    /// The policy with another algorithm. Adjusts the items per invocation, and rounds the workgroup size down to a
    /// power of two, where the algorithm requires it.
    pub fn with_algorithm(mut self, algorithm: ScanAlgorithm) -> Self {
        self.algorithm = algorithm;
        if algorithm.workgroup_scan().is_none() {
            self.items_per_invocation = 1;
        }
        if algorithm.has_one_run() {
            self.items_per_run = self.items_per_invocation;
        }
        if algorithm.needs_power_of_two() {
            self.workgroup_size = power_of_two_within(self.workgroup_size);
        }
        self.few = self.few.filter(|_| algorithm == ScanAlgorithm::Chained);
        self
    }

    /// The policy with bit-identical results from run to run: adds the fixed tree to a chained scan with rounding, which
    /// then always looks back.
    pub fn reproducible(mut self, config: &ScanConfig) -> Self {
        self.fixed_tree |= self.algorithm == ScanAlgorithm::Chained && config.rounds();
        self.few = self.few.filter(|_| !config.rounds());
        self
    }

    /// The seed: the prefix sum of Intel's C-for-Metal development package (tutorial 14, 2019), with chunks of 256
    /// elements, 32 at a time, and each chunk's sum in its last row. Inclusive and in place only. Needs the feature `textbook`.
    #[cfg(feature = "textbook")]
    pub const fn seed() -> Self {
        Self { sums: SumsPlacement::LastRow, mixed_access: false, ..Self::tiled(32, 8, 1) }
    }

    setters! {
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
        /// The policy with another look-back of the chained scan.
        with_look_back(look_back: LookBack) => look_back = look_back;
        /// The policy with a fixed order of additions in the chained scan.
        with_fixed_tree() => fixed_tree = true;
    }

    /// Specialization constants of tiles, for a layout of rows.
    pub(super) const fn tile_constants(&self, shape: RowShape) -> [(&'static str, u32); 2] {
        [
            ("RUNS_PER_INVOCATION", self.items_per_invocation / self.items_per_run),
            ("PACKS_PER_RUN", self.items_per_run / shape.items_per_pack()),
        ]
    }

    /// Declares a pipeline with the policy's workgroup and subgroup size.
    pub(super) fn pipeline(
        &self,
        device: &Device,
        kernel: &'static Kernel,
        constants: &[(&'static str, u32)],
    ) -> Result<Pipeline> {
        let Self { workgroup_size, subgroup_size, .. } = *self;
        Pipeline::declare(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
    }

    /// Elements per tile; saturates at [`u32::MAX`].
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    /// The policy of the scan of few tiles, and the most elements of those.
    pub(super) fn for_few(&self) -> (Self, u64) {
        let Some(few) = self.few else { return (*self, self.tile_items().into()) };
        let TileShape { workgroup_size, items_per_invocation: items } = few.tile;
        let items_per_run = if items.is_multiple_of(self.items_per_run) { self.items_per_run } else { items };
        let policy = Self { workgroup_size, items_per_invocation: items, items_per_run, few: None, ..*self };
        (policy, few.max_count())
    }

    pub(crate) fn check(&self, config: &ScanConfig, capabilities: &Capabilities) -> Result<()> {
        let require = PolicyConflict::check;
        for (field, value) in [
            ("workgroup_size", self.workgroup_size),
            ("items_per_invocation", self.items_per_invocation),
            ("items_per_run", self.items_per_run),
            ("the number of elements in a tile", self.tile_items()),
        ] {
            PolicyConflict::check_range(field, value, 1..=1 << 20)?;
        }
        if let Some(rule) = self.algorithm.refusal(config) {
            return Err(Error::InvalidPolicy(PolicyConflict::Excluded(rule)));
        }
        check_workgroup(self.workgroup_size, capabilities)?;
        self.look_back.check()?;
        if let Some(few) = self.few {
            let (policy, max_count) = self.for_few();
            few.check(256)?;
            require(few.window == 1, "few tiles of a scan have no look-back: a window of 1")?;
            require(max_count >= self.tile_items().into(), "few tiles hold at least a tile of the others")?;
            let rule = "few tiles are for chained scans of results that no operation rounds";
            require(self.algorithm == ScanAlgorithm::Chained && !config.rounds(), rule)?;
            policy.check(config, capabilities)?;
        }
        let lanes = capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size)?;
        // Three words take the space of four. Every algorithm may reduce tiles by subgroups.
        let shape = config.row_shape();
        let element_size = if shape.element_words == 3 { 16 } else { shape.element_words * 4 };
        // chained.comp: an additional element and two words.
        let heads_size = if config.segments.is_some() { element_size.min(16) } else { 0 };
        let element_size = element_size + heads_size;
        let more_size = if self.algorithm == ScanAlgorithm::Chained { element_size + 8 } else { 0 };
        let shared_elements = match self.algorithm.workgroup_scan() {
            Some(scan) => {
                let subgroups = WorkgroupScan::Subgroup.shared_elements(self.workgroup_size);
                scan.shared_elements(self.workgroup_size).max(subgroups)
            }
            None => 0,
        };
        let shared_size = shared_elements.saturating_mul(element_size).saturating_add(more_size);
        require(
            !self.fixed_tree || self.algorithm == ScanAlgorithm::Chained,
            "fixed_tree is for the chained scan; the other algorithms always add in a fixed order",
        )?;
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)?;
        match self.sums {
            SumsPlacement::Scratch => {
                let (items, run) = (self.items_per_invocation, self.items_per_run);
                PolicyConflict::check_multiple(
                    "workgroup_size",
                    self.workgroup_size,
                    lanes,
                    "the subgroup size",
                )?;
                if self.algorithm.needs_power_of_two() {
                    PolicyConflict::check_power_of_two("workgroup_size", self.workgroup_size)?;
                }
                let rule = "items_per_run is items_per_invocation for this algorithm";
                require(!self.algorithm.has_one_run() || run == items, rule)?;
                if self.algorithm.workgroup_scan().is_none() {
                    return PolicyConflict::check_range("items_per_invocation", items, 1..=1);
                }
                let pack_items = shape.items_per_pack();
                PolicyConflict::check_multiple("items_per_run", run, pack_items, "the elements of a quad")?;
                PolicyConflict::check_multiple("items_per_invocation", items, run, "items_per_run")?;
                if config.segments.is_some() {
                    PolicyConflict::check_range("items_per_invocation", items, 1..=32)?;
                }
                if let Some(SegmentsBy::FixedSize(_)) = config.segments {
                    for (field, value) in [
                        ("workgroup_size", self.workgroup_size),
                        ("items_per_invocation", items),
                        ("items_per_run", run),
                    ] {
                        PolicyConflict::check_power_of_two(field, value)?;
                    }
                }
            }
            #[cfg(feature = "textbook")]
            SumsPlacement::LastRow => return ChunkInPlace::check(self, config),
        }
        Ok(())
    }
}

/// The greatest power of two that is not greater; 0 of 0.
fn power_of_two_within(number: u32) -> u32 {
    number.checked_ilog2().map_or(0, |bits| 1 << bits)
}

impl fmt::Display for ScanPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, sums, workgroup_size, items_per_invocation, items_per_run, .. } = self;
        write!(f, "{algorithm}: workgroup {workgroup_size}")?;
        let sums = match (algorithm, sums) {
            _ if algorithm.workgroup_scan().is_none() => None,
            (ScanAlgorithm::Chained, _) => Some("status words"),
            (_, SumsPlacement::Scratch) => Some("scratch"),
            #[cfg(feature = "textbook")]
            (_, SumsPlacement::LastRow) => Some("last row"),
        };
        match sums {
            Some(sums) => write!(
                f,
                ", {items_per_invocation} items per invocation in runs of {items_per_run}, sums in {sums}"
            )?,
            None => write!(f, ", {items_per_invocation} item per invocation")?,
        }
        if self.fixed_tree {
            f.write_str(", fixed tree")?;
        }
        if *algorithm == ScanAlgorithm::Chained {
            self.look_back.write(f, Self::LOOK_BACK.spin_limit)?;
            self.few.map_or(Ok(()), |few| few.write(f, "elements without look-back"))?;
        }
        if !self.mixed_access && self.sums == SumsPlacement::Scratch {
            f.write_str(QUADS_OR_WORDS)?;
        }
        write_subgroups(f, self.subgroup_size)
    }
}

#[cfg(test)]
mod tests;
