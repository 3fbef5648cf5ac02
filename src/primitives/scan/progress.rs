//! The drivers on which the single pass is the default of scans.

use ash::vk;

use super::algorithm::ScanAlgorithm;
use super::config::ScanConfig;
use super::policy::ScanPolicy;
use crate::device::Capabilities;
use crate::primitives::Choice;

/// The single pass, where it is supported and faster.
///
/// It moves two thirds of the bytes of reduce-then-scan, and is correct without any guarantee of forward progress. It
/// is fast only where a workgroup that has started makes progress while others wait for it: otherwise all waiting
/// workgroups reduce its tile again. Vulkan does not guarantee this.
pub(super) fn single_pass(capabilities: &Capabilities, config: &ScanConfig) -> Option<Choice<ScanPolicy>> {
    let is_possible = config.is_out_of_place && config.is_chainable();
    if !is_possible {
        return None;
    }
    let progress = Progress::of(capabilities)?;
    Some(Choice {
        policy: ScanPolicy::tuned(ScanAlgorithm::Chained, capabilities, config),
        reason: progress.reason(),
    })
}

/// Forward progress of workgroups that have started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Occupancy-bound: a workgroup stays resident until it has finished.
    Occupancy,
    /// The operating system schedules the driver's threads fairly.
    Threads,
}

impl Progress {
    /// The forward progress of a device; `None` if unknown.
    ///
    /// GPUs are listed where the vendor's library scans in a single pass: CUB for NVIDIA, rocPRIM for AMD (its
    /// `scan_config` uses look-back by default), and for Intel's discrete GPUs the kernel templates of oneDPL, whose
    /// documentation requires parallel forward progress and names Data Center GPU Max and Arc B580, but no integrated
    /// GPU. Apple's and ARM's GPUs do not conform to the occupancy-bound model: Sorensen, Salvador, Raval, Evrard,
    /// Wickerson, Martonosi and Donaldson, "Specifying and Testing GPU Workgroup Progress Models", OOPSLA 2021. Listed
    /// by driver, not by vendor, since layered drivers may differ.
    ///
    /// CPU drivers, measured with 2^22 u32 on two cores: lavapipe is faster with the single pass (Mesa 22.3.6 at 8
    /// lanes: 58 % of the copy's speed, 52 % with reduce-then-scan), SwiftShader is slower (2.9 % and 3.3 %).
    fn of(capabilities: &Capabilities) -> Option<Self> {
        let identity = &capabilities.identity;
        match identity.driver_id {
            vk::DriverId::NVIDIA_PROPRIETARY
            | vk::DriverId::MESA_NVK
            | vk::DriverId::AMD_PROPRIETARY
            | vk::DriverId::AMD_OPEN_SOURCE
            | vk::DriverId::MESA_RADV => Some(Self::Occupancy),
            vk::DriverId::INTEL_PROPRIETARY_WINDOWS | vk::DriverId::INTEL_OPEN_SOURCE_MESA
                if identity.device_type == vk::PhysicalDeviceType::DISCRETE_GPU =>
            {
                Some(Self::Occupancy)
            }
            vk::DriverId::MESA_LLVMPIPE => Some(Self::Threads),
            _ => None,
        }
    }

    const fn reason(self) -> &'static str {
        match self {
            Self::Occupancy => {
                "a single pass moves the fewest bytes, and workgroups of this GPU make progress once they have started"
            }
            Self::Threads => {
                "a single pass moves the fewest bytes, and the driver's threads are scheduled fairly"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::ElementType;
    use crate::primitives::scan::WorkgroupScan;
    use crate::scan::{ScanAlgorithm, ScanOperator};

    fn device(driver_id: vk::DriverId, device_type: vk::PhysicalDeviceType) -> Capabilities {
        let mut capabilities = Capabilities { max_workgroup_invocations: 1024, ..Capabilities::default() };
        capabilities.identity.driver_id = driver_id;
        capabilities.identity.device_type = device_type;
        capabilities
    }

    #[test]
    fn a_single_pass_is_chosen_where_it_is_supported_and_faster() {
        let (discrete, integrated) =
            (vk::PhysicalDeviceType::DISCRETE_GPU, vk::PhysicalDeviceType::INTEGRATED_GPU);
        for (driver, kind, is_known) in [
            (vk::DriverId::NVIDIA_PROPRIETARY, discrete, true),
            (vk::DriverId::MESA_RADV, integrated, true),
            (vk::DriverId::INTEL_OPEN_SOURCE_MESA, discrete, true),
            (vk::DriverId::INTEL_OPEN_SOURCE_MESA, integrated, false),
            (vk::DriverId::MOLTENVK, integrated, false),
            (vk::DriverId::ARM_PROPRIETARY, integrated, false),
            (vk::DriverId::MESA_LLVMPIPE, vk::PhysicalDeviceType::CPU, true),
        ] {
            let device = device(driver, kind);
            let algorithm = |config: ScanConfig| ScanPolicy::choose(&device, &config).policy.algorithm;
            let apart = ScanConfig::inclusive(ElementType::U32).out_of_place();
            let two_passes = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
            let expected = if is_known { ScanAlgorithm::Chained } else { two_passes };
            assert_eq!(algorithm(apart), expected, "{driver:?}");
            assert_eq!(
                algorithm(ScanConfig::inclusive(ElementType::F64).out_of_place()),
                expected,
                "{driver:?}"
            );
            assert_eq!(algorithm(apart.indirect_count()), expected, "{driver:?}");
            for other in [ScanConfig::inclusive(ElementType::U32), apart.columns(2), apart.columns(0)] {
                assert_eq!(algorithm(other), two_passes, "{driver:?}, {other:?}");
            }
        }
    }

    #[test]
    fn only_rounded_results_use_the_fixed_tree() {
        let device = device(vk::DriverId::NVIDIA_PROPRIETARY, vk::PhysicalDeviceType::DISCRETE_GPU);
        for element in ElementType::ALL {
            for operator in ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element)) {
                let config = ScanConfig::exclusive(element).operator(operator).out_of_place();
                let is_rounded =
                    element.is_float() && [ScanOperator::Add, ScanOperator::Mul].contains(&operator);
                assert_eq!(ScanPolicy::choose(&device, &config).policy.fixed_tree, is_rounded);
            }
        }
    }
}
