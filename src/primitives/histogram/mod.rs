//! Histogram: the number of values in each bin, for each column of a table.
//!
//! Equals `numpy.histogram` to the bit. Bin `b` has the values from edge `b` on and below edge `b + 1`; the last bin has
//! the last edge as well. Values out of range and NaNs are in no bin; -0 equals 0. [`even_edges`] and [`edge_words`] make
//! the edges on the host. With weights a count is the sum of the weights of its values, as `numpy.histogram(weights=…)`.
//!
//! ```text
//!   clear ──► counts, all 0 ──────────────┐
//!   edges ─┐                              ▼ add
//!   rows ──┴─ tile, tile, tile ── count in shared memory ──► counts
//! ```

mod config;
mod edges;
mod policy;

use std::ffi::CStr;

pub use config::{HistogramBuffers, HistogramConfig};
pub use edges::{edge_words, even_edges};
pub use policy::HistogramPolicy;

use super::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use super::packed::PackedForm;
use super::plan::{Algorithm, Checked, Plan, Primitive, Recordable};
use super::{Count, ScratchCursor, Tiles, has_quads, quad_alignment};
use crate::device::{Barrier, Capabilities, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::{Result, at_most};
use crate::kernels;

/// Plan of a histogram.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::histogram::{HistogramBuffers, HistogramConfig, HistogramPlan, edge_words};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let source = gpu.allocate_with(&[3, 1, 4, 1, 5])?;
/// // Bins from 0, 2 and 4 on, the last up to 6.
/// let edges = gpu.allocate_with(&edge_words(ElementType::U32, &[0.0, 2.0, 4.0, 6.0])?)?;
/// let counts = gpu.allocate(12)?;
/// let plan = HistogramPlan::new(gpu.device(), HistogramConfig::even(ElementType::U32, 3))?;
/// // A direct count needs no scratch.
/// let buffers = HistogramBuffers::new(source.addresses(), edges.addresses(), counts.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, 5)) }?;
/// assert_eq!(gpu.read(&counts, 3)?, [2, 1, 2]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type HistogramPlan = Plan<Histogram>;

/// The primitive of a [`HistogramPlan`], and its only algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `source` | `count * row_size` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `edges` | `(bins + 1) * 4`, of 64 bits 8 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `weights` | `count * columns * 4`, if weighted | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `counts` | `columns * bins * 4` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | indirect count | 4 | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | 32 for an indirect count, else none | COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// Values of 8 and 16 bits are taken as they are, on any device. The count is of rows, at most 2^32 - 1, so that a u32 holds every count of values. Ranges that are only read may
/// overlap each other. Two dispatches and a barrier; one more dispatch for an indirect count. A count of 0 rows gives
/// counts of 0: one dispatch then. The result is in `counts`, the bins of the first column first, so that each column's
/// histogram is what a plan for one column writes. The edges are not checked: unless those between the first and the last
/// ascend, values may be counted in a wrong bin of the right column.
#[derive(Debug)]
pub struct Histogram {
    tile_rows: u32,
    max_workgroups: Option<u32>,
    clear: Pipeline,
    clear_items: u32,
    /// Where tiles are whole quads and the source and weights begin with one.
    quads: Option<Pipeline>,
    words: Pipeline,
    /// Of the source, for `quads`.
    quad_alignment: u64,
    counts_size: u64,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// `WORDS_PER_INVOCATION` of `clear.comp`.
const CLEARED_PER_INVOCATION: u32 = 4;
/// Values in a quad of 16 bytes.
const QUAD_ITEMS: u32 = 4;

impl Primitive for Histogram {
    type Config = HistogramConfig;
    type Policy = HistogramPolicy;
    type Buffers = HistogramBuffers;
    type Count = Count;

    const LABEL: &'static CStr = c"subsweep histogram";

    fn declare(device: &Device, config: &HistogramConfig, policy: &HistogramPolicy) -> Result<Self> {
        let HistogramPolicy { workgroup_size, subgroup_size, .. } = *policy;
        let tile_rows = policy.tile_rows(config);
        let constants = [
            ("NUMBERS", config.element.numbers()),
            ("BIN_COUNT", config.bins),
            ("COLUMN_COUNT", config.columns),
            ("TILE_ROWS", tile_rows),
            ("COPIES", policy.copies),
            ("SHARED_EDGES", policy.shared_edges(config)),
            ("EVEN", config.is_even.into()),
            ("LOADS_IN_FLIGHT", policy.loads_in_flight),
            ("MAX_WORKGROUPS", policy.max_workgroups.unwrap_or(0)),
            ("WEIGHTED", config.is_weighted.into()),
        ];
        let form = PackedForm::numbers(config.element);
        let defines: &[_] = match form {
            Some(_) => &[("PACKED", 1)],
            None if config.value_words() > 1 => &[("WIDE", 1)],
            None => &[],
        };
        let constants = constants.into_iter().chain(form.into_iter().flat_map(PackedForm::constants));
        let constants: Vec<_> = constants.collect();
        let pipeline = |kernel, constants: &[_]| {
            let options = PipelineOptions { workgroup_size, constants, subgroup_size };
            Pipeline::declare(device, kernel, options)
        };
        let count = |quad_access: bool| {
            let constants = [&constants[..], &[("QUAD_ACCESS", quad_access.into())]].concat();
            pipeline(config.kernel(kernels::HISTOGRAM_COUNT.module(defines))?, &constants)
        };
        let has_quads = (tile_rows * config.columns).is_multiple_of(QUAD_ITEMS) && !config.is_computed();
        Ok(Self {
            tile_rows,
            max_workgroups: policy.max_workgroups,
            clear: pipeline(kernels::HISTOGRAM_CLEAR.module(&[]), &[])?,
            clear_items: workgroup_size * CLEARED_PER_INVOCATION,
            quads: has_quads.then(|| count(true)).transpose()?,
            words: count(false)?,
            quad_alignment: quad_alignment(form),
            counts_size: config.counts_size(),
            level_args: LevelArgsWriter::new(device, subgroup_size, config.has_indirect_count)?,
        })
    }

    fn takes_packed(_: &Capabilities, _: &HistogramConfig, _: &HistogramPolicy) -> bool {
        true
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _)
    }

    fn algorithm(&self, _: &HistogramConfig, _: u64) -> Option<&dyn Recordable<Self>> {
        Some(self)
    }

    fn check_count(&self, _: &HistogramConfig, count: u64) -> Result<()> {
        at_most(count, HistogramPlan::MAX_COUNT, "a count of u32")
    }
}

impl Algorithm<Histogram> for Histogram {
    /// Offset of the arguments of an indirect dispatch.
    type Layout = u64;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.quads
            .iter()
            .chain([&self.clear, &self.words])
            .chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    fn layout(&self, cursor: &mut ScratchCursor, _: u64) -> u64 {
        LevelArgs::take(cursor, self.level_args.as_ref())
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Histogram, u64>) -> Result<()> {
        let Checked { buffers, layout: levels, count } = given;
        let HistogramBuffers { source, edges, weights, counts, scratch, .. } = *buffers;
        // A tile of no rows is never dispatched.
        let tiles = Tiles::new(count.max().max(1), self.tile_rows)?;
        recorder.check_workgroups(tiles.count.into())?;
        recorder.phase(c"clear");
        let word_count = (self.counts_size / 4) as u32;
        let clear = push::HistogramClear { counts, word_count };
        recorder.dispatch(&self.clear, &clear, word_count.div_ceil(self.clear_items).into())?;
        if count.max() == 0 {
            return Ok(());
        }
        let grid = TileGrid { tile_items: self.tile_rows, column_count: 1 };
        if matches!(count, Count::Indirect { .. }) {
            recorder.phase(c"level args");
        }
        // The barrier to an indirect dispatch orders the cleared counts as well.
        let levels = (scratch, *levels);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, levels)?;
        if matches!(count, Count::Direct(_)) {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        let push = push::HistogramCount {
            source,
            edges,
            counts,
            indirect_tiles: workgroups.indirect_tiles(),
            weights,
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
        };
        recorder.phase(c"count");
        let ranges = [(source, self.quad_alignment), (weights, 16)];
        let quads = self.quads.as_ref().filter(|_| has_quads(ranges, true, count, QUAD_ITEMS));
        let pipeline = quads.unwrap_or(&self.words);
        workgroups.striding(self.max_workgroups).dispatch(recorder, pipeline, &push)
    }
}

impl HistogramPlan {
    /// Maximum number of rows: a count of values is a u32.
    pub const MAX_COUNT: u64 = u32::MAX as u64;

    /// Bytes that a recording of `count` rows reads: the values and weights once. Does not include edges and counts.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let config = self.unpacked_config();
        let own = count.saturating_mul(config.row_size() + config.weights_size());
        own.saturating_add(self.packing_size(count))
    }
}
