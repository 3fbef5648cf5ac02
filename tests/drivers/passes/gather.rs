//! The pass check of the gather.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::oracle;

use super::rig::{Alignment, Memory, Rig, Selection, Tiles, Value, compare, random, sizes, small_workgroup};

/// The specialization constants of the kernel.
#[derive(Debug, Clone, Copy)]
struct TileShape {
    unit_words: usize,
    units_per_element: usize,
    tile_elements: usize,
    parts_per_element: usize,
    units_per_invocation: usize,
}

impl TileShape {
    /// The shape for elements of `units_per_element` units.
    fn new(unit_words: usize, units_per_element: usize, workgroup_size: usize) -> Self {
        let units_per_invocation = 2;
        let workgroup_units = workgroup_size * units_per_invocation;
        Self {
            unit_words,
            units_per_element,
            tile_elements: (workgroup_units / units_per_element).max(1),
            parts_per_element: units_per_element.div_ceil(workgroup_units),
            units_per_invocation,
        }
    }

    /// For each access width: elements that fill an invocation, that do not divide a workgroup, and that need several
    /// workgroups.
    fn all(workgroup_size: usize) -> Vec<Self> {
        let units = 2 * workgroup_size;
        let few = [(1, 3), (2, units + 1), (4, 1), (1, 3 * units - 5)];
        let product = [1, 2, 4]
            .into_iter()
            .flat_map(|unit_words| [1, 3, units, units + 1, 3 * units - 5].map(|units| (unit_words, units)));
        let others = product.filter(|shape| !few.contains(shape));
        let shapes = few.into_iter().chain(others);
        shapes.map(|(unit_words, units)| Self::new(unit_words, units, workgroup_size)).collect()
    }
}

pub fn gather(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu) as usize;
    for shape in selection.first(4, TileShape::all(workgroup_size)) {
        let element_words = shape.units_per_element * shape.unit_words;
        let constants = [
            ("UNIT_WORDS", shape.unit_words),
            ("UNITS_PER_ELEMENT", shape.units_per_element),
            ("TILE_ELEMENTS", shape.tile_elements),
            ("PARTS_PER_ELEMENT", shape.parts_per_element),
            ("UNITS_PER_INVOCATION", shape.units_per_invocation),
        ];
        let constants = constants.map(|(name, value)| (name, value as u32));
        let rig = Rig::new(gpu, kernel, workgroup_size as u32, &constants)?;
        let alignment = if shape.unit_words == 1 { Alignment::Words } else { Alignment::Quads };
        let tile = shape.tile_elements;
        let counts = if tile == 1 { vec![1, 2, 5] } else { sizes(tile).to_vec() };
        for (index, count) in counts.into_iter().enumerate() {
            let tiles = Tiles::new(count, tile);
            let source_count = count + 2;
            // The array is longer than the count given to the kernel.
            let input = random(count, (source_count + 3) * element_words);
            let mut index_input: Vec<u32> =
                random(count + 1, count).iter().map(|word| word % (source_count as u32 + 3)).collect();
            index_input[count / 2] = u32::MAX;
            let expected =
                oracle::gather(&input[..source_count * element_words], element_words, &index_input);

            let source = Memory::of(gpu, &input, alignment)?;
            let indices = Memory::of(gpu, &index_input, Alignment::Words)?;
            let destination = Memory::poisoned(gpu, expected.len(), alignment)?;
            let on_device = Memory::of(gpu, &tiles.words(), Alignment::Words)?;
            // With a GPU-resident count, the host's numbers are wrong.
            let is_on_device = index % 2 == 1;
            let Tiles { tile_count, last_extent } =
                if is_on_device { Tiles { tile_count: 7, last_extent: 0 } } else { tiles };
            rig.run(
                &[
                    ("source", Value::Pointer(&source)),
                    ("indices", Value::Pointer(&indices)),
                    ("destination", Value::Pointer(&destination)),
                    ("indirect_tiles", Value::pointer_if(is_on_device, &on_device)),
                    ("tile_count", Value::Number(tile_count)),
                    ("last_extent", Value::Number(last_extent)),
                    ("source_count", Value::Number(source_count)),
                ],
                tiles.tile_count * shape.parts_per_element,
            )?;
            let case = format!("{}, {count} elements, on the device: {is_on_device}, {shape:?}", kernel.name);
            compare(&case, "source", &source, &input)?;
            compare(&case, "indices", &indices, &index_input)?;
            compare(&case, "destination", &destination, &expected)?;
        }
    }
    Ok(())
}
