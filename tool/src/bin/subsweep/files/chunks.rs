//! The rows of a table of any size, in chunks that are read one after the other.

use std::io::Read;

use anyhow::Result;
use subsweep::internal::read_full;
use subsweep::{ElementType, Number};

use super::Source;
use super::input::{InputError, OpenTable};
use crate::args::MemoryLimit;
use crate::error::CommandError;
use crate::terminal::Progress;

/// Bytes of all arrays of a chunk, whatever the memory: sums of floats depend on the rows in a chunk.
const ARRAYS_SIZE: u64 = 128 << 20;

/// Arrays of the size of a chunk: rows and results, each on the host and on the device.
pub const ROWS_AND_RESULTS: u64 = 4;

/// Bytes of a chunk of elements, of which up to `array_count` arrays are in memory. A chunk has as many elements of 8 and
/// 16 bits as of 32 bits, as which the device has them.
pub const fn chunk_size(array_count: u64, element: ElementType) -> u64 {
    let (size, on_device) = (element.size() as u64, 4 * element.words() as u64);
    ARRAYS_SIZE / array_count / on_device * size
}

/// Refuses a memory of too few bytes for `array_count` arrays of `size` bytes.
///
/// # Errors
/// It is too little.
pub fn check_arrays(memory: &MemoryLimit, array_count: u64, size: u64) -> Result<(), CommandError> {
    let needed = array_count * size + OTHER_SIZE;
    match memory.size().filter(|&given| given < needed) {
        Some(given) => Err(memory.refusal(needed, given)),
        None => Ok(()),
    }
}

/// Bytes of memory beside the chunk, such as the memory of transfers.
const OTHER_SIZE: u64 = 32 << 20;

/// Chunks of whole rows.
pub struct Chunks {
    reader: Box<dyn Read + Send>,
    source: Source,
    /// Bytes of a whole chunk.
    chunk_size: usize,
    /// The bytes of the last chunk.
    bytes: Vec<u8>,
    _progress: Progress,
}

impl OpenTable {
    /// The elements in chunks, of rows of `columns` elements. Up to `array_count` arrays of the size of a chunk are in memory;
    /// `verb` is the command's word for its progress.
    ///
    /// # Errors
    /// The first elements of a stream cannot be read, or the memory is too little for a chunk.
    pub fn chunks(
        self,
        source: &Source,
        columns: usize,
        array_count: u64,
        verb: &str,
        memory: &MemoryLimit,
    ) -> Result<Chunks> {
        let progress = Progress::of_bytes(format_args!("{verb} {source}"), self.table.payload_size);
        let row_size = (columns * self.table.element.size()) as u64;
        let size = chunk_size(array_count, self.table.element);
        let size = size.min(self.table.payload_size.unwrap_or(size));
        let chunk_size = (size / row_size).max(1) * row_size;
        check_arrays(memory, array_count, chunk_size)?;
        let (reader, _) = self.forward(source)?;
        Ok(Chunks {
            reader: Box::new(progress.reads(reader)),
            source: source.clone(),
            chunk_size: chunk_size as usize,
            bytes: Vec::new(),
            _progress: progress,
        })
    }
}

impl Chunks {
    /// The next chunk, after the last `kept_size` bytes of the one before; none at the end.
    ///
    /// # Errors
    /// The input cannot be read, or ends where it should not.
    pub fn next(&mut self, kept_size: usize) -> Result<Option<&mut [u8]>> {
        self.bytes.drain(..self.bytes.len().saturating_sub(kept_size));
        let kept = self.bytes.len();
        let needed = kept + self.chunk_size;
        self.bytes.try_reserve_exact(self.chunk_size).map_err(|_| subsweep::Error::OutOfHostMemory {
            needed: Some(needed as u64),
            what: "a chunk of the input",
        })?;
        self.bytes.resize(needed, 0);
        let filled = read_full(&mut self.reader, &mut self.bytes[kept..]);
        let filled = filled.map_err(|error| InputError::from_read(&self.source, error))?;
        self.bytes.truncate(kept + filled);
        Ok((filled > 0).then_some(&mut self.bytes))
    }
}

/// Numbers in memory that may not be there, for `what`.
///
/// # Errors
/// [`subsweep::Error::OutOfHostMemory`].
pub fn zeroed<N: Number>(count: usize, what: &'static str) -> Result<Vec<N>, subsweep::Error> {
    let needed = Some((size_of::<N>() * count) as u64);
    bytemuck::try_zeroed_vec(count).map_err(|()| subsweep::Error::OutOfHostMemory { needed, what })
}
