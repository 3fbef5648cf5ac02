//! Arithmetic of 64-bit addresses in two words. No test's memory spans a carry into the high word, so a kernel computes
//! addresses of memory that does not exist.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Pipeline, PipelineOptions, PushBlock, PushConstants, Recorder};
use subsweep::headless::Gpu;
use subsweep::kernels::{Family, Kernel, KernelAccess, PushConstant};

use super::cases::expect_no_findings;
use subsweep::kernels::fixture;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let gpu = Arc::clone(gpu);
    vec![Trial::test("an address is advanced in 64 bits", move || advance(&gpu))]
}

const COUNT: u32 = 64;

const fn word(name: &'static str, offset: u32) -> PushConstant {
    PushConstant { name, offset, size: 4, access: None }
}

static ADVANCE: Kernel = {
    const MEMBERS: &[PushConstant] = &[
        PushConstant { name: "result", offset: 0, size: 8, access: Some(KernelAccess::READ_WRITE) },
        word("low", 8),
        word("high", 12),
        word("step", 16),
        word("size", 20),
    ];
    // SAFETY: the build has compiled it for Vulkan 1.2, and these are its push constants.
    unsafe { Kernel::new("advance", fixture("advance"), MEMBERS, &[]) }
};

static MODULES: [&Kernel; 1] = [&ADVANCE];

struct Push {
    result: AddressRange,
    base: u64,
    step: u32,
    size: u32,
}

// SAFETY: the block is the kernel's.
unsafe impl PushConstants for Push {
    const FAMILIES: &'static [&'static Family] = &[&Family::new(&MODULES)];

    fn block(&self) -> PushBlock {
        let mut block = PushBlock::default();
        block.push(self.result);
        for word in [self.base as u32, (self.base >> 32) as u32, self.step, self.size] {
            block.push(word);
        }
        block
    }
}

fn advance(gpu: &Gpu) -> Result<(), Failed> {
    let options = PipelineOptions { workgroup_size: COUNT, constants: &[], subgroup_size: None };
    let pipeline = Pipeline::new(gpu.device(), &ADVANCE, options)?;
    let memory = gpu.allocate(u64::from(COUNT) * 8)?;
    // Just before 4 GiB by small steps; by products that take the high word; and both.
    for (base, step, size) in
        [(0x7_ffff_ff80, 1, 4), (0x7f12_0000_0000, 0x0400_0001, 1024), (0x7f12_ffff_f000, 0x0300_0001, 68)]
    {
        let push = Push { result: memory.range().addresses(), base, step, size };
        // SAFETY: the memory and the pipeline live until `submit` has waited.
        unsafe { gpu.submit(|recorder: &mut Recorder<'_>| recorder.dispatch(&pipeline, &push, 1)) }?;
        let mut words = [0u32; 2 * COUNT as usize];
        gpu.download(&memory, &mut words)?;
        let (pairs, _) = words.as_chunks::<2>();
        for (i, &[low, high]) in (0u32..).zip(pairs) {
            let expected = base + u64::from(i * step) * u64::from(size);
            assert_eq!(
                u64::from(high) << 32 | u64::from(low),
                expected,
                "{base:#x} + {i} × {step:#x} × {size}"
            );
        }
    }
    expect_no_findings(gpu, "addresses")
}
