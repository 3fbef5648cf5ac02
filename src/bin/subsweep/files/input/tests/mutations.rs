//! Damaged and forged headers, from a seed.

use super::*;

#[test]
fn mutated_headers_neither_panic_nor_take_memory() {
    let mut random = Random(0x5EED_5EED_5EED_5EED);
    let bases = [FLAT, GRID, NO_ROWS, GRID_BY_COLUMNS, SCALAR, BIG_ENDIAN, STRUCTURED];
    let (mut read_count, mut refused_count) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = bases[random.below(bases.len())].to_vec();
        for _ in 0..=random.below(3) {
            random.mutate(&mut bytes);
        }
        if random.below(2) == 0 {
            repair(&mut bytes);
        }
        let (result, largest) = largest_allocation(|| as_file(&bytes, None));
        assert!(largest <= bytes.len() + (64 << 10), "{largest} bytes for {}", bytes.escape_ascii());
        let (streamed, largest) = largest_allocation(|| as_stream(&bytes, None));
        assert!(largest <= bytes.len() + (1 << 20), "{largest} bytes for {}", bytes.escape_ascii());
        match (result, streamed) {
            (Ok(table), Ok(streamed)) => {
                read_count += 1;
                assert_eq!(table, streamed);
                assert_eq!(table.words.len() * 4, table.shape.element_count() * table.element.size());
                let written =
                    [&npy::header(table.element, table.shape), bytemuck::cast_slice(&table.words)].concat();
                assert_eq!(as_file(&written, None).unwrap(), table);
            }
            (Err(result), Err(streamed)) => {
                refused_count += 1;
                let line = result.to_string();
                assert!(line.len() < 400 && !line.contains(char::is_control), "{line:?}");
                // An end is seen at once in a file's length, and on the way in a stream.
                assert_eq!(std::mem::discriminant(&result), std::mem::discriminant(&streamed));
            }
            (result, streamed) => {
                panic!("{result:?} and {streamed:?} for {}", bytes.escape_ascii())
            }
        }
    }
    // The mutations are no test where all of them, or none, spoil the file.
    assert!(read_count > 500 && refused_count > 500, "{read_count} read, {refused_count} refused");
}

/// Makes the lengths fit what else a header says, so that a change gets past the first checks.
fn repair(bytes: &mut Vec<u8>) {
    if let Some(end) = bytes.iter().skip(10).position(|&byte| byte == b'\n') {
        bytes[8..10].copy_from_slice(&(end as u16 + 1).to_le_bytes());
    }
    if !bytes.starts_with(&npy::MAGIC) {
        return;
    }
    if let Ok(header) = npy::read_header(&mut &bytes[npy::MAGIC.len()..], TAKEN) {
        // Else a forged shape would fill the memory, which is not what is tried here.
        if header.payload_size < 1 << 16 {
            bytes.resize((header.header_size + header.payload_size) as usize, 1);
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// One change of the kinds that damage, or forge, a header.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        const TOKENS: [&[u8]; 12] = [
            b"(",
            b")",
            b"[",
            b"'",
            b"\"",
            b",",
            b":",
            b"{",
            b"}",
            b"True",
            b"18446744073709551615",
            b"'<u4'",
        ];
        if bytes.is_empty() {
            return;
        }
        let at = self.below(bytes.len());
        // The magic is left alone mostly, for without it there is no header.
        let at = if self.below(16) == 0 { at } else { at.max(6).min(bytes.len() - 1) };
        match self.below(7) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.next() as u8,
            2 => bytes[at] = b'0' + self.below(10) as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.splice(at..at, TOKENS[self.below(TOKENS.len())].iter().copied())),
            5 => {
                let end = bytes.len().min(at + self.below(8));
                drop(bytes.drain(at..end));
            }
            _ => bytes.extend_from_within(at..),
        }
    }
}
