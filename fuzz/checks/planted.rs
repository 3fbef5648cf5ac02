//! Two readers with a deliberate fault each: a fuzzer that does not find them proves nothing about the other readers.
//!
//! Like the real readers they read a magic and a length, but they trust the length.

/// Random guesses need 2^32 runs, comparison tracing a few thousand.
const MAGIC: u32 = 0x9E37_79B9;

/// Indexes by the untrusted length.
pub fn panic(bytes: &[u8]) -> u8 {
    match length(bytes) {
        Some(length) => bytes[length],
        None => 0,
    }
}

/// Allocates the untrusted length.
pub fn memory(bytes: &[u8]) -> Vec<u8> {
    super::memory::within(super::file_bound(bytes.len()), bytes, || match length(bytes) {
        Some(length) => Vec::with_capacity(length),
        None => Vec::new(),
    })
}

/// The length after the magic.
fn length(bytes: &[u8]) -> Option<usize> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let length = rest.first_chunk()?;
    (u32::from_le_bytes(*magic) == MAGIC).then_some(u32::from_le_bytes(*length) as usize)
}
