//! The parts of scans.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{Capabilities, CommandCounts, Device, Recorder};
use subsweep::headless::{Gpu, SelectInputs};
use subsweep::scan::{
    InitialValue, ScanAlgorithm, ScanBuffers, ScanConfig, ScanOperator, ScanPolicy, SegmentsBy, WorkgroupScan,
};
use subsweep::select::{Comparison, Operands, SelectAlgorithm, SelectConfig, SelectPolicy};
use subsweep::sort::TileShape;
use subsweep::{Count, ElementType, Error, FewTiles, Result};
use subsweep_tool::harness::{PlanConfig, PolicyName};

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SCANNED, SMALL, SPLIT, WHOLE, cold, right_or_unchanged, warm};
use super::passes::rig::{Alignment, Memory, compare, random};
use super::passes::{Check, chained, levels, operators, scan, textbook};
use super::primitive::{Primitive, run};

pub const PRIMITIVE: Primitive = Primitive {
    check,
    default_plans,
    subjects,
    phases: &[
        cold("planning a scan", planning),
        cold("planning a scan as the seed does", |opened| Ok(plan(&opened.gpu, PolicyName::Seed))),
        warm("scanning", WHOLE, scanning),
        warm("scanning in several submissions", SPLIT, scanning),
    ],
};

fn check(stem: &str, variant: &str) -> Option<Check> {
    match (stem, variant) {
        ("scan/level_args", "") => Some(levels::level_args),
        ("scan/mark_segments", "") => Some(levels::mark_segments),
        ("scan/reduce" | "scan/downsweep", _) => {
            operators::Rows::for_variant(variant).map(|_| scan::tiles as Check)
        }
        ("scan/chained", _) => Some(chained::chained),
        ("scan/scan_tiles", "") => Some(textbook::scan_tiles),
        ("scan/propagate", "") => Some(textbook::propagate),
        ("scan/double_blocks", "") => Some(textbook::double_blocks),
        ("scan/strided", "") => Some(textbook::strided),
        ("scan/chunk_sum", "u32x1") => Some(textbook::chunk_sum::<1>),
        ("scan/chunk_sum", "u32x2") => Some(textbook::chunk_sum::<2>),
        ("scan/chunk_sum", "u32x3") => Some(textbook::chunk_sum::<3>),
        ("scan/chunk_sum", "u32x4") => Some(textbook::chunk_sum::<4>),
        ("scan/chunk_prefix", "u32x1") => Some(textbook::chunk_prefix::<1>),
        ("scan/chunk_prefix", "u32x2") => Some(textbook::chunk_prefix::<2>),
        ("scan/chunk_prefix", "u32x3") => Some(textbook::chunk_prefix::<3>),
        ("scan/chunk_prefix", "u32x4") => Some(textbook::chunk_prefix::<4>),
        _ => None,
    }
}

/// For the types and operators that have kernels of their own.
fn default_plans(capabilities: &Capabilities) -> Vec<PlanConfig> {
    let has_float64 = capabilities.enabled.shader_float64;
    let numbers = [
        (ElementType::U32, ScanOperator::Add),
        (ElementType::F32, ScanOperator::Min),
        (ElementType::I64, ScanOperator::Add),
        (ElementType::F64, ScanOperator::Mul),
    ];
    let is_supported =
        |&(element, operator): &(ElementType, ScanOperator)| has_float64 || !operator.needs_float64(element);
    let configs = numbers.into_iter().filter(is_supported).flat_map(|(element, operator)| {
        let scan = ScanConfig::inclusive(element).operator(operator);
        let plain = [1, 2, 3, 4, 7].map(|columns| scan.columns(columns));
        let segmented = [SegmentsBy::Flags, SegmentsBy::Offsets]
            .map(|segments| [1, 7].map(|columns| scan.columns(columns).segments(segments)));
        let others = [scan.out_of_place(), scan.indirect_count(), scan.along_rows(40)];
        plain.into_iter().chain(segmented.into_iter().flatten()).chain(others)
    });
    configs.map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> Result<Vec<Subject>> {
    let [first, second, third] = [0, 1, 2].map(|index| room.array(index));
    let host = Count::Direct(COUNT.into());
    let tiles = ScanPolicy::tiled(64, 4, 4);
    let plain = ScanConfig::inclusive(ElementType::U32);
    let floats = ScanConfig::inclusive(ElementType::F32);
    let long_rows = plain.policy(tiles).along_rows(5000).indirect_count();
    let by_offsets = plain.segments(SegmentsBy::Offsets);
    let with_all = by_offsets.with_initial().indirect_count();
    let chained = plain.out_of_place().policy(tiles.with_algorithm(ScanAlgorithm::Chained));
    let fixed_tree = tiles.with_algorithm(ScanAlgorithm::Chained).with_fixed_tree();
    let of = |algorithm| plain.policy(tiles.with_algorithm(algorithm));
    let monotone = floats.policy(tiles).monotone();
    let initial = InitialValue::host(&[7u32])?;
    let apart = ScanBuffers::new(first, second, room.scratch);
    let in_place = ScanBuffers::in_place(first, room.scratch);
    let subjects = [
        ("a scan", plain.policy(tiles), apart, host),
        ("a scan in place of a count on the device", plain.indirect_count(), in_place, room.count()),
        ("a scan of segments", with_all, apart.segments(third).initial(initial), room.count()),
        ("a scan along rows", plain.policy(tiles).along_rows(33), apart, host),
        ("a scan along long rows", long_rows.with_initial(), apart.initial(initial), room.count()),
        ("a monotone scan", monotone, apart, host),
        ("a monotone scan of a count on the device", monotone.indirect_count(), apart, room.count()),
        ("a monotone scan of no segments", monotone.segments(SegmentsBy::Offsets), apart, host),
        (
            "a monotone scan along rows of a count on the device",
            monotone.along_rows(33).indirect_count(),
            apart,
            room.count(),
        ),
        ("a monotone scan of segments", monotone.segments(SegmentsBy::Offsets), apart.segments(third), host),
        // Each condition of the first access alone.
        ("a scan of segments by offsets", by_offsets, apart.segments(third), host),
        ("a scan from an initial value", plain.policy(tiles).with_initial(), apart.initial(initial), host),
        (
            "a scan from an initial value on the device",
            plain.policy(tiles).with_initial(),
            apart.initial(InitialValue::Device(third)),
            host,
        ),
        ("a chained scan", chained, apart, host),
        ("a chained scan of a count on the device", chained.indirect_count(), apart, room.count()),
        ("a chained scan in a fixed tree", chained.policy(fixed_tree), apart, host),
        ("scan-then-propagate", of(ScanAlgorithm::ScanThenPropagate), in_place, host),
        ("the seed's scan", plain.policy(ScanPolicy::seed()), in_place, host),
        ("block doubling", of(ScanAlgorithm::BlockDoubling), apart, host),
        ("the strided scan", of(ScanAlgorithm::Strided), apart, host),
    ];
    let subject = |(name, config, buffers, count)| Subject::new(device, name, config, buffers, count);
    subjects.map(subject).into_iter().collect()
}

/// Creates a plan that no warm phase creates.
pub fn planning(opened: &Opened) -> Result<Result<()>, Failed> {
    Ok(plan(&opened.gpu, PolicyName::Default))
}

fn plan(gpu: &Gpu, policy: PolicyName) -> Result<()> {
    gpu.plan(config(gpu, policy)).map(drop)
}

fn scanning(opened: &Opened) -> Result<Result<()>, Failed> {
    let config = config(&opened.gpu, PolicyName::Seed);
    right_or_unchanged(&SMALL, &SCANNED, |words| opened.gpu.scan(config, words))
}

fn config(gpu: &Gpu, policy: PolicyName) -> ScanConfig {
    let config = ScanConfig::inclusive(ElementType::U32);
    let algorithm = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
    config.policy(policy.scan(gpu.capabilities(), algorithm, &config))
}

/// Trials of every row: they depend on the lanes.
pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "scans");
    vec![
        trial("equal rows have equal sums in bits", equal_rows),
        trial("monotone sums do not decrease", monotone),
        trial("few tiles take one dispatch without state", few_tiles),
    ]
}

/// Tiles of a small scan, of 256 rows at least.
fn small_tiles(gpu: &Gpu) -> ScanPolicy {
    ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(64), 4, 4)
}

/// Positive numbers of many sizes, few of whose sums are exact.
fn numbers(count: usize) -> Vec<f32> {
    random(count, count)
        .into_iter()
        .map(|word| (word >> 8) as f32 * 2f32.powi((word % 23) as i32 - 40))
        .collect()
}

/// Rows that fit a run, a subgroup, a tile and none of these, of lengths that do not divide any.
fn equal_rows(gpu: &Gpu) -> Result<(), Failed> {
    let sum = ScanConfig::inclusive(ElementType::F32).policy(small_tiles(gpu));
    for (config, length) in
        [(sum, 3), (sum, 33), (sum, 100), (sum.reverse(), 77), (sum, 5000), (sum.reverse(), 1000)]
    {
        let row = numbers(length);
        let mut sums = row.repeat(60_000usize.div_ceil(length).min(500));
        gpu.scan(config.along_rows(length as u32), &mut sums)?;
        let mut rows = sums.chunks(length).map(|row| row.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>());
        let first = rows.next();
        let different = rows.position(|row| Some(row) != first);
        assert_eq!(different, None, "rows of {length}, reverse: {}", config.is_reverse());
    }
    Ok(())
}

/// Counts at the boundary between workgroups that reduce what is before their tiles and those that look back, on the host
/// and on the device, by quads and by words.
fn few_tiles(gpu: &Gpu) -> Result<(), Failed> {
    let mut policy = small_tiles(gpu).with_algorithm(ScanAlgorithm::Chained);
    let tile = TileShape { workgroup_size: policy.workgroup_size, items_per_invocation: 8 };
    policy.few = Some(FewTiles { tile, window: 1, max_tiles: 20 });
    let tile = u64::from(tile.tile_items());
    for is_reverse in [false, true] {
        let config = match is_reverse {
            false => ScanConfig::inclusive(ElementType::U32),
            true => ScanConfig::exclusive(ElementType::U32).reverse(),
        };
        let config = config.out_of_place().with_initial().indirect_count().policy(policy);
        let plan = gpu.plan(config)?;
        // An invocation takes several rounds to reduce what is before the last of 20 tiles.
        for count in [1, tile, tile + 1, 2 * tile, 12 * tile + 2, 20 * tile, 20 * tile + 1] {
            let input = random(count as usize, count as usize);
            let mut expected = input.clone();
            let mut sum = 7u32;
            let mut add = |number: &mut u32| {
                let before = sum;
                sum = sum.wrapping_add(*number);
                *number = if is_reverse { before } else { sum };
            };
            match is_reverse {
                false => expected.iter_mut().for_each(&mut add),
                true => expected.iter_mut().rev().for_each(&mut add),
            }
            let scratch = gpu.allocate(plan.scratch_requirements(count).size.max(4))?;
            let on_device = Memory::with_words(gpu, &[count as u32], Alignment::Words)?;
            let indirect = Count::Indirect { address: on_device.range().address, max: count as u32 };
            let initial = Memory::with_words(gpu, &[7], Alignment::Words)?;
            for (count, alignment) in [
                (Count::Direct(count), Alignment::Quads),
                (Count::Direct(count), Alignment::Words),
                (indirect, Alignment::Quads),
            ] {
                let source = Memory::with_words(gpu, &input, alignment)?;
                let destination = Memory::poisoned(gpu, input.len(), alignment)?;
                let buffers = ScanBuffers::new(source.range(), destination.range(), scratch.range());
                let buffers = buffers.initial(InitialValue::Device(initial.range()));
                run(gpu, &plan, &buffers, count)?;
                compare(&format!("{count:?}, {alignment:?}"), "destination", &destination, &expected)?;
                if let Count::Direct(direct) = count {
                    let mut dry = Recorder::dry(gpu.device());
                    plan.record(&mut dry, &buffers, count)?;
                    let has_state = u32::from(direct > 20 * tile);
                    let counts = CommandCounts { dispatches: 1, barriers: has_state, transfers: has_state };
                    assert_eq!(dry.counts(), counts, "{direct}");
                }
            }
        }
    }
    let floats = ScanConfig::inclusive(ElementType::F32).out_of_place().policy(policy);
    let refused = gpu.plan(floats).map(drop);
    assert!(matches!(refused, Err(Error::InvalidPolicy { .. })), "{refused:?}");
    // The scratch of a selection of more elements is enough for fewer.
    let select = SelectConfig::compare(ElementType::U32, Comparison::Less);
    let mut of_select = SelectPolicy::tuned(SelectAlgorithm::Chained, gpu.capabilities(), &select);
    of_select.few = policy.few;
    let select = select.policy(of_select);
    let plan = gpu.plan(select)?;
    let counts = [1, tile, 20 * tile, 20 * tile + 1];
    let sizes = counts.map(|count| plan.scratch_requirements(count).size);
    assert!(sizes.is_sorted(), "{sizes:?}");
    for count in counts {
        let input = random(count as usize, count as usize);
        let inputs = SelectInputs::new(&input).operands(Operands::host(&[1u32 << 31])?);
        let expected: Vec<_> = input.iter().copied().filter(|&element| element < 1 << 31).collect();
        assert_eq!(gpu.select(select, &inputs)?.elements::<u32>()?, expected, "{count}");
    }
    Ok(())
}

/// The probabilities of a softmax over 32,000 logits.
fn monotone(gpu: &Gpu) -> Result<(), Failed> {
    let logits = random(5, 32_000).into_iter().map(|word| (word >> 8) as f32 / (1 << 24) as f32 * 12.0);
    let weights: Vec<_> = logits.map(f32::exp).collect();
    let total: f32 = weights.iter().sum();
    let probabilities: Vec<_> = weights.iter().map(|weight| weight / total).collect();
    let config = ScanConfig::inclusive(ElementType::F32).policy(small_tiles(gpu));
    let scanned = |config: ScanConfig| -> Result<Vec<f32>, Failed> {
        let mut sums = probabilities.clone();
        gpu.scan(config, &mut sums)?;
        Ok(sums)
    };
    let mut expected = scanned(config)?;
    assert!(!expected.is_sorted(), "rounding of these sums does not matter");
    let mut greatest = 0f32;
    for sum in &mut expected {
        greatest = greatest.max(*sum);
        *sum = greatest;
    }
    assert!(scanned(config.monotone())? == expected, "sums are not the maxima of those before");
    Ok(())
}
