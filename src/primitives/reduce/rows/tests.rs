use super::*;

#[test]
fn rows_take_few_lanes_a_workgroup_or_several() {
    let of = |length| {
        let shape = |shape: LevelShape| (shape.lanes, shape.packs, shape.tiles);
        LevelShape::all(length, Pack { values: 4, words: 4 }, 8).into_iter().map(shape).collect::<Vec<_>>()
    };
    assert_eq!(of(1), [(4, 1, 1)]);
    assert_eq!(of(40), [(4, 3, 1)]);
    assert_eq!(of(128), [(4, 8, 1)]);
    assert_eq!(of(129), [(128, 1, 1)]);
    assert_eq!(of(4096), [(128, 8, 1)]);
    assert_eq!(of(4097), [(128, 8, 2), (4, 1, 1)]);
    assert_eq!(of(1 << 24), [(128, 8, 4096), (128, 8, 1)]);
    assert_eq!(of(u32::MAX), [(128, 8, 1 << 20), (128, 8, 256), (128, 1, 1)]);
    let custom = LevelShape::new(40, Pack { values: 1, words: 16 }, 2);
    assert_eq!((custom.lanes, custom.packs), (128, 1));
}
