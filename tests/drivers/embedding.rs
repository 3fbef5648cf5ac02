//! What an embedder is promised: plans on a device of their own making, typed refusals, and nothing behind their back.

use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, OnceLock};

use libtest_mimic::{Failed, Trial};
use subsweep::ElementType;
use subsweep::ash::{self, vk};
use subsweep::gather::{GatherBuffers, GatherConfig, GatherPlan, GatherPolicy};
use subsweep::headless::{Gpu, GpuBuffer, GpuOptions, WorkOptions};
use subsweep::scan::{
    InitialValue, ScanAlgorithm, ScanBuffers, ScanConfig, ScanOperator, ScanPlan, ScanPolicy, SegmentsBy,
};
use subsweep::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPlan, SortPolicy, ValueSize};
use subsweep::vk::{
    AddressRange, Barrier, BufferRange, Command, Device, DeviceRequirements, Pipeline, Recorder, Trace,
};
use subsweep::{Count, Error, Result};

use super::cases::{complaint, expect_silence};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |name: &str, run: fn(&Gpu) -> Result<(), Failed>| {
        let gpu = Arc::clone(gpu);
        Trial::test(format!("embedding: {name}"), move || {
            run(&gpu)?;
            expect_silence(&gpu, "embedding")
        })
    };
    vec![
        trial("an adopted device runs plans and survives them", adopted_device),
        trial("what does not fit is refused by its numbers", refusals),
        trial("a gather that does not fit is refused by its numbers", refused_gathers),
        trial("a gather goes by the widest access that its memory allows", gather_accesses),
        trial("slices of any type are gathered", gathered_slices),
        trial("nothing is recorded for nothing", nothing_for_nothing),
        trial("wide accesses are for what is aligned, and for nothing else", wide_accesses),
        trial("every submission is between its barriers", outer_barriers),
        trial("one plan serves several ranges and counts in one command buffer", shared_plan),
    ]
}

/// Plans are shared between threads.
const _: () = {
    const fn shareable<T: Send + Sync>() {}
    shareable::<ScanPlan>();
    shareable::<SortPlan>();
    shareable::<GatherPlan>();
    shareable::<Gpu>();
};

fn adopted_device(gpu: &Gpu) -> Result<(), Failed> {
    let host = Host::new(gpu.is_validated())?;
    // SAFETY: the instance is made for Vulkan 1.2 and the device is its own.
    let needs = unsafe { DeviceRequirements::query(&host.instance, host.physical_device) }?;
    let raw = host.create_device(&needs)?;
    let keys = [3u32, 1, 0xffff_ffff, 0, 2, 1];
    {
        let watched = watched(&raw);
        // SAFETY: all are of one another, made as `needs` says, and outlive the block.
        let device = unsafe {
            Device::from_raw(
                &host.instance,
                host.physical_device,
                watched,
                needs.enabled(),
                vk::PipelineCache::null(),
            )
        }?;
        let plan = SortPlan::new(&device, SortConfig::keys(ElementType::U32))?;
        let are_full = std::mem::take(&mut *ARE_FULL.lock().unwrap());
        assert_eq!(are_full, vec![needs.enabled().compute_full_subgroups; plan.pipelines().count()]);
        let room = plan.scratch_requirements(keys.len() as u64);
        let memory = HostMemory::new(&host, &raw, 256 + room.size)?;
        memory.words()[..keys.len()].copy_from_slice(&keys);
        let whole = memory.range();
        let buffers = SortBuffers::new(
            AddressRange::new(whole.address, 256),
            BufferRange { offset: 256, size: room.size, address: whole.address + 256, ..whole },
        );
        // SAFETY: the ranges are the memory's, which lives until the work is done.
        host.run(&raw, |commands| unsafe { plan.cmd_sort(commands, &buffers, keys.len() as u64) })?;
        let mut expected = keys;
        expected.sort_unstable();
        assert_eq!(memory.words()[..keys.len()], expected);
    }
    // The device was adopted, so it is still there to be destroyed by whoever made it.
    // SAFETY: everything made from it is gone.
    unsafe { raw.destroy_device(None) };
    drop(host);
    match complaint(std::mem::take(&mut MESSAGES.lock().unwrap())) {
        None => Ok(()),
        Some(message) => Err(format!("validation: {message}").into()),
    }
}

/// Of every pipeline that a watched device has made: whether its subgroups must be full.
static ARE_FULL: Mutex<Vec<bool>> = Mutex::new(Vec::new());
static CREATE: OnceLock<vk::PFN_vkCreateComputePipelines> = OnceLock::new();

/// The same device, through a table that notes what pipelines it is asked for.
fn watched(device: &ash::Device) -> ash::Device {
    CREATE.get_or_init(|| device.fp_v1_0().create_compute_pipelines);
    let first = ash::DeviceFnV1_0 { create_compute_pipelines: create_watched, ..device.fp_v1_0().clone() };
    let (v1_1, v1_2, v1_3) = (device.fp_v1_1().clone(), device.fp_v1_2().clone(), device.fp_v1_3().clone());
    ash::Device::from_parts_1_3(device.handle(), first, v1_1, v1_2, v1_3)
}

unsafe extern "system" fn create_watched(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: whoever calls a function of Vulkan's gives it as many as it says.
    let asked = unsafe { std::slice::from_raw_parts(infos, count as usize) };
    let is_full = |info: &vk::ComputePipelineCreateInfo<'_>| {
        info.stage.flags.contains(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
    };
    ARE_FULL.lock().unwrap().extend(asked.iter().map(is_full));
    // SAFETY: as the caller promises.
    unsafe { CREATE.get().expect("`watched` has set it")(device, cache, count, infos, allocator, pipelines) }
}

/// The row's device once more, with another listener.
fn another(gpu: &Gpu, trace: Arc<dyn Trace>) -> Result<Gpu> {
    let work = WorkOptions { trace: Some(trace), ..WorkOptions::default() };
    Gpu::open(GpuOptions { validation: gpu.is_validated(), work, ..GpuOptions::default() })
}

/// What a scan reads besides, given wrongly: nothing is recorded.
fn refused_operands(gpu: &Gpu, memory: AddressRange, scratch: BufferRange) -> Result<(), Failed> {
    let source = AddressRange::new(memory.address, 40);
    let apart = |offset, size| AddressRange::new(memory.address + offset, size);
    let plain = ScanConfig::inclusive();
    let buffers = ScanBuffers::in_place(source, scratch);
    let refuse = |config, buffers: ScanBuffers, count: Count| {
        let plan = ScanPlan::new(gpu.device(), config).map_err(Some)?;
        let mut refused = Ok(());
        // SAFETY: nothing is recorded, since each of these is refused.
        let record = |recorder: &mut Recorder<'_>| unsafe {
            refused = plan.cmd_scan(recorder.command_buffer(), &buffers, count);
            Ok(())
        };
        // SAFETY: as above.
        unsafe { gpu.submit(record) }.map_err(Some)?;
        Err(refused.err())
    };
    let ten = Count::Host(10);
    let unsupported = |refused: Result<(), Option<Error>>, what: &str| {
        assert!(
            matches!(&refused, Err(Some(Error::Unsupported { reason })) if reason.contains(what)),
            "{refused:?}, and not {what}"
        );
    };
    let initial = InitialValue::host(&[1u32])?;
    unsupported(refuse(plain, buffers.initial(initial), ten), "takes no initial value");
    unsupported(refuse(plain.with_initial(), buffers, ten), "begins with an initial value");
    unsupported(refuse(plain, buffers.segments(apart(400, 40)), ten), "takes no segments");
    let on_device = |offset| Count::Device { address: memory.address + offset, max: 10 };
    unsupported(refuse(plain, buffers, on_device(400)), "counts from the host alone");
    let two = InitialValue::host(&[1u32, 2])?;
    unsupported(refuse(plain.with_initial(), buffers.initial(two), ten), "one row, and no more");
    assert!(matches!(InitialValue::host(&[0u64; 17]), Err(Error::Unsupported { .. })));

    let float = InitialValue::host(&[1f32])?;
    assert_eq!(
        refuse(plain.with_initial(), buffers.initial(float), ten),
        Err(Some(Error::ElementMismatch { expected: ElementType::U32, got: ElementType::F32 }))
    );
    let too_small = |what, needed, got| Err(Some(Error::RangeTooSmall { what, needed, got }));
    for (given, got) in [(initial, 4), (InitialValue::Device(AddressRange::default()), 0)] {
        assert_eq!(
            refuse(
                plain.columns(2).with_initial(),
                ScanBuffers::in_place(apart(0, 80), scratch).initial(given),
                ten
            ),
            too_small("the initial value", 8, got)
        );
    }
    for (by, needed) in [(SegmentsBy::Flags, 40), (SegmentsBy::Keys32, 40), (SegmentsBy::Keys64, 80)] {
        assert_eq!(
            refuse(plain.segments(by), buffers.segments(apart(400, needed - 4)), ten),
            too_small("segments", needed, needed - 4)
        );
    }
    let misaligned =
        |what, offset| Err(Some(Error::Misaligned { what, address: memory.address + offset, alignment: 4 }));
    let offsets = plain.segments(SegmentsBy::Offsets);
    assert_eq!(refuse(offsets, buffers.segments(apart(402, 8)), ten), misaligned("segments", 402));
    assert_eq!(refuse(plain.counts_on_device(), buffers, on_device(401)), misaligned("the count", 401));
    let overlap = |first, second| Err(Some(Error::Overlap { first, second }));
    assert_eq!(refuse(offsets, buffers.segments(apart(36, 8)), ten), overlap("segments", "destination"));
    let shared = InitialValue::Device(apart(0, 4));
    assert_eq!(
        refuse(plain.with_initial(), buffers.initial(shared), ten),
        overlap("the initial value", "destination")
    );
    assert_eq!(refuse(plain.counts_on_device(), buffers, on_device(36)), overlap("the count", "destination"));
    let within = AddressRange::new(scratch.address, 8);
    assert_eq!(refuse(offsets, buffers.segments(within), ten), overlap("segments", "scratch"));
    let count = Count::Device { address: scratch.address, max: 10 };
    assert_eq!(refuse(plain.counts_on_device(), buffers, count), overlap("the count", "scratch"));

    let policy = ScanPolicy::tiled(64, 64, 4);
    for config in [
        offsets.policy(policy),
        offsets.policy(policy.with_algorithm(ScanAlgorithm::Chained)),
        plain.policy(ScanPolicy::seed()).out_of_place(),
        plain.policy(ScanPolicy::seed()).reverse(),
    ] {
        assert!(
            matches!(ScanPlan::new(gpu.device(), config), Err(Error::InvalidPolicy { .. })),
            "{config:?}"
        );
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    // Few keys take scratch where no single workgroup sorts them.
    let policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities());
    let plan = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).policy(policy))?;
    let count = 1000;
    let room = plan.scratch_requirements(count);
    let (keys, scratch) = (gpu.allocate(4 * count)?, gpu.allocate(room.size)?);
    let (keys, scratch) = (keys.range().addresses(), scratch.range());
    let exact = AddressRange { size: 4 * count, ..keys };
    let sort = |keys, scratch, count: u64| {
        // SAFETY: nothing is recorded, since each of these is refused.
        unsafe {
            gpu.submit(|recorder| {
                plan.cmd_sort(recorder.command_buffer(), &SortBuffers::new(keys, scratch), count)
            })
        }
        .map(|_| ())
    };
    let short = BufferRange { size: room.size - 16, ..scratch };
    assert_eq!(
        sort(exact, short, count),
        Err(Error::ScratchTooSmall { needed: room.size, got: room.size - 16 })
    );
    assert_eq!(
        sort(exact, scratch, count + 1),
        Err(Error::RangeTooSmall { what: "keys", needed: 4 * count + 4, got: 4 * count })
    );
    let odd = AddressRange::new(keys.address + 2, 4 * count);
    assert_eq!(
        sort(odd, scratch, count),
        Err(Error::Misaligned { what: "keys", address: odd.address, alignment: 4 })
    );
    let crossing = AddressRange::new(scratch.address + 16, 4 * count);
    assert_eq!(sort(crossing, scratch, count), Err(Error::Overlap { first: "keys", second: "scratch" }));
    let max = SortPlan::MAX_COUNT;
    assert_eq!(
        sort(exact, scratch, max + 1),
        Err(Error::TooManyElements { count: max + 1, max, what: "one sort of this policy" })
    );
    // Each portion is a dispatch of each pass.
    let mut small = SortPolicy::tuned(SortAlgorithm::Onesweep, gpu.capabilities());
    small.portion_items = 1;
    let plan = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).policy(small))?;
    assert_eq!(plan.max_count(), 4096 * u64::from(small.tile_items()));
    refused_values(gpu)?;

    let scan = |config, source, destination| {
        let plan = ScanPlan::new(gpu.device(), config)?;
        let buffers = ScanBuffers::new(source, destination, BufferRange::NONE);
        // SAFETY: nothing is recorded, since each of these is refused.
        unsafe { gpu.submit(|recorder| plan.cmd_scan(recorder.command_buffer(), &buffers, 10)) }.map(|_| ())
    };
    let (first, second) = (AddressRange::new(keys.address, 40), AddressRange::new(keys.address + 20, 40));
    assert_eq!(
        scan(ScanConfig::inclusive(), first, second),
        Err(Error::Overlap { first: "source", second: "destination" })
    );
    let apart = AddressRange::new(keys.address + 400, 40);
    for (config, source, destination) in [
        (ScanConfig::inclusive().policy(ScanPolicy::seed()), first, apart),
        (ScanConfig::inclusive().columns(17), first, first),
        (ScanConfig::inclusive().columns(0), first, first),
        (ScanConfig::inclusive().element(ElementType::F32).operator(ScanOperator::Xor), first, first),
        (ScanConfig::inclusive().element(ElementType::F64).operator(ScanOperator::And), first, first),
    ] {
        assert!(matches!(scan(config, source, destination), Err(Error::Unsupported { .. })));
    }
    refused_operands(gpu, keys, scratch)?;
    let doubles = ScanConfig::inclusive().element(ElementType::F64);
    match (gpu.capabilities().enabled.shader_float64, gpu.scan(doubles, &mut [1.5, 2.5])) {
        (true, Ok(())) => {}
        (false, Err(Error::MissingFeature { missing, .. })) if missing.contains("shaderFloat64") => {}
        (has, scanned) => return Err(format!("shaderFloat64: {has}, and yet {scanned:?}").into()),
    }
    gpu.scan(doubles.operator(ScanOperator::Max), &mut [1.5, 2.5])?;
    assert_eq!(
        gpu.scan(doubles, &mut [1u64, 2]),
        Err(Error::ElementMismatch { expected: ElementType::F64, got: ElementType::U64 })
    );
    let promised = ScanConfig::inclusive().out_of_place();
    assert!(matches!(scan(promised, first, first), Err(Error::Unsupported { .. })));
    let chained = ScanPolicy::tiled(64, 4, 4).with_algorithm(ScanAlgorithm::Chained);
    let scanned = scan(ScanConfig::inclusive().policy(chained), first, first);
    assert!(matches!(scanned, Err(Error::Unsupported { .. })));
    let mut summed = [1u32, 2, 3];
    gpu.scan(promised, &mut summed)?;
    assert_eq!(summed, [1, 3, 6]);
    for policy in [
        ScanPolicy::tiled(64, 4, 4).with_fixed_tree(),
        ScanPolicy::tiled(0, 4, 4),
        ScanPolicy::tiled(33, 4, 4),
        ScanPolicy::tiled(64, 6, 4),
        ScanPolicy::tiled(64, 4, 3),
        ScanPolicy::tiled(64, 1 << 20, 4),
        ScanPolicy::tiled(64, 4, 4).with_subgroup_size(3),
        ScanPolicy::tiled(256, 4, 4).with_subgroup_size(256),
        ScanPolicy::seed().with_subgroup_size(0),
    ] {
        let refused = ScanPlan::new(gpu.device(), ScanConfig::inclusive().policy(policy));
        assert!(matches!(refused, Err(Error::InvalidPolicy { .. })), "{policy}");
    }
    // A digit's count in an invocation has a byte.
    for items_per_invocation in [0, 6, 256] {
        let mut policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities());
        (policy.workgroup_size, policy.items_per_invocation) = (32, items_per_invocation);
        let refused = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).policy(policy));
        assert!(matches!(refused, Err(Error::InvalidPolicy { .. })), "{policy}");
    }
    let plan = ScanPlan::new(gpu.device(), ScanConfig::inclusive())?;
    let statistics = plan.pipelines().map(Pipeline::statistics).collect::<Vec<_>>();
    assert!(!statistics.is_empty() && statistics.iter().all(|s| matches!(s, Err(Error::Unsupported { .. }))));
    let seed = ScanConfig::inclusive().policy(ScanPolicy::seed());
    for config in [
        ScanConfig::exclusive().policy(ScanPolicy::seed()),
        seed.columns(5),
        seed.element(ElementType::I32),
        seed.operator(ScanOperator::Max),
    ] {
        assert!(matches!(ScanPlan::new(gpu.device(), config), Err(Error::InvalidPolicy { .. })));
    }
    let wide = ScanConfig::inclusive().policy(ScanPolicy::tiled(1 << 16, 4, 4));
    assert!(matches!(ScanPlan::new(gpu.device(), wide), Err(Error::PolicyBeyondDevice { .. })));
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    for bits in [8..4, 0..33] {
        let refused = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).bits(bits));
        assert!(matches!(refused, Err(Error::Unsupported { .. })));
    }
    Ok(())
}

fn refused_gathers(gpu: &Gpu) -> Result<(), Failed> {
    let memory = gpu.allocate(1 << 12)?;
    let at = |offset, size| AddressRange::new(memory.range().address + offset, size);
    let three = GatherConfig::elements(3);
    let gather = |config, buffers: GatherBuffers, count: Count| {
        let plan = GatherPlan::new(gpu.device(), config)?;
        // SAFETY: nothing is recorded, since each of these is refused.
        unsafe { gpu.submit(|recorder| plan.cmd_gather(recorder.command_buffer(), &buffers, count)) }
            .map(|_| ())
    };
    let (source, indices, destination) = (at(0, 100), at(256, 40), at(512, 120));
    let ten = Count::Host(10);
    let on_device = |offset| Count::Device { address: memory.range().address + offset, max: 10 };
    let with =
        |source, indices, destination| gather(three, GatherBuffers::new(source, indices, destination), ten);
    let too_small = |what, needed, got| Err(Error::RangeTooSmall { what, needed, got });
    assert_eq!(with(source, at(256, 36), destination), too_small("indices", 40, 36));
    assert_eq!(with(source, indices, at(512, 116)), too_small("destination", 120, 116));
    let misaligned = |what, offset| {
        Err(Error::Misaligned { what, address: memory.range().address + offset, alignment: 4 })
    };
    assert_eq!(with(at(2, 100), indices, destination), misaligned("source", 2));
    assert_eq!(with(source, at(257, 40), destination), misaligned("indices", 257));
    assert_eq!(with(source, indices, at(513, 120)), misaligned("destination", 513));
    let overlap = |first, second| Err(Error::Overlap { first, second });
    assert_eq!(with(at(448, 100), indices, destination), overlap("source", "destination"));
    assert_eq!(with(source, at(628, 40), destination), overlap("indices", "destination"));

    let counted = three.counts_on_device();
    let scratch = memory.range();
    let scratch = BufferRange { offset: 1024, size: 32, address: scratch.address + 1024, ..scratch };
    let buffers = GatherBuffers::new(source, indices, destination).scratch(scratch);
    let short = buffers.scratch(BufferRange { size: 28, ..scratch });
    assert_eq!(gather(counted, short, on_device(2048)), Err(Error::ScratchTooSmall { needed: 32, got: 28 }));
    assert_eq!(gather(counted, buffers, on_device(2049)), misaligned("the count", 2049));
    assert_eq!(gather(counted, buffers, on_device(520)), overlap("the count", "destination"));
    assert_eq!(gather(counted, buffers, on_device(1032)), overlap("the count", "scratch"));
    let across = GatherBuffers::new(source, indices, at(960, 120)).scratch(scratch);
    assert_eq!(gather(counted, across, on_device(2048)), overlap("destination", "scratch"));
    let unsupported = gather(three, buffers, on_device(2048));
    assert!(matches!(unsupported, Err(Error::Unsupported { reason }) if reason.contains("counts_on_device")));

    for words in [0, GatherConfig::MAX_WORDS + 1, u32::MAX] {
        let refused = GatherPlan::new(gpu.device(), GatherConfig::elements(words));
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{words}");
    }
    for policy in [
        GatherPolicy::tiled(0, 4),
        GatherPolicy::tiled(33, 4),
        GatherPolicy::tiled(64, 0),
        GatherPolicy::tiled(64, 33),
        GatherPolicy::tiled(64, 4).with_subgroup_size(3),
    ] {
        let refused = GatherPlan::new(gpu.device(), three.policy(policy));
        assert!(matches!(refused, Err(Error::InvalidPolicy { .. })), "{policy}");
    }
    let wide = GatherPlan::new(gpu.device(), three.policy(GatherPolicy::tiled(1 << 16, 4)));
    assert!(matches!(wide, Err(Error::PolicyBeyondDevice { .. })));

    // More workgroups than can be counted, of elements of 1 GiB.
    let huge = GatherConfig::elements(GatherConfig::MAX_WORDS);
    let endless = |offset| at(offset, 1 << 60);
    let buffers = GatherBuffers::new(at(0, 0), endless(1 << 61), endless(1 << 62));
    let refused = gather(huge, buffers, Count::Host(1 << 20));
    assert!(matches!(refused, Err(Error::TooManyElements { .. })), "{refused:?}");
    assert_eq!(gather(three, GatherBuffers::new(source, indices, destination), Count::Host(0)), Ok(()));
    Ok(())
}

/// Tells the words of an access of each gather's kernel.
#[derive(Default)]
struct Units(Mutex<Vec<u32>>);

impl Trace for Units {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let Command::Dispatch { constants, .. } = command else { return };
        let units = constants.iter().filter(|(name, _)| *name == "UNIT_WORDS").map(|(_, value)| *value);
        self.0.lock().unwrap().extend(units);
    }
}

fn gather_accesses(gpu: &Gpu) -> Result<(), Failed> {
    let units = Arc::new(Units::default());
    let gpu = another(gpu, units.clone())?;
    let memory = gpu.allocate(1 << 12)?;
    let at = |offset, size| AddressRange::new(memory.range().address + offset, size);
    gpu.upload(&memory, 0, &[0; 1 << 10])?;
    for (words, source, destination, expected) in [
        (1, 0, 2048, 1),
        (2, 0, 2048, 2),
        (2, 8, 2056, 2),
        (2, 4, 2048, 1),
        (4, 0, 2048, 4),
        (4, 8, 2048, 1),
        (4, 0, 2052, 1),
        (6, 0, 2048, 2),
        (7, 0, 2048, 1),
        (8, 16, 2064, 4),
    ] {
        let plan = gpu.gather_plan(GatherConfig::elements(words))?;
        let size = 10 * 4 * u64::from(words);
        let buffers = GatherBuffers::new(at(source, size), at(1024, 40), at(destination, size));
        // SAFETY: the memory is this device's and lives until `submit` has waited.
        unsafe { gpu.submit(|recorder| plan.cmd_gather(recorder.command_buffer(), &buffers, 10)) }?;
        assert_eq!(
            std::mem::take(&mut *units.0.lock().unwrap()),
            [expected],
            "{words}, {source}, {destination}"
        );
    }
    expect_silence(&gpu, "accesses of a gather")
}

fn gathered_slices(gpu: &Gpu) -> Result<(), Failed> {
    let letters = [10u64 << 40, 11, 20 << 40, 21, 30, 31];
    let pairs = GatherConfig::elements(4);
    assert_eq!(gpu.gather(pairs, &letters, &[2, 0, 3])?, [30, 31, 10 << 40, 11, 0, 0]);
    assert_eq!(gpu.gather(GatherConfig::elements(1), &[1.5f32, -2.5], &[1, 1, u32::MAX])?, [-2.5, -2.5, 0.0]);
    assert_eq!(gpu.gather::<i32>(GatherConfig::elements(3), &[], &[0])?, [0; 3]);
    assert_eq!(gpu.gather(pairs, &letters, &[])?, [0u64; 0]);
    for words in [1, 3] {
        let halves = gpu.gather(GatherConfig::elements(words), &[7u64, 8, 9], &[0, 1]);
        assert!(matches!(halves, Err(Error::Unsupported { .. })), "{words}: {halves:?}");
    }
    let ragged = gpu.gather(GatherConfig::elements(10), &letters, &[0]);
    assert_eq!(ragged, Err(Error::RaggedTable { value_count: 12, columns: 10 }));
    Ok(())
}

/// Values are held to what keys are held to.
fn refused_values(gpu: &Gpu) -> Result<(), Failed> {
    let plan = SortPlan::new(gpu.device(), SortConfig::pairs(ElementType::U64, ValueSize::B8))?;
    let memory = gpu.allocate(1 << 10)?;
    let memory = memory.range().addresses();
    let at = |offset, size| AddressRange::new(memory.address + offset, size);
    for (values, expected) in [
        (at(512, 72), Error::RangeTooSmall { what: "values", needed: 80, got: 72 }),
        (AddressRange::default(), Error::RangeTooSmall { what: "values", needed: 80, got: 0 }),
        (at(514, 80), Error::Misaligned { what: "values", address: memory.address + 514, alignment: 4 }),
        (at(76, 80), Error::Overlap { first: "keys", second: "values" }),
    ] {
        let buffers = SortBuffers::new(at(0, 80), BufferRange::NONE).values(values);
        // SAFETY: nothing is recorded, since each of these is refused.
        let refused =
            unsafe { gpu.submit(|recorder| plan.cmd_sort(recorder.command_buffer(), &buffers, 10)) };
        assert_eq!(refused.map(|_| ()), Err(expected));
    }
    Ok(())
}

/// Counts what is recorded.
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

fn nothing_for_nothing(gpu: &Gpu) -> Result<(), Failed> {
    let counter = Arc::new(Counter::default());
    let gpu = another(gpu, counter.clone())?;
    let (sort, scan) = (SortConfig::keys(ElementType::U32), ScanConfig::inclusive());
    gpu.sort::<u32>(sort, &mut [])?;
    gpu.sort(sort, &mut [7u32])?;
    gpu.sort(sort.bits(5..5), &mut [7u32, 3])?;
    gpu.scan::<u32>(scan, &mut [])?;
    assert_eq!(counter.take(), (0, 0));

    // One tile: one dispatch. Otherwise two for each level of tiles above the first, and the first's own.
    gpu.scan(scan, &mut [1u32, 2, 3])?;
    assert_eq!(counter.take(), (1, 0));
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let tile = small.tile_items() as usize;
    for (count, dispatches) in [(tile, 1), (tile + 1, 3), (tile * tile, 3), (tile * tile + 1, 5)] {
        gpu.scan(scan.policy(small), &mut vec![1u32; count])?;
        assert_eq!(counter.take(), (dispatches, dispatches - 1), "{count}");
    }
    // All in one workgroup, or eight passes of count, scan and scatter between the survey and the copy; or four of one
    // kernel each. The barrier behind the survey is to indirect dispatches.
    gpu.sort(sort, &mut [3u32, 2, 1])?;
    assert_eq!(counter.take(), (1, 0));
    let passes = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities());
    gpu.sort(sort.policy(passes), &mut [3u32, 2, 1])?;
    assert_eq!(counter.take(), (1 + 8 * 3 + 1, 8 * 3));
    let onesweep = SortPolicy::tuned(SortAlgorithm::Onesweep, gpu.capabilities());
    gpu.sort(sort.policy(onesweep), &mut [3u32, 2, 1])?;
    assert_eq!(counter.take(), (1 + 4 + 1, 4));
    // Places are told even of what stays where it is.
    let argsort = SortConfig::argsort(ElementType::U32);
    gpu.argsort::<u32>(argsort, &[])?;
    assert_eq!(counter.take(), (0, 0));
    for (config, keys) in [(argsort, &[7u32][..]), (argsort.bits(5..5), &[7, 3])] {
        assert!(gpu.argsort(config, keys)?.into_iter().eq(0..keys.len() as u32));
        assert_eq!(counter.take(), (1, 0));
    }
    expect_silence(&gpu, "counting")
}

/// Counts dispatches that are made for quads, and tells which have a range that is not at one.
#[derive(Default)]
struct Wide {
    quads: Mutex<u32>,
    wrong: Mutex<Vec<String>>,
}

impl Trace for Wide {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let Command::Dispatch { kernel, ranges, constants, .. } = command else { return };
        let Some((_, is_wide)) = constants.iter().find(|(name, _)| *name == "QUAD_ACCESS") else { return };
        let pointers = kernel.push_constants.iter().filter(|member| member.access.is_some());
        // What the kernels load and store by quads.
        let mut wide =
            pointers.zip(*ranges).filter(|(p, _)| ["source", "destination", "keys"].contains(&p.name));
        let is_aligned = wide.all(|(_, range)| range.is_aligned(16));
        *self.quads.lock().unwrap() += is_wide;
        if (*is_wide == 1) != is_aligned {
            self.wrong.lock().unwrap().push(format!("{}: {ranges:x?}", kernel.name));
        }
    }
}

fn wide_accesses(gpu: &Gpu) -> Result<(), Failed> {
    let wide = Arc::new(Wide::default());
    let gpu = another(gpu, wide.clone())?;
    let (scan, sort) =
        (gpu.scan_plan(ScanConfig::inclusive())?, gpu.sort_plan(SortConfig::keys(ElementType::U32))?);
    let count = 20_000;
    let at = |buffer: &GpuBuffer, offset| AddressRange::new(buffer.range().address + offset, 4 * count);
    let [source, destination] = [gpu.allocate(4 * count + 16)?, gpu.allocate(4 * count + 16)?];
    let needed = scan.scratch_requirements(count).size.max(sort.scratch_requirements(count).size);
    let scratch = gpu.allocate(needed)?;
    for from in [0, 4, 8, 12] {
        for to in [0, 4, 8, 12] {
            let buffers = ScanBuffers::new(at(&source, from), at(&destination, to), scratch.range());
            // SAFETY: the buffers live until `submit` has waited.
            unsafe { gpu.submit(|recorder| scan.cmd_scan(recorder.command_buffer(), &buffers, count)) }?;
        }
        let buffers = SortBuffers::new(at(&source, from), scratch.range());
        // SAFETY: as above.
        unsafe { gpu.submit(|recorder| sort.cmd_sort(recorder.command_buffer(), &buffers, count)) }?;
    }
    assert_eq!(*wide.wrong.lock().unwrap(), [""; 0]);
    assert!(*wide.quads.lock().unwrap() > 0);
    Ok(())
}

/// What is told, of which only barriers are kept.
#[derive(Default)]
struct Outer(Mutex<Vec<Option<Barrier>>>);

impl Trace for Outer {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        let barrier = if let Command::Barrier(barrier) = command { Some(*barrier) } else { None };
        self.0.lock().unwrap().push(barrier);
    }
}

/// The hazard checker looks at what lies between; no CPU driver needs these two.
fn outer_barriers(gpu: &Gpu) -> Result<(), Failed> {
    let outer = Arc::new(Outer::default());
    let gpu = another(gpu, outer.clone())?;
    let buffer = gpu.allocate(64)?;
    outer.0.lock().unwrap().clear();
    gpu.read(&buffer, 16)?;
    let told = std::mem::take(&mut *outer.0.lock().unwrap());
    let [Some(before), None, None, None, Some(after)] = told[..] else {
        return Err(format!("not barrier, begin, copy, end, barrier: {told:?}").into());
    };
    let writes = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
    let reads = vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ;
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    assert!(before.src_stages.contains(stages) && before.src_access.contains(writes), "{before:?}");
    assert!(before.dst_stages.contains(stages) && before.dst_access.contains(reads | writes), "{before:?}");
    assert!(after.src_stages.contains(stages) && after.src_access.contains(writes), "{after:?}");
    assert!(after.dst_stages.contains(vk::PipelineStageFlags::HOST), "{after:?}");
    assert!(after.dst_access.contains(vk::AccessFlags::HOST_READ), "{after:?}");
    Ok(())
}

fn shared_plan(gpu: &Gpu) -> Result<(), Failed> {
    let plan = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).counts_on_device())?;
    let count = 5000u32;
    let room = plan.scratch_requirements(count.into());
    let frame = || -> Result<(GpuBuffer, GpuBuffer)> {
        Ok((gpu.allocate(u64::from(count) * 4)?, gpu.allocate(room.size)?))
    };
    let frames = [frame()?, frame()?];
    let inputs =
        [0, 1].map(|seed| (0..count).map(|i| (i + seed).wrapping_mul(0x9e37_79b9)).collect::<Vec<_>>());
    for ((keys, _), input) in frames.iter().zip(&inputs) {
        gpu.upload(keys, 0, input)?;
    }
    let told = gpu.allocate(4)?;
    gpu.upload(&told, 0, &[count])?;
    let counts = [Count::Host(count.into()), Count::Device { address: told.range().address, max: count }];
    let record = |recorder: &mut Recorder<'_>| {
        frames.iter().zip(counts).try_for_each(|((keys, scratch), count)| {
            let buffers = SortBuffers::new(keys.range().addresses(), scratch.range());
            // SAFETY: the frames live until `submit` has waited, and each has memory of its own.
            unsafe { plan.cmd_sort(recorder.command_buffer(), &buffers, count) }
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

/// What a renderer has before it meets this library: an instance, with validation, and a device of its own.
struct Host {
    instance: ash::Instance,
    physical_device: vk::PhysicalDevice,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    _entry: ash::Entry,
}

/// What the layer said to any host.
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "system" fn keep_message(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data.
    let texts = unsafe { [(*data).message_id_name_as_c_str(), (*data).message_as_c_str()] };
    let [id, text] = texts.map(|text| text.map(CStr::to_string_lossy).unwrap_or_default());
    MESSAGES.lock().unwrap().push(format!("{id}: {text}"));
    vk::FALSE
}

impl Host {
    fn new(validation: bool) -> Result<Self, Failed> {
        // SAFETY: the system's loader is trusted to be one.
        let entry = unsafe { ash::Entry::load() }?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let layers = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
        let extensions = [ash::ext::debug_utils::NAME.as_ptr()];
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        if validation {
            info = info.enabled_layer_names(&layers).enabled_extension_names(&extensions);
        }
        // SAFETY: everything that `info` points to is alive.
        let instance = unsafe { entry.create_instance(&info, None) }?;
        let mut messenger = None;
        if validation {
            let debug = ash::ext::debug_utils::Instance::new(&entry, &instance);
            let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                .message_severity(
                    vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
                        | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
                )
                .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
                .pfn_user_callback(Some(keep_message));
            // SAFETY: the instance is alive.
            messenger = Some((debug.clone(), unsafe { debug.create_debug_utils_messenger(&info, None) }?));
        }
        // SAFETY: the instance is alive.
        let physical_device = unsafe { instance.enumerate_physical_devices() }?[0];
        Ok(Self { instance, physical_device, messenger, _entry: entry })
    }

    fn create_device(&self, needs: &DeviceRequirements) -> Result<ash::Device, Failed> {
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let extensions: Vec<_> = needs.extensions().iter().map(|name| name.as_ptr()).collect();
        let mut features = needs.features();
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
        let info = features.chain_into(info);
        // SAFETY: everything that `info` points to is alive; family 0 computes on the drivers of the matrix.
        Ok(unsafe { self.instance.create_device(self.physical_device, &info, None) }?)
    }

    fn run(
        &self,
        device: &ash::Device,
        record: impl FnOnce(vk::CommandBuffer) -> Result<()>,
    ) -> Result<(), Failed> {
        // SAFETY: all handles are the device's; the queue is waited for before the pool is destroyed.
        unsafe {
            let queue = device.get_device_queue(0, 0);
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?;
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
            record(commands[0])?;
            let seen = [vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ)];
            device.cmd_pipeline_barrier(
                commands[0],
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &seen,
                &[],
                &[],
            );
            device.end_command_buffer(commands[0])?;
            let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
            device.queue_submit(queue, &submits, vk::Fence::null())?;
            device.queue_wait_idle(queue)?;
            device.destroy_command_pool(pool, None);
        }
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: every device made from it is gone.
        unsafe {
            if let Some((debug, messenger)) = &self.messenger {
                debug.destroy_debug_utils_messenger(*messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

/// A mapped buffer with an address.
struct HostMemory<'d> {
    device: &'d ash::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    mapped: *mut u32,
    size: u64,
    address: vk::DeviceAddress,
}

impl<'d> HostMemory<'d> {
    fn new(host: &Host, device: &'d ash::Device, size: u64) -> Result<Self, Failed> {
        let usage = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: all handles are the device's, and every structure is alive during its call.
        unsafe {
            let buffer = device.create_buffer(&info, None)?;
            let wanted = device.get_buffer_memory_requirements(buffer);
            let types = host.instance.get_physical_device_memory_properties(host.physical_device);
            let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let index = (0..types.memory_type_count)
                .find(|&index| {
                    wanted.memory_type_bits & (1 << index) != 0
                        && types.memory_types[index as usize].property_flags.contains(visible)
                })
                .ok_or("no memory that the host sees")?;
            let mut flags =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(wanted.size)
                .memory_type_index(index)
                .push_next(&mut flags);
            let memory = device.allocate_memory(&info, None)?;
            device.bind_buffer_memory(buffer, memory, 0)?;
            let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast();
            let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
            let address = device.get_buffer_device_address(&info);
            Ok(Self { device, buffer, memory, mapped, size, address })
        }
    }

    #[expect(clippy::mut_from_ref, reason = "one thread, between submissions")]
    fn words(&self) -> &mut [u32] {
        // SAFETY: the memory is mapped, coherent, of this size, and no work is in flight.
        unsafe { std::slice::from_raw_parts_mut(self.mapped, self.size as usize / 4) }
    }

    fn range(&self) -> BufferRange {
        BufferRange { buffer: self.buffer, offset: 0, size: self.size, address: self.address }
    }
}

impl Drop for HostMemory<'_> {
    fn drop(&mut self) {
        // SAFETY: no work is in flight.
        unsafe {
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
        }
    }
}
