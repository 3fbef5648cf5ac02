//! Scan over all ranks: each reduces its rows, takes the carry of those before it, and scans.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

use super::ranks::{RankRows, Ranks, open_rows};
use super::reduce::Rows;
use super::{Cluster, ClusterError, check_unpacked};
use crate::error::{Error, Result, refuse_if};
use crate::headless::{Backward, GpuBuffer, ScanInputs, ScanStream, StreamError};
use crate::primitives::Number;
use crate::scan::{ScanConfig, SegmentsBy};

/// The rows of this rank, and options of a scan.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScanSlice<'a> {
    /// Initial value: a row, the same on all ranks.
    pub initial: Option<&'a [u32]>,
    /// The rows of this rank at which segments begin, ascending: for a configuration with [`SegmentsBy::Offsets`], the only
    /// representation that is supported. A segment that begins at its end is the next rank's.
    pub segments: Option<&'a [u64]>,
    /// Number of rows of this rank.
    pub row_count: u64,
    /// Limit of this rank's memory, as in [`ScanStream`].
    pub memory_size: Option<u64>,
    /// Size of the rows in a chunk, as in [`ScanStream`].
    pub chunk_size: Option<u64>,
}

/// The time of the phases of a scan on this rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanTimes {
    /// Time of the reduction.
    pub reduce_time: Duration,
    /// Time until the carry was there, waiting for other ranks included.
    pub carry_time: Duration,
    /// Time of the scan.
    pub scan_time: Duration,
}

impl Cluster<'_> {
    /// Scans the rows of all ranks as if they were one table: the rows of rank 0, then of rank 1, and so on; `result` is as
    /// long as `rows`. Integers, minima and maxima do not depend on the number of ranks. Sums and products of floats do, as a
    /// rank begins with the sum of the rows before it; they are the same in every run.
    ///
    /// # Errors
    /// [`ClusterError::Local`] with the errors of [`Gpu::scan_stream`](crate::headless::Gpu::scan_stream), or
    /// [`Error::Unsupported`] for functions of the caller; [`ClusterError::Remote`].
    pub fn scan<N: Number>(
        &self,
        config: ScanConfig,
        rows: &[N],
        result: &mut [N],
    ) -> Result<ScanTimes, ClusterError> {
        let size = size_of_val(rows) as u64;
        let checked = || -> Result<()> {
            if let Some(expected) = config.element_type().filter(|&element| element != N::TYPE) {
                return Err(Error::ElementMismatch { expected, got: N::TYPE });
            }
            if !size.is_multiple_of(config.row_size()) {
                let (value_count, columns) = (rows.len() as u64, config.column_count());
                return Err(Error::RowLengthMismatch { value_count, columns });
            }
            let got = size_of_val(result) as u64;
            if got == size {
                Ok(())
            } else {
                Err(Error::RangeTooSmall { what: "the result", needed: size, got })
            }
        };
        self.agree(checked())?;
        let slice = ScanSlice { row_count: size / config.row_size(), ..ScanSlice::default() };
        let (rows, result): (&[u8], &mut [u8]) =
            (bytemuck::cast_slice(rows), bytemuck::cast_slice_mut(result));
        self.scan_stream(config, slice, Cursor::new(rows), Cursor::new(result))
    }

    /// As [`Self::scan`], from `source` to `sink` in constant memory. Both begin at the first row of this rank.
    /// The source is read twice, unless no other rank needs the total of its rows.
    ///
    /// # Errors
    /// Errors of [`Self::scan`].
    pub fn scan_stream(
        &self,
        config: ScanConfig,
        slice: ScanSlice<'_>,
        mut source: impl Read + Seek + Send,
        mut sink: impl Write + Seek + Send,
    ) -> Result<ScanTimes, ClusterError> {
        let begins = slice.segments.unwrap_or_default();
        let (row_size, row_count) = (config.row_size(), slice.row_count);
        let ranks = self.agree(check(&config, &slice)).map(|()| self.ranks(&config, row_count, begins))?;
        let (carry, times) = self.carry(&config, &ranks, || {
            let rows = open_rows(row_count, begins, config.is_reverse());
            let initial = slice.initial.filter(|_| ranks.is_closed(self.rank()));
            reduce(&config, &mut source, rows.start * row_size..rows.end * row_size, initial)
        })?;

        let start = Instant::now();
        let (mut ascending, mut descending);
        let stream = ScanStream {
            initial: slice.initial.map(bytemuck::cast_slice),
            carry: carry.as_deref().map(bytemuck::cast_slice),
            segments: match (config.segments_by(), config.is_reverse()) {
                (None, _) => None,
                (Some(_), false) => {
                    ascending = begins.iter().map(|&begin| Ok(begin));
                    Some(&mut ascending)
                }
                (Some(_), true) => {
                    descending = begins.iter().rev().map(|&begin| Ok(begin));
                    Some(&mut descending)
                }
            },
            row_count: Some(row_count),
            memory_size: slice.memory_size,
            chunk_size: slice.chunk_size,
        };
        let size = row_count * row_size;
        let scanned = if config.is_reverse() {
            let (source, sink) = (Backward::new(source, 0, size), Backward::new(sink, 0, size));
            self.gpu.scan_stream(config, stream, source, sink)
        } else {
            let rewound = source.rewind().map_err(StreamError::Read);
            let rewound = rewound.and_then(|()| sink.rewind().map_err(StreamError::Write));
            rewound.and_then(|()| {
                self.gpu.scan_stream(config, stream, Exact { reader: source, left: size }, sink)
            })
        };
        let scan_time = start.elapsed();
        self.agree(scanned).map(|()| ScanTimes { scan_time, ..times })
    }

    /// As [`Self::scan`], for the first `row_count` rows of a buffer of the device; the result goes to another. Only the totals of
    /// ranks cross host memory: the device scans twice.
    ///
    /// # Errors
    /// Errors of [`Gpu::plan`](crate::headless::Gpu::plan) and [`Gpu::submit`](crate::headless::Gpu::submit);
    /// [`Error::Unsupported`] for segments; [`Error::RangeTooSmall`], [`Error::ForeignDevice`]; [`ClusterError::Remote`].
    pub fn scan_buffers(
        &self,
        config: ScanConfig,
        source: &GpuBuffer,
        result: &mut GpuBuffer,
        row_count: u64,
        initial: Option<&[u32]>,
    ) -> Result<ScanTimes, ClusterError> {
        let config = config.out_of_place();
        let refused = |reason| Err(Error::Unsupported { reason });
        self.agree(match config.segments_by() {
            Some(_) => refused("Cluster::scan_buffers takes no segments"),
            None if config.stages().is_some() => refused("Cluster::scan_buffers takes no transform or store"),
            None => check_unpacked(config.element_type()),
        })?;
        let ranks = self.ranks(&config, row_count, &[]);
        let (carry, times) = self.carry(&config, &ranks, || -> Result<_> {
            let initial = initial.filter(|_| ranks.is_closed(self.rank()));
            self.gpu.scan_buffers(config.as_inclusive(), source, result, row_count, initial)?;
            let last_row = if config.is_reverse() { 0 } else { row_count - 1 };
            self.gpu.read_from(result, last_row * config.row_size(), config.row_size() as usize / 4)
        })?;
        let start = Instant::now();
        // Without segments a carry is no more than another initial value.
        let initial = carry.as_deref().or(initial);
        let scanned = self.gpu.scan_buffers(config, source, result, row_count, initial);
        let scan_time = start.elapsed();
        self.agree(scanned).map(|()| ScanTimes { scan_time, ..times })
    }

    fn ranks(&self, config: &ScanConfig, row_count: u64, begins: &[u64]) -> Ranks {
        let words = self.of_all_ranks(&RankRows::new(row_count, begins).to_words());
        let rows = words.chunks_exact(RankRows::WORDS).map(RankRows::of_words).collect();
        Ranks { rows, is_reverse: config.is_reverse() }
    }

    /// The carry that enters this rank, from the totals of those before it. `reduce` gives the total of this rank's rows, if
    /// another needs it.
    fn carry<E: Into<ClusterError>>(
        &self,
        config: &ScanConfig,
        ranks: &Ranks,
        reduce: impl FnOnce() -> Result<Vec<u32>, E>,
    ) -> Result<(Option<Vec<u32>>, ScanTimes), ClusterError> {
        let row_words = config.row_size() as usize / 4;
        let start = Instant::now();
        let reduced = if ranks.is_carried(self.rank()) { reduce() } else { Ok(vec![0; row_words]) };
        let reduce_time = start.elapsed();
        let total = self.agree(reduced)?;

        let start = Instant::now();
        // Words travel as u64, as counts do.
        let own: Vec<u64> = total.iter().map(|&word| word.into()).collect();
        let totals = self.of_all_ranks(&own);
        let carried = ranks.carried(self.rank());
        let combined = || -> Result<_> {
            if carried.is_empty() {
                return Ok(None);
            }
            let rows = carried.iter().flat_map(|&rank| &totals[rank * row_words..][..row_words]);
            let mut rows: Vec<u32> = rows.map(|&word| word as u32).collect();
            // The device combines them as it scans: by any operator, from the first to the last.
            self.gpu.scan_bytes(
                config.combining(),
                bytemuck::cast_slice_mut(&mut rows),
                ScanInputs::default(),
            )?;
            Ok(Some(rows.split_off(rows.len() - row_words)))
        };
        let carry = self.agree(combined())?;
        Ok((carry, ScanTimes { reduce_time, carry_time: start.elapsed(), ..ScanTimes::default() }))
    }
}

fn check(config: &ScanConfig, slice: &ScanSlice<'_>) -> Result<(), StreamError> {
    let begins = slice.segments.unwrap_or_default();
    let reason = "elements of a caller's functions are scanned over ranks by Cluster::scan_buffers alone";
    refuse_if(config.built_in_operator().is_none(), reason)?;
    check_unpacked(config.element_type())?;
    let reason = "results over ranks are not monotone: scan them by ScanOperator::Max";
    refuse_if(config.is_monotone(), reason)?;
    let is_by_others = config.segments_by().is_some_and(|by| by != SegmentsBy::Offsets);
    refuse_if(is_by_others, "the segments of a stream are offsets")?;
    let has_others = config.segments_by().is_none() && slice.segments.is_some();
    refuse_if(has_others, "segments are given to a scan without them")?;
    if let Some(pair) = begins.windows(2).find(|pair| pair[0] > pair[1]) {
        return Err(StreamError::SegmentOrder { begin: pair[1], last: pair[0] });
    }
    match begins.last() {
        Some(&begin) if begin > slice.row_count => {
            Err(StreamError::SegmentBeyond { begin, row_count: slice.row_count })
        }
        _ => Ok(()),
    }
}

/// The total of the rows in a range of bytes.
fn reduce(
    config: &ScanConfig,
    source: &mut (impl Read + Seek),
    bytes: Range<u64>,
    initial: Option<&[u32]>,
) -> Result<Vec<u32>, StreamError> {
    let (Some(operator), Some(element)) = (config.built_in_operator(), config.element_type()) else {
        return Err(Error::Unsupported { reason: "a caller's functions do not run on the host" }.into());
    };
    let columns = config.column_count() as usize;
    let read = || -> io::Result<_> {
        source.seek(SeekFrom::Start(bytes.start))?;
        let reader = Exact { reader: source, left: bytes.end - bytes.start };
        Rows { reader, columns, initial }.reduced(operator, element)
    };
    read().map_err(StreamError::Read)
}

/// As many bytes of a reader; its end before them is an error.
struct Exact<R> {
    reader: R,
    left: u64,
}

impl<R: Read> Read for Exact<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let size = self.reader.read(&mut bytes[..wanted])?;
        if size == 0 && wanted > 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has become shorter"));
        }
        self.left -= size as u64;
        Ok(size)
    }
}
