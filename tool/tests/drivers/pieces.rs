//! The pieces of `docs/pieces.md` in kernels of a stranger, `src/kernels/fixtures/piece_*.comp`. Selection and look-back are
//! in `examples/fused`.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Pipeline, PipelineOptions, PushBlock, PushConstants, Recorder};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::kernels::{Family, Kernel, KernelAccess, PushConstant, SpecConstant, fixture};

use super::cases::clean_trials;
use super::passes::rig::random;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "pieces");
    vec![
        trial("an operator of the kernel's own in scans and tree, the last workgroup", scans),
        trial("a tile by matching lanes", |gpu| sorted_tile(gpu, &MATCH, 8)),
        trial("a tile by counters", |gpu| sorted_tile(gpu, &COUNTERS, 4)),
    ]
}

const fn pointer(name: &'static str, index: u32, access: KernelAccess) -> PushConstant {
    PushConstant { name, offset: 8 * index, size: 8, access: Some(access) }
}

const fn word(name: &'static str, offset: u32) -> PushConstant {
    PushConstant { name, offset, size: 4, access: None }
}

const fn constant(name: &'static str, id: u32, default: u32) -> SpecConstant {
    SpecConstant { name, id, default }
}

const SCAN_PUSH: &[PushConstant] = &[
    pointer("maps", 0, KernelAccess::READ),
    pointer("by_subgroups", 1, KernelAccess::WRITE),
    pointer("by_invocations", 2, KernelAccess::WRITE),
    pointer("totals", 3, KernelAccess::WRITE),
    pointer("state", 4, KernelAccess::ATOMIC),
    pointer("observed", 5, KernelAccess::WRITE),
    word("workgroup_count", 48),
];
const RANK_PUSH: &[PushConstant] = &[
    pointer("keys", 0, KernelAccess::READ),
    pointer("sorted", 1, KernelAccess::WRITE),
    pointer("bins", 2, KernelAccess::WRITE),
    word("extent", 24),
    word("shift", 28),
];
// The ids of `glsl/common/constants.glsl`.
const SHAPE: &[SpecConstant] = &[
    constant("RADIX_BITS", 3, 4),
    constant("ITEMS_PER_INVOCATION", 5, 16),
    constant("DESCENDING", 22, 0),
    constant("MAX_SUBGROUPS", 23, 16),
];

// SAFETY: the build has compiled them for Vulkan 1.2, and these are their push constants and constants.
static SCAN: Kernel = unsafe { Kernel::new("piece_scan", fixture("piece_scan"), SCAN_PUSH, &[]) };
// SAFETY: as above.
static MATCH: Kernel = unsafe { Kernel::new("piece_match", fixture("piece_match"), RANK_PUSH, SHAPE) };
// SAFETY: as above.
static COUNTERS: Kernel =
    unsafe { Kernel::new("piece_counters", fixture("piece_counters"), RANK_PUSH, SHAPE) };
static SCANS: [&Kernel; 1] = [&SCAN];
static RANKINGS: [&Kernel; 2] = [&MATCH, &COUNTERS];

struct ScanPush([AddressRange; 6], u32);

// SAFETY: the block is the kernel's.
unsafe impl PushConstants for ScanPush {
    const FAMILIES: &'static [&'static Family] = &[&Family::new(&SCANS)];

    fn block(&self) -> PushBlock {
        block_of(&self.0, &[self.1])
    }
}

struct RankPush([AddressRange; 3], [u32; 2]);

// SAFETY: both kernels have this block.
unsafe impl PushConstants for RankPush {
    const FAMILIES: &'static [&'static Family] = &[&Family::new(&RANKINGS)];

    fn block(&self) -> PushBlock {
        block_of(&self.0, &self.1)
    }
}

fn block_of(pointers: &[AddressRange], words: &[u32]) -> PushBlock {
    let mut block = PushBlock::default();
    pointers.iter().for_each(|range| block.push(*range));
    words.iter().for_each(|word| block.push(*word));
    block
}

fn scans(gpu: &Gpu) -> Result<(), Failed> {
    // As in the kernel; a subgroup is full.
    const WORKGROUP_SIZE: u32 = 128;
    const WORKGROUPS: u32 = 5;
    let count = (WORKGROUP_SIZE * WORKGROUPS) as usize;
    let options = PipelineOptions { workgroup_size: WORKGROUP_SIZE, constants: &[], subgroup_size: None };
    let pipeline = Pipeline::new(gpu.device(), &SCAN, options)?;
    let words = random(count, 2 * count);
    let (maps, _) = words.as_chunks::<2>();
    let bytes = count as u64 * 8;
    let memory = [
        gpu.allocate_with(&words)?,
        gpu.allocate(bytes)?,
        gpu.allocate(bytes)?,
        gpu.allocate(u64::from(WORKGROUPS) * 8)?,
        gpu.allocate_with(&[0u32; 2])?,
        gpu.allocate(4)?,
    ];
    let push = ScanPush(memory.each_ref().map(GpuBuffer::addresses), WORKGROUPS);
    // SAFETY: the memory and the pipeline live until `submit` has waited.
    unsafe {
        gpu.submit(|recorder: &mut Recorder<'_>| recorder.dispatch(&pipeline, &push, WORKGROUPS.into()))
    }?;

    let (mut prefixes, mut totals) = (Vec::new(), Vec::new());
    for workgroup in maps.chunks(WORKGROUP_SIZE as usize) {
        let mut sum = [1u32, 0];
        for [a, b] in workgroup {
            prefixes.push(sum);
            sum = [a.wrapping_mul(sum[0]), a.wrapping_mul(sum[1]).wrapping_add(*b)];
        }
        totals.push(sum);
    }
    let observed = totals.iter().fold(0u32, |sum, total| sum.wrapping_add(total[0]));
    for (name, buffer) in [("subgroups", &memory[1]), ("invocations", &memory[2])] {
        let got: Vec<[u32; 2]> = gpu.read_values(buffer, 0, count)?;
        assert_eq!(got, prefixes, "by {name}");
    }
    let got: Vec<[u32; 2]> = gpu.read_values(&memory[3], 0, totals.len())?;
    assert_eq!(got, totals);
    assert_eq!(gpu.read(&memory[5], 1)?, [observed], "what the last workgroup observes");
    Ok(())
}

/// Compares a tile that is sorted by a digit of `radix_bits` with a stable sort of the host.
fn sorted_tile(gpu: &Gpu, kernel: &'static Kernel, radix_bits: u32) -> Result<(), Failed> {
    const ITEMS: u32 = 8;
    let capabilities = gpu.capabilities();
    let workgroup_size = 64.max(capabilities.max_subgroup_size);
    let tile_items = workgroup_size * ITEMS;
    for (extent, shift, is_descending) in
        [(tile_items, 0, false), (tile_items, 28, true), (tile_items - 77, 40, false), (1, 8, true)]
    {
        let constants = [
            ("RADIX_BITS", radix_bits),
            ("ITEMS_PER_INVOCATION", ITEMS),
            ("DESCENDING", is_descending.into()),
            ("MAX_SUBGROUPS", workgroup_size / capabilities.min_subgroup_size),
        ];
        let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
        let pipeline = Pipeline::new(gpu.device(), kernel, options)?;
        let keys: Vec<u64> = random(extent as usize, 2 * extent as usize)
            .chunks(2)
            .map(|words| u64::from(words[0]) << 32 | u64::from(words[1]))
            .collect();
        let (input, sorted) = (gpu.allocate_with(&keys)?, gpu.allocate(u64::from(extent) * 8)?);
        let bins = gpu.allocate(4 << radix_bits)?;
        let push = RankPush([&input, &sorted, &bins].map(GpuBuffer::addresses), [extent, shift]);
        // SAFETY: the memory and the pipeline live until `submit` has waited.
        unsafe { gpu.submit(|recorder: &mut Recorder<'_>| recorder.dispatch(&pipeline, &push, 1)) }?;

        let radix = 1u64 << radix_bits;
        let digit_of = |key: u64| (if is_descending { !key } else { key } >> shift) % radix;
        let mut expected = keys;
        expected.sort_by_key(|&key| digit_of(key));
        let firsts: Vec<u32> =
            (0..radix).map(|digit| expected.partition_point(|&key| digit_of(key) < digit) as u32).collect();
        let got: Vec<u64> = gpu.read_values(&sorted, 0, extent as usize)?;
        assert!(got == expected, "{extent} keys from bit {shift} on, descending: {is_descending}");
        assert_eq!(gpu.read(&bins, radix as usize)?, firsts, "the first ranks of {extent} keys");
    }
    Ok(())
}
