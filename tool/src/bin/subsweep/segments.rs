//! Input of segment offsets.

use std::io::{self, Read};

use anyhow::{Result, bail};
use subsweep_tool::table::{self, ElementType, Format, TableReader};

use crate::error::{CommandError, usage};
use crate::files::input::InputError;
use crate::files::{self, Source};

/// Why a reverse scan takes no pipe.
pub const BACKWARD: &str = "--reverse reads from the end";

/// Reads segment offsets, which ascend and are at most `count`. `verb` and `things` are words of the command for
/// its errors.
pub fn read(source: &Source, verb: &str, count: usize, things: &str) -> Result<Vec<u32>> {
    let refuse = |begin, index| out_of_range(source, begin, index as u64, count as u64, things);
    let begins = files::read_row_numbers(source, &instead(verb), refuse)?;
    if let Some(i) = (1..begins.len()).find(|&i| begins[i] < begins[i - 1]) {
        let (before, after) = (begins[i - 1].into(), begins[i].into());
        return Err(not_ascending(source, i as u64, before, after).into());
    }
    match begins.last() {
        Some(&last) if last as usize > count => Err(beyond(source, last.into(), count as u64, things).into()),
        _ => Ok(begins),
    }
}

/// Reads the first rows of segments, then their ends, each at most `count`, in any order. `verb` and `things`: see [`read`].
pub fn read_ranges(sources: [&Source; 2], verb: &str, count: usize, things: &str) -> Result<Vec<u32>> {
    let mut ranges = Vec::new();
    for source in sources {
        let refuse = |row, index| out_of_range(source, row, index as u64, count as u64, things);
        let rows = files::read_row_numbers(source, &instead(verb), refuse)?;
        if let Some(&row) = rows.iter().find(|row| **row as usize > count) {
            bail!(usage!(
                "{source}: a segment begins or ends at {row}, and there are {count} {things}; leave it out"
            ));
        }
        if !ranges.is_empty() && rows.len() != ranges.len() {
            let (ends, begins) = (rows.len(), ranges.len());
            bail!(usage!("{source}: has {ends} ends of {begins} segments; give one for each"));
        }
        ranges.extend(rows);
    }
    Ok(ranges)
}

fn instead(verb: &str) -> String {
    format!("leave out --segments to {verb} all at once")
}

/// The error of segments that do not ascend.
pub fn not_ascending(source: &Source, index: u64, before: i128, after: i128) -> CommandError {
    usage!("{source}: segments are not ascending: {after} at index {index} comes after {before}; sort them")
}

/// The error of a segment that begins beyond `count` things.
pub fn beyond(source: &Source, begin: u64, count: u64, things: &str) -> CommandError {
    usage!("{source}: a segment begins at {begin}, and there are {count} {things}; leave it out")
}

/// The error of a segment that begins before the first thing, or beyond what an index holds.
fn out_of_range(source: &Source, begin: i128, index: u64, count: u64, things: &str) -> CommandError {
    match u64::try_from(begin) {
        Ok(begin) => beyond(source, begin, count, things),
        Err(_) => negative(source, begin, index, things),
    }
}

/// The error of a segment with a negative beginning.
pub fn negative(source: &Source, begin: i128, index: u64, things: &str) -> CommandError {
    usage!(
        "{source}: a segment begins at {begin}, at index {index}, and {things} are counted from 0; leave it out"
    )
}

/// The error of an empty raw file.
pub fn none(source: &Source) -> InputError {
    InputError::no_numbers(source, instead("scan"))
}

/// Reads bytes into an empty vector; none at the end.
type ReadBlock = Box<dyn FnMut(&mut Vec<u8>) -> io::Result<()> + Send>;

/// Bytes that are read at once.
const BLOCK_SIZE: usize = 64 << 10;

/// Segment offsets of a file or a pipe, of whole numbers, read in blocks. In reverse the last is the first. Errors are
/// within an [`io::Error`].
pub struct Offsets {
    source: Source,
    /// Reads the bytes of the next block; none at the end.
    read: ReadBlock,
    element: ElementType,
    is_reverse: bool,
    /// Number of rows, if known.
    row_count: Option<u64>,
    /// The rest of a block, the next offset last.
    block: Vec<u64>,
    /// The offset before the next block; in reverse, that after it.
    last: Option<u64>,
    /// The index of the first offset of the next block; in reverse, of the first of the last one.
    index: u64,
}

impl Offsets {
    /// Opens the offsets of a scan of `row_count` rows.
    ///
    /// # Errors
    /// The file cannot be opened, or is not of row numbers; in reverse, it is a pipe; the first offsets do not ascend, or
    /// exceed the rows.
    pub fn open(source: &Source, is_reverse: bool, row_count: Option<u64>) -> Result<Self> {
        let opened = files::open_table(source, is_reverse.then_some(BACKWARD), |file, size| {
            TableReader::with_raw(file, size, ElementType::U32, &files::ROW_NUMBERS)
        })?;
        let (element, format) = (opened.table.element, opened.table.format);
        let count = opened.table.payload_size.unwrap_or(0) / element.size() as u64;
        let read: ReadBlock = if is_reverse {
            let mut file = opened.backward(source)?;
            Box::new(move |bytes| {
                bytes.resize(BLOCK_SIZE, 0);
                let size = file.read(bytes)?;
                bytes.truncate(size);
                Ok(())
            })
        } else {
            let mut table = opened.table;
            Box::new(move |bytes| table.by_ref().take(BLOCK_SIZE as u64).read_to_end(bytes).map(|_| ()))
        };
        let index = if is_reverse { count } else { 0 };
        let (source_name, source, block) = (source, source.clone(), Vec::new());
        let mut offsets = Self { source, read, element, is_reverse, row_count, block, last: None, index };
        offsets.read_block().map_err(|error| InputError::from_read(source_name, error))?;
        // An empty raw file is probably the output of a program that failed.
        if offsets.block.is_empty() && format == Format::Raw {
            return Err(none(&offsets.source).into());
        }
        Ok(offsets)
    }

    /// Reads and checks the next block; none at the end.
    fn read_block(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        (self.read)(&mut bytes)
            .map_err(|error| io::Error::other(InputError::reading(&self.source, error)))?;
        let numbers = bytes.chunks_exact(self.element.size());
        if self.is_reverse {
            self.index -= numbers.len() as u64;
        }
        let number = |(index, bytes): (u64, &[u8])| {
            let begin = table::whole(bytes, self.element);
            let negative = |_| io::Error::other(negative(&self.source, begin, index, "rows"));
            u64::try_from(begin).map_err(negative)
        };
        let mut block = (self.index..).zip(numbers).map(number).collect::<io::Result<Vec<_>>>()?;
        let Some((&first, &last)) = block.first().zip(block.last()) else { return Ok(()) };
        let order = |index, before: u64, after: u64| match before > after {
            true => Err(io::Error::other(not_ascending(&self.source, index, before.into(), after.into()))),
            false => Ok(()),
        };
        let next = self.index + block.len() as u64;
        match (self.last, self.is_reverse) {
            (Some(before), false) => order(self.index, before, first)?,
            (Some(after), true) => order(next, last, after)?,
            (None, _) => {}
        }
        for (index, pair) in (self.index + 1..).zip(block.windows(2)) {
            order(index, pair[0], pair[1])?;
        }
        if let Some(count) = self.row_count.filter(|&count| last > count) {
            return Err(io::Error::other(beyond(&self.source, last, count, "rows")));
        }
        if self.is_reverse {
            self.last = Some(first);
        } else {
            (self.last, self.index) = (Some(last), next);
            block.reverse();
        }
        self.block = block;
        Ok(())
    }
}

impl Iterator for Offsets {
    type Item = io::Result<u64>;

    fn next(&mut self) -> Option<io::Result<u64>> {
        if self.block.is_empty()
            && let Err(error) = self.read_block()
        {
            return Some(Err(error));
        }
        self.block.pop().map(Ok)
    }
}
