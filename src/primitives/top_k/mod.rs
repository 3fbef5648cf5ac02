//! Top-k: the k largest or smallest keys of each row of a table, their columns, and their values.
//!
//! ```text
//!   subgroups:  short rows ── rows ──► k keys of each row
//!   tiles:  rows ── select ──► k keys of each tile ── select ──► … ──► k keys of each row
//!   sort:   rows ── orders ──► segmented sort of all keys ── take ──► k keys of each row
//! ```
//!
//! Ties go to the lowest column. The results equal a stable sort of each row, on every device. Values move once, in
//! the dispatch that writes the results.

mod config;
mod policy;
mod rows;
mod sort;
mod tiles;

pub use config::{TopKBuffers, TopKConfig};
pub use policy::{TopKAlgorithm, TopKPolicy};

use std::ffi::CStr;

use super::plan::{Plan, Primitive, Recordable};
use super::{Count, ScratchCursor, packed};
use crate::device::{Access, Capabilities, Device, Pipeline, PipelineOptions};
use crate::error::{Result, at_most};
use crate::kernels::Kernel;
use rows::ByRows;
use sort::BySort;
use tiles::ByTiles;

/// Plan of a top-k.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::top_k::{TopKBuffers, TopKConfig, TopKPlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let scores = gpu.allocate_with(&[5, 20, 10, 30, 40, 50])?;
/// let (keys, columns) = (gpu.allocate(16)?, gpu.allocate(16)?);
/// let plan = TopKPlan::new(gpu.device(), TopKConfig::largest(ElementType::U32, 3, 2))?;
/// // The count is of rows.
/// let scratch = gpu.allocate(plan.scratch_requirements(2).size)?;
/// let [from, to, indices] = [&scores, &keys, &columns].map(|buffer| buffer.addresses());
/// let buffers = TopKBuffers::new(from, to, indices, scratch.range());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 2)) }?;
/// assert_eq!(gpu.read(&columns, 4)?, [1, 2, 2, 1]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type TopKPlan = Plan<TopK>;

/// The primitive of a [`TopKPlan`].
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `source` | `count * columns * key_size`, or with segments any number of keys | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `segments`, `ks` | 4 per row, where the configuration has them | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination` | `count * k * key_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `destination_indices` | `count * k * 4` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `source_values` | `count * columns * value_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination_values` | `count * k * value_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | below | TRANSFER or COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// | scratch for | bytes |
/// |---|---|
/// | rows of several tiles | `k * (key_size + 4)` for each tile of the first dispatch, and of the second |
/// | an indirect count | 32 for each dispatch; for the sort 112 |
/// | the sort | for each key of rows of `columns` `key_size + 4`, 4 for each row, 8 of unequal ones, and the scratch of a segmented sort of keys and indices |
/// | the sort, not sorted | 4 for each selected key and each row, and the scratch of a segmented sort of u32 |
///
/// | commands | |
/// |---|---|
/// | subgroups | a dispatch |
/// | tiles | a dispatch, and one more, with a barrier, until a row has one tile |
/// | the sort | a dispatch, a segmented sort and a dispatch, with barriers; not sorted, another sort and dispatch |
/// | an indirect count | a dispatch and a barrier before each of these |
///
/// The count is of rows, at most 2^32 - 1, and the workgroups of a two-dimensional dispatch; a sort has the limits of
/// [`SegmentedSortPlan`](crate::sort::SegmentedSortPlan). Written ranges are disjoint from each other and from those that
/// are read. Keys of 8 and 16 bits are taken as they are by subgroups and tiles, where the device has enabled
/// `storageBuffer8BitAccess` or `storageBuffer16BitAccess`. The number of results is known on the host: k for each row, or slots for k where rows have lengths or a k of their
/// own. A count of 0 records nothing. Sorted results are
/// the best first, and of equal keys the key of the lowest column; others are in the order of their columns. The results do
/// not depend on timing, policy or device.
#[derive(Debug)]
pub struct TopK(Variant);

#[derive(Debug)]
enum Variant {
    Rows(ByRows),
    Tiles(ByTiles),
    Sort(Box<BySort>),
}

impl Primitive for TopK {
    type Config = TopKConfig;
    type Policy = TopKPolicy;
    type Buffers = TopKBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep top-k";

    fn declare(device: &Device, config: &TopKConfig, policy: &TopKPolicy) -> Result<Self> {
        Ok(Self(match policy.algorithm {
            TopKAlgorithm::Subgroups => Variant::Rows(ByRows::new(device, config, policy)?),
            TopKAlgorithm::Tiles => Variant::Tiles(ByTiles::new(device, config, policy)?),
            TopKAlgorithm::Sort => Variant::Sort(Box::new(BySort::new(device, config, policy)?)),
        }))
    }

    fn takes_packed(capabilities: &Capabilities, config: &TopKConfig, policy: &TopKPolicy) -> bool {
        let has_kernels = policy.algorithm != TopKAlgorithm::Sort && !config.is_computed();
        has_kernels && packed::has_access(capabilities, config.element_type())
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(match &self.0 {
            Variant::Rows(rows) => rows as _,
            Variant::Tiles(tiles) => tiles as _,
            Variant::Sort(sort) => &**sort as _,
        })
    }

    fn check_count(&self, _: &TopKConfig, count: u64) -> Result<()> {
        at_most(count, self.max_count(), "rows of a top-k")
    }

    fn first_access(&self, _: &TopKConfig) -> Access {
        match self.0 {
            Variant::Rows(_) | Variant::Tiles(_) => Access::COMPUTE,
            Variant::Sort(_) => Access::COMPUTE.and(Access::TRANSFER_WRITE),
        }
    }
}

impl TopK {
    fn max_count(&self) -> u64 {
        match &self.0 {
            Variant::Rows(_) | Variant::Tiles(_) => u32::MAX.into(),
            Variant::Sort(sort) => sort.max_count(),
        }
    }
}

impl TopKPolicy {
    fn pipeline(
        &self,
        device: &Device,
        kernel: &'static Kernel,
        constants: &[(&'static str, u32)],
    ) -> Result<Pipeline> {
        let TopKPolicy { workgroup_size, subgroup_size, .. } = *self;
        Pipeline::declare(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
    }
}

impl TopKPlan {
    /// Maximum number of rows: 2^32 - 1, or by a sort the rows of 2^32 - 1 keys or fewer.
    pub fn max_count(&self) -> u64 {
        self.primitive.max_count()
    }

    /// Bytes that a recording of `count` rows reads and writes, without lists of the segmented sort; of rows of their own lengths
    /// or k at most.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let of_row = match &self.primitive.0 {
            Variant::Rows(rows) => rows.row_traffic_size(),
            Variant::Tiles(tiles) => tiles.row_traffic_size(),
            Variant::Sort(sort) => sort.row_traffic_size(),
        };
        count.saturating_mul(of_row).saturating_add(self.packing_size(count))
    }
}
