//! Results of chunks, and of all of them.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::{Gpu, ReducedBytes};
use subsweep::reduce::ReduceConfig;

use crate::device;
use crate::error::usage;
use crate::files::Source;

/// What has been reduced of a table: of columns, the results of chunks, which are the rows of a reduction of their own.
pub struct Partial<'a> {
    gpu: &'a Gpu,
    source: &'a Source,
    config: ReduceConfig,
    /// The configuration for the results of chunks.
    of_chunks: ReduceConfig,
    element_size: usize,
    /// Whether each row has a result.
    is_along_rows: bool,
    /// The results of chunks, as bytes; of an index down columns the elements there. Of both indices, of minima and of maxima.
    results: [Vec<u8>; 2],
    /// Of columns, the indices in all rows that chunks have, one for each column.
    indices: [Vec<u32>; 2],
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
            results: Default::default(),
            indices: Default::default(),
            chunk_count: 0,
            row_count: 0,
        }
    }

    /// Reduces a chunk of whole rows.
    ///
    /// # Errors
    /// Errors of the reduction; an index does not fit 32 bits.
    pub fn add(&mut self, chunk: &[u8]) -> Result<()> {
        let results = self.reduce(self.config, chunk)?;
        self.chunk_count += 1;
        let row_size = self.config.row_size() as usize;
        for (end, results) in self.ends(&results).enumerate() {
            if self.is_along_rows || !self.config.is_index() {
                self.results[end].extend(results);
                continue;
            }
            for (column, index) in indices(results).into_iter().enumerate() {
                let element = index as usize * row_size + column * self.element_size;
                self.results[end].extend(&chunk[element..][..self.element_size]);
                let index = u32::try_from(self.row_count + u64::from(index)).map_err(|_| {
                    usage!("{}: has more than 2^32 rows, whose indices are no u32; split it", self.source)
                })?;
                self.indices[end].push(index);
            }
        }
        self.row_count += (chunk.len() / row_size) as u64;
        Ok(())
    }

    /// The results of all chunks, as bytes.
    ///
    /// # Errors
    /// Errors of the reduction.
    pub fn end(self) -> Result<Vec<u8>> {
        match self.chunk_count {
            0 => self.reduce(self.config, &[]),
            _ if self.is_along_rows => Ok(self.results.concat()),
            1 if self.config.is_index() => Ok(bytemuck::cast_slice(&self.indices.concat()).to_vec()),
            1 => Ok(self.results.concat()),
            _ if !self.config.is_index() => self.reduce(self.of_chunks, &self.results[0]),
            _ => {
                let columns = self.config.column_count() as usize;
                let mut all = Vec::new();
                for end in 0..self.config.index_count() as usize {
                    let results = self.reduce(self.of_chunks, &self.results[end])?;
                    let chunks = self.ends(&results).nth(end).map(indices).unwrap_or_default();
                    let index = |(column, chunk): (usize, u32)| {
                        self.indices[end][chunk as usize * columns + column].to_le_bytes()
                    };
                    all.extend(chunks.into_iter().enumerate().flat_map(index));
                }
                Ok(all)
            }
        }
    }

    /// Results as they are, or both halves of both indices.
    fn ends<'r>(&self, results: &'r [u8]) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        results.chunks((results.len() / self.config.index_count().max(1) as usize).max(1))
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
