//! Policy of a reduction: its tuning parameters as a value.

use std::fmt;

use super::config::{Operation, ReduceConfig};
use crate::device::{Capabilities, Device, Pipeline, PipelineOptions};
use crate::error::{Error, PolicyConflict, Result, within};
use crate::kernels::Kernel;
use crate::primitives::scan::makes_progress;
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{
    Choice, LookBack, QUADS_OR_WORDS, check_subgroups, check_subgroups_field, write_subgroups,
};
use crate::sort::TileShape;

named! {
    /// Algorithm of a reduction of runs of equal keys.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum ReduceByKeyAlgorithm {
        /// The heads of runs are found first, and are the offsets of segments.
        Segments = "segments",
        /// Single pass with decoupled look-back; for results that do not depend on the order of operations.
        Chained = "chained",
    }
}

impl ReduceByKeyAlgorithm {
    /// The tuned part of its tile.
    const fn part(self) -> TunedPart {
        match self {
            Self::Segments => TunedPart::ReduceByKey,
            Self::Chained => TunedPart::ChainedReduceByKey,
        }
    }
}

/// Policy of a reduction. A workgroup has 128 invocations, as every device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReducePolicy {
    /// Packs of 16 bytes per invocation, 1 to 32; with a caller's functions elements. The only parameter on which the order of
    /// operations depends. Reductions of segments, and along rows of up to 128 words, have a fixed one.
    pub packs_per_invocation: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// As [`ScanPolicy::mixed_access`](crate::scan::ScanPolicy::mixed_access).
    pub mixed_access: bool,
    /// The algorithm of runs of keys, and ignored otherwise.
    pub algorithm: ReduceByKeyAlgorithm,
    /// Tile of the kernels that find the runs of equal keys, or of the single pass, of up to 32 keys per invocation;
    /// required for runs of keys, and ignored otherwise. No result depends on it.
    pub heads: Option<TileShape>,
    /// Look-back of [`ReduceByKeyAlgorithm::Chained`].
    pub look_back: LookBack,
}

impl ReducePolicy {
    /// Invocations in a workgroup: part of the order of operations.
    pub(super) const WORKGROUP_SIZE: u32 = 128;
    const SPIN_LIMIT: u32 = 4;

    /// Chooses the policy for a device. The order of operations is the same on all, where a result depends on it.
    pub fn choose(capabilities: &Capabilities, config: &ReduceConfig) -> Choice<Self> {
        let Choice { policy: algorithm, reason } = if config.is_exact_by_key() && makes_progress(capabilities)
        {
            tuning::algorithm_of(tuning::REDUCTIONS_BY_KEY, capabilities, [1, 0])
        } else {
            let reason = "tiles of one size on all devices, for the same bits";
            Choice { policy: ReduceByKeyAlgorithm::Segments, reason }
        };
        Choice { policy: Self::tuned(algorithm, capabilities, config), reason }
    }

    /// The policy of an algorithm of runs of keys, tuned for a device and configuration.
    pub fn tuned(
        algorithm: ReduceByKeyAlgorithm,
        capabilities: &Capabilities,
        config: &ReduceConfig,
    ) -> Self {
        let shape = |part| tuning::shape_of(capabilities, part, [1, 0]);
        let KernelShape { workgroup_size, items, look_back, .. } = shape(algorithm.part());
        let items = match algorithm {
            ReduceByKeyAlgorithm::Segments => items,
            // Items are rows of a key and a value of a word.
            ReduceByKeyAlgorithm::Chained => (2 * items / config.key_and_row_words().max(2)).max(1),
        };
        let workgroup_size = capabilities.max_workgroup_invocations.min(workgroup_size);
        let heads = config.has_keys().then_some(TileShape { workgroup_size, items_per_invocation: items });
        let KernelShape { items: packs, subgroup_size, mixed_access, .. } = shape(TunedPart::Reduce);
        let packs_per_invocation = match config.operation {
            Operation::BuiltIn(..) => packs,
            Operation::Index(..) if config.packed_source().is_none() => packs,
            // Twice as much is kept of both, and much of packed elements: Intel's compiler spills with more.
            Operation::Index(..) | Operation::BothIndices(_) => packs.div_ceil(2),
            Operation::Custom(functions) => (4 * packs / functions.element_words().max(1)).clamp(1, 16),
        };
        Self { packs_per_invocation, subgroup_size, mixed_access, algorithm, heads, look_back }
    }

    setters! {
        /// The policy with another number of packs per invocation.
        with_packs(packs_per_invocation: u32) => packs_per_invocation = packs_per_invocation;
        /// The policy with another tile of the kernels that find the runs of equal keys.
        with_heads(heads: TileShape) => heads = Some(heads);
        /// The policy with another look-back of [`ReduceByKeyAlgorithm::Chained`].
        with_look_back(look_back: LookBack) => look_back = look_back;
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
    }

    /// Declares a pipeline with the policy's workgroup and subgroup size.
    pub(super) fn pipeline(
        &self,
        device: &Device,
        kernel: &'static Kernel,
        constants: &[(&'static str, u32)],
    ) -> Result<Pipeline> {
        let (workgroup_size, subgroup_size) = (Self::WORKGROUP_SIZE, self.subgroup_size);
        Pipeline::declare(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
    }

    /// As [`Self::pipeline`], with the tile `heads`.
    pub(super) fn heads_pipeline(
        &self,
        heads: TileShape,
        device: &Device,
        kernel: &'static Kernel,
        constants: &[(&'static str, u32)],
    ) -> Result<Pipeline> {
        let TileShape { workgroup_size, items_per_invocation } = heads;
        let constants = [&[("ITEMS_PER_INVOCATION", items_per_invocation)], constants].concat();
        let options =
            PipelineOptions { workgroup_size, constants: &constants, subgroup_size: self.subgroup_size };
        Pipeline::declare(device, kernel, options)
    }

    pub(super) fn check(&self, config: &ReduceConfig, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(Self::WORKGROUP_SIZE, self.subgroup_size, capabilities)?;
        if config.has_keys() {
            self.check_heads(config, capabilities)?;
        }
        let partial_size = match config.operation {
            Operation::BuiltIn(..) => 16,
            Operation::Index(..) => 32,
            Operation::BothIndices(_) => 64,
            Operation::Custom(functions) => 4 * functions.element_words(),
        };
        let shared_size = Self::WORKGROUP_SIZE / 2 * partial_size;
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)?;
        PolicyConflict::check_range("packs_per_invocation", self.packs_per_invocation, 1..=32)
    }

    fn check_heads(&self, config: &ReduceConfig, capabilities: &Capabilities) -> Result<()> {
        let rule = "heads are required for runs of keys";
        let heads = self.heads.ok_or(Error::InvalidPolicy(PolicyConflict::Excluded(rule)))?;
        let TileShape { workgroup_size, items_per_invocation } = heads;
        check_subgroups_field("heads.workgroup_size", workgroup_size, self.subgroup_size, capabilities)?;
        // Heads of an invocation are bits of a word.
        PolicyConflict::check_range("heads.items_per_invocation", items_per_invocation, 1..=32)?;
        let shared_size = match self.algorithm {
            // A word for each 4 invocations, and one more.
            ReduceByKeyAlgorithm::Segments => workgroup_size + 4,
            // A count and up to two words for each 4 invocations and two more, and two words.
            ReduceByKeyAlgorithm::Chained => {
                let rule = "a single pass of runs of keys is for one column, and not for sums and products of floats; \
                            reduce their segments";
                PolicyConflict::check(config.is_exact_by_key(), rule)?;
                self.look_back.check()?;
                (config.row_size() as u32 + 4) * (workgroup_size / 4 + 2) + 8
            }
        };
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)
    }
}

impl fmt::Display for ReducePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packs_per_invocation, subgroup_size, mixed_access, algorithm, heads, look_back } = self;
        write!(f, "reduce: workgroup 128, {packs_per_invocation} packs per invocation")?;
        if !mixed_access {
            f.write_str(QUADS_OR_WORDS)?;
        }
        write_subgroups(f, *subgroup_size)?;
        let Some(TileShape { workgroup_size, items_per_invocation }) = heads else { return Ok(()) };
        let is_chained = *algorithm == ReduceByKeyAlgorithm::Chained;
        let kernels = if is_chained { algorithm.name() } else { "heads" };
        write!(f, "; {kernels}: workgroup {workgroup_size}, {items_per_invocation} items per invocation")?;
        if is_chained { look_back.write(f, Self::SPIN_LIMIT) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
