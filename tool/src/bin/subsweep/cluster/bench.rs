//! `subsweep-mpi bench`.

use std::io::Cursor;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use subsweep::ElementType;
use subsweep::cluster::mpi::collective::SystemOperation;
use subsweep::cluster::mpi::topology::SimpleCommunicator;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{Cluster, Indices, ScanSlice, SortTraffic};
use subsweep::headless::Gpu;
use subsweep::scan::ScanConfig;
use subsweep::sort::{SortConfig, ValueSize};

use super::{Agreed, of_device, open_device, ranks_on_node};
use crate::args::Common;
use crate::command::Run;
use crate::error::{CommandError, Exit};
use crate::files::memory;
use crate::files::output::print;

/// Measure scans and sorts over all ranks
///
/// Each rank has --count random elements in its memory. A line has the median time of the runs after a first one, on the
/// slowest rank, and the spread from the fastest to the slowest run in percent of it; elements a second on all ranks; of the
/// run with the median time the phases, each on its slowest rank; and of a sort the bytes that crossed in percent of all keys
/// and values, the messages, the rounds of counting, and by how much a rank has got more keys than the average. Results are
/// checked.
#[derive(Debug, Args)]
pub struct Bench {
    /// Elements on each rank, such as 1e6
    #[arg(long, value_name = "N", default_value = "1e6", allow_negative_numbers = true, value_parser = parse_count)]
    count: usize,

    /// Runs that count, of each case
    #[arg(long, value_name = "N", default_value_t = 5, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse::<f64>().ok().filter(|count| (0.0..1e10).contains(count) && count.fract() == 0.0);
    count
        .map(|count| count as usize)
        .ok_or_else(|| "it is a whole number of elements below 1e10, such as 1000000 or 1e6".into())
}

/// The number of one or two words.
fn number(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |number, &word| number << 32 | u64::from(word))
}

impl Run for Bench {
    fn run(&self, common: &Common) -> Result<()> {
        let world = super::world();
        // Keys and results of 8 bytes, and what a sort needs for them.
        let needed = 64 * self.count as u64;
        let ranks = ranks_on_node(&world);
        let available = memory::available().map(|available| available / ranks);
        let checked = match available.filter(|&available| available < needed) {
            Some(_) => Err(CommandError::with(
                Exit::Failed,
                format!(
                    "{needed} bytes of memory are needed on each rank; take a smaller --count, or fewer ranks"
                ),
            )),
            None => Ok(()),
        };
        checked.agreed(&world)?;
        let gpu = open_device(&world, common)?;
        let bench = Measured { args: self, world: &world, gpu: &gpu };
        let identity = gpu.identity();
        bench.print(&format!(
            "{} elements on each of {} ranks, {}, driver {}\n{:13} {:>9} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9}  crossed  messages  rounds  imbalance\n",
            self.count, world.size(), identity.name, identity.driver_text(),
            "", "ms", "spread", "M/s", "local", "splitters", "exchange", "merge"
        ))?;
        bench.sort("sort", SortConfig::keys(ElementType::U32))?;
        bench.sort("sort pairs", SortConfig::pairs(ElementType::U32, ValueSize::B4))?;
        bench.sort("sort u64", SortConfig::keys(ElementType::U64))?;
        bench.sort("argsort", SortConfig::argsort(ElementType::U32))?;
        bench.print(&format!(
            "{:13} {:>9} {:>7} {:>8} {:>9} {:>9} {:>9}\n",
            "", "ms", "spread", "M/s", "reduce", "carry", "scan"
        ))?;
        bench.scan("scan", ScanConfig::inclusive(ElementType::U32).out_of_place())?;
        bench.scan("scan u64", ScanConfig::inclusive(ElementType::U64).out_of_place())
    }
}

struct Measured<'a> {
    args: &'a Bench,
    world: &'a SimpleCommunicator,
    gpu: &'a Gpu,
}

impl Measured<'_> {
    /// Prints text on rank 0.
    fn print(&self, text: &str) -> Result<()> {
        let printed = if self.world.rank() == 0 { print(text) } else { Ok(()) };
        printed.agreed(self.world)
    }

    /// The greatest of all ranks.
    fn greatest(&self, own: u64) -> u64 {
        let mut greatest = 0;
        self.world.all_reduce_into(&own, &mut greatest, SystemOperation::max());
        greatest
    }

    fn sum(&self, own: u64) -> u64 {
        let mut sum = 0;
        self.world.all_reduce_into(&own, &mut sum, SystemOperation::sum());
        sum
    }

    /// The greatest of all ranks, in milliseconds.
    fn milliseconds(&self, own: Duration) -> f64 {
        self.greatest(own.as_nanos() as u64) as f64 / 1e6
    }

    /// Runs `work` on all ranks at once, several times. Returns the start of a line, and the result of the run with the median
    /// time.
    fn median<T>(&self, name: &str, mut work: impl FnMut() -> Result<T>) -> Result<(String, T)> {
        let mut runs = Vec::new();
        // The first compiles pipelines, and does not count.
        for run in 0..=self.args.runs {
            self.world.barrier();
            let start = Instant::now();
            let result = work()?;
            let time = self.milliseconds(start.elapsed());
            if run > 0 {
                runs.push((time, result));
            }
        }
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (least, most) = (runs[0].0, runs[runs.len() - 1].0);
        let (time, result) = runs.swap_remove((runs.len() - 1) / 2);
        let spread = 100.0 * (most - least) / time;
        let rate = self.sum(self.args.count as u64) as f64 / time / 1e3;
        Ok((format!("{name:13} {time:9.2} {spread:5.1} % {rate:8.1}"), result))
    }

    fn words(&self, count: usize) -> Vec<u32> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(self.world.rank() as u64 + 1);
        let next = || {
            state =
                (state ^ state >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x94d0_49bb_1331_11eb);
            (state >> 32) as u32
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    fn sort(&self, name: &str, config: SortConfig) -> Result<()> {
        let [key_words, value_words] = [config.key_size(), config.value_size()].map(|size| size as usize / 4);
        let keys = self.words(self.args.count * key_words);
        let first = self.args.count * self.world.rank() as usize;
        let indices: Vec<u32> = (first..first + self.args.count).map(|index| index as u32).collect();
        let cluster = Cluster::new(self.world, self.gpu);
        let mut sorted = keys.clone();
        let mut values = Vec::new();
        let (line, traffic) = self.median(name, || {
            sorted.copy_from_slice(&keys);
            if config.is_argsort() {
                let (found, traffic) = cluster.sort_with_indices(config, &mut sorted).map_err(of_device)?;
                if let Indices::U32(found) = found {
                    values = found;
                }
                return Ok(traffic);
            }
            values.clear();
            values.extend(&indices[..if value_words > 0 { indices.len() } else { 0 }]);
            cluster.sort_words(config, &mut sorted, &mut values).map_err(of_device)
        })?;
        self.check_sorted([&keys, &indices], [&sorted, &values], key_words)?;
        let SortTraffic { sort_time, splitter_time, exchange_time, merge_time, .. } = traffic;
        let [sort, splitters, exchange, merge] =
            [sort_time, splitter_time, exchange_time, merge_time].map(|time| self.milliseconds(time));
        let pair_size = config.key_size() + config.value_size();
        let all_count = self.sum(self.args.count as u64).max(1) as f64;
        let crossed = 100.0 * self.sum(traffic.sent_size) as f64 / (all_count * pair_size as f64);
        let messages = self.sum(traffic.message_count);
        let rounds = traffic.round_count;
        let average = all_count / f64::from(self.world.size());
        let imbalance = 100.0 * (self.greatest(traffic.received_count) as f64 / average - 1.0).max(0.0);
        self.print(&format!(
            "{line} {sort:9.2} {splitters:9.2} {exchange:9.2} {merge:9.2}  {crossed:5.1} %  {messages:8}  {rounds:6}  {imbalance:7.1} %\n"
        ))
    }

    /// Checks that all keys are sorted, and that each is there with its value.
    fn check_sorted(&self, before: [&[u32]; 2], after: [&[u32]; 2], key_words: usize) -> Result<()> {
        let has_values = !after[1].is_empty();
        let hash = |[keys, values]: [&[u32]; 2]| {
            let pair = |(index, words): (usize, &[u32])| {
                let value = if has_values { u64::from(values[index]) } else { 0 };
                let mixed = (number(words) ^ value.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (mixed ^ mixed >> 32).wrapping_mul(mixed | 1)
            };
            keys.chunks(key_words).enumerate().map(pair).fold(0, u64::wrapping_add)
        };
        let keys: Vec<u64> = after[0].chunks(key_words).map(number).collect();
        let ends = [keys.first().copied().unwrap_or(0), keys.last().copied().unwrap_or(0)];
        let mut all = vec![0u64; 2 * self.world.size() as usize];
        self.world.all_gather_into(&ends[..], &mut all[..]);
        let are_all_there = self.sum(hash(before).wrapping_sub(hash(after))) == 0;
        let is_right = keys.is_sorted() && all.is_sorted() && are_all_there;
        self.check(is_right, "the keys are not sorted, or not with their values")
    }

    fn scan(&self, name: &str, config: ScanConfig) -> Result<()> {
        let row_words = config.row_size() as usize / 4;
        let words = self.words(self.args.count * row_words);
        let cluster = Cluster::new(self.world, self.gpu);
        let mut result = vec![0u32; words.len()];
        let slice = ScanSlice { row_count: self.args.count as u64, ..ScanSlice::default() };
        let (line, times) = self.median(name, || {
            let from = Cursor::new(bytemuck::cast_slice::<_, u8>(&words));
            let to = Cursor::new(bytemuck::cast_slice_mut::<_, u8>(&mut result));
            cluster.scan_stream(config, slice, from, to).map_err(of_device)
        })?;
        self.check_sums(&words, &result, row_words)?;
        let [reduce, carry, scan] =
            [times.reduce_time, times.carry_time, times.scan_time].map(|time| self.milliseconds(time));
        self.print(&format!("{line} {reduce:9.2} {carry:9.2} {scan:9.2}\n"))
    }

    /// Checks prefix sums, which continue from the totals of the ranks before.
    fn check_sums(&self, words: &[u32], sums: &[u32], row_words: usize) -> Result<()> {
        let total = words.chunks(row_words).map(number).fold(0, u64::wrapping_add);
        let mut totals = vec![0u64; self.world.size() as usize];
        self.world.all_gather_into(&total, &mut totals[..]);
        let before = &totals[..self.world.rank() as usize];
        let mut sum = before.iter().copied().fold(0, u64::wrapping_add);
        let mask = u64::MAX >> (64 - 32 * row_words);
        let is_right = words.chunks(row_words).zip(sums.chunks(row_words)).all(|(words, got)| {
            sum = sum.wrapping_add(number(words));
            sum & mask == number(got)
        });
        self.check(is_right, "a sum is wrong")
    }

    /// Fails on all ranks unless the result is right on each.
    fn check(&self, is_right: bool, wrong: &str) -> Result<()> {
        let checked = if is_right { Ok(()) } else { Err(CommandError::wrong(wrong)) };
        checked.agreed(self.world)
    }
}
