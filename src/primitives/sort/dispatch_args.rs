//! How far dispatches go that the device alone knows of: the words of `glsl/sort/dispatch_args.glsl`.

use ash::vk;

use crate::device::{AddressRange, BufferRange};

/// Bytes of a dispatch. What an indirect dispatch reads of it comes first.
const ARGS_SIZE: u64 = 32;
const INDIRECT_SIZE: u64 = 12;
/// Where it tells how many counts its tiles have.
const COUNTS_OFFSET: u64 = 24;

/// Some dispatches, one behind the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct DispatchArgs(BufferRange);

impl DispatchArgs {
    /// Bytes of so many dispatches.
    pub(super) const fn size(dispatch_count: u64) -> u64 {
        dispatch_count.saturating_mul(ARGS_SIZE)
    }

    /// Where `scratch` has them from `offset` on.
    pub(super) fn new(scratch: BufferRange, offset: u64, dispatch_count: u64) -> Self {
        Self(scratch.slice(offset, Self::size(dispatch_count)))
    }

    /// What a kernel is told that writes it.
    pub(super) fn words(self) -> AddressRange {
        self.0.addresses()
    }

    /// One of them.
    pub(super) fn nth(self, index: u64) -> PassArgs {
        PassArgs(self.0.slice(index * ARGS_SIZE, ARGS_SIZE))
    }
}

/// One dispatch.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassArgs(BufferRange);

impl PassArgs {
    /// What its kernel is told.
    pub(super) fn words(self) -> AddressRange {
        self.0.addresses()
    }

    /// How far it goes.
    pub(super) fn workgroups(self) -> BufferRange {
        self.0.slice(0, INDIRECT_SIZE)
    }

    /// How many counts its tiles have, for a scan of them.
    pub(super) fn count_of_counts(self) -> vk::DeviceAddress {
        self.0.address + COUNTS_OFFSET
    }
}
