//! Passes of three kernels: count, scan, scatter, between ping-pong buffers.
//!
//! ```text
//!   histogram ──► dispatch arguments
//!   for each pass:  primary ──► count ──► counts ──► scan ──► offsets ──► scatter: primary ──► alternate
//!   copy, after an odd number of passes: alternate ──► primary
//! ```

use super::arrays::{AltLayout, Arrays, PassArrays};
use super::config::SortConfig;
use super::digit::Digit;
use super::digit_histogram::{DigitHistogram, DigitHistogramLayout, PassShape};
use super::policy::{COUNT_SCAN, ChunkCounting, Ranking, SortPolicy};
use super::{PassAlgorithm, Sort, SortPlan};
use crate::device::{Barrier, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels::{self, Kernel};
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::scan::{ScanBuffers, ScanPlan};
use crate::primitives::{Count, ScratchCursor, ScratchRange, has_quads};

#[derive(Debug)]
pub(super) struct Passes {
    config: SortConfig,
    passes: PassShape,
    radix: u32,
    histogram: DigitHistogram,
    mixed_access: bool,
    by_words: PassPipelines,
    /// For rankings whose kernels access quads.
    by_quads: Option<PassPipelines>,
    scan: ScanPlan,
}

/// Pipelines of a pass, besides its scan.
#[derive(Debug)]
struct PassPipelines {
    count: Pipeline,
    scatter: Pipeline,
}

/// Offsets of the arrays in scratch.
#[derive(Debug)]
pub(super) struct ScratchLayout {
    /// Arrays initialised to 0 come first: the arrays of the histogram.
    zeroed_size: u64,
    histogram: DigitHistogramLayout,
    alt: AltLayout,
    counters: ScratchRange,
    counter_count: u64,
    scan: ScratchRange,
}

impl Passes {
    pub(super) fn new(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Self> {
        let radix_bits = policy.algorithm.radix_bits();
        let pipeline = |kernel: &'static Kernel, constants: &[(&'static str, u32)], subgroup_size| {
            let constants: Vec<_> = config.constants().iter().chain(constants).copied().collect();
            let workgroup_size = policy.workgroup_size;
            let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size };
            Pipeline::declare(device, kernel, options)
        };
        // Where lanes match digits, counting them is a histogram of its own.
        let count_subgroup_size = match policy.ranking {
            Ranking::Match(_) => policy.histogram_subgroup_size,
            Ranking::CounterScan | Ranking::Ballot(_) => policy.subgroup_size,
        };
        // The scatter kernel has the constants of the count kernel and of the ranking.
        let pass_pipelines =
            |count, scatter, constants: &[(&'static str, u32)], ranking: &[(&'static str, u32)]| {
                let all: Vec<_> = constants.iter().chain(ranking).copied().collect();
                Ok(PassPipelines {
                    count: pipeline(count, constants, count_subgroup_size)?,
                    scatter: pipeline(scatter, &all, policy.subgroup_size)?,
                })
            };
        let [keys, values] = config.defines();
        let radix = ("RADIX_BITS", radix_bits);
        let items = policy.items_per_invocation;
        let exchange = ("EXCHANGE", policy.has_exchange.into());
        let last_keys = config.last_keys_constant();
        let (by_words, by_quads) = match policy.ranking {
            Ranking::CounterScan => {
                let mixed = ("MIXED_ACCESS", policy.mixed_access.into());
                let count = kernels::SORT_COUNT.module(&[keys]);
                let scatter = kernels::SORT_SCATTER.module(&[keys, values]);
                let pass_pipelines = |quads: &[_]| {
                    let constants = [&[radix, ("ITEMS_PER_INVOCATION", items)], quads].concat();
                    pass_pipelines(count, scatter, &constants, &[exchange, last_keys])
                };
                let quads = |access| [("QUAD_ACCESS", access), mixed];
                // Packed keys have no quads.
                match config.packed_bits() {
                    Some(_) => (pass_pipelines(&[])?, None),
                    None => (pass_pipelines(&quads(0))?, Some(pass_pipelines(&quads(1))?)),
                }
            }
            Ranking::Match(matching) => {
                let subgroups = ("MAX_SUBGROUPS", policy.max_subgroups(device.capabilities()));
                let [masks, early, packed] = matching.constants();
                let constants = [radix, ("ITEMS_PER_INVOCATION", items)];
                let count = kernels::SORT_COUNT_BINS.module(&[keys]);
                let scatter = kernels::SORT_SCATTER.module(&[("RANK_BY_MATCH", 1), keys, values]);
                let ranking = [subgroups, masks, early, packed, exchange, last_keys];
                (pass_pipelines(count, scatter, &constants, &ranking)?, None)
            }
            Ranking::Ballot(counting) => {
                let count = match counting {
                    ChunkCounting::Packed => kernels::SORT_CHUNK_COUNT.module(&[keys]),
                    ChunkCounting::BinByBin => kernels::SORT_CHUNK_COUNT.module(&[("BIN_BY_BIN", 1), keys]),
                };
                let bucket = kernels::SORT_CHUNK_BUCKET.module(&[keys, values]);
                (pass_pipelines(count, bucket, &[radix, ("BATCHES_PER_CHUNK", items)], &[last_keys])?, None)
            }
        };
        let passes = PassShape {
            count: config.pass_count(radix_bits),
            tile_items: policy.tile_items(),
            portion_tiles: u32::MAX,
            has_bins: false,
        };
        let scan = COUNT_SCAN.policy(policy.scan);
        let scan = if config.has_indirect_count { scan.indirect_count() } else { scan };
        Ok(Self {
            config: *config,
            passes,
            radix: 1 << radix_bits,
            histogram: DigitHistogram::new(device, config, policy, passes)?,
            by_words,
            by_quads,
            mixed_access: policy.mixed_access,
            scan: ScanPlan::declare(device, scan.in_scratch())?,
        })
    }
}

impl PassAlgorithm for Passes {
    fn max_count(&self) -> u64 {
        // Kernels index the counts of all tiles by 31 bits.
        let tile_count = (1 << 31) / u64::from(self.radix);
        (tile_count * u64::from(self.passes.tile_items)).min(SortPlan::MAX_COUNT)
    }

    fn pass_count(&self) -> u32 {
        self.passes.count
    }

    fn moves(&self) -> [u64; 2] {
        [3, 2]
    }
}

impl Algorithm<Sort> for Passes {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let pass_pipelines = std::iter::once(&self.by_words).chain(&self.by_quads);
        let pass_pipelines = pass_pipelines.flat_map(|PassPipelines { count, scatter }| [count, scatter]);
        self.histogram.pipelines().chain(pass_pipelines).chain(self.scan.pipelines())
    }

    fn layout(&self, cursor: &mut ScratchCursor, count: u64) -> ScratchLayout {
        let histogram = self.histogram.layout(cursor, count);
        let zeroed_size = cursor.size;
        let alt = AltLayout::take(cursor, &self.config, self.passes.count, count);
        let counter_count = count.div_ceil(self.passes.tile_items.into()).saturating_mul(self.radix.into());
        let counters = cursor.array("counts", counter_count.saturating_mul(4));
        let scan_size = self.scan.scratch_requirements(counter_count).size;
        let scan = cursor.array("scratch of the scan of the counts", scan_size);
        ScratchLayout { zeroed_size, histogram, alt, counters, counter_count, scan }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Sort, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = buffers.scratch;
        let indirect_max = match count {
            Count::Direct(_) => None,
            // Fits: it is limited by `max_count`.
            Count::Indirect { .. } => Some(layout.counter_count as u32),
        };
        self.histogram.record(
            recorder,
            scratch,
            layout.zeroed_size,
            &layout.histogram,
            buffers.keys,
            count,
        )?;

        let arrays = Arrays::new(&self.config, self.passes.count, buffers, &layout.alt, count.max());
        let counts = layout.counters.range(scratch).addresses();
        let scan_buffers = ScanBuffers::in_place(counts, layout.scan.range(scratch));
        // Arrays in scratch are aligned to 16 bytes; an array that is not used has address 0.
        let has_quads = has_quads([(buffers.keys, 16), (buffers.keys_alt, 16)], self.mixed_access, count, 4);
        let pass_pipelines = self.by_quads.as_ref().filter(|_| has_quads).unwrap_or(&self.by_words);
        for pass in 0..self.passes.count {
            let Digit { shift, mask: digit_mask } = Digit::nth(&self.config, self.passes.count, pass);
            let pass_args = self.histogram.pass_args(scratch, &layout.histogram, pass, 0);
            let (dispatch_args, workgroups) = (pass_args.words(), pass_args.workgroups());
            recorder.phase(c"count");
            if pass > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            let PassArrays { keys, keys_alt, keys_alt2, values, values_alt } = arrays.of_pass(pass);
            let push =
                push::SortCount { keys, keys_alt, keys_alt2, counts, dispatch_args, shift, digit_mask };
            recorder.dispatch_indirect(&pass_pipelines.count, &push, workgroups)?;
            let counter_count = match indirect_max {
                // A skipped pass scans undefined counts, which are not read.
                None => {
                    recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                    Count::Direct(layout.counter_count)
                }
                // The scan reads the number of counters first, and has a barrier before it reads the counters.
                Some(max) => Count::Indirect { address: pass_args.count_of_counts(), max },
            };
            self.scan.record(recorder, &scan_buffers, counter_count)?;
            recorder.phase(c"scatter");
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            let push = push::SortScatter {
                keys,
                keys_alt,
                keys_alt2,
                values,
                values_alt,
                offsets: counts,
                dispatch_args,
                shift,
                digit_mask,
            };
            recorder.dispatch_indirect(&pass_pipelines.scatter, &push, workgroups)?;
        }
        self.histogram.record_copy(recorder, scratch, &layout.histogram, &arrays, count)
    }
}
