use super::*;

#[test]
fn pieces_are_aligned_and_make_up_the_size() {
    let pieces = |size, max_size, alignment| piece_sizes(size, max_size, alignment).collect::<Vec<_>>();
    assert_eq!(pieces(20, 8, 4), [8, 8, 4]);
    assert_eq!(pieces(20, 11, 4), [8, 8, 4]);
    assert_eq!(pieces(16, 8, 4), [8, 8]);
    assert_eq!(pieces(4, 8, 4), [4]);
    assert!(pieces(20, 3, 4).is_empty());
}
