//! The contract with an embedder: plans on an adopted device, typed refusals, and no hidden calls or allocations.

mod adoption;
mod arguments;
mod commands;
pub mod contract;
mod host;
mod pipelines;
mod refusals;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Failed, Trial};
use subsweep::ash::vk;
use subsweep::device::{AddressRange, Barrier, Command, Device, Recorder, Trace};
use subsweep::headless::{Gpu, GpuBuffer, GpuOptions, WorkOptions};
use subsweep::scan::{ScanBuffers, ScanConfig, ScanPlan, ScanPolicy};
use subsweep::sort::{SegmentedSortPlan, SortAlgorithm, SortBuffers, SortConfig, SortPlan, SortPolicy};
use subsweep::{Count, ElementType, Result};

use super::cases::{clean_trial, expect_no_findings};
use super::primitive::run;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial =
        |name: &str, run: fn(&Gpu) -> Result<(), Failed>| clean_trial(gpu, format!("embedding: {name}"), run);
    vec![
        trial("an adopted device runs plans and outlives them", adoption::adopted_devices),
        trial("a device without a required feature or function is refused", adoption::refused_devices),
        trial("a plan refuses a recorder of another device", adoption::foreign_devices),
        trial("plans on an adopted device share pipelines", pipelines::shared),
        trial("pipelines are compiled in parallel where threads are allowed", pipelines::in_parallel),
        trial("a pipeline has its name before another thread uses it", pipelines::named_first),
        trial("barriers from a plan's first and last access suffice", contract::outer_accesses),
        trial("every array may be at any address", contract::any_alignment),
        trial("threads record one plan for frames in flight", contract::threads_and_frames),
        trial("each submission skips the passes of its constant digits", contract::skipped_passes),
        trial("undeclared counts and usages are refused", contract::undeclared),
        trial(
            "a recording makes the calls that its plan states and no host allocation",
            commands::recordings,
        ),
        trial("timestamps measure the phases of a plan", commands::phase_times),
        trial(
            "memory that does not meet the table of arguments is refused, and no other accessed",
            arguments::tables,
        ),
        trial("mismatched ranges and policies are refused", refusals::plans),
        trial("an empty input records no command", empty_inputs),
        trial("only aligned ranges are accessed by quads", wide_accesses),
        trial("a submission begins and ends with a barrier", outer_barriers),
        trial("one plan serves several ranges and counts in one command buffer", shared_plan),
    ]
}

/// Plans are shared between threads.
const _: () = {
    const fn shareable<T: Send + Sync>() {}
    shareable::<ScanPlan>();
    shareable::<SortPlan>();
    shareable::<SegmentedSortPlan>();
    shareable::<Device>();
    shareable::<Gpu>();
};

/// Opens the row's device again, with another trace.
pub fn another(gpu: &Gpu, trace: Arc<dyn Trace>) -> Result<Gpu> {
    let work = WorkOptions { trace: Some(trace), ..WorkOptions::default() };
    Gpu::open(GpuOptions { validation: gpu.is_validated(), work, ..GpuOptions::default() })
}

/// Counts recorded dispatches and barriers.
#[derive(Default)]
struct Counter {
    dispatches: Mutex<u32>,
    barriers: Mutex<u32>,
}

impl Trace for Counter {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        match command {
            Command::Dispatch { .. } => *self.dispatches.lock().unwrap() += 1,
            Command::Barrier(Barrier::COMPUTE_TO_COMPUTE) => *self.barriers.lock().unwrap() += 1,
            _ => {}
        }
    }
}

impl Counter {
    fn take(&self) -> (u32, u32) {
        (
            std::mem::take(&mut *self.dispatches.lock().unwrap()),
            std::mem::take(&mut *self.barriers.lock().unwrap()),
        )
    }
}

fn empty_inputs(gpu: &Gpu) -> Result<(), Failed> {
    let counter = Arc::new(Counter::default());
    let gpu = another(gpu, counter.clone())?;
    let (sort, scan) = (SortConfig::keys(ElementType::U32), ScanConfig::inclusive(ElementType::U32));
    gpu.sort::<u32>(sort, &mut [])?;
    gpu.sort(sort, &mut [7u32])?;
    gpu.sort(sort.bits(5..5), &mut [7u32, 3])?;
    gpu.scan::<u32>(scan, &mut [])?;
    assert_eq!(counter.take(), (0, 0));

    // One dispatch for one tile; otherwise one for the first level, and two for each level above it.
    gpu.scan(scan, &mut [1u32, 2, 3])?;
    assert_eq!(counter.take(), (1, 0));
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let tile = small.tile_items() as usize;
    for (count, dispatches) in [(tile, 1), (tile + 1, 3), (tile * tile, 3), (tile * tile + 1, 5)] {
        gpu.scan(scan.policy(small), &mut vec![1u32; count])?;
        assert_eq!(counter.take(), (dispatches, dispatches - 1), "{count}");
    }
    // One workgroup; or the histogram, eight passes of count, scan and scatter, and the copy, where the barrier after the
    // histogram is to indirect dispatches; or the histogram, four passes of onesweep, and the copy, or without it direct
    // passes alone.
    gpu.sort(sort, &mut [3u32, 2, 1])?;
    assert_eq!(counter.take(), (1, 0));
    let passes = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities(), &sort);
    gpu.sort(sort.policy(passes), &mut [3u32, 2, 1])?;
    assert_eq!(counter.take(), (1 + 8 * 3 + 1, 8 * 3));
    let onesweep = SortPolicy::tuned(SortAlgorithm::Onesweep, gpu.capabilities(), &sort);
    for (direct_tiles, copies) in [(0, 1), (1, 0)] {
        let mut policy = onesweep;
        policy.direct_tiles = direct_tiles;
        gpu.sort(sort.policy(policy), &mut [3u32, 2, 1])?;
        assert_eq!(counter.take(), (1 + 4 + copies, 4));
    }
    // An argsort writes indices even where no key moves.
    let argsort = SortConfig::argsort(ElementType::U32);
    gpu.argsort::<u32>(argsort, &[])?;
    assert_eq!(counter.take(), (0, 0));
    for (config, keys) in [(argsort, &[7u32][..]), (argsort.bits(5..5), &[7, 3])] {
        assert!(gpu.argsort(config, keys)?.into_iter().eq(0..keys.len() as u32));
        assert_eq!(counter.take(), (1, 0));
    }
    expect_no_findings(&gpu, "counting")
}

/// Elements of the arrays of wide accesses: whole quads.
const WIDE_COUNT: u64 = 20_000;

/// Lists kernels that access quads, and dispatches that access a misaligned range by quads, or the caller's
/// aligned arrays by words.
#[derive(Default)]
struct Wide {
    /// The kernels that access quads.
    quads: Mutex<HashSet<&'static str>>,
    wrong: Mutex<Vec<String>>,
}

impl Trace for Wide {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let Command::Dispatch { kernel, ranges, constants, .. } = command else { return };
        let Some((_, is_wide)) = constants.iter().find(|(name, _)| *name == "QUAD_ACCESS") else { return };
        let pointers = kernel.push_constants.iter().filter(|member| member.access.is_some());
        // The ranges that kernels access by quads.
        let wide = pointers.zip(*ranges).filter(|(p, _)| ["source", "destination", "keys"].contains(&p.name));
        let wide: Vec<_> = wide.map(|(_, range)| *range).collect();
        let is_aligned = wide.iter().all(|range| range.is_aligned(16));
        // Sums in scratch may have any count, and may be accessed by words.
        let is_callers = wide.iter().all(|range| range.size == 4 * WIDE_COUNT);
        if *is_wide == 1 {
            self.quads.lock().unwrap().extend(kernel.name.split(':').next());
        }
        if (*is_wide == 1) != is_aligned && (*is_wide == 1 || is_callers) {
            self.wrong.lock().unwrap().push(format!("{}: {ranges:x?}", kernel.name));
        }
    }
}

fn wide_accesses(gpu: &Gpu) -> Result<(), Failed> {
    let wide = Arc::new(Wide::default());
    let gpu = another(gpu, wide.clone())?;
    let scan = gpu.plan(ScanConfig::inclusive(ElementType::U32))?;
    let keys = SortConfig::keys(ElementType::U32);
    let tuned = |algorithm| SortPolicy::tuned(algorithm, gpu.capabilities(), &keys);
    // A histogram of digits by quads, on every device.
    let mut onesweep = tuned(SortAlgorithm::Onesweep);
    onesweep.histogram.loads_in_flight = 4;
    let [sort, onesweep] =
        [gpu.plan(keys.policy(tuned(SortAlgorithm::Radix4Bit)))?, gpu.plan(keys.policy(onesweep))?];
    let count = WIDE_COUNT;
    let at = |buffer: &GpuBuffer, offset| AddressRange::new(buffer.range().address + offset, 4 * count);
    let [source, destination] = [gpu.allocate(4 * count + 16)?, gpu.allocate(4 * count + 16)?];
    let needed = [&sort, &onesweep].map(|sort| sort.scratch_requirements(count).size);
    let needed = needed.into_iter().fold(scan.scratch_requirements(count).size, u64::max);
    let scratch = gpu.allocate(needed)?;
    for from in [0, 4, 8, 12] {
        for to in [0, 4, 8, 12] {
            let buffers = ScanBuffers::new(at(&source, from), at(&destination, to), scratch.range());
            run(&gpu, &scan, &buffers, count)?;
        }
        let buffers = SortBuffers::new(at(&source, from), scratch.range());
        run(&gpu, &sort, &buffers, count)?;
        run(&gpu, &onesweep, &buffers, count)?;
    }
    assert_eq!(*wide.wrong.lock().unwrap(), [""; 0]);
    let quads = wide.quads.lock().unwrap();
    // The default scan is another on other devices.
    for kernel in ["scan/", "sort/count", "sort/digit_histogram"] {
        assert!(quads.iter().any(|name| name.starts_with(kernel)), "{kernel} is not among {quads:?}");
    }
    Ok(())
}

/// Records the barriers among all commands.
#[derive(Default)]
struct Outer(Mutex<Vec<Option<Barrier>>>);

impl Trace for Outer {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let barrier = if let Command::Barrier(barrier) = command { Some(*barrier) } else { None };
        self.0.lock().unwrap().push(barrier);
    }
}

/// The barriers around a submission: the hazard checker sees only commands between them, and no CPU driver needs them.
fn outer_barriers(gpu: &Gpu) -> Result<(), Failed> {
    let outer = Arc::new(Outer::default());
    let gpu = another(gpu, outer.clone())?;
    let buffer = gpu.allocate(64)?;
    outer.0.lock().unwrap().clear();
    let record = |recorder: &mut Recorder<'_>| {
        recorder.fill(buffer.range(), 0);
        Ok(())
    };
    // SAFETY: the buffer is this device's, and used by nothing else.
    unsafe { gpu.submit(record) }?;
    let commands = std::mem::take(&mut *outer.0.lock().unwrap());
    let [Some(before), None, None, None, Some(after)] = commands[..] else {
        return Err(format!("expected barrier, begin, fill, end, barrier: {commands:?}").into());
    };
    let writes = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
    let reads = vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ;
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    assert!(before.source.stages.contains(stages) && before.source.access.contains(writes), "{before:?}");
    assert!(
        before.destination.stages.contains(stages) && before.destination.access.contains(reads | writes),
        "{before:?}"
    );
    assert!(after.source.stages.contains(stages) && after.source.access.contains(writes), "{after:?}");
    assert!(after.destination.stages.contains(vk::PipelineStageFlags::HOST), "{after:?}");
    assert!(after.destination.access.contains(vk::AccessFlags::HOST_READ), "{after:?}");
    Ok(())
}

fn shared_plan(gpu: &Gpu) -> Result<(), Failed> {
    let plan = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).indirect_count())?;
    let count = 5000u32;
    let needs = plan.scratch_requirements(count.into());
    let frame = || -> Result<(GpuBuffer, GpuBuffer)> {
        Ok((gpu.allocate(u64::from(count) * 4)?, gpu.allocate(needs.size)?))
    };
    let frames = [frame()?, frame()?];
    let inputs =
        [0, 1].map(|seed| (0..count).map(|i| (i + seed).wrapping_mul(0x9e37_79b9)).collect::<Vec<_>>());
    for ((keys, _), input) in frames.iter().zip(&inputs) {
        gpu.upload(keys, 0, input)?;
    }
    let count_buffer = gpu.allocate(4)?;
    gpu.upload(&count_buffer, 0, &[count])?;
    let counts =
        [Count::Direct(count.into()), Count::Indirect { address: count_buffer.range().address, max: count }];
    let record = |recorder: &mut Recorder<'_>| {
        frames.iter().zip(counts).try_for_each(|((keys, scratch), count)| {
            let buffers = SortBuffers::new(keys.range().addresses(), scratch.range());
            // SAFETY: the frames live until `submit` has waited, and each has memory of its own.
            unsafe { plan.cmd_record(recorder.command_buffer(), &buffers, count) }
        })
    };
    // SAFETY: as above.
    unsafe { gpu.submit(record) }?;
    for ((keys, _), mut input) in frames.iter().zip(inputs) {
        let mut sorted = vec![0; count as usize];
        gpu.download(keys, &mut sorted)?;
        input.sort_unstable();
        assert_eq!(sorted, input);
    }
    Ok(())
}
