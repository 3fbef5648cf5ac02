//! Segments of a scan by key: the runs of equal keys.

use std::io::{self, Read};

use anyhow::Result;
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::table;

use crate::files::input::InputError;
use crate::files::{self, Source, TemporaryFolder};

/// Keys that are read at once.
const BLOCK_COUNT: usize = 8 << 10;

/// The rows at which runs of equal keys begin, of keys that are read in blocks; in reverse from the last to the first. The first
/// row, which always begins one, may be left out. Errors are within an [`io::Error`].
pub struct Heads {
    source: Source,
    reader: Box<dyn Read + Send>,
    element: ElementType,
    order: FloatOrder,
    is_reverse: bool,
    /// The row after the last block; in reverse, the first row of it.
    row: u64,
    /// The key next to the next block: the last one before it; in reverse, the first one after it.
    neighbour: Option<u64>,
    /// Rows of the last block that are left, the next one last.
    block: Vec<u64>,
}

impl Heads {
    /// Opens the keys of a scan of `row_count` rows: an `.npy` file, or raw unsigned numbers of any size.
    ///
    /// # Errors
    /// The file cannot be opened, or has not a key for each row; in reverse, it is a pipe.
    pub fn open(source: &Source, order: FloatOrder, is_reverse: bool, row_count: u64) -> Result<Self> {
        let opened = files::open_values(source, row_count, 1, &TemporaryFolder::default())?;
        let element = opened.table.element;
        let reader: Box<dyn Read + Send> = match is_reverse {
            true => Box::new(opened.backward(source)?),
            false => Box::new(opened.forward(source)?.0),
        };
        let row = if is_reverse { row_count } else { 0 };
        let source = source.clone();
        Ok(Self { source, reader, element, order, is_reverse, row, neighbour: None, block: Vec::new() })
    }

    /// Finds the heads of the next block of keys. Returns whether there were keys.
    fn read_block(&mut self) -> io::Result<bool> {
        let mut bytes = vec![0; BLOCK_COUNT * self.element.size()];
        let read = subsweep::internal::read_full(&mut self.reader, &mut bytes);
        let read = read.map_err(|error| io::Error::other(InputError::reading(&self.source, error)))?;
        let keys: Vec<_> = bytes[..read]
            .chunks_exact(self.element.size())
            .map(|key| number(key, self.element, self.order))
            .collect();
        let Some((&first, &last)) = keys.first().zip(keys.last()) else { return Ok(false) };
        let count = keys.len() as u64;
        let begin = if self.is_reverse { self.row - count } else { self.row };
        let within = (begin + 1..).zip(keys.windows(2)).filter(|(_, pair)| pair[0] != pair[1]);
        self.block = within.map(|(row, _)| row).collect();
        if self.is_reverse {
            self.block.extend(self.neighbour.filter(|&next| next != last).map(|_| self.row));
            (self.row, self.neighbour) = (begin, Some(first));
        } else {
            self.block.reverse();
            self.block.extend(self.neighbour.filter(|&before| before != first).map(|_| begin));
            (self.row, self.neighbour) = (begin + count, Some(last));
        }
        Ok(true)
    }
}

impl Iterator for Heads {
    type Item = io::Result<u64>;

    fn next(&mut self) -> Option<io::Result<u64>> {
        while self.block.is_empty() {
            match self.read_block() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        self.block.pop().map(Ok)
    }
}

/// A number that is the same of two keys if they are equal.
fn number(key: &[u8], element: ElementType, order: FloatOrder) -> u64 {
    let mut bits = [0; 8];
    bits[..key.len()].copy_from_slice(key);
    let bits = u64::from_le_bytes(bits);
    if !element.is_float() || order == FloatOrder::Total {
        return bits;
    }
    match table::real(key, element) {
        0.0 => 0,
        // The bits of a NaN of any type.
        number if number.is_nan() => u64::MAX,
        _ => bits,
    }
}
