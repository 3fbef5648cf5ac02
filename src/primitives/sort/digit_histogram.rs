//! Histogram of all digits: one dispatch over all keys before the first pass. It writes the dispatch arguments of the
//! passes: whether they run, their workgroups, and their ping-pong buffers. Also the copy after the last pass, where
//! the result is in the alternate buffer.
//!
//! ```text
//!   histogram ──► indirect dispatch arguments of every pass and of the copy
//!      └─────► bins: exclusive prefix sum of each digit's counts, per pass
//! ```

use super::SortPlan;
use super::arrays::Arrays;
use super::config::{Form, SortConfig};
use super::dispatch_args::{DispatchArgs, PassArgs};
use super::policy::SortPolicy;
use crate::device::{AddressRange, Barrier, BufferRange, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels::{self, Define, Kernel};
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::{Count, ScratchCursor, Tiles};

/// Bytes of the state: bits that are set in some key, bits that are clear in some key, and a counter of finished
/// workgroups.
const STATE_SIZE: u64 = 32;

/// Bit `EVEN` of the push constant `result`.
const EVEN: u32 = 16;

/// Parameters of the passes for the histogram.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassShape {
    /// Number of passes.
    pub(super) count: u32,
    /// Keys per tile.
    pub(super) tile_items: u32,
    /// Maximum number of tiles per dispatch.
    pub(super) portion_tiles: u32,
    /// Whether bins are counted for each pass beforehand.
    pub(super) has_bins: bool,
}

#[derive(Debug)]
pub(super) struct DigitHistogram {
    config: SortConfig,
    passes: PassShape,
    radix: u32,
    workgroup_size: u32,
    /// Items per invocation of a pass; its workgroup size is the histogram's.
    pass_items_per_invocation: u32,
    tile_items: u32,
    max_workgroups: Option<u32>,
    pass_max_workgroups: Option<u32>,
    direct_tiles: u64,
    by_words: Pipeline,
    /// For keys that are loaded by quads.
    by_quads: Option<Pipeline>,
    copy: Pipeline,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// Offsets of its arrays in scratch. All are initialised to 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct DigitHistogramLayout {
    state: u64,
    dispatch_args: u64,
    bins: u64,
    levels: u64,
    /// Dispatches per pass.
    pub(super) portion_count: u32,
}

impl DigitHistogramLayout {
    /// Index of a dispatch of a pass among the dispatches of all passes.
    fn index(&self, pass: u32, portion: u32) -> u64 {
        u64::from(pass) * u64::from(self.portion_count) + u64::from(portion)
    }
}

impl DigitHistogram {
    pub(super) fn new(
        device: &Device,
        config: &SortConfig,
        policy: &SortPolicy,
        passes: PassShape,
    ) -> Result<Self> {
        let (workgroup_size, subgroup_size) = (policy.workgroup_size, policy.histogram_subgroup_size);
        let (radix_bits, shape) = (policy.algorithm.radix_bits(), policy.histogram);
        let pipeline = |kernel: &'static Kernel, constants: &[(&'static str, u32)]| {
            Pipeline::declare(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
        };
        let [numbers, descending] = config.constants();
        let [keys, _] = config.defines();
        let defines: &[Define] = if passes.has_bins { &[keys, ("BINS", 1)] } else { &[keys] };
        let copied: &[Define] = if config.packed_bits().is_some() { &[keys] } else { &[] };
        let kernel = config.kernel(kernels::SORT_DIGIT_HISTOGRAM.module(defines))?;
        let mut constants = vec![
            numbers,
            descending,
            ("RADIX_BITS", radix_bits),
            ("ITEMS_PER_INVOCATION", shape.items_per_invocation),
            ("MAX_WORKGROUPS", shape.max_workgroups.unwrap_or(0)),
            ("LOADS_IN_FLIGHT", shape.loads_in_flight),
            // A sort without bits records nothing, but has pipelines.
            ("PASS_COUNT", passes.count.max(1)),
        ];
        if passes.has_bins {
            constants.push(("WIDE_OFFSETS", config.has_large_counts.into()));
            constants.push(("COPIES", shape.copies));
        }
        let has_quads = shape.loads_in_flight * config.key.words() >= 4
            && config.functions().is_none()
            && config.packed_bits().is_none();
        let by_quads = if has_quads {
            Some(pipeline(kernel, &[&constants[..], &[("QUAD_ACCESS", 1)]].concat())?)
        } else {
            None
        };
        Ok(Self {
            config: *config,
            passes,
            radix: 1 << radix_bits,
            workgroup_size,
            pass_items_per_invocation: policy.items_per_invocation,
            tile_items: workgroup_size.saturating_mul(shape.items_per_invocation),
            max_workgroups: shape.max_workgroups,
            pass_max_workgroups: policy.max_workgroups,
            direct_tiles: policy.direct_tiles.into(),
            by_quads,
            by_words: pipeline(kernel, &constants)?,
            copy: pipeline(kernels::SORT_COPY.module(copied), &[("TILE_ITEMS", passes.tile_items)])?,
            level_args: LevelArgsWriter::new(device, subgroup_size, config.has_indirect_count)?,
        })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        [&self.by_words, &self.copy]
            .into_iter()
            .chain(&self.by_quads)
            .chain(self.level_args.as_ref().map(LevelArgsWriter::pipeline))
    }

    /// Maximum number of keys: what a word counts. With large counts a word counts rounds of the workgroup, and the
    /// limit is one dispatch of the copy, of 65,535 by 65,535 workgroups on every device.
    pub(super) fn max_count(&self) -> u64 {
        const MAX_WORKGROUPS: u64 = 65_535 * 65_535;
        if !self.config.has_large_counts {
            return SortPlan::MAX_COUNT;
        }
        let rounds = u64::from(u32::MAX) * u64::from(self.workgroup_size);
        rounds.min(MAX_WORKGROUPS * u64::from(self.passes.tile_items))
    }

    /// Bytes of the bins of a portion.
    fn bins_size(&self) -> u64 {
        let offset_size = u64::from(self.config.offset_words()) * 4;
        if self.passes.has_bins { u64::from(self.radix) * offset_size } else { 0 }
    }

    pub(super) fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> DigitHistogramLayout {
        let tile_count = count.div_ceil(self.passes.tile_items.into());
        // More portions exceed any scratch.
        let portions = tile_count.div_ceil(self.passes.portion_tiles.into()).clamp(1, u32::MAX.into());
        let dispatches = portions.saturating_mul(self.passes.count.into());
        DigitHistogramLayout {
            state: cursor.take("bits that are set, and clear, in some key", STATE_SIZE),
            dispatch_args: cursor.take("dispatch arguments", DispatchArgs::size(dispatches + 1)),
            bins: cursor.take("bins", dispatches.saturating_mul(self.bins_size())),
            levels: LevelArgs::take(cursor, self.level_args.as_ref()),
            portion_count: portions as u32,
        }
    }

    /// Records a fill of the first `zeroed_size` bytes of `scratch` with 0, the histogram, and a barrier to the passes.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        scratch: BufferRange,
        zeroed_size: u64,
        layout: &DigitHistogramLayout,
        keys: AddressRange,
        count: Count,
    ) -> Result<()> {
        recorder.phase(c"histogram");
        recorder.fill(scratch.slice(0, zeroed_size), 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let in_scratch = |offset: u64, size: u64| scratch.slice(offset, size).addresses();
        let tiles = Tiles::new(count.max(), self.tile_items)?;
        let mut push = push::SortDigitHistogram {
            keys,
            state: in_scratch(layout.state, STATE_SIZE),
            dispatch_args: self.dispatch_args(scratch, layout).words(),
            bins: in_scratch(layout.bins, self.dispatches(layout) * self.bins_size()),
            indirect_tiles: AddressRange::NONE,
            tile_count: tiles.count,
            last_extent: tiles.last_extent,
            pass_items_per_invocation: self.pass_items_per_invocation,
            pass_max_workgroups: self.pass_max_workgroups.unwrap_or(0),
            portion_tiles: self.passes.portion_tiles,
            portion_count: layout.portion_count,
            begin_bit: self.config.begin_bit,
            end_bit: self.config.end_bit,
            max_row: recorder.device().capabilities().max_workgroup_count[0],
            result: self.config.result() | if self.is_even(count) { EVEN } else { 0 },
        };
        let grid = TileGrid { tile_items: self.tile_items, column_count: 1 };
        let levels = (scratch, layout.levels);
        let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, levels)?;
        push.indirect_tiles = workgroups.indirect_tiles();
        // Of full tiles; the last one is loaded by words.
        let is_aligned = keys.address.is_multiple_of(16);
        let pipeline = self.by_quads.as_ref().filter(|_| is_aligned).unwrap_or(&self.by_words);
        workgroups.striding(self.max_workgroups).dispatch(recorder, pipeline, &push)?;
        recorder.barrier(match self.direct_tiles(layout, count) {
            Some(_) => Barrier::COMPUTE_TO_COMPUTE,
            None => Barrier::COMPUTE_TO_INDIRECT,
        });
        Ok(())
    }

    /// The tiles of `count` keys that `onesweep` dispatches directly; `None` where the arguments on the device say which.
    pub(super) fn direct_tiles(&self, layout: &DigitHistogramLayout, count: Count) -> Option<u64> {
        let tiles = count.max().div_ceil(self.passes.tile_items.into());
        let is_known = self.config.form != Form::InPlace && matches!(count, Count::Direct(_));
        let is_direct = is_known || tiles <= self.direct_tiles;
        (self.passes.has_bins && layout.portion_count == 1 && is_direct).then_some(tiles)
    }

    /// Whether an even number of passes runs, so that the result in place needs no copy.
    fn is_even(&self, count: Count) -> bool {
        self.passes.has_bins
            && self.passes.count.is_multiple_of(2)
            && self.config.form == Form::InPlace
            && !self.config.is_argsort()
            && count.max() <= self.direct_tiles * u64::from(self.passes.tile_items)
    }

    /// The arguments of a dispatch of a pass.
    pub(super) fn pass_args(
        &self,
        scratch: BufferRange,
        layout: &DigitHistogramLayout,
        pass: u32,
        portion: u32,
    ) -> PassArgs {
        self.dispatch_args(scratch, layout).nth(layout.index(pass, portion))
    }

    /// The bins of a portion of a pass.
    pub(super) fn bins(
        &self,
        scratch: BufferRange,
        layout: &DigitHistogramLayout,
        pass: u32,
        portion: u32,
    ) -> AddressRange {
        let size = self.bins_size();
        scratch.slice(layout.bins + layout.index(pass, portion) * size, size).addresses()
    }

    /// Records the copy of the result to the caller's arrays: in place it runs after an odd number of passes that ran.
    /// Records nothing for a form without a copy, for an argsort, whose last pass writes the caller's array, and where an
    /// even number of passes runs.
    pub(super) fn record_copy(
        &self,
        recorder: &mut Recorder<'_>,
        scratch: BufferRange,
        layout: &DigitHistogramLayout,
        arrays: &Arrays,
        count: Count,
    ) -> Result<()> {
        let is_recorded = !self.config.is_argsort() && !self.is_even(count);
        let Some(arrays) = arrays.of_copy().filter(|_| is_recorded) else { return Ok(()) };
        let copy = self.dispatch_args(scratch, layout).nth(self.dispatches(layout));
        let push = push::SortCopy {
            keys: arrays.keys,
            keys_alt: arrays.keys_alt,
            values: arrays.values,
            values_alt: arrays.values_alt,
            dispatch_args: copy.words(),
            key_words: if self.config.has_no_last_keys() { 0 } else { self.config.key.words() },
            value_words: self.config.values.words(),
        };
        recorder.phase(c"copy");
        recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        copy.dispatch(recorder, &self.copy, &push, self.direct_tiles(layout, count))
    }

    /// Arguments of the dispatches of all passes and of the copy.
    fn dispatch_args(&self, scratch: BufferRange, layout: &DigitHistogramLayout) -> DispatchArgs {
        DispatchArgs::new(scratch, layout.dispatch_args, self.dispatches(layout) + 1)
    }

    /// Number of dispatches of all passes.
    fn dispatches(&self, layout: &DigitHistogramLayout) -> u64 {
        u64::from(self.passes.count) * u64::from(layout.portion_count)
    }
}
