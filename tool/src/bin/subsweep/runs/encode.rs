//! Encoding of elements of any number, in chunks.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::RunLengths;
use subsweep::run_length::{RunLengthConfig, RunLengthPlan};
use subsweep_tool::table::{TableReader, TableShape, header};

use super::{ARRAY_COUNT, RunsArgs};
use crate::args::Common;
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::{Destination, Job, Source, Spool, Spooled};

impl RunsArgs {
    /// Encodes chunk by chunk. The number of runs stands in the headers of the outputs and is known at the end, so that the
    /// runs are spooled beside them.
    pub(super) fn encode(&self, source: &Source, common: &Common) -> Result<()> {
        let counts = Destination::from(self.counts.clone());
        let job = Job::new(&self.output).input("INPUT", source).output("--counts", &counts);
        let job = job.output("--offsets", &self.offsets).checked()?;
        // Offsets are u32.
        let max_count = if self.offsets.is_some() { RunLengthPlan::MAX_COUNT } else { u64::MAX };
        let opened = self.open(source, max_count)?;
        let TableReader { element, format, .. } = opened.table;
        let outputs = job.prepare()?;
        let mut chunks = opened.chunks(source, 1, ARRAY_COUNT, "encoding", &self.memory)?;
        let folder = outputs.temporary_folder();
        let spools = outputs.0.iter().map(|_| Spool::new_in(&folder));
        let mut spools = spools.collect::<Result<Vec<_>, _>>()?;

        let gpu = device::open(common)?;
        let mut joined = Joined::new(element, self.non_trivial);
        let mut run_count = 0;
        let mut write = |runs: &RunLengths| -> Result<(), CommandError> {
            run_count += runs.counts.len();
            let [counts, offsets] = [&runs.counts, &runs.offsets].map(|words| bytemuck::cast_slice(words));
            let arrays = [&runs.values[..], counts, offsets];
            spools.iter_mut().zip(arrays).try_for_each(|(spool, bytes)| spool.write(bytes))
        };
        let too_long = |TooLong| {
            let max = u32::MAX;
            usage!("{source}: has a run of more than {max} elements, the most of a count; split it")
        };
        // The last element of a chunk is the first of the next, and tells whether its run goes on.
        let mut kept_size = 0;
        while let Some(elements) = chunks.next(kept_size)? {
            let mut runs = RunLengths::default();
            let config = RunLengthConfig::encode(element).order(self.order);
            device::run(&gpu, gpu.prepare_run_length_encode(config, elements, &mut runs)?)?;
            write(&joined.append(&runs).map_err(too_long)?)?;
            kept_size = element.size();
        }
        drop(chunks);
        write(&joined.end())?;
        let shape = TableShape::Flat { count: run_count };
        let elements = [element, ElementType::U32, ElementType::U32];
        let tables = elements
            .into_iter()
            .zip(spools)
            .map(|(element, spool)| Spooled { start: header(format, element, shape), elements: vec![spool] });
        Ok(outputs.commit_spooled(tables)?)
    }
}

/// Joins the runs of chunks.
#[derive(Debug)]
struct Joined {
    element_size: usize,
    is_non_trivial: bool,
    /// The last run, which may go on in the next chunk.
    open: Option<Run>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    /// The bytes of its first element.
    value: [u8; 8],
    offset: u64,
    count: u64,
}

/// A run of more elements than its count holds.
#[derive(Debug)]
struct TooLong;

impl Joined {
    fn new(element: ElementType, is_non_trivial: bool) -> Self {
        Self { element_size: element.size(), is_non_trivial, open: None }
    }

    /// Takes the runs of the next chunk, which begins with the last element of the one before, and returns those that have
    /// ended.
    fn append(&mut self, runs: &RunLengths) -> Result<RunLengths, TooLong> {
        let mut ended = RunLengths::default();
        let is_first_chunk = self.open.is_none();
        let values = runs.values.chunks_exact(self.element_size);
        for (index, (bytes, &count)) in values.zip(&runs.counts).enumerate() {
            match &mut self.open {
                Some(open) if index == 0 && !is_first_chunk => {
                    open.count += u64::from(count) - 1;
                    if open.count > u32::MAX.into() {
                        return Err(TooLong);
                    }
                }
                _ => {
                    let offset = self.open.map_or(0, |open| open.offset + open.count);
                    let mut value = [0; 8];
                    value[..self.element_size].copy_from_slice(bytes);
                    let next = Run { value, offset, count: count.into() };
                    let before = self.open.replace(next);
                    self.write(before, &mut ended);
                }
            }
        }
        Ok(ended)
    }

    /// The last run.
    fn end(mut self) -> RunLengths {
        let mut ended = RunLengths::default();
        let last = self.open.take();
        self.write(last, &mut ended);
        ended
    }

    fn write(&self, run: Option<Run>, runs: &mut RunLengths) {
        let Some(Run { value, offset, count }) = run else { return };
        if count > 1 || !self.is_non_trivial {
            runs.values.extend(&value[..self.element_size]);
            runs.counts.push(count as u32);
            // Written of no more than 2^32 - 1 elements only.
            runs.offsets.push(offset as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs of elements of a size.
    fn encoded(bytes: &[u8], element_size: usize) -> RunLengths {
        let mut runs = RunLengths::default();
        let mut before = None;
        for (index, element) in bytes.chunks(element_size).enumerate() {
            if before == Some(element) {
                *runs.counts.last_mut().unwrap() += 1;
            } else {
                runs.values.extend(element);
                runs.counts.push(1);
                runs.offsets.push(index as u32);
            }
            before = Some(element);
        }
        runs
    }

    #[test]
    fn chunks_of_every_size_have_the_runs_of_the_whole() {
        let numbers = [7, 7, 7, 7, 1, 2, 2, 9, 9, 9, 9, 9, 4, 3, 3];
        for element in ElementType::ALL {
            let width = element.size();
            let bytes: Vec<u8> = numbers.iter().flat_map(|&number| vec![number; width]).collect();
            for chunk_count in 1..=numbers.len() {
                for is_non_trivial in [false, true] {
                    let mut joined = Joined::new(element, is_non_trivial);
                    let mut all = RunLengths::default();
                    let mut add = |runs: RunLengths| {
                        all.values.extend(runs.values);
                        all.counts.extend(runs.counts);
                        all.offsets.extend(runs.offsets);
                    };
                    for begin in (0..numbers.len()).step_by(chunk_count) {
                        let end = numbers.len().min(begin + chunk_count);
                        let chunk = &bytes[begin.saturating_sub(1) * width..end * width];
                        add(joined.append(&encoded(chunk, width)).unwrap());
                    }
                    add(joined.end());
                    let mut expected = encoded(&bytes, width);
                    if is_non_trivial {
                        let kept: Vec<_> =
                            (0..expected.counts.len()).filter(|&run| expected.counts[run] > 1).collect();
                        let of = |words: &[u32]| kept.iter().map(|&run| words[run]).collect();
                        expected = RunLengths {
                            values: kept
                                .iter()
                                .flat_map(|&run| &expected.values[run * width..][..width])
                                .copied()
                                .collect(),
                            counts: of(&expected.counts),
                            offsets: of(&expected.offsets),
                        };
                    }
                    assert_eq!(all, expected, "{element}, chunks of {chunk_count}");
                }
            }
        }
    }

    #[test]
    fn a_count_has_32_bits() {
        let run_of = |count: u32| RunLengths { values: vec![5; 4], counts: vec![count], offsets: vec![0] };
        let mut joined = Joined::new(ElementType::U32, false);
        joined.append(&run_of(u32::MAX - 1)).unwrap();
        joined.append(&run_of(2)).unwrap();
        assert!(joined.append(&run_of(2)).is_err());
        assert_eq!(joined.end().counts.len(), 1);
    }
}
