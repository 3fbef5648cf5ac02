//! Scan of any length in constant memory: chunks stream through the device.
//!
//! ```text
//!   source ─► staging ─► [ edge │ rows of a chunk │ edge ] ─► scan ─► [ … ] ─► staging ─► sink
//!                            ▲                                          │
//!                            └─────────────── carry row ◄───────────────┘
//! ```
//!
//! The carry is a row of its own before the rows of a chunk, or after them in a reverse scan: the last result of the
//! chunk before. It never leaves the device. An exclusive scan has a further row at the other end, whose result is the next
//! carry. Chunks have a fixed number of rows, so that sums of floats do not depend on the memory.
//!
//! Sums that do not decrease are scanned once more in place, for their maxima, with a carry row of their own.
//!
//! Sums and products of 16-bit floats are scanned and carried in 32 bits, to which each chunk is unpacked before the scan.
//!
//! Along the rows of a table a chunk has whole rows, and nothing is carried; rows longer than a chunk are segments.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::iter::Peekable;
use std::ops::Range;
use std::sync::Arc;

use super::commands::{AFTER_EARLIER_SUBMISSIONS, Commands};
use super::copies::Copies;
use super::scan::check_in_place;
use super::stages::Stages;
use super::{Gpu, GpuBuffer, lock, scratch_range};
use crate::device::{Barrier, BufferRange, Pipeline, Recorder};
use crate::error::{Error, Result, in_range, refuse_if};
use crate::primitives::{ElementType, Packing};
use crate::reading::read_full;
use crate::scan::{InitialValue, ScanBuffers, ScanConfig, ScanKind, ScanPlan, SegmentsBy};

/// Size of the rows in a chunk by default, bytes, of 8 and 16 bits once they are unpacked.
const CHUNK_SIZE: u64 = 8 << 20;

/// Most rows of a chunk.
const MAX_ROWS: u64 = 1 << 31;

/// Chunks that keep the host and the device busy: one is filled, two are in flight, and one is drained.
const MAX_CHUNKS: u64 = 4;

/// Orders a chunk's copies and scans.
const IN_CHUNK: Barrier = Barrier { name: "in a chunk", ..AFTER_EARLIER_SUBMISSIONS };

/// Options of [`Gpu::scan_stream`].
#[derive(Default)]
pub struct ScanStream<'a> {
    /// Initial value: a row, as bytes in memory order.
    pub initial: Option<&'a [u8]>,
    /// The last result of rows that come before these, as bytes: unless a segment begins at the first row, these continue
    /// after it. Of an exclusive scan, the result that the first row gets; of a monotone one, taken for the sum and the greatest so far.
    pub carry: Option<&'a [u8]>,
    /// The rows at which segments begin: ascending, or, of a reverse scan, descending. For a configuration with
    /// [`SegmentsBy::Offsets`]; of the others, [`ScanConfig::along_rows`] alone is supported, and needs none.
    pub segments: Option<&'a mut (dyn Iterator<Item = io::Result<u64>> + Send)>,
    /// Number of rows, if known: of fewer than a chunk the memory is smaller. Needed by a reverse scan with segments, and
    /// along rows.
    pub row_count: Option<u64>,
    /// Limit of the memory on host and device together, bytes; [`StreamError::Memory`] states the least.
    pub memory_size: Option<u64>,
    /// Size of the rows in a chunk, bytes; 8 MiB by default, of 8 bits 2 MiB and of 16 bits 4 MiB. It determines the sums of floats. Along the rows of a table a
    /// chunk has as many whole ones as fit.
    pub chunk_size: Option<u64>,
}

/// Errors of a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The device, or the configuration.
    #[error(transparent)]
    Device(#[from] Error),
    /// The source, or a source of segments.
    #[error("the source cannot be read ({0})")]
    Read(io::Error),
    /// The sink.
    #[error("the sink cannot be written ({0})")]
    Write(io::Error),
    /// A temporary file.
    #[error("no temporary file can be written or read ({0})")]
    Temporary(io::Error),
    /// A limit of the memory below the least that is needed.
    #[error("chunks need {needed} bytes of memory, and {given} are allowed")]
    Memory {
        /// The least, bytes.
        needed: u64,
        /// The limit, bytes.
        given: u64,
    },
    /// A segment that begins beyond the last row.
    #[error("a segment begins at row {begin}, and there are {row_count}")]
    SegmentBeyond {
        /// The row.
        begin: u64,
        /// Number of rows.
        row_count: u64,
    },
    /// Segments that are not in the order of the scan.
    #[error("a segment begins at row {begin}, and was given after one at {last}")]
    SegmentOrder {
        /// The row.
        begin: u64,
        /// The row of the segment before.
        last: u64,
    },
}

/// A scan in chunks: its plans, and the sizes of its memory.
struct ChunkedScan {
    /// Of what is scanned on the device.
    config: ScanConfig,
    /// Unpacks rows before the scan, and packs results.
    packing: Option<Packing>,
    plans: PartPlans,
    /// Scan the results for their maxima, in place, where these are carried.
    maxima: Option<PartPlans>,
    /// Bytes of a row that is scanned.
    row_size: u64,
    /// Bytes of a row on the host.
    host_row_size: u64,
    /// Rows of a whole chunk.
    rows: u64,
    /// Bytes of scratch of either plan.
    scratch_sizes: [u64; 2],
    initial: InitialValue,
}

/// Scans of rows that continue after the carry, but along whole rows of a table, which carry nothing; and of rows at which a
/// segment begins, or all rows.
type PartPlans = [Option<Arc<ScanPlan>>; 2];

/// The rows of a chunk, in two parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Parts {
    /// Rows after the carry.
    continued: Range<u64>,
    /// Rows from a segment's begin on; all, of the first chunk.
    fresh: Range<u64>,
}

/// The work on a chunk, which is dropped first and waits for the device, and its rows.
type ScanChunk = (Commands, ChunkRows);

/// The rows of a chunk, and their memory.
struct ChunkRows {
    /// Rows, and then results, on the host.
    staging: GpuBuffer,
    /// Segments of the fresh part, on the host and on the device.
    offsets: Option<[GpuBuffer; 2]>,
    table: GpuBuffer,
    /// Results; `None` in place.
    result: Option<GpuBuffer>,
    /// The table, and then results, packed.
    packed: Option<GpuBuffer>,
    count: u64,
    parts: Parts,
    offset_count: u64,
}

impl Gpu {
    /// Scans rows from `source` to `sink`, of any length in constant memory; reading, scanning and writing overlap. A
    /// reverse scan takes its rows from the last to the first: each read gives the bytes before the bytes of the last read,
    /// in the order of the file, and each write likewise ([`Backward`]). [`ScanConfig::out_of_place`] allows the single pass.
    ///
    /// Sums and products of floats are computed 8 MiB at a time (4 MiB of 16-bit floats); each scan begins with the last result
    /// of the scan before. That result has 32 bits if the elements have 16, so that each sum is rounded to 16 once. The results
    /// do not depend on `memory_size`. Along the rows of a table, rows of up to 8 MiB are scanned by themselves.
    ///
    /// # Errors
    /// [`StreamError::Read`], of kind `UnexpectedEof` if the source ends within a row; [`StreamError::Write`];
    /// [`StreamError::SegmentOrder`], [`StreamError::SegmentBeyond`]; [`StreamError::Memory`]; the errors of
    /// [`Gpu::scan_bytes`]; [`Error::Unsupported`] for segments of a configuration without offsets, and along rows without
    /// [`ScanStream::row_count`]. The sink may have a part of the result then.
    pub fn scan_stream(
        &self,
        config: ScanConfig,
        stream: ScanStream<'_>,
        mut source: impl Read + Send,
        mut sink: impl Write + Send,
    ) -> Result<(), StreamError> {
        let ScanStream { initial, carry: row_before, segments, row_count, memory_size, chunk_size } = stream;
        let reason = "segments are given to a scan without them";
        refuse_if(segments.is_some() && config.segments_by() != Some(SegmentsBy::Offsets), reason)?;
        let scan = ChunkedScan::new(self, config, initial, chunk_size, row_count)?;
        let mut begins_of_rows = begins_of_rows(&config, &scan, row_count);
        let [continued, fresh] = scan.scratch_sizes.map(|size| self.allocate_scratch(size));
        let scratch = [continued?, fresh?];
        // Of results, and of their maxima.
        let carry = self.allocate(2 * scan.row_size)?;
        let zeros = vec![0; config.row_size() as usize];
        let row = row_before.unwrap_or(&zeros);
        if row.len() != zeros.len() {
            let columns = config.column_count();
            return Err(Error::RowLengthMismatch { value_count: row.len() as u64, columns }.into());
        }
        let row = match config.element_type().filter(|_| scan.packing.is_some()) {
            Some(element) => bytemuck::cast_slice(&element.unpacked_words(row).collect::<Vec<_>>()).to_vec(),
            None => row.to_vec(),
        };
        self.upload(&carry, 0, &row.repeat(2))?;
        let chunks = scan.chunks(self, memory_size)?;
        let segments = segments.unwrap_or(&mut *begins_of_rows);
        let is_continued = row_before.is_some() && !scan.has_whole_rows();
        let mut filler = Filler::new(&scan, segments, row_count, is_continued);
        Stages {
            fill: |(_, rows): &mut ScanChunk| filler.fill(rows, &mut source),
            start: |(commands, rows): &mut ScanChunk| {
                let carry = [0, 1].map(|row| carry.range().slice(row * scan.row_size, scan.row_size));
                let scratch = scratch.each_ref().map(scratch_range);
                let record = |recorder: &mut Recorder<'_>| scan.record(recorder, rows, carry, scratch);
                Recorder::compile(&self.device, record)?;
                // SAFETY: the buffers are this device's and used by nothing else; the buffers of the chunk live until
                // it is waited for, and the others until all chunks are dropped.
                unsafe { lock(&self.submitter).launch(commands, record) }
            },
            wait: |(commands, _): &mut ScanChunk| commands.wait(),
            drain: |(_, rows): &mut ScanChunk| {
                let size = (rows.count * scan.host_row_size) as usize;
                sink.write_all(&rows.staging.staged()[..size]).map_err(StreamError::Write)
            },
        }
        .run(chunks)?;
        filler.end()
    }
}

impl ChunkedScan {
    fn new(
        gpu: &Gpu,
        mut config: ScanConfig,
        initial: Option<&[u8]>,
        chunk_size: Option<u64>,
        row_count: Option<u64>,
    ) -> Result<Self> {
        let length = match config.segments_by() {
            None | Some(SegmentsBy::Offsets) => None,
            Some(SegmentsBy::FixedSize(length)) => {
                refuse_if(row_count.is_none(), "a stream along rows needs row_count")?;
                in_range("the length of a segment", length, 1..=u32::MAX)?;
                Some(u64::from(length))
            }
            Some(_) => {
                let reason = "the segments of a stream are offsets, or the rows of a table";
                return Err(Error::Unsupported { reason });
            }
        };
        let initial = match initial {
            Some(row) => {
                config = config.with_initial();
                InitialValue::of_bytes(config.element_type().unwrap_or(ElementType::U32), row)?
            }
            None => InitialValue::Identity,
        };
        check_in_place(&config)?;
        let host_row_size = config.row_size();
        let element = config.element_type();
        let growth = element.map_or(1, |element| element.unpacked().size() / element.size());
        let rows = chunk_size.unwrap_or(CHUNK_SIZE / growth as u64) / host_row_size;
        // Results that are rounded are carried before they are.
        let rounded = element.filter(|element| config.rounds() && element.is_packed());
        let packing = rounded.map(|element| Packing::of_numbers(gpu.device(), element)).transpose()?;
        if let Some(packing) = &packing {
            Pipeline::compile_all(gpu.device(), packing.pipelines())?;
            config = config.of_words();
        }
        let mut rows = rows.min(row_count.unwrap_or(MAX_ROWS)).clamp(1, MAX_ROWS);
        // From the last row on, whole segments end a chunk only where the last one is whole.
        let ends_whole = |length| !config.is_reverse() || row_count.unwrap_or(0).is_multiple_of(length);
        let whole = length.filter(|&length| length <= rows && ends_whole(length));
        match (whole, length) {
            (Some(length), _) => rows -= rows % length,
            (None, Some(_)) => config = config.segments(SegmentsBy::Offsets),
            (None, None) => {}
        }
        let plans_of = |config: ScanConfig| -> Result<PartPlans> {
            let continued = whole.is_none().then(|| gpu.declared(config.unsegmented())).transpose()?;
            Ok([continued, Some(gpu.declared(config)?)])
        };
        let carries_maxima = config.is_monotone() && whole.is_none();
        let maxima = carries_maxima.then(|| plans_of(config.maxima_in_place())).transpose()?;
        config = if carries_maxima { config.without_order() } else { config };
        let plans = plans_of(config)?;
        let scratch_sizes = [0, 1].map(|part| {
            let of_part = std::iter::once(&plans).chain(&maxima).filter_map(|plans| plans[part].as_ref());
            of_part.map(|plan| plan.scratch_requirements(rows + EDGES).size).max().unwrap_or(0)
        });
        let row_size = config.row_size();
        Ok(Self { config, packing, plans, maxima, row_size, host_row_size, rows, scratch_sizes, initial })
    }

    /// Bytes of a table: the rows of a chunk, and the edges.
    fn table_size(&self) -> u64 {
        self.first_offset() + (self.rows + EDGES) * self.row_size
    }

    /// Whether a chunk has whole rows of a table, so that nothing is carried.
    fn has_whole_rows(&self) -> bool {
        self.plans[0].is_none()
    }

    fn has_offsets(&self) -> bool {
        self.config.segments_by() == Some(SegmentsBy::Offsets)
    }

    fn offsets_size(&self) -> u64 {
        if self.has_offsets() { 4 * self.rows } else { 0 }
    }

    /// Bytes of a chunk on host and device.
    fn chunk_size(&self) -> u64 {
        let tables = if self.is_in_place() { 1 } else { 2 };
        let table_sizes = tables * self.table_size() + self.packed_size();
        self.rows * self.host_row_size + table_sizes + 2 * self.offsets_size()
    }

    /// Bytes of a table before it is unpacked; 0 of one that is not.
    fn packed_size(&self) -> u64 {
        if self.packing.is_some() { self.table_size() * self.host_row_size / self.row_size } else { 0 }
    }

    fn is_in_place(&self) -> bool {
        self.plans.iter().flatten().all(|plan| plan.scans_in_place())
    }

    /// Bytes of the scratch, one chunk, and what the host has besides.
    fn least_size(&self) -> u64 {
        // The segments of a chunk are on the host three times, in 8 and 4 bytes, before they are staged.
        self.scratch_sizes.iter().sum::<u64>() + self.chunk_size() + 6 * self.offsets_size() + Copies::SIZE
    }

    /// As many chunks as keep host and device busy, or as fit.
    fn chunks(&self, gpu: &Gpu, memory_size: Option<u64>) -> Result<Vec<ScanChunk>, StreamError> {
        let (given, needed) = (memory_size.unwrap_or(u64::MAX), self.least_size());
        if given < needed {
            return Err(StreamError::Memory { needed, given });
        }
        let further = (given - needed) / self.chunk_size();
        let offsets = || -> Result<_> {
            Ok([gpu.memory.allocate_staging(self.offsets_size())?, gpu.allocate(self.offsets_size())?])
        };
        let rows = || -> Result<_> {
            Ok(ChunkRows {
                staging: gpu.memory.allocate_staging(self.rows * self.host_row_size)?,
                offsets: self.has_offsets().then(offsets).transpose()?,
                table: gpu.allocate(self.table_size())?,
                result: (!self.is_in_place()).then(|| gpu.allocate(self.table_size())).transpose()?,
                packed: self.packing.is_some().then(|| gpu.allocate(self.packed_size())).transpose()?,
                count: 0,
                parts: Parts::default(),
                offset_count: 0,
            })
        };
        let chunk = |_| Ok((gpu.commands()?, rows()?));
        (0..(1 + further).min(MAX_CHUNKS)).map(chunk).collect()
    }

    /// Byte of the first edge in a table. The rows that are scanned begin at a multiple of 16 bytes: with the first edge,
    /// or, of a reverse inclusive scan and without a carry, with the row after it.
    fn first_offset(&self) -> u64 {
        let is_inclusive = self.config.kind() == ScanKind::Inclusive;
        let begins_with_row = self.has_whole_rows() || self.config.is_reverse() && is_inclusive;
        if begins_with_row { self.row_size.next_multiple_of(16) - self.row_size } else { 0 }
    }

    /// Rows of a part in a table, edges included; the first edge is row 0. The carry precedes continued rows in the
    /// order of the scan. The row after the last part of an exclusive scan gets the next carry.
    fn scanned(&self, parts: &Parts, is_continued: bool) -> Range<u64> {
        let part = if is_continued { &parts.continued } else { &parts.fresh };
        let is_last = !is_continued || parts.fresh.is_empty();
        let has_edge_after = is_last && self.config.kind() == ScanKind::Exclusive && !self.has_whole_rows();
        let (before, after) = match self.config.is_reverse() {
            false => (is_continued, has_edge_after),
            true => (has_edge_after, is_continued),
        };
        part.start + 1 - u64::from(before)..part.end + 1 + u64::from(after)
    }

    fn record(
        &self,
        recorder: &mut Recorder<'_>,
        rows: &ChunkRows,
        [carried, carried_maximum]: [BufferRange; 2],
        scratch: [BufferRange; 2],
    ) -> Result<()> {
        let ChunkRows { parts, count, .. } = rows;
        let [table, result] =
            [&rows.table, rows.result.as_ref().unwrap_or(&rows.table)].map(GpuBuffer::range);
        let packed = rows.packed.as_ref().map(GpuBuffer::range);
        let of_size = |range: BufferRange, rows: Range<u64>, row_size: u64| {
            let first_offset = self.first_offset() * row_size / self.row_size;
            range.slice(first_offset + rows.start * row_size, (rows.end - rows.start) * row_size)
        };
        let of = |range, rows| of_size(range, rows, self.row_size);
        let is_reverse = self.config.is_reverse();
        let [first, last] = [0..1, count + 1..count + 2];
        let [carry_row, other_edge] = if is_reverse { [last, first] } else { [first, last] };
        let staged = rows.staging.range().slice(0, count * self.host_row_size);
        let as_staged = |range| of_size(packed.unwrap_or(range), 1..count + 1, self.host_row_size);
        // All of a table, as words begin at a multiple of 16 bytes.
        let convert = |recorder: &mut Recorder<'_>, to_words, table: BufferRange| {
            let (Some(packing), Some(packed)) = (&self.packing, packed) else { return Ok(()) };
            recorder.barrier(IN_CHUNK);
            packing.convert(recorder, to_words, packed.addresses(), table.addresses())?;
            recorder.barrier(IN_CHUNK);
            Ok(())
        };
        recorder.copy(staged, as_staged(table));
        convert(recorder, true, table)?;
        if !self.has_whole_rows() {
            // The one that is no carry has defined contents, which affect no result.
            [carry_row.clone(), other_edge]
                .into_iter()
                .for_each(|edge| recorder.copy(carried, of(table, edge)));
        }
        let offsets = rows.offsets.as_ref().map(|offsets| {
            let [staged, offsets] =
                offsets.each_ref().map(|part| part.range().slice(0, 4 * rows.offset_count));
            recorder.copy(staged, offsets);
            offsets.addresses()
        });
        recorder.barrier(IN_CHUNK);
        // The traces see the plans alone: the barriers of some order the copies as well.
        let scan = |recorder: &mut Recorder<'_>, plans: &PartPlans, source, initial| {
            recorder.begin();
            let mut last_result = 0;
            for ((plan, scratch), is_continued) in plans.iter().zip(scratch).zip([true, false]) {
                let part = if is_continued { &parts.continued } else { &parts.fresh };
                let Some(plan) = plan.as_ref().filter(|_| !part.is_empty()) else { continue };
                let rows = self.scanned(parts, is_continued);
                last_result = if is_reverse { rows.start } else { rows.end - 1 };
                let [source, result] = [source, result].map(|range| of(range, rows.clone()).addresses());
                let mut buffers = ScanBuffers::new(source, result, scratch);
                if !is_continued {
                    buffers = buffers.initial(initial).segments(offsets.unwrap_or_default());
                }
                plan.record(recorder, &buffers, rows.end - rows.start)?;
            }
            recorder.end();
            recorder.barrier(IN_CHUNK);
            Ok(of(result, last_result..last_result + 1))
        };
        let last_result = scan(recorder, &self.plans, table, self.initial)?;
        if !self.has_whole_rows() {
            recorder.copy(last_result, carried);
        }
        if let Some(maxima) = &self.maxima {
            // Over the carried sum.
            recorder.copy(carried_maximum, of(result, carry_row));
            recorder.barrier(IN_CHUNK);
            let last_result = scan(recorder, maxima, result, InitialValue::Identity)?;
            recorder.copy(last_result, carried_maximum);
        }
        convert(recorder, false, result)?;
        recorder.copy(as_staged(result), staged);
        Ok(())
    }
}

/// The rows at which the segments of the configuration begin: each is a row of a table, longer than a chunk.
fn begins_of_rows(
    config: &ScanConfig,
    scan: &ChunkedScan,
    row_count: Option<u64>,
) -> Box<dyn Iterator<Item = io::Result<u64>> + Send> {
    let Some(SegmentsBy::FixedSize(length)) = config.segments_by().filter(|_| !scan.has_whole_rows()) else {
        return Box::new(std::iter::empty());
    };
    let length = u64::from(length);
    let begins = (0..row_count.unwrap_or(0).div_ceil(length)).map(move |row| Ok(row * length));
    if config.is_reverse() { Box::new(begins.rev()) } else { Box::new(begins) }
}

/// Rows in a table before and after the rows of a chunk.
const EDGES: u64 = 2;

/// Fills chunks, one after the other.
struct Filler<'a, I: Iterator> {
    scan: &'a ChunkedScan,
    segments: Peekable<I>,
    /// The segment that was taken last.
    last_segment: Option<u64>,
    /// The end of the rows of a reverse scan.
    row_count: u64,
    /// The first row that has not been read; of a reverse scan, the first one that has.
    begin: u64,
    /// Whether the next row continues after the carry.
    is_continued: bool,
}

impl<'a, I: Iterator<Item = io::Result<u64>>> Filler<'a, I> {
    fn new(scan: &'a ChunkedScan, segments: I, row_count: Option<u64>, is_continued: bool) -> Self {
        let row_count = row_count.unwrap_or(0);
        let begin = if scan.config.is_reverse() { row_count } else { 0 };
        Self { scan, segments: segments.peekable(), last_segment: None, row_count, begin, is_continued }
    }

    /// Reads the rows of a chunk, and the segments that begin in them. Returns whether there are rows.
    fn fill(&mut self, chunk: &mut ChunkRows, source: &mut impl Read) -> Result<bool, StreamError> {
        let (scan, row_size) = (self.scan, self.scan.host_row_size);
        let bytes = &mut chunk.staging.staged()[..(scan.rows * row_size) as usize];
        let size = read_full(source, bytes).map_err(StreamError::Read)? as u64;
        if !size.is_multiple_of(row_size) {
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, "it ends within a row");
            return Err(StreamError::Read(error));
        }
        let rows = size / row_size;
        if rows == 0 {
            return Ok(false);
        }
        let is_reverse = scan.config.is_reverse();
        let first = if is_reverse { self.begin.saturating_sub(rows) } else { self.begin };
        let begins = self.take_segments(first..first + rows)?;
        chunk.count = rows;
        chunk.parts = match (self.is_continued, is_reverse) {
            (false, _) => Parts { continued: 0..0, fresh: 0..rows },
            (true, false) => {
                let first_begin = begins.first().copied().unwrap_or(rows);
                Parts { continued: 0..first_begin, fresh: first_begin..rows }
            }
            (true, true) => {
                let last_begin = begins.last().copied().unwrap_or(0);
                Parts { continued: last_begin..rows, fresh: 0..last_begin }
            }
        };
        self.is_continued = !scan.has_whole_rows() && (!is_reverse || begins.first() != Some(&0));
        self.begin = if is_reverse { first } else { first + rows };
        if let Some([staging, _]) = &mut chunk.offsets {
            let table_begin = scan.scanned(&chunk.parts, false).start;
            let fresh = begins.iter().filter(|begin| chunk.parts.fresh.contains(begin));
            let words: Vec<u32> = fresh.map(|begin| (begin + 1 - table_begin) as u32).collect();
            staging.staged()[..4 * words.len()].copy_from_slice(bytemuck::cast_slice(&words));
            chunk.offset_count = words.len() as u64;
        }
        Ok(true)
    }

    /// The rows at which segments begin, from the first of `rows` on: ascending, without duplicates.
    fn take_segments(&mut self, rows: Range<u64>) -> Result<Vec<u64>, StreamError> {
        let is_reverse = self.scan.config.is_reverse();
        let is_here = |next: &io::Result<u64>| match next {
            Ok(begin) if is_reverse => *begin >= rows.start,
            Ok(begin) => *begin < rows.end,
            Err(_) => true,
        };
        let mut begins = Vec::new();
        while let Some(next) = self.segments.next_if(is_here) {
            let begin = next.map_err(StreamError::Read)?;
            let last = self.last_segment.replace(begin);
            if is_reverse && begin > self.row_count {
                return Err(StreamError::SegmentBeyond { begin, row_count: self.row_count });
            }
            if let Some(last) = last.filter(|&last| if is_reverse { begin > last } else { begin < last }) {
                return Err(StreamError::SegmentOrder { begin, last });
            }
            // One at the end of all rows is empty.
            if rows.contains(&begin) && begins.last() != Some(&(begin - rows.start)) {
                begins.push(begin - rows.start);
            }
        }
        if is_reverse {
            begins.reverse();
        }
        Ok(begins)
    }

    /// Checks that no segment begins beyond the rows.
    fn end(mut self) -> Result<(), StreamError> {
        let row_count = if self.scan.config.is_reverse() { self.row_count } else { self.begin };
        if let (Some(Ok(begin)), Some(last)) = (self.segments.peek(), self.last_segment)
            && *begin < last
        {
            return Err(StreamError::SegmentOrder { begin: *begin, last });
        }
        match self.segments.find(|next| !matches!(next, Ok(begin) if *begin == row_count)) {
            None => Ok(()),
            Some(Err(error)) => Err(StreamError::Read(error)),
            Some(Ok(begin)) => Err(StreamError::SegmentBeyond { begin, row_count }),
        }
    }
}

/// A file whose reads and writes go from its end to its start: each is of the bytes before the last one's.
#[derive(Debug)]
pub struct Backward<F> {
    file: F,
    /// The first byte that has been read or written.
    position: u64,
    start: u64,
}

impl<F: Seek> Backward<F> {
    /// Reads or writes the bytes from `start` to `end`.
    pub fn new(file: F, start: u64, end: u64) -> Self {
        Self { file, position: end, start }
    }

    /// Moves back by up to `size` bytes, and returns the number.
    fn back(&mut self, size: usize) -> io::Result<usize> {
        let size = (size as u64).min(self.position - self.start);
        self.position -= size;
        self.file.seek(SeekFrom::Start(self.position))?;
        Ok(size as usize)
    }
}

impl<F: Read + Seek> Read for Backward<F> {
    /// Reads the last bytes that have not been read, as many as fit, in the order of the file.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let size = self.back(bytes.len())?;
        self.file.read_exact(&mut bytes[..size])?;
        Ok(size)
    }
}

impl<F: Write + Seek> Write for Backward<F> {
    /// Writes all of `bytes` before the bytes of the last write.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.back(bytes.len())? < bytes.len() {
            return Err(io::Error::new(
                io::ErrorKind::WriteZero,
                "there are more bytes than the file has room for",
            ));
        }
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
