//! The textbooks' scans: tiles by networks of invocations, and steps that go over everything.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::lanes::Workgroup;
use subsweep::reference::scan::{self as twin, Shape};
use subsweep::reference::workgroup_scan::{
    Network, brent_kung, kogge_stone, kogge_stone_double_buffered, sequential, sklansky,
};
use subsweep::reference::{Add, Element as _, Row, Tiles};

use super::Check;
use super::numbers::TestRow;
use super::rig::{Access, Memory, Rig, Value, compare, sizes};

type Sums = Row<Add, u32, 1>;

/// The check of a variant of downsweep that is named for a network.
pub fn network_of(variant: &str) -> Option<Check> {
    Some(match variant {
        "kogge_stone" => |gpu, kernel| downsweep(gpu, kernel, kogge_stone),
        "kogge_stone_double_buffered" => |gpu, kernel| downsweep(gpu, kernel, kogge_stone_double_buffered),
        "brent_kung" => |gpu, kernel| downsweep(gpu, kernel, brent_kung),
        "sklansky" => |gpu, kernel| downsweep(gpu, kernel, sklansky),
        "sequential" => |gpu, kernel| downsweep(gpu, kernel, sequential),
        _ => return None,
    })
}

/// Workgroups that are powers of two, for all networks want them, with runs of several packs and of one.
fn shapes(gpu: &Gpu) -> [Shape; 2] {
    let capabilities = gpu.capabilities();
    let lanes = capabilities.subgroup_size as usize;
    let largest = 1 << capabilities.max_workgroup_invocations.min(256).ilog2();
    let smallest = capabilities.max_subgroup_size.max(32) as usize;
    [(largest, 2), (smallest, 1)].map(|(size, packs_per_run)| Shape {
        workgroup: Workgroup { size, lanes },
        runs_per_invocation: 1,
        packs_per_run,
    })
}

fn rig<'g>(
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    shape: &Shape,
    constants: &[(&'static str, u32)],
) -> Result<Rig<'g>, Failed> {
    let tile = [
        ("RUNS_PER_INVOCATION", shape.runs_per_invocation as u32),
        ("PACKS_PER_RUN", shape.packs_per_run as u32),
    ];
    let all: Vec<_> = tile.iter().chain(constants).copied().collect();
    Rig::new(gpu, kernel, shape.workgroup.size as u32, &all)
}

fn words<R: TestRow>(rows: &[R]) -> Vec<u32> {
    rows.iter().flat_map(R::words).collect()
}

fn downsweep(gpu: &Gpu, kernel: &'static Kernel, network: Network<Sums>) -> Result<(), Failed> {
    let variants = [(Access::Quads, false, true), (Access::Words, true, false)];
    for (shape, (access, exclusive, has_carry)) in shapes(gpu).into_iter().zip(variants) {
        let constants = [access.constant(), ("EXCLUSIVE", exclusive.into()), ("HAS_CARRY", has_carry.into())];
        let rig = rig(gpu, kernel, &shape, &constants)?;
        let tile_items = shape.tile_items::<Sums>();
        for count in sizes(tile_items) {
            let tiles = Tiles::new(count, tile_items);
            let input = Sums::input(count, count);
            let carry_input = Sums::input(count + 1, tiles.tile_count);
            let carries = has_carry.then(|| Sums::of_words(&carry_input));
            let mut expected = vec![Sums::IDENTITY; count];
            let source = Sums::of_words(&input);
            let carries = carries.as_deref();
            twin::downsweep_by(network, &shape, exclusive, &source, &mut expected, carries, tiles);

            let source = Memory::of(gpu, &input, access)?;
            let destination = Memory::poisoned(gpu, count, access)?;
            let carries = Memory::of(gpu, &carry_input, access)?;
            rig.run(
                &[
                    ("source", Value::Pointer(&source)),
                    ("destination", Value::Pointer(&destination)),
                    ("carries", if has_carry { Value::Pointer(&carries) } else { Value::Null }),
                    ("heads", Value::Null),
                    ("initial", Value::Null),
                    ("tiles_on_device", Value::Null),
                    ("tile_count", Value::Number(tiles.tile_count)),
                    ("last_extent", Value::Number(tiles.last_extent)),
                    ("column_count", Value::Number(1)),
                ],
                tiles.tile_count,
            )?;
            let case = format!("{}, {count} elements, {access:?}, {shape:?}", kernel.name);
            compare(&case, "source", &source, &input)?;
            compare(&case, "destination", &destination, &words(&expected))?;
        }
    }
    Ok(())
}

pub fn scan_tiles(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let variants = [(Access::Quads, false), (Access::Words, true)];
    for (shape, (access, exclusive)) in shapes(gpu).into_iter().zip(variants) {
        let constants = [access.constant(), ("EXCLUSIVE", exclusive.into()), ("KEEPS_SUMS", 1)];
        let rig = rig(gpu, kernel, &shape, &constants)?;
        let tile_items = shape.tile_items::<Sums>();
        for count in sizes(tile_items) {
            let tiles = Tiles::new(count, tile_items);
            let input = Sums::input(count, count);
            let mut expected = vec![Sums::IDENTITY; count];
            let mut expected_sums = vec![Sums::IDENTITY; tiles.tile_count];
            let source = Sums::of_words(&input);
            twin::scan_tiles(&shape, exclusive, &source, &mut expected, &mut expected_sums, tiles);

            let source = Memory::of(gpu, &input, access)?;
            let destination = Memory::poisoned(gpu, count, access)?;
            let sums = Memory::poisoned(gpu, tiles.tile_count, access)?;
            rig.run(
                &[
                    ("source", Value::Pointer(&source)),
                    ("destination", Value::Pointer(&destination)),
                    ("sums", Value::Pointer(&sums)),
                    ("tile_count", Value::Number(tiles.tile_count)),
                    ("last_extent", Value::Number(tiles.last_extent)),
                ],
                tiles.tile_count,
            )?;
            let case = format!("{}, {count} elements, {access:?}, {shape:?}", kernel.name);
            compare(&case, "source", &source, &input)?;
            compare(&case, "destination", &destination, &words(&expected))?;
            compare(&case, "sums", &sums, &words(&expected_sums))?;
        }
    }
    Ok(())
}

pub fn propagate(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    for (shape, access) in shapes(gpu).into_iter().zip(Access::ALL) {
        let rig = rig(gpu, kernel, &shape, &[access.constant()])?;
        let tile_items = shape.tile_items::<Sums>();
        for count in sizes(tile_items) {
            let tiles = Tiles::new(count, tile_items);
            let input = Sums::input(count, count);
            let carry_input = Sums::input(count + 1, tiles.tile_count);
            let mut expected = Sums::of_words(&input);
            twin::propagate(&shape, &mut expected, &Sums::of_words(&carry_input), tiles);

            let table = Memory::of(gpu, &input, access)?;
            let carries = Memory::of(gpu, &carry_input, access)?;
            rig.run(
                &[
                    ("table", Value::Pointer(&table)),
                    ("carries", Value::Pointer(&carries)),
                    ("tile_count", Value::Number(tiles.tile_count)),
                    ("last_extent", Value::Number(tiles.last_extent)),
                ],
                tiles.tile_count - 1,
            )?;
            let case = format!("{}, {count} elements, {access:?}, {shape:?}", kernel.name);
            compare(&case, "carries", &carries, &carry_input)?;
            compare(&case, "table", &table, &words(&expected))?;
        }
    }
    Ok(())
}

/// Workgroups of the kernels that take an element an invocation.
fn tile_items(gpu: &Gpu) -> usize {
    gpu.capabilities().max_subgroup_size.max(32) as usize
}

pub fn double_blocks(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let tile_items = tile_items(gpu);
    for from_source in [true, false] {
        let rig = Rig::new(gpu, kernel, tile_items as u32, &[("FROM_SOURCE", from_source.into())])?;
        // Blocks within a tile, of a tile, and of several; a last block that is cut short, and one that is alone.
        let tile_bits = tile_items.ilog2();
        let all_bits = if from_source { 0..=0 } else { 0..=tile_bits + 3 };
        for block_bits in all_bits {
            for count in sizes(tile_items).into_iter().chain([16 * tile_items + 7, 37 * tile_items]) {
                let tiles = Tiles::new(count, tile_items);
                let input = Sums::input(count, count);
                let mut expected = Sums::of_words(&input);
                twin::double_blocks(&mut expected, block_bits);

                let source = Memory::of(gpu, &input, Access::Words)?;
                let apart = Memory::poisoned(gpu, count, Access::Words)?;
                let destination = if from_source { &apart } else { &source };
                rig.run(
                    &[
                        ("source", Value::Pointer(&source)),
                        ("destination", Value::Pointer(destination)),
                        ("tile_count", Value::Number(tiles.tile_count)),
                        ("last_extent", Value::Number(tiles.last_extent)),
                        ("block_bits", Value::Number(block_bits as usize)),
                    ],
                    tiles.tile_count,
                )?;
                let case =
                    format!("{}, {count} elements, blocks of 2^{block_bits}, {from_source}", kernel.name);
                if from_source {
                    compare(&case, "source", &source, &input)?;
                }
                compare(&case, "destination", destination, &words(&expected))?;
            }
        }
    }
    Ok(())
}

pub fn strided(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    // No power of two: the kernel asks for none.
    let tile_items = 3 * tile_items(gpu);
    for suffix in [false, true] {
        let rig = Rig::new(gpu, kernel, tile_items as u32, &[("SUFFIX", suffix.into())])?;
        for distance in [1, tile_items / 3, tile_items - 1, tile_items, 2 * tile_items + 5, 1 << 20] {
            for count in sizes(tile_items) {
                let tiles = Tiles::new(count, tile_items);
                let input = Sums::input(count, count);
                let mut expected = vec![Sums::IDENTITY; count];
                twin::strided(suffix, &Sums::of_words(&input), &mut expected, distance);

                let source = Memory::of(gpu, &input, Access::Words)?;
                let destination = Memory::poisoned(gpu, count, Access::Words)?;
                rig.run(
                    &[
                        ("source", Value::Pointer(&source)),
                        ("destination", Value::Pointer(&destination)),
                        ("tile_count", Value::Number(tiles.tile_count)),
                        ("last_extent", Value::Number(tiles.last_extent)),
                        ("distance_tiles", Value::Number(distance / tile_items)),
                        ("distance_items", Value::Number(distance % tile_items)),
                    ],
                    tiles.tile_count,
                )?;
                let case =
                    format!("{}, {count} elements, distance {distance}, suffix: {suffix}", kernel.name);
                compare(&case, "source", &source, &input)?;
                compare(&case, "destination", &destination, &words(&expected))?;
            }
        }
    }
    Ok(())
}
