//! Selection from elements of any number, in chunks.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::{SelectInputs, Selected};
use subsweep::select::{Operands, SelectAlgorithm, SelectPlan};
use subsweep_tool::table::{TableReader, TableShape, Taken, header};

use super::{Selection, with_algorithm};
use crate::args::Common;
use crate::device;
use crate::files::{self, Job, Spool, Spooled};

impl Selection<'_> {
    /// Selects or partitions by a comparison, or selects the first of equal elements. The number of elements stands in the
    /// header of the output and is known at the end, and the second part begins after the first: each part is spooled beside
    /// the output.
    pub(super) fn run_in_chunks(
        &self,
        common: &Common,
        algorithm: Option<SelectAlgorithm>,
        job: &Job<'_>,
    ) -> Result<()> {
        // Indices and sizes of parts are u32.
        let is_counted = self.moved.indices.is_some() || self.count.is_some();
        let max_count = if is_counted { SelectPlan::MAX_COUNT } else { u64::MAX };
        let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count };
        let source = &self.files.input;
        let opened = self.files.open(None, &taken)?;
        let TableReader { element, format, .. } = opened.table;
        let flat = |count: u64| TableShape::Flat { count: count as usize };
        let (config, operands) = self.config(element, flat(0), None, None, None)?;
        let outputs = job.prepare()?;
        // Indices are results as well, on the host and on the device.
        let arrays = files::ROWS_AND_RESULTS + if self.moved.indices.is_some() { 2 } else { 0 };
        let mut chunks = opened.chunks(source, 1, arrays, self.verb(), self.memory)?;
        let folder = outputs.temporary_folder();
        let part_count = config.part_count() as usize;
        let spools_of_parts =
            || (0..part_count).map(|_| Spool::new_in(&folder)).collect::<Result<Vec<_>, _>>();
        let mut elements = spools_of_parts()?;
        let mut indices = self.moved.indices.is_some().then(spools_of_parts).transpose()?;

        let gpu = device::open(common)?;
        let config = with_algorithm(config, algorithm, &gpu);
        let (mut sizes, mut row_count) = (vec![0; part_count], 0);
        // An element is compared with the one before it, of which the last chunk has the last.
        let is_unique = self.by.condition.is_none();
        let kept_size = if is_unique { element.size() } else { 0 };
        while let Some(chunk) = chunks.next(kept_size)? {
            let mut selected = Selected::default();
            let inputs = SelectInputs::of_bytes(chunk).operands(Operands::of_words(element, &operands)?);
            device::run(&gpu, gpu.prepare_select(config, &inputs, &mut selected)?)?;
            // The first of a chunk is always selected; of a later one it has been judged before.
            let first = usize::from(is_unique && row_count > 0);
            let begin = row_count - first;
            let count = chunk.len() / element.size();
            row_count = begin + count;
            let mut of_chunk = self.sizes(&selected.counts, count as u64);
            of_chunk[0] -= first as u64;
            sizes.iter_mut().zip(&of_chunk).for_each(|(size, more)| *size += more);
            selected.indices.iter_mut().for_each(|index| *index += begin as u32);
            let arrays = [
                Some((&mut elements, &selected.elements[..], element.size())),
                indices.as_mut().map(|indices| (indices, bytemuck::cast_slice(&selected.indices), 4)),
            ];
            for (spools, bytes, width) in arrays.into_iter().flatten() {
                let mut rest = &bytes[first * width..];
                for (spool, &size) in spools.iter_mut().zip(&of_chunk) {
                    let part;
                    (part, rest) = rest.split_at(size as usize * width);
                    spool.write(part)?;
                }
            }
        }
        drop(chunks);
        let header_of = |element, count| header(format, element, flat(count));
        let moved_count = sizes.iter().sum();
        let bytes_of_sizes = sizes.iter().flat_map(|&size| (size as u32).to_le_bytes());
        // In the order of the outputs.
        let tables = [
            Some(Spooled { start: header_of(element, moved_count), elements }),
            indices.map(|elements| Spooled { start: header_of(ElementType::U32, moved_count), elements }),
            self.count.as_ref().map(|_| Spooled {
                start: header_of(ElementType::U32, sizes.len() as u64)
                    .into_iter()
                    .chain(bytes_of_sizes)
                    .collect(),
                elements: Vec::new(),
            }),
        ];
        outputs.commit_spooled(tables.into_iter().flatten())?;
        self.print_sizes(&sizes);
        Ok(())
    }
}
