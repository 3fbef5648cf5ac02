//! Results of chunks, and of all of them.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::{Gpu, ReducedWords};
use subsweep::reduce::ReduceConfig;

use crate::device;
use crate::error::Ended;
use crate::files::Source;

/// What has been reduced of a table: of columns, the results of chunks, which are the rows of a reduction of their own.
pub struct Partial<'a> {
    gpu: &'a Gpu,
    source: &'a Source,
    config: ReduceConfig,
    /// The words of an element.
    element_words: usize,
    /// Whether each row has a result.
    is_along_rows: bool,
    /// The results of chunks; of an index the elements there.
    words: Vec<u32>,
    /// Of columns, the indices in all rows that chunks have, one for each column.
    indices: Vec<u32>,
    chunk_count: usize,
    row_count: u64,
}

impl<'a> Partial<'a> {
    /// Nothing yet.
    pub fn new(
        gpu: &'a Gpu,
        source: &'a Source,
        config: ReduceConfig,
        element: ElementType,
        is_along_rows: bool,
    ) -> Self {
        let element_words = element.words() as usize;
        let (words, indices) = (Vec::new(), Vec::new());
        Self {
            gpu,
            source,
            config,
            element_words,
            is_along_rows,
            words,
            indices,
            chunk_count: 0,
            row_count: 0,
        }
    }

    /// Reduces a chunk of whole rows.
    ///
    /// # Errors
    /// Those of the reduction; an index does not fit 32 bits.
    pub fn add(&mut self, chunk: &[u32]) -> Result<()> {
        let results = self.reduce(chunk)?;
        self.chunk_count += 1;
        if self.is_along_rows || !self.config.is_index() {
            self.words.extend(results);
            return Ok(());
        }
        let columns = self.config.column_count() as usize;
        let row_words = columns * self.element_words;
        for (column, &index) in results.iter().enumerate() {
            let element = index as usize * row_words + column * self.element_words;
            self.words.extend(&chunk[element..][..self.element_words]);
            let index = u32::try_from(self.row_count + u64::from(index)).map_err(|_| {
                Ended::usage(format!(
                    "{}: has more than 2^32 rows, whose indices are no u32; split it",
                    self.source
                ))
            })?;
            self.indices.push(index);
        }
        self.row_count += (chunk.len() / row_words) as u64;
        Ok(())
    }

    /// The results of all chunks.
    ///
    /// # Errors
    /// Those of the reduction.
    pub fn end(self) -> Result<Vec<u32>> {
        match self.chunk_count {
            0 => self.reduce(&[]),
            _ if self.is_along_rows => Ok(self.words),
            1 if self.config.is_index() => Ok(self.indices),
            1 => Ok(self.words),
            _ => {
                let results = self.reduce(&self.words)?;
                if !self.config.is_index() {
                    return Ok(results);
                }
                let columns = self.config.column_count() as usize;
                let index = |(column, &chunk): (usize, &u32)| self.indices[chunk as usize * columns + column];
                Ok(results.iter().enumerate().map(index).collect())
            }
        }
    }

    fn reduce(&self, words: &[u32]) -> Result<Vec<u32>> {
        let mut reduced = ReducedWords::default();
        device::run(self.gpu, self.gpu.prepare_reduce(self.config, words, &[], &mut reduced)?)?;
        Ok(reduced.results)
    }
}
