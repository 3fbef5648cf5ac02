//! Long work: work that is split into submissions, and a wait that times out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use subsweep::ElementType;
use subsweep::Error;
use subsweep::ash::vk;
use subsweep::device::{Capabilities, Command, Trace};
use subsweep::headless::{Gpu, GpuOptions, WorkOptions};
use subsweep::sort::SortConfig;
use subsweep_hazards::HazardChecker;
use subsweep_tool::harness::{BufferLayout, Case, Effort, Outcome, Workload, verify_case, verify_cases};

use super::cases::{complaint, expect_no_findings};
use super::children::is_full;
use super::passes::rig::random;
use super::rows::DriverRow;

/// A wait that times out; on rows with host trials also split work, since splitting does not depend on the driver.
pub fn trials(gpu: &Arc<Gpu>, row: &DriverRow) -> Vec<Trial> {
    let is_validated = gpu.is_validated();
    let has_every_policy = is_full() && row.has_products();
    let no_end =
        Trial::test("long work: a wait that times out abandons the device", move || no_end(is_validated));
    let cut = Trial::test("long work: work split into many submissions gives right results", move || {
        many_submissions(is_validated, has_every_policy)
    });
    let interrupted = Trial::test("long work: interrupted work leaves the device usable", move || {
        interrupted_work(is_validated)
    });
    let of_host = row.has_host_trials().then_some([cut, interrupted]);
    of_host.into_iter().flatten().chain([no_end]).collect()
}

/// Counts the submissions that end within a recording, and checks for hazards across submissions.
#[derive(Default)]
struct SubmissionTrace {
    hazards: HazardChecker,
    cuts: AtomicU32,
    cut_dispatches: AtomicU32,
    since_dispatch: AtomicU32,
}

impl Trace for SubmissionTrace {
    fn record(&self, command_buffer: vk::CommandBuffer, command: &Command<'_>) {
        match command {
            Command::Dispatch { .. } => self.since_dispatch.store(0, Ordering::Relaxed),
            Command::Submit => {
                self.cuts.fetch_add(1, Ordering::Relaxed);
                // A second submission without a new dispatch is within a dispatch.
                if self.since_dispatch.fetch_add(1, Ordering::Relaxed) == 1 {
                    self.cut_dispatches.fetch_add(1, Ordering::Relaxed);
                }
            }
            _ => {}
        }
        self.hazards.record(command_buffer, command);
    }
}

fn many_submissions(validation: bool, has_every_policy: bool) -> Result<(), Failed> {
    let watch = Arc::new(SubmissionTrace::default());
    let trace: Arc<dyn Trace> = watch.clone();
    let work = WorkOptions { trace: Some(trace), submission_limit: Duration::ZERO, ..WorkOptions::default() };
    let gpu = Gpu::open(GpuOptions { validation, work, ..GpuOptions::default() })?;
    let cases = many_submissions_cases(gpu.capabilities(), has_every_policy);
    for case in &cases {
        match verify_case(&gpu, case)? {
            Outcome::Pass => {}
            outcome => return Err(format!("{}: {outcome}", case.id()).into()),
        }
        expect_no_findings(&gpu, &case.id())?;
        assert_eq!(watch.hazards.take_findings(), [], "{}", case.id());
    }
    let (cuts, cut_dispatches) =
        (watch.cuts.load(Ordering::Relaxed), watch.cut_dispatches.load(Ordering::Relaxed));
    assert!(cuts > 100 && cut_dispatches > 10, "{cuts} cuts, {cut_dispatches} dispatches in parts");

    // The same work in one submission, without a time limit.
    let case = cases.last().ok_or("no case")?;
    let time_in_many = gpu_time(&gpu, case)?;
    let cuts = watch.cuts.load(Ordering::Relaxed);
    let submission_limit = Duration::from_secs(3600);
    let work = WorkOptions { trace: Some(watch.clone()), submission_limit, ..WorkOptions::default() };
    let gpu = Gpu::open(GpuOptions { validation, work, ..GpuOptions::default() })?;
    // The time of all submissions counts: the last alone would be a small part of the total.
    let time_in_one = gpu_time(&gpu, case)?;
    assert!(4.0 * time_in_many > time_in_one, "{time_in_many} ns in many, {time_in_one} ns in one");
    let mut keys = random(1, 65_537);
    gpu.sort(SortConfig::keys(ElementType::U32), &mut keys)?;
    assert!(keys.is_sorted());
    assert_eq!(watch.cuts.load(Ordering::Relaxed), cuts);
    expect_no_findings(&gpu, "work in one")
}

/// A sort that is interrupted after each of its submissions in turn, until one completes.
fn interrupted_work(validation: bool) -> Result<(), Failed> {
    let left = Arc::new(AtomicU32::new(0));
    let countdown = Arc::clone(&left);
    let work = WorkOptions {
        submission_limit: Duration::ZERO,
        interrupted: Some(Arc::new(move || countdown.fetch_sub(1, Ordering::Relaxed) == 1)),
        ..WorkOptions::default()
    };
    let gpu = Gpu::open(GpuOptions { validation, work, ..GpuOptions::default() })?;
    let unsorted = random(1, 65_537);
    for submissions in 1.. {
        left.store(submissions, Ordering::Relaxed);
        let mut keys = unsorted.clone();
        match gpu.sort(SortConfig::keys(ElementType::U32), &mut keys) {
            Ok(()) => {
                assert!(keys.is_sorted());
                assert!(submissions > 3, "{submissions} submissions are no long work");
                return expect_no_findings(&gpu, "interrupted work");
            }
            Err(Error::Interrupted) => assert_eq!(keys, unsorted, "after {submissions} submissions"),
            Err(error) => return Err(error.into()),
        }
    }
    unreachable!()
}

/// Every primitive, at sizes that take several submissions: with every policy, or at the largest counts that the host
/// knows, since indirect dispatches are not split.
fn many_submissions_cases(capabilities: &Capabilities, has_every_policy: bool) -> Vec<Case> {
    if has_every_policy {
        let full = verify_cases(Effort::Full, capabilities).into_iter();
        return full.filter(|case| case.count == 99_991).collect();
    }
    let mut by_primitive = BTreeMap::<String, Vec<Case>>::new();
    for case in verify_cases(Effort::Quick, capabilities) {
        let id = case.id();
        if !id.contains(";count=") {
            let primitive = id.split(':').next().unwrap_or_default();
            by_primitive.entry(primitive.to_owned()).or_default().push(case);
        }
    }
    assert_eq!(by_primitive.len(), super::PRIMITIVES.len(), "{:?}", by_primitive.keys());
    let largest = |mut cases: Vec<Case>| {
        cases.sort_by_key(|case| std::cmp::Reverse(case.count));
        cases.truncate(4);
        cases
    };
    by_primitive.into_values().flat_map(largest).collect()
}

/// The least GPU time of several runs: whatever runs beside them only adds, and the first warms the caches.
fn gpu_time(gpu: &Gpu, case: &Case) -> Result<f64, Failed> {
    let workload = Workload::new(gpu, case, BufferLayout::Guarded)?;
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        workload.restore()?;
        least = workload.run()?.ok_or("the device has no timestamps")?.min(least);
    }
    Ok(least)
}

fn no_end(validation: bool) -> Result<(), Failed> {
    let work = WorkOptions { wait_limit: Duration::ZERO, ..WorkOptions::default() };
    let gpu = Gpu::open(GpuOptions { validation, work, ..GpuOptions::default() })?;
    let input = random(2, 1 << 20);
    let mut keys = input.clone();
    let expected = Error::TimedOut { during: "vkWaitForFences", limit: Duration::ZERO };
    // A short upload may end before its wait; a long sort does not.
    let ended = (0..100).find_map(|_| gpu.sort(SortConfig::keys(ElementType::U32), &mut keys).err());
    assert_eq!(ended, Some(expected.clone()));
    assert!(keys == input, "the caller's keys were changed");
    // An abandoned device refuses all further work with the same error.
    assert_eq!(gpu.sort(SortConfig::keys(ElementType::U32), &mut keys), Err(expected));
    let complaint = complaint(gpu.validation_messages());
    // The device is still busy, on threads of this process with a CPU driver. SwiftShader crashes if the process exits
    // first, as it does after its last trial. SAFETY: no thread submits to an abandoned device.
    unsafe { gpu.device().raw().device_wait_idle() }?;
    match complaint {
        None => Ok(()),
        Some(message) => Err(format!("validation: {message}").into()),
    }
}
