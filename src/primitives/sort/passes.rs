//! The passes of a radix sort: count, scan, scatter, back and forth between the keys and scratch.

use super::config::{SortBuffers, SortConfig};
use super::digit::Digit;
use super::policy::{Ranking, SortPolicy};
use crate::error::Result;
use crate::kernels::{self, Kernel};
use crate::primitives::scan::{ScanBuffers, ScanConfig, ScanPlan};
use crate::primitives::{ScratchCursor, Tiles};
use crate::vk::{AddressRange, Barrier, Device, Pipeline, PipelineOptions, Recorder, push_constants};

push_constants! {
    struct CountPush for [
        SORT_COUNT_KEY1,
        SORT_COUNT_KEY2,
        SORT_COUNT_BINS_KEY1,
        SORT_COUNT_BINS_KEY2,
        SORT_CHUNK_COUNT_KEY1,
        SORT_CHUNK_COUNT_KEY2,
    ] {
        keys: AddressRange,
        counts: AddressRange,
        tile_count: u32,
        last_extent: u32,
        shift: u32,
        digit_mask: u32,
    }
}

push_constants! {
    struct ScatterPush for [
        SORT_SCATTER_KEY1,
        SORT_SCATTER_KEY1_VALUE1,
        SORT_SCATTER_KEY1_VALUE2,
        SORT_SCATTER_KEY2,
        SORT_SCATTER_KEY2_VALUE1,
        SORT_SCATTER_KEY2_VALUE2,
        SORT_SCATTER_MATCH_KEY1,
        SORT_SCATTER_MATCH_KEY1_VALUE1,
        SORT_SCATTER_MATCH_KEY1_VALUE2,
        SORT_SCATTER_MATCH_KEY2,
        SORT_SCATTER_MATCH_KEY2_VALUE1,
        SORT_SCATTER_MATCH_KEY2_VALUE2,
        SORT_CHUNK_BUCKET_KEY1,
        SORT_CHUNK_BUCKET_KEY1_VALUE1,
        SORT_CHUNK_BUCKET_KEY1_VALUE2,
        SORT_CHUNK_BUCKET_KEY2,
        SORT_CHUNK_BUCKET_KEY2_VALUE1,
        SORT_CHUNK_BUCKET_KEY2_VALUE2,
    ] {
        keys: AddressRange,
        sorted: AddressRange,
        values: AddressRange,
        sorted_values: AddressRange,
        offsets: AddressRange,
        tile_count: u32,
        last_extent: u32,
        shift: u32,
        digit_mask: u32,
    }
}

#[derive(Debug)]
pub(super) struct Passes {
    config: SortConfig,
    tile_items: u32,
    radix: u32,
    pass_count: u32,
    /// For keys at any address.
    any_address: Moves,
    /// For keys at a multiple of 16 bytes, where there are kernels that take advantage of it.
    aligned: Option<Moves>,
    scan: ScanPlan,
}

/// The two dispatches of a pass around its scan.
#[derive(Debug)]
struct Moves {
    count: Pipeline,
    scatter: Pipeline,
}

/// The kernels of a pass: by the words of a key, and those that move values by the words of a value as well.
struct Kernels {
    count: [&'static Kernel; 2],
    scatter: [[&'static Kernel; 3]; 2],
}

const TILES: Kernels = Kernels {
    count: [&kernels::SORT_COUNT_KEY1, &kernels::SORT_COUNT_KEY2],
    scatter: [
        [&kernels::SORT_SCATTER_KEY1, &kernels::SORT_SCATTER_KEY1_VALUE1, &kernels::SORT_SCATTER_KEY1_VALUE2],
        [&kernels::SORT_SCATTER_KEY2, &kernels::SORT_SCATTER_KEY2_VALUE1, &kernels::SORT_SCATTER_KEY2_VALUE2],
    ],
};
const MATCHED: Kernels = Kernels {
    count: [&kernels::SORT_COUNT_BINS_KEY1, &kernels::SORT_COUNT_BINS_KEY2],
    scatter: [
        [
            &kernels::SORT_SCATTER_MATCH_KEY1,
            &kernels::SORT_SCATTER_MATCH_KEY1_VALUE1,
            &kernels::SORT_SCATTER_MATCH_KEY1_VALUE2,
        ],
        [
            &kernels::SORT_SCATTER_MATCH_KEY2,
            &kernels::SORT_SCATTER_MATCH_KEY2_VALUE1,
            &kernels::SORT_SCATTER_MATCH_KEY2_VALUE2,
        ],
    ],
};
const CHUNKS: Kernels = Kernels {
    count: [&kernels::SORT_CHUNK_COUNT_KEY1, &kernels::SORT_CHUNK_COUNT_KEY2],
    scatter: [
        [
            &kernels::SORT_CHUNK_BUCKET_KEY1,
            &kernels::SORT_CHUNK_BUCKET_KEY1_VALUE1,
            &kernels::SORT_CHUNK_BUCKET_KEY1_VALUE2,
        ],
        [
            &kernels::SORT_CHUNK_BUCKET_KEY2,
            &kernels::SORT_CHUNK_BUCKET_KEY2_VALUE1,
            &kernels::SORT_CHUNK_BUCKET_KEY2_VALUE2,
        ],
    ],
};

/// Where things lie in scratch.
#[derive(Debug)]
pub(super) struct Layout {
    /// Of as many keys as the caller has; two such arrays where those stay as they are.
    keys_offsets: [u64; 2],
    values_offset: u64,
    counters_offset: u64,
    counter_count: u64,
    scan_offset: u64,
    scan_size: u64,
    pub(super) size: u64,
}

impl Passes {
    pub(super) fn new(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Self> {
        let radix_bits = policy.algorithm.radix_bits();
        let pipeline = |kernel: &'static Kernel, constants: &[(&'static str, u32)]| {
            let constants: Vec<_> = config.constants().iter().chain(constants).copied().collect();
            let options = PipelineOptions {
                workgroup_size: policy.workgroup_size,
                constants: &constants,
                subgroup_size: policy.subgroup_size,
            };
            Pipeline::new(device, kernel, options)
        };
        // Ranking may ask for more than counting.
        let moves =
            |kernels: &Kernels, constants: &[(&'static str, u32)], ranking: &[(&'static str, u32)]| {
                let (key, value) = (config.key.words() as usize - 1, config.values.words() as usize);
                let all: Vec<_> = constants.iter().chain(ranking).copied().collect();
                Ok(Moves {
                    count: pipeline(kernels.count[key], constants)?,
                    scatter: pipeline(kernels.scatter[key][value], &all)?,
                })
            };
        let radix = ("RADIX_BITS", radix_bits);
        let items = policy.items_per_invocation;
        let (any_address, aligned) = match policy.ranking {
            Ranking::CounterScan => {
                let moves = |quad_access| {
                    let constants = [radix, ("ITEMS_PER_INVOCATION", items), ("QUAD_ACCESS", quad_access)];
                    moves(&TILES, &constants, &[])
                };
                (moves(0)?, Some(moves(1)?))
            }
            Ranking::Match => {
                let subgroups = policy.max_subgroups(device.capabilities());
                let constants = [radix, ("ITEMS_PER_INVOCATION", items)];
                (moves(&MATCHED, &constants, &[("MAX_SUBGROUPS", subgroups)])?, None)
            }
            Ranking::Ballot => (moves(&CHUNKS, &[radix, ("BATCHES_PER_CHUNK", items)], &[])?, None),
        };
        Ok(Self {
            config: *config,
            tile_items: policy.tile_items(),
            radix: 1 << radix_bits,
            pass_count: pass_count(config, radix_bits),
            any_address,
            aligned,
            scan: ScanPlan::new(device, ScanConfig::exclusive().policy(policy.scan))?,
        })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let moves = std::iter::once(&self.any_address).chain(&self.aligned);
        moves.flat_map(|Moves { count, scatter }| [count, scatter]).chain(self.scan.pipelines())
    }

    pub(super) fn pass_count(&self) -> u32 {
        self.pass_count
    }

    pub(super) fn layout(&self, count: u64) -> Layout {
        let mut cursor = ScratchCursor::default();
        let mut keys = || cursor.take(count.saturating_mul(self.config.key_size()));
        let keys_offset = keys();
        let keys_offsets = [keys_offset, if self.config.is_argsort() { keys() } else { keys_offset }];
        let values_offset = cursor.take(count.saturating_mul(self.config.value_size()));
        let counter_count = count.div_ceil(self.tile_items.into()).saturating_mul(self.radix.into());
        let counters_offset = cursor.take(counter_count.saturating_mul(4));
        let scan_size = self.scan.scratch_requirements(counter_count).size;
        let scan_offset = cursor.take(scan_size);
        Layout {
            keys_offsets,
            values_offset,
            counters_offset,
            counter_count,
            scan_offset,
            scan_size,
            size: cursor.size,
        }
    }

    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SortBuffers,
        count: u64,
    ) -> Result<()> {
        let layout = self.layout(count);
        let tiles = Tiles::new(count, self.tile_items)?;
        let scratch = buffers.scratch;
        let in_scratch = |offset: u64, size: u64| scratch.slice(offset, count * size).addresses();
        let counts = scratch.slice(layout.counters_offset, layout.counter_count * 4).addresses();
        let scan_scratch = scratch.slice(layout.scan_offset, layout.scan_size);
        let scan_buffers = ScanBuffers::in_place(counts, scan_scratch);
        let aside = layout.keys_offsets.map(|offset| in_scratch(offset, self.config.key_size()));
        let values_aside = in_scratch(layout.values_offset, self.config.value_size());
        let is_argsort = self.config.is_argsort();

        let mut keys = buffers.keys;
        // What an argsort begins with are the keys' places.
        let mut values = if is_argsort { AddressRange::default() } else { buffers.values };
        for pass in 0..self.pass_count {
            let is_even = pass.is_multiple_of(2);
            let sorted = match (is_even, is_argsort) {
                (true, _) => aside[0],
                (false, true) => aside[1],
                (false, false) => buffers.keys,
            };
            let sorted_values = if is_even { values_aside } else { buffers.values };
            let Digit { shift, mask: digit_mask } = Digit::nth(&self.config, self.pass_count, pass);
            let moves = match &self.aligned {
                Some(aligned) if keys.is_aligned(16) => aligned,
                _ => &self.any_address,
            };
            let (tile_count, last_extent) = (tiles.count, tiles.last_extent);
            if pass > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            let push = CountPush { keys, counts, tile_count, last_extent, shift, digit_mask };
            recorder.dispatch(&moves.count, &push, tile_count.into())?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            self.scan.record(recorder, &scan_buffers, layout.counter_count.into())?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            let push = ScatterPush {
                keys,
                sorted,
                values,
                sorted_values,
                offsets: counts,
                tile_count,
                last_extent,
                shift,
                digit_mask,
            };
            recorder.dispatch(&moves.scatter, &push, tile_count.into())?;
            (keys, values) = (sorted, sorted_values);
        }
        Ok(())
    }
}

/// The passes for `bits` bits: even, so that the keys end where they began; one more pass costs less than a copy and
/// the scratch words to decide on it.
fn pass_count(config: &SortConfig, radix_bits: u32) -> u32 {
    let pass_count = config.bit_count().div_ceil(radix_bits).next_multiple_of(2);
    // Without bits, keys and values are where they belong, but nobody has written the places yet.
    if config.is_argsort() { pass_count.max(2) } else { pass_count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType;

    #[test]
    fn whole_keys_take_the_passes_of_the_tutorial() {
        let keys = SortConfig::keys(ElementType::U32);
        assert_eq!((pass_count(&keys, 2), pass_count(&keys, 4)), (16, 8));
    }
}
