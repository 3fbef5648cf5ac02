use super::printable;

#[test]
fn text_stays_on_its_line_and_ends() {
    assert_eq!(printable(b"'<u4' \\", 60), "'<u4' \\");
    assert_eq!(printable(b"a\x1b[2J\r\n\xff", 60), "a\\x1b[2J\\r\\n\\xff");
    assert_eq!(printable(&[b'x'; 60], 60), "x".repeat(60));
    assert_eq!(printable(&[b'x'; 61], 60), "x".repeat(60) + "…");
    assert_eq!(printable(&vec![b'x'; 1 << 20], 64), "x".repeat(64) + "…");
}
