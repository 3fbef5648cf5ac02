use super::*;

#[test]
fn the_last_tile_holds_the_remainder() {
    assert_eq!(Tiles::new(1, 256).unwrap(), Tiles { count: 1, last_extent: 1 });
    assert_eq!(Tiles::new(256, 256).unwrap(), Tiles { count: 1, last_extent: 256 });
    assert_eq!(Tiles::new(257, 256).unwrap(), Tiles { count: 2, last_extent: 1 });
    assert!(Tiles::new(1 << 40, 128).is_err());
}
