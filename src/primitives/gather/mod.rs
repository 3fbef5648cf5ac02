//! Gather: `destination[i] = source[indices[i]]`, for elements of any size that is a multiple of 4 bytes.
//!
//! It takes a permutation from an argsort to what lies beside the keys, and any other indices as well: one may come more
//! than once, or not at all. An index beyond the source gives an element of zeros, so that `u32::MAX` stands for none.

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

/// A gather, ready to be recorded any number of times. Immutable; holds pipelines and no memory.
#[derive(Debug)]
pub struct GatherPlan {
    device: Device,
    config: GatherConfig,
    policy: GatherPolicy,
    any_address: Mover,
    /// By 8 or 16 bytes, where an element is a multiple of that.
    aligned: Option<Mover>,
    /// For counts on the device.
    level_args: Option<LevelArgsWriter>,
}

/// The kernel for accesses of one size.
#[derive(Debug)]
struct Mover {
    shape: Shape,
    pipeline: Pipeline,
}

/// How elements are shared out: what `gather.comp` is specialised by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    unit_words: u32,
    units_per_element: u32,
    tile_elements: u32,
    parts_per_element: u32,
}

impl Shape {
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

impl Mover {
    fn new(device: &Device, config: &GatherConfig, policy: &GatherPolicy, unit_words: u32) -> Result<Self> {
        let shape = Shape::new(config.words_per_element(), unit_words, policy.tile_units());
        let constants = [
            ("UNIT_WORDS", shape.unit_words),
            ("UNITS_PER_ELEMENT", shape.units_per_element),
            ("TILE_ELEMENTS", shape.tile_elements),
            ("PARTS_PER_ELEMENT", shape.parts_per_element),
            ("UNITS_PER_INVOCATION", policy.accesses_per_invocation),
        ];
        let GatherPolicy { workgroup_size, subgroup_size, .. } = *policy;
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
        Ok(Self { shape, pipeline: Pipeline::declare(device, &kernels::GATHER_GATHER, options)? })
    }

    fn takes(&self, buffers: &GatherBuffers) -> bool {
        let alignment = u64::from(self.shape.unit_words) * 4;
        buffers.source.is_aligned(alignment) && buffers.destination.is_aligned(alignment)
    }

    /// The tiles of `count` elements, if their workgroups can be counted.
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
    /// Makes every pipeline that any recording may need.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for elements of no words or more than [`GatherConfig::MAX_WORDS`], [`Error::InvalidPolicy`]
    /// and [`Error::PolicyExceedsLimits`] for a policy that does not fit the device, and whatever the driver's compiler
    /// says.
    pub fn new(device: &Device, config: GatherConfig) -> Result<Self> {
        let plan = Self::declare(device, config)?;
        Pipeline::compile_all(device, plan.pipelines())?;
        Ok(plan)
    }

    /// As [`Self::new`], with pipelines that are not compiled yet.
    pub(crate) fn declare(device: &Device, config: GatherConfig) -> Result<Self> {
        config.check()?;
        let capabilities = device.capabilities();
        let policy = config.policy.unwrap_or_else(|| GatherPolicy::choose(capabilities, &config).policy);
        policy.check(capabilities)?;
        let mover = |unit_words| Mover::new(device, &config, &policy, unit_words);
        let wide =
            [4, 2].into_iter().find(|&unit_words| config.words_per_element().is_multiple_of(unit_words));
        let level_args = || LevelArgsWriter::new(device, policy.subgroup_size);
        Ok(Self {
            device: device.clone(),
            config,
            policy,
            any_address: mover(1)?,
            aligned: wide.map(mover).transpose()?,
            level_args: config.counts_on_device.then(level_args).transpose()?,
        })
    }

    /// What the plan was made for.
    pub fn config(&self) -> &GatherConfig {
        &self.config
    }

    /// How it goes about it.
    pub fn policy(&self) -> &GatherPolicy {
        &self.policy
    }

    /// Every pipeline that a recording may bind: for what a compiler made of them.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let movers = std::iter::once(&self.any_address).chain(&self.aligned);
        movers.map(|mover| &mover.pipeline).chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    /// The scratch that [`Self::cmd_gather`] needs for any count: none, or, if the plan was made for counts on the device,
    /// the 32 bytes that each of those takes.
    pub fn scratch_requirements(&self) -> ScratchRequirements {
        let mut cursor = ScratchCursor::default();
        if self.level_args.is_some() {
            cursor.take(LevelArgs::size(1));
        }
        ScratchRequirements::new(cursor.size)
    }

    /// Bytes that a recording of `count` elements reads and writes: indices, and elements twice. What a device reads
    /// around an element that is smaller than its line of memory is not counted.
    pub fn traffic_size(&self, count: u64) -> u64 {
        count.saturating_mul(4 + 2 * self.config.element_size())
    }

    /// Records the gather of `count` elements.
    ///
    /// 1. **Device**: what [`DeviceRequirements`](crate::device::DeviceRequirements) asks for; a queue that can compute.
    /// 2. **Memory**: `source` of any size, of which whole elements count; `indices` of at least `count * 4` bytes;
    ///    `destination` of at least `count * GatherConfig::element_size()` bytes; at multiples of 4, in buffers with
    ///    `SHADER_DEVICE_ADDRESS`. Faster where `source` and `destination` are at multiples of 16 and elements of such a
    ///    size, or at multiples of 8 and elements of an odd multiple of that. A count on the device is 4 bytes at a multiple of 4. `scratch` as [`Self::scratch_requirements`]
    ///    says, its content of no matter, and used by nothing else until the work is done. `destination` and `scratch`
    ///    share memory with nothing; what is read may lie anywhere else.
    /// 3. **Commands**: one dispatch; before it, for a count on the device, another one and a barrier to indirect
    ///    dispatches. The first access is COMPUTE_SHADER / SHADER_READ of `source`, `indices` and count, and
    ///    COMPUTE_SHADER / SHADER_WRITE of `scratch`; ends with COMPUTE_SHADER / SHADER_WRITE of `destination`, with no
    ///    barrier before or after. The last access to `scratch` is COMPUTE_SHADER / SHADER_READ and
    ///    DRAW_INDIRECT / INDIRECT_COMMAND_READ. Leaves a compute pipeline and push constants bound, and touches no other
    ///    state.
    /// 4. **Limits**: `count` = 0 records nothing; a count on the device that is 0 runs no workgroups, and one above its
    ///    maximum is taken as that. At most 2^32 - 1 workgroups, or as many as a dispatch of the device has in two
    ///    dimensions, each of which moves as many elements as its policy says or a part of one. Indices name the first
    ///    2^32 - 1 elements of `source`: what lies behind is not reached.
    /// 5. **Result**: in `destination`, where an index beyond `source` has given zeros; no other memory is read for it.
    ///
    /// # Errors
    /// [`Error::RangeTooSmall`], [`Error::Misaligned`], [`Error::NullAddress`], [`Error::AddressOverflow`],
    /// [`Error::Overlap`], [`Error::ScratchTooSmall`], [`Error::NullBuffer`], [`Error::MissingUsage`],
    /// [`Error::TooManyElements`]; [`Error::Unsupported`] if a count on the device is given to a plan that was not made
    /// for it. Nothing is recorded then.
    ///
    /// # Safety
    /// `command_buffer` is of the plan's device, in the recording state outside of a render pass, and used by no
    /// other thread meanwhile. The ranges are live memory of the device, made with the usage named above, when the
    /// commands run, and the plan outlives them. The caller orders their accesses with what comes before and after.
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

    /// Who touches memory before the first barrier of a recording: what comes `after` in the caller's barrier before it.
    pub fn first_access(&self) -> Access {
        Access::COMPUTE
    }

    /// Who touches memory behind the last barrier of a recording: what comes `before` in the caller's barrier behind it. What
    /// an indirect dispatch has read is read by then, too.
    pub fn last_access(&self) -> Access {
        Access::COMPUTE_WRITE
    }

    /// The commands that [`Self::cmd_gather`] records of the same memory and count, and nothing besides: each dispatch
    /// with its pipeline and push constants; labels and timestamps where they are asked for.
    ///
    /// # Errors
    /// Those of `cmd_gather`.
    pub fn commands(&self, buffers: &GatherBuffers, count: impl Into<Count>) -> Result<CommandCounts> {
        let mut recorder = Recorder::dry(&self.device);
        self.record(&mut recorder, buffers, count)?;
        Ok(recorder.counts())
    }

    /// [`Self::cmd_gather`] by a recorder of the caller's, which was promised what that asks for: with timestamps, for one,
    /// or beside other plans.
    ///
    /// # Errors
    /// Those of `cmd_gather`; [`Error::ForeignDevice`] if the recorder is another device's.
    pub fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &GatherBuffers,
        count: impl Into<Count>,
    ) -> Result<()> {
        let count = count.into();
        recorder.check_device(&self.device)?;
        count.check_place(self.level_args.is_some())?;
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
        let mover = self.aligned.as_ref().filter(|mover| mover.takes(&buffers)).unwrap_or(&self.any_address);
        let tiles = mover.tiles(max_count)?;
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
            TileGrid { tile_items: mover.shape.tile_elements, column_count: mover.shape.parts_per_element };
        let levels = (buffers.scratch, 0);
        recorder.phase(c"level args");
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, levels)?;
        push.tiles_on_device = workgroups.tiles_on_device();
        recorder.phase(c"gather");
        workgroups.dispatch(recorder, &mover.pipeline, &push)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_hold_whole_elements_or_parts_of_one() {
        let shape = |words, unit_words| {
            let Shape { units_per_element, tile_elements, parts_per_element, .. } =
                Shape::new(words, unit_words, 1024);
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
