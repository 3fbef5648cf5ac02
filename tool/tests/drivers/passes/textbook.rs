//! Pass checks of the textbook scans and of the seed's scan in place.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::scan::ScanPolicy;
use subsweep_tool::reference::passes::scan as model;
use subsweep_tool::reference::{Add, Row};

use super::numbers::TestRow;
use super::rig::{Alignment, Rig, Selection, Tiles, Value, random, sizes, small_workgroup};
use super::scan::TileShape;

type Sums = Row<Add, u32, 1>;

/// Tile shapes of several packs a run and of one, at either access.
fn shapes(gpu: &Gpu, selection: Selection) -> Vec<(TileShape, Alignment)> {
    let workgroup_size = gpu.capabilities().max_workgroup_invocations.min(256);
    let largest = TileShape { workgroup_size, runs_per_invocation: 1, packs_per_run: 2 };
    let small =
        [(TileShape::small(gpu, 1, 2), Alignment::Quads), (TileShape::small(gpu, 2, 1), Alignment::Words)];
    selection.first(2, small.into_iter().chain([(largest, Alignment::Quads)]))
}

fn rig<'g>(
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    shape: &TileShape,
    constants: &[(&'static str, u32)],
) -> Result<Rig<'g>, Failed> {
    let all: Vec<_> = shape.constants().iter().chain(constants).copied().collect();
    Rig::new(gpu, kernel, shape.workgroup_size, &all)
}

fn words<R: TestRow>(rows: &[R]) -> Vec<u32> {
    rows.iter().flat_map(R::words).collect()
}

pub fn scan_tiles(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    for (shape, alignment) in shapes(gpu, selection) {
        let exclusive = alignment == Alignment::Words;
        let [quads, mixed] = alignment.constants();
        let constants = [quads, mixed, ("EXCLUSIVE", exclusive.into()), ("KEEPS_SUMS", 1)];
        let rig = rig(gpu, kernel, &shape, &constants)?;
        let tile_items = shape.tile_items(Sums::TYPE);
        for count in sizes(tile_items) {
            let tiles = Tiles::new(count, tile_items);
            let input = Sums::input(count, count);
            let rows = Sums::of_words(&input);
            let scanned = model::scan_tiles(&rows, tile_items, exclusive, None);
            let totals = model::tile_totals(&rows, tile_items);
            let case = format!("{}, {count} elements, {alignment:?}, {shape:?}", kernel.name);
            let arrays = [
                ("source", Value::input(input).at(alignment)),
                ("destination", Value::output(words(&scanned)).at(alignment)),
                ("sums", Value::output(words(&totals)).at(alignment)),
            ];
            rig.check(&case, arrays.into_iter().chain(tiles.push(false)), tiles.tile_count)?;
        }
    }
    Ok(())
}

pub fn propagate(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    for (shape, alignment) in shapes(gpu, selection) {
        let rig = rig(gpu, kernel, &shape, &alignment.constants())?;
        let tile_items = shape.tile_items(Sums::TYPE);
        for count in sizes(tile_items) {
            let tiles = Tiles::new(count, tile_items);
            let input = Sums::input(count, count);
            let carry_input = Sums::input(count + 1, tiles.tile_count);
            let mut expected = Sums::of_words(&input);
            model::propagate(&mut expected, tile_items, &Sums::of_words(&carry_input));
            let case = format!("{}, {count} elements, {alignment:?}, {shape:?}", kernel.name);
            let arrays = [
                ("table", Value::changed(input, words(&expected)).at(alignment)),
                ("carries", Value::input(carry_input).at(alignment)),
            ];
            rig.check(&case, arrays.into_iter().chain(tiles.push(false)), tiles.tile_count - 1)?;
        }
    }
    Ok(())
}

pub fn double_blocks(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    // One element per invocation.
    let tile_items = small_workgroup(gpu) as usize;
    for from_source in [true, false] {
        let rig = Rig::new(gpu, kernel, tile_items as u32, &[("FROM_SOURCE", from_source.into())])?;
        // Blocks within a tile, of a tile, and of several; a partial last block, and an unpaired one.
        let tile_bits = tile_items.ilog2();
        let all_bits = if from_source { 0..=0 } else { 0..=tile_bits + 3 };
        for block_bits in all_bits {
            for count in sizes(tile_items).into_iter().chain([16 * tile_items + 7, 37 * tile_items]) {
                let tiles = Tiles::new(count, tile_items);
                let input = Sums::input(count, count);
                let mut expected = Sums::of_words(&input);
                model::double_blocks(&mut expected, block_bits);
                let case =
                    format!("{}, {count} elements, blocks of 2^{block_bits}, {from_source}", kernel.name);
                let results = words(&expected);
                let (source, destination) = match from_source {
                    true => (Value::input(input), Value::output(results)),
                    false => (Value::changed(input, results), Value::SameAs("source")),
                };
                let values = [
                    ("source", source),
                    ("destination", destination),
                    ("block_bits", Value::Number(block_bits as usize)),
                ];
                rig.check(&case, values.into_iter().chain(tiles.push(false)), tiles.tile_count)?;
            }
        }
    }
    Ok(())
}

pub fn strided(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    // No power of two: the kernel does not require one.
    let tile_items = 3 * small_workgroup(gpu) as usize;
    for suffix in [false, true] {
        let rig = Rig::new(gpu, kernel, tile_items as u32, &[("SUFFIX", suffix.into())])?;
        for distance in [1, tile_items / 3, tile_items - 1, tile_items, 2 * tile_items + 5, 1 << 20] {
            for count in sizes(tile_items) {
                let tiles = Tiles::new(count, tile_items);
                let input = Sums::input(count, count);
                let expected = model::strided(suffix, &Sums::of_words(&input), distance);
                let case =
                    format!("{}, {count} elements, distance {distance}, suffix: {suffix}", kernel.name);
                let values = [
                    ("source", Value::input(input)),
                    ("destination", Value::output(words(&expected))),
                    ("distance_tiles", Value::Number(distance / tile_items)),
                    ("distance_items", Value::Number(distance % tile_items)),
                ];
                rig.check(&case, values.into_iter().chain(tiles.push(false)), tiles.tile_count)?;
            }
        }
    }
    Ok(())
}

/// Strides of the rows, of no level, and of the level above the rows.
const STRIDES: [usize; 3] = [1, 3, 256];

pub fn chunk_sum<const C: usize>(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let ScanPolicy { workgroup_size, items_per_invocation: batches, .. } = ScanPolicy::seed();
    let chunk_items = (workgroup_size * batches) as usize;
    let rig = Rig::new(gpu, kernel, workgroup_size, &[("BATCHES_PER_CHUNK", batches)])?;
    for alignment in Alignment::ALL {
        for stride in STRIDES {
            for chunk_count in [1, 2, 5] {
                let words = random(chunk_count, chunk_count * chunk_items * stride * C);
                let mut expected = words.as_chunks::<C>().0.to_vec();
                model::chunk_sum(&mut expected, stride, chunk_items, chunk_count);

                // Every chunk is full: the kernel does not read `last_extent`.
                let chunks = Tiles { tile_count: chunk_count, last_extent: 0 };
                let case = format!("{}, {chunk_count} chunks, stride {stride}, {alignment:?}", kernel.name);
                let table = Value::changed(words, expected.into_flattened()).at(alignment);
                rig.check(&case, chunk_values(table, stride, chunks), chunk_count)?;
            }
        }
    }
    Ok(())
}

pub fn chunk_prefix<const C: usize>(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let ScanPolicy { workgroup_size, items_per_invocation: batches, .. } = ScanPolicy::seed();
    let chunk_items = (workgroup_size * batches) as usize;
    for (has_sums, counts) in [(false, [1, 37, 255, 256]), (true, [257, 511, 512, 3 * 256 + 100])] {
        let constants = [("BATCHES_PER_CHUNK", batches), ("HAS_SUMS", has_sums.into())];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        for alignment in Alignment::ALL {
            for stride in STRIDES {
                for count in counts {
                    let chunks = Tiles::new(count, chunk_items);
                    let words = random(count, count * stride * C);
                    let mut expected = words.as_chunks::<C>().0.to_vec();
                    model::chunk_prefix(&mut expected, stride, chunk_items, count, has_sums);

                    let case = format!(
                        "{}, {count} entries, stride {stride}, sums: {has_sums}, {alignment:?}",
                        kernel.name
                    );
                    let table = Value::changed(words, expected.into_flattened()).at(alignment);
                    rig.check(&case, chunk_values(table, stride, chunks), chunks.tile_count)?;
                }
            }
        }
    }
    Ok(())
}

fn chunk_values(table: Value<'_>, stride: usize, chunks: Tiles) -> [(&'static str, Value<'_>); 4] {
    [
        ("table", table),
        ("stride", Value::Number(stride)),
        ("chunk_count", Value::Number(chunks.tile_count)),
        ("last_extent", Value::Number(chunks.last_extent)),
    ]
}
