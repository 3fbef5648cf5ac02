//! The kernel of a gather.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::Tiles;
use subsweep::reference::gather::{self as twin, Shape};

use super::rig::{Access, Memory, Rig, Value, compare, random, sizes};

/// Elements for each size of access: such as fill an invocation, that do not divide a workgroup, and that take several.
fn shapes(workgroup_size: usize) -> Vec<Shape> {
    let workgroup_units = 2 * workgroup_size;
    let mut shapes = Vec::new();
    for unit_words in [1, 2, 4] {
        for units in [1, 3, workgroup_units, workgroup_units + 1, 3 * workgroup_units - 5] {
            shapes.push(Shape::new(units * unit_words, unit_words, workgroup_size, 2));
        }
    }
    shapes
}

pub fn gather(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let workgroup_size = gpu.capabilities().max_subgroup_size.max(32) as usize;
    for shape in shapes(workgroup_size) {
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
        let access = if shape.unit_words == 1 { Access::Words } else { Access::Quads };
        let tile = shape.tile_elements;
        let counts = if tile == 1 { vec![1, 2, 5] } else { sizes(tile).to_vec() };
        for (index, count) in counts.into_iter().enumerate() {
            let tiles = Tiles::new(count, tile);
            let source_count = count + 2;
            // There is more than the kernel is told of, which it must not take.
            let input = random(count, (source_count + 3) * element_words);
            let mut index_input: Vec<u32> =
                random(count + 1, count).iter().map(|word| word % (source_count as u32 + 3)).collect();
            index_input[count / 2] = u32::MAX;
            let mut expected = vec![0; count * element_words];
            twin::gather(&shape, &input, source_count as u32, &index_input, &mut expected, tiles);

            let source = Memory::of(gpu, &input, access)?;
            let indices = Memory::of(gpu, &index_input, Access::Words)?;
            let destination = Memory::poisoned(gpu, expected.len(), access)?;
            let told = [tiles.tile_count, tiles.last_extent];
            let on_device = Memory::of(gpu, &told.map(|number| number as u32), Access::Words)?;
            // Where the device knows the tiles, what the host says is of no matter.
            let knows = index % 2 == 1;
            let [tile_count, last_extent] = if knows { [7, 0] } else { told };
            rig.run(
                &[
                    ("source", Value::Pointer(&source)),
                    ("indices", Value::Pointer(&indices)),
                    ("destination", Value::Pointer(&destination)),
                    ("tiles_on_device", if knows { Value::Pointer(&on_device) } else { Value::Null }),
                    ("tile_count", Value::Number(tile_count)),
                    ("last_extent", Value::Number(last_extent)),
                    ("source_count", Value::Number(source_count)),
                ],
                tiles.tile_count * shape.parts_per_element,
            )?;
            let case = format!("{}, {count} elements, on the device: {knows}, {shape:?}", kernel.name);
            compare(&case, "source", &source, &input)?;
            compare(&case, "indices", &indices, &index_input)?;
            compare(&case, "destination", &destination, &expected)?;
        }
    }
    Ok(())
}
