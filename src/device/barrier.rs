//! Memory accesses and the barriers between them.

use ash::vk;

/// Pipeline stages and access types: the source or destination scope of a barrier, for `vkCmdPipelineBarrier` and, by
/// [`Self::stages2`] and [`Self::access2`], `vkCmdPipelineBarrier2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Pipeline stages.
    pub stages: vk::PipelineStageFlags,
    /// Access types of these stages. In a source scope only writes have an effect.
    pub access: vk::AccessFlags,
}

impl Access {
    /// Writes of a dispatch.
    pub const COMPUTE_WRITE: Self =
        Self { stages: vk::PipelineStageFlags::COMPUTE_SHADER, access: vk::AccessFlags::SHADER_WRITE };
    /// Reads of a dispatch.
    pub const COMPUTE_READ: Self =
        Self { stages: vk::PipelineStageFlags::COMPUTE_SHADER, access: vk::AccessFlags::SHADER_READ };
    /// Reads and writes of a dispatch.
    pub const COMPUTE: Self = Self {
        stages: vk::PipelineStageFlags::COMPUTE_SHADER,
        access: vk::AccessFlags::from_raw(
            vk::AccessFlags::SHADER_READ.as_raw() | vk::AccessFlags::SHADER_WRITE.as_raw(),
        ),
    };
    /// Writes of a fill, an update or a copy.
    pub const TRANSFER_WRITE: Self =
        Self { stages: vk::PipelineStageFlags::TRANSFER, access: vk::AccessFlags::TRANSFER_WRITE };
    /// Reads and writes of a fill, an update or a copy.
    pub const TRANSFER: Self = Self {
        stages: vk::PipelineStageFlags::TRANSFER,
        access: vk::AccessFlags::from_raw(
            vk::AccessFlags::TRANSFER_READ.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
        ),
    };
    /// Reads of the arguments of an indirect dispatch or draw.
    pub const INDIRECT_READ: Self = Self {
        stages: vk::PipelineStageFlags::DRAW_INDIRECT,
        access: vk::AccessFlags::INDIRECT_COMMAND_READ,
    };
    /// Reads of the host. The caller waits for the device, by a fence or a semaphore.
    pub const HOST_READ: Self =
        Self { stages: vk::PipelineStageFlags::HOST, access: vk::AccessFlags::HOST_READ };

    /// Union of both.
    pub const fn and(self, other: Self) -> Self {
        Self {
            stages: vk::PipelineStageFlags::from_raw(self.stages.as_raw() | other.stages.as_raw()),
            access: vk::AccessFlags::from_raw(self.access.as_raw() | other.access.as_raw()),
        }
    }

    /// The pipeline stages of synchronization2, which have the same bits.
    pub const fn stages2(self) -> vk::PipelineStageFlags2 {
        vk::PipelineStageFlags2::from_raw(self.stages.as_raw() as u64)
    }

    /// The access types of synchronization2, which have the same bits.
    pub const fn access2(self) -> vk::AccessFlags2 {
        vk::AccessFlags2::from_raw(self.access.as_raw() as u64)
    }
}

/// A named global memory barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Barrier {
    /// Purpose, in a few words.
    pub name: &'static str,
    /// Source scope: what must complete, and whose writes become available.
    pub source: Access,
    /// Destination scope: what waits, and to which accesses the writes become visible.
    pub destination: Access,
}

impl Barrier {
    /// Between dispatches: read after write, write after write, write after read.
    pub const COMPUTE_TO_COMPUTE: Self =
        Self { name: "compute to compute", source: Access::COMPUTE_WRITE, destination: Access::COMPUTE };
    /// Between a fill or copy and a dispatch that reads or overwrites its destination.
    pub const TRANSFER_TO_COMPUTE: Self =
        Self { name: "transfer to compute", source: Access::TRANSFER_WRITE, destination: Access::COMPUTE };
    /// Between dispatches, where the later one also reads its indirect arguments from what the earlier one wrote.
    pub const COMPUTE_TO_INDIRECT: Self = Self {
        name: "compute to indirect",
        source: Access::COMPUTE_WRITE,
        destination: Access::INDIRECT_READ.and(Access::COMPUTE),
    };
    /// Between a dispatch and a copy that reads, or a fill or copy that overwrites, memory of the dispatch.
    pub const COMPUTE_TO_TRANSFER: Self =
        Self { name: "compute to transfer", source: Access::COMPUTE_WRITE, destination: Access::TRANSFER };
}

#[cfg(test)]
mod tests;
