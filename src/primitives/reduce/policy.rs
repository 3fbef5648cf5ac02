//! Policy of a reduction: its tuning parameters as a value.

use std::fmt;

use super::config::{Operation, ReduceConfig};
use crate::device::{Capabilities, Device, Pipeline, PipelineOptions};
use crate::error::{PolicyConflict, Result, within};
use crate::kernels::Kernel;
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{Choice, check_subgroups};
use crate::sort::TileShape;

/// Policy of a reduction. A workgroup has 128 invocations, as every device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReducePolicy {
    /// Packs of 16 bytes per invocation, 1 to 32; of a custom operator elements. The only parameter on which the order of
    /// operations depends. Reductions of segments, and along rows of up to 128 words, have a fixed one.
    pub packs_per_invocation: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// As [`ScanPolicy::mixed_access`](crate::scan::ScanPolicy::mixed_access).
    pub mixed_access: bool,
    /// Tile of the kernels that find the runs of equal keys, of up to 32 keys per invocation. No result depends on it.
    pub heads: TileShape,
}

impl ReducePolicy {
    /// Invocations in a workgroup: part of the order of operations.
    pub(super) const WORKGROUP_SIZE: u32 = 128;
    /// The tile of heads on devices that nobody measured.
    const HEADS: TileShape = TileShape { workgroup_size: 128, items_per_invocation: 8 };

    /// Chooses the policy for a device. The order of operations is the same on all.
    pub fn choose(capabilities: &Capabilities, config: &ReduceConfig) -> Choice<Self> {
        let [tuned, heads] = [TunedPart::Reduce, TunedPart::ReduceByKey]
            .map(|part| tuning::shape_of(capabilities, part, [1, 0]));
        let workgroup_size = capabilities.max_workgroup_invocations.min(heads.workgroup_size);
        let heads = TileShape { workgroup_size, items_per_invocation: heads.items };
        let reason = "tiles of one size on all devices, for the same bits";
        Choice { policy: Self::of_shape(&tuned, config).with_heads(heads), reason }
    }

    /// The policy with a shape, whose items are packs of four words.
    fn of_shape(tuned: &KernelShape, config: &ReduceConfig) -> Self {
        let KernelShape { items: packs, subgroup_size, mixed_access, .. } = *tuned;
        let packs_per_invocation = match config.operation {
            Operation::BuiltIn(..) | Operation::Index(..) => packs,
            Operation::Custom(operator) => (4 * packs / operator.element_words().max(1)).clamp(1, 16),
        };
        Self { packs_per_invocation, subgroup_size, mixed_access, heads: Self::HEADS }
    }

    /// The policy with another number of packs per invocation.
    pub const fn with_packs(mut self, packs_per_invocation: u32) -> Self {
        self.packs_per_invocation = packs_per_invocation;
        self
    }

    /// The policy with another tile of the kernels that find the runs of equal keys.
    pub const fn with_heads(mut self, heads: TileShape) -> Self {
        self.heads = heads;
        self
    }

    /// The policy with a required subgroup size.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self
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

    /// As [`Self::pipeline`], with the tile of heads.
    pub(super) fn heads_pipeline(
        &self,
        device: &Device,
        kernel: &'static Kernel,
        constants: &[(&'static str, u32)],
    ) -> Result<Pipeline> {
        let TileShape { workgroup_size, items_per_invocation } = self.heads;
        let constants = [&[("ITEMS_PER_INVOCATION", items_per_invocation)], constants].concat();
        let options =
            PipelineOptions { workgroup_size, constants: &constants, subgroup_size: self.subgroup_size };
        Pipeline::declare(device, kernel, options)
    }

    pub(super) fn check(&self, config: &ReduceConfig, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(Self::WORKGROUP_SIZE, self.subgroup_size, capabilities)?;
        check_subgroups(self.heads.workgroup_size, self.subgroup_size, capabilities)?;
        // Heads of an invocation are bits of a word.
        PolicyConflict::check_range("items_per_invocation", self.heads.items_per_invocation, 1..=32)?;
        // The totals of up to a subgroup for every 4 invocations.
        within("bytes of shared memory", self.heads.workgroup_size + 4, capabilities.shared_memory_size)?;
        let partial_size = match config.operation {
            Operation::BuiltIn(..) => 16,
            Operation::Index(..) => 32,
            Operation::Custom(operator) => 4 * operator.element_words(),
        };
        let shared_size = Self::WORKGROUP_SIZE / 2 * partial_size;
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)?;
        PolicyConflict::check_range("packs_per_invocation", self.packs_per_invocation, 1..=32)
    }
}

impl fmt::Display for ReducePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packs_per_invocation, subgroup_size, mixed_access, heads } = self;
        write!(f, "reduce: workgroup 128, {packs_per_invocation} packs per invocation")?;
        if !mixed_access {
            f.write_str(", one kind of access")?;
        }
        subgroup_size.map_or(Ok(()), |size| write!(f, ", subgroups of {size}"))?;
        if *heads == Self::HEADS {
            return Ok(());
        }
        let TileShape { workgroup_size, items_per_invocation } = heads;
        write!(f, "; heads: workgroup {workgroup_size}, {items_per_invocation} items per invocation")
    }
}
