use super::*;

#[test]
fn levels_end_at_one_tile() {
    let levels = |count, tile_items, row_size| {
        let mut cursor = ScratchCursor::default();
        (Levels::new(&mut cursor, count, tile_items, row_size), cursor.size)
    };
    let (one, size) = levels(1, 256, 4);
    assert_eq!((one.len, size), (1, 0));
    let (levels_of_many, _) = levels(256 * 256 * 256 + 1, 256, 16);
    assert_eq!(&levels_of_many.counts[..levels_of_many.len], &[16_777_217, 65_537, 257, 2]);
    assert_eq!(&levels_of_many.offsets[..levels_of_many.len], &[0, 0, 65_537 * 16, (65_537 + 257) * 16]);
    assert_eq!(levels(u64::MAX, 4, 4).0.counts[0], u64::MAX);
}
