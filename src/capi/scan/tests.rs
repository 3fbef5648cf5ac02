use super::*;

#[test]
fn a_row_longer_than_the_longest_is_refused() {
    let row = |word_count| InitialValue::host(&[7_u32; MAX_ROW_WORDS + 1][..word_count]);
    assert!(row(MAX_ROW_WORDS).is_ok());
    assert!(row(MAX_ROW_WORDS + 1).is_err());
}
