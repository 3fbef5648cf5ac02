//! Policy of a gather: its tuning parameters as a value.

use std::fmt;

use super::config::GatherConfig;
use crate::device::Capabilities;
use crate::error::{PolicyConflict, Result};
use crate::primitives::{Choice, check_workgroup};

/// Policy of a gather. A tile is as many whole elements as fit `workgroup_size * accesses_per_invocation` accesses of
/// up to 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GatherPolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Loads of elements in flight, and stores, per invocation: at most 32.
    pub accesses_per_invocation: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
}

impl GatherPolicy {
    /// Chooses the policy for a device.
    pub fn choose(capabilities: &Capabilities, _: &GatherConfig) -> Choice<Self> {
        Choice {
            policy: Self::tiled(capabilities.max_workgroup_invocations.min(256), 4),
            reason: "four loads in flight per invocation hide some of the latency of scattered reads",
        }
    }

    /// A policy with `workgroup_size` invocations and `accesses_per_invocation` accesses for each.
    pub const fn tiled(workgroup_size: u32, accesses_per_invocation: u32) -> Self {
        Self { workgroup_size, accesses_per_invocation, subgroup_size: None }
    }

    /// The policy with a required subgroup size.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self
    }

    /// Accesses per workgroup.
    pub(super) const fn tile_units(&self) -> u32 {
        self.workgroup_size * self.accesses_per_invocation
    }

    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        check_workgroup(self.workgroup_size, capabilities)?;
        capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size)?;
        // Compilers do not unroll longer loops.
        PolicyConflict::check_range("accesses_per_invocation", self.accesses_per_invocation, 1..=32)
    }
}

impl fmt::Display for GatherPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, accesses_per_invocation, subgroup_size } = self;
        write!(f, "gather: workgroup {workgroup_size}, {accesses_per_invocation} accesses per invocation")?;
        match subgroup_size {
            Some(size) => write!(f, ", subgroups of {size}"),
            None => Ok(()),
        }
    }
}
