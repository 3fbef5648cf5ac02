//! The check for spills is armed: a kernel that can only spill is caught by it.

use libtest_mimic::Trial;
use subsweep::vk::Device;

/// At each of `lanes`; skipped where no shader compiler made the kernel.
#[cfg(not(feature = "compile-shaders"))]
pub fn trials(_: &Device, _: &[u32]) -> Vec<Trial> {
    super::children::note("SKIPPED: the spilling kernel comes with the feature compile-shaders");
    vec![super::radv::trial("a spilling kernel is caught", || Ok(())).with_ignored_flag(true)]
}

/// At each of `lanes`; skipped where no shader compiler made the kernel.
#[cfg(feature = "compile-shaders")]
pub fn trials(device: &Device, lanes: &[u32]) -> Vec<Trial> {
    let trial = |&lanes: &u32| {
        let device = device.clone();
        super::radv::trial(&format!("a spilling kernel is caught at {lanes} lanes"), move || {
            armed::check(&device, lanes)
        })
    };
    lanes.iter().map(trial).collect()
}

#[cfg(feature = "compile-shaders")]
mod armed {
    use anyhow::{Result, bail, ensure};
    use subsweep::kernels::{Access, Kernel, PushConstant};
    use subsweep::vk::{Device, Pipeline, PipelineOptions};

    use crate::compiled::Compiled;
    use crate::fixture;

    // SAFETY: the build has compiled it for Vulkan 1.2, and its two push constants are pointers.
    static SPILLING: Kernel = unsafe {
        Kernel::new(
            "fixtures/spilling",
            fixture!("spilling"),
            &[pointer("source", 0), pointer("destination", 8)],
            &[],
        )
    };

    const fn pointer(name: &'static str, offset: u32) -> PushConstant {
        let access = Access { read: true, write: true, atomic: false };
        PushConstant { name, offset, size: 8, access: Some(access) }
    }

    pub fn check(device: &Device, lanes: u32) -> Result<()> {
        let options = PipelineOptions { workgroup_size: 64, constants: &[], subgroup_size: Some(lanes) };
        let compiled = Compiled::new(&Pipeline::new(device, &SPILLING, options)?)?;
        match compiled.check() {
            Ok(()) => bail!("it passes: {compiled:?}"),
            Err(why) => {
                ensure!(why.to_string().starts_with("Spilled VGPRs: "), "refused for another reason: {why}")
            }
        }
        Ok(())
    }
}
