//! Decoding of runs of any number, in chunks.

use std::io::Read;

use anyhow::{Result, bail};
use subsweep::run_length::RunLengthConfig;
use subsweep_tool::table::{self, ElementType, TableReader, TableShape, header};

use super::{ARRAY_COUNT, RunsArgs};
use crate::args::Common;
use crate::device;
use crate::error::usage;
use crate::files::input::InputError;
use crate::files::{self, Job, ROW_NUMBERS, Source, Spool};

impl RunsArgs {
    /// Decodes in pieces of as many elements as a chunk has. The number of all elements stands in the header of the output, so
    /// that the counts are spooled beside it and read twice; so are values of a stream.
    pub(super) fn decode(&self, source: &Source, common: &Common) -> Result<()> {
        let counts_source = Source::from(self.counts.clone());
        let job = Job::new(&self.output).input("--decode", source).row_numbers("--counts", &counts_source);
        let outputs = job.checked()?.prepare()?;
        let folder = outputs.temporary_folder();
        // A program may write values and counts to two pipes, in either order or at once: neither waits for the other.
        let counts = std::thread::spawn({
            let (source, spool) = (counts_source.clone(), Spool::new_in(&folder)?);
            move || Counts::read(&source, spool)
        });
        let mut opened = self.open(source, u64::MAX)?;
        if !opened.table.is_file() {
            opened = opened.spooled(source, &folder)?;
        }
        let TableReader { element, format, shape, .. } = opened.table;
        let value_count = shape.map_or(0, |shape| shape.rows());
        let counts = counts.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let Counts { mut spool, run_count, element_count } = counts?;
        if run_count != value_count {
            bail!(usage!(
                "{counts_source}: has {run_count} counts, and {source} has {value_count} values; give a count for each"
            ));
        }
        let element_size = element.size();
        let room = files::chunk_size(ARRAY_COUNT, element);
        let size = room.min(element_count.saturating_mul(element_size as u64));
        files::check_arrays(&self.memory, ARRAY_COUNT, size)?;
        let mut chunks = opened.chunks(source, 1, ARRAY_COUNT, "decoding", &self.memory)?;

        let gpu = device::open(common)?;
        let [mut output] = outputs.begin()?;
        let shape = TableShape::Flat { count: element_count as usize };
        output.header = header(format, element, shape);
        while let Some(values) = chunks.next(0)? {
            let mut counts = vec![0; values.len() / element_size];
            spool.read(bytemuck::cast_slice_mut(&mut counts))?;
            let mut begin = 0;
            while begin < counts.len() {
                let (piece, next) = piece(&mut counts, begin, size / element_size as u64);
                let values = &values[begin * element_size..][..piece.len() * element_size];
                let mut elements = Vec::new();
                let config = RunLengthConfig::decode(element);
                device::run(&gpu, gpu.prepare_run_length_decode(config, values, &piece, &mut elements)?)?;
                output.write_bytes(&elements)?;
                begin = next;
            }
        }
        Ok(output.finish()?)
    }
}

/// The counts of the next piece of at most `room` elements, from run `begin` on, and the run at which the one after it begins.
/// The elements of the piece are taken off `counts`: a run that does not fit goes on in the next piece.
fn piece(counts: &mut [u32], begin: usize, mut room: u64) -> (Vec<u32>, usize) {
    let mut piece = Vec::new();
    for (run, count) in (begin..).zip(&mut counts[begin..]) {
        let taken = u64::from(*count).min(room) as u32;
        piece.push(taken);
        *count -= taken;
        room -= u64::from(taken);
        if *count > 0 {
            return (piece, run);
        }
    }
    let next = begin + piece.len();
    (piece, next)
}

/// The counts of runs.
struct Counts {
    /// Each as u32, from the first on.
    spool: Spool,
    run_count: usize,
    /// Their sum.
    element_count: u64,
}

impl Counts {
    /// Reads counts: integers of any type in an .npy file, or raw u32.
    fn read(source: &Source, mut spool: Spool) -> Result<Self> {
        let opened = files::open_table(source, None, |file, size| {
            TableReader::with_raw(file, size, ElementType::U32, &ROW_NUMBERS)
        })?;
        let mut table = opened.table;
        let (element, mut bytes) = (table.element, Vec::new());
        let (mut run_count, mut element_count) = (0, 0);
        loop {
            bytes.clear();
            let read = table.by_ref().take(1 << 20).read_to_end(&mut bytes);
            read.map_err(|error| InputError::from_read(source, error))?;
            if bytes.is_empty() {
                break;
            }
            let number = |(index, bytes): (usize, &[u8])| {
                let number = table::whole(bytes, element);
                u32::try_from(number).map_err(|_| {
                    usage!("{source}: count {index} is {number}; counts are from 0 to {}", u32::MAX)
                })
            };
            let counts = (run_count..).zip(bytes.chunks_exact(element.size())).map(number);
            let counts = counts.collect::<Result<Vec<_>, _>>()?;
            run_count += counts.len();
            element_count += counts.iter().copied().map(u64::from).sum::<u64>();
            spool.write(bytemuck::cast_slice(&counts))?;
        }
        spool.rewind()?;
        Ok(Self { spool, run_count, element_count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_all_elements_of_every_run() {
        let all = [3, 0, 5, 1, 0, 12, 0];
        for room in 1..=22 {
            let (mut counts, mut begin, mut sums) = (all, 0, [0; 7]);
            let mut piece_count = 0;
            while begin < all.len() {
                let (piece, next) = piece(&mut counts, begin, room);
                let size: u32 = piece.iter().sum();
                assert!(u64::from(size) <= room && (size > 0 || next == all.len()), "{room}");
                sums[begin..].iter_mut().zip(piece).for_each(|(sum, count)| *sum += count);
                (begin, piece_count) = (next, piece_count + 1);
            }
            assert_eq!(sums, all, "{room}");
            assert_eq!(piece_count, 21_u64.div_ceil(room), "{room}");
        }
    }
}
