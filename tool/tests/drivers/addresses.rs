//! Arithmetic of 64-bit addresses and counts in two words. No test's memory spans a carry into the high word, so kernels compute
//! addresses of memory that does not exist.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Pipeline, PipelineOptions, PushBlock, PushConstants, Recorder};
use subsweep::headless::Gpu;
use subsweep::kernels::{Family, Kernel, KernelAccess, PushConstant};

use super::cases::clean_trials;
use subsweep::kernels::fixture;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "addresses");
    vec![
        trial("an address is advanced in 64 bits", advance),
        trial("a merge path is found among any number of keys", merge_path),
    ]
}

const COUNT: u32 = 64;

const fn word(name: &'static str, offset: u32) -> PushConstant {
    PushConstant { name, offset, size: 4, access: None }
}

const RESULT: PushConstant =
    PushConstant { name: "result", offset: 0, size: 8, access: Some(KernelAccess::READ_WRITE) };

static ADVANCE: Kernel = {
    const MEMBERS: &[PushConstant] =
        &[RESULT, word("low", 8), word("high", 12), word("step", 16), word("size", 20)];
    // SAFETY: the build has compiled it for Vulkan 1.2, and these are its push constants.
    unsafe { Kernel::new("advance", fixture("advance"), MEMBERS, &[]) }
};

static MERGE_PATH: Kernel = {
    const MEMBERS: &[PushConstant] =
        &[RESULT, word("extent", 8), word("extent_high", 12), word("border", 16), word("border_high", 20)];
    // SAFETY: as above.
    unsafe { Kernel::new("merge_path", fixture("merge_path"), MEMBERS, &[]) }
};

static MODULES: [&Kernel; 2] = [&ADVANCE, &MERGE_PATH];

struct Push {
    result: AddressRange,
    words: [u32; 4],
}

// SAFETY: the block is the kernel's.
unsafe impl PushConstants for Push {
    const FAMILIES: &'static [&'static Family] = &[&Family::new(&MODULES)];

    fn block(&self) -> PushBlock {
        let mut block = PushBlock::default();
        block.push(self.result);
        self.words.into_iter().for_each(|word| block.push(word));
        block
    }
}

/// The number that each invocation stores.
fn numbers(gpu: &Gpu, kernel: &'static Kernel, words: [u32; 4]) -> Result<Vec<u64>, Failed> {
    let options = PipelineOptions { workgroup_size: COUNT, constants: &[], subgroup_size: None };
    let pipeline = Pipeline::new(gpu.device(), kernel, options)?;
    let memory = gpu.allocate(u64::from(COUNT) * 8)?;
    let push = Push { result: memory.range().addresses(), words };
    // SAFETY: the memory and the pipeline live until `submit` has waited.
    unsafe { gpu.submit(|recorder: &mut Recorder<'_>| recorder.dispatch(&pipeline, &push, 1)) }?;
    let mut numbers = vec![0; COUNT as usize];
    gpu.download(&memory, &mut numbers)?;
    Ok(numbers)
}

fn low_first(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn advance(gpu: &Gpu) -> Result<(), Failed> {
    // Just before 4 GiB by small steps; by products that take the high word; and both.
    for (base, step, size) in
        [(0x7_ffff_ff80, 1, 4), (0x7f12_0000_0000, 0x0400_0001, 1024), (0x7f12_ffff_f000, 0x0300_0001, 68)]
    {
        let [low, high] = low_first(base);
        for (i, number) in (0u32..).zip(numbers(gpu, &ADVANCE, [low, high, step, size])?) {
            let expected = base + u64::from(i * step) * u64::from(size);
            assert_eq!(number, expected, "{base:#x} + {i} × {step:#x} × {size}");
        }
    }
    Ok(())
}

fn merge_path(gpu: &Gpu) -> Result<(), Failed> {
    const UNIT: u64 = 1 << 32;
    for extent in [0, 1, 100, UNIT - 1, UNIT, UNIT + 1, 2 * UNIT - 1, 2 * UNIT, 77 * UNIT + 5, 1000 * UNIT] {
        let near = |border: u64| [border.saturating_sub(2), border.saturating_sub(1), border, border + 1];
        let inner = [0, UNIT, 2 * UNIT, 31 * UNIT, 77 * UNIT, extent / 3, extent].map(near);
        for border in inner.into_iter().flatten() {
            let [[low, high], [border_low, border_high]] = [extent, border].map(low_first);
            let found = numbers(gpu, &MERGE_PATH, [low, high, border_low, border_high])?;
            assert_eq!(found, [border.min(extent); COUNT as usize], "{border} of {extent}");
        }
    }
    Ok(())
}
