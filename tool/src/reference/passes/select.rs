//! Models of `glsl/select/`. The part of each element is a number from 0, the part that a selection keeps.

/// `count.comp`: for each tile the number of its elements in the first part, and of three parts in the second.
pub fn tile_counts(parts: &[usize], part_count: usize, tile_items: usize) -> Vec<u32> {
    parts.chunks(tile_items).flat_map(|tile| counts_of(tile, part_count)).collect()
}

fn counts_of(parts: &[usize], part_count: usize) -> impl Iterator<Item = u32> {
    let counted = if part_count == 3 { 2 } else { 1 };
    (0..counted).map(|part| parts.iter().filter(|&&other| other == part).count() as u32)
}

/// The writes of `compact.comp` and `chained.comp`.
#[derive(Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The indices of the elements in the result.
    pub order: Vec<usize>,
    /// The numbers of elements in the first part, and of three parts in the second.
    pub counts: Vec<u32>,
}

/// The result of a selection, for a `part_count` of 1, or of a partition in as many parts, each in order.
pub fn compacted(parts: &[usize], part_count: usize) -> Compacted {
    let mut order: Vec<_> = (0..parts.len()).filter(|&index| part_count > 1 || parts[index] == 0).collect();
    order.sort_by_key(|&index| parts[index]);
    Compacted { order, counts: counts_of(parts, part_count).collect() }
}
