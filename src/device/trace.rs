//! Traces: callbacks for recorded commands.

use ash::vk;

use super::barrier::Barrier;
use super::buffer::AddressRange;
use crate::kernels::Kernel;

/// A recorded command and the memory that it accesses.
#[derive(Debug)]
#[non_exhaustive]
pub enum Command<'a> {
    /// A dispatch of a kernel. [`Kernel::accesses`] has whether each pointer is read or written.
    Dispatch {
        /// The kernel.
        kernel: &'static Kernel,
        /// Ranges of its pointers, in the order of the push constants.
        ranges: &'a [AddressRange],
        /// Number of workgroups.
        workgroups: Workgroups,
        /// Specialization constants of its pipeline.
        constants: &'a [(&'static str, u32)],
    },
    /// `vkCmdFillBuffer`.
    Fill {
        /// Range that is written.
        range: AddressRange,
    },
    /// `vkCmdUpdateBuffer`.
    Update {
        /// Range that is written.
        range: AddressRange,
    },
    /// `vkCmdCopyBuffer`.
    Copy {
        /// Range that is read.
        source: AddressRange,
        /// Range that is written.
        destination: AddressRange,
    },
    /// A barrier.
    Barrier(Barrier),
    /// A recording begins; all earlier work is complete and visible.
    Begin,
    /// The commands so far are submitted, and the recording continues in another submission; barriers order across it.
    /// Follows the dispatch before or within which the recording is split.
    Submit,
    /// A recording ends.
    End,
}

/// Number of workgroups of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workgroups {
    /// Per dimension.
    Direct([u32; 3]),
    /// The range of a `VkDispatchIndirectCommand`.
    Indirect(AddressRange),
}

/// Receives every recorded command: for tests and for counting.
pub trait Trace: Send + Sync {
    /// `command` is about to be recorded into `command_buffer`.
    fn record(&self, command_buffer: vk::CommandBuffer, command: &Command<'_>);

    /// A plan is about to be recorded, also as a part of another; the trace of [`Recorder::traced_by`](super::Recorder::traced_by)
    /// alone is told. `arrays` computes the name, offset and size of each array
    /// in its scratch.
    #[doc(hidden)]
    fn plan(&self, _arrays: &dyn Fn() -> Vec<(&'static str, u64, u64)>) {}
}
