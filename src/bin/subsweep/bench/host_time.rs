//! `bench --dry-run`: the cases, their bytes, and the time that the host will take.

use std::collections::HashSet;

use anyhow::Result;
use subsweep::device::Capabilities;
use subsweep::harness::units::scaled;
use subsweep::harness::{BenchOptions, Case};

use super::BenchArgs;
use crate::args::Common;
use crate::suite;
use crate::words::counted;

/// Nanoseconds for a byte of a case's elements.
mod ns_of_byte {
    use subsweep::harness::Work;

    /// Input, operands and expected result, once for all cases of a work: of one core, of an AMD EPYC at 4 Mi elements.
    pub fn expected(work: &Work) -> f64 {
        match work {
            Work::Search(_) => 51.0,
            Work::Merge(_) => 29.0,
            Work::Sort(_) | Work::SegmentedSort(_) => 13.0,
            Work::Reduce(_) => 11.0,
            Work::RunLength(_) => 8.0,
            _ => 6.0,
        }
    }

    /// Staging of input and expected result, and of input and result of an end-to-end run: of the host of an H200.
    pub const UPLOADS: f64 = 0.6;
    pub const END_TO_END: f64 = 0.85;
}

/// Creating the pipelines of a case, recording and submitting its samples, nanoseconds.
const NS_OF_CASE: f64 = 50e6;
/// Bytes of the elements of a batch, whose works are computed by a core each. What sorts takes more cores.
const BATCH_SIZE: f64 = 2e9;
const MIN_BUSY_CORES: f64 = 4.0;
/// The part of a case's budget that its samples take.
const SHARE_ON_GPU: f64 = 0.1;
const SHARE_ON_CPU: f64 = 0.75;

/// Expected time of a case, nanoseconds: of what the host does, and of the samples.
fn expected_ns(
    case: &Case,
    is_first_of_work: bool,
    options: &BenchOptions,
    cores: f64,
    is_cpu: bool,
) -> [f64; 2] {
    let size = case.size() as f64;
    let busy_cores = cores.min((BATCH_SIZE / size.max(1.0)).max(MIN_BUSY_CORES));
    let expected = if is_first_of_work { ns_of_byte::expected(&case.work) / busy_cores } else { 0.0 };
    let run_ns = size * ns_of_byte::END_TO_END;
    // No run begins after the limit.
    let max_ns = BenchOptions::MAX_END_TO_END.as_nanos() as f64 + run_ns;
    let end_to_end_ns = (f64::from(options.end_to_end_count) * run_ns).min(max_ns);
    let budget_ns = options.budget.as_nanos() as f64;
    let samples = f64::from(options.block_count * options.samples_per_block);
    let least_ns = samples * options.min_sample.as_nanos() as f64;
    let samples_ns = if is_cpu { SHARE_ON_CPU * budget_ns } else { least_ns.min(SHARE_ON_GPU * budget_ns) };
    [NS_OF_CASE + size * (expected + ns_of_byte::UPLOADS) + end_to_end_ns, samples_ns]
}

/// The sums of [`expected_ns`].
fn sum_ns(cases: &[Case], options: &BenchOptions, cores: f64, is_cpu: bool) -> [f64; 2] {
    let mut seen = HashSet::new();
    let times =
        cases.iter().map(|case| expected_ns(case, seen.insert(case.variants()), options, cores, is_cpu));
    times.fold([0.0; 2], |sum, time| [sum[0] + time[0], sum[1] + time[1]])
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
        let mut seen = HashSet::new();
        for case in cases {
            let [host_ns, _] = expected_ns(case, seen.insert(case.variants()), &options, cores, is_cpu);
            text += &format!("{:>8}  {:>6.2} s  {}\n", scaled(case.size() as f64), host_ns / 1e9, case.id());
        }
        let size: u64 = cases.iter().map(Case::size).sum();
        let [host, device] = sum_ns(cases, &options, cores, is_cpu).map(|ns| ns / 1e9);
        text += &format!(
            "{}, {} bytes of elements: about {host:.1} s of the host with {}, and {device:.1} s of samples\n",
            counted(cases.len(), "case"),
            scaled(size as f64),
            counted(cores as usize, "core")
        );
        text
    })
}

#[cfg(test)]
mod tests {
    use subsweep::harness::{BenchScale, Effort, bench_cases};

    use super::*;

    #[test]
    fn benchmarks_take_minutes() {
        let seconds = |effort, is_gpu: bool, cores| {
            let cases = bench_cases(BenchScale { effort, is_gpu });
            let times = sum_ns(&cases, &super::super::options(effort), cores, !is_gpu);
            (times[0] + times[1]) / 1e9
        };
        // A GPU in a machine of 16 cores, and a CPU driver on two.
        for (effort, is_gpu, cores, limit) in [
            (Effort::Quick, true, 16.0, 30.0),
            (Effort::Normal, true, 16.0, 240.0),
            (Effort::Quick, false, 2.0, 60.0),
        ] {
            let seconds = seconds(effort, is_gpu, cores);
            assert!((limit / 10.0..limit).contains(&seconds), "{effort:?}, {is_gpu}: {seconds} s");
        }
    }
}
