use super::*;

#[test]
fn each_workgroup_scan_has_a_kernel() {
    for scan in WorkgroupScan::ALL.into_iter().filter(|&scan| scan != WorkgroupScan::Subgroup) {
        let define = format!("WORKGROUP_SCAN_{}", scan.name().replace('-', "_").to_uppercase());
        let defines = downsweep_by(scan).defines;
        assert!(defines.iter().any(|(other, _)| *other == define), "{defines:?}");
        assert!(defines.iter().all(|(other, _)| !other.starts_with("OPERATOR")), "{defines:?}");
    }
}

#[test]
fn scratch_includes_the_optional_inputs() {
    let plain = ScratchShape { row_size: 8, tile_items: 256, ..ScratchShape::default() };
    let layout = |shape: &ScratchShape, count| {
        let mut cursor = ScratchCursor::default();
        (ScratchLayout::new(shape, &mut cursor, count), cursor.size)
    };
    assert_eq!(layout(&plain, 256).1, 0);
    let all = ScratchShape {
        is_segmented: true,
        by_offsets: true,
        has_initial: true,
        has_indirect_count: true,
        ..plain
    };
    let (layout, scratch_size) = layout(&all, 1000);
    // Four sums and their heads, a row, two levels, and a bit for each of 1000 rows.
    assert_eq!((layout.levels.offsets[1], layout.heads[1]), (0, 32));
    assert_eq!((layout.initial, layout.level_args, layout.head_bits), (48, 64, 128));
    assert_eq!(scratch_size, 256);
}
