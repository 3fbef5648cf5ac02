//! Pass checks of the preparation of a scan: heads from offsets, and dispatch arguments of the levels.

use libtest_mimic::Failed;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep_tool::reference::passes::scan::{self as scan_model, LevelArgs};
use subsweep_tool::reference::passes::segmented_scan as model;

use super::rig::{self, Alignment, Rig, Selection, Value, random, small_workgroup};

pub fn mark_segments(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let workgroup_size = small_workgroup(gpu);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[])?;
    for (offset_count, row_count) in [(1, 1), (31, 40), (32, 1000), (33, 64), (5000, 3000)] {
        let mut offsets: Vec<_> = random(row_count, offset_count).iter().map(|word| word % 4000).collect();
        offsets[0] = row_count as u32 - 1;
        let mut expected = vec![0; row_count.div_ceil(32)];
        model::mark_segments(&offsets, &mut expected, row_count as u32);
        let values = [
            ("heads", Value::changed(vec![0; expected.len()], expected)),
            ("offsets", Value::input(offsets)),
            ("offset_count", Value::Number(offset_count)),
            ("row_count", Value::Number(row_count)),
        ];
        let case = format!("{offset_count} offsets among {row_count} rows");
        rig.check(&case, values, offset_count.div_ceil(workgroup_size as usize))?;
    }
    Ok(())
}

pub fn level_args(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let any = u64::from(u32::MAX);
    for (count, max_count, tile_items, level_count, column_count, max_row, min_tiles) in [
        (0, 5, 128, 1, 1, 65_535, 0),
        (0, 5, 128, 1, 1, 65_535, 1),
        (1, 5, 128, 1, 16, 65_535, 1),
        (any, 500, 128, 2, 1, 65_535, 0),
        (1 << 20, 1 << 21, 128, 3, 5, 65_535, 0),
        (100_000, any, 128, 5, 3, 1000, 0),
        (any, any, 4096, 3, 1, 65_535, 0),
        // Of 64 bits.
        (0, u64::MAX, 4096, 1, 1, 65_535, 0),
        (77, u64::MAX, 96, 1, 1, 65_535, 0),
        (5 << 32, u64::MAX, 4096, 1, 1, 65_535, 0),
        ((5 << 32) + 1, u64::MAX, 4096, 1, 1, 65_535, 0),
        ((5 << 32) - 1, u64::MAX, 4095, 1, 1, 65_535, 0),
        ((94 << 32) + 3, u64::MAX, 96, 1, 1, 65_535, 0),
        (32_767 * any, u64::MAX, 32_767, 1, 1, 65_535, 0),
    ] {
        let is_wide = max_count == u64::MAX;
        let constants = [("MIN_TILES", min_tiles), ("WIDE_OFFSETS", is_wide.into())];
        let rig = Rig::new(gpu, kernel, small_workgroup(gpu), &constants)?;
        let levels = scan_model::level_args(
            count,
            max_count,
            tile_items,
            level_count,
            column_count,
            max_row,
            min_tiles,
        );
        let words = |level: &LevelArgs| {
            let LevelArgs { workgroups: [x, y, z], tile_count, last_extent } = *level;
            [x, y, z, tile_count, last_extent, rig::POISON, rig::POISON, rig::POISON]
        };
        let expected: Vec<_> = levels.iter().flat_map(words).collect();
        let count_words = [count as u32, (count >> 32) as u32];
        let number = |value: u32| Value::Number(value as usize);
        let values = [
            ("count", Value::input(&count_words[..1 + usize::from(is_wide)])),
            ("levels", Value::output(expected).at(Alignment::Quads)),
            ("max_count", number(if is_wide { 7 } else { max_count as u32 })),
            ("tile_items", number(tile_items)),
            ("level_count", Value::Number(level_count)),
            ("column_count", number(column_count)),
            ("max_row", number(max_row)),
        ];
        rig.check(&format!("{count} of {max_count} in tiles of {tile_items}"), values, 0)?;
    }
    Ok(())
}
