//! Input of tables and reports: a file, a pipe or standard input.

use std::fs::{self, File};
use std::io::{self, Read, Seek};

use anyhow::bail;
use subsweep::headless::Backward;
use subsweep::sort::ValueSize;
use subsweep_tool::harness::{InspectedDevice, Report, ReportError};
use subsweep_tool::table::{
    self, ByRows, Bytes, ElementType, Flags, Format, Structures, Table, TableError, TableReader, TableShape,
    Taken, header,
};

use super::spool::{Spool, TemporaryFolder};
use super::{Source, identity, memory, streams};
use crate::error::{CommandError, usage};
use crate::terminal::Progress;

/// Reads all of `source`, by [`Table::read`].
pub fn read(source: &Source, declared: Option<ElementType>, taken: &Taken) -> Result<Table, InputError> {
    read_by(source, |bytes| Table::read(bytes, declared, taken))
}

/// Reads all of `source`, by [`Table::read_with_raw`].
pub fn read_with_raw(source: &Source, raw: ElementType, taken: &Taken) -> Result<Table, InputError> {
    read_by(source, |bytes| Table::read_with_raw(bytes, raw, taken))
}

/// Reads all of `source` as the values of `count` keys, or the keys of as many rows, by [`Table::read_values`].
pub fn read_values(source: &Source, count: u64) -> Result<Table, InputError> {
    read_by(source, |bytes| Table::read_values(bytes, count))
}

/// Reads all of `source` as a value for each element of a table of shape `keys`, by [`Table::read_values_of`].
pub fn read_values_of(source: &Source, keys: TableShape) -> Result<Table, InputError> {
    read_by(source, |bytes| Table::read_values_of(bytes, keys))
}

/// Reads all of `source` as a structured array, by [`Structures::read`].
pub fn read_structures(source: &Source) -> Result<Structures, InputError> {
    read_by(source, Structures::read)
}

/// A table whose elements are read one after the other.
#[derive(Debug)]
pub struct OpenTable {
    /// The table.
    pub table: TableReader<File>,
    /// The position of the file before the header, if it had to be a file.
    position: u64,
}

impl OpenTable {
    /// The elements row after row, and their number, if it is known: also of a short stream.
    ///
    /// # Errors
    /// The first elements of a stream cannot be read, or end where they should not; or a stream of columns has no room in the
    /// default folder of temporary files.
    pub fn forward(mut self, source: &Source) -> anyhow::Result<(impl Read + Send + use<>, Option<u64>)> {
        let mut start = Vec::new();
        let mut count = self.table.shape.map(|shape| shape.element_count() as u64);
        if self.table.is_by_columns {
            let reader = self.by_rows(source)?;
            return Ok((Named { reader, source: source.clone() }, count));
        }
        if !self.table.is_file() {
            let read = (&mut self.table).take(READ_AHEAD).read_to_end(&mut start);
            let size = read.map_err(|error| InputError::reading(source, error))? as u64;
            if size < READ_AHEAD {
                count = Some(size / self.table.element.size() as u64);
            }
        }
        let reader: Box<dyn Read + Send> = Box::new(io::Cursor::new(start).chain(self.table));
        Ok((Named { reader, source: source.clone() }, count))
    }

    /// The elements of a table that lies column after column, row after row. A stream is copied to a temporary file before.
    fn by_rows(self, source: &Source) -> anyhow::Result<Box<dyn Read + Send>> {
        let reading = |error| InputError::reading(source, error);
        if self.table.is_file() {
            let start = self.position + self.table.header_size;
            return Ok(Box::new(self.table.into_rows(start, BLOCK_SIZE).map_err(reading)?));
        }
        let (element, shape) =
            (self.table.element, self.table.shape.unwrap_or(TableShape::Flat { count: 0 }));
        let (file, _) = spool(self.table, source, &TemporaryFolder::default())?;
        Ok(Box::new(ByRows::new(file, 0, shape, element.size(), BLOCK_SIZE).map_err(reading)?))
    }

    /// The table as a temporary file in `folder`, so that the stream is at its end and the number of elements known.
    ///
    /// # Errors
    /// The table cannot be read, or the file not written.
    pub fn spooled(self, source: &Source, folder: &TemporaryFolder) -> anyhow::Result<Self> {
        let TableReader { element, format, shape, .. } = self.table;
        let header = shape.map_or_else(Vec::new, |shape| header(format, element, shape));
        let (reader, _) = self.forward(source)?;
        let (file, size) = spool(header.chain(reader), source, folder)?;
        let taken = Taken { elements: &[element], max_dimensions: 2, max_count: u64::MAX };
        let table = TableReader::new(file, Some(size), Some(element), &taken)
            .map_err(|problem| InputError::new(source, problem))?;
        Ok(Self { table, position: 0 })
    }

    /// The elements from the last to the first, of a table that had to be a file. One that has them in another order is copied
    /// to a temporary file in the default folder before.
    ///
    /// # Errors
    /// As of [`Self::spooled`].
    pub fn backward(mut self, source: &Source) -> anyhow::Result<Backward<File>> {
        if !self.table.is_plain() {
            self = self.spooled(source, &TemporaryFolder::default())?;
        }
        let size = self.table.payload_size.unwrap_or(0);
        let (file, start) = self.into_file(source)?;
        Ok(Backward::new(file, start, start + size))
    }

    /// The file, and the byte of its first element, of a table that had to be one.
    ///
    /// # Errors
    /// It has the elements in another order.
    pub fn into_file(self, source: &Source) -> Result<(File, u64), InputError> {
        if !self.table.is_plain() {
            return Err(InputError::new(source, InputProblem::Order { element: self.table.element }));
        }
        let start = self.position + self.table.header_size;
        Ok((self.table.into_inner(), start))
    }
}

/// Bytes of a block of a table that lies column after column; of two at a time.
const BLOCK_SIZE: usize = 4 << 20;

/// Bytes of a stream that are read before a device is opened, so that a short input that is no table costs none.
const READ_AHEAD: u64 = 1 << 20;

/// A reader whose errors name their source.
struct Named<R> {
    reader: R,
    source: Source,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.reader.read(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => io::Error::other(InputError::reading(&self.source, error)),
        })
    }
}

/// Opens `source` as a table, by `open` of [`TableReader`]. With a reason in `needs_file` it must be a file, and can be read
/// from any place.
pub fn open_table(
    source: &Source,
    needs_file: Option<&'static str>,
    open_reader: impl FnOnce(File, Option<u64>) -> Result<TableReader<File>, TableError>,
) -> Result<OpenTable, InputError> {
    // Opening a pipe would wait until something writes to it.
    let is_special = match source {
        Source::Stdin => false,
        Source::File(path) => {
            identity::is_device(path)
                || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
        }
    };
    let checked = match needs_file {
        Some(reason) if is_special => Err(InputProblem::NotSeekable { reason }),
        _ => Ok(()),
    };
    let table = checked.and_then(|()| open(source)).and_then(|(mut file, size)| {
        let (mut position, mut size) = (0, size);
        if let Some(reason) = needs_file {
            size = Some(streams::rest(&file).ok_or(InputProblem::NotSeekable { reason })?);
            position = file.stream_position().map_err(InputProblem::Read)?;
        }
        Ok(OpenTable { table: open_reader(file, size)?, position })
    });
    table.map_err(|problem| InputError::new(source, problem))
}

/// More bytes than the header of any `.npy` file that is taken.
pub const MAX_HEADER: u64 = 1 << 17;

/// Opens the values of `count` keys, or the keys of as many rows, of any type, by [`TableReader::values`]. A stream is copied to
/// a temporary file in `folder`, so that its size is known.
///
/// # Errors
/// The values cannot be read, or are not one for each key.
pub fn open_values(
    source: &Source,
    count: u64,
    max_dimensions: usize,
    folder: &TemporaryFolder,
) -> anyhow::Result<OpenTable> {
    let (file, size) = open(source).map_err(|problem| InputError::new(source, problem))?;
    let (file, size) = match size {
        Some(size) => (file, size),
        // An endless stream is read only a little further than it could be valid.
        None => {
            let max_size = if max_dimensions > 1 { ValueSize::MAX.bytes() } else { 8 };
            spool(file.take(count.saturating_mul(max_size).saturating_add(MAX_HEADER)), source, folder)?
        }
    };
    let taken = Taken { elements: &ElementType::ALL, max_dimensions, max_count: u64::MAX };
    let table = TableReader::values(file, size, count, &taken);
    Ok(OpenTable { table: table.map_err(|problem| InputError::new(source, problem))?, position: 0 })
}

/// Copies what is left of a reader to a temporary file, and returns it with its size.
fn spool(mut reader: impl Read, source: &Source, folder: &TemporaryFolder) -> anyhow::Result<(File, u64)> {
    let _spinner = Progress::of_one(format_args!("reading {source}"));
    let mut spool = Spool::new_in(folder)?;
    let mut bytes = vec![0; 1 << 20];
    let mut size = 0;
    loop {
        match reader.read(&mut bytes) {
            Ok(0) => break,
            Ok(read) => {
                spool.write(&bytes[..read])?;
                size += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(InputError::from_read(source, error)),
        }
    }
    spool.rewind()?;
    Ok((spool.into_file(), size))
}

fn read_by<T>(
    source: &Source,
    read: impl FnOnce(Bytes<File>) -> Result<T, TableError>,
) -> Result<T, InputError> {
    let _spinner = Progress::of_one(format_args!("reading {source}"));
    let memory_size = memory::available().unwrap_or(u64::MAX);
    let table =
        open(source).and_then(|(reader, file_size)| Ok(read(Bytes { reader, file_size, memory_size })?));
    table.map_err(|problem| InputError::new(source, problem))
}

/// Refuses bool where arithmetic is done, by [`Format::check_numbers`].
pub fn check_numbers(source: &Source, format: Format) -> Result<(), InputError> {
    format.check_numbers().map_err(|problem| InputError::new(source, problem))
}

/// The types of row numbers: numpy's indices are i64.
pub const ROW_NUMBERS: Taken = Taken {
    elements: &[ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64],
    max_dimensions: 1,
    max_count: u64::MAX,
};

/// Reads all of `source` as row numbers: an .npy array of whole numbers, or raw u32. An empty raw file is refused with the
/// remedy `instead`, and by `refuse` the first number beyond 32 bits, with its index.
pub fn read_row_numbers(
    source: &Source,
    instead: &str,
    refuse: impl FnOnce(i128, usize) -> CommandError,
) -> anyhow::Result<Vec<u32>> {
    let table = read_with_raw(source, ElementType::U32, &ROW_NUMBERS)?;
    // An empty raw file is probably the output of a program that failed; an .npy file without elements is valid.
    if table.payload.is_empty() && table.header().is_empty() {
        bail!(InputError::no_numbers(source, instead.to_owned()));
    }
    if table.element == ElementType::U32 {
        return Ok(bytemuck::pod_collect_to_vec(&table.payload));
    }
    let mut narrowed = Vec::with_capacity(table.shape.rows());
    for bytes in table.payload.chunks_exact(table.element.size()) {
        let number = table::whole(bytes, table.element);
        match u32::try_from(number) {
            Ok(number) => narrowed.push(number),
            Err(_) => return Err(refuse(number, narrowed.len()).into()),
        }
    }
    Ok(narrowed)
}

/// The columns of a table, of which 1 to `max` are `verb`.
pub fn column_count(source: &Source, shape: TableShape, max: u32, verb: &str) -> Result<u32, CommandError> {
    let columns = shape.columns();
    u32::try_from(columns).ok().filter(|columns| *columns <= max).ok_or_else(|| {
        usage!(
            "{source}: has {columns} columns, and 1 to {max} are {verb}; save a[:, :{max}] and the rest apart"
        )
    })
}

/// Elements of a row of a table, for `--axis 1`.
pub fn row_length(source: &Source, shape: TableShape) -> Result<usize, CommandError> {
    match shape.is_flat() {
        true => Err(usage!("{source}: has one dimension, and no axis 1; leave out --axis 1")),
        false => Ok(shape.columns()),
    }
}

/// Whole words of a row of `columns` elements of `source`, up to `max`, which are `verb`.
pub fn row_words(
    source: &Source,
    element: ElementType,
    columns: usize,
    max: u32,
    verb: &str,
) -> Result<u32, CommandError> {
    let size = columns.saturating_mul(element.size());
    u32::try_from(size.div_ceil(4)).ok().filter(|&words| words <= max).ok_or_else(|| {
        let most = max as usize * 4 / element.size();
        usage!(
            "{source}: has {columns} columns, and up to {most} of {element} are {verb}; save a[:, :{most}] and the rest apart"
        )
    })
}

/// Reads all of `source` as the flags of `count` elements, by [`Flags::read`].
pub fn read_flags(source: &Source, count: u64) -> Result<Flags, InputError> {
    let flags = open(source).and_then(|(file, _)| Ok(Flags::read(file, count)?));
    flags.map_err(|problem| InputError::new(source, problem))
}

/// Reads all of `source`, at most `max_size` bytes; `what` is the remedy of more.
pub fn read_bytes(source: &Source, max_size: u64, what: &'static str) -> Result<Vec<u8>, InputError> {
    let bytes = read_start(source, max_size + 1)?;
    if bytes.len() as u64 > max_size {
        return Err(InputError::new(source, InputProblem::TooLarge { max_size, what }));
    }
    Ok(bytes)
}

/// Reads the first `size` bytes of `source`, or all.
fn read_start(source: &Source, size: u64) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let read = open(source)
        .and_then(|(file, _)| file.take(size).read_to_end(&mut bytes).map_err(InputProblem::Read));
    read.map(|_| bytes).map_err(|problem| InputError::new(source, problem))
}

/// Input of `compare`.
#[derive(Debug)]
pub enum Compared {
    /// A report of `bench` or `verify`.
    Report(Box<Report>),
    /// An inspection of `inspect`.
    Inspection(Vec<InspectedDevice>),
}

/// Reads all of `source`: a JSON object as a report, by [`Report::from_json`], and an array as an inspection, by
/// [`InspectedDevice::all_from_json`].
pub fn read_compared(source: &Source) -> Result<Compared, InputError> {
    /// Hundreds of times the size of a report of every case.
    const MAX_SIZE: u64 = 64 << 20;
    let file = read_start(source, MAX_SIZE + 1)?;
    // An editor or a shell may have put the mark of UTF-8 before it.
    let json = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file);
    let compared = match json.trim_ascii_start().first() {
        Some(b'{' | b'[') if json.len() as u64 > MAX_SIZE => {
            Err(InputProblem::TooLarge { max_size: MAX_SIZE, what: "a report or an inspection" })
        }
        Some(b'[') => {
            InspectedDevice::all_from_json(json).map(Compared::Inspection).map_err(InputProblem::Report)
        }
        // What does not begin as JSON is refused by its first byte.
        _ => Report::from_json(json)
            .map(|report| Compared::Report(Box::new(report)))
            .map_err(InputProblem::Report),
    };
    compared.map_err(|problem| InputError::new(source, problem))
}

/// An input error: one line with the file's name and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{input}: {problem}")]
pub struct InputError {
    /// The file, or "standard input".
    pub input: String,
    /// The problem.
    pub problem: InputProblem,
}

impl InputError {
    /// A problem of `source`.
    pub fn new(source: &Source, problem: impl Into<InputProblem>) -> Self {
        Self { input: source.to_string(), problem: problem.into() }
    }

    /// An empty file instead of numbers, with the remedy.
    pub fn no_numbers(source: &Source, instead: String) -> Self {
        Self::new(source, InputProblem::NoNumbers { instead })
    }

    /// The error that a reader has returned: an error of this program, or of reading the elements of `source`.
    pub fn from_read(source: &Source, error: io::Error) -> anyhow::Error {
        let error = match error.downcast::<CommandError>() {
            Ok(error) => return error.into(),
            Err(error) => error,
        };
        error.downcast::<Self>().unwrap_or_else(|error| Self::reading(source, error)).into()
    }

    /// The error of reading a table's elements.
    pub fn reading(source: &Source, error: io::Error) -> Self {
        Self::new(source, TableError::from_read(error))
    }
}

/// Problems of an input.
#[derive(Debug, thiserror::Error)]
pub enum InputProblem {
    /// An empty file instead of row indices.
    #[error("is empty; {instead}")]
    NoNumbers {
        /// The remedy.
        instead: String,
    },
    /// The file cannot be opened.
    #[error("cannot be opened ({0}); check the path and its permissions")]
    Open(io::Error),
    /// Standard input is closed.
    #[error("is closed; give it what is to be read, or name a file")]
    Closed,
    /// The path is a directory.
    #[error("is a directory; name a file in it")]
    Directory,
    /// A pipe or a device that must be read from another place than its start.
    #[error("is a pipe or a device, and {reason}; save it to a file first")]
    NotSeekable {
        /// What reads it from another place.
        reason: &'static str,
    },
    /// Elements of which slices are read, and which are big-endian or lie column after column.
    #[error("is big-endian or stored by columns, and ranks read slices of it; save numpy.ascontiguousarray(a, '{}')", table::descr(*element))]
    Order {
        /// Their type.
        element: ElementType,
    },
    /// The content is not a table, or not of a supported kind.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Reading failed.
    #[error("cannot be read ({0})")]
    Read(io::Error),
    /// The content is not a valid report.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A larger file than any of its kind.
    #[error("has more than {max_size} bytes; name {what}")]
    TooLarge {
        /// The limit in bytes.
        max_size: u64,
        /// The kind.
        what: &'static str,
    },
}

/// Opens the source, and returns its length if it is a regular file by its path.
fn open(source: &Source) -> Result<(File, Option<u64>), InputProblem> {
    let path = match source {
        Source::Stdin if streams::is_stdin_closed() => return Err(InputProblem::Closed),
        // Another handle of the same file, which is read without a buffer.
        Source::Stdin => return Ok((streams::stdin().map_err(InputProblem::Read)?, None)),
        Source::File(path) => path,
    };
    // Windows opens no directory, and has no metadata of a device.
    let file = File::open(path).map_err(|error| match path.is_dir() {
        true => InputProblem::Directory,
        false => InputProblem::Open(error),
    })?;
    if identity::is_device(path) {
        return Ok((file, None));
    }
    let metadata = file.metadata().map_err(InputProblem::Open)?;
    if metadata.is_dir() {
        return Err(InputProblem::Directory);
    }
    Ok((file, metadata.is_file().then_some(metadata.len())))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::files::GRID;

    const TAKEN: &Taken = &Taken { elements: &[ElementType::U32], max_dimensions: 2, max_count: u64::MAX };

    #[test]
    fn files_are_read_by_their_path_and_named_in_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.npy");
        std::fs::write(&path, GRID).unwrap();
        let read_path = |path: &Path| read(&Source::File(path.to_owned()), None, TAKEN);
        assert_eq!(read_path(&path).unwrap().payload, GRID[128..]);
        std::fs::write(&path, &GRID[..140]).unwrap();
        assert_eq!(
            read_path(&path).unwrap_err().to_string(),
            format!(
                "{}: ended after 140 of 152 bytes; it is truncated or its .npy header is wrong: make it again",
                path.display()
            )
        );
        let error = read_path(&folder.path().join("two\nlines")).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_read_to_their_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for (bytes, is_whole) in [(GRID, true), (&GRID[..140], false)] {
            let writer = std::thread::spawn({
                let path = path.clone();
                move || std::fs::write(path, bytes).unwrap()
            });
            match read(&Source::File(path.clone()), None, TAKEN) {
                Ok(table) => assert!(is_whole && table.payload == GRID[128..]),
                Err(error) => {
                    assert!(
                        !is_whole
                            && matches!(
                                error.problem,
                                InputProblem::Table(TableError::Ended { held: 140, needed: 152 })
                            )
                    )
                }
            }
            writer.join().unwrap();
        }
    }
}
