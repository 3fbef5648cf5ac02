//! Stable sort of structures by several fields, or by a function of the caller.
//!
//! ```text
//!   for each part of the key, the least significant first:
//!     structures, in the order so far ── keys ──► part of each key ── sort of keys and indices ──► order
//!   structures, order ── gather ──► sorted structures
//! ```
//!
//! A part has 64 bits, of fields that compare as one unsigned number. A structure moves once, however many fields there are. By
//! a function the order comes from a merge sort of indices instead.

mod config;
mod key;
mod merge_sort;

pub use config::{StructureSortBuffers, StructureSortConfig, StructureSortPolicy};
pub use key::{Direction, Field, Key};

use std::ffi::CStr;

use super::row_mover::{RowMover, RowMoverLayout};
use super::{SortBuffers, SortConfig, SortPlan, ValueSize};
use crate::device::{Access, AddressRange, Barrier, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::{Result, at_most};
use crate::gather::GatherConfig;
use crate::kernels;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked, Plan, Primitive, Recordable};
use crate::primitives::{Count, ScratchCursor, ScratchRange};
use config::{Output, SortBy};
use key::Part;
use merge_sort::MergeSort;

/// Plan of a structure sort.
///
#[doc = example!()]
/// use subsweep::ElementType::{I16, U16};
/// use subsweep::headless::{Gpu, GpuOptions};
/// use subsweep::sort::{Direction::*, Key, StructureSortBuffers, StructureSortConfig, StructureSortPlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// // Structures of two numbers of 16 bits.
/// let (pairs, order) = (gpu.allocate_with(&[0x0002_0001u32, 0x0001_0005, 0x0002_0000])?, gpu.allocate(12)?);
/// let key = Key::fields([(U16, 2, Ascending), (I16, 0, Descending)]);
/// let plan = StructureSortPlan::new(gpu.device(), StructureSortConfig::argsort(4, key))?;
/// let scratch = gpu.allocate(plan.scratch_requirements(3).size)?;
/// let buffers = StructureSortBuffers::new(pairs.addresses(), scratch.range()).indices(order.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 3)) }?;
/// assert_eq!(gpu.read(&order, 3)?, [1, 0, 2]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type StructureSortPlan = Plan<StructureSort>;

/// The primitive of a [`StructureSortPlan`], and its only algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `structures` | `count * structure_size` | COMPUTE_SHADER read | COMPUTE_SHADER read; in place write |
/// | `sorted`: out of place | as `structures` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `indices`: of an argsort | `count * 4` | COMPUTE_SHADER write | COMPUTE_SHADER read, write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | below | TRANSFER or COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// | scratch for | bytes |
/// |---|---|
/// | keys | for each structure 4 where the key has up to 32 bits, else 8; none by a function of the caller |
/// | indices, unless of an argsort | 4 for each structure |
/// | the sorts | the scratch of a [`SortPlan`] of keys, with indices, that discards them; by a function 4 for each structure |
/// | the structures, in place | `count * structure_size` |
/// | an indirect count | 32; with structures 64, in place 96 |
///
/// | commands | |
/// |---|---|
/// | for each 64 bits of the key | a dispatch, a sort, and a barrier |
/// | by a function | a dispatch, and a barrier and a dispatch for each doubling of a tile up to the count |
/// | the structures | a barrier and a gather; in place a copy before the first dispatch |
/// | an indirect count | a dispatch and a barrier before the first of these, the gather and the copy |
///
/// A `count` of 0 records nothing, nor does one of 1 in place. At most [`StructureSortPlan::max_count`] structures, and as
/// many as a [`GatherPlan`](crate::gather::GatherPlan) takes. Faster if `structures` and `sorted` are aligned to 16 and the
/// structure size is a multiple of 16, or both of 8. Stable: structures that agree in all fields of the key, or neither of which
/// is less, keep their order, and their other bytes may be anything. The result does not depend on timing, policy or device.
#[derive(Debug)]
pub struct StructureSort {
    output: Output,
    tile_items: u32,
    /// The least significant first; none by a function of the caller.
    steps: Vec<Step>,
    /// By a function of the caller.
    merge_sort: Option<MergeSort>,
    /// Unless indices are the result.
    mover: Option<RowMover>,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// The sort by a part of the key.
#[derive(Debug)]
struct Step {
    part: Part,
    keys: Pipeline,
    sort: SortPlan,
}

impl Step {
    fn new(
        device: &Device,
        config: &StructureSortConfig,
        policy: &StructureSortPolicy,
        (index, part): (usize, Part),
    ) -> Result<Self> {
        let element = part.element();
        let shape = [
            ("ITEMS_PER_INVOCATION", policy.items_per_invocation),
            ("STRUCTURE_WORDS", config.structure_size / 4),
        ];
        let constants = [&shape[..], &part.constants()].concat();
        let workgroup_size = policy.workgroup_size;
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
        let kernel = kernels::SORT_FIELD_KEYS.module(&[("KEY_WORDS", element.words())]);
        let sort = match index {
            0 => SortConfig::keys_and_indices(element),
            _ => SortConfig::pairs(element, ValueSize::B4),
        };
        let sort = sort.bits(0..part.bits).discards_keys();
        let sort = if config.has_indirect_count { sort.indirect_count() } else { sort };
        let (keys, sort) = (Pipeline::declare(device, kernel, options)?, SortPlan::declare(device, sort)?);
        Ok(Self { part, keys, sort })
    }
}

/// Offsets of the arrays in scratch.
#[derive(Debug)]
pub struct ScratchLayout {
    level_args: u64,
    keys: ScratchRange,
    indices: ScratchRange,
    /// The scratch of one sort after another.
    sort: ScratchRange,
    mover: Option<RowMoverLayout>,
}

impl Primitive for StructureSort {
    type Config = StructureSortConfig;
    type Policy = StructureSortPolicy;
    type Buffers = StructureSortBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep structure sort";

    fn declare(device: &Device, config: &StructureSortConfig, policy: &StructureSortPolicy) -> Result<Self> {
        let StructureSortConfig { output, has_indirect_count, .. } = *config;
        let parts = config.key().into_iter().flat_map(Key::parts).enumerate();
        let merge_sort = match config.by {
            SortBy::Key(_) => None,
            SortBy::Function(functions) => Some(MergeSort::new(device, functions, policy)?),
        };
        let mover = || {
            let gather = GatherConfig::elements(config.structure_size / 4);
            RowMover::new(device, gather, output == Output::InPlace, has_indirect_count)
        };
        Ok(Self {
            output,
            tile_items: policy.tile_items(),
            steps: parts.map(|part| Step::new(device, config, policy, part)).collect::<Result<_>>()?,
            merge_sort,
            mover: (output != Output::Indices).then(mover).transpose()?,
            level_args: LevelArgsWriter::new(device, None, has_indirect_count)?,
        })
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _)
    }

    fn algorithm(&self, _: &StructureSortConfig, max: u64) -> Option<&dyn Recordable<Self>> {
        let least = if self.output == Output::InPlace { 2 } else { 1 };
        (max >= least).then_some(self)
    }

    fn check_count(&self, _: &StructureSortConfig, count: u64) -> Result<()> {
        at_most(count, self.max_count(), "a sort of structures")
    }

    fn first_access(&self, _: &StructureSortConfig) -> Access {
        let first = self.steps.first().map_or(Access::COMPUTE, |step| step.sort.first_access());
        Access::COMPUTE.and(first)
    }
}

impl StructureSort {
    fn max_count(&self) -> u64 {
        self.steps.iter().map(|step| step.sort.max_count()).fold(u32::MAX.into(), u64::min)
    }

    /// The steps of a recording: of one structure, all that is left to do is to write.
    fn steps(&self, max: u64) -> &[Step] {
        if max == 1 { &self.steps[..self.steps.len().min(1)] } else { &self.steps }
    }
}

impl Algorithm<StructureSort> for StructureSort {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let steps =
            self.steps.iter().flat_map(|step| std::iter::once(&step.keys).chain(step.sort.pipelines()));
        let level_args = self.level_args.as_ref().map(LevelArgsWriter::pipeline);
        let merges = self.merge_sort.as_ref().map(MergeSort::pipeline);
        level_args
            .into_iter()
            .chain(steps)
            .chain(merges)
            .chain(self.mover.iter().flat_map(RowMover::pipelines))
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> ScratchLayout {
        let level_args = LevelArgs::take(cursor, self.level_args.as_ref());
        let largest = |size: &dyn Fn(&Step) -> u64| self.steps.iter().map(size).max().unwrap_or(0);
        let key_size = largest(&|step| step.part.element().size() as u64);
        let indices_size = if self.mover.is_some() { count.saturating_mul(4) } else { 0 };
        let sort_size = match self.merge_sort {
            Some(_) => count.saturating_mul(4),
            None => largest(&|step| step.sort.scratch_requirements(count).size),
        };
        ScratchLayout {
            level_args,
            keys: cursor.array("keys", count.saturating_mul(key_size)),
            indices: cursor.array("indices", indices_size),
            sort: cursor.array("scratch of the sort", sort_size),
            mover: self.mover.as_ref().map(|mover| mover.layout(cursor, count)),
        }
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        given: Checked<'_, StructureSort, ScratchLayout>,
    ) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = buffers.scratch;
        let indices =
            if self.mover.is_some() { layout.indices.range(scratch).addresses() } else { buffers.indices };
        let rows = if self.output == Output::InPlace { buffers.structures } else { buffers.sorted };
        let mover = self.mover.as_ref().zip(layout.mover.as_ref());
        let ranges = [buffers.structures, indices, rows];
        // What it refuses it refuses before anything is recorded.
        recorder.check_workgroups(count.max().div_ceil(self.tile_items.into()))?;
        if let Some((mover, layout)) = mover {
            mover.check(recorder, (scratch, layout), ranges, count)?;
            mover.copy(recorder, (scratch, layout), buffers.structures, count)?;
        }

        recorder.phase(c"level args");
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        let level_args = (scratch, layout.level_args);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?;
        if let Some(merge_sort) = &self.merge_sort {
            let ranges = [buffers.structures, indices, layout.sort.range(scratch).addresses()];
            merge_sort.record(recorder, workgroups, ranges, count)?;
        }
        for (index, step) in self.steps(count.max()).iter().enumerate() {
            recorder.phase(c"keys");
            if index > 0 {
                // Each sort begins with a fill of the scratch of the one before it.
                let destination = Access::COMPUTE.and(step.sort.first_access());
                let source = Access::COMPUTE_WRITE;
                recorder.barrier(Barrier { name: "order so far", source, destination });
            }
            let keys_size = count.max() * step.part.element().size() as u64;
            let keys = layout.keys.range(scratch).slice(0, keys_size).addresses();
            let push = push::SortFieldKeys {
                structures: buffers.structures,
                indices: if index > 0 { indices } else { AddressRange::NONE },
                keys,
                indirect_count: count.indirect(),
                structure_count: count.max() as u32,
            };
            workgroups.dispatch(recorder, &step.keys, &push)?;
            recorder.barrier_before(Barrier::COMPUTE_TO_COMPUTE, keys);
            let sorted = SortBuffers::new(keys, layout.sort.range(scratch)).values(indices);
            step.sort.record(recorder, &sorted, count)?;
        }
        match mover {
            Some((mover, layout)) => mover.gather(recorder, (scratch, layout), ranges, count),
            None => Ok(()),
        }
    }
}

impl StructureSortPlan {
    /// Maximum number of structures: 2^32 - 1, or fewer if the tiles of a sort are small.
    pub fn max_count(&self) -> u64 {
        self.primitive.max_count()
    }

    /// Bytes that a recording of `count` structures reads and writes, if no pass is skipped: of a structure the fields of each
    /// part of the key, and all of it once. Does not include the rest of cache lines, nor what a function of the caller reads.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let StructureSort { steps, merge_sort, mover, .. } = &self.primitive;
        let of_step = |(index, step): (usize, &Step)| {
            let indices = if index > 0 { 4 } else { 0 };
            let keys = indices + u64::from(step.part.bits).div_ceil(8) + step.part.element().size() as u64;
            count.saturating_mul(keys).saturating_add(step.sort.traffic_size(count))
        };
        let moved = mover.as_ref().map_or(0, |mover| mover.traffic_size(count));
        let merged = merge_sort.as_ref().map_or(0, |merges| merges.traffic_size(count));
        steps.iter().enumerate().map(of_step).fold(moved.saturating_add(merged), u64::saturating_add)
    }
}

#[cfg(test)]
mod tests;
