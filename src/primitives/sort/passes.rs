//! The passes of a radix sort: count, scan, scatter, back and forth between the keys and scratch.

use super::config::{SortBuffers, SortConfig};
use super::policy::{Ranking, SortPolicy};
use crate::error::Result;
use crate::kernels::{self, Kernel};
use crate::primitives::scan::{ScanBuffers, ScanConfig, ScanPlan};
use crate::primitives::{ScratchCursor, Tiles};
use crate::vk::{AddressRange, Barrier, Device, Pipeline, PipelineOptions, Recorder, push_constants};

push_constants! {
    struct CountPush for [SORT_COUNT, SORT_CHUNK_COUNT] {
        keys: AddressRange,
        counts: AddressRange,
        tile_count: u32,
        last_extent: u32,
        shift: u32,
        digit_mask: u32,
    }
}

push_constants! {
    struct ScatterPush for [SORT_SCATTER, SORT_CHUNK_BUCKET] {
        keys: AddressRange,
        sorted: AddressRange,
        offsets: AddressRange,
        tile_count: u32,
        last_extent: u32,
        shift: u32,
        digit_mask: u32,
    }
}

#[derive(Debug)]
pub(super) struct Passes {
    tile_items: u32,
    radix: u32,
    begin_bit: u32,
    end_bit: u32,
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

/// Where things lie in scratch.
#[derive(Debug)]
pub(super) struct Layout {
    keys_offset: u64,
    counters_offset: u64,
    counter_count: u64,
    scan_offset: u64,
    scan_size: u64,
    pub(super) size: u64,
}

/// One digit: `width` bits from `shift` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Digit {
    shift: u32,
    width: u32,
}

impl Digit {
    fn mask(self) -> u32 {
        (1 << self.width) - 1
    }
}

impl Passes {
    pub(super) fn new(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Self> {
        let radix_bits = policy.algorithm.radix_bits();
        let pipeline = |kernel: &'static Kernel, constants: &[(&'static str, u32)]| {
            let options = PipelineOptions {
                workgroup_size: policy.workgroup_size,
                constants,
                subgroup_size: policy.subgroup_size,
            };
            Pipeline::new(device, kernel, options)
        };
        let (any_address, aligned) = match policy.ranking {
            Ranking::CounterScan => {
                let moves = |quad_access| {
                    let constants = [
                        ("RADIX_BITS", radix_bits),
                        ("QUADS_PER_INVOCATION", policy.items_per_invocation / 4),
                        ("QUAD_ACCESS", quad_access),
                    ];
                    Ok(Moves {
                        count: pipeline(&kernels::SORT_COUNT, &constants)?,
                        scatter: pipeline(&kernels::SORT_SCATTER, &constants)?,
                    })
                };
                (moves(0)?, Some(moves(1)?))
            }
            Ranking::Ballot => {
                let constants =
                    [("RADIX_BITS", radix_bits), ("BATCHES_PER_CHUNK", policy.items_per_invocation)];
                let moves = Moves {
                    count: pipeline(&kernels::SORT_CHUNK_COUNT, &constants)?,
                    scatter: pipeline(&kernels::SORT_CHUNK_BUCKET, &constants)?,
                };
                (moves, None)
            }
        };
        Ok(Self {
            tile_items: policy.tile_items(),
            radix: 1 << radix_bits,
            begin_bit: config.begin_bit,
            end_bit: config.end_bit,
            pass_count: pass_count(config.end_bit - config.begin_bit, radix_bits),
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
        let keys_offset = cursor.take(count.saturating_mul(4));
        let counter_count = count.div_ceil(self.tile_items.into()).saturating_mul(self.radix.into());
        let counters_offset = cursor.take(counter_count.saturating_mul(4));
        let scan_size = self.scan.scratch_requirements(counter_count).size;
        let scan_offset = cursor.take(scan_size);
        Layout { keys_offset, counters_offset, counter_count, scan_offset, scan_size, size: cursor.size }
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
        let counts = scratch.slice(layout.counters_offset, layout.counter_count * 4).addresses();
        let scan_scratch = scratch.slice(layout.scan_offset, layout.scan_size);
        let scan_buffers = ScanBuffers::in_place(counts, scan_scratch);
        let mut from = buffers.keys;
        let mut to = scratch.slice(layout.keys_offset, count * 4).addresses();
        for pass in 0..self.pass_count {
            let digit = nth_digit(self.begin_bit, self.end_bit, self.pass_count, pass);
            let (shift, digit_mask) = (digit.shift, digit.mask());
            let moves = match &self.aligned {
                Some(aligned) if from.is_aligned(16) => aligned,
                _ => &self.any_address,
            };
            let (tile_count, last_extent) = (tiles.count, tiles.last_extent);
            if pass > 0 {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            let push = CountPush { keys: from, counts, tile_count, last_extent, shift, digit_mask };
            recorder.dispatch(&moves.count, &push, tile_count.into())?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            self.scan.record(recorder, &scan_buffers, layout.counter_count.into())?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            let push = ScatterPush {
                keys: from,
                sorted: to,
                offsets: counts,
                tile_count,
                last_extent,
                shift,
                digit_mask,
            };
            recorder.dispatch(&moves.scatter, &push, tile_count.into())?;
            (from, to) = (to, from);
        }
        Ok(())
    }
}

/// The passes for `bits` bits: even, so that the keys end where they began; one more pass costs less than a copy and
/// the scratch words to decide on it.
fn pass_count(bits: u32, radix_bits: u32) -> u32 {
    bits.div_ceil(radix_bits).next_multiple_of(2)
}

/// The bits of a range, shared out as evenly as they go: the first passes take one more where they do not divide. A
/// pass may be left without bits, and then only moves the keys back.
fn nth_digit(begin_bit: u32, end_bit: u32, pass_count: u32, pass: u32) -> Digit {
    let bits = end_bit - begin_bit;
    let (least, wider) = (bits / pass_count, bits % pass_count);
    let width = least + u32::from(pass < wider);
    // Behind bit 31 there is nothing left to shift to.
    let shift = if width == 0 { 0 } else { begin_bit + pass * least + pass.min(wider) };
    Digit { shift, width }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_every_bit_range_in_order() {
        for radix_bits in [2, 4] {
            for begin in 0..=32 {
                for end in begin..=32 {
                    let count = pass_count(end - begin, radix_bits);
                    assert!(count.is_multiple_of(2));
                    let mut next = begin;
                    for pass in 0..count {
                        let digit = nth_digit(begin, end, count, pass);
                        assert!(digit.shift < 32 && digit.width <= radix_bits, "{begin}..{end}: {digit:?}");
                        assert!(digit.shift == next || digit.width == 0, "{begin}..{end}: {digit:?}");
                        next += digit.width;
                    }
                    assert_eq!(next, end);
                }
            }
        }
    }

    #[test]
    fn whole_keys_take_the_passes_of_the_tutorial() {
        assert_eq!((pass_count(32, 2), pass_count(32, 4)), (16, 8));
    }
}
