//! Models of `glsl/top_k/`.

/// `select.comp`: the positions of the `k` least orders of a tile, and of equal ones the first; in their own order, or
/// sorted by the orders.
pub fn select(orders: &[u64], k: usize, is_sorted: bool) -> Vec<usize> {
    let mut positions: Vec<_> = (0..orders.len()).collect();
    positions.sort_by_key(|&position| orders[position]);
    positions.truncate(k);
    if !is_sorted {
        positions.sort_unstable();
    }
    positions
}
