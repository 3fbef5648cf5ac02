//! Ping-pong buffers of keys and values: the caller's arrays are primary; alternate are arrays in scratch, or the
//! caller's of a double buffer.

use super::config::{SortBuffers, SortConfig};
use crate::device::AddressRange;
use crate::primitives::ScratchCursor;

/// Offsets of the alternate arrays in scratch, unless they are the caller's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AltLayout {
    /// Alternate arrays of keys; an argsort has two, since it does not change the caller's.
    keys: [u64; 2],
    values: u64,
}

impl AltLayout {
    pub(super) fn take(cursor: &mut ScratchCursor, config: &SortConfig, count: u64) -> Self {
        if config.is_double_buffered {
            return Self::default();
        }
        let mut keys = || cursor.take(count.saturating_mul(config.key_size()));
        let first = keys();
        let keys = [first, if config.is_argsort() { keys() } else { first }];
        Self { keys, values: cursor.take(count.saturating_mul(config.value_size())) }
    }
}

/// Arrays of keys and values for the kernels of a pass; its dispatch arguments select source and destination.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) keys: AddressRange,
    pub(super) keys_alt: AddressRange,
    pub(super) keys_alt2: AddressRange,
    pub(super) values: AddressRange,
    pub(super) values_alt: AddressRange,
}

impl Arrays {
    pub(super) fn new(config: &SortConfig, buffers: &SortBuffers, alt: &AltLayout, count: u64) -> Self {
        let SortBuffers { keys, values, keys_alt, values_alt, .. } = *buffers;
        if config.is_double_buffered {
            return Self { keys, keys_alt, keys_alt2: keys_alt, values, values_alt };
        }
        let in_scratch = |offset: u64, size: u64| buffers.scratch.slice(offset, count * size).addresses();
        let [keys_alt, keys_alt2] = alt.keys.map(|offset| in_scratch(offset, config.key_size()));
        Self { keys, keys_alt, keys_alt2, values, values_alt: in_scratch(alt.values, config.value_size()) }
    }
}
