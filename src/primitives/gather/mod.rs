//! Gather: `destination[i] = source[indices[i]]`, for elements of any size that is a multiple of 4 bytes.
//!
//! Applies the permutation of an argsort to values of any size. Indices need not be a permutation: an index may occur
//! any number of times. An index beyond the source yields an element of zeros, so that `u32::MAX` can denote none.

mod config;
mod policy;

pub use config::{GatherBuffers, GatherConfig};
pub use policy::GatherPolicy;

use ash::vk;

use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::{Count, ScratchCursor, ScratchRequirements, Tiles};
use crate::device::{
    Access, AddressRange, CommandCounts, Device, Pipeline, PipelineOptions, Recorder, push_constants,
};
use crate::error::{Error, Result};
use crate::kernels;

push_constants! {
    struct GatherPush for [GATHER_GATHER] {
        source: AddressRange,
        indices: AddressRange,
        destination: AddressRange,
        tiles_on_device: AddressRange,
        tile_count: u32,
        last_extent: u32,
        source_count: u32,
    }
}

/// Plan of a gather. Immutable; holds pipelines and no memory; may be recorded any number of times.
#[derive(Debug)]
pub struct GatherPlan {
    device: Device,
    config: GatherConfig,
    policy: GatherPolicy,
    any_address: GatherPipeline,
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
        let tiles = Tiles::new(count, self.shape.tile_elements)?;
        let parts = self.shape.parts_per_element;
        if u64::from(tiles.count) * u64::from(parts) > u32::MAX.into() {
            let max = u64::from(u32::MAX / parts) * u64::from(self.shape.tile_elements);
            return Err(Error::TooManyElements { count, max, what: "2^32 - 1 workgroups of this policy" });
        }
        Ok(tiles)
    }
}

impl GatherPlan {
    /// Creates all pipelines that a recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for elements of 0 or more than [`GatherConfig::MAX_WORDS`] words,
    /// [`Error::InvalidPolicy`] and [`Error::PolicyExceedsLimits`] for a policy that does not fit the device, and those
    /// of `vkCreateComputePipelines`.
    pub fn new(device: &Device, config: GatherConfig) -> Result<Self> {
        let plan = Self::declare(device, config)?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], without compiling the pipelines.
    pub(crate) fn declare(device: &Device, config: GatherConfig) -> Result<Self> {
        config.check()?;
        let capabilities = device.capabilities();
        let policy = config.policy.unwrap_or_else(|| GatherPolicy::choose(capabilities, &config).policy);
        policy.check(capabilities)?;
        let gather_pipeline = |unit_words| GatherPipeline::new(device, &config, &policy, unit_words);
        let aligned =
            [4, 2].into_iter().find(|&unit_words| config.words_per_element().is_multiple_of(unit_words));
        let level_args = || LevelArgsWriter::new(device, policy.subgroup_size);
        Ok(Self {
            device: device.clone(),
            config,
            policy,
            any_address: gather_pipeline(1)?,
            aligned: aligned.map(gather_pipeline).transpose()?,
            level_args: config.counts_on_device.then(level_args).transpose()?,
        })
    }

    /// The configuration of the plan.
    pub fn config(&self) -> &GatherConfig {
        &self.config
    }

    /// The policy in use.
    pub fn policy(&self) -> &GatherPolicy {
        &self.policy
    }

    /// All pipelines that a recording may bind, for inspection.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let gathers = std::iter::once(&self.any_address).chain(&self.aligned);
        gathers.map(|gather| &gather.pipeline).chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    /// Scratch of [`Self::cmd_gather`] for any count: 32 bytes for indirect counts, otherwise none.
    pub fn scratch_requirements(&self) -> ScratchRequirements {
        let mut cursor = ScratchCursor::default();
        if self.level_args.is_some() {
            cursor.take(LevelArgs::size(1));
        }
        ScratchRequirements::new(cursor.size)
    }

    /// Bytes that a recording of `count` elements reads and writes: indices once, elements twice. Does not include the
    /// rest of cache lines that are larger than an element.
    pub fn traffic_size(&self, count: u64) -> u64 {
        count.saturating_mul(4 + 2 * self.config.element_size())
    }

    /// Records the gather of `count` elements.
    ///
    /// 1. **Device**: meets [`DeviceRequirements`](crate::device::DeviceRequirements); a queue that supports compute.
    /// 2. **Memory**: `source`: any size, of which whole elements are used; `indices`: at least `count * 4` bytes;
    ///    `destination`: at least `count * GatherConfig::element_size()` bytes; aligned to 4, in buffers with
    ///    `SHADER_DEVICE_ADDRESS`. Faster if `source` and `destination` are aligned to 16 and the element size is a
    ///    multiple of 16, or both of 8. An indirect count: 4 bytes, aligned to 4. `scratch`: of
    ///    [`Self::scratch_requirements`], contents undefined, used by nothing else until the work has completed.
    ///    `destination` and `scratch` overlap nothing; ranges that are only read may overlap each other.
    /// 3. **Commands**: one dispatch; before it, for an indirect count, another one and a barrier to indirect
    ///    dispatches. The first access is COMPUTE_SHADER / SHADER_READ of `source`, `indices` and count, and
    ///    COMPUTE_SHADER / SHADER_WRITE of `scratch`. Ends with COMPUTE_SHADER / SHADER_WRITE of `destination`, with no
    ///    barrier before or after. The last access to `scratch` is COMPUTE_SHADER / SHADER_READ and DRAW_INDIRECT /
    ///    INDIRECT_COMMAND_READ. Leaves a compute pipeline and push constants bound, and changes no other state.
    /// 4. **Limits**: `count` = 0 records nothing. An indirect count of 0 launches no workgroups; one above its maximum
    ///    is treated as the maximum. At most 2^32 - 1 workgroups, and no more than those of a two-dimensional dispatch
    ///    on the device; each gathers the elements of a tile, or a part of one element. Only the first 2^32 - 1
    ///    elements of `source` can be gathered.
    /// 5. **Result**: in `destination`. An index beyond `source` yields zeros, and reads no memory.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] for an indirect count, if the plan was not created for it.
    /// Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no other
    /// thread meanwhile. When the commands execute, the ranges are bound memory of the device with the usage above, and
    /// the plan is alive. The caller orders their accesses with earlier and later commands.
    pub unsafe fn cmd_gather(
        &self,
        command_buffer: vk::CommandBuffer,
        buffers: &GatherBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let mut recorder = unsafe { Recorder::new(&self.device, command_buffer) };
        self.record(&mut recorder, buffers, count)
    }

    /// Destination scope for the caller's barrier before the recording: accesses before its first barrier.
    pub fn first_access(&self) -> Access {
        Access::COMPUTE
    }

    /// Source scope for the caller's barrier after the recording: accesses after its last barrier. Reads of indirect
    /// arguments have completed by then.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// Numbers of the commands that [`Self::cmd_gather`] records for the same memory and count: each dispatch also
    /// binds its pipeline and push constants. Debug labels and timestamps are not counted.
    ///
    /// # Errors
    /// Those of `cmd_gather`.
    pub fn commands(&self, buffers: &GatherBuffers, count: impl Into<Count>) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count)?;
        Ok(recorder.counts())
    }

    /// As [`Self::cmd_gather`], with a recorder of the caller: for timestamps, or to record several plans. The
    /// conditions of [`Recorder::new`] and `cmd_gather` apply.
    ///
    /// # Errors
    /// Those of `cmd_gather`; [`Error::ForeignDevice`] if the recorder is of another device.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &GatherBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        let count = count.into();
        recorder.check_device(&self.device)?;
        count.check_supported(self.level_args.is_some())?;
        if count.max() == 0 {
            return Ok(());
        }
        recorder.plan(c"subsweep gather", |recorder| self.record_commands(recorder, buffers, count))
    }

    fn record_commands(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &GatherBuffers,
        count: Count,
    ) -> Result<()> {
        let max_count = count.max();
        let requirements = match count {
            Count::Host(_) => ScratchRequirements::new(0),
            Count::Device { .. } => self.scratch_requirements(),
        };
        let buffers = buffers.checked(&self.config, count, requirements)?;
        let gather =
            self.aligned.as_ref().filter(|gather| gather.is_aligned(&buffers)).unwrap_or(&self.any_address);
        let tiles = gather.tiles(max_count)?;
        let source_count = buffers.source.size / self.config.element_size();
        let mut push = GatherPush {
            source: buffers.source,
            indices: buffers.indices,
            destination: buffers.destination,
            tiles_on_device: AddressRange::default(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            source_count: u32::try_from(source_count).unwrap_or(u32::MAX),
        };
        let grid =
            TileGrid { tile_items: gather.shape.tile_elements, column_count: gather.shape.parts_per_element };
        let levels = (buffers.scratch, 0);
        recorder.phase(c"level args");
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, levels)?;
        push.tiles_on_device = workgroups.tiles_on_device();
        recorder.phase(c"gather");
        workgroups.dispatch(recorder, &gather.pipeline, &push)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_hold_whole_elements_or_parts_of_one() {
        let shape = |words, unit_words| {
            let GatherShape { units_per_element, tile_elements, parts_per_element, .. } =
                GatherShape::new(words, unit_words, 1024);
            (units_per_element, tile_elements, parts_per_element)
        };
        assert_eq!(shape(1, 1), (1, 1024, 1));
        assert_eq!(shape(3, 1), (3, 341, 1));
        assert_eq!(shape(12, 4), (3, 341, 1));
        assert_eq!(shape(1024, 1), (1024, 1, 1));
        assert_eq!(shape(1025, 1), (1025, 1, 2));
        assert_eq!(shape(4096, 4), (1024, 1, 1));
        assert_eq!(shape(GatherConfig::MAX_WORDS, 1), (1 << 28, 1, 1 << 18));
    }
}
