use super::*;

#[test]
fn a_value_size_mismatch_has_a_remedy() {
    for (expected, got, what) in
        [(8, 0, "take the call for pairs"), (0, 4, "configure pairs"), (8, 4, "give it their ValueSize")]
    {
        let text = Error::ValueSizeMismatch { expected, got }.to_string();
        assert!(text.contains(what) && !text.contains('\n'), "{text}");
    }
}
