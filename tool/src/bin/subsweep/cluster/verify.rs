//! `subsweep-mpi verify`: sorts and scans over all ranks, compared with the results of one device.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use anyhow::Result;
use clap::Args;
use subsweep::cluster::mpi::topology::SimpleCommunicator;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{Cluster, ClusterError, Indices, ScanSlice, share};
use subsweep::headless::{Gpu, ScanInputs};
use subsweep::scan::{ScanConfig, ScanKind, ScanOperator, SegmentsBy};
use subsweep::sort::{SortConfig, ValueSize};
use subsweep::{ElementType, FloatOrder};

use super::{Agreed, of_device, open_device};
use crate::args::Common;
use crate::command::Run;
use crate::error::CommandError;
use crate::terminal;

/// Verify scans and sorts over all ranks
///
/// Every result is compared with the result of a rank's own device on all elements, byte for byte: types, orders, bit ranges,
/// values, indices, operators and segments, on inputs of several kinds and numbers of elements, in even and uneven slices.
/// --quick takes some of the types. Exits with 1 if any result is wrong.
#[derive(Debug, Args)]
pub struct Verify {
    /// Some of the configurations only
    #[arg(long)]
    quick: bool,
}

/// Kinds of keys.
#[derive(Debug, Clone, Copy)]
enum Keys {
    Random,
    /// Random of few values.
    Few,
    Equal,
    Sorted,
    Reversed,
    /// One value, but for a few.
    Hot,
}

impl Keys {
    const ALL: [Self; 6] = [Self::Random, Self::Few, Self::Equal, Self::Sorted, Self::Reversed, Self::Hot];

    /// The words of the key at `index`.
    fn words(self, index: u64, count: u64, word_count: usize) -> Vec<u32> {
        let hash = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let ordered = |index: u64| index << (if word_count == 1 { 8 } else { 40 });
        let key = match self {
            Self::Random => hash,
            Self::Few => (hash >> 60) << 5,
            Self::Equal => 77,
            Self::Sorted => ordered(index),
            Self::Reversed => ordered(count - index),
            Self::Hot if hash.is_multiple_of(16) => hash,
            Self::Hot => 1 << 30,
        };
        [key as u32, (key >> 32) as u32][..word_count].to_vec()
    }
}

/// Numbers of elements: none, fewer than ranks, and one that few ranks divide.
fn counts(ranks: i32) -> [u64; 4] {
    [0, 1, ranks as u64 - 1, 4_099]
}

/// The slices of all elements.
#[derive(Debug, Clone)]
struct Size {
    counts: Vec<u64>,
}

impl Size {
    /// Even slices, and slices on every second rank alone.
    fn all(count: u64, ranks: i32) -> [Self; 2] {
        let even = |ranks: i32| {
            (0..ranks).map(move |rank| share(count, rank, ranks)).map(|slice| slice.end - slice.start)
        };
        let mut of_half = even(ranks / 2 + ranks % 2);
        let gaps = (0..ranks).map(|rank| if rank % 2 == 0 { of_half.next().unwrap_or(0) } else { 0 });
        [even(ranks).collect(), gaps.collect()].map(|counts| Self { counts })
    }

    fn start(&self, rank: i32) -> u64 {
        self.counts[..rank as usize].iter().sum()
    }

    /// The words of this rank's elements.
    fn slice<'a>(&self, rank: i32, words: &'a [u32], per_element: usize) -> &'a [u32] {
        let (start, count) = (self.start(rank), self.counts[rank as usize]);
        &words[start as usize * per_element..][..count as usize * per_element]
    }

    /// The words of this rank's keys and values.
    fn slices(&self, rank: i32, of: &[Vec<u32>; 2], per_element: [usize; 2]) -> [Vec<u32>; 2] {
        [0, 1].map(|array| self.slice(rank, &of[array], per_element[array]).to_vec())
    }
}

/// All ranks and their devices.
struct Verified<'a> {
    world: &'a SimpleCommunicator,
    gpu: &'a Gpu,
    /// Once as it is, and once with what the number of keys or the kind of the device would choose otherwise.
    clusters: [Cluster<'a>; 2],
    /// Number of results that were compared.
    count: u64,
}

impl Run for Verify {
    fn run(&self, common: &Common) -> Result<()> {
        let world = super::world();
        let gpu = open_device(&world, common)?;
        let other = Cluster::new(&world, &gpu).merge_on_device(gpu.capabilities().is_cpu());
        let clusters = [Cluster::new(&world, &gpu), other.wide_indices().max_message_size(1000)];
        let mut verified = Verified { world: &world, gpu: &gpu, clusters, count: 0 };
        for config in sorts(self.quick) {
            verified.sorts(config)?;
        }
        for config in scans(self.quick) {
            verified.scans(config)?;
        }
        verified.repeated_sums()?;
        verified.failures()?;
        if world.rank() == 0 {
            let Verified { count, .. } = verified;
            terminal::print_line(format_args!("{count} results over {} ranks are right", world.size()));
        }
        Ok(())
    }
}

fn sorts(is_quick: bool) -> Vec<SortConfig> {
    use ElementType as E;
    let quick = vec![
        SortConfig::keys(E::U32),
        SortConfig::pairs(E::I32, ValueSize::B4),
        SortConfig::argsort(E::F32).descending(),
        SortConfig::pairs(E::U32, ValueSize::B8).bits(5..9).descending(),
        SortConfig::keys(E::F32).order(FloatOrder::Numpy),
        SortConfig::keys(E::U64).descending(),
        SortConfig::argsort(E::I64).bits(8..45),
        SortConfig::pairs(E::F64, ValueSize::B8),
        SortConfig::keys(E::F32).bits(0..0),
    ];
    if is_quick {
        return quick;
    }
    let of = |element: ElementType| {
        let bits = element.bits();
        let plain = [
            SortConfig::keys(element),
            SortConfig::pairs(element, ValueSize::B4),
            SortConfig::pairs(element, ValueSize::B8),
            SortConfig::argsort(element),
        ];
        plain.into_iter().flat_map(move |config| {
            [config, config.descending(), config.bits(3..bits - 5), config.bits(bits / 2..bits).descending()]
        })
    };
    quick.into_iter().chain(E::ALL.into_iter().flat_map(of)).collect()
}

fn scans(is_quick: bool) -> Vec<ScanConfig> {
    use ElementType as E;
    use ScanKind::{Exclusive, Inclusive};
    let of = |kind, element| ScanConfig::new(kind, element).out_of_place();
    let segmented = |config: ScanConfig| config.segments(SegmentsBy::Offsets);
    let quick = vec![
        of(Inclusive, E::U32),
        of(Exclusive, E::U64).reverse(),
        segmented(of(Exclusive, E::I32).columns(3)),
        segmented(of(Inclusive, E::U32).reverse()),
        of(Inclusive, E::F32).operator(ScanOperator::Min),
        of(Inclusive, E::F32),
        of(Exclusive, E::I64).columns(2).operator(ScanOperator::Xor),
    ];
    if is_quick {
        return quick;
    }
    let of_element = |element: ElementType| {
        // Other sums of floats depend on the ranks.
        let is_exact = move |operator: &ScanOperator| {
            operator.takes(element)
                && !(element.is_float() && matches!(operator, ScanOperator::Add | ScanOperator::Mul))
        };
        let operators = ScanOperator::ALL.into_iter().filter(is_exact);
        operators.flat_map(move |operator| {
            let config = of(Inclusive, element).operator(operator);
            let exclusive = of(Exclusive, element).operator(operator);
            [config, exclusive.reverse(), segmented(exclusive), segmented(config.columns(2).reverse())]
        })
    };
    quick.into_iter().chain(E::ALL.into_iter().flat_map(of_element)).collect()
}

/// Whether it adds or multiplies.
fn is_sum(config: &ScanConfig) -> bool {
    matches!(config.built_in_operator(), Some(ScanOperator::Add | ScanOperator::Mul))
}

/// A whole number whose sums are exact in f32.
fn small(index: u64) -> f32 {
    (index % 5) as f32 - 1.0
}

impl Verified<'_> {
    fn sorts(&mut self, config: SortConfig) -> Result<()> {
        let words = [config.key_size(), config.value_size()].map(|size| size as usize / 4);
        for count in counts(self.world.size()) {
            // Of few keys all kinds are alike.
            let kinds = if count < 1_000 { &Keys::ALL[..1] } else { &Keys::ALL };
            for &kind in kinds {
                let all = (0..count).flat_map(|index| kind.words(index, count, words[0])).collect();
                let all: [Vec<u32>; 2] = [all, (0..count as u32 * words[1] as u32).collect()];
                let [mut keys, mut values] = all.clone();
                let arrays = [&mut keys, &mut values].map(|words| bytemuck::cast_slice_mut(words));
                let [key_bytes, value_bytes] = arrays;
                self.gpu.sort_bytes(config, key_bytes, value_bytes).agreed(self.world)?;
                let expected = [keys, values];
                for size in Size::all(count, self.world.size()) {
                    self.sort(config, &size, &all, &expected, words, 0)?;
                    if matches!(kind, Keys::Random | Keys::Few) {
                        self.sort(config, &size, &all, &expected, words, 1)?;
                    }
                    if matches!(kind, Keys::Random) && !config.is_argsort() {
                        self.sort_buffers(config, &size, &all, &expected, words)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sorts keys and values, and compares this rank's slice.
    fn sort(
        &mut self,
        config: SortConfig,
        size: &Size,
        all: &[Vec<u32>; 2],
        expected: &[Vec<u32>; 2],
        words: [usize; 2],
        cluster: usize,
    ) -> Result<()> {
        let rank = self.world.rank();
        let ([mut keys, mut values], [expected_keys, expected_values]) =
            (size.slices(rank, all, words), size.slices(rank, expected, words));
        let is_argsort = config.is_argsort();
        let sorted = if is_argsort {
            self.clusters[cluster].sort_with_indices(config, &mut keys).map(|(indices, _)| {
                values = match indices {
                    Indices::U32(indices) => indices,
                    Indices::U64(indices) => indices.into_iter().map(|index| index as u32).collect(),
                }
            })
        } else {
            self.clusters[cluster].sort_words(config, &mut keys, &mut values).map(|_| ())
        };
        sorted.map_err(of_device)?;
        // An argsort leaves the keys of one device as they were.
        let is_right = values == expected_values && (is_argsort || keys == expected_keys);
        self.compare(is_right, || format!("sort in slices of {:?}: {config:?}", size.counts))
    }

    /// Sorts in buffers of the device.
    fn sort_buffers(
        &mut self,
        config: SortConfig,
        size: &Size,
        all: &[Vec<u32>; 2],
        expected: &[Vec<u32>; 2],
        words: [usize; 2],
    ) -> Result<()> {
        let rank = self.world.rank();
        let (own, expected) = (size.slices(rank, all, words), size.slices(rank, expected, words));
        let upload = |words: &Vec<u32>| -> subsweep::Result<_> {
            let buffer = self.gpu.allocate(4 * words.len().max(1) as u64)?;
            self.gpu.upload(&buffer, 0, words)?;
            Ok(buffer)
        };
        let uploaded = own.iter().map(upload).collect::<Result<Vec<_>, _>>();
        let mut buffers = uploaded.agreed(self.world)?;
        if let [keys, values] = &mut buffers[..] {
            let values = Some(values).filter(|_| words[1] > 0);
            let sorted = self.clusters[0].sort_buffers(config, keys, values, size.counts[rank as usize]);
            sorted.map_err(of_device)?;
        }
        let read = buffers.iter().zip(&own).map(|(buffer, own)| self.gpu.read(buffer, own.len()));
        let got = read.collect::<Result<Vec<_>, _>>().agreed(self.world)?;
        self.compare(got == expected, || {
            format!("sort of buffers in slices of {:?}: {config:?}", size.counts)
        })
    }

    fn scans(&mut self, config: ScanConfig) -> Result<()> {
        let row_words = config.row_size() as usize / 4;
        let row: Vec<u32> = (0..row_words as u32).map(|word| 11 + word).collect();
        for count in counts(self.world.size()) {
            let words = |index| match config.element_type() {
                Some(ElementType::F32) if is_sum(&config) => vec![small(index).to_bits()],
                _ => Keys::Random.words(index, count, row_words.min(2)),
            };
            let numbers = (0..).flat_map(words);
            let all: Vec<u32> = numbers.take(count as usize * row_words).collect();
            let sizes = Size::all(count, self.world.size());
            // No segments, few, many, and at the borders of even slices.
            let borders = (0..self.world.size()).map(|rank| sizes[0].start(rank)).collect();
            let all_begins: [Vec<u64>; 4] =
                [vec![], vec![count / 3, count / 2], (0..count).step_by(7).collect(), borders];
            let is_segmented = config.segments_by().is_some();
            for begins in &all_begins[..if is_segmented { 4 } else { 1 }] {
                for initial in [None, Some(&row[..])] {
                    let segments: Vec<u32> = begins.iter().map(|&begin| begin as u32).collect();
                    let mut expected = all.clone();
                    let inputs =
                        ScanInputs { initial: initial.map(bytemuck::cast_slice), segments: &segments };
                    let rows = bytemuck::cast_slice_mut(&mut expected);
                    self.gpu.scan_bytes(config, rows, inputs).agreed(self.world)?;
                    for size in &sizes {
                        self.scan(config, size, [&all, &expected], begins, initial)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Scans rows, and compares this rank's slice.
    fn scan(
        &mut self,
        config: ScanConfig,
        size: &Size,
        [all, expected]: [&[u32]; 2],
        begins: &[u64],
        initial: Option<&[u32]>,
    ) -> Result<()> {
        let (rank, row_words) = (self.world.rank(), config.row_size() as usize / 4);
        let rows = size.start(rank)..size.start(rank) + size.counts[rank as usize];
        let own = begins.iter().filter(|begin| rows.contains(begin)).map(|begin| begin - rows.start);
        let own: Vec<u64> = own.collect();
        let slice = ScanSlice {
            initial,
            segments: config.segments_by().map(|_| &own[..]),
            row_count: rows.end - rows.start,
            // Several chunks.
            chunk_size: Some(300 * config.row_size()),
            memory_size: None,
        };
        let (source, expected) = (size.slice(rank, all, row_words), size.slice(rank, expected, row_words));
        let mut result = vec![0u32; source.len()];
        let from = Cursor::new(bytemuck::cast_slice::<_, u8>(source));
        let to = Cursor::new(bytemuck::cast_slice_mut::<_, u8>(&mut result));
        self.clusters[0].scan_stream(config, slice, from, to).map_err(of_device)?;
        let what = || format!("in slices of {:?}, segments {begins:?}, {initial:?}: {config:?}", size.counts);
        self.compare(result == expected, || format!("scan {}", what()))?;
        if slice.segments.is_none() {
            let result = self.scan_buffers(config, source, slice)?;
            self.compare(result == expected, || format!("scan of buffers {}", what()))?;
        }
        Ok(())
    }

    /// Scans from a buffer of the device to another.
    fn scan_buffers(&self, config: ScanConfig, rows: &[u32], slice: ScanSlice<'_>) -> Result<Vec<u32>> {
        let size = size_of_val(rows).max(4) as u64;
        let prepare = || -> subsweep::Result<_> {
            let [source, result] = [self.gpu.allocate(size)?, self.gpu.allocate(size)?];
            self.gpu.upload(&source, 0, rows)?;
            Ok([source, result])
        };
        let [source, mut result] = prepare().agreed(self.world)?;
        let scanned =
            self.clusters[0].scan_buffers(config, &source, &mut result, slice.row_count, slice.initial);
        scanned.map_err(of_device)?;
        self.gpu.read(&result, rows.len()).agreed(self.world)
    }

    /// Sums of floats have the same bits in every run.
    fn repeated_sums(&mut self) -> Result<()> {
        let config = ScanConfig::inclusive(ElementType::F32).out_of_place();
        let first = self.world.rank() as u64 * 5_000;
        let rows: Vec<f32> = (first..first + 5_000).map(|index| (index as f32 * 0.7).sin()).collect();
        let sums = || {
            let mut sums = vec![0f32; rows.len()];
            self.clusters[0].scan(config, &rows, &mut sums).map_err(of_device)?;
            anyhow::Ok(sums)
        };
        let is_right = sums()? == sums()?;
        self.compare(is_right, || "sums of floats differ between two runs".to_owned())
    }

    /// Lets each rank fail in turn: all must have the error, and none wait.
    fn failures(&mut self) -> Result<()> {
        const ROWS: u64 = 100;
        let config = ScanConfig::inclusive(ElementType::U32);
        let (source, initial) = (Failing::new(4 * ROWS), [1u32]);
        for rank in 0..self.world.size() {
            let is_here = rank == self.world.rank();
            let with = |allowed_reads, allowed_writes| {
                let failing =
                    if is_here { Failing { allowed_reads, allowed_writes, ..source } } else { source };
                let slice = ScanSlice { row_count: ROWS, ..ScanSlice::default() };
                self.clusters[0].scan_stream(config, slice, failing, failing).map(|_| ())
            };
            // In the reduction, which the last rank has none of; in the scan; when it is written.
            let second = u64::from(rank + 1 < self.world.size());
            let scans = [with(0, u64::MAX), with(second, u64::MAX), with(u64::MAX, 0)];
            let slice = ScanSlice {
                row_count: ROWS,
                segments: if is_here { Some(&[5, 4]) } else { None },
                initial: Some(&initial),
                ..ScanSlice::default()
            };
            let refused = self.clusters[0].scan_stream(config, slice, source, source).map(|_| ());
            let mut keys = vec![3u32; 10];
            let mut values = vec![0u32; if is_here { 9 } else { 10 }];
            let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B4);
            let sorted = self.clusters[0].sort_words(pairs, &mut keys, &mut values).map(|_| ());
            for (step, ended) in scans.into_iter().chain([refused, sorted]).enumerate() {
                let is_right = match ended {
                    Err(ClusterError::Local(_)) => is_here,
                    Err(ClusterError::Remote { rank: failed }) => !is_here && failed == rank,
                    Ok(()) => false,
                };
                self.compare(is_right, || format!("step {step} fails on rank {rank}, and not on all"))?;
            }
        }
        Ok(())
    }

    fn compare(&mut self, is_right: bool, what: impl FnOnce() -> String) -> Result<()> {
        self.count += 1;
        let compared = if is_right { Ok(()) } else { Err(CommandError::wrong(format!("wrong: {}", what()))) };
        compared.agreed(self.world)
    }
}

/// Zeros, of which a number of passes can be read, and some be written.
#[derive(Debug, Clone, Copy)]
struct Failing {
    size: u64,
    position: u64,
    allowed_reads: u64,
    allowed_writes: u64,
}

impl Failing {
    fn new(size: u64) -> Self {
        Self { size, position: 0, allowed_reads: u64::MAX, allowed_writes: u64::MAX }
    }
}

impl Read for Failing {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let size = (self.size - self.position).min(bytes.len() as u64);
        if size > 0 && self.allowed_reads == 0 {
            return Err(io::Error::other("it is to fail"));
        }
        self.allowed_reads -= u64::from(size > 0);
        self.position += size;
        bytes[..size as usize].fill(0);
        Ok(size as usize)
    }
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.allowed_writes == 0 { Err(io::Error::other("it is to fail")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Failing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let SeekFrom::Start(position) = to {
            self.position = position;
        }
        Ok(self.position)
    }
}
