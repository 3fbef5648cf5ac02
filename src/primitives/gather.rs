//! Gather: `destination[i] = source[indices[i]]`, for elements of any size that is a multiple of 4 bytes, and of 1 and 2.
//!
//! Applies the permutation of an argsort to values of any size. Indices need not be a permutation: an index may occur
//! any number of times. An index beyond the source yields an element of zeros, so that `u32::MAX` can denote none.

use std::ffi::CStr;
use std::fmt;

use super::arguments::{Arguments, size_if};
use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::packed::PackedForm;
use super::plan::{Algorithm, Buffers, Checked, Plan, Primitive, Recordable, configuration};
use super::tuning::{self, KernelShape, TunedPart};
use super::{Choice, Count, ElementType, ScratchCursor, Tiles, check_workgroup, write_subgroups};
use crate::device::{
    AddressRange, BufferRange, Capabilities, Device, Pipeline, PipelineOptions, Recorder, push,
};
use crate::error::{PolicyConflict, Result, at_most, in_range};
use crate::kernels;

/// Plan of a gather.
///
#[doc = example!()]
/// use subsweep::headless::{Gpu, GpuOptions};
/// use subsweep::gather::{GatherBuffers, GatherConfig, GatherPlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (source, indices) = (gpu.allocate_with(&[10, 11, 12])?, gpu.allocate_with(&[2, 0, 2, 1])?);
/// let destination = gpu.allocate(16)?;
/// let plan = GatherPlan::new(gpu.device(), GatherConfig::elements(1))?;
/// // A direct count needs no scratch.
/// let buffers = GatherBuffers::new(source.addresses(), indices.addresses(), destination.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 4)) }?;
/// assert_eq!(gpu.read(&destination, 4)?, [12, 10, 12, 11]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type GatherPlan = Plan<Gather>;

/// Configuration of a [`GatherPlan`].
///
#[doc = example!()]
/// use subsweep::gather::GatherConfig;
/// use subsweep::headless::{Gpu, GpuOptions};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// // Rows of two; an index beyond the last row gives zeros.
/// let rows = [1.0f32, 1.5, 2.0, 2.5, 3.0, 3.5];
/// let picked = gpu.gather(GatherConfig::elements(2), &rows, &[2, 0, u32::MAX])?;
/// assert_eq!(picked, [3.0, 3.5, 1.0, 1.5, 0.0, 0.0]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GatherConfig {
    words_per_element: u32,
    /// The type of packed elements.
    packed: Option<ElementType>,
    /// A copy, without indices.
    is_in_order: bool,
    /// An index beyond the source leaves its element as it was.
    keeps_others: bool,
    has_indirect_count: bool,
    policy: Option<GatherPolicy>,
}

impl GatherConfig {
    /// Maximum size of an element, words: 1 GiB.
    pub const MAX_WORDS: u32 = 1 << 28;

    /// Elements of `words_per_element` 32-bit words, 1 to [`Self::MAX_WORDS`]: numbers, rows of a table, or any structs
    /// of a multiple of 4 bytes.
    pub const fn elements(words_per_element: u32) -> Self {
        let (is_in_order, keeps_others, has_indirect_count) = (false, false, false);
        Self { words_per_element, packed: None, is_in_order, keeps_others, has_indirect_count, policy: None }
    }

    /// An index beyond the source leaves the destination's element unchanged. For elements of whole words.
    pub(super) const fn keeping_others(mut self) -> Self {
        self.keeps_others = true;
        self
    }

    /// A copy: element i is element i of the source, and there are no indices.
    pub(super) const fn copy(words_per_element: u32) -> Self {
        Self { is_in_order: true, ..Self::elements(words_per_element) }
    }

    /// Numbers of a type.
    pub const fn numbers(element: ElementType) -> Self {
        let packed = if element.is_packed() { Some(element) } else { None };
        Self { packed, ..Self::elements(element.words()) }
    }

    setters! {
        /// Supports indirect counts, [`Count::Indirect`], which need scratch unless elements have 8 or 16 bits.
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`GatherPolicy::choose`] chooses it.
        policy(policy: GatherPolicy) => policy = Some(policy);
    }

    /// Size of an element, words; 1 of a packed one.
    pub const fn words_per_element(&self) -> u32 {
        self.words_per_element
    }

    /// Size of an element, bytes.
    pub const fn element_size(&self) -> u64 {
        match self.packed {
            Some(element) => element.size() as u64,
            None => self.words_per_element as u64 * 4,
        }
    }

    /// The form of elements that are packed.
    const fn form(&self) -> Option<PackedForm> {
        match self.packed {
            Some(element) => PackedForm::numbers(element),
            None => None,
        }
    }

    fn check(&self, _: &Capabilities) -> Result<()> {
        in_range("words per element of a gather", self.words_per_element, 1..=Self::MAX_WORDS)
    }
}

// Packed elements are gathered as they are.
configuration!(GatherConfig, GatherPolicy of Gather, |config| *config);

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct GatherBuffers {
    /// Source elements: as many whole elements as the range holds.
    pub source: AddressRange,
    /// Indices into `source`, u32.
    pub indices: AddressRange,
    /// Gathered elements.
    pub destination: AddressRange,
    /// Scratch of [`GatherPlan::scratch_requirements`].
    pub scratch: BufferRange,
}

impl GatherBuffers {
    /// Buffers without scratch, which only indirect counts of elements of whole words need.
    pub fn new(source: AddressRange, indices: AddressRange, destination: AddressRange) -> Self {
        Self { source, indices, destination, scratch: BufferRange::NONE }
    }

    /// Sets the scratch.
    pub const fn scratch(mut self, scratch: BufferRange) -> Self {
        self.scratch = scratch;
        self
    }
}

impl Buffers<Gather> for GatherBuffers {
    fn arguments(
        &mut self,
        config: &GatherConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let (max, element_size) = (count.max(), config.element_size());
        let source_size = self.source.size / element_size * element_size;
        table.count("count", count)?;
        table.with_form(config.form()).read("source", &mut self.source, source_size)?;
        let indices_size = size_if(!config.is_in_order, max.saturating_mul(4));
        table.read("indices", &mut self.indices, indices_size)?;
        table.with_form(config.form()).write(
            "destination",
            &mut self.destination,
            max.saturating_mul(element_size),
        )?;
        table.scratch_if(count.is_indirect(), &mut self.scratch)
    }
}

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
        let tuned = tuning::shape_of(capabilities, TunedPart::Gather, [1, 0]);
        Choice {
            policy: Self::of_shape(&tuned, capabilities),
            reason: "four loads in flight per invocation hide some of the latency of scattered reads",
        }
    }

    /// The policy with a shape, whose items are accesses.
    pub(crate) fn of_shape(tuned: &KernelShape, capabilities: &Capabilities) -> Self {
        let workgroup_size = capabilities.max_workgroup_invocations.min(tuned.workgroup_size);
        Self { subgroup_size: tuned.subgroup_size, ..Self::tiled(workgroup_size, tuned.items) }
    }

    /// A policy with `workgroup_size` invocations and `accesses_per_invocation` accesses for each.
    pub const fn tiled(workgroup_size: u32, accesses_per_invocation: u32) -> Self {
        Self { workgroup_size, accesses_per_invocation, subgroup_size: None }
    }

    setters! {
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
    }

    /// Accesses per workgroup.
    const fn tile_units(&self) -> u32 {
        self.workgroup_size * self.accesses_per_invocation
    }

    fn check(&self, _: &GatherConfig, capabilities: &Capabilities) -> Result<()> {
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
        write_subgroups(f, *subgroup_size)
    }
}

/// The primitive of a [`GatherPlan`], and its only algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `source` | any number of whole elements | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `indices` | `count * 4` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination` | `count * element_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | 32 for an indirect count of elements of whole words, else none | COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// Ranges that are only read may overlap each other. Faster if `source` and `destination` are aligned to 16 and the
/// element size is a multiple of 16, or both of 8. One dispatch; for an indirect count, another one and a barrier before
/// it, but not of elements of 8 and 16 bits, which are gathered as they are. At most 2^32 - 1 workgroups, and as many as a
/// two-dimensional dispatch has; each gathers the elements of a tile, or a part of one element. Only the first 2^32 - 1 elements
/// of `source` can be gathered. The result is in `destination`; an index beyond `source` yields zeros, and reads no memory.
#[derive(Debug)]
pub struct Gather {
    element_size: u64,
    /// Of packed elements, in place of the others.
    packed: Option<PackedPipeline>,
    any_address: Option<GatherPipeline>,
    /// Accesses of 8 or 16 bytes, where the element size is a multiple of that.
    aligned: Option<GatherPipeline>,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// Pipeline for accesses of one size.
#[derive(Debug)]
struct GatherPipeline {
    shape: GatherShape,
    pipeline: Pipeline,
}

/// Pipeline for packed elements.
#[derive(Debug)]
struct PackedPipeline {
    pipeline: Pipeline,
    tile_words: u64,
}

impl PackedPipeline {
    fn new(device: &Device, element: ElementType, policy: &GatherPolicy) -> Result<Self> {
        let constants =
            [("UNITS_PER_INVOCATION", policy.accesses_per_invocation), ("PACKED_BITS", element.bits())];
        let GatherPolicy { workgroup_size, subgroup_size, .. } = *policy;
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        let pipeline = Pipeline::declare(device, kernels::GATHER_PACKED.module(&[]), options)?;
        Ok(Self { pipeline, tile_words: policy.tile_units().into() })
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &GatherBuffers,
        given: (Count, u64),
    ) -> Result<()> {
        let (count, element_size) = given;
        // The elements of the last tile are 32-bit numbers.
        at_most(count.max(), (1 << 32) - (1 << 20), "a gather of 8 or 16 bits")?;
        let source_count = buffers.source.size / element_size;
        let push = push::GatherPacked {
            source: buffers.source,
            indices: buffers.indices,
            destination: buffers.destination,
            indirect_count: count.indirect(),
            count: count.max() as u32,
            source_count: u32::try_from(source_count).unwrap_or(u32::MAX),
        };
        let bytes = buffers.destination.address % 4 + buffers.destination.size;
        recorder.phase(c"gather");
        recorder.dispatch(&self.pipeline, &push, bytes.div_ceil(4).div_ceil(self.tile_words))
    }
}

/// Division of elements into accesses and workgroups: the specialization of `gather.comp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GatherShape {
    unit_words: u32,
    units_per_element: u32,
    tile_elements: u32,
    parts_per_element: u32,
}

impl GatherShape {
    fn new(words_per_element: u32, unit_words: u32, tile_units: u32) -> Self {
        let units_per_element = words_per_element / unit_words;
        Self {
            unit_words,
            units_per_element,
            tile_elements: (tile_units / units_per_element).max(1),
            parts_per_element: units_per_element.div_ceil(tile_units),
        }
    }
}

impl GatherPipeline {
    fn new(device: &Device, config: &GatherConfig, policy: &GatherPolicy, unit_words: u32) -> Result<Self> {
        let shape = GatherShape::new(config.words_per_element(), unit_words, policy.tile_units());
        let constants = [
            ("UNIT_WORDS", shape.unit_words),
            ("UNITS_PER_ELEMENT", shape.units_per_element),
            ("TILE_ELEMENTS", shape.tile_elements),
            ("PARTS_PER_ELEMENT", shape.parts_per_element),
            ("UNITS_PER_INVOCATION", policy.accesses_per_invocation),
            ("IN_ORDER", config.is_in_order.into()),
            ("KEEPS_OTHERS", config.keeps_others.into()),
        ];
        let GatherPolicy { workgroup_size, subgroup_size, .. } = *policy;
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        Ok(Self { shape, pipeline: Pipeline::declare(device, kernels::GATHER_GATHER.module(&[]), options)? })
    }

    fn is_aligned(&self, buffers: &GatherBuffers) -> bool {
        let alignment = u64::from(self.shape.unit_words) * 4;
        buffers.source.is_aligned(alignment) && buffers.destination.is_aligned(alignment)
    }

    /// The tiles of `count` elements; fails if their workgroups exceed 32 bits.
    fn tiles(&self, count: u64) -> Result<Tiles> {
        Tiles::of_workgroups(count, self.shape.tile_elements, self.shape.parts_per_element.into())
    }
}

impl Primitive for Gather {
    type Config = GatherConfig;
    type Policy = GatherPolicy;
    type Buffers = GatherBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep gather";

    fn declare(device: &Device, config: &GatherConfig, policy: &GatherPolicy) -> Result<Self> {
        let gather_pipeline = |unit_words| GatherPipeline::new(device, config, policy, unit_words);
        if let Some(element) = config.packed {
            let packed = Some(PackedPipeline::new(device, element, policy)?);
            let (any_address, aligned, level_args) = (None, None, None);
            return Ok(Self {
                element_size: config.element_size(),
                packed,
                any_address,
                aligned,
                level_args,
            });
        }
        let aligned =
            [4, 2].into_iter().find(|&unit_words| config.words_per_element().is_multiple_of(unit_words));
        Ok(Self {
            element_size: config.element_size(),
            packed: None,
            any_address: Some(gather_pipeline(1)?),
            aligned: aligned.map(gather_pipeline).transpose()?,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _)
    }
}

impl Algorithm<Gather> for Gather {
    /// Offset of the arguments of an indirect dispatch.
    type Layout = u64;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let packed = self.packed.iter().map(|packed| &packed.pipeline);
        let gathers = self.any_address.iter().chain(&self.aligned);
        packed
            .chain(gathers.map(|gather| &gather.pipeline))
            .chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, _: u64) -> u64 {
        LevelArgs::take(cursor, self.level_args.as_ref())
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Gather, u64>) -> Result<()> {
        let Checked { buffers, layout: levels, count } = given;
        let aligned = self.aligned.as_ref().filter(|gather| gather.is_aligned(buffers));
        let gather = match (&self.packed, aligned.or(self.any_address.as_ref())) {
            (None, Some(gather)) => gather,
            (Some(packed), _) => return packed.record(recorder, buffers, (count, self.element_size)),
            (None, None) => unreachable!("a plan is of packed elements or of others"),
        };
        let tiles = gather.tiles(count.max())?;
        let source_count = buffers.source.size / self.element_size;
        let mut push = push::GatherGather {
            source: buffers.source,
            indices: buffers.indices,
            destination: buffers.destination,
            indirect_tiles: AddressRange::NONE,
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            source_count: u32::try_from(source_count).unwrap_or(u32::MAX),
        };
        let grid =
            TileGrid { tile_items: gather.shape.tile_elements, column_count: gather.shape.parts_per_element };
        let levels = (buffers.scratch, *levels);
        recorder.phase(c"level args");
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, levels)?;
        push.indirect_tiles = workgroups.indirect_tiles();
        recorder.phase(c"gather");
        workgroups.dispatch(recorder, &gather.pipeline, &push)
    }
}

impl GatherPlan {
    /// Bytes that a recording of `count` elements reads and writes: indices once, elements twice. Does not include the
    /// rest of cache lines that are larger than an element.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let indices = if self.config().is_in_order { 0 } else { 4 };
        count.saturating_mul(indices + 2 * self.config().element_size())
    }
}

#[cfg(test)]
mod tests;
