//! Workgroups that are resident on a multiprocessor of NVIDIA's at once.

use subsweep::device::{Architecture, Capabilities};

/// Limits of a multiprocessor, from NVIDIA's tuning guide of its generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Multiprocessor {
    /// Registers of 32 bits.
    registers: u64,
    /// Bytes of shared memory.
    shared_memory_size: u64,
    /// Subgroups.
    subgroups: u64,
    /// Workgroups.
    workgroups: u64,
}

const HOPPER: Multiprocessor =
    Multiprocessor { registers: 65_536, shared_memory_size: 228 << 10, subgroups: 64, workgroups: 32 };

/// Lanes of a subgroup.
const LANES: u64 = 32;
/// Registers are allocated to a subgroup by as many.
const REGISTER_UNIT: u64 = 256;
/// Subgroups are resident on four partitions, each with a quarter of the registers.
const PARTITIONS: u64 = 4;
/// Shared memory is allocated to a workgroup by as many bytes.
const SHARED_MEMORY_UNIT: u64 = 128;
/// Bytes of shared memory that the driver takes for each workgroup.
const RESERVED_SIZE: u64 = 1 << 10;

impl Multiprocessor {
    /// The limits of a device of a generation that is known by its device ID.
    pub(super) fn for_device(capabilities: &Capabilities) -> Option<Self> {
        let is_nvidia = capabilities.architecture() == Some(Architecture::Nvidia);
        match capabilities.identity.device_id {
            0x2300..=0x23ff if is_nvidia => Some(HOPPER),
            _ => None,
        }
    }

    /// Resident workgroups of `subgroups` each, whose lanes have `registers`.
    pub(super) fn workgroups(self, subgroups: u64, registers: u64, shared_memory_size: u64) -> u64 {
        let of_a_subgroup = (registers * LANES).next_multiple_of(REGISTER_UNIT).max(REGISTER_UNIT);
        let by_registers = self.registers / PARTITIONS / of_a_subgroup * PARTITIONS;
        let resident = by_registers.min(self.subgroups) / subgroups.max(1);
        let shared = (shared_memory_size + RESERVED_SIZE).next_multiple_of(SHARED_MEMORY_UNIT);
        resident.min(self.shared_memory_size / shared).min(self.workgroups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each limit in turn is the least.
    #[test]
    fn the_scarcest_resource_limits_the_workgroups_of_hopper() {
        for (subgroups, registers, shared_memory_size, expected) in [
            // 64 subgroups.
            (8, 32, 0, 8),
            // 32 workgroups.
            (1, 16, 0, 32),
            // 6 subgroups of 80 registers a lane on each partition.
            (12, 79, 0, 2),
            (8, 79, 0, 3),
            (12, 80, 0, 2),
            (12, 81, 0, 1),
            // 227 KiB are the most that one workgroup takes.
            (8, 32, 227 << 10, 1),
            (8, 32, 48 << 10, 4),
            (8, 255, 0, 1),
        ] {
            let found = HOPPER.workgroups(subgroups, registers, shared_memory_size);
            assert_eq!(found, expected, "{subgroups} {registers} {shared_memory_size}");
        }
    }
}
