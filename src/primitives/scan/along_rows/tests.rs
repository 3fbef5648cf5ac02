use super::*;

#[test]
fn tiles_have_whole_segments_or_whole_segments_have_tiles() {
    let level = |length| Level {
        length,
        reduce: Level::length_above(length, 256).map(|_| ByAccess { quads: None, words: None }),
        downsweep: ByAccess { quads: None, words: None },
    };
    let shapes = [1, 3, 33, 128, 129, 256, 257, 1 << 20, u32::MAX].map(|length| {
        let level = level(length);
        (level.tile_step(256), level.tiles_per_segment(256))
    });
    let whole = [(256, 1), (192, 1), (132, 1), (256, 1), (129, 1), (256, 1)];
    assert_eq!(shapes[..6], whole);
    assert_eq!(shapes[6..], [(257, 2), (1 << 20, 4096), (u32::MAX, 1 << 24)]);
}
