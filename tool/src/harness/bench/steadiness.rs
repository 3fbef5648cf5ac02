//! Warm clocks and steady blocks: the rules of measuring, apart from any device.
//!
//! A GPU lowers its clock while it idles, and takes some 100 ms of work to raise it again. A time of a cold clock is a
//! wrong result. So the copy kernel runs until its rate is steady before a block of samples, and copies before and after
//! the samples show whether the clock has changed meanwhile.
//!
//! ```text
//!   │ warm up │ copy │ samples of each case, in turns │ copy │   a block, taken once more if its copies differ
//! ```
//!
//! Source: `nvbench` of NVIDIA, which discards measurements of a throttled clock.

use std::time::Duration;

use crate::harness::statistics;

/// A device to measure. Tests simulate one.
pub trait Meter {
    /// Errors of a run.
    type Error;

    /// Time on the host since some instant.
    fn now(&self) -> Duration;

    /// Runs a subject `run_count` times in one submission. Returns the nanoseconds of each run; none for a case that is no
    /// longer measured.
    ///
    /// # Errors
    /// Errors of recording and submitting.
    fn run(&mut self, subject: Subject, run_count: u32) -> Result<Vec<f64>, Self::Error>;
}

/// Work that is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A copy whose size does not depend on the cases.
    WarmUp,
    /// A copy of as many bytes as the elements of a case.
    Copy,
    /// A case, by index.
    Case(usize),
}

/// A device that idles longer has a cold clock.
const MAX_IDLE: Duration = Duration::from_millis(20);
/// Length of a window of the warm-up.
const WINDOW: Duration = Duration::from_millis(30);
/// The rate is steady if it differs by at most `MAX_WINDOW_SPREAD` in this many windows.
const WINDOW_COUNT: usize = 3;
const MAX_WINDOW_SPREAD: f64 = 0.02;
/// Copies of a cold clock for so long at least: some stay low for longer than [`WINDOW_COUNT`] windows before they rise.
const MIN_WARM_UP: Duration = Duration::from_millis(150);
/// Copies before and after a block, and copies of other blocks, differ by at most this much.
const MAX_COPY_SPREAD: f64 = 0.05;
/// Blocks of cases that are taken once more.
const MAX_RETAKES: u32 = 3;
/// The part of all blocks that may be disturbed in a steady case.
const MAX_DISTURBED: f64 = 0.2;
/// Runs that show how many make a sample. The least counts: a delayed run would make samples too short.
const TRIAL_COUNT: usize = 3;

/// The clock of a device, by what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Whether it falls while the device idles. The clock of a CPU driver does not: its processor works for the host.
    falls: bool,
    /// Time limit of a warm-up.
    max_warm_up: Duration,
    /// End of the last work, if it left the clock warm.
    warm_until: Option<Duration>,
    /// The least time of a warm-up copy so far, nanoseconds, while the clock comes near it.
    least_ns: f64,
    /// Warm-up copies of a submission.
    copy_count: u32,
}

impl Clock {
    /// A cold clock; `falls` says whether it falls while the device idles, as a GPU's clock does.
    pub fn new(falls: bool) -> Self {
        let max_warm_up = if falls { Duration::from_secs(3) } else { Duration::from_millis(300) };
        Self { falls, max_warm_up, warm_until: None, least_ns: f64::INFINITY, copy_count: 1 }
    }

    fn is_warm(&self, now: Duration) -> bool {
        let is_idle = |until| self.falls && now.saturating_sub(until) > MAX_IDLE;
        self.warm_until.is_some_and(|until| !is_idle(until))
    }

    /// Runs copies until their rate is steady and as high as it was, or for the limit, unless the clock is warm.
    ///
    /// # Errors
    /// Errors of `meter`.
    pub fn warm_up<M: Meter>(&mut self, meter: &mut M) -> Result<(), M::Error> {
        let start = meter.now();
        if self.is_warm(start) {
            return Ok(());
        }
        let min_warm_up = MIN_WARM_UP.min(self.max_warm_up);
        let mut windows: Vec<f64> = Vec::new();
        loop {
            let elapsed = meter.now().saturating_sub(start);
            let is_over = elapsed >= self.max_warm_up;
            let is_steady = windows.last_chunk::<WINDOW_COUNT>().is_some_and(|last| {
                spread(last) <= MAX_WINDOW_SPREAD
                    && spread(&[last[WINDOW_COUNT - 1], self.least_ns]) <= MAX_COPY_SPREAD
            });
            if is_over || is_steady && elapsed >= min_warm_up {
                if let (true, Some(last)) = (is_over, windows.last()) {
                    // A clock that has throttled for good is as warm as it gets.
                    self.least_ns = *last;
                }
                self.warm_until = Some(meter.now());
                return Ok(());
            }
            let time_ns = self.window(meter)?;
            self.least_ns = self.least_ns.min(time_ns);
            windows.push(time_ns);
        }
    }

    /// Forgets that the clock is warm. The clock of a CPU driver stays warm: another program has disturbed it, and
    /// warming would only take longer than the block.
    fn distrust(&mut self) {
        if self.falls {
            self.warm_until = None;
        }
    }

    /// Mean time of a copy in a window, nanoseconds.
    fn window<M: Meter>(&mut self, meter: &mut M) -> Result<f64, M::Error> {
        let start = meter.now();
        let (mut sum_ns, mut count) = (0.0, 0);
        while meter.now().saturating_sub(start) < WINDOW {
            let before = meter.now();
            let times = meter.run(Subject::WarmUp, self.copy_count)?;
            sum_ns += times.iter().sum::<f64>();
            count += times.len();
            // Several submissions a window.
            if meter.now().saturating_sub(before) < WINDOW / 8 {
                self.copy_count = (2 * self.copy_count).min(super::BenchOptions::MAX_RUNS_PER_SAMPLE);
            }
        }
        Ok(sum_ns / count.max(1) as f64)
    }

    /// Runs a subject, and notes the end of the work.
    fn run<M: Meter>(
        &mut self,
        meter: &mut M,
        subject: Subject,
        run_count: u32,
    ) -> Result<Vec<f64>, M::Error> {
        let times = meter.run(subject, run_count)?;
        if self.warm_until.is_some() {
            self.warm_until = Some(meter.now());
        }
        Ok(times)
    }

    /// The median of `run_count` runs, nanoseconds; `None` for a case that is no longer measured.
    fn sample<M: Meter>(
        &mut self,
        meter: &mut M,
        subject: Subject,
        run_count: u32,
    ) -> Result<Option<f64>, M::Error> {
        let mut times = self.run(meter, subject, run_count)?;
        Ok((!times.is_empty()).then(|| statistics::median(&mut times)))
    }
}

/// Number and length of the samples of a block.
#[derive(Debug, Clone, Copy)]
pub struct BlockPlan {
    /// Minimum number of samples of each case.
    pub least: u32,
    /// Maximum number of samples of each case.
    pub most: u32,
    /// Time limit after which no more than the least are taken.
    pub budget: Duration,
    /// Minimum time of a sample: the runs of shorter work are repeated.
    pub min_sample: Duration,
    /// Maximum number of runs of a sample.
    pub max_runs: u32,
}

/// Samples of each case, with copies before and after them.
#[derive(Debug)]
pub struct Block {
    /// Medians of the copies before and after the samples, nanoseconds.
    pub copies_ns: [f64; 2],
    /// Samples of each case, nanoseconds.
    pub samples_ns: Vec<Vec<f64>>,
}

/// What is known of cases that are measured together.
#[derive(Debug)]
pub struct Course {
    /// The number of runs of a sample of the copy, once it is known.
    pub copy_runs: Option<u32>,
    /// The number of runs of a sample of each case, once it is known.
    pub case_runs: Vec<Option<u32>>,
    /// Blocks that may still be taken once more. On a busy machine it would be all of them, to no avail.
    retakes_left: u32,
}

impl Course {
    /// The course of cases of which no block was taken.
    pub fn new(case_count: usize) -> Self {
        Self { copy_runs: None, case_runs: vec![None; case_count], retakes_left: MAX_RETAKES }
    }

    fn get(&mut self, subject: Subject) -> &mut Option<u32> {
        match subject {
            Subject::Case(index) => &mut self.case_runs[index],
            Subject::WarmUp | Subject::Copy => &mut self.copy_runs,
        }
    }
}

impl BlockPlan {
    /// Takes a block with a warm clock. If its copies differ, takes it once more.
    ///
    /// # Errors
    /// Errors of `meter`.
    pub fn take<M: Meter>(
        &self,
        clock: &mut Clock,
        meter: &mut M,
        course: &mut Course,
    ) -> Result<Block, M::Error> {
        let block = self.take_once(clock, meter, course)?;
        if spread(&block.copies_ns) <= MAX_COPY_SPREAD || course.retakes_left == 0 {
            return Ok(block);
        }
        course.retakes_left -= 1;
        clock.distrust();
        self.take_once(clock, meter, course)
    }

    fn take_once<M: Meter>(
        &self,
        clock: &mut Clock,
        meter: &mut M,
        course: &mut Course,
    ) -> Result<Block, M::Error> {
        clock.warm_up(meter)?;
        let cases = (0..course.case_runs.len()).map(Subject::Case);
        let subjects: Vec<_> = std::iter::once(Subject::Copy).chain(cases).collect();
        for subject in &subjects {
            if course.get(*subject).is_none() {
                *course.get(*subject) = Some(self.run_count(clock, meter, *subject)?);
            }
        }
        let mut sample = |clock: &mut Clock, meter: &mut M, subject| {
            let run_count = course.get(subject).unwrap_or(1);
            clock.sample(meter, subject, run_count)
        };
        let mut samples_ns = vec![Vec::new(); subjects.len() - 1];
        let before = sample(clock, meter, Subject::Copy)?.unwrap_or_default();
        let start = meter.now();
        let mut length = 0;
        while length < self.least || length < self.most && meter.now().saturating_sub(start) < self.budget {
            for (subject, samples_ns) in subjects[1..].iter().zip(&mut samples_ns) {
                samples_ns.extend(sample(clock, meter, *subject)?);
            }
            length += 1;
        }
        let after = sample(clock, meter, Subject::Copy)?.unwrap_or_default();
        Ok(Block { copies_ns: [before, after], samples_ns })
    }

    /// The number of runs of a sample.
    fn run_count<M: Meter>(
        &self,
        clock: &mut Clock,
        meter: &mut M,
        subject: Subject,
    ) -> Result<u32, M::Error> {
        let min_ns = self.min_sample.as_nanos() as f64;
        let mut least_ns = f64::INFINITY;
        for _ in 0..TRIAL_COUNT {
            let times = clock.run(meter, subject, 1)?;
            least_ns = times.into_iter().fold(least_ns, f64::min);
            // One long run is a sample by itself, even if it was delayed.
            if least_ns > 10.0 * min_ns {
                break;
            }
        }
        Ok(((min_ns / least_ns.max(1.0)).ceil() as u32).clamp(1, self.max_runs))
    }
}

/// Whether blocks with these copies, two each, show a steady clock: few blocks are disturbed, and none has faster copies than
/// most, since a disturbance only slows. A block is disturbed if its copies differ from each other, or are slower than
/// the copies of most blocks.
pub fn is_steady(copies_ns: &[f64]) -> bool {
    let blocks = || copies_ns.chunks_exact(2);
    let mean = |copies: &[f64]| (copies[0] + copies[1]) / 2.0;
    let mut means: Vec<_> = blocks().map(mean).collect();
    if means.is_empty() {
        return false;
    }
    let median = statistics::median(&mut means);
    let has_faster = means.iter().any(|mean| median / mean - 1.0 > MAX_COPY_SPREAD);
    let is_disturbed =
        |copies: &&[f64]| spread(copies) > MAX_COPY_SPREAD || mean(copies) / median - 1.0 > MAX_COPY_SPREAD;
    let disturbed = blocks().filter(is_disturbed).count();
    !has_faster && disturbed as f64 <= MAX_DISTURBED * means.len() as f64
}

/// The greatest of `times` over the least, less 1.
fn spread(times: &[f64]) -> f64 {
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = times.iter().copied().fold(0.0, f64::max);
    greatest / least.max(f64::MIN_POSITIVE) - 1.0
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The frequency of a simulated clock, in MHz, that is warm, by the time in ms.
    type Frequency = fn(f64) -> f64;

    const LOW: f64 = 345.0;
    const HIGH: f64 = 1980.0;
    /// Work for which the clock stays low, work that raises it to the highest frequency then, and rest that lowers it, in ms.
    const FLAT_MS: f64 = 110.0;
    const RISE_MS: f64 = 100.0;
    const FALL_MS: f64 = 50.0;
    /// Cycles of a copy and of a case at [`HIGH`]: 60 µs and 90 µs.
    const COPY_US: f64 = 60.0;
    const CASE_US: f64 = 90.0;

    /// A GPU whose clock follows its load.
    struct Simulated {
        now_ms: f64,
        /// How far the clock has risen, from 0 to 1; below 0 before it rises.
        warmth: f64,
        /// [`Self::warmth`] after rest.
        cold: f64,
        frequency: Frequency,
    }

    impl Simulated {
        fn new(frequency: Frequency) -> Self {
            Self { now_ms: 0.0, warmth: 0.0, cold: 0.0, frequency }
        }

        /// A clock that stays low for a while.
        fn slow_to_rise(frequency: Frequency) -> Self {
            let cold = -FLAT_MS / RISE_MS;
            Self { warmth: cold, cold, ..Self::new(frequency) }
        }

        fn mhz(&self) -> f64 {
            LOW + ((self.frequency)(self.now_ms) - LOW) * self.warmth.max(0.0)
        }

        fn rest(&mut self, ms: f64) {
            self.now_ms += ms;
            if ms > FALL_MS {
                self.warmth = self.cold;
            }
        }

        /// Works for some µs at [`HIGH`]; returns nanoseconds.
        fn work(&mut self, us: f64) -> f64 {
            let (start_ms, mut cycles) = (self.now_ms, us * HIGH);
            while cycles > 0.0 {
                let step_us = (cycles / self.mhz()).min(20.0);
                cycles -= step_us * self.mhz();
                // The last step ends at no cycles, but for rounding.
                if cycles < 1e-3 {
                    cycles = 0.0;
                }
                self.now_ms += step_us / 1e3;
                self.warmth = (self.warmth + step_us / 1e3 / RISE_MS).min(1.0);
            }
            (self.now_ms - start_ms) * 1e6
        }
    }

    impl Meter for Simulated {
        type Error = Infallible;

        fn now(&self) -> Duration {
            Duration::from_secs_f64(self.now_ms / 1e3)
        }

        fn run(&mut self, subject: Subject, run_count: u32) -> Result<Vec<f64>, Infallible> {
            // The host records and submits.
            self.rest(0.05);
            let us = if matches!(subject, Subject::Case(_)) { CASE_US } else { COPY_US };
            Ok((0..run_count).map(|_| self.work(us)).collect())
        }
    }

    /// The median of ten blocks over the true time, and whether they are steady. `rest_ms` pass on the host between blocks.
    fn measured(frequency: Frequency, rest_ms: f64) -> (f64, bool) {
        measured_on(Simulated::new(frequency), rest_ms)
    }

    fn measured_on(mut device: Simulated, rest_ms: f64) -> (f64, bool) {
        let plan = BlockPlan {
            least: 1,
            most: 3,
            budget: Duration::from_secs(1),
            min_sample: Duration::from_millis(2),
            max_runs: 64,
        };
        let (mut clock, mut course) = (Clock::new(true), Course::new(1));
        let (mut copies, mut samples) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            let Ok(block) = plan.take(&mut clock, &mut device, &mut course);
            copies.extend(block.copies_ns);
            samples.extend(block.samples_ns[0].iter().copied());
            device.rest(rest_ms);
        }
        (statistics::median(&mut samples) / (CASE_US * 1e3), is_steady(&copies))
    }

    fn is_true(ratio: f64) -> bool {
        (ratio - 1.0).abs() < 0.02
    }

    #[test]
    fn a_sleeping_clock_is_woken_before_each_block() {
        for rest_ms in [0.0, 15.0, 30.0, 60.0, 400.0] {
            let (ratio, is_steady) = measured(|_| HIGH, rest_ms);
            assert!(is_true(ratio) && is_steady, "{rest_ms} ms: {ratio}, {is_steady}");
            let (ratio, is_steady) = measured_on(Simulated::slow_to_rise(|_| HIGH), rest_ms);
            assert!(is_true(ratio) && is_steady, "slow to rise, {rest_ms} ms: {ratio}, {is_steady}");
        }
    }

    #[test]
    fn a_clock_that_throttles_is_true_or_unsteady() {
        // After the first block; from the middle on; in the last blocks; for one block.
        let throttled: [(Frequency, f64); 4] = [
            (|ms| if ms > 400.0 { 1500.0 } else { HIGH }, 200.0),
            (|ms| if ms > 1500.0 { 1500.0 } else { HIGH }, 200.0),
            (|ms| if ms > 2300.0 { 1500.0 } else { HIGH }, 200.0),
            (|ms| if (1000.0..1200.0).contains(&ms) { 1200.0 } else { HIGH }, 200.0),
        ];
        let mut unsteady = 0;
        for (frequency, rest_ms) in throttled {
            let (ratio, is_steady) = measured(frequency, rest_ms);
            assert!(is_true(ratio) || !is_steady, "{ratio}");
            unsteady += u32::from(!is_steady);
        }
        assert!(unsteady >= 2, "{unsteady}: the first are fast at first, and slow for long");
    }

    #[test]
    fn a_clock_that_never_settles_is_unsteady() {
        for rest_ms in [0.0, 200.0] {
            let (ratio, is_steady) = measured(|ms| 1300.0 + 600.0 * (ms / 17.0).sin(), rest_ms);
            assert!(!is_steady, "{ratio}");
        }
    }

    #[test]
    fn warming_has_a_limit() {
        let mut device = Simulated::new(|ms| 1300.0 + 600.0 * (ms / 17.0).sin());
        let Ok(()) = Clock::new(true).warm_up(&mut device);
        assert!((3000.0..3100.0).contains(&device.now_ms), "{}", device.now_ms);
        let mut steady = Simulated::new(|_| HIGH);
        let Ok(()) = Clock::new(true).warm_up(&mut steady);
        assert!((150.0..400.0).contains(&steady.now_ms), "{}", steady.now_ms);
    }

    #[test]
    fn a_clock_is_warmed_after_rest_alone() {
        let mut device = Simulated::new(|_| HIGH);
        let mut clock = Clock::new(true);
        let Ok(()) = clock.warm_up(&mut device);
        for (rest_ms, is_warmed) in [(0.0, false), (19.0, false), (21.0, true)] {
            let before_ms = device.now_ms;
            device.rest(rest_ms);
            let Ok(()) = clock.warm_up(&mut device);
            assert_eq!(device.now_ms - before_ms > 80.0, is_warmed, "{rest_ms} ms");
        }
        let mut processor = Clock::new(false);
        let Ok(()) = processor.warm_up(&mut device);
        device.rest(1e4);
        for (clock, is_warmed) in [(&mut processor, false), (&mut clock, true)] {
            let before_ms = device.now_ms;
            clock.distrust();
            let Ok(()) = clock.warm_up(&mut device);
            assert_eq!(device.now_ms > before_ms, is_warmed, "a block that is taken once more");
        }
    }

    /// A device whose runs take given times.
    struct Scripted(Vec<f64>);

    impl Meter for Scripted {
        type Error = &'static str;

        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn run(&mut self, _: Subject, run_count: u32) -> Result<Vec<f64>, &'static str> {
            let times = self.0.split_off(self.0.len().checked_sub(run_count as usize).ok_or("no more runs")?);
            Ok(times)
        }
    }

    const ONE_SAMPLE: BlockPlan = BlockPlan {
        least: 1,
        most: 1,
        budget: Duration::ZERO,
        min_sample: Duration::from_millis(2),
        max_runs: 64,
    };

    #[test]
    fn a_disturbed_block_is_taken_once_more() {
        let mut clock = Clock { warm_until: Some(Duration::ZERO), ..Clock::new(false) };
        let mut course = Course::new(1);
        // A trial of each, then copy, case and copy of two blocks; taken from the end.
        let mut device = Scripted([100e6, 51e6, 100e6, 200e6, 70e6, 100e6, 70e6, 100e6].to_vec());
        let block = ONE_SAMPLE.take(&mut clock, &mut device, &mut course).unwrap();
        assert_eq!((block.copies_ns, &block.samples_ns[0][..]), ([100e6; 2], &[51e6][..]));
        assert!(device.0.is_empty());
    }

    #[test]
    fn a_delayed_run_does_not_shorten_samples() {
        // Taken from the end.
        let run_count = |times: &[f64]| {
            let mut device = Scripted(times.to_vec());
            let count = ONE_SAMPLE.run_count(&mut Clock::new(true), &mut device, Subject::Copy);
            count.map(|count| (count, device.0.len()))
        };
        assert_eq!(run_count(&[0.4e6, 0.3e6, 1.9e6]), Ok((7, 0)));
        assert_eq!(run_count(&[0.4e6, 0.3e6, 2.1e6]), Ok((7, 0)));
        assert_eq!(run_count(&[1.0, 1.0, 20.1e6]), Ok((1, 2)));
        assert_eq!(run_count(&[0.0; 3]), Ok((64, 0)));
        assert_eq!(run_count(&[]), Err("no more runs"));
    }

    #[test]
    fn few_disturbed_blocks_leave_a_case_steady() {
        let blocks = |disturbed: usize| {
            let mut copies = [100.0, 101.0].repeat(10 - disturbed);
            copies.extend([100.0, 108.0].repeat(disturbed));
            copies
        };
        assert!(is_steady(&blocks(0)) && is_steady(&blocks(2)) && !is_steady(&blocks(3)));
        let mut faster = blocks(0);
        faster[..2].copy_from_slice(&[80.0, 80.0]);
        assert!(!is_steady(&faster));
        assert!(!is_steady(&[100.0, 100.0, 100.0, 100.0, 120.0, 120.0, 120.0, 120.0]));
        assert!(!is_steady(&[]) && is_steady(&[50.0, 51.0]));
    }
}
