//! Values whose size is not a multiple of 4 bytes, each padded to whole words, as which the device moves it.

use std::io::{self, Cursor, Read, Write};

use subsweep::internal::read_full;

use super::Table;

/// The size in whole words of a value of `size` bytes, bytes.
pub const fn padded_size(size: usize) -> usize {
    size.next_multiple_of(4)
}

/// Values of `size` bytes, each with zeros after it up to whole words.
pub fn padded(values: Vec<u8>, size: usize) -> Vec<u8> {
    if size == padded_size(size) {
        return values;
    }
    let mut words = vec![0; values.len() / size * padded_size(size)];
    for (word, value) in words.chunks_exact_mut(padded_size(size)).zip(values.chunks_exact(size)) {
        word[..size].copy_from_slice(value);
    }
    words
}

/// The first `size` bytes of each of these values in whole words.
pub fn trimmed(mut words: Vec<u8>, size: usize) -> Vec<u8> {
    let whole = padded_size(size);
    if size == whole {
        return words;
    }
    let count = words.len() / whole;
    for index in 0..count {
        words.copy_within(index * whole..index * whole + size, index * size);
    }
    words.truncate(count * size);
    words
}

impl Table {
    /// Pads each row, [`padded`].
    pub fn pad(&mut self) {
        self.payload = padded(std::mem::take(&mut self.payload), self.row_size());
    }

    /// The table whose rows are [`trimmed`].
    pub fn trimmed(self) -> Self {
        let size = self.row_size();
        Self { payload: trimmed(self.payload, size), ..self }
    }

    /// Bytes of a row; of one dimension, of an element.
    pub fn row_size(&self) -> usize {
        self.shape.columns() * self.element.size()
    }
}

/// Reads [`padded`] values of `size` bytes.
#[derive(Debug)]
pub struct Padded<R> {
    reader: R,
    size: usize,
    block: Cursor<Vec<u8>>,
}

impl<R: Read> Padded<R> {
    /// Pads what `reader` gives.
    pub fn new(reader: R, size: usize) -> Self {
        Self { reader, size, block: Cursor::default() }
    }
}

impl<R: Read> Read for Padded<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        /// Values that are read at once.
        const BLOCK_COUNT: usize = 64 << 10;
        if self.size == padded_size(self.size) {
            return self.reader.read(bytes);
        }
        if self.block.position() == self.block.get_ref().len() as u64 {
            let mut values = vec![0; BLOCK_COUNT * self.size];
            let filled = read_full(&mut self.reader, &mut values)?;
            values.truncate(filled);
            self.block = Cursor::new(padded(values, self.size));
        }
        self.block.read(bytes)
    }
}

/// Writes [`trimmed`] values of `size` bytes.
#[derive(Debug)]
pub struct Trimmed<W> {
    writer: W,
    size: usize,
    /// The beginning of a value.
    rest: Vec<u8>,
}

impl<W: Write> Trimmed<W> {
    /// Trims what is written, and gives it to `writer`.
    pub fn new(writer: W, size: usize) -> Self {
        Self { writer, size, rest: Vec::new() }
    }
}

impl<W: Write> Write for Trimmed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.size == padded_size(self.size) {
            return self.writer.write(bytes);
        }
        let mut words = std::mem::take(&mut self.rest);
        words.extend_from_slice(bytes);
        self.rest = words.split_off(words.len() / padded_size(self.size) * padded_size(self.size));
        self.writer.write_all(&trimmed(words, self.size))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_padded_and_trimmed() {
        for (size, values, words) in [
            (1, &[1, 2, 3][..], &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0][..]),
            (2, &[1, 2, 3, 4], &[1, 2, 0, 0, 3, 4, 0, 0]),
            (3, &[1, 2, 3, 4, 5, 6], &[1, 2, 3, 0, 4, 5, 6, 0]),
            (4, &[1, 2, 3, 4], &[1, 2, 3, 4]),
            (6, &[1, 2, 3, 4, 5, 6], &[1, 2, 3, 4, 5, 6, 0, 0]),
        ] {
            assert_eq!(padded(values.to_vec(), size), words);
            assert_eq!(trimmed(words.to_vec(), size), values);
            let mut read = Vec::new();
            Padded::new(values, size).read_to_end(&mut read).unwrap();
            assert_eq!(read, words);
            let mut written = Vec::new();
            let mut writer = Trimmed::new(&mut written, size);
            words.chunks(3).for_each(|part| writer.write_all(part).unwrap());
            assert_eq!(written, values);
        }
    }

    #[test]
    fn blocks_continue_each_other() {
        let values: Vec<u8> = (0..200_001_u32).map(|index| (index % 251) as u8).collect();
        let mut words = Vec::new();
        Padded::new(&values[..], 1).read_to_end(&mut words).unwrap();
        assert!(trimmed(words, 1) == values);
    }
}
