//! Run-length encoding and decoding: runs of equal elements as values and counts.
//!
//! ```text
//!   chained:           elements ── encode, tile by tile with look-back ──► values, counts, offsets, number of runs
//!   encode:            elements ── unique ──► values, offsets ── lengths ──► counts, number of runs
//!   runs of two or more:  offsets, lengths ── select length > 1 ──► offsets, counts ── gather ──► values
//!   decode:            counts ── scan ──► ends ── decode, with values ──► elements, their number
//! ```
//!
//! The number of runs, or of decoded elements, is written to device memory, for the [indirect count](Count::Indirect) of
//! the next plan.

mod chained;
mod config;
mod policy;

pub use config::{RunLengthBuffers, RunLengthConfig};
pub use policy::{RunLengthAlgorithm, RunLengthPolicy};

use std::ffi::CStr;

use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::plan::{Algorithm, Checked, Plan, Primitive, Recordable};
use super::{Count, ElementType, ScratchCursor, ScratchRange, packed, wide};
use crate::device::{
    Access, AddressRange, Barrier, Capabilities, Device, Pipeline, PipelineOptions, Recorder, push,
};
use crate::error::{Error, Result, at_most};
use crate::gather::{GatherBuffers, GatherConfig, GatherPlan};
use crate::kernels::{self, Kernel};
use crate::scan::{ScanBuffers, ScanConfig, ScanPlan};
use crate::select::{Comparison, Operands, SelectBuffers, SelectConfig, SelectPlan};
use chained::Chained;
use config::Coding;

/// Plan of a run-length encoding or decoding.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::run_length::{RunLengthBuffers, RunLengthConfig, RunLengthPlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let elements = gpu.allocate_with(&[7, 7, 8, 7])?;
/// let [values, counts, run_count] = [gpu.allocate(16)?, gpu.allocate(16)?, gpu.allocate(4)?];
/// let plan = RunLengthPlan::new(gpu.device(), RunLengthConfig::encode(ElementType::U32))?;
/// let scratch = gpu.allocate(plan.scratch_requirements(4).size)?;
/// let [from, to, lengths, result] = [&elements, &values, &counts, &run_count].map(|buffer| buffer.addresses());
/// let buffers = RunLengthBuffers::new(from, to, lengths, result, scratch.range());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 4)) }?;
/// assert_eq!(gpu.read(&run_count, 1)?, [3]);
/// assert_eq!((gpu.read(&values, 3)?, gpu.read(&counts, 3)?), (vec![7, 8, 7], vec![2, 1, 1]));
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type RunLengthPlan = Plan<RunLength>;

impl RunLengthConfig {
    /// The selection of the first element of each run, with its index.
    fn starts(&self) -> SelectConfig {
        let starts = SelectConfig::unique(self.element).order(self.order).indices();
        let starts =
            if self.has_values && self.coding == Coding::Encode { starts } else { starts.without_elements() };
        let starts = if self.has_large_counts { starts.large_counts() } else { starts };
        if self.has_indirect_count { starts.indirect_count() } else { starts }
    }

    /// The selection of the runs of more than one element: their lengths, and with each its offset.
    fn non_trivial_runs() -> SelectConfig {
        SelectConfig::compare(ElementType::U32, Comparison::Greater).values(1).indirect_count()
    }

    /// The scan of the counts that are decoded.
    fn ends(&self) -> ScanConfig {
        let ends = ScanConfig::inclusive(ElementType::U32).out_of_place();
        if self.has_indirect_count { ends.indirect_count() } else { ends }
    }
}

/// The primitive of a [`RunLengthPlan`].
///
/// | memory | bytes | of an encoding | of a decoding |
/// |---|---|---|---|
/// | `elements` | `count * element_size`; of a decoding as many as fit | COMPUTE_SHADER read | COMPUTE_SHADER write |
/// | `values` | `count * element_size` | COMPUTE_SHADER write | COMPUTE_SHADER read |
/// | `counts` | `count * 4` | COMPUTE_SHADER write | COMPUTE_SHADER read |
/// | `offsets` | `count * 4` | COMPUTE_SHADER write, read | unused |
/// | `result_count` | 4; with large counts this and the two above have 8 for 4 | COMPUTE_SHADER write, read | COMPUTE_SHADER write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | below | TRANSFER or COMPUTE_SHADER write | likewise |
///
/// | scratch for | bytes |
/// |---|---|
/// | the chained encoding | 16, and 16 per tile; 32 more for an indirect count |
/// | an encoding by selection | 32, the scratch of the selection, and 4 per element unless offsets of all runs are written; with large counts 8 for 4 |
/// | runs of more than one element by selection | 16 and 4 per element more, the scratch of another selection, and 32 |
/// | a decoding | 4 per run, and the scratch of a scan of u32 |
///
/// | commands | |
/// |---|---|
/// | the chained encoding | a fill, a barrier, one dispatch; for an indirect count a dispatch and a barrier more |
/// | an encoding by selection | a selection of unique elements, a dispatch and an indirect one, with barriers |
/// | runs of more than one element by selection | a selection more, and a gather of the values |
/// | a decoding | a scan, a barrier, and a dispatch for all elements that fit, of 8 and 16 bits as they are |
///
/// Elements of 8 and 16 bits are taken as they are by the chained encoding, where the device has enabled
/// `storageBuffer8BitAccess` or `storageBuffer16BitAccess`, and by a decoding.
/// All written ranges are disjoint from each other and from those that are read. At most 2^32 - 1 elements, with
/// [`RunLengthConfig::large_counts`] as many as such a selection takes, 2^31 - 1 runs that are decoded, and the workgroups
/// of a two-dimensional dispatch. Elements are equal as in
/// [`SelectConfig::unique`], in [`RunLengthConfig::order`]; the value of a run is its first element. An encoding
/// leaves the memory beyond the runs unchanged. A decoding writes the first elements where not all fit, and their number in
/// `result_count` as well, which must be below 2^32; it leaves the memory beyond unchanged. A count of 0 records commands
/// that write 0 to `result_count`.
#[derive(Debug)]
pub struct RunLength(Steps);

/// The algorithm of each coding.
#[derive(Debug)]
enum Steps {
    Chained(Chained),
    Encode(Box<Encode>),
    Decode(Box<Decode>),
}

/// Encoding by selection.
#[derive(Debug)]
struct Encode {
    starts: SelectPlan,
    lengths: Pipeline,
    tile_items: u32,
    level_args: LevelArgsWriter,
    index_size: u64,
    /// Of runs of more than one element, and their values.
    non_trivial: Option<(SelectPlan, Option<GatherPlan>)>,
    has_offsets: bool,
}

/// Decoding by a search in the ends of runs.
#[derive(Debug)]
struct Decode {
    ends: ScanPlan,
    decode: Pipeline,
    tile_items: u32,
    element_size: u64,
}

impl Primitive for RunLength {
    type Config = RunLengthConfig;
    type Policy = RunLengthPolicy;
    type Buffers = RunLengthBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep run length";

    fn declare(device: &Device, config: &RunLengthConfig, policy: &RunLengthPolicy) -> Result<Self> {
        let pipeline = |kernel: &'static Kernel, constants: &[(&'static str, u32)]| {
            let items = [("ITEMS_PER_INVOCATION", policy.items_per_invocation)];
            let constants = [&items[..], constants].concat();
            let RunLengthPolicy { workgroup_size, subgroup_size, .. } = *policy;
            let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
            Pipeline::declare(device, kernel, options)
        };
        let tile_items = policy.tile_items();
        let steps = match config.coding {
            Coding::Encode | Coding::EncodeNonTrivial if policy.algorithm == RunLengthAlgorithm::Chained => {
                Steps::Chained(Chained::new(device, config, policy)?)
            }
            Coding::Encode | Coding::EncodeNonTrivial => {
                let select = |select: SelectConfig| SelectPlan::declare(device, select.policy(policy.select));
                let gather = GatherConfig::elements(config.element.words()).indirect_count();
                let values = || config.has_values.then(|| GatherPlan::declare(device, gather)).transpose();
                let non_trivial =
                    || Ok::<_, Error>((select(RunLengthConfig::non_trivial_runs())?, values()?));
                // The runs are counted on the device.
                let is_large = config.has_large_counts;
                let level_args = LevelArgsWriter::always(device, policy.subgroup_size, 0, is_large)?;
                let offsets = [("WIDE_OFFSETS", is_large.into())];
                Steps::Encode(Box::new(Encode {
                    starts: select(config.starts())?,
                    lengths: pipeline(kernels::RUN_LENGTH_LENGTHS.module(&[]), &offsets)?,
                    tile_items,
                    level_args,
                    index_size: config.index_size(),
                    non_trivial: (config.coding == Coding::EncodeNonTrivial).then(non_trivial).transpose()?,
                    has_offsets: config.has_offsets,
                }))
            }
            Coding::Decode => {
                let words = if config.has_values { config.element.words() } else { 0 };
                let (module, constant) = match config.element.is_packed() {
                    true => (
                        kernels::RUN_LENGTH_DECODE.module(&[("PACKED", 1)]),
                        ("PACKED_BITS", config.element.bits()),
                    ),
                    false => (kernels::RUN_LENGTH_DECODE.module(&[]), ("KEPT_WORDS", words)),
                };
                Steps::Decode(Box::new(Decode {
                    ends: ScanPlan::declare(device, config.ends().policy(policy.scan))?,
                    decode: pipeline(module, &[constant])?,
                    tile_items,
                    element_size: config.element_size(),
                }))
            }
        };
        Ok(Self(steps))
    }

    fn takes_packed(capabilities: &Capabilities, config: &RunLengthConfig, policy: &RunLengthPolicy) -> bool {
        let is_chained = policy.algorithm == RunLengthAlgorithm::Chained && !config.is_decoding();
        is_chained && packed::has_access(capabilities, config.element)
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(match &self.0 {
            Steps::Chained(chained) => chained as _,
            Steps::Encode(encode) => &**encode as _,
            Steps::Decode(decode) => &**decode as _,
        })
    }

    fn algorithm(&self, _: &RunLengthConfig, _: u64) -> Option<&dyn Recordable<Self>> {
        self.algorithms().next()
    }

    fn check_count(&self, config: &RunLengthConfig, count: u64) -> Result<()> {
        let (max, what) = self.max_count(config);
        at_most(count, max, what)
    }

    fn first_access(&self, _: &RunLengthConfig) -> Access {
        match &self.0 {
            Steps::Chained(_) => Access::COMPUTE.and(Access::TRANSFER_WRITE),
            Steps::Encode(encode) => encode.starts.first_access(),
            Steps::Decode(decode) => decode.ends.first_access().and(Access::COMPUTE),
        }
    }
}

impl RunLength {
    /// The maximum count, and of what.
    fn max_count(&self, config: &RunLengthConfig) -> (u64, &'static str) {
        match &self.0 {
            Steps::Decode(_) => (RunLengthPlan::MAX_DECODED_RUNS, "a decoding of runs"),
            Steps::Encode(encode) if config.has_large_counts => {
                (encode.starts.max_count(), "one encoding of this policy")
            }
            _ => (RunLengthPlan::MAX_COUNT, "an encoding of runs without large counts"),
        }
    }
}

/// Scratch of an encoding.
#[derive(Debug)]
struct EncodeLayout {
    starts: ScratchRange,
    lengths: ScratchRange,
    run_count: ScratchRange,
    level_args: u64,
    select: ScratchRange,
    select_non_trivial: ScratchRange,
    gather: ScratchRange,
}

impl Algorithm<RunLength> for Encode {
    type Layout = EncodeLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let non_trivial = self.non_trivial.iter().flat_map(|(select, gather)| {
            select.pipelines().chain(gather.iter().flat_map(GatherPlan::pipelines))
        });
        self.starts.pipelines().chain([self.level_args.pipeline(), &self.lengths]).chain(non_trivial)
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> EncodeLayout {
        let words = count.saturating_mul(self.index_size);
        let is_non_trivial = self.non_trivial.is_some();
        let if_needed = |size| if is_non_trivial { size } else { 0 };
        let of_both = |of: &dyn Fn(&SelectPlan, Option<&GatherPlan>) -> u64| match &self.non_trivial {
            Some((select, gather)) => of(select, gather.as_ref()),
            None => 0,
        };
        let select_non_trivial = of_both(&|select, _| select.scratch_requirements(count).size);
        let gather = of_both(&|_, gather| gather.map_or(0, |gather| gather.scratch_requirements(count).size));
        EncodeLayout {
            starts: cursor
                .array("starts of runs", if self.has_offsets && !is_non_trivial { 0 } else { words }),
            lengths: cursor.array("lengths of runs", if_needed(words)),
            run_count: cursor.array("number of runs", if_needed(4)),
            level_args: cursor.take("level arguments", LevelArgs::size(1)),
            select: cursor.array(
                "scratch of the selection of unique elements",
                self.starts.scratch_requirements(count).size,
            ),
            select_non_trivial: cursor
                .array("scratch of the selection of non-trivial runs", select_non_trivial),
            gather: cursor.array("scratch of a gather", gather),
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, RunLength, EncodeLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = buffers.scratch;
        // No elements have no runs at all.
        let non_trivial = self.non_trivial.as_ref().filter(|_| count.max() > 0);
        let or_scratch = |range: AddressRange, array: ScratchRange, is_scratch: bool| {
            if is_scratch { array.range(scratch).addresses() } else { range }
        };
        let starts = or_scratch(buffers.offsets, layout.starts, layout.starts.size > 0);
        let lengths = or_scratch(buffers.counts, layout.lengths, non_trivial.is_some());
        let run_count = or_scratch(buffers.result_count, layout.run_count, non_trivial.is_some());

        let selection =
            SelectBuffers::new(buffers.elements, buffers.values, run_count, layout.select.range(scratch));
        self.starts.record(recorder, &selection.indices(starts), count)?;
        if count.max() == 0 {
            return Ok(());
        }
        recorder.phase(c"level args");
        recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        recorder.check_workgroups(count.max().div_ceil(self.tile_items.into()))?;
        // With large counts it has no maximum.
        let runs = Count::Indirect { address: run_count.address, max: count.max() as u32 };
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        let levels = (buffers.scratch, layout.level_args);
        let workgroups = Workgroups::new(recorder, Some(&self.level_args), runs, grid, levels)?;
        recorder.phase(c"lengths");
        let push = push::RunLengthLengths {
            starts,
            lengths,
            indirect_tiles: workgroups.indirect_tiles(),
            indirect_count: count.indirect(),
            element_count: wide(count.max()),
        };
        workgroups.dispatch(recorder, &self.lengths, &push)?;

        let Some((select, gather)) = non_trivial else { return Ok(()) };
        // It has a barrier between its own arguments and the lengths.
        let selection = SelectBuffers::new(
            lengths,
            buffers.counts,
            buffers.result_count,
            layout.select_non_trivial.range(scratch),
        )
        .values(starts, buffers.offsets)
        .operands(Operands::host(&[1u32])?);
        select.record(recorder, &selection, runs)?;
        if let Some(gather) = gather {
            recorder.phase(c"gather");
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            let runs = Count::Indirect { address: buffers.result_count.address, max: count.max() as u32 };
            let values = GatherBuffers::new(buffers.elements, buffers.offsets, buffers.values);
            gather.record(recorder, &values.scratch(layout.gather.range(scratch)), runs)?;
        }
        Ok(())
    }
}

/// Scratch of a decoding: the ends of the runs, and the scratch of their scan.
#[derive(Debug)]
struct DecodeLayout {
    ends: ScratchRange,
    scan: ScratchRange,
}

impl Algorithm<RunLength> for Decode {
    type Layout = DecodeLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.ends.pipelines().chain([&self.decode])
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> DecodeLayout {
        DecodeLayout {
            ends: cursor.array("ends of runs", count.saturating_mul(4)),
            scan: cursor
                .array("scratch of the scan of the counts", self.ends.scratch_requirements(count).size),
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, RunLength, DecodeLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = buffers.scratch;
        let ends = layout.ends.range(scratch).addresses();
        if count.max() > 0 {
            self.ends.record(
                recorder,
                &ScanBuffers::new(buffers.counts, ends, layout.scan.range(scratch)),
                count,
            )?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        recorder.phase(c"decode");
        let fitting = buffers.elements.size / self.element_size;
        // Items before the first element: packed ones may begin within a word.
        let skipped = buffers.elements.address % 4 / self.element_size;
        let capacity = fitting.min(RunLengthPlan::MAX_COUNT - skipped);
        let push = push::RunLengthDecode {
            ends,
            values: buffers.values,
            elements: buffers.elements,
            element_count: buffers.result_count,
            indirect_count: count.indirect(),
            run_count: count.max() as u32,
            capacity: capacity as u32,
        };
        recorder.dispatch(&self.decode, &push, (skipped + capacity).div_ceil(self.tile_items.into()).max(1))
    }
}

impl RunLengthPlan {
    /// Maximum number of elements without [`RunLengthConfig::large_counts`].
    pub const MAX_COUNT: u64 = u32::MAX as u64;
    /// Maximum number of runs that are decoded.
    pub const MAX_DECODED_RUNS: u64 = i32::MAX as u64;

    /// Maximum count of a recording.
    pub fn max_count(&self) -> u64 {
        self.primitive.max_count(self.config()).0
    }

    /// Bytes that a recording reads and writes for `element_count` elements in `run_count` runs, of which an encoding
    /// writes `kept_count`. Does not include searches, which find the ends of runs in a cache.
    pub fn traffic_size(&self, element_count: u64, run_count: u64, kept_count: u64) -> u64 {
        let element_size = self.unpacked_config().element_size();
        let own = match &self.primitive.0 {
            Steps::Chained(chained) => chained.traffic_size(element_size, element_count, kept_count),
            Steps::Encode(encode) => {
                let starts = encode.starts.traffic_size(element_count, run_count);
                let non_trivial = encode.non_trivial.as_ref().map_or(0, |(select, gather)| {
                    let gather = gather.as_ref().map_or(0, |gather| gather.traffic_size(kept_count));
                    select.traffic_size(run_count, kept_count) + gather
                });
                starts + 2 * encode.index_size * run_count + non_trivial
            }
            Steps::Decode(_) => {
                // A scan reads the counts once or twice, and the values are read once.
                let scan = 12 * run_count;
                let values = if self.config().has_values { run_count * element_size } else { 0 };
                scan + values + element_count * element_size
            }
        };
        own.saturating_add(self.packing_size(element_count))
    }
}
