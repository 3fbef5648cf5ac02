use super::*;

#[test]
fn every_step_but_the_first_moves_half_of_the_elements() {
    assert_eq!(BlockDoubling::moved_count(1), 1);
    assert_eq!(BlockDoubling::moved_count(1 << 10), (1 << 10) + 9 * (1 << 9));
    // 0, then 2 3 | 6, then 4 5 6.
    assert_eq!(BlockDoubling::moved_count(7), 7 + 3 + 3);
    assert_eq!(BlockDoubling::moved_count(6), 6 + 2 + 2);
}
