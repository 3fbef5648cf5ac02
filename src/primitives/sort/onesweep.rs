//! Onesweep: a single dispatch per pass, with decoupled look-back.
//!
//! ```text
//!   histogram ──► bins: exclusive prefix sum of each digit's counts, per pass
//!   onesweep, for each pass:  primary ──► alternate ──► primary ──► …
//!              for an argsort:  keys ──► alternate ──► second alternate ──► alternate ──► …
//!   copy, after an odd number of passes: alternate ──► primary
//! ```
//!
//! A descriptor holds counts of up to 30 bits, which limits the keys of a dispatch: a pass is one dispatch per portion,
//! and each writes the bins of the next. Descriptors are cleared once for all passes: the statuses of a pass are
//! invalid in the next.

use super::arrays::{AltLayout, Arrays, PassArrays};
use super::config::SortConfig;
use super::digit::Digit;
use super::digit_histogram::{DigitHistogram, DigitHistogramLayout, PassShape};
use super::policy::SortPolicy;
use super::{PassAlgorithm, Sort};
use crate::device::{AddressRange, Barrier, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{ScratchCursor, striding_workgroups};

/// Maximum number of portions: each is a dispatch of each pass, and one invocation writes the arguments of all.
const MAX_PORTIONS: u64 = 4096;

/// Bytes before the descriptors of a portion: a ticket counter for each of `MAX_PASSES` of `onesweep.comp`.
const TICKETS_SIZE: u64 = 32;

#[derive(Debug)]
pub(super) struct Onesweep {
    config: SortConfig,
    passes: PassShape,
    radix: u32,
    max_workgroups: Option<u32>,
    /// The maximum of keys of the tiles for few keys; `None` without.
    max_few_keys: Option<u64>,
    /// Tiles for which scratch has room whatever the count: those for few keys.
    min_tiles: u64,
    histogram: DigitHistogram,
    pipeline: Pipeline,
}

/// Offsets of the arrays in scratch.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    /// Arrays initialised to 0 come first: the arrays of the histogram, and the look-back state.
    zeroed_size: u64,
    histogram: DigitHistogramLayout,
    /// Tickets and descriptors, portion by portion.
    state: u64,
    state_size: u64,
    /// Bytes of the state of a full portion.
    portion_state_size: u64,
    alt: AltLayout,
}

impl Onesweep {
    /// The passes over few keys, if the policy has tiles for these, and over more.
    pub(super) fn all(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        if let (Some(few), Some(policy)) = (policy.few, policy.for_few()) {
            let max_few_keys = Some(few.max_count());
            all.push(Self { max_few_keys, ..Self::new(device, config, &policy)? });
        }
        let min_tiles = policy.few.map_or(0, |few| few.max_tiles.into());
        all.push(Self { min_tiles, ..Self::new(device, config, policy)? });
        Ok(all)
    }

    fn new(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Self> {
        let radix_bits = policy.algorithm.radix_bits();
        let passes = PassShape {
            count: config.pass_count(radix_bits),
            tile_items: policy.tile_items(),
            portion_tiles: policy.portion_tiles(),
            has_bins: true,
        };
        let [numbers, descending] = config.constants();
        let [masks, early, packed] = policy.matching().constants();
        let [loads, stores, window, spins] = policy.look_back.constants();
        let constants = [
            numbers,
            descending,
            ("RADIX_BITS", radix_bits),
            ("ITEMS_PER_INVOCATION", policy.items_per_invocation),
            ("MAX_SUBGROUPS", policy.max_subgroups(device.capabilities())),
            ("WIDE_OFFSETS", config.has_large_counts.into()),
            masks,
            early,
            packed,
            ("MAX_WORKGROUPS", policy.max_workgroups.unwrap_or(0)),
            loads,
            stores,
            window,
            spins,
            ("EXCHANGE", policy.has_exchange.into()),
            config.last_keys_constant(),
            ("FIRST_IN_ANY_ORDER", (policy.first_in_any_order && config.sorts_whole_keys_alone()).into()),
        ];
        let kernel = config.kernel(kernels::SORT_ONESWEEP.module(&config.defines()))?;
        let options = PipelineOptions {
            workgroup_size: policy.workgroup_size,
            constants: &constants,
            subgroup_size: policy.subgroup_size,
        };
        Ok(Self {
            config: *config,
            passes,
            radix: 1 << radix_bits,
            max_workgroups: policy.max_workgroups,
            max_few_keys: None,
            min_tiles: 0,
            histogram: DigitHistogram::new(device, config, policy, passes)?,
            pipeline: Pipeline::declare(device, kernel, options)?,
        })
    }
}

impl PassAlgorithm for Onesweep {
    fn max_count(&self) -> u64 {
        let portion = u64::from(self.passes.portion_tiles) * u64::from(self.passes.tile_items);
        let most = (MAX_PORTIONS * portion).min(self.histogram.max_count());
        self.max_few_keys.map_or(most, |few| most.min(few))
    }

    fn pass_count(&self) -> u32 {
        self.passes.count
    }

    fn moves(&self) -> [u64; 2] {
        [2, 2]
    }
}

impl Algorithm<Sort> for Onesweep {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.histogram.pipelines().chain([&self.pipeline])
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> ScratchLayout {
        let tile_count = count.div_ceil(self.passes.tile_items.into());
        let tile_size = u64::from(self.radix) * 4;
        let portion_state_size = TICKETS_SIZE + u64::from(self.passes.portion_tiles) * tile_size;
        let histogram = self.histogram.layout(cursor, count);
        let tickets_size = u64::from(histogram.portion_count) * TICKETS_SIZE;
        let state_size = tile_count.saturating_mul(tile_size).saturating_add(tickets_size);
        // Fewer keys never take more scratch.
        let min_size = self.min_tiles.saturating_mul(tile_size) + TICKETS_SIZE;
        let state = cursor.take("tickets and descriptors", state_size.max(min_size));
        ScratchLayout {
            zeroed_size: state.saturating_add(state_size),
            histogram,
            state,
            state_size,
            portion_state_size,
            alt: AltLayout::take(cursor, &self.config, self.passes.count, count),
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Sort, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = buffers.scratch;
        self.histogram.record(
            recorder,
            scratch,
            layout.zeroed_size,
            &layout.histogram,
            buffers.keys,
            count,
        )?;

        let arrays = Arrays::new(&self.config, self.passes.count, buffers, &layout.alt, count.max());
        let portions = layout.histogram.portion_count;
        let tiles = self.histogram.direct_tiles(&layout.histogram, count);
        let workgroups = tiles.map(|tiles| striding_workgroups(self.max_workgroups, tiles));
        for (pass, portion) in (0..self.passes.count).flat_map(|pass| (0..portions).map(move |p| (pass, p))) {
            if portion == 0 {
                recorder.phase(c"pass");
            }
            if (pass, portion) != (0, 0) {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            let Digit { shift, mask: digit_mask } = Digit::nth(&self.config, self.passes.count, pass);
            let bins = |portion| self.histogram.bins(scratch, &layout.histogram, pass, portion);
            let first = u64::from(portion) * layout.portion_state_size;
            let size = layout.portion_state_size.min(layout.state_size - first);
            let pass_args = self.histogram.pass_args(scratch, &layout.histogram, pass, portion);
            let is_last = portion + 1 == portions;
            let PassArrays { keys, keys_alt, keys_alt2, values, values_alt } = arrays.of_pass(pass);
            let push = push::SortOnesweep {
                keys,
                keys_alt,
                keys_alt2,
                values,
                values_alt,
                bins: bins(portion),
                next_bins: if is_last { AddressRange::NONE } else { bins(portion + 1) },
                state: scratch.slice(layout.state + first, size).addresses(),
                dispatch_args: pass_args.words(),
                first_tile: portion * self.passes.portion_tiles,
                pass,
                shift,
                digit_mask,
            };
            pass_args.dispatch(recorder, &self.pipeline, &push, workgroups)?;
        }
        self.histogram.record_copy(recorder, scratch, &layout.histogram, &arrays, count)
    }
}
