//! What is written down: one JSON file, versioned, whole after every case.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::description::Description;
use super::statistics;
use super::verify::{Failure, Outcome};
use crate::device::CommandCounts;
use crate::headless::Gpu;
use crate::kernels;

mod csv;
mod markdown;
mod read;

pub use read::ReportError;

/// Everything that one command found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this layout: [`Report::SCHEMA`].
    pub schema: u32,
    /// What wrote it.
    pub tool: Tool,
    /// On what machine.
    pub host: Host,
    /// The arguments of the command, its name first, such as `bench`.
    pub command: Vec<String>,
    /// Whether this is all that was asked for: false while cases are still to come, and for good where the command
    /// ended before them.
    pub complete: bool,
    /// One section a device.
    pub devices: Vec<DeviceReport>,
}

/// The build that wrote a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// subsweep's own version.
    pub version: String,
    /// The commit that was checked out when it was built, where that was known.
    pub git_hash: Option<String>,
    /// What compiled it.
    pub rust_compiler: String,
    /// What compiled the kernels to SPIR-V.
    pub shader_compiler: String,
    /// The kernels by name, each with the hash of its SPIR-V.
    pub kernels: BTreeMap<String, String>,
}

/// The machine that a report is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// `linux`, `windows`, `macos`.
    pub os: String,
    /// The version of its kernel, where it is told.
    pub kernel: Option<String>,
    /// `x86_64`, `aarch64`.
    pub architecture: String,
    /// The processor's name, where it is told.
    pub processor: Option<String>,
    /// How many threads it runs at once.
    pub threads: u32,
}

/// What was found out about one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// `deviceName`.
    pub name: String,
    /// Who it is and what it has.
    #[serde(flatten)]
    pub description: Description,
    /// Whether times are from GPU timestamps; else they are wall-clock.
    pub gpu_timestamps: bool,
    /// The verdict of the self-test, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_test: Option<String>,
    /// What was verified; by `bench`, what could then not be measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<VerifiedCase>,
    /// What was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<Measurement>,
}

/// A case that was verified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifiedCase {
    /// The case.
    pub id: String,
    /// `pass`, `fail` or `not supported`.
    pub outcome: String,
    /// Why, where it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first word that was wrong, where one was; apart, for most cases have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<Box<WrongWord>>,
    /// The command that does the case again, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
}

/// A word that is not what the oracle says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongWord {
    /// In which run of the case, from 1.
    pub run: u32,
    /// What the random numbers of the input began with.
    pub seed: u64,
    /// Of what: `result`, `values`, `source`, `guard`.
    pub what: String,
    /// Which word of it, from 0.
    pub index: u64,
    /// What should be there.
    pub expected: u32,
    /// What is.
    pub got: u32,
}

/// A case that was measured. Times are in nanoseconds; each summary is of the samples beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The case.
    pub id: String,
    /// What it has in common with the cases that were measured by turns with it: the id without algorithm and policy.
    pub group: String,
    /// The policy, in words.
    pub policy: String,
    /// Elements.
    pub element_count: u64,
    /// Bytes of an element.
    pub element_size: u64,
    /// Bytes that the algorithm reads and writes of the elements.
    pub traffic_size: u64,
    /// Elements over the median time.
    pub elements_per_second: f64,
    /// Traffic over the median time.
    pub bytes_per_second: f64,
    /// The median time of the copy kernel, which copies the elements, over this one's, in percent.
    pub copy_percent: f64,
    /// What the copy kernel read and wrote, over its median time.
    pub copy_bytes_per_second: f64,
    /// Runs of which each sample is the mean.
    pub runs_per_sample: u32,
    /// How many samples each block has, in their order. Between blocks lies time in which others were measured. Other
    /// programs may know of none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_lengths: Vec<u32>,
    /// Time of a run: the sum of the submissions that it was cut into, without what lies between them where the device
    /// tells GPU time.
    pub time: Summary,
    /// In the order in which they were taken.
    pub samples_ns: Vec<f64>,
    /// Time of the copy kernel on as many bytes, before and behind each block of samples, by turns.
    pub copy: Summary,
    /// Two for each block.
    pub copy_samples_ns: Vec<f64>,
    /// Time of `vkCmdCopyBuffer`, likewise. This, and all below, is null where another program measured, which has no
    /// such thing or does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Summary>,
    /// Two for each block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer_samples_ns: Vec<f64>,
    /// Time of the host to record a run, on the wall clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Summary>,
    /// One for each sample, of a recording that was not submitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record_samples_ns: Vec<f64>,
    /// Time from elements in the host's memory to results in the host's memory, on the wall clock: upload, a run, download.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_to_end: Option<Summary>,
    /// One behind each block in which it was verified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end_to_end_samples_ns: Vec<f64>,
    /// The commands of one recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedCounts>,
    /// How far the tiles of a chained scan looked back, in one run more, where that can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_back: Option<LookBackCounts>,
}

/// How many commands of each kind one recording has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCounts {
    /// Dispatches, indirect ones included, also those that turn out to have no workgroups.
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

/// What the tiles of a chained scan went through, all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookBackCounts {
    /// Tiles that looked back: all but the first.
    pub look_backs: u32,
    /// Windows of as many tiles as a subgroup has lanes.
    pub windows: u32,
    /// The most windows of one tile.
    pub longest: u32,
    /// Looks at a window in which a tile had told nothing.
    pub spins: u32,
    /// Tiles that were summed up in their workgroup's place.
    pub fallbacks: u32,
}

impl fmt::Display for LookBackCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { look_backs, windows, longest, spins, fallbacks } = *self;
        let mean = f64::from(windows) / f64::from(look_backs.max(1));
        write!(f, "mean {mean:.1} windows, longest {longest}; {spins} spins, {fallbacks} fallbacks")
    }
}

/// A sample of times, in short; nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The middle one.
    pub median_ns: f64,
    /// The quartiles' distance.
    pub iqr_ns: f64,
    /// The least.
    pub min_ns: f64,
    /// What 95 % are below.
    pub p95_ns: f64,
    /// Where the median lies with a confidence of 95 %, by bootstrap of blocks and of the samples in them: from and to.
    pub median_interval_ns: [f64; 2],
}

impl Summary {
    /// Sums up `samples`, of which there is at least one, in blocks of these lengths; in one where none are told.
    pub fn of(samples: &[f64], block_lengths: &[u32]) -> Self {
        let blocks = statistics::blocks(samples, block_lengths);
        Self { median_interval_ns: statistics::median_interval(&blocks), ..Self::without_interval(samples) }
    }

    /// The same with the median in place of its interval, which is what takes long.
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
    /// The samples, block by block.
    pub(super) fn blocks(&self) -> Vec<&[f64]> {
        statistics::blocks(&self.samples_ns, &self.block_lengths)
    }
}

impl VerifiedCase {
    /// Writes an outcome down, with the command that leads to it again if it is a failure.
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
    /// Names a device; nothing is found out yet.
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            name: gpu.identity().name.clone(),
            description: Description::new(gpu.capabilities(), gpu.timestamp_valid_bits()),
            gpu_timestamps: gpu.has_timestamps(),
            self_test: None,
            verified: Vec::new(),
            measured: Vec::new(),
        }
    }
}

impl Tool {
    /// This build.
    pub fn this() -> Self {
        let kernels =
            kernels::ALL.iter().map(|kernel| (kernel.name.to_owned(), format!("{:016x}", kernel.hash)));
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
    /// The layout that this build writes and reads.
    pub const SCHEMA: u32 = 2;

    /// An empty report of this build and this machine, by the command whose arguments are given.
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

    /// The whole report, as it is written.
    ///
    /// # Errors
    /// None that a report can cause.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        Ok(json)
    }
}

/// What `bench --quick` measured of some cases, on lavapipe and on SwiftShader.
#[cfg(test)]
pub(in crate::harness) fn sample() -> Report {
    Report::from_json(include_bytes!("report/sample.json")).expect("a report of this schema")
}

#[cfg(test)]
mod tests {
    use super::{LookBackCounts, Summary};

    #[test]
    fn a_look_back_is_told_by_its_mean() {
        let counts = LookBackCounts { look_backs: 10, windows: 13, longest: 4, spins: 7, fallbacks: 0 };
        assert_eq!(counts.to_string(), "mean 1.3 windows, longest 4; 7 spins, 0 fallbacks");
    }

    #[test]
    fn a_summary_is_by_linear_quantiles() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0, 5.0], &[]);
        assert_eq!([summary.median_ns, summary.iqr_ns, summary.min_ns], [3.0, 2.0, 1.0]);
        assert!((summary.p95_ns - 4.8).abs() < 1e-9, "{}", summary.p95_ns);
        assert_eq!(Summary::of(&[7.0], &[1]).median_interval_ns, [7.0; 2]);
    }
}
