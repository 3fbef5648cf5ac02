//! The report: one versioned JSON file, whole and valid whenever it is written.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;

use super::description::Description;
use super::look_back::LookBackCounts;
use super::statistics;
use super::verify::{Failure, Outcome};
use subsweep::device::CommandCounts;
use subsweep::headless::Gpu;
use subsweep::kernels;

mod csv;
mod markdown;
mod read;

pub use read::{JsonProblem, ReportError};

/// The results of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The schema version: [`Report::SCHEMA`].
    pub schema: u32,
    /// The build that wrote it.
    pub tool: Tool,
    /// The machine.
    pub host: Host,
    /// The command line without the program: the command's name and its arguments, such as `bench`.
    pub command: Vec<String>,
    /// Whether the command has completed: false while cases remain, and if the command ended before them.
    pub complete: bool,
    /// One section per device.
    pub devices: Vec<DeviceReport>,
}

/// The build that wrote a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The version of subsweep.
    pub version: String,
    /// The commit it was built from, if known.
    pub git_hash: Option<String>,
    /// The Rust compiler.
    pub rust_compiler: String,
    /// The compiler of the kernels to SPIR-V.
    pub shader_compiler: String,
    /// Hash of each kernel's SPIR-V, by name.
    pub kernels: BTreeMap<String, String>,
}

/// The machine of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// `linux`, `windows`, `macos`.
    pub os: String,
    /// The kernel's version, if known.
    pub kernel: Option<String>,
    /// `x86_64`, `aarch64`.
    pub architecture: String,
    /// The processor's name, if known.
    pub processor: Option<String>,
    /// Hardware threads.
    pub threads: u32,
}

/// The results of one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// `deviceName`.
    pub name: String,
    /// Identity, limits and features.
    #[serde(flatten)]
    pub description: Description,
    /// Whether times are from GPU timestamps; otherwise wall-clock.
    pub gpu_timestamps: bool,
    /// Whether the device's caches were emptied before each measured run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cold_cache: bool,
    /// The verdict of the self-test, if it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_test: Option<String>,
    /// The verified cases; by `bench`, the cases that could not be measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<VerifiedCase>,
    /// The measured cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measurement>,
}

/// A verified case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifiedCase {
    /// The case.
    pub id: String,
    /// `pass`, `fail` or `not supported`.
    pub outcome: String,
    /// The reason, if it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first wrong word, if any. Boxed: most cases have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<Box<WrongWord>>,
    /// The command that reproduces the case, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
}

/// A word that differs from the oracle's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongWord {
    /// The run of the case, from 1.
    pub run: u32,
    /// The seed of the input's random numbers.
    pub seed: u64,
    /// The array: `result`, `values`, `source`, `guard`.
    pub what: String,
    /// Index of the word, from 0.
    pub index: u64,
    /// The expected word.
    pub expected: u32,
    /// The word found.
    pub got: u32,
}

/// A measured case. Times are in nanoseconds; each summary is of the samples next to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The case.
    pub id: String,
    /// The id without algorithm and policy, common to the cases measured together.
    pub group: String,
    /// The policy in use, as text.
    pub policy: String,
    /// Elements.
    pub element_count: u64,
    /// Bytes per element.
    pub element_size: u64,
    /// Bytes of elements that the algorithm reads and writes.
    pub traffic_size: u64,
    /// Elements per second, by the median time.
    pub elements_per_second: f64,
    /// Traffic per second, by the median time.
    pub bytes_per_second: f64,
    /// Median time of the copy kernel on the same elements over this median time, in percent.
    pub copy_percent: f64,
    /// Bytes read and written by the copy kernel per second, by its median time.
    pub copy_bytes_per_second: f64,
    /// Runs of each sample, which is their median.
    pub runs_per_sample: u32,
    /// Whether the copies before and after the blocks show a steady clock. A time of an unsteady one is not compared.
    #[serde(default = "is_steady_unless_said", skip_serializing_if = "Clone::clone")]
    pub steady: bool,
    /// Number of samples of each block, in order. Other cases were measured between blocks. Empty if the program that
    /// measured has no blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_lengths: Vec<u32>,
    /// Time of a run: the sum of its submissions; with GPU timestamps without the gaps between them.
    pub time: Summary,
    /// Number of samples. Where it was not written, the length of `samples_ns`.
    #[serde(default)]
    pub sample_count: u32,
    /// Samples in order of time; none in a summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_ns: Vec<f64>,
    /// Time of the copy kernel on as many bytes, sampled before and after each block.
    pub copy: Summary,
    /// Two samples per block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy_samples_ns: Vec<f64>,
    /// Time of `vkCmdCopyBuffer`, sampled after each block. This field and all below are null if another program measured that
    /// does not provide them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Summary>,
    /// One sample per block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer_samples_ns: Vec<f64>,
    /// Host time to record a run, wall-clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Summary>,
    /// One per sample, of a recording that is not submitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record_samples_ns: Vec<f64>,
    /// End-to-end time from host memory to host memory, wall-clock: upload, run, download.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_to_end: Option<Summary>,
    /// After the last block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end_to_end_samples_ns: Vec<f64>,
    /// The commands of one recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedCounts>,
    /// Look-back statistics of a chained scan, from one more run, if a counting kernel exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_back: Option<LookBackCounts>,
}

/// Reports of other programs, and earlier ones, say nothing of it.
const fn is_steady_unless_said() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Number of commands of one recording, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCounts {
    /// Dispatches, including indirect ones without workgroups.
    pub dispatches: u32,
    /// Barriers between them.
    pub barriers: u32,
    /// Fills, updates and copies.
    pub transfers: u32,
}

impl From<CommandCounts> for RecordedCounts {
    fn from(CommandCounts { dispatches, barriers, transfers }: CommandCounts) -> Self {
        Self { dispatches, barriers, transfers }
    }
}

/// A summary of time samples, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Median.
    pub median_ns: f64,
    /// Interquartile range.
    pub iqr_ns: f64,
    /// Minimum.
    pub min_ns: f64,
    /// 95th percentile.
    pub p95_ns: f64,
    /// The 95 % interval of the median, low and high, by bootstrap of blocks and of their samples.
    pub median_interval_ns: [f64; 2],
}

impl Summary {
    /// Summarises `samples` in blocks of these lengths; in one block if there are none. There is at least one sample.
    pub fn from_samples(samples: &[f64], block_lengths: &[u32]) -> Self {
        let blocks = statistics::blocks(samples, block_lengths);
        Self { median_interval_ns: statistics::median_interval(&blocks), ..Self::without_interval(samples) }
    }

    /// The summary without bootstrap, which is slow: the interval is the median.
    fn without_interval(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |q| statistics::quantile(&sorted, q);
        Self {
            median_ns: quantile(0.5),
            iqr_ns: quantile(0.75) - quantile(0.25),
            min_ns: sorted[0],
            p95_ns: quantile(0.95),
            median_interval_ns: [quantile(0.5); 2],
        }
    }
}

impl Measurement {
    /// The time, for comparisons.
    pub(super) fn median(&self) -> statistics::Median<'_> {
        if self.samples_ns.is_empty() {
            let Summary { median_ns, median_interval_ns, .. } = self.time;
            let seed = median_ns.to_bits() ^ self.element_count.rotate_left(32);
            statistics::Median::Summarised { median: median_ns, interval: median_interval_ns, seed }
        } else {
            statistics::Median::Sampled(self.blocks())
        }
    }

    /// The samples, block by block.
    pub(super) fn blocks(&self) -> Vec<&[f64]> {
        statistics::blocks(&self.samples_ns, &self.block_lengths)
    }

    /// The measurement with the number, the summaries and the rates of its samples. The time and the copy must have samples;
    /// the other summaries are `None` without.
    pub fn with_summaries(mut self) -> Self {
        let optional = |samples_ns: &[f64], block_lengths: &[u32]| {
            (!samples_ns.is_empty()).then(|| Summary::from_samples(samples_ns, block_lengths))
        };
        let block_count = self.block_lengths.len();
        self.sample_count = self.samples_ns.len() as u32;
        self.time = Summary::from_samples(&self.samples_ns, &self.block_lengths);
        self.copy = Summary::from_samples(&self.copy_samples_ns, &vec![2; block_count]);
        self.transfer = optional(&self.transfer_samples_ns, &vec![1; block_count]);
        self.record = optional(&self.record_samples_ns, &self.block_lengths);
        self.end_to_end = optional(&self.end_to_end_samples_ns, &[]);
        [self.elements_per_second, self.bytes_per_second, self.copy_percent, self.copy_bytes_per_second] =
            self.rates();
        self
    }

    /// Elements and bytes per second, the percentage of the copy, and the bytes per second of the copy, by the medians.
    fn rates(&self) -> [f64; 4] {
        let per_second = |amount: f64, time: Summary| amount / (time.median_ns / 1e9);
        let copied_size = 2.0 * self.element_count as f64 * self.element_size as f64;
        [
            per_second(self.element_count as f64, self.time),
            per_second(self.traffic_size as f64, self.time),
            100.0 * self.copy.median_ns / self.time.median_ns,
            per_second(copied_size, self.copy),
        ]
    }

    /// The measurement without its samples.
    pub fn summarised(&self) -> Self {
        let [samples_ns, copy_samples_ns, transfer_samples_ns, record_samples_ns, end_to_end_samples_ns] =
            Default::default();
        Self {
            samples_ns,
            copy_samples_ns,
            transfer_samples_ns,
            record_samples_ns,
            end_to_end_samples_ns,
            ..self.clone()
        }
    }
}

impl VerifiedCase {
    /// The record of an outcome, with the command that reproduces it if it is a failure.
    pub fn new(id: String, outcome: &Outcome, reproduce: &str) -> Self {
        let new = |outcome: &str, reason| {
            let outcome = outcome.to_owned();
            Self { id, outcome, reason, wrong: None, reproduce: None }
        };
        match outcome {
            Outcome::Pass => new("pass", None),
            Outcome::NotSupported(reason) => new("not supported", Some(reason.clone())),
            Outcome::Fail(failure) => Self {
                wrong: match failure {
                    Failure::Wrong { run, seed, mismatch } => Some(Box::new(WrongWord {
                        run: *run,
                        seed: *seed,
                        what: mismatch.what.to_owned(),
                        index: mismatch.index,
                        expected: mismatch.expected,
                        got: mismatch.got,
                    })),
                    Failure::Error(_) => None,
                },
                reproduce: Some(reproduce.to_owned()),
                ..new("fail", Some(failure.to_string()))
            },
        }
    }
}

impl DeviceReport {
    /// An empty section for a device.
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            name: gpu.identity().name.clone(),
            description: Description::new(gpu.capabilities(), gpu.timestamp_valid_bits()),
            gpu_timestamps: gpu.has_timestamps(),
            cold_cache: false,
            self_test: None,
            verified: Vec::new(),
            measured: Vec::new(),
        }
    }
}

impl Tool {
    /// This build.
    pub fn this() -> Self {
        let kernels = kernels::all().map(|kernel| (kernel.name.to_owned(), format!("{:016x}", kernel.hash)));
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_hash: option_env!("SUBSWEEP_GIT_HASH").map(str::to_owned),
            rust_compiler: env!("SUBSWEEP_RUSTC").to_owned(),
            shader_compiler: kernels::COMPILER.to_owned(),
            kernels: kernels.collect(),
        }
    }
}

impl Host {
    /// This machine.
    pub fn this() -> Self {
        let line = |path: &str| std::fs::read_to_string(path).ok();
        let processor = line("/proc/cpuinfo").and_then(|text| {
            let name = text.lines().find_map(|line| line.strip_prefix("model name"))?;
            Some(name.trim_start_matches([' ', '\t', ':']).to_owned())
        });
        Self {
            os: std::env::consts::OS.to_owned(),
            kernel: line("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()),
            architecture: std::env::consts::ARCH.to_owned(),
            processor,
            threads: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
        }
    }
}

impl Report {
    /// The schema version that this build writes and reads.
    pub const SCHEMA: u32 = 2;

    /// An empty report of this build and machine, for a command with these arguments.
    pub fn new(command: Vec<String>) -> Self {
        Self {
            schema: Self::SCHEMA,
            tool: Tool::this(),
            host: Host::this(),
            command,
            complete: false,
            devices: Vec::new(),
        }
    }

    /// The report as JSON: each case, each device and each field of the report on a line.
    ///
    /// # Errors
    /// None in practice: every report can be serialised.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = Vec::new();
        self.serialize(&mut serde_json::Serializer::with_formatter(&mut json, OneLineEach::default()))?;
        json.push(b'\n');
        Ok(json)
    }
}

/// Writes JSON with each case, each device and each field of the report on a line of its own.
#[derive(Default)]
struct OneLineEach {
    depth: u32,
}

impl OneLineEach {
    /// Depth of the fields of a report, of the devices, and of their cases.
    const FIELDS: u32 = 1;
    const DEVICES: u32 = 2;
    const CASES: u32 = 4;

    fn next(&self, writer: &mut (impl io::Write + ?Sized), is_first: bool, breaks: bool) -> io::Result<()> {
        if !is_first {
            writer.write_all(b",")?;
        }
        if breaks { writer.write_all(b"\n") } else { Ok(()) }
    }

    fn open(&mut self, writer: &mut (impl io::Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(bracket)
    }

    fn close(&mut self, writer: &mut (impl io::Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(bracket)
    }
}

impl Formatter for OneLineEach {
    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first, [Self::DEVICES, Self::CASES].contains(&self.depth))
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.next(writer, first, self.depth == Self::FIELDS)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Some results of `bench --quick` on lavapipe and SwiftShader.
#[cfg(test)]
pub(in crate::harness) fn sample() -> Report {
    Report::from_json(include_bytes!("report/sample.json")).expect("a report of this schema")
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn a_summary_is_by_linear_quantiles() {
        let summary = Summary::from_samples(&[4.0, 1.0, 3.0, 2.0, 5.0], &[]);
        assert_eq!([summary.median_ns, summary.iqr_ns, summary.min_ns], [3.0, 2.0, 1.0]);
        assert!((summary.p95_ns - 4.8).abs() < 1e-9, "{}", summary.p95_ns);
        assert_eq!(Summary::from_samples(&[7.0], &[1]).median_interval_ns, [7.0; 2]);
    }
}
