//! CPU reference of the device's selection and sort.

use crate::slot::Slot;

/// Reads the depths and flags that the device has computed, and writes the order and the arguments of the draw to the
/// slot: visible splats by descending depth, sorted stably.
pub fn sort(slot: &mut Slot<'_>, splat_count: u32) {
    let count = splat_count as usize;
    let depths: &[f32] = slot.depths.elements(count);
    let flags: &[u32] = slot.flags.elements(count);
    let mut order: Vec<u32> = (0..splat_count).filter(|&splat| flags[splat as usize] != 0).collect();
    order.sort_by(|&a, &b| depths[b as usize].total_cmp(&depths[a as usize]));
    slot.order.elements(order.len()).copy_from_slice(&order);
    // Vertices, instances, and the first of each.
    slot.draw.elements(4).copy_from_slice(&[4, order.len() as u32, 0, 0]);
}
