//! One model of each pass, as pure functions. A kernel's header names its own.
//!
//! Passes are modelled whole, so that a model proves itself: the passes of an algorithm, one after the other, give the
//! oracle's result for tiles of any size. What needs no model of its own is a primitive already: `gather.comp` is
//! [`gather`](super::oracle::gather), and a copy is its source.

pub mod digit_histogram;
pub mod scan;
pub mod segmented_scan;
pub mod segmented_sort;
pub mod sort;
#[cfg(test)]
pub(super) mod tests;

/// The workgroups of an indirect dispatch of `workgroup_count`, with at most `max_row` in a row.
fn grid(workgroup_count: u32, max_row: u32) -> [u32; 3] {
    let rows = workgroup_count.div_ceil(max_row).max(1);
    [workgroup_count.div_ceil(rows), rows, 1]
}
