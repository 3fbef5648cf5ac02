//! Policy of run-length encoding and decoding.

use std::fmt;

use super::config::{Coding, RunLengthConfig};
use crate::device::Capabilities;
use crate::error::{PolicyConflict, Result, within};
use crate::primitives::scan::makes_progress;
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{Choice, LookBack, check_subgroups, write_subgroups};
use crate::scan::ScanPolicy;
use crate::select::SelectPolicy;

named! {
    /// Algorithm of an encoding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum RunLengthAlgorithm {
        /// A selection of the first element of each run, and lengths from their indices; of runs of more than one element a
        /// selection of these.
        Selection = "selection",
        /// Single pass with decoupled look-back.
        Chained = "chained",
    }
}

const LARGE_COUNTS: &str = "large counts require an encoding by selection";

/// Policy of run-length encoding and decoding. A tile is `workgroup_size * items_per_invocation` runs whose lengths are
/// computed, or elements that are decoded, or encoded in a single pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RunLengthPolicy {
    /// The algorithm of an encoding.
    pub algorithm: RunLengthAlgorithm,
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Runs or elements per invocation: at most 32.
    pub items_per_invocation: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// Look-back of [`RunLengthAlgorithm::Chained`].
    pub look_back: LookBack,
    /// The selections of [`RunLengthAlgorithm::Selection`].
    pub select: SelectPolicy,
    /// The scan of the counts of a decoding.
    pub scan: ScanPolicy,
}

impl RunLengthPolicy {
    const SPIN_LIMIT: u32 = 4;

    /// Chooses the policy for a configuration on a device.
    pub fn choose(capabilities: &Capabilities, config: &RunLengthConfig) -> Choice<Self> {
        let Choice { policy: algorithm, reason } = match config.coding {
            Coding::Decode => Choice {
                policy: RunLengthAlgorithm::Selection,
                reason: "eight searches in flight per invocation hide some of their latency",
            },
            Coding::Encode if config.has_large_counts => {
                Choice { policy: RunLengthAlgorithm::Selection, reason: LARGE_COUNTS }
            }
            Coding::Encode | Coding::EncodeNonTrivial if makes_progress(capabilities) => {
                tuning::algorithm_of(tuning::ENCODINGS, capabilities, [config.element.words(), 0])
            }
            Coding::Encode | Coding::EncodeNonTrivial => Choice {
                policy: RunLengthAlgorithm::Selection,
                reason: "a selection needs no forward progress, and takes nearly all of the time",
            },
        };
        Choice { policy: Self::tuned(algorithm, capabilities, config), reason }
    }

    /// The policy of an algorithm, tuned for a device and configuration.
    pub fn tuned(
        algorithm: RunLengthAlgorithm,
        capabilities: &Capabilities,
        config: &RunLengthConfig,
    ) -> Self {
        // The selection of non-trivial runs holds two words of each.
        let select = match config.coding {
            Coding::EncodeNonTrivial => RunLengthConfig::non_trivial_runs(),
            Coding::Encode | Coding::Decode => config.starts(),
        };
        let select = SelectPolicy::choose(capabilities, &select).policy;
        let scan = ScanPolicy::choose(capabilities, &config.ends()).policy;
        let (part, words) = match algorithm {
            RunLengthAlgorithm::Selection => (TunedPart::RunLength, 1),
            RunLengthAlgorithm::Chained => (TunedPart::ChainedRunLength, config.element.words()),
        };
        let KernelShape { workgroup_size, items, subgroup_size, look_back, .. } =
            tuning::shape_of(capabilities, part, [1, 0]);
        let workgroup_size = capabilities.max_workgroup_invocations.min(workgroup_size);
        let policy = Self::tiled(algorithm, workgroup_size, (items / words).max(1), select, scan);
        Self { subgroup_size, look_back, ..policy }
    }

    /// A policy with `workgroup_size` invocations and `items_per_invocation` runs or elements for each.
    pub const fn tiled(
        algorithm: RunLengthAlgorithm,
        workgroup_size: u32,
        items_per_invocation: u32,
        select: SelectPolicy,
        scan: ScanPolicy,
    ) -> Self {
        let look_back = LookBack::portable(Self::SPIN_LIMIT);
        Self { algorithm, workgroup_size, items_per_invocation, subgroup_size: None, look_back, select, scan }
    }

    /// The policy with another look-back of [`RunLengthAlgorithm::Chained`].
    pub const fn with_look_back(mut self, look_back: LookBack) -> Self {
        self.look_back = look_back;
        self
    }

    /// The policy with a required subgroup size, also for the selections and the scan.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self.select = self.select.with_subgroup_size(size);
        self.scan = self.scan.with_subgroup_size(size);
        self
    }

    /// Runs or elements per tile.
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    pub(super) fn check(&self, config: &RunLengthConfig, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(self.workgroup_size, self.subgroup_size, capabilities)?;
        self.look_back.check()?;
        // Compilers do not unroll longer loops.
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=32)?;
        if self.algorithm == RunLengthAlgorithm::Chained {
            PolicyConflict::check(!config.has_large_counts, LARGE_COUNTS)?;
            // The totals of up to a subgroup for every 4 invocations, and encode.comp's four words.
            within("bytes of shared memory", 2 * self.workgroup_size + 24, capabilities.shared_memory_size)?;
        }
        Ok(())
    }
}

impl fmt::Display for RunLengthPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, workgroup_size, items_per_invocation, subgroup_size, .. } = self;
        f.write_str("run length: ")?;
        if *algorithm == RunLengthAlgorithm::Chained {
            write!(f, "{}: ", algorithm.name())?;
        }
        write!(f, "workgroup {workgroup_size}, {items_per_invocation} items per invocation")?;
        write_subgroups(f, *subgroup_size)?;
        match algorithm {
            RunLengthAlgorithm::Chained => self.look_back.write(f, Self::SPIN_LIMIT),
            RunLengthAlgorithm::Selection => write!(f, "; select {}; scan {}", self.select, self.scan),
        }
    }
}
