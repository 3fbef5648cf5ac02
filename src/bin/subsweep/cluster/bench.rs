//! `subsweep-mpi bench`.

use std::io::{Cursor, Seek, Write};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use subsweep::ElementType;
use subsweep::cluster::mpi::collective::SystemOperation;
use subsweep::cluster::mpi::topology::SimpleCommunicator;
use subsweep::cluster::mpi::traits::*;
use subsweep::cluster::{Cluster, Indices, PartOfScan, SortTraffic};
use subsweep::headless::Gpu;
use subsweep::scan::ScanConfig;
use subsweep::sort::{SortConfig, ValueSize};

use super::verify::of_device;
use super::{Agreed, open_device};
use crate::args::Common;
use crate::command::Run;
use crate::error::Ended;
use crate::files::output::print;

/// Measure scans and sorts over all ranks
///
/// Each rank has as many elements, random, in its memory. A line of a sort has the time of all ranks together and of its phases on
/// the slowest, the bytes that crossed in percent of all keys and values, messages, rounds of counting, and how many more keys
/// than the average a rank ends with. Results are checked.
#[derive(Debug, Args)]
pub struct Bench {
    /// Elements on each rank, such as 1e6
    #[arg(long, value_name = "N", default_value = "1e6", value_parser = parse_count)]
    count: usize,

    /// Runs of each, of which the fastest is printed
    #[arg(long, value_name = "N", default_value_t = 5)]
    runs: u32,
}

fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse::<f64>().ok().filter(|count| (0.0..1e10).contains(count) && count.fract() == 0.0);
    count
        .map(|count| count as usize)
        .ok_or_else(|| "it is a number of elements, such as 1000000 or 1e6".into())
}

impl Run for Bench {
    fn run(&self, common: &Common) -> Result<()> {
        let world = super::world();
        let gpu = open_device(&world, common)?;
        let bench = Measured { args: self, world: &world, gpu: &gpu };
        let heading = format!(
            "{} elements on each of {} ranks\n{:13} {:>9} {:>9} {:>9} {:>9} {:>9}  crossed  messages  rounds  imbalance\n",
            self.count,
            world.size(),
            "",
            "ms",
            "local",
            "splitters",
            "exchange",
            "merge"
        );
        bench.print(&heading)?;
        bench.sort("sort", SortConfig::keys(ElementType::U32))?;
        bench.sort("sort pairs", SortConfig::pairs(ElementType::U32, ValueSize::B4))?;
        bench.sort("sort u64", SortConfig::keys(ElementType::U64))?;
        bench.sort("argsort", SortConfig::argsort(ElementType::U32))?;
        bench.print(&format!("{:13} {:>9} {:>9} {:>9} {:>9}\n", "", "ms", "reduce", "carry", "scan"))?;
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

    fn milliseconds(&self, own: Duration) -> f64 {
        self.greatest(own.as_nanos() as u64) as f64 / 1e6
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
        let cluster = Cluster::new(self.world, self.gpu);
        let mut best: Option<(Duration, SortTraffic)> = None;
        for _ in 0..self.args.runs.max(1) {
            let mut sorted = keys.clone();
            let mut values = vec![0; if config.is_argsort() { 0 } else { self.args.count * value_words }];
            self.world.barrier();
            let start = Instant::now();
            let traffic = if config.is_argsort() {
                let (indices, traffic) = cluster.sort_with_indices(config, &mut sorted).map_err(of_device)?;
                if let Indices::U32(indices) = indices {
                    values = indices;
                }
                traffic
            } else {
                cluster.sort_words(config, &mut sorted, &mut values).map_err(of_device)?
            };
            self.world.barrier();
            let time = start.elapsed();
            self.check_sorted(&keys, &sorted, key_words)?;
            if best.is_none_or(|(before, _)| time < before) {
                best = Some((time, traffic));
            }
        }
        let Some((time, traffic)) = best else { return Ok(()) };
        let SortTraffic { sort_time, splitter_time, exchange_time, merge_time, .. } = traffic;
        let [time, sort, splitters, exchange, merge] =
            [time, sort_time, splitter_time, exchange_time, merge_time].map(|time| self.milliseconds(time));
        let all_size = (self.args.count as u64
            * (config.key_size() + config.value_size())
            * self.world.size() as u64) as f64;
        let crossed = 100.0 * self.sum(traffic.sent_size) as f64 / all_size.max(1.0);
        let messages = self.sum(traffic.message_count);
        let rounds = traffic.rounds;
        // Each rank ends with as many as it began with.
        let imbalance = self.greatest(self.args.count as u64) as f64
            / (self.sum(self.args.count as u64) as f64 / self.world.size() as f64).max(1.0)
            - 1.0;
        self.print(&format!(
            "{name:13} {time:9.2} {sort:9.2} {splitters:9.2} {exchange:9.2} {merge:9.2}  {crossed:5.1} %  {messages:8}  {rounds:6}  {:7.1} %\n",
            100.0 * imbalance.max(0.0)
        ))
    }

    /// Checks that all keys are sorted, and that none is lost.
    fn check_sorted(&self, before: &[u32], after: &[u32], key_words: usize) -> Result<()> {
        let key = |words: &[u32]| words.iter().rev().fold(0, |key, &word| key << 32 | u64::from(word));
        let hash = |words: &[u32]| {
            words
                .chunks(key_words)
                .map(|words| (key(words) | 1).wrapping_mul(key(words) ^ 0x1234_5678_9abc_def1))
                .fold(0, u64::wrapping_add)
        };
        let keys: Vec<u64> = after.chunks(key_words).map(key).collect();
        let ends = [keys.first().copied().unwrap_or(0), keys.last().copied().unwrap_or(0)];
        let mut all = vec![0u64; 2 * self.world.size() as usize];
        self.world.all_gather_into(&ends[..], &mut all[..]);
        let is_sorted = keys.is_sorted() && all.is_sorted();
        let difference = hash(before).wrapping_sub(hash(after));
        let are_all_there = self.sum(difference) == 0;
        let checked = if is_sorted && are_all_there {
            Ok(())
        } else {
            Err(Ended::wrong("the keys are not sorted, or not the same"))
        };
        checked.agreed(self.world)
    }

    fn scan(&self, name: &str, config: ScanConfig) -> Result<()> {
        let words = self.words(self.args.count * config.row_size() as usize / 4);
        let cluster = Cluster::new(self.world, self.gpu);
        let mut best = None;
        for _ in 0..self.args.runs.max(1) {
            let mut result = vec![0u32; words.len()];
            let part = PartOfScan { row_count: self.args.count as u64, ..PartOfScan::default() };
            self.world.barrier();
            let start = Instant::now();
            let (from, to) = (
                Cursor::new(bytemuck::cast_slice::<_, u8>(&words)),
                Cursor::new(bytemuck::cast_slice_mut::<_, u8>(&mut result)),
            );
            let times = cluster.scan_stream(config, part, from, to).map_err(of_device)?;
            self.world.barrier();
            let time = start.elapsed();
            self.check_sums(&words, &result, config.row_size() as usize / 4)?;
            if best.is_none_or(|(before, _)| time < before) {
                best = Some((time, times));
            }
        }
        let Some((time, times)) = best else { return Ok(()) };
        let [time, reduce, carry, scan] =
            [time, times.reduce_time, times.carry_time, times.scan_time].map(|time| self.milliseconds(time));
        self.print(&format!("{name:13} {time:9.2} {reduce:9.2} {carry:9.2} {scan:9.2}\n"))
    }

    /// Checks sums, after those of the ranks before.
    fn check_sums(&self, words: &[u32], sums: &[u32], row_words: usize) -> Result<()> {
        let number =
            |words: &[u32]| words.iter().rev().fold(0, |number, &word| number << 32 | u64::from(word));
        let total = words.chunks(row_words).map(number).fold(0, u64::wrapping_add);
        let mut totals = vec![0u64; self.world.size() as usize];
        self.world.all_gather_into(&total, &mut totals[..]);
        let before =
            totals[..self.world.rank() as usize].iter().fold(0, |sum: u64, total| sum.wrapping_add(*total));
        let mask = u64::MAX >> (64 - 32 * row_words);
        let mut sum = before;
        let is_right = words.chunks(row_words).zip(sums.chunks(row_words)).all(|(words, got)| {
            sum = sum.wrapping_add(number(words));
            sum & mask == number(got)
        });
        let checked = if is_right { Ok(()) } else { Err(Ended::wrong("a sum is wrong")) };
        checked.agreed(self.world)
    }
}
