//! The registry of pipelines, checked by the calls that reach the driver.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

use libtest_mimic::Failed;
use subsweep::ash::vk;
use subsweep::headless::ScanStream;
use subsweep::scan::ScanConfig;
use subsweep::sort::{SortConfig, SortPlan};
use subsweep::{ElementType, Error};
use subsweep_tool::harness::{BufferLayout, Case, Effort, PolicyName, Workload, verify_cases};

use super::super::sorts;
use super::shim;
use super::work::{Opened, WHOLE};

/// Plans of one configuration share every pipeline, on any threads.
pub fn once() -> Result<(), Failed> {
    let opened = Opened::new(false, WHOLE)?;
    let device = opened.gpu.device();
    let before = shim::alive();
    let config = sorts::config(&opened.gpu, PolicyName::Default);

    let (first, created) = creations(|| SortPlan::new(device, config));
    let first = first?;
    assert_eq!(created, distinct(&first));
    let (second, created) = creations(|| SortPlan::new(device, config));
    assert_eq!(created, 0, "the second plan shares the pipelines of the first");
    let second = second?;
    assert!(first.pipelines().zip(second.pipelines()).all(|(first, second)| first.is_same(second)));
    drop(first);
    assert!(shim::alive() != before, "the second plan keeps the pipelines alive");
    drop(second);
    super::expect_alive(&before)?;

    device.set_pipeline_threads(NonZeroUsize::new(4).expect("it is 4"));
    let (plans, created) = creations(|| {
        thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(|| SortPlan::new(device, config)));
            threads.map(|thread| thread.join().expect("no thread panics"))
        })
    });
    assert_eq!(created, distinct(plans[0].as_ref().map_err(Clone::clone)?));
    assert!(plans.iter().all(Result::is_ok));
    drop(plans);
    super::expect_alive(&before)?;
    super::close(Some(opened))
}

/// Work on slices compiles what its recording binds, and a plan all.
pub fn bound() -> Result<(), Failed> {
    let opened = Opened::new(false, WHOLE)?;
    let (gpu, config) = (&opened.gpu, SortConfig::keys(ElementType::U32));
    let mut keys = [3u32, 1, 2];
    // One workgroup sorts them.
    let (sorted, created) = creations(|| gpu.sort(config, &mut keys));
    sorted?;
    assert_eq!((keys, created), ([1, 2, 3], 1));
    let (sorted, of_passes) = creations(|| gpu.sort(config, &mut vec![7u32; 100_000]));
    sorted?;
    let (plan, others) = creations(|| gpu.plan(config));
    let plan = plan?;
    assert!(of_passes > 1 && others > 1, "{of_passes}, {others}");
    assert_eq!(created + of_passes + others, distinct(&plan));
    let (sorted, created) = creations(|| gpu.sort(config, &mut vec![7u32; 100_000]));
    sorted?;
    assert_eq!(created, 0);
    drop(plan);
    // Chunks of a stream are recorded by another way.
    let mut sums = Vec::new();
    let scan = ScanConfig::inclusive(ElementType::U32);
    let (scanned, created) =
        creations(|| gpu.scan_stream(scan, ScanStream::default(), &[1; 40][..], &mut sums));
    scanned?;
    assert_eq!((sums.len(), created), (40, 1));
    super::close(Some(opened))
}

/// A case compiles the pipelines that it dispatches, though its plan has others.
pub fn of_a_case() -> Result<(), Failed> {
    let opened = Opened::new(false, WHOLE)?;
    let gpu = &opened.gpu;
    let mut cases = verify_cases(Effort::Quick, gpu.capabilities()).into_iter();
    let is_sort =
        |case: &Case| case.id().starts_with("sort:keys:type=u32;policy=chosen") && case.count > 10_000;
    let case = cases.find(is_sort).ok_or("the table has no such case")?;
    let workload = Workload::new(gpu, &case, BufferLayout::Guarded)?;
    workload.restore()?;
    workload.run()?;
    assert_eq!(workload.check()?, None);
    let counts = gpu.device().pipeline_counts();
    assert_eq!(counts.created, counts.dispatched);
    drop(workload);
    let (plan, others) = creations(|| gpu.plan(SortConfig::keys(ElementType::U32)));
    drop(plan?);
    assert!(others > 0);
    super::close(Some(opened))
}

/// Data that the driver rejects is dropped; the driver's error without data is reported.
pub fn rejected_data() -> Result<(), Failed> {
    const CREATE: &str = "vkCreatePipelineCache";
    let data = Opened::new(false, WHOLE)?.gpu.device().pipeline_cache_data()?;
    assert!(!data.is_empty());
    let open = |data: &[u8]| Opened::with_cache(data.to_vec()).map(drop);
    let (opened, calls) = shim::during(None, || open(&data));
    opened?;
    let of_cache = |calls: &[shim::Call]| calls.iter().filter(|call| call.name == CREATE).count();
    let index =
        calls.iter().position(|call| call.name == CREATE).ok_or("vkCreatePipelineCache is not called")?;
    let fault = |lasts| Some(shim::Fault { index, result: vk::Result::ERROR_UNKNOWN, lasts });
    for (data, lasts, is_opened, count) in
        [(&data[..], false, true, 2), (&data[..], true, false, 2), (&[][..], false, false, 1)]
    {
        let (opened, calls) = shim::during(fault(lasts), || open(data));
        assert_eq!((opened.is_ok(), of_cache(&calls)), (is_opened, count));
        if let Err(error) = opened {
            assert_eq!(error, Error::Vulkan { during: CREATE, result: vk::Result::ERROR_UNKNOWN });
        }
        super::expect_alive(&BTreeMap::new())?;
    }
    Ok(())
}

/// The number of distinct pipelines of a plan.
fn distinct(plan: &SortPlan) -> usize {
    let all: Vec<_> = plan.pipelines().collect();
    let is_first = |index: &usize| all[..*index].iter().all(|earlier| !earlier.is_same(all[*index]));
    (0..all.len()).filter(is_first).count()
}

/// Runs `work`, and counts its calls of `vkCreateComputePipelines`.
fn creations<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let (done, calls) = shim::during(None, work);
    (done, calls.iter().filter(|call| call.name == "vkCreateComputePipelines").count())
}
