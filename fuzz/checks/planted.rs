//! Two readers with a mistake each, which must be found soon: else it means nothing that none is found elsewhere.
//!
//! They read what real ones read, a magic and a length, and believe the length.

/// Whoever guesses this at random needs four thousand million runs; whoever is told of comparisons, a few thousand.
const MAGIC: u32 = 0x9E37_79B9;

/// Indexes by the length.
pub fn panic(bytes: &[u8]) -> u8 {
    match length(bytes) {
        Some(length) => bytes[length],
        None => 0,
    }
}

/// Takes memory by the length.
pub fn memory(bytes: &[u8]) -> Vec<u8> {
    super::memory::within(super::file_bound(bytes.len()), bytes, || match length(bytes) {
        Some(length) => Vec::with_capacity(length),
        None => Vec::new(),
    })
}

/// What follows the magic.
fn length(bytes: &[u8]) -> Option<usize> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let length = rest.first_chunk()?;
    (u32::from_le_bytes(*magic) == MAGIC).then_some(u32::from_le_bytes(*length) as usize)
}
