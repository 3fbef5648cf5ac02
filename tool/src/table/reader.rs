//! Reads a table's elements one after the other, of which there may be more than the memory holds.

use std::io::{self, Cursor, Read, Seek};

use subsweep::NumberKind;

use super::order::{ByRows, Swapped};
use super::read::read_full;
use super::{ElementType, Format, TableError, TableShape, Taken, npy};

/// Bytes that were read to look for the magic.
pub(super) type Start = io::Take<Cursor<[u8; npy::MAGIC.len()]>>;

/// A table whose header has been read, and whose elements are read as bytes. Its reads fail with a [`TableError`], which
/// [`TableError::from_read`] returns, if there are fewer or more bytes than expected.
#[derive(Debug)]
pub struct TableReader<R> {
    reader: Swapped<io::Chain<Start, R>>,
    /// The format of the input, and of the output.
    pub format: Format,
    /// The type of every element.
    pub element: ElementType,
    /// Rows and columns, where they are known before all elements are read: not of a stream of raw elements.
    pub shape: Option<TableShape>,
    /// Whether elements are read column after column, as the file has them.
    pub is_by_columns: bool,
    /// Bytes before the first element.
    pub header_size: u64,
    /// Bytes of all elements, where the shape is known.
    pub payload_size: Option<u64>,
    /// Whether the input is a file of known size.
    is_file: bool,
    max_count: u64,
    held: u64,
    /// Whether the end of the elements has been checked.
    has_ended: bool,
}

/// What an `.npy` header must state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected {
    pub(super) element: Option<ElementType>,
    /// The number of values.
    pub(super) count: Option<u64>,
    /// The shape of the keys of values.
    pub(super) keys: Option<TableShape>,
}

impl<R: Read> TableReader<R> {
    /// Reads the header: an `.npy` file if the bytes start with its magic, else raw elements of the type `declared`. For
    /// an `.npy` file `declared` is optional, and must agree with the header if given. `file_size` is the size in bytes,
    /// if known: of a regular file, not of a stream.
    ///
    /// # Errors
    /// The first problem found.
    pub fn new(
        reader: R,
        file_size: Option<u64>,
        declared: Option<ElementType>,
        taken: &Taken,
    ) -> Result<Self, TableError> {
        Self::open(reader, file_size, declared, Expected { element: declared, ..Expected::default() }, taken)
    }

    /// As [`Self::new`]; an `.npy` file may be of any of the types that are taken, and `raw` is the type of raw elements.
    ///
    /// # Errors
    /// The first problem found.
    pub fn with_raw(
        reader: R,
        file_size: Option<u64>,
        raw: ElementType,
        taken: &Taken,
    ) -> Result<Self, TableError> {
        Self::open(reader, file_size, Some(raw), Expected::default(), taken)
    }

    fn open(
        mut reader: R,
        file_size: Option<u64>,
        raw: Option<ElementType>,
        expected: Expected,
        taken: &Taken,
    ) -> Result<Self, TableError> {
        match read_start(&mut reader)? {
            None => Self::npy(reader, file_size, expected, taken),
            Some(start) => Self::raw(reader, start, file_size, raw, taken),
        }
    }

    /// Reads the header after the magic.
    pub(super) fn npy(
        mut reader: R,
        file_size: Option<u64>,
        expected: Expected,
        taken: &Taken,
    ) -> Result<Self, TableError> {
        let npy::Header { format, element, is_swapped, shape, is_by_columns, header_size, payload_size } =
            npy::read_header(&mut reader, taken)?;
        if let Some(declared) = expected.element.filter(|&declared| declared != element) {
            return Err(TableError::TypeDisagrees { found: element, declared });
        }
        check_count(payload_size, element, taken.max_count)?;
        let value_count = shape.rows() as u64;
        if let Some(count) = expected.count.filter(|&count| count != value_count) {
            return Err(TableError::ValueCount { value_count, count });
        }
        let needed = header_size + payload_size;
        if let Some(keys) = expected.keys.filter(|&keys| !shape.is_of_values_of(keys)) {
            return Err(TableError::ValueShape { shape, keys });
        }
        match file_size {
            Some(held) if held < needed => return Err(TableError::Ended { held, needed }),
            Some(held) if held > needed => return Err(TableError::Extra { needed }),
            _ => {}
        }
        Ok(Self {
            reader: Swapped::new(
                Cursor::new([0; npy::MAGIC.len()]).take(0).chain(reader),
                if is_swapped { element.size() } else { 1 },
            ),
            format,
            element,
            shape: Some(shape),
            is_by_columns,
            header_size,
            payload_size: Some(payload_size),
            is_file: file_size.is_some(),
            max_count: taken.max_count,
            held: 0,
            has_ended: false,
        })
    }

    /// Bytes of a row; of one dimension, of an element.
    pub fn row_size(&self) -> usize {
        self.element.size() * self.shape.map_or(1, |shape| shape.columns())
    }

    /// Reads the header of values of the types `taken`, one for each of `count` keys, or of two dimensions a row for each: an
    /// `.npy` file, or raw values whose size follows from `file_size`. Raw values are unsigned, whatever their type.
    ///
    /// # Errors
    /// The first problem found.
    pub fn values(mut reader: R, file_size: u64, count: u64, taken: &Taken) -> Result<Self, TableError> {
        if let Some(start) = read_start(&mut reader)? {
            let element = raw_values(file_size, false, count, taken.elements)?;
            return Self::raw(reader, start, Some(file_size), Some(element), taken);
        }
        Self::npy(reader, Some(file_size), Expected { count: Some(count), ..Expected::default() }, taken)
    }

    fn raw(
        reader: R,
        start: Start,
        file_size: Option<u64>,
        declared: Option<ElementType>,
        taken: &Taken,
    ) -> Result<Self, TableError> {
        let element = declared.ok_or(match start.limit() {
            0 => TableError::Empty,
            _ => TableError::TypeMissing,
        })?;
        if !taken.elements.contains(&element) {
            let taken = taken.elements.to_vec();
            return Err(TableError::ElementNotTaken { found: element.to_string(), taken });
        }
        if let Some(size) = file_size {
            check_raw(size, element, taken.max_count)?;
        }
        let shape = |size: u64| TableShape::Flat { count: (size / element.size() as u64) as usize };
        Ok(Self {
            reader: Swapped::new(start.chain(reader), 1),
            format: Format::Raw,
            element,
            shape: file_size.map(shape),
            is_by_columns: false,
            header_size: 0,
            payload_size: file_size,
            is_file: file_size.is_some(),
            max_count: taken.max_count,
            held: 0,
            has_ended: false,
        })
    }

    /// Whether the input is a file of known size.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Whether the file has the elements as they are read, and row after row.
    pub fn is_plain(&self) -> bool {
        self.reader.size == 1 && !self.is_by_columns
    }

    /// The reader of the bytes, of which some of the elements may have been read.
    pub fn into_inner(self) -> R {
        self.reader.reader.into_inner().1
    }

    /// The elements row after row, of a table that [lies](Self::is_by_columns) column after column from the byte `start` of a
    /// file; in blocks of `block_size` bytes.
    ///
    /// # Errors
    /// The file cannot be read from there.
    pub fn into_rows(self, start: u64, block_size: usize) -> io::Result<impl Read>
    where
        R: Seek,
    {
        let (shape, size) = (self.shape.unwrap_or(TableShape::Flat { count: 0 }), self.element.size());
        let swapped_size = self.reader.size;
        Ok(Swapped::new(ByRows::new(self.into_inner(), start, shape, size, block_size)?, swapped_size))
    }

    /// Checks that the elements end where they should.
    fn end(&mut self) -> Result<(), TableError> {
        self.has_ended = true;
        let Some(size) = self.payload_size else {
            return check_raw(self.held, self.element, self.max_count);
        };
        let needed = self.header_size + size;
        let goes_on = self.held == size && read_full(&mut self.reader, &mut [0])? > 0;
        match (self.is_file, goes_on) {
            (true, true) => Err(TableError::Changed),
            (true, false) if self.held < size => Err(TableError::Changed),
            (false, true) => Err(TableError::Extra { needed }),
            (false, false) if self.held < size => {
                Err(TableError::Ended { held: self.header_size + self.held, needed })
            }
            (_, false) => Ok(()),
        }
    }
}

impl<R: Read> Read for TableReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let rest = self.payload_size.map_or(u64::MAX, |size| size - self.held);
        let size = rest.min(bytes.len() as u64) as usize;
        let read = if self.has_ended { 0 } else { self.reader.read(&mut bytes[..size])? };
        self.held += read as u64;
        if read == 0 && !bytes.is_empty() && !self.has_ended {
            self.end().map_err(io::Error::other)?;
        }
        if self.payload_size.is_none() {
            // A stream may be endless: one element beyond the maximum is enough to refuse it.
            check_count(self.held, self.element, self.max_count).map_err(io::Error::other)?;
        }
        Ok(read)
    }
}

/// Reads the first bytes: none if they are the magic of an `.npy` file, else the bytes of raw elements.
///
/// # Errors
/// The reader fails, or the file is an archive.
pub(super) fn read_start(reader: &mut impl Read) -> Result<Option<Start>, TableError> {
    let mut start = [0; npy::MAGIC.len()];
    let size = read_full(reader, &mut start)?;
    npy::check_archive(&start, reader)?;
    Ok((start != npy::MAGIC).then(|| Cursor::new(start).take(size as u64)))
}

/// The unsigned type, of those taken, of raw values of `size` bytes, one for each of `count` keys. A stream that `goes_on` has
/// more.
pub(super) fn raw_values(
    size: u64,
    goes_on: bool,
    count: u64,
    taken: &[ElementType],
) -> Result<ElementType, TableError> {
    let is_it = |element: &ElementType| {
        element.kind() == NumberKind::Unsigned
            && count.saturating_mul(element.size() as u64) == size
            && !goes_on
    };
    let has_packed = taken.contains(&ElementType::U8);
    let sizes = if has_packed { "1, 2, 4 or 8" } else { "4 or 8" };
    let found = taken.iter().copied().find(is_it);
    found.ok_or(TableError::ValueSize { size, goes_on, count, sizes })
}

pub(super) fn check_count(size: u64, element: ElementType, max: u64) -> Result<(), TableError> {
    if size / element.size() as u64 > max { Err(TableError::TooMany { max }) } else { Ok(()) }
}

/// Checks the size of raw elements.
fn check_raw(size: u64, element: ElementType, max_count: u64) -> Result<(), TableError> {
    check_count(size, element, max_count)?;
    match size % element.size() as u64 {
        0 => Ok(()),
        _ => Err(TableError::PartialElement { size, element }),
    }
}
