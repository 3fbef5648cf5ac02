//! Selection from elements of any number, in chunks.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::{SelectInputs, Selected};
use subsweep::select::{Operands, SelectAlgorithm, SelectPlan};
use subsweep::table::{TableReader, TableShape, Taken, header};

use super::{Selection, with_algorithm};
use crate::args::{Common, MemoryLimit};
use crate::device;
use crate::files::{self, Destination, Output, Source, Spooled};

impl Selection<'_> {
    /// Selects by a comparison, or the first of equal elements. The number of elements stands in the header of the output and
    /// is known at the end, so that they are spooled beside it.
    pub(super) fn run_in_chunks(
        &self,
        common: &Common,
        algorithm: Option<SelectAlgorithm>,
        source: &Source,
        destinations: Vec<(&'static str, Destination)>,
        memory: &MemoryLimit,
    ) -> Result<()> {
        let has_indices = self.moved.indices.is_some();
        let max_count = if has_indices { SelectPlan::MAX_COUNT } else { u64::MAX };
        let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count };
        let opened = files::open_table(source, None, |file, size| {
            TableReader::new(file, size, self.files.element, &taken)
        })?;
        let TableReader { element, format, .. } = opened.table;
        let flat = |count| TableShape::Flat { count };
        let (config, operands) = self.config(element, flat(0), None, None, None)?;
        let outputs = destinations
            .iter()
            .map(|(option, destination)| Ok(Output::prepare(destination, option, &[source])?))
            .collect::<Result<Vec<_>>>()?;
        let element_words = element.words() as usize;
        let mut chunks = opened.chunks(source, element_words, "selecting from", memory)?;
        let folder = outputs[0].folder().map_or_else(std::env::temp_dir, Path::to_owned);
        let no_room = |error: io::Error| files::no_temporary(&folder, &error);
        let spools = outputs.iter().map(|_| tempfile::tempfile_in(&folder).map_err(no_room));
        let mut spools: Vec<File> = spools.collect::<Result<_, _>>()?;

        let gpu = device::open(common)?;
        let config = with_algorithm(config, algorithm, &gpu);
        let (mut count, mut row_count) = (0, 0);
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
            row_count = begin + words.len() / element_words;
            count += selected.counts[0] as usize - first;
            let indices = selected.indices.iter().skip(first).map(|index| index + begin as u32).collect();
            let elements = selected.elements.split_off(first * element_words);
            for (spool, words) in spools.iter_mut().zip([elements, indices]) {
                spool.write_all(bytemuck::cast_slice(&words)).map_err(no_room)?;
            }
        }
        drop(chunks);
        let headers = [element, ElementType::U32].map(|element| header(format, element, flat(count)));
        let spooled = headers.into_iter().zip(spools).map(|(header, elements)| Spooled { header, elements });
        Ok(files::commit_spooled(outputs.into_iter().zip(spooled).collect())?)
    }
}
