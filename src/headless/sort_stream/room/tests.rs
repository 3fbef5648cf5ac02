use super::*;

#[test]
fn chunks_are_as_many_as_one_round_merges() {
    assert_eq!(chunk_size_for(None, 4), CHUNK_SIZE);
    assert_eq!(chunk_size_for(Some(64 * CHUNK_SIZE / 4), 4), CHUNK_SIZE);
    // 100 GiB of keys in 64 chunks.
    assert_eq!(chunk_size_for(Some(100 << 27), 8), 100 << 24);
    assert!(chunk_size_for(Some((64 * CHUNK_SIZE / 4) + 1), 4) * 64 > 64 * CHUNK_SIZE);
}
