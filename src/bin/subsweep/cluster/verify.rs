//! `subsweep-mpi verify`: sorts and scans over all ranks, compared with those of one device.

use anyhow::Result;
use clap::Args;
use subsweep::ElementType;
use subsweep::cluster::mpi::topology::SimpleCommunicator;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{Cluster, ClusterError, Indices, PartOfScan, share};
use subsweep::headless::{Gpu, ScanInputs};
use subsweep::scan::{ScanConfig, ScanKind, ScanOperator, SegmentsBy};
use subsweep::sort::{SortConfig, ValueSize};

use super::{Agreed, of_cluster, open_device};
use crate::args::Common;
use crate::command::Run;
use crate::error::Ended;
use crate::words;

/// Verify scans and sorts over all ranks
///
/// Every result is compared with that of a rank's own device on all elements, byte for byte: types, orders, bit ranges, values,
/// indices, operators and segments, on inputs of several kinds and numbers of elements, in even and uneven parts. --quick
/// takes a part of the types. Exits with 1 if any result is wrong.
#[derive(Debug, Args)]
pub struct Verify {
    /// A part of the configurations
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
            Self::Hot if hash % 16 == 0 => hash,
            Self::Hot => 1 << 30,
        };
        [key as u32, (key >> 32) as u32][..word_count].to_vec()
    }
}

/// The parts of all elements on the ranks.
#[derive(Debug, Clone, Copy)]
enum Division {
    Even,
    /// Every second rank has none.
    Gaps,
}

impl Division {
    /// The number of elements on each rank.
    fn counts(self, count: u64, ranks: i32) -> Vec<u64> {
        let shares = |ranks: i32| {
            (0..ranks).map(move |rank| share(count, rank, ranks)).map(|part| part.end - part.start)
        };
        match self {
            Self::Even => shares(ranks).collect(),
            Self::Gaps => {
                let mut shares = shares(ranks / 2 + ranks % 2);
                (0..ranks).map(|rank| if rank % 2 == 0 { shares.next().unwrap_or(0) } else { 0 }).collect()
            }
        }
    }
}

/// A number of elements and their parts.
#[derive(Debug, Clone)]
struct Size {
    counts: Vec<u64>,
}

impl Size {
    fn all(ranks: i32) -> Vec<Self> {
        // None, fewer than ranks, and numbers that the ranks do not divide.
        let counts = [0, 1, ranks as u64 - 1, 1_000, 4_099];
        let divisions = [Division::Even, Division::Gaps];
        let of = |count| divisions.map(|division| Self { counts: division.counts(count, ranks) });
        counts.into_iter().flat_map(of).collect()
    }

    fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn start(&self, rank: i32) -> u64 {
        self.counts[..rank as usize].iter().sum()
    }

    /// The words of this rank's elements.
    fn part<'a>(&self, rank: i32, words: &'a [u32], per_element: usize) -> &'a [u32] {
        let (start, count) = (self.start(rank), self.counts[rank as usize]);
        &words[start as usize * per_element..][..count as usize * per_element]
    }
}

/// All ranks and their devices.
struct Verified<'a> {
    world: &'a SimpleCommunicator,
    gpu: &'a Gpu,
    cluster: Cluster<'a, SimpleCommunicator>,
    /// Number of results that were compared.
    count: u64,
}

impl Run for Verify {
    fn run(&self, common: &Common) -> Result<()> {
        let world = super::world();
        let gpu = open_device(&world, common)?;
        let mut verified =
            Verified { world: &world, gpu: &gpu, cluster: Cluster::new(&world, &*gpu), count: 0 };
        for config in sorts(self.quick) {
            verified.sorts(config)?;
        }
        for config in scans(self.quick) {
            verified.scans(config)?;
        }
        if world.rank() == 0 {
            let Verified { count, .. } = verified;
            words::print_line(format_args!(
                "{count} results over {} ranks are those of one device",
                world.size()
            ));
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
        of(Exclusive, E::I64).columns(2).operator(ScanOperator::Xor),
    ];
    if is_quick {
        return quick;
    }
    let of_element = |element: ElementType| {
        // Sums of floats depend on the ranks.
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

impl Verified<'_> {
    fn sorts(&mut self, config: SortConfig) -> Result<()> {
        let element = config.key_type();
        let [key_words, value_words] = [config.key_size(), config.value_size()].map(|size| size as usize / 4);
        for size in Size::all(self.world.size()) {
            for kind in Keys::ALL {
                let count = size.count();
                let all: Vec<u32> =
                    (0..count).flat_map(|index| kind.words(index, count, key_words)).collect();
                let values: Vec<u32> = (0..count as u32 * value_words as u32).collect();
                let mut expected = (all.clone(), values.clone());
                let sorted = self.gpu.sort_words(config, &mut expected.0, &mut expected.1);
                sorted.agreed(self.world)?;
                let mut keys = size.part(self.world.rank(), &all, key_words).to_vec();
                let mut got_values = size.part(self.world.rank(), &values, value_words).to_vec();
                let is_argsort = config.is_argsort();
                let sorted = if is_argsort {
                    self.cluster.sort_with_indices(config, &mut keys).map(|(indices, _)| {
                        if let Indices::U32(indices) = indices {
                            got_values = indices;
                        }
                    })
                } else {
                    self.cluster.sort_words(config, &mut keys, &mut got_values).map(|_| ())
                };
                sorted.map_err(of_device)?;
                let rank = self.world.rank();
                let expected_values = size.part(rank, &expected.1, value_words);
                // An argsort leaves the keys of one device as they were.
                let is_right = got_values == expected_values
                    && (is_argsort || keys == size.part(rank, &expected.0, key_words));
                let what = || format!("sort of {kind:?} {element} in parts of {:?}: {config:?}", size.counts);
                self.compare(is_right, what)?;
            }
            self.sort_buffers(config, &size)?;
        }
        Ok(())
    }

    /// Sorts in buffers of the device.
    fn sort_buffers(&mut self, config: SortConfig, size: &Size) -> Result<()> {
        if config.is_argsort() {
            return Ok(());
        }
        let (rank, count) = (self.world.rank(), size.count());
        let words = [config.key_size(), config.value_size()].map(|size| size as usize / 4);
        let all: Vec<u32> = (0..count).flat_map(|index| Keys::Few.words(index, count, words[0])).collect();
        let values: Vec<u32> = (0..count as u32 * words[1] as u32).collect();
        let (mut expected, mut expected_values) = (all.clone(), values.clone());
        let own = [size.part(rank, &all, words[0]), size.part(rank, &values, words[1])];
        let prepare = || -> subsweep::Result<_> {
            self.gpu.sort_words(config, &mut expected, &mut expected_values)?;
            let buffers = own.map(|words| self.gpu.allocate(size_of_val(words).max(4) as u64));
            let [keys, values] = buffers;
            let (keys, values) = (keys?, values?);
            self.gpu.upload(&keys, 0, own[0])?;
            self.gpu.upload(&values, 0, own[1])?;
            Ok([keys, values])
        };
        let mut prepare = prepare;
        let [keys, values] = prepare().agreed(self.world)?;
        let values_buffer = (words[1] > 0).then_some(&values);
        let sorted = self.cluster.sort_buffers(config, &keys, values_buffer, size.counts[rank as usize]);
        sorted.map_err(of_device)?;
        let read = || -> subsweep::Result<_> {
            Ok([self.gpu.read(&keys, own[0].len())?, self.gpu.read(&values, own[1].len())?])
        };
        let [got, got_values] = read().agreed(self.world)?;
        let is_right = got == size.part(rank, &expected, words[0])
            && got_values == size.part(rank, &expected_values, words[1]);
        self.compare(is_right, || format!("sort of buffers in parts of {:?}: {config:?}", size.counts))
    }

    fn scans(&mut self, config: ScanConfig) -> Result<()> {
        let row_words = config.row_size() as usize / 4;
        let is_segmented = config.segments_by().is_some();
        let initial: Vec<u32> = (0..row_words as u32).map(|word| 11 + word).collect();
        for size in Size::all(self.world.size()) {
            let (rank, count) = (self.world.rank(), size.count());
            let all: Vec<u32> = (0..count)
                .flat_map(|index| Keys::Random.words(index, count, row_words.min(2)))
                .chain(std::iter::repeat(5))
                .take(count as usize * row_words)
                .collect();
            // No segments, few, many, and at the borders of parts.
            let borders: Vec<u64> = (0..self.world.size()).map(|rank| size.start(rank)).collect();
            let all_begins: [Vec<u64>; 4] =
                [vec![], vec![count / 3, count / 2], (0..count).step_by(7).collect(), borders];
            for begins in &all_begins[..if is_segmented { 4 } else { 1 }] {
                for initial in [None, Some(&initial[..])] {
                    let offsets: Vec<u32> = begins.iter().map(|&begin| begin as u32).collect();
                    let mut expected = all.clone();
                    let inputs = ScanInputs { initial, segments: &offsets };
                    self.gpu.scan_words(config, &mut expected, inputs).agreed(self.world)?;
                    let start = size.start(rank);
                    let rows = start..start + size.counts[rank as usize];
                    let own: Vec<u64> = begins
                        .iter()
                        .filter(|begin| rows.contains(begin))
                        .map(|begin| begin - start)
                        .collect();
                    let part = PartOfScan {
                        initial,
                        segments: is_segmented.then_some(&own),
                        row_count: rows.end - rows.start,
                        memory_size: None,
                    };
                    let source = size.part(rank, &all, row_words);
                    let mut result = vec![0u32; source.len()];
                    let (from, to) = (
                        std::io::Cursor::new(bytemuck::cast_slice::<_, u8>(source)),
                        std::io::Cursor::new(bytemuck::cast_slice_mut::<_, u8>(&mut result)),
                    );
                    self.cluster.scan_stream(config, part, from, to).map_err(of_device)?;
                    let expected = size.part(rank, &expected, row_words);
                    let what = || {
                        format!(
                            "scan in parts of {:?}, segments {begins:?}, {initial:?}: {config:?}",
                            size.counts
                        )
                    };
                    self.compare(result == expected, what)?;
                    if !is_segmented {
                        let result = self.scan_buffers(config, source, part)?;
                        self.compare(result == expected, || format!("scan of buffers: {}", what()))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Scans from a buffer of the device to another.
    fn scan_buffers(&self, config: ScanConfig, rows: &[u32], part: PartOfScan<'_>) -> Result<Vec<u32>> {
        let size = size_of_val(rows).max(4) as u64;
        let prepare = || -> subsweep::Result<_> {
            let [source, result] = [self.gpu.allocate(size)?, self.gpu.allocate(size)?];
            self.gpu.upload(&source, 0, rows)?;
            Ok([source, result])
        };
        let [source, result] = prepare().agreed(self.world)?;
        let scanned = self.cluster.scan_buffers(config, &source, &result, part.row_count, part.initial);
        scanned.map_err(of_device)?;
        self.gpu.read(&result, rows.len()).agreed(self.world)
    }

    fn compare(&mut self, is_right: bool, what: impl FnOnce() -> String) -> Result<()> {
        self.count += 1;
        let compared = if is_right { Ok(()) } else { Err(Ended::wrong(format!("wrong: {}", what()))) };
        compared.agreed(self.world)
    }
}

/// The error of a device, where there are no files.
pub fn of_device(error: ClusterError) -> anyhow::Error {
    match error {
        ClusterError::Elsewhere { rank } => super::Elsewhere(rank).into(),
        ClusterError::Here(subsweep::headless::StreamError::Device(error)) => error.into(),
        ClusterError::Here(error) => error.into(),
    }
}
