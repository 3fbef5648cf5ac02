//! What drivers tell under names of their own, by names that are the same for all of them.

use ash::vk;
use serde::{Deserialize, Serialize};

use super::InspectedExecutable;
use crate::device::{Architecture, Capabilities, HONEYKRISP, StatisticValue};

/// What the driver tells of a pipeline, as far as the names are known by which it tells it; null is what it does not
/// tell. Of several executables it is the worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Registers of a lane: AMD's VGPRs and NVIDIA's GPRs, of 32 bits; Qualcomm's of 4 x 32 bits; Apple's of 16 bits.
    /// With ANV registers of a whole subgroup, of 32 bytes, that are live at once.
    pub registers: Option<u64>,
    /// Registers of a whole subgroup: AMD's SGPRs.
    pub scalar_registers: Option<u64>,
    /// What went to memory for want of registers: on AMD's GPUs registers, elsewhere instructions that store one.
    pub spills: Option<u64>,
    /// What went to registers of another kind for want of registers, which costs a move each: AMD's SGPRs to VGPRs,
    /// NVIDIA's uniform registers and predicates to GPRs.
    pub register_spills: Option<u64>,
    /// Bytes of memory for spilled registers and arrays: of a subgroup on AMD's GPUs, else as the driver counts them.
    pub scratch_size: Option<u64>,
    /// Subgroups, or threads where that is what the driver counts, that fit at once: with RADV into a SIMD (on RDNA one of 64
    /// lanes counts twice), with NVK into
    /// an SM, with Turnip and Honeykrisp into a core.
    pub occupancy: Option<u64>,
    /// Whole workgroups that fit at once, by `occupancy` and the size of a workgroup: with RADV into a CU of GCN or a WGP of
    /// RDNA, with NVK into an SM, with Turnip and Honeykrisp into a core.
    pub workgroups: Option<u64>,
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

/// Workgroup size and lanes of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WorkgroupShape {
    /// Invocations in a workgroup.
    workgroup_size: u32,
    /// Lanes that the driver compiled for; 0 where it does not report them.
    lanes: u32,
    architecture: Option<Architecture>,
}

/// A field of [`Summary`].
type Field = fn(&mut Summary) -> &mut Option<u64>;

/// The fields of these names.
macro_rules! fields {
    ($($name:ident),+ $(,)?) => { [$((stringify!($name), |summary| &mut summary.$name)),+] };
}

/// Every field, with its name.
const FIELDS: [(&str, Field); 12] = fields![
    registers,
    scalar_registers,
    spills,
    register_spills,
    scratch_size,
    occupancy,
    workgroups,
    code_size,
    shared_memory_size,
    instructions,
    latency,
    inverse_throughput,
];

/// Fields of which more is better.
const GOOD: [&str; 2] = ["occupancy", "workgroups"];

/// A driver's name for a field of [`Summary`], the field's name, and how many of its units one of the driver's is. Case is
/// ignored: versions of a driver differ in it.
type Names = [(&'static str, &'static str, u64)];

/// Whole workgroups, by what the driver reports as occupancy.
type Workgroups = fn(u64, WorkgroupShape) -> Option<u64>;

/// The names of one driver.
struct Dialect {
    driver: vk::DriverId,
    names: &'static Names,
    /// None where the driver reports no occupancy.
    workgroups: Option<Workgroups>,
}

/// The drivers whose names were seen in their output: of the first five that of Mesa 26.1, of RADV also of 22.3 and 25.0
/// (the tests have a list of each); of NVIDIA's and AMD's own drivers that of published reports.
const DIALECTS: &[Dialect] = &[
    Dialect {
        driver: vk::DriverId::MESA_RADV,
        names: &[
            ("VGPRs", "registers", 1),
            ("SGPRs", "scalar_registers", 1),
            ("Spilled VGPRs", "spills", 1),
            ("Spilled SGPRs", "register_spills", 1),
            ("Scratch size", "scratch_size", 1),
            ("Subgroups per SIMD", "occupancy", 1),
            ("Code size", "code_size", 1),
            ("LDS size", "shared_memory_size", 1),
            ("Instructions", "instructions", 1),
            ("Latency", "latency", 1),
            ("Inverse Throughput", "inverse_throughput", 1),
        ],
        workgroups: Some(of_four_simds),
    },
    Dialect {
        driver: vk::DriverId::MESA_NVK,
        names: &[
            ("Number of GPRs", "registers", 1),
            ("Spills to memory", "spills", 1),
            ("Spills to reg", "register_spills", 1),
            ("SLM size", "scratch_size", 1),
            ("Max warps/SM", "occupancy", 1),
            ("Code size", "code_size", 1),
            ("Instruction count", "instructions", 1),
            ("Static cycle count", "latency", 1),
        ],
        workgroups: Some(of_an_sm),
    },
    // Older versions have the longer names. Versions from 24 on leave "GRF registers" at 0 on all but the newest GPUs.
    Dialect {
        driver: vk::DriverId::INTEL_OPEN_SOURCE_MESA,
        names: &[
            ("GRF registers", "registers", 1),
            ("Max live registers", "registers", 1),
            ("Spill Count", "spills", 1),
            ("Spills", "spills", 1),
            ("Scratch Memory Size", "scratch_size", 1),
            ("Code size", "code_size", 1),
            ("Workgroup Memory Size", "shared_memory_size", 1),
            ("Instruction Count", "instructions", 1),
            ("Instructions", "instructions", 1),
            ("Cycle Count", "latency", 1),
            ("Cycles", "latency", 1),
        ],
        workgroups: None,
    },
    // Code is counted in words; stores to private memory are those of spills.
    Dialect {
        driver: vk::DriverId::MESA_TURNIP,
        names: &[
            ("Registers used", "registers", 1),
            ("STP Count", "spills", 1),
            ("Max Waves Per Core", "occupancy", 1),
            ("Code size", "code_size", 4),
            ("Instruction Count", "instructions", 1),
        ],
        workgroups: Some(of_an_adreno_core),
    },
    // Three units work in parallel: the busiest one counts.
    Dialect {
        driver: HONEYKRISP,
        names: &[
            ("GPRs", "registers", 1),
            ("Spills", "spills", 1),
            ("Scratch", "scratch_size", 1),
            ("Threads", "occupancy", 1),
            ("Code size", "code_size", 1),
            ("Instructions", "instructions", 1),
            ("ALU", "inverse_throughput", 1),
            ("FSCIB", "inverse_throughput", 1),
            ("IC", "inverse_throughput", 1),
        ],
        workgroups: Some(of_an_apple_core),
    },
    Dialect {
        driver: vk::DriverId::NVIDIA_PROPRIETARY,
        names: &[("Register Count", "registers", 1), ("Binary Size", "code_size", 1)],
        workgroups: None,
    },
    Dialect { driver: vk::DriverId::AMD_PROPRIETARY, names: AMD, workgroups: None },
    Dialect { driver: vk::DriverId::AMD_OPEN_SOURCE, names: AMD, workgroups: None },
];

const AMD: &Names = &[("numUsedVgprs", "registers", 1), ("numUsedSgprs", "scalar_registers", 1)];

/// RADV: `4 * (subgroups per SIMD) / subgroups`, rounded down. A CU of GCN and a WGP of RDNA, in whose mode RADV compiles
/// compute shaders, have 4 SIMDs each. The driver's figure includes registers and shared memory, and is rounded up to a
/// subgroup for each SIMD, so that workgroups of fewer than 4 subgroups may be counted too high. On RDNA it counts a
/// subgroup of 64 lanes twice (`radv_get_max_waves` of Mesa: "max_simd_waves * (wave_size / 32)").
fn of_four_simds(subgroups_per_simd: u64, shape: WorkgroupShape) -> Option<u64> {
    let counted =
        if shape.architecture == Some(Architecture::AmdRdna) { shape.lanes.div_ceil(32) } else { 1 };
    Some(4 * (subgroups_per_simd / u64::from(counted.max(1))) / shape.subgroups()?)
}

/// NVK: `(warps of an SM) / subgroups`, rounded down. The driver's figure has registers in it alone: shared memory may leave
/// fewer.
fn of_an_sm(warps: u64, shape: WorkgroupShape) -> Option<u64> {
    Some(warps / shape.subgroups()?)
}

/// Turnip: `(waves of a core) / subgroups`, rounded down, where subgroups are rounded up to an even number: a core takes
/// waves in twos. The driver's figure has registers and shared memory in it.
fn of_an_adreno_core(waves: u64, shape: WorkgroupShape) -> Option<u64> {
    Some(waves / shape.subgroups()?.next_multiple_of(2))
}

/// Honeykrisp: `(threads of a core) / (lanes * subgroups)`, rounded down. The driver's figure has registers in it alone:
/// shared memory may leave fewer.
fn of_an_apple_core(threads: u64, shape: WorkgroupShape) -> Option<u64> {
    Some(threads / (u64::from(shape.lanes) * shape.subgroups()?))
}

impl WorkgroupShape {
    /// Subgroups of a workgroup, the last of which may have lanes to spare; none where either size is not known.
    fn subgroups(self) -> Option<u64> {
        let is_known = self.workgroup_size > 0 && self.lanes > 0;
        is_known.then(|| u64::from(self.workgroup_size.div_ceil(self.lanes)))
    }
}

impl Summary {
    /// Of what a device's driver reports of the executables of a pipeline, in whose workgroups are `workgroup_size`
    /// invocations; 0 where that is not known.
    pub fn new(
        capabilities: &Capabilities,
        workgroup_size: u32,
        executables: &[InspectedExecutable],
    ) -> Self {
        let driver = capabilities.identity.driver_id;
        let Some(dialect) = DIALECTS.iter().find(|dialect| dialect.driver == driver) else {
            return Self::default();
        };
        let architecture = capabilities.architecture();
        executables.iter().fold(Self::default(), |summary, executable| {
            let mut one = Self::of_executable(dialect.names, executable);
            let shape = WorkgroupShape { workgroup_size, lanes: executable.subgroup_size, architecture };
            let counted = dialect.workgroups.zip(one.occupancy);
            one.workgroups = counted.and_then(|(workgroups, occupancy)| workgroups(occupancy, shape));
            summary.worst(&one)
        })
    }

    fn of_executable(names: &Names, executable: &InspectedExecutable) -> Self {
        let mut summary = Self::default();
        for statistic in &executable.statistics {
            let name = names.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&statistic.name));
            let (Some(&(_, name, unit)), Some(value)) = (name, whole(statistic.value)) else { continue };
            // No program does without registers: the driver did not fill that number in.
            if name == "registers" && value == 0 {
                continue;
            }
            let (_, field) = FIELDS.iter().find(|(of, _)| *of == name).expect("a test looks every name up");
            // A number that is reported twice is reported in other words.
            let field = field(&mut summary);
            *field = Some(field.unwrap_or(0).max(value.saturating_mul(unit)));
        }
        summary
    }

    fn worst(mut self, other: &Self) -> Self {
        for ((name, field), (_, other)) in FIELDS.into_iter().zip(other.numbers()) {
            let field = field(&mut self);
            *field = match (*field, other) {
                (Some(one), Some(other)) if GOOD.contains(&name) => Some(one.min(other)),
                (Some(one), Some(other)) => Some(one.max(other)),
                (one, other) => one.or(other),
            };
        }
        self
    }

    /// Every number, with its field's name.
    pub fn numbers(&self) -> [(&'static str, Option<u64>); 12] {
        let mut summary = *self;
        FIELDS.map(|(name, field)| (name, *field(&mut summary)))
    }

    /// Whether nothing is told by a known name.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether registers went to memory, where the driver tells of spills; where it tells of scratch alone, whether
    /// there is any.
    pub fn is_spilling(&self) -> Option<bool> {
        self.spills.or(self.scratch_size).map(|count| count > 0)
    }

    /// Whether an array is in memory that could be in registers: there is scratch, and no spill that needs it.
    pub fn has_array_in_memory(&self) -> bool {
        self.spills == Some(0) && self.scratch_size.is_some_and(|size| size > 0)
    }
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

    fn executable_of(lanes: u32, statistics: &[(&str, u64)]) -> InspectedExecutable {
        let statistic = |&(name, value): &(&str, u64)| InspectedStatistic {
            name: name.into(),
            value: StatisticValue::U64(value),
        };
        InspectedExecutable {
            name: "compute".into(),
            subgroup_size: lanes,
            statistics: statistics.iter().map(statistic).collect(),
        }
    }

    fn executable(statistics: &[(&str, u64)]) -> InspectedExecutable {
        executable_of(32, statistics)
    }

    /// A device of this driver, with subgroups of any size.
    fn device(driver_id: vk::DriverId) -> Capabilities {
        let mut capabilities = Capabilities { min_subgroup_size: 4, ..Capabilities::default() };
        capabilities.identity.driver_id = driver_id;
        capabilities
    }

    /// One pipeline, as if in workgroups of 256 invocations.
    fn summary(driver: vk::DriverId, lanes: u32, statistics: &[(&str, u64)]) -> Summary {
        Summary::new(&device(driver), 256, &[executable_of(lanes, statistics)])
    }

    // Lists are what Mesa 26.1.6 told of `sort/onesweep:key1` with its constants at their defaults.

    #[test]
    fn what_radv_tells_is_understood() {
        let told = [
            ("Driver pipeline hash", 10_251_303_603_930_488_485),
            ("SGPRs", 108),
            ("VGPRs", 128),
            ("Spilled SGPRs", 0),
            ("Spilled VGPRs", 0),
            ("Code size", 22_744),
            ("LDS size", 2048),
            ("Scratch size", 0),
            ("Subgroups per SIMD", 8),
            ("Combined inputs", 0),
            ("Combined outputs", 0),
            ("Hash", 2_323_741_595),
            ("Instructions", 4272),
            ("Copies", 528),
            ("Branches", 224),
            ("Latency", 112_629),
            ("Inverse Throughput", 901_034),
            ("VMEM Clause", 165),
            ("SMEM Clause", 83),
            ("Pre-Sched SGPRs", 43),
            ("Pre-Sched VGPRs", 122),
            ("VALU", 2257),
            ("SALU", 1070),
            ("VMEM", 180),
            ("SMEM", 84),
            ("VOPD", 0),
        ];
        let expected = Summary {
            registers: Some(128),
            scalar_registers: Some(108),
            spills: Some(0),
            register_spills: Some(0),
            scratch_size: Some(0),
            occupancy: Some(8),
            // 8 subgroups on each of 4 SIMDs, of which a workgroup takes 8.
            workgroups: Some(4),
            code_size: Some(22_744),
            shared_memory_size: Some(2048),
            instructions: Some(4272),
            latency: Some(112_629),
            inverse_throughput: Some(901_034),
        };
        assert_eq!(summary(vk::DriverId::MESA_RADV, 32, &told), expected);
        // Half as many subgroups are in a workgroup: of GCN's 8 on a SIMD, and of RDNA's 4, each of which counts twice.
        let amd = |min_subgroup_size| {
            let mut capabilities = Capabilities { min_subgroup_size, ..device(vk::DriverId::MESA_RADV) };
            capabilities.identity.vendor_id = 0x1002;
            Summary::new(&capabilities, 256, &[executable_of(64, &told)]).workgroups
        };
        assert_eq!([amd(64), amd(32)], [Some(8), Some(4)]);
    }

    #[test]
    fn what_nvk_tells_is_understood_and_spills_to_registers_are_no_spills() {
        let told = [
            ("Instruction count", 4791),
            ("Static cycle count", 151_197),
            ("Max warps/SM", 16),
            ("Spills to memory", 0),
            ("Fills from memory", 0),
            ("Spills to reg", 112),
            ("Fills from reg", 115),
            ("Code size", 76_656),
            ("Number of GPRs", 120),
            ("SLM size", 128),
        ];
        let found = summary(vk::DriverId::MESA_NVK, 32, &told);
        let expected = Summary {
            registers: Some(120),
            spills: Some(0),
            register_spills: Some(112),
            scratch_size: Some(128),
            occupancy: Some(16),
            // 16 warps, of which a workgroup takes 8.
            workgroups: Some(2),
            code_size: Some(76_656),
            instructions: Some(4791),
            latency: Some(151_197),
            ..Summary::default()
        };
        assert_eq!(found, expected);
        assert_eq!((found.is_spilling(), found.has_array_in_memory()), (Some(false), true));
        // Older versions have other capitals.
        assert_eq!(summary(vk::DriverId::MESA_NVK, 32, &[("SLM Size", 16)]).scratch_size, Some(16));
    }

    #[test]
    fn what_anv_tells_is_understood_and_an_empty_number_is_none() {
        let told = [
            ("Instructions", 5091),
            ("Code size", 75_840),
            ("SENDs", 373),
            ("Loops", 3),
            ("Cycles", 727_596),
            ("Spills", 17),
            ("Fills", 39),
            ("Scratch Memory Size", 0),
            ("GRF registers", 0),
            ("Max dispatch width", 8),
            ("Max live registers", 134),
            ("Workgroup Memory Size", 1104),
            ("Non SSA regs after NIR", 170),
            ("Source hash", 294_343_937),
        ];
        let found = summary(vk::DriverId::INTEL_OPEN_SOURCE_MESA, 8, &told);
        let expected = Summary {
            registers: Some(134),
            spills: Some(17),
            scratch_size: Some(0),
            code_size: Some(75_840),
            shared_memory_size: Some(1104),
            instructions: Some(5091),
            latency: Some(727_596),
            ..Summary::default()
        };
        assert_eq!(found, expected);
        assert_eq!((found.is_spilling(), found.has_array_in_memory()), (Some(true), false));
    }

    #[test]
    fn what_turnip_tells_is_understood() {
        let told = [
            ("Max Waves Per Core", 4),
            ("Instruction Count", 7140),
            ("Code size", 8032),
            ("NOPs Count", 2948),
            ("MOV Count", 400),
            ("COV Count", 166),
            ("Registers used", 48),
            ("Half-registers used", 0),
            ("Last interpolation instruction", 0),
            ("Last helper instruction", 0),
            ("Instructions with SS sync bit", 232),
            ("Instructions with SY sync bit", 107),
            ("Estimated cycles stalled on SS", 642),
            ("Estimated cycles stalled on SY", 4680),
            ("cat0 instructions", 3242),
            ("Loops", 5),
            ("STP Count", 0),
            ("LDP Count", 0),
            ("Preamble Instruction Count", 186),
            ("Early preamble", 0),
            ("Const file size", 32),
        ];
        let expected = Summary {
            registers: Some(48),
            spills: Some(0),
            occupancy: Some(4),
            // A workgroup takes all 4 waves.
            workgroups: Some(1),
            code_size: Some(32_128),
            instructions: Some(7140),
            ..Summary::default()
        };
        assert_eq!(summary(vk::DriverId::MESA_TURNIP, 64, &told), expected);
        // Two waves of 128 lanes. Of a single wave, two are taken, as if by a workgroup twice as large.
        assert_eq!(summary(vk::DriverId::MESA_TURNIP, 128, &told).workgroups, Some(2));
        let narrow = Summary::new(&device(vk::DriverId::MESA_TURNIP), 64, &[executable_of(128, &told)]);
        assert_eq!(narrow.workgroups, Some(2));
    }

    #[test]
    fn what_honeykrisp_tells_is_understood() {
        let told = [
            ("Instructions", 3187),
            ("ALU", 2240),
            ("FSCIB", 2241),
            ("IC", 1708),
            ("Code size", 23_122),
            ("GPRs", 255),
            ("Uniforms", 504),
            ("Scratch", 0),
            ("Threads", 384),
            ("Loops", 3),
            ("Spills", 0),
            ("Fills", 0),
            ("Preamble instructions", 196),
        ];
        let expected = Summary {
            registers: Some(255),
            spills: Some(0),
            scratch_size: Some(0),
            occupancy: Some(384),
            workgroups: Some(1),
            code_size: Some(23_122),
            instructions: Some(3187),
            inverse_throughput: Some(2241),
            ..Summary::default()
        };
        assert_eq!(summary(HONEYKRISP, 32, &told), expected);
    }

    #[test]
    fn what_nvidias_driver_tells_is_understood() {
        let told = [("Register Count", 40), ("Binary Size", 5376)];
        let expected = Summary { registers: Some(40), code_size: Some(5376), ..Summary::default() };
        assert_eq!(summary(vk::DriverId::NVIDIA_PROPRIETARY, 32, &told), expected);
    }

    #[test]
    fn workgroups_are_not_counted_by_what_is_not_known() {
        let told = [executable_of(0, &[("Max warps/SM", 16)])];
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 256, &told).workgroups, None);
        let told = [executable(&[("Max warps/SM", 16)])];
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 0, &told).workgroups, None);
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 1, &told).workgroups, Some(16));
        // Not even one fits.
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 1024, &told).workgroups, Some(0));
    }

    #[test]
    fn a_name_is_known_of_its_driver_only() {
        let told = [("VGPRs", 48), ("Instructions", 300)];
        assert!(summary(vk::DriverId::MESA_LLVMPIPE, 32, &told).is_empty());
        let anv = summary(vk::DriverId::INTEL_OPEN_SOURCE_MESA, 32, &told);
        assert_eq!(anv, Summary { instructions: Some(300), ..Summary::default() });
    }

    #[test]
    fn the_worst_executable_counts() {
        let names = |instructions, spills| {
            [("Instructions", instructions), ("Spills", spills), ("Threads", 256 + 512 * spills)]
        };
        let executables = [executable(&names(300, 0)), executable(&names(200, 1))];
        let summary = Summary::new(&device(HONEYKRISP), 128, &executables);
        assert_eq!((summary.instructions, summary.spills), (Some(300), Some(1)));
        assert_eq!((summary.occupancy, summary.workgroups), (Some(256), Some(2)));
    }

    #[test]
    fn spills_are_told_by_either_of_two_names() {
        let of = |spills, scratch_size| {
            let summary = Summary { spills, scratch_size, ..Summary::default() };
            (summary.is_spilling(), summary.has_array_in_memory())
        };
        assert_eq!(of(None, None), (None, false));
        assert_eq!(of(Some(0), None), (Some(false), false));
        assert_eq!(of(None, Some(0)), (Some(false), false));
        assert_eq!(of(None, Some(4)), (Some(true), false));
        assert_eq!(of(Some(0), Some(4)), (Some(false), true));
        assert_eq!(of(Some(1), Some(4)), (Some(true), false));
    }

    #[test]
    fn every_name_of_a_driver_leads_to_a_field() {
        for (name, field, _) in DIALECTS.iter().flat_map(|dialect| dialect.names) {
            assert!(FIELDS.iter().any(|(of, _)| of == field), "{name}: {field}");
        }
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
