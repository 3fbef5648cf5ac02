//! How a gather is tuned, as a value.

use std::fmt;

use super::config::GatherConfig;
use crate::device::Capabilities;
use crate::error::{Error, Result};
use crate::primitives::{Choice, check_workgroup};

/// How a gather goes about it. A tile is as many whole elements as fit
/// `workgroup_size * accesses_per_invocation` accesses of up to 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GatherPolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Stores of an invocation, and loads of elements, which are under way together: at most 32.
    pub accesses_per_invocation: u32,
    /// Lanes of a subgroup to ask for; `None` leaves them to the driver.
    pub subgroup_size: Option<u32>,
}

impl GatherPolicy {
    /// The policy for a device, with the reason.
    pub fn choose(capabilities: &Capabilities, _: &GatherConfig) -> Choice<Self> {
        Choice {
            policy: Self::tiled(capabilities.max_workgroup_invocations.min(256), 4),
            reason: "four loads of each invocation under way hide some of what a scattered read waits",
        }
    }

    /// Workgroups of `workgroup_size` invocations, each of which stores `accesses_per_invocation` times.
    pub const fn tiled(workgroup_size: u32, accesses_per_invocation: u32) -> Self {
        Self { workgroup_size, accesses_per_invocation, subgroup_size: None }
    }

    /// The same, in subgroups of `size` lanes.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self
    }

    /// Accesses of a workgroup.
    pub(super) const fn tile_units(&self) -> u32 {
        self.workgroup_size * self.accesses_per_invocation
    }

    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        check_workgroup(self.workgroup_size, capabilities)?;
        capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size)?;
        // Beyond that compilers leave loops as they are.
        if (1..=32).contains(&self.accesses_per_invocation) {
            return Ok(());
        }
        Err(Error::InvalidPolicy { reason: "accesses_per_invocation is from 1 to 32" })
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
