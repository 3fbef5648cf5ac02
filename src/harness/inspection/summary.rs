//! What drivers tell under names of their own, by names that are the same for all of them.

use ash::vk;
use serde::Serialize;

use super::InspectedExecutable;
use crate::vk::StatisticValue;

/// What the driver tells of a pipeline, as far as the names are known by which it tells it; null is what it does not
/// tell. Of several executables it is the worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Registers of a lane: AMD's VGPRs, of 32 bits; other vendors' general-purpose registers, of their width.
    pub registers: Option<u64>,
    /// Registers of a whole subgroup: AMD's SGPRs.
    pub scalar_registers: Option<u64>,
    /// What went to memory, or to registers of another kind, for want of registers: on AMD's GPUs registers, elsewhere
    /// instructions that store one.
    pub spills: Option<u64>,
    /// Bytes of memory for spilled registers and arrays: of a subgroup on AMD's GPUs, else as the driver counts them.
    pub scratch_size: Option<u64>,
    /// Subgroups, or threads where that is what the driver counts, that fit at once: with RADV into a SIMD.
    pub occupancy: Option<u64>,
    /// Bytes of machine code.
    pub code_size: Option<u64>,
    /// Bytes of shared memory of a workgroup.
    pub shared_memory_size: Option<u64>,
    /// Instructions of the code, not those that run.
    pub instructions: Option<u64>,
    /// Cycles that the compiler estimates for one subgroup, waiting included.
    pub latency: Option<u64>,
    /// Cycles for which it estimates one subgroup to keep the device busy.
    pub inverse_throughput: Option<u64>,
}

/// A field of [`Summary`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Registers,
    ScalarRegisters,
    Spills,
    ScratchSize,
    Occupancy,
    CodeSize,
    SharedMemorySize,
    Instructions,
    Latency,
    InverseThroughput,
}

use Quantity as Q;

/// A driver's name for a quantity, and how many of ours one of its units is.
type Names = [(&'static str, Quantity, u64)];

/// Seen with Mesa 22.3 and 25.0.
const RADV: &Names = &[
    ("VGPRs", Q::Registers, 1),
    ("SGPRs", Q::ScalarRegisters, 1),
    ("Spilled VGPRs", Q::Spills, 1),
    ("Spilled SGPRs", Q::Spills, 1),
    ("Scratch size", Q::ScratchSize, 1),
    ("Subgroups per SIMD", Q::Occupancy, 1),
    ("Code size", Q::CodeSize, 1),
    ("LDS size", Q::SharedMemorySize, 1),
    ("Instructions", Q::Instructions, 1),
    ("Latency", Q::Latency, 1),
    ("Inverse Throughput", Q::InverseThroughput, 1),
];

/// From Mesa's `anv_pipeline.c`, and newer ones from its `shader_stats.h`. The oldest tell scratch as workgroup memory.
const ANV: &Names = &[
    ("GRF registers", Q::Registers, 1),
    ("Spill Count", Q::Spills, 1),
    ("Spills", Q::Spills, 1),
    ("Scratch Memory Size", Q::ScratchSize, 1),
    ("Code size", Q::CodeSize, 1),
    ("Workgroup Memory Size", Q::SharedMemorySize, 1),
    ("Instruction Count", Q::Instructions, 1),
    ("Instructions", Q::Instructions, 1),
    ("Cycle Count", Q::Latency, 1),
    ("Cycles", Q::Latency, 1),
];

/// From Mesa's `shader_stats.xml`; code is counted in words.
const TURNIP: &Names = &[
    ("Registers used", Q::Registers, 1),
    ("STP Count", Q::Spills, 1),
    ("Max Waves Per Core", Q::Occupancy, 1),
    ("Code size", Q::CodeSize, 4),
    ("Instruction Count", Q::Instructions, 1),
];

/// From Mesa's `shader_stats.xml`: Valhall and Bifrost, which do not tell registers.
const PANVK: &Names = &[
    ("Spills", Q::Spills, 1),
    ("Threads", Q::Occupancy, 1),
    ("Code size", Q::CodeSize, 1),
    ("Instructions", Q::Instructions, 1),
];

/// From Mesa's `shader_stats.xml`.
const V3DV: &Names = &[
    ("TMU Spills", Q::Spills, 1),
    ("Spill Size", Q::ScratchSize, 1),
    ("Thread Count", Q::Occupancy, 1),
    ("Instruction Count", Q::Instructions, 1),
];

/// From Mesa's `shader_stats.h`, of Imagination's GPUs.
const PVR: &Names = &[
    ("Temp count", Q::Registers, 1),
    ("Spill count", Q::Spills, 1),
    ("Scratch size", Q::ScratchSize, 1),
    ("Code size", Q::CodeSize, 1),
    ("Inst group count", Q::Instructions, 1),
];

/// From Mesa's `nvk_shader.c`; names from "Static cycle count" on are of later versions, and not verified.
const NVK: &Names = &[
    ("Number of GPRs", Q::Registers, 1),
    ("SLM Size", Q::ScratchSize, 1),
    ("Code Size", Q::CodeSize, 1),
    ("Instruction count", Q::Instructions, 1),
    ("Static cycle count", Q::Latency, 1),
    ("Max warps/SM", Q::Occupancy, 1),
    ("Spills to memory", Q::Spills, 1),
    ("Spills to reg", Q::Spills, 1),
];

/// The first two are in reports of those who have asked; the others are not verified.
const NVIDIA: &Names = &[
    ("Register Count", Q::Registers, 1),
    ("Binary Size", Q::CodeSize, 1),
    ("Stack Size", Q::ScratchSize, 1),
    ("Local Memory Size", Q::ScratchSize, 1),
    ("Shared Memory Size", Q::SharedMemorySize, 1),
];

/// The first two are in reports of those who have asked; the others, members of `VkShaderResourceUsageAMD` as these are,
/// are not verified.
const AMD: &Names = &[
    ("numUsedVgprs", Q::Registers, 1),
    ("numUsedSgprs", Q::ScalarRegisters, 1),
    ("scratchMemUsageInBytes", Q::ScratchSize, 1),
    ("ldsUsageSizeInBytes", Q::SharedMemorySize, 1),
];

fn names_of(driver: vk::DriverId) -> &'static Names {
    match driver {
        vk::DriverId::MESA_RADV => RADV,
        vk::DriverId::INTEL_OPEN_SOURCE_MESA => ANV,
        vk::DriverId::MESA_TURNIP => TURNIP,
        vk::DriverId::MESA_PANVK => PANVK,
        vk::DriverId::MESA_V3DV => V3DV,
        vk::DriverId::IMAGINATION_OPEN_SOURCE_MESA => PVR,
        vk::DriverId::MESA_NVK => NVK,
        vk::DriverId::NVIDIA_PROPRIETARY => NVIDIA,
        vk::DriverId::AMD_PROPRIETARY | vk::DriverId::AMD_OPEN_SOURCE => AMD,
        _ => &[],
    }
}

impl Summary {
    /// Of what a driver tells of a pipeline's executables.
    pub fn new(driver: vk::DriverId, executables: &[InspectedExecutable]) -> Self {
        executables.iter().fold(Self::default(), |summary, executable| {
            summary.worst(&Self::of_executable(names_of(driver), executable))
        })
    }

    fn of_executable(names: &Names, executable: &InspectedExecutable) -> Self {
        let mut summary = Self::default();
        for statistic in &executable.statistics {
            // Versions of a driver differ in their capitals.
            let name = names.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&statistic.name));
            if let (Some(&(_, quantity, unit)), Some(value)) = (name, whole(statistic.value)) {
                let field = summary.field(quantity);
                let value = value.saturating_mul(unit);
                // Registers of several kinds are spilled; whatever else is told twice is told in other words.
                *field = Some(match quantity {
                    Q::Spills => field.unwrap_or(0).saturating_add(value),
                    _ => field.unwrap_or(0).max(value),
                });
            }
        }
        summary
    }

    fn worst(mut self, other: &Self) -> Self {
        let mut other = *other;
        for quantity in Q::ALL {
            let (field, other) = (self.field(quantity), *other.field(quantity));
            *field = match (*field, other) {
                (Some(one), Some(other)) if quantity == Q::Occupancy => Some(one.min(other)),
                (Some(one), Some(other)) => Some(one.max(other)),
                (one, other) => one.or(other),
            };
        }
        self
    }

    fn field(&mut self, quantity: Quantity) -> &mut Option<u64> {
        match quantity {
            Q::Registers => &mut self.registers,
            Q::ScalarRegisters => &mut self.scalar_registers,
            Q::Spills => &mut self.spills,
            Q::ScratchSize => &mut self.scratch_size,
            Q::Occupancy => &mut self.occupancy,
            Q::CodeSize => &mut self.code_size,
            Q::SharedMemorySize => &mut self.shared_memory_size,
            Q::Instructions => &mut self.instructions,
            Q::Latency => &mut self.latency,
            Q::InverseThroughput => &mut self.inverse_throughput,
        }
    }

    /// Whether nothing is told by a known name.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether registers went to memory, where the driver tells of spills or of scratch. No kernel has arrays that need
    /// scratch of themselves.
    pub fn is_spilling(&self) -> Option<bool> {
        match (self.spills, self.scratch_size) {
            (None, None) => None,
            (spills, scratch) => Some(spills.unwrap_or(0) > 0 || scratch.unwrap_or(0) > 0),
        }
    }
}

impl Quantity {
    const ALL: [Self; 10] = [
        Q::Registers,
        Q::ScalarRegisters,
        Q::Spills,
        Q::ScratchSize,
        Q::Occupancy,
        Q::CodeSize,
        Q::SharedMemorySize,
        Q::Instructions,
        Q::Latency,
        Q::InverseThroughput,
    ];
}

/// A number that counts something.
fn whole(value: StatisticValue) -> Option<u64> {
    match value {
        StatisticValue::U64(value) => Some(value),
        StatisticValue::I64(value) => u64::try_from(value).ok(),
        StatisticValue::F64(value) if value >= 0.0 => Some(value.round() as u64),
        StatisticValue::F64(_) | StatisticValue::Bool(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::InspectedStatistic;
    use super::*;

    fn executable(statistics: &[(&str, u64)]) -> InspectedExecutable {
        let statistic = |&(name, value): &(&str, u64)| InspectedStatistic {
            name: name.into(),
            value: StatisticValue::U64(value),
        };
        InspectedExecutable {
            name: "compute".into(),
            subgroup_size: 32,
            statistics: statistics.iter().map(statistic).collect(),
        }
    }

    #[test]
    fn the_names_of_drivers_lead_to_one_summary() {
        let radv = executable(&[
            ("Driver pipeline hash", 77),
            ("SGPRs", 128),
            ("VGPRs", 48),
            ("Spilled SGPRs", 2),
            ("Spilled VGPRs", 3),
            ("Code size", 1200),
            ("LDS size", 1024),
            ("Scratch size", 512),
            ("Subgroups per SIMD", 16),
            ("Instructions", 300),
            ("Latency", 4000),
            ("Inverse Throughput", 500),
        ]);
        let expected = Summary {
            registers: Some(48),
            scalar_registers: Some(128),
            spills: Some(5),
            scratch_size: Some(512),
            occupancy: Some(16),
            code_size: Some(1200),
            shared_memory_size: Some(1024),
            instructions: Some(300),
            latency: Some(4000),
            inverse_throughput: Some(500),
        };
        assert_eq!(Summary::new(vk::DriverId::MESA_RADV, &[radv]), expected);

        let nvidia = executable(&[("Register Count", 40), ("Binary Size", 5376), ("Stack Size", 0)]);
        let nvidia = Summary::new(vk::DriverId::NVIDIA_PROPRIETARY, &[nvidia]);
        let expected = Summary {
            registers: Some(40),
            code_size: Some(5376),
            scratch_size: Some(0),
            ..Summary::default()
        };
        assert_eq!(nvidia, expected);

        // Turnip counts words, and other capitals are as good.
        let turnip = executable(&[("code SIZE", 100), ("Max Waves Per Core", 16)]);
        let turnip = Summary::new(vk::DriverId::MESA_TURNIP, &[turnip]);
        assert_eq!((turnip.code_size, turnip.occupancy), (Some(400), Some(16)));
    }

    #[test]
    fn a_name_is_known_of_its_driver_only() {
        let told = [executable(&[("VGPRs", 48), ("Instructions", 300)])];
        assert!(Summary::new(vk::DriverId::MESA_LLVMPIPE, &told).is_empty());
        let anv = Summary::new(vk::DriverId::INTEL_OPEN_SOURCE_MESA, &told);
        assert_eq!(anv, Summary { instructions: Some(300), ..Summary::default() });
    }

    #[test]
    fn the_worst_executable_counts() {
        let names = |instructions, spills| {
            [("Instructions", instructions), ("Spills", spills), ("Threads", 4 + spills)]
        };
        let executables = [executable(&names(300, 0)), executable(&names(200, 7))];
        let summary = Summary::new(vk::DriverId::MESA_PANVK, &executables);
        assert_eq!((summary.instructions, summary.spills, summary.occupancy), (Some(300), Some(7), Some(4)));
    }

    #[test]
    fn spills_are_told_by_either_of_two_names() {
        let of = |spills, scratch_size| Summary { spills, scratch_size, ..Summary::default() }.is_spilling();
        assert_eq!(of(None, None), None);
        assert_eq!(of(Some(0), None), Some(false));
        assert_eq!(of(None, Some(0)), Some(false));
        assert_eq!(of(Some(0), Some(4)), Some(true));
        assert_eq!(of(Some(1), Some(0)), Some(true));
    }

    #[test]
    fn only_what_counts_is_a_number() {
        assert_eq!(whole(StatisticValue::I64(-1)), None);
        assert_eq!(whole(StatisticValue::I64(1)), Some(1));
        assert_eq!(whole(StatisticValue::F64(2.5)), Some(3));
        assert_eq!(whole(StatisticValue::F64(f64::NAN)), None);
        assert_eq!(whole(StatisticValue::Bool(true)), None);
    }
}
