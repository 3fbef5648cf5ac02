//! Occupancy: resident workgroups of a multiprocessor, from a kernel's resources.

/// Resources of one multiprocessor: NVIDIA's SM, or AMD's workgroup processor (WGP).
#[derive(Debug, Clone, Copy)]
pub struct Multiprocessor {
    /// Partitions that issue independently, each with its own registers.
    parts: u32,
    /// 32-bit registers of a partition, over all lanes.
    registers: u32,
    /// Allocation granularity of a subgroup's registers.
    register_granularity: u32,
    /// Maximum subgroups of a partition.
    subgroups: u32,
    workgroups: u32,
    /// Bytes.
    shared_memory: u32,
    shared_granularity: u32,
    /// Bytes reserved per workgroup, in addition to its own.
    shared_reserved: u32,
}

/// CUDA C++ Programming Guide 13, "Compute Capabilities", tables of technical specifications; granularities as in
/// `cuda_occupancy.h`.
const fn nvidia(subgroups: u32, workgroups: u32, shared_kib: u32) -> Multiprocessor {
    Multiprocessor {
        parts: 4,
        registers: 16 << 10,
        register_granularity: 256,
        subgroups: subgroups / 4,
        workgroups,
        shared_memory: shared_kib << 10,
        shared_granularity: 128,
        shared_reserved: 1 << 10,
    }
}

/// Ampere with compute capability 8.6, such as GA102.
pub const SM_86: Multiprocessor = nvidia(48, 16, 100);
pub const SM_89: Multiprocessor = nvidia(48, 24, 100);
pub const SM_90: Multiprocessor = nvidia(64, 32, 228);
pub const SM_120: Multiprocessor = nvidia(48, 24, 100);

/// RDNA 2 in WGP mode: "RDNA 2 Instruction Set Architecture", and Mesa's `ac_gpu_info.c` for granularities. A SIMD has
/// 1024 registers of 32 lanes.
pub const WGP_RDNA2: Multiprocessor = Multiprocessor {
    parts: 4,
    registers: 32 << 10,
    register_granularity: 16 * 32,
    subgroups: 16,
    workgroups: 32,
    shared_memory: 128 << 10,
    shared_granularity: 1 << 10,
    shared_reserved: 0,
};

/// Resources of a workgroup.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    pub workgroup_size: u32,
    pub lanes: u32,
    /// Registers per lane.
    pub registers: u32,
    /// Bytes.
    pub shared_memory: u32,
}

impl Multiprocessor {
    /// Resident workgroups.
    pub fn resident_workgroups(&self, needs: Needs) -> u32 {
        let of_workgroup = needs.workgroup_size.div_ceil(needs.lanes);
        let of_subgroup = (needs.registers.max(1) * needs.lanes).next_multiple_of(self.register_granularity);
        let subgroups = (self.registers / of_subgroup).min(self.subgroups) * self.parts;
        let shared = needs.shared_memory.next_multiple_of(self.shared_granularity) + self.shared_reserved;
        let by_shared = self.shared_memory.checked_div(shared).unwrap_or(u32::MAX);
        (subgroups / of_workgroup).min(self.workgroups).min(by_shared)
    }

    /// Maximum resident invocations.
    pub fn invocations(&self, lanes: u32) -> u32 {
        self.parts * self.subgroups * lanes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with `cudaOccMaxActiveBlocksPerMultiprocessor` of cuda_occupancy.h.
    #[test]
    fn whole_workgroups_fit() {
        let needs =
            |registers, shared_memory| Needs { workgroup_size: 384, lanes: 32, registers, shared_memory };
        assert_eq!(SM_89.resident_workgroups(needs(80, 0)), 2);
        assert_eq!(SM_89.resident_workgroups(needs(64, 0)), 2);
        assert_eq!(SM_89.resident_workgroups(needs(81, 0)), 1);
        assert_eq!(SM_89.resident_workgroups(needs(40, 33 << 10)), 2);
        assert_eq!(SM_90.resident_workgroups(needs(40, 33 << 10)), 4);
        assert_eq!(SM_90.resident_workgroups(needs(16, 0)), 5);
    }
}
