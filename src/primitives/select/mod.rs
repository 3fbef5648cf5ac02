//! Select: the elements that satisfy a predicate, in order, and their number; partition: the others after them.
//!
//! ```text
//!   reduce-then-scan:  elements ── count ──► counts of tiles ── scan ──► prefixes ──┐   (no scan of a few tiles)
//!                         └──────────────────────── compact ◄───────────────────────┘──► result, counts
//!   chained:           elements ── chained, tile by tile with look-back ──► result, counts
//!   wide elements:     indices of the result ── gather ──► result
//! ```
//!
//! The number of selected elements is written to device memory, for the [indirect count](Count::Indirect) of the next
//! plan. Kernels move elements and values of one or two words; wider ones are gathered by the indices of the result.

mod config;
mod layout;
mod policy;

pub use config::{Comparison, HostOperands, Operands, Predicate, SelectBuffers, SelectConfig};
pub use policy::{SelectAlgorithm, SelectPolicy};

use std::ffi::CStr;

use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::packed::{self, PackedForm};
use super::plan::{Algorithm, Checked, Plan, Primitive, Recordable};
use super::{Count, ScratchCursor, Tiles, look_back};
use crate::device::{
    Access, AddressRange, Barrier, BufferRange, Capabilities, Device, Pipeline, PipelineOptions, Recorder,
    push,
};
use crate::error::{Result, at_most};
use crate::gather::{GatherBuffers, GatherConfig, GatherPlan};
use crate::kernels::{self, Kernel};
use crate::scan::{ScanBuffers, ScanPlan};
use config::Parts;
use layout::ScratchLayout;

/// Plan of a selection or partition.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::select::{SelectBuffers, SelectConfig, SelectPlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let source = gpu.allocate_with(&[7, 7, 8, 9, 9])?;
/// let (destination, count) = (gpu.allocate(20)?, gpu.allocate(4)?);
/// let plan = SelectPlan::new(gpu.device(), SelectConfig::unique(ElementType::U32))?;
/// let scratch = gpu.allocate(plan.scratch_requirements(5).size)?;
/// let [from, to, counts] = [&source, &destination, &count].map(|buffer| buffer.addresses());
/// let buffers = SelectBuffers::new(from, to, counts, scratch.range());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 5)) }?;
/// // The number of selected elements is the indirect count of a later plan.
/// assert_eq!(gpu.read(&count, 1)?, [3]);
/// assert_eq!(gpu.read(&destination, 3)?, [7, 8, 9]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type SelectPlan = Plan<Select>;

impl SelectConfig {
    /// Maximum words of an element or value that the kernels move.
    const MAX_KEPT_WORDS: u32 = 2;

    /// Words of an element, and of a value, that are written; 0 for none.
    fn written_words(&self) -> [u32; 2] {
        let element_size = if self.has_elements() { self.element_size() } else { 0 };
        [element_size, self.value_size()].map(|size| size.div_ceil(4) as u32)
    }

    /// Those that the kernels move.
    fn kept(&self) -> [u32; 2] {
        self.written_words().map(|words| if words > Self::MAX_KEPT_WORDS { 0 } else { words })
    }

    /// Those that are gathered.
    fn gathered(&self) -> [u32; 2] {
        self.written_words().map(|words| if words > Self::MAX_KEPT_WORDS { words } else { 0 })
    }

    /// Words that an invocation holds of each element.
    fn kept_words(&self) -> u32 {
        let keys = self.keys.map_or(0, |element| element.words());
        let [elements, values] = self.kept();
        keys.max(elements) + values
    }

    fn writes_indices(&self) -> bool {
        self.has_indices || self.gathered() != [0, 0]
    }

    /// Constant of counts and indices.
    fn offset_constants(&self) -> [(&'static str, u32); 1] {
        [("WIDE_OFFSETS", self.has_large_counts.into())]
    }

    /// Constants of the predicate.
    fn predicate_constants(&self) -> [(&'static str, u32); 3] {
        let (predicate, comparison) = self.predicate.numbers();
        [("PREDICATE", predicate), ("COMPARISON", comparison), ("KEY_NUMBERS", self.key_numbers())]
    }

    /// Constants of the parts.
    fn part_constants(&self) -> [(&'static str, u32); 2] {
        let second = match self.parts {
            Parts::Three(comparison) => comparison as u32,
            Parts::Selected | Parts::Two => 0,
        };
        [("PARTS", self.parts.count()), ("SECOND_COMPARISON", second)]
    }

    /// Constants of what is written.
    fn kept_constants(&self) -> [(&'static str, u32); 3] {
        let [elements, values] = self.kept();
        [
            ("KEPT_WORDS", elements),
            ("KEPT_VALUE_WORDS", values),
            ("KEPT_INDICES", self.writes_indices().into()),
        ]
    }
}

/// The primitive of a [`SelectPlan`], and its algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `source` | `count * element_size`; none with flags and without elements | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `flags` | `count`, rounded up to a multiple of 4, or `count * 4` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `values` | `count * value_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `operands`: on the device | a key each | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination` | `count * element_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `destination_values` | `count * value_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `destination_indices` | `count * 4`; with large counts 8 for 4 | COMPUTE_SHADER write | COMPUTE_SHADER read, write |
/// | `counts` | 4; of three parts 8; with large counts twice that | COMPUTE_SHADER write | COMPUTE_SHADER read, write |
/// | `scratch` | below | TRANSFER or COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// | scratch for | bytes |
/// |---|---|
/// | reduce-then-scan of more than one tile | 4 per tile, of three parts 8, with large counts twice that, and the scan of these if there is one |
/// | the chained selection | 16, and 8 per tile, at least for all tiles of [`SelectPolicy::few`] |
/// | an indirect count | 32 |
/// | a gather, unless of a partition by a direct count | 32 |
/// | elements or values of more than two words, without `destination_indices` | `count * 4` |
///
/// | commands | |
/// |---|---|
/// | the chained selection | a fill, a barrier, one dispatch |
/// | reduce-then-scan of a single tile | one dispatch |
/// | of up to [`SelectPolicy::summed_tiles`] | two dispatches, with a barrier between them |
/// | of more | a dispatch, the scan of the counts, another dispatch, with barriers |
/// | elements or values of more than two words | a barrier, and a gather of each: by the counts of the result, unless a partition has a direct count |
/// | an indirect count | a dispatch and a barrier before these, and others in the scan and the gathers |
///
/// Elements of 8 and 16 bits are taken as they are where the device has enabled `storageBuffer8BitAccess` or
/// `storageBuffer16BitAccess`. All written ranges are disjoint from each other and from those that are read. At most 2^32 - 1 elements, with
/// [`SelectConfig::large_counts`] as many tiles, and the workgroups of a two-dimensional dispatch. A selection writes as many elements as `counts` says, and leaves the rest of
/// its ranges unchanged; a partition writes all. Unlike other primitives, a count of 0 records a dispatch, which writes
/// the counts 0. The algorithm and the results do not depend on timing.
#[derive(Debug)]
pub struct Select {
    config: SelectConfig,
    algorithm: SelectAlgorithm,
    tile_items: u32,
    /// Of reduce-then-scan.
    counting: Option<Counting>,
    /// The compaction by scanned counts, or of the single pass.
    compact: Pipeline,
    /// Of elements and of values of more than two words.
    gathers: [Option<GatherPlan>; 2],
    level_args: Option<LevelArgsWriter>,
    /// The selection of few elements, and the most of these.
    few: Option<(Box<Self>, u64)>,
}

/// The counts of tiles.
#[derive(Debug)]
struct Counting {
    count: Pipeline,
    /// Tiles up to which `compact` adds up the counts, in place of `scan`.
    summed_tiles: u64,
    compact: Option<Pipeline>,
    scan: ScanPlan,
}

impl Counting {
    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::once(&self.count).chain(&self.compact).chain(self.scan.pipelines())
    }

    /// The compaction that adds up the counts of `tiles` tiles.
    fn summing(&self, tiles: u64) -> Option<&Pipeline> {
        self.compact.as_ref().filter(|_| tiles <= self.summed_tiles)
    }

    /// Records the scan of the counts, after their dispatch.
    fn record_scan(
        &self,
        recorder: &mut Recorder<'_>,
        workgroups: Workgroups,
        counts: BufferRange,
        scratch: BufferRange,
        tiles: Tiles,
    ) -> Result<()> {
        let tile_count = match workgroups {
            Workgroups::Host(tile_count) => {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                Count::Direct(tile_count)
            }
            // The scan has a barrier between its own arguments and the counts.
            Workgroups::Device(levels) => {
                Count::Indirect { address: levels.tiles().address, max: tiles.count }
            }
        };
        self.scan.record(recorder, &ScanBuffers::in_place(counts.addresses(), scratch), tile_count)
    }
}

impl Select {
    fn tile_count(&self, count: u64) -> u64 {
        count.div_ceil(self.tile_items.into()).max(1)
    }

    fn max_count(&self) -> u64 {
        match self.config.has_large_counts {
            true => u64::from(u32::MAX) * u64::from(self.tile_items),
            false => SelectPlan::MAX_COUNT,
        }
    }

    fn state_size(&self, count: u64) -> u64 {
        let tiles = self.tile_count(count);
        // Room for all few tiles, whatever the count.
        let of_few = self.few.as_ref().map_or(0, |(few, max)| few.state_size(*max));
        match self.algorithm {
            SelectAlgorithm::Chained => look_back::state_size(tiles, 1).max(of_few),
            SelectAlgorithm::ReduceThenScan if tiles == 1 => 0,
            SelectAlgorithm::ReduceThenScan => tiles * self.config.counts_size(),
        }
    }
}

impl Primitive for Select {
    type Config = SelectConfig;
    type Policy = SelectPolicy;
    type Buffers = SelectBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep select";

    fn declare(device: &Device, config: &SelectConfig, policy: &SelectPolicy) -> Result<Self> {
        let pipeline = |kernel: &'static Kernel, constants: &[&[(&'static str, u32)]]| {
            let items = [("ITEMS_PER_INVOCATION", policy.items_per_invocation)];
            let predicate = config.predicate_constants();
            // Without a comparison elements are moved alone.
            let form = config.form().map(|form| if config.keys.is_some() { form } else { form.as_bits() });
            let packed = form.map(PackedForm::constants);
            let packed = packed.as_ref().map_or(&[][..], |packed| packed);
            let constants = [&items[..], &predicate, packed, &constants.concat()].concat();
            let SelectPolicy { workgroup_size, subgroup_size, .. } = *policy;
            let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
            Pipeline::declare(device, kernel, options)
        };
        let (parts, kept) = (config.part_constants(), config.kept_constants());
        let offsets = config.offset_constants();
        let (counting, compact) = match policy.algorithm {
            SelectAlgorithm::ReduceThenScan => {
                let scan = policy::count_scan(config).policy(policy.scan);
                let scan = if config.has_indirect_count { scan.indirect_count() } else { scan };
                let compact = |sums_counts: bool| {
                    let sums = [("SUMS_COUNTS", sums_counts.into())];
                    let constants: [&[_]; 4] = [&parts, &offsets, &kept, &sums];
                    pipeline(config.kernel(&kernels::SELECT_COMPACT)?, &constants)
                };
                let counting = Counting {
                    count: pipeline(config.kernel(&kernels::SELECT_COUNT)?, &[&parts, &offsets])?,
                    summed_tiles: policy.summed_tiles.into(),
                    compact: (policy.summed_tiles > 1).then(|| compact(true)).transpose()?,
                    scan: ScanPlan::declare(device, scan)?,
                };
                (Some(counting), compact(false)?)
            }
            SelectAlgorithm::Chained => {
                let look_back = policy.look_back.constants();
                (None, pipeline(config.kernel(&kernels::SELECT_CHAINED)?, &[&kept, &look_back])?)
            }
        };
        // As many elements are gathered as the counts say, or all.
        let is_indirect = config.has_indirect_count || config.parts == Parts::Selected;
        let gather = |words| {
            let gather = GatherConfig::elements(words);
            let gather = if is_indirect { gather.indirect_count() } else { gather };
            (words > 0).then(|| GatherPlan::declare(device, gather)).transpose()
        };
        let [elements, values] = config.gathered();
        let few = policy.few.zip(policy.for_few());
        let few =
            few.map(|(few, policy)| Ok((Box::new(Self::declare(device, config, &policy)?), few.max_count())));
        Ok(Self {
            few: few.transpose()?,
            config: *config,
            algorithm: policy.algorithm,
            tile_items: policy.tile_items(),
            counting,
            compact,
            gathers: [gather(elements)?, gather(values)?],
            level_args: LevelArgsWriter::with_min_tiles(
                device,
                policy.subgroup_size,
                config.has_indirect_count,
                1,
            )?,
        })
    }

    fn takes_packed(capabilities: &Capabilities, config: &SelectConfig, _: &SelectPolicy) -> bool {
        config.packed.is_some_and(|element| packed::has_access(capabilities, element))
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _).chain(self.few.iter().map(|(few, _)| &**few as _))
    }

    fn algorithm(&self, _: &SelectConfig, max: u64) -> Option<&dyn Recordable<Self>> {
        let few = self.few.as_ref().filter(|(_, max_few)| max <= *max_few);
        Some(few.map_or(self, |(few, _)| &**few))
    }

    fn check_count(&self, config: &SelectConfig, count: u64) -> Result<()> {
        let what = if config.has_large_counts {
            "one selection of this policy"
        } else {
            "a selection without large counts"
        };
        at_most(count, self.max_count(), what)
    }

    fn first_access(&self, _: &SelectConfig) -> Access {
        match self.algorithm {
            SelectAlgorithm::Chained => Access::COMPUTE.and(Access::TRANSFER_WRITE),
            SelectAlgorithm::ReduceThenScan => Access::COMPUTE,
        }
    }
}

impl Algorithm<Select> for Select {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let counts = self.counting.iter().flat_map(Counting::pipelines);
        let gathers = self.gathers.iter().flatten().flat_map(GatherPlan::pipelines);
        let level_args = self.level_args.as_ref().map(LevelArgsWriter::pipeline);
        level_args.into_iter().chain(counts).chain([&self.compact]).chain(gathers)
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> ScratchLayout {
        let name = match self.algorithm {
            SelectAlgorithm::Chained => "ticket and look-back state",
            SelectAlgorithm::ReduceThenScan => "counts of tiles",
        };
        let state = cursor.array(name, self.state_size(count));
        let tiles = self.tile_count(count);
        let scan_size = match &self.counting {
            Some(counting) if tiles > 1 && counting.summing(tiles).is_none() => {
                counting.scan.scratch_requirements(tiles).size
            }
            _ => 0,
        };
        let scan = cursor.array("scratch of the scan of the counts", scan_size);
        let level_args = LevelArgs::take(cursor, self.level_args.as_ref());
        let has_indices = self.config.writes_indices() && !self.config.has_indices;
        let indices = cursor.array("indices", if has_indices { count.saturating_mul(4) } else { 0 });
        let gathers = self.gathers.each_ref().map(|gather| {
            let size = gather.as_ref().map_or(0, |gather| gather.scratch_requirements(count).size);
            cursor.array("scratch of a gather", size)
        });
        ScratchLayout { state, scan, level_args, indices, gathers }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Select, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = buffers.scratch;
        let tiles = Tiles::at_least_one(count.max(), self.tile_items)?;
        recorder.check_workgroups(tiles.count.into())?;
        let state = layout.state.range(scratch);
        recorder.phase(c"level args");
        if self.algorithm == SelectAlgorithm::Chained {
            recorder.fill(state, 0);
            recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        }
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        let workgroups =
            Workgroups::new(recorder, self.level_args.as_ref(), count, grid, (scratch, layout.level_args))?;
        let workgroups = workgroups.at_least_one();
        let indices = match self.config.has_indices {
            true => buffers.destination_indices,
            false => layout.indices.range(scratch).addresses(),
        };
        // To a kernel a null pointer is a single tile.
        let counts = layout.state.addresses(scratch);
        let push = self.push(buffers, counts, indices, workgroups.indirect_tiles(), tiles);
        let mut compact = &self.compact;
        if let Some(counting) = self.counting.as_ref().filter(|_| layout.state.size > 0) {
            recorder.phase(c"count");
            workgroups.dispatch(recorder, &counting.count, &push)?;
            if let Some(summing) = counting.summing(tiles.count.into()) {
                compact = summing;
            } else {
                counting.record_scan(recorder, workgroups, state, layout.scan.range(scratch), tiles)?;
            }
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        recorder.phase(match self.algorithm {
            SelectAlgorithm::Chained => c"chained",
            SelectAlgorithm::ReduceThenScan => c"compact",
        });
        workgroups.dispatch(recorder, compact, &push)?;
        self.record_gathers(recorder, buffers, layout, indices, count)
    }
}

impl Select {
    fn push(
        &self,
        buffers: &SelectBuffers,
        state: AddressRange,
        indices: AddressRange,
        indirect_tiles: AddressRange,
        tiles: Tiles,
    ) -> push::SelectCount {
        let [elements, values] = self.config.kept();
        let of = |range, words| if words > 0 { range } else { AddressRange::NONE };
        let is_of_keys = self.config.keys.is_some();
        let is_tested = !self.config.predicate.has_flags();
        let (operands, host) = match buffers.operands {
            Operands::None => (AddressRange::NONE, [[0; 2]; 4]),
            Operands::Host(operands) => (AddressRange::NONE, operands.bounds(&self.config)),
            Operands::Device(range) => (range, [[0; 2]; 4]),
        };
        let [operand, range_end, second_operand, second_range_end] = host;
        push::SelectCount {
            tested: if is_tested { buffers.source } else { buffers.flags },
            source: if is_of_keys { AddressRange::NONE } else { of(buffers.source, elements) },
            values: of(buffers.values, values),
            destination: of(buffers.destination, elements),
            destination_values: of(buffers.destination_values, values),
            destination_indices: indices,
            state,
            selected_counts: buffers.counts,
            operands,
            indirect_tiles,
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            operand,
            range_end,
            second_operand,
            second_range_end,
        }
    }

    /// Gathers wide elements and values by the indices of the result.
    fn record_gathers(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SelectBuffers,
        layout: &ScratchLayout,
        indices: AddressRange,
        count: Count,
    ) -> Result<()> {
        let pairs = [(buffers.source, buffers.destination), (buffers.values, buffers.destination_values)];
        let count = match (self.config.parts, count) {
            // Fits: `check_count` has found it.
            (Parts::Selected, count) => {
                Count::Indirect { address: buffers.counts.address, max: count.max() as u32 }
            }
            (Parts::Two | Parts::Three(_), count) => count,
        };
        // An indirect gather has a barrier between its own arguments and the indices.
        let mut has_barrier = self.config.parts != Parts::Selected && matches!(count, Count::Indirect { .. });
        let gathers = self.gathers.iter().zip(pairs).zip(layout.gathers);
        for ((gather, (source, destination)), array) in gathers {
            let Some(gather) = gather.as_ref().filter(|_| count.max() > 0) else { continue };
            // The gathers are independent of each other.
            if !std::mem::replace(&mut has_barrier, true) {
                recorder.phase(c"gather");
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            let scratch = array.range(buffers.scratch);
            let buffers = GatherBuffers::new(source, indices, destination).scratch(scratch);
            gather.record(recorder, &buffers, count)?;
        }
        Ok(())
    }
}

impl SelectPlan {
    /// Maximum number of elements without [`SelectConfig::large_counts`]: indices are 32-bit numbers.
    pub const MAX_COUNT: u64 = u32::MAX as u64;

    /// Maximum number of elements of a recording: [`Self::MAX_COUNT`], with [`SelectConfig::large_counts`] 2^32 - 1 tiles.
    pub fn max_count(&self) -> u64 {
        self.primitive.max_count()
    }

    /// Bytes that a recording of `count` elements reads and writes if it selects `kept_count` of them, without the
    /// counts of tiles. Does not include the rest of cache lines of which only some elements are kept.
    pub fn traffic_size(&self, count: u64, kept_count: u64) -> u64 {
        let config = self.unpacked_config();
        let moved_count = if config.parts == Parts::Selected { kept_count } else { count };
        let is_tested = !config.predicate.has_flags();
        let tested_size = if is_tested { config.element_size() } else { config.flag_size() };
        let has_two_sweeps = self.policy().algorithm == SelectAlgorithm::ReduceThenScan
            && count > self.policy().tile_items().into();
        let tests = count.saturating_mul(tested_size * if has_two_sweeps { 2 } else { 1 });
        let element_size = if config.has_elements() { config.element_size() } else { 0 };
        // Keys are read by the tests.
        let elements = element_size * if config.keys.is_some() { 1 } else { 2 };
        let index_passes = u64::from(config.writes_indices());
        let gathers = config.gathered().iter().filter(|&&words| words > 0).count() as u64;
        let moved = elements + 2 * config.value_size() + config.index_size() * index_passes + 4 * gathers;
        let own = tests.saturating_add(moved_count.saturating_mul(moved));
        own.saturating_add(self.packing_size(count))
    }
}
