//! Summary of driver statistics: each driver's own names mapped to common ones.

use serde::{Deserialize, Serialize};
use subsweep::ash::vk;

use super::InspectedExecutable;
use super::multiprocessor::Multiprocessor;
use subsweep::device::{Architecture, Capabilities, StatisticValue};
use subsweep::internal::HONEYKRISP;

/// Statistics of a pipeline with known names; null where the driver does not report one. Of several executables the
/// worst value counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Registers of a lane: AMD's VGPRs and NVIDIA's GPRs, of 32 bits; Qualcomm's of 4 x 32 bits; Apple's of 16 bits.
    /// With ANV live registers of a whole subgroup, of 32 bytes.
    pub registers: Option<u64>,
    /// Registers of a whole subgroup: AMD's SGPRs.
    pub scalar_registers: Option<u64>,
    /// Spills to memory: on AMD's GPUs registers, elsewhere store instructions.
    pub spills: Option<u64>,
    /// Spills to registers of another kind, each of which costs a move: AMD's SGPRs to VGPRs, NVIDIA's uniform
    /// registers and predicates to GPRs.
    pub register_spills: Option<u64>,
    /// Bytes of memory for spilled registers and arrays: of a subgroup on AMD's GPUs, elsewhere in the driver's unit.
    pub scratch_size: Option<u64>,
    /// Resident subgroups, or threads where the driver counts those: with RADV of a SIMD (on RDNA one of 64 lanes
    /// counts twice), with NVK of an SM, with Turnip and Honeykrisp of a core.
    pub occupancy: Option<u64>,
    /// Resident whole workgroups, by `occupancy` and the workgroup size: with RADV of a CU of GCN or a WGP of RDNA,
    /// with NVK of an SM, with Turnip and Honeykrisp of a core. With NVIDIA's driver of an SM, by registers and shared
    /// memory, on the generations whose limits are known.
    pub workgroups: Option<u64>,
    /// Bytes of machine code.
    pub code_size: Option<u64>,
    /// Bytes of shared memory of a workgroup.
    pub shared_memory_size: Option<u64>,
    /// Static instructions of the code.
    pub instructions: Option<u64>,
    /// The compiler's estimate of cycles for one subgroup, stalls included.
    pub latency: Option<u64>,
    /// The compiler's estimate of cycles that one subgroup keeps the device busy.
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
    /// Limits of NVIDIA's multiprocessor, where they are known.
    multiprocessor: Option<Multiprocessor>,
}

/// A field of [`Summary`].
type Field = fn(&mut Summary) -> &mut Option<u64>;

/// Fields with these names.
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

/// A driver's name for a field of [`Summary`], the field's name, and the factor from the driver's unit to the field's.
/// Case is ignored, as versions of a driver differ in it.
type Names = [(&'static str, &'static str, u64)];

/// Resident whole workgroups by the driver's statistics.
type Workgroups = fn(&Summary, WorkgroupShape) -> Option<u64>;

/// The names of one driver.
struct Dialect {
    driver: vk::DriverId,
    names: &'static Names,
    /// None where the driver reports too little.
    workgroups: Option<Workgroups>,
}

/// Drivers with known names: of the first five from the output of Mesa 26.1, of RADV also of 22.3 and 25.0 (the tests
/// have a list of each); of NVIDIA's
/// own driver from the output of 580.159; of AMD's from published reports.
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
    // Older versions have the longer names. Versions from 24 on report 0 "GRF registers" on all but the newest GPUs.
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
    // Code size is in words. Stores to private memory are spills.
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
    // Three units work in parallel; the busiest one counts.
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
        // "Local Memory Size" has no name here: it is 2^36 and more for a kernel without any.
        names: &[
            ("Register Count", "registers", 1),
            ("Stack Size", "scratch_size", 1),
            ("Binary Size", "code_size", 1),
            ("Shared Memory Size", "shared_memory_size", 1),
        ],
        workgroups: Some(of_a_multiprocessor),
    },
    Dialect { driver: vk::DriverId::AMD_PROPRIETARY, names: AMD, workgroups: None },
    Dialect { driver: vk::DriverId::AMD_OPEN_SOURCE, names: AMD, workgroups: None },
];

const AMD: &Names = &[("numUsedVgprs", "registers", 1), ("numUsedSgprs", "scalar_registers", 1)];

/// RADV: `4 * (subgroups per SIMD) / subgroups`, rounded down. A CU of GCN and a WGP of RDNA, the mode of RADV's
/// compute shaders, have 4 SIMDs each. The driver's figure includes registers and shared memory, and is rounded up to a
/// subgroup for each SIMD, so that workgroups of fewer than 4 subgroups may be counted too high. On RDNA it counts a
/// subgroup of 64 lanes twice (`radv_get_max_waves` of Mesa: "max_simd_waves * (wave_size / 32)").
fn of_four_simds(summary: &Summary, shape: WorkgroupShape) -> Option<u64> {
    let counted =
        if shape.architecture == Some(Architecture::AmdRdna) { shape.lanes.div_ceil(32) } else { 1 };
    Some(4 * (summary.occupancy? / u64::from(counted.max(1))) / shape.subgroups()?)
}

/// NVK: `(warps of an SM) / subgroups`, rounded down. The driver's figure includes registers only; shared memory may
/// reduce it.
fn of_an_sm(summary: &Summary, shape: WorkgroupShape) -> Option<u64> {
    Some(summary.occupancy? / shape.subgroups()?)
}

/// Turnip: `(waves of a core) / subgroups`, rounded down, with subgroups rounded up to an even number, as a core takes
/// waves in pairs. The driver's figure includes registers and shared memory.
fn of_an_adreno_core(summary: &Summary, shape: WorkgroupShape) -> Option<u64> {
    Some(summary.occupancy? / shape.subgroups()?.next_multiple_of(2))
}

/// Honeykrisp: `(threads of a core) / (lanes * subgroups)`, rounded down. The driver's figure includes registers only;
/// shared memory may reduce it.
fn of_an_apple_core(summary: &Summary, shape: WorkgroupShape) -> Option<u64> {
    Some(summary.occupancy? / (u64::from(shape.lanes) * shape.subgroups()?))
}

/// NVIDIA's own driver: as many as registers, shared memory and the multiprocessor's other limits allow.
fn of_a_multiprocessor(summary: &Summary, shape: WorkgroupShape) -> Option<u64> {
    let (registers, shared_memory_size) = (summary.registers?, summary.shared_memory_size?);
    Some(shape.multiprocessor?.workgroups(shape.subgroups()?, registers, shared_memory_size))
}

impl WorkgroupShape {
    /// Subgroups of a workgroup, the last of which may be partial; none if either size is unknown.
    fn subgroups(self) -> Option<u64> {
        let is_known = self.workgroup_size > 0 && self.lanes > 0;
        is_known.then(|| u64::from(self.workgroup_size.div_ceil(self.lanes)))
    }
}

impl Summary {
    /// Summary of a pipeline's executables; a `workgroup_size` of 0 is unknown.
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
        let multiprocessor = Multiprocessor::for_device(capabilities);
        executables.iter().fold(Self::default(), |summary, executable| {
            let mut one = Self::of_executable(dialect.names, executable);
            let lanes = executable.subgroup_size;
            let shape = WorkgroupShape { workgroup_size, lanes, architecture, multiprocessor };
            one.workgroups = dialect.workgroups.and_then(|workgroups| workgroups(&one, shape));
            summary.worst(&one)
        })
    }

    fn of_executable(names: &Names, executable: &InspectedExecutable) -> Self {
        let mut summary = Self::default();
        for statistic in &executable.statistics {
            let name = names.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&statistic.name));
            let (Some(&(_, name, unit)), Some(value)) = (name, whole(statistic.value)) else { continue };
            // Every program uses registers; 0 means that the driver did not fill the number in.
            if name == "registers" && value == 0 {
                continue;
            }
            let (_, field) = FIELDS.iter().find(|(of, _)| *of == name).expect("a test looks every name up");
            // Two names of a driver may report the same number.
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

    /// All fields with their names.
    pub fn numbers(&self) -> [(&'static str, Option<u64>); 12] {
        let mut summary = *self;
        FIELDS.map(|(name, field)| (name, *field(&mut summary)))
    }

    /// Whether no statistic has a known name.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether registers are spilled to memory, if the driver reports spills; if it reports only scratch, whether there
    /// is any.
    pub fn is_spilling(&self) -> Option<bool> {
        self.spills.or(self.scratch_size).map(|count| count > 0)
    }

    /// Whether an array is in memory that could be in registers: there is scratch, and no spill needs it.
    pub fn has_array_in_memory(&self) -> bool {
        self.spills == Some(0) && self.scratch_size.is_some_and(|size| size > 0)
    }
}

/// The value as a count, if it is one.
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

    /// A device of this driver, with any subgroup size.
    fn device(driver_id: vk::DriverId) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.min_subgroup_size = 4;
        capabilities.identity.driver_id = driver_id;
        capabilities
    }

    /// The summary of a pipeline with workgroups of 256 invocations.
    fn summary(driver: vk::DriverId, lanes: u32, statistics: &[(&str, u64)]) -> Summary {
        Summary::new(&device(driver), 256, &[executable_of(lanes, statistics)])
    }

    /// What a driver of Mesa reported for `sort/onesweep:key1`.
    fn reported(driver: &str) -> Vec<(&'static str, u64)> {
        let drivers = include_str!("reported.txt").split("\n[").skip(1);
        let mut of_driver = drivers.filter_map(|section| section.strip_prefix(driver)?.strip_prefix("]\n"));
        let statistic = |line: &'static str| {
            let (name, value) = line.split_once(": ").expect("a name and a value");
            (name, value.parse().expect("a number"))
        };
        of_driver
            .next()
            .expect("a driver of the file")
            .lines()
            .filter(|line| !line.is_empty())
            .map(statistic)
            .collect()
    }

    #[test]
    fn statistics_of_radv_are_summarized() {
        let reported = reported("radv");
        let expected = Summary {
            registers: Some(128),
            scalar_registers: Some(108),
            spills: Some(0),
            register_spills: Some(0),
            scratch_size: Some(0),
            occupancy: Some(8),
            // 8 subgroups on each of 4 SIMDs; a workgroup takes 8.
            workgroups: Some(4),
            code_size: Some(22_744),
            shared_memory_size: Some(2048),
            instructions: Some(4272),
            latency: Some(112_629),
            inverse_throughput: Some(901_034),
        };
        assert_eq!(summary(vk::DriverId::MESA_RADV, 32, &reported), expected);
        // Half as many subgroups per workgroup: GCN has 8 on a SIMD, and RDNA 4, as each counts twice.
        let amd = |min_subgroup_size| {
            let mut capabilities = device(vk::DriverId::MESA_RADV);
            capabilities.min_subgroup_size = min_subgroup_size;
            capabilities.identity.vendor_id = 0x1002;
            Summary::new(&capabilities, 256, &[executable_of(64, &reported)]).workgroups
        };
        assert_eq!([amd(64), amd(32)], [Some(8), Some(4)]);
    }

    #[test]
    fn statistics_of_nvk_are_summarized_and_register_spills_are_no_spills() {
        let reported = reported("nvk");
        let found = summary(vk::DriverId::MESA_NVK, 32, &reported);
        let expected = Summary {
            registers: Some(120),
            spills: Some(0),
            register_spills: Some(112),
            scratch_size: Some(128),
            occupancy: Some(16),
            // 16 warps; a workgroup takes 8.
            workgroups: Some(2),
            code_size: Some(76_656),
            instructions: Some(4791),
            latency: Some(151_197),
            ..Summary::default()
        };
        assert_eq!(found, expected);
        assert_eq!((found.is_spilling(), found.has_array_in_memory()), (Some(false), true));
        // Older versions use other capitals.
        assert_eq!(summary(vk::DriverId::MESA_NVK, 32, &[("SLM Size", 16)]).scratch_size, Some(16));
    }

    #[test]
    fn statistics_of_anv_are_summarized_and_zero_registers_are_ignored() {
        let reported = reported("anv");
        let found = summary(vk::DriverId::INTEL_OPEN_SOURCE_MESA, 8, &reported);
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
    fn statistics_of_turnip_are_summarized() {
        let reported = reported("turnip");
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
        assert_eq!(summary(vk::DriverId::MESA_TURNIP, 64, &reported), expected);
        // Two waves of 128 lanes. A single wave takes a pair, as does a workgroup of twice the size.
        assert_eq!(summary(vk::DriverId::MESA_TURNIP, 128, &reported).workgroups, Some(2));
        let narrow = Summary::new(&device(vk::DriverId::MESA_TURNIP), 64, &[executable_of(128, &reported)]);
        assert_eq!(narrow.workgroups, Some(2));
    }

    #[test]
    fn statistics_of_honeykrisp_are_summarized() {
        let reported = reported("honeykrisp");
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
        assert_eq!(summary(HONEYKRISP, 32, &reported), expected);
    }

    #[test]
    fn statistics_of_nvidias_driver_are_summarized() {
        let reported = reported("nvidia");
        let expected = Summary {
            registers: Some(79),
            scratch_size: Some(0),
            code_size: Some(32_640),
            shared_memory_size: Some(32_148),
            ..Summary::default()
        };
        // Of a generation without known limits.
        assert_eq!(summary(vk::DriverId::NVIDIA_PROPRIETARY, 32, &reported), expected);
        let mut hopper = device(vk::DriverId::NVIDIA_PROPRIETARY);
        (hopper.identity.vendor_id, hopper.identity.device_id) = (0x10de, 0x2335);
        let found = Summary::new(&hopper, 384, &[executable(&reported)]);
        assert_eq!(found, Summary { workgroups: Some(2), ..expected });
    }

    #[test]
    fn workgroups_are_unknown_without_their_size_or_lanes() {
        let reported = [executable_of(0, &[("Max warps/SM", 16)])];
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 256, &reported).workgroups, None);
        let reported = [executable(&[("Max warps/SM", 16)])];
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 0, &reported).workgroups, None);
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 1, &reported).workgroups, Some(16));
        // Not a single workgroup fits.
        assert_eq!(Summary::new(&device(vk::DriverId::MESA_NVK), 1024, &reported).workgroups, Some(0));
    }

    #[test]
    fn a_name_is_known_of_its_driver_only() {
        let reported = [("VGPRs", 48), ("Instructions", 300)];
        assert!(summary(vk::DriverId::MESA_LLVMPIPE, 32, &reported).is_empty());
        let anv = summary(vk::DriverId::INTEL_OPEN_SOURCE_MESA, 32, &reported);
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
    fn spills_are_reported_directly_or_as_scratch() {
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
    fn only_counts_are_numbers() {
        assert_eq!(whole(StatisticValue::I64(-1)), None);
        assert_eq!(whole(StatisticValue::I64(1)), Some(1));
        assert_eq!(whole(StatisticValue::F64(2.5)), Some(3));
        assert_eq!(whole(StatisticValue::F64(f64::NAN)), None);
        assert_eq!(whole(StatisticValue::Bool(true)), None);
    }
}
