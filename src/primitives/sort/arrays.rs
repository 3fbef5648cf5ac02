//! The arrays between which passes move keys and values: the caller's, and those aside, in scratch.

use super::config::{SortBuffers, SortConfig};
use crate::primitives::ScratchCursor;
use crate::vk::AddressRange;

/// Where those aside lie in scratch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aside {
    /// As many keys as the caller has; two such arrays where those stay as they are.
    keys: [u64; 2],
    values: u64,
}

impl Aside {
    pub(super) fn take(cursor: &mut ScratchCursor, config: &SortConfig, count: u64) -> Self {
        let mut keys = || cursor.take(count.saturating_mul(config.key_size()));
        let first = keys();
        let keys = [first, if config.is_argsort() { keys() } else { first }];
        Self { keys, values: cursor.take(count.saturating_mul(config.value_size())) }
    }
}

/// What the kernels of a pass are told of: its schedule says which of these it goes between.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) keys: AddressRange,
    pub(super) keys_aside: AddressRange,
    pub(super) keys_other: AddressRange,
    pub(super) values: AddressRange,
    pub(super) values_aside: AddressRange,
}

impl Arrays {
    pub(super) fn new(config: &SortConfig, buffers: &SortBuffers, aside: &Aside, count: u64) -> Self {
        let in_scratch = |offset: u64, size: u64| buffers.scratch.slice(offset, count * size).addresses();
        let [keys_aside, keys_other] = aside.keys.map(|offset| in_scratch(offset, config.key_size()));
        Self {
            keys: buffers.keys,
            keys_aside,
            keys_other,
            values: buffers.values,
            values_aside: in_scratch(aside.values, config.value_size()),
        }
    }
}
