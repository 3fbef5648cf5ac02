//! Arrays of structures in `.npy` files: rows of fields, which are moved whole.

use std::io::Read;

use super::read::{Bytes, read_full, read_payload};
use super::reader::read_start;
use super::{ElementType, TableError, npy};

/// The rows of a structured array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structures {
    /// The bytes before the rows, as they were read.
    pub header: Vec<u8>,
    /// The fields of a row.
    pub structure: Structure,
    /// The rows, one after the other.
    pub payload: Vec<u8>,
}

/// The fields of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// Bytes of a row.
    pub size: usize,
    /// The fields in their order, those within another as `outer.inner`. Padding is none.
    pub fields: Vec<NamedField>,
}

/// A field of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedField {
    /// Its name.
    pub name: String,
    /// Bytes before it.
    pub offset: usize,
    /// Its `descr`, cut to a line.
    pub descr: String,
    /// Its type, if it is a number, little-endian; bool as u8.
    pub number: Option<ElementType>,
}

impl Structures {
    /// Reads all of `bytes`, an `.npy` file of one dimension. Memory is allocated as by [`Table::read`](super::Table::read).
    ///
    /// # Errors
    /// The first problem found.
    pub fn read(bytes: Bytes<impl Read>) -> Result<Self, TableError> {
        let Bytes { mut reader, file_size, memory_size } = bytes;
        if read_start(&mut reader)?.is_some() {
            return Err(TableError::NoHeader);
        }
        let (header, structure, count) = npy::read_structured_header(&mut reader)?;
        let too_large = || TableError::TooLarge { shape: format!("({count},)") };
        let size = (count as u64).checked_mul(structure.size as u64).ok_or_else(too_large)?;
        let needed = size.checked_add(header.len() as u64).ok_or_else(too_large)?;
        match file_size {
            Some(held) if held < needed => return Err(TableError::Ended { held, needed }),
            Some(held) if held > needed => return Err(TableError::Extra { needed }),
            _ => {}
        }
        let payload = read_payload(&mut reader, size, file_size.is_some(), memory_size)?;
        if (payload.len() as u64) < size {
            return Err(match file_size {
                Some(_) => TableError::Changed,
                None => TableError::Ended { held: (header.len() + payload.len()) as u64, needed },
            });
        }
        match read_full(&mut reader, &mut [0])? {
            0 => Ok(Self { header, structure, payload }),
            _ if file_size.is_some() => Err(TableError::Changed),
            _ => Err(TableError::Extra { needed }),
        }
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.payload.len().checked_div(self.structure.size).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::testing::npy_of;
    use ElementType::{Bf16, F32, I64, U8, U16, U32};

    fn file(descr: &str, count: usize, payload: &[u8]) -> Vec<u8> {
        npy_of(descr, &format!("({count},)"), payload)
    }

    fn read(file: &[u8]) -> Result<Structures, TableError> {
        let stream = Structures::read(Bytes { reader: file, file_size: None, memory_size: 1 << 20 });
        let size = Some(file.len() as u64);
        let of_file = Structures::read(Bytes { reader: file, file_size: size, memory_size: 1 << 20 });
        assert_eq!(format!("{of_file:?}"), format!("{stream:?}"));
        of_file
    }

    fn fields(descr: &str) -> (usize, Vec<(String, usize, Option<ElementType>)>) {
        let found = read(&file(descr, 0, &[])).unwrap().structure;
        (found.size, found.fields.into_iter().map(|field| (field.name, field.offset, field.number)).collect())
    }

    #[test]
    fn fields_have_the_offsets_of_numpy() {
        let of = |name: &str, offset, number| (name.to_owned(), offset, number);
        let expected = (12, vec![of("a", 0, Some(U8)), of("b", 4, Some(F32)), of("c", 8, Some(U16))]);
        let padded = "[('a', '|u1'), ('', '|V3'), ('b', '<f4'), ('c', '<u2'), ('', '|V2')]";
        assert_eq!(fields(padded), expected);
        // Titles, numbers of several elements, nested structures, text, times, and what has no type.
        let (size, found) = fields(
            "[(('title', 'k'), '<i8'), ('v', '<f4', (2, 3)), ('p', [('x', '<u4'), ('y', '>u4')]), ('s', '<U5'), \
             ('t', '<M8[ns]'), ('h', '<V2'), (\"it's\", '|b1'), ('n', '|S0'), ('w', [('z', '|u1')], (4,))]",
        );
        assert_eq!(size, 8 + 24 + 8 + 20 + 8 + 2 + 1 + 4);
        let expected = [
            of("k", 0, Some(I64)),
            of("v", 8, None),
            of("p.x", 32, Some(U32)),
            of("p.y", 36, None),
            of("s", 40, None),
            of("t", 60, None),
            of("h", 68, Some(Bf16)),
            of("it's", 70, Some(U8)),
            of("n", 71, None),
            of("w", 71, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn rows_are_read_whole() {
        let bytes = file("[('a', '<u2'), ('b', '<u2')]", 2, &[1, 0, 2, 0, 3, 0, 4, 0]);
        let found = read(&bytes).unwrap();
        assert_eq!((found.count(), found.payload.as_slice()), (2, &bytes[bytes.len() - 8..]));
        assert_eq!([found.header, found.payload].concat(), bytes);
    }

    #[test]
    fn what_is_no_structured_array_is_refused() {
        let refused = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        let of = |descr: &str| refused(&file(descr, 0, &[]));
        assert!(refused(b"123456789").contains("is not an .npy file, and only structured arrays"));
        assert!(of("'<f4'").contains("type <f4, which have no fields"));
        assert!(of("[('a', '|O')]").contains("type |O"));
        for damaged in [
            "[('a')]",
            "[('a', '<u4'",
            "[('a', '<u4', 3)]",
            "[(3, '<u4')]",
            "[('a', '<u99999999999999999999')]",
        ] {
            let text = of(damaged);
            assert!(
                text.contains("save it again") || text.contains("refers to objects"),
                "{damaged}: {text}"
            );
        }
        let deep = format!("{}'<u4'{}", "[('a', ".repeat(40), ")]".repeat(40));
        assert!(of(&deep).contains("nested"), "{}", of(&deep));
        let rows = file("[('a', '<u4')]", 2, &[0; 7]);
        assert!(refused(&rows).contains("ended after"), "{}", refused(&rows));
        let rows = file("[('a', '<u4')]", 1, &[0; 5]);
        assert!(refused(&rows).contains("goes on"), "{}", refused(&rows));
        let rows = file("[('a', '<f8', (1000000000,))]", usize::MAX, &[]);
        assert!(refused(&rows).contains("more than any file can hold"), "{}", refused(&rows));
    }
}
