use super::*;

#[test]
fn a_step_reads_an_element_and_the_one_at_its_distance() {
    assert_eq!(Strided::moved_count(1), 2);
    assert_eq!(Strided::moved_count(2), 3 * 2 - 1);
    assert_eq!(Strided::moved_count(7), 3 * 7 * 3 - 4 - 2 - 1);
}
