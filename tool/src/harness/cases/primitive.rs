//! What the harness knows of a primitive.

use std::fmt;
use std::sync::Arc;

use super::id::Id;
use super::{BenchScale, Case, Work};
use crate::harness::cases::{Known, Prepared};
use crate::harness::inputs::Input;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::internal::named;

/// The parameters of a case of one primitive: its id, which it is printed as, and how a case is generated, recorded and checked.
/// Its functions `config` and `policy` describe its plan, which [`Work`] makes. Its file has its [`Tables`].
pub trait PrimitiveCase: fmt::Display {
    /// The plan.
    type Plan
    where
        Self: Sized;

    /// The stable id of the work.
    fn id(&self) -> Id;

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
        self.item_count(count)
    }

    /// Creates the operands, the recording and the oracle for `count` rows. What they are made of, whatever the policy, is
    /// [`Known::data`].
    ///
    /// # Errors
    /// Errors of values on the host.
    fn prepare(&self, plan: Arc<Self::Plan>, count: u64, input: Input, known: &Known) -> Result<Prepared>
    where
        Self: Sized;

    /// The case of `count` rows.
    fn case(&self, count: u64, input: Input) -> Case
    where
        Self: Clone + Into<Work>,
    {
        Case { work: self.clone().into(), count, input, tuned: None }
    }
}

/// The number of values of each axis of a covering set, and the number of pairs that are refused.
#[cfg(test)]
pub type Extent = (Vec<usize>, usize);

/// A table of cases for a device.
pub type Table = fn(&Capabilities) -> Vec<Case>;

/// The tables of a primitive's cases, functions of its file. Verification takes more of them with more effort; products of
/// parameters are apart.
pub struct Tables {
    /// Every pair of parameters in small tiles, and the default tiles.
    pub covering: Table,
    /// The pairs that are missing in cases, of those that the covering sets promise.
    #[cfg(test)]
    pub missing: fn(&Capabilities, &[Case]) -> Vec<String>,
    /// Values of each axis, and pairs that are refused, of each covering set.
    #[cfg(test)]
    pub extents: fn(&Capabilities) -> Vec<Extent>,
    /// Every specialization of a kernel by a selectable policy, in a few tiles.
    pub specializations: Table,
    /// All other cases, except products.
    pub full: Table,
    /// Works that use every specialization of a kernel by a selectable policy.
    pub selectable: fn(&Capabilities) -> Vec<Work>,
    /// Benchmarks.
    pub bench: fn(BenchScale) -> Vec<Case>,
}

named! {
    /// Location of the count when a plan is recorded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum CountFrom {
        /// In host memory.
        Host = "host",
        /// An indirect count below its maximum.
        Device = "device",
        /// An indirect count above its maximum, clamped to it.
        DeviceBeyond = "device-beyond",
    }
}

impl CountFrom {
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
}
