use super::*;

const LIMIT: [u32; 3] = [65_535, 65_535, 65_535];

#[test]
fn a_short_dispatch_is_one_row() {
    assert_eq!(grid(1, LIMIT).unwrap(), [1, 1]);
    assert_eq!(grid(65_535, LIMIT).unwrap(), [65_535, 1]);
}

#[test]
fn a_long_dispatch_wastes_less_than_one_row() {
    // Tutorial 14 at 2^25 entries has 131,072 chunks.
    for count in [65_536, 131_071, 131_072, 1_000_003, 65_535 * 65_535] {
        let [x, y] = grid(count, LIMIT).unwrap();
        let total = u64::from(x) * u64::from(y);
        assert!(
            x <= 65_535 && y <= 65_535 && total >= count && total - count < u64::from(y),
            "{count}: {x} × {y}"
        );
    }
}

#[test]
fn rows_are_short_where_a_dispatch_is_long() {
    assert_eq!(short_rows(1000, 1, LIMIT)[0], 1000);
    assert_eq!(short_rows(1000, 3, LIMIT)[0], 334);
    assert_eq!(short_rows(1000, 5000, LIMIT)[0], 1);
    // The second dimension has its limit too.
    assert_eq!(short_rows(1000, 5000, [65_535, 10, 1])[0], 100);
    assert_eq!(short_rows(1 << 40, 1, LIMIT)[0], 65_535);
    assert_eq!(short_rows(0, 0, LIMIT)[0], 1);
}

#[test]
fn beyond_two_dimensions_is_an_error() {
    assert!(matches!(grid(65_535 * 65_535 + 1, LIMIT), Err(Error::TooManyElements { .. })));
}
