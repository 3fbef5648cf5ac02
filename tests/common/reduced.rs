//! Pipelines by what tells kernels' ways apart.
//!
//! Two pipelines are the same here if they differ in constants alone that say nothing of a kernel's ways: those of the shape
//! of a tile, which differs from device to device, and those of what is done to one element, whose pairs with everything else
//! are in the table of cases.

/// Constants of the shape of a tile, and of what is done to one element.
const LEFT_OUT: &[&str] = &[
    "DESCENDING",
    "KEY_NUMBERS",
    "NUMBERS",
    "OPERATOR",
    "BATCHES_PER_CHUNK",
    "CLUSTER_LANES",
    "ITEMS_PER_INVOCATION",
    "MAX_LARGE",
    "MAX_SHORT",
    "MAX_SMALL",
    "MAX_SUBGROUPS",
    "PACKS_PER_RUN",
    "PARTS_PER_ELEMENT",
    "QUADS_PER_INVOCATION",
    "RUNS_PER_INVOCATION",
    "SHORT_PER_WORKGROUP",
    "TILE_ELEMENTS",
    "TILE_ITEMS",
    "UNITS_PER_INVOCATION",
    "WORKGROUP_SIZE",
];

/// The pipelines that policies choose for one GPU or another, a line each: `tests/codegen` holds the list to the plans, and
/// `tests/drivers` holds itself to the list.
pub const CHOSEN: &str = include_str!("chosen.txt");

/// A kernel and its constants without what is left out: `sort/count:key1 NAME=VALUE …`, by name.
pub fn reduced<'a>(kernel: &str, constants: impl Iterator<Item = (&'a str, u32)>) -> String {
    let mut constants: Vec<_> = constants.filter(|(name, _)| !LEFT_OUT.contains(name)).collect();
    constants.sort_unstable();
    constants.iter().fold(kernel.to_owned(), |line, (name, value)| format!("{line} {name}={value}"))
}
