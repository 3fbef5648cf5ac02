use super::*;

#[test]
fn tiles_hold_k_keys_until_one_is_left() {
    for (columns, k, tile_items) in
        [(1, 1, 64), (64, 64, 64), (65, 32, 64), (1 << 28, 2048, 4096), (1 << 28, 1, 32), (12_345, 7, 96)]
    {
        let levels: Vec<_> = levels(columns, k, tile_items).collect();
        assert_eq!(levels.last().unwrap().tiles, 1);
        for level in &levels[..levels.len() - 1] {
            assert!(level.tiles > 1 && level.columns / level.tiles >= k, "{level:?}");
        }
        assert!(levels.iter().all(|level| level.columns.div_ceil(level.tiles) <= tile_items));
    }
    let level = |columns, tiles| Level { columns, tiles };
    let expected = [level(1 << 22, 1024), level(1 << 15, 8), level(256, 1)];
    assert_eq!(levels(1 << 22, 32, 4096).collect::<Vec<_>>(), expected);
}
