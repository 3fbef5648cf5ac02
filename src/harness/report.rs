//! What is written down: one JSON file, versioned, whole after every case.

use serde::{Deserialize, Serialize};

use super::verify::Outcome;
use crate::headless::Gpu;
use crate::kernels;
use crate::vk::CommandCounts;

mod read;

pub use read::ReportError;

/// Everything that one command found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this layout: [`Report::SCHEMA`].
    pub schema: u32,
    /// subsweep's own version.
    pub version: String,
    /// What compiled the kernels to SPIR-V.
    pub shader_compiler: String,
    /// Whether this is all that was asked for: false while cases are still to come, and for good where the command
    /// ended before them.
    pub complete: bool,
    /// One section a device.
    pub devices: Vec<DeviceReport>,
}

/// What was found out about one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// `deviceName`.
    pub name: String,
    /// `vendorID`.
    pub vendor_id: u32,
    /// `deviceID`.
    pub device_id: u32,
    /// `driverName`.
    pub driver_name: String,
    /// `driverInfo`.
    pub driver_info: String,
    /// `driverVersion`, as its vendor writes it.
    pub driver_version: String,
    /// `apiVersion`, as `1.3.230`.
    pub api_version: String,
    /// `deviceUUID` in the usual groups.
    pub device_uuid: String,
    /// `subgroupSize`.
    pub subgroup_size: u32,
    /// Whether times are from GPU timestamps; else they are wall-clock.
    pub gpu_timestamps: bool,
    /// The verdict of the self-test, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_test: Option<String>,
    /// What was verified.
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
}

/// A case that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The case.
    pub id: String,
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
    /// The median time of a copy of the elements in the same run, over this one's, in percent.
    pub copy_percent: f64,
    /// What that copy read and wrote, over its median time.
    pub copy_bytes_per_second: f64,
    /// Time of a run.
    pub time: Summary,
    /// Time of a copy.
    pub copy: Summary,
    /// Every run's time, nanoseconds, in order: the sum of the submissions that it was cut into, without what lies
    /// between them where the device tells GPU time.
    pub samples_ns: Vec<f64>,
    /// Every copy's.
    pub copy_samples_ns: Vec<f64>,
    /// The commands of one recording; reports of earlier builds, and of other programs, do not tell.
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

/// A sample of times, in short.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The middle one, nanoseconds.
    pub median_ns: f64,
    /// The quartiles' distance, nanoseconds.
    pub iqr_ns: f64,
    /// The least, nanoseconds.
    pub min_ns: f64,
}

impl Summary {
    /// Sums up `samples`, of which there is at least one.
    pub fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |q: f64| {
            let place = q * (sorted.len() - 1) as f64;
            let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Self { median_ns: quantile(0.5), iqr_ns: quantile(0.75) - quantile(0.25), min_ns: sorted[0] }
    }
}

impl VerifiedCase {
    /// Writes an outcome down.
    pub fn new(id: String, outcome: &Outcome) -> Self {
        let (name, reason) = match outcome {
            Outcome::Pass => ("pass", None),
            Outcome::Fail(reason) => ("fail", Some(reason.clone())),
            Outcome::NotSupported(reason) => ("not supported", Some(reason.clone())),
        };
        Self { id, outcome: name.to_owned(), reason }
    }
}

impl DeviceReport {
    /// Names a device; nothing is found out yet.
    pub fn new(gpu: &Gpu) -> Self {
        let identity = gpu.identity();
        Self {
            name: identity.name.clone(),
            vendor_id: identity.vendor_id,
            device_id: identity.device_id,
            driver_name: identity.driver_name.clone(),
            driver_info: identity.driver_info.clone(),
            driver_version: identity.driver_version_text(),
            api_version: identity.api_version_text(),
            device_uuid: identity.device_uuid_text(),
            subgroup_size: gpu.capabilities().subgroup_size,
            gpu_timestamps: gpu.has_timestamps(),
            self_test: None,
            verified: Vec::new(),
            measured: Vec::new(),
        }
    }
}

impl Report {
    /// The layout that this build writes and reads.
    pub const SCHEMA: u32 = 1;

    /// An empty report of this build.
    pub fn new() -> Self {
        Self {
            schema: Self::SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            shader_compiler: kernels::COMPILER.to_owned(),
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

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn a_summary_is_by_linear_quantiles() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!(summary, Summary { median_ns: 3.0, iqr_ns: 2.0, min_ns: 1.0 });
        assert_eq!(Summary::of(&[7.0]), Summary { median_ns: 7.0, iqr_ns: 0.0, min_ns: 7.0 });
    }
}
