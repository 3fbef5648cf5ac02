//! Recording allocates nothing on the host: every allocation of the process is counted, by the thread that makes it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::gather::{GatherBuffers, GatherConfig};
use subsweep::harness::{SegmentMix, SegmentedSortCase};
use subsweep::headless::{Gpu, GpuOptions};
use subsweep::scan::{InitialValue, ScanAlgorithm, ScanBuffers, ScanConfig, ScanPolicy, SegmentsBy};
use subsweep::sort::{SegmentedSortBuffers, SortBuffers, SortConfig};
use subsweep::{Count, ElementType};

use super::cases::expect_silence;

struct Counted;

#[global_allocator]
static COUNTED: Counted = Counted;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count_one() {
    // A thread that ends may still allocate.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: it is the system's, counted.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_one();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// How often this thread allocates in `run`.
fn allocations<R>(run: impl FnOnce() -> R) -> (u64, R) {
    let before = COUNT.get();
    let result = run();
    (COUNT.get() - before, result)
}

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let gpu = Arc::clone(gpu);
    vec![Trial::test("recording allocates nothing", move || {
        // The row's own device tells a checker, which keeps what it hears.
        let gpu = Gpu::open(GpuOptions { validation: gpu.is_validated(), ..GpuOptions::default() })?;
        recording_allocates_nothing(&gpu)?;
        expect_silence(&gpu, "allocations")
    })]
}

fn recording_allocates_nothing(gpu: &Gpu) -> Result<(), Failed> {
    let (count, _) = allocations(|| black_box(vec![black_box(1u8); 100]));
    assert_eq!(count, 1, "allocations are counted");

    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let count = u64::from(small.tile_items()).pow(2) + 1;
    let [source, destination] = [gpu.allocate(4 * count)?, gpu.allocate(4 * count)?];
    let (from, to) = (source.range().addresses(), destination.range().addresses());
    let operands_buffer = gpu.allocate(16)?;
    gpu.upload(&operands_buffer, 0, &[5, 6, 7, 8])?;
    let operands = operands_buffer.range().addresses();
    let scan = ScanConfig::inclusive();
    let segmented = scan.policy(small).segments(SegmentsBy::Offsets).with_initial().reverse();
    let counted = scan.policy(small).counts_on_device();
    let by = |algorithm| scan.policy(small.with_algorithm(algorithm));
    let counted_chained = by(ScanAlgorithm::Chained).counts_on_device();
    for (config, to) in [
        (scan.policy(small), to),
        (by(ScanAlgorithm::ScanThenPropagate), to),
        (by(ScanAlgorithm::BlockDoubling), to),
        (by(ScanAlgorithm::Strided), to),
        (segmented, to),
        (counted, to),
        (by(ScanAlgorithm::Chained), to),
        (counted_chained, to),
        (scan.policy(small.with_algorithm(ScanAlgorithm::Chained).with_fixed_tree()), to),
        (scan.policy(ScanPolicy::seed()), from),
        (scan.columns(16), from),
    ] {
        let plan = gpu.scan_plan(config)?;
        let rows = count / u64::from(config.column_count());
        let scratch = gpu.allocate(plan.scratch_requirements(rows).size.max(16))?;
        let mut buffers = ScanBuffers::new(from, to, scratch.range());
        let mut count = Count::Host(rows);
        // By the configuration that takes each.
        if config == segmented {
            buffers = buffers.segments(operands).initial(InitialValue::host(&[7u32])?);
        } else if [counted, counted_chained].contains(&config) {
            count = Count::Device { address: operands.address, max: rows as u32 };
        }
        let mut made = 0;
        let record = |recorder: &mut subsweep::vk::Recorder<'_>| {
            let commands = recorder.command_buffer();
            // SAFETY: the buffers live until `submit` has waited.
            let (count, recorded) = allocations(|| unsafe { plan.cmd_scan(commands, &buffers, count) });
            made = count;
            recorded
        };
        // SAFETY: as above.
        unsafe { gpu.submit(record) }?;
        assert_eq!(made, 0, "{}", plan.policy());
    }
    let plan = gpu.gather_plan(GatherConfig::elements(4).counts_on_device())?;
    let scratch = gpu.allocate(plan.scratch_requirements().size)?;
    for count in [Count::Host(4), Count::Device { address: operands.address, max: 4 }] {
        let buffers = GatherBuffers::new(from, operands, to).scratch(scratch.range());
        let mut made = 0;
        let record = |recorder: &mut subsweep::vk::Recorder<'_>| {
            let commands = recorder.command_buffer();
            // SAFETY: the buffers live until `submit` has waited.
            let (count, recorded) = allocations(|| unsafe { plan.cmd_gather(commands, &buffers, count) });
            made = count;
            recorded
        };
        // SAFETY: as above.
        unsafe { gpu.submit(record) }?;
        assert_eq!(made, 0, "{}", plan.policy());
    }
    let whole = SegmentedSortCase::keys_of_u32(SegmentMix::Whole);
    let small = SegmentedSortCase { has_small_tiles: true, ..whole };
    let config = small.config().counts_on_device();
    let plan = gpu.segmented_sort_plan(config.policy(small.policy(gpu.capabilities())))?;
    let scratch = gpu.allocate(plan.scratch_requirements(count, 4).size)?;
    let buffers = SegmentedSortBuffers::new(from, operands, scratch.range());
    let on_device = |max| Count::Device { address: operands.address, max };
    for counts in [[count.into(), Count::Host(4)], [on_device(count as u32), on_device(4)]] {
        let [count, segment_count] = counts;
        let mut made = 0;
        let record = |recorder: &mut subsweep::vk::Recorder<'_>| {
            let commands = recorder.command_buffer();
            // SAFETY: the buffers live until `submit` has waited.
            let (allocated, recorded) =
                allocations(|| unsafe { plan.cmd_sort(commands, &buffers, count, segment_count) });
            made = allocated;
            recorded
        };
        // SAFETY: as above.
        unsafe { gpu.submit(record) }?;
        assert_eq!(made, 0, "{}", plan.policy());
    }
    let plan = gpu.sort_plan(SortConfig::keys(ElementType::U32))?;
    let scratch = gpu.allocate(plan.scratch_requirements(count).size)?;
    let buffers = SortBuffers::new(from, scratch.range());
    let mut made = 0;
    let record = |recorder: &mut subsweep::vk::Recorder<'_>| {
        let commands = recorder.command_buffer();
        // SAFETY: the buffers live until `submit` has waited.
        let (count, recorded) = allocations(|| unsafe { plan.cmd_sort(commands, &buffers, count) });
        made = count;
        recorded
    };
    // SAFETY: as above.
    unsafe { gpu.submit(record) }?;
    assert_eq!(made, 0, "{}", plan.policy());
    Ok(())
}
