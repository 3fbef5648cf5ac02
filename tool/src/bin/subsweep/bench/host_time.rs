//! `bench --dry-run`: the cases, their bytes, and the time that the host will take.

use std::collections::HashSet;

use anyhow::Result;
use subsweep::device::Capabilities;
use subsweep_tool::harness::units::scaled;
use subsweep_tool::harness::{BenchOptions, Case};

use super::BenchArgs;
use crate::args::Common;
use crate::suite;
use crate::terminal::counted;

/// Nanoseconds for a byte of a case's elements.
mod ns_of_byte {
    use subsweep_tool::harness::Work;

    /// Input, operands and expected result, once for all cases of a work: of one core, of an AMD EPYC at 4 Mi elements.
    pub fn expected(work: &Work) -> f64 {
        match work {
            Work::Search(_) => 51.0,
            Work::Merge(_) => 29.0,
            Work::Sort(_) | Work::SegmentedSort(_) | Work::StructureSort(_) => 13.0,
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
/// Cores that are busy even if a batch has one work: oracles that sort or search take all, others one.
const MIN_BUSY_CORES: f64 = 4.0;
/// Emptying the caches for a sample, a copy or a trial, nanoseconds.
const COLD_NS_ON_GPU: f64 = 10e6;
const COLD_NS_ON_CPU: f64 = 90e6;
/// Copies and trials of a case.
const COPIES: f64 = 25.0;
/// The part of a case's budget that its samples take.
const SHARE_ON_GPU: f64 = 0.1;
const SHARE_ON_CPU: f64 = 0.75;

/// Expected time of a case, nanoseconds: of what the host does, and of the samples.
fn expected_ns(
    case: &Case,
    is_first_of_work: bool,
    options: &BenchOptions,
    cores: f64,
    capabilities: &Capabilities,
) -> [f64; 2] {
    let size = case.size() as f64;
    // A core computes a work of the batch.
    let works = super::batch_size(capabilities) as f64 / size.max(1.0);
    let busy_cores = cores.min(works.max(MIN_BUSY_CORES));
    let expected = if is_first_of_work { ns_of_byte::expected(&case.work) / busy_cores } else { 0.0 };
    let run_ns = size * ns_of_byte::END_TO_END;
    // No run begins after the limit.
    let max_ns = BenchOptions::MAX_END_TO_END.as_nanos() as f64 + run_ns;
    let end_to_end_ns = (f64::from(options.end_to_end_count) * run_ns).min(max_ns);
    let budget_ns = options.budget.as_nanos() as f64;
    let samples = f64::from(options.block_count * options.samples_per_block);
    let least_ns = samples * options.min_sample.as_nanos() as f64;
    let (samples_ns, cold_ns) = match capabilities.is_cpu() {
        true => (SHARE_ON_CPU * budget_ns, COLD_NS_ON_CPU),
        false => (least_ns.min(SHARE_ON_GPU * budget_ns), COLD_NS_ON_GPU),
    };
    let cold_ns = if options.has_cold_cache { cold_ns * (samples + COPIES) } else { 0.0 };
    [NS_OF_CASE + size * (expected + ns_of_byte::UPLOADS) + end_to_end_ns, samples_ns + cold_ns]
}

/// [`expected_ns`] of each case.
fn all_ns(cases: &[Case], options: &BenchOptions, cores: f64, capabilities: &Capabilities) -> Vec<[f64; 2]> {
    let mut seen = HashSet::new();
    let times = cases
        .iter()
        .map(|case| expected_ns(case, seen.insert(case.variants()), options, cores, capabilities));
    times.collect()
}

/// Seconds of all cases.
fn sum(times_ns: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|index| times_ns.iter().map(|time| time[index]).sum::<f64>() / 1e9)
}

/// Prints the cases of each device.
///
/// # Errors
/// There is no suitable device, or no such case.
pub fn print(args: &BenchArgs, common: &Common) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let options = args.options(args.suite.cases.effort());
    let cases = |effort, capabilities: &Capabilities| args.cases(effort, capabilities);
    suite::list(&args.suite.cases, &[], common, cases, |cases, capabilities| {
        let mut text = format!("{:>8}  {:>8}  case\n", "bytes", "host");
        let times = all_ns(cases, &options, cores, capabilities);
        for (case, [host_ns, _]) in cases.iter().zip(&times) {
            text += &format!("{:>8}  {:>6.2} s  {}\n", scaled(case.size() as f64), host_ns / 1e9, case.id());
        }
        let size: u64 = cases.iter().map(Case::size).sum();
        let [host, device] = sum(&times);
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
    use subsweep_tool::harness::{BenchScale, Effort, bench_cases};

    use super::*;

    #[test]
    fn expected_times_are_within_the_promise() {
        let [mut h200, mut cpu] = [(); 2].map(|()| Capabilities::default());
        h200.largest_heap_size = 150_754_820_096;
        cpu.identity.device_type = subsweep::ash::vk::PhysicalDeviceType::CPU;
        for (capabilities, cores, effort, limit) in [
            (&h200, 16.0, Effort::Quick, 30.0),
            (&h200, 16.0, Effort::Normal, 240.0),
            (&cpu, 2.0, Effort::Quick, 60.0),
        ] {
            let cases = bench_cases(BenchScale::new(effort, capabilities));
            let times = all_ns(&cases, &super::super::options(effort), cores, capabilities);
            let seconds = sum(&times).iter().sum::<f64>();
            assert!((limit / 10.0..limit).contains(&seconds), "{effort:?}, {cores} cores: {seconds} s");
        }
    }
}
