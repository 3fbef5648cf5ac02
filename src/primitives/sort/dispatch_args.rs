//! Indirect dispatch arguments, as in `glsl/sort/dispatch_args.glsl`.

use ash::vk;

use crate::device::{AddressRange, BufferRange, Pipeline, PushConstants, Recorder};
use crate::error::Result;

/// Bytes of a dispatch's arguments, which begin with a `VkDispatchIndirectCommand`.
const ARGS_SIZE: u64 = 32;
const INDIRECT_SIZE: u64 = 12;
/// Offset of the number of counters of its tiles.
const COUNTS_OFFSET: u64 = 24;

/// Arguments of consecutive dispatches.
#[derive(Debug, Clone, Copy)]
pub(super) struct DispatchArgs(BufferRange);

impl DispatchArgs {
    /// Bytes for `dispatch_count` dispatches.
    pub(super) const fn size(dispatch_count: u64) -> u64 {
        dispatch_count.saturating_mul(ARGS_SIZE)
    }

    /// The arguments of `dispatch_count` dispatches at `offset` in `scratch`.
    pub(super) fn new(scratch: BufferRange, offset: u64, dispatch_count: u64) -> Self {
        Self(scratch.slice(offset, Self::size(dispatch_count)))
    }

    /// Range for the kernel that writes them.
    pub(super) fn words(self) -> AddressRange {
        self.0.addresses()
    }

    /// Arguments of the dispatch at `index`.
    pub(super) fn nth(self, index: u64) -> PassArgs {
        PassArgs(self.0.slice(index * ARGS_SIZE, ARGS_SIZE))
    }
}

/// Arguments of one dispatch.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassArgs(BufferRange);

impl PassArgs {
    /// Range for its kernel.
    pub(super) fn words(self) -> AddressRange {
        self.0.addresses()
    }

    /// Records it: `workgroups`, of which the kernel ends those that have no tile; or where that is `None`, as many as the
    /// arguments say.
    pub(super) fn dispatch<P: PushConstants>(
        self,
        recorder: &mut Recorder<'_>,
        pipeline: &Pipeline,
        push: &P,
        workgroups: Option<u64>,
    ) -> Result<()> {
        match workgroups {
            Some(workgroups) => recorder.dispatch(pipeline, push, workgroups),
            None => recorder.dispatch_indirect(pipeline, push, self.workgroups()),
        }
    }

    /// Its `VkDispatchIndirectCommand`.
    pub(super) fn workgroups(self) -> BufferRange {
        self.0.slice(0, INDIRECT_SIZE)
    }

    /// Address of the number of counters of its tiles, for their scan.
    pub(super) fn count_of_counts(self) -> vk::DeviceAddress {
        self.0.address + COUNTS_OFFSET
    }
}
