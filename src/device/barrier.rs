//! Who touches memory, and barriers between them.

use ash::vk;

/// Stages, and what they do to memory: one side of a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The stages of the pipeline.
    pub stages: vk::PipelineStageFlags,
    /// Their accesses. Of what comes before a barrier writes alone matter.
    pub access: vk::AccessFlags,
}

impl Access {
    /// A dispatch writes.
    pub const COMPUTE_WRITE: Self =
        Self { stages: vk::PipelineStageFlags::COMPUTE_SHADER, access: vk::AccessFlags::SHADER_WRITE };
    /// A dispatch reads and writes.
    pub const COMPUTE: Self = Self {
        stages: vk::PipelineStageFlags::COMPUTE_SHADER,
        access: vk::AccessFlags::from_raw(
            vk::AccessFlags::SHADER_READ.as_raw() | vk::AccessFlags::SHADER_WRITE.as_raw(),
        ),
    };
    /// A fill, an update or a copy writes.
    pub const TRANSFER_WRITE: Self =
        Self { stages: vk::PipelineStageFlags::TRANSFER, access: vk::AccessFlags::TRANSFER_WRITE };
    /// A fill, an update or a copy reads and writes.
    pub const TRANSFER: Self = Self {
        stages: vk::PipelineStageFlags::TRANSFER,
        access: vk::AccessFlags::from_raw(
            vk::AccessFlags::TRANSFER_READ.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
        ),
    };
    /// An indirect dispatch, or draw, reads how far it goes.
    pub const INDIRECT_READ: Self = Self {
        stages: vk::PipelineStageFlags::DRAW_INDIRECT,
        access: vk::AccessFlags::INDIRECT_COMMAND_READ,
    };
    /// The host reads. What waits for the device, a fence or a semaphore, is the caller's.
    pub const HOST_READ: Self =
        Self { stages: vk::PipelineStageFlags::HOST, access: vk::AccessFlags::HOST_READ };

    /// The one and the other.
    pub const fn and(self, other: Self) -> Self {
        Self {
            stages: vk::PipelineStageFlags::from_raw(self.stages.as_raw() | other.stages.as_raw()),
            access: vk::AccessFlags::from_raw(self.access.as_raw() | other.access.as_raw()),
        }
    }
}

/// A global memory barrier with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Barrier {
    /// What it is for, in a few words.
    pub name: &'static str,
    /// Whoever must be done, and whose writes are made available.
    pub before: Access,
    /// Whoever waits, and to whom they are made visible.
    pub after: Access,
}

impl Barrier {
    /// A dispatch reads or overwrites what an earlier one wrote, or overwrites what it read.
    pub const COMPUTE_TO_COMPUTE: Self =
        Self { name: "compute to compute", before: Access::COMPUTE_WRITE, after: Access::COMPUTE };
    /// A dispatch reads or overwrites what a fill or a copy wrote.
    pub const TRANSFER_TO_COMPUTE: Self =
        Self { name: "transfer to compute", before: Access::TRANSFER_WRITE, after: Access::COMPUTE };
    /// A dispatch reads or overwrites what an earlier one wrote, or takes its workgroups from there.
    pub const COMPUTE_TO_INDIRECT: Self = Self {
        name: "compute to indirect",
        before: Access::COMPUTE_WRITE,
        after: Access::INDIRECT_READ.and(Access::COMPUTE),
    };
    /// A copy reads, or a fill or copy overwrites, what a dispatch touched.
    pub const COMPUTE_TO_TRANSFER: Self =
        Self { name: "compute to transfer", before: Access::COMPUTE_WRITE, after: Access::TRANSFER };
}
