//! Elements of other orders than the host's: big-endian bytes, and tables that lie column after column (Fortran order).

use std::io::{self, BufReader, Cursor, Read, Seek};

use subsweep::internal::read_full;

use super::{TableError, TableShape};

/// The size of the largest element, bytes.
const MAX_SIZE: usize = 8;

/// Reads elements of `size` bytes, and reverses the bytes of each. Part of an element at the end stays as it is.
#[derive(Debug)]
pub(super) struct Swapped<R> {
    pub reader: R,
    /// Bytes of an element; 1 of elements that are not swapped.
    pub size: usize,
    /// The rest of an element of which a reader took only a part.
    rest: io::Take<Cursor<[u8; MAX_SIZE]>>,
}

impl<R: Read> Swapped<R> {
    pub fn new(reader: R, size: usize) -> Self {
        Self { reader, size, rest: Cursor::new([0; MAX_SIZE]).take(0) }
    }

    /// Reads whole elements into at least one.
    fn read_whole(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let whole = bytes.len() / self.size * self.size;
        let read = self.reader.read(&mut bytes[..whole])?;
        let rest = read..read.next_multiple_of(self.size);
        let read = read + read_full(&mut self.reader, &mut bytes[rest])?;
        let bytes = &mut bytes[..read];
        match self.size {
            2 => bytes.chunks_exact_mut(2).for_each(<[u8]>::reverse),
            4 => bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse),
            size => bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse),
        }
        Ok(read)
    }
}

impl<R: Read> Read for Swapped<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.size == 1 {
            return self.reader.read(bytes);
        }
        if self.rest.limit() == 0 {
            if bytes.len() >= self.size {
                return self.read_whole(bytes);
            }
            let mut element = [0; MAX_SIZE];
            let size = self.size;
            let read = self.read_whole(&mut element[..size])?;
            self.rest = Cursor::new(element).take(read as u64);
        }
        self.rest.read(bytes)
    }
}

/// The elements of `size` bytes of a table row after row, from `bytes` that have them column after column.
///
/// # Errors
/// [`TableError::Memory`].
pub(super) fn by_rows(bytes: &[u8], shape: TableShape, size: usize) -> Result<Vec<u8>, TableError> {
    let [rows, values, columns] = shape.extents();
    let mut elements = Vec::new();
    let needed = bytes.len();
    elements.try_reserve_exact(needed).map_err(|_| TableError::Memory { size: 2 * needed as u64 })?;
    for row in 0..rows {
        for value in 0..values {
            for column in 0..columns {
                let at = size * (row + rows * (value + values * column));
                elements.extend_from_slice(&bytes[at..at + size]);
            }
        }
    }
    Ok(elements)
}

/// Reads a file of a table that lies column after column, row after row. A block of rows is in memory, of which each column is
/// read at once; of rows that exceed a block, a part.
#[derive(Debug)]
pub struct ByRows<R> {
    file: BufReader<R>,
    /// The byte of the file after the last one that was read.
    position: u64,
    /// The byte of the first element.
    start: u64,
    shape: [usize; 2],
    size: usize,
    /// The row and the column after the block.
    next: [usize; 2],
    block_size: usize,
    block: Cursor<Vec<u8>>,
}

impl<R: Read + Seek> ByRows<R> {
    /// The table of `shape`, of two dimensions, with elements of `size` bytes from the byte `start` of `file`, in blocks of
    /// `block_size` bytes.
    ///
    /// # Errors
    /// The file cannot be read from there.
    pub fn new(
        mut file: R,
        start: u64,
        shape: TableShape,
        size: usize,
        block_size: usize,
    ) -> io::Result<Self> {
        file.seek(io::SeekFrom::Start(start))?;
        Ok(Self {
            file: BufReader::new(file),
            position: start,
            start,
            shape: [shape.rows(), shape.columns()],
            size,
            next: [0; 2],
            block_size,
            block: Cursor::default(),
        })
    }

    /// Reads the next block; an empty one at the end.
    fn read_block(&mut self) -> io::Result<()> {
        let ([rows, columns], [row, column]) = (self.shape, self.next);
        let most = (self.block_size / self.size).max(1);
        let block = match most / columns {
            0 => TableShape::Grid { rows: 1.min(rows - row), columns: most.min(columns - column) },
            most => TableShape::Grid { rows: most.min(rows - row), columns },
        };
        let mut bytes = vec![0; block.element_count() * self.size];
        for (run, column) in bytes.chunks_exact_mut((block.rows() * self.size).max(1)).zip(column..) {
            let begin = self.start + (self.size * (row + rows * column)) as u64;
            // Short columns are read within the buffer.
            self.file.seek_relative(begin as i64 - self.position as i64)?;
            self.file.read_exact(run).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => io::Error::other(TableError::Changed),
                _ => error,
            })?;
            self.position = begin + run.len() as u64;
        }
        let column = column + block.columns();
        self.next = if column < columns { [row, column] } else { [row + block.rows(), 0] };
        self.block = Cursor::new(by_rows(&bytes, block, self.size).map_err(io::Error::other)?);
        Ok(())
    }
}

impl<R: Read + Seek> Read for ByRows<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.block.read(bytes)?;
        if read > 0 || bytes.is_empty() || self.next[0] == self.shape[0] {
            return Ok(read);
        }
        self.read_block()?;
        self.block.read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_swapped_however_they_are_read() {
        let big: Vec<u8> = (0..30_u32).flat_map(u32::to_be_bytes).collect();
        let native: Vec<u8> = (0..30_u32).flat_map(u32::to_le_bytes).collect();
        for taken in 1..=9 {
            let mut reader = Swapped::new(&big[..], 4);
            let mut read = Vec::<u8>::new();
            loop {
                let mut bytes = vec![0; taken];
                match reader.read(&mut bytes).unwrap() {
                    0 => break,
                    count => read.extend(&bytes[..count]),
                }
            }
            assert_eq!(read, native, "{taken} bytes at a time");
        }
        for (size, expected) in
            [(1, [1, 2, 3, 4, 5, 6, 7, 8]), (2, [2, 1, 4, 3, 6, 5, 8, 7]), (8, [8, 7, 6, 5, 4, 3, 2, 1])]
        {
            let mut read = Vec::new();
            Swapped::new(&[1, 2, 3, 4, 5, 6, 7, 8][..], size).read_to_end(&mut read).unwrap();
            assert_eq!(read, expected);
        }
        let mut cut = Vec::new();
        Swapped::new(&[1, 2, 3, 4, 5, 6][..], 4).read_to_end(&mut cut).unwrap();
        assert_eq!(cut.len(), 6);
    }

    #[test]
    fn columns_are_read_as_rows_in_blocks_of_any_size() {
        for (rows, columns) in [(7, 3), (3, 7), (1, 5), (5, 1), (0, 4)] {
            let shape = TableShape::Grid { rows, columns };
            let number = |row: usize, column: usize| (100 * row + column) as u16;
            let in_columns = (0..columns).flat_map(|column| (0..rows).map(move |row| number(row, column)));
            let in_rows = (0..rows).flat_map(|row| (0..columns).map(move |column| number(row, column)));
            let mut file = vec![9; 5];
            file.extend(in_columns.flat_map(u16::to_le_bytes));
            let expected: Vec<_> = in_rows.flat_map(u16::to_le_bytes).collect();
            assert_eq!(by_rows(&file[5..], shape, 2).unwrap(), expected);
            for block_size in [1, 4, 6, 20, 1000] {
                let mut read = Vec::new();
                let mut reader = ByRows::new(Cursor::new(&file), 5, shape, 2, block_size).unwrap();
                reader.read_to_end(&mut read).unwrap();
                assert_eq!(read, expected, "{rows} rows of {columns} in {block_size} bytes");
            }
        }
        let short = ByRows::new(Cursor::new([0; 7]), 0, TableShape::Grid { rows: 2, columns: 2 }, 2, 8);
        let error = short.unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert!(matches!(TableError::from_read(error), TableError::Changed));
    }

    #[test]
    fn values_of_several_elements_are_read_by_rows() {
        let shape = TableShape::Cube { rows: 2, values: 3, columns: 2 };
        // Element (i, j, k) is the number ijk.
        let file = [0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121];
        let expected = [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121];
        assert_eq!(by_rows(&file, shape, 1).unwrap(), expected);
    }
}
