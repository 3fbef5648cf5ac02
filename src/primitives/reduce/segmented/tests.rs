use super::*;

#[test]
fn a_dispatch_sums_groups_of_32_and_of_1024_rows() {
    let layout = |count| {
        let mut cursor = ScratchCursor::default();
        (ScratchLayout::new(&mut cursor, count, 8, None, false), cursor.size)
    };
    assert_eq!((layout(31).0.dispatch_count, layout(31).1), (0, 0));
    assert_eq!((layout(32).0.dispatch_count, layout(32).1), (1, 16));
    let (few, size) = layout(65);
    assert_eq!((few.dispatch_count, &few.counts[..4], size), (1, &[65, 3, 1, 0][..], 32));
    let (many, _) = layout(u32::MAX.into());
    assert_eq!(many.dispatch_count, 3);
    assert_eq!(many.counts[..7], [u32::MAX.into(), 1 << 27, 1 << 22, 1 << 17, 1 << 12, 128, 4]);
    let mut cursor = ScratchCursor::default();
    let keys = ScratchLayout::new(&mut cursor, 3000, 4, Some(1024), true);
    assert_eq!((keys.dispatch_count, keys.sums.size), (1, (94 + 3) * 4));
    assert_eq!((keys.tile_heads.offset, keys.offsets.offset, keys.grid.offset), (400, 416, 12_416));
    assert_eq!((keys.level_args, keys.head_args, cursor.size), (12_432, 12_464, 12_496));
    let mut cursor = ScratchCursor::default();
    let small = ScratchLayout::new(&mut cursor, 3000, 4, Some(128), true);
    assert_eq!((small.tile_heads.offset, small.offsets.offset), (400, 400 + 96));
}
