//! Mismatched ranges, counts and policies are refused with their numbers, and nothing is recorded.

use libtest_mimic::Failed;
use subsweep::ash::vk::{self, Handle as _};
use subsweep::device::{AddressRange, BufferRange, CommandCounts, Pipeline, Recorder};
use subsweep::headless::Gpu;
use subsweep::scan::{
    InitialValue, ScanAlgorithm, ScanBuffers, ScanConfig, ScanOperator, ScanPlan, ScanPolicy, SegmentsBy,
};
use subsweep::sort::{
    SegmentedSortPlan, SortAlgorithm, SortBuffers, SortConfig, SortPlan, SortPolicy, ValueSize,
};
use subsweep::{Count, ElementType, Error, Result};
use subsweep_tool::harness::PolicyName;

use super::super::primitive::run;
use super::super::refused::assert_unsupported;

/// Wrong initial values, segments and counts of a scan are refused.
fn refused_operands(gpu: &Gpu, memory: AddressRange, scratch: BufferRange) -> Result<(), Failed> {
    let source = AddressRange::new(memory.address, 40);
    let apart = |offset, size| AddressRange::new(memory.address + offset, size);
    let plain = ScanConfig::inclusive(ElementType::U32);
    let buffers = ScanBuffers::in_place(source, scratch);
    let refuse = |config, buffers: ScanBuffers, count: Count| {
        run(gpu, &ScanPlan::new(gpu.device(), config)?, &buffers, count)
    };
    let ten = Count::Direct(10);
    let initial = InitialValue::host(&[1u32])?;
    assert_unsupported(refuse(plain, buffers.initial(initial), ten), "takes no initial value");
    assert_unsupported(refuse(plain.with_initial(), buffers, ten), "begins with an initial value");
    assert_unsupported(refuse(plain, buffers.segments(apart(400, 40)), ten), "takes no segments");
    let on_device = |offset| Count::Indirect { address: memory.address + offset, max: 10 };
    assert_unsupported(refuse(plain, buffers, on_device(400)), "direct counts only");
    let two = InitialValue::host(&[1u32, 2])?;
    assert_unsupported(refuse(plain.with_initial(), buffers.initial(two), ten), "one row, and no more");
    assert!(matches!(InitialValue::host(&[0u64; 65]), Err(Error::Unsupported { .. })));

    let float = InitialValue::host(&[1f32])?;
    assert_eq!(
        refuse(plain.with_initial(), buffers.initial(float), ten),
        Err(Error::ElementMismatch { expected: ElementType::U32, got: ElementType::F32 })
    );
    for (given, got) in [(initial, 4), (InitialValue::Device(AddressRange::default()), 0)] {
        assert_eq!(
            refuse(
                plain.columns(2).with_initial(),
                ScanBuffers::in_place(apart(0, 80), scratch).initial(given),
                ten
            ),
            Err(Error::RangeTooSmall { what: "initial", needed: 8, got })
        );
    }
    for (by, needed) in [(SegmentsBy::Flags, 40), (SegmentsBy::Keys32, 40), (SegmentsBy::Keys64, 80)] {
        assert_eq!(
            refuse(plain.segments(by), buffers.segments(apart(400, needed - 4)), ten),
            Err(Error::RangeTooSmall { what: "segments", needed, got: needed - 4 })
        );
    }
    let offsets = plain.segments(SegmentsBy::Offsets);

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

pub fn plans(gpu: &Gpu) -> Result<(), Failed> {
    // A sort of few keys needs scratch unless a single workgroup sorts them.
    let config = SortConfig::keys(ElementType::U32);
    let policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities(), &config);
    let plan = SortPlan::new(gpu.device(), config.policy(policy))?;
    let count = 1000;
    let needs = plan.scratch_requirements(count);
    let (keys, scratch) = (gpu.allocate(4 * count)?, gpu.allocate(needs.size)?);
    let (keys, scratch) = (keys.range().addresses(), scratch.range());
    let exact = AddressRange { size: 4 * count, ..keys };
    let sort = |keys, scratch, count: u64| run(gpu, &plan, &SortBuffers::new(keys, scratch), count);
    let sizes = plan.arguments(&SortBuffers::new(exact, scratch), count)?.into_iter().map(|row| row.size);
    assert_eq!(sizes.collect::<Vec<_>>(), [0, 4 * count, 0, 0, 0, 0, needs.size]);
    let max = SortPlan::MAX_COUNT;
    assert_eq!(
        sort(exact, scratch, max + 1),
        Err(Error::TooManyElements { count: max + 1, max, what: "a sort without large counts" })
    );
    large_counts(gpu)?;
    // Each pass is one dispatch for each portion.
    let mut small = SortPolicy::tuned(SortAlgorithm::Onesweep, gpu.capabilities(), &config);
    small.portion_items = 1;
    let plan = SortPlan::new(gpu.device(), config.policy(small))?;
    assert_eq!(plan.max_count(), 4096 * u64::from(small.tile_items()));
    refused_workgroups(gpu)?;
    refused_operands(gpu, keys, scratch)?;
    refused_scans(gpu, keys)?;
    refused_policies(gpu)
}

/// Scans of memory and elements that they do not take.
fn refused_scans(gpu: &Gpu, keys: AddressRange) -> Result<(), Failed> {
    let scan = |config, source, destination| {
        let plan = ScanPlan::new(gpu.device(), config)?;
        let buffers = ScanBuffers::new(source, destination, BufferRange::NONE);
        run(gpu, &plan, &buffers, 10)
    };
    let first = AddressRange::new(keys.address, 40);
    let apart = AddressRange::new(keys.address + 400, 40);
    for (config, source, destination) in [
        (ScanConfig::inclusive(ElementType::U32).policy(ScanPolicy::seed()), first, apart),
        (ScanConfig::inclusive(ElementType::U32).columns(65), first, first),
        (ScanConfig::inclusive(ElementType::U32).columns(0), first, first),
        (ScanConfig::inclusive(ElementType::F32).operator(ScanOperator::Xor), first, first),
        (ScanConfig::inclusive(ElementType::F64).operator(ScanOperator::And), first, first),
    ] {
        assert!(matches!(
            scan(config, source, destination),
            Err(Error::Unsupported { .. } | Error::OutOfRange { .. })
        ));
    }
    let doubles = ScanConfig::inclusive(ElementType::F64);
    match (gpu.capabilities().enabled.shader_float64, gpu.scan(doubles, &mut [1.5, 2.5])) {
        (true, Ok(())) => {}
        (false, Err(Error::MissingFeature { missing, .. })) if missing.contains("shaderFloat64") => {}
        (has, scanned) => return Err(format!("shaderFloat64: {has}, but {scanned:?}").into()),
    }
    gpu.scan(doubles.operator(ScanOperator::Max), &mut [1.5, 2.5])?;
    assert_eq!(
        gpu.scan(doubles, &mut [1u64, 2]),
        Err(Error::ElementMismatch { expected: ElementType::F64, got: ElementType::U64 })
    );
    let promised = ScanConfig::inclusive(ElementType::U32).out_of_place();
    assert!(matches!(scan(promised, first, first), Err(Error::Unsupported { .. })));
    let chained = ScanPolicy::tiled(64, 4, 4).with_algorithm(ScanAlgorithm::Chained);
    let scanned = scan(ScanConfig::inclusive(ElementType::U32).policy(chained), first, first);
    assert!(matches!(scanned, Err(Error::Unsupported { .. })));
    let mut summed = [1u32, 2, 3];
    gpu.scan(promised, &mut summed)?;
    assert_eq!(summed, [1, 3, 6]);
    Ok(())
}

/// Policies out of their range, or of another configuration.
fn refused_policies(gpu: &Gpu) -> Result<(), Failed> {
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
        let refused = ScanPlan::new(gpu.device(), ScanConfig::inclusive(ElementType::U32).policy(policy));
        assert!(matches!(refused, Err(Error::InvalidPolicy { .. })), "{policy}");
    }
    // An invocation counts a digit in one byte.
    for items_per_invocation in [0, 6, 256] {
        let config = SortConfig::keys(ElementType::U32);
        let mut policy = SortPolicy::tuned(SortAlgorithm::Radix4Bit, gpu.capabilities(), &config);
        (policy.workgroup_size, policy.items_per_invocation) = (32, items_per_invocation);
        let refused = SortPlan::new(gpu.device(), config.policy(policy));
        assert!(matches!(refused, Err(Error::InvalidPolicy { .. })), "{policy}");
    }
    let plan = ScanPlan::new(gpu.device(), ScanConfig::inclusive(ElementType::U32))?;
    let statistics = plan.pipelines().map(Pipeline::statistics).collect::<Vec<_>>();
    assert!(!statistics.is_empty() && statistics.iter().all(|s| matches!(s, Err(Error::Unsupported { .. }))));
    let sums = ScanConfig::inclusive(ElementType::U32);
    for config in [
        ScanConfig::exclusive(ElementType::U32),
        sums.columns(5),
        ScanConfig::inclusive(ElementType::I32),
        sums.operator(ScanOperator::Max),
    ] {
        let config = config.policy(ScanPolicy::seed());
        assert!(matches!(ScanPlan::new(gpu.device(), config), Err(Error::InvalidPolicy { .. })));
    }
    let wide = ScanConfig::inclusive(ElementType::U32).policy(ScanPolicy::tiled(1 << 16, 4, 4));
    assert!(matches!(ScanPlan::new(gpu.device(), wide), Err(Error::PolicyExceedsLimits { .. })));
    #[expect(clippy::reversed_empty_ranges, reason = "a reversed range is refused")]
    for bits in [8..4, 0..33] {
        let refused = SortPlan::new(gpu.device(), SortConfig::keys(ElementType::U32).bits(bits));
        assert!(matches!(refused, Err(Error::Unsupported { .. } | Error::OutOfRange { .. })));
    }
    // Keys are discarded only where values are the result.
    let keys = SortConfig::keys(ElementType::U32).discards_keys();
    assert!(matches!(SortPlan::new(gpu.device(), keys), Err(Error::Unsupported { .. })));
    Ok(())
}

/// A dispatch that is too large is refused before any earlier command is recorded.
fn refused_workgroups(gpu: &Gpu) -> Result<(), Failed> {
    let policy = ScanPolicy::tiled(64, 4, 4);
    let chained = policy.with_algorithm(ScanAlgorithm::Chained);
    let [width, height, _] = gpu.capabilities().max_workgroup_count.map(u64::from);
    let count = (width * height).min(u32::MAX.into()).saturating_add(1) * u64::from(policy.tile_items());
    let huge_range = |index: u64| AddressRange::new((index + 1) << 60, 1 << 59);
    let AddressRange { address, size } = huge_range(2);
    let usage = vk::BufferUsageFlags::from_raw(!0);
    let scratch = BufferRange { buffer: vk::Handle::from_raw(1), offset: 0, size, address, usage };
    let buffers = ScanBuffers::new(huge_range(0), huge_range(1), scratch);
    let initial = InitialValue::host(&[1u32])?;
    for (config, buffers) in [
        (ScanConfig::inclusive(ElementType::U32).out_of_place().policy(chained), buffers),
        (ScanConfig::inclusive(ElementType::U32).with_initial().policy(policy), buffers.initial(initial)),
    ] {
        let plan = ScanPlan::new(gpu.device(), config)?;
        let mut recorder = Recorder::dry(gpu.device());
        let refused = plan.record(&mut recorder, &buffers, count);
        assert!(matches!(refused, Err(Error::TooManyElements { .. })), "{refused:?}");
        assert_eq!(recorder.counts(), CommandCounts::default());
    }
    Ok(())
}

/// Counts larger than memory are planned and recorded, and refused where offsets are of 32 bits.
fn large_counts(gpu: &Gpu) -> Result<(), Failed> {
    let wide = SortConfig::pairs(ElementType::U32, ValueSize::B4).large_counts();
    let radix = SortPolicy::tuned(SortAlgorithm::Radix8Bit, gpu.capabilities(), &wide);
    let made = |config| SortPlan::new(gpu.device(), config).map(|plan| plan.max_count());
    assert!(matches!(made(wide.policy(radix)), Err(Error::InvalidPolicy { .. })));
    let argsort = SortConfig::argsort(ElementType::U32).large_counts();
    let moved = SortConfig::pairs(ElementType::U32, ValueSize::of::<[u32; 3]>()).large_counts();
    for of_indices in [argsort, moved] {
        assert!(matches!(made(of_indices), Err(Error::Unsupported { .. })));
    }
    assert!(matches!(SegmentedSortPlan::new(gpu.device(), wide).map(|_| ()), Err(Error::Unsupported { .. })));

    let dispatches = |plan: &SortPlan, count: u64| {
        let needs = plan.scratch_requirements(count);
        // Nothing is submitted, so addresses are not used.
        let (buffer, address) = (vk::Buffer::from_raw(1), 1 << 44);
        let scratch = BufferRange { buffer, offset: 0, address, size: needs.size, usage: needs.usage };
        let keys = AddressRange::new(address + needs.size.next_multiple_of(16), 4 * count);
        let values = AddressRange::new(keys.address + 4 * count, 4 * count);
        let commands = plan.commands(&SortBuffers::new(keys, scratch).values(values), count)?;
        Ok::<_, Error>(commands.dispatches)
    };
    let plan = SortPlan::new(gpu.device(), wide)?;
    assert_eq!(plan.policy().algorithm, SortAlgorithm::Onesweep);
    let count = (9 << 30) + 5;
    // The alternate buffers, and less than half of their size for the descriptors of tiles at the fewest lanes.
    let scratch_size = plan.scratch_requirements(count).size;
    assert!((8 * count..12 * count).contains(&scratch_size), "{scratch_size}");
    // A histogram, ten portions of four passes, and the copy.
    assert_eq!(dispatches(&plan, count)?, 1 + 10 * 4 + 1);
    // The largest count, for each limit that determines it.
    let small = PolicyName::Small.sort(gpu.capabilities(), SortAlgorithm::Onesweep, &wide);
    let (workgroup, portion) = (u64::from(small.workgroup_size), (1 << 30) - 1);
    for (portion_items, items_per_invocation, max) in [
        (small.portion_items, small.items_per_invocation, 4096 * u64::from(small.portion_items)),
        (portion, small.items_per_invocation, u64::from(u32::MAX) * workgroup),
        (portion, 1, 65_535 * 65_535 * workgroup),
    ] {
        let mut policy = small;
        (policy.portion_items, policy.items_per_invocation) = (portion_items, items_per_invocation);
        let plan = SortPlan::new(gpu.device(), wide.policy(policy))?;
        assert_eq!(plan.max_count(), max, "{policy}");
        dispatches(&plan, max)?;
    }
    Ok(())
}
