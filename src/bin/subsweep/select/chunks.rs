//! Selection from elements of any number, in chunks.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::{SelectInputs, Selected};
use subsweep::select::{Operands, SelectAlgorithm, SelectPlan};
use subsweep::table::{TableReader, TableShape, Taken, header};

use super::{Selection, with_algorithm};
use crate::args::{Common, MemoryLimit};
use crate::device;
use crate::files::{self, Destination, Output, Source, Spool, Spooled};

impl Selection<'_> {
    /// Selects or partitions by a comparison, or selects the first of equal elements. The number of elements stands in the
    /// header of the output and is known at the end, and the second part begins after the first: each part is spooled beside
    /// the output.
    pub(super) fn run_in_chunks(
        &self,
        common: &Common,
        algorithm: Option<SelectAlgorithm>,
        source: &Source,
        destinations: Vec<(&'static str, Destination)>,
        memory: &MemoryLimit,
    ) -> Result<()> {
        // Indices and sizes of parts are u32.
        let is_counted = self.moved.indices.is_some() || self.count.is_some();
        let max_count = if is_counted { SelectPlan::MAX_COUNT } else { u64::MAX };
        let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count };
        let opened = files::open_table(source, None, |file, size| {
            TableReader::new(file, size, self.files.element, &taken)
        })?;
        let TableReader { element, format, .. } = opened.table;
        let flat = |count: u64| TableShape::Flat { count: count as usize };
        let (config, operands) = self.config(element, flat(0), None, None, None)?;
        let outputs = destinations
            .iter()
            .map(|(option, destination)| Ok(Output::prepare(destination, option, &[source])?))
            .collect::<Result<Vec<_>>>()?;
        let element_words = element.words() as usize;
        let arrays = files::ROWS_AND_RESULTS;
        let mut chunks = opened.chunks(source, element_words, arrays, "selecting from", memory)?;
        let folder = outputs[0].temporary_folder();
        let part_count = config.part_count() as usize;
        let spools_of_parts =
            || (0..part_count).map(|_| Spool::new_in(&folder)).collect::<Result<Vec<_>, _>>();
        let mut spools = destinations.iter().map(|_| spools_of_parts()).collect::<Result<Vec<_>, _>>()?;

        let gpu = device::open(common)?;
        let config = with_algorithm(config, algorithm, &gpu);
        let (mut sizes, mut row_count) = (vec![0; part_count], 0);
        // An element is compared with the one before it, of which the last chunk has the last.
        let is_unique = self.by.condition.is_none();
        let kept_words = if is_unique { element_words } else { 0 };
        while let Some(words) = chunks.next(kept_words)? {
            let mut selected = Selected::default();
            let inputs = SelectInputs::new(words).operands(Operands::of_words(element, &operands)?);
            let prepared = gpu.prepare_select(config, &inputs, &mut selected)?;
            device::check_memory(&gpu, prepared.device_size(), "a chunk of the elements and the result")?;
            prepared.run()?;
            // The first of a chunk is always selected; of a later one it has been judged before.
            let first = usize::from(is_unique && row_count > 0);
            let begin = row_count - first;
            let count = words.len() / element_words;
            row_count = begin + count;
            let mut of_chunk = self.sizes(&selected.counts, count as u64);
            of_chunk[0] -= first as u64;
            sizes.iter_mut().zip(&of_chunk).for_each(|(size, more)| *size += more);
            selected.indices.iter_mut().for_each(|index| *index += begin as u32);
            for ((option, _), spools) in destinations.iter().zip(&mut spools) {
                let (words, width) = match *option {
                    "-o" => (&selected.elements, element_words),
                    "--indices" => (&selected.indices, 1),
                    _ => continue,
                };
                let mut rest = &words[first * width..];
                for (spool, &size) in spools.iter_mut().zip(&of_chunk) {
                    let part;
                    (part, rest) = rest.split_at(size as usize * width);
                    spool.write(part)?;
                }
            }
        }
        drop(chunks);
        let mut tables = Vec::new();
        for (((option, _), output), mut elements) in destinations.iter().zip(outputs).zip(spools) {
            let (element, count) = match *option {
                "-o" => (element, sizes.iter().sum()),
                "--indices" => (ElementType::U32, sizes.iter().sum()),
                _ => {
                    let sizes: Vec<_> = sizes.iter().map(|&size| size as u32).collect();
                    elements[0].write(&sizes)?;
                    (ElementType::U32, sizes.len() as u64)
                }
            };
            tables.push((output, Spooled { header: header(format, element, flat(count)), elements }));
        }
        files::commit_spooled(tables)?;
        self.print_sizes(&sizes);
        Ok(())
    }
}
