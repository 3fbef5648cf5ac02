//! The kernels into which functions of a caller are compiled. Part of `build.rs`, and of the crate.

/// Words of an element in the shared memory of a kernel whose functions combine elements of `element_words` words; `None` for
/// a kernel that has no array of elements there.
pub fn shared_words(kernel: &str, element_words: u32) -> Option<u32> {
    match kernel {
        "scan/reduce:words32x1" | "scan/downsweep:words32x1" | "reduce/reduce:words32" => Some(element_words),
        // Each with its head.
        "scan/reduce:words32x1_segmented" | "scan/downsweep:words32x1_segmented" => Some(element_words + 1),
        _ => None,
    }
}

/// A use of functions: its name, the functions, and the kernels, each compiled with its defines and FUNCTIONS.
pub type Use = (&'static str, &'static [&'static str], &'static [&'static str]);

/// All uses.
pub const USES: [Use; 13] = [
    ("scan", &["identity", "combine"], &["scan/reduce:words32x1", "scan/downsweep:words32x1"]),
    (
        "segmented-scan",
        &["identity", "combine"],
        &["scan/reduce:words32x1_segmented", "scan/downsweep:words32x1_segmented"],
    ),
    ("reduce", &["identity", "combine"], &["reduce/reduce:words32", "reduce/segments:words32"]),
    ("select", &["keep"], &["select/count:key1", "select/compact:key1", "select/chained:key1"]),
    (
        "sort32",
        &["key_of"],
        &["sort/digit_histogram:key1_bins", "sort/onesweep:key1_value1", "sort/single_workgroup:key1_value1"],
    ),
    (
        "sort64",
        &["key_of"],
        &["sort/digit_histogram:key2_bins", "sort/onesweep:key2_value1", "sort/single_workgroup:key2_value1"],
    ),
    (
        "top-k32",
        &["key_of"],
        &["top_k/rows:key1", "top_k/select:key1", "top_k/orders:key1", "top_k/take:key1"],
    ),
    (
        "top-k64",
        &["key_of"],
        &["top_k/rows:key2", "top_k/select:key2", "top_k/orders:key2", "top_k/take:key2"],
    ),
    ("histogram32", &["key_of"], &["histogram/count"]),
    ("histogram64", &["key_of"], &["histogram/count:wide"]),
    ("search", &["less"], &["search/search:key1"]),
    ("merge", &["less"], &["merge/merge:rounds_key1"]),
    ("merge-sort", &["less"], &["sort/merge_runs"]),
];
