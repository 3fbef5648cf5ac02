//! Tuning tables of scans: the tiles of each architecture, and the drivers on which the single pass is the default.

use ash::vk;

use super::algorithm::ScanAlgorithm;
use super::config::ScanConfig;
use super::policy::ScanPolicy;
use crate::device::{Architecture, Capabilities};
use crate::primitives::Choice;

/// Tile parameters of a scan. With runs of one pack, neighbouring lanes access neighbouring quads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanTuning {
    pub(crate) workgroup_size: u32,
    /// Words of elements per invocation.
    pub(crate) words_per_invocation: u32,
    /// Packs per run, each of the fewest quads that hold whole elements.
    pub(crate) packs_per_run: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub(crate) subgroup_size: Option<u32>,
    pub(crate) mixed_access: bool,
    pub(crate) reason: &'static str,
    /// Source of the numbers.
    pub(crate) source: &'static str,
}

const GPU: ScanTuning = ScanTuning {
    workgroup_size: 256,
    words_per_invocation: 16,
    packs_per_run: 1,
    subgroup_size: None,
    mixed_access: true,
    reason: "reduce-then-scan needs no forward progress; short runs keep a subgroup's loads together",
    source: "derived: NAK, ACO, ir3 and Honeykrisp, Mesa 26.1: no spills; measured on no GPU",
};

const CPU: ScanTuning = ScanTuning {
    workgroup_size: 256,
    words_per_invocation: 64,
    packs_per_run: 1,
    subgroup_size: None,
    mixed_access: false,
    reason: "reduce-then-scan needs no forward progress; large tiles, accessed by quads on a CPU",
    source: "a trial on lavapipe 22.3.6 at 8 lanes; not measured on SwiftShader",
};

const INTEL_XE: ScanTuning = ScanTuning {
    words_per_invocation: 12,
    subgroup_size: Some(16),
    source: "derived: brw, Mesa 26.1, Tiger Lake and Arc: 32 lanes spill, and so do larger tiles",
    ..GPU
};

const INTEL_XE2: ScanTuning = ScanTuning {
    subgroup_size: Some(16),
    source: "derived: brw, Mesa 26.1, Lunar Lake: 32 lanes spill",
    ..GPU
};

const ROWS: &[(Architecture, ScanTuning)] = &[
    (Architecture::Nvidia, GPU),
    (Architecture::AmdRdna, GPU),
    (Architecture::AmdGcn, GPU),
    (Architecture::Adreno, GPU),
    (Architecture::Apple, GPU),
    (Architecture::IntelXe, INTEL_XE),
    (Architecture::IntelXe2, INTEL_XE2),
    (Architecture::Lavapipe, CPU),
    (Architecture::SwiftShader, CPU),
];

impl ScanTuning {
    pub(crate) fn of(capabilities: &Capabilities) -> Self {
        let architecture = capabilities.architecture();
        let row = ROWS.iter().find(|(of_row, _)| Some(*of_row) == architecture);
        let tuning = row.map_or(if capabilities.is_cpu() { CPU } else { GPU }, |(_, tuning)| *tuning);
        // Only where the device supports the subgroup size.
        let subgroup_size = tuning.subgroup_size.filter(|&size| capabilities.can_have_subgroups_of(size));
        Self { subgroup_size, ..tuning }
    }

    /// A row of the table, in the syntax of this file.
    #[cfg(feature = "cli")]
    pub(crate) fn row(&self, capabilities: &Capabilities) -> String {
        let architecture = capabilities.architecture();
        let name = architecture.map_or("Unknown".to_owned(), |architecture| format!("{architecture:?}"));
        format!("    (\n        Architecture::{name},\n        {self:?},\n    ),\n")
    }

    /// Whether the single pass is the default on a device, for configurations that it supports.
    #[cfg(feature = "cli")]
    pub(crate) fn has_single_pass(capabilities: &Capabilities) -> bool {
        Progress::of(capabilities).is_some()
    }
}

/// The single pass with `tiles`, where it is supported and faster.
///
/// It moves two thirds of the bytes of reduce-then-scan, and is correct without any guarantee of forward progress. It
/// is fast only where a workgroup that has started makes progress while others wait for it: otherwise all waiting
/// workgroups reduce its tile again. Vulkan does not guarantee this.
pub(super) fn single_pass(
    capabilities: &Capabilities,
    config: &ScanConfig,
    tiles: ScanPolicy,
) -> Option<Choice<ScanPolicy>> {
    let is_possible = config.is_out_of_place && config.is_chainable();
    if !is_possible {
        return None;
    }
    let progress = Progress::of(capabilities)?;
    Some(Choice {
        policy: tiles.with_algorithm(ScanAlgorithm::Chained).reproducible(config),
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
