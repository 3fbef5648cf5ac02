//! Results of chunks, and of all of them.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::{Gpu, ReducedBytes};
use subsweep::reduce::ReduceConfig;

use crate::device;
use crate::error::Ended;
use crate::files::Source;

/// What has been reduced of a table: of columns, the results of chunks, which are the rows of a reduction of their own.
pub struct Partial<'a> {
    gpu: &'a Gpu,
    source: &'a Source,
    config: ReduceConfig,
    /// That of the results of chunks.
    of_chunks: ReduceConfig,
    element_size: usize,
    /// Whether each row has a result.
    is_along_rows: bool,
    /// The results of chunks, as bytes; of an index the elements there.
    results: Vec<u8>,
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
        [config, of_chunks]: [ReduceConfig; 2],
        element: ElementType,
        is_along_rows: bool,
    ) -> Self {
        Self {
            gpu,
            source,
            config,
            of_chunks,
            element_size: element.size(),
            is_along_rows,
            results: Vec::new(),
            indices: Vec::new(),
            chunk_count: 0,
            row_count: 0,
        }
    }

    /// Reduces a chunk of whole rows.
    ///
    /// # Errors
    /// Those of the reduction; an index does not fit 32 bits.
    pub fn add(&mut self, chunk: &[u8]) -> Result<()> {
        let results = self.reduce(self.config, chunk)?;
        self.chunk_count += 1;
        if self.is_along_rows || !self.config.is_index() {
            self.results.extend(results);
            return Ok(());
        }
        let row_size = self.config.row_size() as usize;
        for (column, index) in indices(&results).into_iter().enumerate() {
            let element = index as usize * row_size + column * self.element_size;
            self.results.extend(&chunk[element..][..self.element_size]);
            let index = u32::try_from(self.row_count + u64::from(index)).map_err(|_| {
                Ended::usage(format!(
                    "{}: has more than 2^32 rows, whose indices are no u32; split it",
                    self.source
                ))
            })?;
            self.indices.push(index);
        }
        self.row_count += (chunk.len() / row_size) as u64;
        Ok(())
    }

    /// The results of all chunks, as bytes.
    ///
    /// # Errors
    /// Those of the reduction.
    pub fn end(self) -> Result<Vec<u8>> {
        match self.chunk_count {
            0 => self.reduce(self.config, &[]),
            _ if self.is_along_rows => Ok(self.results),
            1 if self.config.is_index() => Ok(bytemuck::cast_slice(&self.indices).to_vec()),
            1 => Ok(self.results),
            _ => {
                let results = self.reduce(self.of_chunks, &self.results)?;
                if !self.config.is_index() {
                    return Ok(results);
                }
                let columns = self.config.column_count() as usize;
                let chunks = indices(&results).into_iter().enumerate();
                let index = |(column, chunk): (usize, u32)| self.indices[chunk as usize * columns + column];
                Ok(chunks.map(index).flat_map(u32::to_le_bytes).collect())
            }
        }
    }

    fn reduce(&self, config: ReduceConfig, rows: &[u8]) -> Result<Vec<u8>> {
        let mut reduced = ReducedBytes::default();
        device::run(self.gpu, self.gpu.prepare_reduce(config, rows, &[], &mut reduced)?)?;
        Ok(reduced.results)
    }
}

fn indices(results: &[u8]) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(results)
}
