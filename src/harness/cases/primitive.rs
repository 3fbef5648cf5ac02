//! What the harness knows of a primitive.

use std::fmt;

use super::{Case, Effort, Work};
use crate::device::Capabilities;
use crate::error::Result;
use crate::harness::inputs::Input;
use crate::harness::inspection::PlanConfig;
use crate::harness::workload::Prepared;
use crate::headless::Gpu;

/// The parameters of a case of one primitive: its id as [`Display`](fmt::Display), its tables of cases, its plan, and
/// how a case is generated, recorded and checked.
pub trait PrimitiveCase: fmt::Display {
    /// The tables of cases.
    fn tables() -> Tables
    where
        Self: Sized;

    /// The configuration of its plan on a device, with the policy.
    fn plan(&self, capabilities: &Capabilities) -> PlanConfig;

    /// The policy of its plan on a device, as text.
    fn policy_text(&self, capabilities: &Capabilities) -> String;

    /// Bytes of a row, an element or a key of the input.
    fn row_size(&self) -> u64;

    /// Bytes of the value moved with each key.
    fn moved_size(&self) -> u64 {
        0
    }

    /// Its algorithm and policy, or what distinguishes it from other cases of the primitive, for comparisons.
    fn variant(&self) -> String;

    /// The number of items of `count` rows that tiles hold: the rows, unless they are long.
    fn item_count(&self, count: u64) -> u64 {
        count
    }

    /// Generates `count` rows of input as words, and the values that are moved with them.
    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2];

    /// The seed of the random numbers of `count` rows.
    fn seed(&self, count: u64) -> u64 {
        count
    }

    /// Creates the plan and the operands for `count` rows.
    ///
    /// # Errors
    /// Those of the plan.
    fn prepare(&self, gpu: &Gpu, count: u64, input: Input) -> Result<Prepared>;

    /// The case of `count` rows.
    fn case(&self, count: u64, input: Input) -> Case
    where
        Self: Clone + Into<Work>,
    {
        Case { work: self.clone().into(), count, input }
    }
}

/// A table of cases for a device.
pub type Table = fn(&Capabilities) -> Vec<Case>;

/// The tables of a primitive's cases. Verification takes more of them with more effort.
pub struct Tables {
    /// Every pair of parameters in small tiles, and the default tiles.
    pub covering: Table,
    /// Every specialization of a kernel by a selectable policy, in a few tiles.
    pub specializations: Table,
    /// All other cases, except products.
    pub full: Table,
    /// Products of parameters.
    pub products: Table,
    /// Works that use every specialization of a kernel by a selectable policy.
    pub selectable: fn(&Capabilities) -> Vec<Work>,
    /// Benchmarks.
    pub bench: fn(Effort) -> Vec<Case>,
}

/// Location of the count when a plan is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CountFrom {
    /// In host memory.
    Host,
    /// An indirect count below its maximum.
    Device,
    /// An indirect count above its maximum, clamped to it.
    DeviceBeyond,
}

impl CountFrom {
    /// All locations.
    pub(super) const ALL: [Self; 3] = [Self::Host, Self::Device, Self::DeviceBeyond];
    /// Indirect counts.
    pub(super) const INDIRECT: [Self; 2] = [Self::Device, Self::DeviceBeyond];

    /// Whether the count is in device memory.
    pub(in crate::harness) const fn is_indirect(self) -> bool {
        !matches!(self, Self::Host)
    }

    /// The maximum count, for which memory is sized, if there are `count` rows.
    pub(in crate::harness) const fn room(self, count: u64) -> u64 {
        match self {
            Self::Host | Self::DeviceBeyond => count,
            Self::Device => count + count / 2 + 3,
        }
    }

    /// The parameter in an id; empty for a count on the host.
    pub(super) const fn parameter(self) -> &'static str {
        match self {
            Self::Host => "",
            Self::Device => ";count=device",
            Self::DeviceBeyond => ";count=device-beyond",
        }
    }
}
