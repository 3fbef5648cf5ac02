//! The twin of `glsl/gather/gather.comp`.

use super::Tiles;

/// The specialization constants of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Constant 0.
    pub workgroup_size: usize,
    /// 1, 2 or 4.
    pub unit_words: usize,
    /// Units of an element.
    pub units_per_element: usize,
    /// Elements in a tile.
    pub tile_elements: usize,
    /// Workgroups of a tile.
    pub parts_per_element: usize,
    /// Units that an invocation moves.
    pub units_per_invocation: usize,
}

impl Shape {
    /// The one for elements of `element_words` words, moved by `unit_words`, which divide them.
    pub fn new(
        element_words: usize,
        unit_words: usize,
        workgroup_size: usize,
        units_per_invocation: usize,
    ) -> Self {
        let units_per_element = element_words / unit_words;
        let workgroup_units = workgroup_size * units_per_invocation;
        Self {
            workgroup_size,
            unit_words,
            units_per_element,
            tile_elements: (workgroup_units / units_per_element).max(1),
            parts_per_element: units_per_element.div_ceil(workgroup_units),
            units_per_invocation,
        }
    }
}

/// `glsl/gather/gather.comp`: moves units to where the indices say. `destination` has room for all tiles, and `source`
/// for `source_count` elements, of which no more are looked at.
pub fn gather(
    shape: &Shape,
    source: &[u32],
    source_count: u32,
    indices: &[u32],
    destination: &mut [u32],
    tiles: Tiles,
) {
    let Shape { unit_words, units_per_element, tile_elements, .. } = *shape;
    let element_words = units_per_element * unit_words;
    for workgroup in 0..tiles.tile_count * shape.parts_per_element {
        let (tile, part) = (workgroup / shape.parts_per_element, workgroup % shape.parts_per_element);
        let elements = tiles.range(tile, tile_elements);
        let unit_count = elements.len() * units_per_element;
        for invocation in 0..shape.workgroup_size {
            for k in 0..shape.units_per_invocation {
                let unit = (part * shape.units_per_invocation + k) * shape.workgroup_size + invocation;
                if unit >= unit_count {
                    continue;
                }
                let index = indices[elements.start + unit / units_per_element];
                let to = elements.start * element_words + unit * unit_words;
                let to = &mut destination[to..][..unit_words];
                if index < source_count {
                    let from = index as usize * element_words + unit % units_per_element * unit_words;
                    to.copy_from_slice(&source[from..][..unit_words]);
                } else {
                    to.fill(0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{oracle, testing};
    use super::*;

    #[test]
    fn every_shape_moves_what_a_plain_loop_does() {
        for (element_words, unit_words) in
            [(1, 1), (2, 1), (2, 2), (3, 1), (4, 4), (12, 4), (64, 1), (65, 1), (260, 4), (301, 1)]
        {
            let shape = Shape::new(element_words, unit_words, 16, 4);
            for count in [1, shape.tile_elements, shape.tile_elements + 1, 3 * shape.tile_elements + 2] {
                let source_count = count as u32 + 3;
                let source = testing::words(1, source_count as usize * element_words);
                // A few of them beyond the source.
                let indices: Vec<_> =
                    testing::words(2, count).iter().map(|word| word % (source_count + 2)).collect();
                let mut destination = vec![0xdead_beef; count * element_words];
                let tiles = Tiles::new(count, shape.tile_elements);
                gather(&shape, &source, source_count, &indices, &mut destination, tiles);
                assert_eq!(
                    destination,
                    oracle::gather(&source, element_words, &indices),
                    "{shape:?}, {count}"
                );
            }
        }
    }
}
