//! Reads a table from untrusted bytes.

use crate::table::element::conversion;
use std::io::{self, Read};

use super::order::by_rows;
use super::reader::{Expected, TableReader, raw_values, read_start};
use super::remedy::remedy;
use super::{ElementType, Format, Table, TableShape, Taken, npy};

/// The source of a table's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<R> {
    /// Reads from the first byte to the last.
    pub reader: R,
    /// Size in bytes, if known: of a regular file, not of a stream.
    pub file_size: Option<u64>,
    /// Available memory, in bytes.
    pub memory_size: u64,
}

impl Table {
    /// Reads all of `bytes`: an `.npy` file if they start with its magic, else raw elements of the type `declared`. For
    /// an `.npy` file `declared` is optional, and must agree with the header if given.
    ///
    /// Only `taken` tables are read. A known size is checked before memory is allocated for it, and allocated at once;
    /// for a stream at most twice the bytes received are held. A header of at most 64 KiB and the first 64 KiB of a
    /// stream are the only memory allocated on trust.
    ///
    /// # Errors
    /// The first problem found.
    pub fn read(
        bytes: Bytes<impl Read>,
        declared: Option<ElementType>,
        taken: &Taken,
    ) -> Result<Self, TableError> {
        let Bytes { reader, file_size, memory_size } = bytes;
        read_all(TableReader::new(reader, file_size, declared, taken)?, file_size, memory_size)
    }

    /// As [`Self::read`]; an `.npy` file may be of any of the types that are taken, and `raw` is the type of raw elements.
    ///
    /// # Errors
    /// The first problem found.
    pub fn read_with_raw(
        bytes: Bytes<impl Read>,
        raw: ElementType,
        taken: &Taken,
    ) -> Result<Self, TableError> {
        let Bytes { reader, file_size, memory_size } = bytes;
        read_all(TableReader::with_raw(reader, file_size, raw, taken)?, file_size, memory_size)
    }

    /// Reads all of `bytes` as the values of `count` keys, of any type: an `.npy` file of one dimension, or
    /// raw values whose size follows from the number of bytes. Raw values are read as unsigned numbers, whatever their type.
    ///
    /// Memory is allocated as in [`Table::read`], and none for an `.npy` file whose header states another count.
    ///
    /// # Errors
    /// The first problem found.
    pub fn read_values(bytes: Bytes<impl Read>, count: u64) -> Result<Self, TableError> {
        let Bytes { mut reader, file_size, memory_size } = bytes;
        let Some(start) = read_start(&mut reader)? else {
            let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count: u64::MAX };
            let expected = Expected { count: Some(count), ..Expected::default() };
            let table = TableReader::npy(reader, file_size, expected, &taken)?;
            return read_all(table, file_size, memory_size);
        };
        read_raw_values(Bytes { reader: start.chain(reader), file_size, memory_size }, count)
    }

    /// As [`Self::read_values`], for a value for each element of a table of shape `keys`: an `.npy` file of that shape, or
    /// with one dimension more, the elements of a value. Raw values have 1, 2, 4 or 8 bytes, and are returned with the shape of the
    /// keys.
    ///
    /// # Errors
    /// The first problem found.
    pub fn read_values_of(bytes: Bytes<impl Read>, keys: TableShape) -> Result<Self, TableError> {
        let Bytes { mut reader, file_size, memory_size } = bytes;
        if let Some(start) = read_start(&mut reader)? {
            let bytes = Bytes { reader: start.chain(reader), file_size, memory_size };
            let values = read_raw_values(bytes, keys.element_count() as u64)?;
            return Ok(Self { shape: keys, ..values });
        }
        let max_dimensions = if keys.is_flat() { 2 } else { 3 };
        let taken = Taken { elements: &ElementType::ALL, max_dimensions, max_count: u64::MAX };
        let expected = Expected { keys: Some(keys), ..Expected::default() };
        read_all(TableReader::npy(reader, file_size, expected, &taken)?, file_size, memory_size)
    }
}

/// Why no table was read: one line with advice. The caller adds the file's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The reader failed.
    #[error("cannot be read ({0})")]
    Read(io::Error),
    /// A raw file without a declared type.
    #[error("is not an .npy file; if it holds raw elements, say of which type with --type")]
    TypeMissing,
    /// An empty file without a declared type.
    #[error("is empty; give it elements, or say with --type of which type it holds none")]
    Empty,
    /// A file without an `.npy` header, where fields are asked for.
    #[error("is not an .npy file, and only structured arrays have fields; save it with numpy.save")]
    NoHeader,
    /// Elements without fields.
    #[error("holds elements of type {found}, which have no fields; leave out --by")]
    NoFields {
        /// The type found, cut to a line.
        found: String,
    },
    /// A field of no known size.
    #[error("has a field of type {found}, which refers to objects; save the array without it")]
    FieldNotTaken {
        /// The type found, cut to a line.
        found: String,
    },
    /// A zip archive, as of `numpy.savez`.
    #[error("{}", archive_text(array.as_deref()))]
    Archive {
        /// The name of its first file without `.npy`, by which numpy knows the array; none if it holds no array first.
        array: Option<String>,
    },
    /// A raw file whose size is not a multiple of the element size.
    #[error(
        "holds {size} bytes, which is not a multiple of the {} bytes of a {element}; \
         check which type it holds, and whether it is complete",
        element.size()
    )]
    PartialElement {
        /// Bytes in the file.
        size: u64,
        /// The type declared.
        element: ElementType,
    },
    /// `--type` contradicts the header.
    #[error(
        "holds {found} by its .npy header, and --type says {declared}; \
         leave --type out, or save {}",
        conversion(Some(*found), *declared)
    )]
    TypeDisagrees {
        /// The type in the header.
        found: ElementType,
        /// The type declared.
        declared: ElementType,
    },
    /// An element type that is not accepted.
    #[error("holds elements of type {found}, and {} is taken; {}", names(taken), remedy(found, taken))]
    ElementNotTaken {
        /// The type found, cut to a line.
        found: String,
        /// The accepted types.
        taken: Vec<ElementType>,
    },
    /// Flags of a type that is not accepted.
    #[error("holds flags of type {found}, and bool, u8 and u32 are taken; save a.astype(bool)")]
    FlagsNotTaken {
        /// The type found, cut to a line.
        found: String,
    },
    /// The number of flags differs from the number of elements.
    #[error("holds {flag_count} flags, and there are {count} elements; give one for each")]
    FlagCount {
        /// Flags in the file.
        flag_count: u64,
        /// Elements.
        count: u64,
    },
    /// Raw flags of an unsupported size.
    #[error(
        "holds {size} bytes, and flags of 1 or 4 for each of {count} elements are taken; give one for each"
    )]
    FlagSize {
        /// Bytes in the file, or a few more than are taken.
        size: u64,
        /// Elements.
        count: u64,
    },
    /// Elements of numpy's bool, of which there are no sums.
    #[error(
        "holds bool, and arithmetic is of numbers; save a.view('|u1'), or a.astype('<u4') to count what is true"
    )]
    Bool,
    /// An unknown `.npy` version.
    #[error(
        "has .npy version {major}.{minor}, and 1.0, 2.0 and 3.0 are known; save it again with numpy.save"
    )]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
    },
    /// An `.npy` header longer than the maximum.
    #[error(
        "has an .npy header of {size} bytes, and {} are enough for a plain type; \
         save it again with numpy.save",
        npy::MAX_HEADER_SIZE
    )]
    HeaderTooLong {
        /// The size that the file states, in bytes.
        size: u32,
    },
    /// A malformed `.npy` header.
    #[error("has a damaged .npy header ({what}, at byte {at} of its text); save it again with numpy.save")]
    Malformed {
        /// The problem.
        what: &'static str,
        /// Bytes into the header's text.
        at: usize,
    },
    /// A shape that is not a tuple of integers.
    #[error("has a damaged shape {shape} in its .npy header; save it again with numpy.save")]
    Shape {
        /// The shape found, cut to a line.
        shape: String,
    },
    /// A shape of 0 or too many dimensions.
    #[error("has {count} dimensions, shape {shape}, and {}", dimensions_taken(*count, *max, *is_line))]
    Dimensions {
        /// The shape found, cut to a line.
        shape: String,
        /// Number of dimensions.
        count: usize,
        /// The accepted maximum.
        max: usize,
        /// Whether at most one dimension is not 1, as of `numpy.argwhere`.
        is_line: bool,
    },
    /// More elements than the maximum.
    #[error("holds more than {max} elements, which is the most that is taken; split it")]
    TooMany {
        /// The maximum.
        max: u64,
    },
    /// A table without columns.
    #[error("has shape ({rows}, 0), a table without columns; save one with at least one column")]
    NoColumns {
        /// Its rows.
        rows: usize,
    },
    /// A shape whose size in bytes overflows.
    #[error(
        "has shape {shape} in its .npy header, more than any file can hold; save it again with numpy.save"
    )]
    TooLarge {
        /// The shape found, cut to a line.
        shape: String,
    },
    /// The file ends before the header or the elements that it promises.
    #[error(
        "ended after {held} of {needed} bytes; it is truncated or its .npy header is wrong: make it again"
    )]
    Ended {
        /// Bytes found.
        held: u64,
        /// Bytes needed, header included; a lower bound if the header itself is incomplete.
        needed: u64,
    },
    /// More bytes than the header promises.
    #[error(
        "goes on after the {needed} bytes that its .npy header promises; \
         cut it there, or save it again with numpy.save"
    )]
    Extra {
        /// Bytes promised, header included.
        needed: u64,
    },
    /// The number of values differs from the number of keys.
    #[error("holds {value_count} elements for {count} of the input; give one for each")]
    ValueCount {
        /// Values in the file.
        value_count: u64,
        /// Keys.
        count: u64,
    },
    /// The first dimensions of values are not the dimensions of the keys.
    #[error(
        "has shape {shape}, and the keys {keys}; give one value for each key, in one dimension more if it has several elements"
    )]
    ValueShape {
        /// The shape found.
        shape: TableShape,
        /// The shape of the keys.
        keys: TableShape,
    },
    /// Raw values of an unsupported size.
    #[error(
        "holds {size} bytes{}, and elements of {sizes} bytes for each of {count} of the input are taken; \
         check whether it is complete",
        if *goes_on { " and more" } else { "" }
    )]
    ValueSize {
        /// Bytes in the file.
        size: u64,
        /// Whether more bytes follow: a stream is not read beyond what is needed.
        goes_on: bool,
        /// Elements of the input.
        count: u64,
        /// The sizes that are taken.
        sizes: &'static str,
    },
    /// A regular file that changed size while it was read.
    #[error("changed while it was read; try again once it is complete")]
    Changed,
    /// More than the available memory.
    #[error("needs {size} bytes of memory, and there is not as much; split it")]
    Memory {
        /// Bytes requested.
        size: u64,
    },
}

impl TableError {
    /// The error of a read: of a [`TableReader`], or of what it reads.
    pub fn from_read(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Read)
    }
}

fn archive_text(array: Option<&str>) -> String {
    let is_plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_graphic() && !b"'\\".contains(&byte));
    match array {
        Some(name) => {
            let array = match Some(name).filter(is_plain) {
                Some(name) => format!("numpy.load('a.npz')['{name}']"),
                None => "list(numpy.load('a.npz').values())[0]".to_owned(),
            };
            format!("is an archive of arrays (.npz); save one of them, numpy.save('a.npy', {array})")
        }
        None => "is a zip archive; save an array of it with numpy.save".to_owned(),
    }
}

fn names(elements: &[ElementType]) -> String {
    elements.iter().map(|element| element.name()).collect::<Vec<_>>().join("|")
}

fn dimensions_taken(count: usize, max: usize, is_line: bool) -> &'static str {
    match (count, max) {
        (_, 1) if is_line => "one is taken; save a.reshape(-1)",
        (_, 1) => "one is taken; save a row or a column of it, or a.reshape(-1), all rows as one",
        (0, 3) => "one to three are taken; save a.reshape(-1)",
        (_, 3) => "up to three are taken; save a.reshape(len(a), len(a[0]), -1)",
        (0, _) => "one or two are taken; save a.reshape(-1)",
        _ => {
            "one or two are taken; save a.reshape(-1), or as rows the a[i], a.reshape(len(a), -1), or the last axis, \
             a.reshape(-1, a.shape[-1])"
        }
    }
}

/// Reads until `bytes` is full or the reader ends; returns the number of bytes read.
pub(super) fn read_full(reader: &mut impl Read, bytes: &mut [u8]) -> Result<usize, TableError> {
    subsweep::internal::read_full(reader, bytes).map_err(TableError::from_read)
}

/// Reads all elements of a table.
fn read_all(
    mut table: TableReader<impl Read>,
    file_size: Option<u64>,
    memory_size: u64,
) -> Result<Table, TableError> {
    let max_size = table.payload_size.unwrap_or(u64::MAX);
    let payload = read_payload(&mut table, max_size, file_size.is_some(), memory_size)?;
    // The end is checked by the read after the last byte.
    read_full(&mut table, &mut [0])?;
    let TableReader { format, element, shape, is_by_columns, .. } = table;
    let count = payload.len() / element.size();
    let payload = match shape.filter(|_| is_by_columns) {
        Some(_) if 2 * payload.len() as u64 > memory_size => {
            return Err(TableError::Memory { size: 2 * payload.len() as u64 });
        }
        Some(shape) => by_rows(&payload, shape, element.size())?,
        None => payload,
    };
    Ok(Table { format, element, shape: shape.unwrap_or(TableShape::Flat { count }), payload })
}

fn read_raw_values(bytes: Bytes<impl Read>, count: u64) -> Result<Table, TableError> {
    let Bytes { mut reader, file_size, memory_size } = bytes;
    if let Some(size) = file_size {
        raw_values(size, false, count, &ElementType::ALL)?;
    }
    let max_size = file_size.unwrap_or(count.saturating_mul(ElementType::U64.size() as u64));
    let payload = read_payload(&mut reader, max_size, file_size.is_some(), memory_size)?;
    let (held, goes_on) = (payload.len() as u64, read_full(&mut reader, &mut [0])? > 0);
    // A file of known size has as many bytes, and no more.
    if file_size.is_some() && (held < max_size || goes_on) {
        return Err(TableError::Changed);
    }
    let element = raw_values(held, goes_on, count, &ElementType::ALL)?;
    Ok(Table { format: Format::Raw, element, shape: TableShape::Flat { count: count as usize }, payload })
}

/// Reads up to `max_size` bytes. If that is known to be the size, memory is allocated at once, else it grows by doubling.
pub(super) fn read_payload(
    reader: &mut impl Read,
    max_size: u64,
    is_known: bool,
    memory_size: u64,
) -> Result<Vec<u8>, TableError> {
    const MIN_CHUNK_SIZE: u64 = 64 << 10;
    // Small enough to be cleared in the cache just before the bytes arrive.
    const MAX_CHUNK_SIZE: u64 = 1 << 20;

    let mut payload = Vec::new();
    if is_known {
        if max_size > memory_size {
            return Err(TableError::Memory { size: max_size });
        }
        let size = usize::try_from(max_size).map_err(|_| TableError::Memory { size: max_size })?;
        payload.try_reserve_exact(size).map_err(|_| TableError::Memory { size: max_size })?;
    }
    while (payload.len() as u64) < max_size {
        let start = payload.len();
        let held = start as u64;
        let size = held.clamp(MIN_CHUNK_SIZE, MAX_CHUNK_SIZE).min(max_size - held) as usize;
        let needed = held + size as u64;
        if needed > memory_size || payload.try_reserve(size).is_err() {
            return Err(TableError::Memory { size: needed });
        }
        payload.resize(start + size, 0);
        let filled = read_full(reader, &mut payload[start..])?;
        if filled < size {
            payload.truncate(start + filled);
            break;
        }
    }
    Ok(payload)
}

#[cfg(test)]
mod tests;
