//! Pass models: one pure function for each pass, which its kernel's header names.
//!
//! A model covers a whole pass, so that tests can compare the passes of an algorithm, in sequence, with the
//! oracle for tiles of any size. A pass that is a whole primitive, or a copy, needs no model.

pub mod digit_histogram;
pub mod field_keys;
pub mod merge_runs;
pub mod reduce;
pub mod run_length;
pub mod scan;
pub mod segmented_scan;
pub mod segmented_sort;
pub mod select;
pub mod sort;
#[cfg(test)]
mod tests;
pub mod top_k;

/// The workgroup counts of an indirect dispatch of `workgroup_count`, with at most `max_row` in a row.
fn grid(workgroup_count: u32, max_row: u32) -> [u32; 3] {
    let rows = workgroup_count.div_ceil(max_row).max(1);
    [workgroup_count.div_ceil(rows), rows, 1]
}
