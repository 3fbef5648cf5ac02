use super::elapsed_ticks;

#[test]
fn bits_beyond_the_valid_ones_do_not_count() {
    assert_eq!(elapsed_ticks([5, 25], 64), 20);
    assert_eq!(elapsed_ticks([(1 << 36) - 4, 6], 36), 10);
    assert_eq!(elapsed_ticks([0xdead_0000_0000_0001, 0xbeef_0000_0000_0003], 32), 2);
}
