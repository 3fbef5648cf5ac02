//! Policy of run-length encoding and decoding.

use std::fmt;

use super::config::{Coding, RunLengthConfig};
use crate::device::Capabilities;
use crate::error::{PolicyConflict, Result};
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{Choice, check_subgroups};
use crate::scan::ScanPolicy;
use crate::select::SelectPolicy;

/// Policy of run-length encoding and decoding. A tile is `workgroup_size * items_per_invocation` runs whose lengths are
/// computed, or elements that are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RunLengthPolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Runs or elements per invocation: at most 32.
    pub items_per_invocation: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// The selections of an encoding.
    pub select: SelectPolicy,
    /// The scan of the counts of a decoding.
    pub scan: ScanPolicy,
}

impl RunLengthPolicy {
    /// Chooses the policy for a configuration on a device.
    pub fn choose(capabilities: &Capabilities, config: &RunLengthConfig) -> Choice<Self> {
        // The selection of non-trivial runs holds two words of each.
        let select = match config.coding {
            Coding::EncodeNonTrivial => RunLengthConfig::non_trivial_runs(),
            Coding::Encode | Coding::Decode => config.starts(),
        };
        let select = SelectPolicy::choose(capabilities, &select).policy;
        let scan = ScanPolicy::choose(capabilities, &config.ends()).policy;
        let tuned = tuning::shape_of(capabilities, TunedPart::RunLength, [1, 0]);
        let policy = Self::of_shape(&tuned, capabilities, select, scan);
        let reason = match config.coding {
            Coding::Decode => "eight searches in flight per invocation hide some of their latency",
            Coding::Encode | Coding::EncodeNonTrivial => "the selection takes nearly all of the time",
        };
        Choice { policy, reason }
    }

    /// The policy with a shape, whose items are runs or elements.
    pub(crate) fn of_shape(
        tuned: &KernelShape,
        capabilities: &Capabilities,
        select: SelectPolicy,
        scan: ScanPolicy,
    ) -> Self {
        let workgroup_size = capabilities.max_workgroup_invocations.min(tuned.workgroup_size);
        let policy = Self::tiled(workgroup_size, tuned.items, select, scan);
        Self { subgroup_size: tuned.subgroup_size, ..policy }
    }

    /// A policy with `workgroup_size` invocations and `items_per_invocation` runs or elements for each.
    pub const fn tiled(
        workgroup_size: u32,
        items_per_invocation: u32,
        select: SelectPolicy,
        scan: ScanPolicy,
    ) -> Self {
        Self { workgroup_size, items_per_invocation, subgroup_size: None, select, scan }
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

    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(self.workgroup_size, self.subgroup_size, capabilities)?;
        // Compilers do not unroll longer loops.
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=32)
    }
}

impl fmt::Display for RunLengthPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, items_per_invocation, subgroup_size, .. } = self;
        write!(f, "run length: workgroup {workgroup_size}, {items_per_invocation} items per invocation")?;
        subgroup_size.map_or(Ok(()), |size| write!(f, ", subgroups of {size}"))?;
        write!(f, "; select {}; scan {}", self.select, self.scan)
    }
}
