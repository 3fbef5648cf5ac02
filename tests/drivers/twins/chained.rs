//! The single pass, with workgroups that tell what they have and workgroups that stay silent.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep::reference::Tiles;
use subsweep::reference::lanes::Workgroup;
use subsweep::reference::scan::{self as twin, Shape};

use super::numbers::TestRow;
use super::rig::{Access, Memory, Rig, Value, compare};

/// Words of the state before those of the tiles.
const TICKET_WORDS: usize = 4;

/// How many of every so many workgroups stay silent; what a build that counts can be told.
const SILENT_EVERY: [usize; 3] = [0, 3, 1];

pub fn chained<R: TestRow>(gpu: &Gpu, kernel: &'static Kernel) -> Result<(), Failed> {
    let is_counted = kernel.name.ends_with("_counted");
    let capabilities = gpu.capabilities();
    let size = capabilities.max_subgroup_size.max(64) as usize;
    let workgroup = Workgroup { size, lanes: capabilities.subgroup_size as usize };
    let shape = Shape { workgroup, runs_per_invocation: 2, packs_per_run: 1 };
    let tile_items = shape.tile_items::<R>();
    let silences = if is_counted { &SILENT_EVERY[..] } else { &SILENT_EVERY[..1] };
    for (access, exclusive) in [(Access::Quads, false), (Access::Words, true)] {
        for &silent_every in silences {
            let mut constants = vec![
                ("RUNS_PER_INVOCATION", shape.runs_per_invocation as u32),
                ("PACKS_PER_RUN", shape.packs_per_run as u32),
                ("EXCLUSIVE", exclusive.into()),
                access.constant(),
            ];
            constants.extend(R::constants());
            if is_counted {
                constants.push(("SILENT_EVERY", silent_every as u32));
            }
            let rig = Rig::new(gpu, kernel, size as u32, &constants)?;
            // One tile, several windows of tiles and a rest.
            for count in [1, tile_items, tile_items + 1, 7 * tile_items - 3, 41 * tile_items + 5] {
                let case = format!(
                    "{count} elements of {}, {access:?}, exclusive: {exclusive}, {silent_every} silent, {}",
                    R::name(),
                    kernel.name
                );
                let tiles = Tiles::new(count, tile_items);
                let words = R::input(count, count);
                let elements = R::of_words(&words);
                let mut expected = vec![R::IDENTITY; count];
                let is_silent = |tile: usize| silent_every > 0 && tile.is_multiple_of(silent_every);
                twin::chained(&shape, exclusive, &elements, &mut expected, tiles, is_silent);

                let source = Memory::of(gpu, &words, access)?;
                let destination = Memory::poisoned(gpu, words.len(), access)?;
                let state =
                    Memory::of(gpu, &vec![0; TICKET_WORDS + tiles.tile_count * 2 * R::WORDS], Access::Quads)?;
                let counts = Memory::of(gpu, &[0; 4], Access::Quads)?;
                rig.run(
                    &[
                        ("source", Value::Pointer(&source)),
                        ("destination", Value::Pointer(&destination)),
                        ("state", Value::Pointer(&state)),
                        ("tile_count", Value::Number(tiles.tile_count)),
                        ("last_extent", Value::Number(tiles.last_extent)),
                        ("counts", Value::Pointer(&counts)),
                    ],
                    tiles.tile_count,
                )?;
                compare(&case, "source", &source, &words)?;
                let expected: Vec<_> = expected.iter().flat_map(R::words).collect();
                compare(&case, "destination", &destination, &expected)?;
                if is_counted {
                    let silent = (0..tiles.tile_count - 1).filter(|&tile| is_silent(tile)).count() as u32;
                    let [windows, spins, fallbacks, longest] = counts.read()?[..] else {
                        unreachable!("4 words")
                    };
                    let at_least_once = windows as usize >= tiles.tile_count - 1;
                    if fallbacks < silent || !at_least_once {
                        return Err(format!("{case}: {windows} windows, {spins} spins, {fallbacks} fallbacks, longest {longest}").into());
                    }
                }
            }
        }
    }
    Ok(())
}
