//! Adjacent difference: each row of a table less the one before it, or each column.
//!
//! Equals `numpy.diff(table, axis=0)`, or with [`DifferenceConfig::along_rows`] `axis=1`: the result has a row, or a column,
//! less. With [`DifferenceConfig::keeps_first`] it begins with the first row, or column, itself, as CUB's `SubtractLeft`
//! does, and is as large as the source. Integers wrap; floats are equal to the bit on every device that keeps denormals,
//! except for the bits of NaNs.

use std::ffi::CStr;
use std::fmt;

use super::arguments::Arguments;
use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::packed::{Extent, PackedForm};
use super::plan::{Algorithm, Buffers, Checked, Plan, Primitive, Recordable, configuration};
use super::tuning::{self, KernelShape, TunedPart};
use super::{
    Choice, Count, ElementType, ScratchCursor, Tiles, check_subgroups, check_workgroup, has_quads,
    quad_alignment, write_subgroups,
};
use crate::device::{
    AddressRange, BufferRange, Capabilities, Device, Pipeline, PipelineOptions, Recorder, push,
};
use crate::error::{Error, PolicyConflict, Result, in_range};
use crate::kernels;

/// Plan of an adjacent difference.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::difference::{DifferenceBuffers, DifferenceConfig, DifferencePlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (offsets, sizes) = (gpu.allocate_with(&[0, 3, 4, 8])?, gpu.allocate(12)?);
/// let plan = DifferencePlan::new(gpu.device(), DifferenceConfig::new(ElementType::U32))?;
/// // A direct count needs no scratch.
/// let buffers = DifferenceBuffers::new(offsets.addresses(), sizes.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 4)) }?;
/// assert_eq!(gpu.read(&sizes, 3)?, [3, 1, 4]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type DifferencePlan = Plan<Difference>;

/// Configuration of a [`DifferencePlan`].
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::difference::DifferenceConfig;
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let offsets = [0u32, 3, 4, 8, 9];
/// let difference = DifferenceConfig::new(ElementType::U32);
/// assert_eq!(gpu.difference(difference, &offsets)?, [3, 1, 4, 1]);
/// assert_eq!(gpu.difference(difference.keeps_first(), &offsets)?, [0, 3, 1, 4, 1]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DifferenceConfig {
    element: ElementType,
    columns: u32,
    is_along_rows: bool,
    keeps_first: bool,
    has_indirect_count: bool,
    policy: Option<DifferencePolicy>,
}

impl DifferenceConfig {
    /// Maximum number of columns.
    pub const MAX_COLUMNS: u32 = 1 << 16;

    /// The difference of adjacent numbers of `element`, in one column.
    pub const fn new(element: ElementType) -> Self {
        Self {
            element,
            columns: 1,
            is_along_rows: false,
            keeps_first: false,
            has_indirect_count: false,
            policy: None,
        }
    }

    setters! {
        /// Sets the number of columns, 1 to [`Self::MAX_COLUMNS`]: the numbers of a row.
        columns(columns: u32) => columns = columns;
        /// Takes the difference of adjacent columns, in each row, in place of rows.
        along_rows() => is_along_rows = true;
        /// The result begins with the first row, or column, which is copied.
        keeps_first() => keeps_first = true;
        /// Supports indirect counts, [`Count::Indirect`], which need scratch.
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`DifferencePolicy::choose`] chooses it.
        policy(policy: DifferencePolicy) => policy = Some(policy);
    }

    /// Type of the numbers.
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Number of columns of the source.
    pub const fn column_count(&self) -> u32 {
        self.columns
    }

    /// Number of columns of the result: one less along rows, unless the first one is kept.
    pub const fn result_column_count(&self) -> u32 {
        if self.is_along_rows && !self.keeps_first { self.columns.saturating_sub(1) } else { self.columns }
    }

    /// Number of rows of the result of `count` rows: one less, unless the difference is along rows or the first one is kept.
    pub const fn result_count(&self, count: u64) -> u64 {
        if self.is_along_rows || self.keeps_first { count } else { count.saturating_sub(1) }
    }

    /// Size of a row of the source, bytes.
    pub const fn row_size(&self) -> u64 {
        self.columns as u64 * self.element.size() as u64
    }

    /// Size of the result of `count` rows, bytes.
    pub const fn result_size(&self, count: u64) -> u64 {
        let row_size = self.result_column_count() as u64 * self.element.size() as u64;
        self.result_count(count).saturating_mul(row_size)
    }

    /// Numbers in a pack of 16 bytes, or of packed elements that are words in registers.
    const fn numbers_per_pack(&self) -> u32 {
        4 / self.element.words()
    }

    /// Whether tiles of `tile_rows` rows may be accessed by packs: the numbers of a difference are adjacent, the result is
    /// where one of them is, and tiles begin with packs.
    const fn has_packs(&self, tile_rows: u32) -> bool {
        let is_adjacent = if self.is_along_rows { self.keeps_first } else { self.columns == 1 };
        is_adjacent && (tile_rows * self.columns).is_multiple_of(self.numbers_per_pack())
    }

    /// Checks that a device supports the configuration.
    fn check(&self, capabilities: &Capabilities) -> Result<()> {
        in_range("columns of a difference", self.columns, 1..=Self::MAX_COLUMNS)?;
        if self.element == ElementType::F64 && !capabilities.enabled.shader_float64 {
            return Err(Error::MissingFeature {
                device: capabilities.identity.name.clone(),
                missing: "the feature shaderFloat64, which differences of f64 need".into(),
            });
        }
        Ok(())
    }
}

configuration!(
    DifferenceConfig,
    DifferencePolicy of Difference,
    |config| Self { element: config.element.unpacked(), ..*config }
);

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct DifferenceBuffers {
    /// Rows of numbers.
    pub source: AddressRange,
    /// The differences.
    pub destination: AddressRange,
    /// Scratch of [`DifferencePlan::scratch_requirements`].
    pub scratch: BufferRange,
}

impl DifferenceBuffers {
    /// Buffers without scratch, which indirect counts need.
    pub fn new(source: AddressRange, destination: AddressRange) -> Self {
        Self { source, destination, scratch: BufferRange::NONE }
    }

    /// Sets the scratch.
    pub const fn scratch(mut self, scratch: BufferRange) -> Self {
        self.scratch = scratch;
        self
    }
}

impl Buffers<Difference> for DifferenceBuffers {
    fn arguments(
        &mut self,
        config: &DifferenceConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        table.count("count", count)?;
        let form = PackedForm::numbers(config.element);
        let rows = Extent::new(*count);
        table.up_to(form, rows.rows(config.columns, 0)).read(
            "source",
            &mut self.source,
            count.max().saturating_mul(config.row_size()),
        )?;
        let columns = config.result_column_count();
        let minus = if config.is_along_rows || config.keeps_first { 0 } else { columns };
        table.up_to(form, rows.rows(columns, minus)).write(
            "destination",
            &mut self.destination,
            config.result_size(count.max()),
        )?;
        table.scratch_if(count.is_indirect(), &mut self.scratch)
    }
}

/// Policy of a difference. A tile is as many whole rows as fit `workgroup_size * items_per_invocation` numbers, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct DifferencePolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Numbers per invocation, 1 to 1,024.
    pub items_per_invocation: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
}

impl DifferencePolicy {
    /// Packs that are kept in registers. On CPU drivers 32 are fastest; GPUs take few by default, and were not tried above 16.
    const MAX_PACKS: u32 = 32;

    /// Chooses the policy for a device.
    pub fn choose(capabilities: &Capabilities, _: &DifferenceConfig) -> Choice<Self> {
        let tuned = tuning::shape_of(capabilities, TunedPart::Difference, [1, 0]);
        Choice {
            policy: Self::of_shape(&tuned, capabilities),
            reason: "16 bytes are loaded at a time, of which neighbouring lanes exchange the numbers at the ends",
        }
    }

    /// The policy with a shape, whose items are numbers.
    pub(crate) fn of_shape(tuned: &KernelShape, capabilities: &Capabilities) -> Self {
        // A workgroup has whole subgroups.
        let workgroup_size = tuned.workgroup_size.max(capabilities.max_subgroup_size);
        let workgroup_size = capabilities.max_workgroup_invocations.min(workgroup_size);
        Self { subgroup_size: tuned.subgroup_size, ..Self::tiled(workgroup_size, tuned.items) }
    }

    /// A policy with `workgroup_size` invocations and `items_per_invocation` numbers for each.
    pub const fn tiled(workgroup_size: u32, items_per_invocation: u32) -> Self {
        Self { workgroup_size, items_per_invocation, subgroup_size: None }
    }

    setters! {
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
    }

    /// Packs of 16 bytes that an invocation has in flight.
    fn packs(&self, config: &DifferenceConfig) -> u32 {
        (self.items_per_invocation / config.numbers_per_pack()).clamp(1, Self::MAX_PACKS)
    }

    /// Rows per tile.
    #[doc(hidden)]
    pub fn tile_rows(&self, config: &DifferenceConfig) -> u32 {
        (self.workgroup_size * self.items_per_invocation / config.columns).max(1)
    }

    fn check(&self, config: &DifferenceConfig, capabilities: &Capabilities) -> Result<()> {
        check_workgroup(self.workgroup_size, capabilities)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=1024)?;
        // Packs are exchanged among the lanes of whole subgroups.
        if config.has_packs(self.tile_rows(config)) {
            check_subgroups(self.workgroup_size, self.subgroup_size, capabilities)?;
        }
        capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size).map(|_| ())
    }
}

impl fmt::Display for DifferencePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, items_per_invocation, subgroup_size } = self;
        write!(f, "difference: workgroup {workgroup_size}, {items_per_invocation} items per invocation")?;
        write_subgroups(f, *subgroup_size)
    }
}

/// The primitive of a [`DifferencePlan`], and its only algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `source` | `count * row_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination` | [`result_size(count)`](DifferenceConfig::result_size) | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | 32 for an indirect count, else none | COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// The source and the count may overlap. Numbers of 8 and 16 bits are taken as they are, faster if both ranges are aligned to 4.
/// One dispatch; for an indirect count, another one and a barrier before it. A result
/// without numbers records nothing. At most 2^32 - 1 tiles, and the workgroups of a two-dimensional dispatch. The result is in
/// `destination`; its count is [`result_count(count)`](DifferenceConfig::result_count), and is not written. Differences of f64
/// need `shaderFloat64`.
#[derive(Debug)]
pub struct Difference {
    tile_rows: u32,
    pack_items: u32,
    pack_alignment: u64,
    /// Of whole packs, where both ranges begin with one and the configuration has them.
    quads: Option<Pipeline>,
    words: Pipeline,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

impl Primitive for Difference {
    type Config = DifferenceConfig;
    type Policy = DifferencePolicy;
    type Buffers = DifferenceBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep difference";

    fn declare(device: &Device, config: &DifferenceConfig, policy: &DifferencePolicy) -> Result<Self> {
        let DifferencePolicy { workgroup_size, subgroup_size, .. } = *policy;
        let tile_rows = policy.tile_rows(config);
        let mut constants = vec![
            ("COLUMN_COUNT", config.columns),
            ("TILE_ROWS", tile_rows),
            ("KEEPS_FIRST", config.keeps_first.into()),
            ("ALONG_ROWS", config.is_along_rows.into()),
        ];
        let module = match (config.element.words(), config.element.is_float()) {
            (1, _) => {
                constants.push(("NUMBERS", config.element.numbers()));
                &[][..]
            }
            (2, false) => &[("WORDS64", 1)],
            (2, true) => &[("FLOAT64", 1)],
            _ => unreachable!("every type has one word or two"),
        };
        let form = PackedForm::numbers(config.element);
        constants.extend(form.into_iter().flat_map(PackedForm::constants));
        let module = if form.is_some() { &[("PACKED", 1)] } else { module };
        let kernel = kernels::DIFFERENCE_DIFFERENCE.module(module);
        let pipeline = |access: &[_]| {
            let constants = [&constants, access].concat();
            let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
            Pipeline::declare(device, kernel, options)
        };
        let by_quads = [("QUAD_ACCESS", 1), ("PACKS_PER_INVOCATION", policy.packs(config))];
        Ok(Self {
            tile_rows,
            pack_items: config.numbers_per_pack(),
            pack_alignment: quad_alignment(form),
            quads: config.has_packs(tile_rows).then(|| pipeline(&by_quads)).transpose()?,
            words: pipeline(&[])?,
            level_args: LevelArgsWriter::new(device, subgroup_size, config.has_indirect_count)?,
        })
    }

    fn takes_packed(_: &Capabilities, _: &DifferenceConfig, _: &DifferencePolicy) -> bool {
        true
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _)
    }

    fn algorithm(&self, config: &DifferenceConfig, max: u64) -> Option<&dyn Recordable<Self>> {
        (config.result_size(max) > 0).then_some(self)
    }
}

impl Algorithm<Difference> for Difference {
    /// Offset of the arguments of an indirect dispatch.
    type Layout = u64;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.quads.iter().chain([&self.words]).chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, _: u64) -> u64 {
        LevelArgs::take(cursor, self.level_args.as_ref())
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Difference, u64>) -> Result<()> {
        let Checked { buffers, layout: levels, count } = given;
        let DifferenceBuffers { source, destination, scratch } = *buffers;
        let tiles = Tiles::new(count.max(), self.tile_rows)?;
        let grid = TileGrid { tile_items: self.tile_rows, column_count: 1 };
        recorder.phase(c"level args");
        let workgroups =
            Workgroups::new(recorder, self.level_args.as_ref(), count, grid, (scratch, *levels))?;
        let push = push::DifferenceDifference {
            source,
            destination,
            indirect_tiles: workgroups.indirect_tiles(),
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
        };
        recorder.phase(c"difference");
        let ranges = [source, destination].map(|range| (range, self.pack_alignment));
        let quads = self.quads.as_ref().filter(|_| has_quads(ranges, true, count, self.pack_items));
        workgroups.dispatch(recorder, quads.unwrap_or(&self.words), &push)
    }
}

impl DifferencePlan {
    /// Bytes that a recording of `count` rows reads and writes: each number once, and the result once.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let config = self.unpacked_config();
        let own = count.saturating_mul(config.row_size()).saturating_add(config.result_size(count));
        own.saturating_add(self.packing_size(count))
    }
}

#[cfg(test)]
mod tests;
