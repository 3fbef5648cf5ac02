//! Merge of sorted parts in memory.

use std::io;
use std::ops::Range;

use super::device_merge::DeviceMerge;
use super::merge::{MergeError, Sink};
use super::order::{KeyBits, KeyOrder};
use super::rounds::Merging;
use super::runs::Run;
use crate::error::Result;
use crate::headless::Gpu;
use crate::sort::SortConfig;

/// Merges sorted keys, and their values, as a stable sort of all of them does: `parts` are the indices of each part's keys. On
/// the device, or else on all cores, within `memory_size` bytes besides.
pub(crate) fn merge_parts(
    gpu: &Gpu,
    config: &SortConfig,
    [keys, values]: [&[u32]; 2],
    parts: &[Range<usize>],
    [merged_keys, merged_values]: [&mut [u32]; 2],
    memory_size: u64,
    is_on_device: bool,
) -> Result<()> {
    let [keys_to, values_to] = [merged_keys, merged_values].map(bytemuck::cast_slice_mut);
    let sink = Slices { keys: keys_to, values: values_to, value_size: config.value_size() as usize };
    let arrays = [keys, values].map(bytemuck::cast_slice);
    match config.key_size() {
        4 => merge_parts_of::<u32>(gpu, config, arrays, parts, sink, memory_size, is_on_device),
        _ => merge_parts_of::<u64>(gpu, config, arrays, parts, sink, memory_size, is_on_device),
    }
}

fn merge_parts_of<K: KeyBits>(
    gpu: &Gpu,
    config: &SortConfig,
    [keys, values]: [&[u8]; 2],
    parts: &[Range<usize>],
    mut sink: Slices<'_>,
    memory_size: u64,
    is_on_device: bool,
) -> Result<()> {
    let order = KeyOrder::new(config);
    let sizes = [config.key_size(), config.value_size()];
    let run = |part: &Range<usize>| {
        let bytes = |size: u64| part.start * size as usize..part.end * size as usize;
        Run::in_memory::<K>([&keys[bytes(sizes[0])], &values[bytes(sizes[1])]], sizes[1], &order)
    };
    let runs: Vec<_> = parts.iter().filter(|part| !part.is_empty()).map(run).collect();
    let on_device = DeviceMerge::new(gpu, config, sizes, memory_size, is_on_device)?;
    let merging = Merging { on_device, order, sizes, memory_size, is_narrowed: false };
    merging.merge::<K>(&runs, &mut sink).map_err(|error| match error {
        MergeError::Failed(error) => error,
        MergeError::Read(error) | MergeError::Write(error) => unreachable!("memory has no errors: {error}"),
    })
}

/// Merged keys and values, as bytes.
struct Slices<'a> {
    keys: &'a mut [u8],
    values: &'a mut [u8],
    value_size: usize,
}

impl<K: KeyBits> Sink<K> for Slices<'_> {
    fn keys(&mut self, first: u64, keys: &[K]) -> io::Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(keys);
        self.keys[first as usize * size_of::<K>()..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn values(&mut self, first: u64, values: &[u8]) -> io::Result<()> {
        self.values[first as usize * self.value_size..][..values.len()].copy_from_slice(values);
        Ok(())
    }
}
