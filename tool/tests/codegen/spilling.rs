//! A canary: the check for spills must report a kernel that spills on every GPU.

use libtest_mimic::Trial;
use subsweep::device::Device;

/// Skipped in a build without a shader compiler.
#[cfg(not(feature = "compile-shaders"))]
pub fn trial(_: &Device) -> Trial {
    super::children::note("SKIPPED: the spilling kernel comes with the feature compile-shaders");
    super::gpu::trial("a spilling kernel is caught", || Ok(())).with_ignored_flag(true)
}

/// Skipped in a build without a shader compiler.
#[cfg(feature = "compile-shaders")]
pub fn trial(device: &Device) -> Trial {
    let device = device.clone();
    super::gpu::trial("a spilling kernel is caught", move || canary::check(&device))
}

#[cfg(feature = "compile-shaders")]
mod canary {
    use anyhow::{Result, bail, ensure};
    use subsweep::Error;
    use subsweep::ash::vk;
    use subsweep::device::{Device, Pipeline, PipelineOptions};
    use subsweep::kernels::{Kernel, KernelAccess, PushConstant};

    use crate::compiled::Compiled;
    use subsweep::kernels::fixture;

    // SAFETY: the build has compiled it for Vulkan 1.2, and its two push constants are pointers.
    static SPILLING: Kernel = unsafe {
        Kernel::new(
            "fixtures/spilling",
            fixture("spilling"),
            &[pointer("source", 0), pointer("destination", 8)],
            &[],
        )
    };

    const fn pointer(name: &'static str, offset: u32) -> PushConstant {
        let access = KernelAccess { read: true, write: true, atomic: false };
        PushConstant { name, offset, size: 8, access: Some(access) }
    }

    pub fn check(device: &Device) -> Result<()> {
        // In the smallest subgroups: Intel's compiler takes a sixth of the time for them.
        let smallest = device.capabilities().min_subgroup_size;
        let options = PipelineOptions { workgroup_size: 64, constants: &[], subgroup_size: Some(smallest) };
        let compiled = match Pipeline::new(device, &SPILLING, options) {
            // Intel's compiler fails on it for Xe2.
            Err(Error::Vulkan { result: vk::Result::ERROR_UNKNOWN, .. }) => return Ok(()),
            pipeline => Compiled::new(&pipeline?)?,
        };
        match compiled.check() {
            Ok(()) => bail!("it passes: {compiled:?}"),
            Err(why) => {
                ensure!(
                    why.to_string().starts_with("spills to memory: "),
                    "refused for another reason: {why}"
                )
            }
        }
        Ok(())
    }
}
