//! Forward progress of workgroups that have started, which Vulkan does not guarantee: a rule for single passes, and no tuning.
//!
//! A single pass is correct without any guarantee. But where a started workgroup may make no progress while others wait for
//! it, all of them compute its tile again, without end in sight: no measurement of an idle device shows how slow that is.

use ash::vk;

use crate::device::Capabilities;

/// Whether workgroups of a device that have started are known to make progress while others wait for them.
///
/// GPUs are listed where the vendor's library scans in a single pass: CUB for NVIDIA, rocPRIM for AMD (its
/// `scan_config` uses look-back by default), and for Intel's discrete GPUs the kernel templates of oneDPL, whose
/// documentation requires parallel forward progress and names Data Center GPU Max and Arc B580, but no integrated
/// GPU. They are occupancy-bound: a workgroup stays resident until it has finished. Apple's and ARM's GPUs do not conform
/// to that model: Sorensen, Salvador, Raval, Evrard, Wickerson, Martonosi and Donaldson, "Specifying and Testing GPU
/// Workgroup Progress Models", OOPSLA 2021. Listed by driver, not by vendor, since layered drivers may differ.
///
/// On CPU drivers that are listed, the operating system schedules the threads that run workgroups fairly.
pub(in crate::primitives) fn makes_progress(capabilities: &Capabilities) -> bool {
    let identity = &capabilities.identity;
    match identity.driver_id {
        vk::DriverId::NVIDIA_PROPRIETARY
        | vk::DriverId::MESA_NVK
        | vk::DriverId::AMD_PROPRIETARY
        | vk::DriverId::AMD_OPEN_SOURCE
        | vk::DriverId::MESA_RADV
        | vk::DriverId::MESA_LLVMPIPE
        | vk::DriverId::GOOGLE_SWIFTSHADER => true,
        vk::DriverId::INTEL_PROPRIETARY_WINDOWS | vk::DriverId::INTEL_OPEN_SOURCE_MESA => {
            identity.device_type == vk::PhysicalDeviceType::DISCRETE_GPU
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
