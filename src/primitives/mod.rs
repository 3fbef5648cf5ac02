//! Primitive floor: plans that record a primitive into the caller's command buffer.
//!
//! A plan is created once from a configuration, holds only pipelines, and may be shared between threads. All mutable
//! state is in the caller's scratch, so that each frame in flight needs its own scratch range. Recording does not
//! allocate, submit or wait.

pub mod arguments;
#[cfg(test)]
mod command_table;
pub mod difference;
mod few_tiles;
mod functions;
pub mod gather;
pub mod histogram;
mod level_args;
mod look_back;
pub mod merge;
mod packed;
mod plan;
pub mod reduce;
pub mod run_length;
pub mod scan;
mod scratch;
pub mod search;
pub mod select;
mod single_pass;
pub mod sort;
pub mod top_k;
pub mod tuning;

pub use crate::element::{Bf16, ElementType, F16, FloatOrder, Number, NumberKind};
pub use few_tiles::FewTiles;
pub use functions::{FunctionModule, Functions};
pub use look_back::LookBack;
#[cfg(feature = "headless")]
pub(crate) use packed::Packing;
pub use plan::{Buffers, Config, Counts, Max, Plan, Primitive};
pub use scratch::{ScratchArray, ScratchRequirements};

use std::fmt;

use ash::vk;

use crate::device::{AddressRange, Capabilities};
use crate::error::{PolicyConflict, Result, at_most, refuse_if, within};
use packed::PackedForm;
use scratch::{ScratchCursor, ScratchRange};

/// Number of elements, on the host or on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// Direct count, given at recording.
    Direct(u64),
    /// Indirect count, read from device memory when the commands execute. Indirect dispatches launch as many workgroups
    /// as it needs; those that unpack and pack elements of 8 and 16 bits as many as the maximum needs, the rest of which end at
    /// once.
    Indirect {
        /// Device address of the count, a u32, at a multiple of 4.
        address: vk::DeviceAddress,
        /// Maximum count, for which memory is sized. A larger count is treated as `max`.
        max: u32,
    },
}

impl From<u64> for Count {
    fn from(count: u64) -> Self {
        Self::Direct(count)
    }
}

impl Count {
    /// The maximum of the count.
    pub const fn max(self) -> u64 {
        match self {
            Self::Direct(count) => count,
            Self::Indirect { max, .. } => max as u64,
        }
    }

    /// Range of an indirect count; empty for a direct one.
    const fn indirect(self) -> AddressRange {
        match self {
            Self::Direct(_) => AddressRange::new(0, 0),
            Self::Indirect { address, .. } => AddressRange::new(address, size_of::<u32>() as u64),
        }
    }

    /// Whether the count is read from device memory.
    pub const fn is_indirect(self) -> bool {
        matches!(self, Self::Indirect { .. })
    }
}

impl Counts for Count {
    type Max = u64;

    fn max(self) -> u64 {
        Self::max(self)
    }

    fn check_supported(self, has_indirect_count: bool) -> Result<()> {
        let reason = "the plan takes direct counts only; make it with indirect_count";
        refuse_if(self.is_indirect() && !has_indirect_count, reason)
    }
}

/// Two counts of a recording, each direct or indirect: `(first, second).into()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountPair {
    /// Count of the sorted keys of a search, of the keys of a segmented sort, or of the first array of a merge.
    pub first: Count,
    /// Count of the needles, of the segments, or of the second array.
    pub second: Count,
}

impl<A: Into<Count>, B: Into<Count>> From<(A, B)> for CountPair {
    fn from((first, second): (A, B)) -> Self {
        Self { first: first.into(), second: second.into() }
    }
}

impl Counts for CountPair {
    type Max = (u64, u64);

    fn max(self) -> (u64, u64) {
        (self.first.max(), self.second.max())
    }

    fn check_supported(self, has_indirect_count: bool) -> Result<()> {
        self.first.check_supported(has_indirect_count)?;
        self.second.check_supported(has_indirect_count)
    }
}

/// A policy, and the reason for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<P> {
    /// The policy.
    pub policy: P,
    /// The reason, in a few words.
    pub reason: &'static str,
}

/// Division of elements into tiles, of which only the last may be partial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tiles {
    count: u32,
    last_extent: u32,
}

impl Tiles {
    /// As [`Self::new`], for kernels that have a result of no elements: these are an empty tile.
    fn at_least_one(count: u64, tile_items: u32) -> Result<Self> {
        if count == 0 { Ok(Self { count: 1, last_extent: 0 }) } else { Self::new(count, tile_items) }
    }

    /// Divides `count` elements, at least one, into tiles of `tile_items` elements.
    fn new(count: u64, tile_items: u32) -> Result<Self> {
        let tile_count = count.div_ceil(tile_items.into());
        let last_extent = count - (tile_count - 1) * u64::from(tile_items);
        at_most(count, u64::from(u32::MAX) * u64::from(tile_items), "2^32 - 1 tiles of this policy")?;
        Ok(Self { count: tile_count as u32, last_extent: last_extent as u32 })
    }

    /// As [`Self::new`], of tiles that take several workgroups each.
    fn of_workgroups(count: u64, tile_items: u32, workgroups_per_tile: u64) -> Result<Self> {
        let tiles = Self::at_least_one(count, tile_items)?;
        let max_tiles = u64::from(u32::MAX) / workgroups_per_tile;
        at_most(count, max_tiles * u64::from(tile_items), "2^32 - 1 workgroups of this policy")?;
        Ok(tiles)
    }
}

/// A number as a kernel takes it: two words, low word first.
const fn wide(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Of a policy without `mixed_access`, as text.
const QUADS_OR_WORDS: &str = ", all tiles by quads or all by words";

/// Writes a required subgroup size, after a comma.
fn write_subgroups(f: &mut fmt::Formatter<'_>, size: Option<u32>) -> fmt::Result {
    size.map_or(Ok(()), |size| write!(f, ", subgroups of {size}"))
}

/// Bytes of which the address of an array is a multiple where kernels access quads, 16 bytes or four packed elements.
const fn quad_alignment(packed: Option<PackedForm>) -> u64 {
    if packed.is_some() { 4 } else { 16 }
}

/// Whether kernels may access ranges by quads: each begins at a multiple of its alignment and, unless kernels mix quads and
/// words, the count is direct and a multiple of `pack_items`.
fn has_quads(
    ranges: impl IntoIterator<Item = (AddressRange, u64)>,
    mixed_access: bool,
    count: Count,
    pack_items: u32,
) -> bool {
    let is_whole = matches!(count, Count::Direct(count) if count.is_multiple_of(pack_items.into()));
    (mixed_access || is_whole) && ranges.into_iter().all(|(range, alignment)| range.is_aligned(alignment))
}

/// Checks a workgroup size: a multiple of 32, since kernels size shared arrays for subgroups of 4 lanes.
fn check_workgroup(workgroup_size: u32, capabilities: &Capabilities) -> Result<()> {
    check_workgroup_field("workgroup_size", workgroup_size, capabilities)
}

/// As [`check_workgroup`], of the field `field` of a policy.
fn check_workgroup_field(
    field: &'static str,
    workgroup_size: u32,
    capabilities: &Capabilities,
) -> Result<()> {
    PolicyConflict::check_range(field, workgroup_size, 32..=u32::MAX)?;
    PolicyConflict::check_multiple(field, workgroup_size, 32, "8 subgroups of 4 lanes")?;
    within("invocations in a workgroup", workgroup_size, capabilities.max_workgroup_invocations)
}

/// Maximum number of tiles of a workgroup that strides, as in `common/stride.glsl`.
const MAX_STRIDE_TILES: u64 = 32;

/// Workgroups for `tile_count` tiles: at most `max`, which stride over tiles, unless each would have more than
/// [`MAX_STRIDE_TILES`]; without a maximum one per tile.
fn striding_workgroups(max: Option<u32>, tile_count: u64) -> u64 {
    match max {
        Some(max) => tile_count.min(tile_count.div_ceil(MAX_STRIDE_TILES).max(max.into())),
        None => tile_count,
    }
}

/// Checks a workgroup of whole subgroups; returns the largest subgroup size that it may have.
fn check_subgroups(
    workgroup_size: u32,
    subgroup_size: Option<u32>,
    capabilities: &Capabilities,
) -> Result<u32> {
    check_subgroups_field("workgroup_size", workgroup_size, subgroup_size, capabilities)
}

/// As [`check_subgroups`], of the field `field` of a policy.
fn check_subgroups_field(
    field: &'static str,
    workgroup_size: u32,
    subgroup_size: Option<u32>,
    capabilities: &Capabilities,
) -> Result<u32> {
    check_workgroup_field(field, workgroup_size, capabilities)?;
    let lanes = capabilities.widest_subgroup(subgroup_size, workgroup_size)?;
    PolicyConflict::check_multiple(field, workgroup_size, lanes, "the subgroup size")?;
    Ok(lanes)
}

#[cfg(test)]
mod tests;
