//! Segmented sort.

use super::*;
use crate::sort::{SegmentedSort, SegmentedSortBuffers, SegmentedSortConfig, SortBuffers};

/// The memory and the counts of one recording of a segmented sort.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSegmentedSortInfo {
    /// sizeof(SubsweepSegmentedSortInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of keys.
    pub count: SubsweepCount,
    /// The count of segments; with row_length in the plan the count of rows, of which as many are sorted as `count` keys fill.
    pub segment_count: SubsweepCount,
    /// The keys; sorted in place unless flags of the plan say otherwise, unchanged by an argsort.
    pub keys: SubsweepAddressRange,
    /// The values, moved with their keys, or the indices that are written; 0 for a sort of keys alone.
    pub values: SubsweepAddressRange,
    /// With SUBSWEEP_SORT_DOUBLE_BUFFER_BIT the alternate keys, with SUBSWEEP_SORT_OUT_OF_PLACE_BIT the
    /// output, as large as `keys`; otherwise 0.
    pub keys_alt: SubsweepAddressRange,
    /// Likewise for `values`.
    pub values_alt: SubsweepAddressRange,
    /// Segment offsets: the first key of each segment, uint32_t, in ascending order. A segment ends where the
    /// next begins, and the last with the keys; of two equal offsets the first segment is empty. Keys before
    /// the first offset belong to no segment. 0 with row_length in the plan.
    pub segments: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// With SUBSWEEP_SORT_RANGES_BIT in the plan: the index after the last key of each segment, uint32_t; otherwise 0.
    pub segment_ends: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepSegmentedSortInfo, scratch, 160);

/// The same sort along rows, or of ranges, if C describes one.
pub(super) const fn in_segments(
    config: SegmentedSortConfig,
    info: &SubsweepSortPlanCreateInfo,
) -> SegmentedSortConfig {
    let config = if info.flags & SUBSWEEP_SORT_RANGES_BIT != 0 { config.ranges() } else { config };
    if info.row_length > 0 { config.along_rows(info.row_length) } else { config }
}

exported!(SegmentedSort, "a segmented sort", max_count);

/// Creates a segmented sort plan. `info` describes the sort of each segment; its algorithm must be null, and its
/// flags must not include SUBSWEEP_SORT_LARGE_COUNTS_BIT. SUBSWEEP_SORT_INDIRECT_COUNT_BIT applies to both counts.
/// With `info->row_length` the segments are the rows of a table, of so many keys each.
///
/// Scratch: at most 40 bytes per segment, and 192, or 224 with indirect counts; if a segment may be longer than a
/// workgroup holds, also what a sort takes; and for values of more than 8 bytes what a sort has for these.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for these, a bit range outside of the key, an argsort of two buffers,
/// and discarded keys of an argsort or without values.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_segmented_sort_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSortPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepSortPlanCreateInfo| {
        // SAFETY: as the caller promises.
        let sort = unsafe { sort_config(info, None) }?;
        Ok(in_segments(SegmentedSortConfig::new(sort), info))
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<SegmentedSort, _>(device, info, plan, config) }
}

/// Records the sort of `info->count` keys, each of `info->segment_count` segments by itself.
///
/// 2. Memory: `keys`, `values` and `segments`, and `keys_alt` and `values_alt` of a form that has them, disjoint.
/// 3. Commands: all ranges are written, except those that are only read: `segments`, `segment_ends`, an argsort's `keys`, and an
///    input that is kept.
/// 4. Limits: no segments, a single key and an empty bit range record nothing either, except that a sort of at
///    least one key in a segment writes indices, and a sort out of place its output. A segment that begins at or
///    beyond the count is empty. If offsets are not ascending, or ranges overlap, any segment may be left unsorted, and keys in
///    overlapping segments may be lost, duplicated or mixed; no other memory is accessed.
/// 5. Result: in `keys` and `values`, also of a double buffer; with SUBSWEEP_SORT_OUT_OF_PLACE_BIT in `keys_alt`
///    and `values_alt`; for an argsort in `values`, and `keys` are unchanged. Indices count from the first of all
///    keys, not from the start of a segment, but with row_length from the start of a row. With SUBSWEEP_SORT_DISCARDS_KEYS_BIT the keys of the result are
///    undefined. The sort is stable: keys equal in the bit range keep their order. Keys and values outside of all
///    segments are unchanged, unless they are discarded or of an input that is destroyed; so is the output there.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_segmented_sort(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSegmentedSortInfo,
) -> VkResult {
    let buffers = |info: &SubsweepSegmentedSortInfo| {
        flags("SubsweepSegmentedSortInfo.flags", info.flags, 0)?;
        let sort = buffers!(info, SortBuffers { keys, values, keys_alt, values_alt });
        let [begins, ends] = [("segments", &info.segments), ("segment_ends", &info.segment_ends)]
            .map(|(name, range)| range.checked(name));
        let buffers = SegmentedSortBuffers::ranges(sort, begins?, ends?);
        Ok((buffers, (info.count.checked()?, info.segment_count.checked()?).into()))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<SegmentedSort, _>(plan, command_buffer, info, buffers) }
}
