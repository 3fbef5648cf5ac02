//! `bench --dry-run`: the cases, their bytes, and the time that the host will take.

use std::collections::HashSet;

use anyhow::Result;
use subsweep::device::Capabilities;
use subsweep::harness::units::scaled;
use subsweep::harness::{BenchOptions, Case, Work};

use super::BenchArgs;
use crate::args::Common;
use crate::suite;
use crate::words::counted;

/// Nanoseconds of a core for a byte of a case's elements. Measured on two cores of an AMD EPYC, by `bench` on lavapipe.
mod ns_of_byte {
    /// Generating the input, once for all cases of a work.
    pub const INPUT: f64 = 0.6;
    /// The expected result of a sort, on one core.
    pub const SORT: f64 = 12.0;
    /// The expected result of another primitive.
    pub const OTHER: f64 = 1.5;
    /// Staging: an upload of the input, or the upload and download of an end-to-end run.
    pub const UPLOAD: f64 = 0.5;
    pub const END_TO_END: f64 = 1.2;
}

/// Creating the pipelines of a case, recording and submitting its samples, nanoseconds.
const NS_OF_CASE: f64 = 30e6;
/// Cores of which the parallel part of a sort makes use.
const SORT_CORES: f64 = 16.0;
/// The part of a case's budget that its samples take on a GPU. A CPU driver, whose processor is the host's, takes all of it.
const GPU_SHARE: f64 = 0.1;

/// Expected time of a case, nanoseconds: of what the host does, and of the samples.
fn expected_ns(
    case: &Case,
    is_first_of_work: bool,
    options: &BenchOptions,
    cores: f64,
    is_cpu: bool,
) -> [f64; 2] {
    let size = case.size() as f64;
    let result = match case.work {
        // Half of it merges the parts of all cores, on ever fewer.
        Work::Sort(_) | Work::SegmentedSort(_) => {
            ns_of_byte::SORT * (0.5 + 0.5 / cores.clamp(1.0, SORT_CORES))
        }
        _ => ns_of_byte::OTHER,
    };
    let once = if is_first_of_work { ns_of_byte::INPUT + result } else { 0.0 };
    let each = ns_of_byte::UPLOAD + f64::from(options.end_to_end_count) * ns_of_byte::END_TO_END;
    let budget_ns = options.budget.as_nanos() as f64;
    let samples = f64::from(options.block_count * options.samples_per_block);
    let least_ns = samples * options.min_sample.as_nanos() as f64;
    let samples_ns = if is_cpu { budget_ns } else { least_ns.min(GPU_SHARE * budget_ns) };
    [NS_OF_CASE + size * (once + each), samples_ns]
}

/// Prints the cases of each device.
///
/// # Errors
/// There is no suitable device, or no such case.
pub fn print(args: &BenchArgs, common: &Common) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let options = args.options(args.suite.effort());
    let cases = |effort, capabilities: &Capabilities| args.cases(effort, capabilities);
    suite::list(&args.suite, common, cases, |cases, capabilities| {
        let is_cpu = capabilities.is_cpu();
        let mut text = format!("{:>8}  {:>8}  case\n", "bytes", "host");
        let (mut sum_ns, mut size) = ([0.0; 2], 0);
        let mut seen = HashSet::new();
        for case in cases {
            let times = expected_ns(case, seen.insert(case.variants()), &options, cores, is_cpu);
            sum_ns = [sum_ns[0] + times[0], sum_ns[1] + times[1]];
            size += case.size();
            text += &format!("{:>8}  {:>6.2} s  {}\n", scaled(case.size() as f64), times[0] / 1e9, case.id());
        }
        let [host, device] = sum_ns.map(|ns| ns / 1e9);
        text += &format!(
            "{}, {} bytes of elements: about {host:.1} s of the host with {}, and {device:.1} s of samples\n",
            counted(cases.len(), "case"),
            scaled(size as f64),
            counted(cores as usize, "core")
        );
        text
    })
}
