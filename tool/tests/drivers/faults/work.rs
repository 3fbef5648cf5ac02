//! The phases: pieces of work with the library, each of which checks the caller's data itself.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use libtest_mimic::Failed;
use subsweep::Result;
use subsweep::device::Capabilities;
use subsweep::headless::{DeviceSelector, Gpu, Instance, WorkOptions};
use subsweep_tool::harness::{self, BufferLayout, Effort, PolicyName, Workload, verify_cases};
use subsweep_tool::reference::oracle;

use super::super::PRIMITIVES;
use super::super::cases::complaint;
use super::super::passes::rig::random;
use super::super::sparse;
use super::shim;

/// A kind of work.
pub struct Phase {
    pub name: &'static str,
    /// Whether the work runs once before a fault, so that plans and memory exist.
    is_warm: bool,
    submission_limit: Duration,
    /// Reduces the device's limits.
    limit: fn(&mut Capabilities),
    /// Runs the work and returns its result; fails if the caller's data is wrong for that result.
    pub work: Work,
}

type Work = fn(&Opened) -> Result<Result<()>, Failed>;

/// Submission limits that split nothing, and everything. A limit between them depends on the device's speed.
pub const WHOLE: Duration = Duration::from_secs(3600);
pub const SPLIT: Duration = Duration::ZERO;

pub const fn cold(name: &'static str, work: Work) -> Phase {
    Phase { name, is_warm: false, submission_limit: WHOLE, limit: |_| {}, work }
}

pub const fn warm(name: &'static str, submission_limit: Duration, work: Work) -> Phase {
    Phase { name, is_warm: true, submission_limit, limit: |_| {}, work }
}

/// Work of no primitive.
const OTHERS: &[Phase] = &[
    cold("opening", opening),
    cold("allocating", allocating),
    cold("reading the pipeline cache", |opened| Ok(opened.gpu.device().pipeline_cache_data().map(drop))),
    warm("copying in chunks", WHOLE, copying),
    warm("verifying", WHOLE, verifying),
];

/// Work on a device with `sparseBinding`: a buffer of three allocations.
pub const SPARSE: Phase =
    Phase { limit: sparse::small_allocations, ..cold("binding several allocations", allocating_several) };

/// All phases of any device.
pub fn phases() -> impl Iterator<Item = &'static Phase> {
    OTHERS.iter().chain(PRIMITIVES.iter().flat_map(|primitive| primitive.phases))
}

impl Phase {
    /// Opens a device for the phase.
    pub fn open(&self, validation: bool) -> Result<Opened, Failed> {
        let instance = Arc::new(Instance::from_entry(shim::entry(), validation)?);
        let work = WorkOptions { submission_limit: self.submission_limit, ..WorkOptions::default() };
        let opened = Opened::for_work(&instance, work, self.limit)?;
        if self.is_warm {
            (self.work)(&opened)??;
        }
        Ok(opened)
    }
}

/// A device opened through the shim.
pub struct Opened {
    // Dropped before the instance.
    pub gpu: Gpu,
    instance: Arc<Instance>,
}

impl Opened {
    pub fn new(validation: bool, submission_limit: Duration) -> Result<Self> {
        Self::on(&Arc::new(Instance::from_entry(shim::entry(), validation)?), submission_limit)
    }

    /// Opens a device with data of a pipeline cache.
    pub fn with_cache(pipeline_cache_data: Vec<u8>) -> Result<Self> {
        let instance = Arc::new(Instance::from_entry(shim::entry(), false)?);
        Self::for_work(&instance, WorkOptions { pipeline_cache_data, ..WorkOptions::default() }, |_| {})
    }

    fn on(instance: &Arc<Instance>, submission_limit: Duration) -> Result<Self> {
        Self::for_work(instance, WorkOptions { submission_limit, ..WorkOptions::default() }, |_| {})
    }

    fn for_work(instance: &Arc<Instance>, work: WorkOptions, limit: fn(&mut Capabilities)) -> Result<Self> {
        let mut candidates = instance.candidates()?;
        let best = DeviceSelector::Best.position(&candidates)?;
        let mut candidate = candidates.swap_remove(best);
        candidate.narrow(limit);
        let gpu = Gpu::open_candidate(candidate, work)?;
        // One thread, so that calls come in a fixed order.
        gpu.device().set_pipeline_threads(NonZeroUsize::MIN);
        Ok(Self { gpu, instance: Arc::clone(instance) })
    }

    /// Drops everything, and fails if validation has reported anything since the device was opened.
    pub fn close(self) -> Result<(), Failed> {
        drop(self.gpu);
        expect_no_messages(&self.instance)
    }
}

fn expect_no_messages(instance: &Instance) -> Result<(), Failed> {
    match complaint(instance.take_messages()) {
        None => Ok(()),
        Some(message) => Err(format!("validation: {message}").into()),
    }
}

/// Opens a second device.
fn opening(opened: &Opened) -> Result<Result<()>, Failed> {
    let instance = match Instance::from_entry(shim::entry(), opened.gpu.is_validated()) {
        Ok(instance) => Arc::new(instance),
        Err(error) => return Ok(Err(error)),
    };
    let other = Opened::on(&instance, WHOLE).map(drop);
    expect_no_messages(&instance)?;
    Ok(other)
}

/// Allocates more than a block of memory, so that a new one is allocated.
fn allocating(opened: &Opened) -> Result<Result<()>, Failed> {
    Ok(opened.gpu.allocate(300 << 20).map(drop))
}

fn allocating_several(opened: &Opened) -> Result<Result<()>, Failed> {
    Ok(opened.gpu.allocate(40 << 20).map(drop))
}

/// Several blocks of the copies.
static LARGE: LazyLock<Vec<u32>> = LazyLock::new(|| random(1, (4 << 18) + 1000));
static POISON: LazyLock<Vec<u32>> = LazyLock::new(|| vec![0xdead_beef; LARGE.len()]);
/// Several tiles, and several levels of a scan.
pub static SMALL: LazyLock<Vec<u32>> = LazyLock::new(|| random(2, 20_000));
pub static SCANNED: LazyLock<Vec<u32>> = LazyLock::new(|| oracle::inclusive_scan(&SMALL, 1));
pub static SORTED: LazyLock<Vec<u32>> = LazyLock::new(|| oracle::sort(&SMALL, 0..32));
fn copying(opened: &Opened) -> Result<Result<()>, Failed> {
    let copy = |words: &mut [u32]| {
        let buffer = opened.gpu.allocate(size_of_val(words) as u64)?;
        opened.gpu.upload(&buffer, 0, &LARGE)?;
        opened.gpu.download(&buffer, words)
    };
    right_or_unchanged(&POISON, &LARGE, copy)
}

/// Runs work in place: the words must become the right result, or stay unchanged when the work fails.
pub fn right_or_unchanged(
    before: &[u32],
    right: &[u32],
    work: impl FnOnce(&mut [u32]) -> Result<()>,
) -> Result<Result<()>, Failed> {
    let mut words = before.to_vec();
    let ended = work(&mut words);
    let expected = if ended.is_ok() { right } else { before };
    if words == expected { Ok(ended) } else { Err(format!("the caller's words after {ended:?}").into()) }
}

/// The workload of a case, with memory, guards and poison.
fn workload(gpu: &Gpu) -> Result<Workload<'_>> {
    // The full table is long, and every fault uses the case.
    static CASE: OnceLock<harness::Case> = OnceLock::new();
    let case = CASE.get_or_init(|| {
        let mut cases = verify_cases(Effort::Full, gpu.capabilities()).into_iter();
        let case = cases.find(|case| match &case.work {
            harness::Work::Scan(scan) => scan.policy == PolicyName::Seed && case.count > 1000,
            _ => false,
        });
        case.expect("the table has such a case")
    });
    Workload::new(gpu, case, BufferLayout::Guarded)
}

fn verifying(opened: &Opened) -> Result<Result<()>, Failed> {
    let verified = workload(&opened.gpu).and_then(|workload| {
        workload.restore()?;
        workload.run()?;
        workload.check()
    });
    match verified {
        Ok(Some(mismatch)) => Err(mismatch.to_string().into()),
        Ok(None) => Ok(Ok(())),
        Err(error) => Ok(Err(error)),
    }
}
