//! `subsweep bench`.

mod comparison;
mod scaling;

use std::time::Duration;

use anyhow::Result;
use subsweep::harness::{
    BenchOptions, Case, CopyRoof, Effort, LookBackCounts, Measurement, Outcome, RecordedCounts, Work,
    bench_cases, bench_group, scaling_bench_cases, textbook_bench_cases, tutorial_13_bench_cases,
};
use subsweep::headless::Gpu;
use subsweep::vk::Capabilities;

use crate::args::{BenchArgs, Common, Preset};
use crate::suite::{self, Suite, Tally};
use crate::words::Progress;
use comparison::{Comparison, TEXTBOOK, TUTORIAL_13};
use scaling::Scaling;

/// Measures devices.
pub fn run(args: &BenchArgs, common: &Common) -> Result<()> {
    suite::run(&args.suite, common, |suite, gpu| on_device(suite, gpu, args))
}

fn options(args: &BenchArgs) -> BenchOptions {
    let (warm_up_count, block_count, samples_per_block, budget) = match args.suite.effort() {
        Effort::Quick => (1, 2, 6, Duration::from_millis(400)),
        Effort::Normal => (2, 3, 10, Duration::from_secs(3)),
        Effort::Full => (3, 5, 20, Duration::from_secs(20)),
    };
    BenchOptions {
        warm_up_count,
        block_count,
        samples_per_block,
        min_sample: Duration::from_micros(200),
        budget,
        slow_down: 1.0 + args.slow_down / 100.0,
    }
}

/// Cases that are measured by turns: those that do the same to the same elements, as many as have room beside one another.
fn groups(cases: Vec<Case>) -> Vec<Vec<Case>> {
    /// Bytes of elements in one group. Each case has some arrays of them.
    const MAX_SIZE: u64 = 256 << 20;
    let mut groups: Vec<Vec<Case>> = Vec::new();
    for case in cases {
        let size = |case: &Case| case.count * case.element_size();
        let variants = case.variants();
        let fits = |group: &&mut Vec<Case>| {
            group[0].variants() == variants && group.iter().map(size).sum::<u64>() + size(&case) <= MAX_SIZE
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(case),
            None => groups.push(vec![case]),
        }
    }
    groups
}

/// What a preset asks, and what it has heard so far.
enum Answer {
    /// Which way is faster?
    Comparison(Comparison),
    /// How does time grow?
    Scaling(Scaling),
}

fn on_device(suite: &mut Suite, gpu: &Gpu, args: &BenchArgs) -> Result<Tally> {
    let effort = suite.effort();
    let (cases, mut answer) = match args.preset {
        None => (bench_cases(effort), None),
        Some(Preset::Textbook) => {
            (textbook_bench_cases(effort), Some(Answer::Comparison(Comparison::new(TEXTBOOK))))
        }
        Some(Preset::Tutorial13) => {
            (tutorial_13_bench_cases(effort), Some(Answer::Comparison(Comparison::new(TUTORIAL_13))))
        }
        Some(Preset::Scaling) => (scaling_bench_cases(effort), Some(Answer::Scaling(Scaling::default()))),
    };
    let cases = suite.select(cases)?;
    let options = options(args);
    let roof = CopyRoof::new(gpu)?;
    let clock =
        if gpu.has_timestamps() { "GPU time" } else { "wall-clock time: the queue has no timestamps" };
    suite.print(&format!("  {clock}; % of the speed of copying the elements in the same run\n"))?;
    let (mut tally, mut heading) = (Tally::default(), String::new());
    let progress = Progress::new(cases.len());
    for group in groups(cases) {
        progress.begin_all(&group[0].variants(), group.len());
        let lacking: Vec<_> = group.iter().map(|case| suite::lacking_memory(gpu, case)).collect();
        let able: Vec<Case> = group
            .iter()
            .zip(&lacking)
            .filter(|(_, lacking)| lacking.is_none())
            .map(|(c, _)| c.clone())
            .collect();
        let mut measured = bench_group(&roof, &able, &options)?.into_iter();
        for (case, lacking) in group.iter().zip(lacking) {
            let outcome = match lacking {
                Some(reason) => Err(Outcome::NotSupported(reason)),
                None => measured.next().expect("each able case has an end"),
            };
            match &mut answer {
                Some(Answer::Comparison(comparison)) => comparison.add(case, &outcome),
                Some(Answer::Scaling(scaling)) => scaling.add(case, &outcome),
                None => {
                    let new_heading = self::heading(case, gpu.capabilities());
                    let mut text = String::new();
                    if new_heading != heading {
                        text += &new_heading;
                        text += &columns();
                        heading = new_heading;
                    }
                    text += &match &outcome {
                        Ok(measurement) => {
                            let look_back = measurement.look_back.as_ref().map(look_back);
                            row(measurement) + &look_back.unwrap_or_default()
                        }
                        Err(outcome) => format!("  {:>COUNT_WIDTH$}  {outcome}\n", case.count),
                    };
                    progress.aside(|| suite.print(&text))?;
                }
            }
            match outcome {
                Ok(measurement) => {
                    tally.right += 1;
                    suite.device_report().measured.push(measurement);
                }
                Err(Outcome::NotSupported(_)) => tally.not_supported += 1,
                Err(Outcome::Fail(_) | Outcome::Pass) => tally.wrong += 1,
            }
        }
        suite.save()?;
    }
    drop(progress);
    match answer {
        Some(Answer::Comparison(comparison)) => suite.print(&comparison.to_string())?,
        Some(Answer::Scaling(scaling)) => suite.print(&scaling.to_string())?,
        None => {}
    }
    let Tally { right, wrong, not_supported } = tally;
    suite.print(&format!("\n  {right} measured, {wrong} wrong, {not_supported} not supported\n"))?;
    Ok(tally)
}

const COUNT_WIDTH: usize = 10;

/// The names over [`row`].
fn columns() -> String {
    format!(
        "  {:>COUNT_WIDTH$}  {:>7}  {:>7}  {:>6}  {:>7}  {:>6}  {:>8}  {:>10}  {:>8}  {:>7}\n",
        "elements",
        "median",
        "IQR",
        "elem/s",
        "bytes/s",
        "% copy",
        "copy B/s",
        "dispatches",
        "barriers",
        "samples"
    )
}

/// A measurement on one line.
fn row(measurement: &Measurement) -> String {
    let time = measurement.time;
    let spread = 100.0 * time.iqr_ns / time.median_ns;
    let [dispatches, barriers] = match measurement.recorded {
        Some(RecordedCounts { dispatches, barriers, .. }) => {
            [dispatches, barriers].map(|count| count.to_string())
        }
        None => [(); 2].map(|()| "-".to_owned()),
    };
    format!(
        "  {:>COUNT_WIDTH$}  {:>7}  {spread:>5.1} %  {:>6}  {:>7}  {:>6.1}  {:>8}  {dispatches:>10}  {barriers:>8}  {:>7}\n",
        measurement.element_count,
        duration(time.median_ns),
        scaled(measurement.elements_per_second),
        scaled(measurement.bytes_per_second),
        measurement.copy_percent,
        scaled(measurement.copy_bytes_per_second),
        measurement.samples_ns.len()
    )
}

/// What the tiles of a chained scan went through.
fn look_back(counts: &LookBackCounts) -> String {
    let LookBackCounts { look_backs, windows, longest, spins, fallbacks } = *counts;
    let mean = f64::from(windows) / f64::from(look_backs);
    format!(
        "  {:>COUNT_WIDTH$}   look-back: mean {mean:.1} windows, longest {longest}; {spins} spins, {fallbacks} fallbacks\n",
        ""
    )
}

/// What cases have in common that differ in size alone: the work, the input, and the policy in words.
fn heading(case: &Case, capabilities: &Capabilities) -> String {
    let policy = match &case.work {
        Work::Scan(scan) => scan.policy(capabilities).to_string(),
        Work::Sort(sort) => sort.policy(capabilities).to_string(),
        Work::SegmentedSort(sort) => sort.policy(capabilities).to_string(),
        Work::Gather(gather) => gather.policy(capabilities).to_string(),
    };
    format!("\n  {};input={}\n  {policy}\n", case.work, case.input)
}

/// Nanoseconds to three digits.
pub fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A rate to three digits, with the prefix that it needs.
fn scaled(rate: f64) -> String {
    let (value, prefix) = match rate {
        rate if rate < 1e6 => (rate / 1e3, "k"),
        rate if rate < 1e9 => (rate / 1e6, "M"),
        rate if rate < 1e12 => (rate / 1e9, "G"),
        rate => (rate / 1e12, "T"),
    };
    format!("{} {prefix}", three_digits(value))
}

fn three_digits(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_back_is_told_by_its_mean() {
        let counts = LookBackCounts { look_backs: 10, windows: 13, longest: 4, spins: 7, fallbacks: 0 };
        let text = look_back(&counts);
        assert!(text.ends_with("look-back: mean 1.3 windows, longest 4; 7 spins, 0 fallbacks\n"), "{text}");
    }

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        let durations = [(1.0, "1.00 ns"), (12_345.0, "12.3 µs"), (999e6, "999 ms"), (60e9, "60.0 s")];
        for (ns, text) in durations {
            assert_eq!(duration(ns), text);
        }
        for (rate, text) in [(500.0, "0.50 k"), (1.5e6, "1.50 M"), (98.76e9, "98.8 G"), (4.3e12, "4.30 T")] {
            assert_eq!(scaled(rate), text);
        }
    }
}
