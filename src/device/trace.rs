//! What is recorded, told to whoever listens.

use ash::vk;

use super::barrier::Barrier;
use super::buffer::AddressRange;
use crate::kernels::Kernel;

/// One recorded command and the memory that it touches.
#[derive(Debug)]
#[non_exhaustive]
pub enum Command<'a> {
    /// A kernel; `ranges` are those of its pointers, in the order of [`Kernel::push_constants`], which says whether
    /// each is read or written.
    Dispatch {
        /// The kernel.
        kernel: &'static Kernel,
        /// What its pointers stand for.
        ranges: &'a [AddressRange],
        /// How many workgroups.
        workgroups: Workgroups,
        /// The specialization constants that its pipeline was made with.
        constants: &'a [(&'static str, u32)],
    },
    /// A fill with one word.
    Fill {
        /// What is written.
        range: AddressRange,
    },
    /// Words that stand in the command buffer.
    Update {
        /// What is written.
        range: AddressRange,
    },
    /// A copy.
    Copy {
        /// What is read.
        source: AddressRange,
        /// What is written.
        destination: AddressRange,
    },
    /// A barrier.
    Barrier(Barrier),
    /// A recording begins, and all earlier work is done and seen.
    Begin,
    /// What has been recorded so far is submitted by itself, and the recording goes on; barriers order across it. Comes
    /// behind the dispatch before which, or in the midst of which, it cuts.
    Submit,
    /// A recording ends.
    End,
}

/// How many workgroups a dispatch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workgroups {
    /// Per dimension.
    Direct([u32; 3]),
    /// As three words say that the device reads.
    Indirect(AddressRange),
}

/// Told of every command that is recorded: for tests and for counting. Off unless a device was opened with one.
pub trait Trace: Send + Sync {
    /// `command` is about to be recorded into `command_buffer`.
    fn record(&self, command_buffer: vk::CommandBuffer, command: &Command<'_>);
}
