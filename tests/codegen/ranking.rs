//! What it takes to rank one key more: the difference between tiles of more and fewer keys, ranked and not.
//!
//! Instructions are those of the code, not those that run: a compiler that keeps the loop over the bits of a digit, as LLVM
//! does for RDNA 3 in Mesa 22.3, has its body counted once.

#[cfg(feature = "compile-shaders")]
use anyhow::Context as _;
use anyhow::Result;
use subsweep::vk::Device;

/// Instructions of the ranking loop for each key, by what ranks it and in how many lanes; nothing where no shader compiler
/// made the kernels.
#[cfg(not(feature = "compile-shaders"))]
pub fn instructions_per_key(_: &Device, _: &[u32]) -> Result<Vec<(String, u64)>> {
    Ok(Vec::new())
}

/// Instructions of the ranking loop for each key, by what ranks it and in how many lanes; nothing where no shader compiler
/// made the kernels.
#[cfg(feature = "compile-shaders")]
pub fn instructions_per_key(device: &Device, lanes: &[u32]) -> Result<Vec<(String, u64)>> {
    let mut all = Vec::new();
    // So few keys that any compiler unrolls the loop; counters are for four at a time.
    for (kernel, radix_bits, few) in
        [(&kernels::BY_MATCH, 8, 1), (&kernels::BY_COUNTERS, 4, 4), (&kernels::BY_COUNTERS, 2, 4)]
    {
        for &lanes in lanes {
            let count =
                |items, is_ranked| kernels::instructions(device, kernel, radix_bits, lanes, items, is_ranked);
            let more = |is_ranked| {
                count(2 * few, is_ranked)?
                    .checked_sub(count(few, is_ranked)?)
                    .context("more keys take fewer instructions")
            };
            let of_ranking = more(true)?.checked_sub(more(false)?).context("ranking takes no instruction")?;
            let name = kernel.name.trim_start_matches("fixtures/rank_by_").replace('_', " ");
            all.push((format!("{name}, {radix_bits} bits, {lanes} lanes"), of_ranking.div_ceil(few.into())));
        }
    }
    Ok(all)
}

#[cfg(feature = "compile-shaders")]
mod kernels {
    use anyhow::Result;
    use subsweep::kernels::{Access, Kernel, PushConstant, SpecConstant};
    use subsweep::vk::{Device, Pipeline, PipelineOptions};

    use crate::compiled::Compiled;
    use crate::fixture;

    // SAFETY: the build has compiled it for Vulkan 1.2, and these are its push and specialization constants.
    pub static BY_MATCH: Kernel =
        unsafe { Kernel::new("fixtures/rank_by_match", fixture!("rank_by_match"), &PUSH, &CONSTANTS) };
    // SAFETY: as above.
    pub static BY_COUNTERS: Kernel =
        unsafe { Kernel::new("fixtures/rank_by_counters", fixture!("rank_by_counters"), &PUSH, &CONSTANTS) };

    const PUSH: [PushConstant; 5] = [
        pointer("keys", 0),
        pointer("ranks", 8),
        number("extent", 16),
        number("shift", 20),
        number("digit_mask", 24),
    ];
    const CONSTANTS: [SpecConstant; 3] = [
        SpecConstant { name: "RADIX_BITS", id: 1, default: 4 },
        SpecConstant { name: "ITEMS_PER_INVOCATION", id: 2, default: 16 },
        SpecConstant { name: "RANKED", id: 9, default: 1 },
    ];

    const fn pointer(name: &'static str, offset: u32) -> PushConstant {
        let access = Access { read: true, write: true, atomic: false };
        PushConstant { name, offset, size: 8, access: Some(access) }
    }

    const fn number(name: &'static str, offset: u32) -> PushConstant {
        PushConstant { name, offset, size: 4, access: None }
    }

    /// Of a kernel whose invocations take so many keys of u32.
    pub fn instructions(
        device: &Device,
        kernel: &'static Kernel,
        radix_bits: u32,
        lanes: u32,
        items: u32,
        is_ranked: bool,
    ) -> Result<u64> {
        let constants =
            [("RADIX_BITS", radix_bits), ("ITEMS_PER_INVOCATION", items), ("RANKED", is_ranked.into())];
        let options =
            PipelineOptions { workgroup_size: 256, constants: &constants, subgroup_size: Some(lanes) };
        let [_, _, instructions, ..] = Compiled::new(&Pipeline::new(device, kernel, options)?)?.numbers;
        Ok(instructions)
    }
}
