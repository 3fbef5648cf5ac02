//! Flags of elements.

use std::io::Read;

use super::npy;
use super::read::TableError;

/// A flag for each element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flags {
    /// Of 8 bits, such as numpy's bool.
    U8(Vec<u8>),
    /// Of 32 bits.
    U32(Vec<u32>),
}

impl Flags {
    /// Reads all of `reader` as the flags of `count` elements: an `.npy` file of bool, u8 or u32 in one dimension, or
    /// raw flags whose size follows from the number of bytes. Reads no more than it could take.
    ///
    /// # Errors
    /// The first problem found.
    pub fn read(reader: impl Read, count: u64) -> Result<Self, TableError> {
        let max_size = count.saturating_mul(4).saturating_add(npy::MAX_HEADER_SIZE.into()).saturating_add(64);
        let mut bytes = Vec::new();
        reader.take(max_size).read_to_end(&mut bytes).map_err(TableError::from_read)?;
        if let Some(start) = bytes.first_chunk() {
            npy::check_archive(start, &mut &bytes[start.len()..])?;
        }
        let Some(mut rest) = bytes.strip_prefix(&npy::MAGIC) else {
            let size = bytes.len() as u64;
            return match size {
                _ if size == count => Ok(Self::U8(bytes)),
                _ if size == 4 * count => Ok(Self::of_words(&bytes)),
                _ => Err(TableError::FlagSize { size, count }),
            };
        };
        let (flag_size, flag_count) = npy::read_flags_header(&mut rest)?;
        if flag_count != count {
            return Err(TableError::FlagCount { flag_count, count });
        }
        let header_size = (bytes.len() - rest.len()) as u64;
        let needed = header_size + count * flag_size;
        match (bytes.len() as u64).cmp(&needed) {
            std::cmp::Ordering::Less => Err(TableError::Ended { held: bytes.len() as u64, needed }),
            std::cmp::Ordering::Greater => Err(TableError::Extra { needed }),
            std::cmp::Ordering::Equal if flag_size == 1 => Ok(Self::U8(rest.to_vec())),
            std::cmp::Ordering::Equal => Ok(Self::of_words(rest)),
        }
    }

    fn of_words(bytes: &[u8]) -> Self {
        Self::U32(bytemuck::pod_collect_to_vec(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::testing::npy_of;

    fn npy(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
        npy_of(&format!("'{descr}'"), shape, payload)
    }

    #[test]
    fn flags_of_one_and_of_four_bytes() {
        let read = |bytes: &[u8], count| Flags::read(bytes, count).unwrap();
        assert_eq!(read(&[1, 0, 7], 3), Flags::U8(vec![1, 0, 7]));
        assert_eq!(read(&[1, 0, 0, 0, 0, 0, 0, 9], 2), Flags::U32(vec![1, 9 << 24]));
        assert_eq!(read(&[], 0), Flags::U8(vec![]));
        assert_eq!(read(&npy("|b1", "(2,)", &[1, 0]), 2), Flags::U8(vec![1, 0]));
        assert_eq!(read(&npy("|u1", "(0,)", &[]), 0), Flags::U8(vec![]));
        assert_eq!(read(&npy("<u4", "(1,)", &[0, 1, 0, 0]), 1), Flags::U32(vec![256]));
        assert_eq!(read(&npy(">u4", "(1,)", &[0, 0, 1, 0]), 1), Flags::U32(vec![1 << 16]));
    }

    #[test]
    fn other_flags_are_refused() {
        for (bytes, count, expected) in [
            (vec![1, 2], 3, "holds 2 bytes, and flags of 1 or 4 for each of 3 elements"),
            (vec![0; 1 << 17], 2, "bytes, and flags of 1 or 4"),
            (npy("<f4", "(1,)", &[0; 4]), 1, "flags of type <f4, and bool, u8 and u32"),
            (npy("|b1", "(2, 1)", &[0; 2]), 2, "has 2 dimensions"),
            (npy("|b1", "(2,)", &[0; 2]), 3, "holds 2 flags, and there are 3 elements"),
            (npy("|b1", "(2,)", &[0]), 2, "ended after"),
            (npy("|b1", "(2,)", &[0; 3]), 2, "goes on after"),
        ] {
            let error = Flags::read(&bytes[..], count).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
